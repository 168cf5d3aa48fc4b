"""`nesl test` tries properties: wrong functions are found and their counterexamples are the
simplest, seeds give the same cases in all ways of evaluation, and what is no property is refused.

usage: nesl_properties.py NESL [unittest options]
"""

import os
import re
import sys
import unittest

import nesl_command
from nesl_command import CommandTest

# A law that does not hold, its definitions, and the counterexample: the simplest for any seed.
WRONG = [
    ("", "p(x : int) = x < 10", "x = 10"),
    ("", "p(x : int) = x > -100", "x = -100"),
    ("", "p(x : int in [3:1000]) = x < 7", "x = 7"),
    ("", "p(x : int in [-9:-2]) = x > 0", "x = -3"),
    ("", "p(x : float in [0.0:8.0]) = x < 2.0", "x = 2.0"),
    ("", "p(x : bool, y : bool) = not(x and y)", "x = t; y = t"),
    ("", "p(c : char) = c < `d", "c = `d"),
    ("", "p(c : char in \"xyz\") = c == `x", "c = `y"),
    ("", "p(v : [int]) = #v < 4", "v = [0, 0, 0, 0]"),
    ("", "p(v : [[bool]]) = #v < 3", "v = [[] bool, [] bool, [] bool]"),
    ("", "p(v : [[int]]) = all({#w < 3 : w in v})", "v = [[0, 0, 0]]"),
    ("", "p(s : [char], x : (int, (float, char))) = #s < 2",
     "s = \"aa\"; x = (0, 0.0, `a)"),
    ("", "p(v : [int], w : [int]) = #v < 3 or #w < 2", "v = [0, 0, 0]; w = [0, 0]"),
    ("", "p(v : [int] in [0:9]) = eql(v, sort(v))", "v = [1, 0]"),
    ("datatype point(int, float);", "p(v : [point]) = #v < 2", "v = [point(0, 0.0), point(0, 0.0)]"),
    ("datatype body(mass : float, name : [char]);", "p(b : body) = b.mass >= 0.0", "b = body(-1.0, \"\")"),
    ("function last(v) = v[#v - 2];", "p(v : [int] in [0:2]) where #v > 1 = last(v) == v[#v - 1]",
     None),
    ("function twice(v) = v ++ v;", "p(v : [int] from twice) = #v < 6", "v = (twice)([0, 0, 0])"),
    ("", "p(v : [int], i : int from k => rem(abs(k), #v + 1)) where i < #v and i >= 0 = v[i] < 5",
     None),
    # Of the thesis of 2008, whose first version failed for odd lengths.
    ("function two_sort(a, b) = if a < b then (a, b) else (b, a);\n"
     "function again(n, g, v) = if n == 0 then v else again(n - 1, g, g(v));\n"
     "function sorted(v) = again(#v / 2, w => odds(two_sort, evens(two_sort, w)), v);",
     "p(v : [int] in [0:9]) = eql(sorted(v), sort(v))", "v = [1, 1, 0]"),
]
# Behind a property: what is said of it, and the line and column where.
NONE = [
    ("p(x : int) = x + 1", 1, 24, "this is to be bool, but it is int"),
    ("p(x : itn) = x == 1", 1, 17, "did you mean `int`?"),
    ("p(x : int in \"ab\") = x == 1", 1, 24, "this range has no values of int"),
    ("p(x : int in [3:3]) = x == 1", 1, 24, "there is nothing in this range"),
    ("p(x : int in [3:4.0]) = x == 1", 1, 24, "one bound is an int, the other a float"),
    ("p(x : int -> int) = t", 1, 17, "there are no random functions"),
    ("p(x : int = t", 1, 21, "expected `)` to close the `(`"),
    ("p(x : int) t", 1, 22, "expected `=` and the law"),
    ("p() = t", 1, 13, "expected the name of a parameter"),
    ("p = t", 1, 13, "and parameters behind the name of the property"),
    ("p(x : int, x : int) = t", 1, 22, "the parameter x stands here twice"),
    ("p(x : int) cases := 0 = t", 1, 31, "a number from 1 to 1000000"),
    ("p(x : int) where x = t", 1, 28, "this is to be bool, but it is int"),
    ("p(v : [b]) = v + 1 == 2", 1, 26, "`+` wants two numbers"),
    ("p(x : int,\n  y : float) where\n  x == y = t", 3, 5, "of one type, but these are int and float"),
    ("p(x : int) = t t2", 1, 26, "is not defined"),
    ("p(x : int from k => k + no) = t", 1, 35, "`no` is not defined"),
]
MIXED = """datatype point(int, float);
%property any(p : point, v : [([char], [[float]])], b : bool, w : [int] from sort) = #v < 9 %
%property order(v : [a]) = eql(sort(sort(v)), sort(v)) or not(eql(v, v)) %
%property faulty(v : [float], i : int) where i >= 0 = v[i] <= infinity %
"""


class PropertiesTest(CommandTest):
    def property(self, text, *flags, before=""):
        """The run of a file with this property."""
        return self.nesl(*flags, "test", self.file(f"{before}\n%property {text} %\n"))

    def counterexample(self, ran):
        found = re.findall(r"^    let (.*?) in ", ran.stdout, re.MULTILINE)
        self.assertEqual(len(found), 1, ran.stdout + ran.stderr)
        return found[0]


class Wrong(PropertiesTest):
    def test_the_simplest_is_found(self):
        for before, text, simplest in WRONG:
            for seed in ("0", "1", "2"):
                ran = self.property(text, "--seed", seed, before=before)
                self.expect(ran, 1)
                found = self.counterexample(ran)
                if simplest:
                    self.assertEqual(found, simplest, text)
                self.assertIn("\n    is F\n", ran.stdout)
                self.assertIn(f"again: nesl test prog.nesl --only p --seed {seed}\n", ran.stdout)

    def test_the_example_is_nesl_and_fails(self):
        for before, text, _ in WRONG:
            ran = self.property(text, before=before)
            expression = re.search(r"^    (let .*;)$", ran.stdout, re.MULTILINE)[1]
            again = self.nesl("-e", before + expression)
            self.expect(again, 0)
            self.assertTrue(again.stdout.endswith("it = F : bool\n"), expression)

    def test_faults(self):
        ran = self.property("p(v : [int]) = v[0] == v[0]")
        self.expect(ran, 1)
        self.assertEqual(self.counterexample(ran), "v = [] int")
        self.assertIn("prog.nesl:2:26: error: Sequence reference (a[i]) out of bounds. (index 0",
                      ran.stdout)
        self.assertNotIn("_law", ran.stdout)
        ran = self.property("p(x : int) = g(x) > 0", before="function g(x) = 10 / (x - 3);")
        self.assertEqual(self.counterexample(ran), "x = 0")  # F, before the fault at 3
        ran = self.property("p(x : int) = g(x) < 11", before="function g(x) = 10 / (x - 3);")
        self.assertEqual(self.counterexample(ran), "x = 3")
        self.assertIn("prog.nesl:1:17: error: Divide by zero.", ran.stdout)
        ran = self.property("p(x : int in [0:3]) = error(\"boo\")")
        self.assertEqual(self.counterexample(ran), "x = 0")

    def test_values_after_from(self):
        ran = self.property("p(v : [int] from w => w ++ w, x : int) = #v < 4")
        self.assertIn("    % (v, x) is ([0, 0, 0, 0], 0) %\n", ran.stdout)

    def test_random_numbers_differ(self):
        said = [self.property("p(x : int) = rand(1000) < 900", "--seed", str(k)) for k in range(5)]
        self.assertTrue(any("random numbers" in ran.stdout for ran in said))

    def test_limits(self):
        loop = "function loop(n) = if n < 0 then n else loop(n + 1);"
        ran = self.property("p(x : int in [0:3]) = loop(x) > 0", "--time", "0.1", before=loop)
        self.expect(ran, 1)
        self.assertIn("the time limit of 0.1 seconds is over", ran.stdout)
        ran = self.property("p(x : int in [0:3]) = sum(sort({rem(i * i, 7) : i in [x:9000000]})) > 3",
                            "--memory", "50M")
        self.expect(ran, 1, err="memory")
        ran = self.property("p(n : int) = sort({rem(x * x, 7) : x in [0:max(n, 1)]})[0] == 0", "--memory", "8M")
        self.expect(ran, 1, err="memory")
        self.assertRegex(ran.stdout, r"let n = \d{5,} in")


class Right(PropertiesTest):
    def test_counts(self):
        ran = self.property("p(v : [a]) = eql(reverse(reverse(#v)), #v)")
        self.expect(ran, 2, err="error: ")
        ran = self.property("p(v : [a], w : [b]) = #(reverse(v)) + #w == #v + #w")
        types = "; ".join(("a = int, b = float", "a = float, b = char", "a = char, b = (int, char)",
                           "a = (int, char), b = int"))
        self.expect(ran, 0, f"prog.nesl:2: p holds in 400 cases, {types}\n"
                    "prog.nesl: 0 forms, 0 expectations, 1 properties in 400 cases, 0 failed\n")

    def test_types_without_the_law_are_left_out(self):
        ran = self.property("p(v : [a]) = #sort(v) == #v")
        self.assertIn("holds in 300 cases, a = int; a = float; a = (int, char)\n", ran.stdout)
        ran = self.property("p(x : a) = x + x == 2 * x")
        self.assertIn("holds in 100 cases, a = int\n", ran.stdout)

    def test_types_of_many_components(self):
        kind = "(" + ", ".join(["int"] * 120) + ")"
        same = f"function same(x) : int -> {kind} = ({', '.join(['x'] * 120)});"
        law = f"let ({', '.join(f'x{i}' for i in range(120))}) = p in x0 == x119"
        self.expect(self.property(f"p(p : int from same) = {law}", before=same), 0)
        ran = self.property(f"p(v : [{kind}]) = #v > 0")
        self.expect(ran, 1)
        self.assertEqual(self.counterexample(ran), f"v = [] {kind}")

    def test_values_are_within(self):
        for text in ("x : int in [-3:4]) = x >= -3 and x < 4", "x : int in [5:6]) = x == 5",
                     "x : float in [-0.5:0.25]) = x >= -0.5 and x < 0.25",
                     "s : [char] in \"pq\") = all({c == `p or c == `q : c in s})",
                     "v : [[int]] in [0:2]) = all({all({x == 0 or x == 1 : x in w}) : w in v})",
                     "v : [int]) size := 5 = #v <= 5", "v : [int] from sort) = eql(v, sort(v))",
                     "n : int, v : [int] from w => n:w) = v[0] == n"):
            self.expect(self.property(f"p({text.replace('n:w', '[n] ++ w')}", "--cases", "500"), 0)

    def test_widths(self):
        self.expect(self.property("p(x : float in [0.1:0.3]) = x >= 0.1 and x < 0.3", "--float", "32",
                                  "--cases", "1000"), 0)
        self.expect(self.property("p(x : int) = x + 1 > x", "--int", "32", "--cases", "500"), 1)
        ran = self.property("p(x : int in [0:3000000000]) = x >= 0", "--int", "32")
        self.expect(ran, 2, None, "a bound is no int of 32 bits")

    def test_every_kind_of_value_is_drawn(self):
        for text in ("x : int) = x /= max_int", "x : int) = x /= min_int", "x : float) = not(isnan(x))",
                     "x : float) = x /= infinity", "x : float) = x == 0.0 or abs(x) > 1.0e-300",
                     "v : [[int]]) = not(any({#w == 0 : w in v}) and any({#w > 1 : w in v}))",
                     "s : [char]) = all({char_code(c) < 128 : c in s})", "v : [int]) = #v /= 0",
                     "v : [int]) = #v < 36", "x : int) = x >= 0", "x : int) = abs(x) < 1000"):
            ran = self.property(f"p({text}", "--cases", "400")
            self.assertEqual(ran.returncode, 1, text)

    def test_where(self):
        self.expect(self.property("p(x : int, y : int) where y > x = y - x /= 0"), 0)
        ran = self.property("p(x : int) where x == 123456789 = x > 0")
        self.expect(ran, 1)
        self.assertIn("has too few cases: 0 of 1000 random ones satisfy its condition", ran.stdout)
        # Conditions on lengths that short sequences never have.
        self.expect(self.property("p(v : [int]) where #v > 20 = #v > 20"), 0)

    def test_output_is_not_shown(self):
        ran = self.property("p(x : int) = print_string(\"hello\")")
        self.assertNotIn("hello", ran.stdout)

    def test_options(self):
        ran = self.property("p(v : [int]) cases := 30 size := 3 = #v < 4")
        self.assertIn("holds in 30 cases\n", ran.stdout)
        ran = self.property("p(v : [int]) cases := 30 = #v < 4", "--cases", "7", "--size", "3")
        self.assertIn("holds in 7 cases\n", ran.stdout)
        ran = self.property("p(v : [int]) = #v < 4", "--cases", "7", "--size", "30", "--int", "32")
        self.assertIn("--only p --seed 0 --cases 7 --size 30 --int 32\n", ran.stdout)
        for arguments in (["--cases", "3", "-e", "1"], ["--cases", "0", "test", "x"],
                          ["--only", "p", "run", "x"], ["--size", "-1", "test", "x"]):
            self.assertEqual(self.nesl(*arguments).returncode, 2, arguments)


class Files(PropertiesTest):
    def test_what_is_no_property(self):
        for text, line, column, message in NONE:
            ran = self.nesl("test", self.file(f"%property {text} %\n"))
            self.expect(ran, 2, None, f"prog.nesl:{line}:{column}: error: ")
            self.assertIn(message, ran.stderr)
            self.assertIn("1 failed", ran.stdout)
            self.assertNotIn("function _", ran.stderr)

    def test_comments_that_are_none(self):
        text = ("s = \"%property p(x : int) = f %\";\nc = `%;\n// %property p(x : int) = f %\n"
                "% %property p(x : int) = f %\n\"a \\\" b %property p(x : int) = f %\";\n"
                "%properties are laws %\n%propertyp(x : int) = f %\n")
        self.expect(self.nesl("test", self.file(text.replace("% %p", "% a % %"))), 0)

    def test_within_forms_and_before_definitions(self):
        text = ("%property early(x : int) = later(x) == x %\n"
                "function later(x) =\n  %property inner(x : int) = later(x) /= x %\n  x;\n"
                "later(3); %= 3 %\n")
        ran = self.nesl("test", self.file(text))
        self.expect(ran, 1)
        self.assertIn("prog.nesl:1: early holds in 100 cases\n", ran.stdout)
        self.assertIn("prog.nesl:3: inner fails in case 1, made simpler", ran.stdout)
        self.assertIn("2 forms, 1 expectations, 2 properties in 100 cases, 1 failed", ran.stdout)

    def test_files_run_unchanged(self):
        self.file(MIXED + "1 + 1;\n")
        self.expect(self.nesl("run", "prog.nesl"), 0, "\nit = 2 : int\n")
        self.expect(self.nesl("check", "prog.nesl"), 0, "")

    def test_several_files_and_only(self):
        self.file("%property p(x : int) = x == x %\n", "a.nesl")
        self.file("%property Q(x : int) = x < 0 %\n1; %= 2 %\n", "b.nesl")
        ran = self.nesl("test", "a.nesl", "b.nesl")
        self.expect(ran, 1)
        self.assertIn("a.nesl: 0 forms, 0 expectations, 1 properties in 100 cases, 0 failed", ran.stdout)
        self.assertIn("b.nesl: 1 forms, 1 expectations, 1 properties in 0 cases, 2 failed", ran.stdout)
        self.expect(self.nesl("test", "--only", "p", "a.nesl"), 0)
        self.assertIn("q fails", self.nesl("test", "--only", "q", "a.nesl", "b.nesl").stdout)
        self.expect(self.nesl("test", "--only", "r", "a.nesl"), 2, None, "there is no property of this name")

    def test_the_same_in_all_ways(self):
        self.file(MIXED)
        seeds = [self.nesl("--seed", seed, "test", "prog.nesl").stdout for seed in "12"]
        self.assertNotEqual(seeds[0].replace("seed 1", "seed 2"), seeds[1])
        for flags in ([], ["--direct"], ["--no-optimise"], ["--threads", "3"], ["--no-fusion"]):
            ran = self.nesl(*flags, "--seed", "1", "test", "prog.nesl")
            self.expect(ran, 1, seeds[0])

    def test_a_property_alone_has_the_same_cases(self):
        self.file(MIXED)
        whole = self.nesl("test", "prog.nesl").stdout
        alone = self.nesl("test", "prog.nesl", "--only", "faulty").stdout
        self.assertIn(alone.split("prog.nesl: ")[0], whole)
        self.assertEqual(alone.count("faulty fails"), 1)


if __name__ == "__main__":
    nesl_command.NESL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
