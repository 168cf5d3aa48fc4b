#!/usr/bin/env python3
"""library.py - every function of the library at every type, and some algorithms, serial and in
parallel.

    library.py [--config NAME ...] [--only NAME ...] [--data TEXT] [--sample PERCENT [--seed TEXT]]
    library.py --show [--only NAME ...]

For every row of library_cases.py, combining_cases.py, addition_cases.py, matrix_cases.py and
algorithm_cases.py, and every type of elements, this makes forms that call the function: alone; for each of several arguments; nested twice, with empty inner sequences; for no
instances; in both branches of a conditional; under a sieve; with arguments that are free in the
body; through a function of the program's own. The expected results are computed in Python.
Arguments are random and depend on --data; the rows of a sample on --seed.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import os
import pathlib
import random
import sys
import tempfile

import nesl
from addition_cases import ADDITIONS
from algorithm_cases import ALGORITHMS
from combining_cases import COMBINING
from library_cases import TABLE
from library_model import DECLARATIONS, literal, pair, seq, show, show_type, val_pair
from matrix import CONFIGS
from matrix_cases import MATRICES

ROWS = TABLE + COMBINING + ADDITIONS + MATRICES + ALGORITHMS
SIZES = (0, 1, 5, 3, 7, 2)


class Calls:
    """One row at one type: its cases, and texts of calls."""

    def __init__(self, row, t, r):
        self.row, self.parameters, self.result = row, row.parameters(t), row.result(t)
        self.argument = pair(*self.parameters)
        cases = [row.arguments(r, t, n) for n in SIZES]
        self.cases = [c for c in cases if c is not None]
        self.results = [row.expected(t, c) for c in self.cases]

    def call(self, *names):
        return self.row.call.format(*names)

    def names(self, letter):
        return [letter + str(i) for i in range(len(self.parameters))]

    def pattern(self, letter):
        names = self.names(letter)
        return "(" + ", ".join(names) + ")" if len(names) > 1 else names[0]

    def body(self, letter="p"):
        return self.call(*self.names(letter))

    def arguments(self, cases):
        """A sequence of argument tuples."""
        return literal([val_pair(*c) for c in cases], seq(self.argument))


def outcome(value, t):
    return "it = %s : %s" % (show(value, t), show_type(t))


def serial(c):
    used = list(zip(c.cases, c.results))[:3]
    texts = [c.call(*("(%s)" % literal(x, t) for x, t in zip(args, c.parameters)))
             for args, _ in used]
    t = pair(*[c.result] * len(used))
    return "(%s)" % ", ".join(texts), outcome(val_pair(*[r for _, r in used]), t)


def each(c):
    return ("{%s : %s in %s}" % (c.body(), c.pattern("p"), c.arguments(c.cases)),
            outcome(c.results, seq(c.result)))


def nested(c):
    half = len(c.cases) // 2
    groups, results = ([x[:half], [], x[half:]] for x in (c.cases, c.results))
    outer = literal([[val_pair(*a) for a in g] for g in groups], seq(seq(c.argument)))
    return ("{{%s : %s in w} : w in %s}" % (c.body(), c.pattern("p"), outer),
            outcome(results, seq(seq(c.result))))


def nothing(c):
    none = "[] " + show_type(c.argument, True)
    t = pair(seq(c.result), seq(seq(c.result)))
    return ("{%s : %s in %s}, {{%s : %s in w} : w in [%s, %s]}"
            % (c.body(), c.pattern("p"), none, c.body(), c.pattern("p"), none, none),
            outcome(([], [[], []]), t))


def branches(c):
    count = len(c.cases)
    chosen = [(i % 3 == 0, i, (i + 1) % count) for i in range(count)]
    t = pair("bool", c.argument, c.argument)
    data = [val_pair(k, val_pair(*c.cases[i]), val_pair(*c.cases[j])) for k, i, j in chosen]
    return ("{if k then %s else %s : (k, %s, %s) in %s}"
            % (c.body("p"), c.body("q"), c.pattern("p"), c.pattern("q"), literal(data, seq(t))),
            outcome([c.results[i if k else j] for k, i, j in chosen], seq(c.result)))


def sieved(c):
    keep = [i % 2 == 0 for i in range(len(c.cases))]
    return ("{%s : %s in %s; k in %s | k}" % (c.body(), c.pattern("p"), c.arguments(c.cases),
                                              literal(keep, seq("bool"))),
            outcome([r for r, k in zip(c.results, keep) if k], seq(c.result)))


def free(c):
    """All arguments free, then each but one."""
    args, result = max(zip(c.cases, c.results), key=lambda x: len(repr(x)))
    bindings = "; ".join("%s = %s" % (p, literal(x, t))
                         for p, x, t in zip(c.names("p"), args, c.parameters))
    bodies = ["{%s : i in [0:2]}" % c.body()]
    for p, x, t in zip(c.names("p"), args, c.parameters):
        bodies.append("{%s : %s in %s}" % (c.body(), p, literal([x, x], seq(t))))
    values = [[result, result]] * len(bodies)
    return ("let %s in (%s)" % (bindings, ", ".join(bodies)),
            outcome(val_pair(*values), pair(*[seq(c.result)] * len(bodies))))


def own_function(c):
    """tried is a function of the program; its argument is one variable."""
    return "{tried(x) : x in %s}" % c.arguments(c.cases), outcome(c.results, seq(c.result))


WAYS = [serial, each, nested, nothing, branches, sieved, free, own_function]


def half_of(config):
    """Which half of a row's forms is run where RAVEL_EVERY asks for a part of long tests: at each type every
    other way, so that two types have all ways, and so have one type interpreted and compiled. None: all of them."""
    if int(os.environ.get("RAVEL_EVERY", 1)) == 1:
        return None
    return int(CONFIGS[config].way == "direct")


@functools.lru_cache(maxsize=None)
def forms_of(row, data, half=None):
    """(form, expected outcome or None) of a row: None where it need only be accepted."""
    forms = [(d, None) for d in DECLARATIONS + row.definitions]
    for at, t in enumerate(row.types):
        c = Calls(row, t, random.Random("%s %s %d" % (data, row.call, at)))
        if at == 0:
            forms.append(("function tried%s = %s;" % (c.pattern("p") if len(c.parameters) > 1
                                                      else "(p0)", c.body()), None))
        for k, way in enumerate(WAYS):
            if half in (None, (at + k) % 2):
                form, expected = way(c)
                forms.append((form + ";", expected))
    return forms


def sampled(row, config, options):
    key = " ".join([row.call, config, options.seed]).encode()
    return int(hashlib.sha256(key).hexdigest(), 16) % 100 < options.sample


def single(config):
    return CONFIGS[config].widths in ("32-32", "64-32")


def runs_in(row, config):
    return not (row.double and single(config))


def run_row(command, row, config, data, folder, timeout=120):
    """(forms, failures) of a row in a configuration; seconds for all of its forms."""
    forms = forms_of(row, data, half_of(config))
    path = pathlib.Path(folder) / ("%d-%s.nesl" % (ROWS.index(row), config))
    path.write_text("".join(form + "\n" for form, _ in forms), "latin-1")
    lines, trouble = nesl.outcomes(command, CONFIGS[config].flags, path, timeout)
    tolerance = 2e-6 if single(config) else 1e-9
    failures = []
    for at, (form, want) in enumerate(forms):
        got = lines[at] if at < len(lines) else "error process: %s" % trouble
        if not nesl.agrees(want, got, tolerance):
            failures.append((row, config, form, want or "no error", got))
            if at >= len(lines):
                break
    return len(forms), failures


def show_failure(failure, data):
    row, config, form, want, got = failure
    print("\n%s (%s, --data %s)\n    %s\n  expected %s\n  but it is %s"
          % (row.name, config, data, form, want, got))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nesl", default=nesl.COMMAND)
    parser.add_argument("--config", action="append", choices=CONFIGS)
    parser.add_argument("--only", action="append", help="names of functions")
    parser.add_argument("--data", default="ravel", help="what the arguments follow from")
    parser.add_argument("--sample", type=int, default=100, help="percent of the rows")
    parser.add_argument("--seed", default="", help="which rows the sample has")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--show", action="store_true", help="print the forms instead")
    options = parser.parse_args()
    rows = [row for row in ROWS if not options.only or row.name in options.only]
    if options.show:
        for row in rows:
            for form, expected in forms_of(row, options.data):
                print(form + ("\n%%= %s %%" % expected if expected else ""))
        return 0
    configs = options.config or nesl.DEFAULT_CONFIGS
    total, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="ravel-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [(row, c) for row in rows for c in configs if sampled(row, c, options)
                and runs_in(row, c)]
        for forms, failed in pool.map(
                lambda job: run_row(options.nesl, *job, options.data, folder), jobs):
            total += forms
            failures += failed
    for failure in failures[:20]:
        show_failure(failure, options.data)
    print("\n%d functions, %s\n%d passed, %d failed"
          % (len(rows), ", ".join(configs), total - len(failures), len(failures)))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
