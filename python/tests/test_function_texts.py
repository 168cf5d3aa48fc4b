"""Decorated functions that texts of NESL call, and those that were typed at a prompt."""

import os
import pickle
import pty
import select
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ravel as rv

PACKAGE = str(Path(__file__).resolve().parent.parent)


@rv.function
def halved(x):
    return x // 2


@rv.function
def weighted(v, w, scale=2):
    return sum([x * y for x, y in zip(v, w)]) * scale


@rv.function
def distance(p):
    return abs(p[0]) + abs(p[1])


@rv.function
def shares(total, v):
    return [total // x for x in v]


class Expressions(unittest.TestCase):
    def test_calls(self):
        self.assertEqual(rv.eval("{half(x) + 1 : x in v}", half=halved, v=[4, 7]).to_list(), [3, 4])
        self.assertEqual(rv.eval("halved(halved(9))", halved=halved), 2)
        self.assertEqual(rv.eval("(halved(5), HALVED(5.0))", halved=halved), (2, 2.0))
        self.assertEqual(rv.eval("f(7)", f=halved), 3)

    def test_arguments(self):
        rows = [[1, 2], [3, 4]]
        self.assertEqual(rv.eval("{dot(r, [1, 10]) : r in rows}", dot=weighted, rows=rows).to_list(),
                         [42, 86])
        self.assertEqual(rv.eval("dot([1.5], [2.0], 1)", dot=weighted), 3.0)
        self.assertEqual(rv.eval("{d(p) : p in v}", d=distance, v=[(1, -2), (3, 4)]).to_list(), [3, 7])
        self.assertEqual(rv.eval("d(1.5, 2)", d=distance), 3.5)

    def test_as_an_argument_of_functions(self):
        self.assertEqual(rv.eval("sort_by(p => d(p), v)", d=distance, v=[(3, 4), (1, -2)]).to_list(),
                         [(1, -2), (3, 4)])
        self.assertEqual(rv.eval("sort_by(halved, v)", halved=halved, v=[5, 3, 2]).to_list(), [3, 2, 5])

    def test_what_is_no_name(self):
        self.assertEqual(rv.eval('("half", half(8)) % half(1) %', half=halved), ("half", 4))

    def test_functions_of_modules(self):
        first = rv.define("function size_of_(v) = #v;")
        rv.define("function size_of_(v) = 0;")
        self.assertEqual(rv.eval("{g(r) : r in v}", g=first.size_of_, v=[[1], []]).to_list(), [1, 0])
        self.assertEqual(rv.eval("size_of_([1])"), 0)

    def test_what_is_redefined_counts(self):
        for i in (1, 2):
            rv.define(f"function extra_(x) = x + {i};")
            self.assertEqual(rv.eval("extra_(half(4))", half=halved), 2 + i)

    def test_it_is_compiled_once(self):
        rv.eval("half(x) * 10", half=halved, x=5)
        before = rv._options.context().statistics().compile_seconds
        self.assertEqual(rv.eval("half(x) * 10", half=halved, x=7), 30)
        self.assertEqual(rv._options.context().statistics().compile_seconds, before)

    def test_failures(self):
        with self.assertRaisesRegex(ZeroDivisionError, "(?s)by zero.*in shares") as caught:
            rv.eval("{s(6, r) : r in rows}", s=shares, rows=[[1], [2, 0]])
        self.assertEqual(caught.exception.diagnostics[0].file, __file__)
        with self.assertRaisesRegex(rv.RunError, "<expression>:2:1: error: Divide by zero") as caught:
            rv.eval("halved(4) +\n1 / halved(x)", halved=halved, x=1)
        self.assertNotIn("halved_", str(caught.exception))

    def test_refusals(self):
        with self.assertRaisesRegex(rv.NeslTypeError, "<expression>:1:13: error: `nope`") as caught:
            rv.eval("(halved(4), nope)", halved=halved)
        self.assertEqual(caught.exception.diagnostics[0].column, 13)
        for use in (lambda: rv.eval("halved(3)"), lambda: rv.define("asked_ = halved(3);")):
            with self.assertRaisesRegex(rv.NeslTypeError,
                                        r"(?s)not defined.*rv.eval.text, halved=halved"):
                use()
        with self.assertRaises(rv.NeslTypeError) as caught:
            rv.eval("(halved(4), half(3) + nope)", halved=halved, half=halved)
        self.assertIn("    1 | (halved(4), half(3) + nope)\n      |                       ^^^^",
                      str(caught.exception))
        with self.assertRaisesRegex(rv.DataError, "decorate a function of Python"):
            rv.eval("g(3)", g=abs)

        @rv.function
        def f(x):
            return x
        with self.assertRaisesRegex(rv.NeslTypeError, r"rv.eval.text, f=f"):
            rv.eval("f(3)")
        self.assertEqual(rv.eval("f(3)", f=f), 3)
        with self.assertRaisesRegex(rv.Unsupported, "of list.int. and int is not supported"):
            rv.eval("halved(v)", halved=halved, v=[1])
        with self.assertRaisesRegex(rv.NeslTypeError, "arguments of h are not known here"):
            rv.eval("let g = x => h(x) in 3", h=halved)


class Definitions(unittest.TestCase):
    TEXT = "function each_half_(v) : [int] -> [int] = {h(x) : x in v};\nkept_half_ = h(9.0);"

    def test_modules(self):
        module = rv.define(self.TEXT, h=halved)
        self.assertEqual((module.each_half_([3, 4]).to_list(), module.kept_half_), ([1, 2], 4.0))
        self.assertEqual(rv.map(module.each_half_, [[2], [5, 6]]).to_list(), [[1], [2, 3]])
        with rv.options(threads=1, chunks=13):
            self.assertEqual(rv.eval("each_half_([8])").to_list(), [4])
        with self.assertRaisesRegex(TypeError, "calls functions of Python"):
            pickle.dumps(module.each_half_)

    def test_they_are_in_force_where_they_can_be(self):
        rv.define("function spare_(x) = x;")
        rv.define("function spare_(x) : int -> int = h(x);", h=halved)
        rv.define("function over_(x) = spare_(x) + 1;")
        with rv.options(threads=1, chunks=14):
            self.assertEqual(rv.eval("(over_(8), spare_(8))"), (5, 4))
        with rv.options(int=32):
            self.assertEqual(rv.eval("1 + 1"), 2)

    def test_failures(self):
        module = rv.define("function all_shares_(v) : [int] -> [int] = s(12, v);", s=shares)
        with self.assertRaises(ZeroDivisionError) as caught:
            module.all_shares_([1, 0])
        self.assertEqual(caught.exception.diagnostics[0].file, __file__)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "halves.nesl")
            path.write_text(self.TEXT.replace("half_", "third_"), encoding="utf-8")
            self.assertEqual(rv.load(path, h=halved).each_third_([6]).to_list(), [3])

    def test_refusals(self):
        rv.define("function broken_(v) = v;")
        with self.assertRaisesRegex(rv.NeslTypeError, "arguments of h are not known.*declare them"):
            rv.define("function broken_(v) = {h(x) : x in v};", h=halved)
        self.assertEqual(rv.eval("broken_(3)"), 3)
        with self.assertRaisesRegex(rv.MisuseError, "v is a list"):
            rv.define("function g_(x) = v[x];", v=[1])


DEFINITION = "import ravel as rv\n@rv.function\ndef thrice(x):\n    return 3 * x\n"


def run(*arguments, **options):
    env = dict(os.environ, PYTHONPATH=PACKAGE)
    done = subprocess.run([sys.executable, *arguments], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False, **options)
    return done.stdout


def typed(lines):
    """What a prompt on a terminal of its own says, until it has said "is done"."""
    outer, inner = pty.openpty()
    with tempfile.TemporaryDirectory() as home:
        env = dict(os.environ, PYTHONPATH=PACKAGE, HOME=home, TERM="dumb")
        with subprocess.Popen([sys.executable, "-q"], stdin=inner, stdout=inner, stderr=inner,
                              env=env) as process:
            os.write(outer, ("\n".join(lines) + "\n").encode())
            said, end = b"", time.monotonic() + 30
            while b"is done" not in said and time.monotonic() < end:
                if select.select([outer], [], [], 0.1)[0]:
                    said += os.read(outer, 10000)
            process.kill()
    os.close(outer)
    os.close(inner)
    return said.decode()


class Sources(unittest.TestCase):
    def test_of_a_command(self):
        for flags in (["-c"], ["-W", "ignore", "-Bc"]):
            self.assertEqual(run(*flags, DEFINITION + "print(thrice(5))").strip(), "15")
        within = ("import ravel as rv\nif True:\n    def make():\n        @rv.function\n"
                  "        def f(x):\n            return 1 // x\n        return f\nmake()(0)")
        self.assertIn('File "<string>", line 6, in f\n                return 1 // x', run("-c", within))

    def test_of_the_prompt(self):
        lines = (DEFINITION + "\nprint(thrice(5), 'is', 'done')").split("\n")
        self.assertIn("15 is done", typed(lines))

    def test_what_is_kept_nowhere(self):
        self.assertRegex(run("-", input=DEFINITION), "source of thrice is not to be found, as the"
                         " prompt has not kept it: define it in a file")
        self.assertRegex(run("-c", f"exec({DEFINITION!r}, {{}})"), "not to be found, as it was made by"
                         " exec")


if __name__ == "__main__":
    unittest.main()
