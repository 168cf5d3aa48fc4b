"""Arrays of NumPy as columns, and columns as arrays of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ravel._arrow import Memory
from ravel._columns import Column, Flat, Rows, Tuples, Vector, texts
from ravel._errors import DataError
from ravel._infer import column_of

WIDENED = {"<f2": np.float32, "<f16": np.float64}


def plain(data: Vector, name: str) -> Vector:
    """Numbers in a width and an order of bytes that libravel takes; others are refused."""
    native = data.astype(data.dtype.newbyteorder("="), copy=False)
    if native.dtype.kind == "u" and native.dtype.itemsize == 8:
        if native.size and int(native.max()) >= 2**63:
            where = np.argwhere(native >= 2**63)[0].tolist()
            raise DataError(f"{name}{where} does not fit an int of 64 bits")
        return native.astype(np.int64)
    if native.dtype.str == "<f16":
        raise DataError(f"{name} is of {native.dtype}: use .astype('float64')")
    return native.astype(WIDENED.get(native.dtype.str, native.dtype), copy=False)


def is_fixed(data: Any) -> bool:
    """Whether nobody can change an array: neither it nor what it is part of is writeable."""
    while isinstance(data, np.ndarray):
        if data.flags.writeable:
            return False
        data = data.base
    return data is None or isinstance(data, (bytes, Memory))


def unmasked(data: Any, name: str) -> Vector:
    """The array within a numpy.ma.MaskedArray; ravel.DataError if an element is masked."""
    mask: Any = np.ma.getmaskarray(data)
    if mask.dtype.names:  # of structured types an element has a mask for each component
        mask = mask.view(np.bool_).reshape((*mask.shape, -1)).any(axis=-1)
    found = np.argwhere(mask)
    if len(found):
        where = "".join(f"[{i}]" for i in found[0])
        raise DataError(f"{name}{where} is masked: NESL has no missing values; use .compressed()"
                        " to leave them out, or .filled(x) to have x instead")
    return np.asarray(data.data)


def numpy_column(data: Vector, name: str) -> Column:
    """An array of one dimension or more: dimensions are levels, fields components.

    Numbers that are not fields share its memory.

    Of what NESL does not have, ravel.DataError says what to use instead.
    """
    if data.ndim > 1:
        count, width = data.shape[0], data.shape[1]
        rows = data.reshape((count * width, *data.shape[2:]))
        return Rows(np.arange(count + 1, dtype=np.int64) * width, numpy_column(rows, name))
    if data.dtype.names:
        return _structured(data, name)
    if data.dtype.kind in "biuf":
        return Flat(plain(data, name))
    if data.dtype.kind in "SU":
        return texts(data.tolist())
    if data.dtype.kind in "OT":  # T: StringDType
        return column_of(data.tolist(), lambda i: f"{name}[{i}]")
    raise DataError(f"{name} is of {data.dtype}, which NESL does not have: use"
                    f" {'.real and .imag' if data.dtype.kind == 'c' else '.astype(int)'}")


def _structured(data: Vector, name: str) -> Column:
    assert data.dtype.names
    fields = []
    for field in data.dtype.names:
        fields.append(numpy_column(data[field].copy(), f"{name}[{field!r}]"))
    return fields[0] if len(fields) == 1 else Tuples(fields)


def dtype_of(column: Column) -> Any:
    """The type that numbers have in NumPy, or what is around them. Texts are of any length."""
    if isinstance(column, Flat):
        return np.dtype("S1") if column.chars else column.data.dtype
    if isinstance(column, Tuples):
        return np.dtype([(str(i), dtype_of(field)) for i, field in enumerate(column.fields)])
    return np.dtype(str) if column.text else dtype_of(column.content)


def as_numpy(column: Column) -> Any:
    """A column as an array: rows of one length are a dimension, components are fields.

    Numbers share the column's memory. ValueError if rows differ in length.
    """
    if isinstance(column, Flat):
        return column.data.view("S1") if column.chars else column.data
    if isinstance(column, Tuples):
        return _records([as_numpy(field) for field in column.fields])
    if column.text:
        return np.array(column.to_list(), dtype=str)
    lengths = np.diff(column.offsets)
    width = int(lengths[0]) if len(lengths) else 0
    other = np.flatnonzero(lengths != width)
    if other.size:
        raise ValueError(f"no rectangle: row 0 has {width} elements, and row {other[0]}"
                         f" {lengths[other[0]]}")
    first = int(column.offsets[0])
    inside = as_numpy(column.content.slice(first, int(column.offsets[-1])))
    return inside.reshape((len(lengths), width, *inside.shape[1:]))


def _records(parts: Any) -> Any:
    kinds = [(str(i), part.dtype, part.shape[1:]) for i, part in enumerate(parts)]
    made = np.empty(len(parts[0]), np.dtype(kinds))
    for i, part in enumerate(parts):
        made[str(i)] = part
    return made
