#!/usr/bin/env python3
"""What operations and superoperators take on small vectors, over what a C loop takes.

    bench/small.py [--runs N] [--bin PATH]

A program of VCODE adds one vector to another in a loop: without additions, with eight operations a
round, and with four that become one superoperator. The loop without additions is subtracted, and
what the loop of C takes on the same vectors (bench-small-loops). Processor time of one thread, in
nanoseconds; the targets are those of targets.def."""

import argparse
import resource
import subprocess
import tempfile
from pathlib import Path

from targets import VALUES

HERE = Path(__file__).resolve().parent
SIZES = (100, 1000, 10000)


def program(n, rounds, additions):
    """w v k: w is added to v so many times in each of k rounds."""
    adding = "\n  ".join(["CPOP 1 1", *["COPY 1 2 + FLOAT"] * additions, "CPOP 1 1"])
    return f"""FUNC MAIN
CONST FLOAT 0.001 CONST SEGDES {n} DIST FLOAT
CONST FLOAT 0.5 CONST SEGDES {n} DIST FLOAT
CONST INT {rounds} CALL LOOP POP 1 0 POP 1 1 CONST SEGDES {n} MAX_REDUCE FLOAT
RET

FUNC LOOP
COPY 1 0 CONST INT 0 = INT
IF
ELSE
  {adding if additions else ""}
  CONST INT 1 - INT
  CALL LOOP
ENDIF
RET
"""


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--bin", type=Path, default=HERE.parent / "build" / "bin")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'':34}{'median':>9}{'least':>9}{'most':>9}{'target':>9}")
        for n in SIZES:
            report(options, Path(folder), n, 40_000_000 // (n + 200))


def report(options, folder, n, rounds):
    def nanoseconds(additions, *flags):
        path = folder / "small.vcode"
        path.write_text(program(n, rounds, additions))
        command = [options.bin / "vinterp", "--threads", "1", "--max-depth", "1000000000", *flags, path]
        return 1e9 * seconds_of(command) / rounds

    def loop(additions):
        command = [options.bin / "bench-small-loops", str(n), str(rounds), str(additions)]
        return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)

    compiled = ("-O", "--native=wait")
    nanoseconds(4, *compiled)  # the compiler's turn
    rows = {"operation": [], "superoperator": []}
    for _ in range(options.runs):
        empty = nanoseconds(0)
        rows["operation"].append((nanoseconds(8) - empty) / 8 - loop(1))
        rows["superoperator"].append(nanoseconds(4, *compiled) - empty - loop(4))
    for name, times in rows.items():
        times.sort()
        values = (times[len(times) // 2], times[0], times[-1], VALUES[f"SMALL_{name.upper()}"])
        print(f"{f'{name}, {n:,} elements, ns over C':34}" + "".join(f"{v:9.0f}" for v in values))


if __name__ == "__main__":
    main()
