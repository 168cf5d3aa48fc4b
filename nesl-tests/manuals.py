#!/usr/bin/env python3
"""Whether the manual pages in docs/ document exactly the options of their commands, and docs/limits.md the
variables of the environment that product code reads, the options of libravel, and all codes. docs/README.md links
each page.

    nesl-tests/manuals.py

The options are the rows of commands/*options.def, from which the commands make their parsers."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"vinterp": "options.def", "fcodeopt": "fcodeopt-options.def",
          "nesl": "nesl-options.def", "neslc": "neslc-options.def"}
ROW = re.compile(r"^OPTION\(\w+, *(0|'.'), *(NULL|\"[\w-]+\")", re.MULTILINE)

INCLUDED = re.compile(r'^#include "(.*\.def)"', re.MULTILINE)

OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*|-[A-Za-z](?![\w-]))")
# What reads variables of the environment: by a literal, or by the capital names of a file that reads others.
PRODUCT = ("base", "cvl", "cvl-cpu", "cvl-cuda", "cvl-mpi", "fused-kernels", "ir", "fcode-opt", "arrays", "vcode",
           "neslc", "vinterp", "commands", "libravel", "python/ravel")
READS = re.compile(r"""(?:getenv\(|environment\(|environ\.get\(|environ\[)"(\w+)\"""")
READS_ANY = re.compile(r"\bgetenv\([a-z]")
CAPITALS = re.compile(r'"([A-Z][A-Z]+(?:_[A-Z]+)*)"')
IGNORED = {"-c", "-m", "-g"}  # of vinterp: accepted, for old scripts


def options_of(command):
    options = set()
    text = (ROOT / "commands" / TABLES[command]).read_text()
    for shared in INCLUDED.findall(text):
        text += (ROOT / shared).read_text()
    for letter, name in ROW.findall(text):
        if letter != "0":
            options.add("-" + letter[1])
        if name != "NULL":
            options.add("--" + name.strip('"'))
    return options


def problems_of_passes(page):
    """Passes are those of fcode-opt/passes.def, in its order; docs/optimiser.md has each."""
    passes = re.findall(r"^PASS\((\w+),", (ROOT / "fcode-opt" / "passes.def").read_text(),
                        re.MULTILINE)
    listed = re.search(r"print\\-after.*?(?=^\.TP)", page, re.MULTILINE | re.DOTALL)[0]
    named = re.findall(r"^\.BR? (\w+)", listed, re.MULTILINE)
    if named != [*passes, "all"]:
        yield f"docs/fcodeopt.1 lists the passes {named}, not {passes} and all"
    sections = [s.lower() for s in re.findall(r"^## (\w+)",
                (ROOT / "docs" / "optimiser.md").read_text(), re.MULTILINE)]
    if [s for s in sections if s in passes] != passes:
        yield f"docs/optimiser.md does not have the sections {passes} in this order"


def problems(command):
    page = (ROOT / "docs" / f"{command}.1").read_text()
    text = re.sub(r"\\f.", " ", page).replace("\\-", "-")
    tags = " ".join(re.findall(r"^\.TP\n(.*)", text, re.MULTILINE))
    for option in sorted(options_of(command) - set(OPTION.findall(text))):
        yield f"docs/{command}.1 does not name {option}"
    for option in sorted(set(OPTION.findall(tags)) - options_of(command) - IGNORED):
        yield f"docs/{command}.1 names {option}, which is no option"
    if command == "fcodeopt":
        yield from problems_of_passes(page)
    if shutil.which("groff"):
        said = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z"], input=page, text=True,
                              capture_output=True, check=False).stderr
        for line in said.splitlines():
            yield f"docs/{command}.1: groff: {line}"


def variables():
    """The variables that product code reads, with a file each."""
    found = {}
    for room in PRODUCT:
        for path in sorted((ROOT / room).rglob("*.*")):
            if path.suffix not in (".c", ".h", ".cpp", ".hpp", ".cu", ".py") or "tests" in path.parts:
                continue
            text = path.read_text()
            names = READS.findall(text) + (CAPITALS.findall(text) if READS_ANY.search(text) else [])
            found.update((name, path.relative_to(ROOT)) for name in names)
    return found


def section(page, title):
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)[1]


def first_cells(text):
    """The names in the first column of a section's tables."""
    rows = re.findall(r"^\|(.*?)\|", text, re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def problems_of_limits():
    page = (ROOT / "docs" / "limits.md").read_text()
    listed, read = section(page, "Environment variables"), variables()
    for name in sorted(read):
        if f"`{name}`" not in listed:
            yield f"docs/limits.md does not name {name}, which {read[name]} reads"
    for name in sorted(first_cells(listed) - set(read)):
        yield f"docs/limits.md names {name}, which nothing reads"
    options = set(re.findall(r'strcmp\(name, "(\w+)"\)', (ROOT / "libravel" / "options.c").read_text()))
    if first_cells(section(page, "Options of Python and C")) != options:
        yield f"docs/limits.md does not have exactly these options: {sorted(options)}"
    codes = re.search(r"enum ravel_code \{(.*?)\}", (ROOT / "include" / "ravel.h").read_text(), re.DOTALL)[1]
    kinds = (ROOT / "docs" / "nesl-errors.md").read_text()
    errors = (ROOT / "python" / "ravel" / "_errors.py").read_text()
    for name in [*re.findall(r"^\s*(RAVEL_\w+)", codes, re.MULTILINE),
                 *re.findall(r"^class (\w+)\(Error", errors, re.MULTILINE),
                 *re.findall(r"^## `(.*)`$", kinds, re.MULTILINE)]:
        if f"`{name}`" not in section(page, "Codes"):
            yield f"docs/limits.md does not name {name} among the codes"


def problems_of_index():
    folder = ROOT / "docs"
    pages = {path.name for path in folder.iterdir() if path.suffix in (".md", ".1")} - {"README.md"}
    linked = set(re.findall(r"\]\(([\w.-]+)\)", (folder / "README.md").read_text()))
    for name in sorted(pages - linked):
        yield f"docs/README.md does not link {name}"


def report(found):
    """Prints problems; whether there are none."""
    print(*found, sep="\n", end="\n" if found else "")
    return not found


def main():
    for command in TABLES:
        if not options_of(command):
            sys.exit(f"commands/{TABLES[command]} has no rows")
    good = [report(list(problems(command))) for command in TABLES]
    good += [report(list(problems_of_limits())), report(list(problems_of_index()))]
    failed = good.count(False)
    print(f"{len(good) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
