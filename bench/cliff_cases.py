"""What bench/cliffs runs: programs, each at a small, a middle and a large size, and how a turn of one is taken.

A turn is a process that runs the program once to warm up and then so many times, and says how long each run
took. The sizes are those at which a run took about 0.5, 10 and 150 ms uncut on two cores.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

from collection import BENCH, PROGRAMS, WORK, BenchError, Data, load_cases, program, relative, variants
from superoperators import EXAMPLES, definitions
from systems import WIDTHS, nesl_number
from timing import execute

SIZES = ("small", "middle", "large")
# The ways that are compared: options of nesl, and of the package for Python.
WAYS = {"default": {}, "uncut": {"chunks": "off"}, "one thread": {"threads": "1"}, "together": {"procedures": "off"}}
ENVIRONMENT = {"RAVEL_TUNING": os.environ.get("RAVEL_TUNING") or "off"}
LIMIT = 300.0   # seconds of a process


def said_by(run, times):
    if run.status:
        raise BenchError(f"{run.command}\n{run.complaint()}")
    return json.loads(times)["seconds"]


class Nesl:
    """A program that nesl runs."""

    def __init__(self, name, sizes):
        self.name, self.sizes = name, dict(zip(SIZES, sizes))

    def words(self, n):
        """What stands behind the options."""
        raise NotImplementedError

    def options(self):
        return []

    def command(self, build, n, way, native=""):
        ways = [word for key, value in WAYS[way].items() for word in (f"--{key}", value)]
        return [relative(build / "bin" / "nesl"), *self.options(), *([native] if native else []), *ways,
                *self.words(n)]

    def turn(self, build, n, way, repeat, native=""):
        """The seconds of each of `repeat` runs in a process."""
        with tempfile.NamedTemporaryFile(prefix="ravel-cliffs-", suffix=".json") as times:
            first, *rest = self.command(build, n, way, native)
            run = execute([first, "--backend", "cpu", "--quiet", "--repeat", str(repeat), "--times", times.name, *rest],
                          ENVIRONMENT, LIMIT)
            return said_by(run, Path(times.name).read_text())

    def prepare(self, build, n, way):
        """Has its superoperators compiled, if there will be any, as those of a program are that has run before; the
        seconds of a run."""
        return self.turn(build, n, way, 1, "" if "--no-optimise" in self.options() else "--native=wait")[0]


class Benchmark(Nesl):
    """A program of bench/programs with the data of bench/cases."""

    def __init__(self, case, sizes):
        super().__init__(case.name, sizes)
        self.case = case

    def options(self):
        return WIDTHS[self.case.widths]

    def words(self, n):
        data = Data(self.case, variants(self.case)[0][0], n)
        return ["run", relative(program(self.case)), "--entry", "bench", *data.words(nesl_number)]


class Expression(Nesl):
    """An expression with the functions of a program; N stands for the size."""

    def __init__(self, name, source, text, sizes, options=()):
        super().__init__(name, sizes)
        self.source, self.text, self.given = source, text, list(options)

    def expression(self, n):
        return re.sub(r"\bN\b", str(n), self.text)

    def options(self):
        return self.given

    def words(self, n):
        text = self.source.read_text()
        if text.startswith("import") or "\nimport" in text:   # files beside it: its own forms are few
            return ["-e", self.expression(n), relative(self.source)]
        made = WORK / "cliffs" / f"{self.source.stem}.nesl"
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(definitions(text))
        return ["-e", self.expression(n), relative(made)]


class Python(Nesl):
    """One of the programs of bench/cliff_python.py."""

    def turn(self, build, n, way, repeat, native=""):
        ways = [word for key, value in WAYS[way].items() for word in ("--option", f"{key}={value}")]
        words = [sys.executable, "bench/cliff_python.py", self.name.removeprefix("python: "), str(n),
                 "--repeat", str(repeat), *ways]
        run = execute(words, {**ENVIRONMENT, "RAVEL_LIBRARY": str(build / "lib" / "libravel.so")}, LIMIT)
        return said_by(run, run.stdout)


# ---- what there is ----

BENCHMARKS = {
    "bin-counts": (500_000, 2_000_000, 10_000_000), "group-sums": (200_000, 5_000_000, 10_000_000),
    "argmax": (200_000, 5_000_000, 10_000_000), "recurrence": (50_000, 1_000_000, 10_000_000),
    "dot-product": (500_000, 2_000_000, 10_000_000), "saxpy": (500_000, 2_000_000, 10_000_000),
    "sdot": (500_000, 2_000_000, 10_000_000), "rmse": (500_000, 2_000_000, 10_000_000),
    "forward-difference": (500_000, 2_000_000, 10_000_000), "moving-average": (100_000, 500_000, 10_000_000),
    "jacobi": (100 ** 2, 600 ** 2, 2000 ** 2), "reduce": (2 ** 19, 2 ** 22, 2 ** 24),
    "scan": (2 ** 19, 2 ** 22, 2 ** 24), "pack": (500_000, 2_000_000, 10_000_000),
    "segmented-sum": (500_000, 2_000_000, 10_000_000), "mandelbrot": (2000, 50_000, 1_000_000),
    "bfs": (5000, 50_000, 500_000), "connected-components": (10_000, 50_000, 1_000_000),
    "minimum-spanning-tree": (1000, 10_000, 200_000), "pagerank": (1000, 20_000, 200_000),
    "triangle-count": (1000, 20_000, 200_000), "sparse-matrix-matrix": (500, 2000, 50_000),
    "k-means": (20, 5000, 100_000), "black-scholes": (20_000, 200_000, 2_000_000),
    "sparse-matrix-vector": (200_000, 1_000_000, 4_000_000), "n-body": (200, 500, 2000),
    "quickhull": (5000, 200_000, 2_000_000), "barnes-hut": (100, 2000, 20_000), "barnes-hut-3d": (100, 1000, 2000),
    "canny": (96, 384, 1024), "fluid-flow": (8, 128, 384), "matrix-product": (48 ** 2, 150 ** 2, 400 ** 2),
    "random-sums": (100, 500, 10_000), "odd-even-transposition": (512, 2 ** 12, 2 ** 16),
    "bitonic-sort": (2 ** 13, 2 ** 14, 2 ** 19), "vsort": (512, 2 ** 15, 2 ** 19), "quicksort": (100, 20_000, 300_000),
    "sort": (20_000, 500_000, 5_000_000), "radix-sort": (10_000, 200_000, 2_000_000),
    "word-count": (20_000, 500_000, 10_000_000), "suffix-array": (5000, 20_000, 200_000),
    "ragged-sort": (50_000, 500_000, 5_000_000), "n-queens": (9, 11, 13),
    "adaptive-integration": (1000, 10_000, 50_000), "string-search": (20_000, 500_000, 5_000_000),
    "primes": (500_000, 5_000_000, 10_000_000), "edit-distance": (10, 100, 10_000),
    "ragged-unique": (20_000, 100_000, 2_000_000), "ragged-top": (50_000, 500_000, 5_000_000),
    "sessions": (10_000, 200_000, 3_000_000), "decision-trees": (200, 3000, 50_000), "inverted-index": (5000, 100_000, 1_000_000),
    "independent-set": (2000, 30_000, 300_000), "matching": (2000, 30_000, 300_000), "range-queries": (1000, 20_000, 200_000), "nearest-neighbours": (200, 3000, 30_000),
    "tree-sums": (1000, 20_000, 300_000), "repeated-substring": (3000, 50_000, 1_000_000),
    "anti-kt": (3, 50, 1000), "ray-casting": (200, 3000, 30_000), "delaunay": (100, 2000, 30_000),
}

DISC = "{let a = 2.0 * pi * rand(k); r = sqrt(rand(k)) in (r * cos(a), r * sin(a)) : k in dist(1.0, N)}"
PLATE = "matrix_tabulate((i, j) => float(rem(i * j, 7)), N, N)"
# Of each program of examples/ what it is about, without its drawing.
EXPRESSIONS = {
    "barnes-hut": ("barnes_hut(random_bodies(N), 0.5)", (20, 500, 5000)),
    "bfs": ("bfs(grid(N), 0)", (5, 50, 400)),
    "fft": ("fft({(cos(float(i)), 0.0) : i in [0:N]})", (32, 4096, 131_072)),
    "heat": (f"heat({PLATE}, boundary(N, N), 10)", (20, 200, 700)),
    "histogram": ("bin(heights(N, 163.0, 6.5), linspace(140.0, 200.0, 31))", (5000, 100_000, 2_000_000)),
    "jets": ("flatten({masses(jets) : jets in selected({event(rand(1.0) < 0.4) : i in [0:N]})})",
             (200, 10_000, 200_000)),
    "kmeans": ("let clouds = flatten({cloud(p, N) : p in [(0.0, 0.0), (7.0, 2.0), (3.0, 6.0)]}) "
               "in kmeans(clouds, clouds -> [1, N + 1, 2 * N + 1])", (30, 3000, 50_000)),
    "mandelbrot": ("{{steps(c, (0.0, 0.0), 0, 100) : c in row} : row in plane(N, N)}", (20, 200, 1000)),
    "n-queens": ("queens(N)", (5, 8, 10)),
    "primes": ("primes(N)", (20_000, 1_000_000, 10_000_000)),
    "quickhull": (f"hull({DISC})", (100, 20_000, 500_000)),
    "quicksort": ("quicksort({rand(k) : k in dist(1000000, N)})", (200, 20_000, 300_000)),
    "random-walks": ("walks(N, 401)", (20, 500, 10_000)),
    "sorters": ("vsort_by_hand({rand(k) : k in dist(1000000, N)})", (32, 2 ** 9, 2 ** 14)),
    "sparse-matrix": ("solve(bar(N), dist(0.01, N))", (10, 300, 2000)),
    "string-search": ('{search(p, flatten(dist("bananas and an anaconda ", N))) : p in ["ana", "and", "dog"]}',
                      (500, 10_000, 50_000)),
    "tables": ("by_key({(dist(`a, 1 + rand(50)), rand(1.0)) : i in [0:N]})", (100, 5000, 100_000)),
    "word-count": ('word_count(flatten(dist("she sells sea shells by the sea shore; ", N)))',
                   (100, 10_000, 200_000)),
    "modules/polygons": ("{let p = polygon({(cos(rand(k)), sin(rand(k))) : k in dist(6.0, 3 + rand(20))}) "
                         "in (area(p), circumference(p)) : i in [0:N]}", (100, 10_000, 200_000)),
}

# Programs that were known for their cliffs when this was written.
KNOWN = [
    Expression(
        "black-scholes, in a comprehension", PROGRAMS / "black-scholes.nesl",
        "let v = {1.0 + float(rem(i, 5)) : i in [0:N]} in sum(first(bench(v, v, v, 0.02, 0.3)))",
        (10_000, 262_144, 1_000_000), ["--no-optimise"]),
    Expression("branches with rows", BENCH / "branches.nesl", "weights(N)", (10_000, 200_000, 1_000_000)),
]

PYTHON = {
    "decision-tree": (1000, 10_000, 1_000_000), "nearest-neighbours": (1000, 30_000, 1_000_000),
    "greatest-of-rows": (10_000, 200_000, 2_000_000), "mapped-branch": (10_000, 200_000, 2_000_000),
    "word-counts": (2000, 50_000, 1_000_000), "running-sums": (10_000, 200_000, 2_000_000),
    "string-lengths": (10_000, 200_000, 2_000_000), "group-means": (5000, 100_000, 2_000_000),
    "sorted-rows": (10_000, 200_000, 2_000_000), "filtered-sums": (10_000, 200_000, 2_000_000),
}


def programs():
    """All of them, in the order of a run."""
    cases = load_cases()
    lacking = set(cases) ^ set(BENCHMARKS) | {path.stem for path in EXAMPLES.glob("*.nesl")} - set(EXPRESSIONS)
    if lacking:
        raise BenchError(f"bench/cliff_cases.py has no sizes of, or knows what is not there: {', '.join(lacking)}")
    return [*(Benchmark(cases[name], sizes) for name, sizes in BENCHMARKS.items()),
            *(Expression(f"examples/{name}", EXAMPLES / f"{name}.nesl", *given)
              for name, given in EXPRESSIONS.items()),
            *KNOWN, *(Python(f"python: {name}", sizes) for name, sizes in PYTHON.items())]
