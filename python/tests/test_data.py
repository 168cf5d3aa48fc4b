"""What Python has, as arguments: types, values, and what is refused."""

import array
import collections
import datetime
import decimal
import fractions
import os
import types
import unittest

import numpy as np
import ravel as rv
from ravel import _functions, _options
from ravel._array import wrapped


def through(data):
    """The type that data gets, and its elements as they return."""
    made = rv.array(data)
    return made.type, rv.eval("made", made=made).to_list()


class Lists(unittest.TestCase):
    def test_types(self):
        for data, kind in (([1, 2], "[int]"), ([1, 2.5], "[float]"), ([True], "[bool]"),
                           (["né", ""], "[[char]]"), ([[1], []], "[[int]]"), ([], "[float]"),
                           ([[], []], "[[float]]"), ([(1, "a"), (2, "bc")], "[(int, [char])]"),
                           ([[[1.0]], []], "[[[float]]]"), ([(1, (2.0, [True]))],
                                                           "[(int, float, [bool])]"),
                           ([((1, 2), 3)], "[((int, int), int)]")):
            with self.subTest(data):
                found = through(data)
                self.assertEqual(found[0], kind)
                if "(2.0" not in str(data):
                    self.assertEqual(found[1], data)

    def test_other_sequences(self):
        for data in (range(3), collections.deque([0, 1, 2]), array.array("i", [0, 1, 2]),
                     memoryview(bytearray([0, 1, 2])), np.arange(3)):
            with self.subTest(type(data)):
                self.assertEqual(through(data), ("[int]", [0, 1, 2]))
        self.assertEqual(through([np.array([1, 2]), np.array([], int)]),
                         ("[[int]]", [[1, 2], []]))
        self.assertEqual(through([rv.array([1, 2]), [3]]), ("[[int]]", [[1, 2], [3]]))

    def test_types_that_are_given(self):
        for data, kind in (([[]], "[[int]]"), ([], "[(int, [char])]"),
                           ([[], [[]]], "[[[bool]]]"), ([1, 2], "[float]"), ([], "[[char]]")):
            self.assertEqual(rv.array(data, kind).type, kind)
        with self.assertRaisesRegex(rv.NeslTypeError, r"the data is \[float\], not \[int\]"):
            rv.array([1.5], "[int]")
        for wrong in ("[int", "int]", "[int,]", "", "[]", "[3]"):
            with self.subTest(wrong), self.assertRaisesRegex(rv.MisuseError, "no type of NESL"):
                rv.array([1], wrong)

    def test_refusals_say_where(self):
        for data, said in (([1, "a"], r"data\[1\] is a text, and data\[0\] an int"),
                           ([[1], [2, None]], r"data\[1\]\[1\] is None"),
                           ([[1.5], [], [0, 2**53 + 1]], r"data\[2\]\[1\] is 9007199254740993"),
                           ([1, 2**63], r"data\[1\] is 9223372036854775808"),
                           ([(1, 2), (3,)], r"data\[1\] has 1 components"),
                           ([(1, [2]), (3, [4, "x"])], r"data\[1\]\[1\]\[1\] is a text"),
                           ([object()], r"data\[0\] is builtins.object"),
                           ([True, 1], r"data\[1\] is an int, and data\[0\] a bool"),
                           ({"a": 1}, "is a dict"), ([{1: 2}, 3], r"data\[0\] is a dict: use a list"),
                           (3 + 4j, "builtins.complex")):
            with self.subTest(data), self.assertRaisesRegex(rv.DataError, said):
                rv.array(data)


class Tensor:
    """A tensor of DLPack, on the CPU or elsewhere."""

    def __init__(self, data):
        self.data = data

    def __dlpack__(self, **options):
        if self.data is None:
            raise BufferError("another device")
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return (1, 0) if self.data is not None else (2, 0)


class Tensors(unittest.TestCase):
    def test_dlpack(self):
        data = np.arange(6.0).reshape(2, 3)
        made = rv.array(Tensor(data))
        data[:] = -1
        self.assertEqual(made.to_list(), [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
        with self.assertRaisesRegex(rv.DataError, "data: .*on a GPU.*copy it to the CPU"):
            rv.array(Tensor(None))


class Scalars(unittest.TestCase):
    def test_types(self):
        for data, kind in ((1, int), (2.5, float), (True, bool), (np.int8(3), int),
                           (np.float32(0.5), float), (np.bool_(False), bool),
                           (np.array(7), int), ("né", str), ("", str), ("\udcff", str)):
            with self.subTest(data):
                found = rv.eval("x", x=data)
                self.assertEqual((found, type(found)), (data, kind))
        self.assertEqual(rv.eval("x", x=b"ab"), "ab")
        self.assertEqual(rv.eval("x", x=(1, (2.0, "a"), True)), (1, (2.0, "a"), True))

    def test_refusals(self):
        for data, said in ((2**63, "x is 9223372036854775808"), ((1,), "a tuple of 1"),
                           (None, "is None: NESL has no missing"), ({1}, "is a set")):
            with self.subTest(data), self.assertRaisesRegex(rv.DataError, said):
                rv.eval("x", x=data)


class Numpy(unittest.TestCase):
    def test_numbers(self):
        for kind in "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 >i4 >f8".split():
            with self.subTest(kind):
                data = np.array([0, 1, 100], kind)
                self.assertEqual(through(data)[1], data.tolist())

    def test_memory_that_is_not_contiguous(self):
        data = np.arange(12).reshape(3, 4)
        for view in (data[:, 1], data[::2], data.T, data[::-1, ::-1], data[:0], data[:, :0]):
            self.assertEqual(through(view)[1], view.tolist())

    def test_dimensions(self):
        data = np.arange(24.0).reshape(2, 3, 4)
        self.assertEqual(through(data), ("[[[float]]]", data.tolist()))

    def test_fields(self):
        data = np.array([(1, 2.5, "ab"), (3, 4.5, "")], [("a", "i4"), ("b", "f4"), ("c", "U2")])
        self.assertEqual(through(data),
                         ("[(int, float, [char])]", [(1, 2.5, "ab"), (3, 4.5, "")]))
        self.assertEqual(through(data[["a"]]), ("[int]", [1, 3]))

    def test_objects_and_texts(self):
        self.assertEqual(through(np.array(["a", "bc"])), ("[[char]]", ["a", "bc"]))
        self.assertEqual(through(np.array([[1], [2, 3]], object)), ("[[int]]", [[1], [2, 3]]))

    def test_an_argument_is_not_the_array(self):
        for shape in (10**5,), (100, 10, 100):
            data = np.arange(10.0**5).reshape(shape)
            made, rest = rv.array(data), rv.eval("reverse(data)", data=data)
            same, pair = rv.eval("data", data=data), rv.eval("p", p=(data, 1))[0]
            records = rv.array(data.reshape(-1).view([("x", float)]))
            want = data.tolist()
            data[:] = -1
            self.assertEqual([each.to_list() for each in (made, rest, same, pair)],
                             [want, want[::-1], want, want], shape)
            self.assertEqual(records[5], 5.0)

    def test_memory_that_nobody_can_change_is_shared(self):
        fixed = np.frombuffer(np.arange(10.0**5).tobytes())
        self.assertEqual(rv.array(fixed).to_list(), fixed.tolist())
        again = np.asarray(rv.eval("{x : x in v}", v=fixed))
        self.assertEqual(np.asarray(rv.eval("v", v=again)).tolist(), fixed.tolist())
        part = np.arange(10.0**5)
        view = part[2:]
        view.flags.writeable = False
        made = rv.array(view)
        part[:] = -1
        self.assertEqual(made[0], 2.0)

    def test_borrowed_memory_is_released_with_the_call(self):
        data, context = np.arange(10.0**5), _options.context()
        arguments = _functions.Arguments(context, [data, (data, 1)], ["data", "both"])
        types = ", ".join(_functions.types_of(arguments.values))
        compiled = context.run(lambda: context.expression("(data, both)", "data, both", types))
        result = wrapped(context.run(lambda: arguments.call(compiled)))
        data[:] = -1
        self.assertEqual((result[0][5], result[1][5]), (5.0, 5.0))
        self.assertIsNotNone(arguments)

    def test_refusals(self):
        for data, said in ((np.array([2**63], np.uint64), r"data\[0\] does not fit"),
                           (np.array(["2020-01-01"], "M8[D]"), r"datetime64\[D\], which NESL"),
                           (np.array([1j]), "use .real and .imag"),
                           (np.array([None]), r"data\[0\] is builtins.NoneType|None")):
            with self.subTest(data.dtype), self.assertRaisesRegex(rv.DataError, said):
                rv.array(data)


class Tensor0d:
    """A tensor of DLPack without dimensions."""

    ndim = 0

    def item(self):
        return 2.5

    def __dlpack__(self, **_):
        raise AssertionError("its element is enough")


class Untaken(unittest.TestCase):
    """What would go in wrongly is refused."""

    def test_masked_elements(self):
        records = np.ma.array([(1, 2.0), (3, 4.0)], mask=[(False, False), (False, True)],
                              dtype=[("a", int), ("b", float)])
        for data, where in ((np.ma.array([0.5, 1.5], mask=[False, True]), r"data\[1\]"),
                            (np.ma.array(np.ones((2, 3)), mask=np.eye(2, 3)), r"data\[0\]\[0\]"),
                            (records, r"data\[1\]"), (np.ma.masked, "data"),
                            ([np.ma.masked, 1], r"data\[0\]"),
                            ([np.ma.array([1, 2], mask=[1, 0])], r"data\[0\]\[0\]"),
                            ((1, np.ma.array([True], mask=True)), r"data\[1\]\[0\]")):
            with self.subTest(data=data), self.assertRaisesRegex(rv.DataError, where + " is"):
                rv.array(data)

    def test_masked_arrays_without_masked_elements(self):
        for data in (np.ma.array([1, 2]), np.ma.array([[0.5], [1.5]], mask=False)):
            self.assertEqual(rv.array(data).to_list(), data.data.tolist())
        self.assertEqual(rv.eval("x + 1", x=np.ma.array(3)), 4)

    def test_sets_and_dicts_at_any_level(self):
        for item in ({"k": 1}, {1.5}, frozenset("a"), os.environ, collections.Counter("ab"),
                     types.MappingProxyType({1: 2})):
            for data, where in ((item, "data"), ([item, item], r"data\[0\]"),
                                ([[], [item]], r"data\[1\]\[0\]"), ([(1, item)], r"data\[0\]\[1\]"),
                                ((2, [item]), r"data\[1\]\[0\]"),
                                (np.array([item, None], object), r"data\[0\]"),
                                (iter_of(item), r"data\[0\]")):
                with self.subTest(data=data), \
                        self.assertRaisesRegex(rv.DataError, where + " is a .*: use a list"):
                    rv.array(data)
        self.assertEqual(rv.array({"a": 1}.items()).to_list(), [("a", 1)])

    def test_messages_name_what_to_use(self):
        moment = datetime.datetime(2026, 11, 28)
        for data, said in ((decimal.Decimal(1), r"data is decimal.Decimal.*use float\(x\)"),
                           ([1.5, fractions.Fraction(1, 2)], r"data\[1\] is .*use float\(x\)"),
                           ([[moment]], r"data\[0\]\[0\] is datetime.datetime.*\.timestamp\(\)"),
                           (moment.date(), r"\.toordinal\(\)"), ([2j], r"use its \.real and \.imag"),
                           ([moment - moment], r"use its \.total_seconds\(\)"),
                           (np.array([moment], "M8[s]").tolist(), r"\.timestamp\(\)"),
                           (list(np.array([moment], "M8[s]")), r"use \.astype\(int\)"),
                           ([(5,), (6,)], r"data\[0\] is a tuple of 1.*component, data\[0\]\[0\]"),
                           ([()], r"data\[0\] is a tuple of 0"),
                           (None, "data is None: NESL has no missing"),
                           ((5,), r"tuple of 1: .*use its component, data\[0\]"),
                           ([None], r"data\[0\] is None")):
            with self.subTest(data=data), self.assertRaisesRegex(rv.DataError, said):
                rv.array(data)

    def test_arrays_without_dimensions(self):
        self.assertEqual(rv.eval("x + 1", x=Tensor(np.array(3))), 4)
        with self.assertRaisesRegex(rv.DataError, "the data is int, no sequence"):
            rv.array(Tensor(np.array(3)))
        self.assertEqual(rv.array([np.array(1), np.array(2)]).to_list(), [1, 2])
        self.assertEqual(rv.array([np.array(1.5), 2]).to_list(), [1.5, 2.0])
        self.assertEqual(rv.eval("x * 2.0", x=Tensor0d()), 5.0)

    def test_nesting(self):
        def nested(count, data):
            for _ in range(count):
                data = [data]
            return data
        self.assertEqual(rv.eval("(#v, v)", v=nested(249, 7))[1].to_list(), nested(249, 7))
        with self.assertRaisesRegex(rv.Error, "deeper than 250 levels"):
            rv.eval("[v]", v=nested(250, 7))
        itself = []
        itself.append(itself)
        for data in (nested(251, 7), nested(499, 7), nested(900, True), [itself], (1, nested(300, 2)),
                     nested(260, ("a", 2))):
            with self.assertRaisesRegex(rv.DataError, "nests deeper than 250 levels"):
                rv.array([data])

    def test_wide_tuples(self):
        for count in (120, 1900):
            row = tuple(range(count))
            made = rv.array([row, row])
            self.assertEqual(rv.eval("v[1:]", v=made).to_list(), [row])
            self.assertEqual(made.type, f"[({', '.join(['int'] * count)})]")
        with self.assertRaisesRegex(rv.DataError, "more than 1900 components"):
            rv.array([tuple(range(1901))])

    def test_texts_of_numpy(self):
        if hasattr(np, "dtypes") and hasattr(np.dtypes, "StringDType"):
            made = np.array(["a", "né"], np.dtypes.StringDType())
            self.assertEqual(rv.array(made).to_list(), ["a", "né"])


def iter_of(item):
    """A sequence that is no list."""
    return collections.deque([item])


if __name__ == "__main__":
    unittest.main()
