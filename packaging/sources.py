"""A copy of the checkout to make packages of, and the date that they carry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from version import ROOT

sys.path.append(str(ROOT / "scripts"))
from source_files import source_files  # noqa: E402


def copy_sources(folder: Path) -> Path:
    """Copies the sources into a new folder, and nothing that was built."""
    for name in source_files():
        if (ROOT / name).exists():  # else it was removed, but not yet from the index
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def date() -> int:
    """The time of the last commit, in seconds since 1970; without git that of the newest file, which is the
    same in an archive that git made."""
    try:
        if (ROOT / ".git").exists():
            return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True,
                                      stdout=subprocess.PIPE).stdout)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pass
    return int(max((ROOT / name).stat().st_mtime for name in source_files()))


def environment() -> dict[str, str]:
    """For builds whose results do not depend on day or user; ccache stays the user's."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccache"
    return {"CCACHE_DIR": str(cache), **os.environ, "SOURCE_DATE_EPOCH": str(date()),
            "LC_ALL": "C.UTF-8", "TZ": "UTC"}
