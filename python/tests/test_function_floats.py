"""How far functions of floats are from CPython's: the bounds of docs/python-functions.md."""

import linecache
import math
import random
import unittest

import numpy as np
import ravel as rv

COUNT = 1500
EXACT, CLOSE, POWERS = 0.0, 1e-15, 1e-12

# An expression of x, the range of its magnitude, the largest relative difference.
CASES = (
    ("math.sin(x)", 1e-300, 1e15, CLOSE), ("math.cos(x)", 1e-8, 1e15, CLOSE),
    ("math.tan(x)", 1e-8, 1e15, CLOSE), ("math.asin(x)", 1e-8, 1, CLOSE),
    ("math.acos(x)", 1e-8, 1, CLOSE), ("math.atan(x)", 1e-300, 1e300, CLOSE),
    ("math.atan2(x, 3.0)", 1e-100, 1e100, CLOSE), ("math.atan2(x, -3.0)", 1e-100, 1e100, CLOSE),
    ("math.exp(x)", 1e-8, 700, CLOSE), ("math.log(abs(x))", 1e-300, 1e300, CLOSE),
    ("math.log(abs(x))", 0.5, 2, CLOSE), ("math.log2(abs(x))", 1e-300, 1e300, CLOSE),
    ("math.log10(abs(x))", 1e-300, 1e300, CLOSE), ("math.sinh(x)", 1e-8, 700, CLOSE),
    ("math.cosh(x)", 1e-8, 700, CLOSE), ("math.tanh(x)", 1e-8, 50, CLOSE),
    ("math.hypot(x, x / 3)", 1e-150, 1e150, CLOSE), ("math.degrees(x)", 1e-100, 1e100, CLOSE),
    ("np.radians(x)", 1e-100, 1e100, CLOSE), ("np.log(abs(x))", 1e-300, 1e300, CLOSE),
    ("np.arcsin(x)", 1e-8, 1, CLOSE), ("math.asinh(x)", 1e-300, 1e300, CLOSE),
    ("math.acosh(1.0 + abs(x))", 1e-10, 1e300, CLOSE), ("math.atanh(x)", 1e-300, 1, CLOSE),
    ("math.log1p(abs(x))", 1e-300, 1e300, CLOSE), ("math.log1p(x)", 1e-300, 0.99, CLOSE),
    ("math.expm1(x)", 1e-300, 700, CLOSE), ("np.cbrt(x)", 1e-300, 1e300, CLOSE),
    ("np.exp2(x)", 1e-8, 1000, POWERS), ("np.arctanh(x)", 1e-300, 1, CLOSE),
    ("np.clip(x, -2.0, 5.0)", 1e-3, 1e3, EXACT), ("np.where(x > 1, x, -x)", 1e-3, 1e3, EXACT),
    ("np.fmod(x, 0.3)", 1e-3, 1e9, EXACT), ("abs(x) ** 2.5", 1e-100, 1e100, POWERS),
    ("abs(x) ** -1.7", 1e-100, 1e100, POWERS), ("x ** 3", 1e-80, 1e80, POWERS),
    ("x ** -64", 1e-4, 1e4, POWERS), ("abs(x) ** 0.5", 1e-100, 1e100, CLOSE),
    ("math.sqrt(abs(x))", 1e-300, 1e300, EXACT), ("x ** 2", 1e-100, 1e100, CLOSE),
    ("x % 0.7", 1e-3, 1e10, EXACT), ("x // 0.7", 1e-3, 1e10, EXACT),
    ("x % -1e-3", 1e-3, 1e20, EXACT), ("math.fmod(x, 1e-5)", 1e-300, 1e300, EXACT),
    ("5.5 % x", 1e-300, 1e3, EXACT), ("5.5 // x", 1e-3, 1e3, EXACT),
    ("float(round(x))", 1e-3, 1e18, EXACT), ("float(int(x))", 1e-3, 1e18, EXACT),
    ("float(math.floor(x))", 1e-3, 1e18, EXACT), ("np.ceil(x)", 1e-300, 1e300, EXACT),
    ("np.rint(x)", 1e-3, 1e18, EXACT), ("np.trunc(x)", 1e-3, 1e300, EXACT),
    ("np.sign(x)", 1e-3, 1e3, EXACT), ("x / 3 - x * 0.1 + 1e-3", 1e-3, 1e3, EXACT),
)

SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, 1e-320, -5e-324, 1e-17, 1e15, -1e16,
           709.0, -745.0, 800.0, 1e300, -1e300, math.inf, -math.inf, math.nan)


def defined(expression):
    text, file = f"def f(x):\n    return {expression}\n", f"<{expression}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {"math": math, "np": np}
    exec(compile(text, file, "exec"), scope)  # pylint: disable=exec-used
    return scope["f"]


def numbers(source, least, most):
    """Of both signs and all magnitudes of a range."""
    return [math.exp(source.uniform(math.log(least), math.log(most))) * source.choice([-1, 1])
            for _ in range(COUNT)]


class Floats(unittest.TestCase):
    def test_bounds(self):
        for expression, least, most, bound in CASES:
            function = defined(expression)
            x = numbers(random.Random(expression), least, most)
            got = np.asarray(rv.map(rv.function(function), x))
            want = np.array([function(each) for each in x])
            worst = int(np.argmax(np.abs(got - want) - bound * np.abs(want)))
            with self.subTest(expression, x=x[worst], got=got[worst], want=want[worst]):
                self.assertLessEqual(abs(got[worst] - want[worst]), bound * abs(want[worst]))

    def test_special_values(self):
        for name in ("sqrt exp log log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh"
                     " acosh atanh log1p expm1 fabs degrees radians isnan isinf isfinite"
                     ).split():
            function = defined(f"math.{name}(x)")
            translated = rv.function(function)
            for x in SPECIAL:
                with self.subTest(name, x=x):
                    self.same(lambda x=x, f=function: f(x), lambda x=x, f=translated: f(x))

    def same(self, python, ravel):
        """The same value, sign of 0 and exception."""
        try:
            want = python()
        except (ValueError, OverflowError) as error:
            with self.assertRaises(type(error)):
                ravel()
            return
        got = ravel()
        if want != want:
            self.assertNotEqual(got, got)
        elif want in (0.0, math.inf, -math.inf):
            self.assertEqual((got, math.copysign(1, got)), (want, math.copysign(1, want)))
        else:
            self.assertLessEqual(abs(got - want), CLOSE * abs(want))

    def test_numpy_does_not_fail(self):
        for name in ("sqrt exp log log2 log10 arcsin arccos arctan sinh cosh tanh arcsinh"
                     " arccosh arctanh log1p expm1 cbrt floor ceil trunc rint fabs sign square"
                     ).split():
            function = defined(f"float(np.{name}(x))")
            translated = rv.function(function)
            for x in SPECIAL:
                with self.subTest(name, x=x), np.errstate(all="ignore"):
                    self.same(lambda x=x, f=function: f(x), lambda x=x, f=translated: f(x))

    def test_numpy_gives_ints_for_ints(self):
        @rv.function
        def several(v, i, b):
            return (v[np.maximum(i, 0)], v[np.minimum(i, 2)], v[np.clip(i, -1, 1)],
                    np.square(i), np.sign(i), np.absolute(i), np.where(i > 0, i, 7),
                    np.maximum(i, 0.5),
                    np.sign(-0.5), np.square(b + 0.5), np.minimum(b, True), np.where(b, 1, 2.5))
        for i in (-2, 0, 1, 2):
            self.assertEqual(several([5, 6, 7, 8], i, i > 0),
                             several.__wrapped__([5, 6, 7, 8], i, i > 0))
        self.assertIsInstance(several([5, 6, 7], 1, True)[3], int)
        with self.assertRaises(OverflowError):
            rv.function(defined("np.square(x)"))(2**40)

    def test_functions_of_ints(self):
        @rv.function
        def several(n, k):
            return (math.gcd(n, k), math.lcm(n, k), math.comb(n, k), math.perm(n, k),
                    math.isqrt(n), math.isclose(n, n + k * 1e-12), math.isclose(n, k))
        for n, k in ((0, 0), (5, 0), (5, 2), (5, 5), (4, 7), (20, 10), (61, 30), (12, 18)):
            if k != 30:
                self.assertEqual(several(n, k), several.__wrapped__(n, k))
        choose = rv.function(defined("math.comb(x, 30)"))
        self.assertEqual(choose(61), math.comb(61, 30))
        for function, n in ((choose, 68), (rv.function(defined("math.perm(x, 20)")), 25),
                            (rv.function(defined("math.lcm(x, x + 1)")), 2**62)):
            with self.assertRaises(OverflowError):
                function(n)
        with self.assertRaises(ValueError):
            choose(-1)

    def test_ints_at_the_end_of_their_range(self):
        least, most = -2**63, 2**63 - 1

        @rv.function
        def quotient(n, k):
            return n / k

        @rv.function
        def steps(i, j, k):
            return list(range(i, j, k))

        for n, k in ((3, 2**53 + 3), (2**53 + 1, 3), (most, most - 1), (least, -7), (least, least), (0, least), (7, 2)):
            self.assertEqual(quotient(n, k), n / k)
        for row in ((least, most, 2**61), (most, least, -2**62), (most, least, least), (least, most, most),
                    (0, most, 2**62 + 1), (9, 0, -4), (0, 9, 4), (3, 3, least), (2, 3, least)):
            self.assertEqual(steps(*row).to_list(), list(range(*row)))
        with self.assertRaises(OverflowError):
            steps(least, most, 1)
        with self.assertRaises(ZeroDivisionError):
            quotient(most, 0)
        common = rv.function(defined("math.gcd(x, 2**62)"))
        self.assertEqual([common(least), common(-6), common(0)], [2**62, 2, 2**62])

    def test_sums_and_lengths_that_leave_the_range(self):
        @rv.function
        def total(v):
            return math.fsum(v)

        for v in ([1e16, 1.0, -1e16, 0.5], [0.1] * 10, [math.inf, 2.0], [1e-300, 5.0]):
            self.assertEqual(total(v), math.fsum(v))
        with self.assertRaises(OverflowError):
            total([1.5e308, 1.5e308])
        length = rv.function(defined("math.hypot(x, math.nan)"))
        self.assertEqual([length(-math.inf), math.isnan(length(1.0))], [math.inf, True])


if __name__ == "__main__":
    unittest.main()
