"""The Debian packages: packaging/debian as the folder debian of a copy of the sources."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import textwrap
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

from sources import copy_sources, date, environment
from version import VERSION, changes

MAINTAINER = "The Ravel authors <ravel@packages.invalid>"


def changelog() -> str:
    """debian/changelog, whose only entry is what CHANGELOG.md says of this version."""
    points = re.split(r"^- ", changes(), flags=re.MULTILINE)[1:]
    entry = "\n".join(textwrap.fill(" ".join(point.split()), 78, initial_indent="  * ",
                                    subsequent_indent="    ", break_on_hyphens=False)
                      for point in points)
    when = datetime.fromtimestamp(date(), timezone.utc)
    return (f"ravel ({VERSION}) unstable; urgency=medium\n\n{entry}\n\n"
            f" -- {MAINTAINER}  {format_datetime(when)}\n")


def lacking() -> str:
    """What is to be installed before Debian packages can be made: names of packages."""
    if not shutil.which("dpkg-checkbuilddeps"):
        return "dpkg-dev debhelper dh-python"
    asked = subprocess.run(["dpkg-checkbuilddeps", "packaging/debian/control"],
                           check=False, stderr=subprocess.PIPE, text=True).stderr
    return asked.partition("dependencies: ")[2].strip()


def make_debs(out: Path, work: Path, cuda: bool) -> None:
    """Makes the packages, if asked ravel-cuda, too."""
    sources = copy_sources(work / f"ravel-{VERSION}")
    shutil.copytree(sources / "packaging" / "debian", sources / "debian")
    (sources / "debian" / "changelog").write_text(changelog())
    profile = ["-Ppkg.ravel.cuda"] if cuda else []
    subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc", *profile], cwd=sources,
                   env=environment(), check=True, stdout=sys.stderr)
    for made in work.glob("*.deb"):
        shutil.copy(made, out)
