"""Orders: sorted and reversed."""

from __future__ import annotations

import ast

from .code import Code
from .convert import convert, hold
from .lists import (Bindings, Keywords, count_arguments, element_of, list_argument, mapped,
                    only_keywords)
from .types import BOOL, FLOAT, INT, NEVER, List, Tuple, Type
from .values import Scope, Value, constant


def sort(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "sorted", keywords, "key", "reverse")
    count_arguments(scope, node, "sorted", arguments, 1)
    v = list_argument(scope, node, "sorted", arguments[0])
    reverse = keywords.get("reverse", constant(False))
    if not isinstance(reverse, Value) or not reverse.is_constant:
        raise scope.refuse(node, "reverse= is a constant here")
    rank = "rank_down" if reverse.constant else "rank"
    key = keywords.get("key")
    if key is None and element_of(v) in (INT, FLOAT, NEVER) and not reverse.constant:
        return Value(v.type, ["sort(", v.code, ")"], bounds=v.bounds)
    return hold(scope, v, lambda u: hold(
        scope, u if key is None else mapped(scope, node, key, [u]),
        lambda keys: _by_keys(scope, node, rank, u, keys), "keys"), "v")


def _by_keys(scope: Scope, node: ast.AST, rank: str, v: Value, keys: Value) -> Value:
    """By each component of the keys, the last one first: ranks keep the order of equals."""
    type_ = element_of(keys)
    if not isinstance(type_, Tuple):
        return Value(v.type, ["permute(", v.code, f", {rank}(", _ordinal(
            scope, node, type_, keys.code), "))"])
    count = len(type_.items)
    parts = [scope.variable("x", item) for item in type_.items]
    names = [code for part in parts for code in (", ", part.code)][1:]
    order: Code = ["index(#", v.code, ")"]
    for i in reversed(range(count)):
        held = scope.variable("order", List(INT))
        column = _ordinal(scope, node, type_.items[i], [
            "{", parts[i].code, " : (", names, ") in ", keys.code, " -> ", held.code, "}"])
        order = [
            "(let ", held.code, " = ", order, " in permute(", held.code, f", {rank}(", column,
            ")))"
        ]
    return Value(v.type, ["(", v.code, " -> ", order, ")"])


def _ordinal(scope: Scope, node: ast.AST, type_: Type, code: Code) -> Code:
    if type_ == BOOL:
        return convert(scope, node, Value(List(BOOL), code), List(INT)).code
    if type_ in (INT, FLOAT, NEVER):
        return code
    raise scope.refuse(node,
                       f"sorted by {type_} is not supported: by numbers, or tuples of numbers")


def reverse(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    count_arguments(scope, node, "reversed", arguments, 1)
    v = list_argument(scope, node, "reversed", arguments[0])
    return Value(v.type, ["reverse(", v.code, ")"], bounds=v.bounds)
