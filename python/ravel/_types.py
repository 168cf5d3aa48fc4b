"""Types as NESL writes them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import List, NamedTuple, Tuple

from ravel._errors import MisuseError

TOKEN = re.compile(r"\s*([\[\](),]|[A-Za-z_]\w*)")


class Type(NamedTuple):
    """A type: "int", "float", "bool", "char"; "sequence" or "tuple" of parts; a datatype, with
    its arguments if it has some."""
    kind: str
    parts: Tuple[Type, ...] = ()

    def __str__(self) -> str:
        inner = ", ".join(map(str, self.parts))
        plain = f"{self.kind}({inner})" if self.parts else self.kind
        return {"sequence": f"[{inner}]", "tuple": f"({inner})"}.get(self.kind, plain)

    def has_data(self) -> bool:
        """Whether there is a datatype in it, which is nothing for Arrow."""
        known = ("sequence", "tuple", "int", "float", "bool", "char")
        return self.kind not in known or any(part.has_data() for part in self.parts)


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
        if not tokens or tokens[0] != "(":
            return Type(token.lower())
        del tokens[0]
        inner = _tuple(tokens)
        if tokens.pop(0) != ")":
            raise IndexError
        return Type(token.lower(), inner.parts if inner.kind == "tuple" else (inner,))
    inner = _tuple(tokens)
    if tokens.pop(0) != {"[": "]", "(": ")"}[token]:
        raise IndexError
    return Type("sequence", (inner,)) if token == "[" else inner


@lru_cache(maxsize=1000)
def argument(text: str) -> str:
    """A value's type as one of several in a list of types."""
    return f"({text})" if parse(text).kind == "tuple" else text
