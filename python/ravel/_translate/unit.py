"""A unit of translation: an entry for given types, and all functions that it needs."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple

from . import calls, expressions, frames, statements
from .code import Code, Later, NeslFunction, Writer
from .convert import convert
from .frames import Frame
from .names import Names, plain
from .source import Definition, Location
from .types import NEVER, Type, join, marked, parse
from .values import Scope, Value

MOST_ROUNDS = 12  # until the type of a result no longer changes
MOST_TYPES = 30  # specialisations of one function

# What a function of NESL gives for arguments of these types, and its name there.
FindNesl = Callable[[Any, List[str]], Tuple[str, str]]


@dataclass(eq=False)
class Specialisation:
    """A function of Python for arguments of given types."""

    definition: Definition
    function: NeslFunction
    result: Type = NEVER
    open: bool = True  # its result is not known yet
    used_open: bool = False


@dataclass
class Unit:
    number: int
    find_nesl: Optional[FindNesl] = None
    nested: Dict[Any, Definition] = field(default_factory=dict)
    known: Dict[Tuple[Any, ...], Specialisation] = field(default_factory=dict)
    count: int = 0
    uses: List[Any] = field(default_factory=list)

    def new_name(self, name: str) -> str:
        """Of a function of NESL, used by no other unit."""
        self.count += 1
        return f"{plain(name)}_{self.number}_{self.count}"

    def nesl_function(self, scope: Scope, node: ast.AST, of_nesl: Any,
                      types: List[str]) -> Tuple[str, Type]:
        """Its name, and the type of its result."""
        assert self.find_nesl
        self.uses.append(of_nesl)
        name, gives = self.find_nesl(of_nesl, types)
        try:
            return name, parse(gives)
        except ValueError as error:
            raise scope.refuse(node, f"the result of {name}: {error}") from None

    def specialise(self, scope: Scope, node: ast.AST, definition: Definition, arguments: Frame,
                   frame: Frame) -> Tuple[Specialisation, List[Value]]:
        """A function for these arguments and outer variables, and what is passed to it."""
        arguments = _plain(arguments)
        seen: Dict[int, int] = {}
        key = (definition, frames.signature(arguments, seen), frames.signature(frame, seen))
        visited: Set[int] = set()
        passed = [*frames.leaves(arguments, visited), *frames.leaves(frame, visited)]
        found = self.known.get(key)
        if found is None:
            if sum(known[0] is definition for known in self.known) >= MOST_TYPES:
                raise scope.refuse(node, f"{definition.name} calls itself with ever new types")
            found = self._translate(key, definition, arguments, frame)
        found.used_open = found.used_open or found.open
        return found, passed

    def _translate(self, key: Tuple[Any, ...], definition: Definition, arguments: Frame,
                   frame: Frame) -> Specialisation:
        """Repeats until what is assumed of the result of recursive calls is what they give."""
        made = Specialisation(definition, NeslFunction(self.new_name(definition.name)))
        self.known[key] = made
        before = set(self.known)
        for _ in range(MOST_ROUNDS):
            made.used_open = False
            result = self._round(made, arguments, frame)
            same, made.result = result == made.result, result
            if same or not made.used_open:
                made.open = False
                return made
            for other in set(self.known) - before:
                del self.known[other]
        raise definition.source.unsupported(
            definition.node, f"the type of the result of {definition.name} has no end: it would"
            f" be {made.result}")

    def _round(self, made: Specialisation, arguments: Frame, frame: Frame) -> Type:
        scope = Scope(self, made.definition, Names())
        parameters: List[Value] = []
        done: Dict[int, Frame] = {}
        inside = frames.entered(arguments, scope, parameters, done)
        outer = frames.entered(frame, scope, parameters, done)
        scope = scope.bind_all({**frames.bindings(outer), **inside})
        made.function.parameters = [(str(p.code), p.type) for p in parameters]
        made.function.result = lambda: made.result
        node = made.definition.node
        if isinstance(node, ast.Lambda):
            value = expressions.lower(scope, node.body)
            made.function.body = Later(lambda: convert(scope, node, value, made.result).code)
            return value.type
        made.function.body, type_ = statements.body(scope, node, lambda: made.result)
        known = join(type_, made.result)
        return type_ if known is None else known


def _plain(arguments: Frame) -> Frame:
    """Arguments without what is known of their values: that would differ in each call."""
    return {name: Value(binding.type, binding.code) if isinstance(binding, Value) else binding
            for name, binding in arguments.items()}


@dataclass
class Program:
    """NESL for an entry: its definitions, the entry's name, and where lines come from."""

    definitions: str
    name: str
    result: str  # the type of its result, in NESL
    marks: Dict[Tuple[int, int], Location]
    lines: Dict[int, Location]
    uses: List[Any]  # functions of NESL that it calls


def translate(definition: Definition, types: List[str], number: int,
              find_nesl: Optional[FindNesl] = None, marks: Sequence[Any] = ()) -> Program:
    """A function for arguments of these types of NESL, with marks of arrays in them.
    Unsupported, ValueError."""
    unit = Unit(number, find_nesl)
    scope = Scope(unit, definition, Names())
    given = [scope.variable("x", marked(parse(text), mark))
             for text, mark in zip_longest(types, marks)]
    arguments = calls.bound(scope, definition.node, definition, list(given), {})
    made, passed = unit.specialise(scope, definition.node, definition, arguments, {})
    if made.result == NEVER:
        raise scope.refuse(definition.node, f"{definition.name} never returns a value")
    writer = Writer()
    entry = _entry(scope, made, given, passed)
    writer.define(entry)
    return Program(writer.text(), entry.name, made.result.nesl(), writer.marks, writer.lines,
                   unit.uses)


def _entry(scope: Scope, made: Specialisation, given: List[Value],
           passed: List[Value]) -> NeslFunction:
    """The function itself, or one that passes defaults to it."""
    if [value.code for value in passed] == [value.code for value in given]:
        return made.function
    entry = NeslFunction(scope.unit.new_name(made.definition.name))
    entry.parameters = [(str(value.code), value.type) for value in given]
    entry.result = lambda: made.result
    codes: List[Code] = []
    for value in passed:
        codes += [", " if codes else "", value.code]
    entry.body = [made.function, "(", codes, ")"]
    return entry
