#!/usr/bin/env python3
"""What the tuning values that `nesl run --tune` finds for a program gain.

    bench/tuning.py [PROGRAM ...] [--seconds S] [--size N] [--turns T] [--threads N] [--nesl FILE]

Searches them for each program on its benchmark's data, then measures the defaults and what was kept in
turns, now one first and now the other: other work on the machine disturbs both alike. A turn is the
median of several runs of a process of its own. Prints a table: of both the median over turns and the
range in which half of them lie, and the median of the ratios in a turn, with their range. Where nothing
was kept there is nothing to compare."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from collection import ROOT, BenchError, Data, load_cases, variants
from systems import Ravel
from tables import grid

PROGRAMS = ["quicksort", "sparse-matrix-vector", "black-scholes"]
RUNS = 5  # of a process, behind one that warms up


class Search:
    """A program with its data, and a folder for what is kept."""

    def __init__(self, name, options, folder):
        case = load_cases()[name]
        self.name, self.n, self.options = name, options.size or case.sizes[-2], options
        self.data = Data(case, variants(case)[0][0], self.n)
        self.widths = case.widths
        self.environment = {**os.environ, "RAVEL_CACHE": folder, "RAVEL_TUNING": ""}

    def run(self, *words, **more):
        ravel = Ravel("ravel", "Ravel", list(words), self.options.nesl, "cpu")
        command = ravel.command(self.data, self.widths, [], threads=self.options.threads, **more)
        done = subprocess.run(command, cwd=ROOT, env=self.environment, capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise BenchError(f"{' '.join(command)}: exit status {done.returncode}\n"
                             f"{done.stderr[-2000:]}")
        return done.stdout

    def search(self):
        """(values tried, what was kept as text)."""
        said = self.run(f"--tune={self.options.seconds}")
        tried = int(re.search(r"^(\d+) values? tried", said, re.MULTILINE)[1])
        kept = said.split("time of the defaults:\n")[1:]
        values = [line for line in "".join(kept).splitlines() if re.match(r"\w+\.[\w-]+ \w+$", line)]
        return tried, ", ".join(values)

    def turn(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            times = Path(folder) / "times.json"
            self.run(*words, repeat=RUNS, times=times)
            measured = json.loads(times.read_text())
        if ("tuning" in measured) != (not words):
            raise BenchError(f"{self.name}: the tuning values were not those that this turn is for")
        return statistics.median(measured["seconds"])

    def turns(self):
        """Pairs of seconds: by the defaults, and by what was kept."""
        for turn in range(self.options.turns):
            order = [("--tuning=off",), ()][::1 if turn % 2 == 0 else -1]
            seconds = {words: self.turn(*words) for words in order}
            yield seconds[("--tuning=off",)], seconds[()]


def middle(values, unit=1.0, digits=2):
    """Median, and the range in which half of the values lie."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{median * unit:.{digits}f} ({low * unit:.{digits}f} to {high * unit:.{digits}f})"


def row(search):
    tried, kept = search.search()
    cells = [f"{search.name}, n = {search.n:,}", tried, kept or "none"]
    if not kept:
        return [*cells, "", "", ""]
    pairs = list(search.turns())
    before, after = zip(*pairs)
    return [*cells, middle(before, 1e3), middle(after, 1e3), middle([b / a for a, b in pairs], digits=3)]


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=PROGRAMS)
    parser.add_argument("--seconds", type=float, default=60, help="of each search (60)")
    parser.add_argument("--size", type=int, help="n, instead of the largest but one of the case")
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--nesl", type=Path, default=ROOT / "build/bin/nesl")
    options = parser.parse_args()
    if unknown := set(options.programs) - set(load_cases()):
        parser.error(f"there is no program {', '.join(sorted(unknown))} in bench/cases")
    if options.turns < 2:
        parser.error("--turns must be 2 or more")
    return options


def main():
    options = parse()
    rows = []
    for name in options.programs:
        with tempfile.TemporaryDirectory() as folder:
            rows.append(row(Search(name, options, folder)))
            print(f"{name}: done", file=sys.stderr)
    print("\n".join(grid(["program", "values tried", "kept", "defaults, ms", "kept, ms", "ratio in a turn"],
                         rows)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"tuning: {error}")
