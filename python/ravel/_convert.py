"""Whatever Python has, as values of a context; and results as what Python has."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Callable, List, Optional, Tuple

import numpy as np

from ravel import _dlpack, _errors, _values
from ravel._awkward import awkward_column, is_awkward, record_parts
from ravel._columns import CHARACTERS, Column, Vector, decoded, encoded
from ravel._context import Context
from ravel._frames import is_frame, without_index
from ravel._infer import UNORDERED, column_of, tuple_of, unknown, unordered, word_of
from ravel._lib import lib
from ravel._numpy import is_fixed, numpy_column, plain, unmasked
from ravel._transfer import value_of, value_of_array, value_of_stream
from ravel._types import Type
from ravel._values import Value

# enum ravel_element
ELEMENTS = {"|b1": 0, "|i1": 1, "<i2": 2, "<i4": 3, "<i8": 4, "|u1": 5, "<u2": 6, "<u4": 7,
            "<f4": 8, "<f8": 9}
CHAR8 = 10
MOST_LEVELS = 250  # of libravel/types.c
SCALARS = (bool, int, float, np.bool_, np.integer, np.floating)


class Inputs:
    """Data of Python as values of a context.

    Memory that its owner may change is copied, unless it is held for one call only: then it is
    borrowed, and `made` has the values to be released when the call has ended, the last one
    first.
    """

    def __init__(self, context: Context, held: bool) -> None:
        self.context, self.held = context, held
        self.made: List[Value] = []

    def value(self, data: Any, name: str, wanted: Optional[Type] = None) -> Value:
        """A value with the type of the data. `name` is how messages call the data.

        `wanted` says what lists are that leave it open.
        """
        if hasattr(data, "_ravel_value"):
            found: Value = data._ravel_value(self.context)
            return found
        if isinstance(data, SCALARS):
            return self._scalar(data, name, wanted)
        if isinstance(data, (str, bytes)):
            return self._vector(np.frombuffer(encoded(data), np.uint8), CHAR8)
        if isinstance(data, np.ma.MaskedArray):
            return self.value(unmasked(data, name), name, wanted)
        if _is_scalar(data):
            return self.value(data.item(), name, wanted)
        parts = record_parts(data) if is_awkward(data) else data
        if isinstance(parts, tuple):
            return self._tuple(parts, name, wanted)
        return self._sequence(data, name, wanted)

    def _make(self, function: Any, *arguments: Any) -> Value:
        made = self.context.run(lambda: self.context.make(function, *arguments))
        self.made.append(made)
        return made

    # ---- scalars and tuples ----

    def _scalar(self, data: Any, name: str, wanted: Optional[Type]) -> Value:
        if isinstance(data, (bool, np.bool_)):
            return self._make(lib.ravel_bool, bool(data))
        if isinstance(data, (int, np.integer)) and not (wanted and wanted.kind == "float"):
            if not -2**63 <= data < 2**63:
                raise _errors.DataError(f"{name} is {data}, which has more than 64 bits")
            return self._make(lib.ravel_int, int(data))
        return self._make(lib.ravel_float, float(data))

    def _tuple(self, data: Tuple[Any, ...], name: str, wanted: Optional[Type]) -> Value:
        if len(data) < 2:
            raise tuple_of(len(data), name)
        types = list(wanted.parts) if wanted and len(wanted.parts) == len(data) else []
        parts = [self.value(each, f"{name}[{i}]", types[i] if types else None)
                 for i, each in enumerate(data)]
        return self._make(lib.ravel_tuple, _values.pointers(parts), len(parts))

    # ---- sequences ----

    def _sequence(self, data: Any, name: str, wanted: Optional[Type]) -> Value:
        """Lists, arrays and tables, by the first way that their producer offers."""
        if isinstance(data, list):
            return self._column(_list(data, name, wanted))
        if isinstance(data, np.ndarray) or _is_numbers(data):
            return self._array(np.asarray(data), name)
        if is_awkward(data):
            return self._column(awkward_column(data, name))
        if is_frame(data):
            data = without_index(data, name)
        for method, convert in PRODUCERS:
            if hasattr(data, method):
                try:
                    return convert(self, data, name)
                except ImportError:  # what is needed for that is not installed
                    continue
                except _errors.DataError as error:
                    raise _errors.DataError(f"{name}: {error}", error.diagnostics) from None
        if isinstance(data, Sequence) or hasattr(data, "__len__") and hasattr(data, "__iter__"):
            return self._column(_list(_listed(data, name), name, wanted))
        raise unknown(data, name)

    def _column(self, column: Column) -> Value:
        """Of a column whose memory stays as it is."""
        made = value_of(self.context, column)
        self.made.append(made)
        return made

    def _array(self, data: Vector, name: str) -> Value:
        """An array of NumPy, whose owner may change it."""
        if data.dtype.kind not in "biuf":
            return self._column(numpy_column(data, name))
        if is_fixed(data) and data.dtype.isnative:
            return self._column(numpy_column(data, name))
        made = self._vector(np.ascontiguousarray(plain(data, name)).reshape(-1))
        for level in range(data.ndim - 1, 0, -1):
            rows = int(np.prod(data.shape[:level]))
            lengths = np.full(rows, data.shape[level], np.int64)
            made = self._make(lib.ravel_nested, lengths.ctypes.data, rows, made.pointer)
        return made

    def _vector(self, data: Vector, element: Optional[int] = None) -> Value:
        kind = ELEMENTS[data.dtype.str] if element is None else element
        function = lib.ravel_borrow if self.held else lib.ravel_vector
        made = self._make(function, kind, data.ctypes.data, len(data))
        made.memory = data
        return made

    def from_arrow(self, transfer: Callable[[Context, Any], Value], data: Any) -> Value:
        """Of one of Arrow's protocols."""
        made = transfer(self.context, data)
        self.made.append(made)
        return made

    def from_dlpack(self, data: Any, name: str) -> Value:
        """Of a tensor: on the device of the context, or on the CPU."""
        if int(data.__dlpack_device__()[0]) in _dlpack.CUDA:
            if not _dlpack.on_device(self.context):
                raise _errors.DataError("it is on a GPU, and the context is not: choose the back"
                                        " end cuda, or copy it to the CPU, as .cpu() does in"
                                        " PyTorch")
            made = _dlpack.value_of(self.context, data)
            self.made.append(made)
            return made
        try:
            shared = np.from_dlpack(data)
        except (BufferError, RuntimeError) as error:
            raise _errors.DataError(f"NumPy cannot take it ({error}): copy it to the CPU, as"
                                    " .cpu() does in PyTorch") from None
        return self.from_array(shared, name)

    def from_array(self, data: Any, name: str) -> Value:
        """Of an object with `__array__`; without dimensions what it holds."""
        made = np.asarray(data)
        return self._array(made, name) if made.ndim else self.value(made.item(), name)


def _is_numbers(data: Any) -> bool:
    """Whether it is numbers of NumPy within something else, such as a pandas.Series."""
    dtype = getattr(data, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf" and hasattr(data, "__array__")


def _is_scalar(data: Any) -> bool:
    """Whether it is an array or a tensor of no dimension."""
    return getattr(data, "ndim", None) == 0 and hasattr(data, "item")


def _listed(data: Any, name: str) -> List[Any]:
    if word_of(type(data)) in UNORDERED:
        raise unordered(data, name)
    return list(data)


def _list(data: List[Any], name: str, wanted: Optional[Type]) -> Column:
    inside = wanted.parts[0] if wanted and wanted.kind == "sequence" else None
    try:
        return column_of(data, lambda i: f"{name}[{i}]", inside)
    except RecursionError:
        raise _errors.DataError(f"{name} nests deeper than {MOST_LEVELS} levels, or is in itself") from None


PRODUCERS: Tuple[Tuple[str, Callable[[Inputs, Any, str], Value]], ...] = (
    ("__arrow_c_stream__", lambda inputs, data, _: inputs.from_arrow(value_of_stream, data)),
    ("__arrow_c_array__", lambda inputs, data, _: inputs.from_arrow(value_of_array, data)),
    ("__dlpack__", Inputs.from_dlpack),
    ("__array__", Inputs.from_array),
)


def value(context: Context, data: Any, name: str, wanted: Optional[Type] = None) -> Value:
    """A value that may be kept."""
    return Inputs(context, held=False).value(data, name, wanted)


# ---- out ----


def python(result: Value) -> Any:
    """A scalar of Python, or a str; NotImplemented of another value."""
    if result.type == "int":
        return _values.get(result, lib.ravel_get_int, ctypes.c_int64)
    if result.type == "float":
        return _values.get(result, lib.ravel_get_float, ctypes.c_double)
    if result.type == "bool":
        return _values.get(result, lib.ravel_get_bool, ctypes.c_bool)
    if result.type == "char":
        return character(_values.get(result, lib.ravel_get_int, ctypes.c_int64))
    if result.type == "[char]":
        return text(result)
    return NotImplemented


def character(code: int) -> str:
    """A character by itself, as it is in a text."""
    if not 0 <= code < len(CHARACTERS):
        raise _errors.DataError(f"the character has the code {code}, not 0 to 255: characters of texts"
                                " are bytes, and char_code(c) has the code")
    return CHARACTERS[code]


def text(result: Value) -> str:
    """A sequence of characters."""
    count = _values.length(result)
    room = ctypes.create_string_buffer(count)
    context = result.context

    def copy() -> None:
        context.do(lib.ravel_copy, result.pointer, CHAR8, 0, count, room)
    try:
        context.run(copy)
    except _errors.DataError:
        raise _errors.DataError("the text has a character whose code is not 0 to 255: texts are"
                                " bytes, and {char_code(c) : c in text} has the codes") from None
    return decoded(room.raw[:count])
