"""Programs of options, matrices, bodies, points and pictures: most have nesting in them."""

import math

import numpy

from case import Case, streamed

# ---- Black-Scholes: the ranges of the samples of NVIDIA's SDK ----


def contracts(n, rng):
    return [rng.uniform(5, 30, n), rng.uniform(1, 100, n), rng.uniform(0.25, 10, n), 0.02, 0.3]


def black_scholes(arguments):
    """The formula of the program, with its approximation of the normal distribution."""
    prices, strikes, years, rate, volatility = arguments

    def below(d):
        k = 1 / (1 + 0.2316419 * abs(d))
        series = numpy.polynomial.Polynomial(
            [0, 0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429])(k)
        return numpy.where(d > 0, 1 - series * density(d), series * density(d))

    def density(d):
        return numpy.exp(-d ** 2 / 2) / math.sqrt(2 * math.pi)

    d1 = ((numpy.log(prices / strikes) + (rate + volatility ** 2 / 2) * years)
          / (volatility * numpy.sqrt(years)))
    n1, n2 = below(d1), below(d1 - volatility * numpy.sqrt(years))
    calls = prices * n1 - strikes * numpy.exp(-rate * years) * n2
    return [calls, calls - prices + strikes * numpy.exp(-rate * years)]


def black_scholes_check(arguments, results):
    """The prices against those with the normal distribution itself."""
    if len(arguments[0]) > 10**5:
        return None
    rate, volatility = arguments[3:]
    for price, strike, years, call in zip(*arguments[:3], results[0]):
        spread = volatility * math.sqrt(years)
        d1 = (math.log(price / strike) + (rate + volatility ** 2 / 2) * years) / spread
        n1, n2 = (math.erfc(-d / math.sqrt(2)) / 2 for d in (d1, d1 - spread))
        right = price * n1 - strike * math.exp(-rate * years) * n2
        if abs(call - right) > 1e-7 * (price + strike):
            return f"a call is priced {call} instead of {right}"
    return None


# ---- Sparse matrices with the row lengths of Table 3 of the Accelerate paper ----
#
# name: values at full size, columns in a row on average, their standard deviation, and how they
# lie: "band" near the diagonal, as in finite elements; "even" anywhere; "skew" anywhere, a few
# columns and a few rows having very many. The paper gives the first two; the deviations are of
# the kind of problem, and the matrices are generated at any size. All are square but LP's.
MATRICES = {
    "dense": (4.0e6, 2000, 0, "dense"),
    "protein": (4.3e6, 119, 32, "band"),
    "fem-spheres": (6.0e6, 72, 19, "band"),
    "fem-cantilever": (4.0e6, 65, 14, "band"),
    "wind-tunnel": (11.6e6, 53, 5, "band"),
    "fem-harbour": (2.37e6, 50, 28, "band"),
    "qcd": (1.9e6, 39, 0, "band"),
    "fem-ship": (3.98e6, 28, 6, "band"),
    "economics": (1.27e6, 6, 4.4, "even"),
    "epidemiology": (1.27e6, 4, 0.3, "band"),
    "fem-accelerator": (2.62e6, 22, 14, "band"),
    "circuit": (0.959e6, 6, 4.4, "skew"),
    "webbase": (3.1e6, 3, 25, "skew"),
    "lp": (11.3e6, 2825, 4200, "skew"),
}


def row_lengths(rows, mean, deviation, rng):
    """Normally distributed where that makes positive lengths, else log-normally."""
    if deviation == 0:
        return numpy.full(rows, mean)
    if deviation < mean / 2:
        return numpy.maximum(1, numpy.rint(rng.normal(mean, deviation, rows))).astype(int)
    spread = math.log(1 + (deviation / mean) ** 2)
    lengths = rng.lognormal(math.log(mean) - spread / 2, math.sqrt(spread), rows)
    return numpy.minimum(numpy.rint(lengths), 1e6).astype(int)


def matrix(name):
    """make of a matrix with about n values, and no more than n; without values for n = 0."""
    _, mean, deviation, kind = MATRICES[name]

    def make(n, rng):
        per_row = min(mean, math.isqrt(n)) if kind == "dense" else mean
        rows = max(1, n // per_row) if n else 2
        lengths = row_lengths(rows, per_row, deviation, rng) if n else numpy.zeros(2, int)
        total = int(lengths.sum())
        columns = max(1, per_row) if kind == "dense" else 256 * rows if name == "lp" else rows
        row = numpy.repeat(numpy.arange(rows), lengths)
        if kind == "dense":
            column = numpy.tile(numpy.arange(columns), rows)[:total]
        elif kind == "band":
            column = numpy.clip(row + rng.integers(-2 * mean, 2 * mean + 1, total), 0, columns - 1)
        elif kind == "even":
            column = rng.integers(0, columns, total)
        else:
            column = (columns * rng.random(total) ** 3).astype(int)
        if kind != "dense":
            column = numpy.sort(row * columns + column) % columns
        return [lengths, column, rng.standard_normal(total), rng.standard_normal(columns)]
    return make


def sparse_matrix_vector(arguments):
    lengths, columns, values, x = arguments
    row = numpy.repeat(numpy.arange(len(lengths)), lengths)
    return [numpy.bincount(row, values * x[columns], len(lengths)).astype(float)]


def sparse_streams(n, arguments):
    lengths, columns, _, x = arguments
    return streamed([8 * len(columns), 8 * len(columns), 8 * len(lengths), 8 * len(x)],
                    [8 * len(lengths)])


def rows_of_matrix(arguments):
    lengths, columns, *_ = arguments
    return {"rows": len(lengths), "values": len(columns), "row_deviation": float(lengths.std())}


# ---- Bodies that pull each other ----


def bodies(dimensions):
    def make(n, rng):
        return [*(rng.random(n) for _ in range(dimensions)), rng.uniform(0.5, 1.5, n)]
    return make


def all_pairs(positions, masses, softening):
    """The accelerations, a component for each of the positions, in blocks of rows."""
    positions = numpy.array(positions)
    parts = []
    for first in range(0, positions.shape[1], 512):
        difference = positions[:, None, :] - positions[:, first:first + 512, None]
        squares = (difference ** 2).sum(0) + softening
        parts.append((difference * (masses / squares ** 1.5)).sum(2))
    return list(numpy.concatenate(parts, 1)) if parts else [numpy.zeros(0)] * len(positions)


def step(dimensions):
    """make of bodies with small velocities, with the opening and the length of a time step."""
    def make(n, rng):
        return [*bodies(dimensions)(n, rng), *(0.01 * rng.standard_normal((dimensions, n))),
                0.5, 0.001]
    return make


def clustered(dimensions):
    """Most bodies are in clusters of very different density: the tree is deep there."""
    def make(n, rng):
        made = step(dimensions)(n, rng)
        middles = rng.random((dimensions, 8))
        cluster = rng.integers(0, 8, n)
        radius = 0.3 * rng.random(n) ** 4
        away = rng.standard_normal((dimensions, n))
        away /= numpy.sqrt((away ** 2).sum(0)) if n else 1
        return [*(middles[:, cluster] + radius * away), *made[dimensions:]]
    return make


def step_check(dimensions):
    """The pulls computed from velocities, against those of all pairs; and the moved positions."""
    def check(arguments, results):
        if not 0 < len(arguments[0]) <= 5000:
            return None
        positions, masses = arguments[:dimensions], arguments[dimensions]
        velocities, dt = arguments[dimensions + 1:-2], arguments[-1]
        exact = numpy.array(all_pairs(positions, masses, 1e-6))
        found = (numpy.array(results[dimensions:]) - velocities) / dt
        error = numpy.sqrt(((found - exact) ** 2).mean())
        if error > 0.01 * numpy.sqrt((exact ** 2).mean()) + 1e-9:
            return f"pulls are off by {error:.3g} on average"
        moved = numpy.array(positions) + dt * numpy.array(results[dimensions:])
        if abs(moved - results[:dimensions]).max(initial=0) > 1e-9:
            return "bodies are not where their velocities take them"
        return None
    return check


# ---- Points whose hull is wanted ----


def square(n, rng):
    return [rng.random(n), rng.random(n)]


def disc(n, rng):
    """Evenly in a disc: about 3.4 times the cube root of n are on the hull."""
    angle, radius = 2 * math.pi * rng.random(n), numpy.sqrt(rng.random(n))
    return [radius * numpy.cos(angle), radius * numpy.sin(angle)]


def circle(n, rng):
    """On a circle: all points are on the hull."""
    angle = 2 * math.pi * rng.random(n)
    return [numpy.cos(angle), numpy.sin(angle)]


def hull(arguments):
    """Clockwise from the leftmost point, by Andrew's algorithm (1979)."""
    points = sorted(zip(*arguments))

    def half(ordered):
        done = []
        for x, y in ordered:
            while len(done) > 1:
                (ax, ay), (bx, by) = done[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) < 0:
                    break
                done.pop()
            done.append((x, y))
        return done[:-1]

    around = half(points) + half(points[::-1]) if len(points) > 1 else points
    return [numpy.array([p[k] for p in around]) for k in range(2)]


# ---- Pictures ----


def picture(n, rng):
    """Discs of many colours, one upon the other, each with some noise: n by n pixels."""
    red, green, blue = (rng.integers(60, 120, (n, n)) for _ in range(3))
    for _ in range(40 if n else 0):
        middle, radius = rng.random(2) * n, (0.02 + 0.15 * rng.random()) * n
        top, left = (max(0, int(m - radius)) for m in middle)
        bottom, right = (int(m + radius) + 1 for m in middle)
        part = (slice(top, bottom), slice(left, right))
        i, j = numpy.ogrid[top:min(bottom, n), left:min(right, n)]
        within = (i - middle[0]) ** 2 + (j - middle[1]) ** 2 < radius ** 2
        for plane in (red, green, blue):
            plane[part][within] = rng.integers(0, 240) + rng.integers(0, 12, within.sum())
    return [(red << 16 | green << 8 | blue).ravel(), n, 60.0, 160.0]


def edges(arguments):
    """Canny on tables of two dimensions. All numbers are sums of powers of two: exact."""
    pixels, width, low, high = arguments
    grey = numpy.zeros(len(pixels))
    for share, byte in ((77, 16), (150, 8), (29, 0)):
        grey += share / 256 * ((pixels >> byte) % 256)
    if width < 9 or len(pixels) < 9 * width:
        return [grey < 0]
    kernel = numpy.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256
    smooth = stencil(grey.reshape(-1, width), kernel)
    sobel = numpy.outer([1, 2, 1], [-1, 0, 1])
    gx, gy = stencil(smooth, sobel), stencil(smooth, sobel.T)
    steep = abs(gx) + abs(gy)
    inner = slice(1, -1), slice(1, -1)
    with numpy.errstate(divide="ignore", invalid="ignore"):
        tangent = abs(gy[inner] / gx[inner])
    tangent[numpy.isnan(tangent)] = numpy.inf
    sign = numpy.sign(gx * gy)[inner]
    way = numpy.select([tangent < 0.41421356, tangent > 2.41421356], [0, 1],
                       numpy.where(sign > 0, 2, 3))
    ridge = numpy.zeros(way.shape, bool)
    h, w = steep.shape
    for k, (i, j) in enumerate([(0, 1), (1, 0), (1, 1), (1, -1)]):
        before, behind = (steep[1 + s * i:h - 1 + s * i, 1 + s * j:w - 1 + s * j] for s in (-1, 1))
        ridge |= (way == k) & (steep[inner] > before) & (steep[inner] >= behind)
    some, found = (numpy.pad(ridge & (steep[inner] >= t), 5) for t in (low, high))
    while True:  # by one pixel more in each round
        wider = some[1:-1, 1:-1] & (stencil(found.astype(int), numpy.ones((3, 3), int)) > 0)
        if (wider == found[1:-1, 1:-1]).all():
            return [found[1:-1, 1:-1].ravel()]
        found = numpy.pad(wider, 1)


def stencil(table, kernel):
    """Where the kernel lies wholly within the table."""
    (h, w), (kh, kw) = table.shape, kernel.shape
    return sum(kernel[i, j] * table[i:h - kh + 1 + i, j:w - kw + 1 + j]
               for i in range(kh) for j in range(kw))


# ---- A fluid in a box ----


def fluid(n, rng):
    """Some drops in some whirls, in a box of n by n cells whose walls are 0."""
    i, j = numpy.mgrid[0:n, 0:n] / n
    density, u, v = (numpy.zeros((n, n)) for _ in range(3))
    for x, y, size, spin in zip(*rng.random((4, 12))):
        near = numpy.exp(-((i - y) ** 2 + (j - x) ** 2) / (0.002 + 0.02 * size))
        density += near
        u += 20 * (spin - 0.5) * n * near * (i - y)
        v -= 20 * (spin - 0.5) * n * near * (j - x)
    for field in (density, u, v):
        field[[0, -1]] = 0
        field[:, [0, -1]] = 0
    return [density.ravel(), u.ravel(), v.ravel(), n, 0.2, 0.5, 0.1]


def fluid_step(arguments):
    """With matrices for the neighbours, and with the hat functions that interpolate."""
    density, u, v, columns, dt, diffusion, viscosity = arguments
    n = len(density)
    row, column = numpy.divmod(numpy.arange(n), columns)
    inner = (row > 0) & (row < n // columns - 1) & (column > 0) & (column < columns - 1)

    def neighbour(away):
        return inner[:, None] * numpy.eye(n, k=away)

    around = sum(neighbour(k) for k in (1, -1, columns, -columns))

    def relax(x, x0, a, k):
        for _ in range(40):
            x = k * (inner * x0 + a * (around @ x))
        return x

    def project(u, v):
        across = (neighbour(1) - neighbour(-1)) / 2
        down = (neighbour(columns) - neighbour(-columns)) / 2
        pressure = relax(0 * u, -across @ u - down @ v, 1, 1 / 4)
        return u - across @ pressure, v - down @ pressure

    def advect(field, u, v):
        x = numpy.minimum(numpy.maximum(column - dt * u, 0.5), columns - 1.5)
        y = numpy.minimum(numpy.maximum(row - dt * v, 0.5), n // columns - 1.5)
        weights = (numpy.maximum(0, 1 - abs(x[:, None] - column))
                   * numpy.maximum(0, 1 - abs(y[:, None] - row)))
        return inner * (weights @ field)

    rate = viscosity * dt
    u, v = project(*(relax(w, w, rate, 1 / (1 + 4 * rate)) for w in (u, v)))
    u, v = project(advect(u, u, v), advect(v, u, v))
    rate = diffusion * dt
    return [advect(relax(density, density, rate, 1 / (1 + 4 * rate)), u, v), u, v]


# ---- Matrices of nested rows; sums of random numbers ----


def matrices(n, rng):
    side = int(round(n ** 0.5))
    return [rng.random(side * side), rng.random(side * side), side]


def product(arguments):
    a, b, side = arguments
    return [(a.reshape(side, side) @ b.reshape(side, side)).ravel()]


def sums_of_random(arguments, results):
    """Every sum is one that m numbers below 10 can have, and their mean is right within 6 sigma."""
    n, m = arguments
    sums = results[0]
    if len(sums) != n or (n and not (0 <= sums.min() and sums.max() <= 9 * m)):
        return f"{len(sums)} sums from {sums.min(initial=0)} to {sums.max(initial=0)}"
    sigma = (8.25 * m / n) ** 0.5 if n else 0
    if n and abs(sums.mean() - 4.5 * m) > 6 * sigma:
        return f"the mean of the sums is {sums.mean()}, not about {4.5 * m}"
    return None


def barnes_hut(name, title, dimensions, largest, memory, remark):
    return Case(name, title, "NESL/GPU",
                sizes=[750, 7500, 75000, largest], test_sizes=[0, 1, 2, 1000], unit="bodies",
                make=step(dimensions), check=step_check(dimensions), tolerance=1e-7,
                memory=lambda n: memory + 5000 * n,
                variants={"even": step(dimensions), "clustered": clustered(dimensions)},
                remark=remark)


CASES = [
    Case("black-scholes", "Black-Scholes", "NESL/GPU",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000],
         make=contracts, reference=black_scholes, check=black_scholes_check,
         unit="contracts",
         remark="The formula is one pass, bound by arithmetic. exp and log give the same bits "
                "everywhere and so use no fused multiply-add, as those of libmvec do; compiled, "
                "they also compute for every element what only unusual arguments need. "
                "Evaluated, each simple step loads and stores its strip."),
    Case("sparse-matrix-vector", "Sparse matrix times vector", "Accelerate",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[0, 1, 5000],
         make=matrix("protein"), reference=sparse_matrix_vector, streams=sparse_streams,
         unit="values", variants={name: matrix(name) for name in ["protein", *MATRICES]},
         facts=rows_of_matrix,
         remark="The check of the columns, the gather, the product and the sums of rows are steps "
                "over 512 values in the first-level cache each, in which memory is idle. Compiled, "
                "the gather is still a step of its own."),
    Case("n-body", "Bodies, all pairs", "Accelerate",
         sizes=[512, 2048, 8192, 32768], test_sizes=[0, 1, 2, 300],
         make=bodies(3), reference=lambda a: all_pairs(a[:3], a[3], 1e-4),
         unit="bodies", memory=lambda n: 10**8 + 1000 * n,
         remark="Differences, distance and pull are a few expressions over a strip, while the loop "
                "of C keeps all values in registers. So does the compiled one, but it also checks "
                "whether each root and quotient is defined."),
    Case("quickhull", "Convex hull", "NESL/GPU",
         sizes=[5 * 10**3, 5 * 10**4, 5 * 10**5, 5 * 10**6], test_sizes=[0, 1, 2, 3, 2000],
         make=square, reference=hull, tolerance=0.0,
         unit="points", variants={"square": square, "disc": disc, "circle": circle},
         remark="At the commit of this page a long call stayed with native code. That is mended: executed together "
                "five million points take 44 ms (`nesl --repeat 6`)."),
    barnes_hut("barnes-hut", "Barnes-Hut in the plane", 2, 750000, 2**28,
               "Each level writes a list of nodes for each body and gathers the nodes again; the "
               "pull of near nodes is computed, too, with a mass of 0. C has a stack in the cache. "
               "Where a leaf has thousands of bodies, the lists take most of the memory."),
    barnes_hut("barnes-hut-3d", "Barnes-Hut in space", 3, 200000, 2**29, "As in the plane."),
    Case("canny", "Canny edge detection", "Accelerate",
         sizes=[256, 512, 1024, 2048, 4096], test_sizes=[0, 1, 8, 9, 10, 100], make=picture,
         reference=edges,
         unit="pixels a side",
         remark="Each phase is a pass over memory, while C keeps a few rows of the picture in the "
                "cache from one phase to the next. Grades of edges are INTs, in C bytes."),
    Case("fluid-flow", "Fluid flow", "Accelerate",
         sizes=[64, 128, 256, 512, 1024, 1448], test_sizes=[3, 4, 10, 24], make=fluid,
         reference=fluid_step,
         unit="cells a side",
         remark="A round of the relaxation is five passes over memory, in C one: the neighbours on four sides are "
                "gathered into vectors, since a check stands between; the elements of the boundary are computed, too, "
                "and discarded."),
    Case("matrix-product", "Matrix product, nested rows", "beyond",
         sizes=[64**2, 200**2, 600**2, 2000**2], test_sizes=[1, 4, 15**2], make=matrices,
         reference=product,
         unit="elements"),
    Case("random-sums", "Sums of random numbers", "beyond", sizes=[10**3, 10**4, 10**5],
         test_sizes=[0, 1, 30], make=lambda n, rng: [n, 1000 if n > 100 else 7],
         check=sums_of_random, unit="sums"),
]
