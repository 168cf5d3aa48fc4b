"""Programs on points, boxes and triangles."""

import numpy

from case import Case

# ---- points


def even(n, rng):
    """In the unit square."""
    return rng.random((2, n))


def crowded(n, rng):
    """Around few middles, each with a spread of its own; two points may be very near each other."""
    middles = rng.random((30, 2))
    spread = 10 ** rng.uniform(-4, -1, 30)
    chosen = rng.integers(0, 30, n)
    return (middles[chosen] + rng.normal(0, 1, (n, 2)) * spread[chosen, None]).T.copy()


# ---- range queries


def rectangles(points_of, share):
    """n points, and as many rectangles around a tenth of them: of so many points on average, wide or high."""
    def make(n, rng):
        xs, ys = points_of(n, rng)
        at = rng.integers(0, max(n, 1), n // 10 + 1) if n else numpy.zeros(0, int)
        side = (share / max(n, 1)) ** 0.5 * rng.exponential(0.5, len(at))
        stretch = 2 ** rng.normal(0, 1, len(at))
        return [xs, ys, xs[at] - side * stretch, xs[at] + side * stretch, ys[at] - side / stretch,
                ys[at] + side / stretch]
    return make


def points_inside(arguments):
    xs, ys, *sides = arguments
    found = [numpy.flatnonzero((xs >= left) & (xs <= right) & (ys >= bottom) & (ys <= top))
             for left, right, bottom, top in zip(*sides)]
    return [numpy.concatenate([numpy.zeros(0, int), *found]), numpy.array([len(f) for f in found], int)]


# ---- nearest neighbours


def with_k(points_of, k):
    return lambda n, rng: [*points_of(n, rng), k]


def neighbours(arguments):
    """Of each point k others, or all where there are fewer: squares of distances and numbers, ascending."""
    xs, ys, k = arguments
    k = min(k, len(xs) - 1)
    if len(xs) < 2:
        return [numpy.zeros(0), numpy.zeros(0, int)]
    squares = (xs[:, None] - xs) ** 2 + (ys[:, None] - ys) ** 2
    numpy.fill_diagonal(squares, numpy.inf)
    names = numpy.argsort(squares, axis=1, kind="stable")[:, :k]
    return [numpy.take_along_axis(squares, names, 1).ravel(), names.ravel()]


CASES = [
    Case("range-queries", "Points in rectangles", "beyond",
         sizes=[10**3, 10**4, 10**5, 10**6], test_sizes=[0, 1, 2, 10, 2000],
         make=rectangles(even, 40),
         variants={"even": rectangles(even, 40), "crowded": rectangles(crowded, 0.05)},
         reference=points_inside, unit="points"),
    Case("nearest-neighbours", "Eight nearest neighbours", "beyond",
         sizes=[10**3, 10**4, 10**5, 4 * 10**5], test_sizes=[0, 1, 2, 10, 1000],
         make=with_k(even, 8), variants={"even": with_k(even, 8), "crowded": with_k(crowded, 8)},
         reference=neighbours, unit="points"),
]
