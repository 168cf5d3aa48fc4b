#!/usr/bin/env python3
"""A stream of some GB through a function, and out again, within 200 MB: large_streams.py [GB]

Nothing but this process's own arrays, one at a time, is in its memory; results are checked row by row."""

import functools
import resource
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

# pylint: disable=wrong-import-position
import numpy as np  # noqa: E402
import ravel as rv  # noqa: E402
from batches import Batches, columns_of  # noqa: E402
from ravel._columns import Flat, Rows  # noqa: E402

ROWS, ROW = 1000, 1000
LIMIT, MOST = "100M", 300 << 20  # of memory for Ravel; bytes resident beyond what was before


@functools.lru_cache(2)
def data(i):
    return (np.arange(ROWS * ROW, dtype=np.float64) * 7919 + i) % 10007 - 5000


def rows(i):
    return Rows(np.arange(0, ROWS * ROW + 1, ROW), Flat(data(i)))


def resident():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def wanted_of(row):
    """What the function makes of it: its elements in order of the sums up to each."""
    return row[np.argsort(np.cumsum(row), kind="stable")]


def check(result, count):
    """The first row that is not what the stream's should become, of every 97th; or \"\"."""
    at = 0
    for column in columns_of(result):
        found = column.content.data[column.offsets[0]:column.offsets[-1]].reshape(-1, ROW)
        for k in range(0, len(column), 97):
            row = data((at + k) // ROWS).reshape(ROWS, ROW)[(at + k) % ROWS]
            if not np.array_equal(found[k], wanted_of(row)):
                return f"row {at + k} is wrong"
        at += len(column)
    return "" if at == count * ROWS else f"{at} rows instead of {count * ROWS}"


def main():
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    count = max(int(gigabytes * 1e9 / (8 * ROWS * ROW)), 3)
    module = rv.define("function by_sums(m) : [[float]] -> [[float]] ="
                       " {let s = plus_scan(r); k = rank({a + b : a in s; b in r}) in permute(r, k) : r in m};")
    begun = time.monotonic()
    with rv.options(memory=LIMIT):
        rv.eval("1")
        before = resident()
        held = rv.array(Batches(rows, count))
        imported = time.monotonic()
        result = module.by_sums(held)
        del held
        problem = check(result, count)
    more = resident() - before
    print(f"{count * ROWS} rows of {ROW}, {count * ROWS * ROW * 8 / 1e9:.1f} GB: {imported - begun:.0f} s in, "
          f"{time.monotonic() - imported:.0f} s computed and checked, {more / 1e6:.0f} MB resident")
    if not problem and more > MOST:
        problem = f"more than {MOST / 1e6:.0f} MB are resident"
    print(problem or "1 passed, 0 failed")
    return bool(problem)


if __name__ == "__main__":
    sys.exit(main())
