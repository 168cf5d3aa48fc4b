"""matrix_cases.py - a model in Python of matrices and stencils, and arguments for it.

Rows as in library_cases.py. A matrix is a list of rows here, with its number of columns; nothing
follows the library's way of computing.
"""

from library_cases import ANY, INT, NUMBER, Row, T
from library_model import Data, pair, seq, text, val_pair, value, values

MATRICES = []


def matrix(t):
    return ("data", "matrix", (t,), pair("int", "int", seq(t)))


def made(rows, columns):
    """The value of NESL for a list of rows."""
    return Data("matrix", val_pair(len(rows), columns, [x for r in rows for x in r]))


def rows_of(m):
    count, (columns, elements) = m.contents
    return [elements[i * columns:(i + 1) * columns] for i in range(count)], columns


def across(m):
    rows, columns = rows_of(m)
    return [[r[j] for r in rows] for j in range(columns)]


def some(r, t, rows, columns):
    return made([values(r, t, columns) for _ in range(rows)], columns)


def shape(r, n):
    """Also without rows or columns."""
    return r.choice([0, 1, 2, n]), (n if r.random() < 0.8 else 0)


def any_matrix(r, t, n):
    return [some(r, t, *shape(r, n))]


def row(name, types, parameters, result, arguments, model, call=None):
    def of(x):
        return x if callable(x) else lambda t: x
    parameters = [of(p) for p in parameters]
    holes = ", ".join("{%d}" % i for i in range(len(parameters)))
    MATRICES.append(Row(name, call or "%s(%s)" % (name, holes), types,
                        lambda t: [p(t) for p in parameters], of(result), arguments, model))


def nested(t):
    return seq(seq(t))


# ---- from and to sequences, copies ----

row("matrix_from", ANY, [nested], matrix,
    lambda r, t, n: (lambda k, m: [[values(r, t, m) for _ in range(k)]])(*shape(r, n)),
    lambda v: made(v, len(v[0]) if v else 0))
row("matrix_reshape", ANY, [seq, "int", "int"], matrix,
    lambda r, t, n: (lambda k, m: [values(r, t, k * m), k, m])(*shape(r, n)),
    lambda v, k, m: made([v[i * m:(i + 1) * m] for i in range(k)], m))
row("matrix_rows", ANY, [matrix], nested, any_matrix, lambda m: rows_of(m)[0])
row("matrix_elements", ANY, [matrix], seq, any_matrix, lambda m: m.contents[1][1])
row("matrix_shape", ANY, [matrix], pair("int", "int"), any_matrix,
    lambda m: (m.contents[0], m.contents[1][0]))
row("matrix_tabulate", INT, ["int", "int", "int"], matrix("int"),
    lambda r, t, n: [r.randint(-9, 9), *shape(r, n)],
    lambda x, k, m: made([[10 * i + j + x for j in range(m)] for i in range(k)], m),
    "matrix_tabulate((i, j) => 10 * i + j + {0}, {1}, {2})")
row("matrix_dist", ANY, [T, "int", "int"], matrix,
    lambda r, t, n: [value(r, t), *shape(r, n)], lambda x, k, m: made([[x] * m] * k, m))
row("matrix_dist_row", ANY, [seq, "int"], matrix,
    lambda r, t, n: [values(r, t, n), r.choice([0, 1, 3])], lambda v, k: made([v] * k, len(v)))
row("matrix_dist_column", ANY, [seq, "int"], matrix,
    lambda r, t, n: [values(r, t, n), r.choice([0, 1, 3])],
    lambda v, m: made([[x] * m for x in v], m))
row("matrix_diagonal", NUMBER, [seq], matrix, lambda r, t, n: [values(r, t, n)],
    lambda v: made([[x if i == j else type(x)(0) for j in range(len(v))]
                    for i, x in enumerate(v)], len(v)))
row("matrix_identity", INT, ["int"], matrix("float"), lambda r, t, n: [n],
    lambda n: made([[float(i == j) for j in range(n)] for i in range(n)], n))

# ---- parts ----


def inside(count):
    """A matrix that is not empty, and `count` indices: of a row, of a column."""
    def make(r, t, n):
        m = some(r, t, n, r.choice([1, 2, 3]))
        at = [r.randrange(n), r.randrange(m.contents[1][0])] if n else None
        return [m, *at[count]] if n else None
    return make


def sliced(r, t, n):
    k, m = shape(r, n)
    return [some(r, t, k, m), *sorted([r.randint(0, k), r.randint(0, k)]),
            *sorted([r.randint(0, m), r.randint(0, m)])]


row("matrix_row", ANY, [matrix, "int"], seq, inside(slice(0, 1)), lambda m, i: rows_of(m)[0][i])
row("matrix_column", ANY, [matrix, "int"], seq, inside(slice(1, 2)), lambda m, j: across(m)[j])
row("matrix_element", ANY, [matrix, "int", "int"], T, inside(slice(0, 2)),
    lambda m, i, j: rows_of(m)[0][i][j])
row("matrix_slice", ANY, [matrix, "int", "int", "int", "int"], matrix, sliced,
    lambda m, a, b, c, d: made([x[c:d] for x in rows_of(m)[0][a:b]], d - c))
row("matrix_transpose", ANY, [matrix], matrix, any_matrix,
    lambda m: made(across(m), m.contents[0]))

# ---- elements ----


def two(r, t, n):
    k, m = shape(r, n)
    return [some(r, t, k, m), some(r, "int", k, m)]


row("matrix_map", ANY, [matrix, "int"], lambda t: matrix(pair(t, "int")),
    lambda r, t, n: [*any_matrix(r, t, n), n],
    lambda m, k: made([[(x, k) for x in w] for w in rows_of(m)[0]], rows_of(m)[1]),
    "matrix_map(x => (x, {1}), {0})")
row("matrix_zip", ANY, [matrix, matrix("int")], lambda t: matrix(pair(t, "int")), two,
    lambda m, n: made([list(zip(x, y)) for x, y in zip(rows_of(m)[0], rows_of(n)[0])],
                      rows_of(m)[1]))
row("matrix_zip_with", NUMBER, [matrix, matrix("int")], matrix, two,
    lambda m, n: made([[x + type(x)(y) for x, y in zip(*w)]
                       for w in zip(rows_of(m)[0], rows_of(n)[0])], rows_of(m)[1]),
    "matrix_zip_with((x, y) => x + int_to_any(y, x), {0}, {1})")

# ---- rows and columns ----

TEXTS = [seq("char")]


def all_of(v):
    return [c for w in v for c in w]


row("matrix_by_row", INT, [matrix], seq, any_matrix,
    lambda m: [sum(x) for x in rows_of(m)[0]], "matrix_by_row(sum, {0})")
row("matrix_by_row", ANY, [matrix], nested, any_matrix,
    lambda m: rows_of(m)[0], "matrix_by_row(r => r, {0})")
row("matrix_by_column", INT, [matrix], seq, any_matrix,
    lambda m: [sum(x) for x in across(m)], "matrix_by_column(sum, {0})")
row("matrix_by_column", ANY, [matrix], nested, any_matrix, across,
    "matrix_by_column(r => r, {0})")
row("matrix_map_rows", ANY, [matrix], matrix, any_matrix,
    lambda m: made([x[::-1] for x in rows_of(m)[0]], rows_of(m)[1] if rows_of(m)[0] else 0),
    "matrix_map_rows(reverse, {0})")
row("matrix_map_columns", INT, [matrix], matrix, any_matrix,
    lambda m: made([list(w) for w in zip(*[[sum(x[:i]) for i in range(len(x))]
                                           for x in across(m)])], rows_of(m)[1]),
    "matrix_map_columns(plus_scan, {0})")
row("matrix_fold_rows", TEXTS, [matrix], seq, any_matrix,
    lambda m: [all_of(x) if x else text("-") for x in rows_of(m)[0]],
    'matrix_fold_rows((x, y) => x ++ y, "-", {0})')
row("matrix_fold_columns", TEXTS, [matrix], seq, any_matrix,
    lambda m: [all_of(x) if x else text("-") for x in across(m)],
    'matrix_fold_columns((x, y) => x ++ y, "-", {0})')
row("matrix_fold_columns", NUMBER, [matrix], seq,
    lambda r, t, n: [some(r, t, 2 * n + 1, n + 1)], lambda m: [max(x) for x in across(m)],
    "matrix_fold_columns(max, matrix_element({0}, 0, 0), {0})")

# ---- products ----


def dot(u, v, zero):
    total = zero
    for x, y in zip(u, v):
        total += x * y
    return total


def fitting(r, t, n):
    k, m = shape(r, n)
    return [some(r, t, k, m), some(r, t, m, r.choice([0, 1, 3]))]


row("matrix_times_vector", INT, [matrix, seq], seq,
    lambda r, t, n: (lambda k, m: [some(r, t, k, m), values(r, t, m)])(*shape(r, n)),
    lambda m, v: [dot(x, v, 0) for x in rows_of(m)[0]])
row("matrix_multiply", INT, [matrix, matrix], matrix, fitting,
    lambda m, n: made([[dot(x, y, 0) for y in across(n)] for x in rows_of(m)[0]], rows_of(n)[1]))
row("matrix_outer", NUMBER, [seq, seq], matrix,
    lambda r, t, n: [values(r, t, n), values(r, t, r.choice([0, 1, 3]))],
    lambda u, v: made([[x * y for y in v] for x in u], len(v)))

# ---- stencils ----


def mirrored(i, n):
    """By single steps, turning round at the ends."""
    at, step = 0, 1 if i > 0 else -1
    for _ in range(abs(i)):
        if n == 1:
            return 0
        if not 0 <= at + step < n:
            step = -step
        at += step
    return at


def doubled(i, n):
    """The same, with a step in which the end is repeated."""
    at, step = 0, 1 if i > 0 else -1
    for _ in range(abs(i)):
        if 0 <= at + step < n:
            at += step
        else:
            step = -step
    return at


BOUNDARIES = [("wrap", lambda i, n: i % n), ("clamp", lambda i, n: sorted([0, i, n - 1])[1]),
           ("mirror", mirrored), ("symmetric", doubled),
           ("constant({2})", lambda i, n: i if 0 <= i < n else None)]


def around(v, i, radius, rule, outside):
    at = [rule(i + k, len(v)) for k in range(-radius, radius + 1)]
    return [outside if p is None else v[p] for p in at]


def stencil(rule):
    return lambda v, radius, x: [around(v, i, radius, rule, x) for i in range(len(v))]


def stencil2(rule):
    def run(m, radius, x):
        rows, columns = rows_of(m)
        outside = [x] * columns
        return made([[[around(w, j, radius, rule, x)
                       for w in around(rows, i, radius, rule, outside)]
                      for j in range(columns)] for i in range(len(rows))], columns)
    return run


def with_radius(make):
    return lambda r, t, n: [make(r, t, n), r.choice([0, 1, 2, n + 2]), value(r, t)]


for _call, _rule in BOUNDARIES:
    _name = _call.split("(")[0]
    row(_name, ANY, [seq, "int", T], nested, with_radius(values), stencil(_rule),
        "stencil(w => w, {1}, %s, {0})" % _call)
    row(_name, INT, [matrix, "int", T], lambda t: matrix(nested(t)),
        with_radius(lambda r, t, n: some(r, t, *shape(r, min(n, 3)))), stencil2(_rule),
        "stencil2(w => w, {1}, %s, {0})" % _call)


def differences(v, factor):
    return [(around(v, i, 1, mirrored, 0)[0] - x * factor, 3) for i, x in enumerate(v)]


# Elements at known positions, weights that are free in the function, and its branches.
row("stencil", NUMBER, [seq, T], lambda t: seq(pair(t, "int")),
    lambda r, t, n: [values(r, t, n), value(r, t)], differences,
    "stencil(w => (w[0] - w[1] * {1}, #w), 1, mirror, {0})")
row("stencil", ANY, [seq], lambda t: seq(pair(t, t)), lambda r, t, n: [values(r, t, n)],
    lambda v: [(v[i - 1], v[(i + 1) % len(v)]) for i in range(len(v))],
    "stencil(w => (let a = w[0]; b = w[2] in (a, b)), 1, wrap, {0})")
row("stencil", INT, [seq, seq("int")], seq,
    lambda r, t, n: [values(r, t, n), values(r, "int", 3)],
    lambda v, c: [dot(around(v, i, 1, lambda p, n: p % n, 0), c, 0) for i in range(len(v))],
    "stencil(w => sum({{x * c : x in w; c in {1}}}), 1, wrap, {0})")
row("stencil", INT, [seq, "int"], seq,
    lambda r, t, n: [values(r, t, n), r.choice([0, 1, 2])],
    lambda v, k: [around(v, i, 1, lambda p, n: p % n, 0)[k] + (0 if x > 0 else v[i - 1])
                  for i, x in enumerate(v)],
    "stencil(w => (if w[1] > 0 then w[{1}] else w[{1}] + w[0]), 1, wrap, {0})")
row("stencil2", NUMBER, [matrix], matrix,
    lambda r, t, n: [some(r, t, *shape(r, n))],
    lambda m: made([[a[1] + c[1] + b[0] + b[2] - 4 * b[1] for a, b, c in w]
                    for w in rows_of(stencil2(BOUNDARIES[1][1])(m, 1, None))[0]], rows_of(m)[1]),
    "stencil2(w => w[0][1] + w[2][1] + w[1][0] + w[1][2] - int_to_any(4, w[1][1]) * w[1][1], 1,"
    " clamp, {0})")


row("windows", ANY, [seq, "int"], nested,
    lambda r, t, n: [values(r, t, n), r.choice([1, 2, 3])],
    lambda v, k: [v[i:i + k] for i in range(len(v) - k + 1)], "windows(w => w, {1}, {0})")
row("windows", NUMBER, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda v: [y - x for x, y in zip(v, v[1:])], "windows(w => w[1] - w[0], 2, {0})")
row("windows2", ANY, [matrix, "int"], lambda t: matrix(nested(t)),
    lambda r, t, n: [some(r, t, *shape(r, n)), r.choice([1, 2])],
    lambda m, k: made([[[w[j:j + k] for w in rows_of(m)[0][i:i + k]]
                        for j in range(rows_of(m)[1] - k + 1)]
                       for i in range(len(rows_of(m)[0]) - k + 1)],
                      max(rows_of(m)[1] - k + 1, 0)), "windows2(w => w, {1}, {0})")
