#!/usr/bin/env python3
"""What compiled NESL costs beside the known scheme: executed instructions and elements moved.

    bench/nesl-quality.py [NAME ...] [--corpus DIR] [--json FILE] [--table]

The corpus' folder of programs has VCODE that the compiler of the 1990s made, with its source
beside it. Both are run in the same widths and counted (vcode.md, section 21.8: work is elements
read and written), as they are and optimised (-O). Their outputs must agree. The rows are ours over
theirs, worst first. Target: below 1 in both measures for every program as it is; exit status 1 if
one is not. Which are not when both are optimised is said too. --table prints Markdown."""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from targets import VALUES

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "vcode" / "programs"
MEASURES = ("instructions", "work")
WAYS = {"plain": [], "optimised": ["-O"]}


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return done


def counts(vinterp, program, way):
    """What a run counts, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        done = run([vinterp, "--classic", "--allow-files", "--allow-spawn", "--threads", "1", *way,
                    "--profile", "--json", program], folder)
    profile = json.loads(done.stderr[done.stderr.index("{"):])
    return {m: profile[m] for m in MEASURES}, done.stdout.split()


def agree(a, b):
    """Whether two outputs end in the same value; floats within what another order of sums makes.
    (What programs print before, that of the 1990s writes to another stream.)"""
    def same(x, y):
        return x == y or "." in x and math.isclose(float(x), float(y), rel_tol=1e-9, abs_tol=1e-12)
    return len(a) <= len(b) and all(map(same, a, b[len(b) - len(a):]))


def measure(options, source, folder):
    ours = Path(folder) / (source.stem + ".vcode")
    run([options.neslc, "--classic", "-o", ours, source], folder)
    row = {"program": source.stem}
    for name, way in WAYS.items():
        theirs, wanted = counts(options.vinterp, source.with_suffix(".vcode"), way)
        mine, got = counts(options.vinterp, ours, way)
        if not agree(wanted, got):
            sys.exit(f"{source.stem}: compiled by neslc ({name}), it prints something else")
        row[name] = {m: {"known": theirs[m], "ours": mine[m], "ratio": mine[m] / max(theirs[m], 1)}
                     for m in MEASURES}
    return row


def above(rows, way):
    return ", ".join(row["program"] for row in rows
                     if max(row[way][m]["ratio"] for m in MEASURES) >= VALUES["NESL_QUALITY"])


def show(rows, markdown):
    cells = "| {} | {} | {} | {:.2f} | {} | {} | {:.2f} | {:.2f} | {:.2f} |" if markdown else \
        "{:24}{:>10}{:>8}{:>7.2f}{:>12}{:>10}{:>7.2f}{:>11.2f}{:>7.2f}"
    if markdown:
        print("| program | instructions | ours | ratio | elements | ours | ratio"
              " | -O: instructions | elements |\n" + "|---" * 9 + "|")
    else:
        print(f"{'program':24}{'instr.':>10}{'ours':>8}{'ratio':>7}{'elements':>12}{'ours':>10}"
              f"{'ratio':>7}{'-O: instr.':>11}{'elem.':>7}")
    for row in rows:
        plain, fused = row["plain"], row["optimised"]
        print(cells.format(row["program"], *(plain["instructions"].values()),
                           *(plain["work"].values()), fused["instructions"]["ratio"],
                           fused["work"]["ratio"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--table", action="store_true", help="rows in Markdown")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    options.vinterp = options.build.resolve() / "bin" / "vinterp"
    options.neslc = options.build.resolve() / "bin" / "neslc"
    sources = [s.resolve() for s in sorted(options.corpus.glob("*.nesl"))
               if s.with_suffix(".vcode").exists() and (not options.names or s.stem in options.names)]
    if not sources:
        sys.exit("the corpus is not here")
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(options, source, folder) for source in sources]
    rows.sort(key=lambda row: max(row["plain"][m]["ratio"] for m in MEASURES), reverse=True)
    show(rows, options.table)
    for way in WAYS:
        for m in MEASURES:
            mean = math.exp(sum(math.log(max(row[way][m]["ratio"], 1e-3)) for row in rows) / len(rows))
            print(f"{'mean of ' + m + ', ' + way:40}{mean:.2f}")
    missed = above(rows, "plain")
    print(f"target (below {VALUES['NESL_QUALITY']:g}) " + ("missed by " + missed if missed else "met by all"))
    print("optimised, not below 1: " + (above(rows, "optimised") or "none"))
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
