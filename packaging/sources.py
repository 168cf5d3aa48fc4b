"""A copy of the checkout to make packages of, and the date that they carry."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from version import ROOT


def copy_sources(folder: Path) -> Path:
    """Copies what git knows or would add into a new folder, and nothing that was built."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], cwd=ROOT, check=True,
                            stdout=subprocess.PIPE).stdout
    for name in filter(None, listed.decode().split("\0")):
        if (ROOT / name).exists():  # else it was removed, but not yet from the index
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def date() -> int:
    """The time of the last commit, in seconds since 1970."""
    return int(subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, check=True,
                              stdout=subprocess.PIPE).stdout)


def environment() -> dict[str, str]:
    """For builds whose results do not depend on day or user; ccache stays the user's."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccache"
    return {"CCACHE_DIR": str(cache), **os.environ, "SOURCE_DATE_EPOCH": str(date()),
            "LC_ALL": "C.UTF-8", "TZ": "UTC"}
