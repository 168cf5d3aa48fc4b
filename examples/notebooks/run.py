#!/usr/bin/env python3
"""Runs the notebooks beside this file without a browser. They compare with other libraries.

    examples/notebooks/run.py [NAME.ipynb ...]"""

import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEEDS = ("IPython", "awkward", "pandas", "pyarrow")


def cells(path):
    """The code of each cell, by its number."""
    book = json.loads(path.read_text(encoding="utf-8"))
    for number, cell in enumerate(book["cells"], 1):
        if cell["cell_type"] == "code":
            yield number, "".join(cell["source"])


def run(path):
    """Whether all cells ran."""
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell(colors="NoColor")
    for number, code in cells(path):
        outcome = shell.run_cell(code)
        if not outcome.success:
            print(f"{path.name}, cell {number} failed")
            return False
    return True


def main():
    missing = [name for name in NEEDS if not importlib.util.find_spec(name)]
    if missing:
        print(f"SKIPPED the notebooks: {', '.join(missing)} not installed")
        return 0
    sys.path.insert(0, str(HERE.parent.parent / "python"))
    paths = [Path(name) for name in sys.argv[1:]] or sorted(HERE.glob("*.ipynb"))
    failed = [path for path in paths if not run(path)]
    print(f"{len(paths) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
