"""Comparisons with Python's meaning; of lists, texts and tuples, too."""

from __future__ import annotations

import ast
from typing import Dict, Tuple, Type as Class

from .code import Code
from .convert import hold, joined, take_apart
from .operators import array_refused, is_array
from .types import BOOL, FLOAT, INT, NEVER, STR, List, Tuple as TupleType
from .values import Scope, Value, constant

COMPARISONS: Dict[Class[ast.cmpop], Tuple[str, str]] = {
    ast.Eq: ("==", "=="), ast.NotEq: ("!=", "/="), ast.Lt: ("<", "<"), ast.LtE: ("<=", "<="),
    ast.Gt: (">", ">"), ast.GtE: (">=", ">="),
}


def compare(scope: Scope, node: ast.AST, operator: ast.cmpop, a: Value, b: Value) -> Value:
    """One comparison; a bool."""
    if isinstance(operator, (ast.In, ast.NotIn)):
        found = contains(scope, node, b, a)
        return found if isinstance(operator, ast.In) or found.type == NEVER else Value(
            BOOL, ["not(", found.code, ")"])
    if isinstance(operator, (ast.Is, ast.IsNot)):
        raise scope.refuse(node, "values have no identity here: write `==` or `!=`")
    symbol, how = COMPARISONS[type(operator)]
    if is_array(a.type) or is_array(b.type):
        raise array_refused(scope, node, symbol, a, b)
    a, b = joined(scope, node, [a, b], f"`{symbol}`")
    if a.type in (INT, FLOAT, NEVER):
        return Value(BOOL, ["(", a.code, f" {how} ", b.code, ")"])
    if how == "==":
        return equal(a, b)
    if how == "/=":
        return Value(BOOL, ["not(", equal(a, b).code, ")"])
    return _ordered(scope, node, symbol, a, b)


def equal(a: Value, b: Value) -> Value:
    return Value(BOOL, ["eql(", a.code, ", ", b.code, ")"])


def _ordered(scope: Scope, node: ast.AST, symbol: str, a: Value, b: Value) -> Value:
    if a.type == BOOL:
        return Value(BOOL, ["(btoi(", a.code, f") {symbol} btoi(", b.code, "))"])
    if a.type == STR or isinstance(a.type, List) and a.type.element in (INT, FLOAT, NEVER):
        return Value(BOOL, ["(py_compare(", a.code, ", ", b.code, f") {symbol} 0)"])
    if isinstance(a.type, TupleType):
        return take_apart(scope, a, lambda xs: take_apart(
            scope, b, lambda ys: _lexicographic(scope, node, symbol, xs, ys)))
    raise scope.refuse(node, f"`{symbol}` of {a.type} is not supported: compare parts of them")


def _lexicographic(scope: Scope, node: ast.AST, symbol: str, xs: list[Value],
                   ys: list[Value]) -> Value:
    if len(xs) == 1:
        return compare_as(scope, node, symbol, xs[0], ys[0])
    strict = compare_as(scope, node, symbol[0], xs[0], ys[0])
    rest = _lexicographic(scope, node, symbol, xs[1:], ys[1:])
    same = compare_as(scope, node, "==", xs[0], ys[0])
    return Value(BOOL, ["(if ", same.code, " then ", rest.code, " else ", strict.code, ")"])


def compare_as(scope: Scope, node: ast.AST, symbol: str, a: Value, b: Value) -> Value:
    operator = next(kind for kind, (text, _) in COMPARISONS.items() if text == symbol)
    return compare(scope, node, operator(), a, b)


def contains(scope: Scope, node: ast.AST, v: Value, x: Value) -> Value:
    """x in v."""
    if v.type == NEVER or x.type == NEVER:
        return v if v.type == NEVER else x
    if v.type == STR and x.type == STR:
        return Value(BOOL, ["py_contains_text(", v.code, ", ", x.code, ")"])
    if isinstance(v.type, TupleType):
        return take_apart(scope, v, lambda items: hold(scope, x, lambda y: _any_equal(
            scope, node, items, y)))
    if not isinstance(v.type, List):
        raise scope.refuse(node, f"`in` of {v.type} is not supported")
    if v.type.element == NEVER:
        return constant(False)
    element = scope.variable("x", v.type.element)
    return hold(
        scope, x, lambda y: Value(BOOL, [
            "any({",
            compare(scope, node, ast.Eq(), y, element).code, " : ", element.code, " in ", v.
            code, "})"
        ]))


def _any_equal(scope: Scope, node: ast.AST, items: list[Value], x: Value) -> Value:
    code: Code = "f"
    for item in reversed(items):
        code = [
            "(if ",
            compare(scope, node, ast.Eq(), x, item).code, " then t else ", code, ")"
        ]
    return Value(BOOL, code)
