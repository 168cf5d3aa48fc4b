"""library_cases.py - a model in Python of every function of the library, and arguments for it.

A row of the table holds a function's calls, element types, arguments and results: section 9 of the
language's specification, computed independently of Ravel. Functions with unspecified results (sets,
tables, hashing, random numbers) are in the folder nesl/laws/; those that take functions in
combining_cases.py.
"""

import math

from library_model import (
    PT, STRING, Char, box, float_string, identity, pair, plain, seq, string, text, val_pair,
    value, values,
)

ANY = ["int", "float", "bool", "char", pair("int", "float"), seq("int"), STRING,
       PT, box(STRING), seq(pair("bool", seq("char"))), pair("char", pair(seq("float"), PT))]
NUMBER, LOGICAL, ORDINAL = ["int", "float"], ["int", "bool"], ["int", "float", "char"]
INT, FLOAT, BOOL, CHAR = ["int"], ["float"], ["bool"], ["char"]


class Row:
    """name: of the function, for --only. call: an expression in {0}, {1} ... types: element types
    T it is tried at. definitions: forms before. double: not in single precision. parameters(T), result(T): its types at T. arguments(r, T, n): a list of
    arguments of size n, or None. model: from arguments to the result; model.t is T."""

    def __init__(self, name, call, types, parameters, result, arguments, model, typed=False):
        self.name, self.call, self.types = name, call, types
        self.parameters, self.result, self.definitions, self.double = parameters, result, [], False
        self.arguments, self.model, self.typed = arguments, model, typed

    def expected(self, t, args):
        return self.model(t, *args) if self.typed else self.model(*args)


TABLE = []


def row(name, types, parameters, result, arguments, model, call=None, typed=False):
    """Types are written as functions of T, or as types where they do not depend on it."""
    def of(x):
        return x if callable(x) else lambda t: x
    parameters = [of(p) for p in parameters]
    holes = ", ".join("{%d}" % i for i in range(len(parameters)))
    TABLE.append(Row(name, call or "%s(%s)" % (name, holes), types,
                     lambda t: [p(t) for p in parameters], of(result), arguments, model, typed))


def T(t):
    return t


def scalars(count):
    """So many values of the type."""
    return lambda r, t, n: [value(r, t) for _ in range(count)]


def one_of(*choices):
    """Arguments from a list of lists; more of them than sizes are tried at random."""
    return lambda r, t, n: list(choices[n] if n < len(choices) else r.choice(choices))


def unary(name, types, result, model, call=None, arguments=None, typed=False):
    row(name, types, [T], result, arguments or scalars(1), model, call, typed)


def infix(name, types, result, model, arguments=None):
    row(name, types, [T, T], result, arguments or scalars(2), model, "{0} %s {1}" % name)


def of_sequence(name, types, result, model, shortest=0, typed=False):
    row(name, types, [seq], result,
        lambda r, t, n: [values(r, t, n)] if n >= shortest else None, model, typed=typed)


# ---- 9.1 logic and comparison ----


def bits(on_bool, on_int):
    return lambda x, y: on_bool(x, y) if isinstance(x, bool) else on_int(x, y)


unary("not", LOGICAL, T, lambda x: not x if isinstance(x, bool) else ~x)
infix("and", LOGICAL, T, lambda x, y: x & y)
infix("or", LOGICAL, T, lambda x, y: x | y)
infix("xor", LOGICAL, T, lambda x, y: x ^ y)
infix("nand", LOGICAL, T, bits(lambda x, y: not (x and y), lambda x, y: ~(x & y)))
infix("nor", LOGICAL, T, bits(lambda x, y: not (x or y), lambda x, y: ~(x | y)))


def near(r, t, n):
    x = value(r, t)
    return [x, x if r.random() < 0.4 else value(r, t)]


infix("==", ORDINAL, "bool", lambda x, y: x == y, near)
infix("/=", ORDINAL, "bool", lambda x, y: x != y, near)
infix("<", ORDINAL, "bool", lambda x, y: x < y, near)
infix(">", ORDINAL, "bool", lambda x, y: x > y, near)
infix("<=", ORDINAL, "bool", lambda x, y: x <= y, near)
infix(">=", ORDINAL, "bool", lambda x, y: x >= y, near)
row("eql", ANY, [T, T], "bool", near, lambda x, y: x == y)
unary("plusp", NUMBER, "bool", lambda x: x > 0)
unary("minusp", NUMBER, "bool", lambda x: x < 0)
unary("zerop", NUMBER, "bool", lambda x: x == 0)
unary("oddp", INT, "bool", lambda x: x % 2 == 1)
unary("evenp", INT, "bool", lambda x: x % 2 == 0)
row("select", ANY, ["bool", T, T], T,
    lambda r, t, n: [n % 2 == 0, value(r, t), value(r, t)], lambda c, x, y: x if c else y)
unary("btoi", BOOL, "int", int)

# ---- 9.2 arithmetic ----


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if isinstance(a, int) else a / b


def no_zero(r, t, n):
    x, y = value(r, t), value(r, t)
    return [x, y if y != 0 else x + 3 if x + 3 != 0 else x]


infix("+", NUMBER, T, lambda x, y: x + y)
infix("-", NUMBER, T, lambda x, y: x - y)
infix("*", NUMBER, T, lambda x, y: x * y)
infix("/", NUMBER, T, truncated, no_zero)
unary("negate", NUMBER, T, lambda x: -x)
unary("-", NUMBER, T, lambda x: -x, "-{0}")
DIVISIONS = one_of((-17, 5), (17, -5), (-18, 6), (17, 5), (-17, -5), (0, 3), (7, 9), (-1, 1000))
row("rem", INT, ["int", "int"], "int", DIVISIONS, lambda a, b: a - b * truncated(a, b))
row("mod", INT, ["int", "int"], "int", DIVISIONS, lambda a, b: a % b)
unary("abs", NUMBER, T, abs)
row("diff", NUMBER, [T, T], T, scalars(2), lambda x, y: abs(x - y))
row("max", ORDINAL + [pair("int", "float"), STRING], [T, T], T, near, max)
row("min", ORDINAL, [T, T], T, near, min)
row("^", INT, ["int", "int"], "int",
    one_of((0, 0), (5, 0), (-2, 3), (3, 13), (2, 30), (-1, 101), (0, 4), (10, 1)),
    lambda x, n: x ** n, "{0} ^ {1}")
row("^", FLOAT, ["float", "int"], "float",
    one_of((0.0, 0), (2.5, 0), (-2.0, 3), (0.5, 10), (2.0, 100), (1.5, 7)),
    lambda x, n: x ** n, "{0} ^ {1}")
unary("^2", NUMBER, T, lambda x: x * x, "{0} ^ 2")
unary("^3", NUMBER, T, lambda x: x * x * x, "{0} ^ 3")
row("gcd", INT, ["int", "int"], "int",
    one_of((0, 7), (12, 18), (18, 12), (17, 5), (1, 1), (1000, 10), (36, 1001)), math.gcd)
row("lshift", INT, ["int", "int"], "int", one_of((1, 0), (1, 4), (3, 20), (0, 5), (-1, 3)),
    lambda x, n: x << n)
row("rshift", INT, ["int", "int"], "int", one_of((1, 0), (16, 4), (-8, 1), (1000, 3), (-1, 20)),
    lambda x, n: x >> n)
unary("isqrt", INT, "int", math.isqrt,
      arguments=one_of((0,), (1,), (3,), (4,), (99,), (100,), (2147395599,), (2147395600,)))
FRACTIONS = one_of((0.5,), (0.25,), (-0.75,), (0.0,), (0.9,))
POSITIVE = one_of((1.0,), (2.0,), (0.25,), (1000.0,), (3.7,))
for _name, _arguments, _model in [
        ("reciprocal", POSITIVE, lambda x: 1.0 / x), ("sqrt", POSITIVE, math.sqrt),
        ("ln", POSITIVE, math.log), ("exp", FRACTIONS, math.exp), ("sin", FRACTIONS, math.sin),
        ("cos", FRACTIONS, math.cos), ("tan", FRACTIONS, math.tan), ("asin", FRACTIONS, math.asin),
        ("acos", FRACTIONS, math.acos), ("atan", POSITIVE, math.atan),
        ("sinh", FRACTIONS, math.sinh), ("cosh", FRACTIONS, math.cosh),
        ("tanh", FRACTIONS, math.tanh)]:
    unary(_name, FLOAT, "float", _model, arguments=_arguments)
row("log", FLOAT, ["float", "float"], "float", one_of((8.0, 2.0), (1.0, 10.0), (0.1, 10.0)),
    math.log)
row("expt", FLOAT, ["float", "float"], "float", one_of((2.0, 0.5), (9.0, -1.5), (1.0, 7.0)),
    lambda x, y: x ** y)
unary("one", NUMBER, T, lambda x: type(x)(1))
unary("zero", NUMBER, T, lambda x: type(x)(0))

# ---- 9.3 conversion ----

# Exact halves go toward plus infinity (15.2).
HALVES = one_of((2.6,), (-2.6,), (0.0,), (2.5,), (-2.5,), (-0.5,), (3.0,), (-7.25,), (1e9,))
unary("float", INT, "float", float)
unary("floor", FLOAT, "int", math.floor, arguments=HALVES)
unary("ceil", FLOAT, "int", math.ceil, arguments=HALVES)
unary("trunc", FLOAT, "int", math.trunc, arguments=HALVES)
unary("round", FLOAT, "int", lambda x: math.floor(x + 0.5), arguments=HALVES)
row("code_char", CHAR, ["int"], "char", one_of((97,), (32,), (126,), (65,)), lambda n: Char(chr(n)))
unary("char_code", CHAR, "int", lambda c: ord(c.c))
unary("float_num", NUMBER, "float", float)
row("int_to_any", NUMBER, ["int", T], T,
    lambda r, t, n: [value(r, "int"), value(r, t)], lambda n, x: type(x)(n))
row("float_to_any", NUMBER, ["float", T], T,
    lambda r, t, n: [value(r, "float"), value(r, t)],
    lambda x, y: x if isinstance(y, float) else math.floor(x + 0.5))
unary("identity", ANY, T, lambda t, x: identity(t), typed=True)
unary("string", ANY, STRING, lambda t, x: text(string(x, t)), typed=True)
unary("@", ANY, STRING, lambda t, x: text(string(x, t)), "@{0}", typed=True)

# ---- 9.4 building and indexing ----


def with_index(r, t, n):
    return [values(r, t, n), r.randrange(n)] if n else None


def steps(start, stride, end):
    return [start + i * stride for i in range(1 + int(abs(end - start) / abs(stride)))]


of_sequence("length", ANY, "int", len)
row("#", ANY, [seq], "int", lambda r, t, n: [values(r, t, n)], len, "#{0}")
row("elt", ANY, [seq, "int"], T, with_index, lambda v, i: v[i])
row("a[i]", ANY, [seq, "int"], T, with_index, lambda v, i: v[i], "{0}[{1}]")
row("dist", ANY, [T, "int"], seq, lambda r, t, n: [value(r, t), n], lambda x, n: [x] * n)
row("index", INT, ["int"], seq("int"), lambda r, t, n: [n], lambda n: list(range(n)))
RANGES = one_of((3, 3), (3, 4), (-2, 5), (0, 9), (-7, -3))
STRIDES = one_of((3, 3, 1), (3, 4, 5), (-2, 9, 3), (0, 9, 3), (-7, -3, 2), (0, 10, 3))
row("[s:e]", INT, ["int", "int"], seq("int"), RANGES, lambda s, e: list(range(s, e)), "[{0}:{1}]")
row("[s:e:d]", INT, ["int"] * 3, seq("int"), STRIDES, lambda s, e, d: list(range(s, e, d)),
    "[{0}:{1}:{2}]")
row("iseq", INT, ["int"] * 3, seq("int"), STRIDES, lambda s, e, d: list(range(s, e, d)),
    "iseq({0}, {2}, {1})")
row("fseq", FLOAT, ["float"] * 3, seq("float"),
    one_of((0.0, 0.5, 2.0), (1.0, 1.0, 1.0), (0.0, 0.75, 2.0), (1.0, -0.25, 0.0)), steps)
row("rep", ANY, [seq, T, "int"], seq,
    lambda r, t, n: [values(r, t, n), value(r, t), r.randrange(n)] if n else None,
    lambda v, x, i: v[:i] + [x] + v[i + 1:])
row("cons", ANY, [T, seq], seq, lambda r, t, n: [value(r, t), values(r, t, n)],
    lambda x, v: [x] + v)
row("snoc", ANY, [seq, T], seq, lambda r, t, n: [values(r, t, n), value(r, t)],
    lambda v, x: v + [x])


def two_sequences(r, t, n):
    return [values(r, t, n), values(r, t, r.choice([0, 1, 3]))]


row("++", ANY, [seq, seq], seq, two_sequences, lambda u, v: u + v, "{0} ++ {1}")
row("append", ANY, [seq, seq], seq, two_sequences, lambda u, v: u + v)
row("[x, y, z]", ANY, [T, T, T], seq, scalars(3), lambda x, y, z: [x, y, z], "[{0}, {1}, {2}]")
row("[x]", ANY, [T], seq, scalars(1), lambda x: [x], "[{0}]")
row("vpair", ANY, [T, T], seq, scalars(2), lambda x, y: [x, y])
row("vsep", ANY, [seq], lambda t: pair(t, t), lambda r, t, n: [values(r, t, 2)],
    lambda v: (v[0], v[1]))
of_sequence("head_rest", ANY, lambda t: pair(t, seq(t)), lambda v: (v[0], v[1:]), 1)
of_sequence("rest_tail", ANY, lambda t: pair(seq(t), t), lambda v: (v[:-1], v[-1]), 1)
row("first", ANY, [T, "int"], T, lambda r, t, n: [value(r, t), n], lambda x, y: x)
row("rest", ANY, ["int", T], T, lambda r, t, n: [n, value(r, t)], lambda x, y: y)
row("zip", ANY, [seq, seq("int")], lambda t: seq(pair(t, "int")),
    lambda r, t, n: [values(r, t, n), values(r, "int", n)], lambda u, v: list(zip(u, v)))
row("zip3", ANY, [seq("int"), seq, seq], lambda t: seq(pair("int", t, t)),
    lambda r, t, n: [values(r, "int", n), values(r, t, n), values(r, t, n)],
    lambda u, v, w: [val_pair(*x) for x in zip(u, v, w)])
row("unzip", ANY, [lambda t: seq(pair(t, "bool"))], lambda t: pair(seq(t), seq("bool")),
    lambda r, t, n: [values(r, pair(t, "bool"), n)], lambda v: ([x for x, _ in v], [y for _, y in v]))

# ---- 9.5 scans and reductions ----


def scanned(operation, start):
    def run(v):
        result, total = [], start(v)
        for x in v:
            result.append(total)
            total = operation(total, x)
        return result
    return run


def reduced(operation, start):
    def run(t, v):
        total = start(t)
        for x in v:
            total = operation(total, x)
        return total
    return run


def neutral(zero):
    """The identity in the type: False and True for bool."""
    return lambda t: {"int": zero, "float": float(zero), "bool": bool(zero)}[t]


def typed_scan(operation, start):
    return lambda t, v: scanned(operation, lambda _: start(t))(v)


def small(shortest, most):
    """Sequences whose products are small."""
    return lambda r, t, n: ([[{"int": int, "float": float}[t](r.randint(-most, most))
                              for _ in range(n)]] if n >= shortest else None)


for _name, _types, _operation, _zero in [
        ("plus_scan", NUMBER, lambda x, y: x + y, 0), ("or_scan", LOGICAL, lambda x, y: x | y, 0),
        ("and_scan", LOGICAL, lambda x, y: x & y, -1), ("xor_scan", LOGICAL, lambda x, y: x ^ y, 0)]:
    of_sequence(_name, _types, seq, typed_scan(_operation, neutral(_zero)), typed=True)
row("mult_scan", NUMBER, [seq], seq, small(0, 3),
    typed_scan(lambda x, y: x * y, neutral(1)), typed=True)
# The identities of maximum and minimum depend on the width: left out here.
row("max_scan", NUMBER, [seq], seq, lambda r, t, n: [values(r, t, n)] if n else None,
    lambda v: [max(v[:i]) for i in range(1, len(v))], "drop(max_scan({0}), 1)")
row("min_scan", NUMBER, [seq], seq, lambda r, t, n: [values(r, t, n)] if n else None,
    lambda v: [min(v[:i]) for i in range(1, len(v))], "drop(min_scan({0}), 1)")
of_sequence("sum", NUMBER, T, reduced(lambda x, y: x + y, neutral(0)), typed=True)
row("product", NUMBER, [seq], T, small(0, 3), reduced(lambda x, y: x * y, neutral(1)), typed=True)
of_sequence("any", LOGICAL, T, reduced(lambda x, y: x | y, neutral(0)), typed=True)
of_sequence("all", LOGICAL, T, reduced(lambda x, y: x & y, neutral(-1)), typed=True)
of_sequence("parity", LOGICAL, T, reduced(lambda x, y: x ^ y, neutral(0)), typed=True)
of_sequence("max_val", ORDINAL, T, max, 1)
of_sequence("min_val", ORDINAL, T, min, 1)
of_sequence("count", BOOL, "int", sum)
of_sequence("enumerate", BOOL, seq("int"), lambda v: [sum(v[:i]) for i in range(len(v))])
of_sequence("max_index", ORDINAL + [pair("int", "float"), STRING], "int", lambda v: v.index(max(v)), 1)
of_sequence("min_index", ORDINAL, "int", lambda v: v.index(min(v)), 1)
row("map", INT, [seq], seq, lambda r, t, n: [values(r, t, n)], lambda v: [x * 2 + 1 for x in v],
    "map(x => x * 2 + 1, {0})")

# ---- 9.6 rearranging ----


def positions(r, length, count):
    return [r.randrange(length) for _ in range(count)] if length else []


def reading(r, t, n):
    return [values(r, t, n), positions(r, n, r.randint(0, 6))]


def written(v, writes):
    v = list(v)
    for i, x in writes:
        v[i] = x
    return v


def shuffled(r, n):
    return r.sample(range(n), n)


def halves(r, t, n):
    """Two sequences and flags that say which comes next."""
    flags = values(r, "bool", n)
    return [flags, values(r, t, n - sum(flags)), values(r, t, sum(flags))]


def merged(flags, u, v):
    u, v = iter(u), iter(v)
    return [next(v) if c else next(u) for c in flags]


def permuted(v, i):
    result = [None] * len(v)
    for x, k in zip(v, i):
        result[k] = x
    return result


def joined(r, t, n):
    order = shuffled(r, n)
    half = r.randint(0, n)
    return [values(r, t, half), order[:half], values(r, t, n - half), order[half:]]


for _name, _call in [("->", "{0} -> {1}"), ("read", None), ("get", None)]:
    row(_name, ANY, [seq, seq("int")], seq, reading, lambda v, i: [v[k] for k in i], _call)
for _name, _call in [("<-", "{0} <- {1}"), ("write", None)]:
    row(_name, ANY, [seq, lambda t: seq(pair("int", t))], seq,
        lambda r, t, n: [values(r, t, n),
                         [(i, value(r, t)) for i in positions(r, n, r.randint(0, 4))]], written, _call)
row("put", ANY, [seq, seq("int"), seq], seq,
    lambda r, t, n: (lambda i: [values(r, t, len(i)), i, values(r, t, n)])(
        positions(r, n, r.randint(0, 4))),
    lambda x, i, v: written(v, zip(i, x)))
row("cond_put", ANY, [seq, seq("int"), seq("bool"), seq], seq,
    lambda r, t, n: (lambda i: [values(r, t, len(i)), i, values(r, "bool", len(i)),
                                values(r, t, n)])(positions(r, n, r.randint(0, 4))),
    lambda x, i, c, v: written(v, [(k, y) for k, y, on in zip(i, x, c) if on]))
row("permute", ANY, [seq, seq("int")], seq,
    lambda r, t, n: [values(r, t, n), shuffled(r, n)], permuted)
row("rotate", ANY, [seq, "int"], seq,
    lambda r, t, n: [values(r, t, n), r.choice([0, 1, -1, 2, n, 3 * n + 1, -n - 2])],
    lambda v, k: [v[(i - k) % len(v)] for i in range(len(v))])
of_sequence("reverse", ANY, seq, lambda v: v[::-1])
row("previous", ANY, [seq, T], seq, lambda r, t, n: [values(r, t, n), value(r, t)],
    lambda v, x: ([x] + v)[:len(v)])
row("next", ANY, [seq, T], seq, lambda r, t, n: [values(r, t, n), value(r, t)],
    lambda v, x: (v + [x])[1:])


def counted(r, t, n):
    return [values(r, t, n), r.randint(-n, n)]


row("take", ANY, [seq, "int"], seq, counted, lambda v, n: v[:n] if n >= 0 else v[len(v) + n:])
row("drop", ANY, [seq, "int"], seq, counted, lambda v, n: v[n:] if n >= 0 else v[:len(v) + n])
row("subseq", ANY, [seq, "int", "int"], seq,
    lambda r, t, n: [values(r, t, n), *sorted([r.randint(0, n), r.randint(0, n)])],
    lambda v, s, e: v[s:e])
of_sequence("odd_elts", ANY, seq, lambda v: v[1::2])
of_sequence("even_elts", ANY, seq, lambda v: v[::2])
row("interleave", ANY, [seq, seq], seq,
    lambda r, t, n: [values(r, t, n + r.randint(0, 1)), values(r, t, n)],
    lambda u, v: [w[i // 2] for i in range(len(u) + len(v)) for w in [(u, v)[i % 2]]])
row("pack", ANY, [lambda t: seq(pair(t, "bool"))], seq,
    lambda r, t, n: [values(r, pair(t, "bool"), n)], lambda v: [x for x, c in v if c])
of_sequence("pack_index", BOOL, seq("int"), lambda v: [i for i, c in enumerate(v) if c])
row("unpack", ANY, [seq, seq("bool")], seq,
    lambda r, t, n: (lambda c: [values(r, t, sum(c)), c])(values(r, "bool", n)),
    lambda t, v, c: merged(c, [identity(t)] * len(c), v), typed=True)
row("flag_merge", ANY, [seq("bool"), seq, seq], seq, halves, merged)
row("join", ANY, [seq, seq("int"), seq, seq("int")], seq, joined,
    lambda u, i, v, j: permuted(u + v, i + j))


def ranks(v, descending=False):
    order = sorted(range(len(v)), key=lambda i: v[i], reverse=descending)
    return [order.index(i) for i in range(len(v))]


of_sequence("rank", NUMBER, seq("int"), ranks)
of_sequence("rank_down", NUMBER, seq("int"), lambda v: ranks(v, True))
of_sequence("char_rank", CHAR, seq("int"), ranks)
of_sequence("sort", NUMBER, seq, sorted)
row("kth_smallest", ORDINAL, [seq, "int"], T, with_index, lambda v, k: sorted(v)[k])
of_sequence("median", ORDINAL + [pair("int", "float"), STRING], T, lambda v: sorted(v)[len(v) // 2], 1)

# ---- 9.7 nesting ----


def cut(v, counts):
    runs, at = [], 0
    for n in counts:
        runs.append(v[at:at + n])
        at += n
    return runs


def with_counts(r, t, n):
    counts = [r.choice([0, 0, 1, 2, 3]) for _ in range(n)]
    return [values(r, t, sum(counts)), counts]


def starts(flags):
    at = [i for i, c in enumerate(flags) if c or i == 0] + [len(flags)]
    return [b - a for a, b in zip(at, at[1:])]


def between(v, flags):
    runs = [[]]
    for x, c in zip(v, flags):
        if c:
            runs.append([])
        else:
            runs[-1].append(x)
    return [p for p in runs if p]


def split_index(flags):
    n = len(flags) - sum(flags)
    order = [i for i, c in enumerate(flags) if not c] + [i for i, c in enumerate(flags) if c]
    return ([n, sum(flags)], [order.index(i) for i in range(len(flags))])


def with_flags(first=None):
    def make(r, t, n):
        flags = values(r, "bool", n)
        return [values(r, t, n), [first, *flags[1:]] if n and first is not None else flags]
    return make


def nested(t):
    return seq(seq(t))


row("flatten", ANY, [nested], seq, lambda r, t, n: [values(r, seq(t), n)],
    lambda v: [x for w in v for x in w])
row("partition", ANY, [seq, seq("int")], nested, with_counts, cut)
row("split", ANY, [seq, seq("bool")], nested, with_flags(),
    lambda v, flags: [[x for x, c in zip(v, flags) if c == side] for side in (False, True)])
of_sequence("split_index", BOOL, pair(seq("int"), seq("int")), split_index)
of_sequence("bottop", ANY, nested, lambda v: [v[:(len(v) + 1) // 2], v[(len(v) + 1) // 2:]])
row("transpose", ANY, [nested], nested,
    lambda r, t, n: (lambda m: [[values(r, t, m) for _ in range(n)]])(r.choice([0, 1, 2, 3])),
    lambda v: [list(w) for w in zip(*v)])
row("group_by", ANY, [seq, "int"], nested,
    lambda r, t, n: [values(r, t, n), r.choice([1, 2, 3, 7])],
    lambda v, k: [v[i:i + k] for i in range(0, len(v), k)])
row("flag_partition", ANY, [seq, seq("bool")], nested, with_flags(True),
    lambda v, flags: cut(v, starts(flags)))
of_sequence("length_from_flags", BOOL, seq("int"), starts)
row("group_by_separator_flags", ANY, [seq, seq("bool")], nested, with_flags(), between)

# ---- 9.8 what is determined of it ----


def found(x, v):
    return v.index(x) if x in v else -1


def look_for(r, t, n):
    v = values(r, t, n)
    return [r.choice(v) if v and r.random() < 0.6 else value(r, t), v]


def look_for_all(r, t, n):
    v = values(r, t, n)
    a = r.randint(0, n)
    return [v[a:r.randint(a, min(n, a + 2))], v]


row("find", ANY, [T, seq], "int", look_for, found)
row("search_for_subseqs", ANY, [seq, seq], seq("int"), look_for_all,
    lambda u, v: [i for i in range(len(v) - len(u) + 1) if v[i:i + len(u)] == u])
row("int_collect", ANY, [lambda t: seq(pair("int", t))], lambda t: seq(pair("int", seq(t))),
    lambda r, t, n: [[(r.randint(-1, 2), value(r, t)) for _ in range(n)]],
    lambda v: [(k, [x for j, x in v if j == k]) for k in sorted({j for j, _ in v})])

# ---- 9.9 strings ----


def strings(*choices):
    return one_of(*[tuple(text(x) if isinstance(x, str) else x for x in c) for c in choices])


def words(s, separators):
    result = [""]
    for c in plain(s):
        if c in separators:
            result.append("")
        else:
            result[-1] += c
    return [text(w) for w in result if w]


def parsed(allow_sign):
    def run(s):
        s = plain(s)
        sign = 1
        if allow_sign and s and s[0] in "+-":
            sign, s = (-1 if s[0] == "-" else 1), s[1:]
        digits = s[:next((i for i, c in enumerate(s) if not c.isdigit()), len(s))]
        return (sign * int(digits or "0"), digits != "" and digits == s)
    return run


def parsed_words(s):
    each = [parsed(True)(w) for w in words(s, " ")]
    return ([n for n, _ in each], all(good for _, good in each))


def filled(s, width):
    lines = []
    for w in (plain(w) for w in words(s, " ")):
        if lines and len(lines[-1]) + 1 + len(w) <= width:
            lines[-1] += " " + w
        else:
            lines.append(w)
    return [text(line) for line in lines]


def padded(s, n):
    s = plain(s)
    return text(s.ljust(n) if n >= 0 else s.rjust(-n))


def scientific(x, d):
    if x == 0:
        return text("0.0")
    mantissa, exponent = format(x, ".%de" % d).split("e")
    return text("%se%s%d" % (mantissa, exponent[0], int(exponent[1:])))


def string_row(name, parameters, result, arguments, model, call=None):
    row(name, CHAR, parameters, result, arguments, model, call)


NUMERALS = strings(("",), ("7",), ("-12",), ("+5",), ("12x",), ("x",), ("-",), ("007",), ("1 2",))
TEXTS = strings(("",), ("a",), (" to be  or not ",), ("   ",), ("x yy zzz",), ("one",))
string_row("||", [STRING, "int"], STRING,
           strings(("", 3), ("ab", 4), ("ab", -4), ("abc", 2), ("abc", -3), ("abc", 0)), padded,
           "{0} || {1}")
row("int_string", INT, ["int"], STRING, scalars(1), lambda n: text(str(n)))
row("float_string", FLOAT, ["float"], STRING, scalars(1), lambda x: text(float_string(x)))
row("bool_string", BOOL, ["bool"], STRING, scalars(1), lambda b: text("t" if b else "f"))
row("char_string", CHAR, ["char"], STRING, scalars(1), lambda c: text("`" + c.c))
row("exp_string", FLOAT, ["float", "int"], STRING,
    one_of((1234.56, 3), (0.0, 2), (-0.00125, 1), (1.0, 0), (6.02e23, 2), (123456.0, 8)),
    scientific)
string_row("lowercase", ["char"], "char", scalars(1), lambda c: Char(c.c.lower()))
string_row("uppercase", ["char"], "char", scalars(1), lambda c: Char(c.c.upper()))
string_row("string_eql", [STRING, STRING], "bool",
           strings(("", ""), ("aB", "Ab"), ("ab", "abc"), ("a[", "A{"), ("xyz", "XYZ")),
           lambda s, u: plain(s).lower() == plain(u).lower())
string_row("digitp", ["char"], "bool", scalars(1), lambda c: c.c.isdigit())
string_row("wordify", [STRING], seq(STRING), TEXTS, lambda s: words(s, " "))
string_row("linify", [STRING], seq(STRING),
           strings(("",), ("a",), ("a;",), (";",), (";;x",), ("ab;c;;",)),
           lambda s: [text(x) for x in plain(s).replace(";", "\n").splitlines()],
           "linify({{if c == `; then newline else c : c in {0}}})")
string_row("group_by_space", [STRING, STRING], seq(STRING),
           strings(("", ",;"), ("a,b;;c", ",;"), (",", ","), ("abc", ""), ("a b", " ")),
           lambda s, u: words(s, plain(u)))
string_row("parse_int", [STRING], pair("int", "bool"), NUMERALS, parsed(True))
string_row("parse_unsigned_int", [STRING], pair("int", "bool"), NUMERALS, parsed(False))
string_row("parse_int_vect", [STRING], pair(seq("int"), "bool"),
           strings(("",), ("1 -2 3",), ("4 x 5",), ("  9 ",)), parsed_words)
string_row("parse_float", [STRING], pair("float", "bool"),
           strings(("",), ("1.5",), ("-2e3",), (".5",), ("5.",), ("+12.25e-1",), ("1.5x",)),
           lambda s: {"": (0.0, False), "1.5x": (0.0, False)}.get(plain(s))
           or (float(plain(s)), True))
string_row("justify_text", [STRING, "int"], seq(STRING),
           strings(("", 5), ("a bc def", 4), ("toolongword a b", 3), ("a b c d e", 100),
                   (" aa bb  cc dd ee ", 5)), filled)
