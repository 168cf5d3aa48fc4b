"""Packages in use: installed into fresh roots, without the checkout or a compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hiding import can_hide, hidden
from version import ROOT, VERSION

sys.path.append(str(ROOT / "nesl-tests"))
from checks import Checks  # noqa: E402

PROGRAM = ROOT / "packaging" / "tests" / "program"
PYTHONS = ("3.9", "3.10", "3.11", "3.12", "3.13")
OF_C = f"{VERSION}: 3 2 1, of Arrow: g\n"
OF_NESL = "\nit = [3, 2, 1] : [int]\n"
OF_VCODE = "[ 3 ]\n( 3 2 1 )\n"
OF_PYTHON = f"{VERSION}: ([6.0, 0.0, 5.0], [[2.0, 1.0, 3.0], [], [5.0]])\n"
OF_ROOT = ("OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
# What the CUDA back end says where there is no GPU.
NO_GPU = r"back end cuda cannot be had: (no NVIDIA driver|.*GPU|.*device)"
CUDA = "import ravel as rv\nwith rv.options(backend='cuda'): print(rv.eval('1 + 1'))"


def output(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command prints, on both streams."""
    return subprocess.run(list(map(str, command)), cwd=cwd, check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def expect(checks: Checks, want: str, *command: str | Path) -> None:
    got = output(*command)
    checks.check(got == want, f"{' '.join(map(str, command))} printed\n{got}instead of\n{want}")


def check_cuda(checks: Checks, want: str, got: str) -> None:
    """Whether the CUDA back end was found: it runs, or there is no GPU."""
    checks.check(got == want or re.search(NO_GPU, got), f"the CUDA back end printed\n{got}")


# ---- wheels ----


def find_python(version: str) -> str | Path | None:
    """An interpreter of this version: of PATH, or of pyenv; None if there is none."""
    found = shutil.which(f"python{version}")
    if found and output(found, "-c", "print(1)") == "1\n":  # else pyenv's, of no version
        return found
    folders = (Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python{version}")
    return next(iter(sorted(folders)), None)


class Environment:
    """A virtual environment whose programs see nothing but itself: no checkout, no compiler."""

    def __init__(self, python: str | Path, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "root" / "bin"
        subprocess.run([python, "-m", "venv", folder / "root"], check=True)

    def install(self, *wheels: str | Path) -> None:
        subprocess.run([self.programs / "python", "-m", "pip", "install", "-q", *wheels],
                       check=True)

    def output(self, *arguments: str) -> str:
        """What its Python prints."""
        line: tuple[str | Path, ...] = (
            "/usr/bin/env", "-i", f"PATH={self.programs}", f"HOME={self.folder}",
            self.programs / "python", *arguments)
        return output(*(hidden(line, [ROOT]) if can_hide() else line), cwd=self.folder)


def try_wheel(checks: Checks, version: str, wheel: Path, cuda: list[Path]) -> None:
    python = find_python(version)
    if not python:
        print(f"SKIPPED (optional) the wheel in Python {version}: there is none here")
        return
    with tempfile.TemporaryDirectory(prefix="ravel-root-") as folder:
        fresh = Environment(python, Path(folder))
        fresh.install(wheel)
        shutil.copy(PROGRAM / "down.py", folder)
        said = fresh.output("down.py")
        checks.check(said == OF_PYTHON, f"the wheel in Python {version}: {said}")
        if cuda:
            fresh.install("--no-deps", *cuda)  # NVRTC is large, and needs a GPU to be of use
            said = fresh.output("-c", CUDA)
            check_cuda(checks, "2\n", said)


def try_wheels(checks: Checks, out: Path) -> None:
    if not can_hide():
        print("SKIPPED (no namespaces) wheels are used beside the checkout")
    [wheel] = out.glob("ravel_nesl-*.whl")
    cuda = list(out.glob("ravel_nesl_cuda-*.whl"))
    for version in PYTHONS:
        try_wheel(checks, version, wheel, cuda if version == PYTHONS[-1] else [])


# ---- new systems ----

RELEASE = "bookworm"


def archives() -> list[str]:
    """The lines of the machine's own list of sources that are Debian's for the release; none where it has
    another: then mmdebstrap takes Debian's own archive."""
    if not shutil.which("apt-get"):
        return []
    listed = output("apt-get", "indextargets", "--format", "$(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)",
                    "Created-By: Packages", "Origin: Debian")
    lines = [line.partition(" ") for line in listed.splitlines()]
    return sorted({line for codename, _, line in lines if re.fullmatch(rf"{RELEASE}(-.*)?", codename)})


def make_system(root: Path, variant: str, *options: str) -> None:
    """A new system in a folder, with the packages of a variant of mmdebstrap's."""
    subprocess.run(["mmdebstrap", "-q", f"--variant={variant}", "--mode=root", *options, RELEASE, root,
                    *archives()], check=True, stdin=subprocess.DEVNULL)


# ---- Debian packages ----


def make_root(root: Path, debs: Iterable[Path]) -> None:
    """A new system with these packages, installed by its own apt."""
    shared = root.parent / "debs"
    shared.mkdir()
    for deb in debs:
        shutil.copy(deb, shared)
    make_system(root, "apt", f"--customize-hook=copy-in {shared} /tmp",
                '--customize-hook=chroot "$1" sh -c "apt-get install -qq -y'
                ' --no-install-recommends /tmp/debs/*.deb >/dev/null"')


def compile_down(root: Path, to: Path) -> None:
    """The C program, compiled here with the header and library of the root."""
    libraries = next((root / "usr/lib").glob("*/libravel.so")).parent
    subprocess.run(["cc", "-I", root / "usr/include", PROGRAM / "down.c", "-L", libraries,
                    "-lravel", "-o", to], check=True)


def try_root(checks: Checks, root: Path) -> None:
    inside: tuple[str | Path, ...] = ("chroot", root)
    home = root / "root"
    compile_down(root, home / "down")
    for name in ("down.nesl", "down.py"):
        shutil.copy(PROGRAM / name, home)
    checks.check(not any((root / "usr/bin" / name).exists() for name in ("cc", "gcc", "clang")),
                 "the root has a compiler")
    expect(checks, OF_C, *inside, "/root/down")
    expect(checks, OF_PYTHON, *inside, "python3", "/root/down.py")
    expect(checks, OF_NESL, *inside, "nesl", "run", "/root/down.nesl")
    expect(checks, "", *inside, "neslc", "/root/down.nesl", "-o", "/root/down.vcode")
    expect(checks, "", *inside, "fcodeopt", "/root/down.vcode", "-o", "/root/down.fcode")
    expect(checks, OF_VCODE, *inside, "vinterp", "/root/down.fcode")
    # Two ranks of Open MPI; what hwloc says is that a root without /sys has no processors.
    said = output(*inside, "env", *OF_ROOT, "mpirun", "--oversubscribe", "-n", "2", "nesl", "run",
                  "/root/down.nesl")
    checks.check(re.sub(r"\[hwloc.*\n", "", said) == OF_NESL, f"two ranks printed\n{said}")
    if list((root / "usr/lib").glob("*/ravel/cvl-cuda.so")):
        check_cuda(checks, OF_C, output(*inside, "/root/down", "cuda"))
        check_cuda(checks, OF_VCODE, output(*inside, "vinterp", "--backend", "cuda",
                                            "/root/down.fcode"))


def check_dependencies(checks: Checks, deb: Path) -> None:
    """Only ravel-cuda may have to do with CUDA, and only ravel-mpi with MPI."""
    asked = output("dpkg-deb", "-f", deb, "Depends")
    checks.check(deb.name.startswith("ravel-cuda") or not re.search("cuda|nvidia", asked),
                 f"{deb.name} depends on {asked}")
    checks.check(deb.name.startswith("ravel-mpi") == bool(re.search("openmpi", asked)),
                 f"{deb.name} depends on {asked}")


def try_debs(checks: Checks, out: Path) -> None:
    for deb in out.glob("*.deb"):
        check_dependencies(checks, deb)
    if os.geteuid() != 0:
        print("SKIPPED (no root) Debian packages are not installed: that needs root's rights")
        return
    if not shutil.which("mmdebstrap"):
        print("SKIPPED Debian packages are not installed: apt-get install mmdebstrap")
        return
    with tempfile.TemporaryDirectory(prefix="ravel-root-") as folder:
        root = Path(folder) / "root"
        make_root(root, out.glob("*.deb"))
        try_root(checks, root)
