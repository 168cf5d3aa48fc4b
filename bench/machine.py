"""What a result is worth only with: device, driver, compiler, commit and date."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def said(*command):
    """What a command prints, or None if there is none or it fails."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60,
                             check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return run.stdout.strip() if run.returncode == 0 else None


def commit_text(machine, digits=40):
    """The commit of a description, and whether that was all."""
    return (machine["commit"] or "unknown")[:digits] + (", with changes" if machine.get("changed") else "")


def find_nvcc():
    """Where nvcc is, on the path or where the toolkit puts it; or None."""
    folders = [*os.environ.get("PATH", "").split(os.pathsep),
               os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin"),
               "/usr/local/cuda/bin"]
    return next((str(Path(f, "nvcc")) for f in folders if f and Path(f, "nvcc").is_file()), None)


def gpu():
    """Name, driver and memory of the first GPU, or None."""
    line = said("nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                "--format=csv,noheader")
    if not line:
        return None
    name, driver, memory = (part.strip() for part in line.split("\n")[0].split(","))
    return {"name": name, "driver": driver, "memory": memory}


def describe():
    nvcc = find_nvcc()
    version = said(nvcc, "--version") if nvcc else None
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "commit": said("git", "rev-parse", "HEAD"),
            "changed": bool(said("git", "status", "--porcelain", "--untracked-files=no", "--", ".",
                                 ":!bench/results", ":!docs/results*")),
            "gpu": gpu(), "nvcc": version.split("\n")[-2] if version else None,
            "system": platform.platform(), "processors": os.cpu_count()}
