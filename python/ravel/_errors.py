"""What goes wrong, as exceptions: one for each code of libravel."""

from __future__ import annotations

import re
from typing import NamedTuple, Sequence

INSTANCE = re.compile(r"the element of index (\d+) failed in this apply-to-each")


class Diagnostic(NamedTuple):
    """One sentence about an error."""
    severity: str  # "error", "warning", or "note": a call on the way to the error
    file: str | None
    line: int  # from 1; 0 if it is about no line
    column: int
    message: str


class Error(Exception):
    """Something that Ravel refuses, or a program that failed.

    `diagnostics` has its parts; of a program's failure the notes are the calls that led to it,
    and the elements of apply-to-eaches that it is about, innermost first. `elements` has the
    indices of these, the outermost first; none where they are not known. `nesl` is all that the
    command `nesl` would print.
    """

    def __init__(self, message: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.nesl = message
        self.diagnostics = list(diagnostics)
        found = [INSTANCE.search(each.message) for each in reversed(self.diagnostics)]
        self.elements = [int(each[1]) for each in found if each]


class MisuseError(Error, ValueError):
    """A call that is not allowed: an unknown option, an array of a parent process."""


class NeslSyntaxError(Error):
    """NESL that cannot be read."""


class NeslTypeError(Error, TypeError):
    """A definition or a call whose types do not fit, or an unknown name."""


class RunError(Error, RuntimeError):
    """A program failed: an index out of range, a division by zero, `error` ..."""


class DataError(Error, ValueError):
    """Data that cannot become NESL, or values that cannot leave it."""


class OutOfMemoryError(Error, MemoryError):
    """The limit of memory, or the machine's."""


class LimitError(Error, RuntimeError):
    """The limit of time, or of the depth of calls."""


class InterruptedCall(Error):
    """Another thread ended the call, or the interpreter is about to end."""


class DeniedError(Error, PermissionError):
    """A file, a process or the C compiler, without permission by `ravel.options`."""


class DeviceError(Error, RuntimeError):
    """The back end is not to be had, or broke."""


class InternalError(Error):
    """A fault of Ravel; please report it."""


# By enum ravel_code, from 1.
BY_CODE = (MisuseError, NeslSyntaxError, NeslTypeError, RunError, DataError, OutOfMemoryError,
           LimitError, InterruptedCall, DeniedError, DeviceError, InternalError)
DATA = BY_CODE.index(DataError) + 1


def of_code(code: int, message: str, diagnostics: Sequence[Diagnostic]) -> Error:
    """The exception for an enum ravel_code."""
    kind = BY_CODE[code - 1] if 1 <= code <= len(BY_CODE) else InternalError
    plain = len(diagnostics) == 1 and diagnostics[0].file is None
    error = kind(diagnostics[0].message if plain else message.rstrip("\n"), diagnostics)
    error.nesl = message
    return error
