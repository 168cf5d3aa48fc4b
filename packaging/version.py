"""The version of Ravel and what CHANGELOG.md says of it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.search(r"^project\(ravel VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(),
                    re.MULTILINE)[1]


def changes():
    """The section of this version; ValueError if CHANGELOG.md has none, or another one first."""
    text = (ROOT / "CHANGELOG.md").read_text()
    first, section = re.search(r"^## (\S+).*?\n\n(.*?)\n(?=## )", text,
                               re.MULTILINE | re.DOTALL).groups()
    if first != VERSION:
        raise ValueError(f"CHANGELOG.md begins with {first}, CMakeLists.txt has {VERSION}")
    return section
