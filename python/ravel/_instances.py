"""Sequences with values of datatypes in them, which stay in the context: nothing else has a type
for them."""

from __future__ import annotations

import ctypes
from typing import Any, Callable, List

import numpy as np

from ravel import _values
from ravel._columns import Outside, Vector
from ravel._lib import lib
from ravel._values import Value


class Instances(Outside):
    """A column whose elements are found by NESL, each when it is asked for."""

    def __init__(self, value: Value, wrapped: Callable[[Value], Any]) -> None:
        self.value, self._wrapped = value, wrapped
        self._length = _values.length(value)

    def __len__(self) -> int:
        return self._length

    @property
    def element(self) -> str:
        """The type of an element, as in NESL."""
        return self.value.type[1:-1]

    def _made(self, text: str, kind: str, other: Callable[[], Value]) -> Value:
        """The value of an expression of the sequence `x_` and the value `at_`."""
        context = self.value.context

        def work() -> Value:
            compiled = context.expression(text, "x_, at_", f"{self.value.type}, {kind}")
            at = other()
            return context.call(compiled, [self.value, at], [at])
        return context.run(work)

    def slice(self, start: int, stop: int) -> Instances:
        return self.take(np.arange(start, stop, dtype=np.int64))

    def take(self, indices: Vector) -> Instances:
        at = np.ascontiguousarray(indices, np.int64)
        context = self.value.context
        made = self._made("{x_[i_] : i_ in at_}", "[int]", lambda: context.make(
            lib.ravel_vector, 4, at.ctypes.data_as(ctypes.c_void_p), len(at)))  # RAVEL_INT64
        return Instances(made, self._wrapped)

    def item(self, i: int) -> Any:
        context = self.value.context
        return self._wrapped(self._made("x_[at_]", "int", lambda: context.make(
            lib.ravel_int, int(i))))

    def to_list(self) -> List[Any]:
        return [self.item(i) for i in range(len(self))]
