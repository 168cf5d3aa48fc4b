#!/usr/bin/env python3
"""Whether the sections OPTIONS of the manual pages in docs/ are those that the tables of options make, the section Syntax
of docs/language.md is that of commands/nesl-syntax.def, and docs/limits.md has the variables of the environment that
product code reads, the options of libravel, and all codes.

    nesl-tests/manuals.py [--update]      with it these sections are written anew

The tables are commands/*-options.def, from which the commands make their parsers and --help. An option has in its page
what --help says, and then the comment that stands behind its row: `text` there is bold, and lines that are indented are
an example."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = {"vinterp": "vinterp-options.def", "fcodeopt": "fcodeopt-options.def",
          "nesl": "nesl-options.def", "neslc": "neslc-options.def"}
INCLUDED = re.compile(r'^#include "(.*\.def)"\n', re.MULTILINE)
FIRST_COMMENT = re.compile(r"\A/\*.*?\*/\n", re.DOTALL)
# A row: letter, name, argument and help; and the comment behind it.
TEXT = r'NULL|"(?:[^"\\]|\\.)*"(?:\s*"(?:[^"\\]|\\.)*")*'
ROW = re.compile(rf"^OPTION\(\w+,\s*(0|'.'),\s*({TEXT}),\s*({TEXT}),\s*({TEXT})\)\n(?:/\* (.*?) \*/\n)?",
                 re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^\.SH OPTIONS\n(.*?)(?=^\.SH )", re.MULTILINE | re.DOTALL)
# What reads variables of the environment: by a literal, or by the capital names of a file that reads others.
PRODUCT = ("base", "cvl", "cvl-cpu", "cvl-cuda", "cvl-mpi", "fused-kernels", "ir", "procedures", "fcode-opt", "arrays",
           "vcode", "neslc", "vinterp", "commands", "libravel", "python/ravel")
READS = re.compile(r"""(?:getenv\(|environment\(|environ\.get\(|environ\[)"(\w+)\"""")
READS_ANY = re.compile(r"\bgetenv\([a-z]")
CAPITALS = re.compile(r'"([A-Z][A-Z]+(?:_[A-Z]+)*)"')


def text_of(literal):
    """The text of a string of C, of several in a row; None of NULL."""
    return None if literal == "NULL" else re.sub(r'"\s*"', "", literal)[1:-1].replace('\\"', '"')


def rows_of(command):
    """Of each option that --help mentions: letter, name, argument, help, and the rest of its text."""
    # The first comment of an included table is about the table, not about the option before it.
    table = INCLUDED.sub(lambda m: FIRST_COMMENT.sub("", (ROOT / m[1]).read_text()),
                         (ROOT / "commands" / TABLES[command]).read_text())
    for letter, name, argument, words, more in ROW.findall(table):
        if words != "NULL":
            yield letter.strip("'0"), text_of(name), text_of(argument), text_of(words), re.sub(r"^ \*( |$)", "", more,
                                                                                              flags=re.MULTILINE)


def roff(text):
    """A text as lines of a manual page."""
    text = re.sub(r"`([^`]*)`", r"\\fB\1\\fP", text.replace("\\", "\\e").replace("-", "\\-"))
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def tag(letter, name, argument):
    names = ", ".join(f"\\fB{roff(n)}\\fP" for n in ("-" + letter if letter else "", "--" + name if name else "") if n)
    if not argument:
        return names
    return f"{names}[=\\fI{argument[1:-1]}\\fP]" if argument.startswith("[") else f"{names} \\fI{argument}\\fP"


def passes():
    return re.findall(r"^PASS\((\w+),", (ROOT / "fcode-opt" / "passes.def").read_text(), re.MULTILINE)


def paragraphs(more):
    more = more.replace("{passes}", ", ".join(f"`{name}`" for name in passes()) + " and `all`")
    for number, each in enumerate(filter(None, more.split("\n\n"))):
        if each.startswith("    "):
            yield from (".IP", ".EX", roff(re.sub("^    ", "", each, flags=re.MULTILINE)), ".EE")
        else:
            yield from [".IP"] * (number > 0) + [roff(each)]


def options_section(command):
    lines = []
    for letter, name, argument, words, more in rows_of(command):
        lines += [".TP", tag(letter, name, argument), roff(words[0].upper() + words[1:] + "."), *paragraphs(more)]
    return "\n".join(lines) + "\n"


def page_of(command):
    return ROOT / "docs" / f"{command}.1"


SYNTAX = re.compile(rf"^SYNTAX\(({TEXT}),\s*({TEXT}),\s*({TEXT})\)", re.MULTILINE)
SYNTAX_SECTION = re.compile(r"^(## Syntax\n.*?)^\| form .*?(?=^\n## )", re.MULTILINE | re.DOTALL)


def cell(text):
    return text.replace("|", "\\|")


def syntax_table():
    """What `describe` says of words and symbols, without its examples, which are the last line."""
    lines = ["| form | what it is |", "|---|---|"]
    for _, form, text in SYNTAX.findall((ROOT / "commands" / "nesl-syntax.def").read_text()):
        forms = " ".join(f"``{each}``" if "`" in each else f"`{each}`" for each in re.split("   +", text_of(form)))
        words = [line for line in text_of(text).split("\\n") if not line.endswith(";")]
        lines.append(f"| {cell(forms)} | {cell(' '.join(words))} |")
    return "\n".join(lines) + "\n"


def with_syntax(page):
    return SYNTAX_SECTION.sub(lambda m: m[1] + syntax_table(), page)


def update():
    language = ROOT / "docs" / "language.md"
    language.write_text(with_syntax(language.read_text()))
    for command in TABLES:
        page = page_of(command)
        page.write_text(SECTION.sub(lambda _, c=command: ".SH OPTIONS\n" + options_section(c), page.read_text()))


def problems_of_syntax():
    page = (ROOT / "docs" / "language.md").read_text()
    if not SYNTAX_SECTION.search(page) or with_syntax(page) != page:
        yield "docs/language.md has another section Syntax than commands/nesl-syntax.def: nesl-tests/manuals.py --update"


def problems_of_passes():
    """docs/internals/optimiser.md has each pass of fcode-opt/passes.def, in its order."""
    page = (ROOT / "docs" / "internals" / "optimiser.md").read_text()
    sections = [s.lower() for s in re.findall(r"^## (\w+)", page, re.MULTILINE)]
    if [s for s in sections if s in passes()] != passes():
        yield f"docs/internals/optimiser.md does not have the sections {passes()} in this order"


def problems(command):
    page = page_of(command).read_text()
    if SECTION.search(page)[1] != options_section(command):
        yield f"docs/{command}.1 has other options than commands/{TABLES[command]}: nesl-tests/manuals.py --update"
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


def report(found):
    """Prints problems; whether there are none."""
    print(*found, sep="\n", end="\n" if found else "")
    return not found


def main():
    if sys.argv[1:] == ["--update"]:
        return update()
    for command in TABLES:
        if not list(rows_of(command)):
            sys.exit(f"commands/{TABLES[command]} has no rows")
    good = [report(list(problems(command))) for command in TABLES]
    good += [report(list(found())) for found in (problems_of_passes, problems_of_syntax, problems_of_limits)]
    failed = good.count(False)
    print(f"{len(good) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
