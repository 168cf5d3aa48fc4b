"""`ravel.Array`: a sequence that stays where it is until its elements are asked for."""

from __future__ import annotations

import html
import importlib
import operator
from collections.abc import Sequence
from typing import Any, Iterator, List, Optional, Tuple, cast

import numpy as np

from ravel import _convert, _dlpack, _numpy, _transfer, _types, _values
from ravel._awkward import teach, to_awkward
from ravel._columns import Column, Flat, Outside, Rows, Tuples, shown, string
from ravel._context import Context
from ravel._errors import DataError, NeslTypeError
from ravel._instances import Instances
from ravel._options import context as current
from ravel._values import Value

SHOWN = 400  # characters of an array that repr shows
ROWS_SHOWN = 20  # rows of a table in a notebook


class Array:
    """An immutable sequence: numbers, texts, tuples or sequences of these, to any depth.

    Functions return it, and take it without copying. Its elements come to Python's memory, all
    at once, when one of them is asked for; NumPy, Awkward, Polars and others then share this
    memory. `array(data)` makes one of what Python has.
    """

    def __init__(self, value: Optional[Value], column: Optional[Column] = None) -> None:
        if isinstance(column, Instances):
            value = column.value
        self._value, self._column = value, column
        teach(Array)

    # ---- where it is ----

    def _ravel_value(self, context: Context) -> Value:
        """It in a context, where it stays from now on."""
        if self._value is None or self._value.context is not context:
            self._value = _transfer.value_of(context, self._for_others())
        return self._value

    def _columns(self) -> Column:
        if self._column is None:
            assert self._value
            if _types.parse(self._value.type).has_data():
                self._column = cast(Column, Instances(self._value, wrapped))
            else:
                self._column = _transfer.columns(self._value)
        return self._column

    def _for_others(self) -> Column:
        """The elements, in types that others have."""
        if isinstance(self._columns(), Outside):
            raise DataError(f"the array is {self.type}, and only NESL has datatypes: use their"
                            " contents, as {let NAME(x) = each in x : each in v} gives them")
        return self._columns()

    # ---- as a sequence ----

    @property
    def type(self) -> str:
        """Its type, as NESL writes it: "[[float]]"."""
        return self._value.type if self._value else f"[{self._columns().element}]"

    def __len__(self) -> int:
        if self._column is None and self._value:
            return _values.length(self._value)
        return len(self._columns())

    def __getitem__(self, index: Any) -> Any:
        """An element; of a slice, or of an array of positions or of bools, an array.

        A str is the name of a component of tuples: "0", "1" ..., as Arrow has them.
        """
        column = self._columns()
        if isinstance(index, str):
            return _component(column, index)
        if isinstance(index, slice):
            return Array(None, _sliced(column, index))
        if isinstance(index, (list, np.ndarray, Array)):
            return Array(None, column.take(_positions(index, len(column))))
        at = operator.index(index)
        if not -len(column) <= at < len(column):
            raise IndexError(f"index {at} of an array of {len(column)} elements")
        return _wrapped(column.item(at % len(column)))

    def __iter__(self) -> Iterator[Any]:
        column = self._columns()
        if isinstance(column, Flat) or isinstance(column, Rows) and column.text:
            return iter(column.to_list())
        return (_wrapped(column.item(i)) for i in range(len(column)))

    # As collections.abc.Sequence has them. An Array is none itself: Polars takes the elements of
    # those one by one, instead of all of them by Arrow.
    index, count, __reversed__ = Sequence.index, Sequence.count, Sequence.__reversed__

    def to_list(self) -> List[Any]:
        """All elements as numbers, bools, strs, tuples and lists."""
        return self._columns().to_list()

    tolist = to_list

    def __eq__(self, other: object) -> Any:
        """Of an Array whether types and elements are the same, of a list whether the elements are."""
        if isinstance(other, list):
            return self.to_list() == other
        if not isinstance(other, Array):
            return NotImplemented
        return self.type == other.type and self.to_list() == other.to_list()

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return len(self) > 0

    @property
    def shape(self) -> Tuple[int, ...]:
        """The number of elements; behind it that of each row, as long as all have the same."""
        column = self._columns()
        found = [len(self)]
        while isinstance(column, Rows) and not column.text and len(column):
            lengths = np.diff(column.offsets)
            if (lengths != lengths[0]).any():
                break
            found.append(int(lengths[0]))
            column = column.content.slice(int(column.offsets[0]), int(column.offsets[-1]))
        return tuple(found)

    @property
    def dtype(self) -> Any:
        """NumPy's type of the numbers, in rows or not; of texts str, of tuples one with fields."""
        column = self._columns()
        return np.dtype(object) if isinstance(column, Outside) else _numpy.dtype_of(column)

    # ---- for others ----

    def to_pandas(self) -> Any:
        """A pandas.Series; of tuples a DataFrame. ImportError without pandas and pyarrow."""
        if isinstance(self._for_others(), Tuples):
            return importlib.import_module("pandas").DataFrame.from_arrow(self)
        return importlib.import_module("pyarrow").array(self).to_pandas()

    def to_polars(self) -> Any:
        """A polars.Series; of tuples a DataFrame. ImportError without Polars."""
        polars = importlib.import_module("polars")
        return (polars.DataFrame if isinstance(self._for_others(), Tuples) else polars.Series)(self)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        """Numbers without copying; rows of one length as a dimension, tuples as fields."""
        made = _numpy.as_numpy(self._for_others())
        if dtype is not None and made.dtype != dtype:
            if copy is False:
                raise ValueError(f"elements of {made.dtype} become {dtype} only in a copy")
            return made.astype(dtype)
        return made.copy() if copy else made

    def __arrow_c_schema__(self) -> Any:
        return _transfer.schema_capsule(self._for_others())

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
        """The Arrow PyCapsule interface. A type that is requested is ignored, as it may be."""
        return _transfer.array_capsules(self._for_others())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The same as a stream: of one array, or of several where elements are in files."""
        if self._column is None and self._value:
            return _transfer.value_stream_capsule(self._value)
        return _transfer.stream_capsule(self._for_others())

    def to_awkward(self) -> Any:
        """An ak.Array on the same memory, as ak.from_arrow makes it; ImportError without it."""
        return to_awkward(self._for_others())

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[Tuple[int, int]] = None,
                   dl_device: Optional[Tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any:
        """A copy, where the array is or on the CPU; it is complete, so no stream waits for it."""
        device = self.__dlpack_device__()
        wanted = device if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
        if wanted[0] != _dlpack.CPU and wanted != device:
            raise BufferError(f"the array is on DLPack's device {device}, and not on {wanted}")
        if copy is False:
            raise BufferError("others get a copy of the array")
        if wanted[0] == _dlpack.CPU:
            return self._flat().__dlpack__()
        assert self._value
        return _dlpack.capsule(self._value, versioned=max_version is not None)

    def __dlpack_device__(self) -> Tuple[int, int]:
        """Of numbers and bools that a context with the back end cuda has: its device."""
        if self._value and _usable(self._value) and self.type in _dlpack.TENSORS:
            return _dlpack.device(self._value.context)
        return _dlpack.CPU, 0

    def _flat(self) -> Any:
        made = np.asarray(self)
        if made.dtype.kind not in "biuf":
            raise DataError(f"DLPack has numbers only, and this is {self.type}")
        return made.copy()  # NumPy lends no array that is read-only

    # ---- for people ----

    def __repr__(self) -> str:
        if self._value and self._column is None and not _usable(self._value):
            return f"<ravel.Array of a context that is closed: {self.type}>"
        elements = shown(self._columns(), SHOWN)
        return f"<ravel.Array {elements}, {len(self)} of {self.type[1:-1]}>"

    def _repr_html_(self) -> str:
        column = self._columns()
        count = min(len(column), ROWS_SHOWN)
        rows = "".join(_row(i, column) for i in range(count))
        more = f"<tr><td>...</td><td>{len(column) - count} more</td></tr>" \
            if count < len(column) else ""
        return (f"<table><caption>{len(column)} of {html.escape(self.type[1:-1])}</caption>"
                f"{rows}{more}</table>")

    def __reduce__(self) -> Any:
        return array, (self._for_others().to_list(), self.type)


class Instance:
    """A value of a datatype of NESL: its type, and the contents."""

    def __init__(self, value: Value) -> None:
        self._value = value

    def _ravel_value(self, context: Context) -> Value:
        if self._value.context is not context:
            raise DataError(f"a {self.type} belongs to the options with which it was made")
        return self._value

    @property
    def type(self) -> str:
        """The name of the datatype."""
        return self._value.type

    @property
    def contents(self) -> Any:
        """What the datatype is made of."""
        return wrapped(_values.component(self._value, 0))

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Instance):
            return NotImplemented
        return self.type == other.type and self.contents == other.contents

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.type} {self.contents!r}>"


def wrapped(value: Value) -> Any:
    """A result: numbers, bools, texts and tuples as Python's, sequences as an Array."""
    found = _convert.python(value)
    if found is not NotImplemented:
        return found
    kind = _types.parse(value.type).kind
    if kind == "sequence":
        return Array(value)
    if kind == "tuple":
        count = _values.length(value)
        return tuple(wrapped(_values.component(value, i)) for i in range(count))
    return Instance(value)


def array(data: Any, type: Optional[str] = None) -> Array:  # pylint: disable=redefined-builtin
    """An Array of a list, an array or a table, in the memory of the options in force.

    `type`, as NESL writes it, says what lists without elements are: array([[]], "[[int]]").
    ravel.DataError says what cannot be taken, ravel.NeslTypeError that it is of another type.
    """
    wanted = _types.parse(type) if type is not None else None
    made = _convert.value(current(), data, "data", wanted)
    if wanted is not None and _types.parse(made.type) != wanted:
        raise NeslTypeError(f"the data is {made.type}, not {type}")
    if _types.parse(made.type).kind != "sequence":
        raise DataError(f"the data is {made.type}, no sequence")
    return Array(made)


# ---- parts of these ----


def _usable(value: Value) -> bool:
    return value.context.usable


def _wrapped(item: Any) -> Any:
    if isinstance(item, tuple):
        return tuple(_wrapped(each) for each in item)
    return Array(None, item) if isinstance(item, (Flat, Rows, Tuples)) else item


def _component(column: Column, name: str) -> Array:
    if not isinstance(column, Tuples):
        raise KeyError(f"{name}: the elements are {column.element}, no tuples")
    if not name.isdecimal() or int(name) >= len(column.fields):
        raise KeyError(f"{name}: components are \"0\" to \"{len(column.fields) - 1}\"")
    return Array(None, column.fields[int(name)])


def _sliced(column: Column, index: slice) -> Column:
    start, stop, step = index.indices(len(column))
    if step == 1:
        return column.slice(start, max(start, stop))
    return column.take(np.arange(start, stop, step))


def _positions(index: Any, length: int) -> Any:
    positions = np.asarray(index)
    if positions.dtype == bool:
        if len(positions) != length:
            raise IndexError(f"{len(positions)} bools for an array of {length} elements")
        return np.flatnonzero(positions)
    if positions.ndim != 1 or positions.size and positions.dtype.kind not in "iu":
        raise TypeError(f"positions are ints or bools, not {positions.dtype}")
    out = np.flatnonzero((positions < -length) | (positions >= length))
    if out.size:
        raise IndexError(f"index {positions[out[0]]} of an array of {length} elements")
    return (positions % max(length, 1)).astype(np.int64)


def _row(i: int, column: Column) -> str:
    item = column.item(i)
    said = string(item) if isinstance(item, Flat) and item.chars else \
        shown(item, 100) if isinstance(item, (Flat, Rows, Tuples)) else repr(_wrapped(item))
    return f"<tr><td>{i}</td><td>{html.escape(said[:2 * SHOWN])}</td></tr>"
