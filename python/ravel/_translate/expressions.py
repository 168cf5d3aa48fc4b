"""Expressions of Python as values: all but calls (calls.py) and sequences (sequences.py)."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, List as ListOf, Type as Class

import numpy

from . import calls, hints, sequences
from .code import Code
from .convert import constant_value, convert, hold, joined, list_of, truth
from .comparisons import compare
from .operators import binary, unary
from .types import BOOL, INT, NEVER, STR
from .values import Binding, Foreign, Function, Scope, Unbound, Value, constant, make_tuple


def lower(scope: Scope, node: ast.expr) -> Value:
    """The value of an expression."""
    binding = lower_any(scope, node)
    if isinstance(binding, Value):
        return binding
    if isinstance(binding, Foreign) and not callable(binding.object):
        kind = type(binding.object).__name__
        raise scope.refuse(
            node, f"a constant of type {kind} is not supported: pass it as an argument")
    raise scope.refuse(node, "a function is no value here: call it")


def lower_any(scope: Scope, node: ast.expr) -> Binding:
    """The value of an expression, or the function that it names."""
    return _LOWER[type(node)](scope, node)


def _constant(scope: Scope, node: ast.Constant) -> Value:
    return _python_constant(scope, node, node.value)


def _python_constant(scope: Scope, node: ast.AST, value: Any) -> Value:
    try:
        return constant_value(scope, node, value)
    except TypeError as error:
        raise scope.refuse(node, f"a constant of type {error} is not supported") from None
    except ValueError as error:
        raise scope.refuse(node, str(error)) from None


def _name(scope: Scope, node: ast.Name) -> Binding:
    binding = scope.bindings.get(node.id)
    if binding is None:
        try:
            return python_object(scope, node, scope.definition.outside(node.id))
        except KeyError:
            raise scope.refuse(node, f"{node.id} has no value") from None
    if isinstance(binding, Unbound):
        raise scope.refuse(node, f"{node.id} may have no value here: {binding.why}")
    return binding


def python_object(scope: Scope, node: ast.AST, found: Any) -> Binding:
    """An object that a name outside of the function means."""
    definition = getattr(found, "_ravel_definition", None)
    if definition is None and found is scope.definition.source.function:
        # The function itself, which is not decorated where it is defined.
        definition = scope.definition.source.definition
    if definition is not None:
        return Function(definition, {})
    if isinstance(found, (bool, int, float, str, list, tuple)):
        return _python_constant(scope, node, found)
    if isinstance(found, (numpy.number, numpy.bool_)):
        return _python_constant(scope, node, found.item())
    return Foreign(found)


def _attribute(scope: Scope, node: ast.Attribute) -> Binding:
    owner = lower_any(scope, node.value)
    if isinstance(owner, Foreign):
        try:
            return python_object(scope, node, getattr(owner.object, node.attr))
        except AttributeError as error:
            raise scope.refuse(node, str(error)) from None
    what = owner.type if isinstance(owner, Value) else "a function"
    raise scope.refuse(
        node, f"`.{node.attr}` of {what} is not supported{hints.of_attribute(node.attr)}")


def _binary(scope: Scope, node: ast.BinOp) -> Value:
    return binary(scope, node, node.op, lower(scope, node.left), lower(scope, node.right))


def _unary(scope: Scope, node: ast.UnaryOp) -> Value:
    operand = node.operand
    if isinstance(node.op, ast.USub) and isinstance(operand, ast.Constant):
        if type(operand.value) is int:
            return _python_constant(scope, node, -operand.value)
    return unary(scope, node, node.op, lower(scope, operand))


def _bool(scope: Scope, node: ast.BoolOp) -> Value:
    """`and` and `or`: what is behind is evaluated only if it decides."""
    values = [lower(scope, value) for value in node.values]
    return _decide(scope, node, isinstance(node.op, ast.And), values)


def _decide(scope: Scope, node: ast.AST, both: bool, values: ListOf[Value]) -> Value:
    if len(values) == 1:
        return values[0]
    rest = _decide(scope, node, both, values[1:])
    first = values[0]
    if first.type == rest.type == BOOL:
        other = "f" if both else "t"
        arms: ListOf[Any] = [rest.code, other] if both else [other, rest.code]
        return Value(BOOL, ["(if ", first.code, " then ", arms[0], " else ", arms[1], ")"])

    def choose(x: Value) -> Value:
        a, b = joined(scope, node, [rest, x] if both else [x, rest], "`and`, `or`")
        return Value(
            a.type,
            ["(if ",
             truth(scope, node, x).code, " then ", a.code, " else ", b.code, ")"])
    return hold(scope, first, choose)


def _compare(scope: Scope, node: ast.Compare) -> Value:
    operands = [lower(scope, operand) for operand in (node.left, *node.comparators)]
    return _compare_each(scope, node, list(node.ops), operands)


def _compare_each(scope: Scope, node: ast.Compare, ops: ListOf[ast.cmpop],
                   values: ListOf[Value]) -> Value:
    if len(ops) == 1:
        return compare(scope, node, ops[0], values[0], values[1])

    def with_middle(middle: Value) -> Value:
        first = compare(scope, node, ops[0], values[0], middle)
        rest = _compare_each(scope, node, ops[1:], [middle, *values[2:]])
        return Value(BOOL, ["(if ", first.code, " then ", rest.code, " else f)"])
    return hold(scope, values[1], with_middle)


def _conditional(scope: Scope, node: ast.IfExp) -> Value:
    condition = truth(scope, node.test, lower(scope, node.test))
    if condition.is_constant:
        return lower(scope, node.body if condition.constant else node.orelse)
    a, b = joined(scope, node, [lower(scope, node.body), lower(scope, node.orelse)],
                  "the two values of this `if`")
    bounds = None
    if a.type == INT and a.bounds and b.bounds:
        bounds = (min(a.bounds[0], b.bounds[0]), max(a.bounds[1], b.bounds[1]))
    return Value(a.type, ["(if ", condition.code, " then ", a.code, " else ", b.code, ")"],
                 bounds=bounds)


def _tuple(scope: Scope, node: ast.Tuple) -> Value:
    if len(node.elts) < 2:
        raise scope.refuse(node, "a tuple has two items or more here")
    return make_tuple([lower(scope, item) for item in node.elts])


def _list(scope: Scope, node: ast.List) -> Value:
    return list_of(scope, node, [lower(scope, item) for item in node.elts])


def _lambda(scope: Scope, node: ast.Lambda) -> Binding:
    return calls.nested(scope, node, "<lambda>")


def _formatted(scope: Scope, node: ast.JoinedStr) -> Value:
    """An f-string of texts, ints and bools without formats."""
    code: ListOf[Code] = []
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            if part.format_spec is not None or part.conversion != -1:
                raise scope.refuse(node, "formats in f-strings are not supported")
            text = text_of(scope, part.value, lower(scope, part.value))
        else:
            text = lower(scope, part)
        code += [" ++ " if code else "(", text.code]
    return Value(STR, code + [")"]) if code else constant("")


def text_of(scope: Scope, node: ast.AST, value: Value) -> Value:
    """str(value)."""
    if value.type == STR:
        return value
    if value.type == INT:
        return Value(STR, ["int_string(", value.code, ")"])
    if value.type == BOOL:
        return Value(STR, ["(if ", value.code, ' then "True" else "False")'])
    if value.type == NEVER:
        return convert(scope, node, value, STR)
    raise scope.refuse(node,
                       f"the text of {value.type} is not supported: return the value itself")


_LOWER: Dict[Class[ast.expr], Callable[[Scope, Any], Binding]] = {
    ast.Constant: _constant, ast.Name: _name, ast.Attribute: _attribute, ast.BinOp: _binary,
    ast.UnaryOp: _unary, ast.BoolOp: _bool, ast.Compare: _compare, ast.IfExp: _conditional,
    ast.Tuple: _tuple, ast.List: _list, ast.Lambda: _lambda, ast.JoinedStr: _formatted,
    # These modules import this one.
    ast.Call: lambda scope, node: calls.call(scope, node),
    ast.Subscript: lambda scope, node: sequences.subscript(scope, node),
    ast.ListComp: lambda scope, node: sequences.comprehension(scope, node),
    ast.GeneratorExp: lambda scope, node: sequences.comprehension(scope, node),
}
