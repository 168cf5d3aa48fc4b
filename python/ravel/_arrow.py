"""The structs of the Arrow C data interface, made from columns and read into columns.

https://arrow.apache.org/docs/format/CDataInterface.html has their meaning.
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int64, c_void_p
from typing import Any, List, Tuple

import numpy as np

from ravel._columns import Column, Flat, Rows, Tuples, Vector
from ravel._lib import address, lib


class ArrowSchema(Structure):
    """struct ArrowSchema"""


ArrowSchema._fields_ = [
    ("format", c_char_p), ("name", c_char_p), ("metadata", c_void_p), ("flags", c_int64),
    ("n_children", c_int64), ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", c_void_p), ("release", c_void_p), ("private_data", c_void_p)]


class ArrowArray(Structure):
    """struct ArrowArray"""


ArrowArray._fields_ = [
    ("length", c_int64), ("null_count", c_int64), ("offset", c_int64), ("n_buffers", c_int64),
    ("n_children", c_int64), ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))), ("dictionary", c_void_p),
    ("release", c_void_p), ("private_data", c_void_p)]

RELEASE = CFUNCTYPE(None, c_void_p)
FORMATS = {"|i1": "c", "<i2": "s", "<i4": "i", "<i8": "l", "|u1": "C", "<u2": "S", "<u4": "I",
           "<f4": "f", "<f8": "g", "|b1": "b"}
DTYPES = {format: np.dtype(name) for name, format in FORMATS.items()}


# ---- from columns ----

# Release functions are called wherever a consumer is done, even while an exception is pending:
# they are in C, and drop a reference of the `Kept` that private_data points to.
RELEASE_SCHEMA = address(lib.ravel_python_release_schema)
RELEASE_ARRAY = address(lib.ravel_python_release_array)
_KEPT = (*FORMATS.values(), "+s", "+L", "U", "Z")
FORMAT_TEXTS = {name: name.encode() for name in _KEPT}  # streams' schemas refer to them
ctypes.pythonapi.Py_IncRef(ctypes.py_object(FORMAT_TEXTS))  # even when the interpreter ends


class Kept:  # pylint: disable=too-few-public-methods
    """What a struct that is not yet released points to."""

    __slots__ = ("things",)

    def __init__(self, things: Any) -> None:
        self.things = things


def keep(owner: Any) -> int:
    """The address of an object that exists until its reference there is dropped."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owner))
    return id(owner)


def release(struct: Any) -> None:
    """Calls a struct's release function, if it has not been called."""
    if struct.release:
        RELEASE(struct.release)(ctypes.addressof(struct))


def _children(struct: Any, kind: Any, made: List[Any]) -> Any:
    """Hangs children on a struct; what is to be kept for that."""
    pointers = (POINTER(kind) * len(made))(*(ctypes.pointer(child) for child in made))
    struct.n_children, struct.children = len(made), pointers
    return pointers, made


def _is_utf8(rows: Rows, data: Vector) -> bool:
    """Whether each of the texts is UTF-8."""
    first, last = int(rows.offsets[0]), int(rows.offsets[-1])
    starts = rows.offsets[:-1][rows.offsets[:-1] < last]
    try:
        data[first:last].tobytes().decode()
    except UnicodeDecodeError:
        return False
    return not bool(np.any((data[starts] & 0xC0) == 0x80))


def _parts(column: Column) -> Tuple[str, List[Any], List[Column]]:
    """An array's format, its buffers (None: no nulls) and the columns of its children."""
    if isinstance(column, Tuples):
        return "+s", [None], column.fields
    if isinstance(column, Flat):
        packed = column.data.dtype == bool
        data = np.packbits(column.data, bitorder="little") if packed else column.data
        return FORMATS[column.data.dtype.str], [None, data], []
    offsets = np.ascontiguousarray(column.offsets, np.int64)
    if not column.text:
        return "+L", [None, offsets], [column.content]
    assert isinstance(column.content, Flat)
    data = np.ascontiguousarray(column.content.data)
    return "U" if _is_utf8(column, data) else "Z", [None, offsets, data], []


def _fill_schema(schema: ArrowSchema, column: Column, name: str) -> None:
    kind, _, below = _parts(column)
    said = name.encode()
    schema.format, schema.name = FORMAT_TEXTS[kind], said
    schema.flags, schema.release = 0, RELEASE_SCHEMA
    made = [ArrowSchema() for _ in below]
    for i, child in enumerate(below):
        _fill_schema(made[i], child, str(i) if kind == "+s" else "item")
    schema.private_data = keep(Kept((said, _children(schema, ArrowSchema, made))))


def _fill_array(array: ArrowArray, column: Column) -> None:
    _, parts, below = _parts(column)
    buffers = [None if part is None else np.ascontiguousarray(part) for part in parts]
    array.length, array.null_count, array.offset = len(column), 0, 0
    array.n_buffers, array.release = len(buffers), RELEASE_ARRAY
    addresses = [None if buffer is None else buffer.ctypes.data for buffer in buffers]
    pointers = (c_void_p * len(buffers))(*addresses)
    array.buffers = pointers
    made = [ArrowArray() for _ in below]
    for struct, child in zip(made, below):
        _fill_array(struct, child)
    array.private_data = keep(Kept((buffers, pointers, _children(array, ArrowArray, made))))


def schema_of(column: Column) -> ArrowSchema:
    """A schema for a column, without nulls. Whoever gets it releases it."""
    schema = ArrowSchema()
    _fill_schema(schema, column, "")
    return schema


def array_of(column: Column) -> ArrowArray:
    """An array on the memory of a column. Whoever gets it releases it."""
    array = ArrowArray()
    _fill_array(array, column)
    return array


# ---- into columns ----


class Exported:
    """What ravel_export gave; released with this object."""

    def __init__(self) -> None:
        self.schema, self.array = ArrowSchema(), ArrowArray()

    def __del__(self) -> None:
        release(self.array)
        release(self.schema)


class Memory:
    """Elements at an address, for NumPy, as long as their owner exists."""

    def __init__(self, owner: Any, start: int, length: int, dtype: Any) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "shape": (length,), "data": (start, True),
                                    "typestr": np.dtype(dtype).str}


def _buffer(owner: Exported, array: ArrowArray, i: int, length: int, dtype: Any) -> Vector:
    """Elements of a buffer, from the array's offset."""
    start = array.buffers[i]
    if length == 0 or not start:
        return np.empty(0, dtype)
    width = np.dtype(dtype).itemsize
    return np.asarray(Memory(owner, start + array.offset * width, length, dtype))


def _bits(owner: Exported, array: ArrowArray) -> Vector:
    if not array.length:
        return np.empty(0, bool)
    end = array.offset + array.length
    packed = np.asarray(Memory(owner, array.buffers[1], (end + 7) // 8, np.uint8))
    return np.unpackbits(packed, count=end, bitorder="little")[array.offset:].view(bool)


def columns_of(owner: Exported, schema: ArrowSchema, array: ArrowArray) -> Column:
    """The column that ravel_export gave as this array, in the same memory."""
    kind, length = schema.format.decode(), array.length
    if kind == "+s":
        fields = range(schema.n_children)
        return Tuples([columns_of(owner, schema.children[i].contents,
                                  array.children[i].contents) for i in fields])
    if kind == "b":
        return Flat(_bits(owner, array))
    if kind in DTYPES:
        return Flat(_buffer(owner, array, 1, length, DTYPES[kind]), kind == "C")
    offsets = _buffer(owner, array, 1, length + 1, np.int64)
    if not len(offsets):
        offsets = np.zeros(1, np.int64)
    if kind == "+L":
        return Rows(offsets, columns_of(owner, schema.children[0].contents,
                                        array.children[0].contents))
    text = Memory(owner, array.buffers[2] or 0, int(offsets[-1]), np.uint8)
    data = np.asarray(text) if offsets[-1] else np.empty(0, np.uint8)
    return Rows(offsets, Flat(data, True))
