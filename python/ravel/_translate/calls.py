"""Calls: of functions that are translated, of builtin ones, of functions of NESL."""

from __future__ import annotations

import ast
from typing import Any, Dict, List, Tuple

from . import builtins, expressions
from .code import Code
from .frames import Frame, capture
from .source import Definition
from .values import Binding, Foreign, Function, Scope, Value

Arguments = Tuple[List[Binding], Dict[str, Binding]]


def call(scope: Scope, node: ast.Call) -> Value:
    function = expressions.lower_any(scope, node.func)
    if isinstance(function, Value):
        raise scope.refuse(node, f"{function.type} is not a function")
    positional = [_argument(scope, argument) for argument in node.args]
    keywords = {word.arg: _argument(scope, word.value) for word in node.keywords if word.arg}
    result = apply(scope, node, function, positional, keywords)
    if isinstance(result, Value):
        return result
    raise scope.refuse(node, "functions that return functions are not supported")


def _argument(scope: Scope, node: ast.expr) -> Binding:
    binding = expressions.lower_any(scope, node)
    return capture(scope, binding) if isinstance(binding, Function) else binding


def apply(scope: Scope, node: ast.AST, function: Binding, positional: List[Binding],
          keywords: Dict[str, Binding]) -> Binding:
    """A call with arguments that are values or functions."""
    if isinstance(function, Function):
        return _call(scope, node, capture(scope, function), positional, keywords)
    assert isinstance(function, Foreign)
    if getattr(function.object, "_ravel_nesl", False):
        return _call_nesl(scope, node, function.object, positional, keywords)
    return builtins.call(scope, node, function.object, positional, keywords)


def nested(scope: Scope, node: Any, name: str) -> Function:
    """A function that is defined within another one."""
    defaults: Dict[str, Any] = {}
    arguments = node.args
    for argument, default in zip(arguments.args[::-1], arguments.defaults[::-1]):
        if not isinstance(default, ast.Constant):
            raise scope.refuse(default, "a default of an inner function is a constant here")
        defaults[argument.arg] = default.value
    return Function(_definition(scope, node, name, defaults))


def _definition(scope: Scope, node: Any, name: str, defaults: Dict[str, Any]) -> Definition:
    """One for each node, so that specialisations of it are found again."""
    known = scope.unit.nested
    if node not in known:
        known[node] = Definition(name, node, scope.definition.source, defaults)
    return known[node]


def bound(scope: Scope, node: ast.AST, definition: Definition, positional: List[Binding],
          keywords: Dict[str, Binding]) -> Frame:
    """Arguments by the names of parameters."""
    names = definition.parameters()
    if len(positional) > len(names):
        raise scope.refuse(node, f"{definition.name} takes {len(names)} arguments, not"
                           f" {len(positional)}")
    found: Frame = dict(zip(names, positional))
    for name, value in keywords.items():
        if name not in names or name in found:
            raise scope.refuse(
                node, f"{definition.name} has no such parameter, or it has a value:"
                f" {name}")
        found[name] = value
    for name in names:
        if name not in found:
            if name not in definition.defaults:
                raise scope.refuse(node, f"the argument {name} of {definition.name} is missing")
            default = expressions.python_object(scope, node, definition.defaults[name])
            found[name] = capture(scope, default) if isinstance(default, Function) else default
    return found


def _call(scope: Scope, node: ast.AST, function: Function, positional: List[Binding],
          keywords: Dict[str, Binding]) -> Value:
    definition = function.definition
    arguments = bound(scope, node, definition, positional, keywords)
    frame = {name: binding for name, binding in (function.frame or {}).items()}
    specialised, passed = scope.unit.specialise(scope, node, definition, arguments, frame)
    codes: List[Code] = []
    for value in passed:
        codes += [", " if codes else "", value.code]
    return Value(specialised.result, scope.mark(
        node, specialised.function, "(", codes or "0", ")"))


def _call_nesl(scope: Scope, node: ast.AST, of_nesl: Any, positional: List[Binding],
               keywords: Dict[str, Binding]) -> Value:
    if keywords:
        raise scope.refuse(node, "functions of NESL have no keywords")
    codes: List[Code] = []
    types: List[str] = []
    for argument in positional:
        if not isinstance(argument, Value):
            raise scope.refuse(node, "a function of NESL takes no function of Python")
        codes += [", " if codes else "", argument.code]
        types.append(argument.type.nesl())
    name, type_ = scope.unit.nesl_function(scope, node, of_nesl, types)
    return Value(type_, scope.mark(node, name, "(", codes, ")"))
