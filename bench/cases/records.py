"""Programs on records of different lengths: logs, documents, features of rows, events."""

import math

import numpy

from case import Case

# ---- sessions of a log

GAP = 1800   # seconds


def log(users_of):
    """n events of 30 days: sessions of some eight events, two minutes apart, of users that users_of(count,
    n, rng) draws. In the order in which the servers write them, up to ten seconds wrong."""
    def make(n, rng):
        lengths = rng.geometric(1 / 8, n // 8 + 1)
        users = numpy.repeat(users_of(len(lengths), n, rng), lengths)
        starts = numpy.repeat(rng.integers(0, 30 * 86400, len(lengths)), lengths)
        waits = rng.exponential(120, len(users)).astype(numpy.int64)
        begins = numpy.cumsum(lengths) - lengths
        passed = numpy.cumsum(waits)
        times = starts + passed - numpy.repeat(passed[begins], lengths)
        chosen = rng.permutation(len(users))[:n]
        order = chosen[numpy.argsort(times[chosen] + rng.integers(0, 10, len(chosen)))]
        return [users[order], times[order], GAP]
    return make


def visitors(count, n, rng):
    """As numbers without order: most come once or twice, a few come daily."""
    return 1_000_003 * (rng.zipf(1.5, count) % (n // 10 + 1))


def robots(count, n, rng):
    """Four of them."""
    return rng.integers(0, 4, count)


def divided_log(arguments):
    users, times, gap = arguments
    found = []
    for user, time in sorted(zip(users.tolist(), times.tolist())):
        if not found or found[-1][0] != user or time > found[-1][2] + gap:
            found.append([user, time, time, 0])
        found[-1][2] = time
        found[-1][3] += 1
    return [numpy.array([session[k] for session in found], dtype=numpy.int64) for k in range(4)]


# ---- decision trees


def tree(rng, width, deepest):
    """Features, bounds and left children of a tree: half of the nodes at each level are split again."""
    features, bounds, lefts = [], [], []
    level = 1
    for depth in range(deepest + 1):
        splits = rng.random(level) < (0 if depth == deepest else 1 if depth < 3 else 0.8)
        begin = len(features) + level
        features += numpy.where(splits, rng.integers(0, width, level), -1).tolist()
        bounds += rng.normal(0, 1, level).tolist()
        lefts += numpy.where(splits, begin + 2 * (numpy.cumsum(splits) - splits), 0).tolist()
        level = 2 * int(splits.sum())
    return features, bounds, lefts


def forest(trees, deepest, width, mean):
    """n rows of about so many of the features, a few of nearly all."""
    def make(n, rng):
        nodes, roots = [[], [], []], []
        for _ in range(trees):
            begin = len(nodes[0])
            features, bounds, lefts = tree(rng, width, deepest)
            roots.append(begin)
            nodes[0] += features
            nodes[1] += bounds
            nodes[2] += [begin + left for left in lefts]
        share = numpy.minimum(rng.exponential(mean / width, n), 1)
        present = rng.random((n, width)) < share[:, None]
        rows, ids = numpy.nonzero(present)
        return [numpy.array(nodes[0]), numpy.array(nodes[1]), numpy.array(nodes[2]), numpy.array(roots), width,
                numpy.bincount(rows, minlength=n).astype(numpy.int64), ids, rng.normal(0, 1, len(ids))]
    return make


def predictions(arguments):
    features, bounds, lefts, roots, _, lengths, ids, xs = arguments
    sums, at = [], 0
    for length in lengths:
        row = dict(zip(ids[at:at + length].tolist(), xs[at:at + length].tolist()))
        at += length
        total = 0.0
        for i in roots:
            while features[i] >= 0:
                i = lefts[i] + (row.get(features[i], -numpy.inf) >= bounds[i])
            total += bounds[i]
        sums.append(total)
    return [numpy.array(sums, dtype=float)]


# ---- jets


def collisions(mean):
    """n events of so many particles on average: half of them in a few jets, the others anywhere."""
    def make(n, rng):
        lengths = rng.poisson(mean * rng.exponential(1, n))
        count = int(lengths.sum())
        event = numpy.repeat(numpy.arange(n), lengths)
        middles, hardness = rng.uniform([-4, 0], [4, 2 * numpy.pi], (n, 4, 2)), rng.exponential(1, (n, 4))
        jet, inside = rng.integers(0, 4, count), rng.random(count) < 0.5
        places = middles[event, jet] + rng.normal(0, 0.15, (count, 2))
        places = numpy.where(inside[:, None], places, rng.uniform([-4, 0], [4, 2 * numpy.pi], (count, 2)))
        pts = 0.2 + rng.exponential(numpy.where(inside, 10 * hardness[event, jet], 1))
        return [pts, places[:, 0].copy(), places[:, 1] % (2 * numpy.pi), lengths, 0.4]
    return make


def merged(a, b):
    if a[0] < b[0]:
        a, b = b, a
    turn = -2 * math.pi if b[2] - a[2] > math.pi else 2 * math.pi if a[2] - b[2] > math.pi else 0
    pt = a[0] + b[0]
    return pt, (a[0] * a[1] + b[0] * b[1]) / pt, (a[0] * a[2] + b[0] * (b[2] + turn)) / pt % (2 * math.pi)


def jets_of(particles, radius):
    """By the definition: all distances in each round."""
    found = []
    while particles:
        pts, ys, phis = numpy.array(particles).T
        around = abs(phis[:, None] - phis)
        around = numpy.minimum(around, 2 * math.pi - around)
        squares = ((ys[:, None] - ys) ** 2 + around ** 2) * numpy.minimum(pts[:, None] ** -2.0, pts ** -2.0)
        numpy.fill_diagonal(squares, radius ** 2 * pts ** -2.0)
        i, j = sorted(numpy.unravel_index(numpy.argmin(squares), squares.shape))
        a, b = particles[i], particles.pop(j)
        if i == j:
            found.append(a)
        else:
            particles[i] = merged(a, b)
    return found


def jets(arguments):
    *columns, lengths, radius = arguments
    ends = numpy.cumsum(lengths)
    particles = list(zip(*(c.tolist() for c in columns)))
    found = [jets_of(particles[e - k:e], radius) for e, k in zip(ends, lengths)]
    flat = numpy.array([jet for event in found for jet in event]).reshape(-1, 3)
    return [numpy.array([len(event) for event in found], int), *flat.T]


CASES = [
    Case("sessions", "Sessions of a log", "beyond",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[0, 1, 2, 100, 3000],
         make=log(visitors), variants={"visitors": log(visitors), "robots": log(robots)},
         reference=divided_log, unit="events"),
    Case("decision-trees", "Decision trees of ragged rows", "beyond",
         sizes=[10**3, 10**4, 10**5, 2 * 10**5], test_sizes=[0, 1, 2, 300],
         make=forest(50, 8, 100, 20),
         variants={"50 trees": forest(50, 8, 100, 20), "deep trees": forest(8, 14, 100, 20)},
         reference=predictions, unit="rows"),
    Case("anti-kt", "Jets by anti-kt", "beyond",
         sizes=[10, 10**2, 10**3, 5 * 10**3], test_sizes=[0, 1, 2, 30],
         make=collisions(60), variants={"60 particles": collisions(60), "200 particles": collisions(200)},
         reference=jets, unit="events"),
]
