#!/usr/bin/env python3
"""Reductions and scans by functions of the program's own, beside the built-in ones.

    bench/combining.py [--elements N] [--rounds N] [--threads N] [--only TEXT] [--nesl PATH]

On N random FLOATs, in one segment and in segments of the same length: `reduce` of + beside `sum`,
of (value, index) beside `sum`, `scan` of + beside `plus_scan`. All are evaluated in turn, a fresh
process each time, compiled (--native=wait); a line shows the median ratio of times, the least and
the greatest. In segments the time that the partition alone takes is subtracted. Results of `reduce`
and `scan` of + are compared with the others before a time counts: to a part in 10^9, since the trees
differ. Targets: targets.def."""

import argparse
import json
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy

from targets import VALUES

HERE = Path(__file__).resolve().parent
PROGRAM = """
function greater(p, q) = let (x, i) = p; (y, j) = q in if y > x then q else p;

function totals(v) = sum(v);
function reduced(v) = reduce((a, b) => a + b, 0.0, v);
function greatest(v) = let (x, i) = reduce(greater, (-1.0, -1), zip(v, index(#v))) in x;
function prefixes(v) = plus_scan(v);
function scanned(v) = let (sums, total) = scan((a, b) => a + b, 0.0, v) in sums;

function parts(v, n) = partition(v, dist(n, #v / n));
function none_of(v, n) : ([float], int) -> int = #parts(v, n);
"""
# What is compared, with what, and the target.
PAIRS = (("reduced", "totals", "REDUCE_OF_PLUS"), ("greatest", "totals", "REDUCE_OF_PAIRS"),
         ("scanned", "prefixes", "SCAN_OF_PLUS"))
SUMS = ("totals", "reduced", "greatest")


def entries():
    """Functions for one segment and for many: a scan gives the last of its prefixes."""
    for name in {name for pair in PAIRS for name in pair[:2]}:
        result = "float" if name in SUMS else "[float]"
        yield f"function whole_{name}(v) : [float] -> {result} = {name}(v);"
        flat = "" if name in SUMS else "flatten"
        yield (f"function parts_{name}(v, n) : ([float], int) -> [float]"
               f" = {flat}({{{name}(x) : x in parts(v, n)}});")


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.file = folder / "combining.nesl"
        self.file.write_text(PROGRAM + "\n".join(entries()) + "\n")
        self.vector = folder / "v.npy"
        numpy.save(self.vector, numpy.random.default_rng(1).random(options.elements))

    def command(self, entry, length, *more):
        lengths = [] if length is None else [str(length)]
        return [self.options.nesl, "--threads", str(self.options.threads), "--native=wait", "run",
                self.file, "--entry", entry, self.vector, *lengths, *more]

    def result(self, entry, length):
        out = self.folder / "out.npy"
        subprocess.run(self.command(entry, length, "-o", out), check=True, capture_output=True)
        return numpy.load(out)

    def seconds(self, entry, length):
        times = self.folder / "times.json"
        subprocess.run(self.command(entry, length, "--repeat", "5", "--times", times), check=True,
                       capture_output=True)
        return statistics.median(json.loads(times.read_text())["seconds"])

    def check(self, own, built_in, length, kind):
        if own == "greatest":
            return
        a, b = (self.result(f"{kind}_{name}", length) for name in (own, built_in))
        if not numpy.allclose(a, b, rtol=1e-9):
            raise SystemExit(f"{own} of segments of {length}: other results than {built_in}")

    def ratios(self, own, built_in, length):
        kind = "whole" if length is None else "parts"
        self.check(own, built_in, length, kind)
        for _ in range(self.options.rounds):
            base = 0 if length is None else self.seconds("none_of", length)
            mine = self.seconds(f"{kind}_{own}", length) - base
            yield mine / (self.seconds(f"{kind}_{built_in}", length) - base)

    def report(self, length, own, built_in, target):
        if self.options.only and self.options.only not in own:
            return
        ratios = sorted(self.ratios(own, built_in, length))
        median, wanted = ratios[len(ratios) // 2], VALUES[target]
        what = f"{own} over {built_in}, segments of {length or self.options.elements:,}"
        print(f"{what:52}{median:7.2f}{ratios[0]:7.2f}{ratios[-1]:7.2f}{wanted:7.2f}"
              f"  {'met' if ratios[-1] <= wanted else 'missed' if ratios[0] > wanted else 'undecided'}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", metavar="TEXT")
    parser.add_argument("--nesl", type=Path, default=HERE.parent / "build" / "bin" / "nesl")
    options = parser.parse_args()
    print(f"{'':52}{'median':>7}{'least':>7}{'most':>7}{'target':>7}")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, Path(folder))
        for length in (None, 1, 4, 32, 1000, 1_000_000):
            for pair in PAIRS:
                bench.report(length, *pair)


if __name__ == "__main__":
    main()
