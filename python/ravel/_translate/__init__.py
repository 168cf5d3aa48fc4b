"""From a function of Python to NESL. Nothing here runs NESL; `../_function.py` does.

A `Translation` reads and checks a function when it is decorated, and translates it for types of
arguments. `unit.py` is the beginning: it specialises a function, and repeats where the type of
a result depends on itself.

- Before types are known: `source.py` (positions, `Unsupported`), `typed.py` (sources of the prompt),
  `syntax.py` (the subset).
- What things are: `types.py`, `values.py` (scopes), `frames.py` (variables of outer functions).
- Expressions: `expressions.py`, `operators.py`, `comparisons.py`, `sequences.py`, `calls.py`,
  `convert.py`.
- Builtin functions: `tables.py` (those of numbers, as data), `hints.py` (what to write instead of others), `builtins.py`,
  `elementwise.py` (NumPy's), `aggregates.py`, `orders.py`, `lists.py`.
- Statements become values: `statements.py`, `exits.py`, `loops.py`.
- `code.py`, `names.py`: NESL as text, with a table from its lines and columns to Python's.
- `prelude/`: NESL that is called: Python's arithmetic, with checks. A sentence of a check
  begins with the exception that `../_explained.py` makes of it.

A value is code and a type; an int may have bounds, which make checks unnecessary. Types only
widen (`join`), so each repetition ends.
"""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple

from .source import Definition, Location, Source, Unsupported
from .syntax import check
from .unit import FindNesl, Program, translate

PRELUDE = ("ints", "floats", "math", "sequences")  # each may call those before it
_numbers = itertools.count(1)


def prelude() -> str:
    """What every translated function may call; defined once in a context."""
    folder = Path(__file__).parent / "prelude"
    return "\n".join((folder / f"{name}.nesl").read_text(encoding="utf-8") for name in PRELUDE)


def too_deep(source: Source) -> Unsupported:
    return source.unsupported(source.node, "something in this function is nested too deeply"
                              " to be translated: split it into several statements")


class Translation:
    """A function of Python, for any types of arguments."""

    def __init__(self, function: Callable[..., Any]):
        source = Source(function)
        try:
            check(source)
        except RecursionError:
            raise too_deep(source) from None
        parameters = inspect.signature(function).parameters
        defaults = {name: parameter.default for name, parameter in parameters.items()
                    if parameter.default is not parameter.empty}
        self.definition = Definition(function.__name__, source.node, source, defaults)
        source.definition = self.definition
        self._programs: Dict[Tuple[Any, ...], Program] = {}

    def program(self, types: List[str], find_nesl: Optional[FindNesl] = None,
                marks: Tuple[Any, ...] = ()) -> Program:
        """For arguments of these types of NESL, with marks of arrays in them (types.py); kept.
        Unsupported if they do not fit."""
        key = (*types, repr(marks))
        if key not in self._programs:
            try:
                self._programs[key] = translate(self.definition, types, next(_numbers),
                                                find_nesl, marks)
            except RecursionError:
                raise too_deep(self.definition.source) from None
        return self._programs[key]


__all__ = ["Location", "Program", "Translation", "Unsupported", "prelude"]
