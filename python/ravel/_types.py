"""Types as NESL writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import List, NamedTuple, Tuple

from ravel._errors import MisuseError

TOKEN = re.compile(r"\s*([\[\](),]|[A-Za-z_]\w*)")


class Type(NamedTuple):
    """A type: "int", "float", "bool", "char"; "sequence" or "tuple" of parts; a datatype."""
    kind: str
    parts: Tuple[Type, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parts))
        return {"sequence": f"[{inner}]", "tuple": f"({inner})"}.get(self.kind, self.kind)


@lru_cache(maxsize=1000)
def parse(text: str) -> Type:
    """The type of a text such as "[(int, [float])]"; ravel.MisuseError if it is none."""
    tokens = TOKEN.findall(text)
    if "".join(tokens) != re.sub(r"\s", "", text):
        raise MisuseError(f"{text!r} is no type of NESL")
    try:
        found = _tuple(tokens)
    except IndexError:
        tokens, found = ["?"], Type("")
    if tokens:
        raise MisuseError(f"{text!r} is no type of NESL")
    return found


def _tuple(tokens: List[str]) -> Type:
    """Types separated by commas. The last one's parts are parts of the whole."""
    parts = [_single(tokens)]
    while tokens and tokens[0] == ",":
        del tokens[0]
        parts.append(_single(tokens))
    if len(parts) == 1:
        return parts[0]
    last = parts.pop()
    return Type("tuple", (*parts, *(last.parts if last.kind == "tuple" else [last])))


def _single(tokens: List[str]) -> Type:
    token = tokens.pop(0)
    if token not in "[(":
        if not token.isidentifier():
            raise IndexError
        return Type(token.lower())
    inner = _tuple(tokens)
    if tokens.pop(0) != {"[": "]", "(": ")"}[token]:
        raise IndexError
    return Type("sequence", (inner,)) if token == "[" else inner


@lru_cache(maxsize=1000)
def argument(text: str) -> str:
    """A value's type as one of several in a list of types."""
    return f"({text})" if parse(text).kind == "tuple" else text
