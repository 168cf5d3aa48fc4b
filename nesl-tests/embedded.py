#!/usr/bin/env python3
"""embedded.py - libravel says of a mistake what `nesl` says: the messages of docs/nesl-errors.md.

    nesl-tests/embedded.py [--library PATH]

The forms of the page's listings (errors.py compares them with `nesl`) are defined through the
library one by one, expressions as the values of a variable. Messages must be those of the page, and
codes what the section says. The text of `error`, which `nesl` prints, stands behind its message.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import re
import sys
import tempfile

from errors import LISTING, PAGE, ROOT, SHAPES, compare

SECTION = re.compile(r"^## `(.*)`$", re.MULTILINE)
SYNTAX, TYPE, RUNTIME = 2, 3, 4  # enum ravel_code
CODES = {"parse": SYNTAX, "runtime": RUNTIME, "user": RUNTIME}  # of others: TYPE


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(path)
        self.functions.ravel_message.restype = ctypes.c_char_p
        self.functions.ravel_message.argtypes = [ctypes.c_void_p]
        self.functions.ravel_context_free.argtypes = [ctypes.c_void_p]
        self.functions.ravel_define.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                                                ctypes.c_size_t]

    @contextlib.contextmanager
    def context(self):
        context = ctypes.c_void_p()
        if self.functions.ravel_context_new(None, ctypes.byref(context)) != 0:
            sys.exit("no context: " + self.functions.ravel_message(context).decode())
        yield context
        self.functions.ravel_context_free(context)

    def define(self, context, text):
        """The code and the message of a definition."""
        code = self.functions.ravel_define(context, b"example.nesl", text.encode(), 0)
        return code, self.functions.ravel_message(context).decode() if code else ""


def forms(text):
    """The forms of a listing with their first lines, from 0: a line that ends in `;` ends one."""
    begun, lines = 0, text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        if line.rstrip().endswith(";") or at + 1 == len(lines):
            yield begun, "".join(lines[begun:at + 1])
            begun = at + 1


def said_of(library, context, line, form):
    """Code and message of a form that stands in its line but one; what comes before makes an
    expression without mistakes the value of a variable."""
    code, message = library.define(context, "\n" * (line + 1) + form)
    if code or re.match(r"(function|datatype|import)\b|(?!let\b|if\b)[^{\"]+ = ", form):
        return code, message
    return library.define(context, "\n" * line + "value_of_this =\n" + form)


def as_shown(message):
    """A message with the lines of the listing, and the text of `error` where `nesl` prints it."""
    def one_less(match):
        number = str(int(match.group(2)) - 1)
        width = len(match.group(2)) if match.group(3) != ":" else 0
        return match.group(1) + number.rjust(width) + match.group(3)

    message = re.sub(r"^( *example\.nesl:| +)(\d+)(:| \|)", one_less, message, flags=re.MULTILINE)
    return re.sub(r"^(.*stopped itself by `error`): (.*?)(, in `\w+`)?$", r"ERROR: \2\n\1\3", message,
                  flags=re.MULTILINE)


def check(library, kind, text, expected):
    name = f"docs/nesl-errors.md, {kind}: {text.strip()}"
    wanted, said, codes = CODES.get(kind, TYPE), "", set()
    with library.context() as context:
        for line, form in forms(text):
            code, message = said_of(library, context, line, form)
            said += as_shown(message)
            codes.add(code)
    if wanted not in codes:
        print(f"{name}: codes {codes}, none of them {wanted}")
        return 1
    return compare(name, expected, said)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", default=str(ROOT / "build" / "lib" / "libravel.so"))
    library = Library(str(pathlib.Path(parser.parse_args().library).resolve()))
    page, failed, count = PAGE.read_text(), 0, 0
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    pathlib.Path("shapes.nesl").write_text(SHAPES)
    for match in LISTING.finditer(page):
        kind = SECTION.findall(page, 0, match.start())[-1]
        if match.group(1) or kind in ("limit", "nonfinite"):
            continue  # with options of the command
        if "is executed later" in match.group(3):
            continue  # forms that are defined one by one have no later ones
        count += 1
        failed += check(library, kind, match.group(2), match.group(3))
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
