"""Builtin functions of sequences: sums, extremes, orders, and what makes sequences of sequences."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, List as ListOf

from . import calls, sequences
from .code import Code
from .convert import convert, hold, joined, list_of, truth
from .operators import arithmetic, bounds_of, compare_as
from .types import BOOL, FLOAT, INT, NEVER, NUMBERS, STR, List, Tuple, Type
from .values import MOST, Binding, Scope, Value, constant

Bindings = ListOf[Binding]
Keywords = Dict[str, Binding]


def _list(scope: Scope, node: ast.AST, name: str, binding: Binding) -> Value:
    """An argument as a list."""
    if not isinstance(binding, Value):
        raise scope.refuse(node, f"{name} takes a list, not a function")
    v = sequences.iterable(scope, node, binding)
    if v.type == STR:
        char = scope.variable("c", STR)
        return Value(List(STR), ["{[", char.code, "] : ", char.code, " in ", v.code, "}"])
    if v.type == NEVER:
        return Value(List(NEVER), "([] int)")
    if not isinstance(v.type, List):
        raise scope.refuse(node, f"{name} takes a list, not {v.type}")
    return v


def _element(v: Value) -> Type:
    assert isinstance(v.type, List)
    return v.type.element


def _only(scope: Scope, node: ast.AST, name: str, keywords: Keywords, *allowed: str) -> None:
    for word in keywords:
        if word not in allowed:
            raise scope.refuse(node, f"{word}= of {name} is not supported")


def _count(scope: Scope, node: ast.AST, name: str, arguments: Bindings, *counts: int) -> None:
    if len(arguments) not in counts:
        raise scope.refuse(node, f"{name} takes {' or '.join(map(str, counts))} arguments here")


def mapped(scope: Scope, node: ast.AST, function: Binding, lists: ListOf[Value]) -> Value:
    """The results of a function for the elements of lists of the same length."""
    items = [scope.variable("x", _element(v)) for v in lists]
    result = calls.apply(scope, node, function, list(items), {})
    if not isinstance(result, Value):
        raise scope.refuse(node, "functions that return functions are not supported")
    code: ListOf[Code] = ["{", result.code, " : "]
    for item, v in zip(items, lists):
        code += ["; " if item is not items[0] else "", item.code, " in ", v.code]
    return Value(List(result.type), code + ["}"])


# ---- numbers from lists ----


def _sum(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "sum", keywords, "start")
    _count(scope, node, "sum", arguments, 1, 2)
    v = _list(scope, node, "sum", arguments[0])
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", constant(0))
    if _element(v) not in (*NUMBERS, NEVER) or not isinstance(start, Value):
        more = ": write [x for v in vs for x in v]" if isinstance(_element(v), List) else ""
        raise scope.refuse(node, f"sum takes numbers, not {v.type}{more}")
    total = _total(scope, node, v)
    if start.is_constant and start.constant == 0 and start.type == INT:
        return total
    return arithmetic(scope, node, ast.Add, start, total)


def _total(scope: Scope, node: ast.AST, v: Value) -> Value:
    if _element(v) == FLOAT:
        return Value(FLOAT, ["sum(", v.code, ")"])
    if _element(v) == BOOL:
        return Value(INT, ["count(", v.code, ")"], bounds=(0, MOST))
    low, high = v.bounds or (-2**63, 2**63)
    bounds = (min(low * MOST, 0), max(high * MOST, 0))
    if -2**63 <= bounds[0] and bounds[1] < 2**63:
        return Value(INT, ["sum(", v.code, ")"], bounds=bounds)
    return Value(INT, scope.mark(node, "py_sum(", v.code, ")"))


def _product(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "prod", keywords)
    _count(scope, node, "prod", arguments, 1)
    v = _list(scope, node, "prod", arguments[0])
    if _element(v) == FLOAT:
        return Value(FLOAT, ["product(", v.code, ")"])
    v = convert(scope, node, v, List(INT))
    return Value(INT, scope.mark(node, "py_product(", v.code, ")"))


def _fsum(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _count(scope, node, "fsum", arguments, 1)
    v = convert(scope, node, _list(scope, node, "fsum", arguments[0]), List(FLOAT))
    return Value(FLOAT, ["sum(", v.code, ")"])


def _whether(how: str) -> Callable[..., Value]:
    """any and all."""
    def handler(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
        _only(scope, node, how, keywords)
        _count(scope, node, how, arguments, 1)
        v = _list(scope, node, how, arguments[0])
        if _element(v) == BOOL:
            return Value(BOOL, [f"{how}(", v.code, ")"])
        item = scope.variable("x", _element(v))
        holds = truth(scope, node, item)
        return Value(BOOL, [f"{how}({{", holds.code, " : ", item.code, " in ", v.code, "})"])
    return handler


def _extreme(which: str) -> Callable[..., Value]:
    """max and min."""
    def handler(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
        _only(scope, node, which, keywords, "key", "default")
        if len(arguments) > 1:
            return _of_several(scope, node, which, arguments, keywords)
        _count(scope, node, which, arguments, 1)
        v = _list(scope, node, which, arguments[0])
        default = keywords.get("default")
        if default is None:
            return _of_list(scope, node, which, v, keywords.get("key"))
        assert isinstance(default, Value)
        return hold(scope, v, lambda u: _or_default(scope, node, u, default, _of_list(
            scope, node, which, u, keywords.get("key"))), "v")
    return handler


def _or_default(scope: Scope, node: ast.AST, v: Value, default: Value, found: Value) -> Value:
    a, b = joined(scope, node, [found, default], "the default")
    return Value(a.type, ["(if #", v.code, " > 0 then ", a.code, " else ", b.code, ")"])


def _of_list(scope: Scope, node: ast.AST, which: str, v: Value, key: Any) -> Value:
    if key is not None:
        return hold(scope, v, lambda u: Value(_element(v), [
            "elt(", u.code, ", ", scope.mark(node, f"py_{which}_index(", _keys(
                scope, node, key, u).code, ")"), ")"]), "v")
    if _element(v) == BOOL:
        v = convert(scope, node, v, List(INT))
        found = Value(INT, scope.mark(node, f"py_{which}(", v.code, ")"))
        return Value(BOOL, ["(", found.code, " == 1)"])
    if _element(v) in (INT, FLOAT, NEVER):
        bounds = v.bounds if _element(v) == INT else None
        return Value(_element(v), scope.mark(node, f"py_{which}(", v.code, ")"), bounds=bounds)
    if isinstance(_element(v), Tuple):
        order = _sorted(scope, node, [v], {"reverse": constant(which == "max")})
        return Value(_element(v), scope.mark(node, "py_first_of(", order.code, ")"))
    raise scope.refuse(node, f"{which} of {v.type} is not supported: give it a key= of numbers")


def _keys(scope: Scope, node: ast.AST, key: Binding, v: Value) -> Value:
    keys = mapped(scope, node, key, [v])
    if _element(keys) == BOOL:
        return convert(scope, node, keys, List(INT))
    if _element(keys) not in (INT, FLOAT, NEVER):
        raise scope.refuse(node, f"a key is a number here, not {_element(keys)}")
    return keys


def _of_several(scope: Scope, node: ast.AST, which: str, arguments: Bindings,
                keywords: Keywords) -> Value:
    if keywords:
        raise scope.refuse(node, f"{which} of several values takes no keywords here: give it a list")
    values = [value for value in arguments if isinstance(value, Value)]
    values = joined(scope, node, values, which)
    result = values[0]
    for value in values[1:]:
        result = hold(scope, result, lambda a, b=value: hold(  # type: ignore[misc]
            scope, b, lambda c: _better(scope, node, which, a, c)))
    return result


def _better(scope: Scope, node: ast.AST, which: str, a: Value, b: Value) -> Value:
    better = compare_as(scope, node, ">" if which == "max" else "<", b, a)
    choose = max if which == "max" else min
    bounds = None
    if a.type == INT:
        (low, high), (low2, high2) = bounds_of(a), bounds_of(b)
        bounds = (choose(low, low2), choose(high, high2))
    return Value(a.type, ["(if ", better.code, " then ", b.code, " else ", a.code, ")"], bounds=bounds)


# ---- orders ----


def _sorted(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "sorted", keywords, "key", "reverse")
    _count(scope, node, "sorted", arguments, 1)
    v = _list(scope, node, "sorted", arguments[0])
    reverse = keywords.get("reverse", constant(False))
    if not isinstance(reverse, Value) or not reverse.is_constant:
        raise scope.refuse(node, "reverse= is a constant here")
    rank = "rank_down" if reverse.constant else "rank"
    key = keywords.get("key")
    if key is None and _element(v) in (INT, FLOAT, NEVER) and not reverse.constant:
        return Value(v.type, ["sort(", v.code, ")"], bounds=v.bounds)
    return hold(scope, v, lambda u: _by_keys(
        scope, node, rank, u, u if key is None else mapped(scope, node, key, [u])), "v")


def _by_keys(scope: Scope, node: ast.AST, rank: str, v: Value, keys: Value) -> Value:
    """By each component of the keys, the last one first: ranks keep the order of equals."""
    type_ = _element(keys)
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
        order = ["(let ", held.code, " = ", order, " in permute(", held.code, f", {rank}(", column, ")))"]
    result = Value(v.type, ["(", v.code, " -> ", order, ")"])
    if keys.is_atomic:
        return result
    raise scope.refuse(node, "a key is a number here, or a tuple of v itself")


def _ordinal(scope: Scope, node: ast.AST, type_: Type, code: Code) -> Code:
    if type_ == BOOL:
        return convert(scope, node, Value(List(BOOL), code), List(INT)).code
    if type_ in (INT, FLOAT, NEVER):
        return code
    raise scope.refuse(node, f"sorted by {type_} is not supported: by numbers, or tuples of numbers")


def _reversed(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _count(scope, node, "reversed", arguments, 1)
    v = _list(scope, node, "reversed", arguments[0])
    return Value(v.type, ["reverse(", v.code, ")"], bounds=v.bounds)


# ---- sequences of sequences ----


def _zip(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "zip", keywords)
    if len(arguments) < 2:
        raise scope.refuse(node, "zip takes two lists or more here")
    lists = [_list(scope, node, "zip", argument) for argument in arguments]
    code = lists[-1].code
    for v in reversed(lists[:-1]):
        code = ["py_zip(", v.code, ", ", code, ")"]
    return Value(List(Tuple(tuple(_element(v) for v in lists))), code)


def _enumerate(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "enumerate", keywords, "start")
    _count(scope, node, "enumerate", arguments, 1, 2)
    v = _list(scope, node, "enumerate", arguments[0])
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", constant(0))
    if not isinstance(start, Value) or not start.is_constant or start.constant != 0:
        raise scope.refuse(node, "enumerate begins at 0 here: add to the number")
    return Value(List(Tuple((INT, _element(v)))), ["py_enumerate(", v.code, ")"])


def _range(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _only(scope, node, "range", keywords)
    _count(scope, node, "range", arguments, 1, 2, 3)
    values: ListOf[Value] = []
    for argument in arguments:
        if not isinstance(argument, Value) or argument.type not in (INT, BOOL, NEVER):
            raise scope.refuse(node, "range takes ints")
        values.append(convert(scope, node, argument, INT))
    how = ("py_upto", "py_range", "py_range_step")[len(values) - 1]
    bounds = None
    if len(values) < 3:
        low = 0 if len(values) == 1 else bounds_of(values[0])[0]
        bounds = (low, max(low, bounds_of(values[-1])[1] - 1))
    codes: ListOf[Any] = [code for value in values for code in (", ", value.code)][1:]
    return Value(List(INT), scope.mark(node, how, "(", codes, ")"), bounds=bounds)


def _copy(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    if not arguments:
        return list_of(scope, node, [])
    _count(scope, node, "list", arguments, 1)
    return _list(scope, node, "list", arguments[0])


def _map(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _count(scope, node, "map", arguments, 2)
    return mapped(scope, node, arguments[0], [_list(scope, node, "map", arguments[1])])


def _filter(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    _count(scope, node, "filter", arguments, 2)
    v = _list(scope, node, "filter", arguments[1])
    item = scope.variable("x", _element(v))
    holds = calls.apply(scope, node, arguments[0], [item], {})
    assert isinstance(holds, Value)
    return Value(v.type, ["{", item.code, " in ", v.code, " | ", truth(scope, node, holds).code, "}"])


HANDLERS: Dict[int, Callable[..., Value]] = {id(function): handler for function, handler in [
    (sum, _sum), (math.prod, _product), (math.fsum, _fsum), (any, _whether("any")),
    (all, _whether("all")), (max, _extreme("max")), (min, _extreme("min")), (sorted, _sorted),
    (reversed, _reversed), (zip, _zip), (enumerate, _enumerate), (range, _range), (list, _copy),
    (map, _map), (filter, _filter),
]}
