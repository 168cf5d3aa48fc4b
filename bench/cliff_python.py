"""Programs of Python's that bench/cliffs times, each over the package ravel.

    python3 bench/cliff_python.py NAME N [--repeat R] [--option KEY=VALUE]...

Runs a program on data of size N once to warm up, then R times, and prints the seconds as JSON. What a
program returns before it is run again is data that are made once, outside of what is timed.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

import ravel as rv  # noqa: E402  pylint: disable=wrong-import-position


def ragged(n, mean, seed=1):
    """n rows of doubles, whose lengths are from 0 to twice the mean."""
    random = np.random.default_rng(seed)
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(random.integers(0, 2 * mean + 1, n), out=offsets[1:])
    return rv.eval("partition(v, lengths)", v=random.random(offsets[-1]), lengths=np.diff(offsets))


def words_of(n):
    """n words, of which few are frequent."""
    random = np.random.default_rng(2)
    return rv.eval('{"w" ++ int_string(k) : k in ranks}',
                   ranks=np.minimum(random.zipf(1.3, n), 10**6).astype(np.int64))


# ---- programs: each makes its data and returns a function of nothing, which is timed ----

def decision_tree(n):
    """Ten levels: each row follows thresholds of its own node, by recursion."""
    random = np.random.default_rng(3)
    thresholds, rows = random.random(2**10), random.random((n, 4))

    @rv.function
    def leaf(row, cuts, node, depth):
        if depth == 10:
            return node
        if row[depth % 4] < cuts[node]:
            return leaf(row, cuts, 2 * node, depth + 1)
        return leaf(row, cuts, 2 * node + 1, depth + 1)

    @rv.function
    def leaves(table, cuts):
        return [leaf(row, cuts, 1, 0) for row in table]
    return lambda: leaves(rows, thresholds)


def nearest_neighbours(n):
    """Of each point in the plane the nearest one in its own square of a grid, squares of about two."""
    random = np.random.default_rng(4)
    xs, ys = random.random(n), random.random(n)
    side = max(1, int((n / 2) ** 0.5))
    module = rv.define("""
function nearest(points, (x, y), me) =
  min_val([1.0e30] ++ {(x - u) * (x - u) + (y - v) * (y - v) : ((u, v), k) in points | k /= me});
function neighbours(xs, ys, side) =
  let cells = {trunc(x * float(side)) * side + trunc(y * float(side)) : x in xs; y in ys};
      points = zip(zip(xs, ys), index(#xs));
      squares = int_collect(zip(cells, points))
  in flatten({{nearest(square, p, k) : (p, k) in square} : (cell, square) in squares});
""")
    return lambda: module.neighbours(xs, ys, side)


def greatest_of_rows(n):
    """The greatest element of each row, 0 of an empty one."""
    rows = ragged(n, 5)

    @rv.function
    def greatest(table):
        return [max(row) if len(row) > 0 else 0.0 for row in table]
    return lambda: greatest(rows)


def mapped_branch(n):
    """rv.map of a function with an `if` over rows."""
    rows = ragged(n, 5)

    @rv.function
    def weight(row):
        if len(row) < 4:
            return 0.0
        return sum([x * x for x in row if x > 0.5]) / len(row)
    return lambda: rv.map(weight, rows)


def word_counts(n):
    """How often each word occurs."""
    text = words_of(n)
    return lambda: rv.eval("histogram(text)", text=text)


def running_sums(n):
    """Of each row."""
    rows = ragged(n, 5)
    return lambda: rv.eval("{plus_scan(row) : row in rows}", rows=rows)


def string_lengths(n):
    """Of words without their first characters, where there is one."""
    text = words_of(n)
    return lambda: rv.eval("{if #w > 4 then #drop(w, 1) else 0 : w in text}", text=text)


def group_means(n):
    """The mean of the values of each key."""
    random = np.random.default_rng(5)
    keys, values = random.integers(0, max(1, n // 10), n), random.random(n)
    return lambda: rv.eval("{(k, mean(v)) : (k, v) in int_collect(zip(keys, values))}", keys=keys,
                           values=values)


def sorted_rows(n):
    """Each row in order."""
    rows = ragged(n, 5)
    return lambda: rv.eval("{sort(row) : row in rows}", rows=rows)


def filtered_sums(n):
    """The sum of the elements of each row that are above a half."""
    rows = ragged(n, 5)

    @rv.function
    def sums(table):
        return [sum([x for x in row if x > 0.5]) for row in table]
    return lambda: sums(rows)


PROGRAMS = {make.__name__.replace("_", "-"): make for make in (
    decision_tree, nearest_neighbours, greatest_of_rows, mapped_branch, word_counts, running_sums,
    string_lengths, group_means, sorted_rows, filtered_sums)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("n", type=int)
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], metavar="KEY=VALUE")
    options = parser.parse_args()
    seconds = []
    with rv.options(**dict(pair.split("=", 1) for pair in options.option)):
        run = PROGRAMS[options.name](options.n)
        for _ in range(options.repeat + 1):
            start = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"first_seconds": seconds[0], "seconds": seconds[1:]}))


if __name__ == "__main__":
    main()
