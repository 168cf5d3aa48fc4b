"""Batch calls on the CPU: chunks of all sizes print what an uncut run prints, byte for byte,
results and errors; memory stays within limits; and what --chunks and --profile say.

usage: chunks_command.py VINTERP [--programs N] [--seed S] [unittest options]
"""

import argparse
import json
import random
import subprocess
import sys
import unittest

from support import ScratchTest

VINTERP = None
PROGRAMS = 25
SEED = None
LONG = 300  # seconds
MOST_LOOPS = 3
SIZES = ("1", "2", "3", "7", "random:1", "random:2", "auto")


def vinterp(*arguments):
    return subprocess.run([VINTERP, "--backend", "cpu", "--threads", "2", *arguments],
                          capture_output=True, text=True, timeout=LONG, check=False)


# ---- programs ----

class Function:
    """The stack code of a function, whose variables are named by where they are on the stack."""

    def __init__(self, name, params, mark):
        self.lines = [f"FUNC {name} {mark}"]
        self.depth = params

    def op(self, text, *operands, results=1):
        """Puts copies of the operands on the stack; the numbers of the results, or of the one."""
        for k, variable in enumerate(operands):
            self.lines.append(f"COPY 1 {self.depth + k - 1 - variable}")
        self.lines.append(text)
        self.depth += results
        numbers = list(range(self.depth - results, self.depth))
        return numbers[0] if results == 1 else numbers

    def condition(self, flag):
        """Begins an IF."""
        self.lines += [f"COPY 1 {self.depth - 1 - flag}", "IF"]
        self.below = self.depth

    def leave_arm(self, word, *results):
        """Ends an arm with copies of these; of the IF, their numbers."""
        made = self.depth - self.below
        self.lines += [f"COPY 1 {self.depth + k - 1 - variable}" for k, variable in enumerate(results)]
        self.lines += [f"POP {made} {len(results)}", word]
        self.depth = self.below + (len(results) if word == "ENDIF" else 0)
        return list(range(self.below, self.depth))

    def leave(self, *results):
        for k, variable in enumerate(results):
            self.lines.append(f"COPY 1 {self.depth + k - 1 - variable}")
        self.lines += [f"POP {self.depth} {len(results)}", "RET"]
        return "\n".join(self.lines) + "\n"


class Body:
    """A random lifted function: of the instances' descriptor, a descriptor, its elements, a column and a
    shared number. It may have loops, whose functions are put into a list."""

    def __init__(self, draw, name, loops, inner=None):
        self.draw, self.inner, self.loops, self.random = draw, inner, loops, True
        self.f = Function(name, 5, "{% instances shared each 1 each shared -> each each 1 }")
        self.columns, self.elements = [3], {1: [2]}  # by descriptor
        self.descriptors = [1]
        self.columns.append(self.f.op("DIST INT", 4, 0))

    def column(self):
        return self.draw.choice(self.columns)

    def of_elements(self):
        d = self.draw.choice(self.descriptors)
        return d, self.draw.choice(self.elements[d])

    def constant(self, x):
        """A column of it."""
        return self.f.op("DIST INT", self.f.op(f"CONST INT {x}"), 0)

    def bounded(self, column, most):
        """Numbers 0 .. most - 1 from a column."""
        x = self.f.op("%", column, self.constant(most))
        return self.f.op("%", self.f.op("+ INT", x, self.constant(most)), self.constant(most))

    def add_elements(self, d, x):
        self.elements[d].append(x)

    def step(self):
        f, draw = self.f, self.draw
        kind = draw.randrange(15)
        d, v = self.of_elements()
        w = draw.choice(self.elements[d])
        c, e = self.column(), self.column()
        arithmetic = draw.choice(["+ INT", "- INT", "* INT", "MAX", "AND INT"])
        if arithmetic == "MAX":
            arithmetic = "XOR INT"
        if kind == 0:
            self.columns.append(f.op(arithmetic, c, e))
        elif kind in (1, 2):
            self.add_elements(d, f.op(arithmetic, v, w))
        elif kind == 3:
            self.add_elements(d, f.op("DIST INT", c, d))
        elif kind == 4:
            self.columns.append(f.op(draw.choice(["+_REDUCE INT", "MAX_REDUCE INT"]), v, d))
        elif kind == 5:
            self.add_elements(d, f.op(draw.choice(["+_SCAN INT", "RANK_UP INT", "SORT_UP INT"]), v, d))
        elif kind == 6 and draw.random() < 0.4:
            self.add_elements(d, f.op("/ INT", v, w))
        elif kind == 6:
            self.columns.append(f.op("DIST INT", 4, 0))
        elif kind == 7:
            self.make_elements(c)
        elif kind == 8 and self.random and draw.random() < 0.5:
            bound = f.op("DIST INT", self.constant(draw.choice([10, 100])), d)
            self.add_elements(d, f.op("RAND", bound))
        elif kind == 9:
            flags = f.op("< INT", v, w)
            kept, new = f.op("PACK INT", v, flags, d, results=2)
            self.descriptors.append(new)
            self.elements[new] = [kept]
        elif kind == 10 and draw.random() < 0.3:
            self.columns.append(f.op("EXTRACT INT", v, self.bounded(c, 2), d))
        elif kind == 11 and draw.random() < 0.3:
            f.op('ASSERT "too large"', f.op("< INT", c, self.constant(draw.choice([9, 90]))), c, e, results=0)
        elif kind == 12 and draw.random() < 0.3:
            index = f.op("%", v, f.op("DIST INT", self.constant(3), d))
            self.add_elements(d, f.op("BPERMUTE INT", v, index, d, d))
        elif kind == 13 and self.inner:
            self.call(d, v, w)
        elif kind == 14 and len(self.loops) < MOST_LOOPS:
            self.loop(c, e)

    def make_elements(self, c):
        """A few for each instance, which begin with a column."""
        f = self.f
        new = f.op("MAKE_SEGDES", self.bounded(c, 4))
        start = self.column()
        self.descriptors.append(new)
        self.elements[new] = [f.op("INDEX", start, self.constant(1), new)]

    def loop(self, c, state):
        """As many rounds for each instance as a column says, 1 .. 5."""
        f, number = self.f, len(self.loops)
        self.loops.append(None)
        self.loops[number] = loop(self.draw, number, self.loops)
        ids = f.op("INDEX", f.op("CONST INT 0"), f.op("CONST INT 1"), 0)
        left = f.op("+ INT", self.bounded(c, 5), self.constant(1))
        f.condition(f.op("> INT", f.op("LENGTH INT", ids), f.op("CONST INT 0")))
        f.leave_arm("ELSE", f.op(f"CALL GROW{number}", 0, ids, left, state, 4, 0, state))
        self.columns += f.leave_arm("ENDIF", state)

    def call(self, d, v, w):
        """Of the inner function, with the elements as instances."""
        f = self.f
        one = f.op("MAKE_SEGDES", f.op("LENGTH INT", v))
        count = f.op("DIST INT", f.op("CONST INT 2"), one)
        new = f.op("MAKE_SEGDES", count)
        x, _, _ = f.op(f"CALL {self.inner}", one, new, f.op("DIST INT", w, new), v, 4, results=3)
        self.add_elements(d, x)

    def combined(self):
        """A column that depends on everything."""
        last = self.f.op("XOR INT", self.columns[-1], 3)
        for d in self.descriptors:
            for v in self.elements[d]:
                last = self.f.op("XOR INT", last, self.f.op("+_REDUCE INT", v, d))
        return last

    def text(self, steps):
        for _ in range(steps):
            self.step()
        last = self.combined()
        d = self.draw.choice(self.descriptors)
        results = (last, d, self.elements[d][-1])
        return self.f.leave(*results)


class Round(Body):
    """A random round of a loop: of the descriptor of the instances that are in it, their numbers, how many rounds each
    has left, a column, and a shared number. It leaves the numbers and columns of those that have finished, and all of
    the others."""

    def __init__(self, draw, name, loops):
        self.draw, self.inner, self.loops, self.random = draw, None, loops, False
        self.name, self.f = name, Function(name, 5, "{% round }")
        self.columns, self.elements, self.descriptors = [3], {}, []
        self.make_elements(2)

    def divisor(self):
        """0 where so many rounds are left, a number of them that depends on the column."""
        at = self.f.op("XOR INT", 2, self.bounded(3, 4))
        return self.f.op("XOR INT", at, self.constant(self.draw.randrange(8)))

    def text(self, steps):
        f = self.f
        for _ in range(steps):
            self.step()
        state = self.combined()
        if self.draw.random() < 0.6:
            state = f.op("/ INT", state, self.divisor())
        left = f.op("- INT", 2, self.constant(1))
        more = f.op("> INT", left, self.constant(0))
        f.condition(f.op("AND_REDUCE BOOL", more, 0))
        f.leave_arm("ELSE", *f.op(f"CALL {self.name}", 0, 1, left, state, 4, results=6))
        ends = f.op("NOT BOOL", more)
        finished = [f.op("PACK INT", v, ends, 0, results=2)[0] for v in (1, state)]
        others = [f.op("PACK INT", v, more, 0, results=2) for v in (1, left, state)]
        return f.leave(*f.leave_arm("ENDIF", *finished, others[0][1], *(v for v, _ in others)))


def loop(draw, number, loops):
    """The functions of one. GROW takes what the round does, and a descriptor and a column of all instances, into which
    it puts the columns of those that have finished."""
    text = Round(draw, f"STEP{number}", loops).text(draw.randint(1, 4))
    f = Function(f"GROW{number}", 7, "{% rounds }")
    ids, state, one, *others = f.op(f"CALL STEP{number}", 0, 1, 2, 3, 4, results=6)
    new = f.op("DPERMUTE INT", state, ids, 6, f.op("MAKE_SEGDES", f.op("LENGTH INT", ids)), 5)
    f.condition(f.op("= INT", f.op("LENGTH INT", others[0]), f.op("CONST INT 0")))
    f.leave_arm("ELSE", new)
    return f.leave(*f.leave_arm("ENDIF", f.op(f"CALL GROW{number}", one, *others, 4, 5, new))) + text


def program(seed):
    draw = random.Random(seed)
    k = draw.choice([2, 3, 5, 9, 12])
    lengths = [draw.choice([0, 1, 2, 3, 5]) for _ in range(k)]

    def numbers(n):
        return " ".join(str(draw.choice([0, 1, 2, 3, 5, 8, 50])) for _ in range(n))

    main = (f"FUNC MAIN\nCONST SEGDES {k}\nCONST INT ({' '.join(map(str, lengths))}) MAKE_SEGDES\n"
            f"CONST INT ({numbers(sum(lengths))})\nCONST INT ({numbers(k)})\nCONST INT 7\nCALL OUTER\nRET\n")
    inner = draw.random() < 0.6
    loops = []
    text = main + Body(draw, "OUTER", loops, "INNER" if inner else None).text(draw.randint(3, 14))
    text += Body(draw, "INNER", loops).text(draw.randint(1, 6)) if inner else ""
    return text + "".join(loops)


# Instances with so many elements each, of which the sum is the result.
SUMS = """FUNC MAIN
CONST SEGDES {instances}
CONST INT {elements}
COPY 1 1 DIST INT
COPY 1 1 CPOP 1 1 CALL BODY
CPOP 1 1 +_REDUCE INT
RET
FUNC BODY {{% instances shared each -> each }}
COPY 1 0 MAKE_SEGDES
CONST INT 0 COPY 1 3 DIST INT
CONST INT 1 COPY 1 4 DIST INT
COPY 1 2 INDEX
COPY 1 0 * INT
COPY 1 1 +_SCAN INT
COPY 1 1 MAX_REDUCE INT
POP 3 1
RET
"""
# For each of 10,000 instances 3 elements, for one a million; they are operands of an inner call.
RAGGED = """FUNC MAIN
CONST SEGDES 10000
CONST INT 0 CONST INT 1 COPY 1 2 INDEX
CONST INT 7777 COPY 1 2 DIST INT = INT
CONST INT 1000000 COPY 1 2 DIST INT
CONST INT 3 COPY 1 3 DIST INT
SELECT INT
COPY 1 1 CPOP 1 1 CALL OUTER
CPOP 1 1 +_REDUCE INT
RET
FUNC OUTER {% instances shared each -> each }
COPY 1 0 MAKE_SEGDES
CONST INT 0 COPY 1 3 DIST INT
CONST INT 1 COPY 1 4 DIST INT
COPY 1 2 INDEX
COPY 1 3 CPOP 2 1 CALL BODY
POP 2 1
RET
FUNC BODY {% instances shared each 1 -> each }
COPY 1 0 * INT
COPY 1 1 +_SCAN INT
COPY 1 1 MAX_REDUCE INT
POP 2 1
RET
"""


def sums_result(instances, elements):
    return f"( {instances * sum(i * i for i in range(elements - 1))} )\n"


class Chunks(ScratchTest):
    def test_random_programs(self):
        """Results, errors, and calls that led to them."""
        first = random.randrange(1 << 30) if SEED is None else SEED
        failed = 0
        for seed in range(first, first + PROGRAMS):
            path = self.path(self.write(program(seed), "p.vcode"))
            for optimise in ((), ("-O",)):
                whole = vinterp(*optimise, "--chunks", "off", path)
                self.assertTrue(whole.stdout or " at position " in whole.stderr or "element" in whole.stderr or
                                "index" in whole.stderr, f"seed {seed}: {whole.stderr}")
                failed += whole.returncode
                for size in SIZES:
                    cut = vinterp(*optimise, "--chunks", size, path)
                    with self.subTest(seed=seed, size=size, optimise=optimise):
                        self.assertEqual((cut.returncode, cut.stdout, cut.stderr),
                                         (whole.returncode, whole.stdout, whole.stderr))
        self.assertGreater(failed, 0)
        self.assertLess(failed, 2 * PROGRAMS)

    def test_memory(self):
        """Four gigabytes at once, in little memory; the less there is, the more chunks."""
        path = self.path(self.write(SUMS.format(instances=10000, elements=5000), "sums.vcode"))
        for limit, most in (("1G", 24 << 20), ("40M", 16 << 20), ("8M", 7 << 20)):
            run = vinterp("--memory", limit, "--profile=device", "--json", path)
            self.assertEqual(run.stdout, sums_result(10000, 5000), run.stderr)
            profile = json.loads(run.stderr)
            self.assertLess(profile["peak_bytes"], most, limit)
        whole = vinterp("--memory", "100M", "--chunks", "off", path)
        self.assertIn("out of memory", whole.stderr)

    def test_instances_of_very_different_sizes(self):
        path = self.path(self.write(RAGGED, "ragged.vcode"))
        whole = vinterp("--chunks", "off", path)
        for limit in ("1G", "40M"):
            run = vinterp("--memory", limit, path)
            self.assertEqual((run.stdout, run.stderr), (whole.stdout, ""))

    def test_an_estimate_that_is_wrong(self):
        """A call that promises to be small and is not is cut when memory fails."""
        text = SUMS.format(instances=4000, elements=100).replace(
            "COPY 1 1 CPOP 1 1 CALL BODY\n",
            "COPY 1 1 CPOP 1 1 COPY 2 0 CALL BODY POP 1 0\n"
            "CONST INT 100 COPY 1 2 DIST INT * INT CALL BODY\n")
        path = self.path(self.write(text, "wrong.vcode"))
        run = vinterp("--memory", "100M", path)
        self.assertEqual((run.stdout, run.stderr), (sums_result(4000, 10000), ""))

    def test_profile(self):
        path = self.path(self.write(SUMS.format(instances=10, elements=3), "few.vcode"))
        run = vinterp("--chunks", "4", "--profile", path)
        self.assertRegex(run.stderr, r"\ncalls in chunks +calls +chunks +least +most +peak +threads  bound by\n"
                                     r"BODY +1 +3 +2 +4 +[0-9.]+ (B|KiB) +2  --chunks\n")
        run = vinterp("--chunks", "4", "--profile", "--json", path)
        (line,) = json.loads(run.stderr)["chunks"]
        self.assertEqual((line["name"], line["calls"], line["chunks"], line["least"], line["most"], line["bound"]),
                         ("BODY", 1, 3, 2, 4, "--chunks"))
        run = vinterp("--chunks", "off", "--profile", path)
        self.assertNotIn("calls in chunks", run.stderr)

    def test_option(self):
        path = self.path(self.write(SUMS.format(instances=10, elements=3), "few.vcode"))
        for text in ("0", "-1", "few", "", "random:", "random:x", "1.5"):
            run = vinterp("--chunks", text, path)
            self.assertEqual(run.returncode, 2, text)
            self.assertIn("--chunks must be auto, off or a number of instances, not", run.stderr)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("vinterp")
    parser.add_argument("--programs", type=int, default=PROGRAMS)
    parser.add_argument("--seed", type=lambda text: int(text, 0))
    options, rest = parser.parse_known_args()
    VINTERP, PROGRAMS, SEED = options.vinterp, options.programs, options.seed
    unittest.main(argv=[sys.argv[0], *rest])
