"""Texts of NESL that define something, and all those that every context is to know."""

from __future__ import annotations

from ravel._forms import Form, forms


class Definition:
    """A text of NESL: its forms, and the names that they define, in lower case.

    A context defines it when it is needed, once unless another text redefines one of its names.
    """

    def __init__(self, text: str, name: str) -> None:
        self.text, self.name = text, name
        self.forms = forms(text)
        self.names = [form.name.lower() for form in self.forms if form.name]

    def form(self, name: str) -> Form | None:
        """The last form that defines a name."""
        found = [form for form in self.forms if form.name.lower() == name.lower()]
        return found[-1] if found else None


# In the order in which they were made; contexts that begin later execute them, too.
definitions: list[Definition] = []
