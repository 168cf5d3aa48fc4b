"""The file of results: written by bench/run, of one commit and machine, small enough for people
to read its changes."""

import json

from collection import BENCH, BenchError

MOST_BYTES = 290_000
LINE = 480      # characters of a value that stays on one line


def text(value, depth=0):
    """JSON, a line for each thing that fits on one."""
    line = json.dumps(value)
    if len(line) + depth <= LINE or not value or not isinstance(value, (dict, list)):
        return line
    if isinstance(value, dict):
        parts = [f"{json.dumps(k)}: {text(v, depth + 1)}" for k, v in value.items()]
    else:
        parts = [text(v, depth + 1) for v in value]
    first, last = "{}" if isinstance(value, dict) else "[]"
    pad = "\n" + " " * (depth + 1)
    return first + pad + ("," + pad).join(parts) + "\n" + " " * depth + last


def write(path, document):
    """All of it, or what was there stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text(document) + "\n")
    unfinished.replace(path)


def check_size(path):
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise BenchError(f"{path} has {size:,} bytes, more than {MOST_BYTES:,}: it is not to be "
                         "committed; measure fewer sizes, kinds of data or systems")


def check_clean(path, machine):
    """What is kept in bench/results is of a commit that everybody can check out."""
    if machine["changed"] and path.resolve().is_relative_to(BENCH / "results"):
        raise BenchError(f"{path} is for results of a commit, and the tree has changes: commit them first, "
                         "or write elsewhere")


def go_on(path, machine):
    """What an earlier run has written, if this is the same commit of the same machine."""
    document = json.loads(path.read_text())
    before = document["machine"]
    for what, old, new in (("commit", before["commit"], machine["commit"]),
                           ("processor", before["processor"]["model"],
                            machine["processor"]["model"])):
        if old != new:
            raise BenchError(f"{path} has results of {what} {old}, this is {new}: "
                             "measure all of it without --continue")
    before["changed"] = before["changed"] or machine["changed"]
    return document
