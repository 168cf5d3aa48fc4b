"""Operators with Python's meaning. Where an int is known to fit nothing is checked."""

from __future__ import annotations

import ast
from typing import Dict, Optional, Tuple, Type as Class

from .code import Code
from .convert import as_float, convert, hold, joined, truth
from .types import BOOL, FLOAT, INT, NEVER, NUMBERS, STR, List, Type
from .source import Unsupported
from .values import MOST, Scope, Value, constant

Bounds = Tuple[int, int]
FULL = (-2**63, 2**63 - 1)

# The symbol, the checked function of ints, what computes floats: an operator or a function.
ARITHMETIC: Dict[Class[ast.operator], Tuple[str, str, str]] = {
    ast.Add: ("+", "py_add", "+"),
    ast.Sub: ("-", "py_subtract", "-"),
    ast.Mult: ("*", "py_multiply", "*"),
    ast.Div: ("/", "", "py_divide"),
    ast.FloorDiv: ("//", "py_floor_divide", "py_float_floor_divide"),
    ast.Mod: ("%", "py_modulo", "py_float_modulo"),
    ast.Pow: ("**", "py_power", "py_float_power"),
}
BITS: Dict[Class[ast.operator], Tuple[str, str]] = {
    ast.BitAnd: ("&", "and"),
    ast.BitOr: ("|", "or"),
    ast.BitXor: ("^", "xor"),
    ast.LShift: ("<<", "py_shift_left"),
    ast.RShift: (">>", "py_shift_right"),
}


def bounds_of(value: Value) -> Bounds:
    return value.bounds or ((0, 1) if value.type == BOOL else FULL)


def fits(bounds: Bounds) -> bool:
    return FULL[0] <= bounds[0] and bounds[1] <= FULL[1]


def binary(scope: Scope, node: ast.AST, operator: ast.operator, a: Value, b: Value) -> Value:
    kind = type(operator)
    if a.type == NEVER or b.type == NEVER:
        return Value(NEVER, ["first(", _as_int(a), ", ", _as_int(b), ")"])
    if a.type in NUMBERS and b.type in NUMBERS:
        if kind in BITS:
            return _bits(scope, node, kind, a, b)
        return arithmetic(scope, node, kind, a, b)
    if is_array(a.type) or is_array(b.type):
        raise array_refused(scope, node, (ARITHMETIC.get(kind) or BITS[kind])[0], a, b)
    if kind is ast.Add and _is_sequence(a.type) and _is_sequence(b.type):
        return _concatenation(scope, node, a, b)
    if kind is ast.Mult and _is_sequence(a.type) and b.type in (INT, BOOL):
        return _repetition(scope, node, a, b)
    if kind is ast.Mult and _is_sequence(b.type) and a.type in (INT, BOOL):
        return _repetition(scope, node, b, a)
    symbol = (ARITHMETIC.get(kind) or BITS[kind])[0]
    hint = ": write a comprehension" if symbol != "+" and _is_sequence(a.type) else ""
    raise scope.refuse(node, f"`{symbol}` of {a.type} and {b.type} is not supported{hint}")


def is_array(type_: Type) -> bool:
    return isinstance(type_, List) and type_.array


def array_refused(scope: Scope, node: ast.AST, symbol: str, a: Value, b: Value) -> Unsupported:
    """Of an operator that means one thing for lists, and another for arrays."""
    both = isinstance(a.type, List) and isinstance(b.type, List)
    each = (f"[x {symbol} y for x, y in zip(v, w)]" if both else f"[x {symbol} c for x in v]"
            if isinstance(a.type, List) else f"[c {symbol} x for x in v]")
    return scope.refuse(node, f"`{symbol}` of an array is not supported: write"
                        f" {each} for each element, or list(v) {symbol} ... for what it means"
                        " for lists")


def _as_int(value: Value) -> Code:
    return value.code if value.type == NEVER else "0"


def _is_sequence(type_: Type) -> bool:
    return type_ == STR or isinstance(type_, List)


def _concatenation(scope: Scope, node: ast.AST, a: Value, b: Value) -> Value:
    a, b = joined(scope, node, [a, b], "`+`")
    return Value(a.type, ["(", a.code, " ++ ", b.code, ")"])


def _repetition(scope: Scope, node: ast.AST, v: Value, n: Value) -> Value:
    times = convert(scope, node, n, INT)
    return Value(v.type, scope.mark(node, "py_repeat(", v.code, ", ", times.code, ")"))


def arithmetic(scope: Scope, node: ast.AST, kind: Class[ast.operator], a: Value,
               b: Value) -> Value:
    if kind is ast.Pow and a.type == FLOAT and b.is_constant and b.constant in (2, 3):
        return hold(scope, a, lambda x: Value(FLOAT, scope.mark(
            node, "py_range_of(", x.code, f" ^ {int(b.constant)}, ", x.code, ")")))
    if kind is ast.Pow and a.type in NUMBERS and b.is_constant and b.constant == 0.5:
        x = as_float(scope, node, a)
        return Value(FLOAT, scope.mark(node, "py_half_power(", x.code, ")"))
    if kind is ast.Div and a.type == b.type == INT and not (_is_exact(a) and _is_exact(b)):
        return Value(FLOAT, scope.mark(node, "py_quotient(", a.code, ", ", b.code, ")"))
    if FLOAT in (a.type, b.type) or kind is ast.Div:
        x, y = as_float(scope, node, a), as_float(scope, node, b)
        how = ARITHMETIC[kind][2]
        if how in "+-*":
            return Value(FLOAT, ["(", x.code, f" {how} ", y.code, ")"])
        if kind is ast.Div and y.is_constant and y.constant != 0:
            return Value(FLOAT, ["(", x.code, " / ", y.code, ")"])
        return Value(FLOAT, scope.mark(node, how, "(", x.code, ", ", y.code, ")"))
    return _integers(scope, node, kind, convert(scope, node, a, INT),
                     convert(scope, node, b, INT))


def _is_exact(x: Value) -> bool:
    """Whether an int is the same number as a float."""
    least, most = bounds_of(x)
    return -2 ** 53 <= least and most <= 2 ** 53


def _integers(scope: Scope, node: ast.AST, kind: Class[ast.operator], a: Value,
              b: Value) -> Value:
    bounds = _bounds(kind, bounds_of(a), bounds_of(b))
    symbol, checked, _ = ARITHMETIC[kind]
    if kind in (ast.Add, ast.Sub, ast.Mult) and bounds and fits(bounds):
        if a.is_constant and b.is_constant:
            return constant(bounds[0])
        return Value(INT, ["(", a.code, f" {symbol} ", b.code, ")"], bounds=bounds)
    by_constant = _by_constant(scope, node, kind, a, b)
    if by_constant is not None:
        return by_constant
    if kind is ast.FloorDiv and bounds_of(a)[0] >= 0 and bounds_of(b)[0] > 0:
        return Value(INT, ["(", a.code, " / ", b.code, ")"], bounds=bounds)
    if kind is ast.Mod and bounds_of(a)[0] >= 0 and bounds_of(b)[0] > 0:
        return Value(INT, ["rem(", a.code, ", ", b.code, ")"], bounds=bounds)
    bounds = bounds if bounds and fits(bounds) else None
    return Value(INT, scope.mark(node, checked, "(", a.code, ", ", b.code, ")"), bounds=bounds)


def _by_constant(scope: Scope, node: ast.AST, kind: Class[ast.operator], a: Value,
                 b: Value) -> Optional[Value]:
    """An operation with a known int, whose check is a comparison or none at all."""
    if a.is_constant and kind in (ast.Add, ast.Mult):
        a, b = b, a
    if not b.is_constant:
        return None
    c = b.constant
    if kind is ast.Pow and c in (2, 3):
        return hold(scope, a, lambda x: _power(scope, node, x, c))
    if kind is ast.FloorDiv and c > 0 and c & (c - 1) == 0:
        return Value(INT, ["rshift(", a.code, f", {c.bit_length() - 1})"], bounds=_bounds(
            kind, bounds_of(a), (c, c)))
    if kind is ast.Mod and c > 0 and c & (c - 1) == 0:
        return Value(INT, ["(", a.code, f" and {c - 1})"], bounds=(0, c - 1))
    if kind is ast.Sub and c > FULL[0]:
        kind, c = ast.Add, -c
    if kind is ast.Add and c:
        limit = constant(FULL[1] - c if c > 0 else FULL[0] - c)
        how = "py_add_positive" if c > 0 else "py_add_negative"
        return Value(
            INT, scope.mark(node, f"{how}(", a.code, f", {constant(c).code}, {limit.code})"))
    if kind is ast.Mult and c > 1:
        return Value(INT, scope.mark(node, "py_multiply_by(", a.code, f", {c}, ", constant(
            -(2**63 // c)).code, f", {FULL[1] // c})"))
    return None


def _power(scope: Scope, node: ast.AST, x: Value, n: int) -> Value:
    """x ** n by multiplying; if x ** n fits, so do lower powers."""
    return x if n == 1 else _integers(scope, node, ast.Mult, _power(scope, node, x, n - 1), x)


def _bounds(kind: Class[ast.operator], a: Bounds, b: Bounds) -> Optional[Bounds]:
    if kind is ast.Add:
        return a[0] + b[0], a[1] + b[1]
    if kind is ast.Sub:
        return a[0] - b[1], a[1] - b[0]
    if kind is ast.Mult:
        corners = [x * y for x in a for y in b]
        return min(corners), max(corners)
    if kind is ast.FloorDiv and b[0] > 0:
        return min(a[0] // y for y in b), max(a[1] // y for y in b)
    if kind is ast.Mod and b[0] > 0:
        return 0, b[1] - 1
    return None


def _bits(scope: Scope, node: ast.AST, kind: Class[ast.operator], a: Value, b: Value) -> Value:
    symbol, how = BITS[kind]
    if FLOAT in (a.type, b.type):
        raise scope.refuse(node, f"`{symbol}` of {a.type} and {b.type} is not supported")
    both = a.type == b.type == BOOL
    if how.startswith("py_"):
        x, y = convert(scope, node, a, INT), convert(scope, node, b, INT)
        return Value(INT, scope.mark(node, how, "(", x.code, ", ", y.code, ")"))
    x, y = (a, b) if both else (convert(scope, node, a, INT), convert(scope, node, b, INT))
    bounds = None
    if not both and how == "and" and max(bounds_of(x)[0], bounds_of(y)[0]) >= 0:
        bounds = (0, min(z[1] for z in (bounds_of(x), bounds_of(y)) if z[0] >= 0))
    return Value(x.type, ["(", x.code, f" {how} ", y.code, ")"], bounds=bounds)


def unary(scope: Scope, node: ast.AST, operator: ast.unaryop, a: Value) -> Value:
    if isinstance(operator, ast.Not):
        return Value(BOOL, ["not(", truth(scope, node, a).code, ")"])
    if a.type == NEVER:
        return a
    if a.type not in NUMBERS:
        symbol = {ast.USub: "-", ast.UAdd: "+"}.get(type(operator), "~")
        raise scope.refuse(node, f"`{symbol}` of {a.type} is not supported")
    if isinstance(operator, ast.Invert):
        if a.type == FLOAT:
            raise scope.refuse(node, "`~` of float is not supported")
        return Value(INT, ["not(", convert(scope, node, a, INT).code, ")"])
    if isinstance(operator, ast.UAdd):
        return convert(scope, node, a, INT) if a.type == BOOL else a
    return _negative(scope, node, a)


def _negative(scope: Scope, node: ast.AST, a: Value) -> Value:
    if a.is_constant:
        try:
            return constant(-a.constant)
        except ValueError as error:
            raise scope.refuse(node, str(error)) from None
    if a.type == FLOAT:
        return Value(FLOAT, ["(", a.code, " * -1.0)"])
    low, high = bounds_of(a)
    x = convert(scope, node, a, INT)
    if low > FULL[0]:
        return Value(INT, ["(0 - ", x.code, ")"], bounds=(-high, -low))
    return Value(INT, scope.mark(node, "py_negative(", x.code, ")"))


def length(v: Value) -> Value:
    return Value(INT, ["(#", v.code, ")"], bounds=(0, MOST))
