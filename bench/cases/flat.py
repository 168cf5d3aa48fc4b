"""Programs without nesting: maps, reductions, scans; stencils; Mandelbrot. And the
smallest one with nesting: sums of rows."""

import numpy

from case import Case, streamed

MIB = 1 << 20


def two_vectors(n, rng):
    return [rng.random(n), rng.random(n)]


def root_mean_square(a):
    return [numpy.sqrt(numpy.mean((a[0] - a[1]) ** 2))]


# ---- stencils

SPENCER = numpy.array([-3, -6, -5, 3, 21, 46, 67, 74, 67, 46, 21, 3, -5, -6, -3]) / 320


def noisy_wave(n, rng):
    return [numpy.sin(numpy.arange(n) / 50) + 0.1 * rng.standard_normal(n)]


SWEEPS = 20


def plate(n, rng):
    """A rectangle of about n points, nearly a square; random temperatures on its edge, random
    sources inside."""
    columns = int(n ** 0.5) + 2
    rows = n // columns
    return [rng.random(rows * columns), rng.random(rows * columns) / columns ** 2, columns,
            SWEEPS]


def relaxed(a):
    u, source, columns, sweeps = a
    u, source = u.reshape(-1, columns).copy(), source.reshape(-1, columns)
    for _ in range(sweeps):
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
                         - source[1:-1, 1:-1]) / 4
    return [u.ravel()]


# ---- reductions, scans, filters

def small_words(n, rng):
    return [rng.integers(-100, 100, n)]


def exclusive_sums(a):
    return [numpy.concatenate([[0], numpy.cumsum(a[0])[:-1]]).astype(a[0].dtype)[:len(a[0])]]


def scan_streams(n, arguments):
    size = (4 if arguments[0].dtype.kind == "i" else 8) * n   # of integers those of `widths`
    return streamed([size], [size])


def runs(n, rng):
    """Numbers that keep their sign for a hundred or so."""
    signs = numpy.repeat(rng.choice([-1.0, 1.0], n // 100 + 1), 100)[:n]
    return [signs * rng.random(n)]


PACKED = {"half": lambda n, rng: [rng.random(n) - 0.5],
          "few": lambda n, rng: [rng.random(n) - 0.99],
          "most": lambda n, rng: [rng.random(n) - 0.01],
          "runs": runs}


# ---- rows

def rows_of(lengths):
    """make(n, rng) for rows whose lengths come from lengths(n, rng), cut where n values end."""
    def make(n, rng):
        wanted = numpy.minimum(numpy.cumsum(lengths(n, rng)), n)
        return [rng.random(int(wanted[-1]) if len(wanted) else 0),
                numpy.diff(wanted, prepend=0).astype(numpy.int64)]
    return make


def equal_rows(length):
    return rows_of(lambda n, rng: numpy.full(n // length, length))


def power_law(n, rng):
    """Most rows have one value; a few have a large part of all values."""
    return numpy.minimum(rng.pareto(1.0, max(n // 8, 1)) + 1, max(n, 1)).astype(numpy.int64)


def one_long(n, rng):
    """Half of all values in one row, in the middle of rows of four."""
    small = numpy.full(n // 8, 4)
    return numpy.insert(small, len(small) // 2, n // 2)


def mostly_empty(n, rng):
    """Nine of ten rows are empty."""
    return numpy.where(rng.random(n) < 0.1, 10, 0)


SHAPES = {"equal 16": equal_rows(16), "equal 1": equal_rows(1), "equal 4": equal_rows(4),
          "equal 1000": equal_rows(1000), "power law": rows_of(power_law),
          "one long": rows_of(one_long), "mostly empty": rows_of(mostly_empty)}


def sums_of_rows(a):
    """From a running sum: exact enough, the values being between 0 and 1."""
    values, lengths = a
    running = numpy.concatenate([[0.0], numpy.cumsum(values)])
    ends = numpy.cumsum(lengths)
    return [running[ends] - running[ends - lengths]]


# ---- Mandelbrot

def view(most):
    """A picture of about n points, three wide and two high."""
    def make(n, rng):
        columns = int((1.5 * n) ** 0.5)
        return [int(n // columns) if columns else 0, columns, most]
    return make


def escapes(rows, columns, most):
    cx, cy = numpy.meshgrid(3.0 * numpy.arange(columns) / columns - 2.2,
                            2.0 * numpy.arange(rows) / rows - 1.0)
    c = cx + 1j * cy
    z, counts = numpy.zeros_like(c), numpy.zeros(c.shape, int)
    for _ in range(most):
        inside = z.real ** 2 + z.imag ** 2 <= 4.0
        z[inside] = z[inside] ** 2 + c[inside]
        counts += inside
    return counts.ravel()


def check_escapes(a, results):
    """Points at the rim of the set are chaotic: how products are rounded decides about them, and
    compilers may round twice or once."""
    wanted, found = escapes(*a), results[0]
    if found.shape != wanted.shape:
        return f"{found.size} points instead of {wanted.size}"
    different = numpy.count_nonzero(found != wanted)
    if different > wanted.size * 0.005:
        return f"{different} of {wanted.size} points leave after other numbers of steps"
    return None


ASKING = ("The operands of the next strip are prefetched between the steps of this one. The "
          "processor's own prefetching, which recognises the loop of C, may use more of the memory "
          "bandwidth.")

STRIPS = ("Results are written past the caches in strips of 512 values, those of C in blocks of 64; "
          "memory is faster if reads and writes alternate more often.")

CASES = [
    Case("dot-product", "Dot product", "NESL/GPU",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000],
         make=two_vectors, reference=lambda a: [numpy.dot(a[0], a[1])],
         streams=lambda n, a: streamed([8 * n, 8 * n]), remark=ASKING),
    Case("saxpy", "SAXPY, double", "Barracuda",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000],
         make=lambda n, rng: [0.75, *two_vectors(n, rng)],
         reference=lambda a: [a[0] * a[1] + a[2]],
         streams=lambda n, a: streamed([8 * n, 8 * n], [8 * n]), widths="classic",
         remark=STRIPS),
    Case("sdot", "SDOT, single", "Barracuda",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000],
         # In the order of C a sum of ten million products is off by 3e-4 in single precision.
         make=two_vectors, reference=lambda a: [numpy.dot(a[0], a[1])], tolerance=1e-3,
         streams=lambda n, a: streamed([4 * n, 4 * n]), widths="32",
         remark=ASKING),
    Case("rmse", "Root mean square error", "Barracuda",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[1, 2, 1000],
         make=two_vectors, reference=root_mean_square,
         streams=lambda n, a: streamed([8 * n, 8 * n]), remark=ASKING),
    Case("forward-difference", "Forward difference", "Barracuda",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[1, 2, 1000],
         make=noisy_wave, reference=lambda a: [numpy.diff(a[0])],
         streams=lambda n, a: streamed([8 * n], [8 * n]), remark=STRIPS),
    Case("moving-average", "15-point moving average", "Barracuda",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[14, 15, 1000],
         make=noisy_wave,
         reference=lambda a: [numpy.convolve(a[0], SPENCER, "valid")[:len(a[0]) - 14]],
         streams=lambda n, a: streamed([8 * n], [8 * n]),
         remark=ASKING + " The program divides by 320, exactly rounded; C multiplies by 1/320."),
    Case("jacobi", "Jacobi, 20 sweeps", "Barracuda",
         sizes=[64**2, 256**2, 1024**2, 2048**2], test_sizes=[0, 6, 9, 1000],
         make=plate, reference=relaxed, unit="points",
         streams=lambda n, a: streamed([8 * n, 8 * n], [8 * n], passes=SWEEPS)),
    Case("reduce", "Reduction of words", "Obsidian",
         sizes=[2**14, 2**17, 2**20, 2**24], test_sizes=[0, 1, 1000],
         make=small_words, reference=lambda a: [numpy.sum(a[0])],
         streams=lambda n, a: streamed([4 * n]), widths="classic"),
    Case("scan", "Scan of a sum", "Obsidian",
         sizes=[2**14, 2**17, 2**20, 2**24], test_sizes=[0, 1, 7, 1000, 100000],
         make=small_words, reference=exclusive_sums,
         variants={"words": small_words, "doubles": lambda n, rng: [rng.random(n)]},
         streams=scan_streams, widths="classic"),
    Case("pack", "Filter", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000, 100000],
         make=PACKED["half"], variants=PACKED, reference=lambda a: [a[0][a[0] > 0]],
         streams=lambda n, a: streamed([8 * n], [8 * numpy.count_nonzero(a[0] > 0)])),
    Case("segmented-sum", "Sums of rows", "beyond",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 2000],
         make=SHAPES["equal 16"], variants=SHAPES, reference=sums_of_rows, unit="values",
         streams=lambda n, a: streamed([8 * len(a[0]), 8 * len(a[1])], [8 * len(a[1])]),
         remark="Rows are loaded and reduced sixteen or more at a time; memory is nearly idle while "
                "they are reduced."),
    Case("mandelbrot", "Mandelbrot, 255 steps", "Accelerate",
         sizes=[256**2, 512**2, 1024**2, 2 * 10**6], test_sizes=[0, 1, 6, 5000],
         make=view(255), check=check_escapes, unit="points",
         memory=lambda n: 96 * n + 64 * MIB,
         remark="At the commit of this page a long call stayed with native code, which takes one point at a time. "
                "That is mended: executed together two million points take 69 ms (`nesl --repeat 8`)."),
]
