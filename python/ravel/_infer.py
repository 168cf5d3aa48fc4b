"""Lists of Python as columns. Their types are those of the elements, a level at a time.

ints and floats together are floats; a level without elements, of which nothing says the type,
is of floats, as in NumPy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import ItemsView, KeysView, Mapping, Set
from typing import Any, Callable, List, Optional, Sequence

import numpy as np

from ravel._columns import Column, Flat, Rows, Tuples, offsets_of, texts
from ravel._errors import DataError
from ravel._types import Type

Where = Callable[[int], str]  # how Python names an element: xs[2][0]
EXACT = 2**53  # floats hold all ints up to here

# What a class of Python is, the first that fits; in the words of Type where there is one.
CLASSES = (
    ("bool", (bool, np.bool_)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating)),
    ("text", (str, bytes)),
    ("tuple", (tuple, np.void)),
)


# What has no sequence of elements, or has others than those that iterating gives.
UNORDERED = ("dict", "set", "table")


def word_of(kind: type) -> str:
    """What elements of a class are."""
    for word, classes in CLASSES:
        if issubclass(kind, classes):
            return word
    if issubclass(kind, Mapping):
        return "dict"
    if issubclass(kind, Set) and not issubclass(kind, (KeysView, ItemsView)):
        return "set"
    if hasattr(kind, "columns") and (hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "iloc")):
        return "table"
    return "list" if hasattr(kind, "__len__") and hasattr(kind, "__iter__") else "other"


def column_of(items: Sequence[Any], where: Where, wanted: Optional[Type] = None) -> Column:
    """A column of these elements, of the type that is wanted if one is.

    ravel.DataError says where an element is that does not fit the others.
    """
    kinds = set(map(type, items))
    if any(issubclass(kind, np.ndarray) for kind in kinds):
        items = [_scalar(item, where, i) for i, item in enumerate(items)]
        kinds = set(map(type, items))
    words = {kind: word_of(kind) for kind in kinds}
    found = set(words.values())
    if found <= {"int", "float"} and len(found) == 2:
        return _floats(items, where)
    if len(found) > 1 or found & {"other", *UNORDERED}:
        raise _misfit(items, words, where)
    return BUILDERS[found.pop()](items, where, wanted) if found else _empty(wanted)


def unordered(item: Any, name: str) -> DataError:
    """Why something is none of a sequence's elements, though one could iterate over it."""
    word = word_of(type(item))
    said = f"{name} is a {type(item).__module__}.{type(item).__name__}".replace("builtins.", "")
    if word == "table":
        return DataError(f"{said}, a table: use ravel.array(table) instead, whose elements are its"
                         " rows: [ravel.array(table) for table in tables]")
    if word == "dict":
        return DataError(f"{said}: use a list, or a list of tuples such as list(d.items())")
    return DataError(f"{said}, which has no order: use a list such as sorted(s)")


# What to do with values of classes that NESL does not have, by the names of the classes.
REMEDIES = {"Decimal": "use float(x)", "Fraction": "use float(x)",
            "datetime": "use its .timestamp()", "Timestamp": "use its .timestamp()",
            "date": "use its .toordinal()", "time": "use its seconds",
            "timedelta": "use its .total_seconds()", "Timedelta": "use its .total_seconds()",
            "datetime64": "use .astype(int)", "timedelta64": "use .astype(int)",
            **dict.fromkeys(("function", "method", "builtin_function_or_method", "partial"),
                            "call it before, or decorate a function of Python with @ravel.function"),
            **dict.fromkeys(("complex", "complex64", "complex128"), "use its .real and .imag")}
MISSING = ("NoneType", "NAType", "NaTType")


def unknown(item: Any, name: str) -> DataError:
    """Why a value of a class that NESL does not have is refused, and what to do."""
    kind = type(item)
    if kind.__name__ in MISSING:
        said = "None" if item is None else f"missing ({item})"
        return DataError(f"{name} is {said}: NESL has no missing values")
    return DataError(f"{name} is {kind.__module__}.{kind.__name__}, which NESL does not have:"
                     f" {REMEDIES.get(kind.__name__, 'use a number, a text, a list or an array')}")


def tuple_of(count: int, name: str) -> DataError:
    """Why a tuple of none or one is refused."""
    return DataError(f"{name} is a tuple of {count}: those of NESL have two components or more"
                     f"{'; use its component, ' + name + '[0]' if count else ''}")


def _scalar(item: Any, where: Where, i: int) -> Any:
    """An element that is an array of no dimension as what it holds."""
    if not isinstance(item, np.ndarray) or item.ndim > 0:
        return item
    if np.ma.is_masked(item):
        raise DataError(f"{where(i)} is masked: NESL has no missing values")
    return item.item()


def _one(word: str) -> str:
    return f"an {word}" if word == "int" else f"a {word}"


def _misfit(items: Sequence[Any], words: dict[type, str], where: Where) -> DataError:
    first = words[type(items[0])]
    for i, item in enumerate(items):
        word = words[type(item)]
        if word in UNORDERED:
            return unordered(item, where(i))
        if word == "other":
            return unknown(item, where(i))
        if word != first and {word, first} != {"int", "float"}:
            return DataError(f"{where(i)} is {_one(word)}, and {where(0)} {_one(first)}:"
                             " elements of a sequence have one type")
    return DataError(f"{where(0)} and others mix types")


def _empty(wanted: Optional[Type]) -> Column:
    if wanted is None or wanted.kind in ("float", "int", "bool"):
        word = wanted.kind if wanted else "float"
        kind = {"int": np.int64, "bool": np.bool_, "float": np.float64}[word]
        return Flat(np.empty(0, kind))
    if wanted.kind == "char":
        return Flat(np.empty(0, np.uint8), True)
    below = [_empty(part) for part in wanted.parts]
    return Tuples(below) if wanted.kind == "tuple" else Rows(np.zeros(1, np.int64), below[0])


def _bools(items: Sequence[Any], _: Where, __: Optional[Type]) -> Column:
    return Flat(np.array(items, np.bool_))


def _ints(items: Sequence[Any], where: Where, wanted: Optional[Type]) -> Column:
    if wanted and wanted.kind == "float":
        return _floats(items, where)
    try:
        return Flat(np.fromiter(items, np.int64, len(items)))
    except OverflowError:
        i = next(i for i, item in enumerate(items) if not -2**63 <= item < 2**63)
        raise DataError(f"{where(i)} is {items[i]}, which has more than 64 bits") from None


def _floats(items: Sequence[Any], where: Where, _: Optional[Type] = None) -> Column:
    try:
        data = np.fromiter(items, np.float64, len(items))
    except OverflowError:
        data = np.full(len(items), np.inf)
    for i in np.flatnonzero(np.abs(data) >= EXACT).tolist():
        held = int(data[i]) if np.isfinite(data[i]) else None
        if isinstance(items[i], (int, np.integer)) and held != items[i]:
            raise DataError(f"{where(i)} is {items[i]}, which no float holds exactly, and other"
                            " elements are floats")
    return Flat(data)


def _texts(items: Sequence[Any], _: Where, __: Optional[Type]) -> Column:
    return texts(items)


def _tuples(items: Sequence[Any], where: Where, wanted: Optional[Type]) -> Column:
    width = len(items[0])
    if width < 2:
        raise tuple_of(width, where(0))
    for i, item in enumerate(items):
        if len(item) != width:
            raise DataError(f"{where(i)} has {len(item)} components, and {where(0)} {width}:"
                            " tuples have one length, of two or more")
    parts: Sequence[Optional[Type]] = [None] * width
    if wanted and wanted.kind == "tuple" and len(wanted.parts) == width:
        parts = wanted.parts
    return Tuples([column_of([item[k] for item in items],
                             lambda i, k=k: f"{where(i)}[{k}]", parts[k])  # type: ignore[misc]
                   for k in range(width)])


def _lists(items: Sequence[Any], where: Where, wanted: Optional[Type]) -> Column:
    offsets = offsets_of(np.fromiter(map(len, items), np.int64, len(items)))

    def where_inside(i: int) -> str:
        row = bisect_right(offsets, i) - 1
        return f"{where(row)}[{i - offsets[row]}]"

    inside: List[Any] = [x for item in map(_plain, items) for x in item]
    part = wanted.parts[0] if wanted and wanted.kind == "sequence" else None
    return Rows(offsets, column_of(inside, where_inside, part))


def _plain(item: Any) -> Any:
    """What gives elements of Python rather than of NumPy."""
    return item.tolist() if isinstance(item, np.ndarray) else item


BUILDERS = {"bool": _bools, "int": _ints, "float": _floats, "text": _texts, "tuple": _tuples,
            "list": _lists}
