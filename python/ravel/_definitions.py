"""Texts of NESL that define something, and all those that every context is to know."""

from __future__ import annotations

import itertools
import re
import threading
from typing import Any, Tuple

from ravel._forms import Form, forms

WORD = re.compile(r"[a-z_][a-z_0-9]*")
_numbers = itertools.count(1)


class Definition:
    """A text of NESL: its forms, and the names that they define, in lower case.

    A context defines it when it is needed, once unless another text redefines one of its names.
    """

    def __init__(self, text: str, name: str, needs: Tuple[Definition, ...] = ()) -> None:
        self.text, self.name = text, name
        self.needs = needs  # what is defined before it
        self.written: Any = None  # of a text with functions of Python in it: a Text of _called.py
        self.forms = forms(text)
        self.names = [form.name.lower() for form in self.forms if form.name]
        self.number = 0  # in `Definitions`

    def form(self, name: str) -> Form | None:
        """The last form that defines a name."""
        found = [form for form in self.forms if form.name.lower() == name.lower()]
        return found[-1] if found else None

    def mentions(self) -> set[str]:
        """The words in it that may mean what an earlier text defines."""
        found: set[str] = set()
        own: set[str] = set()
        functions = {form.name.lower() for form in self.forms if form.kind == "function"}
        for form in self.forms:
            said = form.text.lower()
            name = form.name.lower()
            if form.kind == "variable":  # x = x + 1 means the x before
                said = said.split("=", 1)[1]
            elif name:
                own.add(name)
            # A function may call those that the text defines later.
            known = own | functions if form.kind == "function" else own
            found |= set(WORD.findall(said)) - known
            own.add(name)
        return found


class Definitions:
    """The texts that every context is to know, in the order in which they were made; contexts
    that begin later execute them, too.

    What is defined again and means nothing to the texts after it is forgotten, so that a program
    may define a name any number of times.
    """

    def __init__(self) -> None:
        self._all: list[Definition] = []
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def add(self, definition: Definition) -> None:
        """Adds the newest text, which has been executed somewhere."""
        with self._lock:
            definition.number = next(_numbers)
            if not self._names.isdisjoint(definition.names):
                self._all = self._needed(definition)
            self._names.update(definition.names)
            self._all.append(definition)

    def _needed(self, newest: Definition) -> list[Definition]:
        """Those texts of which a name is still in force, or is mentioned by a later text."""
        again = set(newest.names)
        first = next(i for i, each in enumerate(self._all) if again & set(each.names))
        kept: list[Definition] = []
        defined, mentioned = again, newest.mentions()
        for each in reversed(self._all[first:]):
            names = set(each.names)
            if len(each.names) < len(each.forms) or names - defined or names & mentioned:
                kept.append(each)
                mentioned = mentioned | each.mentions()
            defined = defined | names
        return self._all[:first] + kept[::-1]

    def after(self, number: int) -> list[Definition]:
        """Those that are newer than the one of this number."""
        found = []
        for each in reversed(self._all):
            if each.number <= number:
                break
            found.append(each)
        return found[::-1]

    @property
    def newest(self) -> int:
        """The number of the newest; 0 if there is none."""
        return self._all[-1].number if self._all else 0

    def __len__(self) -> int:
        return len(self._all)


definitions = Definitions()
