#!/usr/bin/env python3
"""Native code of procedures computes what everything else computes (docs/internals/cpu.md, Procedures).

    nesl-tests/native.py [FILE.nesl ...] [--random N] [--sample PERCENT] [--seed S] [--build DIR] [--jobs N]

Runs programs with `--procedures always`, which waits for the compiler, and with `--procedures off`:
they print the same, byte for byte, or fail with the same message. A file is run whole by `nesl
--outcomes`: its values are arguments of later forms. Each expression, with the definitions before it,
is compiled, optimised and run twice: as it is, so that native code executes its entry function, and
with a timer in that, so that native code executes the batch calls. Profiles count what native code
has executed. Without files: bench/programs, examples, nesl-tests/nesl and the corpus; with --random,
programs of nesl-random; with --sample, some of them.
Exit status 1 if one differs, or if native code has executed less than --least runs and calls."""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from nesl import CORPUS, File
from procedures import FAULT, FOLDERS, ROOT, expressions, random_programs

SECONDS, NATIVE_SECONDS = 60, 300
# The entry function, and with a timer, which native code does not have.
ENTRY, TIMED = "\nFUNC MAIN\n", "\nFUNC MAIN START_TIMER STOP_TIMER POP 1 0\n"
COUNTS = ("runs", "calls", "given up", "compared", "failing")


class Failed(Exception):
    """What differs, or cannot be compared."""


def run(options, command, seconds=SECONDS):
    """(status, output, messages); None if it takes too long."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(options.cache)}
    with tempfile.TemporaryDirectory(prefix="ravel-") as scratch:
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=seconds,
                                  stdin=subprocess.DEVNULL, cwd=scratch, env=environment)
        except subprocess.TimeoutExpired:
            return None
    return done.returncode, done.stdout, done.stderr.decode("latin-1")


def shown(ran):
    return f"{ran[1][:1000].decode('latin-1')!r}, status {ran[0]}, {ran[2][:1000]!r}" if ran else "too slow"


def behind_the_same(ran, other):
    """What a run says, without the lines that it begins with as another one does."""
    if not ran or not other:
        return ran
    lines, others = (each[1].split(b"\n") for each in (ran, other))
    same = next((k for k, pair in enumerate(zip(lines, others)) if pair[0] != pair[1]), 0)
    return ran[0], b"\n".join(lines[same:]), ran[2]


def expect_same(what, usual, native):
    if native != usual:
        raise Failed(f"{what}: {shown(behind_the_same(usual, native))}\n"
                     f"  but natively {shown(behind_the_same(native, usual))}")
    if usual[0] < 0 or FAULT.search(usual[2]):
        raise Failed(f"{what}: {shown(usual)}")


def count(counts, profile):
    """Adds what native code has executed: a run is a call of MAIN."""
    for row in profile["procedures"]:
        counts["runs" if row["name"] == "MAIN" else "calls"] += row["calls"]
        counts["given up"] += row["given_up"]


def compare_vcode(options, counts, what, vcode):
    """Runs VCODE in both ways, and counts by the profile, which comes before any message."""
    vinterp = [options.build / "bin" / "vinterp", "-O", "--threads", "2"]
    usual = run(options, [*vinterp, "--procedures", "off", vcode])
    if not usual:
        return
    native = run(options, [*vinterp, "--procedures", "always", "--profile", "--json", vcode],
                 NATIVE_SECONDS)
    if native and native[2].startswith("{"):
        profile, end = json.JSONDecoder().raw_decode(native[2])
        native = (*native[:2], native[2][end:].lstrip("\n"))
        count(counts, profile)
    expect_same(what, usual, native)
    counts["compared"] += 1
    counts["failing"] += usual[0] != 0


def compare_expression(options, counts, path, text):
    """The last expression of a text, and once more with a timer in its entry function."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / path.name
        source.write_text(text, "latin-1")
        vcode = source.with_suffix(".vcode")
        done = run(options, [options.build / "bin" / "neslc", source, "-o", vcode])
        if not done:
            return
        if done[0] != 0:  # wrong forms are not for this test
            if done[0] < 0 or FAULT.search(done[2]):
                raise Failed(f"neslc: {done[2]}")
            return
        compare_vcode(options, counts, "the run", vcode)
        code = vcode.read_text("latin-1")
        if ENTRY in code:
            vcode.write_text(code.replace(ENTRY, TIMED), "latin-1")
            compare_vcode(options, counts, "batch calls", vcode)


def compare_file(options, counts, path):
    """All forms of a file."""
    file = File(path)
    nesl = [options.build / "bin" / "nesl", "--threads", "2", "--outcomes", path]
    nesl += ["--allow-files", "--allow-spawn"] if file.files else []
    for seed in file.seeds:
        flags = ["--seed", seed] if seed else []
        usual = run(options, [*nesl, *flags, "--procedures", "off"])
        if usual:
            native = run(options, [*nesl, *flags, "--procedures", "always"], NATIVE_SECONDS)
            expect_same("the file", usual, native)


def compare_random(options, counts, path, text):
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / path.name
        source.write_text(text, "latin-1")
        compare_file(options, counts, source)
    compare_expression(options, counts, path, text)


def programs_of(options):
    """(what to show, function, arguments) of each program."""
    if options.random:
        for path, number, text in random_programs(options):
            yield f"{path}, seed {options.seed}, {number}", compare_random, (path, text)
        return
    folders = [ROOT / folder for folder in FOLDERS] + [CORPUS]
    for path in options.files or [f for folder in folders for f in sorted(folder.rglob("*.nesl"))]:
        yield path, compare_file, (path.resolve(),)
        for line, text in expressions(path):
            yield f"{path}:{line}", compare_expression, (path, text)


def attempt(options, function, arguments):
    """(the counts of a program, the difference or None)."""
    counts = dict.fromkeys(COUNTS, 0)
    try:
        function(options, counts, *arguments)
    except Failed as failed:
        return counts, str(failed)
    return counts, None


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--random", type=int, metavar="N")
    parser.add_argument("--sample", type=int, default=100, metavar="PERCENT", help="of the programs")
    parser.add_argument("--seed", type=lambda text: int(text, 16), default=1, help="hexadecimal")
    parser.add_argument("--least", type=int, default=300, metavar="N")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def compare_all(options):
    """The sum of all counts, and how many programs differ."""
    programs = list(programs_of(options))
    programs = random.Random(options.seed).sample(programs, len(programs) * options.sample // 100)
    counts, differ = dict.fromkeys(COUNTS, 0), 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tried = [(what, pool.submit(attempt, options, function, arguments))
                 for what, function, arguments in programs]
        for what, job in tried:
            found, difference = job.result()
            counts = {name: counts[name] + found[name] for name in COUNTS}
            if difference:
                differ += 1
                print(f"{what}: {difference}", flush=True)
    return counts, differ


def main():
    options = parse()
    with tempfile.TemporaryDirectory(prefix="ravel-native-") as cache:
        options.cache = Path(cache)
        counts, differ = compare_all(options)
    native = counts["runs"] + counts["calls"]
    print(f"{counts['compared']} runs, of which {counts['failing']} fail: native code has executed"
          f" {counts['runs']} whole and {counts['calls']} batch calls, and given up"
          f" {counts['given up']} times; {differ} programs differ")
    if native < options.least:
        print(f"native code has executed {native}, at least {options.least} were expected")
    return 1 if differ or native < options.least else 0


if __name__ == "__main__":
    sys.exit(main())
