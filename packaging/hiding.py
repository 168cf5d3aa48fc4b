"""Running commands where folders, such as the checkout, cannot be seen."""

import shutil
import subprocess

COVER = 'for folder in $HIDDEN; do mount -t tmpfs none "$folder" || exit 126; done; exec "$@"'


def can_hide():
    """Whether this user may have a file system of its own."""
    return shutil.which("unshare") is not None and subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def hidden(command, folders):
    """The command line that runs a command while the folders look empty to it, and to it alone."""
    covered = " ".join(sorted(map(str, folders), reverse=True))  # a folder after those in it
    return ["unshare", "-m", "sh", "-c", f"HIDDEN='{covered}'; {COVER}", "sh", *map(str, command)]
