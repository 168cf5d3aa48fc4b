"""addition_cases.py - Ravel's own functions for statistics, searching, text, reals and bits, in Python.

Rows as in library_cases.py: names, and what is expected, of neslc/library/statistics.nesl, searching.nesl,
slicing.nesl, combinatorics.nesl, strings.nesl, reals.nesl and bits.nesl. What is random is in
nesl/laws/random.nesl.
"""

import bisect
import itertools
import math
import statistics

from library_cases import (
    ANY, BOOL, CHAR, FLOAT, INT, NUMBER, ORDINAL, STRING, T, Row, look_for_all, nested,
    one_of, strings,
)
from library_model import pair, plain, seq, text, val_pair, value, values

ADDITIONS = []
# For what hashes or searches, whose code is long where a type is deep.
SOME = ["int", "float", "char", STRING, pair("int", "float")]


def row(name, types, parameters, result, arguments, model, call=None, double=False):
    """As row of library_cases.py."""
    def of(x):
        return x if callable(x) else lambda t: x
    parameters = [of(p) for p in parameters]
    holes = ", ".join("{%d}" % i for i in range(len(parameters)))
    ADDITIONS.append(Row(name, call or "%s(%s)" % (name, holes), types,
                         lambda t: [p(t) for p in parameters], of(result), arguments, model))
    ADDITIONS[-1].double = double


def of_sequence(name, types, result, model, shortest=0, call=None):
    row(name, types, [seq], result,
        lambda r, t, n: [values(r, t, n)] if n >= shortest else None, model, call)


def few(r, t, n):
    """n values of which some are equal."""
    some = values(r, t, max(n // 2, 1))
    return [r.choice(some) for _ in range(n)]


def labels(v):
    return [v.index(x) for x in v]


# ---- statistics ----


def quantile(v, q):
    s = sorted(v)
    i = min(math.floor(q * (len(s) - 1)), len(s) - 1)
    a, b = s[i], s[min(i + 1, len(s) - 1)]
    return float(a + (b - a) * (q * (len(s) - 1) - i))


of_sequence("mean", NUMBER, "float", lambda v: float(statistics.mean(v)), 1)
of_sequence("variance", NUMBER, "float", lambda v: float(statistics.pvariance(v)), 1)
of_sequence("std", NUMBER, "float", lambda v: float(statistics.pstdev(v)), 1)
row("quantile", NUMBER, [seq, "float"], "float",
    lambda r, t, n: [values(r, t, n), r.choice([0.0, 1.0, 0.5, 0.25, 0.9])] if n else None, quantile)
row("mode", ANY, [seq], T, lambda r, t, n: [few(r, t, n)] if n else None,
    lambda v: max(v, key=lambda x: (v.count(x), -v.index(x))))
of_sequence("argmax", ORDINAL + [pair("int", "float"), STRING], "int", lambda v: v.index(max(v)), 1)
of_sequence("argmin", ORDINAL + [pair("int", "float"), STRING], "int", lambda v: v.index(min(v)), 1)
row("clip", ORDINAL, [T, T, T], T, lambda r, t, n: [value(r, t), *sorted(values(r, t, 2))],
    lambda x, low, high: min(max(x, low), high))
of_sequence("cumsum", NUMBER, seq, lambda v: list(itertools.accumulate(v)))
row("cumprod", INT, [seq], seq, lambda r, t, n: [[r.randint(-3, 3) for _ in range(n)]],
    lambda v: list(itertools.accumulate(v, lambda x, y: x * y)))
of_sequence("differences", NUMBER, seq, lambda v: [y - x for x, y in zip(v, v[1:])])
row("linspace", FLOAT, ["float", "float", "int"], seq("float"),
    one_of((0.0, 1.0, 0), (3.0, 5.0, 1), (0.0, 1.0, 5), (2.0, -2.0, 3), (1.0, 1.0, 2), (0.0, 0.75, 4)),
    lambda a, b, n: [a + i * (b - a) / max(n - 1, 1) for i in range(n)])


def edges_of(r, t):
    return sorted(values(r, t, r.choice([2, 3, 6])))


def bin_number(edges, x):
    if x == edges[-1]:
        return len(edges) - 2
    i = bisect.bisect_right(edges, x) - 1
    return i if i < len(edges) - 1 else -1


def binned(v, edges):
    numbers = [bin_number(edges, x) for x in v]
    return [numbers.count(i) for i in range(len(edges) - 1)]


def binned2(x, y, x_edges, y_edges):
    numbers = [(bin_number(x_edges, a), bin_number(y_edges, b)) for a, b in zip(x, y)]
    return [[numbers.count((i, j)) for j in range(len(y_edges) - 1)]
            for i in range(len(x_edges) - 1)]


row("bin", ORDINAL + [pair("int", "float"), STRING], [seq, seq], seq("int"),
    lambda r, t, n: [values(r, t, n), edges_of(r, t)], binned)
row("histogram2", NUMBER, [seq, seq("float"), seq, seq("float")], seq(seq("int")),
    lambda r, t, n: [values(r, t, n), values(r, "float", n), edges_of(r, t), edges_of(r, "float")],
    binned2)

# ---- searching ----


def order(v):
    return sorted(range(len(v)), key=lambda i: v[i])


def in_sorted(r, t, n):
    v = sorted(few(r, t, n))
    return [v, r.choice(v) if v and r.random() < 0.6 else value(r, t)]


def grouped(v, key):
    keys = list(dict.fromkeys(key(x) for x in v))
    return [(k, [x for x in v if key(x) == k]) for k in keys]


def runs(v, key):
    return [list(w) for _, w in itertools.groupby(v, key)]


def two_tables(r, t, n):
    def table(element, count):
        return [(r.randint(-2, 3), value(r, element)) for _ in range(count)]
    return [table(t, n), table("int", r.choice([0, 1, 4]))]


def inner_join(u, v):
    return [val_pair(k, x, y) for k, x in u for j, y in v if j == k]


def left_join(u, v, missing):
    return [val_pair(k, x, y) for k, x in u
            for y in [y for j, y in v if j == k] or [missing]]


row("argsort", NUMBER, [seq], seq("int"), lambda r, t, n: [few(r, t, n)], order)
row("sort_by", ANY, [lambda t: seq(pair("int", t))], lambda t: seq(pair("int", t)),
    lambda r, t, n: [[(r.randint(-2, 2), value(r, t)) for _ in range(n)]],
    lambda v: sorted(v, key=lambda x: x[0] ** 2), "sort_by(((k, x)) => k * k, {0})")
row("top_k", NUMBER, [seq, "int"], seq,
    lambda r, t, n: [few(r, t, n), r.randint(0, n)], lambda v, k: sorted(v, reverse=True)[:k])
row("searchsorted", ORDINAL + [pair("int", "float"), STRING], [seq, T], "int", in_sorted, bisect.bisect_left)
row("searchsorted_right", ORDINAL + [pair("int", "float"), STRING], [seq, T], "int", in_sorted, bisect.bisect_right)
row("unique", NUMBER, [seq], seq, lambda r, t, n: [few(r, t, n)], lambda v: sorted(set(v)))
row("counts", NUMBER, [seq], lambda t: seq(pair(t, "int")), lambda r, t, n: [few(r, t, n)],
    lambda v: [(x, v.count(x)) for x in sorted(set(v))])
row("isin", ANY, [seq, seq], seq("bool"),
    lambda r, t, n: (lambda v: [few(r, t, 3) + v[:2], v])(few(r, t, n)),
    lambda u, v: [x in v for x in u])
row("group_by_key", INT, [seq], lambda t: seq(pair("bool", seq(t))),
    lambda r, t, n: [values(r, t, n)], lambda v: grouped(v, lambda x: x > 0),
    "group_by_key(x => x > 0, {0})")
row("group_by_key", CHAR, [lambda t: seq(seq(t))], lambda t: seq(pair("int", seq(seq(t)))),
    lambda r, t, n: [values(r, seq(t), n)], lambda v: grouped(v, len), "group_by_key(s => #s, {0})")
row("partition_by", ANY, [lambda t: seq(pair("int", t))], lambda t: seq(seq(pair("int", t))),
    lambda r, t, n: [[(r.randint(0, 1), value(r, t)) for _ in range(n)]],
    lambda v: runs(v, lambda x: x[0]), "partition_by(((k, x)) => k, {0})")
row("inner_join", SOME, [lambda t: seq(pair("int", t)), seq(pair("int", "int"))],
    lambda t: seq(pair("int", t, "int")), two_tables, inner_join)
row("left_join", SOME, [lambda t: seq(pair("int", t)), seq(pair("int", "int")), "int"],
    lambda t: seq(pair("int", t, "int")), lambda r, t, n: [*two_tables(r, t, n), -1], left_join)
row("inner_join", CHAR, [seq(pair(STRING, "int")), lambda t: seq(pair(STRING, t))],
    lambda t: seq(pair(STRING, "int", t)),
    lambda r, t, n: [[(text(r.choice(["", "a", "ab"])), i) for i in range(n)],
                     [(text(r.choice(["", "ab", "b"])), value(r, t)) for i in range(3)]], inner_join)

# ---- slicing ----


def riffled(v):
    half = (len(v) + 1) // 2
    result = [None] * len(v)
    result[::2], result[1::2] = v[:half], v[half:]
    return result


def in_pairs(v, start):
    result = list(v)
    for i in range(start, len(v) - 1, 2):
        result[i], result[i + 1] = (v[i + 1][0], v[i][1]), (v[i][0], v[i + 1][1])
    return result


def halved(v):
    half = (len(v) + 1) // 2
    return [v[:half], v[half:]]


def indexed(t):
    """Pairs, so that what has moved shows."""
    return seq(pair("int", t))


def interleaved(u, v):
    return [w[i // 2] for i in range(len(u) + len(v)) for w in [(u, v)[i % 2]]]


row("where", ANY, [seq("bool"), seq, seq], seq,
    lambda r, t, n: [values(r, "bool", n), values(r, t, n), values(r, t, n)],
    lambda fl, u, v: [x if c else y for c, x, y in zip(fl, u, v)])
of_sequence("nonzero", NUMBER, seq("int"), lambda v: [i for i, x in enumerate(v) if x != 0])
for _name, _chosen in [("take_while", itertools.takewhile), ("drop_while", itertools.dropwhile)]:
    row(_name, ANY, [lambda t: seq(pair("bool", t))], lambda t: seq(pair("bool", t)),
        lambda r, t, n: [values(r, pair("bool", t), n)],
        lambda v, c=_chosen: list(c(lambda x: x[0], v)), _name + "(((c, x)) => c, {0})")
row("split_at", ANY, [seq, "int"], lambda t: pair(seq(t), seq(t)),
    lambda r, t, n: [values(r, t, n), r.randint(0, n)], lambda v, n: (v[:n], v[n:]))
row("chunks", ANY, [seq, "int"], nested, lambda r, t, n: [values(r, t, n), r.choice([1, 2, 3, 7])],
    lambda v, k: [v[i:i + k] for i in range(0, len(v), k)])
of_sequence("pairwise", ANY, lambda t: seq(pair(t, t)), lambda v: list(zip(v, v[1:])))
row("unzip3", ANY, [lambda t: seq(pair("int", t, "bool"))],
    lambda t: pair(seq("int"), seq(t), seq("bool")),
    lambda r, t, n: [values(r, pair("int", t, "bool"), n)],
    lambda v: val_pair([a for a, _ in v], [b[0] for _, b in v], [b[1] for _, b in v]))
row("pad", ANY, [seq, "int", T], seq,
    lambda r, t, n: [values(r, t, n), r.choice([0, n + 2, -n - 1, n, 1]), value(r, t)],
    lambda v, n, x: v + [x] * (n - len(v)) if n >= 0 else [x] * (-n - len(v)) + v)
of_sequence("riffle", ANY, seq, riffled)
of_sequence("unriffle", ANY, seq, lambda v: v[::2] + v[1::2])
for _name, _start in [("evens", 0), ("odds", 1)]:
    row(_name, ANY, [indexed], indexed, lambda r, t, n: [values(r, pair("int", t), n)],
        lambda v, s=_start: in_pairs(v, s), _name + "(((i, x), (j, y)) => ((j, x), (i, y)), {0})")
row("two", ANY, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda v: [x for w in halved(v) for x in w[::-1]], "two(w => reverse(w), {0})")
row("two", INT, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda v: [sum(w) for w in halved(v)], "two(w => [sum(w)], {0})")
row("ilv", ANY, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda v: interleaved(v[::2][::-1], v[1::2][::-1]), "ilv(w => reverse(w), {0})")

# ---- combinatorics ----

of_sequence("pairs", ANY, lambda t: seq(pair(t, t)), lambda v: list(itertools.combinations(v, 2)))
row("cartesian", ANY, [seq, seq("int")], lambda t: seq(pair(t, "int")),
    lambda r, t, n: [values(r, t, n), values(r, "int", r.choice([0, 1, 3]))],
    lambda u, v: list(itertools.product(u, v)))
row("combinations", ANY, [seq, "int"], nested,
    lambda r, t, n: [values(r, t, min(n, 5)), r.randint(0, min(n, 5) + 1)],
    lambda v, k: [list(w) for w in itertools.combinations(v, k)])
row("combinations", INT, ["int", "int"], seq(seq("int")),
    one_of((5, 5), (6, 4), (6, 3), (6, 2), (5, 0), (4, 5), (7, 6)),
    lambda n, k: [list(w) for w in itertools.combinations(range(n), k)],
    "combinations([0:{0}], {1})")

# ---- strings ----


def divided(v, u):
    """The sequences between occurrences of u, and where it occurs."""
    between, found, start, i = [], [], 0, 0
    while i + len(u) <= len(v):
        if v[i:i + len(u)] == u:
            between.append(v[start:i])
            found.append(i)
            start = i = i + len(u)
        else:
            i += 1
    return between + [v[start:]], found


def joined(v, u):
    return [x for i, w in enumerate(v) for x in (u if i else []) + w]


def separated(r, t, n):
    """A separator, and a sequence in which it occurs, perhaps so that it overlaps."""
    u = few(r, t, r.choice([1, 2, 2, 3]))
    v = [x for _ in range(n) for x in (u if r.random() < 0.5 else u[:1] if r.random() < 0.6
                                       else [value(r, t)])]
    return [u, v]


WHITE = strings(("",), (" ",), ("   ",), (" a b ",), ("ab",), ("x  ",), ("  x",))
row("upper", CHAR, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda s: text(plain(s).upper()))
row("lower", CHAR, [seq], seq, lambda r, t, n: [values(r, t, n)],
    lambda s: text(plain(s).lower()))
row("trim", CHAR, [seq], seq, WHITE, lambda s: text(plain(s).strip()))
row("trim", CHAR, [seq], seq, WHITE, lambda s: text(plain(s).strip()),
    "trim([tab, newline] ++ {0} ++ [newline])")
row("starts_with", ANY, [seq, seq], "bool",
    lambda r, t, n: (lambda u, v: [v, r.choice([u, v[:1], v[:-1], v])])(*look_for_all(r, t, n)),
    lambda v, u: v[:len(u)] == u)
row("ends_with", ANY, [seq, seq], "bool",
    lambda r, t, n: (lambda u, v: [v, r.choice([u, v[1:], v[-1:], v])])(*look_for_all(r, t, n)),
    lambda v, u: v[len(v) - len(u):] == u if len(u) <= len(v) else False)
row("find_all", SOME, [seq, seq], seq("int"), separated, lambda u, v: divided(v, u)[1])
row("split_on", SOME, [seq, seq], nested, separated, lambda u, v: divided(v, u)[0],
    "split_on({1}, {0})")
row("join_with", ANY, [nested, seq], seq,
    lambda r, t, n: [values(r, seq(t), n), values(r, t, r.choice([0, 1, 2]))], joined)
row("replace", SOME, [seq, seq, seq], seq,
    lambda r, t, n: [*separated(r, t, n), values(r, t, r.choice([0, 1, 3]))],
    lambda u, v, new: joined(divided(v, u)[0], new), "replace({1}, {0}, {2})")
row("format_int", INT, ["int", "int"], STRING, lambda r, t, n: [value(r, t), r.choice([0, 6, -6, 2])],
    lambda n, width: text(format(n, "%s%dd" % ("<" if width < 0 else ">", abs(width)))))


def format_float(x, width, digits):
    shown = format(x, ".%df" % digits) if abs(x) < 2e9 else scientific(x, min(digits, 8))
    return text(shown.ljust(-width) if width < 0 else shown.rjust(width))


def scientific(x, digits):
    if x == 0:
        return "0.0"
    mantissa, exponent = format(x, ".%de" % digits).split("e")
    return "%se%s%d" % (mantissa, exponent[0], int(exponent[1:]))


JUST_MISSED = [0.9793, 0.9884, 0.9894, 0.9904, 0.9914, 0.9924]


def numerals(r, t, n):
    """Numbers with an exact half at the last digit, and those near a carry, among others."""
    x = r.choice([r.uniform(-10, 10), r.uniform(-1e6, 1e6), r.randint(-2000, 2000) / 16, 0.125, 0.5, 2.5,
                  999.9999999, -0.95, 9.5, 0.0, 1e-9, r.random() * 10 ** r.randint(-12, 8)])
    return [x, r.choice([0, 9, -9, 20]), r.choice([0, 1, 2, 3, 5, 8, 9, 12, 15, 16])]


for _ in range(3):
    row("format_float", FLOAT, ["float", "int", "int"], STRING, numerals, format_float, double=True)
# Sixteen digits: what a product rounds off decides the last one; four digits that are just missed.
row("format_float", FLOAT, ["float", "int", "int"], STRING,
    lambda r, t, n: [r.choice([r.random(), r.uniform(-10, 10)]), 0, r.choice([15, 16])], format_float,
    double=True)
row("format_float", FLOAT, ["float", "int", "int"], STRING,
    one_of(*[(x, 0, 16) for x in JUST_MISSED]), format_float, double=True)
row("format_float", FLOAT, ["float", "int", "int"], STRING,
    one_of((1.5, 0, 0), (-2.5, 6, 0), (0.375, 0, 2), (1e30, 0, 2), (99.75, -8, 1), (0.0, 5, 3)),
    format_float)
row("format_exp", FLOAT, ["float", "int", "int"], STRING,
    lambda r, t, n: [r.choice([0.0, 1.5, -1234.5678, 6.02e23]), r.choice([0, 12, -12]), r.randint(0, 8)],
    lambda x, width, digits: text(scientific(x, digits).ljust(-width) if width < 0 else
                                  scientific(x, digits).rjust(width)), double=True)

# ---- reals and bits ----

row("isnan", BOOL, ["float"], "bool", one_of((1.0,), (0.0,)), lambda x: False)
row("isnan", BOOL, ["float"], "bool", one_of((1e300,), (0.0,)), lambda x: x > 1,
    "isnan({0} * 1e300 * 1e300 - {0} * 1e300 * 1e300)", double=True)
row("isinf", BOOL, ["float"], "bool", one_of((1e300,), (0.0,), (1.5,)), lambda x: True,
    "isinf(({0} + 1.0) * -1e300 * 1e300)", double=True)
row("isfinite", BOOL, ["float"], "bool", one_of((1e300,), (0.0,), (-1.5,)), lambda x: x == 0,
    "isfinite({0} * 1e300 * 1e300)", double=True)
for _name, _cases in [("expm1", (0.0, 1e-12, -0.5, 1.0, -30.0, 20.0)),
                      ("log1p", (0.0, 1e-12, -0.5, 1.0, 1e6, -1e-9))]:
    row(_name, FLOAT, ["float"], "float", one_of(*[(x,) for x in _cases]), getattr(math, _name),
        double=True)
row("cbrt", FLOAT, ["float"], "float", one_of((0.0,), (8.0,), (-27.0,), (2.0,), (1e18,), (-0.001,)),
    lambda x: math.copysign(abs(x) ** (1 / 3), x))
QUADRANTS = one_of((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (-1.0, -1.0), (2.0, -3.0),
                   (0.0, 0.0), (-0.5, 4.0))
row("atan2", FLOAT, ["float", "float"], "float", QUADRANTS, math.atan2)
row("hypot", FLOAT, ["float", "float"], "float", QUADRANTS, math.hypot)
row("fma", FLOAT, ["float"] * 3, "float",
    one_of((2.0, 3.0, 1.0), (0.5, 0.5, -0.25), (0.0, 1.0, 2.0), (-1.5, 4.0, 0.125)),
    lambda x, y, z: x * y + z)
SOME_INTS = one_of((0,), (1,), (255,), (1 << 30,), (2147483647,), (12,), (40,))
row("popcount", INT, ["int"], "int", SOME_INTS, lambda n: bin(n).count("1"))
row("popcount", INT, ["int"], "int", SOME_INTS, lambda n: bin(n).count("1"),
    "bit_length(-1) - popcount(not({0}))")
row("bit_length", INT, ["int"], "int", SOME_INTS, int.bit_length)
row("leading_zeros", INT, ["int"], "int", SOME_INTS, int.bit_length,
    "bit_length(-1) - leading_zeros({0})")
row("trailing_zeros", INT, ["int"], "int", one_of((1,), (8,), (-8,), (40,), (1 << 30,)),
    lambda n: (n & -n).bit_length() - 1)
BITS = one_of((0, 0), (5, 0), (5, 1), (-1, 31), (1 << 30, 30), (8, 3))
row("test_bit", INT, ["int", "int"], "bool", BITS, lambda n, i: (n >> i) & 1 == 1)
row("set_bit", INT, ["int", "int"], "int", one_of((0, 0), (5, 1), (5, 2), (-8, 1)),
    lambda n, i: n | 1 << i)
row("clear_bit", INT, ["int", "int"], "int", one_of((0, 0), (5, 1), (5, 2), (-8, 3)),
    lambda n, i: n & ~(1 << i))
row("flip_bit", INT, ["int", "int"], "int", one_of((0, 0), (5, 1), (5, 2), (-8, 3)),
    lambda n, i: n ^ 1 << i)
row("urshift", INT, ["int", "int"], "int", one_of((40, 2), (1, 1), (7, 0), (9, 64), (1 << 30, 29)),
    lambda n, k: n >> k)
row("lcm", INT, ["int", "int"], "int", one_of((4, 6), (-4, 6), (0, 5), (7, 7), (12, -18), (1, 9)),
    math.lcm)
