"""Notebooks: `%load_ext ravel`, then cells of NESL that begin with `%%nesl`."""

from __future__ import annotations

import re
from typing import Any, Dict, Iterator

from ravel._forms import Form, forms
from ravel._functions import define, eval as evaluate, functions_in

# In a notebook drawings are shown; elsewhere these functions write them into files.
DRAWINGS = """
function plot(points) : [(a, b)] -> [char] :: (a in number; b in number)
  = plot_svg("", [("points", {(float_num(x), float_num(y)) : (x, y) in points})]);
function plot_lines(points) : [(a, b)] -> [char] :: (a in number; b in number)
  = plot_svg("", [("lines", {(float_num(x), float_num(y)) : (x, y) in points})]);
function plot_bars(heights) : [a] -> [char] :: (a in number)
  = plot_svg("", [("bars", {(float(i), float_num(y)) : y in heights; i in [0:#heights]})]);
function plot_image(rows) : [[a]] -> [char] :: (a in number)
  = image_svg("", {{float_num(x) : x in row} : row in rows});
"""
VARIABLE = re.compile(r"\s*\w+\s*=")


class Drawing:
    """An SVG, which notebooks show as a picture."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<drawing, {len(self.svg)} characters of SVG>"


def shown(value: Any) -> Any:
    """What is shown of a value: of the text of an SVG file the drawing."""
    return Drawing(value) if isinstance(value, str) and value.startswith("<svg") else value


def given(line: str, names: Dict[str, Any]) -> Dict[str, Any]:
    """The variables of Python that a line of `%%nesl` lists; NameError if one is missing."""
    found = {}
    for name in line.replace(",", " ").split():
        if name not in names:
            raise NameError(f"%%nesl {line}: there is no variable {name}")
        found[name] = names[name]
    return found


def run(line: str, cell: str, names: Dict[str, Any]) -> Iterator[Any]:
    """Executes the forms of a cell; the values of its expressions.

    `line` lists the variables of Python that it uses. What is defined as `name = expression`
    becomes a variable of Python, which later forms of the cell may use.
    """
    inputs = given(line, names)
    for form in forms(cell):
        if form.kind in ("function", "datatype"):
            define("\n" * (form.line - 1) + form.text + ";", "<cell>", **functions_in(inputs))
        elif form.kind == "variable":
            names[form.name] = inputs[form.name] = evaluate(_value(form), **inputs)
        else:
            yield shown(evaluate(form.text, **inputs))


def _value(form: Form) -> str:
    found = VARIABLE.match(form.text)
    return form.text[found.end():] if found else form.text


def load(shell: Any) -> None:
    """Gives a shell of IPython the magic `%%nesl`."""
    define(DRAWINGS, "<drawings>")

    def nesl(line: str, cell: str) -> Any:
        """Executes NESL; the line lists the variables of Python that it uses."""
        last = None
        for value in run(line, cell, shell.user_ns):
            if last is not None:
                display(last)
            last = value
        return last

    def display(value: Any) -> None:
        from IPython.display import display as show  # pylint: disable=import-outside-toplevel
        show(value)  # type: ignore[no-untyped-call]
    shell.register_magic_function(nesl, "cell", "nesl")
