"""Functions of Python through ravel.function: the same results as Python's."""

import linecache
import math
import unittest

import ravel as rv
from function_test import FunctionTest, value


@rv.function
def qsort(a):
    """Sorts."""
    if len(a) < 2: return a
    p = a[len(a) // 2]
    lo, hi = [qsort(s) for s in [[x for x in a if x < p], [x for x in a if x > p]]]
    return lo + [x for x in a if x == p] + hi


@rv.function
def scale(v, factor=2.0):
    return [x * factor for x in v]


LIMIT = 3
NAMES = ["a", "b"]


class Functions(FunctionTest):
    def test_recursion_in_a_comprehension(self):
        v = [31, 41, 59, 26, 53, 58, 97, 41]
        self.assertEqual(qsort(v).to_list(), sorted(v))
        self.assertEqual(qsort([2.5, 1.5]).to_list(), [1.5, 2.5])
        self.assertEqual(
            rv.map(qsort, [[3, 1], [], [5, 2, 4]]).to_list(), [[1, 3], [], [2, 4, 5]])
        self.assertEqual(qsort.__doc__, "Sorts.")

    def test_arguments_by_name_and_defaults(self):
        self.assertEqual(scale([1.0]).to_list(), [2.0])
        self.assertEqual(scale([1.0], 3.0).to_list(), [3.0])
        self.assertEqual(scale(factor=0.5, v=[1.0]).to_list(), [0.5])
        for arguments in ((), ([1.0], 2.0, 3.0)):
            with self.assertRaises(TypeError):
                scale(*arguments)

        @rv.function
        def least(n=3):
            return n - 1
        self.assertEqual((least(), least(7)), (2, 6))

    def test_ints(self):
        def arithmetic(a, b):
            return (a + b, a - b, a * b, a // b, a % b, -a, +a, ~a, abs(a), divmod(a, b), a & b,
                    a | b, a ^ b, a << 3, a >> 2, a**2, 3**4, a / b)
        self.all_same(arithmetic, (7, 2), (-7, 2), (7, -2), (-7, -2), (0, 5), (2**31, 2**31))

    def test_floats(self):
        def arithmetic(x, y):
            return (x + y, x - y, x * y, x / y, x // y, x % y, -x, abs(x), x ** 2, round(x),
                    int(x), math.floor(x), math.ceil(x), x < y, x == y, float(round(y)))

        self.all_same(arithmetic, (7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-7.5, -2.0),
                      (0.0, 5.0), (2.5, 0.1), (3.5, 0.3), (-0.5, 1e-3), (1e15, 7.0),
                      (1e18, 3.0), (5e-324, 2.5))

    def test_numbers_mix(self):
        def mixed(n, x, b):
            return (n + x, x * n, n / 2, n // 2.0, b + n, b + b, n
                    < x, b == 1, n**0.5, x**n, True + 1, sum([b, b]), max(n, x), -b)
        self.all_same(mixed, (3, 1.5, True), (4, 0.25, False))

    def test_ints_and_constants(self):
        def constants(n):
            return (n // 1, n // 8, n // -8, n % 8, n % 1, n % -8, n % 10, n // 10,
                    7 // (n or 1), n & 7)
        self.all_same(constants, *((n,) for n in (0, 1, -1, 7, 8, -7, -8, -9, 10**18, -10**18)))

    def test_ints_and_constants_at_the_edge(self):
        def edge(n, kind):
            if kind == 0: return n + 5
            if kind == 1: return n - 5
            if kind == 2: return 3 * n
            if kind == 3: return n * 2
            return 5 - n
        function = rv.function(edge)
        for kind, least, most in ((0, -2**63, 2**63 - 6), (1, -2**63 + 5, 2**63 - 1),
                                  (2, -(2**63 // 3), 2**63 // 3), (3, -2**62, 2**62 - 1),
                                  (4, -2**63 + 6, 2**63 - 1)):
            self.assertEqual([function(n, kind) for n in (least, most)],
                             [edge(n, kind) for n in (least, most)])
            for n in (least - 1, most + 1):
                if -2**63 <= n < 2**63:
                    with self.subTest((n, kind)), self.assertRaises(OverflowError):
                        function(n, kind)

    def test_conditionals(self):
        def sign(x):
            if x > 0:
                return 1
            elif x < 0:
                return -1
            return 0

        def nested(a, b):
            r = 0
            if a > 0:
                if b > 0:
                    r = 1
                else:
                    r = 2
                    if b == -5:
                        return 100
                r += 10
            elif b == 0:
                pass
            else:
                r, b = b, a
            return r * 1000 + b
        self.all_same(sign, (3,), (-2,), (0,), (1.5,))
        self.all_same(nested, (1, 1), (1, 0), (1, -5), (0, 0), (0, 7), (-1, 3))

    def test_logic(self):
        def logic(a, b, v):
            return (a and b, a or b, not a, a > 1 and b > 1, a < b < 5, 1 < a <= b, v and a > 0,
                    [x for x in v if x and x > 1 or x < -5], bool(v), 5 if not v else 6)
        # `v and a > 0` would be a list or a bool
        def compared(a, b, v):
            return (a and b, a or b, not a, a > 1 and b > 1, a < b < 5, 1 < a <= b,
                    [x for x in v if x and x > 1 or x < -5], bool(v), 5 if not v else 6)
        with self.assertRaises(rv.Unsupported):
            rv.function(logic)(1, 2, [3])
        self.all_same(compared, (0, 3, [1, 2, -9]), (2, 3, []), (4, 2, [0]))

    def test_what_is_not_chosen_is_not_evaluated(self):
        def guarded(v, i):
            if i < len(v) and v[i] > 0:
                return 1
            return 2 if i >= len(v) or v[i] < -5 else 3
        self.all_same(guarded, ([1, -9], 0), ([1, -9], 1), ([1, -9], 2), ([0], 0), ([7][:0], 0))

    def test_inner_functions(self):
        def outer(v, n):
            def add(x, k=1):
                return x + n * k

            def twice(x):
                return add(add(x), k=2)

            def length(w):
                return 0 if not w else 1 + length(w[1:])

            def apply(g, x):
                return g(g(x))
            n = n + 1
            square = lambda x: x * x
            return [twice(x) for x in v], length(v), apply(square, n), apply(lambda x: x - n, 3)

        def rebound(n):
            def g(x):
                return x + n

            def h(x):
                return g(x) * 2
            for i in range(3):
                n = n + i
            first = h(1)
            if first > 5:
                n = -n
            again = h(1)
            k = 0
            while k < 2:
                n, k = n + 1, k + 1
                again = again + g(0)
            return first, again, h(1)
        self.all_same(rebound, (1,), (-5,))

        def hidden(v, n):
            def g(x):
                return x + n

            def h(x):
                return g(x) * n
            return ([g(1) for n in v], [[h(n) + m for m in [n, x]] for x, n in enumerate(v)],
                    [y for g in v for y in [h(g)]], sorted(v, key=lambda n: h(n)),
                    [(lambda x: x + n)(n) for n in v])
        self.all_same(hidden, ([3, 1], 10))

        def even(n):
            def is_even(n):
                return True if n == 0 else is_odd(n - 1)

            def is_odd(n):
                return False if n == 0 else is_even(n - 1)
            return is_even(n)
        self.all_same(outer, ([1, 2], 5), ([7], 0))
        self.all_same(even, (7,), (4,))

    def test_a_function_that_is_decorated_by_a_call(self):
        def factorial(n):
            return 1 if n < 2 else n * factorial(n - 1)
        self.same(factorial, 10)

    def test_assignments_to_several(self):
        def several(v):
            a = b, c = v[0] * 2, v[1]
            x = y = sum(v) + a[0]
            return a, b, c, x, y
        self.same(several, [3, 4])

    def test_many_branches(self):
        text = "def f(n):\n    if n == 0: return 0\n" + "".join(
            f"    elif n == {i}: x = {i * i}\n" for i in range(1, 60)) + (
                "    else: x = -1\n    return x\n")
        linecache.cache["<branches>"] = (len(text), None, text.splitlines(True), "<branches>")
        scope = {}
        exec(compile(text, "<branches>", "exec"), scope)  # pylint: disable=exec-used
        self.all_same(scope["f"], (0,), (7,), (59,), (60,))

    def test_names_outside(self):
        number = 2.5

        def constants(v):
            return [x * LIMIT + number for x in v], NAMES + ["c"], math.pi, math.inf

        def decorated(v):
            return qsort(v)[0], scale([1.0 * v[0]])
        self.same(constants, [1, 2])
        self.assertEqual(rv.function(decorated)([3, 1])[1].to_list(), [6.0])

    def test_ints_become_floats(self):
        def branches(c, v):
            total = 0
            for x in v:
                total += x
            return total if c else 1, [1, 2.5, total], (total or 3)
        self.all_same(branches, (True, [1.5]), (False, [0.5, 0.25]), (True, [0.0]))

    def test_functions_of_nesl(self):
        module = rv.define(
            "function both(v) = (sum(v), reverse(v)); function half(x) = x / 2.0;")
        both, half = module.both, module.half

        @rv.function
        def calls(v):
            total, w = both(v)
            return [half(x) for x in w], total
        self.assertEqual(value(calls([1.0, 2.0])[0]), [1.0, 0.5])
        with rv.options(threads=1):  # another context
            self.assertEqual(value(calls([1.0, 2.0])[0]), [1.0, 0.5])

    def test_options(self):
        @rv.function
        def half(x):
            return x / 2
        with rv.options(threads=1):
            self.assertEqual(half(3), 1.5)
        for options in ({"int": 32}, {"float": 32}):
            with rv.options(**options), self.assertRaisesRegex(rv.MisuseError, "64 bits"):
                half(3)


if __name__ == "__main__":
    unittest.main()
