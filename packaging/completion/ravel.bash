# Completion of nesl, neslc, vinterp and fcodeopt for bash. Options are those that --help lists.

_ravel_options() {
  "$1" --help 2>/dev/null | sed -n 's/^  \(--\{0,1\}[a-zA-Z][a-z-]*\).*/\1/p'
}

# Folders, and files with one of these endings.
_ravel_files() {
  local word=$1 ending
  compgen -d -- "$word"
  shift
  for ending; do compgen -f -X "!*.$ending" -- "$word"; done
}

# The subcommand of nesl, or nothing; and the file behind it in `file`.
_ravel_subcommand() {
  local i
  subcommand= file=
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
    run | check | test | cost) [ "$subcommand" ] || subcommand=${COMP_WORDS[i]} ;;
    *.nesl) file=${COMP_WORDS[i]} ;;
    esac
  done
}

_ravel_functions() {
  sed -n 's/^ *function  *\([A-Za-z_][A-Za-z_0-9]*\).*/\1/p' "$1" 2>/dev/null
}

_ravel_words() {
  local name=${1##*/} word=$2 previous=$3 subcommand file
  _ravel_subcommand
  case $previous in
  --int | --float) compgen -W "32 64" -- "$word" && return ;;
  --backend) compgen -W "auto cpu cuda" -- "$word" && return ;;
  --tuning) compgen -W "off list" -- "$word" ;;
  --csv)
    compgen -W "separator= header= comment= missing= replacement= column= name=" -- "$word" && return ;;
  --entry) compgen -W "$(_ravel_functions "$file")" -- "$word" && return ;;
  esac
  case $name/$word in
  */-*) compgen -W "$(_ravel_options "$1")" -- "$word" ;;
  nesl/*)
    [ "$subcommand" ] || compgen -W "run check test cost" -- "$word"
    _ravel_files "$word" nesl npy npz csv ;;
  neslc/*) _ravel_files "$word" nesl ;;
  vinterp/*) _ravel_files "$word" vcode fcode npy npz csv ;;
  fcodeopt/*) _ravel_files "$word" vcode ucode ;;
  esac
}

_ravel() {
  mapfile -t COMPREPLY < <(_ravel_words "$@")
}

complete -o filenames -o bashdefault -o default -F _ravel nesl neslc vinterp fcodeopt
