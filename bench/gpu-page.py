#!/usr/bin/env python3
"""The page of what was measured on a GPU, from the results that scripts/gpu-check leaves.

    bench/gpu-page.py bench/results/gpu-nvidia-h200 > docs/results-gpu.md

The folder has gpu-check.json and gpu.json. A figure is a median; ratios are of times on the same
data in the same run."""

import json
import re
import sys
from pathlib import Path

from tables import digits, grid

HEAD = """# What a GPU did

Measured by `{command}` on an {gpu} (driver {driver}, CUDA {nvcc}), commit {commit}, {date}; written by
`bench/gpu-page.py {folder} > docs/results-gpu.md`.

- Times are medians, of at least three runs where nothing else is said, with everything that an operation launches.
- *of a copy*: bytes that the operation cannot avoid to move, each second, over those of a copy by the driver on the same
  device ({copy} GB/s, reading and writing counted).
- *peer*: time over that of the fastest of CUB, Thrust, cuBLAS, CuPy, PyTorch and JAX on the same data; below 1, Ravel is faster.
  FLOAT sums of Ravel are combined in an order that is always the same, which the peers do not promise.

"""
ELEMENTS = ("i32", "f32", "i64", "f64", "bool")


def seconds_of_peers(results):
    """(name, element, shape, n): (seconds, peer), of the fastest."""
    fastest = {}
    for row in results.get("peers", {}).get("rows", []) + results.get("python", {}).get("rows", []):
        key = (row["name"], row["elem"], row.get("shape", "one"), row["n"])
        if row.get("seconds") and (key not in fastest or row["seconds"] < fastest[key][0]):
            fastest[key] = (row["seconds"], row["peer"])
    return fastest


def microseconds(seconds):
    return digits(1e6 * seconds)


def operations(results, n):
    """A row for each operation on one segment of n elements, by element type."""
    peers, rows = seconds_of_peers(results), {}
    for r in results["ops"]["rows"]:
        if r["n"] == n and r["family"] != "segmented":
            shape = "" if r["shape"] == "one" else f", {r['shape']}"
            rows.setdefault(r["name"] + shape, {})[r["elem"]] = r
    table = []
    for name, of in rows.items():
        line = [name]
        for elem in ELEMENTS:
            r = of.get(elem)
            peer = r and peers.get((r["name"], elem, r["shape"], n))
            line.append("" if not r else f"{microseconds(r['seconds'])}; {r['part']:.2f}"
                        + (f"; **{r['seconds'] / peer[0]:.2f}** {peer[1]}" if peer else ""))
        table.append(line)
    return grid(["operation", *ELEMENTS], table)


def segments(results, n, elems):
    """A row for each operation under descriptors, by the lengths of segments."""
    peers = seconds_of_peers(results)
    found = [r for r in results["ops"]["rows"]
             if r["n"] == n and r["family"] == "segmented" and r["elem"] in elems]
    shapes = list(dict.fromkeys(r["shape"] for r in found))
    table = {}
    for r in found:
        peer = peers.get((r["name"], r["elem"], r["shape"], n))
        cell = microseconds(r["seconds"]) + (
            f"; **{r['seconds'] / peer[0]:.2f}**" if peer else f"; {r['part']:.2f}")
        table.setdefault((r["name"], r["elem"]), {})[r["shape"]] = cell
    return grid(["operation", *shapes],
                [[f"{name} {elem}", *(of.get(s, "") for s in shapes)]
                 for (name, elem), of in table.items()])


def superoperators(results):
    peers, table = seconds_of_peers(results), []
    names = {"saxpy": "axpy", "dot": "dot"}
    for r in results.get("fused", {}).get("rows", []):
        if "seconds" not in r:
            continue
        peer = peers.get((names.get(r["name"]), r["elem"], "one", r["n"]))
        table.append([r["name"], r["elem"], f"{r['n']:,}", microseconds(r["seconds"]),
                      digits(1e-9 * r["bytes"] / r["seconds"]),
                      f"{r['seconds'] / peer[0]:.2f} {peer[1]}" if peer else ""])
    return grid(["superoperator", "element", "n", "us", "GB/s", "peer"], table)


def cells(times):
    """Of one kind of runs."""
    if not times:
        return ["", ""]
    return [digits(1e3 * times["seconds"]),
            f"{digits(1e3 * times['least_seconds'])} to {digits(1e3 * times['most_seconds'])}"]


def counted(r):
    return [digits(1e3 * r["kernel_seconds"]), r["launches"], r["waits"]]


def programs_profiled(rows):
    """Times that were taken under the profiler, as results before commit 263a6d4e have them."""
    return ("The corpus's, with superoperators compiled before; each run is a process of its own. **These times are the profiler's, too**: "
            "it held the device back while kernels were loaded, which waits for the device, 6.9 ms each time. Later results have times "
            "without it.",
            grid(["program", "widths", "ms", "range", "runs", "in kernels, ms", "launches", "waits"],
                 [[r["name"], f"{r['int']}/{r['float']}", *cells(r), r["runs"], *counted(r)]
                  for r in rows if "seconds" in r]))


def programs(results):
    rows = results.get("programs", {}).get("rows", [])
    if any("seconds" in r for r in rows):
        return programs_profiled(rows)
    rows = [r for r in rows if "first" in r or "warm" in r]
    return ("The corpus's, without the profiler. *First*: of a process, which finds compiled superoperators on disk. *Warm*: again in one "
            "process, on other random input. *In kernels*, launches and waits: of one first run under the profiler.",
            grid(["program", "widths", "first, ms", "range", "warm, ms", "range", "runs", "in kernels, ms",
                  "launches", "waits"],
                 [[r["name"], f"{r['int']}/{r['float']}", *cells(r.get("first")), *cells(r.get("warm")),
                   r.get("first", r.get("warm"))["runs"], *counted(r)] for r in rows]))


def targets(results):
    table = []
    for t in results["targets"]:
        if t["met"] is None:
            table.append([t["target"], t["want"], "", "", "not measured"])
            continue
        table.append([t["target"], t["want"], f"{t['worst']:.2f}", f"{t['kept']} of {t['measured']}",
                      "met" if t["met"] else f"**missed** by {t['of']}"])
    return grid(["target", "wanted", "worst", "kept", ""], table)


def checks(check):
    return grid(["", "outcome", "seconds", ""],
                [[name, p["outcome"], f"{p['seconds']:.0f}", p["note"]]
                 for name, p in check["parts"].items()])


def page(folder):
    check = json.loads((folder / "gpu-check.json").read_text())
    results = json.loads((folder / "gpu.json").read_text())
    machine, lines = results["machine"], []

    def section(title, text, table):
        if table:
            lines.extend([f"## {title}", "", *([text, ""] if text else []), *table])
    section("What was tested", "`cut` and `SKIPPED`: it ran out of its time.", checks(check))
    section("Targets", "Those of [bench/targets.def](../bench/targets.def). Rows that took less than a launch a run have no "
            "verdict: several reductions are one launch.", targets(results))
    sizes = sorted({r["n"] for r in results["ops"]["rows"] if r["family"] != "segmented"}, reverse=True)
    for n in sizes:
        section(f"Operations on 2^{n.bit_length() - 1} elements",
                "Microseconds; of a copy; over the fastest peer, and which that is.",
                operations(results, n))
    for n in sorted({r["n"] for r in results["ops"]["rows"] if r["family"] == "segmented"}):
        for elems in (("i32", "f32"), ("i64", "f64")):
            section(f"Segments: 2^{n.bit_length() - 1} elements of {elems[0][1:]} bits",
                    "Microseconds, by the lengths of segments; in bold over the fastest peer on the same "
                    "segments, else of a copy.", segments(results, n, elems))
    section("Superoperators", "", superoperators(results))
    section("Programs", *programs(results))
    head = HEAD.format(command="scripts/gpu-check", gpu=machine["gpu"]["name"],
                       driver=machine["gpu"]["driver"], nvcc=re.search(r"release ([\d.]+)", machine["nvcc"]).group(1),
                       commit=(check["commit"] or "?")[:8], date=machine["date"][:10], folder=folder,
                       copy=digits(1e-9 * results["ops"]["copy_bytes_per_second"]))
    assert check["gpu"] == machine["gpu"], "two machines"
    return head + "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(Path(sys.argv[1])))
