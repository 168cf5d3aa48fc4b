#!/usr/bin/env python3
"""Same bits on any number of threads: runs programs with 1, 2, 3 and 8 threads, and on the
delaying back end, and compares standard output byte for byte."""

import argparse
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import drive

VARIANTS = [["--threads", n] for n in ("1", "2", "3", "8")] + [["--backend", "delayed"],
                                                              ["--checked"]]
CLOCKS = ("STOP_TIMER",)  # programs that print times differ by right


def outputs(vinterp, case, widths):
    for variant in VARIANTS:
        command = [vinterp, *widths, *variant, *drive.PERMISSIONS, *case.flags, str(case.path)]
        with tempfile.TemporaryDirectory(prefix="ravel-") as scratch:
            run = subprocess.run(command, input=case.stdin, capture_output=True, cwd=scratch,
                                 timeout=drive.SECONDS, check=False)
        yield command, (run.returncode, run.stdout)


def one(work):
    vinterp, case, widths = work
    first = None
    for command, result in outputs(vinterp, case, widths):
        if first is None:
            first = result
        elif result != first:
            return "differs from one thread: " + " ".join(command)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vinterp", default=str(drive.ROOT / "build" / "bin" / "vinterp-tests"))
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", default="")
    options = parser.parse_args()
    vinterp = str(Path(options.vinterp).resolve())
    cases = [c for s in ("own", "examples", "ops", "programs") for c in drive.gather(s)]
    cases = [c for c in cases if not any(w in drive.read(c.path) for w in CLOCKS)]
    work = [(vinterp, c, w) for c in cases for w in (["--classic"], [])
            if drive.sampled(c, " ".join(w), options.sample, options.seed)]
    with ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(one, work) if text]
    for text in wrong:
        print("FAILED", text)
    print(f"{len(work) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
