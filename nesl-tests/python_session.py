#!/usr/bin/env python3
"""A session of Python for pages.py: executes statements in order, as the prompt does.

    python_session.py FILE      FILE: a JSON list of [where, statement, module it needs or ""]

Writes over FILE a list of what each printed; null where its module is missing."""

import contextlib
import importlib.util
import io
import json
import linecache
import sys
import traceback


def execute(where, statement, names):
    """What a statement prints, its value and its exception included."""
    linecache.cache[where] = (len(statement), None, statement.splitlines(True), where)
    mode = "single" if statement.startswith(">>> ") else "exec"
    if mode == "single":
        statement = "\n".join(line[4:] for line in statement.splitlines()) + "\n"
        linecache.cache[where] = (len(statement), None, statement.splitlines(True), where)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(statement, where, mode), names)  # pylint: disable=exec-used
        except BaseException as error:  # pylint: disable=broad-except
            print("Traceback (most recent call last):")
            print("".join(traceback.format_exception_only(type(error), error)))
    return printed.getvalue()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        statements = json.load(file)
    names = {"__name__": "__main__"}
    outcomes = [None if needs and not importlib.util.find_spec(needs)
                else execute(where, statement, names) for where, statement, needs in statements]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(outcomes, file)


if __name__ == "__main__":
    main()
