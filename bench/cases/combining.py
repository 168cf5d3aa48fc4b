"""Reductions, scans and scatters by functions of the program's own."""

import numpy

from case import Case, streamed


def bins(count):
    """n numbers below a count, or below n if that is less."""
    def make(n, rng):
        below = max(1, min(count, n))
        return [rng.integers(0, below, n), below]
    return make


def grouped(count):
    def make(n, rng):
        groups, below = bins(count)(n, rng)
        return [rng.random(n), groups, below]
    return make


COUNTS = (100, 10_000, 1_000_000)
BINS = {f"{count:,} bins": bins(count) for count in COUNTS}
GROUPS = {f"{count:,} groups": grouped(count) for count in COUNTS}


def greatest(a):
    if len(a[0]) == 0:
        return [numpy.zeros(1), numpy.array([-1])]
    at = int(numpy.argmax(a[0]))
    return [a[0][at], at]


def damped(n, rng):
    return [rng.random(n), rng.standard_normal(n)]


def recurred(a):
    y, out = 0.0, numpy.empty(len(a[0]))
    for i, (factor, term) in enumerate(zip(a[0].tolist(), a[1].tolist())):
        y = factor * y + term
        out[i] = y
    return [out]


CASES = [
    Case("bin-counts", "Counts of bins", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 7, 5000],
         make=BINS["100 bins"], variants=BINS,
         reference=lambda a: [numpy.bincount(a[0], minlength=a[1])]),
    Case("group-sums", "Sums of groups", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 7, 5000],
         make=GROUPS["100 groups"], variants=GROUPS,
         reference=lambda a: [numpy.bincount(a[1], weights=a[0], minlength=a[2])],
         remark="Sums are in the order of positions, in one tree, whatever the threads: elements are first "
                "sorted by group."),
    Case("argmax", "Greatest value and its position", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 7, 5000],
         make=lambda n, rng: [rng.standard_normal(n)], reference=greatest,
         streams=lambda n, a: streamed([8 * n])),
    Case("recurrence", "Linear recurrence", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 7, 5000],
         make=damped, reference=recurred, tolerance=1e-7,
         streams=lambda n, a: streamed([8 * n, 8 * n], [8 * n])),
]
