"""Commands with parts: bench/NAME PART ... runs the main of the part's module."""

import importlib
import sys


class BenchError(Exception):
    """An error of the user, or of a case."""


def run(about, parts, default=None):
    """parts: {name: module}; `default`: what runs if the first word is none of them. An exit status."""
    command, *words = sys.argv
    command = "bench/" + command.rsplit("/", 1)[-1]
    if words and words[0] in parts:
        command, default = f"{command} {words[0]}", parts[words.pop(0)]
    elif not default or words in ([], ["--help"], ["-h"]):
        asked = words in (["--help"], ["-h"])
        print(about.strip(), file=sys.stdout if asked else sys.stderr)
        return 0 if asked else 2
    try:
        return importlib.import_module(default).main(words)
    except BenchError as error:
        print(f"{command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
