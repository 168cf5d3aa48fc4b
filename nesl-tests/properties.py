#!/usr/bin/env python3
"""properties.py - tries the properties of programs in all ways of evaluation.

    nesl-tests/properties.py [--nesl PATH] [--seed N] [--cases N] [FILE...]

The files, by default those of examples/ with a `%property` comment, are tested by `nesl test`:
compiled with all cases (--cases, default 100), then with a few, whose reports have to be the same compiled
on three threads, not optimised, interpreted directly, and on the emulated GPU, there only the last property
of each file. A program with one wrong line, for each file in WRONG, has to fail: otherwise its properties
say nothing."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

from checks import Checks

ROOT = pathlib.Path(__file__).resolve().parent.parent
FEW = ["--cases", "12"]
WAYS = [["--threads", "3"], ["--no-optimise"], ["--direct"]]
# A line of a file, what is wrong instead, and the properties that have to notice.
WRONG = {"sorters.nesl": [
    ("= if a < b then (a, b) else (b, a);", "= if a < b then (b, a) else (a, b);", "bubble_sorts"),
    ("last = min(s, 2 * n - 4 - s)", "last = min(s, 2 * n - 6 - s)", "bubble_sorts"),
    ("again((#v + 1) / 2,", "again(#v / 2,", "transposition_sorts"),
    ("in butterfly(halves[0] ++ reverse(halves[1]))", "in butterfly(halves[0] ++ halves[1])",
     "bitonic_sorts"),
    ("[halves[0], reverse(halves[1])]}", "[halves[0], halves[1]]}", "vsorts"),
    ("in halves[0] ++ reverse(halves[1]);", "in halves[0] ++ halves[1];", "vsorts_parametrically"),
]}


def test(nesl, path, *flags):
    command = [nesl, *flags, "test", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def names_of(text):
    return [line.split("(")[0].split()[1] for line in text.splitlines()
            if line.startswith("%property ")]


def check_ways(checks, nesl, path, seed, cases):
    code, said = test(nesl, path, "--seed", seed, "--cases", cases)
    checks.check(code == 0, f"{path}\n{said}")
    few = test(nesl, path, "--seed", seed, *FEW)
    for way in WAYS:
        now = test(nesl, path, "--seed", seed, *FEW, *way)
        checks.check(now == few, f"{' '.join(way)}: {now[1]}instead of\n{few[1]}")
    last = names_of(path.read_text())[-1]
    one = ["--seed", seed, *FEW, "--only", last]
    checks.check(test(nesl, path, *one, "--backend", "cuda-emu") == test(nesl, path, *one),
                 f"{path.name}: {last} on the emulated GPU")


def check_wrong(checks, nesl, path, seed):
    text = path.read_text()
    for right, wrong, name in WRONG.get(path.name, []):
        checks.check(text.count(right) == 1, f"{path.name} has no line with {right}")
        with tempfile.TemporaryDirectory() as scratch:
            changed = pathlib.Path(scratch) / path.name
            changed.write_text(text.replace(right, wrong))
            code, said = test(nesl, changed, "--seed", seed, "--only", name)
        checks.check(code == 1 and f" {name} fails in case" in said, f"{wrong}: {said}")


def main():
    parser = argparse.ArgumentParser(description="tries the properties of programs")
    parser.add_argument("--nesl", default=str(ROOT / "build" / "bin" / "nesl-tests"))
    parser.add_argument("--seed", default="1")
    parser.add_argument("--cases", default="100")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = options.files or sorted(path for path in (ROOT / "examples").glob("*.nesl")
                                    if names_of(path.read_text()))
    checks = Checks()
    for path in files:
        check_ways(checks, options.nesl, path, str(int(options.seed, 0)), options.cases)
        check_wrong(checks, options.nesl, path, str(int(options.seed, 0)))
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
