"""Data of other libraries, both ways. Those that are not installed are skipped."""

import importlib
import unittest

import numpy as np
import ravel as rv

ROWS = [[1.0, 2.0], [], [3.0]]
RECORDS = [(1, "a", [1.0]), (2, "né", [])]


def needs(name):
    """The module as an argument of a test, if it is installed."""
    def decorate(test):
        def run(self):
            try:
                module = importlib.import_module(name)
            except ImportError:
                self.skipTest(f"{name} is not installed")
            test(self, module)
        return run
    return decorate


class In(unittest.TestCase):
    def check(self, data, kind, elements):
        made = rv.array(data)
        self.assertEqual((made.type, made.to_list()), (kind, elements))

    def refused(self, data, said):
        with self.assertRaisesRegex(rv.DataError, said):
            rv.array(data)

    @needs("awkward")
    def test_awkward(self, ak):
        nested = ak.Array([[1, 2, 3], [], [4, 5]])
        for data, kind, elements in (
                (ak.Array(ROWS), "[[float]]", ROWS),
                (nested[:, 1:], "[[int]]", [[2, 3], [], [5]]),
                (nested[1:], "[[int]]", [[], [4, 5]]),
                (nested[[2, 0]], "[[int]]", [[4, 5], [1, 2, 3]]),
                (ak.Array(["a", "né"]), "[[char]]", ["a", "né"]),
                (ak.Array([]), "[float]", []),
                (ak.Array(np.ones((2, 1))), "[[float]]", [[1.0], [1.0]]),
                (nested[0], "[int]", [1, 2, 3]),
                (ak.Array([{"x": 1, "y": [2.5]}, {"x": 3, "y": []}]), "[(int, [float])]",
                 [(1, [2.5]), (3, [])]),
                (ak.Array([{"x": [True]}]), "[[bool]]", [[True]]),
                (ak.mask(nested, [True, True, True]), "[[int]]", nested.to_list()),
                (ak.drop_none(ak.Array([1, None])), "[int]", [1]),
                (ak.zip([nested, nested]), "[[(int, int)]]",
                 [[(i, i) for i in row] for row in nested.to_list()])):
            with self.subTest(str(data.type)):
                self.check(data, kind, elements)
        self.assertEqual(rv.eval("r", r=ak.Array([{"x": 1, "y": "a"}])[0]), (1, "a"))
        self.refused(ak.Array([[1], None]), "element 1 is missing.*ak.drop_none")
        self.refused(ak.Array([{"a": [[1, None]]}]), r"data\.a\[\]\[\]: element 1 is missing")
        self.refused(ak.Array([1, "a"]), "a union")

    @needs("pyarrow")
    def test_pyarrow(self, pa):
        self.check(pa.array(ROWS), "[[float]]", ROWS)
        self.check(pa.array(ROWS)[1:], "[[float]]", ROWS[1:])
        self.check(pa.chunked_array([[1], [], [2, 3]]), "[int]", [1, 2, 3])
        self.check(pa.table({"a": [1, 2], "b": ["x", "y"]}),
                   "[(int, [char])]", [(1, "x"), (2, "y")])
        self.check(pa.array(["a", "b", "a"]).dictionary_encode(), "[[char]]", ["a", "b", "a"])
        self.refused(pa.array([1, None]), "data: .* null at position 1")
        self.refused(pa.array([1], pa.date32()), 'data: .*it is a date, which cannot be imported')
        self.refused(pa.chunked_array([[1], [2, None]]), "null at position 2, in batch 1")
        self.refused([pa.table({"a": [1]})], r"data\[0\] is a pyarrow.*, a table")

    @needs("pyarrow")
    def test_pyarrow_as_from_numpy(self, pa):
        """Types that NESL does not have, of which each element that is there fits."""
        halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
        made = np.asarray(rv.array(pa.array(halves)))
        np.testing.assert_array_equal(made, halves.astype(float))
        with rv.options(float=32):
            made = np.asarray(rv.array(pa.array(halves)))
        np.testing.assert_array_equal(made, halves.astype(np.float32))
        self.check(pa.array([0, 2**63 - 1], pa.uint64()), "[int]", [0, 2**63 - 1])
        self.check(pa.array([[5], []], pa.list_(pa.uint64())), "[[int]]", [[5], []])
        self.refused(pa.array([1, 2**64 - 1], pa.uint64()), "18446744073709551615 at position 1")
        self.check(pa.array([], pa.null()), "[float]", [])
        self.check(pa.array([[[]], []]), "[[[float]]]", [[[]], []])
        self.refused(pa.array([[], [None]]), "null at position 0")

    @needs("polars")
    def test_polars(self, pl):
        self.check(pl.Series(ROWS), "[[float]]", ROWS)
        self.check(pl.Series([1.5], dtype=pl.Float32), "[float]", [1.5])
        self.check(pl.DataFrame({"a": [1, 2], "b": [[True], []]}), "[(int, [bool])]",
                   [(1, [True]), (2, [])])
        texts = ["a", "a text that is longer than a view", "né"] * 2
        for part in (slice(None), slice(1, 4), slice(0, 0)):
            self.check(pl.Series(texts)[part], "[[char]]", texts[part])
        self.check(pl.DataFrame({"a": [1, 2], "b": [["x"], []]}), "[(int, [[char]])]",
                   [(1, ["x"]), (2, [])])
        self.check(pl.Series(texts, dtype=pl.Categorical), "[[char]]", texts)
        self.refused(pl.Series([1, None]), "null at position 1")
        self.refused(pl.Series(["a", None]), "null at position 1")
        self.refused([pl.DataFrame({"a": [1]})], r"data\[0\] is a polars.*, a table")
        with self.assertRaises(pl.exceptions.PolarsError):
            pl.DataFrame(rv.array([1.5]))

    @needs("pandas")
    def test_pandas(self, pd):
        self.check(pd.Series([1, 2]), "[int]", [1, 2])
        self.check(pd.Index([0.5]), "[float]", [0.5])
        self.assertTrue(np.isnan(rv.array(pd.Series([1.0, np.nan]))[1]))

    @needs("pandas")
    def test_pandas_by_arrow(self, pd):
        needs("pyarrow")(lambda *_: None)(self)
        self.check(pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
                   "[(int, [char])]", [(1, "x"), (2, "y")])

    @needs("pandas")
    def test_pandas_index(self, pd):
        needs("pyarrow")(lambda *_: None)(self)
        frame = pd.DataFrame({"n": [3, 1, 2], "x": [0.5, 1.5, 2.5]})
        rows = [(3, 0.5), (1, 1.5), (2, 2.5)]
        self.check(frame.sort_values("n"), "[(int, float)]", sorted(rows))
        self.check(frame[frame.n != 1], "[(int, float)]", [rows[0], rows[2]])
        self.check(frame.set_index(frame.index.astype("uint8")), "[(int, float)]", rows)
        for table in (frame.set_index("n"), frame.set_index(pd.Index(["a", "b", "c"])),
                      frame.set_index(["n", "x"], drop=False), frame.rename_axis("n"),
                      frame.groupby("n").sum(), frame.set_index(pd.Index([0.5, 1.5, 2.5]))):
            self.refused(table, r"an index .*reset_index\(\).*reset_index\(drop=True\)")

    @needs("pandas")
    def test_pandas_within_lists(self, pd):
        frame = pd.DataFrame({"n": [3, 1, 3], "x": [0.5, 1.5, 2.5]})
        groups = frame.groupby("n")
        self.refused([frame], r"data\[0\] is a pandas.*, a table: use ravel.array")
        self.refused([[frame.x], [frame]], r"data\[1\]\[0\] is a")
        self.refused(groups, r"data\[0\]\[1\] is a pandas.*, a table")
        self.check([each.x for _, each in groups], "[[float]]", [[1.5], [0.5, 2.5]])
        needs("pyarrow")(lambda *_: None)(self)
        self.check([rv.array(each) for _, each in groups], "[[(int, float)]]",
                   [[(1, 1.5)], [(3, 0.5), (3, 2.5)]])

    @needs("duckdb")
    def test_duckdb(self, duckdb):
        self.check(duckdb.sql("select 1 as a, [1.5, 2.5]::double[] as b"), "[(int, [float])]",
                   [(1, [1.5, 2.5])])

    @needs("nanoarrow")
    def test_nanoarrow(self, na):
        self.check(na.Array([1, 2], na.int64()), "[int]", [1, 2])


class Out(unittest.TestCase):
    def setUp(self):
        self.arrays = [rv.eval("x", x=data) for data in
                       (ROWS, RECORDS, [True, False], [1, 2], ["a", ""], [[["b"]], []])]
        self.arrays.append(self.arrays[0][1:])

    @needs("awkward")
    def test_awkward(self, ak):
        for made in self.arrays:
            self.assertEqual(ak.from_arrow(made).to_list(), made.to_list(), made.type)
            self.assertEqual(rv.array(made.to_awkward()).type, made.type)
        rows = self.arrays[0]
        self.assertTrue(np.shares_memory(ak.from_arrow(rows).layout.content.data,
                                         np.asarray(rows[0])))

    @needs("pyarrow")
    def test_awkward_takes_what_it_took(self, pa):
        needs("awkward")(lambda _, ak: self.assertEqual(
            ak.from_arrow(pa.array([[1], [2, 3]])).to_list(), [[1], [2, 3]]))(self)

    @needs("pyarrow")
    def test_pyarrow(self, pa):
        for made in self.arrays:
            want = [dict(zip("012", each)) if isinstance(each, tuple) else each
                    for each in made.to_list()]
            self.assertEqual(pa.array(made).to_pylist(), want)
            self.assertEqual(pa.chunked_array(made).to_pylist(), want)
            self.assertIsNone(pa.array(made).validate(full=True))
        self.assertEqual(pa.table(self.arrays[1]).column_names, ["0", "1", "2"])

    @needs("polars")
    def test_polars(self, pl):
        for made in self.arrays:
            want = [dict(zip("012", each)) if isinstance(each, tuple) else each
                    for each in made.to_list()]
            self.assertEqual(pl.Series(made).to_list(), want)
        self.assertEqual(pl.DataFrame(self.arrays[1]).shape, (2, 3))

    @needs("pandas")
    def test_pandas(self, pd):
        self.assertEqual(pd.Series(np.asarray(self.arrays[3])).tolist(), [1, 2])

    @needs("polars")
    def test_to_polars(self, pl):
        self.assertEqual(rv.array([[1], []]).to_polars().to_list(), [[1], []])
        self.assertEqual(rv.array([(1, "x")]).to_polars().rows(), [(1, "x")])
        self.assertIsInstance(rv.array([1]).to_polars(), pl.Series)

    @needs("pandas")
    def test_to_pandas(self, pd):
        needs("pyarrow")(lambda *_: None)(self)
        self.assertEqual(rv.array([1.5, 2.5]).to_pandas().to_list(), [1.5, 2.5])
        self.assertEqual(rv.array([(1, "x")]).to_pandas()["1"].to_list(), ["x"])
        self.assertIsInstance(rv.array(["a"]).to_pandas(), pd.Series)

    @needs("duckdb")
    def test_duckdb(self, duckdb):
        needs("pyarrow")(lambda *_: None)(self)
        made = self.arrays[1]  # pylint: disable=unused-variable
        self.assertEqual(duckdb.sql("select sum(\"0\") from made").fetchall(), [(3,)])

    @needs("nanoarrow")
    def test_nanoarrow(self, na):
        self.assertEqual(list(na.Array(self.arrays[0]).to_pylist()), ROWS)


if __name__ == "__main__":
    unittest.main()
