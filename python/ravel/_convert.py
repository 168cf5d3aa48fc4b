"""Whatever Python has, as values of a context; and results as what Python has."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ravel import _context, _errors
from ravel._awkward import awkward_column, is_awkward, record_parts
from ravel._columns import Column, Flat, Vector, decoded, encoded
from ravel._context import Context, Value
from ravel._infer import column_of
from ravel._lib import lib
from ravel._numpy import numpy_column
from ravel._transfer import value_of, value_of_array, value_of_stream
from ravel._types import Type

# enum ravel_element
ELEMENTS = {"|b1": 0, "|i1": 1, "<i2": 2, "<i4": 3, "<i8": 4, "|u1": 5, "<u2": 6, "<u4": 7,
            "<f4": 8, "<f8": 9}
CHAR8 = 10
SCALARS = (bool, int, float, np.bool_, np.integer, np.floating)


def vector(context: Context, data: Vector, element: Optional[int] = None) -> Value:
    """A flat sequence, copied."""
    kind = ELEMENTS[data.dtype.str] if element is None else element
    data = np.ascontiguousarray(data)
    return context.run(lambda: context.make(lib.ravel_vector, kind, data.ctypes.data, len(data)))


def value(context: Context, data: Any, name: str, wanted: Optional[Type] = None) -> Value:
    """A value of the context. `name` is how messages call the data.

    Its type is that of the data. `wanted` says what lists that leave it open are.
    """
    if hasattr(data, "_ravel_value"):
        found: Value = data._ravel_value(context)
        return found
    if isinstance(data, SCALARS):
        return _scalar(context, data, name, wanted)
    if isinstance(data, (str, bytes)):
        return vector(context, np.frombuffer(encoded(data), np.uint8), CHAR8)
    if isinstance(data, tuple):
        return _tuple(context, data, name, wanted)
    if isinstance(data, np.ndarray) and data.ndim == 0:
        return value(context, data.item(), name, wanted)
    parts = record_parts(data) if is_awkward(data) else None
    return _tuple(context, parts, name, wanted) if parts else _sequence(context, data, name, wanted)


def _scalar(context: Context, data: Any, name: str, wanted: Optional[Type]) -> Value:
    if isinstance(data, (bool, np.bool_)):
        return context.run(lambda: context.make(lib.ravel_bool, bool(data)))
    if isinstance(data, (int, np.integer)) and not (wanted and wanted.kind == "float"):
        if not -2**63 <= data < 2**63:
            raise _errors.DataError(f"{name} is {data}, which has more than 64 bits")
        return context.run(lambda: context.make(lib.ravel_int, int(data)))
    return context.run(lambda: context.make(lib.ravel_float, float(data)))


def _tuple(context: Context, data: Tuple[Any, ...], name: str, wanted: Optional[Type]) -> Value:
    if len(data) < 2:
        raise _errors.DataError(f"{name} is a tuple of {len(data)}: those of NESL have two"
                                " components or more")
    types = list(wanted.parts) if wanted and len(wanted.parts) == len(data) else []
    parts = [value(context, each, f"{name}[{i}]", types[i] if types else None)
             for i, each in enumerate(data)]
    return context.run(lambda: context.make(lib.ravel_tuple, _context.pointers(parts),
                                            len(parts)))


def _sequence(context: Context, data: Any, name: str, wanted: Optional[Type]) -> Value:
    """Lists, arrays and tables, by the first way that their producer offers."""
    if isinstance(data, list):
        return _of_column(context, _list(data, name, wanted))
    if isinstance(data, np.ndarray) or _is_numbers(data):
        return _of_column(context, numpy_column(np.asarray(data), name))
    if is_awkward(data):
        return _of_column(context, awkward_column(data, name))
    for method, convert in PRODUCERS:
        if hasattr(data, method):
            try:
                return convert(context, data, name)
            except ImportError:  # what is needed for that is not installed
                continue
            except _errors.DataError as error:
                raise _errors.DataError(f"{name}: {error}", error.diagnostics) from None
    if isinstance(data, Sequence) or hasattr(data, "__len__") and hasattr(data, "__iter__"):
        return _of_column(context, _list(_listed(data, name), name, wanted))
    raise _errors.DataError(f"{name} is a {type(data).__module__}.{type(data).__name__}, which"
                            " NESL cannot take: use a number, a list, or an array")


def _is_numbers(data: Any) -> bool:
    """Whether it is numbers of NumPy within something else, such as a pandas.Series."""
    dtype = getattr(data, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf" and hasattr(data, "__array__")


def _listed(data: Any, name: str) -> List[Any]:
    if isinstance(data, (dict, set, frozenset)):
        raise _errors.DataError(f"{name} is a {type(data).__name__}: use a list, or a list of"
                                " tuples such as list(d.items())")
    return list(data)


def _list(data: List[Any], name: str, wanted: Optional[Type]) -> Column:
    inside = wanted.parts[0] if wanted and wanted.kind == "sequence" else None
    return column_of(data, lambda i: f"{name}[{i}]", inside)


def _of_column(context: Context, column: Column) -> Value:
    if isinstance(column, Flat):
        return vector(context, column.data, CHAR8 if column.chars else None)
    return value_of(context, column)


def _from_dlpack(context: Context, data: Any, name: str) -> Value:
    return _of_column(context, numpy_column(np.from_dlpack(data), name))


def _from_array(context: Context, data: Any, name: str) -> Value:
    return _of_column(context, numpy_column(np.asarray(data), name))


PRODUCERS: Tuple[Tuple[str, Callable[[Context, Any, str], Value]], ...] = (
    ("__arrow_c_stream__", lambda context, data, _: value_of_stream(context, data)),
    ("__arrow_c_array__", lambda context, data, _: value_of_array(context, data)),
    ("__dlpack__", _from_dlpack),
    ("__array__", _from_array),
)

# ---- out ----


def python(result: Value) -> Any:
    """A scalar of Python, or a str; NotImplemented of another value."""
    if result.type == "int":
        return _context.get(result, lib.ravel_get_int, ctypes.c_int64)
    if result.type == "float":
        return _context.get(result, lib.ravel_get_float, ctypes.c_double)
    if result.type == "bool":
        return _context.get(result, lib.ravel_get_bool, ctypes.c_bool)
    if result.type == "char":
        return chr(_context.get(result, lib.ravel_get_int, ctypes.c_int64))
    if result.type == "[char]":
        return text(result)
    return NotImplemented


def text(result: Value) -> str:
    """A sequence of characters."""
    count = _context.length(result)
    room = ctypes.create_string_buffer(count)
    context = result.context
    context.run(lambda: context.do(lib.ravel_copy, result.pointer, CHAR8, 0, count, room))
    return decoded(room.raw[:count])


