#!/usr/bin/env python3
"""Loops for many instances whose rounds may fail, in chunks: random programs of NESL print what they print uncut,
results, messages, positions and traces (docs/internals/memory.md, Faults).

    nesl-tests/rounds.py [--programs N] [--seed S] [--build DIR]

Each program applies a body with loops to instances that take different numbers of rounds. It is compiled with checks; and
one without indices without any, since an index that is not checked may be that of another instance's element. They are
run as they are and optimised, with chunks of several sizes. The seed of one that differs is printed. Exit
status 1 if one does, or if too few failed, or succeeded, to say much."""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = ("1", "2", "3", "7", "random:1", "random:2", "auto")
SECONDS = 300
DEEPEST = 3

# What a body may call: a recursion whose depth depends on the argument, a function with a loop, and random numbers.
FUNCTIONS = """function halved(x, v) = if abs(x) < 2 then LAST else halved(x / 2, v) + sum({y / x : y in v});
function counted(k, v) = loop s = 0 while s < k do s + STEP;
function drawn(k, v) = sum({rand(10 + abs(x)) : x in v}) + (if k > 2 then rand(100) + #{x in v | rand(3) > 1} else k);
"""


class Program:
    """A random one. Expressions are of ints, in the variables of the scope: s, i and k are numbers, v is a sequence."""

    def __init__(self, seed, indices):
        self.draw, self.indices = random.Random(seed), indices
        self.loops = 0

    def number(self, numbers, depth):
        """An expression of some numbers and v."""
        draw = self.draw
        if depth == 0 or draw.random() < 0.15:
            return draw.choice([*numbers, *numbers, str(draw.choice([0, 1, 2, 3, 7]))])
        a, b = self.number(numbers, depth - 1), self.number(numbers, depth - 1)
        kind = draw.randrange(14)
        if kind < 4:
            return f"({a} {draw.choice('+-*')} {b})"
        if kind == 4:
            return f"({a} / {draw.choice([b, *4 * [f'({b} * {b} + 1)']])})"
        if kind == 5 and self.indices:
            return draw.choice([f"v[{a}]", *4 * [f"(if #v > 0 then v[rem(abs({a}), #v)] else {b})"]])
        if kind == 6 and self.indices:
            return f"v[rem(abs({a}), max(1, #v))]"
        if kind == 7:
            return f"sum({{x * {a} + {b} : x in v}})"
        if kind == 8:
            return f"#{{x in v | x > {a}}}"
        if kind in (9, 10):
            return f"(if {a} > {b} then {self.number(numbers, depth - 1)} else {self.number(numbers, depth - 1)})"
        if kind == 11:
            return f"sum({{60 / ({draw.choice(['x', 'x * x + 1'])} - {draw.choice([a, '0'])}) : x in v}})"
        if kind == 12:
            return draw.choice([f"halved(rem({a}, 9), v)", f"counted(rem({a}, 5), {{abs(x) + 1 : x in v}})"])
        return self.loop(numbers, depth - 1)

    def failing(self, i, most):
        """An expression that fails for some instances in a late round: number i of as many."""
        last = f"({most} - {self.draw.choice([1, 1, 2, 3])})"
        some = f"rem(abs(k), {self.draw.choice([2, 3, 5])}) == {self.draw.choice([0, 1])}"
        if self.indices and self.draw.random() < 0.3:
            return self.draw.choice([f"v[{i}]", f"(if {some} then v[{i}] else 0)"])
        return f"60 / (if {some} then {last} - {i} else 1)"

    def loop(self, numbers, depth):
        """A loop of which each instance takes some rounds of its own; its state is a number, or the sequence v."""
        self.loops += 1
        draw, sequence = self.draw, self.draw.random() < 0.3
        s, i, m, r, q = (f"{letter}{self.loops}" for letter in "simrq")
        most = f"rem(abs({self.number(numbers, 1)}), {draw.choice([2, 4, 7])})"
        first, state = ("v", "v") if sequence else (self.number(numbers, 1), s)
        ends = "" if sequence else draw.choice(["", f" and {s} < 50"])
        step = self.number([*numbers, i, *([] if sequence else [s])], max(depth, 1))
        if draw.random() < 0.6:
            step = f"({step} + {self.failing(i, m)})"
        after, value = (f"{{y + {step} : y in v}}", f"sum({r})") if sequence else (step, r)
        return (f"(let {m} = {most}; ({r}, {q}) = loop ({state}, {i}) = ({first}, 0) while {i} < {m}{ends}"
                f" do ({after}, {i} + 1) in {value})")

    def text(self):
        draw = self.draw
        count = draw.choice([1, 2, 5, 9, 14])
        rows = [[draw.choice([1, 2, 3, 5, 8, 13, 0, -1]) for _ in range(draw.choice([0, 1, 2, 3, 5]))]
                for _ in range(count)]
        numbers = [draw.choice([0, 1, 2, 3, 4, 5, 9]) for _ in range(count)]
        body = self.loop(["k"], DEEPEST)
        if draw.random() < 0.3:
            body = f"({body}, {{{self.loop(['k', 'z'], 1)} : z in v}})"
        if draw.random() < 0.3:
            body = f"({body}, drawn(k, v), {{drawn(z, [k]) : z in v}})"
        of = f"v in [{', '.join(f'{row}' if row else '[] int' for row in rows)}]; k in {numbers}"
        held = "sum({x * x : x in v})"
        last, step = ("v[x]", "v[rem(s, #v)]") if self.indices else ("60 / x", "1 + 12 / (k - s)")
        functions = FUNCTIONS.replace("LAST", last).replace("STEP", step)
        return f"{functions}{{({held}, {body}) : {of}}};\n"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def differences(options, seed):
    """Whether the program failed, without chunks; and what differs."""
    commands, wrong, failed = options.build / "bin", [], 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "p.nesl"
        for checks in ((), ("--unchecked",)):
            source.write_text(Program(seed, not checks).text())
            code = str(source.with_suffix(".vcode"))
            status, _, said = run(commands / "neslc", *checks, "-o", code, source)
            if status:
                return 0, [f"seed {seed}: does not compile\n{said}"]
            for optimise in ((), ("-O",)):
                vinterp = [commands / "vinterp", "--backend", "cpu", "--threads", "2", *optimise]
                whole = run(*vinterp, "--chunks", "off", code)
                failed += whole[0] != 0
                wrong += [f"seed {seed}, {' '.join((*checks, *optimise, '--chunks', size))}:\n{cut}\nnot\n{whole}"
                          for size in SIZES if (cut := run(*vinterp, "--chunks", size, code)) != whole]
    return failed, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=random.randrange(1 << 30))
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda seed: differences(options, seed),
                              range(options.seed, options.seed + options.programs)))
    failed, runs = sum(f for f, _ in found), 4 * options.programs
    wrong = [text for _, texts in found for text in texts]
    print("\n".join(wrong + [f"{options.programs} programs from seed {options.seed}: {failed} of {runs} runs failed as"
                             f" they should, {len(wrong)} differences"]))
    return 1 if wrong or not runs / 10 <= failed <= runs * 9 / 10 else 0


if __name__ == "__main__":
    sys.exit(main())
