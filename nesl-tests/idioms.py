#!/usr/bin/env python3
"""Executes both sides of the idioms of docs/numpy.md, and compares their values.

    nesl-tests/idioms.py [--bin FOLDER]

A block ```python LIBRARY and the block of NESL behind it, with a heading of the third level, are an idiom:
the last expressions of both have the same value, as has the second one within an apply-to-each. Blocks
without such a heading are data: what both assign is the same. (pages.py compares what NESL prints.)

Where Awkward Array or pandas is not installed, code of plain NumPy, below, stands in for the Python of the
page; where it is installed, that code is compared, too."""

import argparse
import ast
import importlib.util
import math
import os
import re
import sys
import types
from pathlib import Path

import numpy as np

from pages import LIBRARIES, MORE, PROMPT

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "numpy.md"
PAIR = re.compile(r"(?:^### (?P<name>[^\n]*)\n\n)?"
                  rf"^```python (?P<library>{'|'.join(LIBRARIES)})\n(?P<python>.*?)^```\n\n"
                  r"^```nesl\n(?P<nesl>.*?)^```$", re.MULTILINE | re.DOTALL)


# ---- without Awkward Array and pandas ----

def each(function, *rows):
    """The results for the rows of ragged data, as arrays of NumPy."""
    return [function(*map(np.array, row)) for row in zip(*rows)]


def groups(table):
    """The second components of the rows of a table by its first ones, which ascend."""
    keys, amounts = map(np.array, zip(*table))
    return [(key, amounts[keys == key]) for key in np.unique(keys)]


def matches(u, v):
    """Each row of u and the rest of the first row of v with its key, or None."""
    return [(*row, next((x for key, x in v if key == row[0]), None)) for row in u]


def columns(function):
    return lambda sales, towns: function(*map(np.array, zip(*sales)))


AWKWARD = {
    "ak.num": lambda pt, eta: each(len, pt),
    "ak.sum, axis=-1": lambda pt, eta: each(lambda p: p.sum(dtype=float), pt),
    "ak.flatten, ak.unflatten": lambda pt, eta: (
        np.concatenate(pt), np.split(np.array([1, 2, 3, 4]), np.cumsum([1, 0]))),
    "Cuts on elements": lambda pt, eta: each(lambda p, e: p[(p > 30.0) & (np.abs(e) < 2.0)], pt, eta),
    "Cuts on rows": lambda pt, eta: [row for row in pt if len(row) >= 2],
    "ak.sort, ak.argsort": lambda pt, eta: (each(np.sort, pt), each(np.argsort, pt)),
    "ak.max, ak.fill_none": lambda pt, eta: each(lambda p: p.max(initial=0.0), pt),
    "ak.combinations": lambda pt, eta: each(lambda p: np.add.outer(p, p)[np.triu_indices(len(p), 1)], pt),
    "ak.cartesian": lambda pt, eta: each(
        lambda u, w: np.stack([np.repeat(u, len(w)), np.tile(w, len(u))], axis=1),
        [[1, 2], [3]], [[10], [20, 30]]),
    "ak.zip, records": lambda pt, eta: each(lambda p, e: e[p > 33.0], pt, eta),
}
PANDAS = {
    "Selecting rows and columns": columns(lambda shop, amount: shop[amount > 15]),
    "assign": columns(lambda shop, amount: list(zip(shop, amount, amount * 0.25))),
    "sort_values": lambda sales, towns: (sorted(sales, key=lambda row: row[1]), sorted(sales)),
    "groupby, sum": lambda sales, towns: [(key, v.sum()) for key, v in groups(sales)],
    "groupby, several aggregates": lambda sales, towns: [
        (key, len(v), v.mean(), v.max()) for key, v in groups(sales)],
    "groupby, cumsum": columns(lambda shop, amount: [
        amount[:i + 1][shop[:i + 1] == shop[i]].sum() for i in range(len(shop))]),
    "value_counts": columns(lambda shop, amount: sorted(
        ((key, (shop == key).sum()) for key in dict.fromkeys(shop)), key=lambda row: -row[1])),
    "merge": lambda sales, towns: [row for row in matches(sales, towns) if row[2] is not None],
    "merge, how=\"left\"": lambda sales, towns: [(*row[:2], row[2] or "?") for row in matches(sales, towns)],
    "nlargest": columns(lambda shop, amount: np.sort(amount)[:-3:-1]),
    "rolling": columns(lambda shop, amount: np.convolve(amount, [1, 1, 1], "valid") / 3),
    "crosstab": lambda sales, towns: [(key, (v <= 15).sum(), (v > 15).sum()) for key, v in groups(sales)],
}
STAND_INS = {"awkward": AWKWARD, "pandas": PANDAS}
# What the page makes its data with.
PLAIN = {"awkward": types.SimpleNamespace(Array=list),
         "pandas": types.SimpleNamespace(DataFrame=lambda table: list(zip(*table.values())))}


# ---- values ----

def plain(value):
    """A value of any of the libraries, or of ravel, as lists and scalars of Python."""
    if hasattr(value, "itertuples"):
        return plain(list(value.itertuples(index=False, name=None)))
    if hasattr(value, "to_list"):
        return plain(value.to_list())
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(x) for x in value]
    return value


def same(x, y):
    if isinstance(x, list) and isinstance(y, list):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float) and isinstance(y, float):
        return math.isclose(x, y, rel_tol=1e-14) or (math.isnan(x) and math.isnan(y))
    return type(x) is type(y) and x == y


# ---- both sides ----

def load_ravel(library):
    """The package of this checkout."""
    os.environ["RAVEL_LIBRARY"] = str(library)
    sys.path.insert(0, str(ROOT / "python"))
    import ravel  # pylint: disable=import-outside-toplevel
    return ravel


class Python:
    """The names of the page's Python: with what is installed, or plain data."""

    def __init__(self, installed):
        self.installed, self.names = installed, {}
        for name in set(PLAIN) - installed:
            sys.modules[name] = PLAIN[name]

    def value(self, text):
        """Of the last statement, if it is an expression."""
        statements = ast.parse(text, str(PAGE)).body
        last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
        exec(compile(ast.Module(statements, []), PAGE, "exec"), self.names)  # pylint: disable=exec-used
        return last and plain(eval(compile(ast.Expression(last.value), PAGE, "eval"),  # pylint: disable=eval-used
                                   self.names))

    def stand_in(self, library, name):
        """The value of an idiom by NumPy only."""
        data = {"awkward": ("pt", "eta"), "pandas": ("sales", "towns")}[library]
        return plain(STAND_INS[library][name](*(plain(self.names[d]) for d in data)))


def forms_of(block):
    """The forms of a block of a session, without what it prints."""
    forms = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            forms.append(line.removeprefix(PROMPT))
        elif line.startswith(MORE):
            forms[-1] += "\n" + line.removeprefix(MORE)
    return forms


class Comparison:
    def __init__(self, ravel):
        self.ravel = ravel
        self.python = Python({name for name in PLAIN if importlib.util.find_spec(name)})
        self.passed = self.failed = 0

    def compare(self, line, what, want, got):
        if same(want, got):
            self.passed += 1
            return
        self.failed += 1
        print(f"docs/numpy.md:{line}: {what}\n  Python: {want}\n  NESL:   {got}")

    def data(self, line, python, forms):
        self.python.value(python)
        self.ravel.define("\n".join(forms), name=f"data{line}")
        for name in re.findall(r"^(\w+) = ", "\n".join(forms), re.MULTILINE):
            self.compare(line, name, plain(self.python.names[name]), plain(self.ravel.eval(name)))

    def idiom(self, line, name, library, python, forms):
        if forms[:-1]:
            self.ravel.define("\n".join(forms[:-1]), name=f"idiom{line}")
        expression = forms[-1].rstrip(";")
        got = plain(self.ravel.eval(expression))
        lifted = plain(self.ravel.eval(f"{{({expression}) : instance_ in [0:2]}}"))
        self.compare(line, f"{name}, within an apply-to-each", [got, got], lifted)
        if library not in STAND_INS or library in self.python.installed:
            self.compare(line, name, self.python.value(python), got)
        if library in STAND_INS:
            self.compare(line, f"{name}, by NumPy", self.python.stand_in(library, name), got)

    def run(self, text):
        names = []
        for pair in PAIR.finditer(text):
            line = text.count("\n", 0, pair.start("python"))
            forms = forms_of(pair["nesl"])
            if pair["name"]:
                names.append(pair["name"])
                self.idiom(line, pair["name"], pair["library"], pair["python"], forms)
            else:
                self.data(line, pair["python"], forms)
        self.compare(1, "headings without two blocks behind them", [],
                     [name for name in re.findall(r"^### (.*)$", text, re.MULTILINE) if name not in names])
        return len(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, default=ROOT / "build" / "bin")
    options = parser.parse_args()
    comparison = Comparison(load_ravel(options.bin.resolve().parent / "lib" / "libravel.so"))
    count = comparison.run(PAGE.read_text())
    without = sorted(set(PLAIN) - comparison.python.installed)
    print(f"{count} idioms: {comparison.passed} passed, {comparison.failed} failed" +
          (f"; NumPy stood in for {' and '.join(without)}" if without else ""))
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
