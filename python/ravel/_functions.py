"""NESL on data of Python: expressions, definitions, files as modules, and functions."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from pathlib import Path
from typing import (Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Type,
                    TypeVar, Union, cast)

from ravel import _called, _convert, _types, _values
from ravel._array import wrapped
from ravel._context import Context
from ravel._definitions import Definition, definitions
from ravel._errors import Error, LimitError, MisuseError, NeslTypeError, RunError
from ravel._options import context as current, may_act
from ravel._values import Compiled, Value

T = TypeVar("T")
ROW_SECONDS = 2.0  # in which the row is looked for that failed
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
Rows = Tuple[bool, ...]  # of which arguments `map` gives the function an element each; () of a call


class Entry(NamedTuple):
    """What runs for a call: a function's name in NESL, and what must be defined for it."""
    name: str
    definition: Optional[Definition] = None


class Cost(NamedTuple):
    """What a call costs."""
    work: float  # in NESL's model: operations of all elements together
    depth: float  # of those that depend on each other
    compiled_work: int  # elements that the compiled program reads and writes
    compiled_steps: int  # its vector operations, those of log n steps as so many
    instructions: int  # how many of its instructions are executed
    seconds: float  # from arguments to result, both in the back end


# ---- calls ----


class Arguments:
    """Data as the arguments of one call."""

    def __init__(self, context: Context, data: Sequence[Any], names: Sequence[str]) -> None:
        self._context, self._inputs = context, _convert.Inputs(context, held=True)
        self.values = [self._inputs.value(each, name) for each, name in zip(data, names)]

    def call(self, compiled: Compiled) -> Value:
        """The result of a function for them, once. Within `run`."""
        return self._context.call(compiled, self.values, reversed(self._inputs.made))

    def costs(self, compiled: Compiled) -> Cost:
        """What that costs, likewise."""
        found = self._context.costs(compiled, self.values, reversed(self._inputs.made))
        return Cost(*(getattr(found, name) for name in Cost._fields))


def types_of(arguments: Sequence[Value]) -> Tuple[str, ...]:
    """The arguments' types, each as one of a list."""
    return tuple(_types.argument(each.type) for each in arguments)


def check_names(names: Iterable[str]) -> None:
    """ravel.MisuseError if one is no name of NESL, or two are the same there."""
    seen: Dict[str, str] = {}
    for name in names:
        if "\0" not in name and not NAME.fullmatch(name):
            raise MisuseError(f"{name} is no name in NESL: names have letters from a to z, digits and"
                              " _, and begin with none of the digits")
        if name.lower() in seen:
            raise MisuseError(f"{seen[name.lower()]} and {name} are one name in NESL, which has no"
                              " difference between capitals and small letters")
        seen[name.lower()] = name


def eval(expression: str, /, **names: Any) -> Any:  # pylint: disable=redefined-builtin
    """The value of an expression of NESL, in which these names stand for this data.

    Numbers, bools, texts and tuples are returned as Python's, sequences as a ravel.Array. Each
    expression is compiled once for the types of its data. A name may also stand for a function of
    Ravel, as a decorated one. Names of Ravel's library and of what was defined may be used; NESL
    has no difference between capitals and small letters.
    """
    check_names(names)
    context = current()
    functions = functions_in(names)
    data = {name: each for name, each in names.items() if name not in functions}
    arguments = Arguments(context, list(data.values()), list(data))
    types = ", ".join(types_of(arguments.values))
    if functions:
        return _eval_calling(context, expression, functions, arguments, (", ".join(data), types))

    def work() -> Value:
        context.catch_up()
        return arguments.call(context.expression(expression, ", ".join(data), types))
    try:
        return wrapped(context.run(work))
    except NeslTypeError as error:
        raise _called.hinted(error, expression)


def functions_in(names: Dict[str, Any]) -> Dict[str, Function]:
    """Those that stand for functions."""
    return {name: each for name, each in names.items() if isinstance(each, Function)}


def _eval_calling(context: Context, expression: str, functions: Dict[str, Function],
                  arguments: Arguments, parameters: Tuple[str, str]) -> Any:
    """The value of an expression that calls functions of Python. Parameters: names, types."""
    key = (expression, *functions.items(), parameters, definitions.newest)
    text = _called.Text(expression, "<expression>", functions)
    compiled = context.kept(key)
    if compiled is None:
        compiled = _called.expression(context, text, *parameters)
        context.keep(key, compiled)
    try:
        return wrapped(context.run(lambda: arguments.call(compiled)))
    except (RunError, LimitError) as error:
        raise text.failure(error) from None


class Function:
    """A function that Ravel runs: called with data, it returns what `ravel.eval` would.

    A class for another source of functions says in `_entry` what runs for arguments of given
    types, and may make an error of it plainer in `_explained`.
    """

    __name__: str
    _refusals: Tuple[Type[Exception], ...] = (NeslTypeError,)  # of arguments of other types

    def _entry(self, context: Context, types: Tuple[str, ...], marks: Any) -> Entry:
        raise NotImplementedError

    def _ordered(self, data: Tuple[Any, ...], named: Any) -> Tuple[Any, ...]:
        """Arguments by position."""
        if named:
            raise MisuseError(f"{self.__name__} is a function of NESL, whose arguments are given by"
                              f" position, without {', '.join(named)}=")
        return data

    def _entry_of_text(self) -> Optional[Entry]:
        """What runs for a call in a text of NESL, if that is the same for all types."""
        return None

    @property
    def _parameter_count(self) -> int:
        return 1

    def _programs_by_file(self) -> Dict[str, Any]:
        """What was translated from Python, by the names of files in messages."""
        return {}

    def _marks(self, data: Sequence[Any], mapped: Rows) -> Any:
        """What else a call depends on than types of NESL."""
        return None

    def _explained(self, error: RunError) -> BaseException:
        """What is raised for the failure of a run."""
        return error

    @property
    def nesl(self) -> str:
        """Its text in NESL."""
        raise NotImplementedError

    def _compiled(self, context: Context, types: Tuple[str, ...], mapped: Rows,
                  marks: Any = None) -> Compiled:
        """It for arguments of these types, or for sequences of some of them."""
        key = (self, types, mapped, repr(marks))
        found = context.kept(key)
        if found is None:
            entry = self._entry(context, types, marks)
            found = context.run(lambda: _look_up(context, entry, types, mapped))
            context.keep(key, found)
        return found

    def _prepared(self, data: Sequence[Any], mapped: Rows) -> Tuple[Arguments, Compiled]:
        context = current()
        arguments = Arguments(context, data, [f"argument {i + 1}" for i in range(len(data))])
        types = types_of(arguments.values)
        if mapped:
            types = tuple(_element(each) if row else kind
                          for each, row, kind in zip(arguments.values, mapped, types))
        return arguments, self._compiled(context, types, mapped, self._marks(data, mapped))

    def _run(self, compiled: Compiled, work: Callable[[], T]) -> T:
        try:
            return compiled.context.run(work)
        except RunError as error:
            raise self._explained(error) from None

    def _call(self, data: Sequence[Any], mapped: Rows = ()) -> Any:
        arguments, compiled = self._prepared(data, mapped)
        return wrapped(self._run(compiled, lambda: arguments.call(compiled)))

    def _fitting(self, data: Sequence[Any]) -> Tuple[Arguments, Compiled]:
        """For a call; for `map` if it does not take such data, but their elements."""
        of_map = self._refusals + (MisuseError,)
        try:
            return self._prepared(data, ())
        except self._refusals as refusal:
            try:
                return self._prepared(data, (True,) * len(data))
            except of_map:
                raise refusal from None

    def _call_rows(self, data: Sequence[Any], mapped: Rows) -> Any:
        """The results of `map`; a failure says of which row."""
        try:
            return self._call(data, mapped)
        except RunError as error:
            elements = error.elements
            try:
                row = elements[0] if elements else self._failing_row(data, mapped)
            except Error:  # no memory for a copy of the data
                row = None
            if row is not None:
                within = "".join(f"[{i}]" for i in elements[1:])
                more = f", element {within}" if within else ""
                error.args = (f"{_without_map(error)}\n  (of row {row} of map{more})",)
            raise

    def _failing_row(self, data: Sequence[Any], mapped: Rows) -> Optional[int]:
        """The first row whose call fails, by halves; None if that would take long, may do something
        twice, or is not the same again."""
        if may_act():
            return None
        context, end = current(), time.monotonic() + ROW_SECONDS
        inputs = _convert.Inputs(context, held=False)
        values = [inputs.value(each, "data") for each in data]
        types = tuple(_element(each) if row else kind
                      for each, row, kind in zip(values, mapped, types_of(values)))
        entry = self._entry(context, types, self._marks(data, mapped))

        def fails(start: int, stop: int) -> bool:
            try:
                context.run(lambda: context.call_again(compiled, values, (start, stop)))
                return False
            except RunError:
                return True

        compiled = context.run(lambda: _mapped(context, entry.name, types, mapped,
                                               "{}[from_:to_]", ("from_", "to_")))
        low, high = 0, _values.length(values[mapped.index(True)])
        while high - low > 1 and time.monotonic() < end:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(low, middle) else (middle, high)
        return low if high - low == 1 and fails(low, high) else None

    def cost(self, *data: Any) -> Cost:
        """What the call costs; of `map`, if the function takes elements of the data only.

        Calls it several times, once by a slow interpreter: use small data.
        """
        arguments, compiled = self._fitting(data)
        return self._run(compiled, lambda: arguments.costs(compiled))

    def explain(self, *data: Any) -> str:
        """The compiled program of the call, or of `map`, as docs/internals/optimiser.md reads it."""
        _, compiled = self._fitting(data)
        return compiled.context.run(lambda: compiled.context.explained(compiled))

    def __call__(self, *data: Any) -> Any:
        return self._call(data)

    def __repr__(self) -> str:
        return f"<ravel function {self.__name__}>"


def _without_map(error: Error) -> str:
    """Its text without remarks on the text of NESL that stands for `map`."""
    said = str(error)
    for each in error.diagnostics:
        if each.file == "<expression>" and each.severity == "note":
            said = said.replace(f"\n  {each.message}", "", 1)
    return said


def _look_up(context: Context, entry: Entry, types: Tuple[str, ...], mapped: Rows) -> Compiled:
    """Within `run`."""
    if entry.definition:
        context.define(entry.definition)
    else:
        context.catch_up()
    if not mapped:
        return context.find(entry.name, ", ".join(types))
    return _mapped(context, entry.name, types, mapped)


def _mapped(context: Context, name: str, types: Tuple[str, ...], mapped: Rows,
            part: str = "{}", more: Sequence[str] = ()) -> Compiled:
    """A function for the elements of some arguments, or of a part of them that depends on more
    ints. Within `run`."""
    given = [f"given{i}_" for i in range(len(types))]
    inside = [f"x{i}_" if row else name for i, (row, name) in enumerate(zip(mapped, given))]
    bound = "; ".join(f"{x} in {part.format(rows)}" for x, rows in zip(inside, given) if x != rows)
    kinds = [f"[{each}]" if row else each for each, row in zip(types, mapped)]
    return context.expression(f"{{{name}({', '.join(inside)}) : {bound}}}",
                              ", ".join((*given, *more)), ", ".join((*kinds, *("int" for _ in more))))


def _element(argument: Value) -> str:
    found = _types.parse(argument.type)
    if found.kind != "sequence":
        raise MisuseError(f"map takes sequences, and this is {argument.type}")
    return str(found.parts[0])


class _Row(NamedTuple):
    """An argument of which the function is given an element."""
    data: Any


# pylint: disable-next=redefined-builtin
def map(function: Union[Function, str, functools.partial[Any]], /, *rows: Any, **same: Any) -> Any:
    """The function's results for each element of a sequence, all computed in parallel.

    `function` is one of ravel, or the name of one in NESL. Of several sequences, which have the
    same length, the function is given an element of each. Arguments by name, and those of a
    functools.partial, are the same for all.
    """
    before: Tuple[Any, ...] = ()
    called: Any = function
    while isinstance(called, functools.partial):
        before, same = called.args + before, {**called.keywords, **same}
        called = called.func
    if isinstance(called, str):
        called = NeslFunction(called)
    if not isinstance(called, Function):
        raise MisuseError(f"{called!r} is a function of Python: decorate it with"
                          " @ravel.function")
    if not rows:
        raise MisuseError("map takes a function and the sequences of its arguments")
    given = called._ordered((*before, *(_Row(each) for each in rows)), same)
    return called._call_rows([each.data if isinstance(each, _Row) else each for each in given],
                             tuple(isinstance(each, _Row) for each in given))


# ---- functions of NESL ----


class NeslFunction(Function):
    """A function by its name in NESL, of a text or of the library."""

    _ravel_nesl = True  # translated functions may call it

    def __init__(self, name: str, definition: Optional[Definition] = None) -> None:
        self.__name__ = name
        self._definition = definition

    def _entry(self, context: Context, types: Tuple[str, ...], marks: Any) -> Entry:
        return Entry(self.__name__, self._definition)

    def _entry_of_text(self) -> Optional[Entry]:
        return Entry(self.__name__, self._definition)

    def _explained(self, error: RunError) -> BaseException:
        text = self._definition
        return text.written.failure(error) if text and text.written else error

    def __reduce__(self) -> Any:
        text = self._definition
        if text and text.written:
            raise TypeError(f"{self.__name__} calls functions of Python, which its text has not: pickle"
                            " them and the text, and define it again")
        return _function_of, (self.__name__, *((text.text, text.name) if text else ()))

    @property
    def nesl(self) -> str:
        form = self._definition.form(self.__name__) if self._definition else None
        return form.text + ";" if form else f"% {self.__name__}, of the library %"


def _function_of(name: str, *text: str) -> NeslFunction:
    """For pickle: a function of a text of NESL, or of the library."""
    return NeslFunction(name, Definition(text[0], text[1]) if text else None)


class Module:
    """What a text of NESL defines, functions and values of variables, as attributes."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self.__name__ = definition.name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        form = self._definition.form(name)
        if form is None:
            known = ", ".join(dir(self)) or "nothing"
            raise AttributeError(f"{self.__name__} does not define {name}; it defines {known}")
        if form.kind == "variable":
            return self._variable(name)
        made = NeslFunction(form.name, self._definition)
        setattr(self, name, made)
        return made

    def _variable(self, name: str) -> Any:
        context = current()

        def work() -> Value:
            context.define(self._definition)
            return context.call(context.expression(name, "", ""), [])
        return wrapped(context.run(work))

    def __dir__(self) -> List[str]:
        return [form.name for form in self._definition.forms if form.name]

    def __repr__(self) -> str:
        return f"<ravel module {self.__name__}: {', '.join(dir(self))}>"


def define(source: str, name: str = "<definition>", **functions: Function) -> Module:
    """Executes definitions of NESL, whose names `eval` and texts defined later may use then.

    `name` stands for the text in messages. Of several definitions of a name the last one is in
    force, except for the functions of the module that is returned: they stay what they were.
    The text may call functions that are given by name, such as decorated ones, where the types of
    their arguments are known: `function g(v) : [int] -> [int] = {f(x) : x in v};`.
    """
    check_names(functions)
    for word, each in functions.items():
        if not isinstance(each, Function):
            raise MisuseError(f"{word} is a {type(each).__name__}, and a text of NESL takes functions"
                              " of ravel: write values into the text, or give its functions one more"
                              " argument")
    context = current()
    definition = _called.definition(context, _called.Text(source, name, functions), name) \
        if functions else Definition(source, name)
    try:
        context.run(lambda: context.define_newest(definition))
    except NeslTypeError as error:
        raise _called.hinted(error, source)
    return Module(definition)


def profile() -> Dict[str, Any]:
    """The profile of the last call with the present options: counts and seconds by opcode,
    superoperator and function (docs/vcode.md). Empty without the option `profile`.
    """
    said = current().profile()
    return cast("Dict[str, Any]", json.loads(said)) if said else {}


def load(path: Union[str, os.PathLike[str]], **functions: Function) -> Module:
    """A file of NESL as a module: `ravel.load("hull.nesl").quickhull(points)`.

    Its definitions are in force like those of `define`, and may call functions that are given by
    name as there. OSError if it cannot be read.
    """
    return define(Path(path).read_text(encoding="utf-8"), os.fspath(path), **functions)


