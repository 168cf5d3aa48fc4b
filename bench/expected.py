"""What programs are held to besides their results: the lists of expected.txt.

A list has a line for each program, in words that change only where something is compiled, cut or sent that was not,
or the other way round. What has nothing to say has no line.
"""

import textwrap

from collection import BENCH, relative

FILE = BENCH / "expected.txt"
WIDTH = 100
HEAD = """What becomes of each program of bench/programs and examples/. bench/report compiled, bench/report cut, bench/mpi programs and
bench/mpi sent print it; with --check they compare it with this file, with --update they write it here. docs/vcode.md explains
whole, split, evaluated and node by node; docs/memory.md what is cut; bench/mpi programs --help what ranks do."""


def lists():
    """{title: {name: words}} of the file; a line that begins with blanks belongs to the one before."""
    found, entries, name = {}, {}, None
    for line in FILE.read_text().splitlines() if FILE.exists() else []:
        if line.startswith("## "):
            entries = found.setdefault(line[3:], {})
        elif line.startswith(" "):
            entries[name] += " " + line.strip()
        elif ": " in line and not line.startswith("#"):
            name, entries[line.split(": ")[0]] = line.split(": ", 1)
    return found


def written(found):
    """The text of the file."""
    lines = [f"# {line}" for line in textwrap.wrap(HEAD, WIDTH - 2)]
    for title, entries in found.items():
        lines += ["", f"## {title}"]
        for name, words in entries.items():
            lines += textwrap.wrap(f"{name}: {words}", WIDTH, subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def update(title, entries):
    """Replaces a list."""
    FILE.write_text(written({**lists(), title: {name: words for name, words in entries.items() if words}}))


def check(title, entries, command, whole=True):
    """Compares a list with what was found, of some programs unless `whole`; an exit status."""
    kept = lists().get(title, {})
    names = [*entries, *(name for name in kept if whole and name not in entries)]
    wrong = [name for name in names if kept.get(name, "") != entries.get(name, "")]
    for name in wrong:
        print(f"FAILED: {name}: {entries.get(name) or 'nothing'}; {relative(FILE)} has {kept.get(name) or 'nothing'}")
    if wrong:
        print(f"if that is meant, run {command} --update")
    print(f"{len(names) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def counted(words):
    """2 whole, 1 split: of a list of words, in the order in which they first come."""
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
