"""Which context is used, and what is set in it: by the options in force."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import weakref
from collections import OrderedDict
from contextvars import ContextVar, Token
from typing import NamedTuple, Optional, Tuple, Union

from ravel import _context
from ravel._context import Context, Settings
from ravel._lib import lib, text

Option = Union[str, int, float, bool]
Pairs = Tuple[Tuple[str, str], ...]


class Chosen(NamedTuple):
    """Options in force: those of a context, and what is set in it between calls."""
    context: Pairs
    settings: Settings


_chosen: ContextVar[Chosen] = ContextVar("ravel.options", default=Chosen((), _context.DEFAULT))
# Contexts have threads and memory of their own: those that were not used for longest go.
MOST_CONTEXTS = 8
_contexts: OrderedDict[Pairs, Context] = OrderedDict()
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
    chosen = _chosen.get().context
    found = _contexts.get(chosen)
    if found:
        with contextlib.suppress(KeyError):  # another thread has removed it
            _contexts.move_to_end(chosen)
        return found
    with _lock:
        if chosen in _contexts:
            return _contexts[chosen]
        made = _contexts[chosen] = Context(chosen)
        made.settings = settings
        _all.add(made)
        old = [_contexts.popitem(last=False)[1] for _ in range(len(_contexts) - MOST_CONTEXTS)]
    for each in old:
        each.retire()
    return made


def settings() -> Settings:
    """What the options in force set in a context."""
    return _chosen.get().settings


def may_act() -> bool:
    """Whether programs may do something outside of themselves, by the options in force."""
    chosen = dict(_chosen.get().context)
    return "yes" in (chosen.get("files"), chosen.get("processes"))


def info() -> str:
    """What executes calls with the options in force, as lines: for people, and to report errors."""
    found = context()
    return "\n".join([f"Ravel {text(lib.ravel_version())}, {lib._name}",  # pylint: disable=protected-access
                      *found.run(found.about)])


class options:  # pylint: disable=invalid-name
    """Options for what runs within: `with ravel.options(backend="cuda", memory="2GB"): ...`

    The names are those of `ravel_options_set` in ravel.h: backend, threads, memory, time,
    int, float, seed, depth, chunks, procedures, spool, optimise, profile, files, processes,
    compiler, zig, kernels, check_overflow. What is not named stays as it is around. They hold for this thread
    (or task of asyncio). Each set of options other than seed, time and depth has a context with threads and
    memory of its own, of which a few are kept; arrays of one are copied when they are used in
    another. With a seed random numbers begin anew at each `with`.

    ravel.MisuseError for an unknown option, ravel.DeviceError if there is no such back end.
    """

    def __init__(self, **changes: Option) -> None:
        self._changes = {name: written(value) for name, value in changes.items()}
        self._tokens: list[Token[Chosen]] = []

    def __enter__(self) -> options:
        before = _chosen.get()
        _context.check_options(self._changes.items())
        own = {name: value for name, value in self._changes.items()
               if name not in _context.SETTINGS}
        merged = tuple(sorted({**dict(before.context), **own}.items()))
        self._tokens.append(_chosen.set(Chosen(merged, before.settings.changed(self._changes))))
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
