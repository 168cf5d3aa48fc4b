#!/usr/bin/env python3
"""Which lifted functions the NESL compiler makes, their marks (neslc/flatten/instances.c), and
which have procedures.

    nesl-tests/instances.py [NAME ...] [--build DIR]

Each program is compiled as it is, without the optimiser: its lifted functions are as
expected, and calls that are the same for all instances stand outside of them. All of them have
procedures but those that draw random numbers; functions that are only procedures are not listed.
Exit status 1 if one is not."""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTION = re.compile(r"^fun ((\S+?)(?:_\d+L?)?) \(.*?\) -> \(.*?\)(?: instances (.*?)| (rounds?))?"
                      r"(?: procedure (\S+))?(?: @.*)?$", re.M)
CALL = re.compile(r" call (\S+)")
LARGE = ("function large(v) = let a = sum(v) * 3 + 1; b = a * a - 2 * a; c = b * b - 3 * b;"
         " d = c * c + a * b + a * c + b * c + 1; g = d * d - a * b * c * d; h = g * g - 4 * g"
         " in {x * x + h : x in v};\n")
HALVES = ("function halves(i, v) = if i < 2 then v[i] else halves(i / 2, v) + halves(i / 3, v);\n")

# Name: definitions, expression, functions with their marks.
PROGRAMS = {
    "scalars only": ("", "{x * x + 1 : x in [0:9]}", []),
    "a reduction of a sequence that is there": (
        "", "{sum(v) : v in [[1, 2], [3]]}", []),
    "sequences that are only the value": ("", "{[0:i] : i in [0:9]}", []),
    "products are held": (
        "", "{sum({x * x : x in v}) : v in [[1, 2], [3]]}",
        ["EACH shared each 1 -> each"]),
    "what is shared": (
        "", "let w = [1, 2, 3] in {sum({x * y : x in v; y in w}) : v in [[1, 2, 3], [3, 4, 5]]}",
        ["EACH shared each 1 shared -> each"]),
    "scalars of each": (
        "", "{sum({x * a : x in v}) : v in [[1, 2], [3]]; a in [4, 5]}",
        ["EACH shared each 1 each -> each"]),
    "sequences of sequences": (
        "", "{sum({sum({x * x : x in w}) * #w : w in v}) : v in [[[1, 2], [3]], [[4]]]}",
        ["EACH shared each 1 -> each", "EACH shared each 1 2 -> each"]),
    "a value of sequences": (
        "", "{{x * x + 1 : x in [0:i]} : i in [1:9]}",
        ["EACH shared each -> each 0"]),
    "a value with what was there before": (
        "", "let w = [1, 2, 3] in {(v, w, sum({x * x : x in v}) + i)"
        " : v in [[1, 2], [3]]; i in [0:2]}",
        ["EACH shared each 1 each -> each"]),
    "behind a sieve": (
        "", "{sum({x * x : x in v}) : v in [[1, 2], [3]] | #v > 1}",
        ["EACH shared each shared shared shared shared -> each"]),
    "random numbers": (
        "", "{sum({rand(10) : k in index(3)}) : i in index(4)}", ["EACH shared shared -> each"]),
    "random numbers where a condition holds, in one operation": (
        "", "{if i > 1 then sum({rand(10) * x : x in [0:i]}) else i : i in index(4)}",
        ["EACH shared each -> each"]),
    "random numbers of a function": (
        "", "{sum({x * normal(0.0, y) : x in v}) : v in [[1.0, 2.0], [3.0]]; y in [1.0, 2.0]}",
        ["EACH shared each 1 each -> each", "NORMAL shared shared each -> each"]),
    "random numbers of a function that calls itself": (
        "function drawn(n) = if n < 1 then 0 else rand(10) + drawn(n - 1);\n",
        "{sum({x * drawn(i) : x in [0:i]}) : i in index(4)}", ["DRAWN"]),
    "random numbers of a loop": (
        "", "{sum({x * (loop s = i while s > 0 do s - 1 - rand(2)) : x in [0:i]}) : i in index(4)}",
        ["LOOP", "LOOP round", "LOOP rounds", "LOOP rounds"]),
    "random numbers, depending on a condition": (
        "", "let c = sum([0:3]) > 2 in"
        " {if c then sum({rand(10) * x : x in [0:i]}) else #[0:i] : i in index(4)}", []),
    "output": (
        "", '{sum({if print_line("x") then x else 0 : x in [0:i]}) : i in index(4)}', []),
    "a function that is called for many": (
        LARGE, "{large(v) : v in [[1, 2], [3]]}", ["LARGE shared each 1 -> each 0"]),
    "sequences that a function makes": (
        LARGE, "{sum(large(v)) : v in [[1, 2], [3]]}", ["EACH shared each 1 -> each",
                                                       "LARGE shared each 1 -> each 0"]),
    "a view of a shared sequence": (
        HALVES, "let v = [1, 2] in {halves(i, v) : i in [0:9]}",
        ["HALVES shared each shared shared -> each"]),
    "a view of sequences": (
        HALVES, "{sum({halves(i, v) * i : i in v}) : v in [[1, 0], [0]]}",
        ["EACH shared each 1 -> each", "HALVES shared each each shared shared shared -> each"]),
    "a loop": (
        "", "{(loop (s, n) = (0, i) while n > 0 do (s + #{x in [s, n] | x > 1}, n - 1)) : i in [0:4]}",
        ["LOOP round", "LOOP rounds", "LOOP rounds", "LOOP shared each each -> each each"]),
    "a loop of which a round may fail": (
        "", "{(loop (s, n) = (0, i) while n > 0 do (s + sum([0:n]), n - 1)) : i in [0:4]}",
        ["LOOP round", "LOOP rounds", "LOOP rounds", "LOOP shared each each -> each each"]),
    "a body around such a loop": (
        "", "{sum({(loop n = x while n > 0 do n - #[0:n]) * x : x in [0:i]}) : i in [0:4]}",
        ["EACH shared each -> each", "LOOP round", "LOOP rounds", "LOOP rounds", "LOOP shared each -> each"]),
    "what is the same for all is computed before": (
        LARGE, "let w = [1, 2, 3] in {sum({x * y : x in v; y in large(w)}) : v in [[1, 2, 3]]}",
        ["EACH shared each 1 shared shared shared -> each", "LARGE"]),
    "a body in a branch": (
        "", "let v = [[1, 2], [3]] in if #v > 1 then {sum({x * x : x in w}) : w in v} else [] int",
        ["EACH shared each 1 -> each"]),
}

# Programs of which lifted functions draw random numbers: these have no procedures.
DRAWING = {"random numbers", "random numbers where a condition holds, in one operation",
           "random numbers of a function"}


def called(text):
    """The functions that calls lead to from MAIN."""
    bodies = {m[1]: body for m, body in zip(FUNCTION.finditer(text), FUNCTION.split(text)[6::6])}
    reached, waiting = set(), ["MAIN"]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += CALL.findall(bodies[name])
    return reached


def functions(neslc, definitions, expression):
    """The functions of a program but MAIN that are called, with their marks, and the lifted ones
    without procedures; or what went wrong."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.nesl"
        program.write_text(definitions + expression + ";\n")
        run = subprocess.run([neslc, "--print-after", "flatten", "-o", program.with_suffix(".vcode"),
                              program], capture_output=True, text=True, check=False)
    if run.returncode:
        return [run.stderr.strip()], []
    reached = called(run.stdout) - {"MAIN"}
    found = [m for m in FUNCTION.finditer(run.stdout) if m[1] in reached]
    return (sorted(" ".join(filter(None, [m[2], m[3] or m[4]])) for m in found),
            [m[1] for m in found if m[3] and not m[5]])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    failed = 0
    names = options.names or list(PROGRAMS)
    for name in names:
        definitions, expression, expected = PROGRAMS[name]
        found, without = functions(options.build / "bin" / "neslc", definitions, expression)
        if found != sorted(expected) or bool(without) != (name in DRAWING):
            failed += 1
            print(f"{name}: {expression}\n  expected {sorted(expected)}\n  but has  {found}"
                  f"\n  without procedures: {without}")
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
