"""Columns and Arrow's objects into values of a context, and values into columns and capsules.

Capsules: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, PYFUNCTYPE, Structure, byref, c_char_p, c_int, c_void_p
from typing import Any, Dict, Tuple

from ravel._arrow import (RELEASE, ArrowArray, ArrowSchema, Exported, address, array_of,
                          columns_of, immortal, release, schema_of)
from ravel._columns import Column
from ravel._context import Context
from ravel._lib import lib
from ravel._values import Value

# ---- values and columns ----


def value_of(context: Context, column: Column) -> Value:
    """A sequence with the elements of a column."""
    schema, array = schema_of(column), array_of(column)
    try:
        return context.run(lambda: context.make(lib.ravel_import, byref(schema), byref(array)))
    finally:
        release(schema)
        release(array)


def columns(value: Value) -> Column:
    """The elements of a sequence."""
    exported = Exported()
    context = value.context
    context.run(lambda: context.do(lib.ravel_export, value.pointer, byref(exported.schema),
                                   byref(exported.array)))
    return columns_of(exported, exported.schema, exported.array)


# ---- capsules of others ----

pointer_in = ctypes.pythonapi.PyCapsule_GetPointer
pointer_in.restype, pointer_in.argtypes = c_void_p, [ctypes.py_object, c_char_p]


def value_of_array(context: Context, producer: Any) -> Value:
    """Of an object with `__arrow_c_array__`."""
    schema, array = producer.__arrow_c_array__()
    pointers = pointer_in(schema, b"arrow_schema"), pointer_in(array, b"arrow_array")
    return context.run(lambda: context.make(lib.ravel_import, *pointers))


def value_of_stream(context: Context, producer: Any) -> Value:
    """Of an object with `__arrow_c_stream__`."""
    stream = producer.__arrow_c_stream__()
    pointer = pointer_in(stream, b"arrow_array_stream")
    return context.run(lambda: context.make(lib.ravel_import_stream, pointer))


# ---- capsules of ours ----

GET = CFUNCTYPE(c_int, c_void_p, c_void_p)
SAY = CFUNCTYPE(c_void_p, c_void_p)
EINVAL = 22


class ArrowArrayStream(Structure):
    """struct ArrowArrayStream"""
    _fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
                ("release", c_void_p), ("private_data", c_void_p)]


# by private_data: a column, and whether it is still to come
_streams: Dict[int, list[Any]] = {}
_in_capsules: Dict[int, Any] = {}  # the structs that capsules hold, by their addresses


def _move(struct: Any, to: int) -> None:
    ctypes.memmove(to, byref(struct), ctypes.sizeof(struct))


def _stream_of(pointer: int) -> list[Any]:
    return _streams[ArrowArrayStream.from_address(pointer).private_data]


def _get_schema(stream: int, out: int) -> int:
    try:
        _move(schema_of(_stream_of(stream)[0]), out)
        return 0
    except Exception:  # pylint: disable=broad-except
        return EINVAL


def _get_next(stream: int, out: int) -> int:
    try:
        state = _stream_of(stream)
        _move(array_of(state[0]) if state[1] else ArrowArray(), out)
        state[1] = False
        return 0
    except Exception:  # pylint: disable=broad-except
        return EINVAL


def _say(_: int) -> int:
    return 0


def _release_stream(pointer: int) -> None:
    stream = ArrowArrayStream.from_address(pointer)
    _streams.pop(stream.private_data, None)
    stream.release = None


_callbacks = [immortal(kind(function)) for kind, function in
              ((GET, _get_schema), (GET, _get_next), (SAY, _say), (RELEASE, _release_stream))]
STREAM_FUNCTIONS = [address(callback) for callback in _callbacks]


def _stream(column: Column) -> ArrowArrayStream:
    state = [column, True]
    _streams[id(state)] = state
    return ArrowArrayStream(*STREAM_FUNCTIONS, id(state))


def _exported_stream(value: Value, rows: int) -> ArrowArrayStream:
    """The elements of a sequence where they are, in arrays of so many rows."""
    made, context = ArrowArrayStream(), value.context
    context.run(lambda: context.do(lib.ravel_export_stream, value.pointer, rows, byref(made)))
    return made


def _end_capsule(capsule: int) -> None:
    struct = _in_capsules.pop(_content(capsule, _name(capsule)))
    release(struct)


_END = immortal(PYFUNCTYPE(None, c_void_p)(_end_capsule))
_content = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_name = PYFUNCTYPE(c_char_p, c_void_p)(("PyCapsule_GetName", ctypes.pythonapi))
new_capsule = PYFUNCTYPE(ctypes.py_object, c_void_p, c_void_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_NAMES = {ArrowSchema: ctypes.c_char_p(b"arrow_schema"),
          ArrowArray: ctypes.c_char_p(b"arrow_array"),
          ArrowArrayStream: ctypes.c_char_p(b"arrow_array_stream")}


def _capsule(struct: Any) -> Any:
    """A capsule that holds a struct, and releases it unless a consumer did."""
    pointer = ctypes.addressof(struct)
    _in_capsules[pointer] = struct
    name = ctypes.cast(_NAMES[type(struct)], c_void_p)
    return new_capsule(pointer, name, address(_END))


def array_capsules(column: Column) -> Tuple[Any, Any]:
    """For `__arrow_c_array__`."""
    return _capsule(schema_of(column)), _capsule(array_of(column))


def schema_capsule(column: Column) -> Any:
    """For `__arrow_c_schema__`."""
    return _capsule(schema_of(column))


def stream_capsule(column: Column) -> Any:
    """For `__arrow_c_stream__`: a stream of one array."""
    return _capsule(_stream(column))


def value_stream_capsule(value: Value, rows: int = 0) -> Any:
    """For `__arrow_c_stream__`, of what is not in Python's memory; without a number of rows
    several arrays only where elements are in files."""
    return _capsule(_exported_stream(value, rows))
