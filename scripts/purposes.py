#!/usr/bin/env python3
"""What each file of a folder is for: the first sentence of its first comment.

    scripts/purposes.py FOLDER ...

nesl-tests/documents.py checks that sources begin with such a comment: of C and tables `NAME - PURPOSE`."""

import argparse
import re
import sys

from source_files import ROOT, source_files

NAMED = re.compile(r".*\.(?:c|cc|cpp|cu|def|h|hpp)")
# Comments of C, C++, Python, shells and CMake, and NESL.
FIRST = re.compile(r"""(?:\#![^\n]*\n)?\s*(?:/\*(.*?)\*/|((?://[^\n]*\n|\#(?!include|define)[^\n]*\n)+)"""
                   r"""|[rR]?\"{3}(.*?)\"{3}|%(.*?)%)""", re.DOTALL)
SENTENCE = re.compile(r".*?\.(?=\s|$)|.*")


def first_comment(text):
    """The first paragraph of the comment with which a text begins, in one line; empty without one."""
    found = FIRST.match(text)
    if not found:
        return ""
    bare = re.sub(r"^ *(?:\*|//|#)+ ?", "", next(filter(None, found.groups()), ""), flags=re.MULTILINE)
    return " ".join(re.split(r"\n\s*\n", bare.strip(), maxsplit=1)[0].split())


def purpose(name):
    """Of a file: a sentence, which begins with the file's name where all of its kind do. Empty without."""
    return SENTENCE.match(first_comment((ROOT / name).read_text(encoding="utf-8", errors="replace")))[0]


def has_purpose(name):
    base = name.rpartition("/")[2]
    found = purpose(name)
    return found.startswith(f"{base} - ") if NAMED.fullmatch(name) else bool(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folders", nargs="+", metavar="FOLDER")
    for folder in parser.parse_args().folders:
        for name in source_files(folder.rstrip("/")):
            base = name.rpartition("/")[2]
            print(f"{name}: {purpose(name).removeprefix(f'{base} - ')}")


if __name__ == "__main__":
    sys.exit(main())
