"""Functions of Python, and of modules, in a text of NESL.

A text in which they are declared only is checked first: the compiler's complaints have the types
of each use. The uses then get the names of what the functions are translated to for these types.
"""

# pylint: disable=protected-access
from __future__ import annotations

import functools
import re
import weakref
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from ravel import _types
from ravel._definitions import Definition
from ravel._errors import Error, NeslTypeError
from ravel._explained import explained, with_elements
from ravel._forms import TOKEN
from ravel._types import Type

if TYPE_CHECKING:
    from ravel._context import Context
    from ravel._functions import Entry, Function
    from ravel._values import Compiled

DECLARED = "function {} (x) : a -> b :: (a in any; b in any);\n"
UNKNOWN = re.compile(r"`(\w+)` is not defined")
# A line of a text in a message, with marks below.
EXCERPT = re.compile(r"^( *(\d+) \| )(.*)\n( *\| )( *)(\^+)", re.MULTILINE)
# Decorated functions by their names in NESL, for `hinted`.
decorated: weakref.WeakValueDictionary[str, Function] = weakref.WeakValueDictionary()
COMPLAINT = re.compile(r"`python_use_(\d+)_` is only declared, here for (.*): it has no body")


class Use:
    """A word of a text that means a function that was given by name."""

    def __init__(self, number: int, start: int, word: str, function: Function) -> None:
        self.start, self.word, self.function = start, word, function
        self.declared = f"python_use_{number}_"
        self.entry: Optional[Entry] = function._entry_of_text()

    @property
    def name(self) -> str:
        """What stands for it in NESL."""
        return self.entry.name if self.entry else self.declared

    def learn(self, context: Context, type_: str) -> bool:
        """Has it translated for its type, "(int, float) -> a", if that of the argument is known."""
        argument, *others = type_.split(" -> ")
        parts = _parts(argument, self.function._parameter_count) if len(others) == 1 else ()
        if not parts or any(part.has_data() for part in parts):
            return False
        self.entry = self.function._entry(context, tuple(map(str, parts)), ())
        return True


def _parts(text: str, count: int) -> Tuple[Type, ...]:
    """The types of so many parameters, of an argument of NESL."""
    found = _types.parse(text)
    if found.kind != "tuple" or count < 2:
        return (found,)
    rest = found.parts[count - 1:]
    return (*found.parts[:count - 1], *((Type("tuple", rest),) if len(rest) > 1 else rest))


class Text:
    """A text of NESL, and the uses in it of functions that were given by name."""

    def __init__(self, text: str, file: str, given: Dict[str, Function]) -> None:
        self._text, self._file = text, file
        named = {name.lower(): function for name, function in given.items()}
        words = [found for found in TOKEN.finditer(text)
                 if found.group().lower() in named and _is_name(text, found)]
        self.uses: List[Use] = [Use(i, found.start(), found.group(), named[found.group().lower()])
                     for i, found in enumerate(words)]

    @property
    def nesl(self) -> str:
        """The text with the names that stand for the uses."""
        said, end = "", 0
        for use in self.uses:
            said += self._text[end:use.start] + use.name
            end = use.start + len(use.word)
        return said + self._text[end:]

    @property
    def open(self) -> bool:
        """Whether the types of a use are not known."""
        return any(use.entry is None for use in self.uses)

    def needs(self) -> Tuple[Definition, ...]:
        """What must be defined for it, in this order."""
        found = [use.entry.definition if use.entry else _declared(use.declared) for use in self.uses]
        return tuple(dict.fromkeys(each for each in found if each))

    def learn(self, context: Context, error: Error) -> bool:
        """Whether the error is about uses whose types were not known; they are afterwards."""
        found = filter(None, (COMPLAINT.search(each.message) for each in error.diagnostics))
        complaints = [(self.uses[int(each[1])], each[2]) for each in found]
        if complaints and not any([use.learn(context, type_) for use, type_ in complaints]):
            use, type_ = complaints[0]
            raise NeslTypeError(f"the types of the arguments of {use.word} are not known here: it is"
                                f" {type_}; declare them where it is called, as function g(v) : [int]"
                                " -> [int] = ...")
        return bool(complaints)

    # ---- errors in terms of what was written ----

    def failure(self, error: Error) -> Error:
        """The failure of a run; one in a function of Python with its lines."""
        programs: Dict[str, Any] = {}
        for use in self.uses:
            programs.update(use.function._programs_by_file())
        if any(each.file in programs for each in error.diagnostics):
            return with_elements(explained(error, programs))
        return self.as_written(error)

    def as_written(self, error: Error) -> Error:
        """The error with the words and columns of the text."""
        became = self.nesl.split("\n")
        position = re.compile(rf"({re.escape(self._file)}):(\d+):(\d+)")

        def said(text: str) -> str:
            text = position.sub(lambda found: f"{found[1]}:{found[2]}:"
                                f"{self._column(int(found[2]), int(found[3]))}", text)
            text = EXCERPT.sub(lambda found: self._excerpt(found, became), text)
            for use in self.uses:
                text = re.sub(rf"\b{use.name}\b", use.word, text)
            return text
        parts = [each._replace(message=said(each.message), column=self._column(
            each.line, each.column) if each.file == self._file else each.column)
            for each in error.diagnostics]
        made = type(error)(said(str(error)), parts)
        made.nesl = said(error.nesl)
        return made

    def _excerpt(self, found: re.Match[str], became: List[str]) -> str:
        """A line of what the text became, as it was written."""
        number, first = int(found[2]), len(found[5]) + 1
        if number > len(became) or found[3] != became[number - 1]:
            return found[0]
        start, end = self._column(number, first), self._column(number, first + len(found[6]))
        return (f"{found[1]}{self._text.split(chr(10))[number - 1]}\n{found[4]}{' ' * (start - 1)}"
                f"{'^' * max(1, end - start)}")

    def _column(self, line: int, column: int) -> int:
        """A column of the text, of one of what it became."""
        longer = 0
        for use in self.uses:
            before = self._text.rfind("\n", 0, use.start) + 1
            if self._text.count("\n", 0, use.start) + 1 == line:
                start, more = use.start - before + 1 + longer, len(use.name) - len(use.word)
                if column <= start:
                    break
                longer += more if column >= start + len(use.name) else column - start
        return column - longer


def _is_name(text: str, found: re.Match[str]) -> bool:
    """Whether a word is no member, as in m.x, no argument by name, and no part of a number."""
    before, behind = text[:found.start()].rstrip()[-1:], text[found.end():].lstrip()[:2]
    return before != "." and behind != ":=" and not text[:found.start()][-1:].isalnum()


@functools.lru_cache(maxsize=1000)
def _declared(name: str) -> Definition:
    return Definition(DECLARED.format(name), "<ravel: functions of Python>")


def hinted(error: NeslTypeError, text: str) -> NeslTypeError:
    """The error; of an unknown name that a decorated function has, with what to write."""
    names = UNKNOWN.findall(str(error))
    if "it is no function: it is bool" in str(error):  # t and f are constants
        names += [found.group() for found in TOKEN.finditer(text) if found.group() in ("t", "f")]
    for name in names:
        if name in decorated:
            name = decorated[name].__name__
            error.args = (f"{error}\n  ({name} is a function of Python: give it by name, as in"
                          f" rv.eval(text, {name}={name}))",)
            break
    return error


def expression(context: Context, text: Text, names: str, types: str) -> Compiled:
    """The function of an expression. NeslTypeError, Unsupported."""
    def work() -> Compiled:
        context.catch_up()
        for each in text.needs():
            context.define(each)
        return context.expression(text.nesl, names, types)
    while True:
        try:
            return context.run(work)
        except Error as error:
            if not text.learn(context, error):
                raise text.as_written(error) from None


def definition(context: Context, text: Text, name: str) -> Definition:
    """The text as one whose functions of Python are translated. NeslTypeError, Unsupported."""
    while True:
        made = Definition(text.nesl, name, text.needs())
        made.written = text if text.uses else None
        try:
            context.run(lambda: _check(context, made))
            if not text.open:
                return made
        except Error as error:
            if not text.learn(context, error):
                raise text.as_written(error) from None
            continue
        raise NeslTypeError("no function of the text calls "
                            + ", ".join(use.word for use in text.uses if not use.entry))


def _check(context: Context, made: Definition) -> None:
    """Defines a text, and reaches all uses in it whose types are not known. Within `run`."""
    context.catch_up()
    context.define(made)
    for form in made.forms if made.written and made.written.open else ():
        if form.kind == "function" and "python_use_" in form.text:
            context.expression(form.name, "", "")

