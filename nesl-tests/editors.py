#!/usr/bin/env python3
"""Tests the modes for Vim and Emacs in editors/, and the completion for bash and zsh in packaging/.

    nesl-tests/editors.py [--bin FOLDER]

Where a program is not installed, only the words that its files list are compared with
neslc/front/lexemes.def. Options are compared with the tables of the commands."""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from checks import Checks

ROOT = Path(__file__).resolve().parent.parent
EDITORS, COMPLETION = ROOT / "editors", ROOT / "packaging" / "completion"

PROGRAM = """#!/usr/bin/env -S nesl run
% a comment
function no(x) = t %
function Half(x) = if x then t else "a % \\" b" ++ [`%, `"] : int;
datatype point(float, int) :: (a in any);
{y in v | y < 3.5e2 and F}; %= [1] %
z = ``  + 7 / 2;
cost sum(v);
load "file";
import "lib" as li;
u.t + w . in;
loop (p, q) = (0, 1) while p < q do while(p);
"""
# What stands there, and what Vim and Emacs call it; None: it is as other text.
KINDS = [("#!/usr", "neslScript", "preprocessor"), ("a comment", "neslComment", "comment"),
         ("no(x)", "neslComment", "comment"), ("function Half", "neslDefinition", "keyword"),
         ("if x", "neslConditional", "keyword"), ("then t", "neslConditional", "keyword"),
         ("t else", "neslConstant", "constant"), ("a % ", "neslString", "string"),
         (" b\" ++", "neslString", "string"), ("`%", "neslCharacter", "string"),
         ("`\"", "neslCharacter", "string"), ("int;", "neslType", "type"),
         ("datatype", "neslDefinition", "keyword"), ("any);", "neslClass", "type"),
         ("in v", "neslStatement", "keyword"), ("3.5e2", "neslNumber", None),
         ("and F", "neslWordOperator", "keyword"), ("F}", "neslConstant", "constant"),
         ("= [1] %", "neslExpectation", "comment"), ("``", "neslCharacter", "string"),
         ("  + 7", None, None), ("7 /", "neslNumber", None), ("cost", "neslCommand", "preprocessor"),
         ("load", "neslCommand", "preprocessor"), ("file\";", "neslString", "string"),
         ("import", "neslDefinition", "keyword"), ("lib\"", "neslString", "string"), ("y in", "neslName", None),
         ("t + w", "neslField", "default"), ("in;", "neslField", "default"),
         ("loop (p", "neslStatement", "keyword"), ("while p", "neslStatement", "keyword"),
         ("do while", "neslStatement", "keyword"), ("while(p", "neslName", None)]


def words():
    table = (ROOT / "neslc" / "front" / "lexemes.def").read_text()
    return re.findall(r'^WORD *\(\w+, *"(\w+)"', table, re.MULTILINE)


def table_of(name):
    """The long options in a table and those that it includes."""
    text = (ROOT / "commands" / name).read_text()
    found = re.findall(r"^OPTION\(\w+, *(?:0|'.'), *\"([\w-]+)\"", text, re.MULTILINE)
    for inner in re.findall(r'^#include "commands/([\w-]+\.def)"', text, re.MULTILINE):
        found += table_of(inner)
    return found


def tool(name):
    if shutil.which(name):
        return True
    print(f"SKIPPED (optional) {name} is not installed")
    return False


class Tests(Checks):
    def run(self, *command, folder=None, stdin=""):
        return subprocess.run(command, cwd=folder, input=stdin, capture_output=True, text=True,
                              timeout=60, check=False).stdout

    def all_words(self, path):
        text = path.read_text()
        missing = [word for word in words() if not re.search(rf"\b{word}\b", text)]
        self.check(len(words()) > 10 and not missing, f"{path}: nothing is said of {missing}")

    # ---- editors ----

    def vim(self, folder):
        self.all_words(EDITORS / "vim/syntax/nesl.vim")
        if not tool("vim"):
            return
        (folder / "prog.nesl").write_text(PROGRAM)
        lines = ["set nocompatible", f"set runtimepath^={EDITORS}/vim", "filetype plugin on",
                 "syntax on", "edit prog.nesl", "let found = [&filetype, &commentstring]"]
        for text, _, _ in KINDS:
            at = PROGRAM.index(text)
            line = PROGRAM.count("\n", 0, at) + 1
            column = at - PROGRAM.rfind("\n", 0, at)
            lines.append(f"call add(found, synIDattr(synID({line}, {column}, 1), 'name'))")
        lines += ["call writefile(found, 'found')", "qall!"]
        (folder / "look.vim").write_text("\n".join(lines) + "\n")
        self.run("vim", "-es", "-u", "NONE", "-i", "NONE", "-S", "look.vim", folder=folder)
        found = (folder / "found").read_text().split("\n") if (folder / "found").exists() else []
        self.check(found[:2] == ["nesl", "% %s %"], f"Vim: the type of the file is {found[:2]}")
        for (text, wanted, _), name in zip(KINDS, found[2:]):
            self.check(name == (wanted or ""), f"Vim: {text!r} is {name}, not {wanted}")

    def emacs(self, folder):
        mode = EDITORS / "emacs" / "nesl-mode.el"
        self.all_words(mode)
        if not tool("emacs"):
            return
        (folder / "prog.nesl").write_text(PROGRAM)
        at = " ".join(str(len(PROGRAM[:PROGRAM.index(text)]) + 1) for text, _, _ in KINDS)
        look = (f"(progn (find-file \"prog.nesl\") (font-lock-ensure) (princ major-mode) (dolist (p '({at}))"
                " (princ (format \" %s\" (get-text-property p 'face)))))")
        found = self.run("emacs", "-Q", "--batch", "-l", mode, "--eval", look, folder=folder).split()
        self.check(found[:1] == ["nesl-mode"], f"Emacs: the mode is {found[:1]}")
        for (text, _, wanted), face in zip(KINDS, found[1:]):
            self.check((wanted or "nil") in face, f"Emacs: {text!r} is {face}, not {wanted}")
        self.check(len(found) == len(KINDS) + 1, f"Emacs: {len(found)} texts have faces")
        for path in sorted((ROOT / "examples").glob("*.nesl")):
            self.indented(folder, mode, path)

    def indented(self, folder, mode, path):
        """Emacs lays an example out as it is, but for what is aligned by hand."""
        text = path.read_text()
        (folder / "flat.nesl").write_text(re.sub(r"(?m)^ +", "", text))
        edit = "(progn (find-file \"flat.nesl\") (indent-region (point-min) (point-max)) (save-buffer))"
        self.run("emacs", "-Q", "--batch", "-l", mode, "--eval", edit, folder=folder)
        lines, wanted = (folder / "flat.nesl").read_text().split("\n"), text.split("\n")
        other = [f"{got!r}" for got, line in zip(lines, wanted) if got != line]
        self.check(len(lines) == len(wanted) and len(other) <= len(wanted) // 20,
                   f"Emacs: {path.name} is indented otherwise in {len(other)} lines, such as {other[:3]}")

    # ---- shells ----

    def offered(self, folder, *typed):
        """What bash offers for the last word of a command line."""
        given = " ".join(f"'{word}'" for word in typed)
        script = (f"source {COMPLETION}/ravel.bash; COMP_WORDS=({given}); COMP_CWORD={len(typed) - 1}; "
                  f"_ravel '{typed[0]}' '{typed[-1]}' '{typed[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
        return self.run("bash", "-c", script, folder=folder).split("\n")[:-1]

    def bash(self, folder, bin_folder):
        for name in ("a b.nesl", "c.nesl", "d.vcode", "e.npy", "f.txt", "g.npz"):
            (folder / name).write_text("function one(x) = x;\nfunction Two(x, y) = x + y;\n")
        nesl = str(bin_folder / "nesl")
        cases = [((nesl, ""), ["run", "check", "test", "cost", "a b.nesl", "c.nesl", "e.npy", "g.npz"]),
                 ((nesl, "run", ""), ["a b.nesl", "c.nesl", "e.npy", "g.npz"]),
                 ((nesl, "run", "c.nesl", "--entry", ""), ["one", "Two"]),
                 ((nesl, "run", "c.nesl", "--entry", "o"), ["one"]),
                 ((nesl, "--int", ""), ["32", "64"]),
                 ((nesl, "--csv", "c"), ["comment=", "column="]),
                 ((nesl, "--print"), ["--print-length"]),
                 ((str(bin_folder / "vinterp"), ""), ["d.vcode", "e.npy", "g.npz"]),
                 ((str(bin_folder / "neslc"), "c"), ["c.nesl"])]
        for typed, wanted in cases:
            got = [word for word in self.offered(folder, *typed) if not os.path.isdir(folder / word)]
            self.check(sorted(got) == sorted(wanted), f"bash: {typed} offers {got}, not {wanted}")
        for command, table in (("nesl", "nesl-options.def"), ("vinterp", "vinterp-options.def"),
                               ("neslc", "neslc-options.def"), ("fcodeopt", "fcodeopt-options.def")):
            got = self.offered(folder, str(bin_folder / command), "--")
            missing = [name for name in table_of(table) if f"--{name}" not in got]
            self.check(got and not missing, f"bash: {command} lacks {missing}")

    def zsh(self, bin_folder):
        if not tool("zsh"):
            return
        script = (f"autoload -U compinit; source {COMPLETION}/_ravel; _ravel_options {bin_folder}/nesl; "
                  "print -l -- $specs")
        specs = self.run("zsh", "-f", "-c", script).split("\n")
        names = [re.split(r"[=\[]", spec)[0] for spec in specs]
        missing = [name for name in table_of("nesl-options.def") if f"--{name}" not in names]
        self.check(not missing, f"zsh: nesl lacks {missing}")
        for start, end in (("--int[width", ":width:(32 64)"), ("--native=-[", "::wait|off:"),
                           ("--direct[", "]"), ("--times[", ":file:_files"), ("-e[", ":EXPR:")):
            self.check(any(spec.startswith(start) and spec.endswith(end) for spec in specs),
                       f"zsh: no {start} ... {end} among {specs}")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    bin_folder = parser.parse_args().bin.resolve()
    tests = Tests()
    for test in (tests.vim, tests.emacs, lambda folder: tests.bash(folder, bin_folder)):
        with tempfile.TemporaryDirectory() as folder:
            test(Path(folder))
    tests.zsh(bin_folder)
    return tests.status()


if __name__ == "__main__":
    raise SystemExit(main())
