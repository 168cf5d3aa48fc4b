"""From a function of Python to NESL.

`compile` reads and checks a function when it is decorated; `Translation.nesl` translates it for
the types of arguments. Start reading at `unit.py`; `syntax.py` says what the subset is,
`statements.py` how statements become values, `prelude/` what translated functions call.
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
        self._programs: Dict[Tuple[str, ...], Program] = {}

    def program(self, types: List[str], find_nesl: Optional[FindNesl] = None) -> Program:
        """For arguments of these types of NESL; kept. Unsupported if they do not fit."""
        key = tuple(types)
        if key not in self._programs:
            try:
                self._programs[key] = translate(self.definition, types, next(_numbers),
                                                find_nesl)
            except RecursionError:
                raise too_deep(self.definition.source) from None
        return self._programs[key]

    def nesl(self, types: List[str]) -> Tuple[str, str]:
        """Definitions, which need the prelude, and the name of the function."""
        program = self.program(types)
        return program.definitions, program.name


compile = Translation  # pylint: disable=redefined-builtin

__all__ = ["Location", "Program", "Translation", "Unsupported", "compile", "prelude"]
