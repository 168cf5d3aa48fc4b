"""Time by size of a program: executed for all instances together, by procedures, as Ravel chooses, and in C.

    bench/run quicksort --widths 64 --threads 2 --systems ravel,ravel-together,ravel-apart,openmp \
        --sizes 100,1e3,1e4,1e5,1e6 --out FILE
    bench/report change-over FILE quicksort    writes docs/change-over.svg

`nesl` draws it.
"""

import argparse
import math
import subprocess
from pathlib import Path

from collection import ROOT, BenchError
from outcome import Outcome

WAYS = [("ravel-together", "off"), ("ravel-apart", "always"), ("ravel", "auto"), ("openmp", "OpenMP C")]


def points(program, system):
    """Of the first kind of data: decimal logarithms of n, and of microseconds."""
    found = [(p.n, p.seconds(system)) for p in program.main()]
    return [(math.log10(n), math.log10(seconds * 1e6)) for n, seconds in found if seconds]


def series(way, title, of):
    text = ", ".join(f"({x!r}, {y!r})" for x, y in of)
    return f'("{way}: {title}", [{text}])'


def drawing(outcome, name):
    """What `nesl` evaluates."""
    if name not in outcome.programs:
        raise BenchError(f"{outcome.path} has no results of {name}")
    program = outcome.programs[name]
    lines = [series("lines", title, points(program, system)) for system, title in WAYS]
    threads = max(p.get("ravel", "threads") or 1 for p in program.main())
    axes = ['("x: log10 of the number of elements", [] (float, float))',
            '("y: log10 of the time in us", [] (float, float))']
    return f'plot_svg("{program.title}, threads: {threads}", [{", ".join(lines + axes)}])'


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("name")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/change-over.svg")
    options = parser.parse_args(words)
    expression = f"print_string({drawing(Outcome(options.results), options.name)})"
    drawn = subprocess.run([ROOT / "build/bin/nesl", "run", "-"], input=expression + ";", check=True,
                           capture_output=True, text=True)
    options.out.write_text(drawn.stdout[:drawn.stdout.rindex("</svg>") + len("</svg>")] + "\n")
    return 0
