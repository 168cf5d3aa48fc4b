#!/usr/bin/env python3
"""Executes all listings of the pages that show NESL, in order, and compares the output.

    nesl-tests/pages.py [--bin FOLDER] [PAGE ...]       default: all pages with such blocks

Blocks of a page:

    ```nesl          a session, one for the whole page: lines that begin with the prompt, continuation
                     lines, and their output
    ```nesl FILE     a file, which later commands find; ```c FILE and ```python FILE likewise
    ```python        a session of Python with the package ravel, one for the whole page, as the
                     prompt shows it (`>>> `); a block without prompts prints nothing.
                     ```python needs=NAME is skipped where the module NAME is not installed;
                     ```python numpy (LIBRARIES) is left to idioms.py
    ```console       commands that begin with `$ `, and what each prints

A line `...` matches any lines, a `...` at the end of a line any text (but not behind a
comma: that is how sequences end). Empty lines, and the numbers of lines that were typed, do not
count. Commands run in a folder of their own, where examples/ and docs/ are found."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ["README.md", "docs/tutorial.md", "docs/guide.md", "docs/language.md", "docs/nesl-library.md",
         "docs/numpy.md", "docs/testing.md", "docs/data.md", "docs/c-api.md", "docs/libraries.md", "docs/python.md",
         "docs/python-functions.md", "docs/dataframes.md", "docs/nan.md", "docs/where-time-goes.md"]
BLOCK = re.compile(r"^```(nesl|console|c|python) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROMPT, MORE = "<Nesl> ", "> "
# A page, and the files of neslc/library of which it has an example of each function.
EXAMPLES = ("docs/nesl-library.md", ["statistics", "searching", "slicing", "combinatorics", "strings", "reals",
                                "bits", "random"])
# The page that calls each function whose elements need an order, which the library's reference lists.
ORDERS = ("docs/nan.md", "docs/nesl-library.md")
ORDERED = re.compile(r"^\| `([a-z]\w*)\(.*?` \| `[^`]*\bin (?:ordinal|sortable)\b", re.MULTILINE)
FUNCTION = re.compile(r"^function ([a-z]\w*)\(", re.MULTILINE)
NEEDS = "needs="
# What Python has for the block of NESL behind it, with one of these.
LIBRARIES = ("numpy", "awkward", "pandas")
MARK = "apropos zzz%dzzz;\n"  # says so, and leaves `it` alone
MARKED = re.compile(r"^No name contains zzz(\d+)zzz\.\n", re.MULTILINE)


def normal(text):
    """The lines of a text that are compared."""
    text = re.sub(r"<prompt>:\d+:", "<prompt>:N:", text)
    lines = [re.sub(r"^( *)\d+ \|", r"\1N |", line.rstrip()) for line in text.split("\n")]
    return [re.sub(r"^ +(N? *\|)", r"\1", line) for line in lines if line]


def same(want, got):
    if want.endswith("...") and not want.endswith(",..."):
        return got.startswith(want[:-3])
    return want == got


def agrees(want, got):
    """Whether lines are those of the page, where `...` may be any."""
    if not want:
        return not got
    if want[0] == "...":
        return any(agrees(want[1:], got[at:]) for at in range(len(got) + 1))
    return bool(got) and same(want[0], got[0]) and agrees(want[1:], got[1:])


class Page:
    def __init__(self, path, folder, bin_folder):
        self.path, self.folder = path, folder
        library = str(bin_folder.parent / "lib")
        self.environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}",
                                CPATH=str(ROOT / "include"), LIBRARY_PATH=library,
                                LD_LIBRARY_PATH=library, PYTHONPATH=str(ROOT / "python"),
                                RAVEL_LIBRARY=f"{library}/libravel.so")
        self.forms, self.passed, self.failed = [], 0, 0  # forms: (line, text, printed)
        self.statements = []  # of Python: (line, text, printed, the module it needs)

    def compare(self, line, what, want, got):
        if agrees(normal(want), normal(got)):
            self.passed += 1
            return
        self.failed += 1
        print(f"{self.path}:{line}: {what.strip()}\n  page: " + "\n        ".join(normal(want)) +
              "\n  is:   " + "\n        ".join(normal(got)))

    def execute(self, text):
        return subprocess.run(["sh", "-c", text], cwd=self.folder, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              stdin=subprocess.DEVNULL, timeout=120, check=False).stdout

    def read_session(self, line, text):
        for number, typed in enumerate(text.splitlines(), line):
            if typed.startswith(PROMPT):
                self.forms.append([number, typed.removeprefix(PROMPT) + "\n", ""])
            elif typed.startswith(MORE) and not self.forms[-1][2]:
                self.forms[-1][1] += typed.removeprefix(MORE) + "\n"
            else:
                self.forms[-1][2] += typed + "\n"

    def run_session(self):
        """The outcome of each form, all in one session."""
        typed = "".join(form + MARK % at for at, (_, form, _) in enumerate(self.forms))
        printed = subprocess.run(["nesl", "--backend", "cpu"], input=typed, cwd=self.folder,
                                 env=self.environment, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.STDOUT, timeout=300, check=False).stdout
        parts = MARKED.split(printed)
        got = dict(zip(map(int, parts[1::2]), parts[0::2]))
        for at, (line, form, want) in enumerate(self.forms):
            self.compare(line, form, want, got.get(at, "nothing"))

    def read_python(self, line, text, needs):
        if not text.startswith(">>> "):
            self.statements.append([line, text, "", needs])
            return
        for number, typed in enumerate(text.splitlines(), line):
            if typed.startswith(">>> "):
                self.statements.append([number, typed + "\n", "", needs])
            elif typed[:4] in ("... ", "...") and not self.statements[-1][2]:
                self.statements[-1][1] += typed + "\n"
            else:
                self.statements[-1][2] += typed + "\n"

    def run_python(self):
        """The outcome of each statement, all in one session."""
        file = self.folder / "session.json"
        file.write_text(json.dumps([[f"{self.path}:{line}", text, needs]
                                    for line, text, _, needs in self.statements]))
        said = self.execute(f"python3 {ROOT / 'nesl-tests/python_session.py'} {file}")
        outcomes = json.loads(file.read_text())
        for (line, text, want, needs), got in zip(self.statements, outcomes):
            if got is None:
                print(f"SKIPPED (optional) {self.path}:{line}: {needs} is not installed")
            else:
                self.compare(line, text, want, got if isinstance(got, str) else said)

    def run_commands(self, line, text):
        commands = []
        for number, shown in enumerate(text.splitlines(), line):
            if shown.startswith("$ "):
                commands.append([number, shown[2:], ""])
            else:
                commands[-1][2] += shown + "\n"
        for number, command, want in commands:
            self.compare(number, command, want, self.execute(command))

    def look_for_examples(self):
        """Of each function of the library that the page is about."""
        for file in EXAMPLES[1]:
            text = (ROOT / "neslc" / "library" / f"{file}.nesl").read_text()
            self.look_for_calls(FUNCTION.findall(text), f"{file}.nesl")

    def look_for_calls(self, names, source):
        typed = "".join(form for _, form, _ in self.forms)
        for name in names:
            good = re.search(rf"\b{name}\(", typed)
            self.passed += bool(good)
            self.failed += not good
            if not good:
                print(f"{self.path}: no example calls {name} of {source}")

    def run(self):
        text = (ROOT / self.path).read_text()
        for block in BLOCK.finditer(text):
            kind, file, inside = block.groups()
            line = text.count("\n", 0, block.start(3)) + 1
            if kind == "console":
                self.run_commands(line, inside)
            elif kind == "python" and (not file or file.startswith(NEEDS)):
                self.read_python(line, inside, file[len(NEEDS):])
            elif file in LIBRARIES:
                continue
            elif file:
                (self.folder / file).write_text(inside)
            else:
                self.read_session(line, inside)
        if self.forms:
            self.run_session()
        if self.path == EXAMPLES[0]:
            self.look_for_examples()
        if self.path == ORDERS[0]:
            self.look_for_calls(ORDERED.findall((ROOT / ORDERS[1]).read_text()), ORDERS[1])
        if self.statements:
            self.run_python()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("pages", nargs="*", default=PAGES)
    options = parser.parse_args()
    passed = failed = 0
    for path in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            for beside in ("examples", "docs"):
                (Path(folder) / beside).symlink_to(ROOT / beside)
            page = Page(path, Path(folder), options.bin.resolve())
            page.run()
        if page.passed + page.failed == 0:
            print(f"{path}: nothing on it is executed")
            failed += 1
        passed, failed = passed + page.passed, failed + page.failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
