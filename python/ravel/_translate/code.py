"""NESL as it is built: text in a tree, with the Python lines that it stands for.

A text is a string, a sequence of texts, a Mark, a Later (decided when the tree is written), or
a NeslFunction, which stands for its name. Writing a tree gives the definitions of all functions
that it mentions, and a table from lines and columns of NESL to locations in Python.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Sequence, Set, Tuple, Union

from .source import Location
from .types import Type


@dataclass(frozen=True)
class Mark:
    """A call that may fail; it begins with the name of what is called."""

    location: Location
    code: "Code"


@dataclass(frozen=True)
class Later:
    decide: Callable[[], "Code"]


@dataclass(eq=False)
class NeslFunction:
    """A function of the result. Its parameters and result are known when it is written."""

    name: str
    parameters: List[Tuple[str, Type]] = field(default_factory=list)
    body: "Code" = ""
    result: Callable[[], Type] = field(default=lambda: Type())

    def heading(self) -> str:
        """Its name, parameters and type; a function of nothing takes an int."""
        parameters = self.parameters or [("nothing", Type())]
        names = ", ".join(name for name, _ in parameters)
        takes = [type_.nesl() for _, type_ in self.parameters] or ["int"]
        joined = takes[0] if len(takes) == 1 else "(" + ", ".join(takes) + ")"
        return f"function {self.name}({names}) : {joined} -> {self.result().nesl()}"


Code = Union[str, Mark, Later, NeslFunction, Sequence[Any]]

INDENT, OUTDENT = "\0+", "\0-"  # from the next line on


class Writer:
    """Writes functions in an order in which each is known before it is called."""

    def __init__(self) -> None:
        self.chunks: List[str] = []
        self.line, self.column, self.depth = 1, 1, 0
        self.marks: Dict[Tuple[int, int], Location] = {}
        self.lines: Dict[int, Location] = {}  # the first mark of each line
        self.done: Set[NeslFunction] = set()
        self.begun: Set[NeslFunction] = set()
        self.announced: Set[NeslFunction] = set()

    def define(self, function: NeslFunction) -> None:
        """Writes a function behind all that it calls."""
        self.begun.add(function)
        for called in _called(function.body, []):
            if called not in self.begun:
                self.define(called)
            elif called not in self.done | self.announced and called is not function:
                self._text(called.heading() + ";\n")
                self.announced.add(called)
        self._text(function.heading() + " =\n  ")
        self.depth = 1
        self._write(function.body)
        self.depth = 0
        self._text(";\n\n")
        self.done.add(function)

    def text(self) -> str:
        return "".join(self.chunks)

    def _write(self, code: Code) -> None:
        if isinstance(code, str):
            self._text(code)
        elif isinstance(code, Mark):
            self.marks[self.line, self.column] = code.location
            self.lines.setdefault(self.line, code.location)
            self._write(code.code)
        elif isinstance(code, Later):
            self._write(code.decide())
        elif isinstance(code, NeslFunction):
            self._text(code.name)
        else:
            for part in code:
                self._write(part)

    def _text(self, text: str) -> None:
        if text in (INDENT, OUTDENT):
            self.depth += 1 if text == INDENT else -1
            return
        if self.depth:
            text = text.replace("\n", "\n" + "  " * self.depth)
        self.chunks.append(text)
        lines = text.count("\n")
        self.line += lines
        self.column = len(text) - text.rindex("\n") if lines else self.column + len(text)


def commas(codes: Sequence[Code]) -> List[Code]:
    return [code for each in codes for code in (", ", each)][1:]


_WORD = re.compile(r'"(?:\\.|[^"\\])*"|[A-Za-z_]\w*')


def variables_in(code: Code) -> Set[str]:
    """All words of a text but those of strings."""
    if isinstance(code, str):
        return set(_WORD.findall(code))
    if isinstance(code, NeslFunction):
        return set()
    if isinstance(code, Mark):
        return variables_in(code.code)
    if isinstance(code, Later):
        return variables_in(code.decide())
    return set().union(*map(variables_in, code))


def _called(code: Code, found: List[NeslFunction]) -> List[NeslFunction]:
    if isinstance(code, NeslFunction):
        found.append(code)
    elif isinstance(code, Mark):
        _called(code.code, found)
    elif isinstance(code, Later):
        _called(code.decide(), found)
    elif not isinstance(code, str):
        for part in code:
            _called(part, found)
    return found
