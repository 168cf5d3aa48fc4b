#!/usr/bin/env python3
"""What interpretation costs: scalars alone, and its share of the time on long vectors.

    bench/interpreter.py [--runs N] [--vinterp PATH] [--json]

Fibonacci is compared with its target (targets.def); the share of the interpreter is the part of a
run's time that its profile does not find inside vector operations."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

from targets import VALUES

HERE = Path(__file__).resolve().parent


def run(vinterp, program, *flags):
    done = subprocess.run([vinterp, *flags, str(HERE / program)], capture_output=True, text=True,
                          check=True)
    return done.stderr


def elapsed_ms(vinterp, program, *flags):
    text = run(vinterp, program, "-t", *flags)
    return 1000 * float(re.search(r"elapsed time = ([0-9.e+-]+)", text).group(1))


def spread(values):
    values = sorted(values)
    return values[len(values) // 2], values[0], values[-1]


def share(vinterp):
    text = run(vinterp, "rounds.vcode", "--classic", "--threads", "1", "--profile", "--json")
    profile = json.loads(text[text.index("{"):])
    inside = sum(row["seconds"] for row in profile["opcodes"])
    return 1 - inside / profile["elapsed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--vinterp", default=str(HERE.parent / "build" / "bin" / "vinterp"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = {}
    for name, flags in (("32-bit INT", ["--classic"]), ("64-bit INT", [])):
        times = [elapsed_ms(options.vinterp, "fibonacci.vcode", "--threads", "1", *flags)
                 for _ in range(options.runs)]
        rows[f"fibonacci 25, {name}, ms"] = (*spread(times), VALUES["FIBONACCI_MILLISECONDS"])
    shares = [100 * share(options.vinterp) for _ in range(options.runs)]
    rows["interpreter's share, 100,000 elements, %"] = (*spread(shares),
                                                        100 * VALUES["INTERPRETER_SHARE"])
    if options.json:
        json.dump({k: dict(zip(("median", "least", "most", "target"), v)) for k, v in rows.items()},
                  sys.stdout, indent=1)
        print()
        return
    print(f"{'':44}{'median':>9}{'least':>9}{'most':>9}{'target':>9}")
    for name, values in rows.items():
        print(f"{name:44}" + "".join(f"{v:9.2f}" for v in values))


if __name__ == "__main__":
    main()
