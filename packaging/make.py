"""What scripts/package does: makes packages, compares them when made again, and tries them."""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from version import ROOT

sys.path.append(str(ROOT / "nesl-tests"))
from checks import Checks  # noqa: E402
from debs import lacking, make_debs  # noqa: E402
from roots import try_debs, try_wheels  # noqa: E402
from wheels import make_wheels, nvcc  # noqa: E402

OUT = ROOT / "build" / "packages"
WORK = ROOT / "build" / "package-work"
TOOLS = ROOT / "build" / "package-tools"
MADE = {"wheel": ("*.whl", "*.tar.gz"), "debian": ("*.deb",)}


def make(kind: str, out: Path, work: Path, cuda: bool) -> bool:
    """Makes the packages of a kind in `out`, working in a folder that is made and removed: the
    same one each time, so that ccache knows what it compiled there. False, having said why, if
    that is impossible here."""
    if kind == "debian" and lacking():
        print(f"SKIPPED: Debian packages need: apt-get install {lacking()}")
        return False
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    out.mkdir(parents=True, exist_ok=True)
    for old in (old for form in MADE[kind] for old in out.glob(form)):
        old.unlink()
    if kind == "wheel":
        make_wheels(out, work, TOOLS, cuda)
    else:
        make_debs(out, work, cuda)
    shutil.rmtree(work)
    return True


def digests(kind: str, out: Path) -> dict[str, str]:
    return {made.name: hashlib.sha256(made.read_bytes()).hexdigest()
            for form in MADE[kind] for made in sorted(out.glob(form))}


def check_again(checks: Checks, kind: str, cuda: bool) -> None:
    """Whether the same files come out of another folder."""
    with tempfile.TemporaryDirectory(prefix="again-") as folder:
        make(kind, Path(folder) / "out", Path(folder) / "work", cuda)
        first, second = digests(kind, OUT), digests(kind, Path(folder) / "out")
    for name in sorted({*first, *second}):
        checks.check(first.get(name) == second.get(name),
                     f"{name} differs when it is made again")


def check_policy(checks: Checks) -> None:
    """Debian's policy, as lintian knows it."""
    if not shutil.which("lintian"):
        print("SKIPPED: Debian packages are not checked: apt-get install lintian")
        return
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--allow-root",
                           *OUT.glob("*.deb")], check=False)
    checks.check(done.returncode == 0, "lintian complains")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="wheel, debian; default: both")
    parser.add_argument("--without-cuda", action="store_true",
                        help="no CUDA back end, even where nvcc is found: that takes minutes")
    parser.add_argument("--test", action="store_true", help="use them in fresh roots")
    parser.add_argument("--again", action="store_true", help="make them twice, without ccache, and compare")
    options = parser.parse_args()
    if unknown := set(options.kinds) - set(MADE):
        parser.error(f"there are wheel and debian, not {', '.join(sorted(unknown))}")
    if not (cuda := bool(nvcc()) and not options.without_cuda):
        print(f"SKIPPED ({'--without-cuda' if nvcc() else 'no nvcc'}) packages of the CUDA back end")
    if options.again:
        os.environ["CCACHE_DISABLE"] = "1"  # or the first would be compared with itself
    checks = Checks()
    for kind in options.kinds or MADE:
        if not make(kind, OUT, WORK, cuda):
            continue
        for name in digests(kind, OUT):
            print(f"build/packages/{name}")
        if kind == "debian":
            check_policy(checks)
        if options.again:
            check_again(checks, kind, cuda)
        if options.test:
            {"wheel": try_wheels, "debian": try_debs}[kind](checks, OUT)
    return checks.status()


if __name__ == "__main__":
    sys.exit(main())
