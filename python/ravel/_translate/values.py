"""What names and expressions of a function stand for while it is translated."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, Optional, Tuple, Union

from .code import Code, Mark
from .names import Names
from .source import Definition, Unsupported
from .types import BOOL, FLOAT, INT, STR, Tuple as TupleType, Type

if TYPE_CHECKING:
    from .unit import Unit

NO_CONSTANT = object()
MOST = 2**40  # more elements than a sequence has


@dataclass(frozen=True)
class Value:
    """A value when the function runs: its type and the NESL that computes it."""

    type: Type
    code: Code
    constant: Any = NO_CONSTANT  # its value, if that is known now
    bounds: Optional[Tuple[int, int]] = None  # of an int: the least and the greatest it may be
    items: Optional[Tuple["Value", ...]] = None  # of a tuple that was just made
    count: Optional[int] = None  # of a list: how many elements it has, if that is known

    @property
    def is_constant(self) -> bool:
        return self.constant is not NO_CONSTANT

    @property
    def is_atomic(self) -> bool:
        """Whether writing it twice computes nothing twice."""
        return isinstance(self.code, str) and (self.is_constant or self.code.isidentifier())


@dataclass(frozen=True, eq=False)
class Function:
    """A function: it is known when the program is translated, not a value when it runs."""

    definition: Definition
    frame: Optional[Dict[str,
                         "Binding"]] = None  # variables of outer functions that it mentions


@dataclass(frozen=True)
class Foreign:
    """An object of Python that has a meaning here: a builtin function, a module."""

    object: Any


@dataclass(frozen=True)
class Unbound:
    """A variable that may have no value."""

    why: str


Binding = Union[Value, Function, Foreign, Unbound]


@dataclass(frozen=True)
class Scope:
    """What names mean at some point of a function."""

    unit: "Unit"
    definition: Definition
    names: Names
    bindings: Dict[str, Binding] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> "Scope":
        return self.bind_all({name: binding})

    def bind_all(self, bindings: Dict[str, Binding]) -> "Scope":
        return Scope(self.unit, self.definition, self.names, {**self.bindings, **bindings})

    def variable(self, name: str, type_: Type, bounds: Optional[Tuple[int,
                                                                      int]] = None) -> Value:
        """A new variable of NESL."""
        return Value(type_, self.names.fresh(name, type_), bounds=bounds)

    def refuse(self, node: ast.AST, message: str) -> Unsupported:
        return self.definition.source.unsupported(node, message)

    def mark(self, node: ast.AST, *code: Any) -> Mark:
        """A call that may fail, for which the node is to blame."""
        name = self.definition.name
        return Mark(self.definition.source.location(node, name), code)


def constant(value: Any) -> Value:
    """A bool, int, float or str of Python. TypeError, ValueError."""
    if isinstance(value, bool):
        return Value(BOOL, "t" if value else "f", value)
    if isinstance(value, int):
        return Value(INT, _int_text(value), value, (value, value))
    if isinstance(value, float):
        return Value(FLOAT, _float_text(value), value)
    if isinstance(value, str):
        return Value(STR, _text_text(value), value)
    raise TypeError(type(value).__name__)


def _int_text(value: int) -> str:
    if not -2**63 <= value < 2**63:
        raise ValueError("an int has 64 bits here")
    return "min_int" if value == -2**63 else f"({value})" if value < 0 else str(value)


def _float_text(value: float) -> str:
    if value != value:
        return "py_nan"
    if value in (float("inf"), float("-inf")):
        return "py_infinity" if value > 0 else "(0.0 - py_infinity)"
    text = repr(value)
    if "." not in text:
        text = text.replace("e", ".0e")
    if text == "-0.0":
        return "(0.0 * -1.0)"
    return f"({text})" if value < 0 else text


def _text_text(value: str) -> str:
    if not value.isascii() or "\0" in value:
        raise ValueError("only ASCII text has one element for each character here")
    lines = ['"' + line.replace("\\", "\\\\").replace('"', '\\"') + '"'
             for line in value.split("\n")]
    return lines[0] if len(lines) == 1 else "(" + " ++ [newline] ++ ".join(lines) + ")"


def make_tuple(items: list[Value]) -> Value:
    codes: list[Any] = ["("]
    for item in items:
        codes += [item.code, ", "]
    return Value(TupleType(tuple(item.type for item in items)), codes[:-1] + [")"],
                 items=tuple(items))
