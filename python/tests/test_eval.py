"""Expressions, definitions, modules, map and options."""

import tempfile
import unittest
from pathlib import Path

import numpy as np
import ravel as rv


class Eval(unittest.TestCase):
    def test_rows(self):
        sums = rv.eval("{sum(r) : r in xs}", xs=[[1., 2.], [], [3.]])
        self.assertEqual(sums.to_list(), [3.0, 0.0, 3.0])

    def test_results_of_each_type(self):
        found = rv.eval("(1, 2.5, t, `c, \"né\", [3])")
        self.assertEqual(found[:5], (1, 2.5, True, "c", "né"))
        self.assertEqual([type(each) for each in found[:5]], [int, float, bool, str, str])
        self.assertEqual(found[5].to_list(), [3])

    def test_a_tuple_ends_in_its_parts(self):
        self.assertEqual(rv.eval("((1, 2), (3, 4))"), ((1, 2), 3, 4))

    def test_results_are_arguments(self):
        rows = rv.eval("{[0:n] : n in [0:5]}")
        self.assertEqual(rv.eval("sum({#r : r in rows})", rows=rows), 10)

    def test_types_are_those_of_the_data(self):
        for data, total in (([1, 2], 3), ([1.0, 2], 3.0)):
            found = rv.eval("sum(data)", data=data)
            self.assertEqual((found, type(found)), (total, type(total)))

    def test_errors(self):
        for text, kind, said in (("1 +", rv.NeslSyntaxError, "expected"),
                                 ("nothing", rv.NeslTypeError, "`nothing` is not defined"),
                                 ("1 / 0", rv.RunError, "Divide by zero"),
                                 ("[1, 2][5]", rv.RunError, "5")):
            with self.subTest(text), self.assertRaisesRegex(kind, said) as caught:
                rv.eval(text)
            self.assertIsInstance(caught.exception, rv.Error)
            self.assertEqual(caught.exception.diagnostics[0].severity, "error")

    def test_names_of_the_constants(self):
        """A keyword t or f is what it says, everywhere else these are true and false."""
        self.assertEqual(rv.eval("t + f", t=1, f=2), 3)
        self.assertIs(rv.eval("t"), True)
        self.assertEqual(rv.eval("(t, f, F)", T=[1.5][0]), (1.5, False, False))
        self.assertEqual(rv.eval("time + 1", time=2), 3)
        with self.assertRaisesRegex(rv.MisuseError, "cannot be called let, a word of NESL"):
            rv.eval("1", Let=2)

    def test_definitions_with_names_of_the_constants(self):
        """What an expression means changes with them, and translated functions keep theirs."""
        text = "if f then 1 else 2"
        self.assertEqual(rv.eval(text), 2)
        module = rv.define("function f(x_) = 2 * x_;")
        self.addCleanup(rv.define, "f = 1 == 0;")
        self.assertEqual(module.f(21), 42)
        with self.assertRaisesRegex(rv.NeslTypeError, "bool"):
            rv.eval(text)

    def test_the_calls_that_led_to_an_error(self):
        module = rv.define("function inner_(x) = 1 / x;"
                           " function outer_(x) = inner_(x) + 1;", "c.nesl")
        with self.assertRaises(rv.RunError) as caught:
            module.outer_(0)
        first, *notes = caught.exception.diagnostics
        self.assertEqual((first.file, first.line), ("c.nesl", 1))
        self.assertTrue(any("inner_" in note.message for note in notes))


class Define(unittest.TestCase):
    def test_a_module(self):
        module = rv.define("function twice_(x) = x + x; % ; a comment %\n"
                           "three_ = let a = 1; b = 2 in a + b;\n"
                           "datatype pair_(int, float);", "some.nesl")
        self.assertEqual(sorted(dir(module)), ["pair_", "three_", "twice_"])
        self.assertEqual((module.twice_(4), module.three_, module.TWICE_(3)), (8, 3, 6))
        self.assertEqual(module.twice_.nesl, "function twice_(x) = x + x;")
        self.assertEqual(rv.eval("twice_(three_)"), 6)
        pair = module.pair_(1, 2.0)
        self.assertEqual((pair.type, pair.contents), ("pair_", (1, 2.0)))
        self.assertEqual(rv.eval("let pair_(a, b) = p in a", p=pair), 1)
        with self.assertRaisesRegex(AttributeError, "does not define four; it defines"):
            module.four  # pylint: disable=pointless-statement

    def test_an_error_names_the_text(self):
        with self.assertRaisesRegex(rv.NeslTypeError, "some.nesl:2:"):
            rv.define("\nfunction f_(x) = unknown_(x);", "some.nesl")

    def test_comments_of_lines(self):
        module = rv.define('// ; "(%\nfunction first_(x) = x; // let\nfunction second_(x) = "//; " ++ x;')
        self.assertEqual(dir(module), ["first_", "second_"])
        self.assertEqual(module.second_("ok"), "//; ok")

    def test_two_modules_with_one_name(self):
        first = rv.define("function step_(x) = x + 1; function steps_(x) = step_(step_(x));")
        second = rv.define("function step_(x) = x + 10;")
        self.assertEqual((first.steps_(0), second.step_(0)), (2, 10))
        self.assertEqual((first.step_(0), rv.eval("step_(0)")), (1, 10))

    def test_eval_takes_the_newer_of_two(self):
        first = rv.define("function pace_(x) = x + 1; function paces_(x) = pace_(pace_(x));")
        rv.define("function pace_(x) = x + 10;")
        self.assertEqual(rv.eval("pace_(1)"), 11)
        self.assertEqual((first.paces_(0), rv.eval("pace_(0)")), (2, 10))

    def test_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "half.nesl"
            path.write_text("function half_(x) = x / 2.0;", encoding="utf-8")
            self.assertEqual(rv.load(path).half_(3.0), 1.5)
            with self.assertRaises(FileNotFoundError):
                rv.load(Path(folder) / "none.nesl")

    def test_wrong_types(self):
        with self.assertRaisesRegex(rv.NeslTypeError, "does not take float"):
            rv.define("function next_(x) = x + 1;").next_(1.5)


class Map(unittest.TestCase):
    def test_each_row(self):
        self.assertEqual(rv.map("sum", [[1, 2], [], [3]]).to_list(), [3, 0, 3])

    def test_several(self):
        scaled = rv.define("function scaled_(v, k) = {x * k : x in v};").scaled_
        self.assertEqual(rv.map(scaled, [[1, 2], [3]], [10, 100]).to_list(), [[10, 20], [300]])
        empty = rv.array([], "[[int]]"), rv.array([], "[int]")
        self.assertEqual(rv.map(scaled, *empty).to_list(), [])
        with self.assertRaises(rv.RunError):
            rv.map(scaled, [[1, 2], [3]], [10])

    def test_tuples(self):
        first = rv.define("function first_(p) = let (a, b) = p in a;").first_
        self.assertEqual(rv.map(first, [(1, 2.0), (3, 4.0)]).to_list(), [1, 3])

    def test_refusals(self):
        with self.assertRaisesRegex(rv.MisuseError, "decorate it with @ravel.function"):
            rv.map(len, [[1]])
        with self.assertRaisesRegex(rv.MisuseError, "map takes sequences, and this is int"):
            rv.map("sum", 3)


class Costs(unittest.TestCase):
    def setUp(self):
        self.total = rv.define("function total_(v) = sum(v) + 1;").total_

    def test_cost(self):
        small, large = self.total.cost([1, 2]), self.total.cost(list(range(1000)))
        self.assertGreater(large.work, small.work + 900)
        self.assertGreaterEqual(large.compiled_work, 1000)
        self.assertEqual(small.instructions, large.instructions)

    def test_ints_that_wrap_around(self):
        text = "{x * x : x in v}"
        self.assertEqual(rv.eval(text, v=[3037000500]).to_list(), [-9223372036709301616])
        with rv.options(check_overflow=True):
            self.assertEqual(rv.eval(text, v=[-3]).to_list(), [9])
            with self.assertRaisesRegex(rv.Error, r"Integer overflow in \*. \(3037000500 \* 3037000500\)"):
                rv.eval(text, v=[3037000500])

    def test_cost_of_map(self):
        rows = [[1, 2], [3]]
        self.assertGreater(self.total.cost(rows).work, self.total.cost([1, 2]).work)
        with self.assertRaisesRegex(rv.NeslTypeError, r"total_` is .* take \[\[char\]\]"):
            self.total.cost(["text"])
        with self.assertRaises(rv.RunError):
            rv.define("function half_of_(x) = 1 / x;").half_of_.cost(0)

    def test_explain(self):
        self.assertIn("FUNC", self.total.explain([1, 2]))

    def test_profile(self):
        self.assertEqual(rv.profile(), {})
        with rv.options(profile=True):
            self.total([1, 2])
            self.assertGreaterEqual(rv.profile()["instructions"], 1)


class Texts(unittest.TestCase):
    def test_commands_of_the_prompt(self):
        for text in ("exit", "help", 'load "x"', "set trace on", "describe sum", 'import "x" as m'):
            with self.subTest(text), self.assertRaisesRegex(
                    rv.NeslSyntaxError, f"`{text.split()[0]}` is a command of the prompt"):
                rv.eval(text)
        with self.assertRaisesRegex(rv.NeslSyntaxError, "one expression is expected"):
            rv.eval("1 + 1; help")

    def test_characters_that_end_texts_of_c(self):
        for use in (lambda: rv.eval("2\0 + 1"), lambda: rv.eval("x", **{"x\0y": 1}),
                    lambda: rv.define("a_ = 1;\0 b_ = 2;"), lambda: rv.map("su\0m", [[1]])):
            with self.assertRaisesRegex(rv.NeslSyntaxError, "NUL|byte 0"):
                use()
        with self.assertRaisesRegex(rv.MisuseError, "threads"), rv.options(threads="1\0"):
            pass

    def test_names_that_nesl_lacks(self):
        for names, said in (({"été": 1}, "été is no name in NESL"), ({"a b": 1}, "a b is no name"),
                            ({"Rows": 1, "rows": 2}, "Rows and rows are one name in NESL")):
            with self.subTest(names), self.assertRaisesRegex(rv.MisuseError, said):
                rv.eval("1", **names)

    def test_characters_are_bytes(self):
        for code, said in ((65, "A"), (0, "\0"), (127, "\x7f"), (128, "\udc80"), (255, "\udcff")):
            alone, text = rv.eval("(code_char(n), [code_char(n)])", n=code)
            pairs = rv.eval("[(code_char(n), 1)]", n=code)
            self.assertEqual((alone, text, pairs.to_list(), pairs[0]), (said, said, [(said, 1)], (said, 1)))
            self.assertEqual(rv.eval("{char_code(c) : c in s}", s=said).to_list(), [code])
        self.assertEqual(rv.eval("[code_char(226), code_char(130), code_char(172)]"), "€")
        self.assertEqual(rv.eval("{char_code(c) : c in s}", s="€").to_list(), [226, 130, 172])

    def test_characters_that_are_no_bytes(self):
        for text in ("code_char(n)", "[code_char(65), code_char(n)]", '["a", [code_char(n)]]',
                     "[(code_char(n), 1)]"):
            for code in (-5, 256, 8364, 2**40):
                with self.subTest(text=text, code=code), \
                        self.assertRaisesRegex(rv.DataError, "0 to 255|is no byte"):
                    made = rv.eval(text, n=code)
                    made.to_list()


class Elements(unittest.TestCase):
    """Which element of each apply-to-each a failure is about."""

    def test_indices(self):
        rv.define("function third_of_(r) = r[2];")
        for text, data, elements in (
                ("{1 / x : x in v}", [1, 0], [1]), ("{{1 / x : x in r} : r in v}", [[1], [], [2, 0]], [2, 1]),
                ("{1 / x : x in v | x < 5}", [9, 9, 1, 0], [3]), ("1 / v[0]", [0], []),
                ("{x : x in v | 1 / x > 0}", [1, 1, 0], [2]), ("sum({1 / x : x in v})", [1, 1, 0], [2]),
                ("{third_of_(r) : r in v}", [[1, 2, 3], [], [4]], [1]),
                ("{if x > 1 then 1 / (x - 2) else 0 : x in v}", [0, 1, 2], [2]),
                ("{sum({x / y : x in r; y in reverse(r)}) : r in v}", [[1], [3, 0, 4]], [1, 1]),
                ("{loop s = x while s > 0 do 6 / (s - 2) : x in v}", [0, 5, 2], [2]),
                ("{r[0] : r in v}", [[1], []], [1])):
            with self.subTest(text), self.assertRaises(rv.RunError) as caught:
                rv.eval(text, v=data)
            self.assertEqual(caught.exception.elements, elements)
            said = str(caught.exception)
            for index in elements:
                self.assertIn(f"the element of index {index} failed in this apply-to-each", said)

    def test_recursion_has_the_outermost_of_each(self):
        rv.define("function down_to_(n, x) = if n == 0 then 1 / x else"
                  " sum({down_to_(n - 1, y) : y in [x + 1, x]});")
        with self.assertRaises(rv.RunError) as caught:
            rv.eval("{down_to_(3, x) : x in v}", v=[5, -2])
        self.assertEqual((len(caught.exception.elements), caught.exception.elements[0]), (2, 1))

    def test_they_are_not_known_where_that_would_take_long(self):
        for options, count in (({}, 2000000), ({"files": True}, 2)):
            with rv.options(**options), self.assertRaises(rv.RunError) as caught:
                rv.eval("{1 / x : x in v}", v=np.zeros(count, int))
            self.assertEqual(caught.exception.elements, [])

    def test_random_numbers_are_those_of_the_call(self):
        with rv.options(seed=7):
            drawn = rv.eval("rand(10)")
        with rv.options(seed=7), self.assertRaises(rv.RunError) as caught:
            rv.eval("let n = rand(10) in {1 / (i - n) : i in index(50)}")
        self.assertEqual(caught.exception.elements, [drawn])
        with rv.options(seed=7), self.assertRaises(rv.RunError) as caught:
            rv.eval("{1 / rand(3) : i in index(50)}")
        self.assertEqual(caught.exception.elements, [])


class Options(unittest.TestCase):
    def test_widths(self):
        with rv.options(float=32):
            narrow = rv.eval("{x * 2.0 : x in xs}", xs=[1.5])
        self.assertEqual(narrow.__array__().dtype.name, "float32")
        self.assertEqual(rv.eval("sum(xs)", xs=narrow), 3.0)

    def test_definitions_are_known_to_all(self):
        module = rv.define("function thrice_(x) = 3 * x;")
        with rv.options(threads=1, memory="1GB"):
            self.assertEqual((module.thrice_(2), rv.eval("thrice_(3)")), (6, 9))
            rv.define("function four_times_(x) = 4 * x;")
        self.assertEqual(rv.eval("four_times_(2)"), 8)

    def test_limits(self):
        with rv.options(memory="100M"), self.assertRaises(rv.OutOfMemoryError) as caught:
            rv.eval("sum(sort({rand(i) : i in [1:100000000]}))")
        self.assertIsInstance(caught.exception, MemoryError)
        with rv.options(time=0.2), self.assertRaises(rv.LimitError):
            rv.eval("sum({sum({i * j : i in [0:100000]}) : j in [0:100000]})")
        with rv.options(), self.assertRaises(rv.DeniedError) as caught:
            rv.eval('let (s, ok, m) = open_in_file("/etc/passwd") in [1][if ok then 0 else 9]')
        self.assertIsInstance(caught.exception, PermissionError)

    def test_options_that_do_not_exist(self):
        with self.assertRaisesRegex(rv.MisuseError, "no option colour; options are backend"):
            with rv.options(colour="red"):
                pass
        with self.assertRaisesRegex(rv.MisuseError, "the option backend is auto, cpu, .* not none"):
            with rv.options(backend="none"):
                pass
        self.assertEqual(rv.eval("1 + 1"), 2)

    def test_nesting(self):
        with rv.options(seed=1, float=32):
            with rv.options(seed=2):
                self.assertEqual(rv.eval("[1.0]").__array__().dtype.name, "float32")

    def test_values_of_datatypes_stay(self):
        made = rv.define("datatype coin_(int);").coin_(5)
        with rv.options(threads=1), self.assertRaisesRegex(rv.DataError, "a coin_ belongs to"):
            rv.eval("c", c=made)


if __name__ == "__main__":
    unittest.main()
