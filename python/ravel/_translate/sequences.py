"""Indexing, slices and comprehensions."""

from __future__ import annotations

import ast
from typing import Any, List as ListOf, Optional, Tuple as TupleOf

from . import expressions
from .code import Code
from .convert import convert, hold, list_of, take_apart, truth
from .frames import captured
from .operators import bounds_of
from .types import BOOL, INT, NEVER, STR, List, Tuple, Type
from .values import MOST, Scope, Value


def element_type(scope: Scope, node: ast.AST, v: Value) -> Type:
    """Of what a `for` runs over."""
    if isinstance(v.type, List):
        return v.type.element
    if v.type == STR:
        return STR
    raise scope.refuse(node, f"{v.type} cannot be iterated over")


def iterable(scope: Scope, node: ast.AST, v: Value) -> Value:
    """A tuple as a list, if its items have a common type; anything else as it is."""
    if isinstance(v.type, Tuple):
        return take_apart(scope, v, lambda items: list_of(scope, node, items))
    return convert(scope, node, v, List(NEVER)) if v.type == NEVER else v


def subscript(scope: Scope, node: ast.Subscript) -> Value:
    v = expressions.lower(scope, node.value)
    if v.type == NEVER:
        return v
    if isinstance(node.slice, ast.Slice):
        if v.type == STR or isinstance(v.type, List):
            return _slice(scope, node, v, node.slice)
        raise scope.refuse(node, f"a slice of {v.type} is not supported")
    index = expressions.lower(scope, node.slice)
    if isinstance(v.type, Tuple):
        return _item(scope, node, v, index)
    if index.type == NEVER:
        return index
    if index.type not in (INT, BOOL):
        raise scope.refuse(node.slice, f"an index is an int, not {index.type}")
    if not (v.type == STR or isinstance(v.type, List)):
        raise scope.refuse(node, f"{v.type} has no elements")
    return hold(scope, v, lambda u: _element(scope, node, u, convert(scope, node, index, INT)),
                "v")


def _item(scope: Scope, node: ast.AST, v: Value, index: Value) -> Value:
    assert isinstance(v.type, Tuple)
    count = len(v.type.items)
    if not index.is_constant or not isinstance(index.constant, int):
        raise scope.refuse(
            node, "the index of a tuple is a constant here; use a list if all items"
            " have one type")
    if not -count <= index.constant < count:
        raise scope.refuse(node, f"the tuple has {count} items")
    return take_apart(scope, v, lambda items: items[index.constant])


def _element(scope: Scope, node: ast.AST, v: Value, index: Value) -> Value:
    low, high = bounds_of(index)
    at: Code = index.code
    if index.is_constant and -MOST < high < 0:
        at = ["#", v.code, f" - {-index.constant}"]
    elif low < 0:
        at = ["py_index(", index.code, ", #", v.code, ")"]
    code = scope.mark(node, "elt(", v.code, ", ", at, ")")
    if v.type == STR:
        return Value(STR, ["[", code, "]"])
    assert isinstance(v.type, List)
    return Value(v.type.element, code)


def _slice(scope: Scope, node: ast.AST, v: Value, part: ast.Slice) -> Value:
    low, high, step = (_bound(scope, bound) for bound in (part.lower, part.upper, part.step))
    if step is None or step.constant == 1:
        if low is None and high is None:
            return v
        if low is None or high is None:
            how, bound = ("py_head", high) if low is None else ("py_tail", low)
            assert bound is not None
            return Value(v.type, [how, "(", v.code, ", ", bound.code, ")"])
        return Value(v.type, ["py_slice(", v.code, ", ", low.code, ", ", high.code, ")"])
    if low is None and high is None and step.constant == -1:
        return Value(v.type, ["reverse(", v.code, ")"])
    bounds: ListOf[Code] = []
    for bound in (low, high):
        bounds += [bound.code, ", t, "] if bound else ["0, f, "]
    return Value(v.type, scope.mark(node, "py_slice_step(", v.code, ", ", bounds, step.code,
                                    ")"))


def _bound(scope: Scope, node: Optional[ast.expr]) -> Optional[Value]:
    if node is None or isinstance(node, ast.Constant) and node.value is None:
        return None
    value = expressions.lower(scope, node)
    if value.type not in (INT, BOOL, NEVER):
        raise scope.refuse(node, f"a bound of a slice is an int, not {value.type}")
    return convert(scope, node, value, INT)


# ---- comprehensions ----


def comprehension(scope: Scope, node: Any) -> Value:
    """A list; each further `for` is an apply-to-each within, all at once."""
    return _generate(scope, node, node.generators, node.elt)


def _generate(scope: Scope, node: ast.AST, generators: ListOf[ast.comprehension],
              body: ast.expr) -> Value:
    first, rest = generators[0], generators[1:]
    v = iterable(scope, first.iter, expressions.lower(scope, first.iter))
    inner, variables = each(captured(scope), first.target, v)
    sieve = _sieve(inner, first.ifs)
    value = _generate(inner, node, rest, body) if rest else expressions.lower(inner, body)
    code: ListOf[Any] = ["{", value.code, " : ", variables, " in ", v.code, sieve, "}"]
    if rest:
        return Value(value.type, ["flatten(", code, ")"])
    return Value(List(value.type), code, count=None if first.ifs else v.count)


def _sieve(scope: Scope, conditions: ListOf[ast.expr]) -> Code:
    code: ListOf[Any] = []
    for condition in reversed(conditions):
        holds = truth(scope, condition, expressions.lower(scope, condition)).code
        code = ["(if ", holds, " then ", code, " else f)"] if code else [holds]
    return [" | ", code] if code else ""


def each(scope: Scope, target: ast.expr, v: Value) -> TupleOf[Scope, Code]:
    """The scope in which a target stands for an element of v, and its pattern in NESL."""
    type_ = element_type(scope, target, v)
    if v.type == STR:
        char = scope.variable("c", STR)
        return bind_target(scope, target, Value(STR, ["[", char.code, "]"])), char.code
    names: ListOf[TupleOf[str, Value]] = []
    code = _pattern(scope, target, type_, v.bounds, names)
    return scope.bind_all(dict(names)), code


def _pattern(scope: Scope, target: ast.expr, type_: Type, bounds: Any,
             names: ListOf[TupleOf[str, Value]]) -> Code:
    if isinstance(target, ast.Name):
        variable = scope.variable(target.id, type_, bounds if type_ == INT else None)
        names.append((target.id, variable))
        return variable.code
    parts = targets(scope, target, type_)
    code: ListOf[Code] = []
    for part, part_type in parts:
        code += [", " if code else "(", _pattern(scope, part, part_type, None, names)]
    return code + [")"]


def targets(scope: Scope, target: ast.expr, type_: Type) -> ListOf[TupleOf[ast.expr, Type]]:
    """The parts of a tuple of targets, with the types of a tuple."""
    assert isinstance(target, (ast.Tuple, ast.List))  # syntax.py
    if type_ == NEVER:
        return [(part, NEVER) for part in target.elts]
    if not isinstance(type_, Tuple) or len(type_.items) != len(target.elts):
        if isinstance(type_, List):
            raise scope.refuse(target, f"{type_} has no fixed number of elements")
        raise scope.refuse(target, f"{len(target.elts)} variables for {type_}")
    return list(zip(target.elts, type_.items))


def bind_target(scope: Scope, target: ast.expr, value: Value) -> Scope:
    """A scope in which a single variable is this value, wherever it is used."""
    if isinstance(target, ast.Name):
        return scope.bind(target.id, value)
    raise scope.refuse(target, f"{value.type} has no fixed number of elements")
