"""Lists, texts and tuples in translated functions: the same results as Python's."""

import math
import re
import unittest
from pathlib import Path

import ravel as rv
from function_test import FunctionTest
from ravel._translate.names import WORDS

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


class Lists(FunctionTest):
    def test_sequences(self):
        def parts(v, i, j, k):
            return (v[i:j], v[i:], v[:j], v[::-1], v[i:j:k], v[::k], v[-1], v[-len(v)], v[:-1],
                    v[1:-1], v[:], v + [i], [i] * 3, v * 2, len(v), i in v, j
                    not in v, v == v[:], v < [i])
        v = [3, 1, 4, 1, 5, 9, 2, 6]
        self.all_same(parts, *((v, i, j, k) for i in (-9, -2, 0, 3, 8)
                               for j in (-20, -1, 0, 4, 20) for k in (-3, -1, 1, 2)))

    def test_comprehensions(self):
        def flat(vs, n):
            return ([x * y for x in range(n) for y in range(x) if (x + y) % 2 if y > 0],
                    [x for v in vs for x in v if x > 1], [[x + len(v) for x in v] for v in vs],
                    sum(x for v in vs for x in v), [(i, x) for i, x in enumerate(vs[0])],
                    [a * b for a, b in zip(vs[0], vs[1])], [a + b for (a, b), c in zip(
                        zip(vs[0], vs[1]), vs[0]) if c > 0], [y for y in (n, n + 1)])
        self.all_same(flat, ([[1, 2, 3], [4, 5]], 5), ([[0], [7, 8]], 0))

    def test_functions_of_lists(self):
        def several(v, w):
            return (sum(v), min(v), max(v), any(x > 3 for x in v), all([x > 0 for x in v]),
                    sorted(v), sorted(v, reverse=True), sorted(v, key=lambda x: -x % 3),
                    list(reversed(v)), list(zip(v, w)), max(v, key=lambda x: x % 4),
                    min([2, 1][:0], default=7), sum(w, 10), list(map(lambda x: x + 1, v)),
                    list(filter(lambda x: x > 2, v)), max(v[0], w[0], 3), list(range(5)),
                    list(range(2, 9, 3)), math.prod(v), sorted([(x % 3, x) for x in v]),
                    max([(x % 3, x) for x in v]), min(abs(x) for x in w))
        self.all_same(several, ([3, 1, 4, 1, 5], [2, 7]), ([9], [-3, 8, 4]))

    def test_text(self):
        def text(s, t):
            return (s + t, s[1], s[::-1], len(s), s == t, s
                    < t, [c + "!" for c in s], "an" in s, f"{t}: {len(s)}", str(12), ord(s[0]),
                    chr(65), [w for w in ["b", t] if w != s])
        self.all_same(text, ("banana", "band"), ("xy", ""))

    def test_texts_with_any_characters(self):
        def texts(s):
            if s:
                t = "a\n b\\n\t\"%{v}`" + s
            else:
                t = "\n"
            return t, "\n\n" in t, [w + "\r" for w in ["\n", "%"]], "%" + s + "%", "'"
        self.all_same(texts, ("x",), ("",), ("\n\"%\\",))

    def test_tuples(self):
        def pairs(a, b):
            t = (a, (b, 2.5), a + b)
            x, (y, z), w = t
            x, y = y, x
            return t[1], t[-1], x, y, z, w, len(t), (a, b) < (b, a), (a, b) == (a, b), a in (1,
                                                                                             b)
        self.all_same(pairs, (1, 2), (5, 3), (2, 2))

    def test_names_of_nesl(self):
        def hidden(sum_, index, length, t, f, T, elt, py_add, let):
            flatten = [t, T, index]
            return [length + x for x in flatten], f + elt, py_add, let, sum([sum_, 1])
        self.same(hidden, 1, 2, 3, 4, 5, 6, 7, 8, 9)

    def test_functions_of_lists_of_other_types(self):
        def several(x, b, s):
            w, flags, texts = [x, 2.5, -1.0], [b, True, False], [s, "b"]
            pairs = [(1, x), (0.5, 3)]
            return (math.prod(w), math.fsum(w), any([0, 0]), all([1, 2, 0]), any(w), max(flags),
                    min(flags), min([b]), max(w, key=lambda y: y > 0), list(), list(s),
                    [c for c in texts if c], sorted(flags), sorted(w, reverse=True), pairs,
                    sorted(w, key=lambda y: (y > 0, -y)), (1, x) if b else (x, 1),
                    +x, +b, -x, 2 * w,
                    [pow(2, 3), pow(x, 2.0)], divmod(x, 2), float("inf"), float("2.5"),
                    max([(y, 1) for y in w]), x in pairs[0], (x, 1) in [(y, 1) for y in w],
                    list(map(str, [1, 2])), (1, (x, 2))[1][0], [()] == 1 if False else 1,
                    list(zip(w, flags, texts)), [y for y in (x, 1)], sum([], 1), min(s, "zz"),
                    -9223372036854775808, [[], [x]], [[]] + [[1]], (b, 2) < (True, 3), w > [x])
        self.all_same(several, (1.5, True, "abc"), (0.0, False, ""))

    @unittest.skipUnless(DOCS.is_dir(), "there are no documents here")
    def test_all_names_of_nesl_are_known(self):
        text = (DOCS / "nesl-library.md").read_text(encoding="utf-8")
        names = re.findall(r"^\| `(?:` )?([a-z][a-z_0-9]*)[(`]", text, re.MULTILINE)
        self.assertGreater(len(names), 200)
        self.assertEqual(sorted(set(names) - WORDS), [])

    def test_costs_and_plans(self):
        @rv.function
        def total(v):
            return sum([x * x for x in v])
        self.assertGreater(total.cost([1.0, 2.0]).work, 0)
        self.assertIn("total_", total.nesl)
        self.assertTrue(str(total.explain([1.0, 2.0])))


if __name__ == "__main__":
    unittest.main()
