"""Running commands where folders, such as the checkout, cannot be seen."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Iterable
from pathlib import Path

COVER = 'for folder in $HIDDEN; do mount -t tmpfs none "$folder" || exit 126; done; exec "$@"'
# Of root, and of a user where the kernel lets users be root among themselves.
OWN_FILE_SYSTEM = (("unshare", "-m"), ("unshare", "-r", "-m"))


@functools.lru_cache(maxsize=None)
def way() -> tuple[str, ...] | None:
    """How a command gets a file system of its own here; None if it cannot."""
    for start in OWN_FILE_SYSTEM:
        try:
            subprocess.run([*start, "mount", "-t", "tmpfs", "none", "/mnt"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            continue
        return start
    return None


def can_hide() -> bool:
    return way() is not None


def hidden(command: Iterable[str | Path], folders: Iterable[Path]) -> list[str]:
    """A command line that runs a command to which, and to it alone, the folders look empty."""
    covered = " ".join(sorted(map(str, folders), reverse=True))  # a folder after those in it
    return [*(way() or ()), "sh", "-c", f"HIDDEN='{covered}'; {COVER}", "sh",
            *map(str, command)]
