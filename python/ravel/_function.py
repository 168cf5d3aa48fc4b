"""The decorator `ravel.function`: functions of Python, compiled to NESL."""

from __future__ import annotations

import functools
import inspect
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ravel import _called
from ravel._array import Array
from ravel._context import Context
from ravel._definitions import Definition
from ravel._errors import LimitError, MisuseError, NeslSyntaxError, NeslTypeError, RunError
from ravel._explained import explained, with_elements
from ravel._functions import Entry, Function, NeslFunction, Rows
from ravel._lib import lib, text
from ravel._translate import Program, Translation, Unsupported, prelude
from ravel._translate.names import WORDS

FILE = "<ravel.function {}>"


class PythonFunction(Function):
    """A function of Python that runs in parallel, on NESL's back ends."""

    _refusals = (NeslTypeError, Unsupported)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self.__qualname__ = function.__qualname__
        self.__annotations__ = function.__annotations__
        self._signature = self.__signature__ = inspect.signature(function)
        self._translation = Translation(function)
        self._ravel_definition = self._translation.definition
        _called.decorated[self.__name__.lower()] = self
        self._programs: Dict[str, Program] = {}  # by the names of their files
        self._definitions: Dict[str, Definition] = {}  # likewise

    def __call__(self, *data: Any, **named: Any) -> Any:
        return self._call(self._ordered(data, named))

    def _ordered(self, data: Tuple[Any, ...], named: Any) -> Tuple[Any, ...]:
        """Arguments by position; with defaults if some are given by name, or all left out."""
        if data and not named and len(data) == len(self._signature.parameters):
            return data
        bound = self._signature.bind(*data, **named)
        if named or not data:
            bound.apply_defaults()
        if not self._signature.parameters:
            raise MisuseError(f"{self.__name__} has no parameters: there is nothing to compute"
                              " in parallel")
        return bound.args

    def __reduce__(self) -> Any:
        return self.__qualname__  # pickle finds it in its module

    def _marks(self, data: Sequence[Any], mapped: Rows) -> Any:
        marks = tuple(_arrays_in(each) for each in data)
        if not mapped:
            return marks
        return tuple(_inside(mark) if row else mark for mark, row in zip(marks, mapped))

    def _entry(self, context: Context, types: Tuple[str, ...], marks: Any) -> Entry:
        context.run(lambda: _define_prelude(context))
        program = self._program(context, types, marks)
        file = FILE.format(program.name)
        if file not in self._definitions:
            used = [text for each in program.uses for text in _definitions_of(each)]
            self._definitions[file] = Definition(program.definitions, file, (_prelude(), *used))
        return Entry(program.name, self._definitions[file])

    @property
    def _parameter_count(self) -> int:
        return len(self._signature.parameters)

    def _programs_by_file(self) -> Dict[str, Program]:
        return self._programs

    def _program(self, context: Context, types: Tuple[str, ...], marks: Any) -> Program:
        try:
            program = self._translation.program(list(types), _finder(context), marks)
        except Unsupported as refusal:
            raise refusal.with_traceback(None) from None  # not where in this package
        except ValueError as error:
            raise MisuseError(f"{self.__name__}: {error}") from None
        self._programs[FILE.format(program.name)] = program
        return program

    def __repr__(self) -> str:
        return f"<ravel function {self.__name__}{self._signature}>"

    @property
    def nesl(self) -> str:
        """Its text in NESL, for each list of types that it was called with."""
        return "".join(program.definitions for program in self._programs.values())

    def _call(self, data: Sequence[Any], mapped: Rows = ()) -> Any:
        try:
            return super()._call(data, mapped)
        except LimitError as error:
            raise self._explained(error) from None
        except RunError as error:
            raise error if mapped else with_elements(error)

    def _explained(self, error: Any) -> BaseException:
        return explained(error, self._programs)


def _arrays_in(data: Any) -> Any:
    """Where arrays with operators of their own, and tuples that end in tuples, are in an argument, as
    a mark of types.py."""
    if isinstance(data, tuple):
        parts = tuple(map(_arrays_in, data))
        return parts if any(parts) or any(isinstance(each, tuple) for each in data[-1:]) else False
    kind = type(data)
    if hasattr(kind, "__array_ufunc__") or hasattr(kind, "__dlpack__") and kind is not Array:
        return True
    if isinstance(data, list):
        kinds = {type(each): each for each in data}  # all of a type are alike
        inner = next(filter(None, map(_arrays_in, kinds.values())), False)
        return [inner] if inner else False
    return False


def _inside(mark: Any) -> Any:
    """That of the elements."""
    return mark[0] if isinstance(mark, list) else mark


@functools.lru_cache(maxsize=None)
def _prelude() -> Definition:
    return Definition(prelude(), "<ravel.function: prelude>")


def _define_prelude(context: Context) -> None:
    """Within `run`."""
    try:
        context.define(_prelude())
    except (NeslSyntaxError, NeslTypeError):  # its constants do not fit
        raise MisuseError("functions of Python have ints and floats of 64 bits: leave out the"
                          " options int=32 and float=32") from None


@functools.lru_cache(maxsize=64)
def _own_name(name: str, of: Definition) -> Definition:
    """For a function of a text that has a name of the library: by that name a translation would
    call the library's."""
    return Definition(f"function {name}_of_program(x) = {name}(x);", "<definition>", (of,))


def _definitions_of(used: NeslFunction) -> List[Definition]:
    definition = used._definition  # pylint: disable=protected-access
    if definition is None:
        return []
    hidden = used.__name__.lower() in WORDS
    return [definition, _own_name(used.__name__, definition)] if hidden else [definition]


def _finder(context: Context) -> Callable[[NeslFunction, List[str]], Tuple[str, str]]:
    """What a function of NESL is called and gives, for arguments of given types."""
    def find(function: NeslFunction, types: List[str]) -> Tuple[str, str]:
        compiled = function._compiled(context, tuple(types), ())
        name = [each.names[-1] for each in _definitions_of(function)[1:]] or [function.__name__]
        return name[0], text(lib.ravel_function_gives(compiled.pointer))
    return find


def function(python: Callable[..., Any]) -> PythonFunction:
    """Compiles a function of Python to NESL: `@ravel.function`.

    It is checked at once, and translated at its first call for each list of types of arguments.
    What is not supported raises `ravel.Unsupported` with file, line, and what to write instead.
    An exception of a call names the line of Python; it is one of `ravel.Error` and of Python's
    kind. docs/python-functions.md says what is supported.
    """
    if not inspect.isfunction(python):
        raise TypeError(
            f"ravel.function takes a function of Python, not {type(python).__name__}")
    try:
        return PythonFunction(python)
    except Unsupported as refusal:
        raise refusal.with_traceback(None) from None
