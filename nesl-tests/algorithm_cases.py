"""algorithm_cases.py - small nested-parallel programs, random data for them, and the same computed
in Python, by another method if there is one. Rows as in library_cases.py; library.py runs them
in the same ways, so each is also called in parallel, nested, within conditionals, for no data.
"""

import cmath
import itertools
import math

from library_cases import Row
from library_model import STRING, Char, pair, plain, seq, text

ALGORITHMS = []
GRAPH, INTS, WEIGHTS = seq(seq("int")), seq("int"), seq(pair("int", "int"))
POINT, COMPLEX = pair("int", "int"), pair("float", "float")


def algorithm(name, source, parameters, result, arguments, model, double=False):
    """source: definitions of NESL, the last one of the function `name`. double: its floats need
    double precision to agree."""
    holes = ", ".join("{%d}" % i for i in range(len(parameters)))
    row = Row(name, "%s(%s)" % (name, holes), ["int"], lambda t: list(parameters),
              lambda t: result, lambda r, t, n: arguments(r, n), model)
    row.definitions = [line for line in source.strip().split("\n") if line]
    row.double = double
    ALGORITHMS.append(row)


def ints(r, n, most=20):
    return [r.randint(-most, most) for _ in range(n)]


# ---- sorting ----

algorithm("quicksort", """
function quicksort(s) = if #s < 2 then s else let p = s[#s / 2]; r = {quicksort(w) : w in [{x in s | x < p}, {x in s | x > p}]} in r[0] ++ {x in s | x == p} ++ r[1];
""", [INTS], INTS, lambda r, n: [ints(r, 3 * n)], sorted)

algorithm("odd_even", """
function exchange(v, k) = let n = #v; w = {if i >= k and rem(i - k, 2) == 0 and i + 1 < n then min(v[i], v[i + 1]) else if i > k and rem(i - k, 2) == 1 then max(v[i - 1], v[i]) else v[i] : i in index(n)} in w;
function rounds(v, k) = if k == 0 then v else rounds(exchange(v, rem(k, 2)), k - 1);
function odd_even(v) = rounds(v, #v + 1);
""", [INTS], INTS, lambda r, n: [ints(r, n)], sorted)

algorithm("radix_sort", """
function by_bit(v, b) = if b == 0 then v else let w = by_bit(v, b - 1) in flatten(split(w, {oddp(rshift(x, b - 1)) : x in w}));
function radix_sort(v) = by_bit(v, 10);
""", [INTS], INTS, lambda r, n: [[r.randrange(1024) for _ in range(3 * n)]], sorted)

# ---- numbers ----


def primes_below(n):
    return [p for p in range(2, n) if all(p % q for q in range(2, p))]


def bits_of(x):
    return [x >> i & 1 for i in range(max(x.bit_length(), 1))]


algorithm("primes", """
function primes(n) = if n <= 2 then [] int else let small = primes(isqrt(n - 1) + 1); sieved = flatten({[2 * p : max(n, 2 * p) : p] : p in small}); flags = dist(t, n) <- {(i, f) : i in sieved} in drop({i : i in index(n); prime in flags | prime}, 2);
""", ["int"], INTS, lambda r, n: [r.choice([2, 3, 4, 30, 49, 100, 7 * n])], primes_below)

algorithm("add_bits", """
function carry((g, p), (h, q)) = (h or (q and g), p and q);
function add_bits(u, v) = let n = max(#u, #v) + 1; a = u ++ dist(0, n - #u); b = v ++ dist(0, n - #v); (c, last) = scan((x, y) => carry(x, y), (f, t), {(x + y == 2, x + y == 1) : x in a; y in b}); s = {rem(x + y + btoi(k), 2) : x in a; y in b; (k, p) in c} in if s[n - 1] == 0 then drop(s, -1) else s;
""", [INTS, INTS], INTS,
          lambda r, n: [bits_of(r.randrange(2 ** (3 * n + 1))), bits_of(r.randrange(2 ** (n + 1)))],
          lambda u, v: (lambda x: [x >> i & 1 for i in range(max(x.bit_length(), len(u), len(v)))])(
              sum(b << i for i, b in enumerate(u)) + sum(b << i for i, b in enumerate(v))))

def trapezoids(g, a, b, depth):
    m = (a + b) / 2
    whole = (g(a) + g(b)) * (b - a) / 2
    halves = (whole + g(m) * (b - a)) / 2
    if depth == 0 or abs(whole - halves) < 1e-9:
        return halves
    return trapezoids(g, a, m, depth - 1) + trapezoids(g, m, b, depth - 1)


algorithm("integral", """
function halved(g, a, b, depth) = let m = (a + b) / 2.0; whole = (g(a) + g(b)) * (b - a) / 2.0; halves = (whole + g(m) * (b - a)) / 2.0 in if depth == 0 or abs(whole - halves) < 1.0e-9 then halves else sum({halved(g, x, y, depth - 1) : (x, y) in [(a, m), (m, b)]});
function integral(a, b) = halved(x => x * x * x - x, a, b, 9);
""", ["float", "float"], "float", lambda r, n: [0.0, float(n)],
          lambda a, b: trapezoids(lambda x: x ** 3 - x, a, b, 9), double=True)

algorithm("fourier", """
function fourier(v) = if #v == 1 then v else let n = #v; w = {fourier(x) : x in [even_elts(v), odd_elts(v)]}; e = w[0]; o = {(a * c - b * s, a * s + b * c) : (a, b) in w[1]; (c, s) in {(cos(x), sin(x)) : x in {-2.0 * pi * float(i) / float(n) : i in index(n / 2)}}} in {(a + c, b + d) : (a, b) in e; (c, d) in o} ++ {(a - c, b - d) : (a, b) in e; (c, d) in o};
""", [seq(COMPLEX)], seq(COMPLEX),
          lambda r, n: [[(float(r.randint(-3, 3)), float(r.randint(-3, 3)))
                         for _ in range(1 << n // 2)]],
          lambda v: [(s.real, s.imag) for k in range(len(v)) for s in [sum(
              complex(*x) * cmath.exp(-2j * math.pi * k * i / len(v)) for i, x in enumerate(v))]],
          double=True)

# ---- graphs, as lists of neighbours ----


def graph(r, n):
    edges = {(i, j) for i in range(n) for j in range(i) if r.random() < 1.6 / n}
    return [[j for j in range(n) if (i, j) in edges or (j, i) in edges] for i in range(n)]


def distances(g, s):
    d, front, level = [-1] * len(g), [s], 0
    while front:
        for u in front:
            d[u] = level
        front, level = sorted({v for u in front for v in g[u] if d[v] < 0}), level + 1
    return d


def least_reachable(n, edges):
    label = list(range(n))
    for _ in range(n):
        for a, b in edges:
            label[a] = label[b] = min(label[a], label[b])
    return label


algorithm("bfs", """
function level(g, front, d, k) = if #front == 0 then d else let next = remove_duplicates({v in flatten({g[u] : u in front}) | d[v] < 0}) in level(g, next, d <- {(v, k) : v in next}, k + 1);
function bfs(g, s) = level(g, [s], rep(dist(-1, #g), 0, s), 1);
""", [GRAPH, "int"], INTS, lambda r, n: [graph(r, n + 3), r.randrange(n + 3)], distances)

algorithm("components", """
function shortcut(l) = let m = l -> l in if eql(m, l) then l else shortcut(m);
function hook(l, e) = let r = {(max(l[a], l[b]), min(l[a], l[b])) : (a, b) in e | l[a] /= l[b]} in if #r == 0 then l else hook(shortcut(l <- r), e);
function components(n, e) = hook(index(n), e);
""", ["int", WEIGHTS], INTS,
          lambda r, n: [2 * n + 2, [(r.randrange(2 * n + 2), r.randrange(2 * n + 2))
                                    for _ in range(n)]], least_reachable)

algorithm("triangles", """
function triangles(g) = sum({sum({count({any({w == x : x in g[u]}) : w in g[v] | w > v}) : v in g[u] | v > u}) : u in index(#g)});
""", [GRAPH], "int", lambda r, n: [graph(r, n + 2)],
          lambda g: sum(1 for a, b, c in itertools.combinations(range(len(g)), 3)
                        if b in g[a] and c in g[a] and c in g[b]))

# ---- matrices ----


def sparse(r, rows, columns):
    return [[(j, r.randint(-5, 5)) for j in range(columns) if r.random() < 0.4]
            for _ in range(rows)]


def product(a, b):
    rows = []
    for row in a:
        total = {}
        for i, x in row:
            for j, y in b[i]:
                total[j] = total.get(j, 0) + x * y
        rows.append(sorted(total.items()))
    return rows


algorithm("times_vector", """
function times_vector(a, x) = {sum({y * x[i] : (i, y) in row}) : row in a};
""", [seq(WEIGHTS), INTS], INTS, lambda r, n: [sparse(r, n, n + 1), ints(r, n + 1)],
          lambda a, x: [sum(y * x[i] for i, y in row) for row in a])

algorithm("times", """
function times(a, b) = {{(j, sum(v)) : (j, v) in int_collect(flatten({{(j, x * y) : (j, y) in b[i]} : (i, x) in row}))} : row in a};
""", [seq(WEIGHTS), seq(WEIGHTS)], seq(WEIGHTS),
          lambda r, n: [sparse(r, n, 4), sparse(r, 4, 5)], product)

algorithm("life", """
function life(b) = let c = {{btoi(x) : x in r} : r in b}; v = {{x + y + z : x in p; y in q; z in r} : p in rotate(c, 1); q in c; r in rotate(c, -1)}; w = {{x + y + z : x in rotate(r, 1); y in r; z in rotate(r, -1)} : r in v} in {{n == 3 or (alive and n == 4) : n in p; alive in q} : p in w; q in b};
""", [seq(seq("bool"))], seq(seq("bool")),
          lambda r, n: [[[r.random() < 0.4 for _ in range(5)] for _ in range(n)]],
          lambda b: [[(lambda n: n == 3 or b[i][j] and n == 4)(sum(
              b[(i + k) % len(b)][(j + m) % 5] for k in (-1, 0, 1) for m in (-1, 0, 1)))
              for j in range(5)] for i in range(len(b))])

# ---- text ----


def letters(r, n, alphabet="ab"):
    return text("".join(r.choice(alphabet) for _ in range(n)))


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, c in enumerate(a, 1):
        row, before = [i], row
        for j, d in enumerate(b, 1):
            row.append(min(before[j] + 1, row[-1] + 1, before[j - 1] + (c != d)))
    return row[-1]


algorithm("edit", """
function edit_rows(row, a, b) = if #a == 0 then row[#row - 1] else let c = a[0]; step = [row[0] + 1] ++ {min(p + 1, q + (if c == x then 0 else 1)) : p in drop(row, 1); q in drop(row, -1); x in b}; low = drop(min_scan({x - j : x in step; j in index(#step)} ++ [0]), 1) in edit_rows({x + j : x in low; j in index(#low)}, drop(a, 1), b);
function edit(a, b) = edit_rows(index(#b + 1), a, b);
""", [STRING, STRING], "int", lambda r, n: [letters(r, n, "abc"), letters(r, n + 1, "abc")],
          edit_distance)

algorithm("suffixes", """
function ranked(keys) = let p = rank(keys); s = permute(keys, p); d = plus_scan({btoi(a /= b) : a in s; b in next(s, -1)}) in d -> p;
function doubled(r, k) = if k >= #r then r else let n = #r in doubled(ranked({a * (n + 1) + (if i + k < n then r[i + k] + 1 else 0) : a in r; i in index(n)}), 2 * k);
function suffixes(s) = permute(index(#s), doubled(ranked({char_code(c) : c in s}), 1));
""", [STRING], INTS, lambda r, n: [letters(r, 2 * n)],
          lambda s: sorted(range(len(s)), key=lambda i: plain(s)[i:]))

algorithm("run_lengths", """
function run_lengths(s) = let starts = {i in index(#s) | i == 0 or s[i] /= s[max(i - 1, 0)]} in {(s[i], j - i) : i in starts; j in next(starts, #s)};
""", [STRING], seq(pair("char", "int")), lambda r, n: [letters(r, 2 * n)],
          lambda s: [(Char(c), len(list(g))) for c, g in itertools.groupby(plain(s))])

algorithm("balanced", """
function balanced(s) = let d = {(if c == `( then 1 else -1) : c in s}; depth = plus_scan(d ++ [0]) in all({x >= 0 : x in depth}) and sum(d) == 0;
""", [STRING], "bool",
          lambda r, n: [text("(" * n + ")" * n) if n % 2 else letters(r, 2 * n, "()")],
          lambda s: sum((1 if c == "(" else -1) for c in plain(s)) == 0 and all(
              sum((1 if c == "(" else -1) for c in plain(s)[:i]) >= 0 for i in range(len(s))))

algorithm("word_counts", """
function word_counts(s) = sort({n : (w, n) in histogram(wordify(s))});
""", [STRING], INTS, lambda r, n: [letters(r, 5 * n, "ab  ")],
          lambda s: sorted(plain(s).split().count(w) for w in set(plain(s).split())))

# ---- search, geometry, recursion of every shape ----


def placements(n, q):
    return sum(all(abs(p[i] - p[j]) != j - i for i in range(n) for j in range(i + 1, n))
               for p in itertools.permutations(range(n)) if list(p[:len(q)]) == q)


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def hull(points):
    def half_hull(ps):
        h = []
        for p in ps:
            while len(h) > 1 and cross(h[-2], h[-1], p) <= 0:
                h.pop()
            h.append(p)
        return h[:-1]
    ps = sorted(points)
    return sorted(half_hull(ps) + half_hull(ps[::-1]))


algorithm("queens", """
function safe(q, c) = all({c /= x and abs(c - x) /= #q - i : x in q; i in index(#q)});
function queens(n, q) = if #q == n then 1 else sum({queens(n, snoc(q, c)) : c in index(n) | safe(q, c)});
""", ["int", INTS], "int", lambda r, n: [n % 6 + 1, []], placements)

algorithm("hull_points", """
function cross((ox, oy), (ax, ay), (bx, by)) = (ax - ox) * (by - oy) - (ay - oy) * (bx - ox);
function beyond(ps, p, q) = let c = {cross(p, q, o) : o in ps}; far = {o : o in ps; x in c | x > 0} in if #far < 2 then [p] ++ far else let (x, m) = max_val(zip(c, ps)) in flatten({beyond(far, a, b) : (a, b) in [(p, m), (m, q)]});
function hull_points(ps) = let p = min_val(ps); q = max_val(ps); h = beyond(ps, p, q) ++ beyond(ps, q, p); k = {x * 10000 + y : (x, y) in h} in permute(h, rank(k));
""", [seq(POINT)], seq(POINT),
          lambda r, n: [list(zip([r.randrange(9 + 99 * n) for _ in range(2 * n + 3)],
                                 [r.randrange(9 + 99 * n) for _ in range(2 * n + 3)]))], hull)

algorithm("increasing", """
function grown(v, d) = if #d == #v then max_val([0] ++ d) else grown(v, snoc(d, 1 + max_val([0] ++ {k : k in d; x in take(v, #d) | x < v[#d]})));
function increasing(v) = grown(v, [] int);
""", [INTS], "int", lambda r, n: [ints(r, n)],
          lambda v: max([0] + [len(s) for k in range(1, len(v) + 1)
                               for s in itertools.combinations(v, k)
                               if all(a < b for a, b in zip(s, s[1:]))]))

algorithm("subsets", """
function subsets(v) = if #v == 0 then [[] int] else let w = subsets(drop(v, 1)) in w ++ {cons(v[0], x) : x in w};
""", [INTS], seq(INTS), lambda r, n: [ints(r, n % 4)],
          lambda v: [[x for x, c in zip(v, c) if c]
                     for c in itertools.product([False, True], repeat=len(v))])

algorithm("josephus", """
function josephus(n, k) = if n == 1 then 0 else rem(josephus(n - 1, k) + k, n);
""", ["int", "int"], "int", lambda r, n: [3 * n + 1, r.randint(1, 5)],
          lambda n, k: (lambda f: f(f, n))(lambda f, m: 0 if m == 1 else (f(f, m - 1) + k) % m))

algorithm("heights", """
function height(children, v) = 1 + max_val([0] ++ {height(children, c) : c in children[v]});
function heights(children) = {height(children, v) : v in index(#children)};
""", [GRAPH], INTS,
          lambda r, n: [(lambda up: [[c for c in range(1, n + 1) if up[c] == v]
                                     for v in range(n + 1)])(
              [0] + [r.randrange(c) for c in range(1, n + 1)])],
          lambda g: (lambda f: [f(f, v) for v in range(len(g))])(
              lambda f, v: 1 + max([0] + [f(f, c) for c in g[v]])))
