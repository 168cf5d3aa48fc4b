#!/usr/bin/env python3
"""Superoperators of whole programs, compiled ahead of time for the CPU: every one is found in the
file (nothing is compiled while the program runs), and the output is that of the evaluator.

    nesl-tests/ahead.py [--bin FOLDER] [--cc COMPILER] [PROGRAM.nesl ...]    default: the examples"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# -O1: what is tested is that functions are found, and the bits that they compute.
FLAGS = ("-O1 -ffp-contract=off -fno-math-errno -fno-trapping-math -std=c11 -w -fPIC"
         " -shared").split()


class Test:
    def __init__(self, bin_folder: Path, cc: str, folder: Path):
        self.bin, self.cc, self.folder = bin_folder, cc, folder
        self.cache = folder / "cache"
        self.cache.mkdir(mode=0o700)

    def run(self, *words: object) -> str:
        return subprocess.run([str(word) for word in words], cwd=self.folder, text=True, timeout=600,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.cache)}, check=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def vinterp(self, *words: str) -> str:
        return self.run(self.bin / "vinterp", "--backend", "cpu", "--allow-files", "--procedures", "off", *words,
                        "prog.fcode")

    def complaint(self, program: Path) -> str:
        """What is wrong; "" if nothing is."""
        self.run(self.bin / "neslc", program, "-o", "prog.vcode")
        self.run(self.bin / "fcodeopt", "prog.vcode", "--emit-cpu", "prog.c")
        self.run(self.cc, *FLAGS, "-o", "prog.so", "prog.c", "-lm")
        # neslc compiles the last form, which may read what those before it have written. None of
        # their superoperators may get into the cache.
        self.run(self.bin / "nesl", "--allow-files", "--native=off", "run", program)
        wanted = self.vinterp("--native=off")
        if self.vinterp("--native=wait", "--kernels", "./prog.so") != wanted:
            return "the output is another one"
        missing = sum(1 for file in self.cache.rglob("ravel-*.so") if file.is_file())
        return f"{missing} superoperators are not in the file" if missing else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("programs", nargs="*", type=Path)
    args = parser.parse_args()
    programs = args.programs or sorted((ROOT / "examples").glob("*.nesl"))
    failures = 0
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="ravel-ahead-") as folder:
            complaint = Test(args.bin.resolve(), args.cc, Path(folder)).complaint(program.resolve())
        failures += bool(complaint)
        print(f"{program.name}: {complaint or 'the same'}")
    print(f"{len(programs)} programs, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
