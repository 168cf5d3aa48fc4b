#!/usr/bin/env python3
"""Arrays of pyarrow into libravel and back: all types, slices, chunks, dictionaries; who frees
what, and when.

    libravel/tests/with-pyarrow.py [--library build/lib/libravel.so]

Where pyarrow is missing it says so in a line that begins with SKIPPED.
"""

import argparse
import ctypes
import gc
import sys
from ctypes import byref, c_char_p, c_int, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional

try:
    import pyarrow as pa
except ImportError:
    print("SKIPPED (optional) arrays of pyarrow: there is no pyarrow")
    sys.exit(0)

ROOT = Path(__file__).resolve().parent.parent.parent
MANY = 100_000


class Statistics(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_double), ("compile_seconds", ctypes.c_double),
                ("live_bytes", c_uint64), ("peak_bytes", c_uint64)]


class Struct:
    """Memory for a struct of Arrow, larger than any of them."""

    def __init__(self) -> None:
        self.memory = (c_uint64 * 16)()
        self.address = ctypes.addressof(self.memory)


class Context:
    """A context of the library, with options by name."""

    def __init__(self, library: ctypes.CDLL, **options: str) -> None:
        self.lib = library
        for name in ("ravel_options_new", "ravel_message", "ravel_type"):
            getattr(library, name).restype = c_void_p
        library.ravel_message.restype = library.ravel_type.restype = c_char_p
        given = c_void_p(library.ravel_options_new())
        for name, value in {"backend": "cpu", **options}.items():
            assert library.ravel_options_set(given, name.encode(), value.encode()) == 0
        self.context = c_void_p()
        assert library.ravel_context_new(given, byref(self.context)) == 0
        library.ravel_options_free(given)

    def check(self, code: int) -> None:
        if code:
            raise ValueError(self.lib.ravel_message(self.context).decode().strip())

    def take(self, data: Any) -> c_void_p:
        """An array, a table or a chunked array as a value."""
        value = c_void_p()
        if isinstance(data, pa.Array):
            array, schema = Struct(), Struct()
            data._export_to_c(array.address, schema.address)
            try:
                self.check(self.lib.ravel_import(self.context, c_void_p(schema.address),
                                                 c_void_p(array.address), byref(value)))
            finally:
                release_schema(schema)
            return value
        stream = Struct()
        field = pa.field("x", data.type)
        batches = [pa.record_batch([chunk], schema=pa.schema([field])) for chunk in data.chunks]
        reader = pa.RecordBatchReader.from_batches(pa.schema([field]), batches)
        reader._export_to_c(stream.address)
        del reader, batches
        self.check(self.lib.ravel_import_stream(self.context, c_void_p(stream.address),
                                                byref(value)))
        return value

    def give(self, value: c_void_p) -> pa.Array:
        array, schema = Struct(), Struct()
        self.check(self.lib.ravel_export(self.context, value, c_void_p(schema.address),
                                         c_void_p(array.address)))
        return pa.Array._import_from_c(array.address, schema.address)

    def call(self, text: str, value: c_void_p) -> c_void_p:
        function, result = c_void_p(), c_void_p()
        self.check(self.lib.ravel_expression(self.context, text.encode(), b"xs",
                                             self.lib.ravel_type(value), byref(function)))
        self.check(self.lib.ravel_call(self.context, function, byref(value), 1, byref(result)))
        return result

    def release(self, value: c_void_p) -> None:
        self.lib.ravel_release(value)

    def live(self) -> int:
        statistics = Statistics()
        self.lib.ravel_get_statistics(self.context, byref(statistics))
        return int(statistics.live_bytes)

    def free(self) -> None:
        self.lib.ravel_context_free(self.context)


def release_schema(schema: Struct) -> None:
    """Calls its release function, the eighth word."""
    ctypes.CFUNCTYPE(None, c_void_p)(schema.memory[7])(schema.address)


def allocated() -> int:
    gc.collect()
    return int(pa.total_allocated_bytes())


# ---- there and back ----

def arrays() -> Dict[str, pa.Array]:
    """An array of each type."""
    ints = [0, 1, -2, 100, 7, -128, 127]
    naturals = [abs(i) for i in ints]
    found: Dict[str, pa.Array] = {}
    for bits in (8, 16, 32, 64):
        found[f"int{bits}"] = pa.array(ints, f"int{bits}")
    for bits in (8, 16, 32):
        found[f"uint{bits}"] = pa.array(naturals, f"uint{bits}")
    for name in ("float32", "float64"):
        found[name] = pa.array([0.5, -0.0, 1e30, float("inf"), 3.0], name)
    found["bool"] = pa.array([True, False, True] * 9)
    texts = ["", "a", "längere", "x" * 40, "€"]
    for kind in (pa.string(), pa.large_string()):
        found[str(kind)] = pa.array(texts, kind)
    for kind in (pa.binary(), pa.large_binary()):
        found[str(kind)] = pa.array([t.encode() + b"\xff" for t in texts], kind)
    rows: List[List[float]] = [[1.5], [], [2.5, 3.5], [-1.0] * 9]
    found["list"] = pa.array(rows, pa.list_(pa.float64()))
    found["large list"] = pa.array(rows, pa.large_list(pa.float64()))
    found["list of lists"] = pa.array([rows, [], rows[2:]], pa.list_(pa.list_(pa.float64())))
    found["fixed list"] = pa.array([[1, 2, 3], [4, 5, 6]], pa.list_(pa.int64(), 3))
    found["struct"] = pa.array([{"a": i, "b": i / 2, "c": [i] * i} for i in range(5)])
    found["dictionary"] = pa.array(texts * 3).dictionary_encode()
    found["dictionary of ints"] = pa.array([5, 7, 5, 5]).dictionary_encode()
    found["large"] = pa.array([float(i) for i in range(MANY)])
    found["large ints"] = pa.array(range(MANY), "int32")
    found["large lists"] = pa.array([[i] * (i % 3) for i in range(MANY)])
    found["large dictionary"] = pa.array([f"{i % 7}" for i in range(MANY)]).dictionary_encode()
    return found


def plain(item: Any) -> Any:
    """Fields by number, bytes and texts alike: as exports have them."""
    if isinstance(item, dict):
        return [plain(part) for part in item.values()]
    if isinstance(item, list):
        return [plain(part) for part in item]
    return item.encode() if isinstance(item, str) else item


def trip(c: Context, name: str, data: Any, expected: Optional[List[Any]] = None) -> None:
    value = c.take(data)
    back = c.give(value)
    want = plain(data.to_pylist()) if expected is None else expected
    assert plain(back.to_pylist()) == want, name
    back.validate(full=True)
    c.release(value)


def trips(c: Context) -> int:
    count = 0
    for name, data in arrays().items():
        n = len(data)
        trip(c, name, data)
        trip(c, f"{name}, a slice", data.slice(1, n - 2))
        trip(c, f"{name}, none", data.slice(n, 0))
        # A stream is of records: of one field that is the field.
        trip(c, f"{name}, chunks", pa.chunked_array([data.slice(0, 2), data, data.slice(2, 0)]))
        trip(c, f"{name}, one chunk", pa.chunked_array([data]))
        count += 5
    assert c.live() == 0, c.live()
    return count


def refusals(c: Context) -> None:
    for data, text in ((pa.array([1, None]), "a null at position 1"),
                       (pa.array([1], "uint64"), "\"L\""),
                       (pa.array([1], pa.date32()), "\"tdD\"")):
        before = allocated()
        try:
            c.take(data)
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(text)
        assert allocated() == before


# ---- who frees what, and when ----

def borrowing(c: Context) -> None:
    before = allocated()
    data = pa.array([float(i) for i in range(MANY)])
    each = data.nbytes
    value = c.take(data)
    assert c.live() < 1000, "it was copied"
    del data
    assert allocated() - before >= each, "it is gone, although it is read"
    result = c.call("{-x : x in xs}", value)
    c.release(value)
    assert allocated() == before, "it is kept, although nobody reads it"
    back = c.give(result)
    assert c.live() >= each
    c.release(result)
    assert c.live() < 1000, "it counts, although it has left"
    assert back[MANY - 1].as_py() == 1.0 - MANY


def outliving(library: ctypes.CDLL) -> None:
    before = allocated()
    c = Context(library)
    value = c.take(pa.array([float(i) for i in range(MANY)]))
    back = c.give(c.call("{x + 1.0 : x in xs}", value))
    c.free()
    assert allocated() == before, "a context that is freed keeps an array"
    assert back[0].as_py() == 1.0 and back[MANY - 1].as_py() == MANY


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--library", default=str(ROOT / "build" / "lib" / "libravel.so"))
    library = ctypes.CDLL(parser.parse_args().library)
    library.ravel_options_set.restype = c_int
    wide, narrow = Context(library), Context(library, int="32", float="32")
    count = trips(wide)
    for name in ("int32", "float32", "list", "string", "struct", "large ints", "large lists"):
        trip(narrow, f"{name}, 32 bits", arrays()[name])
    refusals(wide)
    borrowing(wide)
    outliving(library)
    wide.free()
    narrow.free()
    print(f"{count + 7} arrays of pyarrow {pa.__version__} returned")


if __name__ == "__main__":
    main()
