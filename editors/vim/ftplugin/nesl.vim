" Settings for NESL: comments, and gf on the name of a file that is loaded.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal comments=s:%,e:% commentstring=%\ %s\ %
setlocal suffixesadd=.nesl
setlocal expandtab shiftwidth=2 softtabstop=2
setlocal matchpairs=(:),[:],{:}
let b:undo_ftplugin = 'setlocal comments< commentstring< suffixesadd< expandtab< shiftwidth< '
      \ . 'softtabstop< matchpairs<'
