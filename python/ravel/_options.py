"""Which context is used: that of the options in force."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from contextvars import ContextVar, Token
from typing import Dict, Optional, Tuple, Union

from ravel._context import Context

Option = Union[str, int, float, bool]
Chosen = Tuple[Tuple[str, str], ...]

_chosen: ContextVar[Chosen] = ContextVar("ravel.options", default=())
_contexts: Dict[Chosen, Context] = {}
_all: weakref.WeakSet[Context] = weakref.WeakSet()
_lock = threading.Lock()


def written(value: Option) -> str:
    """An option's value as libravel reads it: "yes", "8", "2G"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    said = str(value)
    return said[:-1] if said[-2:-1] in tuple("KMGTkmgt") and said[-1] in "bB" else said


def context() -> Context:
    """The context of the options in force, made where there is none yet."""
    chosen = _chosen.get()
    found = _contexts.get(chosen)
    if found:
        return found
    with _lock:
        if chosen not in _contexts:
            _contexts[chosen] = Context(chosen)
            _all.add(_contexts[chosen])
        return _contexts[chosen]


class options:  # pylint: disable=invalid-name
    """Options for what runs within: `with ravel.options(backend="cuda", memory="2GB"): ...`

    The names are those of `ravel_options_set` in ravel.h: backend, threads, memory, time,
    int, float, seed, depth, chunks, spool, optimise, profile, files, processes, compiler,
    kernels. What is not named stays as it is around. They hold for this thread (or task of asyncio). Each
    set of options has a context with threads and memory of its own; arrays of one are
    copied when they are used in another.

    ravel.MisuseError for an unknown option, ravel.DeviceError if there is no such back end.
    """

    def __init__(self, **changes: Option) -> None:
        self._changes = {name: written(value) for name, value in changes.items()}
        self._tokens: list[Token[Chosen]] = []

    def __enter__(self) -> options:
        merged = {**dict(_chosen.get()), **self._changes}
        self._tokens.append(_chosen.set(tuple(sorted(merged.items()))))
        try:
            context()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: Optional[object]) -> None:
        _chosen.reset(self._tokens.pop())


def close() -> None:
    """Ends all calls and frees all contexts; at the end of the interpreter, too.

    Arrays that stay in the memory of a back end cannot be used any more. What is called
    afterwards begins anew.
    """
    with _lock:
        _contexts.clear()
        for each in list(_all):
            each.close()


def _forked() -> None:
    global _lock  # pylint: disable=global-statement
    _lock = threading.Lock()
    _contexts.clear()
    for each in list(_all):
        each.forget()


atexit.register(close)
os.register_at_fork(after_in_child=_forked)
