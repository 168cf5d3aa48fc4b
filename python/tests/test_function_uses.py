"""What Python does with functions: map with arguments that are the same for all, partial, pickle,
signatures, help."""

import functools
import inspect
import os
import pickle
import pydoc
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import numpy as np
import ravel as rv
from test_libraries import needs


@rv.function
def line(x, slope, start=1):
    """A line."""
    return x * slope + start


@rv.function
def looked_up(i, table):
    return table[i] * 2


OWN_NAMES = """
import ravel as rv
own = rv.define("function sum(v) = 0.5; function t(x) = x; f = 3;"
                " function median(v) = #v; function subseq(v, a, b) = 1.0;")

@rv.function
def both(v):
    return sum(v), max(v) > 2 and not v == [], own.median(v)

@rv.function
def over(x):
    return 10 // x

print(own.sum([1]), rv.eval("median([1.5])"), rv.eval("f"), both([1, 5]), both([1]))
own = rv.define("function median(v) = (v[0], sum(v));")
print(own.median([2.5]), both([4, 1]), rv.map(both, [[1, 2], [7]]).to_list())
try:
    rv.map(over, [1, 2, 0])
except rv.Error as error:
    print("2" in str(error), own.median([1]))
"""


class NamesOfTheLibrary(unittest.TestCase):
    """Texts may define them; what Ravel makes of functions of Python goes on using the
    library's, and functions of NESL that it calls are those of the text."""

    def test_definitions_of_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "names.py")
            with open(path, "w", encoding="ascii") as file:
                file.write(OWN_NAMES)
            paths = os.pathsep.join(filter(None, sys.path))
            ran = subprocess.run([sys.executable, path], capture_output=True, text=True,
                                 env={**os.environ, "PYTHONPATH": paths}, check=False)
        self.assertEqual(ran.stderr, "")
        self.assertEqual(ran.stdout.splitlines(), [
            "0.5 1 3 (6, True, 2) (1, False, 1)",
            "(2.5, 0.5) (5, True, 2) [(3, False, 2), (7, True, 1)]",
            "True (1, 0.5)"])


class Map(unittest.TestCase):
    def test_arguments_that_are_the_same(self):
        self.assertEqual(rv.map(line, [1, 2, 3], slope=3).to_list(), [4, 7, 10])
        self.assertEqual(rv.map(line, [1, 2], [10, 20], start=5).to_list(), [15, 45])
        self.assertEqual(rv.map(line, [1, 2], [10, 20]).to_list(), [11, 41])
        self.assertEqual(rv.map(looked_up, [1, 0], table=np.array([1.5, 2.5])).to_list(), [5, 3])
        self.assertEqual(rv.map(looked_up, [1, 0], table=[[1], [2, 3]]).to_list(),
                         [[2, 3, 2, 3], [1, 1]])

    def test_partial(self):
        self.assertEqual(rv.map(functools.partial(line, 10), [1, 2]).to_list(), [11, 21])
        twice = functools.partial(functools.partial(line, start=0.5), slope=2)
        self.assertEqual(rv.map(twice, [1, 2]).to_list(), [2.5, 4.5])
        self.assertEqual(rv.map(twice, [1, 2], slope=3).to_list(), [3.5, 6.5])
        module = rv.define("function sum_of_(x, y) = 10 * x + y;")
        self.assertEqual(rv.map(functools.partial(module.sum_of_, 5), [3, 4]).to_list(), [53, 54])

    def test_refusals(self):
        module = rv.define("function sum_of_(x, y) = 10 * x + y;")
        with self.assertRaisesRegex(rv.MisuseError, "by position, without y="):
            rv.map(module.sum_of_, [1], y=2)
        with self.assertRaisesRegex(rv.MisuseError, "map takes a function and"):
            rv.map(line, slope=2)
        with self.assertRaisesRegex(rv.MisuseError, "map takes sequences"):
            rv.map(line, 3, slope=2)
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'height'"):
            rv.map(line, [3], [2], height=2)
        with self.assertRaisesRegex(rv.MisuseError, "decorate it"):
            rv.map(functools.partial(pow, 2), [3])


class Objects(unittest.TestCase):
    def test_pickle(self):
        self.assertIs(pickle.loads(pickle.dumps(line)), line)
        module = rv.define("function tripled_(x) = 3 * x;")
        again = pickle.loads(pickle.dumps(module.tripled_))
        self.assertEqual((again(2), rv.map(again, [1, 2]).to_list()), (6, [3, 6]))

    def test_signature_and_help(self):
        self.assertEqual(str(inspect.signature(line)), "(x, slope, start=1)")
        self.assertEqual(repr(line), "<ravel function line(x, slope, start=1)>")
        said = pydoc.plain(pydoc.render_doc(line))
        self.assertIn("line(x, slope, start=1)", said)
        self.assertIn("A line.", said)


@rv.function
def inverse(x):
    return 10 // x


@rv.function
def inverses(v):
    return [inverse(x) for x in v]


@rv.function
def corners(segment):
    p, q = segment
    return p[0] + q[0], q[1] - p[1]


@rv.function
def flipped(pairs):
    return [(b, a) for a, b in pairs]


class Tuples(unittest.TestCase):
    """A tuple that ends in a tuple has the components that Python sees."""

    def test_arguments(self):
        for segment in (((0.5, 1.0), (3.0, 4.0)), ((1, 2), (3, 4)), ((1, 2), (2.5, 3))):
            self.assertEqual(corners(segment), corners.__wrapped__(segment))
        segments = [((0, 1), (2, 3)), ((4, 5), (6, 8))]
        self.assertEqual(rv.map(corners, segments).to_list(), [corners.__wrapped__(s) for s in segments])
        self.assertEqual(flipped([(1, (2, True))]).to_list(), [((2, True), 1)])
        self.assertEqual(flipped([(1, (2, (3, 4)))]).to_list(), [((2, 3, 4), 1)])
        self.assertEqual(flipped([((1, (2, 3)), 4)]).to_list(), [(4, 1, 2, 3)])

    def test_tuples_of_as_many_components_differ(self):
        with self.assertRaisesRegex(rv.Unsupported, "2 variables for tuple.int, int, int."):
            corners((1, 2, 3))
        self.assertEqual(corners(((1, 2), (3, 4))), (4, 2))


class Failures(unittest.TestCase):
    def test_diagnostics_point_to_python(self):
        with self.assertRaises(ZeroDivisionError) as caught:
            inverses([1, 0])
        first, second = caught.exception.diagnostics
        lines, start = inspect.getsourcelines(inverse.__wrapped__)
        self.assertEqual((first.severity, first.file, first.line, first.column),
                         ("error", __file__, start + 2, lines[2].index("10") + 1))
        self.assertEqual((second.severity, second.message), ("note", "in inverses"))


    def test_rows_of_map(self):
        for data, row in (([1, 0], 1), ([0], 0), (list(range(5000, -1, -1)), 5000),
                          (np.array([3, 0, 2, 0, 0]), 1)):
            with self.subTest(row=row), self.assertRaisesRegex(
                    ZeroDivisionError, rf"(?s)by zero.*\(of row {row} of map\)$"):
                rv.map(inverse, data)
        module = rv.define("function third_(v, n) = v[2] + n;")
        with self.assertRaisesRegex(rv.RunError, r"out of bounds(?s:.*)\(of row 2 of map\)$"):
            rv.map(module.third_, [[1, 2, 3], [0] * 3, [], [1]], [1, 2, 3, 4])

    def test_elements(self):
        for call, elements in ((lambda: inverses([1, 2, 0, 0]), [2]),
                               (lambda: rv.map(inverses, [[1], [], [3, 0]]), [2, 1]),
                               (lambda: rv.eval("{g(v) : v in w}", g=inverses, w=[[1], [0]]), [1, 0])):
            with self.assertRaisesRegex(ZeroDivisionError, r"\(of .*\)$") as caught:
                call()
            self.assertEqual(caught.exception.elements, elements)
        with self.assertRaisesRegex(ZeroDivisionError, r"\n  \(of row 2 of map, element \[1\]\)$"):
            rv.map(inverses, [[1], [], [3, 0]])
        with self.assertRaisesRegex(ZeroDivisionError, r"\^\n  \(of element \[2\]\)$"):
            inverses([1, 2, 0, 0])

    def test_rows_of_long_calls(self):
        """The row is looked for by halves where the interpreter would take too long."""
        data = [5] * 3000000
        data[2000000] = 0
        with self.assertRaisesRegex(ZeroDivisionError, r"\(of row 2000000 of map\)$") as caught:
            rv.map(inverse, np.array(data))
        self.assertEqual(caught.exception.elements, [])

    def test_rows_of_map_leave_random_numbers(self):
        module = rv.define("function drawn_(x) = 1 / (x + 0 * rand(9));")
        found = []
        for data in ([], [1, 1, 0, 1]):
            with rv.options(seed=3):
                if data:
                    with self.assertRaisesRegex(rv.RunError, "row 2"):
                        rv.map(module.drawn_, data)
                found.append(rv.eval("rand(1000000)"))
        self.assertEqual(found[0], found[1])

    def test_rows_are_not_looked_for_where_programs_may_act(self):
        with rv.options(files=True), self.assertRaises(ZeroDivisionError) as caught:
            rv.map(inverse, [1, 0])
        self.assertNotIn("row", str(caught.exception))


class Streams(unittest.TestCase):
    @needs("pyarrow")
    def test_interrupt_while_a_generator_runs(self, pa):
        def batches():
            yield pa.record_batch([pa.array([1, 2])], ["v"])
            threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            time.sleep(5)
            yield pa.record_batch([pa.array([3])], ["v"])
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        reader = pa.RecordBatchReader.from_batches(pa.schema([("v", pa.int64())]), batches())
        with self.assertRaises(KeyboardInterrupt):
            rv.array(reader)
        self.assertEqual(rv.eval("1 + 1"), 2)


if __name__ == "__main__":
    unittest.main()
