"""What bench/memory runs: programs whose bodies hold elements of their own, at sizes for limits of memory,
and the rows that have targets."""

from dataclasses import dataclass
from typing import Optional

from case import Case
from collection import BENCH, ROOT, WORK, Data, load_cases, load_module, program, results
from superoperators import definitions

NESTED = load_module(BENCH / "cases" / "nested.py", "bench_memory_nested")
MB = 10 ** 6

# Functions of examples/barnes-hut.nesl on flat arguments.
OF_EXAMPLE = {
    "all-pairs": "all_pairs(bodies)",
    "barnes-hut-example": "barnes_hut(bodies, 0.5)",
}
ENTRY = """
function bench(xs, ys, masses) : ([float], [float], [float]) -> ([float], [float]) =
  let bodies = {body((x, y), m) : x in xs; y in ys; m in masses}
  in unzip({expression});
"""


def pulls(arguments):
    return NESTED.all_pairs(arguments[:2], arguments[2], 1e-6)


def cases():
    """Name -> case: those of bench/cases, and those of the example."""
    found = load_cases()
    for name in OF_EXAMPLE:
        found[name] = Case(name, name, "beyond", [], [], make=NESTED.bodies(2),
                           reference=pulls if name == "all-pairs" else None)
        found[name].source = BENCH / "cases" / "nested.py"
    return found


def source(case):
    """The file with the function `bench` of a case."""
    if case.name not in OF_EXAMPLE:
        return program(case)
    made = WORK / "memory" / f"{case.name}.nesl"
    made.parent.mkdir(parents=True, exist_ok=True)
    text = definitions((ROOT / "examples" / "barnes-hut.nesl").read_text())
    made.write_text(text + ENTRY.replace("{expression}", OF_EXAMPLE[case.name]))
    return made


def result_count(case):
    """How many results `bench` has, as its declaration says."""
    return 2 if case.name in OF_EXAMPLE else len(results(case))


# ---- programs with limits ----

@dataclass
class Limited:
    """A program with the size at which a run takes about a second, and a small one for `check`, for which so many
    MB must suffice."""
    name: str
    n: int
    small: int
    suffices: int
    variant: str = ""
    title: str = ""

    def label(self):
        return self.title or self.name


LIMITED = [
    Limited("barnes-hut-example", 100_000, 10_000, 12, title="Barnes-Hut, examples/"),
    Limited("all-pairs", 10_000, 1000, 12, title="all_pairs, examples/"),
    Limited("random-sums", 100_000, 10_000, 12),
    Limited("matrix-product", 600 ** 2, 300 ** 2, 12),
    Limited("odd-even-transposition", 2 ** 20, 2 ** 19, 16),
    Limited("bitonic-sort", 2 ** 22, 2 ** 21, 70),
    Limited("vsort", 2 ** 21, 2 ** 20, 45),
    Limited("ragged-sort", 10 ** 7, 2 * 10 ** 6, 30, "power law"),
    Limited("ragged-unique", 4 * 10 ** 6, 10 ** 6, 30, "power law"),
    Limited("ragged-top", 4 * 10 ** 6, 10 ** 6, 12, "power law"),
    Limited("edit-distance", 100_000, 20_000, 22, "8 letters"),
    Limited("quicksort", 10 ** 6, 10 ** 6, 70, "distinct"),
    Limited("quickhull", 5 * 10 ** 6, 10 ** 6, 70, "disc"),
    Limited("suffix-array", 10 ** 6, 200_000, 22, "prose"),
    Limited("k-means", 10 ** 6, 500_000, 45),
]


# ---- rows with targets ----

@dataclass
class Wanted:
    """A row of the table of targets. A target that is None is not wanted."""
    name: str
    n: int
    variant: str = ""
    title: str = ""
    memory: Optional[int] = None     # most bytes of vectors,
    inputs: Optional[float] = None   # or so many times the arguments'
    cut: Optional[float] = None      # time, cut over uncut
    c: Optional[float] = None        # time, over OpenMP C's

    def label(self):
        words = [self.title or self.name, f"{self.n:,}", self.variant]
        return ", ".join(filter(None, words))

    def most(self, argument_bytes):
        return self.memory or (self.inputs and self.inputs * argument_bytes)


TARGETS = [
    Wanted("barnes-hut-example", 100_000, title="Barnes-Hut, examples/", memory=150 * MB, cut=1.05),
    Wanted("all-pairs", 10_000, title="all_pairs, examples/", memory=30 * MB, c=2.0),
    Wanted("matrix-product", 2000 ** 2, memory=150 * MB, c=3.0),
    Wanted("odd-even-transposition", 2 ** 20, c=3.0),
    Wanted("bitonic-sort", 2 ** 20, c=2.0),
    Wanted("vsort", 2 ** 20, c=3.0),
    *(Wanted(name, 4 * 10 ** 6, shape, memory=100 * MB, cut=1 / 1.5 if shape == "0 to 20" else None)
      for name in ("ragged-sort", "ragged-unique", "ragged-top") for shape in ("power law", "0 to 20")),
    Wanted("edit-distance", 100_000, "8 letters", memory=100 * MB, cut=1 / 1.5),
    Wanted("edit-distance", 100_000, "40 letters", memory=100 * MB, cut=1 / 1.5),
    Wanted("quicksort", 10 ** 6, "distinct", inputs=6, cut=1.05),
    Wanted("quickhull", 5 * 10 ** 6, "square", inputs=6, cut=1.05),
    Wanted("suffix-array", 10 ** 6, "prose", inputs=6 * 8, cut=1.05),   # a character is an INT in vectors
    Wanted("k-means", 10 ** 6, inputs=6, cut=1.05),
]


def data_of(row, case, n=None):
    """The arguments of a row, at its size or another."""
    return Data(case, row.variant, n or row.n)


def named(rows, names):
    """Those of these names, all for none; a name that is none of them is an error."""
    known = {row.name for row in rows}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise SystemExit(f"bench/memory: {unknown[0]} is none of {', '.join(sorted(known))}")
    return [row for row in rows if not names or row.name in names]
