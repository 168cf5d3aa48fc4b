"""What ravel.function refuses, at decoration or for the types of a call, and where."""

import linecache
import math
import os
import unittest

import numpy as np
import ravel as rv

FILE = "<refusals>"


def defined(text, **names):
    """The last function of a text, as if it were in a file."""
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    scope = {"rv": rv, "math": math, "np": np, "os": os, "TABLE": {1: 2}, "LONG": [0] * 5000,
             "ARRAY": np.zeros(3), **names}
    exec(compile(text, FILE, "exec"), scope)  # pylint: disable=exec-used
    return [each for each in scope.values() if callable(each)][-1]


def function(*lines):
    return "def f(v, n):\n" + "".join(f"    {line}\n" for line in lines)


# A body (v is a list of ints, n an int), the line and the text that is marked, words of the
# message.
AT_DECORATION = (
    (["v[0] = 1", "return v"], 2, "v[0]", "lists and objects do not change: make a new list"),
    (["v.append(n)", "return v"], 2, "v.append(n)", r"write v = v \+ \[x\]"),
    (["v.sort()", "return v"], 2, "v.sort()", r"write v = sorted\(v\)"),
    (["print(n)", "return v"], 2, "print(n)", "print is not supported: return the value"),
    (["n + 1", "return v"], 2, "n + 1", "a value that is not used is not computed"),
    (["try:", "    n = 1", "except ValueError:", "    pass",
      "return n"], 2, "try:", "`try` is not"),
    (["with n:", "    pass", "return n"], 2, "with", "`with` is not supported"),
    (["import os", "return n"], 2, "import os", "import outside of the function"),
    (["global g", "return n"], 2, "global g", "`global` is not supported: return the value"),
    (["del n", "return v"], 2, "del n", "`del` is not supported"),
    (["class C: pass", "return v"], 2, "class", "write functions of tuples and lists"),
    (["return {1: n}"], 2, "{1: n}", "a dict is not supported: write a list of tuples"),
    (["return {n}"], 2, "{n}", "a set is not supported: write a list"),
    (["return {x for x in v}"], 2, "{x for x in v}", "a set is not supported"),
    (["return {x: x for x in v}"], 2, "{x: x for x in v}", "a dict is not supported"),
    (["return [*v, n]"], 2, "*v", r"`\*` is not supported: write v \+ w"),
    (["return v @ v"], 2, "v @ v", "`@` is not supported: write sum"),
    (["return n is n"], 2, "n is n", "`is` is not supported: write `==`"),
    (["return 0 if n is None else n"], 2, "n is None", "test for None .*pass another value"),
    (["return n != None"], 2, "n != None", "test for None .*or a bool beside it"),
    (["return (n := 3)"], 2, "n := 3", "`:=` is not supported"),
    (["yield n"], 2, "yield n", "`yield` is not supported: return a list"),
    (["for x in v:", "    pass", "else:", "    n = 1",
      "return n"], 2, "for", "`else` of a loop"),
    (["return None"], 2, "None", "None is not supported"),
    (["return b'a'"], 2, "b'a'", "a constant of type bytes"),
    (["return 2j"], 2, "2j", "a constant of type complex"),
    (["return max(*v)"], 2, "*v", r"`\*` is not supported"),
    (["return dict(**n)"], 2, "**n", r"`\*\*` is not supported|dict"),
    (["def g(*a): return 1", "return g(n)"], 2, "a", "a fixed number of parameters"),
    (["def g(*, a): return 1", "return g(a=n)"], 2, "a", "only by name"),
    (["@rv.function", "def g(a): return 1", "return g(n)"], 2, "rv.function", "no decorators"),
    (["a.b = n", "return n"], 2, "a.b", "lists and objects do not change"),
)

# The same, where types are needed.
AT_A_CALL = (
    (["return v + n"], 2, "v + n", r"`\+` of list\[int\] and int is not supported"),
    (["return v * 2.5"], 2, "v * 2.5", "write a comprehension"),
    (["return v - v"], 2, "v - v", r"`-` of list\[int\] and list\[int\] is not supported"),
    (["return -v"], 2, "-v", "`-` of list"),
    (["return ~0.5"], 2, "~0.5", "`~` of float"),
    (["return n & 0.5"], 2, "n & 0.5", "`&` of int and float"),
    (["if n > 0:", "    return 1"], 2, "if n > 0", "may end here without a `return`"),
    (["if n > 0: return n", "return v"], 1, "def f", r"returns int and list\[int\]"),
    (["return"], 2, "return", "a function returns a value here"),
    (["if n > 0: x = 1", "return x"], 3, "x", "x may have no value here: not every way"),
    (["for x in v: y = x", "return y"], 3, "y", "y may have no value here"),
    (["if n > 0: x = 1", "else: x = 'a'", "return x"], 4, "x", "it is int or str"),
    (["x = n", "while n > 0:", "    x = [x]", "    n -= 1",
      "return x"], 3, "while", r"x is int before the loop, and list\[int\] in it"),
    (["while True:", "    n += 1", "return n"], 2, "while", "this loop never ends"),
    (["return f(v, n)"], 1, "def f", "f never returns a value"),
    (["return [f(v, n)] if n else [f(v, n)]"], 1, "def f", "has no end"),
    (["return [1, 'a']"], 2, "[1, 'a']", "elements of one type, not int, str"),
    (["return 1 if n else v"], 2, "1 if n else v", "have no type in common"),
    (["return n and v"], 2, "n and v", "have no type in common"),
    (["return n < v"], 2, "n < v", "have no type in common"),
    (["return [v] < [v]"], 2, "[v] < [v]", "compare parts of them"),
    (["return n[0]"], 2, "n[0]", "int has no elements"),
    (["return v[0.5]"], 2, "0.5", "an index is an int, not float"),
    (["return v[:0.5]"], 2, "0.5", "a bound of a slice is an int"),
    (["return (1, 2)[n]"], 2, "(1, 2)[n]", "the index of a tuple is a constant"),
    (["return (1, 2)[5]"], 2, "(1, 2)[5]", "the tuple has 2 items"),
    (["return [x for x in n]"], 2, "x", "int cannot be iterated over"),
    (["return [a for a, b in v]"], 2, "a, b", "2 variables for int"),
    (["a, b, c = n, n", "return a"], 2, "a, b, c", "3 variables for tuple"),
    (["w = v", "w += v", "return w"], 3, "w += v", r"write v = v \+ w"),
    (["return v.index(n)"], 2, "v.index", r"`.index` of list\[int\] is not supported"),
    (["return math.sqrt(v)"], 2, "math.sqrt(v)",
     r"sqrt takes numbers, not list\[int\]: write \[sqrt"),
    (["return np.sqrt(v)"], 2, "np.sqrt(v)", r"write \[sqrt\(x\) for x in v\]"),
    (["return np.cumsum(v)"], 2, "np.cumsum(v)", "cumsum is not supported, as arrays are lists"),
    (["return np.mean(v)"], 2, "np.mean(v)", r"numpy.mean is .*write sum\(v\) / len\(v\)"),
    (["return np.add(n, n)"], 2, "np.add(n, n)", r"write x \+ y"),
    (["return v.max()"], 2, "v.max", r"`.max` of list\[int\] is not supported: write max\(v\)"),
    (["return os.getpid()"], 2, "os.getpid()", "if it is yours, decorate it"),
    (["return isinstance(n, int)"], 2, "isinstance", "types are known"),
    (["return nowhere(n)"], 2, "nowhere", "nowhere has no value"),
    (["return math.nothing"], 2, "math.nothing", "no attribute"),
    (["return math.sqrt(n, n)"], 2, "math.sqrt(n, n)", "takes 1 arguments"),
    (["return math.gcd(n, 0.5)"], 2, "math.gcd(n, 0.5)", "takes ints"),
    (["return round(n / 3, 2)"], 2, "round(n / 3, 2)", "round to decimals is not exact"),
    (["return str(n / 2)"], 2, "str(n / 2)", "the text of float is not supported"),
    (["return f'{n:3}'"], 2, "f'{n:3}'", "formats in f-strings"),
    (["return 'é'"], 2, "'é'", "only ASCII text"),
    (["return 2 ** 70 + n * 9223372036854775808"], 2, "9223372036854775808", "64 bits"),
    (["return f(v)"], 2, "f(v)", "the argument n of f is missing"),
    (["return f(v, n, n)"], 2, "f(v, n, n)", "takes 2 arguments, not 3"),
    (["return f(v, m=n)"], 2, "f(v, m=n)", "no such parameter"),
    (["return n(v)"], 2, "n(v)", "int is not a function"),
    (["return f"], 2, "f", "a function is no value here: call it"),
    (["return TABLE"], 2, "TABLE", "a constant of type dict is not supported: pass it"),
    (["return LONG"], 2, "LONG", "a constant of 5000 elements is too long: pass it"),
    (["return [x for x in ARRAY]"], 2, "ARRAY", "a constant of type ndarray is not supported"),
    (["g = lambda: f", "return g()"], 2, "f", "a function is no value here"),
    (["return sorted([v])"], 2, "sorted([v])", "by numbers, or tuples of numbers"),
    (["return sorted(v, reverse=n > 0)"], 2, "sorted", "reverse= is a constant"),
    (["return sum([v])"], 2, "sum([v])", r"write \[x for v in vs for x in v\]"),
    (["return max([v])"], 2, "max([v])", "give it a key= of numbers"),
    (["return zip(v)"], 2, "zip(v)", "two lists or more"),
    (["return list(enumerate(v, 1))"], 2, "enumerate(v, 1)", "begins at 0"),
    (["return range(0.5)"], 2, "range(0.5)", "range takes ints"),
    (["for i in range(0.5): n = i", "return n"], 2, "0.5", "range takes ints, not float"),
    (["return v.append(n)"], 2, "v.append", "lists do not change"),
    (["return v.sort()"], 2, "v.sort", "sorted"),
    (["if n > 0:", "    def g(): return 1", "else:", "    def g(): return 2", "return g()"], 6,
     "g", "one of several functions"),
    (["a, b = len", "return a"], 2, "a, b", "a function has no parts"),
    (["raise ValueError(n)"], 2, "raise", "the text of an exception is a constant"),
    (["for x in v:", "    if x > n: return x", "    if x < n: return v", "return 0"], 2, "for",
     "the values that are returned here have no type in common"),
    (["return (1, 2)[0:1]"], 2, "(1, 2)[0:1]", "a slice of tuple"),
    (["return [c for c, d in 'ab']"], 2, "c, d", "str has no fixed number of elements"),
    (["return sum(v, v)"], 2, "sum(v, v)", "begins with list"),
    (["return max(v, key=lambda x: 'a')"], 2, "max", "a key is a number here, not str"),
    (["return max(n, n, key=abs)"], 2, "max", "of several values takes no keywords"),
    (["return sum(len)"], 2, "sum(len)", "sum takes a list, not a function"),
    (["return sum(n)"], 2, "sum(n)", "sum takes a list, not int"),
    (["return sum(v, end=1)"], 2, "sum", "end= of sum is not supported"),
    (["return sum()"], 2, "sum()", "sum takes 1 or 2 arguments"),
    (["return math.sqrt(x=n)"], 2, "math.sqrt", "keywords of sqrt are not supported"),
    (["return math.sqrt(len)"], 2, "math.sqrt", "takes numbers, not a function"),
    (["return pow(n, n, 5)"], 2, "pow", "pow takes two numbers"),
    (["return np.where(n > 1)"], 2, "np.where", "a condition and two numbers"),
    (["return np.clip(n, 1)"], 2, "np.clip", "a number and two bounds"),
    (["return abs(n, n)"], 2, "abs", "abs takes one value"),
    (["return ord(n)"], 2, "ord", "ord takes a character, not int"),
    (["return (n,)"], 2, "(n,)", "two items or more"),
    (["return len(n)"], 2, "len(n)", "int has no len"),
    (["def g(a, b=v): return a", "return g(n)"], 2, "v", "a default of an inner function"),
    (["raise n"], 2, "raise n", "only `raise KIND"),
)


class Refusals(unittest.TestCase):
    def refused(self, text, action, line, marked, words):
        with self.subTest(text), self.assertRaisesRegex(rv.Unsupported, words) as caught:
            action()
        with self.subTest(text):
            error = caught.exception
            self.assertEqual((error.filename, error.lineno), (FILE, line))
            shown = text.splitlines()[line - 1][error.offset - 1:]
            self.assertTrue(shown.startswith(marked), f"{shown!r} is marked, not {marked!r}")

    def test_at_decoration(self):
        for body, line, marked, words in AT_DECORATION:
            text = function(*body)
            self.refused(text, lambda t=text: rv.function(defined(t)), line, marked, words)

    def test_at_a_call(self):
        for body, line, marked, words in AT_A_CALL:
            text = function(*body)
            made = rv.function(defined(text))
            made.__wrapped__.__globals__["f"] = made
            self.refused(text, lambda f=made: f([1, 2], 3), line, marked, words)

    def test_parameters(self):
        self.refused("def f(*v):\n    return 1\n",
                     lambda: rv.function(defined("def f(*v):\n    return 1\n")), 1, "v",
                     "a fixed number of parameters")
        with self.assertRaisesRegex(rv.Unsupported, "a lambda is not supported: write `def`"):
            rv.function(lambda x: x)

    def test_a_function_without_a_source(self):
        scope = {}
        exec("def f(x): return x", scope)  # pylint: disable=exec-used
        with self.assertRaisesRegex(rv.Unsupported, "the source of f is not to be found"):
            rv.function(scope["f"])
        with self.assertRaisesRegex(TypeError, "a function of Python"):
            rv.function(3)

    def test_what_is_nested_too_deeply(self):
        for count in (800, 2000):
            text = function("return " + " + ".join(["n"] * count))
            with self.assertRaisesRegex(rv.Unsupported, "nested too deeply"):
                rv.function(defined(text))([1], 2)

    def test_no_parameters(self):
        with self.assertRaisesRegex(rv.MisuseError, "has no parameters"):
            rv.function(defined("def f():\n    return 1\n"))()

    def test_it_is_shown_as_a_mistake_in_the_syntax_is(self):
        text = function("return v", "del v")
        with self.assertRaises(SyntaxError) as caught:
            rv.function(defined(text))
        self.assertEqual(caught.exception.text.strip(), "del v")


if __name__ == "__main__":
    unittest.main()
