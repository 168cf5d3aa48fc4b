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


# ---- rays and triangles


def terrain(n, rng):
    """Two triangles for each cell of a square of heights."""
    side = max(int((n / 2) ** 0.5), 1 if n >= 2 else 0)
    xs, ys = numpy.meshgrid(*[numpy.arange(side + 1) / max(side, 1)] * 2, indexing="ij")
    rough = rng.normal(0, 0.3 / max(side, 1), xs.shape)
    points = numpy.stack([xs, ys, 0.1 * numpy.sin(9 * xs) * numpy.cos(7 * ys) + rough], axis=2)
    a, b, c, d = points[:-1, :-1], points[1:, :-1], points[:-1, 1:], points[1:, 1:]
    return numpy.stack([a, b, c, b, d, c], axis=2).reshape(-1)


def splinters(n, rng):
    """Small triangles anywhere in the unit cube."""
    middles = rng.random((n, 1, 3))
    return (middles + rng.normal(0, 0.5 * max(n, 1) ** (-1 / 3), (n, 3, 3))).ravel()


def rays(triangles_of):
    """n triangles, and as many rays, from above to points in the unit square."""
    def make(n, rng):
        corners = triangles_of(n, rng)
        begins = rng.uniform([-1, -1, 2], [2, 2, 3], (n, 3))
        ends = rng.uniform([0, 0, 0], [1, 1, 0.01], (n, 3))
        return [corners, numpy.concatenate([begins, ends - begins], axis=1).ravel()]
    return make


def first_hits(arguments):
    """By planes: all triangles, and where each ray meets their planes, in coordinates of their sides."""
    corners, ends = arguments[0].reshape(-1, 3, 3), arguments[1].reshape(-1, 2, 3)
    distances, names = numpy.full(len(ends), numpy.inf), numpy.full(len(ends), -1)
    a, side, other = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = numpy.cross(side, other)
    for k, (begin, direction) in enumerate(ends):
        if not len(a):
            break
        t = ((a - begin) * normal).sum(1) / (normal @ direction)
        at = begin + t[:, None] * direction - a
        square = (normal ** 2).sum(1)
        u, v = ((numpy.cross(x, y) * normal).sum(1) / square for x, y in ((at, other), (side, at)))
        t = numpy.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0), t, numpy.inf)
        if numpy.isfinite(t).any():
            distances[k], names[k] = t.min(), t.argmin()
    return [distances, names]


# ---- Delaunay triangulation


def fine(points):
    """Multiples of 2^-40: exact as ints, too, and no four of random ones on a circle."""
    return numpy.round(points * 2.0**40) / 2.0**40


def grid(n, rng):
    """Points of a grid in the unit square, moved by up to a tenth of their distance, in random order."""
    side = max(int(numpy.ceil(n ** 0.5)), 1)
    at = rng.permutation(side * side)[:n]
    return (numpy.stack([at % side, at // side]) + rng.uniform(-0.1, 0.1, (2, n))) / side


def points(points_of):
    return lambda n, rng: list(fine(points_of(n, rng)))


def left_of_edges(edges, xs, ys, p):
    """Whether p is to the left of each edge; as ints, exactly."""
    (a, b) = edges
    return (xs[b] - xs[a]) * (ys[p] - ys[a]) - (ys[b] - ys[a]) * (xs[p] - xs[a]) > 0


def in_circles(corners, xs, ys, p):
    """Whether p is in the circle around each triangle, counterclockwise; as ints, exactly."""
    x, y = xs[corners] - xs[p], ys[corners] - ys[p]
    z = x * x + y * y
    return (x[0] * (y[1] * z[2] - z[1] * y[2]) - y[0] * (x[1] * z[2] - z[1] * x[2])
            + z[0] * (x[1] * y[2] - y[1] * x[2])) > 0


def with_point(triangles, xs, ys, p):
    """Bowyer and Watson, 1981: what contains p in its circle becomes triangles with p. The last corner
    of a triangle outside is -1: it is the half-plane to the left of the other two."""
    inside = triangles[2] >= 0
    bad = numpy.zeros(len(inside), bool)
    bad[inside] = in_circles(triangles[:, inside], xs, ys, p)
    bad[~inside] = left_of_edges(triangles[:2, ~inside], xs, ys, p)
    sides = {(a, b) for t in triangles[:, bad].T.tolist() for a, b in zip(t, t[1:] + t[:1])}
    new = [(a, b, p) if a >= 0 and b >= 0 else (b, p, -1) if a < 0 else (p, a, -1)
           for a, b in sides if (b, a) not in sides]
    return numpy.concatenate([triangles[:, ~bad], numpy.array(new).T], axis=1)


def triangulated(xs, ys):
    """All points, one after the other, by ints: triangles, a column each, of numbers of points."""
    xs, ys = ([int(c * 2**40) for c in cs] for cs in (xs, ys))
    xs, ys = numpy.array(xs, dtype=object), numpy.array(ys, dtype=object)
    if len(xs) < 3:
        return numpy.zeros((3, 0), int)
    a, b = (0, 1) if left_of_edges(([0], [1]), xs, ys, 2)[0] else (1, 0)
    triangles = numpy.array([(a, b, 2), (b, a, -1), (2, b, -1), (a, 2, -1)]).T
    for p in range(3, len(xs)):
        triangles = with_point(triangles, xs, ys, p)
    return triangles[:, triangles[2] >= 0]


def number_and_hash(arguments):
    """Of all triangles: how many there are, and the sum of a mix of the numbers of their points."""
    total, found = 0, numpy.sort(triangulated(*arguments), axis=0).T.tolist()
    for a, b, c in found:
        x = (a * 1000003 + b) * 1000003 + c
        total += (x ^ x >> 29) * 0x1E3779B97F4A7C15
    return [numpy.array([len(found)]), numpy.array([(total + 2**63) % 2**64 - 2**63])]


CASES = [
    Case("range-queries", "Points in rectangles", "beyond",
         sizes=[10**3, 10**4, 10**5, 10**6], test_sizes=[0, 1, 2, 10, 2000],
         make=rectangles(even, 40),
         variants={"even": rectangles(even, 40), "crowded": rectangles(crowded, 0.05)},
         reference=points_inside, unit="points"),
    Case("ray-casting", "Rays and triangles", "beyond",
         sizes=[10**2, 10**3, 10**4, 5 * 10**4], test_sizes=[0, 1, 2, 10, 1000],
         make=rays(terrain), variants={"terrain": rays(terrain), "splinters": rays(splinters)},
         reference=first_hits, unit="triangles"),
    Case("nearest-neighbours", "Eight nearest neighbours", "beyond",
         sizes=[10**3, 10**4, 10**5, 2 * 10**5], test_sizes=[0, 1, 2, 10, 1000],
         make=with_k(even, 8), variants={"even": with_k(even, 8), "crowded": with_k(crowded, 8)},
         reference=neighbours, unit="points"),
    Case("delaunay", "Delaunay triangulation", "beyond",
         sizes=[10**3, 10**4, 10**5, 2 * 10**5], test_sizes=[0, 1, 2, 3, 10, 500],
         make=points(even),
         variants={"even": points(even), "crowded": points(crowded), "grid": points(grid)},
         reference=number_and_hash, unit="points"),
]
