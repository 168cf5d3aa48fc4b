"""The Debian packages: packaging/debian as the folder debian of a copy of the sources."""

import shutil
import subprocess
import sys
import textwrap
from email.utils import formatdate

from sources import copy_sources, date, environment
from version import VERSION, changes
from wheels import nvcc

MAINTAINER = "The Ravel authors <ravel@packages.invalid>"


def changelog():
    """debian/changelog, whose only entry is what CHANGELOG.md says of this version."""
    entries = textwrap.indent(changes(), "  ").replace("\n  - ", "\n  * ").replace("  - ", "  * ", 1)
    return (f"ravel ({VERSION}) unstable; urgency=medium\n\n{entries.rstrip()}\n\n"
            f" -- {MAINTAINER}  {formatdate(date())}\n")


def lacking():
    """What is to be installed before Debian packages can be made: names of packages."""
    if not shutil.which("dpkg-checkbuilddeps"):
        return "dpkg-dev debhelper dh-python"
    asked = subprocess.run(["dpkg-checkbuilddeps", "packaging/debian/control"],
                           check=False, stderr=subprocess.PIPE, text=True).stderr
    return asked.partition("dependencies: ")[2].strip()


def make_debs(out, work):
    """Makes the packages and a .changes file that lists them."""
    sources = copy_sources(work / f"ravel-{VERSION}")
    shutil.copytree(sources / "packaging" / "debian", sources / "debian")
    (sources / "debian" / "changelog").write_text(changelog())
    profile = ["-Ppkg.ravel.cuda"] if nvcc() else []
    if not profile:
        print("SKIPPED: no nvcc: no package ravel-cuda")
    subprocess.run(["dpkg-buildpackage", "-b", "-us", "-uc", *profile], cwd=sources,
                   env=environment(), check=True, stdout=sys.stderr)
    for made in (*work.glob("*.deb"), *work.glob("*.changes")):
        shutil.copy(made, out)
