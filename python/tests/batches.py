"""Streams of Arrow of many arrays, by a producer and a consumer of our own."""

import ctypes
import gc
from ctypes import CFUNCTYPE, c_int, c_void_p

from ravel import _arrow, _transfer

NEXT = CFUNCTYPE(c_int, c_void_p, c_void_p)
SAY = CFUNCTYPE(c_void_p, c_void_p)


def move(struct, to):
    """Gives a struct to who asked for it at an address."""
    ctypes.memmove(to, ctypes.byref(struct), ctypes.sizeof(struct))


class Batches:  # pylint: disable=too-few-public-methods
    """A stream of the columns that `make(i)` gives, i from 0 to count - 1; it fails at `fail_at`."""

    def __init__(self, make, count, fail_at=None):
        self.make, self.count, self.fail_at = make, count, fail_at
        self.given = self.ended = 0
        self.functions = [NEXT(self.get_schema), NEXT(self.get_next), SAY(lambda _: 0),
                          _arrow.RELEASE(self.release)]

    def get_schema(self, _, out):
        move(_arrow.schema_of(self.make(0)), out)
        return 0

    def get_next(self, _, out):
        if self.given == self.fail_at:
            return 5
        more = self.given < self.count
        move(_arrow.array_of(self.make(self.given)) if more else _arrow.ArrowArray(), out)
        self.given += more
        return 0

    def release(self, stream):
        _transfer.ArrowArrayStream.from_address(stream).release = None
        self.ended += 1

    def __arrow_c_stream__(self, requested_schema=None):
        self.given = 0
        addresses = [_arrow.address(each) for each in self.functions]
        return _transfer._capsule(_transfer.ArrowArrayStream(*addresses, 0))


def kept():
    """How many of our structs have not been released."""
    return sum(isinstance(each, _arrow.Kept) for each in gc.get_objects())


def columns_of(producer):
    """The arrays of a stream, one after the other, as columns."""
    capsule = producer.__arrow_c_stream__()
    pointer = _transfer.pointer_in(capsule, b"arrow_array_stream")
    stream = _transfer.ArrowArrayStream.from_address(pointer)
    while True:
        owner = _arrow.Exported()
        assert NEXT(stream.get_schema)(pointer, ctypes.addressof(owner.schema)) == 0
        assert NEXT(stream.get_next)(pointer, ctypes.addressof(owner.array)) == 0
        if not owner.array.release:
            return
        yield _arrow.columns_of(owner, owner.schema, owner.array)
