"""The decorator `ravel.function`: functions of Python, compiled to NESL."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ravel._context import Context
from ravel._definitions import Definition
from ravel._errors import LimitError, MisuseError, NeslTypeError, RunError
from ravel._explained import explained
from ravel._functions import Entry, Function, NeslFunction
from ravel._lib import lib, text
from ravel._translate import Program, Translation, Unsupported, prelude

FILE = "<ravel.function {}>"


class PythonFunction(Function):
    """A function of Python that runs in parallel, on NESL's back ends."""

    _refusals = (NeslTypeError, Unsupported)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__module__ = function.__module__
        self._signature = inspect.signature(function)
        self._translation = Translation(function)
        self._ravel_definition = self._translation.definition
        self._programs: Dict[str, Program] = {}  # by the names of their files

    def __call__(self, *data: Any, **named: Any) -> Any:
        return self._call(self._ordered(data, named))

    def _ordered(self, data: Sequence[Any], named: Any) -> Tuple[Any, ...]:
        bound = self._signature.bind(*data, **named)
        if named:
            bound.apply_defaults()
        if not bound.args and not self._signature.parameters:
            raise MisuseError(f"{self.__name__} has no parameters: there is nothing to compute in"
                              " parallel")
        return bound.args

    def _entry(self, context: Context, types: Tuple[str, ...]) -> Entry:
        program = self._program(context, types)
        return Entry(program.name, Definition(program.definitions, FILE.format(program.name)))

    def _program(self, context: Context, types: Tuple[str, ...]) -> Program:
        context.run(lambda: context.define(_prelude()))
        try:
            program = self._translation.program(list(types), _finder(context))
        except ValueError as error:
            if isinstance(error, Unsupported):
                raise
            raise MisuseError(f"{self.__name__}: {error}") from None
        self._programs[FILE.format(program.name)] = program
        return program

    @property
    def nesl(self) -> str:
        """Its text in NESL, for each list of types that it was called with."""
        return "".join(program.definitions for program in self._programs.values())

    def _call(self, data: Sequence[Any], mapped: bool = False) -> Any:
        try:
            return super()._call(data, mapped)
        except LimitError as error:
            raise self._explained(error) from None

    def _explained(self, error: Any) -> BaseException:
        return explained(error, self._programs)


_the_prelude: Optional[Definition] = None


def _prelude() -> Definition:
    global _the_prelude  # pylint: disable=global-statement
    if _the_prelude is None:
        _the_prelude = Definition(prelude(), "<ravel.function: prelude>")
    return _the_prelude


def _finder(context: Context) -> Callable[[NeslFunction, List[str]], Tuple[str, str]]:
    """What a function of NESL is called and gives, for arguments of given types."""
    def find(function: NeslFunction, types: List[str]) -> Tuple[str, str]:
        compiled = function._compiled(context, tuple(types), False)
        return function.__name__, text(lib.ravel_function_gives(compiled.pointer))
    return find


def function(python: Callable[..., Any]) -> PythonFunction:
    """Compiles a function of Python to NESL: `@ravel.function`.

    It is checked at once, and translated at its first call for each list of types of arguments. What is
    not supported raises `ravel.Unsupported` with file, line, and what to write instead. An exception
    of a call names the line of Python; it is one of `ravel.Error` and of Python's kind.
    docs/python-functions.md says what is supported.
    """
    if not inspect.isfunction(python):
        raise TypeError(f"ravel.function takes a function of Python, not {type(python).__name__}")
    return PythonFunction(python)

