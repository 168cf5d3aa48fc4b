"""Streams and results that are larger than the limit of memory, in temporary files; chunks."""

import os
import resource
import unittest

import batches
import numpy as np
import ravel as rv
from batches import Batches, columns_of
from ravel import _transfer
from ravel._columns import Flat, Rows, Tuples, texts
from test_libraries import needs

PERMUTED = """
function sorted_sums(m) : [[float]] -> ([float], [[float]]) =
  let all = {let s = plus_scan(r); k = rank(s) in (sum(s), permute(r, k)) : r in m}
  in ({a : (a, b) in all}, {b : (a, b) in all});
function grown(v) : [int] -> [[int]] = {let a = plus_scan(index(x)); k = rank(a) in permute(a, k) : x in v};
"""
ROWS, ROW = 1000, 100


def rows(i):
    """Array i of a stream of [float]: 800 KB."""
    return Rows(np.arange(0, ROWS * ROW + 1, ROW), Flat(np.random.default_rng(i).random(ROWS * ROW) - 0.5))


def files():
    """What is open or mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return len(os.listdir("/proc/self/fd")) + sum("(deleted)" in line for line in maps)


class LargerThanMemory(unittest.TestCase):
    def test_in_and_out(self):
        """16 MB and what becomes of them, in 6 MB; the same bits as in memory."""
        module, stream = rv.define(PERMUTED), Batches(rows, 20)
        with rv.options(spool="no"):
            sums, sorted_rows = (np.asarray(each) for each in module.sorted_sums(stream))
            whole = np.asarray(rv.array(stream))
        with rv.options(memory="6M"):
            held = rv.array(stream)
            small_sums, small_rows = module.sorted_sums(held)
            arrays = list(columns_of(small_rows))
            self.assertGreaterEqual(len(arrays), 1)
            together = np.concatenate([np.asarray(each.content.data) for each in arrays])
            self.assertEqual(sum(len(each) for each in arrays), 20 * ROWS)
            self.assertTrue(np.array_equal(held, whole))
            self.assertTrue(np.array_equal(together, sorted_rows.ravel()))
            self.assertTrue(np.array_equal(small_sums, sums))
            self.assertTrue(np.array_equal(small_rows, sorted_rows))
            with rv.options(spool="no"), self.assertRaises(rv.OutOfMemoryError):
                rv.array(stream)
        self.assertEqual(stream.ended, 4)

    def test_kinds_of_columns(self):
        def mixed(i):
            words = texts([f"né{k}" if k % 3 else "" for k in range(i, i + 50)])
            nested = Rows(np.arange(0, 101, 2), Flat(np.arange(100) % (i + 2) == 0))
            return Tuples([Flat(np.arange(50, dtype=np.int16) - i), words, nested])
        with rv.options(spool="no"):
            wanted = rv.array(Batches(mixed, 7)).to_list()
        for width in (64, 32):
            with rv.options(spool=1, int=width, float=width):
                held = rv.array(Batches(mixed, 7))
                self.assertEqual(held.type, "[(int, [char], [bool])]")
                self.assertEqual(held.to_list(), wanted)
                again = rv.array(held)
                self.assertEqual(again.to_list(), wanted)
                self.assertEqual(rv.eval("{#w : (n, w, b) in held}", held=held).to_list(),
                                 [len(word.encode()) for _, word, _ in wanted])

    def test_results_that_nobody_foresees(self):
        module = rv.define(PERMUTED)
        with rv.options(memory="16M"):
            grown = module.grown(np.full(4000, 1000))
            self.assertEqual((len(grown), grown[3999][999]), (4000, 498501))
            with rv.options(spool=False), self.assertRaises(rv.OutOfMemoryError):
                module.grown(np.full(4000, 1000))

    def test_nothing_is_left(self):
        with rv.options(spool="100K"):
            rv.eval("1")
            before, kept = files(), batches.kept()
            broken = Batches(rows, 9, fail_at=5)
            with self.assertRaisesRegex(rv.DataError, "producer"):
                rv.array(broken)
            self.assertEqual((broken.given, broken.ended), (5, 1))
            held = rv.array(Batches(rows, 3))
            self.assertEqual(batches.kept(), kept)
            self.assertGreater(files(), before)
            iterator = columns_of(held)
            column = next(iterator)
            del held, iterator
            self.assertEqual(float(column.content.data[0]), float(rows(0).content.data[0]))
            del column
            rv.eval("1")
            self.assertEqual(files(), before)

    def test_full_disk(self):
        """Python ignores the signal of that limit; the library needs nobody to do that."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        with rv.options(memory="6M"):
            rv.eval("1")
            resource.setrlimit(resource.RLIMIT_FSIZE, (4 << 20, hard))
            try:
                with self.assertRaisesRegex(rv.OutOfMemoryError, "stream does not fit in memory.*temporary file"):
                    rv.array(Batches(rows, 20))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            self.assertEqual(len(rv.array(Batches(rows, 20))), 20 * ROWS)


class Parts:  # pylint: disable=too-few-public-methods
    """An array as a stream of arrays of 7 rows."""

    def __init__(self, array):
        self.array = array

    def __arrow_c_stream__(self, requested_schema=None):
        return _transfer.value_stream_capsule(self.array._value, 7)


class SeveralArrays(unittest.TestCase):
    """Slices of all kinds of columns, as other libraries read them."""

    def setUp(self):
        module = rv.define("function parts(v) : [int] -> [(int, [int], [char], bool)] = {let a = plus_scan(index(x));"
                           " k = rank(a) in (sum(k), permute(a, k), @x, x > 3) : x in v};")
        with rv.options(spool=1, chunks=3):
            self.array = module.parts([5, 0, 3, 7, 10] * 9)
            self.wanted = rv.array(Parts(self.array)).to_list()
        self.assertEqual(self.wanted[:2], [(10, [0, 0, 1, 3, 6], "5", True), (0, [], "0", False)])
        self.assertEqual((len(self.wanted), self.array.to_list()), (45, self.wanted))

    def test_ravel(self):
        again = [item for column in columns_of(Parts(self.array)) for item in column.to_list()]
        self.assertEqual(again, self.wanted)

    @needs("pyarrow")
    def test_pyarrow(self, pa):
        made = pa.chunked_array(Parts(self.array))
        made.validate(full=True)
        self.assertEqual(made.num_chunks, 7)
        self.assertEqual([tuple(row.values()) for row in made.to_pylist()], self.wanted)
        table = pa.RecordBatchReader.from_stream(Parts(self.array)).read_all()
        self.assertEqual([tuple(row.values()) for row in table.to_pylist()], self.wanted)

    @needs("polars")
    def test_polars(self, pl):
        self.assertEqual(pl.DataFrame(Parts(self.array)).rows(), self.wanted)

    @needs("duckdb")
    def test_duckdb(self, duckdb):
        import pyarrow as pa  # pylint: disable=import-outside-toplevel
        reader = pa.RecordBatchReader.from_stream(Parts(self.array))
        self.assertEqual(duckdb.from_arrow(reader).fetchall(), self.wanted)


class Chunks(unittest.TestCase):
    def test_results_do_not_depend_on_them(self):
        module, wanted = rv.define(PERMUTED), None
        for chunks in ("off", "auto", 1, 7):
            with rv.options(chunks=chunks):
                found = module.grown([5, 0, 3, 7] * 10).to_list()
                self.assertEqual(found, wanted or found)
                wanted = found

    def test_profile(self):
        module = rv.define(PERMUTED)
        counts = {}
        for chunks in ("off", 7):
            with rv.options(chunks=chunks, profile=True, threads=1):
                module.grown([5, 0, 3, 7] * 10)
                counts[chunks] = [each["chunks"] for each in rv.profile().get("chunks", [])]
        self.assertEqual(counts, {"off": [], 7: [6]})

    def test_refusals(self):
        for name, value in (("chunks", 0), ("chunks", "some"), ("chunks", -3), ("procedures", "some"), ("spool", "yes"), ("spool", "x")):
            with self.subTest(name=name, value=value), self.assertRaisesRegex(rv.MisuseError, name):
                with rv.options(**{name: value}):
                    pass


if __name__ == "__main__":
    unittest.main()
