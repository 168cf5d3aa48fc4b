"""Programs as people write them: the same results as Python's, one by one and all at once."""
# pylint: disable=multiple-statements

import math
import unittest

import ravel as rv
from function_test import FunctionTest, value

NONE = rv.array([], "[int]")


def late(n):
    def g(x): return x + n
    n = n * 2
    a = g(1)
    n = n + 100
    return a, g(1)


def higher(v, n):
    def repeat(g, x, k):
        return x if k == 0 else repeat(g, g(x), k - 1)
    def compose(f, g, x): return f(g(x))
    return ([repeat(lambda y: y * n + x, x, 3) for x in v],
            compose(lambda a: a + n, lambda b: compose(lambda c: c * n, abs, b), -7))


def loops(vs):
    total = 0
    for v in vs:
        for x in v:
            if x == 3: break
            for k in range(x):
                if k == 2: continue
                if k > 5: return -total
                total += k
        else_ = total
        if else_ > 40: break
    return total


def first_true(v):
    while True:
        if not v: return -1
        if v[0] > 0: return v[0]
        v = v[1:]


def tree(depth, x):
    if depth == 0: return [x]
    return [y for k in range(2) for y in tree(depth - 1, 2 * x + k)]


def hanoi(n, a, b, c):
    if n == 0: return []
    return hanoi(n - 1, a, c, b) + [(a, b)] + hanoi(n - 1, c, b, a)


def primes(n):
    if n <= 2: return [2] if n == 2 else []
    small = primes(math.isqrt(n))
    return [p for p in range(2, n + 1) if all([p % q != 0 or p == q for q in small])]


def matmul(a, b):
    cols = [[row[j] for row in b] for j in range(len(b[0]))]
    return [[sum(x * y for x, y in zip(r, c)) for c in cols] for r in a]


def words(s):
    found, word = [], ""
    for c in s + " ":
        if c == " ":
            if word: found = found + [word]
            word = ""
        else: word += c
    return found


def merge(a, b):
    if not a: return b
    if not b: return a
    return [a[0]] + merge(a[1:], b) if a[0] <= b[0] else [b[0]] + merge(a, b[1:])


def gcds(a, b):
    while b: a, b = b, a % b
    return a


def fib(n):
    a, b = 0, 1
    for _ in range(n): a, b = b, a + b
    return a


def quick_select(v, k):
    p = v[len(v) // 2]
    lo, hi = [x for x in v if x < p], [x for x in v if x > p]
    if k < len(lo): return quick_select(lo, k)
    n = len(v) - len(hi)
    return p if k < n else quick_select(hi, k - n)


def conv(v, w):
    return [sum([v[i + j] * w[j] for j in range(len(w))]) for i in range(len(v) - len(w) + 1)]


def histogram(v, n): return [sum(1 for x in v if x == k) for k in range(n)]


def queens(n, row, cols):
    if row == n: return 1
    return sum(queens(n, row + 1, cols + [c]) for c in range(n)
               if all(c != k and abs(c - k) != row - r for r, k in enumerate(cols)))


def bools(a, b): return a == (b > 2), a != b, (a and b) == 3, not a or b, [a] * b


def cond(x):
    y: int = 5
    if x > 3: y = x
    elif x > 1: pass
    else: y = y - x
    z = y if y > 2 else -y
    return y, z


def newton(x):
    y, old = x, 0.0
    while abs(y - old) > 1e-12 * y:
        old = y
        y = (y + x / y) / 2
    return round(y * 1e6)


def empty(n):
    r = []
    for i in range(n):
        r = r + [[i] * i]
    return r, [len(x) for x in r], [x for x in r if x]


def deep(vs): return [[[x + 1 for x in v if x] for v in w if v] for w in vs]


# A function, and lists of arguments for it.
CALLS = (
    (late, (3,)),
    (higher, ([1, 2], 2)),
    (loops, ([[1, 2, 3, 4], [5]],), ([[9]],), ([[4, 4, 4], [5, 5, 5, 5, 5, 5, 5]],)),
    (first_true, ([0, -1, 5],), ([0],)),
    (tree, (3, 1)),
    (hanoi, (3, 0, 1, 2)),
    (primes, (50,)),
    (matmul, ([[1, 2], [3, 4]], [[5.0, 6], [7, 8]])),
    (words, ("the quick  fox",)),
    (merge, ([1, 4, 6], [2, 3, 9])),
    (gcds, (48, 18)),
    (fib, (50,), (0,)),
    (quick_select, ([5, 1, 4, 2, 3], 3)),
    (conv, ([1, 2, 3, 4], [1, -1])),
    (histogram, ([1, 2, 2, 0], 4)),
    (queens, (5, 0, NONE), (6, 0, NONE)),
    (bools, (True, 3), (False, 2)),
    (cond, (1,), (2,), (7,)),
    (newton, (2.0,), (10.0,)),
    (empty, (4,)),
    (deep, ([[[1, 0], []], [[2]]],)),
)


def plain(arguments):
    return [each.to_list() if isinstance(each, rv.Array) else each for each in arguments]


class Examples(FunctionTest):
    def test_each(self):
        for function, *rows in CALLS:
            for arguments in rows:
                with self.subTest(function.__name__, arguments=arguments):
                    self.assertEqual(value(rv.function(function)(*arguments)),
                                     value(function(*plain(arguments))))

    def test_by_map(self):
        for function, *rows in CALLS:
            if not any(each is NONE for row in rows for each in row):
                columns = [list(column) * 2 for column in zip(*rows)]
                with self.subTest(function.__name__):
                    self.assertEqual(value(rv.map(rv.function(function), *columns)),
                                     [value(function(*row)) for row in rows] * 2)


if __name__ == "__main__":
    unittest.main()
