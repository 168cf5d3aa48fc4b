"""Builtin functions of Python, and those of the tables, on values."""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Dict, List as ListOf

from . import aggregates, elementwise, expressions, hints
from .convert import as_float, constant_value, convert, truth
from .operators import arithmetic, bounds_of
from .tables import BY_OBJECT, Row
from .types import FLOAT, INT, NEVER, NUMBERS, STR, List, Tuple
from .values import MOST, Binding, Scope, Value, constant, make_tuple

Values = ListOf[Value]
Keywords = Dict[str, Binding]


def call(scope: Scope, node: ast.AST, function: Any, positional: ListOf[Binding],
         keywords: Keywords) -> Value:
    """A call of an object that is no translated function."""
    for argument in positional:
        if isinstance(argument, Value) and argument.type == NEVER:
            return argument  # what never has a value is not passed on
    handler = next((handlers[id(function)] for handlers in (
        HANDLERS, aggregates.HANDLERS, elementwise.HANDLERS) if id(function) in handlers), None)
    if handler is not None:
        return handler(scope, node, positional, keywords)
    row = BY_OBJECT.get(id(function))
    name = getattr(function, "__name__", type(function).__name__)
    if row is None:
        raise scope.refuse(node, hints.of_function(function, name))
    if keywords:
        raise scope.refuse(node, f"keywords of {name} are not supported")
    return _row(scope, node, row, numbers(scope, node, name, positional))


def numbers(scope: Scope, node: ast.AST, name: str, arguments: ListOf[Binding]) -> Values:
    found: Values = []
    for argument in arguments:
        if not isinstance(argument, Value):
            raise scope.refuse(node, f"{name} takes numbers, not a function")
        if argument.type not in (*NUMBERS, NEVER):
            more = f": write [{name}(x) for x in v]" if isinstance(argument.type, List) else ""
            raise scope.refuse(node, f"{name} takes numbers, not {argument.type}{more}")
        found.append(argument)
    return found


def _row(scope: Scope, node: ast.AST, row: Row, arguments: Values) -> Value:
    if row.python == "math.log" and len(arguments) == 2:
        row = Row(row.python, [FLOAT, FLOAT], "py_log_to", FLOAT)
    if len(arguments) != len(row.takes):
        raise scope.refuse(node, f"{row.python} takes {len(row.takes)} arguments here")
    if row.takes[0] == FLOAT:
        values = [as_float(scope, node, argument) for argument in arguments]
    else:
        if any(argument.type == FLOAT for argument in arguments):
            raise scope.refuse(node, f"{row.python} takes ints")
        values = [convert(scope, node, argument, INT) for argument in arguments]
    return call_nesl(scope, node, row.nesl, values, row.gives)


def call_nesl(scope: Scope, node: ast.AST, name: str, arguments: Values, gives: Any,
              **known: Any) -> Value:
    codes: ListOf[Any] = []
    for argument in arguments:
        codes += [", " if codes else "", argument.code]
    return Value(gives, scope.mark(node, name, "(", codes, ")"), **known)


def one(scope: Scope, node: ast.AST, name: str, arguments: ListOf[Binding],
        keywords: Keywords) -> Value:
    """The only argument of a function."""
    if keywords or len(arguments) != 1 or not isinstance(arguments[0], Value):
        raise scope.refuse(node, f"{name} takes one value here")
    return arguments[0]


# ---- conversions ----


def _float(scope: Scope, node: ast.AST, arguments: ListOf[Binding],
           keywords: Keywords) -> Value:
    value = one(scope, node, "float", arguments, keywords)
    if value.type == STR and value.is_constant:
        return constant_value(scope, node, float(value.constant))
    return as_float(scope, node, numbers(scope, node, "float", [value])[0])


def _int(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    value = numbers(scope, node, "int", [one(scope, node, "int", arguments, keywords)])[0]
    if value.type == FLOAT:
        return call_nesl(scope, node, "py_to_int", [value], INT)
    return convert(scope, node, value, INT)


def _bool(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    return truth(scope, node, one(scope, node, "bool", arguments, keywords))


def _str(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    return expressions.text_of(scope, node, one(scope, node, "str", arguments, keywords))


def _ord(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    value = one(scope, node, "ord", arguments, keywords)
    if value.type != STR:
        raise scope.refuse(node, f"ord takes a character, not {value.type}")
    return call_nesl(scope, node, "py_ord", [value], INT, bounds=(0, 255))


def _chr(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    value = convert(scope, node, one(scope, node, "chr", arguments, keywords), INT)
    return call_nesl(scope, node, "py_chr", [value], STR)


# ---- numbers ----


def _whole(float_function: str) -> Callable[..., Value]:
    """Functions that give an int; an int is its own result."""
    def handler(scope: Scope, node: ast.AST, arguments: ListOf[Binding],
                keywords: Keywords) -> Value:
        if len(arguments) == 2:
            raise scope.refuse(
                node, "round to decimals is not exact in binary: round(x * 100) / 100,"
                " or round the result in Python")
        value = numbers(scope, node, "round",
                        [one(scope, node, "round", arguments, keywords)])[0]
        if value.type == FLOAT:
            return call_nesl(scope, node, float_function, [value], INT)
        return convert(scope, node, value, INT)
    return handler


def absolute(scope: Scope, node: ast.AST, arguments: ListOf[Binding],
             keywords: Keywords) -> Value:
    value = numbers(scope, node, "abs", [one(scope, node, "abs", arguments, keywords)])[0]
    if value.type == FLOAT:
        return call_nesl(scope, node, "py_float_abs", [value], FLOAT)
    low, high = bounds_of(value)
    value = convert(scope, node, value, INT)
    if low >= 0:
        return value
    most = max(high, -low)
    return call_nesl(scope, node, "py_abs", [value], INT, bounds=(0, min(most, 2**63 - 1)))


def _divmod(scope: Scope, node: ast.AST, arguments: ListOf[Binding],
            keywords: Keywords) -> Value:
    a, b = numbers(scope, node, "divmod", arguments)
    return make_tuple([arithmetic(scope, node, ast.FloorDiv, a, b),
                       arithmetic(scope, node, ast.Mod, a, b)])


def _pow(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    if keywords or len(arguments) != 2:
        raise scope.refuse(node, "pow takes two numbers here")
    a, b = numbers(scope, node, "pow", arguments)
    return arithmetic(scope, node, ast.Pow, a, b)


# ---- sequences ----


def _len(scope: Scope, node: ast.AST, arguments: ListOf[Binding], keywords: Keywords) -> Value:
    value = one(scope, node, "len", arguments, keywords)
    if isinstance(value.type, Tuple):
        return constant(len(value.type.items))
    if value.type == NEVER:
        return value
    if value.type != STR and not isinstance(value.type, List):
        raise scope.refuse(node, f"{value.type} has no len")
    return Value(INT, ["(#", value.code, ")"], bounds=(0, MOST))


HANDLERS: Dict[int, Callable[..., Value]] = {
    id(function): handler
    for function, handler in [
        (float, _float),
        (int, _int),
        (bool, _bool),
        (str, _str),
        (ord, _ord),
        (chr, _chr),
        (round, _whole("py_round")),
        (math.floor, _whole("py_floor")),
        (math.ceil, _whole("py_ceil")),
        (math.trunc, _whole("py_to_int")),
        (abs, absolute),
        (divmod, _divmod),
        (pow, _pow),
        (len, _len),
    ]
}
