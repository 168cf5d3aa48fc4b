"""Exits: what control leaves behind where it leaves a block, as a tuple of NESL.

Each exit leaves a hole in the code. The holes of a block are filled together: with which exit
it was, if there are several kinds, the returned value, and the variables that what follows
reads, all converted to common types.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Dict, FrozenSet, List, Optional, Set, Tuple

from .code import Code, Later, commas
from .convert import convert
from .types import INT, Tuple as TupleType, Type, default, join_all
from .values import Function, Scope, Unbound, Value

NOT_ASSIGNED = Unbound("not every way to this line assigns it; assign it before")
FALL, CONTINUE, BREAK, RETURN = 0, 1, 2, 3  # how control leaves a block


@dataclass
class Exit:
    kind: int
    scope: Scope
    node: ast.AST
    value: Optional[Value] = None  # of RETURN
    code: Code = ""  # to be filled in

    def hole(self) -> Later:
        return Later(lambda: self.code)


@dataclass
class Parts:
    """What exits leave: variables for the kind of exit, the returned value, and others."""

    kind: Optional[Value] = None
    value: Optional[Value] = None
    variables: List[Value] = field(default_factory=list)

    def type(self) -> Type:
        types = tuple(variable.type for variable in self.variables)
        return types[0] if len(types) == 1 else TupleType(types) if types else INT


def join_exits(scope: Scope, node: ast.AST, exits: List[Exit],
               live: FrozenSet[str]) -> Tuple[Parts, Scope]:
    """Fills the holes of exits; the scope behind them."""
    parts = Parts()
    fills: List[List[Code]] = [[] for _ in exits]
    if len({each.kind for each in exits}) > 1:
        parts.kind = _part(scope, "kind", INT, parts)
        for fill, each in zip(fills, exits):
            fill.append(str(each.kind))
    returned = [each.value for each in exits if each.value is not None]
    if returned:
        type_ = join_all(value.type for value in returned)
        if type_ is None:
            raise scope.refuse(node, "the values that are returned here have no type in common")
        parts.value = _part(scope, "value", type_, parts)
        for fill, each in zip(fills, exits):
            fill.append(default(type_) if each.value is None else
                        convert(each.scope, each.node, each.value, type_).code)
    scope = _join_variables(scope, exits, live, parts, fills)
    for fill, each in zip(fills, exits):
        each.code = fill[0] if len(fill) == 1 else ["(", commas(fill), ")"] if fill else "0"
    return parts, scope


def _part(scope: Scope, name: str, type_: Type, parts: Parts) -> Value:
    variable = scope.variable(name, type_)
    parts.variables.append(variable)
    return variable


def _join_variables(scope: Scope, exits: List[Exit], live: FrozenSet[str], parts: Parts,
                    fills: List[List[Code]]) -> Scope:
    staying = [each for each in exits if each.kind != RETURN]
    changed: Set[str] = {
        name
        for each in staying
        for name, binding in each.scope.bindings.items()
        if name in live and scope.bindings.get(name) is not binding
    }
    bindings: Dict[str, Any] = {}
    for name in sorted(changed):
        found = [each.scope.bindings.get(name) for each in staying]
        if any(not isinstance(binding, Value) for binding in found):
            bindings[name] = _unclear(found)
            continue
        type_ = join_all(value.type for value in found)  # type: ignore[union-attr]
        if type_ is None:
            types = [str(binding.type) for binding in found if isinstance(binding, Value)]
            names = " or ".join(dict.fromkeys(types))
            bindings[name] = Unbound(f"it is {names}, which have no type in common")
            continue
        bindings[name] = _part(scope, name, type_, parts)
        for fill, each in zip(fills, exits):
            here = each.scope.bindings.get(name)
            stays = each.kind != RETURN and isinstance(here, Value)
            fill.append(
                convert(each.scope, each.node, here, type_).code  # type: ignore[arg-type]
                if stays else default(type_))
    return scope.bind_all(bindings)


def _unclear(found: List[Any]) -> Any:
    if all(binding is found[0] for binding in found):
        return found[0]
    unbound = [binding for binding in found if isinstance(binding, Unbound)]
    if unbound:
        return unbound[0]
    if any(isinstance(binding, Function) for binding in found):
        return Unbound("it may be one of several functions")
    return NOT_ASSIGNED
