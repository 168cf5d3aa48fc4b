"""Values as values of another type, as conditions, and bound to names."""

from __future__ import annotations

import ast
from typing import Any, Callable, List as ListOf, Tuple as TupleOf

from .code import INDENT, OUTDENT, Code, Later
from .types import BOOL, FLOAT, INT, NEVER, NUMBERS, STR, List, Tuple, Type, default, join_all
from .values import Scope, Value, constant, make_tuple

NOTHING = "nothing"  # a variable that nobody uses
MOST_CONSTANTS = 1000  # elements of a list that becomes text


def let(bindings: ListOf[TupleOf[Code, Code]], body: Code) -> Code:
    """Several bindings of patterns, one behind the other, and what they are for."""
    return Later(lambda: _let(bindings, body)) if bindings else body


def _let(bindings: ListOf[TupleOf[Code, Code]], body: Code) -> Code:
    while isinstance(body, Later):
        body = body.decide()
    if isinstance(body, str) and body == bindings[-1][0]:
        bindings, body = bindings[:-1], bindings[-1][1]  # the name would say nothing
    if not bindings:
        return body
    code: ListOf[Code] = ["(let ", INDENT]
    for number, (pattern, bound) in enumerate(bindings):
        code += [";\n" if number else "", pattern, " = ", bound]
    return code + [OUTDENT, "\nin ", INDENT, body, OUTDENT, ")"]


def choice(condition: Code, yes: Code, no: Code) -> Code:
    """A conditional over several lines."""
    return [
        "(if ", condition, " then", INDENT, "\n", yes, OUTDENT, "\nelse", INDENT, "\n", no,
        OUTDENT, ")"
    ]


def hold(scope: Scope, value: Value, use: Callable[[Value], Value], name: str = "x") -> Value:
    """What `use` makes of a value, which is computed once."""
    if value.is_atomic:
        return use(value)
    variable = scope.variable(name, value.type, value.bounds)
    result = use(variable)
    return Value(result.type,
                 ["(let ", variable.code, " = ", value.code, " in ", result.code, ")"],
                 bounds=result.bounds)


def convert(scope: Scope, node: ast.AST, value: Value, type_: Type) -> Value:
    """A value as one of a type that it can be joined with, and that is the result of that."""
    if value.type == type_:
        return value
    if value.type in NUMBERS and type_ in NUMBERS:
        return _number(scope, node, value, type_)
    if value.type == NEVER:
        return Value(type_, [f"(let {NOTHING} = ", value.code, " in ", default(type_), ")"])
    if isinstance(value.type, List) and isinstance(type_, List):
        return _list(scope, node, value, type_)
    assert isinstance(type_, Tuple)
    wanted = type_.items
    return take_apart(scope, value, lambda items: make_tuple(
        [convert(scope, node, item, type_) for item, type_ in zip(items, wanted)]))


def _number(scope: Scope, node: ast.AST, value: Value, type_: Type) -> Value:
    if value.is_constant:
        try:
            return constant(int(value.constant) if type_ == INT else float(value.constant))
        except OverflowError:
            raise scope.refuse(node, "the int does not fit a float") from None
    if value.type == BOOL:
        code: Code = ["btoi(", value.code, ")"]
        return (Value(INT, code, bounds=(0, 1)) if type_ == INT
                else Value(FLOAT, ["float(", code, ")"]))
    if value.bounds and max(map(abs, value.bounds)) <= 2**53:
        return Value(FLOAT, ["float(", value.code, ")"])
    return Value(FLOAT, scope.mark(node, "py_widen(", value.code, ")"))


def as_float(scope: Scope, node: ast.AST, value: Value) -> Value:
    """A number as a float, rounded as Python rounds an int that meets a float."""
    if value.type == INT and not value.is_constant:
        return Value(FLOAT, ["float(", value.code, ")"])
    return convert(scope, node, value, FLOAT)


def _list(scope: Scope, node: ast.AST, value: Value, type_: List) -> Value:
    assert isinstance(value.type, List)
    if value.type.element == NEVER:
        return Value(type_, default(type_))
    item = scope.variable("x", value.type.element)
    converted = convert(scope, node, item, type_.element)
    return Value(type_, ["{", converted.code, " : ", item.code, " in ", value.code, "}"])


def take_apart(scope: Scope, value: Value, use: Callable[[ListOf[Value]], Value]) -> Value:
    """What `use` makes of the components of a tuple."""
    assert isinstance(value.type, Tuple)
    if value.items is not None and all(item.is_atomic for item in value.items):
        return use(list(value.items))
    parts = [scope.variable("x", type_) for type_ in value.type.items]
    result = use(parts)
    return Value(result.type,
                 ["(let ", pattern(parts), " = ", value.code, " in ", result.code, ")"],
                 bounds=result.bounds)


def pattern(parts: ListOf[Value]) -> Code:
    """Variables as the pattern of a tuple."""
    code: ListOf[Any] = []
    for part in parts:
        code += [", " if code else "(", part.code]
    return code + [")"] if len(parts) > 1 else parts[0].code


def truth(scope: Scope, node: ast.AST, value: Value) -> Value:
    """Whether Python takes a value for true."""
    if value.is_constant:
        return constant(bool(value.constant))
    if value.type == BOOL:
        return value
    if value.type == INT:
        return Value(BOOL, ["(", value.code, " /= 0)"])
    if value.type == FLOAT:
        return Value(BOOL, ["(", value.code, " /= 0.0)"])
    if isinstance(value.type, List) and value.type.array:
        raise scope.refuse(node, "an array is neither true nor false: write len(v) > 0, or"
                           " any(v), or all(v)")
    if value.type == STR or isinstance(value.type, List):
        return Value(BOOL, ["(#", value.code, " > 0)"])
    if value.type == NEVER:
        return convert(scope, node, value, BOOL)
    return Value(BOOL, [f"(let {NOTHING} = ", value.code, " in t)"])


def list_of(scope: Scope, node: ast.AST, values: ListOf[Value]) -> Value:
    """A list of these elements, whose types are joined."""
    type_ = join_all(value.type for value in values)
    if type_ is None:
        raise scope.refuse(node, "a list has elements of one type, not " +
                           ", ".join(str(value.type) for value in values))
    if not values:
        return Value(List(NEVER), "([] int)")
    codes: ListOf[Code] = []
    for value in values:
        codes += [", " if codes else "[", convert(scope, node, value, type_).code]
    return Value(List(type_), codes + ["]"], count=len(values))


def constant_value(scope: Scope, node: ast.AST, value: Any) -> Value:
    """A constant of Python: scalars, texts, tuples and lists of such. TypeError, ValueError."""
    if isinstance(value, tuple) and len(value) > 1:
        return make_tuple([constant_value(scope, node, item) for item in value])
    if isinstance(value, list) and len(value) > MOST_CONSTANTS:
        raise ValueError(
            f"a constant of {len(value)} elements is too long: pass it as an argument")
    if isinstance(value, list):
        return list_of(scope, node, [constant_value(scope, node, item) for item in value])
    return constant(value)


def joined(scope: Scope, node: ast.AST, values: ListOf[Value], what: str) -> ListOf[Value]:
    """Values as values of one type; refused if there is none."""
    type_ = join_all(value.type for value in values)
    if type_ is None:
        names = " and ".join(dict.fromkeys(str(value.type) for value in values))
        raise scope.refuse(node, f"{what}: {names} have no type in common")
    return [convert(scope, node, value, type_) for value in values]
