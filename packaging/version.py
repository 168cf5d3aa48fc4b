"""The version of Ravel and what CHANGELOG.md says of it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSION = re.findall(r"^project\(ravel VERSION ([\d.]+)",
                     (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[0]


def changes() -> str:
    """The section of this version; ValueError if CHANGELOG.md begins with another."""
    text = (ROOT / "CHANGELOG.md").read_text()
    first, section = re.findall(r"^## (\S+).*?\n\n(.*?)\n(?=## )", text,
                                re.MULTILINE | re.DOTALL)[0]
    if first != VERSION:
        raise ValueError(f"CHANGELOG.md begins with {first}, CMakeLists.txt has {VERSION}")
    return section
