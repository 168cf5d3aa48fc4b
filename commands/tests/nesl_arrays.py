"""Files of arrays, costs and drawings, from outside: read_npy and its kin, arguments and results of
`nesl run --entry`, `nesl cost`, `plot`. What numpy writes is read and what it reads is written;
without numpy those tests are skipped.

usage: nesl_arrays.py NESL NESLC VINTERP [unittest options]
"""

import base64
import os
import re
import struct
import subprocess
import sys
import unittest
import xml.dom.minidom
import zipfile

try:
    import numpy
except ImportError:
    numpy = None
    SYSTEM = "/usr/bin/python3"  # distributions put numpy there
    if (os.path.exists(SYSTEM) and os.path.realpath(SYSTEM) != os.path.realpath(sys.executable)
            and subprocess.run([SYSTEM, "-c", "import numpy"], capture_output=True,
                               check=False).returncode == 0):
        os.execv(SYSTEM, [SYSTEM] + sys.argv)

import nesl_command
from nesl_command import CommandTest

KERNELS = """
function mv(A, x) : ([[float]], [float]) -> [float] = {sum({a * b : a in r; b in x}) : r in A};
function squares(v) = {x * x : x in v};
function halves(v) = ({x in v | x < 3}, {x in v | x >= 3}, #v);
function swap(v) : [(float, int)] -> [(int, float)] = {(b, a) : (a, b) in v};
function plus(a, b) = a + b;
"""


class ArrayTest(CommandTest):
    def kernels(self, entry, *arguments):
        return self.nesl("run", self.file(KERNELS, "kernels.nesl"), "--entry", entry, *arguments)

    def value(self, expression, *flags):
        """What evaluating with files gives: the value as it is printed."""
        ran = self.nesl("--allow-files", *flags, "-e", expression)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return re.sub(r" : [^:]*$", "", ran.stdout.strip().split("\nit = ")[-1])


@unittest.skipUnless(numpy, "numpy is not installed")
class Numpy(ArrayTest):
    def save(self, name, array):
        numpy.save(self.path(name), array)
        return name

    def load(self, name):
        return numpy.load(self.path(name))

    def test_numbers_of_all_sorts(self):
        for order in "<>":
            for kind in ("i1", "i2", "i4", "i8"):
                name = self.save("v.npy", numpy.array([-100, 0, 7], order + kind))
                self.assertEqual(self.value(f'read_npy([] int, "{name}")'), "it = [-100, 0, 7]")
                self.assertEqual(self.value(f'read_npy([] float, "{name}")'),
                                 "it = [-100.0, 0.0, 7.0]")
            for kind in ("u1", "u2", "u4", "u8"):
                name = self.save("v.npy", numpy.array([200, 0, 7], order + kind))
                self.assertEqual(self.value(f'read_npy([] int, "{name}")'), "it = [200, 0, 7]")
            for kind in ("f2", "f4", "f8"):
                name = self.save("v.npy", numpy.array([0.5, -2.25, 1024, -0.0], order + kind))
                self.assertEqual(self.value(f'read_npy([] float, "{name}")'),
                                 "it = [0.5, -2.25, 1024.0, -0.0]")
        name = self.save("v.npy", numpy.array([True, False]))
        self.assertEqual(self.value(f'read_npy([] bool, "{name}")'), "it = [T, F]")
        name = self.save("v.npy", numpy.array([6e-8, 65504, numpy.inf], "f2"))  # half precision
        self.assertEqual(self.value(f'read_npy("{name}")'),
                         "it = [5.9604644775390625E-8, 65504.0, infinity]")

    def test_limits(self):
        name = self.save("v.npy", numpy.array([2**63], "u8"))
        self.expect(self.nesl("--allow-files", "-e", f'read_npy([] int, "{name}")'), 1,
                    err="stopped itself")
        name = self.save("v.npy", numpy.array([2**40]))
        ran = self.nesl("--allow-files", "--int", "32", "-e", f'read_npy([] int, "{name}")')
        self.assertIn("1099511627776 does not fit an INT of 32 bits", ran.stdout)
        ran = self.nesl("--int", "32", "run", self.file(KERNELS), "--entry", "squares", name)
        self.expect(ran, 1, "", "1099511627776 does not fit an int of 32 bits")

    def test_dimensions(self):
        shapes = {(): "7", (3,): "[0, 1, 2]", (2, 3): "[[0, 1, 2], [3, 4, 5]]",
                  (2, 0): "[[], []]", (0, 2): "[]", (1, 2, 2): "[[[0, 1], [2, 3]]]"}
        for shape, text in shapes.items():
            array = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) if shape else 7
            name = self.save("v.npy", numpy.array(array))
            self.assertEqual(self.value(f'read_npy("{name}")'), "it = " + text)
            ran = self.value(f'write_npy(read_npy("{name}"), "w.npy")')
            self.assertTrue(ran.endswith("T"))
            again = self.load("w.npy")
            self.assertEqual(again.dtype, numpy.int64)
            if 0 not in shape:
                numpy.testing.assert_array_equal(again, array)

    def test_fortran_order(self):
        random = numpy.random.default_rng(2)
        for shape in ((2, 3), (3, 1, 4), (2, 3, 4, 5), (0, 3), (300, 200)):
            for kind in ("<i8", ">f4", "u1"):
                array = random.integers(0, 100, shape).astype(kind)
                name = self.save("v.npy", numpy.asfortranarray(array))
                self.value(f'write_npy(read_npy("{name}"), "w.npy")')
                if 0 not in shape:
                    numpy.testing.assert_array_equal(self.load("w.npy"), array)
        table = numpy.asfortranarray(numpy.arange(6.0).reshape(3, 2))
        self.assertEqual(self.value(f'read_npy([] (float, float), "{self.save("t.npy", table)}")'),
                         "it = [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]")
        texts = numpy.asfortranarray(numpy.array([["a", "bc"], ["d", ""]]))
        self.assertEqual(self.value(f'read_npy("{self.save("t.npy", texts)}")'),
                         'it = [["a", "bc"], ["d", ""]]')

    def test_structures_and_tuples(self):
        rows = numpy.array([(1, 2.5, True, b"ab", "\u00e9"), (-3, 4.0, False, b"", "xyz")],
                           [("a", "<i4"), ("b", ">f8"), ("c", "?"), ("d", "S5"), ("e", "<U4")])
        name = self.save("s.npy", rows)
        text = 'it = [(1, 2.5, T, "ab", "\u00e9"), (-3, 4.0, F, "", "xyz")]'
        for sample in ("", "[] (int, float, bool, [char], [char]), "):
            self.assertEqual(self.value(f'read_npy({sample}"{name}")'), text)
        self.value(f'write_npy(read_npy("{name}"), "w.npy")')
        again = self.load("w.npy")
        for field, new in zip("abcd", again.dtype.names):
            numpy.testing.assert_array_equal(again[new], rows[field])
        points = self.save("p.npy", numpy.arange(6.0).reshape(3, 2))
        self.assertEqual(self.value(f'read_npy([] (float, float), "{points}")'),
                         "it = [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]")

    def test_layouts_of_structures(self):
        """Padding, titles, fields within fields and names that need quotes, as numpy writes them."""
        kinds = [("f0", "u1"), ("f1", "<f8"), ("f2", "?"), ("f3", ">i4"), ("f4", "S3"), ("f5", "<i2")]
        rows = [(200, 1.5, True, -7, b"ab", -1), (3, -2.5, False, 9, b"", 12)]
        text = 'it = [(200, 1.5, T, -7, "ab", -1), (3, -2.5, F, 9, "", 12)]'
        inner = numpy.dtype([("x", "f8"), ("y", "?")], align=True)
        nested = numpy.dtype([("a", "u1"), ("b", inner), ("c", [("z", ">i4"), ("s", "S3")]), ("d", "<i2")])
        nested_rows = [(a, (b, c), (d, e), f) for a, b, c, d, e, f in rows]
        gap = numpy.dtype({"names": ["a", "b"], "formats": ["i2", "f8"], "offsets": [3, 16], "itemsize": 40})
        for array, wanted in ((numpy.array(rows, numpy.dtype(kinds, align=True)), text),
                              (numpy.array(nested_rows, nested), text),
                              (numpy.array([(5, 2.5), (6, 3.5)], gap), "it = [(5, 2.5), (6, 3.5)]"),
                              (numpy.array([(5, 2.5)], [(("a title", "a"), "i2"), (("b", "c"), "f8")]),
                               "it = [(5, 2.5)]"),
                              (numpy.array([(1, 2)], [("it's \\ \"x\"", "i1"), ("\u00e9\n", "i1")]),
                               "it = [(1, 2)]")):
            for order in (array, array.reshape(1, -1, order="F")):
                name = self.save("v.npy", order)
                inside = wanted if order.ndim == 1 else f"it = [{wanted[5:]}]"
                self.assertEqual(self.value(f'read_npy("{name}")'), inside)
        self.file("datatype row(b : float, a : int);\n{r.b : r in read_npy([] row, \"v.npy\")};", "r.nesl")
        self.save("v.npy", numpy.array([(5, 2.5)], gap))
        ran = self.nesl("--allow-files", "run", "r.nesl")
        self.assertIn("[2.5] : [float]", ran.stdout + ran.stderr)
        for kind in ("V3", "M8[ns]", "m8[D]", "c8", "f16", [("a", "V3")], [("a", "i4", (2,))]):
            name = self.save("v.npy", numpy.zeros(2, kind))
            ran = self.nesl("--allow-files", "-e", f'read_npy("{name}")')
            self.assertEqual(ran.returncode, 1)
            self.assertIn("is an array of its own" if "i4" in str(kind) else "is not supported: ints",
                          ran.stdout + ran.stderr)

    def test_bytes_are_characters(self):
        for kind in ("u1", "i1", "S1"):
            name = self.save("v.npy", numpy.frombuffer(b"naive", "u1").astype("u1").view(kind))
            self.assertEqual(self.value(f'read_npy([] char, "{name}")'), 'it = "naive"')
            rows = self.save("w.npy", numpy.frombuffer(b"abcdef", "u1").view(kind).reshape(3, 2))
            self.assertEqual(self.value(f'read_npy([] [char], "{rows}")'),
                             'it = ["ab", "cd", "ef"]')
        cube = self.save("v.npy", numpy.zeros((1, 1, 1), "u1"))
        ran = self.nesl("--allow-files", "-e", f'read_npy([] [char], "{cube}")')
        self.assertIn("has 3 dimensions", ran.stdout)

    def test_random_values_come_back(self):
        random = numpy.random.default_rng(1)
        for array in (random.standard_normal(1000), random.integers(-2**63, 2**63 - 1, 1000),
                      random.standard_normal((20, 50)), random.integers(0, 2, 1000).astype(bool)):
            name = self.save("v.npy", array)
            for flags in ([], ["--threads", "1"], ["--no-optimise"]):
                self.value(f'write_npy(read_npy("{name}"), "w.npy")', *flags)
                again = self.load("w.npy")
                self.assertEqual(again.dtype, array.dtype)
                numpy.testing.assert_array_equal(again, array)

    def test_what_is_no_array_of_the_type(self):
        cases = {"float64 where the program wants int": ("[] int", numpy.ones(3)),
                 "has 2 dimensions, shape (2, 2)": ("[] int", numpy.ones((2, 2), int)),
                 "type '<c16' is not supported": ("[] float", numpy.ones(3, complex)),
                 "have 1 parts": ("[] (int, int)", numpy.ones(3, int)),
                 "is an array of its own": ("[] float", numpy.zeros(3, [("a", "f8", (2,))]))}
        for message, (sample, array) in cases.items():
            name = self.save("v.npy", array)
            ran = self.nesl("--allow-files", "-e", f'read_npy({sample}, "{name}")')
            self.expect(ran, 1, err="stopped itself")
            self.assertIn(message, ran.stdout)

    def test_arguments_and_results(self):
        matrix = numpy.arange(12.0).reshape(3, 4)
        files = [self.save("A.npy", matrix.astype(">i2")), self.save("x.npy", numpy.ones(4, "f4"))]
        self.expect(self.kernels("mv", *files, "-o", "y.npy"), 0, "")
        numpy.testing.assert_array_equal(self.load("y.npy"), matrix.sum(axis=1))
        self.expect(self.kernels("mv", *files), 0, "\nit = [6.0, 22.0, 38.0] : [float]\n")
        # Types that the function leaves open are those of the file.
        for array in (numpy.arange(5), numpy.arange(5) / 2):
            self.expect(self.kernels("squares", self.save("v.npy", array), "-o", "w.npy"), 0, "")
            numpy.testing.assert_array_equal(self.load("w.npy"), array * array)
        self.expect(self.kernels("halves", self.save("v.npy", numpy.arange(5)), "-o", "a.npy",
                                 "-o", "b.npy", "-o", "n.npy"), 0, "")
        numpy.testing.assert_array_equal(self.load("a.npy"), [0, 1, 2])
        numpy.testing.assert_array_equal(self.load("b.npy"), [3, 4])
        self.assertEqual(self.load("n.npy"), 5)
        self.expect(self.kernels("mv", self.save("u.npy", numpy.array(["a"])), files[1]), 1, "",
                    "u.npy: error:")
        self.expect(self.kernels("squares", "u.npy"), 1, "", "no argument of `squares`")


# Values of all sorts: as expressions of NESL, and the arrays that they are in an archive.
VALUES = {
    "[[1, 2], [] int, [3]]": {"arr_0.offsets": [0, 2, 2, 3], "arr_0.values": [1, 2, 3]},
    "([1, 2], [[1.5], [2.5, 3.0]], t)": {
        "arr_0": [1, 2], "arr_1.offsets": [0, 1, 3], "arr_1.values": [1.5, 2.5, 3.0], "arr_2": True},
    '[([1.0, 2.0], 7, "ab"), ([] float, 8, "")]': {
        "arr_0.0.offsets": [0, 2, 2], "arr_0.0.values": [1.0, 2.0], "arr_0.1": [7, 8],
        "arr_0.2.offsets": [0, 2, 2], "arr_0.2.values": [b"a", b"b"]},
    '[[[(1, [t])], [] (int, [bool])], [] [(int, [bool])]]': {
        "arr_0.offsets": [0, 2, 2], "arr_0.values.offsets": [0, 1, 1], "arr_0.values.values.0": [1],
        "arr_0.values.values.1.offsets": [0, 1], "arr_0.values.values.1.values": [True]},
    "[] ([int], float)": {"arr_0.0.offsets": [0], "arr_0.0.values": [], "arr_0.1": []},
    "((1, 2.5), [`x])": {"arr_0": 1, "arr_1": 2.5, "arr_2": [b"x"]},
    "-7": {"arr_0": -7},
}


@unittest.skipUnless(numpy, "numpy is not installed")
class Archives(ArrayTest):
    def save(self, *arrays, **named):
        numpy.savez(self.path("a.npz"), *arrays, **named)
        return "a.npz"

    def has_zlib(self):
        linked = subprocess.run(["ldd", nesl_command.NESL], capture_output=True, text=True, check=True)
        return "libz." in linked.stdout

    def refusal(self, sample):
        ran = self.nesl("--allow-files", "-e", f'read_npz({sample}, "a.npz")')
        self.assertEqual(ran.returncode, 1)
        return ran.stdout

    def test_layout(self):
        for expression, arrays in VALUES.items():
            for flags in ([], ["--direct"]):
                self.expect(self.nesl(*flags, "-e", expression, "-o", "v.npz"), 0, "")
                with numpy.load(self.path("v.npz")) as file:
                    self.assertEqual({name: file[name].tolist() for name in file.files}, arrays)

    def test_values_are_read_again(self):
        for expression in VALUES:
            self.expect(self.nesl("-e", expression, "-o", "v.npz"), 0, "")
            value = self.value(expression)
            self.assertEqual(self.value(f'read_npz({expression}, "v.npz")'), value)
            if "((" not in expression:  # a pair on the left is flat in the file
                self.assertEqual(self.value('read_npz("v.npz")'), value)
            self.value(f'write_npz({expression}, "w.npz")')
            with open(self.path("v.npz"), "rb") as first, open(self.path("w.npz"), "rb") as second:
                self.assertEqual(first.read(), second.read())

    def test_arguments_and_results(self):
        self.expect(self.kernels("halves", "[1, 2, 3, 4]", "-o", "v.npz"), 0, "")
        self.file("function back(a, b, n) = (n, b ++ a); function total(v) = {sum(r) : r in v};",
                  "back.nesl")
        self.expect(self.nesl("-e", "[[1.5], [] float, [2.0, 3.0]]", "-o", "r.npz"), 0, "")
        run = ["run", "back.nesl", "--entry"]
        self.expect(self.nesl(*run, "total", "r.npz"), 0, "\nit = [1.5, 0.0, 5.0] : [float]\n")
        self.expect(self.nesl(*run, "total", "v.npz"), 1, "", "which is no argument of `total`")

    def test_arrays_of_numpy(self):
        random = numpy.random.default_rng(3)
        matrix = random.integers(0, 9, (3, 2))
        self.save(matrix, x=numpy.asfortranarray(matrix / 4), names=numpy.array(["a", "b\u00e9"]))
        value = self.value('read_npz("a.npz")')
        floats = [[float(x) for x in row] for row in matrix / 4]
        self.assertEqual(value, f'it = ({floats}, ["a", "b\u00e9"], {matrix.tolist()})')
        self.save(rows=numpy.array([(1, 2.5)], [("a", "i4"), ("b", "f4")]), n=numpy.int16(3))
        self.assertEqual(self.value('read_npz(([] (int, float), 0), "a.npz")'),
                         "it = ([(1, 2.5)], 3)")
        self.save(**{"v.offsets": numpy.array([0, 2, 5], "u4"), "v.values": numpy.arange(5, dtype="f4")})
        self.assertEqual(self.value('read_npz("a.npz")'), "it = [[0.0, 1.0], [2.0, 3.0, 4.0]]")

    def test_random_values_come_back(self):
        random = numpy.random.default_rng(4)
        lengths = random.integers(0, 5, 2000)
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
        values = random.standard_normal(offsets[-1])
        self.save(**{"arr_0.offsets": offsets, "arr_0.values": values, "arr_1": lengths})
        ran = self.nesl("--allow-files", "-e", 'let (rows, n) = read_npz("a.npz") in '
                        "(rows, all({#r == k : r in rows; k in n}))", "-o", "b.npz")
        self.expect(ran, 0, "")
        with numpy.load(self.path("b.npz")) as file:
            numpy.testing.assert_array_equal(file["arr_0.offsets"], offsets)
            numpy.testing.assert_array_equal(file["arr_0.values"], values)
            self.assertTrue(file["arr_1"])

    def test_what_does_not_fit(self):
        self.save(**{"v.offsets": [0, 2, 1], "v.values": [1, 2]})
        self.assertIn("a.npz: v.offsets: offsets begin with 0 and never decrease",
                      self.refusal("[] [int]"))
        self.save(**{"v.offsets": [0, 2, 5], "v.values": [1, 2, 3]})
        self.assertIn("v.values has 3 elements where 5 are expected", self.refusal("[] [int]"))
        self.assertIn("v.values: the file has int64 where the program wants bool",
                      self.refusal("[] [bool]"))
        self.assertIn("v.values: the file's array has 1 dimensions, shape (3,); the program wants 2",
                      self.refusal("[] [[int]]"))
        self.assertIn("the file has 1 array, v.offsets.npy, v.values.npy, and the program's value 2 "
                      "components", self.refusal("(1, 2)"))
        self.save(**{"v.0": [1]})
        self.assertIn("there is no array 'v.1': the file has v.0.npy", self.refusal("[] (int, int)"))

    def test_compressed_archives(self):
        if not self.has_zlib():
            numpy.savez_compressed(self.path("a.npz"), numpy.arange(9))
            self.assertIn("'arr_0.npy' is compressed, and Ravel was built without zlib",
                          self.refusal("[] int"))
            return
        for expression in VALUES:
            self.expect(self.nesl("-e", expression, "-o", "a.npz"), 0, "")
            value = self.value(expression)
            with numpy.load(self.path("a.npz")) as file:
                numpy.savez_compressed(self.path("a.npz"), **dict(file))
            self.assertEqual(self.value(f'read_npz({expression}, "a.npz")'), value)
            if "((" not in expression:
                self.assertEqual(self.value('read_npz("a.npz")'), value)
        self.file("function total(v) = {sum(r) : r in v};", "total.nesl")
        numpy.savez_compressed(self.path("a.npz"), numpy.ones((1000, 200)))
        self.expect(self.nesl("run", "total.nesl", "--entry", "total", "a.npz", "-o", "b.npz"), 0, "")
        with numpy.load(self.path("b.npz")) as file:
            self.assertEqual(file["arr_0"].tolist(), [200.0] * 1000)

    def test_archives_that_grow(self):
        """A file of 40 kB that holds 40 MB needs them; one that only says so does not."""
        if not self.has_zlib():
            self.skipTest("built without zlib")
        numpy.savez_compressed(self.path("a.npz"), numpy.zeros(5_000_000))
        small = os.path.getsize(self.path("a.npz"))
        self.assertLess(small, 60_000)
        command = ["--allow-files", "--memory", "20M", "-e", 'sum(read_npz([] float, "a.npz"))']
        self.expect(self.nesl(*command), 1, "", "memory")
        with open(self.path("a.npz"), "rb") as file:
            whole = bytearray(file.read())
        entry = whole.rindex(b"PK\x01\x02")
        whole[entry + 24:entry + 28] = (0xFFFFFFF0).to_bytes(4, "little")
        self.file(bytes(whole), "a.npz")
        self.assertIn("cannot hold 4294967280, as the archive's directory says", self.refusal("[] float"))

    def test_other_compression(self):
        for method, number in ((zipfile.ZIP_BZIP2, 12), (zipfile.ZIP_LZMA, 14)):
            with zipfile.ZipFile(self.path("a.npz"), "w", method) as file:
                file.writestr("v.npy", bytes(100))
            self.assertIn(f"'v.npy' is compressed by method {number}, which is not read",
                          self.refusal("[] int"))

    def test_broken_archives(self):
        self.save(numpy.arange(9))
        with open(self.path("a.npz"), "rb") as file:
            whole = file.read()
        for cut in (4, 60, len(whole) // 2, len(whole) - 1):
            self.file(whole[:cut], "a.npz")
            self.assertIn("the archive is damaged, or cut off", self.refusal("[] int"))
        self.file(whole.replace(b"\x08" + bytes(7), b"\x09" + bytes(7)), "a.npz")
        self.assertIn("'arr_0.npy' is damaged: its checksum is another", self.refusal("[] int"))
        ran = self.nesl("--allow-files", "-e", 'read_npz([] int, "/dev/zero")')
        self.assertEqual(ran.returncode, 1)


class Text(ArrayTest):
    """CSV, and what needs no numpy."""

    def test_rows_come_back(self):
        rows = r'[(1, 2.5, "a,b", t), (-2, -1.0e300, "\"quoted\"", f)]'
        self.assertTrue(self.value(f'write_csv({rows}, "v.csv")').endswith("T"))
        self.assertEqual(self.text("v.csv"),
                         '1,2.5,"a,b",True\n-2,-1e+300,"""quoted""",False\n')
        for sample in ("", "[] (int, float, [char], bool), "):
            self.assertEqual(self.value(f'read_csv({sample}"v.csv")'),
                             r'it = [(1, 2.5, "a,b", T), (-2, -1.0E300, "\"quoted\"", F)]')

    def test_names_of_columns_are_skipped(self):
        self.file("name,x\r\n\r\nab,1\r\n\"c\nd\",2\r\n", "v.csv")
        same = self.value('{(eql(s, "c" ++ [newline] ++ "d"), i) : (s, i) in read_csv("v.csv")}')
        self.assertEqual(same, "it = [(F, 1), (T, 2)]")

    def test_rows_of_their_own_lengths(self):
        self.file("1,2,3\n4\n5,6\n", "v.csv")
        self.assertEqual(self.value('read_csv([] [int], "v.csv")'),
                         "it = [[1, 2, 3], [4], [5, 6]]")

    def test_sequences_without_elements(self):
        self.assertTrue(self.value('write_csv([[] int, [1, 2], [] int, [] int, [3], [] int], "v.csv")')
                        .endswith("T"))
        self.file(self.text("v.csv").lstrip("\n") + "% \n\n\n", "v.csv")
        self.assertEqual(self.value('read_csv([] [int], "v.csv", comment := "%")'),
                         "it = [[1, 2], [], [], [3]]")
        self.assertTrue(self.value('write_csv([["a", ""], [] [char], [""], ["b"]], "v.csv")')
                        .endswith("T"))
        self.assertEqual(self.value('read_csv([] [[char]], "v.csv")'),
                         'it = [["a", ""], [], [""], ["b"]]')

    def test_empty_lines_of_one_column(self):
        """They are fields, but not before the first row and behind the last."""
        self.file("\n\nx\n\n1.5\n# 7\n\n\n# 8\n2.5\n\n# 9\n\n", "v.csv")
        for given in ("", "[] float, "):
            self.assertEqual(self.value(f'read_csv({given}"v.csv", missing := "", comment := "#")'),
                             "it = [1.5, nan, nan, 2.5]")
        self.assertEqual(self.value('read_csv([] [char], "v.csv", comment := "#", header := 1)'),
                         'it = ["1.5", "", "", "2.5"]')
        ran = self.nesl("--allow-files", "-e", 'read_csv([] float, "v.csv", comment := "#")')
        self.assertIn("v.csv: line 7: field 1 ('x') is no float: ''", ran.stdout)
        self.file("x\n" + "\n" * 200000 + "1\n", "v.csv")  # in time that grows with the lines
        self.assertEqual(self.value('#read_csv([] float, "v.csv", missing := "")'), "it = 1")
        self.file("x\n1\n" + "\n" * 200000 + "1\n", "v.csv")
        self.assertEqual(self.value('#read_csv([] float, "v.csv", missing := "")'), "it = 200002")

    def test_ends_of_lines(self):
        for end in ("\r", "\n", "\r\n"):
            self.file('x,y#"a#b",1#c,2##'.replace("#", end), "v.csv")
            self.assertEqual(self.value('{(#s, n) : (s, n) in read_csv([] ([char], int), "v.csv")}'),
                             f"it = [({2 + len(end)}, 1), (1, 2)]")
        self.file("% x\ra,1\r%\rb,2", "v.csv")
        self.assertEqual(self.value('read_csv("v.csv", comment := "%")'), 'it = [("a", 1), ("b", 2)]')
        for text, line in (("a\rb,1\nc,2\n", 1), ("a,1\nb,2\rc,3\n", 2), ("a,1\n\rb,2\n", 2)):
            self.file(text, "v.csv")
            ran = self.nesl("--allow-files", "-e", 'read_csv([] ([char], int), "v.csv", header := 0)')
            self.assertIn(f"v.csv: line {line}: a carriage return within a field", ran.stdout)

    def test_a_first_row_that_is_data(self):
        for text, sample in (("1.5\n2\n", "int"), ("-.5e3\n2\n", "int"), ("inf\n2\n", "int"),
                             ("1,2\n", "(int, int, int)"), ("a,7\nb,c\n", "([char], [char], int)"),
                             ("1,,3\n", "(int, int, int)"), (",\n1,2\n", "(int, int)"),
                             ("true,x\n1,2\n", "(int, int)"), ("0x1f,n\n1,2\n", "(int, int)")):
            self.file(text, "v.csv")
            ran = self.nesl("--allow-files", "-e", f'read_csv([] {sample}, "v.csv")')
            self.assertIn("header 1 says that it has the names", ran.stdout, text)
            self.assertIn("v.csv: line 1: ", ran.stdout)
        self.file("NA\n2\n", "v.csv")
        self.assertEqual(self.value('read_csv([] float, "v.csv", missing := "NA")'), "it = [nan, 2.0]")
        self.assertEqual(self.value('read_csv([] int, "v.csv")'), "it = [2]")
        self.file("1.5,x\n2,y\n", "v.csv")
        self.assertEqual(self.value('read_csv("v.csv", header := 0)'), 'it = [(1.5, "x"), (2.0, "y")]')
        self.file("1.5,2\n2,3\n", "v.csv")
        self.assertEqual(self.value('read_csv("v.csv")'), "it = [(1.5, 2), (2.0, 3)]")
        self.file("1,,3\n4,5,6\n", "v.csv")
        self.assertEqual(self.value('read_csv("v.csv", missing := "")'),
                         "it = [(1, nan, 3), (4, 5.0, 6)]")
        self.file(",a,b\n0,1,2\n", "v.csv")  # as pandas writes an index
        self.assertEqual(self.value('read_csv("v.csv")'), "it = [(0, 1, 2)]")

    def test_numbers_are_decimal(self):
        for number in ("0x10", "-0X1p3", "1_0", "1,0", "+-1", "1e", "nan(1)x", "."):
            self.file(f'"{number}"\n', "v.csv")
            for sample in ("int", "float"):
                ran = self.nesl("--allow-files", "-e", f'read_csv([] {sample}, "v.csv", header := 0)')
                self.assertIn(f"field 1 is no {sample}: '{number}'", ran.stdout)

    def test_texts_that_look_like_something_else(self):
        texts = [r"\xef\xbb\xbfq", r"\xef\xbb\xbf", "#x", "NA", r"\tx", r"x\t", " x", "1", ""]
        rows = ", ".join(f'(e"{text}", {i})' for i, text in enumerate(texts))
        self.value(f'write_csv([{rows}], "v.csv")')
        lengths = self.value(f'{{#s : (s, i) in [{rows}]}}')
        self.assertEqual(self.value('{#s : (s, i) in read_csv([] ([char], int), "v.csv", header := 0)}'),
                         lengths)
        self.assertEqual(self.value('{#s : (s, i) in read_csv([] ([char], int), "v.csv", header := 0, '
                                    'missing := "?")}'), lengths)
        self.expect(self.nesl("-e", f"[{rows}]", "-o", "w.csv", "--csv", "comment=#", "--csv", "missing=NA"),
                    0, "")
        self.assertEqual(self.value('{#s : (s, i) in read_csv([] ([char], int), "w.csv", header := 0, '
                                    'missing := "NA", comment := "#")}'), lengths)

    def test_errors_say_where(self):
        self.file("1,2\n3,x\n", "v.csv")
        ran = self.nesl("--allow-files", "-e", 'read_csv([] (int, int), "v.csv")')
        self.assertIn("v.csv: line 2: field 2 is no int: 'x'", ran.stdout)
        ran = self.nesl("-e", 'read_csv("v.csv")')
        self.expect(ran, 1, "", "may not be opened without --allow-files")
        ran = self.nesl("-e", 'write_csv([1], "w.csv")')
        self.assertIn("may not be opened without --allow-files\n", ran.stdout)
        self.file("plot([(1, 1)]);", "dot.nesl")
        ran = self.nesl("run", "dot.nesl")
        self.assertIn("without --allow-files: nesl --allow-files run dot.nesl\n", ran.stdout)
        ran = self.nesl("--direct", "run", "dot.nesl")
        self.assertIn("the direct interpreter opens no files\n\nit = F", ran.stdout)
        self.assertFalse(os.path.exists(self.path("w.csv")))

    def test_a_value_that_fits_no_array_changes_no_file(self):
        self.file("kept", "v.npy")
        ran = self.nesl("--allow-files", "-e", 'write_npy([[1], [2, 3]], "v.npy")')
        self.assertIn("a numpy array is rectangular", ran.stdout)
        self.assertEqual(self.text("v.npy"), "kept")
        ran = self.nesl("-e", "([1], [2])", "-o", "v.npy")
        self.expect(ran, 1, "", "v.npy: error: a tuple of sequences cannot be stored in a file of "
                    "arrays; an .npz file holds it, or several -o, one for each component")
        ran = self.kernels("squares", "[1]", "-o", "v.npy", "-o", "w.npy")
        self.expect(ran, 1, "", "has no 2 parts")
        self.assertEqual(self.text("v.npy"), "kept")

    def test_arguments_and_results(self):
        self.file("1.5,2\n2.5,3\n", "v.csv")
        self.expect(self.kernels("swap", "v.csv", "-o", "w.csv"), 0, "")
        self.assertEqual(self.text("w.csv"), "2,1.5\n3,2.5\n")
        self.expect(self.nesl("-e", "[1, 2]", "-o", "w.csv"), 0, "")
        self.assertEqual(self.text("w.csv"), "1\n2\n")
        self.expect(self.kernels("swap", "nothing.csv"), 1, "", "nothing.csv: error: No such file")
        self.expect(self.kernels("plus", "1", "w.csv", "3"), 1, "", "does not take 3 arguments")
        self.expect(self.nesl("-e", "1", "-o", "w.txt"), 2, "", "-o writes .npy, .npz and .csv files")
        self.expect(self.nesl("-o", "w.npy"), 2, "", "-o goes with -e and --entry")
        self.expect(self.nesl("-e", "1", "-o", "no/w.npy"), 1, "", "no/w.npy: error: No such file")

    def test_programs_may_define_the_names_themselves(self):
        self.expect(self.nesl("-e", "function plot(v) = #v; plot([1, 2])"), 0,
                    "\nplot = fn : [a] -> int :: (a in any)\n\nit = 2 : int\n")

    def test_compiled_programs_read_files(self):
        self.file("1,2.5\n2,3.5\n", "v.csv")
        self.file('sum({x : (i, x) in read_csv([] (int, float), "v.csv")});', "prog.nesl")
        self.expect(self.run_command(nesl_command.NESLC, "prog.nesl"), 0)
        ran = self.run_command(nesl_command.VINTERP, "--allow-files", "prog.vcode")
        self.expect(ran, 0, "( 6.00000000000000e+00 )\n")


STATIONS = ("\xef\xbb\xbf# a station\r\nname;city;weight;n\r\n# in the middle\r\n"
            "iron;\"a;b\";55.8;1\r\n\"gold\"\"\";\"x\r\ny\";NA;2\r\n\"NA\";;20.2;\r\n")
LOOKS = 'separator := `;, comment := "#"'


class Csv(ArrayTest):
    """CSV files that look otherwise than usual."""

    def setUp(self):
        super().setUp()
        self.file(STATIONS, "s.csv")

    def refusal(self, arguments):
        ran = self.nesl("--allow-files", "-e", f"read_csv({arguments})")
        self.assertEqual(ran.returncode, 1)
        return ran.stdout + ran.stderr

    def test_names_of_columns(self):
        self.assertEqual(self.value(f'csv_names("s.csv", {LOOKS})'),
                         'it = ["name", "city", "weight", "n"]')
        self.file("a table\n\n  x ,\" y\"\n1,2\n", "v.csv")
        self.assertEqual(self.value('csv_names("v.csv", header := 2)'), 'it = ["x", " y"]')
        self.assertEqual(self.value('csv_names("v.csv")'), 'it = ["a table"]')
        ran = self.nesl("--allow-files", "-e", 'csv_names("v.csv", header := 9)')
        self.assertIn("the file ends before its header: it has 3 rows, the names of the columns are "
                      "to be in row 9", ran.stdout)

    def test_missing_values(self):
        rows = ('it = [("iron", "a;b", 55.8, 1.0), ("gold\\"", "x\ny", nan, 2.0), '
                '("NA", "", 20.2, nan)]')
        sample = "[] ([char], [char], float, float), "
        for given in ("", sample):
            for flags in ([], ["--no-optimise"]):
                self.assertEqual(self.value(f'read_csv({given}"s.csv", {LOOKS}, missing := "NA")',
                                            *flags), rows)
        replaced = f'read_csv("s.csv", {LOOKS}, missing := "NA", replacement := "-1")'
        self.assertEqual(self.value(f"{{(w, n) : (s, c, w, n) in {replaced}}}"),
                         "it = [(55.8, 1), (-1.0, 2), (20.2, -1)]")

    def test_missing_values_that_have_no_replacement(self):
        sample = '[] ([char], [char], float, int), "s.csv", ' + LOOKS
        self.assertIn("s.csv: line 5: field 3 ('weight') is no float: 'NA'", self.refusal(sample))
        self.assertIn("s.csv: line 7: field 4 ('n') is missing, '', and to be int: give a "
                      "replacement", self.refusal(sample + ', missing := "NA"'))
        self.assertIn("line 7: field 4 ('n') is missing, '', and its replacement '0.5' is no int",
                      self.refusal(sample + ', missing := "NA", replacement := "0.5"'))

    def test_columns_by_name(self):
        chosen = f'"s.csv", {LOOKS}, missing := "NA", columns := '
        rows = 'it = [(1.0, "iron"), (2.0, "gold\\""), (nan, "NA")]'
        for sample in ("", "[] (float, [char]), "):
            self.assertEqual(self.value(f'read_csv({sample}{chosen}["n", "name"])'), rows)
        self.assertIn("line 2: no column has the name 'nam': there are 'name', 'city', 'weight', 'n'",
                      self.refusal(f'[] (float, float), {chosen}["n", "nam"]'))
        self.assertIn("1 column is chosen for rows of 2 components",
                      self.refusal(f'[] (float, float), {chosen}["n"]'))
        self.assertIn("columns are chosen where rows are tuples",
                      self.refusal(f'[] [float], {chosen}["n"]'))
        self.file("x,y,x\n1,2,3\n", "v.csv")
        self.assertIn("line 1: two columns have the name 'x'",
                      self.refusal('[] (int, int), "v.csv", columns := ["y", "x"]'))
        self.file("x,y,z\n1,2,3\n1,2\n", "v.csv")
        self.assertIn("line 3: 2 fields where the header has 3",
                      self.refusal('[] int, "v.csv", columns := ["y"]'))
        self.assertIn("with header 0 the file has no names",
                      self.refusal('[] int, "v.csv", columns := ["y"], header := 0'))

    def test_headers(self):
        self.file("a,b\nc,d\n", "v.csv")
        for header, rows in (("-1", '[("a", "b"), ("c", "d")]'), ("0", '[("a", "b"), ("c", "d")]'),
                             ("1", '[("c", "d")]')):
            self.assertEqual(self.value(f'read_csv([] ([char], [char]), "v.csv", header := {header})'),
                             "it = " + rows)
        self.file("x,y\n1,2\n", "v.csv")
        self.assertEqual(self.value('read_csv("v.csv")'), "it = [(1, 2)]")
        self.assertEqual(self.value('read_csv("v.csv", header := 0)'), 'it = [("x", "y"), ("1", "2")]')
        self.assertIn("line 1: field 1 is no int: 'x'",
                      self.refusal('[] (int, int), "v.csv", header := 0'))

    def test_options_that_mean_nothing(self):
        self.assertIn("no optional argument `seperator`", self.refusal('"s.csv", seperator := `;'))
        self.assertIn("separator is '\"', and must be one character",
                      self.refusal('[] int, "s.csv", separator := `"'))
        self.assertIn("`separator` must be a literal",
                      self.refusal('"s.csv", separator := [`;][0]'))
        self.assertIn("is to be int, but this is bool", self.refusal('[] int, "s.csv", header := f'))
        self.expect(self.nesl("-e", "1", "--csv", "sep=;"), 2, "", "'sep=;' is no setting of CSV")
        self.expect(self.nesl("run", "x.nesl", "--csv", "header=1"), 2, "", "--csv goes with -e")
        self.expect(self.nesl("-e", "1", "--csv", "header=x"), 2, "", "header is 'x', and must be")

    def test_written_files_are_read_again(self):
        rows = r'[("a;b", 1.5), ("#c\"", 2.5), ("", 0.5)]'
        self.value(f'write_csv({rows}, "w.csv", separator := `;, names := ["the ; text", "x"])')
        self.assertEqual(self.text("w.csv"), '"the ; text";x\n"a;b";1.5\n"#c""";2.5\n"";0.5\n')
        again = 'read_csv("w.csv", separator := `;, comment := "#", columns := ["the ; text", "x"])'
        self.assertEqual(self.value(again), "it = " + rows)
        ran = self.nesl("--allow-files", "-e", 'write_csv([(1, 2)], "w.csv", names := ["x"])')
        self.assertIn("1 name for rows of 2 fields", ran.stdout)

    def test_calls_of_before(self):
        """Without options read_csv is a function of a pair, and a value."""
        self.file("1,2\n", "v.csv")
        self.assertEqual(self.value('let p = ([] (int, int), "v.csv") in read_csv(p)'),
                         "it = [(1, 2)]")
        self.assertEqual(self.value('let read = read_csv in read([] (int, int), "v.csv")'),
                         "it = [(1, 2)]")
        self.assertEqual(self.value("function read_csv(x, k := 1) = x + k; read_csv(1, k := 5)"),
                         "6")

    def test_settings_of_the_command(self):
        looks = ["--csv", "separator=;", "--csv", "comment=#", "--csv", "missing=NA"]
        self.expect(self.kernels("swap", "s.csv", *looks, "--csv", "column=weight", "--csv", "column=n",
                                 "--csv", "replacement=0", "-o", "w.csv", "--csv", "name=n"), 1, "",
                    "w.csv: error: 1 name for rows of 2 fields")
        self.expect(self.kernels("swap", "s.csv", *looks, "--csv", "column=weight", "--csv", "column=n",
                                 "--csv", "replacement=0", "-o", "w.csv"), 0, "")
        self.assertEqual(self.text("w.csv"), "1;55.8\n2;0\n0;20.2\n")
        self.expect(self.kernels("squares", "s.csv", *looks, "--csv", "column=weight"), 0,
                    "\nit = [3113.64, nan, 408.03999999999996] : [float]\n")

    def test_bytes_that_are_no_text(self):
        self.file("1\0,2\n", "v.csv")
        self.assertIn("line 1: field 1 is no int: '1?'",
                      self.refusal('[] (int, int), "v.csv", header := 0'))
        self.file("x\n" + "9" * 100000 + "\n", "v.csv")
        self.assertIn(f"line 2: field 1 ('x') is no int: '{'9' * 40}'...",
                      self.refusal('[] int, "v.csv", header := 1'))


BODIES = """datatype body(mass : float, position : (int, int), name : [char]);
v = [body(1.5, (2, 3), "iron, old"), body(0.25, (0, -1), "gold")];
"""
TURNED = """datatype turned(name : [char], mass : float);
function heavier(v) : [turned] -> [turned] = {x(mass := 2.0 * x.mass) : x in v};
"""
SHOWN_TURNED = ('[turned(name := "iron, old", mass := 1.5), turned(name := "gold", '
                'mass := 0.25)]')


class Records(ArrayTest):
    """The fields of records are columns and arrays of these names."""

    def test_csv(self):
        self.value(BODIES + 'write_csv(v, "v.csv")')
        self.assertEqual(self.text("v.csv"), "mass,position_0,position_1,name\n"
                         '1.5,2,3,"iron, old"\n0.25,0,-1,gold\n')
        for flags in ([], ["--no-optimise"]):
            self.assertEqual(self.value(BODIES + 'eql(v, read_csv([] body, "v.csv"))', *flags), "T")
            self.assertEqual(self.value(TURNED + 'read_csv([] turned, "v.csv")', *flags), SHOWN_TURNED)
        self.value(BODIES + 'write_csv(v, "v.csv", names := ["a", "b", "c", "d"])')
        self.assertEqual(self.text("v.csv").split("\n")[0], "a,b,c,d")
        self.assertEqual(self.value(TURNED + 'read_csv([] turned, "v.csv", columns := ["d", "a"])'),
                         SHOWN_TURNED)
        ran = self.nesl("--allow-files", "-e", TURNED + 'read_csv([] turned, "v.csv")')
        self.assertIn("v.csv: line 1: no column has the name of the field 'name': there are 'a', 'b', "
                      "'c', 'd'; with header 0", ran.stdout)
        self.file("earth,1\n", "v.csv")
        self.assertEqual(self.value(TURNED + 'read_csv([] turned, "v.csv", header := 0)'),
                         '[turned(name := "earth", mass := 1.0)]')

    def test_names_of_columns_that_are_no_words(self):
        self.file("id;Mass of it;Na\xc3\xafve (3)\n1;2.5;x\n", "v.csv")
        self.assertEqual(self.value("datatype odd(na__ve__3_ : [char], mass_of_it : float); "
                                    'read_csv([] odd, "v.csv", separator := `;)'),
                         '[odd(na__ve__3_ := "x", mass_of_it := 2.5)]')

    def test_rows_that_are_sequences(self):
        self.value('datatype row(items : [int]); write_csv([row([1, 2]), row([3])], "v.csv")')
        self.assertEqual(self.text("v.csv"), "1,2\n3\n")
        self.assertEqual(self.value('datatype row(items : [int]); read_csv([] row, "v.csv")'),
                         "[row(items := [1, 2]), row(items := [3])]")

    def test_arguments_and_results(self):
        self.file(TURNED, "turned.nesl")
        self.value(BODIES + 'write_csv(v, "v.csv"); write_npy(v, "v.npy"); write_npz(v, "v.npz")')
        for file in ("v.csv", "v.npy", "v.npz"):
            self.expect(self.nesl("run", "turned.nesl", "--entry", "heavier", file, "-o", "w.csv"), 0, "")
            self.assertEqual(self.text("w.csv"), 'name,mass\n"iron, old",3\ngold,0.5\n')
        self.expect(self.nesl("run", "turned.nesl", "--entry", "heavier", "v.csv", "-o", "w.csv", "--csv",
                              "column=name", "--csv", "column=position_1", "--csv", "name=who",
                              "--csv", "name=y"), 0, "")
        self.assertEqual(self.text("w.csv"), 'who,y\n"iron, old",6\ngold,-2\n')
        self.file("x,y\na,1\n", "u.csv")
        self.expect(self.nesl("run", "turned.nesl", "--entry", "heavier", "u.csv"), 1, "",
                    "u.csv: error: line 1: no column has the name of the field 'name'")

    def test_archives(self):
        value = ("datatype all_of(points : [float], heavy : body, rows : [[body]]); "
                 "a = all_of([1.0], v[1], [v, [] body]); ")
        self.value(BODIES + value + 'write_npz(a, "a.npz")')
        self.assertEqual(self.value(BODIES + value + 'eql(a, read_npz(a, "a.npz"))'), "T")
        fewer = "datatype fewer(heavy_name : [char], points : [float]); "
        self.assertEqual(self.value(fewer + 'read_npz(fewer("", [] float), "a.npz")'),
                         'fewer(heavy_name := "gold", points := [1.0])')
        self.value(BODIES + 'write_npz([v, [] body], "v.npz")')
        self.assertEqual(self.value(TURNED + 'read_npz([] [turned], "v.npz")'),
                         f"[{SHOWN_TURNED}, []]")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_numpy(self):
        self.value(BODIES + 'write_npy(v, "v.npy"); write_npz(v, "v.npz")')
        array = numpy.load(self.path("v.npy"))
        self.assertEqual(array.dtype.names, ("mass", "position_0", "position_1", "name"))
        numpy.testing.assert_array_equal(array["mass"], [1.5, 0.25])
        with numpy.load(self.path("v.npz")) as file:
            self.assertEqual(file.files, ["arr_0.mass", "arr_0.position_0", "arr_0.position_1",
                                          "arr_0.name.offsets", "arr_0.name.values"])
        rows = numpy.array([(7, b"x", 2.5)], [("n", "i2"), ("Name", "S3"), ("mass", "f4")])
        numpy.save(self.path("v.npy"), rows)
        wanted = '[turned(name := "x", mass := 2.5)]'
        self.assertEqual(self.value(TURNED + 'read_npy([] turned, "v.npy")'), wanted)
        numpy.savez(self.path("v.npz"), other=numpy.arange(4), mass=rows["mass"], name=rows["Name"])
        self.assertEqual(self.value(TURNED + 'read_npz([] turned, "v.npz")'), wanted)
        numpy.save(self.path("v.npy"), numpy.array([(b"x", 2.5)], [("f0", "S3"), ("f1", "f4")]))
        self.assertEqual(self.value(TURNED + 'read_npy([] turned, "v.npy")'), wanted)


class Cost(ArrayTest):
    def costs(self, expression):
        ran = self.nesl("cost", expression, self.file(KERNELS))
        self.expect(ran, 0)
        numbers = re.search(r"model +(\d+) +(\d+)\n.*compiled +(\d+) +(\d+) +(\d+) +([\d.]+)\n",
                            ran.stdout, re.DOTALL)
        return [int(x) for x in numbers.groups()[:5]]

    def test_work_and_depth_are_those_of_the_model(self):
        small, large = (self.costs(f"squares([0:{n}])") for n in (1000, 4000))
        self.assertAlmostEqual(large[0] / small[0], 4, delta=0.1)
        self.assertEqual(large[1], small[1])
        self.assertGreater(small[0], 1000)
        self.assertGreaterEqual(small[2], 1000)
        reduced, more = (self.costs(f"sum(squares([0:{n}]))") for n in (1000, 4000))
        self.assertEqual(more[1] - reduced[1], 2)  # the depth of a sum is logarithmic

    def test_gathers_that_checks_protect_are_one_pass(self):
        # The length is known at run time only, and each of the three is checked by itself.
        work = self.costs("let v = index(1000); n = #v - rand(3) - 2 in sum({a * b + c "
                          ": a in subseq(v, 0, n); b in subseq(v, 1, n + 1); c in drop(v, #v - n)})")
        self.assertLess(work[2], 3000)  # to read and to write a vector for each would be 8000

    def test_the_result_is_printed_once(self):
        ran = self.nesl("cost", 'let u = print_line("once") in 7')
        self.assertEqual(ran.stdout.count("once"), 1)
        self.assertIn("it = 7 : int", ran.stdout)

    def test_errors(self):
        self.expect(self.nesl("cost", "1 / 0"), 1, "", "Divide by zero.")
        self.expect(self.nesl("cost"), 2, "", "cost of what?")
        self.expect(self.nesl("--direct", "cost", "1"), 2, "", "in both ways already")


class Drawings(ArrayTest):
    def drawing(self, expression, name="plot.svg"):
        self.assertTrue(self.value(expression).endswith("T"))
        document = xml.dom.minidom.parse(self.path(name))
        self.assertEqual(document.documentElement.tagName, "svg")
        return document

    def attributes(self, document, tag, *names):
        return [tuple(int(e.getAttribute(n)) for n in names)
                for e in document.getElementsByTagName(tag)]

    def paths(self, document, kind):
        """The points of each path of a kind."""
        found = [e.getAttribute("d") for e in document.getElementsByTagName("path")
                 if e.getAttribute("class") == kind]
        return [[(int(x), int(y)) for x, y in re.findall(r"(\d+) (\d+)", d)] for d in found]

    def test_points(self):
        drawn = self.drawing("plot([(0, 0.0), (1, 1.0), (2, 4.0)])")
        at, = self.paths(drawn, "points")
        self.assertEqual(len(at), 3)
        self.assertEqual(at[0], (800, 4200))  # zero is at the edge
        self.assertAlmostEqual(at[1][0] - at[0][0], at[2][0] - at[1][0], delta=1)
        self.assertAlmostEqual(4 * (at[0][1] - at[1][1]), at[0][1] - at[2][1], delta=4)

    def test_lines(self):
        drawn = self.drawing("plot_lines({(x, x * x) : x in [-10:11]})")
        line, = self.paths(drawn, "lines")
        self.assertEqual(len(line), 21)

    def test_a_line_ends_where_there_is_no_number(self):
        self.drawing("plot_lines([(0.0, 0.0), (1.0, 1.0), (1.0e200 * 1.0e200, 5.0), (2.0, 0.0), "
                     "(3.0, 2.0)])")
        line = re.search("class='lines' d='([^']*)'", self.text("plot.svg")).group(1)
        self.assertRegex(line, r"^M\d+ \d+ \d+ \d+M\d+ \d+ \d+ \d+$")

    def test_bars(self):
        drawn = self.drawing("plot_bars([1, 2, 3])")
        back, *heights = [h for h, in self.attributes(drawn, "rect", "height")]
        self.assertEqual(back, 4560)  # no name below the axis
        self.assertAlmostEqual(heights[2], 3 * heights[0], delta=3)

    def test_ticks_and_title(self):
        drawn = self.drawing('plot_to("d.svg", "a < b & c", [("lines", [(0.0, 0.0), '
                             '(0.5, 120.0)]), ("points", [(0.1, 1.0)])])', "d.svg")
        texts = [e.firstChild.data for e in drawn.getElementsByTagName("text") if e.firstChild]
        self.assertIn("a < b & c", texts)
        for tick in ("0", "0.1", "0.5", "50", "100"):
            self.assertIn(tick, texts)

    def test_names_of_axes_and_series(self):
        self.drawing('plot_to("d.svg", "", [("x: n", [] (float, float)), ("y: t < 1", '
                     '[] (float, float)), ("lines", [(0.0, 0.0), (1.0, 1.0)]), '
                     '("dots: a:b", [(0.5, 0.5)])])', "d.svg")
        text = self.text("d.svg")
        for name in (">n</text>", ">t &lt; 1</text>", "class='name' x='1130' y='430'>a:b</text>"):
            self.assertIn(name, text)
        # In the legend a point stands for a series of points; then comes the series itself.
        self.assertEqual(len(re.findall("class='key'", text)), 0)
        self.assertRegex(text, "<g class='s1'>\n<path class='points' d='M960 390h0'/>")
        self.assertRegex(text, "<g class='s1'>\n<path class='dots'")

    def test_keys_of_the_legend_look_like_their_series(self):
        self.drawing('plot_to("d.svg", "", [("lines: l", [(0.0, 0.0), (1.0, 1.0)]), '
                     '("bars: b", [(0.0, 1.0)]), ("marks: m", [(0.5, 0.5)])])', "d.svg")
        text = self.text("d.svg")
        legend = text[:text.index("translate(0")]
        self.assertEqual(re.findall("<(path|rect)(?: class='(\\w+)')?", legend),
                         [("rect", "back"), ("path", "key"), ("rect", ""), ("path", "ring"),
                          ("path", "marks")])

    def test_one_scale_for_both_axes(self):
        drawn = self.drawing('plot_to("d.svg", "", [("equal", [] (float, float)), '
                             '("points", [(0.0, 0.0), (2.0, 1.0), (0.0, 3.0)])])', "d.svg")
        (x1, y1), (x2, y2), (x3, y3) = self.paths(drawn, "points")[0]
        self.assertAlmostEqual((x2 - x1) / 2, y1 - y2, delta=2)
        self.assertAlmostEqual(y1 - y3, 3 * (y1 - y2), delta=4)

    def gif(self, name):
        """Size and pixels of the first image in a drawing, whose GIF is read by the letter."""
        data = base64.b64decode(re.search("base64,([^']*)'", self.text(name)).group(1))
        self.assertEqual(data[:6], b"GIF89a")
        columns, rows = struct.unpack("<HH", data[6:10])
        at, pixels = 13 + 3 * 128 + 10, []
        self.assertEqual((data[10], data[at - 10], data[at]), (0xf6, 0x2c, 7))
        at += 1
        while data[at]:
            codes = data[at + 1:at + 1 + data[at]]
            if codes != b"\x81":
                self.assertEqual(codes[0], 128)
                self.assertLessEqual(len(codes), 127)
                pixels += codes[1:]
            at += 1 + data[at]
        self.assertEqual(data[at:], b"\0;")
        return columns, rows, pixels

    def test_images(self):
        self.drawing("plot_image([[0, 1, 2], [3, 4], [5, 6, 7]])")
        columns, rows, pixels = self.gif("plot.svg")  # few pixels are squares of many
        self.assertEqual((columns, rows), (96, 96))
        colours = (0, 18, 36, 54, 73, 0, 91, 109, 127)
        self.assertEqual(pixels, [colours[i // 32 * 3 + j // 32] for i in range(96)
                                  for j in range(96)])
        self.drawing('image_to("i.svg", "a", {{float(i + j) : j in [0:300]} : i in [0:5]})',
                     "i.svg")
        columns, rows, pixels = self.gif("i.svg")
        self.assertEqual((columns, rows, len(pixels)), (300, 5, 1500))
        self.assertEqual(pixels, [min(127, 128 * (i + j) // 303) for i in range(5)
                                  for j in range(300)])
        self.drawing('let x = 1.0e200 * 1.0e200 '
                     'in image_to("i.svg", "", [[x, x - x, -x, 1.0, 2.0]])', "i.svg")
        self.assertEqual(self.gif("i.svg")[2][:95:19], [127, 0, 0, 0, 127])
        for rows in ("[] [float]", "[[] float]", "[[1.0]]", "dist([2.0], 500)"):
            self.drawing(f"plot_image({rows})")

    def test_odd_data(self):
        for points in ("[] (float, float)", "[(1, 1)]", "[(1.0e300, 0.0), (1.0e300, 1.0)]",
                       "[(0.0, 1.0e200 * 1.0e200), (1.0, 2.0)]"):
            self.drawing(f"plot({points})")
            self.drawing(f"plot_lines({points})")
        self.drawing("plot_bars([] int)")
        self.drawing("plot_bars([-1, 0, 2])")

    def test_files_need_permission(self):
        ran = self.nesl("-e", "plot([(1, 1)])")
        self.assertIn("may not be opened without --allow-files", ran.stdout)


if __name__ == "__main__":
    nesl_command.NESL, nesl_command.NESLC, nesl_command.VINTERP = map(os.path.abspath,
                                                                      sys.argv[1:4])
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
