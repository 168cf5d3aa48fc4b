"""Arrays of Awkward as columns on the same memory, and back. It is not imported before."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any, Optional, Tuple

import numpy as np

from ravel._columns import Column, Flat, Rows, Tuples
from ravel._errors import DataError
from ravel._numpy import numpy_column


def is_awkward(data: Any) -> bool:
    """Whether this is an array or a record of Awkward, without importing it."""
    return type(data).__module__.split(".")[0] == "awkward"


def record_parts(data: Any) -> Optional[Tuple[Any, ...]]:
    """The fields of an ak.Record; None of an array."""
    if type(data).__name__ != "Record":
        return None
    return tuple(data[field] for field in data.fields)


def awkward_column(data: Any, name: str) -> Column:
    """An ak.Array; ravel.DataError if it has missing values or a union."""
    return _column(sys.modules["awkward"].to_layout(data), name)


def _column(layout: Any, name: str) -> Column:
    kind = type(layout).__name__
    if kind == "EmptyArray":
        return Flat(np.empty(0))
    if kind == "NumpyArray":
        return numpy_column(np.asarray(layout.data), name)
    if kind == "RecordArray":
        return _record(layout, name)
    if kind == "UnionArray":
        raise DataError(f"{name} is a union, {layout.form.type}: elements of a sequence have"
                        " one type")
    if layout.is_option:
        _refuse_missing(layout, name)
    if layout.is_option or layout.is_indexed:
        return _column(layout.project(), name)
    return _rows(layout.to_ListOffsetArray64(False), name)


def _rows(layout: Any, name: str) -> Column:
    offsets = np.asarray(layout.offsets.data)
    if layout.parameter("__array__") in ("string", "bytestring"):
        return Rows(offsets, Flat(np.asarray(layout.content.data).view(np.uint8), True))
    return Rows(offsets, _column(layout.content, f"{name}[]"))


def _record(layout: Any, name: str) -> Column:
    fields = [_column(layout.content(field), f"{name}.{field}") for field in layout.fields]
    if not fields:
        raise DataError(f"{name} is of records without fields")
    return fields[0] if len(fields) == 1 else Tuples(fields)


def _refuse_missing(layout: Any, name: str) -> None:
    missing = np.flatnonzero(np.asarray(layout.mask_as_bool(valid_when=False)))
    if missing.size:
        raise DataError(f"{name}: element {missing[0]} is missing: NESL has no missing values;"
                        " use ak.drop_none or ak.fill_none")


# ---- back ----


def to_awkward(column: Column) -> Any:
    """A column as an ak.Array on the same memory; ImportError without Awkward."""
    awkward = importlib.import_module("awkward")
    return awkward.Array(_layout(column, awkward.contents, awkward.index))


def _layout(column: Column, contents: Any, index: Any) -> Any:
    if isinstance(column, Tuples):
        fields = [_layout(field, contents, index) for field in column.fields]
        return contents.RecordArray(fields, None, len(column))
    if isinstance(column, Flat):
        return contents.NumpyArray(column.data)
    offsets = index.Index64(np.asarray(column.offsets, np.int64))
    if not column.text:
        return contents.ListOffsetArray(offsets, _layout(column.content, contents, index))
    assert isinstance(column.content, Flat)
    characters = contents.NumpyArray(column.content.data, parameters={"__array__": "char"})
    return contents.ListOffsetArray(offsets, characters, parameters={"__array__": "string"})


def teach(array: Any) -> None:
    """Lets `ak.from_arrow`, which takes objects of pyarrow only, take this class, too."""
    awkward = sys.modules.get("awkward")
    original = getattr(awkward, "from_arrow", None)
    if awkward is None or original is None or hasattr(original, "knows_ravel"):
        return

    @functools.wraps(original)
    def from_arrow(data: Any, **options: Any) -> Any:
        return data.to_awkward() if isinstance(data, array) else original(data, **options)
    from_arrow.knows_ravel = True  # type: ignore[attr-defined]
    setattr(awkward, "from_arrow", from_arrow)
