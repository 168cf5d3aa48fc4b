#!/usr/bin/env python3
"""What holds for all pages: links, lines, sentences, words; and that each file says what it is for.

- Relative links of Markdown files lead to a file that is there, and to a title in it. So do names of files in the
  README of a folder: they are relative to it or to the root, or names of files below it.
- Each source begins with a comment that says what the file is for (scripts/purposes.py).
- docs/README.md links each page.
- Lines of text have at most 100 columns, sentences at most 25 words, where a colon ends one. That holds for pages and
  READMEs. Tables and code are free; so are pages that programs write from measurements.
- docs/glossary.md: each term is in italics on the page that the glossary names, once, and on no other page. Words that
  the glossary replaces are on no page, and in no text that a program prints.
"""

import os
import re
import sys
from pathlib import Path

from checks import Checks

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))
from purposes import has_purpose  # noqa: E402
from source_files import source_files  # noqa: E402

COLUMNS, WORDS = 100, 25
GLOSSARY = "docs/glossary.md"
# Pages that programs write from measurements: their lines and words are those of the programs.
MADE = re.compile(r"docs/results.*\.md")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]*)(?:#([^)\s]*))?\)")
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(`+)(?!`)(?:[^`\n]|\n(?!\s*\n)|(?!\1)`)+?\1(?!`)")
# Names of files in a README; one with capitals stands for several.
NAME = re.compile(r"`((?![\w./-]*[A-Z]{3})[\w.][\w./-]*\.(?:c|cc|cpp|cu|def|h|hpp|py|cmake|nesl|json))`")
SOURCE = re.compile(r"\.(?:c|cc|cpp|cu|def|h|hpp|py|cmake)$|^(?:bench|lab|scripts)/[\w-]+$|^neslc/library/[\w-]+\.nesl$")
ITEM = re.compile(r"^(?:[-*]|\d\.) ")
PRINTED = ("base", "cvl", "cvl-cpu", "cvl-cuda", "cvl-mpi", "fused-kernels", "ir", "procedures", "fcode-opt", "arrays",
           "vcode", "neslc", "vinterp", "commands", "libravel", "tables")


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def without_code(text):
    """A page whose code is blank or a word, in the same lines."""
    text = FENCED.sub(lambda m: "\n" * m[0].count("\n"), text)
    return INLINE.sub(lambda m: re.sub(r"[^\n]", "x", m[0]), text)


# ---- links ----


def anchors(name):
    titles = re.findall(r"^#+ (.*)$", FENCED.sub("", text_of(name)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def check_links(tests, name):
    for path, anchor in LINK.findall(without_code(text_of(name))):
        if re.match(r"[a-z]+:", path):
            continue
        target = (ROOT / name).parent / path if path else ROOT / name
        tests.check(target.exists(), f"{name} links {path}, which is not there")
        if anchor and target.suffix == ".md" and target.exists():
            tests.check(anchor in anchors(target.resolve().relative_to(ROOT)),
                        f"{name} links {path}#{anchor}, a title that is not there")


def check_names(tests, name, sources):
    """The files that a README names are where it says, or below its folder."""
    folder = name.rpartition("/")[0] + "/"
    below = {path.rpartition("/")[2] for path in sources if path.startswith(folder)}
    text = text_of(name)
    for found in NAME.finditer(text):
        path = found[1]
        there = path in sources or path in below or os.path.normpath(folder + path) in sources
        tests.check(there, f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {path} is not there")


def check_index(tests, pages):
    linked = {path for path, _ in LINK.findall(text_of("docs/README.md"))}
    for name in pages:
        path = name.removeprefix("docs/")
        tests.check(path in linked or path == "README.md", f"docs/README.md does not link {path}")


# ---- lines and sentences ----


def lines_of_text(name):
    """Lines with their numbers, without tables, code and titles; None where a paragraph ends."""
    text = None
    for number, line in enumerate(without_code(text_of(name)).splitlines(), 1):
        bare = line.strip()
        code = line.startswith("    ") and text is None
        text = None if not bare or bare[0] in "#|<!" or code else bare
        yield number, text


def paragraphs(name):
    """Each with the number of its first line."""
    first, words = 0, []
    for number, line in [*lines_of_text(name), (0, None)]:
        if words and (line is None or ITEM.match(line)):
            yield first, " ".join(words)
            words = []
        if line is not None:
            first = first if words else number
            words.append(ITEM.sub("", line, count=1) if not words else line)


def long_sentences(name):
    for number, paragraph in paragraphs(name):
        text = LINK.sub(lambda m: m[0][1:m[0].index("]")], paragraph)
        for sentence in re.split(r"(?<=[.!?:])[)*]*\s+", text):
            if len(sentence.split()) > WORDS:
                yield f"{name}:{number}: {len(sentence.split())} words: {sentence}"


def check_lines(tests, name):
    raw = text_of(name).splitlines()
    for number, line in lines_of_text(name):
        wide = line is not None and len(raw[number - 1]) > COLUMNS and " " in line
        tests.check(not wide, f"{name}:{number}: more than {COLUMNS} columns")
    for found in long_sentences(name):
        tests.check(False, found)


# ---- sources ----


def check_purposes(tests, sources):
    for name in sources:
        if SOURCE.search(name):
            tests.check(has_purpose(name), f"{name} does not begin with a comment that says what it is for")


# ---- words ----


def rows(title):
    """The cells of the table under a title of the glossary."""
    section = re.search(rf"^#+ {title}\n(.*?)(?=^#|\Z)", text_of(GLOSSARY), re.MULTILINE | re.DOTALL)[1]
    table = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [row.split(" | ") for row in table[1:]]


def forms(term):
    """A term in italics, in the singular or the plural, with or without the word that only says what it is."""
    return re.compile(rf"(?<![*\w])\*{re.escape(term)}s?\*(?![*\w])", re.IGNORECASE)


def check_terms(tests, pages):
    terms = rows("Glossary")
    names = [term for term, _, _ in terms]
    tests.check(len(names) > 20 and len(set(names)) == len(names), "the glossary has a term twice, or hardly any")
    tests.check(names == sorted(names), "the terms of the glossary are not in order")
    texts = {name: " ".join(without_code(text_of(name)).split()) for name in pages if name != GLOSSARY}
    for term, _, link in terms:
        where = "docs/" + LINK.search(link)[1]
        found = [name for name, text in texts.items() for _ in forms(term).findall(text)]
        tests.check(found == [where], f"{term} is defined in {found}, not once in {where}")


def strings(name):
    """The texts in quotes in a file of C that have several words, as messages and help do."""
    return " ".join(text for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text_of(name)) if " " in text)


def check_words(tests, pages):
    words = [word for cell, _ in rows("Words that are not used") for word in cell.split(", ")]
    tests.check(len(words) > 5, "the glossary replaces hardly any words")
    pattern = re.compile(rf"(?<![\w-])(?<!option )(?:{'|'.join(words)})s?(?![\w-])", re.IGNORECASE)
    sources = [name for name in source_files(*PRINTED) if re.search(r"\.(c|cpp|hpp|cu|h|def)$", name)
               and "/tests/" not in name and not name.startswith("cvl/conformance")]
    for name in [name for name in pages if name != GLOSSARY] + sources:
        text = without_code(text_of(name)) if name.endswith(".md") else strings(name)
        for word in sorted(set(pattern.findall(text))):
            tests.check(False, f'{name}: "{word}" is a word that {GLOSSARY} replaces')


def main():
    tests = Checks()
    # Examples of the library are parts of a page in docs/, with its links.
    sources = {name for name in source_files() if (ROOT / name).is_file()}
    files = [name for name in sorted(sources) if name.endswith(".md") and not name.startswith("neslc/library/examples/")]
    docs = [name for name in files if name.startswith("docs/")]
    pages = [name for name in [*docs, "README.md", "CONTRIBUTING.md"] if not MADE.fullmatch(name)]
    for name in files:
        check_links(tests, name)
    check_index(tests, [*docs, *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.1"))])
    readmes = [name for name in files if name.endswith("/README.md") and name not in docs]
    for name in pages + readmes:
        check_lines(tests, name)
    for name in readmes:
        check_names(tests, name, sources)
    check_purposes(tests, sorted(sources))
    check_terms(tests, pages)
    check_words(tests, pages + readmes)
    return tests.status()


if __name__ == "__main__":
    sys.exit(main())
