#!/usr/bin/env python3
"""The programs of the 2012 system as the classic compiler wrote them: what the optimiser and
compiled superoperators gain, in turns.

    bench/real.py [PROGRAM ...] [--before VINTERP] [--rounds N] [--seconds N] [--json FILE]

PROGRAM is a pattern of names, as 'bh.*'; without any, those of targets.def. The time is what a
program prints itself: of its computation, between the timers, in a fresh process. The ways:

    plain        vinterp
    off          vinterp -O --native=off
    optimised    vinterp -O, nothing compiled before
    again        vinterp -O, with what the run before has compiled
    plain-1t, off-1t, again-1t   the same with one thread

With --before PATH, a vinterp of another commit, `off` is that one's, and the targets of
targets.def are judged. Each round runs every way once, beginning with another one each time;
rounds end when all ratios are narrow (noise.py), or after the seconds. The ratio of a way is to
`off` in the same round."""

import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import noise
from targets import REAL_TIMES

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT.parent / "shared" / "corpus" / "vcode" / "real"
BASE = "off"
WAYS = {  # name: flags of vinterp, whether the cache is kept from run to run
    "plain": ([], False),
    "off": (["-O", "--native=off"], False),
    "optimised": (["-O"], False),
    "again": (["-O"], True),
    "plain-1t": (["--threads", "1"], False),
    "off-1t": (["-O", "--native=off", "--threads", "1"], False),
    "again-1t": (["-O", "--threads", "1"], True),
}
HELD = ("optimised", "again")               # to the target of the program
AGAINST_PLAIN = {"again-1t": "plain-1t"}    # never slower than that


def run(vinterp, flags, program, cache):
    """Seconds that the program prints last; its process gets a cache of compiled code."""
    done = subprocess.run([vinterp, "--classic", *flags, program], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False,
                          env={**os.environ, "XDG_CACHE_HOME": str(cache)})
    if done.returncode:
        sys.exit(f"{program} {' '.join(flags)}: {done.stderr}")
    return float(re.findall(r"[0-9.e+-]+", done.stdout)[-1])


class Way:
    """A way to run a program, and the seconds of its rounds."""

    def __init__(self, name, vinterp, scratch):
        self.name, self.vinterp, self.scratch = name, vinterp, scratch
        self.flags, self.keeps = WAYS[name]
        self.seconds = []

    def play(self, program):
        kept = self.scratch / self.name
        with tempfile.TemporaryDirectory(dir=self.scratch) as fresh:
            if self.keeps and not self.seconds:
                run(self.vinterp, self.flags, program, kept)
            self.seconds.append(run(self.vinterp, self.flags, program,
                                    kept if self.keeps else fresh))


def rounds(program, ways, options):
    """Rounds of all ways until every ratio to BASE is narrow."""
    began, base = time.monotonic(), next(w for w in ways if w.name == BASE)
    for k in range(options.rounds):
        for way in ways[k % len(ways):] + ways[:k % len(ways)]:
            way.play(program)
        narrow = all(noise.is_narrow(noise.ratios(w.seconds, base.seconds))
                     for w in ways if w is not base)
        late = time.monotonic() - began > options.seconds and k + 1 >= noise.LEAST_ROUNDS
        if narrow or late:
            break


def verdict_of(way, ways, program, judged):
    """What its target says, or nothing."""
    if way.name in AGAINST_PLAIN:
        other, target = ways[AGAINST_PLAIN[way.name]].seconds, 1.0
    elif way.name in HELD and judged and program in REAL_TIMES:
        other, target = ways[BASE].seconds, REAL_TIMES[program]
    else:
        return ""
    ratio = noise.middle(noise.ratios(way.seconds, other))
    return f"{noise.verdict(ratio, len(way.seconds), target)} {target:g}"


def measure(program, options, scratch):
    ways = {name: Way(name, options.before if options.before and name == BASE else
                      options.vinterp, scratch) for name in WAYS}
    rounds(program, list(ways.values()), options)
    row = {"program": program.stem, "rounds": len(ways[BASE].seconds), "ways": {}}
    for name, way in ways.items():
        row["ways"][name] = {
            "seconds": noise.middle(way.seconds),
            "ratio": noise.middle(noise.ratios(way.seconds, ways[BASE].seconds)),
            "verdict": verdict_of(way, ways, program.stem, bool(options.before))}
    return row


def show(row):
    print(f"{row['program']}, {row['rounds']} rounds")
    for name, way in row["ways"].items():
        texts = [f"{m:.3f} ({low:.3f} to {high:.3f})" for m, low, high in
                 (way["seconds"], way["ratio"])]
        print(f"  {name:10} {texts[0]:24} s  {texts[1]:24} times {BASE}  {way['verdict']}",
              flush=True)


def programs(patterns):
    names = patterns or list(REAL_TIMES)
    found = [p for p in sorted(CORPUS.glob("*.vcode"))
             if any(fnmatch.fnmatch(p.stem, name) for name in names)]
    if not found:
        sys.exit(f"no programs {', '.join(names)}: the corpus is not beside the checkout")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--vinterp", default=str(ROOT / "build" / "bin" / "vinterp"))
    parser.add_argument("--before", help="a vinterp of the commit to compare with")
    parser.add_argument("--rounds", type=int, default=noise.MOST_ROUNDS)
    parser.add_argument("--seconds", type=float, default=120, help="for each program (120)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    for program in programs(options.programs):
        with tempfile.TemporaryDirectory(prefix="ravel-bench-") as scratch:
            rows.append(measure(program, options, Path(scratch)))
        show(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
