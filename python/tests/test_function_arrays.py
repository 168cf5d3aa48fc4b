"""Arrays of NumPy and the like as arguments of decorated functions: their operators mean other
things than those of lists, and are refused."""

import unittest

import numpy as np
import ravel as rv
from test_libraries import needs


@rv.function
def doubled(v):
    return v * 2


@rv.function
def joined(v, w):
    return w + v


@rv.function
def same(v, w):
    return v == w


@rv.function
def is_there(v):
    return 1 if v else 0


@rv.function
def of_rows(rows):
    return [row + row for row in rows]


@rv.function
def of_pairs(pairs):
    return [v * n for v, n in pairs]


@rv.function
def through_another(v, w):
    def twice(u):
        return u + u
    return twice(v), twice(w)


@rv.function
def by_elements(v, w):
    total = 0.0
    for x, y in zip(v[1:], w):
        total += x * y
    return total, [x * 2 for x in v], list(v) + list(w), sorted(v), max(v), len(v), v[0] == w[0]


class Arrays(unittest.TestCase):
    def refused(self, said, function, *data):
        with self.assertRaisesRegex(rv.Unsupported, said):
            function(*data)

    def test_operators(self):
        v, w = np.array([1.0, 2.0]), np.array([5.0, 6.0])
        self.refused(r"`\*` of an array .*\[x \* c for x in v\].*list\(v\)", doubled, v)
        self.refused(r"`\+` of an array .*\[x \+ y for x, y in zip", joined, v, w)
        self.refused(r"`\+` of an array", joined, v, [1.0])
        self.refused(r"`\+` of an array", joined, [1.0], v)
        self.refused(r"`==` of an array", same, v, w)
        self.refused(r"neither true nor false", is_there, v)

    def test_nested(self):
        rows = np.ones((2, 3))
        for data in (rows, [rows[0], rows[1]], [np.ones(2), np.ones(3)]):
            self.refused(r"`\+` of an array", of_rows, data)
        self.refused(r"`\*` of an array", of_pairs, [(np.ones(2), 2)])
        with self.assertRaisesRegex(rv.Unsupported, "of an array"):
            rv.map(doubled, rows)
        self.refused("of an array", through_another, [1], np.array([1]))

    def test_lists_are_lists(self):
        """Also after a call with arrays of the same type."""
        for _ in range(2):
            self.refused("of an array", doubled, np.array([1, 2]))
            self.assertEqual(doubled([1, 2]).to_list(), [1, 2, 1, 2])
            self.assertEqual(doubled(rv.array([1, 2])).to_list(), [1, 2, 1, 2])
            self.assertEqual(joined([1], [2]).to_list(), [2, 1])
            self.assertIs(same([1], [1]), True)
            self.assertEqual(rv.map(doubled, np.array([1, 2])).to_list(), [2, 4])
            self.assertEqual(of_pairs([([1], 2)]).to_list(), [[1, 1]])
        one, two = through_another([1], [2])
        self.assertEqual((one.to_list(), two.to_list()), ([1, 1], [2, 2]))

    def test_what_means_the_same(self):
        v, w = np.array([1.0, 3.0]), np.array([5.0, 6.0])
        found = by_elements(v, w)
        self.assertEqual((found[0], *(each.to_list() for each in found[1:4]), *found[4:]),
                         (15.0, [2.0, 6.0], [1.0, 3.0, 5.0, 6.0], [1.0, 3.0], 3.0, 2, False))

    @needs("pandas")
    def test_pandas(self, pd):
        self.refused("of an array", doubled, pd.Series([1, 2]))

    @needs("polars")
    def test_polars(self, pl):
        self.refused("of an array", joined, pl.Series([1, 2]), [1])


if __name__ == "__main__":
    unittest.main()
