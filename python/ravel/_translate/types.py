"""The types of the subset: what a Python value is while a function is translated.

Each type has a text in NESL. `join` says what two branches of a function have in common: an int
and a float become a float, a bool and an int an int, the empty list takes the type of the other
one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List as ListOf, Optional, Tuple as TupleOf


class Type:
    """A type; equal types compare equal."""

    def nesl(self) -> str:
        """As NESL writes it within a larger type."""
        raise NotImplementedError


@dataclass(frozen=True)
class Scalar(Type):
    name: str  # what Python calls it, for messages
    text: str  # what NESL calls it

    def nesl(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.name


BOOL = Scalar("bool", "bool")
INT = Scalar("int", "int")
FLOAT = Scalar("float", "float")
STR = Scalar("str", "[char]")  # its bytes in UTF-8
# Of what has no value: the elements of [], the result of a call that never returns.
NEVER = Scalar("nothing", "int")
NUMBERS = (BOOL, INT, FLOAT)  # each is contained in the next


@dataclass(frozen=True)
class List(Type):
    element: Type
    # Whether it came as an array, of NumPy or the like, whose operators mean something else.
    array: bool = field(default=False, compare=False)

    def nesl(self) -> str:
        return f"[{self.element.nesl()}]"

    def __str__(self) -> str:
        return f"list[{self.element}]"


@dataclass(frozen=True)
class Tuple(Type):
    items: TupleOf[Type, ...]  # two at least

    def nesl(self) -> str:
        return "(" + ", ".join(item.nesl() for item in self.items) + ")"

    def __str__(self) -> str:
        return "tuple[" + ", ".join(str(item) for item in self.items) + "]"


def marked(type_: Type, mark: Any) -> Type:
    """A type with what is known of its data: True of an array, a mark for each component of a tuple,
    a list with the mark of the elements of a list. A tuple with less marks than components ends in
    a tuple, which in NESL is a part of it."""
    if isinstance(type_, List) and mark:
        inner = mark[0] if isinstance(mark, list) else mark
        return List(marked(type_.element, inner), array=mark is True)
    if isinstance(type_, Tuple) and mark:
        items = type_.items
        marks = mark if isinstance(mark, tuple) else (mark,) * len(items)
        if len(marks) < len(items):
            items = (*items[:len(marks) - 1], Tuple(items[len(marks) - 1:]))
        return Tuple(tuple(marked(item, each) for item, each in zip(items, marks)))
    return type_


def arrays(type_: Type) -> TupleOf[Any, ...]:
    """Which lists within a type are arrays: what equality does not see."""
    if isinstance(type_, List):
        return type_.array, arrays(type_.element)
    return tuple(arrays(item) for item in type_.items) if isinstance(type_, Tuple) else ()


def join(a: Type, b: Type) -> Optional[Type]:
    """The type that values of both have after conversion; None if there is none."""
    if b == NEVER or a == b and arrays(a) == arrays(b):
        return a
    if a == NEVER:
        return b
    if a in NUMBERS and b in NUMBERS:
        return max(a, b, key=NUMBERS.index)
    if isinstance(a, List) and isinstance(b, List):
        element = join(a.element, b.element)
        return None if element is None else List(element, a.array or b.array)
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        items = tuple(join(x, y) for x, y in zip(a.items, b.items))
        return None if None in items else Tuple(items)  # type: ignore[arg-type]
    return None


def join_all(types: Iterable[Type]) -> Optional[Type]:
    result: Optional[Type] = NEVER
    for type_ in types:
        result = None if result is None else join(result, type_)
    return result


def default(type_: Type) -> str:
    """Some value of a type as NESL, where one is needed that nobody looks at."""
    if isinstance(type_, List):
        return f"([] {type_.element.nesl()})"
    if isinstance(type_, Tuple):
        return "(" + ", ".join(default(item) for item in type_.items) + ")"
    others: Dict[Type, str] = {BOOL: "f", FLOAT: "0.0", STR: '""'}
    return others.get(type_, "0")


_TOKEN = re.compile(r"\s*([A-Za-z_]\w*|[][(),])")


def parse(text: str) -> Type:
    """The type that NESL writes so: "[(int, float)]". ValueError if the subset lacks it."""
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise ValueError(f"the type {text} has no meaning in Python")
    type_ = _items(tokens)
    if tokens:
        raise ValueError(f"the type {text} has no meaning in Python")
    return type_


def _items(tokens: ListOf[str]) -> Type:
    items = [_one(tokens)]
    while tokens and tokens[0] == ",":
        tokens.pop(0)
        items.append(_one(tokens))
    return items[0] if len(items) == 1 else Tuple(tuple(items))


def _one(tokens: ListOf[str]) -> Type:
    token = tokens.pop(0) if tokens else ""
    if token in ("[", "("):
        inner = _items(tokens)
        if not tokens or tokens.pop(0) != {"[": "]", "(": ")"}[token]:
            raise ValueError("a bracket of the type is not closed")
        if token == "(":
            return inner
        return STR if inner == _CHAR else List(inner)
    for scalar in (*NUMBERS, _CHAR):
        if token == scalar.text:
            return scalar
    raise ValueError(f"{token} has no meaning in Python")


_CHAR = Scalar("char", "char")  # only within [char]; elsewhere nothing accepts it
