"""Arrays of Arrow with views of texts, as Polars exports them, by a producer of our own."""

import unittest

import numpy as np
import ravel as rv
from ravel import _arrow, _transfer
from ravel._columns import Flat, texts


class Views:  # pylint: disable=too-few-public-methods
    """An array of views: of each (length, bytes within the view or (buffer, offset))."""

    def __init__(self, views, buffers):
        self.buffers = [np.frombuffer(each, np.uint8) for each in buffers]
        self.sizes = np.array([len(each) for each in buffers], np.int64)
        packed = b"".join(self.pack(*view) for view in views)
        self.views, self.count = np.frombuffer(packed, np.uint8), len(views)

    @staticmethod
    def pack(length, what):
        rest = what if isinstance(what, bytes) else \
            b"head" + np.array(what, np.int32).tobytes()
        return np.int32(length).tobytes() + rest.ljust(12, b"\0")

    def __arrow_c_array__(self, requested_schema=None):
        schema = _arrow.schema_of(texts(["a"]))
        self.format = b"vu"  # keeps it
        schema.format = self.format
        array = _arrow.array_of(texts([]))
        parts = [None, self.views, *self.buffers, self.sizes]
        self.pointers = (_arrow.c_void_p * len(parts))(
            *(None if part is None else part.ctypes.data for part in parts))
        array.length, array.n_buffers, array.buffers = self.count, len(parts), self.pointers
        return _transfer._capsule(schema), _transfer._capsule(array)


class Texts(unittest.TestCase):
    LONG = b"0123456789abcdef"

    def test_short_and_long(self):
        views = [(2, b"ab"), (0, b""), (12, b"twelve bytes"),
                  (16, (0, 0)), (13, (1, 2)), (14, (0, 2))]
        made = rv.array(Views(views, [self.LONG, b"..a longer text"]))
        self.assertEqual((made.type, made.to_list()),
                         ("[[char]]", ["ab", "", "twelve bytes", "0123456789abcdef",
                                       "a longer text", "23456789abcdef"]))
        self.assertEqual(rv.array(Views([], [])).to_list(), [])

    def test_refusals(self):
        for view in ((17, (0, 0)), (13, (0, 4)), (13, (1, 0)),
                     (13, (-1, 0)), (13, (0, -1)), (-1, b"")):
            with self.subTest(view), self.assertRaisesRegex(rv.DataError, "at position 1 has"):
                rv.array(Views([(1, b"a"), view], [self.LONG]))


class Columns(unittest.TestCase):
    def test_texts_are_utf8_each_by_itself(self):
        for data, kind in ((["né", ""], b"U"),
                           (["\udcc3", "\udca9"], b"Z"), (["\udcff"], b"Z")):
            schema = _arrow.schema_of(texts(data))
            self.assertEqual(schema.format, kind)
            _arrow.release(schema)

    def test_arrays_with_an_offset(self):
        for data in (np.arange(10), np.arange(10) % 3 == 0):
            owner = _arrow.Exported()
            owner.schema, owner.array = (make(Flat(data)) for make in
                                         (_arrow.schema_of, _arrow.array_of))
            owner.array.offset, owner.array.length = 3, 4
            found = _arrow.columns_of(owner, owner.schema, owner.array)
            self.assertEqual(found.to_list(), data[3:7].tolist())


if __name__ == "__main__":
    unittest.main()
