#!/usr/bin/env python3
"""Each C compiler makes code that computes the same bits, those of a run without one.

    nesl-tests/compilers.py [FILE.nesl ...] [--compiler COMMAND ...] [--all] [--build DIR] [--jobs N]

Runs files with `nesl --outcomes`: evaluated and flattened, without a compiler; and by each
compiler, which `RAVEL_CC` names: all superoperators compiled, and functions for one instance after the
other wherever they can be. Without files: PROGRAMS and, in both widths, the text below; with --all bench/programs, examples
and nesl-tests/nesl. Compilers are gcc, clang and zig, as `zig` or the package ziglang of this Python, as far
as they are here, or those of --compiler. The output says which were tried, and the code in the cache must be
theirs. One more is a compiler that contracts a * b + c, which must be noticed.
Exit status 1 if outputs differ, if nothing was compiled, or if there is no compiler at all."""

import argparse
import concurrent.futures
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from nesl import File
from procedures import FAULT, FOLDERS, ROOT

PROGRAMS = "barnes-hut black-scholes quickhull ragged-sort".split()
WIDTHS = ([], ["--int", "32", "--float", "32"])
SECONDS = 600
# What compilers may round, reorder or assume in another way, elementwise and in recursive functions.
TEXT = """
n = 300;
v = {float(i) * 0.37 - 20.1 : i in [0:n]};
w = {1.0 / (float(i) + 0.7) : i in [0:n]};
{a * b + c : a in v; b in w; c in reverse(v)};
{a * b - c * a : a in v; b in w; c in reverse(v)};
{(a * b, a * b + 0.1, 3.0 - a * b) : a in v; b in w};
sum({a * b : a in v; b in w});
{sum({x * y + 0.3 : y in w}) : x in v};
{sum(r) / float(#r + 1) : r in [v, w, take(v, 7), [] float]};
plus_scan({a * 0.1 + b : a in v; b in w});
max_scan({a - a * a : a in w});
{(exp(b), ln(b), sin(a), cos(a), tan(b), atan(a), sqrt(b)) : a in v; b in w};
{(sinh(b), tanh(a), expm1(b), log1p(b), hypot(a, b), cbrt(a)) : a in v; b in w};
{(floor(a), ceil(a), trunc(a), round(a)) : a in v};
{(max(a, b), min(a, b), a < b, a == b) : a in [0.0, -0.0, nan, 1.0]; b in [-0.0, 0.0, 1.0, nan]};
{(0.0 * a, a - a, -a, abs(a)) : a in [-0.0, 0.0, infinity, -infinity, nan]};
{(a + b - a, (a + b) + (0.0 - a), a / 3.0 * 3.0) : a in v; b in w};
{(i * i * i * 7919 + i, i / 7, rem(i, 7), i * 1103515245 + 12345) : i in [-3000:3000:17]};
{(lshift(i, 3), rshift(i, 2), i and 12, i xor 5) : i in [-20:20]};

function horner(x, k) = if k == 0 then 1.0 else horner(x, k - 1) * x + 0.1;
{horner(b, 12) : b in w};

function logistic(x, k) = if k == 0 then x else logistic(3.9 * x * (1.0 - x), k - 1);
{logistic(b / 2.0, 60) : b in w};

function steps(k) = if k == 1 then 0 else 1 + (if rem(k, 2) == 0 then steps(k / 2) else steps(3 * k + 1));
{steps(k) : k in [1:60]};

function halves(r) = if #r < 2 then sum(r) * 1.1 + 0.2
  else let h = #r / 2 in sum({halves(s) * 0.9 + 0.01 : s in [take(r, h), drop(r, h)]});
{halves(r) : r in [v, w, take(w, 9)]};

function quicksort(r) = if #r < 2 then r
  else let p = r[#r / 2]; parts = {quicksort(s) : s in [{x in r | x < p}, {x in r | x > p}]}
    in parts[0] ++ {x in r | x == p} ++ parts[1];
{quicksort({x * y : y in [3.7, -1.1, 2.9, 0.3]}) : x in v};
"""
CONTRACTS = """#!/bin/sh
for word; do
  shift
  [ "$word" = -ffp-contract=off ] && word=-ffp-contract=fast
  set -- "$@" "$word"
done
exec %s "$@" -mfma
"""


class Ways:
    """Runs of files, in a cache for each compiler."""

    def __init__(self, options, folder):
        self.nesl, self.folder = options.build.resolve() / "bin" / "nesl", Path(folder)
        self.text = self.folder / "text.nesl"
        self.text.write_text(TEXT, encoding="latin-1")

    def cache(self, compiler):
        return self.folder / ("cache-" + "".join(c if c.isalnum() else "-" for c in compiler))

    def run(self, path, flags, compiler=""):
        """(status, output, messages)"""
        file, native = File(path), ["--native=off", "--procedures", "off"]
        if compiler:
            native = ["--native=wait", "--procedures", "always"]
        files = ["--allow-files", "--allow-spawn"] if file.files else []
        self.cache(compiler).mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            done = subprocess.run(
                [self.nesl, "--threads", "2", "--digits", "17", "--print-length", "10000", *flags, *native, *files,
                 "--outcomes", path], capture_output=True, check=False, timeout=SECONDS, cwd=scratch,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "RAVEL_CC": compiler, "XDG_CACHE_HOME": str(self.cache(compiler))})
        return done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")

    def objects(self, compiler):
        """The code in a compiler's cache."""
        found = self.cache(compiler).rglob("ravel-*.so")
        return [file.read_bytes() for file in found if not file.is_symlink()]


def first_difference(usual, other):
    """What is seen first of two runs that differ."""
    for one, two in zip(usual[1].splitlines(), other[1].splitlines()):
        if one != two:
            at = next((k for k, pair in enumerate(zip(one, two)) if pair[0] != pair[1]), 0)
            return f"{one[max(0, at - 60):at + 60]!r} became {two[max(0, at - 60):at + 60]!r}"
    return f"status {usual[0]} and {usual[2][-300:]!r} became {other[0]} and {other[2][-300:]!r}"


def zig():
    """The command of zig's compiler; None if it is not here."""
    if shutil.which("zig"):
        return "zig cc"
    return f"{sys.executable} -m ziglang cc" if importlib.util.find_spec("ziglang") else None


def compilers(options):
    """(command, a text that is in its code or b"") of those that are tried. Says which are not here."""
    if options.compiler:
        return [(command, b"") for command in options.compiler]
    found = []
    for name, command, mark in (("gcc", shutil.which("gcc") and "gcc", b"GCC: ("),
                                ("clang", shutil.which("clang") and "clang", b"clang version"),
                                ("zig", zig(), b"")):
        if command:
            found.append((command, mark))
        else:
            print(f"SKIPPED (optional) {name} is not installed")
    return found


def files_of(options, ways):
    if options.files:
        return [path.resolve() for path in options.files]
    if options.all:
        return [ways.text, *(f for folder in FOLDERS for f in sorted((ROOT / folder).rglob("*.nesl")))]
    return [ways.text, *(ROOT / "bench" / "programs" / f"{name}.nesl" for name in PROGRAMS)]


def notices_contraction(ways, command):
    """Whether a compiler that contracts is told from the others; None where it cannot contract."""
    if " fma " not in Path("/proc/cpuinfo").read_text(encoding="latin-1"):
        return None
    wrapper = ways.folder / "contracts"
    wrapper.write_text(CONTRACTS % command, encoding="ascii")
    wrapper.chmod(0o700)
    return ways.run(ways.text, []) != ways.run(ways.text, [], str(wrapper))


def compare(ways, job):
    """What is wrong with the runs of a file in a width; "" if nothing is."""
    path, flags, tried = job
    usual, wrong = ways.run(path, flags), []
    if usual[0] < 0 or FAULT.search(usual[2]):
        return f"{path.name}: {usual[2][-300:]}"
    for command, _ in tried:
        ran = ways.run(path, flags, command)
        if ran != usual:
            wrong.append(f"{path.name} {' '.join(flags)} by {command}: {first_difference(usual, ran)}")
    return "\n".join(wrong)


def foreign(ways, tried):
    """What is wrong with what has been compiled."""
    for command, mark in tried:
        objects = ways.objects(command)
        others = sum(mark not in code for code in objects)
        print(f"{command}: {len(objects)} files of code")
        if not objects or others:
            yield f"{command}: {others} of {len(objects)} files of code are of another compiler"


def try_all(options, folder):
    """What is wrong."""
    ways, tried = Ways(options, folder), compilers(options)
    if not tried:
        return ["no compiler is here"]
    jobs = [(path, flags, tried) for path in files_of(options, ways)
            for flags in (WIDTHS if path == ways.text else WIDTHS[:1])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        wrong = [found for found in pool.map(lambda job: compare(ways, job), jobs) if found]
    wrong.extend(foreign(ways, tried))
    if notices_contraction(ways, tried[0][0]) is False:
        wrong.append("a compiler that contracts was not noticed")
    print(f"{len(jobs)} runs by each of {len(tried)} compilers, {len(wrong)} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--compiler", action="append", metavar="COMMAND")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ravel-compilers-") as folder:
        wrong = try_all(options, folder)
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
