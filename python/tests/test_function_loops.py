"""Loops in translated functions: the same results as Python's."""

import unittest

import ravel as rv
from function_test import FunctionTest


class Loops(FunctionTest):
    def test_loops(self):
        def collatz(n):
            steps = 0
            while n != 1:
                n = n // 2 if n % 2 == 0 else 3 * n + 1
                steps += 1
            return steps

        def find(v, x):
            for i in range(len(v)):
                if v[i] == x:
                    return i
            return -1

        def search(vs, limit):
            total = 0.0
            best = -1
            for k, v in enumerate(vs):
                part = 0
                for x in v:
                    if x < 0:
                        continue
                    if x > limit:
                        break
                    part += x
                else_ = part * 2
                if part > total:
                    total = part
                    best = k + else_
            return total, best

        def steps(a, b, c):
            found = [a]
            for i in range(a, b, c):
                found = found + [i]
            for i in range(a, b):
                found = [i * i] + found
            return found

        def forever(n):
            while True:
                n = n - 3
                if n < 0:
                    break
            return n
        self.all_same(collatz, (1,), (6,), (27,))
        self.all_same(find, ([3, 1, 2], 2), ([3, 1, 2], 9))
        self.all_same(search, ([[1, 2], [5, -1, 3], [99, 4]], 50), ([[1]], 0))
        self.all_same(steps, (0, 5, 2), (5, 0, -2), (3, 3, 1), (-3, 4, 3))
        self.all_same(forever, (10,), (0,))

    def test_long_loops(self):
        def walk(n):
            a, b, c = 1, 0.5, 0
            for i in range(n):
                a, b = (a * 3 + i) % 1000003, b + a / 1024
                for j in range(i % 3):
                    c = c + j
            for i in range(2 * n, 0, -2):
                assert i > 0
            return a, b, c

        def search(n, limit):
            a = 0
            for i in range(n):
                if i == limit:
                    return -a
                if a > 3000 and limit < 0:
                    a = a + 5
                    break
                if i + limit == 0:
                    break
                a += 2
            return a * 2

        def widened(n, limit):
            a = 0
            for i in range(n):
                if i == limit:
                    a = a / 2
                    break
                a += 2
            return a
        lengths = [0, 1, 999, 1000, 1001, 2000, 2503]
        self.all_same(widened, (900, 5), (900, 950), (1100, 1050))
        self.all_same(
            search, *((n, m) for n in lengths for m in (5, 1500, -5, -999, -1000, -2400, 9999)))
        self.all_same(walk, *((n,) for n in lengths))
        self.assertEqual(
            rv.map(rv.function(walk), lengths).to_list(), [walk(n) for n in lengths])


if __name__ == "__main__":
    unittest.main()
