#!/usr/bin/env python3
"""All benchmarks of the CUDA back end in one run: operations, the same work by peers, fused
kernels, and the programs of the corpus; then the targets, each met or missed.

    bench/gpu.py [--build DIR] [--backend cuda] [--only PART ...] [--seconds N] [--sizes 28,24,20,16]
                 [--out DIR]

Parts: ops (bench-gpu-ops), peers (bench-gpu-peers), python (gpu-peers.py), fused, programs. Each
has a share of the seconds and is cut off at its end with what it has. --out gets gpu.json with
everything. Other back ends than cuda only show that all of this works: their times mean nothing,
and only launches and waits are held to their targets."""

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import fusion
import machine
from targets import GPU_COUNTS, GPU_TIMES, VALUES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPORA = [ROOT.parent / "shared" / "corpus", ROOT / ".local" / "corpus"]
CORPUS = next((c for c in CORPORA if c.is_dir()), CORPORA[0]) / "vcode" / "real"
SHARES = {"programs": 0.25, "fused": 0.1, "ops": 0.4, "peers": 0.15, "python": 0.1}
PROGRAM_RUNS = 7
FUSED = ["-O", "--native=wait"]
DEVICE_KEYS = ("launches", "waits", "bytes_up", "bytes_down", "kernel_seconds", "launch_seconds",
               "wait_seconds", "peak_bytes")
# Programs in the order of what is known of them, small ones last.
PROGRAMS = ["qs.1000000", "quickhull.5000000", "bh.75000", "quickhull.1000000", "bh.10000",
            "black-scholes.10000000", "dotp.10000000", "black-scholes.1000000", "muladd",
            "bh.1000", "qs.1000", "quickhull.1000", "bh.100", "dotp.100000", "black-scholes.1000"]


def median(values):
    values = sorted(values)
    return values[len(values) // 2]


def spread(values):
    values = sorted(values)
    return {"seconds": median(values), "least_seconds": values[0],
            "most_seconds": values[-1], "runs": len(values)}


# ---- parts ----

def tool(command, seconds, environment=None):
    """Runs a program that ends by itself; after a while longer it is ended. Its output, and
    what went wrong or None."""
    try:
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                             timeout=seconds, check=False, stdin=subprocess.DEVNULL,
                             env={**os.environ, **(environment or {})})
    except subprocess.TimeoutExpired:
        return "", f"no end within {seconds:.0f} s"
    except OSError as why:
        return "", str(why)
    if run.returncode:
        return run.stdout, (run.stderr.strip() or f"exit status {run.returncode}")[-500:]
    return run.stdout, None


def json_lines(command, seconds, options):
    """The lines of JSON that a program writes, even if it is ended."""
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as sink:
        text, wrong = tool([*command, "--json", sink.name, "--rounds", options.rounds,
                            "--seconds", max(1, int(seconds)), "--sizes", options.sizes],
                           seconds + 20)
        rows = []
        for line in Path(sink.name).read_text(errors="replace").splitlines():
            try:
                rows.append(json.loads(line))
            except ValueError:
                break  # it was ended while it wrote
    for line in text.splitlines():
        if "SKIPPED" in line or "left out" in line:
            print("  " + line)
    if wrong:
        print("  " + wrong)
    return rows, wrong


def measure_ops(seconds, options):
    rows, wrong = json_lines([options.build / "bin" / "bench-gpu-ops", "--backend",
                              options.backend], seconds, options)
    return {"wrong": wrong, "rows": [r for r in rows if "name" in r],
            **{k: v for r in rows if "name" not in r for k, v in r.items()}}


def measure_peers(seconds, options):
    program = options.build / "bin" / "bench-gpu-peers"
    if not program.exists():
        print("  SKIPPED: bench-gpu-peers is not built")
        return {"skipped": "bench-gpu-peers is not built", "rows": []}
    rows, wrong = json_lines([program], seconds, options)
    return {"wrong": wrong, "rows": rows}


def measure_python(seconds, options):
    rows, wrong = json_lines([sys.executable, HERE / "gpu-peers.py"], seconds, options)
    return {"wrong": wrong, "rows": rows}


def vinterp(options, width, *rest):
    return [options.vinterp, "--backend", options.backend, "--int", width, "--float", width,
            "--allow-files", *rest]


def measure_fused(seconds, options):
    """The kernels of fusion.py that are bound by memory, in one superoperator each."""
    rows, end = [], time.time() + seconds
    n = 1 << int(options.sizes.split(",")[0])
    with tempfile.TemporaryDirectory(prefix="ravel-") as folder:
        for kernel in fusion.KERNELS:
            if kernel.name not in ("dot", "saxpy", "muladd", "rmse", "black-scholes"):
                continue
            source = Path(folder) / f"{kernel.name}.vcode"
            source.write_text(kernel.program(n, options.rounds + 1))
            for width in (32, 64):
                left = end - time.time()
                if left < 1:
                    continue
                text, wrong = tool(vinterp(options, width, *FUSED, source), left,
                                   {"CUDA_MODULE_LOADING": "EAGER"})
                row = {"name": kernel.name, "elem": f"f{width}", "n": n, "wrong": wrong,
                       "bytes": kernel.bytes_per * width // 64 * n}
                times = [float(x) for x in re.findall(r"-?\d+\.\d+(?:[eE][-+]?\d+)?", text)][0::2]
                if not wrong and len(times) > 1:
                    row.update(spread(times[1:]))
                    print(f"  {kernel.name:14} f{width} {1e6 * row['seconds']:10.1f} us"
                          f" {1e-9 * row['bytes'] / row['seconds']:8.1f} GB/s", flush=True)
                else:
                    print(f"  {kernel.name:14} f{width} {wrong or 'no times'}", flush=True)
                rows.append(row)
    return {"rows": rows}


def run_program(options, program, width, seed, left):
    """Seconds of the timed region, what the device did, and what went wrong."""
    command = vinterp(options, width, *FUSED, "--seed", seed, "--profile=device", "--json", program)
    # The emulated device does what it is given as late as can be: so many waits there may be.
    environment = {"CUDA_MODULE_LOADING": "EAGER", "RAVEL_EMULATION": "deferred", **os.environ}
    try:
        run = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=left,
                             check=False, stdin=subprocess.DEVNULL, env=environment)
    except subprocess.TimeoutExpired:
        return None, None, "no time"
    times = re.findall(r"\d+\.\d+e?[-+]?\d*", run.stdout)
    if run.returncode or not times:
        return None, None, (run.stderr.strip() or "no output")[-300:]
    return float(times[-1]), json.loads(run.stderr[run.stderr.index("{"):]), None


def measure_programs(seconds, options):
    rows, end = [], time.time() + seconds
    if not CORPUS.is_dir():
        print("  SKIPPED: the corpus is not here")
        return {"skipped": "the corpus is not here", "rows": []}
    on_gpu = options.backend == "cuda"
    wanted = [(name, width) for name in PROGRAMS for width in (32, 64)]
    if not on_gpu:  # what is held to a target
        wanted = [(name, 32) for name in GPU_COUNTS]
    for k, (name, width) in enumerate(wanted):
        row_end = time.time() + (end - time.time()) / (len(wanted) - k)
        row = {"name": name, "int": width, "float": width, "wrong": None}
        times, counts = [], []
        for turn in range(PROGRAM_RUNS + 1):
            now = time.time()
            if now > end - 0.5 or now > row_end and len(counts) > 1:
                break
            # Times are of one input, counts of several. The first run on a GPU compiles kernels.
            value, device, row["wrong"] = run_program(
                options, CORPUS / f"{name}.vcode", width, 0 if on_gpu else turn, end - now)
            if row["wrong"]:
                break
            counts.append(device)
            if turn > 0 or not on_gpu:
                times.append(value)
        row.update({key: median(c[key] for c in counts) for key in DEVICE_KEYS if counts})
        if times:
            row.update(spread(times))
            print(f"  {name:24} {width}/{width} {1e3 * row['seconds']:10.3f} ms"
                  f" ({1e3 * row['least_seconds']:.3f}..{1e3 * row['most_seconds']:.3f}),"
                  f" {row['launches']} launches, {row['waits']} waits", flush=True)
        else:
            print(f"  {name:24} {width}/{width} {row['wrong'] or 'no time'}", flush=True)
        rows.append(row)
    return {"rows": rows}


MEASURES = {"ops": measure_ops, "peers": measure_peers, "python": measure_python,
            "fused": measure_fused, "programs": measure_programs}


# ---- targets ----

def target(name, want, ratios, at_most):
    """A line of the table: the worst of the ratios decides. Pairs of a ratio and what it is of."""
    ratios = [r for r in ratios if r[0] is not None and math.isfinite(r[0])]
    if not ratios:
        return {"target": name, "want": want, "met": None, "measured": 0}
    worst = (max if at_most else min)(ratios)
    kept = sum(r <= want if at_most else r >= want for r, _ in ratios)
    return {"target": name, "want": want, "at_most": at_most, "worst": worst[0], "of": worst[1],
            "measured": len(ratios), "kept": kept, "met": kept == len(ratios)}


def peer_seconds(results, peer, name, elem, n):
    """Of the work of a peer; of another size of vector in proportion."""
    rows = [r for r in results.get("peers", {}).get("rows", [])
            if (r["peer"], r["name"], r["elem"], r["shape"]) == (peer, name, elem, "one")]
    row = max((r for r in rows if r["n"] <= n), key=lambda r: r["n"], default=None)
    return row["seconds"] * n / row["n"] if row else None


def targets(results, backend):
    rows = [r for r in results.get("ops", {}).get("rows", []) if r["met"] is not None]
    programs = results.get("programs", {}).get("rows", [])
    on_gpu = backend == "cuda"

    def family(name):
        return [(r["part"], f"{r['name']} {r['elem']} {r['shape']} n={r['n']}") for r in rows
                if r["family"] == name]

    of_copy = (("elementwise", "GPU_PLAIN", "map"), ("reductions", "GPU_PLAIN", "reduce"),
               ("INT scans", "GPU_EXACT_SCAN", "exact scan"),
               ("FLOAT scans", "GPU_FLOAT_SCAN", "float scan"), ("PACK", "GPU_PACK", "pack"))
    lines = [*(target(f"{what}, part of copy bandwidth", VALUES[name], family(key), False)
               for what, name, key in of_copy),
             target("segmented, times what the bytes take", VALUES["GPU_SEGMENTED"],
                    [(1 / part, what) for part, what in family("segmented")], True)]
    ranks = [r for r in results.get("ops", {}).get("rows", [])
             if r["family"] == "rank" and r["bytes"] >= 256e6]
    lines.append(target("RANK, times CUB's sort of keys with indices", VALUES["GPU_RANK"],
                        [(r["seconds"] / peer, f"{r['elem']} n={r['n']}") for r in ranks
                         if (peer := peer_seconds(results, "CUB", "RANK_UP", r["elem"], r["n"]))],
                        True))
    for ours, theirs in (("dot", "dot"), ("saxpy", "axpy")):
        fused = [r for r in results.get("fused", {}).get("rows", [])
                 if r["name"] == ours and "seconds" in r and on_gpu]
        lines.append(target(f"fused {ours}, times cuBLAS", VALUES["GPU_DOT"],
                            [(r["seconds"] / peer, f"{r['elem']} n={r['n']}") for r in fused
                             if (peer := peer_seconds(results, "cuBLAS", theirs, r["elem"],
                                                      r["n"]))], True))
    for name, most in GPU_TIMES.items():
        lines.append(target(f"{name} in 32/32, ms", most,
                            [(1e3 * r["seconds"], "median") for r in programs if on_gpu and
                             r["name"] == name and r["int"] == 32 and "seconds" in r], True))
    for name, most in GPU_COUNTS.items():
        for key, limit in zip(("launches", "waits"), most):
            lines.append(target(f"{name} in 32/32, {key}", limit,
                                [(r[key], "median") for r in programs if backend != "cpu" and
                                 r["name"] == name and r["int"] == 32 and key in r], True))
    return lines


def print_targets(lines):
    print(f"{'target':46} {'want':>9} {'worst':>9} {'kept':>9}")
    for line in lines:
        if line["met"] is None:
            print(f"{line['target']:46} {line['want']:9g} {'-':>9} {'-':>9}  not measured")
            continue
        kept = f"{line['kept']}/{line['measured']}"
        print(f"{line['target']:46} {line['want']:9g} {line['worst']:9.3f} {kept:>9}  "
              + ("met" if line["met"] else f"MISSED by {line['of']}"))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--vinterp", type=Path, help="default: vinterp-tests of that build")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--only", nargs="+", choices=list(SHARES), default=list(SHARES))
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--sizes", default="28,24,20,16", help="logarithms of numbers of elements")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="folder for gpu.json")
    options = parser.parse_args()
    options.vinterp = options.vinterp or options.build / "bin" / "vinterp-tests"
    results, end = {"machine": machine.describe(), "backend": options.backend}, \
        time.time() + options.seconds
    parts = [p for p in SHARES if p in options.only]
    for k, part in enumerate(parts):
        share = SHARES[part] / sum(SHARES[p] for p in parts[k:])
        seconds = max(1.0, (end - time.time()) * share)
        print(f"{part}: {seconds:.0f} s at most", flush=True)
        results[part] = MEASURES[part](seconds, options)
        results["targets"] = targets(results, options.backend)
        if options.out:  # after each part: whoever ends this program finds what was done
            options.out.mkdir(parents=True, exist_ok=True)
            unfinished = options.out / "gpu.json.part"
            unfinished.write_text(json.dumps(results, indent=1) + "\n")
            unfinished.rename(options.out / "gpu.json")
    print_targets(results["targets"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
