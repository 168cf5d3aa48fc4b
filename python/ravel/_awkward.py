"""Arrays of Awkward as columns on the same memory. Awkward itself is used if it is there."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ravel._columns import Column, Flat, Rows, Tuples
from ravel._errors import DataError
from ravel._numpy import numpy_column


def is_awkward(data: Any) -> bool:
    """Whether this is an array or a record of Awkward, without importing it."""
    return type(data).__module__.split(".")[0] == "awkward"


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
        raise DataError(f"{name} is a union, {layout.form.type}: elements of a sequence have one"
                        " type")
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
