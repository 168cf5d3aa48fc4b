"""Where a Python function was written, and how what is not supported is refused."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from typing import Any, Callable, Dict, Optional

from .typed import source_lines, why_not


@dataclass(frozen=True)
class Location:
    """A part of one line of Python; columns count characters from 1."""

    file: str
    line: int
    column: int
    end_column: int
    text: str  # the line
    function: str

    def shown(self) -> str:
        """The line with marks below, as Python shows it."""
        width = max(1, min(self.end_column, len(self.text) + 1) - self.column)
        return f"    {self.text}\n    " + " " * (self.column - 1) + "^" * width


class Unsupported(SyntaxError):
    """What `ravel.function` does not translate, with file, line and column."""


class Source:
    """The text of a function, and positions in it."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.definition: Optional[Definition] = None
        self.file = inspect.getsourcefile(function) or function.__code__.co_filename
        found = source_lines(function)
        if found is None:
            raise Unsupported(
                f"the source of {function.__name__} is not to be found{why_not(function)}")
        lines, first = found
        self.lines = [line.rstrip("\n") for line in lines]
        # Within a class or a function its lines are indented: then they become a block.
        self.indented = self.lines[0][:1].isspace()
        self.first = max(first, 1)
        self.node = self._parse("".join(lines))

    def _parse(self, text: str) -> ast.FunctionDef:
        try:
            tree: Any = ast.parse("if 1:\n" + text if self.indented else text)
        except SyntaxError:
            tree = ast.parse("0")
        node = tree.body[0].body[0] if self.indented else tree.body[0]
        if isinstance(node, ast.FunctionDef):
            return node
        what = "async functions are" if isinstance(node,
                                                   ast.AsyncFunctionDef) else "a lambda is"
        line = self.lines[0] if self.lines else ""
        raise Unsupported(f"{what} not supported: write `def`",
                          (self.file, self.first, 1, line))

    def location(self, node: ast.AST, name: str = "") -> Location:
        """Of a node; the name is that of the function that it is in."""
        line = getattr(node, "lineno", 1) - int(self.indented)
        text = self.lines[line - 1]
        begin = _characters(text, getattr(node, "col_offset", 0))
        same_line = getattr(node, "end_lineno", 0) == getattr(node, "lineno", 0)
        end = _characters(text, node.end_col_offset) if same_line else len(text)  # type: ignore
        return Location(self.file, self.first + line - 1, begin + 1, end + 1, text,
                        name or self.node.name)

    def unsupported(self, node: ast.AST, message: str) -> Unsupported:
        at = self.location(node)
        return Unsupported(message, (at.file, at.line, at.column, at.text))


def _characters(text: str, offset: int) -> int:
    """ast counts bytes."""
    return len(text.encode()[:offset].decode(errors="ignore"))


@dataclass(eq=False)
class Definition:
    """A function of Python that can be translated; inner ones share the source of the outer."""

    name: str
    node: Any  # ast.FunctionDef or ast.Lambda
    source: Source
    defaults: Dict[str, Any]  # constants by parameter

    def parameters(self) -> list[str]:
        return [argument.arg for argument in self.node.args.args]

    def outside(self, name: str) -> Any:
        """What a name means outside of the function, when it is translated. KeyError."""
        function = self.source.function
        cells = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
        if name in cells:
            return cells[name]
        if name in function.__globals__:
            return function.__globals__[name]
        builtins = function.__globals__["__builtins__"]
        return (builtins if isinstance(builtins, dict) else vars(builtins))[name]
