"""Tables of pandas, whose index is no column of theirs. It is not imported before."""

from __future__ import annotations

from typing import Any

from ravel._errors import DataError


def is_frame(data: Any) -> bool:
    """Whether this is a DataFrame of pandas, or of a class of it."""
    return any(kind.__name__ == "DataFrame" and kind.__module__.split(".")[0] == "pandas"
               for kind in type(data).__mro__)


def without_index(data: Any, name: str) -> Any:
    """The table with its columns only; ravel.DataError if its index is more than numbers of rows,
    since Arrow would have it as columns behind the others."""
    index = data.index
    labels = [str(each) for each in index.names if each is not None]
    if type(index).__name__ == "RangeIndex" and not labels:
        return data
    numbers = getattr(index, "nlevels", 1) == 1 and getattr(index.dtype, "kind", "") in "iu"
    if labels or not numbers:
        said = f" {', '.join(labels)}" if labels else f" of {index.dtype}"
        raise DataError(f"{name} is a table with an index{said}: use .reset_index() to have it as"
                        " columns, or .reset_index(drop=True) to leave it out")
    return data.reset_index(drop=True)
