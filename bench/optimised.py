#!/usr/bin/env python3
"""What the optimiser saves on whole programs: executed instructions, bytes moved, time.

    bench/optimised.py [PROGRAM.vcode ...] [--turns N] [--threads N] [--json FILE]

Without programs: those of the corpus that are large enough to measure. A program runs as it is
and optimised (-O) in turn, `--turns` times, without profile for the time and once each with it
for the counts (vcode.md, section 21.8). Their outputs must agree. Targets are those of
targets.def."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from targets import VALUES

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT.parent / "shared" / "corpus" / "vcode" / "real"
PASSING = ["--classic", "--allow-files"]


def run(vinterp, flags, program):
    done = subprocess.run([vinterp, *PASSING, *flags, program], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"{program} {' '.join(flags)}: {done.stderr}")
    return done.stdout, done.stderr


def counts(vinterp, flags, program):
    text = run(vinterp, [*flags, "--profile", "--json"], program)[1]
    profile = json.loads(text[text.index("{"):])
    return profile["instructions"], profile["bytes"]


def seconds(vinterp, flags, program):
    out, err = run(vinterp, [*flags, "-t"], program)
    return float(re.search(r"elapsed time = ([0-9.e+-]+)", err).group(1)), out


def close(a, b):
    """Whether two outputs agree; sums of FLOAT have the same bits, times differ."""
    return [w for w in a.split() if "." not in w] == [w for w in b.split() if "." not in w]


def measure(program, options):
    threads = ["--threads", str(options.threads)]
    before, after = (counts(options.vinterp, threads + way, program) for way in ([], ["-O"]))
    ratios, times = [], []
    for _ in range(options.turns):
        plain, wanted = seconds(options.vinterp, threads, program)
        fused, got = seconds(options.vinterp, [*threads, "-O"], program)
        if not close(wanted, got):
            sys.exit(f"{program}: optimised, it prints something else")
        ratios.append(plain / fused)
        times.append(plain)
    ratios.sort()
    return {"program": program.stem, "instructions": before[0], "instructions_ratio":
            before[0] / after[0], "bytes": before[1], "bytes_ratio": before[1] / after[1],
            "seconds": sorted(times)[len(times) // 2], "time_ratio": ratios[len(ratios) // 2],
            "least": ratios[0], "most": ratios[-1]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=Path)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--vinterp", default=str(ROOT / "build" / "bin" / "vinterp"))
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    programs = options.programs or sorted(REAL.glob("*.vcode"))
    if not programs:
        sys.exit("no programs given, and the corpus is not here")
    rows = []
    print(f"{'program':26}{'instructions':>14}{'fewer':>8}{'bytes':>12}{'fewer':>8}"
          f"{'seconds':>10}{'faster':>22}")
    for program in programs:
        row = measure(program, options)
        rows.append(row)
        print(f"{row['program']:26}{row['instructions']:14}{row['instructions_ratio']:7.2f}x"
              f"{row['bytes']:12.3g}{row['bytes_ratio']:7.2f}x{row['seconds']:10.4f}"
              f"{row['time_ratio']:7.2f}x ({row['least']:.2f}..{row['most']:.2f})", flush=True)
    missed = [r["program"] for r in rows if r["instructions_ratio"] < VALUES["OPTIMISED_INSTRUCTIONS"] or
              r["bytes_ratio"] < VALUES["OPTIMISED_BYTES"]]
    print("targets " + ("met by all" if not missed else "missed by " + ", ".join(missed)))
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
