"""Random functions of the subset: CPython and Ravel give the same, or an error that is due; one
by one, and all at once by ravel.map.

    python/tests/test_function_random.py [--seed N] [--count N]       prints what differs

Ints and what is computed exactly of floats are equal; `real` values differ by at most 1e-12 of
the largest float on the way. An OverflowError of Ravel is due where an int on CPython's way has
more than 64 bits, or 53 where it becomes a float.
"""

import argparse
import ast
import linecache
import math
import random
import sys
import unittest
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parent.parent)]

import ravel as rv  # pylint: disable=wrong-import-position
from function_programs import Program  # pylint: disable=wrong-import-position
from function_test import value  # pylint: disable=wrong-import-position

SEED, COUNT, CALLS = 18, 100, 3
TOGETHER = 50  # functions in one context
CLOSE = 1e-12


class Watch(ast.NodeTransformer):
    """Makes CPython report each value that an operation or a call gives."""

    def watched(self, node):
        self.generic_visit(node)
        return ast.Call(ast.Name("watch_", ast.Load()), [node], [])

    visit_BinOp = visit_UnaryOp = visit_Call = visit_IfExp = visit_Constant = watched

    def visit_JoinedStr(self, node):
        return node

    def visit_AugAssign(self, node):
        read = ast.Name(node.target.id, ast.Load())
        self.generic_visit(node)
        return ast.Assign([node.target], self.watched(ast.BinOp(read, node.op, node.value)))


class Seen:
    """The largest numbers on CPython's way."""

    def __init__(self):
        self.int = self.float = 0

    def watch(self, value):
        if isinstance(value, (list, tuple)):
            for each in value[:1000]:
                self.watch(each)
        if isinstance(value, int):
            self.int = max(self.int, abs(value) if value != -2**63 else 2**63 - 1)
        elif isinstance(value, float):
            self.float = max(self.float, abs(value) if value == value else math.inf)
        return value

    def large(self, error):
        """Whether an OverflowError of Ravel is due."""
        return self.int >= (2**53 if "53 bits" in str(error) else 2**63) or self.float > 1e300


class TooLarge(Exception):
    pass


def by_python(text, arguments):
    """CPython's result or exception, and the largest numbers on the way."""
    seen = Seen()
    steps = [0]

    def watch(value):
        steps[0] += 1
        if steps[0] > 20000 or hasattr(value, "__len__") and len(value) > 20000 or (
                isinstance(value, int) and abs(value) > 2**4096):
            raise TooLarge
        return seen.watch(value)
    tree = ast.fix_missing_locations(Watch().visit(ast.parse(text)))
    scope = {"math": math, "np": np, "watch_": watch}
    exec(compile(tree, "<watched>", "exec"), scope)  # pylint: disable=exec-used
    seen.watch(arguments)
    try:
        return scope["f"](*arguments), seen
    except Exception as error:  # pylint: disable=broad-except
        return error, seen


def translated(text, number):
    """The function by Ravel."""
    file = f"<program {number}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"math": math, "np": np}
    exec(compile(text, file, "exec"), scope)  # pylint: disable=exec-used
    scope["f"] = rv.function(scope["f"])
    return scope["f"]


def agree(got, want, close, seen):
    if isinstance(want, (list, tuple)):
        return isinstance(got, type(want)) and len(got) == len(want) and all(
            agree(x, y, close, seen) for x, y in zip(got, want))
    if isinstance(got, float) and isinstance(want, (int, float)):
        if got != got or want != want:
            return got != got and want != want
        return got == want or close and abs(got -
                                            want) <= CLOSE * max(1.0, seen.float, abs(want))
    return got == want


def difference(program, function, arguments):
    """What is wrong with the result for these arguments, or ""; and CPython's, if both have
    values: the result and the largest numbers on the way."""
    want, seen = by_python(program.text, arguments)
    if isinstance(want, (TooLarge, RecursionError)):
        return "", None
    try:
        got = function(*arguments)
    except rv.RunError as error:
        overflow = isinstance(error, OverflowError) and seen.large(error)
        due = overflow or isinstance(want, Exception)
        return ("" if due else f"Ravel: {error}\nPython: {want!r}"), None
    if isinstance(want, Exception):
        return f"Ravel: {got!r}\nPython: {want!r}", None
    return compared(program, got, want, seen), (want, seen)


def compared(program, got, want, seen):
    same = agree(value(got), value(want), program.result == "real", seen)
    return "" if same else f"Ravel: {value(got)!r}\nPython: {value(want)!r}"


def differences(program, function, rows):
    """What is wrong for each row of arguments, and for all good ones at once; their number."""
    found = [(row, *difference(program, function, row)) for row in rows]
    wrong = [(row, text) for row, text, _ in found if text]
    good = [(row, both) for row, _, both in found if both]
    if good:
        columns = [list(column) for column in zip(*(row for row, _ in good))]
        results = value(rv.map(function, *columns))
        for got, (row, (want, seen)) in zip(results, good):
            text = compared(program, got, want, seen)
            wrong += [(row, f"by map: {text}")] if text else []
    return wrong, len(good)


def search(seed, count, close=False):
    """Prints what differs; how many calls gave values, were refused, and differed."""
    values = refused = wrong = 0
    for number in range(count):
        if close and number % TOGETHER == TOGETHER - 1:
            rv.close()  # which frees what has been compiled
        source = random.Random(f"{seed} {number}")
        program = Program(source)
        try:
            function = translated(program.text, f"{seed} {number}")
            found, gave = differences(program, function,
                                      [program.arguments() for _ in range(CALLS)])
            values += gave
            wrong += len(found)
            for arguments, text in found:
                print(f"--- seed {seed}, program {number}, arguments {arguments!r}")
                print(program.text + text)
        except rv.Unsupported as error:
            refused += 1
            if "no type in common" not in str(error):
                wrong += 1
                print(f"--- seed {seed}, program {number} is refused\n{program.text}{error}")
        except rv.Error as error:
            wrong += 1
            print(f"--- seed {seed}, program {number}\n{program.text}{type(error)}: {error}")
    return values, refused, wrong


class Random(unittest.TestCase):
    def test_programs(self):
        values, refused, wrong = search(SEED, COUNT)
        self.assertEqual(wrong, 0)
        self.assertGreater(values, COUNT * CALLS // 4)
        self.assertLess(refused, COUNT // 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", default=str(SEED))
    parser.add_argument("--count", type=int, default=COUNT)
    options = parser.parse_args()
    values, refused, wrong = search(options.seed, options.count, close=True)
    print(f"seed {options.seed}: {options.count} functions, {values} results compared,"
          f" {refused} refused, {wrong} wrong")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
