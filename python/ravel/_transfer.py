"""Columns and Arrow's objects into values of a context, and values into columns and capsules.

Capsules: https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html
"""

from __future__ import annotations

import ctypes
import re
from ctypes import PYFUNCTYPE, Structure, byref, c_char_p, c_int, c_void_p
from typing import Any, Tuple

from ravel._arrow import (ArrowArray, ArrowSchema, Exported, array_of, columns_of, keep, release,
                          schema_of)
from ravel._columns import Column
from ravel._context import Context
from ravel._errors import DataError
from ravel._lib import address, lib
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

INTERRUPTED = re.compile(r"^KeyboardInterrupt\b", re.MULTILINE)  # the end of a traceback

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
    try:
        return context.run(lambda: context.make(lib.ravel_import_stream, pointer))
    except DataError as error:
        # A producer whose elements a generator makes has only its text left of a Ctrl-C.
        if INTERRUPTED.search(str(error)):
            raise KeyboardInterrupt from error
        raise


# ---- capsules of ours ----

class ArrowArrayStream(Structure):
    """struct ArrowArrayStream"""
    _fields_ = [("get_schema", c_void_p), ("get_next", c_void_p), ("get_last_error", c_void_p),
                ("release", c_void_p), ("private_data", c_void_p)]


def _stream(column: Column) -> ArrowArrayStream:
    """Of one array."""
    made, schema, array = ArrowArrayStream(), schema_of(column), array_of(column)
    if not lib.ravel_python_stream(byref(schema), byref(array), byref(made)):
        release(schema)
        release(array)
        raise MemoryError("no memory for a stream of Arrow")
    return made


def _exported_stream(value: Value, rows: int) -> ArrowArrayStream:
    """The elements of a sequence where they are, in arrays of so many rows."""
    made, context = ArrowArrayStream(), value.context
    context.run(lambda: context.do(lib.ravel_export_stream, value.pointer, rows, byref(made)))
    return made


_new_capsule = PYFUNCTYPE(ctypes.py_object, c_void_p, c_void_p, c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
_set_context = PYFUNCTYPE(c_int, ctypes.py_object, c_void_p)(
    ("PyCapsule_SetContext", ctypes.pythonapi))
_NAMES = {ArrowSchema: ctypes.c_char_p(b"arrow_schema"),
          ArrowArray: ctypes.c_char_p(b"arrow_array"),
          ArrowArrayStream: ctypes.c_char_p(b"arrow_array_stream")}
keep(_NAMES)  # capsules may be left when the interpreter ends


def new_capsule(content: int, name: c_char_p, owner: Any = None) -> Any:
    """A capsule of this name, which must outlive it; it releases its content unless a consumer
    took that, and keeps the content's owner."""
    made = _new_capsule(content, ctypes.cast(name, c_void_p),
                        address(lib.ravel_python_end_capsule))
    if owner is not None:
        _set_context(made, keep(owner))
    return made


def _capsule(struct: Any) -> Any:
    """A capsule that holds a struct."""
    return new_capsule(ctypes.addressof(struct), _NAMES[type(struct)], struct)


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
