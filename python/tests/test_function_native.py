"""Functions that are called often: native code, which executes them once that is quicker, gives what is given without."""

import os
import shutil
import tempfile
import unittest
from unittest import mock

import ravel as rv
from function_test import value

CALLS = 200
WAYS = ("off", "always", "auto")  # `auto` finds what `always` has compiled


def mean(v):
    return sum(v) / len(v)


def polynomial(x, k):
    return (x * x * k + x - 1.5, k // 3, k % 3, x > k)


def shared_letters(s, t):
    return ([c for c in s if c in t], s + t, s < t)


def without_repeats(v):
    return [x for i, x in enumerate(v) if i == 0 or v[i - 1] != x]


def sort(v):
    if len(v) < 2: return v
    p = v[len(v) // 2]
    low, high = [sort(part) for part in [[x for x in v if x < p], [x for x in v if x > p]]]
    return low + [x for x in v if x == p] + high


def row_sums(rows):
    return [sum(row) for row in rows], max([len(row) for row in rows], default=0)


def deviations(rows):
    return [[(x - sum(row) / len(row)) ** 2 for x in row] for row in rows]


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def swapped(pairs):
    return [(b, a) for a, b in pairs], [a for a, _ in pairs if a > 2]


def quotients(v, k):
    return [x // k for x in v], sum([10 // x for x in v])


def chosen(v, indices):
    return [v[i] for i in indices], v[0]


def words(texts, least):
    return [(t, len(t)) for t in texts if len(t) >= least], [t[0] for t in texts]


NUMBERS = [(7 * k * k + 3 * k) % 101 for k in range(300)]
HALVES = [x / 2 for x in NUMBERS]
# Arguments of several kinds and sizes; some calls raise an error.
CASES = [
    (mean, [(HALVES,), ([1.5],), ([],), (HALVES[:7],)]),
    (polynomial, [(0.5, 7), (-3.25, -8), (1e300, 10**15), (0.0, 0)]),
    (shared_letters, [("banana", "bread"), ("", "x"), ("x", ""), ("ab" * 40, "b")]),
    (without_repeats, [([1, 1, 2, 2, 1],), ([],), (sorted(NUMBERS),), ([5],)]),
    (sort, [(NUMBERS,), ([],), ([2, 1],), ([1] * 50,)]),
    (row_sums, [([[1, 2], [], [3]],), ([[]],), ([NUMBERS[:k] for k in range(30)],)]),
    (deviations, [([[1.0, 2.0], [0.1]],), ([[1.0], []],), ([HALVES[:k + 1] for k in range(9)],)]),
    (collatz, [(27,), (1,), (97,), (2**20,)]),
    (swapped, [([(1, 0.5), (3, 2.5)],), ([(2, 0.0)],), (list(zip(NUMBERS, HALVES)),)]),
    (quotients, [([1, 2, 5], 2), ([1, 0, 5], 2), ([3], 0), (NUMBERS[1:40], 7), ([], 0)]),
    (chosen, [([4, 5, 6], [2, 0]), ([4, 5, 6], [3]), ([1], [0]), (NUMBERS, NUMBERS[:50])]),
    (words, [(["a", "list", "of", "words"], 2), (["", "a"], 0), (["x" * k for k in range(1, 9)], 3)]),
]


def outcome(function, arguments):
    """What a call gives, or the error that it raises."""
    try:
        return value(function(*arguments))
    except Exception as error:  # pylint: disable=broad-exception-caught
        return type(error), str(error)


@unittest.skipUnless(shutil.which("cc"), "a C compiler is not installed")
class NativeFunctions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory(prefix="ravel-native-")
        cls.addClassCleanup(cls.cache.cleanup)
        folder = mock.patch.dict(os.environ, XDG_CACHE_HOME=cls.cache.name)
        folder.start()
        cls.addClassCleanup(folder.stop)
        cls.native = dict.fromkeys(WAYS, 0)

    def expect_kind(self, function, arguments, given):
        """The outcome is Python's; of an error the kind."""
        wanted = outcome(function, arguments)
        is_error = isinstance(wanted, tuple) and isinstance(wanted[0], type)
        if is_error:
            self.assertTrue(isinstance(given, tuple) and issubclass(given[0], wanted[0]), given)
        else:
            self.assertEqual(given, wanted)

    def outcomes(self, function, rows, way):
        """Those of all calls; counts the calls that native code has executed whole."""
        translated, found = rv.function(function), []
        with rv.options(compiler=True, procedures=way, profile=True):
            for call in range(CALLS):
                found.append(outcome(translated, rows[call % len(rows)]))
                self.native[way] += sum(row["calls"] for row in rv.profile()["procedures"]
                                        if row["name"] == "MAIN")
        return found

    def try_all(self, function, rows):
        usual = self.outcomes(function, rows, WAYS[0])
        for arguments, given in zip(rows, usual):
            self.expect_kind(function, arguments, given)
        for way in WAYS[1:]:
            self.assertEqual(self.outcomes(function, rows, way), usual, way)

    def test_the_same_in_every_way(self):
        for function, rows in CASES:
            with self.subTest(function.__name__):
                self.try_all(function, rows)
        self.assertEqual(self.native["off"], 0)
        self.assertGreater(self.native["always"], CALLS * len(CASES) // 2)
        self.assertGreater(self.native["auto"], CALLS)


if __name__ == "__main__":
    unittest.main()
