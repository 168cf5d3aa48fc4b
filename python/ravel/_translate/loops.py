"""Loops: each becomes a recursive function of the variables that it changes."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import (Any, Callable, Dict, FrozenSet, List as ListOf, Optional, Set,
                    Tuple as TupleOf, Union)

from . import expressions, sequences, statements
from .code import Code, Later, NeslFunction, commas, variables_in
from .convert import NOTHING, choice, convert, let, pattern, truth
from .exits import BREAK, CONTINUE, FALL, RETURN, Exit, Parts
from .frames import assigned, names_read
from .names import Names
from .operators import bounds_of, length
from .types import BOOL, INT, NEVER, STR, Type, join
from .values import Scope, Value

MOST_ROUNDS = 12
STEPS = 1000  # of a block: nested calls of a long loop

Loop = Union[ast.For, ast.While]


def loop(scope: Scope, node: Loop,
         live: FrozenSet[str]) -> TupleOf[ListOf[Any], Code, LoopFunction]:
    """The exits of a loop; the call of its function, which gives what they leave; and that
    function, whose result has a type when the exits are joined."""
    if isinstance(node, ast.While):
        return _loop(scope, node, live, _While(node))
    counter = _counter(scope, node)
    exits, code, function = _loop(scope, node, live, counter)
    return exits, let(counter.bindings, code), function


class _While:
    """What a loop does before its body: a test."""

    counted: Optional[Value] = None

    def __init__(self, node: ast.While):
        self.node = node

    def begin(self, scope: Scope, into: Any) -> TupleOf[Scope, Optional[Code]]:
        """The scope of the body, and the condition to run it; None: always."""
        test = truth(scope, self.node.test, expressions.lower(scope, self.node.test))
        return scope, None if test.is_constant and test.constant else test.code


class _Counter:
    """What a `for` does before its body: it counts, and assigns an element."""

    def __init__(self, scope: Scope, node: ast.For, count: Code,
                 element: Callable[[Value], Value], bindings: ListOf[TupleOf[Code, Code]]):
        self.node, self.element, self.bindings = node, element, bindings
        self.counted: Value = scope.variable("k", INT, (0, 2**62))
        self.count = scope.variable("count", INT, (0, 2**62))
        bindings.append((self.count.code, count))

    def begin(self, scope: Scope, into: Any) -> TupleOf[Scope, Optional[Code]]:
        scope = statements.assign(scope, self.node.target, self.element(self.counted), into)
        return scope, [self.counted.code, " < ", self.count.code]


Head = Union[_While, _Counter]


def _counter(scope: Scope, node: ast.For) -> _Counter:
    """Over a range, or over the elements of a list."""
    bindings: ListOf[TupleOf[Code, Code]] = []
    bounds = _range_bounds(scope, node.iter)
    if bounds is not None:
        return _range_counter(scope, node, bounds, bindings)
    v = sequences.iterable(scope, node.iter, expressions.lower(scope, node.iter))
    type_ = sequences.element_type(scope, node.iter, v)
    held = scope.variable("v", v.type)
    bindings.append((held.code, v.code))

    def element(k: Value) -> Value:
        code: Code = ["elt(", held.code, ", ", k.code, ")"]
        return Value(STR, ["[", code, "]"]) if v.type == STR else Value(type_, code)
    return _Counter(scope, node, length(held).code, element, bindings)


def _range_bounds(scope: Scope, node: ast.expr) -> Optional[ListOf[Value]]:
    """The arguments of a call of Python's range."""
    if not isinstance(node, ast.Call) or node.keywords or not 1 <= len(node.args) <= 3:
        return None
    if getattr(expressions.lower_any(scope, node.func), "object", None) is not range:
        return None
    values = []
    for argument in node.args:
        value = expressions.lower(scope, argument)
        if value.type not in (INT, BOOL, NEVER):
            raise scope.refuse(argument, f"range takes ints, not {value.type}")
        values.append(convert(scope, argument, value, INT))
    return values


def _range_counter(scope: Scope, node: ast.For, values: ListOf[Value],
                   bindings: ListOf[TupleOf[Code, Code]]) -> _Counter:
    held = []
    for value in values:
        if not value.is_atomic:
            variable = scope.variable("x", INT, value.bounds)
            bindings.append((variable.code, value.code))
            value = variable
        held.append(value)
    if len(held) == 1:
        high = bounds_of(held[0])[1]
        return _Counter(scope, node, held[0].code,
                        lambda k: Value(INT, k.code, bounds=(0, max(high - 1, 0))), bindings)
    start, stop = held[0], held[1]
    step: Code = held[2].code if len(held) == 3 else "1"
    count = scope.mark(node, "py_count(", start.code, ", ", stop.code, ", ", step, ")")
    step_text: ListOf[Code] = [" * ", step] if len(held) == 3 else []
    low, top = bounds_of(start)[0], bounds_of(stop)[1]
    bounds = (low, max(low, top - 1)) if len(held) < 3 else None
    return _Counter(scope, node, count, lambda k: Value(
        INT, ["(", start.code, " + ", k.code, step_text, ")"], bounds=bounds), bindings)


def _loop(scope: Scope, node: Loop, live: FrozenSet[str],
          head: Head) -> TupleOf[ListOf[Any], Code, LoopFunction]:
    """Repeats until the types of the variables that it changes are those that it ends with."""
    known = scope.names.known()
    read = names_read(node)
    carried: Dict[str, Type] = {}
    for name in sorted(assigned(node)):
        binding = scope.bindings.get(name)
        if isinstance(binding, Value) and (name in live or name in read):
            carried[name] = binding.type
    for _ in range(MOST_ROUNDS):
        made = _round(scope, node, live, head, carried)
        wider = _wider(scope, node, carried, made.again)
        if wider == carried:
            return _finish(scope, node, made, head, known)
        carried = wider
    raise scope.refuse(node, "the types of variables of this loop have no end")


@dataclass
class _Round:
    """The body for some types of variables, exits that repeat it, and those that leave it."""

    body: Code
    parameters: Dict[str, Value]
    again: ListOf[Any]
    leaving: ListOf[Any]


def _round(scope: Scope, node: Loop, live: FrozenSet[str], head: Head,
           carried: Dict[str, Type]) -> _Round:
    parameters = {name: scope.variable(name, type_) for name, type_ in carried.items()}
    inside = scope.bind_all(dict(parameters))
    found: ListOf[Exit] = []
    into = statements.Block(live | names_read(node), found)
    begun, condition = head.begin(inside, into)
    code = statements.block(begun, node.body, into)
    again = [each for each in found if each.kind in (FALL, CONTINUE)]
    leaving = [each for each in found if each.kind in (BREAK, RETURN)]
    if condition is not None:
        done = Exit(FALL, inside, node)
        leaving.append(done)
        code = choice(condition, code, done.hole())
    if not leaving:
        raise scope.refuse(node, "this loop never ends")
    return _Round(code, parameters, again, leaving)


def _wider(scope: Scope, node: Loop, carried: Dict[str, Type],
           again: ListOf[Any]) -> Dict[str, Type]:
    wider = dict(carried)
    for each in again:
        for name in carried:
            binding = each.scope.bindings[name]
            now = binding.type if isinstance(binding, Value) else None
            type_ = join(wider[name], now) if now else None
            if type_ is None:
                raise scope.refuse(
                    node, f"{name} is {carried[name]} before the loop, and"
                    f" {now or 'something else'} in it: they have no type in common")
            wider[name] = type_
    return wider


def _finish(scope: Scope, node: Loop, made: _Round, head: Head,
            known: Set[str]) -> TupleOf[ListOf[Any], Code, LoopFunction]:
    counter = [] if head.counted is None else [(str(head.counted.code), head.counted.type)]
    function = LoopFunction(scope.unit.new_name(scope.definition.name + "_loop"),
                            body=made.body)
    function.names, function.known = scope.names, known
    function.own = [*counter, *((str(v.code), v.type) for v in made.parameters.values())]

    def call(of: NeslFunction, at: Scope, count: Code) -> Code:
        codes = [count] if counter else []
        codes += [convert(at, node, _bound(at, name), variable.type).code
                  for name, variable in made.parameters.items()]
        return [of, "(", Later(lambda: commas(
            [*codes, *(name for name, _ in function.free())]) or "0"), ")"]
    for each in made.again:
        each.code = call(function, each.scope, [counter[0][0], " + 1"] if counter else "")
    entry: NeslFunction = function
    if isinstance(head, _Counter) and all(_keeps(each, made) for each in made.leaving):
        function.returned = frozenset(made.parameters)
        entry = _in_blocks(scope, function, head)
    return made.leaving, call(entry, scope, "0"), function


def _keeps(left: Exit, made: _Round) -> bool:
    """Whether variables have the types of the loop where it is left."""
    return left.kind == RETURN or all(
        getattr(left.scope.bindings[name], "type", None) == variable.type
        for name, variable in made.parameters.items())


def _bound(scope: Scope, name: str) -> Value:
    binding = scope.bindings[name]
    assert isinstance(binding, Value)
    return binding


def _in_blocks(scope: Scope, function: "LoopFunction", head: _Counter) -> NeslFunction:
    """Calls the function of a loop that counts for some steps, and then itself for the others,
    so that calls are not nested as deep as the loop is long."""
    blocks = LoopFunction(scope.unit.new_name(scope.definition.name + "_blocks"))
    blocks.names, blocks.known, blocks.own = scope.names, function.known, function.own
    blocks.free = function.free  # type: ignore[method-assign]
    blocks.result = lambda: function.result()
    k, count = str(head.counted.code), str(head.count.code)
    end = scope.names.fresh("end", INT)
    last = f"(if {count} - {k} > {STEPS} then {k} + {STEPS} else {count})"

    def names(of_count: str) -> ListOf[Code]:
        return [of_count if name == count else name for name, _ in function.free()]

    def body() -> Code:
        parts = function.parts
        found: ListOf[Code] = [v.code for v in parts.variables]
        changed = found[len(found) - len(function.own) + 1:]
        block = [function, "(", commas([*(name for name, _ in function.own), *names(end)]), ")"]
        again = [blocks, "(", commas([end, *changed, *names(count)]), ")"]
        whole: Code = pattern(parts.variables) if found else NOTHING
        goes_on = f"{end} < {count}" + (f" and {parts.kind.code} == {FALL}"
                                        if parts.kind else "")
        return let([(end, last), (whole, block)], choice(goes_on, again,
                                                         whole if found else "0"))
    blocks.body = Later(body)
    return blocks


class LoopFunction(NeslFunction):
    """Its parameters are what the loop changes, and other variables that its body mentions."""

    names: Names
    known: Set[str]  # variables that existed before it
    own: ListOf[TupleOf[str, Type]]
    parts: Parts  # of its result
    returned: FrozenSet[str] = frozenset()  # what it gives besides what is read behind the loop
    found: Optional[ListOf[TupleOf[str, Type]]] = None
    searching = False

    @property
    def parameters(self) -> ListOf[TupleOf[str, Type]]:
        return self.own + self.free()

    @parameters.setter
    def parameters(self, value: Any) -> None:
        pass

    def free(self) -> ListOf[TupleOf[str, Type]]:
        """Known when everything is translated. Within its own body it adds nothing."""
        if self.found is None and not self.searching:
            self.searching = True
            mentioned = (variables_in(self.body) & self.known) - {name for name, _ in self.own}
            self.found = [(name, self.names.types[name]) for name in sorted(mentioned)]
        return self.found or []
