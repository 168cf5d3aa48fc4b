#!/usr/bin/env python3
"""From how many elements on it pays to have a vector in blocks: what `WHOLE` in cvl-mpi/backend.c goes by.

    bench/mpi/threshold.py [--ranks N] [--rounds N] [--build DIR]

A loop computes a vector from the one before, and its sum, which decides how it goes on: microseconds of a round, with
the vector on all ranks and in blocks (RAVEL_MPI), on ranks of one thread each of this machine. The median of some
runs, each the difference of a long loop and a short one; and how far apart the quartiles are. Between machines a
round in blocks takes as much longer as their network does for a collective.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from counts import ROOT, run_ranks

PROGRAM = """function go(k, v, s) =
  if k == 0 or s < 0 then s else let w = {rem(x * 5 + 1, 1000) : x in v} in go(k - 1, w, sum(w));
function main(k, n) = go(k, index(n), 0);
"""
SIZES = (256, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
SHORT, LONG = 100, 2100  # rounds


def seconds(options, path, elements, rounds, whole):
    begun = time.monotonic()
    run_ranks(options.build, options.ranks, options.build / "bin/nesl", "run", "--threads", 1, path, "--entry", "main",
              rounds, elements, RAVEL_MPI=f"grain=1024,whole={whole},samples=4096")
    return time.monotonic() - begun


def microseconds(options, path, elements, whole):
    """Of a round: one for each run."""
    return [1e6 * (seconds(options, path, elements, LONG, whole) - seconds(options, path, elements, SHORT, whole))
            / (LONG - SHORT) for _ in range(options.rounds)]


def shown(times):
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each; default: %(default)s")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not shutil.which("mpirun.openmpi") or not (options.build / "lib/ravel/cvl-mpi.so").exists():
        print("SKIPPED: no Open MPI, or no back end for it")
        return 0
    print(f"| elements | on all ranks, us a round | in blocks on {options.ranks} ranks |\n|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="ravel-threshold-") as folder:
        path = Path(folder, "rounds.nesl")
        path.write_text(PROGRAM)
        for elements in SIZES:
            whole, blocks = (microseconds(options, path, elements, most) for most in (1 << 30, 0))
            print(f"| {elements:,} | {shown(whole)} | {shown(blocks)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
