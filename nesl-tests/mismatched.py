#!/usr/bin/env python3
"""mismatched.py - unchecked programs with wrong lengths, counts and indices.

    nesl-tests/mismatched.py [--nesl PATH] [--count N] [--seed S]

With `--unchecked` the result of such a program is undefined, but it must be a consistent value or
an error. Random well-typed expressions of checked operations, on sequences of mismatched lengths,
are evaluated by `nesl --outcomes`, optimised and not; the process must not crash, and must report
one outcome for each form. Intended for a build with the address sanitizer, whose errors are
failures. A failure is shown by one form."""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WAYS = [[], ["--no-optimise"]]
FORMS_OF_A_PROCESS = 250


class Generator:
    """Expressions of a few types; `depth` bounds how deep they nest."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, *choices):
        return self.random.choice(choices)

    def number(self):
        return str(self.pick(-2, -1, 0, 1, 1, 2, 2, 3, 4, 5, 7, 100, 100000, "max_int"))

    def length(self):
        return self.random.choice((0, 1, 2, 3, 3, 4, 7))

    def literal(self, element):
        items = [element() for _ in range(self.length())]
        return f"[{', '.join(items)}]" if items else "take([" + element() + "], 0)"

    def index(self):
        return str(self.random.choice((-1, 0, 0, 1, 1, 2, 3, 6, 50)))

    def ints(self, depth):
        if depth == 0:
            return self.literal(self.index)
        a, b, d = (lambda: self.ints(depth - 1)), (lambda: self.bools(depth - 1)), depth - 1
        return self.pick(
            lambda: f"{{x + y : x in {a()}; y in {a()}}}",
            lambda: f"{{x : x in {a()}; y in {b()} | y}}",
            lambda: f"{{if p then x else y : p in {b()}; x in {a()}; y in {a()}}}",
            lambda: f"({a()} -> {a()})",
            lambda: f"({a()} <- zip({a()}, {a()}))",
            lambda: f"permute({a()}, {a()})",
            lambda: f"rep({a()}, 9, {self.index()})",
            lambda: f"{self.pick('take', 'drop', 'rotate')}({a()}, {self.index()})",
            lambda: f"subseq({a()}, {self.index()}, {self.index()})",
            lambda: f"[{self.index()} : {self.index()} : {self.index()}]",
            lambda: f"pack(zip({a()}, {b()}))",
            lambda: f"flatten({self.nested(d)})",
            lambda: f"{{#v : v in {self.nested(d)}}}",
            lambda: f"{{v[i] : v in {self.nested(d)}; i in {a()}}}",
            lambda: f"interleave({a()}, {a()})",
            lambda: f"({a()} ++ {a()})",
            lambda: f"plus_scan({a()})",
            lambda: f"dist({self.index()}, {self.index()})",
        )()

    def bools(self, depth):
        if depth == 0:
            return self.literal(lambda: self.pick("t", "f"))
        return f"{{x < y : x in {self.ints(depth - 1)}; y in {self.ints(depth - 1)}}}"

    def text(self):
        return '"' + "abcdefg"[: self.length()] + '"'

    def counts(self, depth):
        return self.pick(lambda: self.literal(self.number), lambda: self.ints(depth))()

    def nested(self, depth):
        if depth == 0:
            return self.literal(lambda: self.ints(0))
        d = depth - 1
        return self.pick(
            lambda: f"partition({self.ints(d)}, {self.counts(d)})",
            lambda: f"{{{self.ints(d)} : x in {self.ints(d)}}}",
            lambda: f"{{x ++ y : x in {self.nested(d)}; y in {self.nested(d)}}}",
            lambda: f"({self.nested(d)} -> {self.ints(d)})",
            lambda: f"transpose({self.nested(d)})",
            lambda: f"[{self.ints(d)}, {self.ints(d)}]",
        )()

    def pairs(self, depth):
        d = depth - 1
        part = (lambda: self.ints(d), lambda: self.nested(d), lambda: self.bools(d), self.text)
        return f"zip({self.pick(*part)()}, {self.pick(*part)()})"

    def form(self):
        depth = self.pick(1, 2, 2, 3)
        return self.pick(
            lambda: self.ints(depth),
            lambda: self.nested(depth),
            lambda: self.pairs(depth),
            lambda: f"partition({self.text()}, {self.counts(depth - 1)})",
            lambda: f"partition({self.pairs(depth)}, {self.counts(depth - 1)})",
            lambda: f"zip({self.pairs(depth)}, {self.nested(depth)})",
            lambda: f"({self.nested(depth)}, {self.pairs(depth)})",
        )()


def run(options, way, forms):
    """The error in the outcomes of the forms, or None."""
    with tempfile.TemporaryDirectory(prefix="ravel-") as folder:
        path = pathlib.Path(folder, "mismatched.nesl")
        path.write_text("".join(form + ";\n" for form in forms))
        ran = subprocess.run([options.nesl, "--unchecked", "--memory", "64M", *way, "--outcomes",
                              str(path)], capture_output=True, text=True, timeout=300,
                             errors="replace", stdin=subprocess.DEVNULL)
    lines = ran.stdout.count("\n")
    if ran.returncode == 0 and lines == len(forms):
        wrong = [line for line in ran.stdout.splitlines()
                 if line.startswith(("error parse", "error type", "error unbound"))]
        return f"{forms[0]} is not well-typed: {wrong[0]}" if wrong else None
    form = forms[min(lines, len(forms) - 1)]
    return f"status {ran.returncode} after {lines} of {len(forms)} forms\n  {form}\n{ran.stderr[-2000:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nesl", default=str(ROOT / "build" / "bin" / "nesl"))
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=1)
    options = parser.parse_args()
    generator = Generator(options.seed)
    forms = [generator.form() for _ in range(options.count)]
    failed = 0
    for at in range(0, len(forms), FORMS_OF_A_PROCESS):
        for way in WAYS:
            wrong = run(options, way, forms[at : at + FORMS_OF_A_PROCESS])
            failed += wrong is not None
            if wrong:
                print(f"seed {options.seed}, {' '.join(way) or 'optimised'}: {wrong}")
    print(f"{options.count} programs without checks, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
