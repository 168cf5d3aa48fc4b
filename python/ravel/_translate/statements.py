"""Statements as values: what a block leaves behind it, as a tuple of NESL.

A block ends where control leaves it: behind its last statement (fall), or by return, break or
continue. What follows it goes on with what its exits leave (exits.py).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Callable, FrozenSet, List, Optional, Tuple

from . import calls, expressions, loops, sequences
from .code import Code, Later
from .convert import NOTHING, choice, convert, let, pattern, truth
from .exits import BREAK, CONTINUE, FALL, NOT_ASSIGNED, RETURN, Exit, Parts, join_exits
from .frames import assigned, names_read
from .operators import binary
from .types import INT, NEVER, List as ListType, Tuple as TupleType, Type, join, join_all
from .values import Scope, Value


@dataclass
class Block:
    """Statements in progress: bindings so far, what is read behind them, exits."""

    live: FrozenSet[str]
    exits: List[Exit]
    at: Optional[ast.AST] = None  # what stands for it if it has no statements
    bindings: List[Tuple[Code, Code]] = field(default_factory=list)


def body(scope: Scope, node: ast.FunctionDef, result: Callable[[], Type]) -> Tuple[Code, Type]:
    """The code of a function, whose returned values become `result()`; and their type."""
    exits: List[Exit] = []
    local = assigned(node.body) - set(argument.arg for argument in node.args.args)
    scope = scope.bind_all({name: NOT_ASSIGNED for name in local})
    # Inner functions read variables when they are called.
    inner = [each for each in ast.walk(node) if isinstance(each, (ast.FunctionDef, ast.Lambda))]
    code = block(scope, node.body, Block(frozenset(names_read(inner[1:])), exits))
    for each in exits:
        if each.kind == FALL:
            raise scope.refuse(each.node, f"{node.name} may end here without a `return`")
        assert each.value is not None
        each.code = _returned(each.scope, each.node, each.value, result)
    type_ = join_all(each.value.type for each in exits if each.value)
    if type_ is None:
        types = " and ".join(dict.fromkeys(
            str(each.value.type) for each in exits if each.value))
        raise scope.refuse(node, f"{node.name} returns {types}, which have no type in common")
    return code, type_


def _returned(scope: Scope, node: ast.AST, value: Value, result: Callable[[], Type]) -> Later:
    """In an early round the result may lack its final type: its text is not used then."""
    def decide() -> Code:
        type_ = result()
        fits = join(value.type, type_) == type_
        return convert(scope, node, value, type_).code if fits else "0"
    return Later(decide)


def block(scope: Scope, statements: List[ast.stmt], into: Block) -> Code:
    """Code whose value is what the exits say."""
    for number, statement in enumerate(statements):
        rest = statements[number + 1:]
        if isinstance(statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)):
            return let(into.bindings, _leave(scope, statement, into))
        if isinstance(statement, ast.If):
            code, scope = _if(scope, statement, rest, into)
            if code is not None:
                return let(into.bindings, code)
        elif isinstance(statement, (ast.For, ast.While)):
            exits, called, function = loops.loop(scope, statement, live_behind(rest, into))
            code, scope = merge(scope, statement, exits, called, rest, into, function)
            if code is not None:
                return let(into.bindings, code)
        else:
            scope = _simple(scope, statement, into)
    last = statements[-1] if statements else into.at or scope.definition.node
    left = Exit(FALL, scope, last)
    into.exits.append(left)
    return let(into.bindings, left.hole())


def live_behind(rest: List[Any], into: Block) -> FrozenSet[str]:
    return into.live | names_read(rest)


def _leave(scope: Scope, statement: ast.stmt, into: Block) -> Code:
    if isinstance(statement, ast.Raise):
        value = _raised(scope, statement)
        left = Exit(RETURN, scope, statement, value)
    elif isinstance(statement, ast.Return):
        if statement.value is None:
            raise scope.refuse(statement, "a function returns a value here")
        left = Exit(RETURN, scope, statement, expressions.lower(scope, statement.value))
    else:
        kind = BREAK if isinstance(statement, ast.Break) else CONTINUE
        left = Exit(kind, scope, statement)
    into.exits.append(left)
    return left.hole()


def _raised(scope: Scope, statement: ast.Raise) -> Value:
    """raise Kind("text"): a check that fails."""
    kind, text = statement.exc, ""
    if isinstance(kind, ast.Call):
        arguments, kind = kind.args, kind.func
        if arguments and isinstance(arguments[0], ast.Constant):
            text = str(arguments[0].value)
        elif arguments:
            raise scope.refuse(statement, "the text of an exception is a constant here")
    if not isinstance(kind, ast.Name) or not _is_exception(scope, kind):
        raise scope.refuse(statement, 'only `raise KIND("text")` is supported')
    return Value(NEVER,
                 scope.mark(statement, "py_raise(", _check(f"{kind.id}: {text}", "f"), ")"))


def _is_exception(scope: Scope, kind: ast.Name) -> bool:
    found = getattr(expressions.lower_any(scope, kind), "object", None)
    return isinstance(found, type) and issubclass(found, Exception)


def _check(sentence: str, condition: Code) -> Code:
    sentence = sentence.replace("{", "{ ")  # {v} and {w} have a meaning in checks
    text = " ".join(sentence.split()).replace("\\", "\\\\").replace('"', '\\"')
    return ["_check(", condition, f', "{text}", "", 0, 0)']


# ---- simple statements ----


def _simple(scope: Scope, statement: ast.stmt, into: Block) -> Scope:
    if isinstance(statement, ast.Assign):
        binding = expressions.lower_any(scope, statement.value)
        if len(statement.targets) > 1 and isinstance(binding, Value):
            binding = _held(scope, binding, into)
        for target in statement.targets:
            scope = assign(scope, target, binding, into)
        return scope
    if isinstance(statement, ast.AnnAssign):
        if statement.value is None:
            return scope
        return assign(scope, statement.target, expressions.lower_any(scope, statement.value),
                      into)
    if isinstance(statement, ast.AugAssign):
        return _augmented(scope, statement, into)
    if isinstance(statement, ast.FunctionDef):
        return scope.bind(statement.name, calls.nested(scope, statement, statement.name))
    if isinstance(statement, ast.Assert):
        _assert(scope, statement, into)
    return scope  # pass, a docstring


def _augmented(scope: Scope, statement: ast.AugAssign, into: Block) -> Scope:
    target: Any = statement.target
    read = ast.copy_location(ast.Name(target.id, ast.Load()), target)
    before = expressions.lower(scope, read)
    if isinstance(before.type, ListType):
        raise scope.refuse(statement, "`+=` would change the list for others, too: write"
                           " v = v + w")
    value = binary(scope, statement, statement.op, before,
                   expressions.lower(scope, statement.value))
    return assign(scope, statement.target, value, into)


def _assert(scope: Scope, statement: ast.Assert, into: Block) -> None:
    text = "AssertionError: "
    if isinstance(statement.msg, ast.Constant):
        text += str(statement.msg.value)
    holds = truth(scope, statement.test, expressions.lower(scope, statement.test))
    ok = scope.names.fresh("ok", INT)
    into.bindings.append((ok, scope.mark(statement, _check(text, holds.code))))


def assign(scope: Scope, target: ast.expr, binding: Any, into: Block) -> Scope:
    """A scope in which a target has a value."""
    if isinstance(target, ast.Name):
        if not isinstance(binding, Value) or binding.is_atomic:
            return scope.bind(target.id, binding)
        variable = scope.variable(target.id, binding.type, binding.bounds)
        into.bindings.append((variable.code, binding.code))
        return scope.bind(target.id, variable)
    if not isinstance(binding, Value):
        raise scope.refuse(target, "a function has no parts")
    if isinstance(binding.type, ListType):
        return _unpacked(scope, target, binding, into)
    parts = sequences.targets(scope, target, binding.type)
    if binding.items is not None:
        items = [_held(scope, item, into) for item in binding.items]
    else:
        items = [scope.variable(getattr(part, "id", "x"), type_) for part, type_ in parts]
        whole = TupleType(tuple(item.type for item in items))
        into.bindings.append((pattern(items), convert(scope, target, binding, whole).code))
    for (part, _), item in zip(parts, items):
        scope = assign(scope, part, item, into)
    return scope


def _unpacked(scope: Scope, target: ast.expr, value: Value, into: Block) -> Scope:
    """The elements of a list, which must have as many as there are targets."""
    assert isinstance(value.type, ListType)
    v = _held(scope, value, into)
    count = len(target.elts)  # type: ignore[attr-defined]
    if value.count != count:
        into.bindings.append((scope.names.fresh("ok", INT), scope.mark(
            target, "py_unpack(#", v.code, f", {count})")))
    for number, part in enumerate(target.elts):  # type: ignore[attr-defined]
        item = Value(value.type.element, ["elt(", v.code, f", {number})"])
        scope = assign(scope, part, item, into)
    return scope


def _held(scope: Scope, value: Value, into: Block) -> Value:
    """The value as a variable: all right sides are evaluated before the first assignment."""
    if value.is_atomic:
        return value
    variable = scope.variable("x", value.type, value.bounds)
    into.bindings.append((variable.code, value.code))
    return Value(value.type, variable.code, bounds=value.bounds, items=value.items)


# ---- branches ----


def falls(statements: List[Any]) -> bool:
    """Whether control may get behind the last statement."""
    for statement in statements:
        if isinstance(statement, (ast.Return, ast.Raise, ast.Break, ast.Continue)):
            return False
        if isinstance(statement, ast.If) and statement.orelse:
            if not falls(statement.body) and not falls(statement.orelse):
                return False
    return True


def _if(scope: Scope, statement: ast.If, rest: List[ast.stmt],
        into: Block) -> Tuple[Optional[Code], Scope]:
    """The code of all that follows, or None and the scope in which it continues."""
    condition = truth(scope, statement.test, expressions.lower(scope, statement.test))
    if condition.is_constant:
        chosen = statement.body if condition.constant else statement.orelse
        return block(scope, chosen + rest, Block(into.live, into.exits, statement)), scope
    arms = [statement.body, statement.orelse]
    if not all(falls(arm) for arm in arms):
        codes = [block(scope, arm + rest if falls(arm) else arm,
                       Block(into.live, into.exits, statement))
                 for arm in arms]
        return choice(condition.code, codes[0], codes[1]), scope
    exits: List[Exit] = []
    live = live_behind(rest, into)
    codes = [block(scope, arm, Block(live, exits, statement)) for arm in arms]
    return merge(scope, statement, exits, choice(condition.code, codes[0], codes[1]), rest,
                 into)


def merge(scope: Scope, node: ast.AST, exits: List[Exit], code: Code, rest: List[ast.stmt],
          into: Block,
          loop: Optional[loops.LoopFunction] = None) -> Tuple[Optional[Code], Scope]:
    """Fills the holes of exits, of which `code` has the value, and goes on behind them."""
    read = live_behind(rest, into) | (loop.returned if loop else frozenset())
    parts, scope = join_exits(scope, node, exits, read)
    if loop is not None:
        loop.result, loop.parts = parts.type, parts
    into.bindings.append((pattern(parts.variables) if parts.variables else NOTHING, code))
    kinds = sorted({FALL if loop and each.kind == BREAK else each.kind for each in exits})
    if kinds == [FALL]:
        return None, scope
    arms = [_go_on(scope, node, kind, parts, rest, into) for kind in kinds]
    result = arms[0]
    for kind, arm in zip(kinds[1:], arms[1:]):
        assert parts.kind is not None
        result = choice([parts.kind.code, f" == {kind}"], arm, result)
    return result, scope


def _go_on(scope: Scope, node: ast.AST, kind: int, parts: Parts, rest: List[ast.stmt],
           into: Block) -> Code:
    if kind == FALL:
        return block(scope, rest, Block(into.live, into.exits, node))
    left = Exit(kind, scope, node, parts.value if kind == RETURN else None)
    into.exits.append(left)
    return left.hole()
