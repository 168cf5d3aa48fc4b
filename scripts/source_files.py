"""Which files of this folder are sources: what git tracks or would add, or, in a copy without git, all
that .gitignore does not name."""

import fnmatch
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def asked_git(root, folders, untracked):
    """What git lists; None where there is no git, or no clone."""
    if not (root / ".git").exists():  # git would answer for a clone around this folder
        return None
    options = ["--cached", *(["--others", "--exclude-standard"] if untracked else [])]
    try:
        done = subprocess.run(["git", "ls-files", "-z", *options, "--", *folders], cwd=root,
                              capture_output=True, check=False)
    except FileNotFoundError:
        return None
    return [name for name in done.stdout.decode().split("\0") if name] if done.returncode == 0 else None


def ignores(root):
    """Whether .gitignore names a path; of its patterns those of this checkout: names, and paths that
    begin with a slash."""
    file = root / ".gitignore"
    patterns = [line.rstrip("/") for line in file.read_text().split()] if file.exists() else []

    def ignored(path):
        return path == ".git" or any(fnmatch.fnmatch("/" + path if p.startswith("/") else path.rpartition("/")[2], p)
                                     for p in patterns)
    return ignored


def walked(root):
    """All files that are not ignored."""
    ignored = ignores(root)
    for folder, inner, names in os.walk(root):
        within = os.path.normpath(os.path.relpath(folder, root)) + "/"
        within = "" if within == "./" else within
        inner[:] = [name for name in inner if not ignored(within + name)]
        yield from (within + name for name in names if not ignored(within + name))


def is_in(name, folder):
    """As git understands the names of folders and files, and patterns such as neslc/*.c."""
    return folder == "." or name.startswith(folder.rstrip("/") + "/") or fnmatch.fnmatch(name, folder)


def source_files(*folders, root=ROOT, untracked=True):
    """The names of the sources in these folders, or in all, relative to the root and sorted. What git
    does not track, but would add, is left out where `untracked` is false and there is git."""
    folders = folders or (".",)
    listed = asked_git(root, folders, untracked)
    if listed is None:
        listed = (name for name in walked(root) if any(is_in(name, folder) for folder in folders))
    return sorted(set(listed))
