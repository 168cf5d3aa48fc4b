"""Values and functions of a context, as objects of Python."""

from __future__ import annotations

from ctypes import byref, c_size_t, c_void_p
from typing import TYPE_CHECKING, Any, Iterable

from ravel._lib import lib, text

if TYPE_CHECKING:
    from ravel._context import Context


class Value:
    """A value of a context (struct ravel_value), released with this object.

    The last reference may go at any time, in any thread, even within a call: it is released
    then if nobody uses the context, else by who uses it next.
    """

    __slots__ = ("context", "pointer", "type", "memory", "__weakref__")

    def __init__(self, context: Context, pointer: int) -> None:
        self.context = context
        self.pointer: int | None = pointer
        self.type = text(lib.ravel_type(pointer))  # as in NESL
        self.memory: Any = None  # what it borrows

    def release(self) -> None:
        """Releases it now. Nothing may use it any more."""
        pointer, self.pointer = self.pointer, None
        if pointer is not None:
            self.context.drop(lib.ravel_release, pointer)

    __del__ = release


class Compiled:
    """A function for given types (struct ravel_function), released with this object."""

    def __init__(self, context: Context, pointer: int) -> None:
        self.context, self.pointer = context, pointer

    def __del__(self) -> None:
        self.context.drop(lib.ravel_function_release, self.pointer)


def pointers(values: list[Value]) -> Any:
    """An array of pointers to values."""
    return (c_void_p * len(values))(*(value.pointer for value in values))


def release(temporary: Iterable[Value]) -> None:
    """Releases values at once, in this order, so that nothing refers to memory that they borrow
    any more. Within `run`."""
    for value in temporary:
        pointer, value.pointer = value.pointer, None
        lib.ravel_release(pointer)


def length(value: Value) -> int:
    """Of a sequence or a tuple."""
    found = c_size_t()
    value.context.run(lambda: value.context.do(lib.ravel_length, value.pointer, byref(found)))
    return found.value


def get(value: Value, function: Any, kind: Any) -> Any:
    """A scalar by ravel_get_int or its kin."""
    found = kind()
    value.context.run(lambda: value.context.do(function, value.pointer, byref(found)))
    return found.value


def component(value: Value, i: int) -> Value:
    """Component i, as ravel_component has it."""
    context = value.context
    return context.run(lambda: context.make(lib.ravel_component, value.pointer, i))


