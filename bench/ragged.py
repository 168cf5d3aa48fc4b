"""Ragged data for bench/python: lists of three shapes, and the same operations on them in each library.

A system is a table of functions of `Lists`: what is outside of the lambda that each
returns is prepared, what is inside is timed. Those that are not installed are missing.
"""

import importlib

import numpy as np

# ---- the data: ten million doubles in lists, or lists for combinations ----

ELEMENTS = 10_000_000
SHAPES = {"short": "2M lists of about 5", "long": "1K lists of about 10K",
          "power": "power-law lengths"}


def lengths(shape, elements, random):
    """About as many elements, in lists of a shape."""
    if shape == "short":
        return random.poisson(5, elements // 5)
    if shape == "long":
        return random.poisson(10_000, max(elements // 10_000, 1))
    found = np.minimum(random.pareto(1.2, elements // 3) + 1, elements // 10).astype(np.int64)
    return found[:np.searchsorted(np.cumsum(found), elements)]


class Lists:
    """Offsets and content, and the same as each library has them, made when first asked for."""

    def __init__(self, shape, elements=ELEMENTS, most=None):
        random = np.random.default_rng(1)
        counts = lengths(shape, elements, random)
        if most is not None:
            counts = np.minimum(counts, most)
        self.offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=self.offsets[1:])
        self.content = random.random(self.offsets[-1])
        self._made = {}

    def of(self, library, make):
        """What `make` makes of this, once for each library."""
        if library not in self._made:
            self._made[library] = make(self)
        return self._made[library]


# ---- systems, on their own form of the data and to their own result ----

OPERATIONS = ("sum", "sort", "filter", "pairs", "quicksort")
QUICKSORT = """
function quicksort(v) =
  if #v < 2 then v
  else
    let p = v[#v / 2];
        parts = {quicksort(r) : r in [{x in v | x < p}, {x in v | x > p}]}
    in parts[0] ++ {x in v | x == p} ++ parts[1];
function pairs(v) = sum({let a = v[i] in sum({a * b : b in drop(v, i + 1)}) : i in [0:#v]});
"""


def as_awkward(lists):
    ak = importlib.import_module("awkward")
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(lists.offsets),
                                                ak.contents.NumpyArray(lists.content)))


def ravel():
    """From an Awkward array to one, import and export included."""
    importlib.import_module("awkward")
    rv = importlib.import_module("ravel")
    module = rv.define(QUICKSORT)

    def timed(run):
        return lambda lists: (lambda data=lists.of("awkward", as_awkward): run(data))

    return {
        "sum": timed(lambda xs: np.asarray(rv.eval("{sum(r) : r in xs}", xs=xs))),
        "sort": timed(lambda xs: rv.eval("{sort(r) : r in xs}", xs=xs).to_awkward()),
        "filter": timed(lambda xs: rv.eval("{{x in r | x > 0.5} : r in xs}",
                                           xs=xs).to_awkward()),
        "pairs": timed(lambda xs: np.asarray(rv.map(module.pairs, xs))),
        "quicksort": timed(lambda xs: rv.map(module.quicksort, xs).to_awkward()),
    }


def awkward():
    """Its own functions."""
    ak = importlib.import_module("awkward")

    def timed(run):
        return lambda lists: (lambda data=lists.of("awkward", as_awkward): run(data))

    def pairs(xs):
        left, right = ak.unzip(ak.combinations(xs, 2))
        return ak.sum(left * right, axis=1)
    return {"sum": timed(lambda xs: ak.sum(xs, axis=1)),
            "sort": timed(lambda xs: ak.sort(xs, axis=1)),
            "filter": timed(lambda xs: xs[xs > 0.5]), "pairs": timed(pairs)}


def polars():
    """Its namespace of lists."""
    pl = importlib.import_module("polars")
    pa = importlib.import_module("pyarrow")

    def series(lists):
        return pl.Series(pa.LargeListArray.from_arrays(lists.offsets, lists.content))

    def timed(run):
        return lambda lists: (lambda data=lists.of("polars", series): run(data))
    return {"sum": timed(lambda xs: xs.list.sum()), "sort": timed(lambda xs: xs.list.sort()),
            "filter": timed(lambda xs: xs.list.eval(pl.element().filter(pl.element() > 0.5)))}


def numpy():
    """On offsets and content."""
    def sums(offsets, content):
        total = np.zeros(len(offsets) - 1)
        some = np.flatnonzero(np.diff(offsets))
        total[some] = np.add.reduceat(content, offsets[:-1][some])
        return total

    def sort(offsets, content):
        rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return content[np.lexsort((content, rows))]

    def select(offsets, content):
        keep = content > 0.5
        before = np.zeros(len(content) + 1, np.int64)
        np.cumsum(keep, out=before[1:])
        return before[offsets], content[keep]

    def timed(run):
        return lambda lists: (lambda: run(lists.offsets, lists.content))
    return {"sum": timed(sums), "sort": timed(sort), "filter": timed(select)}


def numba():
    """Loops by hand, parallel over lists. They are compiled before they are timed."""
    loops = importlib.import_module("ragged_loops")

    def timed(run):
        return lambda lists: (lambda: run(lists.offsets, lists.content))
    return {name: timed(getattr(loops, name)) for name in OPERATIONS}


SYSTEMS = {"ravel": ravel, "awkward": awkward, "polars": polars, "numpy": numpy, "numba": numba}


def installed():
    """The systems that there are, and a line about each that there is not."""
    found, missing = {}, []
    for name, make in SYSTEMS.items():
        try:
            found[name] = make()
        except ImportError as error:
            missing.append(f"SKIPPED {name}: {error}")
    return found, missing


def plain(result):
    """A result as content, or (offsets, content), for comparison."""
    if type(result).__module__.split(".")[0] == "awkward":
        layout = importlib.import_module("awkward").to_packed(result).layout
        if hasattr(layout, "offsets"):
            return np.asarray(layout.content.data)
        return np.asarray(layout.data)
    if type(result).__module__.split(".")[0] == "polars":
        return np.asarray(result.explode().drop_nulls() if result.dtype.is_nested() else result)
    return result[-1] if isinstance(result, tuple) else np.asarray(result)
