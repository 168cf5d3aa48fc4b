"""combining_cases.py - reductions, scans and scatters with functions of the program's own, and
the same in Python from the definition of the tree that keeps order (cvl/trees.h). Rows as in
library_cases.py.

Some functions here are not associative, so that their results show in which tree they were
combined. Identities are any values, since an identity is combined with nothing.
"""

from library_cases import ANY, INT, Row, T
from library_model import pair, seq, text, value, values

COMBINING = []


# ---- the tree ----


def tree(f, x, p, k):
    """T(p, k)."""
    if k == 0:
        return x[p]
    return f(tree(f, x, p, k - 1), tree(f, x, p + 2 ** (k - 1), k - 1))


def before(f, x, i):
    """P(i), i > 0."""
    k = 0
    while i % 2 ** (k + 1) == 0:
        k += 1
    if i == 2 ** k:
        return tree(f, x, 0, k)
    return f(before(f, x, i - 2 ** k), tree(f, x, i - 2 ** k, k))


def reduce(f, e, v):
    return before(f, v, len(v)) if v else e


def scan(f, e, v):
    return ([before(f, v, i) if i else e for i in range(len(v))], reduce(f, e, v))


def scan_inclusive(f, e, v):
    return [before(f, v, i + 1) for i in range(len(v))]


def scan_back(f, e, v):
    behind, total = scan(lambda a, b: f(b, a), e, v[::-1])
    return (behind[::-1], total)


def combine(f, defaults, ivs):
    ordered = sorted(ivs, key=lambda iv: iv[0])
    return [reduce(f, None, [d] + [x for k, x in ordered if k == i])
            for i, d in enumerate(defaults)]


# ---- functions to combine with ----


def mixed(a, b):
    """Not associative, and without a fault."""
    return (a * 31 + b * 17 + 7) % 8192


def affine(u, v):
    return ((u[0] * v[0]) % 1024, (u[1] * v[0] + v[1]) % 1024)


def greater(u, v):
    return v if v[0] > u[0] else u


def nested_text(a, b):
    return text("(") + a + b + text(")")


def nested_pair(u, v):
    return (u[0] + v[0] * 2, nested_text(u[1], v[1]))


STRING = seq("char")
MIXED = "(a, b) => ((a * 31 + b * 17 + 7) and 8191)"
# (type of elements for T, types, the function in NESL, in Python)
FUNCTIONS = [
    (T, INT, MIXED, mixed),
    (lambda t: pair("int", "int"), INT,
     "((a, b), (c, d)) => ((a * c + 0) and 1023, (b * c + d + 0) and 1023)", affine),
    (lambda t: pair("int", t), ANY, "((a, x), (b, y)) => (if b > a then (b, y) else (a, x))", greater),
    (seq, ANY, "(a, b) => a ++ b", lambda a, b: a + b),
    (lambda t: STRING, INT, '(a, b) => "(" ++ a ++ b ++ ")"', nested_text),
    (lambda t: pair("int", STRING), INT,
     '((a, s), (b, u)) => (a + b * 2, "(" ++ s ++ u ++ ")")', nested_pair),
    # a function that might fail
    (T, INT, "(a, b) => rem(a * 7 + b * 5, ((a + b + 0) and 15) + 1)",
     lambda a, b: remainder(a * 7 + b * 5, (a + b) % 16 + 1)),
]


def remainder(a, b):
    return abs(a) % b * (1 if a >= 0 else -1)


def row(name, call, types, parameters, result, arguments, model):
    COMBINING.append(Row(name, call, types, parameters, result, arguments, model))


def of_identity(element):
    """Arguments: any value as the identity, and a sequence."""
    return lambda r, t, n: [value(r, element(t)), values(r, element(t), n)]


def rows_of(name, model, result):
    for element, types, call, function in FUNCTIONS:
        row(name, "%s(%s, {0}, {1})" % (name, call), types,
            lambda t, e=element: [e(t), seq(e(t))], lambda t, e=element: result(e(t)),
            of_identity(element), lambda e, v, f=function: model(f, e, v))


SCANS = [("reduce", reduce, T), ("scan", scan, lambda t: pair(seq(t), t)),
         ("scan_inclusive", scan_inclusive, seq), ("scan_back", scan_back, lambda t: pair(seq(t), t))]
for _name, _model, _result in SCANS:
    rows_of(_name, _model, _result)

# Around powers of two, of numbers that are computed. Long results are printed in part, so these are a
# weighted sum.
LENGTHS = {0: 8, 1: 1023, 5: 1024, 3: 1025, 7: 9, 2: 31}


def weighted(v):
    return sum(x * (i % 64 + 1) for i, x in enumerate(v))


WEIGHTED = "sum({x * ((i and 63) + 1) : x in v; i in index(#v)})"
for _name, _model, _result, _shown, _digest in [
        ("reduce", reduce, "int", "v", lambda v: v),
        ("scan", scan, pair("int", "int"), "let (v, s) = v in (%s, s)" % WEIGHTED,
         lambda r: (weighted(r[0]), r[1])),
        ("scan_inclusive", scan_inclusive, "int", WEIGHTED, weighted),
        ("scan_back", scan_back, pair("int", "int"), "let (v, s) = v in (%s, s)" % WEIGHTED,
         lambda r: (weighted(r[0]), r[1]))]:
    row(_name, "(let v = %s(%s, -1, {{i * i * 37 and 1023 : i in [0:{0}]}}) in %s)"
        % (_name, MIXED, _shown.replace("{", "{{").replace("}", "}}")), INT,
        lambda t: ["int"], lambda t, r=_result: r, lambda r, t, n: [LENGTHS[n]],
        lambda n, m=_model, d=_digest: d(m(mixed, -1, [i * i * 37 % 1024 for i in range(n)])))


# ---- scatters ----


def scattered(element):
    def arguments(r, t, n):
        count = r.choice([0, 1, n, 4 * n]) if n else 0
        return [values(r, element(t), n),
                [(r.randrange(n), value(r, element(t))) for _ in range(count)]]
    return arguments


for _element, _types, _call, _function in FUNCTIONS:
    row("combine", "combine(%s, {0}, {1})" % _call, _types,
        lambda t, e=_element: [seq(e(t)), seq(pair("int", e(t)))], lambda t, e=_element: seq(e(t)),
        scattered(_element), lambda d, w, f=_function: combine(f, d, w))
row("combine", "combine(%s, {{-i : i in [0:8]}}, {{(i * i and 7, i) : i in [0:{0}]}})" % MIXED, INT,
    lambda t: ["int"], lambda t: seq("int"), lambda r, t, n: [LENGTHS[n]],
    lambda n: combine(mixed, [-i for i in range(8)], [(i * i % 8, i) for i in range(n)]))
row("bincount", "bincount({0}, {1})", INT, lambda t: [seq("int"), "int"], lambda t: seq("int"),
    lambda r, t, n: [[r.randrange(n) for _ in range(r.choice([0, 1, n, 5 * n]))] if n else [], n],
    lambda v, n: [v.count(i) for i in range(n)])
