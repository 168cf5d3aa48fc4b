"""Failures of translated functions: as Python's exceptions, with lines of Python."""

from __future__ import annotations

import re
from typing import Dict, List

from ravel._errors import Diagnostic, Error, LimitError, RunError
from ravel._translate import Location, Program


class OverflowInCall(RunError, OverflowError):
    """A result that Python's int or float has, and Ravel's has not."""


class DivisionInCall(RunError, ZeroDivisionError):
    """A division by zero in a translated function."""


class IndexInCall(RunError, IndexError):
    """An index out of range in a translated function."""


class ValueInCall(RunError, ValueError):
    """An argument that a function has no value for, in a translated function."""


class AssertionInCall(RunError, AssertionError):
    """An `assert` of a translated function."""


class TypeInCall(RunError, TypeError):
    """A value of the wrong kind in a translated function."""


class RecursionInCall(LimitError, RecursionError):
    """A translated function whose recursion is too deep."""


KINDS = {
    "OverflowError": OverflowInCall,
    "ZeroDivisionError": DivisionInCall,
    "IndexError": IndexInCall,
    "ValueError": ValueInCall,
    "AssertionError": AssertionInCall,
    "TypeError": TypeInCall
}
KIND = re.compile(r"([A-Za-z_]\w*(?:Error|Exception)): ?")
INDEX = re.compile(r"Sequence reference \(a\[i\]\) out of bounds\. \(index (-?\d+) is outside a"
                   r" sequence of length (\d+)\)")


def explained(error: Error, programs: Dict[str, Program]) -> Error:
    """The failure in terms of the Python that was translated, by the file names of programs."""
    first = error.diagnostics[0].message.split("\n")[0] if error.diagnostics else str(error)
    sentence, kind = _sentence(first), type(error)
    found = INDEX.search(sentence)
    named = KIND.match(sentence)
    if found:
        index, length = int(found[1]), int(found[2])
        index -= length if index < 0 else 0  # a negative one had the length added
        kind = IndexInCall
        sentence = f"list index out of range (index {index}, length {length})"
    elif named:
        kind = KINDS.get(named[1], RunError)
        sentence = sentence[named.end():] if kind is not RunError else sentence
    elif isinstance(error, LimitError) and "recursion" in sentence:
        kind, sentence = RecursionInCall, sentence + " (each step of a loop is one)"
    trace = _trace(error.diagnostics, programs)
    if not trace and kind is type(error):
        return error
    lines = [sentence]
    for location in trace:
        lines += [f'  File "{location.file}", line {location.line}, in {location.function}',
                  location.shown()]
    result = kind("\n".join(lines), _in_python(sentence, trace) or error.diagnostics)
    result.nesl, result.elements = error.nesl, error.elements
    return result


def with_elements(error: Error) -> Error:
    """The error; its text says which element of the outermost comprehension failed, and which within
    that one."""
    if error.elements:
        error.args = (f"{error}\n  (of element {''.join(f'[{i}]' for i in error.elements)})",)
    return error


def _in_python(sentence: str, trace: List[Location]) -> List[Diagnostic]:
    """Diagnostics that point to the lines of Python."""
    return [Diagnostic("note" if i else "error", each.file, each.line, each.column,
                       f"in {each.function}" if i else sentence) for i, each in enumerate(trace)]


def _sentence(message: str) -> str:
    """Without file, line and column, and without the function of the prelude that says it."""
    message = re.sub(r"^.*?: error: ", "", message)
    return re.sub(r", in `py_\w+`$", "", message).strip()


def _trace(diagnostics: List[Diagnostic], programs: Dict[str, Program]) -> List[Location]:
    """The lines that led to a failure, innermost first."""
    trace: List[Location] = []
    for diagnostic in diagnostics:
        program = programs.get(diagnostic.file or "")
        if program is None:
            continue
        at = (diagnostic.line, diagnostic.column)
        location = program.marks.get(at) or (None if trace else program.lines.get(at[0]))
        if location is not None and location not in trace[-1:]:
            trace.append(location)
    return trace
