"""What the machine can do: its description, and the limits that times are held against."""

import json
import os
import platform
import re
import tempfile
from pathlib import Path

from case import numpy
from collection import BenchError, relative
from machine import describe, said
from timing import execute

# Working sets in MiB: how fast streams are depends on which cache they fit in.
WORKING_SETS = (1, 4, 16, 64, 256, 1024)


# The instruction sets of vectors: name, bytes of a vector, and what Linux says of a processor that has it.
VECTORS = (("AVX-512", 64, "avx512f avx512bw avx512dq avx512vl"), ("AVX2", 32, "avx2 fma"),
           ("SSE2", 16, "sse2"), ("Advanced SIMD", 16, "asimd"))


def vectors(abilities):
    """Name and bytes of the widest vectors that Ravel's kernels and the baselines use on a processor
    with these abilities; None if none is known."""
    for name, size, needed in VECTORS:
        if set(needed.split()) <= set(abilities.split()):
            return {"name": name, "bytes": size}
    return None


def processor():
    text = said("lscpu") or ""
    fields = dict(re.findall(r"^([^:\n]+):\s+(.*)$", text, re.MULTILINE))
    return {"model": fields.get("Model name", platform.processor()),
            "cores": os.cpu_count(), "vectors": vectors(fields.get("Flags", "")),
            "caches": {level: fields.get(f"{level} cache") for level in ("L1d", "L2", "L3")
                       if f"{level} cache" in fields}}


def memory():
    text = Path("/proc/meminfo").read_text() if Path("/proc/meminfo").exists() else ""
    found = re.search(r"MemTotal:\s+(\d+)", text)
    return int(found[1]) * 1024 if found else None


def first_line(*command):
    text = said(*command)
    return text.split("\n")[0] if text else None


def description():
    return {**describe(), "processor": processor(), "memory": memory(),
            "load": os.getloadavg()[0],
            "compilers": {name: first_line(name, "--version") for name in ("cc", "c++", "clang")},
            "numpy": numpy.__version__, "python": platform.python_version()}


def stream_rate(folder, mib, threads):
    """Bytes a second of the fastest mix of streams in a working set."""
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-", suffix=".json") as file:
        run = execute([relative(Path(folder) / "bin" / "bench-limits"), "--mib", str(mib), "--threads", str(threads),
                       "--rounds", "5", "--width", "64", "--only", "read", "--json", file.name], limit=600)
        if run.status:
            raise BenchError(f"{run.command}: {run.complaint()}")
        return max(line["bytes"] / line["seconds"] for line in json.loads(Path(file.name).read_text())["lines"])


def limits(folder, threads):
    """Of the host, on so many threads."""
    if not (Path(folder) / "bin" / "bench-limits").exists():
        raise BenchError(f"{relative(folder)}/bin/bench-limits is not built: "
                         f"ninja -C {relative(folder)} bench-limits")
    return {"threads": threads, "bandwidth": [[mib << 20, stream_rate(folder, mib, threads)] for mib in WORKING_SETS]}


def stream_seconds(machine, size):
    """What streams of so many bytes take: they are as fast as in the best of the working sets that are as large, or
    in the largest."""
    rates = [rate for most, rate in machine["bandwidth"] if most >= size]
    return size / (max(rates) if rates else machine["bandwidth"][-1][1])
