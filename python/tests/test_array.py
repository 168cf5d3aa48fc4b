"""ravel.Array: elements, slices, what others see of it, and how it is shown."""

import ctypes
import os
import pickle
import unittest
from pathlib import Path

import batches
import numpy as np
import ravel as rv
from ravel import _arrow, _transfer

ROWS = [[1.0, 2.0], [], [3.0]]
MODULES = Path(__file__).resolve().parent.parent.parent / "build" / "lib" / "ravel-tests"


class Plain:
    """What has a capsule for NumPy."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return (1, 0)


class OnDevice:
    """A tensor of another library on a device: an array, seen by DLPack alone."""

    def __init__(self, array, versions):
        self.array, self.versions = array, versions

    def __dlpack__(self, stream=None, **options):
        if not self.versions and options:
            raise TypeError("an old library")
        return self.array.__dlpack__(stream=stream, **self.versions)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Elements(unittest.TestCase):
    def test_of_numbers(self):
        for data in ([5, 6, 7], [0.5, 1.5, 2.5], [True, False, True], ["a", "", "né"],
                     [(1, "a"), (2, "b"), (3, "")]):
            made = rv.eval("x", x=data)
            self.assertEqual([made[0], made[-1], made[1]], [data[0], data[-1], data[1]])
            self.assertEqual(list(made), data)
            self.assertEqual(type(made[0]), type(data[0]))

    def test_of_rows(self):
        made = rv.eval("x", x=ROWS)
        self.assertEqual((made[0].to_list(), made[0][1], made[-1].type),
                         ([1.0, 2.0], 2.0, "[float]"))
        self.assertEqual([row.to_list() for row in made], ROWS)
        self.assertEqual(rv.eval("sum(row)", row=made[0]), 3.0)

    def test_slices(self):
        data = list(range(10))
        nested = [list(range(i)) for i in data]
        pairs = [(i, [str(i)] * i) for i in data]
        for each in (data, nested, pairs):
            made = rv.array(each)
            for part in (slice(2, 5), slice(None, None, 3), slice(None, None, -1),
                         slice(-3, None), slice(7, 2), slice(8, 1, -2)):
                self.assertEqual(made[part].to_list(), each[part], part)
            self.assertEqual(made[4:][1:3].to_list(), each[4:][1:3])
            self.assertEqual(rv.eval("reverse(m)", m=made[3:6]).to_list(), each[3:6][::-1])

    def test_positions_and_bools(self):
        made = rv.array([[1], [2, 3], []])
        self.assertEqual(made[[2, 1, -3]].to_list(), [[], [2, 3], [1]])
        self.assertEqual(made[np.array([True, False, True])].to_list(), [[1], []])
        self.assertEqual(made[[]].to_list(), [])

    def test_components(self):
        made = rv.array([(1, [2.0], "a"), (3, [], "b")])
        self.assertEqual([made[name].to_list() for name in "012"],
                         [[1, 3], [[2.0], []], ["a", "b"]])

    def test_refusals(self):
        made = rv.array([(1, 2)])
        for index, kind in ((1, IndexError), (-2, IndexError), ("2", KeyError),
                            (1.5, TypeError), ([5], IndexError), ([True, False], IndexError),
                            ([0.5], TypeError)):
            with self.subTest(index), self.assertRaises(kind):
                made[index]  # pylint: disable=pointless-statement
        with self.assertRaisesRegex(KeyError, "the elements are int"):
            made["0"]["0"]  # pylint: disable=pointless-statement

    def test_comparison_truth_and_copies(self):
        made = rv.array(ROWS)
        self.assertEqual(made, rv.eval("x", x=ROWS))
        self.assertNotEqual(made, rv.array([[1]]))
        self.assertTrue(made)
        self.assertFalse(rv.array([]))
        self.assertEqual(pickle.loads(pickle.dumps(made)), made)


class ForOthers(unittest.TestCase):
    def test_numpy(self):
        made = np.asarray(rv.eval("x", x=[1.5, 2.5]))
        self.assertEqual((made.dtype.name, made.tolist()), ("float64", [1.5, 2.5]))
        self.assertEqual(np.asarray(rv.array([1, 2]), np.float32).dtype.name, "float32")
        large = rv.eval("{x > 1 : x in v}", v=[1, 2])
        self.assertEqual(np.asarray(large).tolist(), [False, True])
        self.assertEqual(np.asarray(rv.array([[1, 2], [3, 4]])).shape, (2, 2))
        self.assertEqual(np.asarray(rv.array([[[1], [2]]] * 3)).shape, (3, 2, 1))
        self.assertEqual(np.asarray(rv.array(["a", "bc"])).tolist(), ["a", "bc"])
        pairs = np.asarray(rv.array([(1, 2.5), (3, 4.5)]))
        self.assertEqual((pairs["0"].tolist(), pairs["1"].tolist()), ([1, 3], [2.5, 4.5]))
        with self.assertRaisesRegex(ValueError, "row 0 has 2 elements, and row 1 0"):
            np.asarray(rv.array(ROWS))

    def test_numpy_shares_memory_and_may_not_write(self):
        made = rv.eval("x", x=[1.5, 2.5])
        first = np.asarray(made)
        self.assertTrue(np.shares_memory(first, np.asarray(made)))
        self.assertFalse(first.flags.writeable)
        del made
        self.assertEqual(first.tolist(), [1.5, 2.5])

    def test_dlpack(self):
        made = rv.eval("x", x=[1.5, 2.5])
        self.assertEqual(np.from_dlpack(made).tolist(), [1.5, 2.5])
        self.assertEqual(made.__dlpack_device__()[0], 1)
        with self.assertRaisesRegex(rv.DataError, "DLPack has numbers only"):
            np.from_dlpack(rv.array(["a"]))

    def test_dlpack_on_request(self):
        made = rv.eval("x", x=[1, 2])
        self.assertEqual(np.from_dlpack(Plain(made.__dlpack__(dl_device=(1, 0)))).tolist(), [1, 2])
        for options in ({"dl_device": (2, 0)}, {"copy": False}):
            with self.subTest(options), self.assertRaises(BufferError):
                made.__dlpack__(**options)

    @unittest.skipUnless(MODULES.is_dir(), "the emulated GPU is not built")
    def test_dlpack_on_a_device(self):
        os.environ.update(RAVEL_BACKENDS=str(MODULES), RAVEL_EMULATION="check,small=0")
        self.addCleanup(os.environ.pop, "RAVEL_BACKENDS")
        self.addCleanup(os.environ.pop, "RAVEL_EMULATION")
        with rv.options(backend="cuda-emu"):
            made = rv.eval("{x * 2.0 : x in xs}", xs=[1.0, 2.5])
            kind, number = made.__dlpack_device__()
            self.assertEqual(kind, 2)
            for versions in ({"max_version": (1, 0)}, {}):
                again = rv.eval("{x + 1.0 : x in xs}", xs=OnDevice(made, versions))
                self.assertEqual(again.to_list(), [3.0, 6.0])
            made.__dlpack__(max_version=(1, 0))  # nobody takes it
            with self.assertRaises(RuntimeError):
                np.from_dlpack(made)  # refuses the device
            self.assertEqual(np.from_dlpack(Plain(made.__dlpack__(dl_device=(1, 0)))).tolist(),
                             [2.0, 5.0])
            with self.assertRaises(BufferError):
                made.__dlpack__(dl_device=(2, number + 1))
            self.assertEqual(rv.eval("x", x=[[1], [2]]).__dlpack_device__(), (1, 0))
            bools = rv.eval("{not(b) : b in xs}", xs=OnDevice(rv.eval("[t, f]"), {}))
            self.assertEqual(bools.to_list(), [False, True])
        with self.assertRaisesRegex(rv.DataError, "copy it to the CPU"):
            rv.eval("x", x=OnDevice(made, {}))

    def test_arrow_capsules(self):
        """By our own import: what others do with them is in test_libraries.py."""
        class Producer:  # pylint: disable=too-few-public-methods
            def __init__(self, made, *names):
                for name in names:
                    setattr(self, name, getattr(made, name))

        for data in ([1, 2], [0.5], [True, False, True] * 5, ROWS, ["né", ""],
                     [(1, ["a"], [True])], ["\udcff", "a"],
                     rv.array([[1], [2, 3], [], [4]])[1:3].to_list()):
            made = rv.array(data)
            for name in ("__arrow_c_array__", "__arrow_c_stream__"):
                with self.subTest(data=data, name=name):
                    self.assertEqual(rv.array(Producer(made, name)).to_list(), data)

    def test_capsules_that_nobody_takes(self):
        made = rv.array([([1], "a")])
        made[0]  # pylint: disable=pointless-statement
        before = batches.kept()
        for _ in range(3):
            made.__arrow_c_array__()
            made.__arrow_c_stream__()
            made.__arrow_c_schema__()
            rv.eval("x", x=made).__arrow_c_stream__()
        self.assertEqual(batches.kept(), before)

    def test_exceptions_of_consumers(self):
        """A capsule that ends while the exception of who took it is pending."""
        here, there = rv.array([([1], "a"), ([], "b")]), rv.eval("{[0:n] : n in [0:4]}")
        here[0]  # pylint: disable=pointless-statement
        before = batches.kept()
        for made in (lambda: here.__arrow_c_schema__(), lambda: here.__arrow_c_stream__(),
                     lambda: here.__arrow_c_array__()[1], lambda: there.__arrow_c_stream__(),
                     lambda: there.__arrow_c_array__()[0]):
            with self.assertRaisesRegex(TypeError, "no len|PyCapsule"):
                len(made())
            with self.assertRaisesRegex(ValueError, "Capsule"):
                _transfer.pointer_in(made(), b"another name")
        there[0]  # pylint: disable=pointless-statement
        self.assertEqual(batches.kept(), before)

    def test_schemas_outlive_their_streams(self):
        made = rv.array([(1, [0.5], "a")])
        made[0]  # pylint: disable=pointless-statement
        capsule = made.__arrow_c_stream__()
        pointer = _transfer.pointer_in(capsule, b"arrow_array_stream")
        stream = _transfer.ArrowArrayStream.from_address(pointer)
        owner = _arrow.Exported()
        batches.NEXT(stream.get_schema)(pointer, ctypes.addressof(owner.schema))
        del stream, capsule, made
        self.assertEqual([owner.schema.children[i].contents.format for i in range(3)],
                         [b"l", b"+L", b"U"])


class AsASequence(unittest.TestCase):
    def test_shapes(self):
        for data, shape in (([], (0,)), ([1, 2], (2,)), ([[1, 2], [3, 4], [5, 6]], (3, 2)),
                            ([[1], [2, 3]], (2,)), (["ab", "cd"], (2,)), ([[[1]], [[2]]], (2, 1, 1)),
                            ([[[1], [2, 3]]], (1, 2)), ([(1, [2.0])], (1,))):
            self.assertEqual(rv.array(data).shape, shape, data)
        self.assertEqual(rv.array([[0, 0], [1, 2], [3, 4]])[1:].shape, (2, 2))

    def test_dtypes(self):
        for data, dtype in (([1, 2], "i8"), ([[1.5], []], "f8"), ([True], "?"), (["ab"], "U"),
                            (np.array([1], "i2"), "i8"), ([[(1, "a")]], [("0", "i8"), ("1", "U")])):
            with self.subTest(data=data):
                self.assertEqual(rv.array(data).dtype, np.dtype(dtype))
        with rv.options(float=32):
            self.assertEqual(rv.eval("{[x] : x in [0.5]}").dtype, np.float32)
        self.assertEqual(rv.array([]).dtype, np.asarray(rv.array([])).dtype)
        rv.define("datatype spot_(int);")
        self.assertEqual(rv.eval("[spot_(1)]").dtype, np.dtype(object))

    def test_equality(self):
        made = rv.array([[1, 2], [3]])
        self.assertTrue(made == [[1, 2], [3]] and [[1, 2], [3]] == made and [made[1]] == [[3]])
        self.assertTrue(made != [[1, 2], []] and made != [[1, 2]] and made != "x" and made != [])
        self.assertTrue(rv.array(["a"]) == ["a"] and rv.array([(1, [2])]) == [(1, [2])])
        self.assertTrue(rv.array([1]) == [1.0] and rv.array([1]) != rv.array([1.0]))
        self.assertEqual((rv.array([1, 2]) == np.array([1, 5])).tolist(), [True, False])

    def test_methods_of_sequences(self):
        made = rv.array([3, 1, 3])
        self.assertEqual((made.count(3), made.index(1), list(reversed(made))), (2, 1, [3, 1, 3]))
        self.assertTrue(1 in made and 2 not in made)
        with self.assertRaises(ValueError):
            made.index(7)


class Datatypes(unittest.TestCase):
    """Values of datatypes, and sequences of them, which have no type outside of NESL."""

    def setUp(self):
        rv.define("datatype dot_(int, float);")
        self.dots = rv.eval("[dot_(1, 2.0), dot_(3, 4.5)]")

    def test_sequences(self):
        dots = self.dots
        self.assertEqual((dots.type, len(dots), dots[-1].contents), ("[dot_]", 2, (3, 4.5)))
        self.assertEqual(repr(dots), "<ravel.Array [<dot_ (1, 2.0)>, <dot_ (3, 4.5)>], 2 of dot_>")
        self.assertEqual(repr(dots[1:]), "<ravel.Array [<dot_ (3, 4.5)>], 1 of dot_>")
        self.assertEqual([each.contents for each in dots[[1, 0, 1]]], [(3, 4.5), (1, 2.0), (3, 4.5)])
        self.assertEqual(dots[np.array([False, True])].to_list(), [dots[1]])
        self.assertIn("&lt;dot_ (3, 4.5)&gt;", dots._repr_html_())
        self.assertEqual(rv.eval("{let dot_(n, x) = d in n : d in v}", v=dots[1:]).to_list(), [3])
        self.assertTrue(dots == rv.eval("v", v=dots))
        self.assertFalse(dots == dots[::-1])
        with self.assertRaises(IndexError):
            dots[2]  # pylint: disable=pointless-statement

    def test_within_other_types(self):
        rows = rv.eval("[v, [] dot_]", v=self.dots)
        self.assertEqual(([len(row) for row in rows], rows[0][1].contents), ([2, 0], (3, 4.5)))
        self.assertEqual(repr(rv.eval("[(7, v[0])]", v=self.dots)),
                         "<ravel.Array [(7, <dot_ (1, 2.0)>)], 1 of (int, dot_)>")

    def test_with_types_as_arguments(self):
        made = rv.eval("matrix(2, 2, [1, 2, 3, 4])")
        self.assertEqual((made.type, made.contents[2].to_list()), ("matrix(int)", [1, 2, 3, 4]))
        self.assertEqual(rv.eval("matrix_rows(m)", m=made).to_list(), [[1, 2], [3, 4]])
        pair = rv.eval("(matrix(1, 1, [(1, t)]), 2)")
        self.assertEqual((pair[0].type, pair[1]), ("matrix((int, bool))", 2))
        rows = rv.eval("{matrix_rows(m) : m in v}", v=rv.eval("[m, m]", m=made))
        self.assertEqual(rows.to_list(), [[[1, 2], [3, 4]]] * 2)

    def test_others_have_no_type_for_them(self):
        for take in (np.asarray, pickle.dumps, lambda v: v.__arrow_c_array__(),
                     lambda v: v[1:].__arrow_c_stream__(), lambda v: v.__arrow_c_schema__()):
            with self.assertRaisesRegex(rv.DataError, "dot_.*datatype"):
                take(self.dots)


class Shown(unittest.TestCase):
    def test_repr(self):
        self.assertEqual(repr(rv.array(ROWS)),
                         "<ravel.Array [[1.0, 2.0], [], [3.0]], 3 of [float]>")
        self.assertEqual(repr(rv.array([("a", True)])),
                         "<ravel.Array [('a', True)], 1 of ([char], bool)>")

    def test_repr_has_a_limit(self):
        for data in (range(10**6), [list(range(10**5))] * 3, ["x" * 10**6] * 3):
            made = rv.array(data)
            self.assertLess(len(repr(made)), 500)
            self.assertIn("...", repr(made))
            self.assertLess(len(made._repr_html_()), 10000)

    def test_html(self):
        shown = rv.array(["<b>", "c"])._repr_html_()
        self.assertIn("&lt;b&gt;", shown)
        self.assertIn("<caption>2 of [char]</caption>", shown)


if __name__ == "__main__":
    unittest.main()
