#!/usr/bin/env python3
"""Counts elementwise passes over memory at run time, compared with those of 2012's optimiser.

    nesl-tests/passes.py [--corpus DIR] [--vinterp PATH] [--table]

For every program of the corpus' fcode folder: the plain program, the .fcode that the 2012
optimiser made of it (with its .sop), and ours (-O). A pass is an executed elementwise
instruction, or a superoperator with elementwise nodes, on more than one element. Ours may not make more than that of
2012; exit status 1 if one does. --table prints the rows of docs/internals/optimiser.md."""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "vcode" / "fcode"


def profile(vinterp, program, *flags):
    done = subprocess.run([vinterp, "--classic", *flags, "--profile", "--json", program],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{program.name}: {done.stderr}")
    return json.loads(done.stderr[done.stderr.index("{"):])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--vinterp", default=str(ROOT / "build" / "bin" / "vinterp"))
    parser.add_argument("--table", action="store_true", help="rows in Markdown")
    options = parser.parse_args()
    programs = sorted(options.corpus.glob("*.vcode"))
    if not programs:
        print("SKIPPED (no corpus) passes over memory\n0 passed, 0 failed")
        return 0
    line = "| {} | {} | {} | {} | {} | {} |" if options.table else "{:24}{:>8}{:>8}{:>8}{:>14}{:>14}"
    print(line.format("program", "plain", "2012", "ours", "instructions", "ours"))
    if options.table:
        print("|---|---|---|---|---|---|")
    failed = 0
    for program in programs:
        plain = profile(options.vinterp, program)
        old = profile(options.vinterp, program.with_suffix(".fcode"))
        ours = profile(options.vinterp, program, "-O")
        print(line.format(program.stem, plain["passes"], old["passes"], ours["passes"],
                          plain["instructions"], ours["instructions"]))
        failed += ours["passes"] > old["passes"]
    print(f"{len(programs) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
