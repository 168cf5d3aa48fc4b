"""What can be seen of a function without types: the subset, and what to write instead."""

from __future__ import annotations

import ast
from typing import Dict, List, Optional, Tuple, Type

from .source import Source

ALLOWED: Tuple[Type[ast.AST],
               ...] = (ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return,
                       ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While,
                       ast.Break, ast.Continue, ast.Pass, ast.Raise, ast.Assert, ast.Expr,
                       ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.UnaryOp,
                       ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List, ast.JoinedStr,
                       ast.FormattedValue, ast.Call, ast.keyword, ast.Subscript, ast.Slice,
                       ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.operator,
                       ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context)

# The class of a node, what it is, what to write instead.
REFUSED: Dict[str, Tuple[str, str]] = {
    "ClassDef": ("a class", "write functions of tuples and lists"),
    "AsyncFunctionDef": ("an async function", "write `def`"),
    "AsyncFor": ("`async for`", "write `for`"),
    "AsyncWith": ("`async with`", "do it outside of the function"),
    "With": ("`with`", "do it outside of the function"),
    "Try": ("`try`", "test for it with `if`, or catch the exception of the call"),
    "TryStar": ("`try`", "test for it with `if`, or catch the exception of the call"),
    "Import": ("`import`", "import outside of the function"),
    "ImportFrom": ("`import`", "import outside of the function"),
    "Global": ("`global`", "return the value"),
    "Nonlocal": ("`nonlocal`", "return the value"),
    "Delete": ("`del`", "leave it out: unused values take no memory"),
    "Match": ("`match`", "write `if` and `elif`"),
    "NamedExpr": ("`:=`", "assign in a statement before"),
    "Dict": ("a dict", "write a list of tuples, or two lists"),
    "DictComp": ("a dict", "write a list of tuples, or two lists"),
    "Set": ("a set", "write a list"),
    "SetComp": ("a set", "write a list"),
    "Await": ("`await`", "do it outside of the function"),
    "Yield": ("`yield`", "return a list"),
    "YieldFrom": ("`yield from`", "return a list"),
    "Starred": ("`*`", "write v + w for lists, and name the items of tuples"),
    "MatMult": ("`@`", "write sum([x * y for x, y in zip(v, w)])"),
    "Is": ("`is`", "write `==`"),
    "IsNot": ("`is not`", "write `!=`"),
    "TypeAlias": ("`type`", "leave it out"),
}


def check(source: Source) -> None:
    """Raises Unsupported for the first node that is not in the subset."""
    for decorator in source.node.decorator_list[1:]:
        raise source.unsupported(
            decorator, "further decorators are not supported: write them above"
            " a function of Python that calls this one")
    _arguments(source, source.node.args)
    for statement in source.node.body:
        _node(source, statement)


def _node(source: Source, node: ast.AST, outer: Optional[ast.AST] = None) -> None:
    at = node if hasattr(node,
                         "lineno") or outer is None else outer  # operators have no position
    message = _refusal(node)
    if message:
        raise source.unsupported(at, message)
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        _function(source, node)
    for child in _children(node):
        _node(source, child, at)


def _children(node: ast.AST) -> List[ast.AST]:
    """All but annotations, which are not looked at."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        body = node.body if isinstance(node.body, list) else [node.body]
        return [*node.args.defaults, *body]
    if isinstance(node, ast.AnnAssign):
        return [node.target, *([node.value] if node.value else [])]
    return list(ast.iter_child_nodes(node))


def _function(source: Source, node: ast.AST) -> None:
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            raise source.unsupported(decorator, "an inner function has no decorators here")
    _arguments(source, node.args)  # type: ignore[attr-defined]


def _arguments(source: Source, arguments: ast.arguments) -> None:
    for argument in (arguments.vararg, arguments.kwarg):
        if argument is not None:
            raise source.unsupported(
                argument, f"`*{argument.arg}` is not supported: a function has a"
                " fixed number of parameters; pass a list")
    for argument in (*arguments.kwonlyargs, *arguments.posonlyargs):
        raise source.unsupported(argument, "parameters only by name or only by position are not"
                                 " supported: leave out `*` and `/`")


def _refusal(node: ast.AST) -> Optional[str]:
    name = type(node).__name__
    if name in REFUSED:
        what, instead = REFUSED[name]
        return f"{what} is not supported: {instead}"
    if not isinstance(node, ALLOWED):
        return f"{name} is not supported"
    if isinstance(node, ast.Compare) and any(map(_is_none, (node.left, *node.comparators))):
        return ("a test for None is not supported: whatever has a name has a value here; pass another"
                " value for none, as -1 or math.nan, or a bool beside it")
    if isinstance(node, (ast.For, ast.While)) and node.orelse:
        return "`else` of a loop is not supported: assign a flag before `break`"
    if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.comprehension)):
        return _target(node)
    if isinstance(node, ast.Expr) and type(node.value).__name__ not in (*REFUSED, "Constant"):
        return _statement(node.value)
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.keyword) and node.arg is None:
        return "`**` is not supported: name the arguments"
    return None


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _target(node: ast.AST) -> Optional[str]:
    for target in getattr(node, "targets", None) or [node.target]:  # type: ignore[attr-defined]
        for each in ast.walk(target):
            if isinstance(each,
                          (ast.Subscript, ast.Attribute)) and isinstance(each.ctx, ast.Store):
                return ("lists and objects do not change: make a new list, as in"
                        " [y if k == i else x for k, x in enumerate(v)]")
    return None


def _statement(value: ast.expr) -> str:
    """An expression as a statement: it would be there for what it changes."""
    function = value.func if isinstance(value, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in ("append", "extend", "insert"):
        return "lists do not change: write v = v + [x], or a comprehension"
    if isinstance(function, ast.Attribute) and function.attr in ("sort", "reverse"):
        return "lists do not change: write v = sorted(v), or v[::-1]"
    if isinstance(function, ast.Name) and function.id == "print":
        return "print is not supported: return the value"
    return "a value that is not used is not computed: assign or return it"


def _constant(value: object) -> Optional[str]:
    if value is None:
        return "None is not supported: return a value of the same type in all cases"
    if isinstance(value, (bytes, complex)) or value is Ellipsis:
        return f"a constant of type {type(value).__name__} is not supported"
    return None
