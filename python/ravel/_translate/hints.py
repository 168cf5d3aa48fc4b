"""What to write instead of functions and attributes that are not supported."""

from __future__ import annotations

from typing import Any, Dict

BUILTIN: Dict[str, str] = {
    "print": ": return the value",
    "set": ": write sorted(v), or a list",
    "dict": ": write lists",
    "isinstance": ": types are known when the function is called",
    "input": "",
    "open": "",
    "append": ": write v = v + [x]",
    "type": ": types are known when the function is called",
}

# Of arrays, in functions whose arguments are lists.
ARRAYS: Dict[str, str] = {
    "sum": "sum(v)", "prod": "math.prod(v)", "max": "max(v)", "amax": "max(v)", "min": "min(v)",
    "amin": "min(v)", "mean": "sum(v) / len(v)", "average": "sum(v) / len(v)", "any": "any(v)",
    "all": "all(v)", "sort": "sorted(v)", "flip": "v[::-1]", "array": "the list itself",
    "asarray": "the list itself", "tolist": "the list itself", "copy": "the list itself",
    "arange": "list(range(n))", "zeros": "[0.0 for i in range(n)]", "ones": "[1.0 for i in range(n)]",
    "full": "[x for i in range(n)]", "concatenate": "v + w", "hstack": "v + w",
    "dot": "sum([x * y for x, y in zip(v, w)])", "inner": "sum([x * y for x, y in zip(v, w)])",
    "argmax": "max(range(len(v)), key=lambda i: v[i])",
    "argmin": "min(range(len(v)), key=lambda i: v[i])",
    "argsort": "sorted(range(len(v)), key=lambda i: v[i])",
    "diff": "[y - x for x, y in zip(v, v[1:])]", "count_nonzero": "sum([x != 0 for x in v])",
    "size": "len(v)", "shape": "len(v)", "len": "len(v)", "add": "x + y", "subtract": "x - y",
    "multiply": "x * y", "divide": "x / y", "power": "x ** y", "mod": "x % y", "round": "round(x)",
}
LISTS: Dict[str, str] = {
    **dict.fromkeys(("append", "extend", "insert"), "v = v + [x], or a comprehension"),
    "sort": "sorted(v)", "reverse": "v[::-1]",
}


def of_function(function: Any, name: str) -> str:
    """The message about a function."""
    module = getattr(function, "__module__", None) or type(function).__module__
    if str(module).split(".")[0] == "numpy":
        instead = ARRAYS.get(name, "it with comprehensions and functions of numbers")
        return f"numpy.{name} is not supported, as arrays are lists here: write {instead}"
    more = BUILTIN.get(name, "; if it is yours, decorate it with @ravel.function")
    return f"{name} is not supported{more}"


def of_attribute(name: str) -> str:
    """What follows the message about an attribute of a value."""
    if name in LISTS:
        return f": lists do not change; write {LISTS[name]}"
    return f": write {ARRAYS[name]}" if name in ARRAYS else ""
