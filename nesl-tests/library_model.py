"""library_model.py - types and values of NESL in Python, for tests that compute what to expect.

A type is "int", "float", "bool", "char", or a tuple: ("seq", T), ("pair", A, B),
("data", name, parameters, contents). A value is an int, a float, a bool, a Char, a list, a pair
(a Python tuple of two; longer tuples nest on the right) or a Data. Nothing here knows the code of
Ravel: it follows sections 5, 9.9 and 10 of the language's specification.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, order=True)
class Char:
    c: str


@dataclass(frozen=True)
class Data:
    name: str
    contents: object


# Datatypes of the tests: declarations, and contents in terms of the parameters.
DECLARATIONS = ["datatype pt(int, float);", "datatype box(a, bool) :: (a in any);"]


def seq(t):
    return ("seq", t)


def pair(a, *others):
    """The tuple of the types (or values, with val_pair)."""
    return ("pair", a, pair(*others)) if others else a


def val_pair(a, *others):
    return (a, val_pair(*others)) if others else a


def text(s):
    return [Char(c) for c in s]


def plain(v):
    """The Python string of a value of type [char]."""
    return "".join(c.c for c in v)


PT = ("data", "pt", (), pair("int", "float"))


def box(t):
    return ("data", "box", (t,), pair(t, "bool"))


STRING = seq("char")


# ---- types and values as text ----


def show_type(t, inside=False):
    if isinstance(t, str):
        return t
    if t[0] == "seq":
        return "[" + show_type(t[1]) + "]" if t[1][0] != "pair" else "[" + show_type(t[1], True) + "]"
    if t[0] == "data":
        return t[1] + ("(" + ", ".join(show_type(p, True) for p in t[2]) + ")" if t[2] else "")
    shown = show_type(t[1], True) + ", " + show_type(t[2])
    return "(" + shown + ")" if inside else shown


def quoted(v):
    return '"' + "".join("\\" + c.c if c.c in '"\\' else c.c for c in v) + '"'


def show_float(x):
    """Any notation that is read back; the driver compares floats as numbers."""
    if x != x or x in (float("inf"), float("-inf")):
        return "nan" if x != x else "infinity" if x > 0 else "-infinity"
    shown = repr(x).upper()
    return shown if "." in shown else shown.replace("E", ".0E")


SCALARS = ("bool", "float", "int", "char")


def scalar_text(v, t, truths, float_text):
    if t == "bool":
        return truths[not v]
    if t == "float":
        return float_text(v)
    return str(v) if t == "int" else "`" + v.c


def show(v, t):
    """The value as it is printed (section 10.1)."""
    if t in SCALARS:
        return scalar_text(v, t, "TF", show_float)
    if t[0] == "data":
        contents = show(v.contents, t[3])
        return v.name + (contents if t[3][0] == "pair" else "(" + contents + ")")
    if t == STRING:
        return quoted(v)
    if t[0] == "seq":
        return "[" + ", ".join(show(x, t[1]) for x in v) + "]"
    second = show(v[1], t[2])
    if t[2][0] == "pair":
        second = second[1:-1]
    return "(" + show(v[0], t[1]) + ", " + second + ")"


def literal(v, t):
    """The value as an expression."""
    if t == "bool":
        return "t" if v else "f"
    if t[0] == "data":
        contents = literal(v.contents, t[3])
        return v.name + (contents if t[3][0] == "pair" else "(" + contents + ")")
    if isinstance(t, str) or t == STRING:
        return show(v, t)
    if t[0] == "seq":
        if not v:
            return "[] " + show_type(t[1], True)
        return "[" + ", ".join(literal(x, t[1]) for x in v) + "]"
    return "(" + literal(v[0], t[1]) + ", " + literal(v[1], t[2]) + ")"


# ---- string(x), section 9.9 ----


def float_string(x):
    x = float(format(x, ".7e"))
    if x == 0:
        return "0.0"
    if 0.001 <= abs(x) < 1e7:
        digits = format(Decimal(format(x, ".7e")), "f")
        digits = digits.rstrip("0") if "." in digits else digits
        return digits + "0" if digits.endswith(".") else digits if "." in digits else digits + ".0"
    mantissa, exponent = format(x, ".7e").split("e")
    mantissa = mantissa.rstrip("0")
    return "%s%se%s%d" % (mantissa, "0" if mantissa.endswith(".") else "",
                          "+" if int(exponent) >= 0 else "-", abs(int(exponent)))


def string(v, t):
    if t in SCALARS:
        return scalar_text(v, t, "tf", float_string)
    if t[0] == "data":
        return string(v.contents, t[3])
    if t[0] == "seq":
        return "[" + ", ".join(string(x, t[1]) for x in v) + "]"
    second = string(v[1], t[2])
    return "(" + string(v[0], t[1]) + ", " + (second[1:-1] if t[2][0] == "pair" else second) + ")"


def identity(t):
    """The neutral value of a type."""
    if t[0] == "data":
        return Data(t[1], identity(t[3]))
    if t[0] == "pair":
        return (identity(t[1]), identity(t[2]))
    return {"int": 0, "float": 0.0, "bool": False, "char": Char(" ")}.get(t, [])


# ---- random values ----

CHARACTERS = "abcxyzABCXYZ0189 .,;:!?\"\\`%()[]{}#@"


def value(r, t):
    if t == "int":
        return r.choice([0, 1, -1, r.randint(-9, 9), r.randint(-1000, 1000)])
    if t == "float":
        return r.choice([0.0, 1.0, r.randint(-40, 40) / 4, r.randint(-4000, 4000) / 16])
    if t == "bool":
        return r.random() < 0.5
    if t == "char":
        return Char(r.choice(CHARACTERS))
    if t[0] == "seq":
        return values(r, t[1], r.choice([0, 0, 1, 2, 3]))
    if t[0] == "data":
        return Data(t[1], value(r, t[3]))
    return (value(r, t[1]), value(r, t[2]))


def values(r, t, n):
    return [value(r, t) for _ in range(n)]
