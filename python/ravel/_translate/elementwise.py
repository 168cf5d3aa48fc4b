"""Functions of NumPy on numbers that give an int for ints; the others are in tables.py."""

from __future__ import annotations

import ast
from typing import Callable, Dict, List as ListOf

import numpy

from . import aggregates, builtins
from .convert import as_float, convert, hold, joined, truth
from .operators import arithmetic
from .types import FLOAT, INT, NUMBERS
from .values import Binding, Scope, Value

Arguments = ListOf[Binding]
Keywords = Dict[str, Binding]


def _numbers(scope: Scope, node: ast.AST, name: str, arguments: Arguments, keywords: Keywords,
             what: str, count: int) -> ListOf[Value]:
    if keywords or len(arguments) != count:
        raise scope.refuse(node, f"{name} takes {what} here")
    return builtins.numbers(scope, node, name, arguments)


def _extreme(scope: Scope, node: ast.AST, which: str, a: Value, b: Value) -> Value:
    """The greater or the lesser of two numbers; NaN if one is."""
    if FLOAT not in (a.type, b.type):
        values = [convert(scope, node, each, INT) for each in (a, b)]
        return aggregates.of_several(scope, node, which, list(values), {})
    name = "py_greater" if which == "max" else "py_less"
    return builtins.call_nesl(scope, node, name,
                              [as_float(scope, node, each) for each in (a, b)], FLOAT)


def _of_two(name: str, which: str) -> Callable[..., Value]:
    def handler(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
        a, b = _numbers(scope, node, name, arguments, keywords, "two numbers", 2)
        return _extreme(scope, node, which, a, b)
    return handler


def _clip(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
    x, low, high = _numbers(scope, node, "clip", arguments, keywords,
                            "a number and two bounds", 3)
    return _extreme(scope, node, "min", _extreme(scope, node, "max", x, low), high)


def _where(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
    """A choice between two values that are both computed."""
    condition, *both = _numbers(scope, node, "where", arguments, keywords,
                                "a condition and two numbers", 3)
    a, b = joined(scope, node, both, "where")
    chosen = truth(scope, node, condition)
    return builtins.call_nesl(scope, node, "select", [chosen, a, b], a.type)


def _square(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
    [x] = _numbers(scope, node, "square", arguments, keywords, "a number", 1)
    return hold(scope, x, lambda y: arithmetic(scope, node, ast.Mult, y, y))


def _sign(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
    [x] = _numbers(scope, node, "sign", arguments, keywords, "a number", 1)
    if x.type == FLOAT or x.type not in NUMBERS:
        return builtins.call_nesl(scope, node, "py_sign", [as_float(scope, node, x)], FLOAT)
    return hold(scope, convert(scope, node, x, INT), lambda y: Value(INT, [
        "(btoi(", y.code, " > 0) - btoi(", y.code, " < 0))"], bounds=(-1, 1)))


def _absolute(scope: Scope, node: ast.AST, arguments: Arguments, keywords: Keywords) -> Value:
    [x] = _numbers(scope, node, "absolute", arguments, keywords, "a number", 1)
    return builtins.absolute(scope, node, [x], {})


HANDLERS: Dict[int, Callable[..., Value]] = {id(function): handler for function, handler in [
    (numpy.maximum, _of_two("maximum", "max")), (numpy.minimum, _of_two("minimum", "min")),
    (numpy.clip, _clip), (numpy.where, _where), (numpy.square, _square), (numpy.sign, _sign),
    (numpy.absolute, _absolute),
]}
