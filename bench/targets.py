"""The targets of targets.def, for Python: values by name, and what programs are held to."""

import re
from pathlib import Path

TABLE = Path(__file__).resolve().parent / "targets.def"


def rows(macro):
    """The arguments of a macro's uses, as texts."""
    text = re.sub(r"/\*.*?\*/", "", TABLE.read_text(), flags=re.DOTALL)
    return [[word.strip() for word in use.split(",")]
            for use in re.findall(rf"^{macro}\(([^\")]*)", text, re.MULTILINE)]


VALUES = {name: float(value) for name, value, *_ in rows("TARGET")}
CLASSES = {name: kind.lower() for name, kind in rows("PROGRAM")}
GPU_TIMES = {name: tuple(map(float, values)) for name, *values in rows("GPU_TIME")}
GPU_COUNTS = {name: tuple(map(int, counts)) for name, *counts in rows("GPU_COUNTS")}
TAKES = {(name, int(size), how): tuple(map(int, counts))
         for name, size, how, *counts in rows("TAKES")}


def of_program(name):
    """How many times OpenMP C a program may take; None for one that is not in the table."""
    return VALUES[CLASSES[name].upper()] if name in CLASSES else None
