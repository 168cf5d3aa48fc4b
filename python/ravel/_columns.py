"""Sequences in the memory of Python, as columns of NumPy: what an array is outside of Ravel.

A column is immutable by agreement, and a slice of one shares its memory.
"""

from __future__ import annotations

from typing import Any, Iterator, List, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[Any]
NESL_OF_KIND = {"b": "bool", "i": "int", "u": "int", "f": "float"}


class Flat:
    """Numbers or bools; or characters, which are bytes."""

    def __init__(self, data: Vector, chars: bool = False) -> None:
        self.data, self.chars = data, chars

    def __len__(self) -> int:
        return len(self.data)

    def slice(self, start: int, stop: int) -> Flat:
        return Flat(self.data[start:stop], self.chars)

    def take(self, indices: Vector) -> Flat:
        return Flat(self.data[indices], self.chars)

    def item(self, i: int) -> Any:
        return CHARACTERS[self.data[i]] if self.chars else self.data[i].item()

    def to_list(self) -> List[Any]:
        found: List[Any] = self.data.tolist()
        return [CHARACTERS[code] for code in found] if self.chars else found

    @property
    def element(self) -> str:
        """The type of an element, as in NESL."""
        return "char" if self.chars else NESL_OF_KIND[self.data.dtype.kind]


class Rows:
    """Sequences: row i is content[offsets[i]:offsets[i + 1]]."""

    def __init__(self, offsets: Vector, content: Column) -> None:
        self.offsets, self.content = offsets, content

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def slice(self, start: int, stop: int) -> Rows:
        return Rows(self.offsets[start:stop + 1], self.content)

    def take(self, indices: Vector) -> Rows:
        starts, lengths = self.offsets[:-1][indices], np.diff(self.offsets)[indices]
        offsets = offsets_of(lengths)
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Rows(offsets, self.content.take(within + np.repeat(starts, lengths)))

    @property
    def text(self) -> bool:
        """Whether the rows are texts."""
        return isinstance(self.content, Flat) and self.content.chars

    def item(self, i: int) -> Any:
        row = self.content.slice(int(self.offsets[i]), int(self.offsets[i + 1]))
        return string(row) if isinstance(row, Flat) and row.chars else row

    def to_list(self) -> List[Any]:
        first, offsets = int(self.offsets[0]), self.offsets.tolist()
        inside = self.content.slice(first, offsets[-1])
        if self.text:
            assert isinstance(inside, Flat)
            whole = inside.data.tobytes()
            return [decoded(whole[a - first:b - first]) for a, b in zip(offsets, offsets[1:])]
        all_elements = inside.to_list()
        return [all_elements[a - first:b - first] for a, b in zip(offsets, offsets[1:])]

    @property
    def element(self) -> str:
        return f"[{self.content.element}]"


class Tuples:
    """Tuples, as a column for each component. All have the same length."""

    def __init__(self, fields: Sequence[Column]) -> None:
        self.fields = list(fields)

    def __len__(self) -> int:
        return len(self.fields[0])

    def slice(self, start: int, stop: int) -> Tuples:
        return Tuples([field.slice(start, stop) for field in self.fields])

    def take(self, indices: Vector) -> Tuples:
        return Tuples([field.take(indices) for field in self.fields])

    def item(self, i: int) -> Tuple[Any, ...]:
        return tuple(field.item(i) for field in self.fields)

    def to_list(self) -> List[Any]:
        return list(zip(*(field.to_list() for field in self.fields)))

    @property
    def element(self) -> str:
        inner = [field.element for field in self.fields]
        return f"({', '.join(inner[:-1] + [bare(inner[-1])])})"


class Outside:  # pylint: disable=too-few-public-methods
    """A column that is not in the memory of Python (_instances.py)."""


Column = Union[Flat, Rows, Tuples]
COLUMNS: Tuple[Any, ...] = (Flat, Rows, Tuples, Outside)


def bare(element: str) -> str:
    """A tuple at the end of a tuple is a part of it, as in NESL."""
    return element[1:-1] if element.startswith("(") else element


def offsets_of(lengths: Any) -> Vector:
    """Offsets of rows of these lengths."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def decoded(text: bytes) -> str:
    """A text of Python; bytes that are no UTF-8 become what `encoded` makes the same bytes."""
    return text.decode("utf-8", "surrogateescape")


# A character by itself is a text of one byte.
CHARACTERS = [decoded(bytes([code])) for code in range(256)]


def encoded(text: Union[str, bytes]) -> bytes:
    """The bytes of a text."""
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def string(column: Flat) -> str:
    """A sequence of characters as a text."""
    return decoded(column.data.tobytes())


def texts(items: Sequence[Union[str, bytes]]) -> Rows:
    """A column of texts."""
    parts = [encoded(item) for item in items]
    content = np.frombuffer(b"".join(parts), np.uint8)
    return Rows(offsets_of([len(part) for part in parts]), Flat(content, True))


def shown(column: Column, limit: int) -> str:
    """The beginning of a column as Python writes it, of about `limit` characters."""
    said = ""
    for part in _parts(column):
        if len(said) + len(part) > limit:
            return said.rstrip(", ") + " ..." if said.rstrip().endswith(",") else said + "..."
        said += part
    return said


def _parts(column: Any) -> Iterator[str]:
    if not isinstance(column, COLUMNS):
        yield from _item_parts(column)
        return
    yield "["
    for i in range(len(column)):
        yield from _item_parts(column.item(i))
        yield ", " if i + 1 < len(column) else ""
    yield "]"


def _item_parts(item: Any) -> Iterator[str]:
    if isinstance(item, tuple):
        yield "("
        for i, each in enumerate(item):
            yield from _parts(each)
            yield ", " if i + 1 < len(item) else ""
        yield ")"
    elif isinstance(item, (Flat, Rows, Tuples)):
        yield from _parts(item)
    else:
        yield repr(item)
