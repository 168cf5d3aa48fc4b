#!/usr/bin/env python3
"""Ragged data in Ravel, Awkward, Polars, NumPy and numba, side by side, import and export
included.

    bench/python/measure.py [--out FILE.json] [--only NAME] times, of ten million doubles
    bench/python/measure.py --check                         whether all compute the same
    bench/python/measure.py --report FILE.json              a table in Markdown, and the targets

Each round runs every system once, so that what else the machine does meets all of them. `pairs`
takes at most 200 elements of each list. Who takes long for a twentieth of the data is left out.
"""

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "python")]

# pylint: disable=wrong-import-position
import machine  # noqa: E402
import numpy as np  # noqa: E402
from resultfile import write  # noqa: E402
from shapes import ELEMENTS, SHAPES, Lists  # noqa: E402
from systems import OPERATIONS, installed, plain  # noqa: E402

RESULTS = HERE.parent / "results" / "python-2-cores.json"
ROUNDS = 7
MOST = {"pairs": 200}
SLOW_SECONDS = 0.3  # of a twentieth of the data
# How many times the time of other systems Ravel may take, at most, for some operations.
TARGETS = (("awkward", ("awkward",), 1 / 3, ("sort", "filter", "pairs")),
           ("best", ("awkward", "polars", "numpy"), 1.5, ("sum", "sort", "filter", "pairs")),
           ("numba", ("numba",), 2.0, OPERATIONS))


def elapsed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def agree(results):
    """Complaints about systems whose result is another than the first one's."""
    first = next(iter(results), "")
    want = results.get(first)
    return [f"{name} and {first} differ" for name, got in results.items()
            if got.shape != want.shape or not np.allclose(got, want, rtol=1e-9)]


def check(table, operation, lists):
    runs = {name: functions[operation](lists) for name, functions in table.items()
            if operation in functions}
    return agree({name: plain(run()) for name, run in runs.items()})


def measure(table, operation, shape):
    """Times of each system in seconds, one for each round; and who was left out."""
    small = Lists(shape, ELEMENTS // 20, MOST.get(operation))
    lists, runs, slow = Lists(shape, most=MOST.get(operation)), {}, {}
    for name, functions in table.items():
        if operation not in functions:
            continue
        functions[operation](small)()
        seconds, _ = elapsed(functions[operation](small))
        if seconds > SLOW_SECONDS:
            slow[name] = seconds
        else:
            runs[name] = functions[operation](lists)
    wrong = agree({name: plain(run()) for name, run in runs.items()})
    if wrong:
        sys.exit(f"{operation}, {shape}: {wrong}")
    times = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            times[name].append(elapsed(run)[0])
    return {"operation": operation, "shape": shape, "lists": len(lists.offsets) - 1,
            "elements": len(lists.content), "slow": slow,
            "seconds": {name: summary(each) for name, each in times.items()}}


def summary(times):
    ordered = sorted(times)
    quarter = len(ordered) // 4
    return {"median": statistics.median(ordered), "from": ordered[quarter],
            "to": ordered[-1 - quarter]}


def versions():
    found = {}
    for name in ("numpy", "awkward", "polars", "numba", "pyarrow", "ravel"):
        if name in sys.modules:
            found[name] = sys.modules[name].__version__
    return found


def measure_all(table, options):
    rows, load = [], os.getloadavg()[0]
    for operation in OPERATIONS:
        for shape in SHAPES:
            if not options.only or options.only in (operation, shape):
                rows.append(measure(table, operation, shape))
                print(line(rows[-1]), flush=True)
    if options.out:
        write(Path(options.out), {"command": "bench/python/measure.py", "load": load,
                                  "machine": machine.describe(), "versions": versions(),
                                  "rounds": ROUNDS, "rows": rows})


# ---- reports ----


def cell(row, name):
    if name in row["seconds"]:
        return f"{row['seconds'][name]['median'] * 1000:.0f}"
    return f"(about {row['slow'][name] * 20:.0f} s)" if name in row["slow"] else ""


def line(row):
    names = ("ravel", "awkward", "polars", "numpy", "numba")
    return f"| {row['operation']} | {SHAPES[row['shape']]} | " + \
        " | ".join(cell(row, name) for name in names) + " |"


def misses(row):
    """Targets that a row misses."""
    seconds = {name: each["median"] for name, each in row["seconds"].items()}
    for title, names, most, operations in TARGETS:
        others = [seconds[name] for name in names if name in seconds]
        if others and row["operation"] in operations and seconds["ravel"] > most * min(others):
            ratio = seconds["ravel"] / min(others)
            yield (f"{row['operation']}, {SHAPES[row['shape']]}: {ratio:.2f} times {title}, not"
                   f" {most:.2f}")


def table_of(document):
    return ["| | | Ravel | Awkward | Polars | NumPy | numba |", "|---|---|--:|--:|--:|--:|--:|",
            *map(line, document["rows"])]


def report(path):
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    print("\n".join(table_of(document)))
    for row in document["rows"]:
        for miss in misses(row):
            print("-", miss)


def check_page():
    """Complaints about the page's table: it is that of the results."""
    page = (HERE.parent.parent / "docs" / "python.md").read_text(encoding="utf-8")
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    return [f"docs/python.md lacks: {each}" for each in table_of(document) if each not in page]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a file for the results")
    parser.add_argument("--only", help="one operation or shape")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", metavar="FILE")
    options = parser.parse_args()
    if options.report:
        return report(options.report)
    table, missing = installed()
    print("\n".join(missing))
    if not options.check:
        return measure_all(table, options)
    wrong = [f"{operation}, {shape}: {each}" for operation in OPERATIONS for shape in SHAPES
             for each in check(table, operation, Lists(shape, 50_000, MOST.get(operation)))]
    wrong += check_page()
    print("\n".join(wrong) or f"{len(OPERATIONS) * len(SHAPES)} passed, 0 failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
