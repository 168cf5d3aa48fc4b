#!/usr/bin/env python3
"""How many chunks batch calls are cut into, left to the machine (vinterp/instances/chunk-size.c).

    nesl-tests/ranges.py [NAME ...] [--build DIR]

Programs of many tiny instances, on one thread and on several. A call has no more chunks than what
its instances need, and the threads, give reason for, and none of a few instances but the first.
Times are not looked at, but the numbers of chunks depend on them a little: the bounds have room for
that, and none for calls that fall into thousands of ranges. Exit status 1 if one is exceeded."""

import argparse
import itertools
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINE = re.compile(r"^(\S+) +(\d+) +(\d+) +(\d+) +(\d+) +[0-9.]+ \w+ +\d+  \S+", re.MULTILINE)
INSTANCES = 200_000
THREADS = (1, 2, 5)
# A chunk of a thread needs some 512 KB (docs/internals/memory.md); those that are taken last, less.
RANGE_BYTES = 512 << 10
# The first chunk of all, and the growth from it to the largest; what threads leave to each other.
GROWING, EACH_THREAD = 2 + math.ceil(math.log(INSTANCES, 8)), 8
# Chunks that are measured first, or are left, may be small; so many of them.
LEAST = 16

# Name: definitions, expression of n, bytes that an instance needs at most.
PROGRAMS = {
    "a branch around a row": (
        "function each(y) = if y > 0.5 then sum({y * float(j) : j in [0:3]}) else 0.0;",
        "sum({each(y) : y in {rand(1.0) : i in [0:n]}})", 100),
    "rows of three": (
        "function each(r) = max_val(r) + r[max_index(r)];",
        "sum({each(r) : r in partition({float(rem(i * 7919, 10007)) : i in [0:3 * n]}, dist(3, n))})", 300),
    "results of several columns": (
        "function each(x) = let v = {x + float(j) : j in [0:4]} in (sum(v), max_val(v), #v, v[1] > x);",
        "let (a, b, c, d) = unzip4({each(float(i)) : i in [0:n]}) in sum(a)", 400),
    "rows as results": (
        "function each(x) = let v = {x + float(j) : j in [0:rem(trunc(x), 4)]} in {y / sum(v) : y in v};",
        "sum(flatten({each(float(i)) : i in [0:n]}))", 400),
    "a table that all share": (
        "function each(table, x) = let v = {table[rem(x * j, #table)] : j in [1:4]} in sum({y * y : y in v});",
        "let table = {rand(1.0) : i in [0:n]} in sum({each(table, i) : i in [0:n]})", 300),
    "a call that calls itself": (
        "function each(x, k) = if k == 0 then x else if x > 0.5 then each(x * 0.7, k - 1) else each(x + 0.3, k - 1);",
        "sum({each(x, 6) : x in {rand(1.0) : i in [0:n]}})", 400),
}


def unzip_definition():
    return ("function unzip4(v) = ({a : (a, b, c, d) in v}, {b : (a, b, c, d) in v},"
            " {c : (a, b, c, d) in v}, {d : (a, b, c, d) in v});\n")


def most_chunks(bytes_each, threads):
    return GROWING + EACH_THREAD * threads + 2 * math.ceil(INSTANCES * bytes_each / RANGE_BYTES)


def faults(row, bytes_each, threads):
    """What is wrong with a line of the profile."""
    name, calls, chunks, least, most = row[0], *map(int, row[1:])
    bound = most_chunks(bytes_each, threads) * calls
    if chunks > bound:
        yield f"{name}: {chunks} chunks of {calls} calls, {bound} at most are expected"
    if least < LEAST and most > 100 * LEAST:
        yield f"{name}: a chunk of {least} instances beside one of {most}"


def check(nesl, name, threads, way):
    """(failures, lines of the profile) of a program."""
    definitions, expression, bytes_each = PROGRAMS[name]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "program.nesl"
        path.write_text(unzip_definition() + definitions + f"\nfunction bench(n) = {expression};\n")
        run = subprocess.run(
            [nesl, "--threads", str(threads), *way, "-e", f"profile (bench({INSTANCES}), bench({INSTANCES}))", path],
            capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return [run.stderr.strip()], []
    rows = LINE.findall((run.stdout + run.stderr).split("calls in chunks", 1)[-1])
    return [text for row in rows for text in faults(row, bytes_each, threads)], rows


def main():
    parser = argparse.ArgumentParser(description="counts the chunks of batch calls")
    parser.add_argument("names", nargs="*", help="only these programs")
    parser.add_argument("--build", default="build", help="folder of the build")
    options = parser.parse_args()
    nesl = ROOT / options.build / "bin/nesl"
    passed = failed = 0
    cut = set()
    for name in options.names or PROGRAMS:
        for threads, way in itertools.product(THREADS, ((), ("--no-optimise",))):
            wrong, rows = check(nesl, name, threads, way)
            cut.update(name for _ in rows)
            for text in wrong:
                print(f"FAILED: {name}, {threads} threads {' '.join(way)}: {text}")
            passed, failed = passed + (not wrong), failed + bool(wrong)
    for name in set(options.names or PROGRAMS) - cut:
        print(f"FAILED: {name}: no call of it is cut")
        failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
