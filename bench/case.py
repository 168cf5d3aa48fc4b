"""A benchmark program as the harness sees it: sizes, data, what is right.

`bench/cases/*.py` each hold a list CASES of these; `bench/programs/NAME.nesl` is the program, whose
function `bench` is called, and `bench/baselines/NAME.*` are the same in other systems.

Arguments are numpy arrays of one dimension (of bool, int64, float64 or uint8 for characters) and
Python scalars (int, float, bool); the results of `bench`, the parts of a tuple, likewise, a scalar
as an array of one element. Nested data go in flat, with an array of lengths beside them.
"""

import os
import sys
from dataclasses import dataclass
from typing import Callable, Optional

try:
    import numpy
except ImportError:
    # Distributions put numpy beside their own python, which need not be the first on the path.
    SYSTEM = "/usr/bin/python3"
    if os.path.realpath(sys.executable) != os.path.realpath(SYSTEM) and os.path.exists(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    sys.exit("bench: numpy is missing; scripts/setup --test installs it")


@dataclass
class Streams:
    """Sequential streams of so many bytes each, read and written once a pass."""
    reads: list
    writes: list
    passes: int = 1

    def bytes(self):
        return self.passes * (sum(self.reads) + sum(self.writes))


def streamed(reads, writes=(), passes=1):
    """Streams of so many bytes each."""
    return Streams([int(b) for b in reads], [int(b) for b in writes], passes)


@dataclass
class Case:
    name: str                    # of the files, e.g. "dot-product"
    title: str                   # for people, e.g. "Dot product"
    paper: str                   # "NESL/GPU", "Accelerate", "Obsidian", "Barracuda" or "beyond"
    sizes: list                  # n of a measurement, rising; at least four, over two decades
    test_sizes: list             # n of scripts/test: small, with the corner cases
    make: Callable               # make(n, rng) -> list of arguments; rng: numpy.random.Generator
    # reference(arguments) -> list of results, by an independent way (numpy, plain Python); or
    # None if there is `check` only. At test sizes at least; at large ones results are compared
    # with those of the plain C version.
    reference: Optional[Callable] = None
    # check(arguments, results) -> None, or a sentence saying what is wrong. For results that are
    # not unique (spanning trees), or cheaper to check than to compute.
    check: Optional[Callable] = None
    tolerance: float = 1e-9      # of floats, relative to the largest of the result; ints exact
    # streams(n, arguments) -> what a program whose time should be that of its memory reads and writes.
    streams: Optional[Callable] = None
    unit: str = "elements"       # what n counts
    memory: Optional[Callable] = None   # memory(n): most bytes of vectors, a promise of issue 6
    widths: str = "64"           # "64" (64/64), "classic" (32-bit int) or "32" (32/32)
    # Variants of the data, e.g. matrices: name -> make. The first is the one of the summaries.
    variants: Optional[dict] = None
    facts: Optional[Callable] = None   # facts(arguments) -> numbers by name, for tables of variants
    # One line: where the time goes and what would improve it; for those that do not meet their target
    # (targets.def).
    remark: str = ""


def rng(name, n):
    """The same data for a program and a size, on every machine."""
    return numpy.random.Generator(numpy.random.PCG64([n, *name.encode()]))


def relative_error(found, wanted):
    """The largest difference over the largest value; 0 for equal arrays, infinities included."""
    found, wanted = numpy.asarray(found, float), numpy.asarray(wanted, float)
    if found.shape != wanted.shape:
        return numpy.inf
    same = (found == wanted) | (numpy.isnan(found) & numpy.isnan(wanted))
    if same.all():
        return 0.0
    scale = numpy.abs(wanted[numpy.isfinite(wanted)]).max(initial=0.0) or 1.0
    with numpy.errstate(invalid="ignore"):
        errors = numpy.abs(found - wanted)[~same] / scale
    return float(numpy.nan_to_num(errors, nan=numpy.inf).max())


def wrong(found, wanted, tolerance):
    """None, or what is wrong with a list of results."""
    if len(found) != len(wanted):
        return f"{len(found)} results instead of {len(wanted)}"
    for k, (f, w) in enumerate(zip(found, wanted)):
        f, w = numpy.atleast_1d(f), numpy.atleast_1d(w)
        if f.shape != w.shape:
            return f"result {k} has {f.size} elements instead of {w.size}"
        if w.dtype.kind == "f":
            error = relative_error(f, w)
            if error > tolerance:
                at = int(numpy.argmax(~(numpy.abs(f.astype(float) - w) <= 0)))
                return f"result {k} is off by {error:.2e}, first at {at}: {f[at]} for {w[at]}"
        elif not numpy.array_equal(f, w):
            at = int(numpy.argmax(f != w))
            return f"result {k} at {at}: {f[at]} instead of {w[at]}"
    return None
