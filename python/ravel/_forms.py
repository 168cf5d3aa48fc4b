"""The forms of a NESL text: where each ends, and what it defines.

This reads no more of NESL than that takes; libravel finds mistakes.
"""

from __future__ import annotations

import re
from typing import Iterator, NamedTuple

# A comment, a string and a character, so that nothing is found within; a word; a bracket, `;`.
TOKEN = re.compile(r"%[^%]*%|//[^\n]*|\"(?:\\.|[^\"\\])*\"|`(?:\\.|.)"
                   r"|[A-Za-z_][A-Za-z_0-9]*|[\[\](){};]", re.DOTALL)
BEFORE = re.compile(r"(?:\s|%[^%]*%|//[^\n]*)*", re.DOTALL)
DEFINES = re.compile(r"(function|datatype)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*=(?![=>])",
                     re.IGNORECASE)
CLOSES = {")": "(", "]": "[", "}": "{", "in": "let"}


class Form(NamedTuple):
    """A form of NESL."""
    kind: str  # "function", "datatype", "variable" or "expression"
    name: str  # what it defines, or ""
    text: str  # without its `;`
    line: int  # from 1


def ends(text: str) -> Iterator[int]:
    """Where each form ends: the position of its `;`, or the end of the text."""
    open_ones: list[str] = []
    for token in TOKEN.finditer(text):
        word = token.group().lower()
        if word in "([{" or word == "let":
            open_ones.append(word)
        elif word in CLOSES and open_ones and open_ones[-1] == CLOSES[word]:
            open_ones.pop()
        elif word == ";" and not open_ones:
            yield token.start()
    yield len(text)


def form_of(text: str, start: int, end: int) -> Form:
    """The form between two positions."""
    inside = text[start:end].rstrip()
    line = text.count("\n", 0, start) + 1
    found = DEFINES.match(inside)
    if not found:
        return Form("expression", "", inside, line)
    kind, name, variable = found.groups()
    return Form(kind.lower() if kind else "variable", name or variable, inside, line)


def forms(text: str) -> list[Form]:
    """All forms of a text."""
    found, start = [], 0
    for end in ends(text):
        blank = BEFORE.match(text, start, end)
        start = blank.end() if blank else start
        if start < end:
            found.append(form_of(text, start, end))
        start = end + 1
    return found
