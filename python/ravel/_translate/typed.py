"""Functions whose source no file has: those typed at the prompt of Python, or given to `python -c`.

Their text is looked for in what is left of it, and taken if it compiles to the same code.
"""

from __future__ import annotations

import inspect
import sys
from types import CodeType
from typing import Any, Callable, List, Optional, Tuple

Lines = Tuple[List[str], int]  # those of a function, and the number of the first one
MOST_LINES = 2000  # of the prompt's history that are looked at


def source_lines(function: Callable[..., Any]) -> Optional[Lines]:
    """The lines of a function as inspect.getsourcelines gives them, or None."""
    code = function.__code__
    try:
        return inspect.getsourcelines(function)
    except (OSError, TypeError):
        return _found(code)


def why_not(function: Callable[..., Any]) -> str:
    """Why there is no source, and what to do."""
    file = function.__code__.co_filename
    if file == "<stdin>":
        return (", as the prompt has not kept it: define it in a file, in IPython or a notebook, or at"
                " a prompt with readline or of Python 3.13")
    if file == "<string>":
        return ", as it was made by exec: define it in a file, or in a cell of a notebook"
    return ": define it in a file or in a cell of a notebook"


def _found(code: CodeType) -> Optional[Lines]:
    if code.co_filename == "<string>":
        return _within(code, _command().splitlines(True), "exec")
    if code.co_filename != "<stdin>":
        return None
    lines = _history()
    for start in reversed(range(len(lines))):
        if lines[start].startswith(("@", "def ")):
            found = _within(code, inspect.getblock(lines[start:]), "single")
            if found:
                return found
    return None


def _within(code: CodeType, lines: List[str], mode: str) -> Optional[Lines]:
    """The lines of a function in the text that is compiled as a whole."""
    try:
        whole = compile("".join(lines), code.co_filename, mode, dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    first = code.co_firstlineno
    return (inspect.getblock(lines[first - 1:]), first) if code in _all_in(whole) else None


def _all_in(whole: CodeType) -> List[CodeType]:
    inner = [each for each in whole.co_consts if isinstance(each, CodeType)]
    return inner + [code for each in inner for code in _all_in(each)]


def _command() -> str:
    """The text behind -c of this process, or ""."""
    arguments = iter(getattr(sys, "orig_argv", [])[1:])
    for argument in arguments:
        if argument[:1] != "-" or argument.startswith("--"):
            break
        for i, letter in enumerate(argument[1:], 2):
            if letter in "cWX":  # they have a text, in this argument or the next
                said = argument[i:] or next(arguments, "")
                if letter == "c":
                    return said + "\n"
                break
    return ""


def _history() -> List[str]:
    """The newest lines that were typed."""
    readline = sys.modules.get("readline")
    if readline is None or not hasattr(sys, "ps1"):
        return []
    last = readline.get_current_history_length()
    items = (readline.get_history_item(i) for i in range(max(1, last - MOST_LINES), last + 1))
    return [item + "\n" for item in items if item is not None]
