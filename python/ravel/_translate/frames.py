"""Variables of outer functions that inner ones mention: they become further parameters.

A frame holds what such names mean. Its values are variables of the NESL function that makes the
call, and are passed as arguments; its functions are known when the program is translated. A
function of a frame may mention others of the same frame, itself included.
"""

from __future__ import annotations

import ast
from typing import Any, Dict, Iterator, List, Set, Tuple

from .types import arrays
from .values import Binding, Foreign, Function, Scope, Value

Frame = Dict[str, Binding]


def names_read(nodes: Any) -> Set[str]:
    """All names that are read somewhere within."""
    found: Set[str] = set()
    for node in nodes if isinstance(nodes, list) else [nodes]:
        found.update(each.id for each in ast.walk(node)
                     if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load))
    return found


def assigned(nodes: Any) -> Set[str]:
    """All variables that statements may assign to, outside of functions and comprehensions."""
    found: Set[str] = set()
    for node in nodes if isinstance(nodes, list) else [nodes]:
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            found.update([node.name] if isinstance(node, ast.FunctionDef) else [])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif not isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            found |= assigned(list(ast.iter_child_nodes(node)))
    return found


def capture(scope: Scope, function: Function) -> Function:
    """The function with all that it may mention of the scope that it was defined in."""
    if function.frame is not None:
        return function
    frame: Frame = {}
    wanted = [function.definition]
    while wanted:
        for name in sorted(names_read(wanted.pop().node)):
            binding = scope.bindings.get(name)
            if binding is None or name in frame:
                continue
            frame[name] = binding
            if isinstance(binding, Function) and binding.frame is None:
                wanted.append(binding.definition)
    return Function(function.definition, frame)


def captured(scope: Scope) -> Scope:
    """A scope whose functions keep what they mention where a comprehension hides it."""
    return scope.bind_all({name: capture(scope, binding)
                           for name, binding in scope.bindings.items()
                           if isinstance(binding, Function)})


def leaves(frame: Frame, seen: Set[int]) -> Iterator[Value]:
    """The values of a frame that must be passed, in a fixed order."""
    if id(frame) in seen:
        return
    seen.add(id(frame))
    for name in sorted(frame):
        binding = frame[name]
        if isinstance(binding, Value) and not binding.is_constant:
            yield binding
        elif isinstance(binding, Function) and binding.frame is not None:
            yield from leaves(binding.frame, seen)


def signature(frame: Frame, seen: Dict[int, int]) -> Tuple[Any, ...]:
    """What a specialisation depends on: functions, types, constants."""
    if id(frame) in seen:
        return ("again", seen[id(frame)])
    seen[id(frame)] = len(seen)
    found: List[Any] = []
    for name in sorted(frame):
        binding = frame[name]
        if isinstance(binding, Value):
            known = repr(binding.constant) if binding.is_constant else None
            found.append((name, binding.type, arrays(binding.type), known))
        elif isinstance(binding, Function):
            inner = None if binding.frame is None else signature(binding.frame, seen)
            found.append((name, id(binding.definition), inner))
        else:
            about = id(binding.object) if isinstance(binding, Foreign) else binding
            found.append((name, about))
    return tuple(found)


def entered(frame: Frame, scope: Scope, parameters: List[Value], done: Dict[int,
                                                                            Frame]) -> Frame:
    """A frame as the function that is called sees it: its leaves are new variables there."""
    if id(frame) in done:
        return done[id(frame)]
    inside: Frame = {}
    done[id(frame)] = inside
    for name in sorted(frame):
        binding = frame[name]
        if isinstance(binding, Value) and not binding.is_constant:
            binding = scope.variable(name, binding.type)
            parameters.append(binding)
        elif isinstance(binding, Function) and binding.frame is not None:
            binding = Function(binding.definition,
                               entered(binding.frame, scope, parameters, done))
        inside[name] = binding
    return inside


def bindings(frame: Frame) -> Frame:
    """What the names of an entered frame mean where local variables may hide some of them."""
    return {name: Function(binding.definition, frame)
            if isinstance(binding, Function) and binding.frame is None else binding
            for name, binding in frame.items()}
