"""Lists as arguments of builtin functions."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Dict, List as ListOf

from . import calls, sequences
from .code import Code
from .types import STR, List, Type
from .values import Binding, Scope, Value

Bindings = ListOf[Binding]
Keywords = Dict[str, Binding]


def list_argument(scope: Scope, node: ast.AST, name: str, binding: Binding) -> Value:
    """An argument as a list."""
    if not isinstance(binding, Value):
        raise scope.refuse(node, f"{name} takes a list, not a function")
    v = sequences.iterable(scope, node, binding)
    if v.type == STR:
        char = scope.variable("c", STR)
        return Value(List(STR), ["{[", char.code, "] : ", char.code, " in ", v.code, "}"])
    if not isinstance(v.type, List):
        raise scope.refuse(node, f"{name} takes a list, not {v.type}")
    return replace(v, type=List(v.type.element))  # what it makes of an array is a list


def element_of(v: Value) -> Type:
    assert isinstance(v.type, List)
    return v.type.element


def only_keywords(scope: Scope, node: ast.AST, name: str, keywords: Keywords,
                  *allowed: str) -> None:
    for word in keywords:
        if word not in allowed:
            raise scope.refuse(node, f"{word}= of {name} is not supported")


def count_arguments(scope: Scope, node: ast.AST, name: str, arguments: Bindings,
                    *counts: int) -> None:
    if len(arguments) not in counts:
        raise scope.refuse(node, f"{name} takes {' or '.join(map(str, counts))} arguments here")


def mapped(scope: Scope, node: ast.AST, function: Binding, lists: ListOf[Value]) -> Value:
    """The results of a function for the elements of lists of the same length."""
    items = [scope.variable("x", element_of(v)) for v in lists]
    result = calls.apply(scope, node, function, list(items), {})
    if not isinstance(result, Value):
        raise scope.refuse(node, "functions that return functions are not supported")
    code: ListOf[Code] = ["{", result.code, " : "]
    for item, v in zip(items, lists):
        code += ["; " if item is not items[0] else "", item.code, " in ", v.code]
    return Value(List(result.type), code + ["}"])
