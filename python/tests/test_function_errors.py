"""Failures of translated functions: Python's exception, its line, and what led there."""

import math
import unittest

import ravel as rv

MOST = 2**63 - 1


def arithmetic(a, b, kind):
    if kind == 0: return a + b
    if kind == 1: return a - b
    if kind == 2: return a * b
    if kind == 3: return a // b
    if kind == 4: return a % b
    if kind == 5: return a ** b
    if kind == 6: return -a
    if kind == 7: return abs(a)
    if kind == 8: return a << b
    if kind == 9: return sum([a, b])
    if kind == 10: return math.prod([a, b])
    if kind == 11: return a >> b
    return 0


def reals(x, y, kind):
    if kind == 0: return x / y
    if kind == 1: return x // y
    if kind == 2: return x % y
    if kind == 3: return x ** y
    if kind == 4: return math.sqrt(x)
    if kind == 5: return math.log(x)
    if kind == 6: return math.exp(x)
    if kind == 7: return float(int(x))
    if kind == 8: return float(round(x))
    if kind == 9: return math.acos(x)
    if kind == 10: return math.fmod(x, y)
    if kind == 11: return x ** 2
    if kind == 12: return math.sin(x)
    return 0.0


def lists(v, i, kind):
    if kind == 0: return v[i]
    if kind == 1: return max(v)
    if kind == 2: return min([x for x in v if x > 100])
    if kind == 3: return sum(v[::i])
    if kind == 4:
        a, b = v
        return a + b
    if kind == 5: return sum(range(0, 5, i))
    if kind == 6: return ord("abc"[:i])
    if kind == 7: return len(chr(i))
    if kind == 8: return math.factorial(i)
    if kind == 9: return max(v, key=lambda x: -x)
    if kind == 10: return v[-4]
    return 0


class Errors(unittest.TestCase):
    def fails(self, python, kind, words, *arguments):
        """Raises what CPython raises, unless that has larger ints; and names the line."""
        function = rv.function(python)
        with self.subTest(arguments), self.assertRaisesRegex(kind, words) as caught:
            function(*arguments)
        with self.subTest(arguments):
            self.assertIsInstance(caught.exception, rv.Error)
            line = python.__code__.co_firstlineno
            self.assertRegex(
                str(caught.exception),
                rf'File ".*test_function_errors.py", line \d+, in {python.__name__}\n')
            self.assertGreater(int(str(caught.exception).split(", line ")[1].split(",")[0]),
                               line)
            if kind is not OverflowError:
                with self.assertRaises(kind):
                    python(*arguments)

    def test_ints(self):
        for kind, a, b in ((0, MOST, 1), (0, -MOST, -2), (1, -MOST, 2), (1, 0, -MOST - 1),
                           (2, 2**32, 2**31), (2, -MOST - 1, -1), (2, 3037000500, 3037000500),
                           (3, -MOST - 1, -1), (5, 2, 63), (5, 10, 19), (5, -3, 100),
                           (6, -MOST - 1, 0), (7, -MOST - 1, 0), (8, 1, 63), (8, 3, 64),
                           (9, MOST, 1), (10, 2**40, 2**23)):
            self.fails(arithmetic, OverflowError, "fit an int", a, b, kind)
        for kind in (3, 4):
            self.fails(arithmetic, ZeroDivisionError, "division or modulo by zero", 5, 0, kind)
        for kind in (8, 11):
            self.fails(arithmetic, ValueError, "negative shift count", 5, -1, kind)
        with self.assertRaisesRegex(ValueError, "no int: write float"):
            rv.function(arithmetic)(5, -1, 5)

    def test_ints_that_just_fit(self):
        for kind, a, b in ((0, MOST, 0), (0, -MOST, -1), (0, MOST, -MOST), (1, -MOST, 1),
                           (1, -1, -MOST - 1), (2, 2**31, 2**31), (2, -2**32, 2**31),
                           (2, 3037000499,
                            3037000499), (2, MOST, -1), (2, 0, -MOST - 1), (3, -MOST - 1, 1),
                           (4, -MOST - 1, -1), (5, 2, 62), (5, -2, 63), (5, 0, 0), (5, 7, 22),
                           (5, -1, 10**15), (6, MOST, 0), (7, -MOST, 0), (8, -1, 63),
                           (8, 0, 100), (9, MOST, 0), (10, -2**40,
                                                       2**23), (11, -5, 100), (11, MOST, 62)):
            with self.subTest((kind, a, b)):
                self.assertEqual(rv.function(arithmetic)(a, b, kind), arithmetic(a, b, kind))

    def test_sums_may_overflow_on_the_way(self):
        @rv.function
        def total(v):
            return sum(v)
        self.assertEqual(total([MOST, MOST, -MOST, -MOST, 5]), 5)
        self.assertEqual(total([-MOST - 1, MOST, -1, 1]), -1)
        self.assertEqual(total([2**32, -1, 2**31, -2**32] * 1000), (2**31 - 1) * 1000)

    def test_floats(self):
        for kind, words in ((0, "float division by zero"), (1, "floor division by zero"),
                            (2, "float modulo")):
            self.fails(reals, ZeroDivisionError, words, 1.5, 0.0, kind)
        self.fails(reals, ZeroDivisionError, "negative power", 0.0, -1.0, 3)
        for kind, x in ((4, -1.0), (5, 0.0), (5, -1.0), (9, 1.5), (12, math.inf)):
            self.fails(reals, ValueError, "math domain error", x, 0.0, kind)
        self.fails(reals, ValueError, "math domain error", 1.0, 0.0, 10)
        for kind in (7, 8):
            self.fails(reals, ValueError, "NaN", math.nan, 0.0, kind)
            self.fails(reals, OverflowError, "does not fit an int", math.inf, 0.0, kind)
            self.fails(reals, OverflowError, "does not fit an int", 1e19, 0.0, kind)
        self.fails(reals, OverflowError, "range", 1000.0, 0.0, 6)
        self.fails(reals, OverflowError, "too large", 1e200, 2.5, 3)
        self.fails(reals, OverflowError, "range", 1e200, 0.0, 11)
        with self.assertRaisesRegex(ValueError, "is complex"):
            rv.function(reals)(-8.0, 0.5, 3)

    def test_floats_of_all_kinds(self):
        function = rv.function(reals)
        special = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, -3.0, 64.0, -65.0, 1e15, 2.0**53,
                   1e300, -1e300, 5e-324, 1e-310, math.inf, -math.inf, math.nan)
        for kind in range(12):
            for x in special:
                for y in special if kind in (0, 1, 2, 3, 10) else (1.0,):
                    self.like_python(function, x, y, kind)

    def like_python(self, function, x, y, kind):
        try:
            want = reals(x, y, kind)
        except (ArithmeticError, ValueError) as error:
            with self.subTest((x, y, kind)), self.assertRaises(type(error)):
                function(x, y, kind)
            return
        if isinstance(want, complex) or kind in (7, 8) and abs(x) >= 2.0**63:
            return
        with self.subTest((x, y, kind)):
            got = function(x, y, kind)
            close = abs(got - want) <= 1e-12 * abs(want) if kind in (3, 5, 6,
                                                                     9) else got == want
            self.assertTrue(close or got == want or got != got and want != want, (got, want))
            if want == 0.0 and kind != 3:
                self.assertEqual(math.copysign(1.0, got), math.copysign(1.0, want))

    def test_lists(self):
        self.fails(lists, IndexError, r"index 3, length 2", [1, 2], 3, 0)
        self.fails(lists, IndexError, r"index -3, length 2", [1, 2], -3, 0)
        self.fails(lists, IndexError, r"index -4, length 3", [1, 2, 3], 0, 10)
        for kind, v in ((1, []), (2, [0]), (9, [])):
            self.fails(lists, ValueError, "the sequence is empty", v, 0, kind)
        self.fails(lists, ValueError, "slice step cannot be zero", [1], 0, 3)
        self.fails(lists, ValueError, "not as many values", [1, 2, 3], 0, 4)
        self.fails(lists, ValueError, "must not be zero", [1], 0, 5)
        self.fails(lists, TypeError, "expected a character", [1], 2, 6)
        self.fails(lists, ValueError, "negative", [1], -1, 8)
        with self.assertRaisesRegex(OverflowError, r"factorial\(21\)"):
            rv.function(lists)([1], 21, 8)
        with self.assertRaisesRegex(ValueError, "beyond ASCII"):
            rv.function(lists)([1], 200, 7)

    def test_raise_and_assert(self):
        @rv.function
        def checked(v):
            assert len(v) > 1, "two at least"
            if v[0] > 5:
                raise ValueError("v[0] is \"large\"\n\\ {v} %é")
            elif v[0] < 0:
                raise KeyError
            return v[0]
        self.assertEqual(checked([3, 1]), 3)
        for v, kind, words in (([1], AssertionError, "two at least"),
                               ([6, 1], ValueError, r'is "large" \\ { v} %é'),
                               ([-1, 1], rv.RunError, "KeyError")):
            with self.assertRaisesRegex(kind, words):
                checked(v)

    def test_a_function_that_only_raises(self):
        @rv.function
        def checked(x):
            def fail():
                raise ValueError("negative")
            return math.sqrt(x) if x >= 0 else fail()
        self.assertEqual(checked(4.0), 2.0)
        with self.assertRaisesRegex(ValueError, "negative"):
            checked(-1.0)

    def test_calls_on_the_way(self):
        @rv.function
        def inner(v, i):
            return v[i]

        @rv.function
        def outer(vs):
            def middle(v):
                return inner(v, 2)
            return [middle(v) for v in vs]
        with self.assertRaises(IndexError) as caught:
            outer([[1, 2, 3], [4]])
        text = str(caught.exception)
        found = [
            line.rsplit(" ", 1)[1] for line in text.splitlines() if line.startswith("  File")
        ]
        self.assertEqual(found, ["inner", "middle", "outer"])
        self.assertIn("return v[i]\n" + " " * 23 + "^^^^", text)
        self.assertIn("elt(v", caught.exception.nesl)

    def test_in_map(self):
        @rv.function
        def third(v):
            return v[2]
        with self.assertRaisesRegex(IndexError, r"index 2, length 1\)\n.*in third"):
            rv.map(third, [[1, 2, 3], [4]])

    def test_recursion_without_end(self):
        @rv.function
        def down(n):
            return 1 + down(n + 1) if n >= 0 else 1
        with self.assertRaises(RecursionError):
            down(1)

    def test_what_is_not_evaluated_does_not_fail(self):
        @rv.function
        def quotients(v):
            return [10 // x if x != 0 else 0 for x in v if x != 3 or 1 // (x - 3) > 0]
        self.assertEqual(quotients([0, 5, 2]).to_list(), [0, 2, 5])


if __name__ == "__main__":
    unittest.main()
