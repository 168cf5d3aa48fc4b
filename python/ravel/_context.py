"""Contexts of libravel, one for each set of options, and what is done in them.

All threads share a context and take turns: a call uses every core, so two at once would not end
sooner, and arrays may be used by any thread. The interpreter's lock is free during a call.
Threads that should not wait for each other use different options (`threads` will do).
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import threading
import warnings
import weakref
from collections import OrderedDict, deque
from ctypes import byref, c_void_p
from pathlib import Path
from typing import Any, Callable, Generator, Iterable, Mapping, TypeVar

from ravel import _errors
from ravel._definitions import WORD, Definition, definitions
from ravel._lib import PROGRESS, Costs, Diagnostic, Random, Statistics, lib, text
from ravel._values import Compiled, Value, pointers, release

T = TypeVar("T")
SEVERITIES = ("error", "warning", "note")
MOST_COMPILED = 1000  # functions for given types that a context keeps

# What options may be, for messages.
VALUES = {
    "backend": "auto, cpu, cuda or another back end that is there",
    "threads": "0 (all) or more, at most 4096", "memory": "bytes, as 500M or 2GB; 0: a default",
    "time": "seconds; 0: no limit", "int": "64 or 32", "float": "64 or 32",
    "seed": "an int of 64 bits", "depth": "a number of calls; 0: a million",
    "chunks": "auto, off or a number of instances", "procedures": "auto, off or always",
    "spool": "bytes, as 64M; 0: a default; or no",
    "optimise": "True or False", "kernels": "the name of a file", "profile": "True or False",
    "files": "True or False", "processes": "True or False", "compiler": "True or False",
    "zig": "the name of a file",
    "check_overflow": "True or False"}
SETTINGS = {"seed": "", "time": "0", "depth": "0"}  # those that need no context of their own


@functools.lru_cache(maxsize=None)
def zig() -> str:
    """The file of PyPI's ziglang, which has a C compiler; "" if that is not installed."""
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.util.find_spec("ziglang")
        if found and found.origin:
            return str(Path(found.origin).with_name("zig"))
    return ""


def check_options(pairs: Iterable[tuple[str, str]]) -> None:
    """ravel.MisuseError if one is unknown, or its value is."""
    lib.ravel_options_free(_options(pairs))


def _options(pairs: Iterable[tuple[str, str]]) -> int:
    """A struct ravel_options, the caller's."""
    wanted: int = lib.ravel_options_new()
    for name, value in pairs:
        if "\0" in name + value or lib.ravel_options_set(wanted, name.encode(), value.encode()):
            lib.ravel_options_free(wanted)
            raise _errors.MisuseError(
                f"the option {name} is {VALUES[name]}, not {value}" if name in VALUES else
                f"there is no option {name}; options are {', '.join(VALUES)}")
    return wanted


def warn(said: str) -> None:
    """A warning, which Python shows once, unless there is nothing to say."""
    if said:
        warnings.warn(said, RuntimeWarning, stacklevel=3)


class Stream:  # pylint: disable=too-few-public-methods
    """A sequence of random numbers: from a seed, or what contexts begin with."""

    def __init__(self, seed: str = "") -> None:
        self.seed = seed
        # where it is in a context that has gone on with another one
        self.positions: weakref.WeakKeyDictionary[Context, Random] = weakref.WeakKeyDictionary()


class Settings:
    """What is set in a context between calls."""

    def __init__(self, limits: Mapping[str, str], stream: Stream) -> None:
        self.limits, self.stream = limits, stream

    def changed(self, changes: Mapping[str, str]) -> Settings:
        """These with some options changed."""
        if not any(name in SETTINGS for name in changes):
            return self
        limits = {name: changes.get(name, value) for name, value in self.limits.items()}
        seed = changes.get("seed")
        return Settings(limits, self.stream if seed is None else Stream(seed))


DEFAULT = Settings({"time": "0", "depth": "0"}, Stream())


class Context:
    """A context (struct ravel_context). Every use of it is a function that `run` runs."""

    def __init__(self, options: Iterable[tuple[str, str]] = ()) -> None:
        self._lock = threading.Lock()
        self._owner = 0  # the thread that holds the lock
        self._dead: deque[tuple[Callable[[int], None], int]] = deque()
        self._refusal = "Ravel's context could not be made"  # why it cannot be used
        self._handle: int | None = None
        self._handle = self._open(options)
        self._refusal = ""
        self._watcher = Watcher(self._handle)
        # A device may still say something of itself in any call, and so may a compiler of the user's.
        self._listens = lib.ravel_cuda_device(self._handle) >= 0 or "RAVEL_CC" in os.environ
        warn(self._said())
        self.settings: Callable[[], Settings] = lambda: DEFAULT  # those in force
        self._set = DEFAULT
        self._seen = 0  # of `definitions`
        self._owners: dict[str, Definition] = {}  # whose definition of a name is in force
        self._disturbed = False  # `definitions` are not all in force
        # Texts that need others, by the names that they define: executed when they are mentioned,
        # as what they need may not be had in every context.
        self._later: dict[str, Definition] = {}
        # of named functions, by whoever looks them up
        self._functions: OrderedDict[Any, Compiled] = OrderedDict()

    def _open(self, options: Iterable[tuple[str, str]]) -> int:
        defaults = {"compiler": "yes", "zig": zig()}
        wanted, made = _options({**defaults, **dict(options)}.items()), c_void_p()
        try:
            code = lib.ravel_context_new(wanted, byref(made))
        finally:
            lib.ravel_options_free(wanted)
        if code:
            error = self._error(code, made.value)
            lib.ravel_context_free(made)
            raise error
        assert made.value
        return made.value

    # ---- use ----

    @property
    def usable(self) -> bool:
        """Whether it has neither been closed nor left behind by fork."""
        return not self._refusal

    def run(self, work: Callable[[], T]) -> T:
        """Runs `work`, which may call the library, while no other thread uses the context."""
        if self._owner == threading.get_ident():
            raise _errors.MisuseError("Ravel was called within one of its own calls, by the"
                                      " handler of a signal or a finaliser")
        with self._lock:
            self._owner = threading.get_ident()
            try:
                if self._refusal:
                    raise _errors.MisuseError(self._refusal)
                self._bury()
                self._watcher.wake()
                wanted = self.settings()
                if wanted is not self._set:
                    self._change(wanted)
                result = work()
                said = self._said() if self._listens else ""
            finally:
                self._bury()
                self._owner = 0
        warn(said)
        return result

    def _said(self) -> str:
        """What the back end has said since the last time, such as why it does not use a GPU."""
        return text(lib.ravel_remark(self._handle))

    def _change(self, wanted: Settings) -> None:
        for name, value in wanted.limits.items():
            if value != self._set.limits[name]:
                self.do(lib.ravel_context_set, name.encode(), value.encode())
        if wanted.stream is not self._set.stream:
            position = self._set.stream.positions[self] = Random()
            lib.ravel_get_random(self._handle, byref(position))
            found = wanted.stream.positions.get(self)
            if found:
                lib.ravel_set_random(self._handle, byref(found))
            else:
                self.do(lib.ravel_context_set, b"seed", wanted.stream.seed.encode())
        self._set = wanted

    def check(self, code: int) -> None:
        """Raises what a call of the library ended in."""
        if self._watcher.caught is not None:
            caught, self._watcher.caught = self._watcher.caught, None
            raise caught
        if code:
            raise self._error(code, self._handle)

    def _error(self, code: int, handle: int | None) -> _errors.Error:
        parts: list[_errors.Diagnostic] = []
        part = Diagnostic()
        while lib.ravel_get_diagnostic(handle, len(parts), byref(part)):
            file = text(part.file) if part.file is not None else None
            parts.append(_errors.Diagnostic(SEVERITIES[part.severity], file, part.line,
                                            part.column, text(part.message)))
        return _errors.of_code(code, text(lib.ravel_message(handle)), parts)

    def make(self, function: Any, *arguments: Any) -> Value:
        """The value that a function of the library makes. Within `run`."""
        made = c_void_p()
        code = function(self._handle, *arguments, byref(made))
        value = Value(self, made.value or 0) if not code else None
        self.check(code)
        assert value
        return value

    def do(self, function: Any, *arguments: Any) -> None:
        """Calls a function of the library that makes nothing. Within `run`."""
        self.check(function(self._handle, *arguments))

    def drop(self, release: Callable[[int], None], pointer: int) -> None:
        """Releases something, now or when the context is free."""
        self._dead.append((release, pointer))
        if self._lock.acquire(blocking=False):
            try:
                self._bury()
            finally:
                self._lock.release()

    def _bury(self) -> None:
        while self._dead and not self._refusal:
            release, pointer = self._dead.popleft()
            release(pointer)

    def about(self) -> list[str]:
        """Lines about what executes its calls. Within `run`."""
        device = lib.ravel_cuda_device(self._handle)
        return [f"values: on the GPU {device}" if device >= 0 else "values: on the CPU",
                text(lib.ravel_compiler(self._handle))]

    # ---- functions ----

    def define(self, definition: Definition) -> None:
        """Executes a definition unless it is in force. Within `run`."""
        if definition.names and all(self._owners.get(name) is definition
                                    for name in definition.names):
            return
        for needed in definition.needs:
            self.define(needed)
        for name in definition.names:
            self._later.pop(name, None)
        self._define_mentioned(definition.text)
        encoded = definition.text.encode()
        self.do(lib.ravel_define, definition.name.encode(), encoded, len(encoded))
        self._disturbed = self._disturbed or any(
            self._owners.get(name, definition) is not definition for name in definition.names)
        self._owners.update(dict.fromkeys(definition.names, definition))

    def _waiting(self, source: str) -> list[str]:
        """The words of a text that a text of `_later` defines."""
        words = WORD.findall(source.lower()) if self._later else ()
        return [word for word in words if word in self._later]

    def _define_mentioned(self, source: str) -> None:
        for word in self._waiting(source):
            if word in self._later:
                self.define(self._later[word])

    def catch_up(self) -> None:
        """Puts the newest of `definitions` in force. Within `run`."""
        if self._disturbed:
            self._seen, self._disturbed = 0, False
        elif self._seen == definitions.newest:
            return
        for definition in definitions.after(self._seen):
            if definition.needs or self._waiting(definition.text):
                self._later.update(dict.fromkeys(definition.names, definition))
            else:
                self.define(definition)
            self._seen, self._disturbed = definition.number, False

    def define_newest(self, definition: Definition) -> None:
        """Executes a definition that every context is to know. Within `run`."""
        self.catch_up()
        self.define(definition)
        seen = definitions.newest
        definitions.add(definition)
        if seen <= self._seen:  # no other thread has added one
            self._seen, self._disturbed = definition.number, False

    def expression(self, source: str, names: str, types: str) -> Compiled:
        """An expression as a function. Within `run`."""
        self._define_mentioned(source)
        return self._compiled(lib.ravel_expression, source, names, types)

    def find(self, name: str, types: str) -> Compiled:
        """A function by its name. Within `run`."""
        self._define_mentioned(name)
        return self._compiled(lib.ravel_find, name, types)

    def _compiled(self, function: Any, *texts: str) -> Compiled:
        for said in texts:
            if "\0" in said:  # texts of C end there
                raise _errors.NeslSyntaxError(f"character {said.index(chr(0))} of {said[:200]!r}"
                                              " is a NUL, which means nothing in NESL")
        found = c_void_p()
        code = function(self._handle, *(t.encode() for t in texts), byref(found))
        compiled = Compiled(self, found.value or 0) if not code else None
        self.check(code)
        assert compiled
        return compiled

    def kept(self, key: Any) -> Compiled | None:
        """The function that was kept under a key, if it still is."""
        found = self._functions.get(key)
        if found:
            with contextlib.suppress(KeyError):  # another thread has removed it
                self._functions.move_to_end(key)
        return found

    def keep(self, key: Any, function: Compiled) -> None:
        """Keeps a function; the one that was not used for longest goes if there are too many."""
        self._functions[key] = function
        if len(self._functions) > MOST_COMPILED:
            with contextlib.suppress(KeyError):
                self._functions.popitem(last=False)

    def call(self, function: Compiled, arguments: list[Value],
             temporary: Iterable[Value] = ()) -> Value:
        """Calls a function, and releases values that are there for this call. Within `run`."""
        try:
            return self.make(lib.ravel_call, function.pointer, pointers(arguments),
                             len(arguments))
        finally:
            release(temporary)

    def call_again(self, function: Compiled, arguments: list[Value], more: Iterable[int]) -> None:
        """Calls a function with these and ints, for its failure only: random numbers stay where
        they are. Within `run`."""
        position, ints = Random(), [self.make(lib.ravel_int, each) for each in more]
        lib.ravel_get_random(self._handle, byref(position))
        try:
            self.call(function, arguments + ints, ints).release()
        finally:
            lib.ravel_set_random(self._handle, byref(position))

    def costs(self, function: Compiled, arguments: list[Value],
              temporary: Iterable[Value]) -> Costs:
        """What `call` would cost; likewise."""
        found = Costs()
        try:
            self.do(lib.ravel_cost, function.pointer, pointers(arguments), len(arguments),
                    byref(found))
        finally:
            release(temporary)
        return found

    def explained(self, function: Compiled) -> str:
        """The compiled program of a function. Within `run`."""
        return text(lib.ravel_explain(self._handle, function.pointer))

    # ---- life ----

    def statistics(self) -> Statistics:
        """Of the last call, and of memory in use."""
        def get() -> Statistics:
            found = Statistics()
            lib.ravel_get_statistics(self._handle, byref(found))
            return found
        return self.run(get)

    def cuda_device(self) -> int:
        """The number of the CUDA device that has its values, or -1."""
        return self.run(lambda: int(lib.ravel_cuda_device(self._handle)))

    def profile(self) -> str:
        """Of the last call, as JSON, with the option `profile`; else ""."""
        return self.run(lambda: text(lib.ravel_profile(self._handle)))

    def retire(self) -> None:
        """Has it end with the last of its values, as nothing new will be asked of it."""
        self._functions.clear()  # they refer to it

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Ends a call that another thread waits for, and frees everything."""
        if self._refusal:
            return
        if not self._lock.acquire(timeout=0):
            lib.ravel_interrupt(self._handle)
            if not self._lock.acquire(timeout=2):
                return
        self._refusal = "Ravel's context has been closed"
        self._dead.clear()
        lib.ravel_context_free(self._handle)
        self._lock.release()

    def forget(self) -> None:
        """In a child of fork, which has none of the context's threads."""
        self._refusal = ("this belongs to the process that was forked: make it anew in the"
                         " child, or start children with the method \"spawn\"")
        self._lock, self._owner = threading.Lock(), 0


class Watcher:
    """Has the library call a function of C that resumes a generator, which waits within `try`:
    an exception of a signal's handler cannot miss it. It does not refer to its context."""

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.caught: BaseException | None = None
        self._start()

    def _start(self) -> None:
        self._generator = self._watch()
        next(self._generator)
        self._progress = PROGRESS(self._generator.send)
        lib.ravel_on_progress(self._handle, self._progress, None)

    def wake(self) -> None:
        """Begins anew after a second Ctrl-C had met it."""
        if inspect.getgeneratorstate(self._generator) == inspect.GEN_CLOSED:
            self._start()

    def _watch(self) -> Generator[bool, Any, None]:
        """Each `send` lets pending signals run; gives whether the call may go on."""
        go_on = True
        while True:
            try:
                while True:
                    yield go_on
                    go_on = self.caught is None
            except GeneratorExit:
                return
            except BaseException as caught:  # pylint: disable=broad-except
                # Its traceback without this frame, which others may clear.
                trace = caught.__traceback__
                self.caught = caught.with_traceback(trace.tb_next if trace else None)
                go_on = False
