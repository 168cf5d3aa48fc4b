"""Builtin functions of lists: sums, extremes, and what makes lists of lists."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, List as ListOf

from . import calls, orders
from .convert import convert, hold, joined, list_of, truth
from .lists import (Bindings, Keywords, count_arguments, element_of, list_argument, mapped,
                    only_keywords)
from .comparisons import compare_as
from .operators import arithmetic, bounds_of
from .types import BOOL, FLOAT, INT, NEVER, NUMBERS, List, Tuple
from .values import MOST, Binding, Scope, Value, constant

# ---- numbers from lists ----


def _sum(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "sum", keywords, "start")
    count_arguments(scope, node, "sum", arguments, 1, 2)
    v = list_argument(scope, node, "sum", arguments[0])
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", constant(0))
    if element_of(v) not in (*NUMBERS, NEVER) or not isinstance(start, Value):
        more = ": write [x for v in vs for x in v]" if isinstance(element_of(v), List) else ""
        raise scope.refuse(node, f"sum takes numbers, not {v.type}{more}")
    if start.type not in NUMBERS:
        raise scope.refuse(node, f"sum takes numbers, and begins with {start.type}")
    total = _total(scope, node, v)
    if start.is_constant and start.constant == 0 and start.type == INT:
        return total
    return arithmetic(scope, node, ast.Add, start, total)


def _total(scope: Scope, node: ast.AST, v: Value) -> Value:
    if element_of(v) == FLOAT:
        return Value(FLOAT, ["sum(", v.code, ")"])
    if element_of(v) == BOOL:
        return Value(INT, ["count(", v.code, ")"], bounds=(0, MOST))
    low, high = v.bounds or (-2**63, 2**63)
    bounds = (min(low * MOST, 0), max(high * MOST, 0))
    if -2**63 <= bounds[0] and bounds[1] < 2**63:
        return Value(INT, ["sum(", v.code, ")"], bounds=bounds)
    return Value(INT, scope.mark(node, "py_sum(", v.code, ")"))


def _product(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "prod", keywords)
    count_arguments(scope, node, "prod", arguments, 1)
    v = list_argument(scope, node, "prod", arguments[0])
    if element_of(v) == FLOAT:
        return Value(FLOAT, ["product(", v.code, ")"])
    v = convert(scope, node, v, List(INT))
    return Value(INT, scope.mark(node, "py_product(", v.code, ")"))


def _fsum(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    count_arguments(scope, node, "fsum", arguments, 1)
    v = convert(scope, node, list_argument(scope, node, "fsum", arguments[0]), List(FLOAT))
    return Value(FLOAT, scope.mark(node, "py_fsum(", v.code, ")"))


def _whether(how: str) -> Callable[..., Value]:
    """any and all."""
    def handler(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
        only_keywords(scope, node, how, keywords)
        count_arguments(scope, node, how, arguments, 1)
        v = list_argument(scope, node, how, arguments[0])
        if element_of(v) == BOOL:
            return Value(BOOL, [f"{how}(", v.code, ")"])
        item = scope.variable("x", element_of(v))
        holds = truth(scope, node, item)
        return Value(BOOL, [f"{how}({{", holds.code, " : ", item.code, " in ", v.code, "})"])
    return handler


def _extreme(which: str) -> Callable[..., Value]:
    """max and min."""
    def handler(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
        only_keywords(scope, node, which, keywords, "key", "default")
        if len(arguments) > 1:
            return of_several(scope, node, which, arguments, keywords)
        count_arguments(scope, node, which, arguments, 1)
        v = list_argument(scope, node, which, arguments[0])
        default = keywords.get("default")
        if default is None:
            return _of_list(scope, node, which, v, keywords.get("key"))
        assert isinstance(default, Value)
        return hold(scope, v, lambda u: hold(scope, default, lambda other: _or_default(
            scope, node, u, other, _of_list(scope, node, which, u, keywords.get("key")))), "v")
    return handler


def _or_default(scope: Scope, node: ast.AST, v: Value, default: Value, found: Value) -> Value:
    a, b = joined(scope, node, [found, default], "the default")
    return Value(a.type, ["(if #", v.code, " > 0 then ", a.code, " else ", b.code, ")"])


def _of_list(scope: Scope, node: ast.AST, which: str, v: Value, key: Any) -> Value:
    if key is not None:
        return hold(scope, v, lambda u: Value(element_of(v), [
            "elt(", u.code, ", ", scope.mark(node, f"py_{which}_index(", _keys(
                scope, node, key, u).code, ")"), ")"]), "v")
    if element_of(v) == BOOL:
        v = convert(scope, node, v, List(INT))
        found = Value(INT, scope.mark(node, f"py_{which}(", v.code, ")"))
        return Value(BOOL, ["(", found.code, " == 1)"])
    if element_of(v) in (INT, FLOAT, NEVER):
        bounds = v.bounds if element_of(v) == INT else None
        return Value(element_of(v), scope.mark(node, f"py_{which}(", v.code, ")"),
                     bounds=bounds)
    if isinstance(element_of(v), Tuple):
        order = orders.sort(scope, node, [v], {"reverse": constant(which == "max")})
        return Value(element_of(v), scope.mark(node, "py_first_of(", order.code, ")"))
    raise scope.refuse(node, f"{which} of {v.type} is not supported: give it a key= of numbers")


def _keys(scope: Scope, node: ast.AST, key: Binding, v: Value) -> Value:
    keys = mapped(scope, node, key, [v])
    if element_of(keys) == BOOL:
        return convert(scope, node, keys, List(INT))
    if element_of(keys) not in (INT, FLOAT, NEVER):
        raise scope.refuse(node, f"a key is a number here, not {element_of(keys)}")
    return keys


def of_several(scope: Scope, node: ast.AST, which: str, arguments: Bindings,
               keywords: Keywords) -> Value:
    if keywords:
        raise scope.refuse(node,
                           f"{which} of several values takes no keywords here: give it a list")
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
    return Value(a.type, ["(if ", better.code, " then ", b.code, " else ", a.code, ")"],
                 bounds=bounds)


# ---- sequences of sequences ----


def _zip(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "zip", keywords)
    if len(arguments) < 2:
        raise scope.refuse(node, "zip takes two lists or more here")
    lists = [list_argument(scope, node, "zip", argument) for argument in arguments]
    code = lists[-1].code
    for v in reversed(lists[:-1]):
        code = ["py_zip(", v.code, ", ", code, ")"]
    return Value(List(Tuple(tuple(element_of(v) for v in lists))), code)


def _enumerate(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "enumerate", keywords, "start")
    count_arguments(scope, node, "enumerate", arguments, 1, 2)
    v = list_argument(scope, node, "enumerate", arguments[0])
    start = arguments[1] if len(arguments) > 1 else keywords.get("start", constant(0))
    if not isinstance(start, Value) or not start.is_constant or start.constant != 0:
        raise scope.refuse(node, "enumerate begins at 0 here: add to the number")
    return Value(List(Tuple((INT, element_of(v)))), ["py_enumerate(", v.code, ")"])


def _range(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    only_keywords(scope, node, "range", keywords)
    count_arguments(scope, node, "range", arguments, 1, 2, 3)
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
    count_arguments(scope, node, "list", arguments, 1)
    return list_argument(scope, node, "list", arguments[0])


def _map(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    count_arguments(scope, node, "map", arguments, 2)
    return mapped(scope, node, arguments[0], [list_argument(scope, node, "map", arguments[1])])


def _filter(scope: Scope, node: ast.AST, arguments: Bindings, keywords: Keywords) -> Value:
    count_arguments(scope, node, "filter", arguments, 2)
    v = list_argument(scope, node, "filter", arguments[1])
    item = scope.variable("x", element_of(v))
    holds = calls.apply(scope, node, arguments[0], [item], {})
    assert isinstance(holds, Value)
    return Value(v.type,
                 ["{", item.code, " in ", v.code, " | ",
                  truth(scope, node, holds).code, "}"])


HANDLERS: Dict[int, Callable[..., Value]] = {
    id(function): handler
    for function, handler in [
        (sum, _sum),
        (math.prod, _product),
        (math.fsum, _fsum),
        (any, _whether("any")),
        (all, _whether("all")),
        (max, _extreme("max")),
        (min, _extreme("min")),
        (sorted, orders.sort),
        (reversed, orders.reverse),
        (zip, _zip),
        (enumerate, _enumerate),
        (range, _range),
        (list, _copy),
        (map, _map),
        (filter, _filter),
    ]
}
