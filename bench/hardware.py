"""What the machine can do: its description, and the limits that times are held against."""

import json
import os
import platform
import re
import tempfile
from pathlib import Path

from case import numpy
from collection import BENCH, BenchError, relative
from machine import describe, said
from systems import WARNINGS, build
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


def streams(folder, mib, threads, random=False):
    """(bytes a second of the fastest mix of streams, elements a second gathered and scattered)"""
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-", suffix=".json") as file:
        words = [relative(Path(folder) / "bin" / "bench-limits"), "--mib", str(mib), "--threads",
                 str(threads), "--rounds", "5", "--width", "64", "--json", file.name]
        if not random:
            words += ["--only", "read"]
        run = execute(words, limit=600)
        if run.status:
            raise BenchError(f"{run.command}: {run.complaint()}")
        lines = json.loads(Path(file.name).read_text())["lines"]
    rates = {line["name"]: line["bytes"] / line["seconds"] for line in lines}
    moves = {name: rates.pop(f"random {name}") / 24 for name in ("gather", "scatter")
             if f"random {name}" in rates}
    return max(rates.values()), moves


def flops(threads):
    source = BENCH / "flops.c"
    program = build([["cc", "-std=gnu11", "-O3", "-march=native", "-mprefer-vector-width=512",
                      "-ffp-contract=off", "-fopenmp", *WARNINGS, relative(source), "-o",
                      "$dir/program"]], "flops", [source])
    run = execute([relative(program), str(threads)], limit=600)
    if run.status:
        raise BenchError(f"{run.command}: {run.complaint()}")
    return float(run.stdout)


def limits(folder, threads):
    """Of the host, on so many threads."""
    if not (Path(folder) / "bin" / "bench-limits").exists():
        raise BenchError(f"{relative(folder)}/bin/bench-limits is not built: "
                         f"ninja -C {relative(folder)} bench-limits")
    moves, bandwidth = {}, []
    for mib in WORKING_SETS:
        rate, found = streams(folder, mib, threads, random=mib == WORKING_SETS[-1])
        bandwidth.append([mib << 20, rate])
        moves = found or moves
    return {"threads": threads, "bandwidth": bandwidth, "gathers": moves["gather"],
            "scatters": moves["scatter"], "flops": flops(threads)}


def device_rows(folder, backend, only, log_size):
    """(bytes a second that the device copies, rows of bench-gpu-ops)"""
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-", suffix=".json") as file:
        run = execute([relative(Path(folder) / "bin" / "bench-gpu-ops"), "--backend", backend,
                       "--only", only, "--sizes", str(log_size), "--rounds", "5", "--width", "64",
                       "--seconds", "30", "--json", file.name])
        if run.status:
            raise BenchError(f"{run.command}: {run.complaint()}")
        first, *rows = map(json.loads, Path(file.name).read_text().splitlines())
    return first["copy_bytes_per_second"], [r for r in rows if r.get("elem") == "f64"]


def device_limits(folder, backend):
    """Of a GPU: copies by its driver, random access, and what a launch costs: an operation of
    64 Ki elements, which takes hardly more. Arithmetic is not measured there."""
    _, small = device_rows(folder, backend, "ADD", 16)
    bandwidth, moves = device_rows(folder, backend, "PERMUTE", 24 if backend == "cuda" else 16)
    rates = {r["name"]: r["n"] / r["seconds"] for r in moves if r["shape"] == "random"
             and r["launches"] > 0}
    launches = [r["seconds"] / r["launches"] for r in small if r["name"] == "ADD"
                and r["launches"] > 0]
    return {"threads": 0, "bandwidth": [[1 << 40, bandwidth]], "gathers": rates.get("BPERMUTE"),
            "scatters": rates.get("PERMUTE"), "flops": None,
            "launch_seconds": min(launches, default=None)}


def limit_seconds(machine, limit):
    """What the hardware alone would take for a case's Limit: the largest of its parts. Streams
    are as fast as in the best of the working sets that are as large, or in the largest."""
    rates = [rate for size, rate in machine["bandwidth"] if size >= limit.bytes]
    rate = max(rates) if rates else machine["bandwidth"][-1][1]
    parts = [limit.bytes / rate]
    for name in ("gathers", "flops"):
        if machine[name]:
            parts.append(getattr(limit, name) / machine[name])
    return max(parts)
