"""All benchmarks of the CUDA back end in one run: operations, the same work by peers, and
the programs of the corpus; then the targets, each met or missed.

    bench/gpu measure [--build DIR] [--backend cuda] [--only PART ...] [--seconds N] [--sizes 28,24,20,16]
                      [--out DIR]

Parts: ops (bench-ops), peers (bench-gpu-peers), python (gpu-peers.py), programs. Each
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

import machine
from rounds import median
from targets import GPU_COUNTS, GPU_TIMES, VALUES

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPORA = [ROOT.parent / "shared" / "corpus", ROOT / ".local" / "corpus"]
CORPUS = next((c for c in CORPORA if c.is_dir()), CORPORA[0]) / "vcode" / "real"
SHARES = {"programs": 0.3, "ops": 0.45, "peers": 0.15, "python": 0.1}
PROGRAM_RUNS = 5   # of each kind on a GPU, or the row has no time
COUNTED_SEEDS = 7  # elsewhere, where times mean nothing
FUSED = ["-O", "--native=wait"]
DEVICE_KEYS = ("launches", "waits", "bytes_up", "bytes_down", "kernel_seconds", "launch_seconds",
               "wait_seconds", "peak_bytes")
# In the order of their worth, small ones last; all in 32 bits before any in 64.
PROGRAMS = ["qs.1000000", "quickhull.5000000", "bh.75000", "quickhull.1000000", "bh.10000",
            "black-scholes.10000000", "dotp.10000000", "black-scholes.1000000", "muladd",
            "bh.1000", "qs.1000", "quickhull.1000", "bh.100", "dotp.100000", "black-scholes.1000"]


def spread(values):
    return {"seconds": median(values), "least_seconds": min(values),
            "most_seconds": max(values), "runs": len(values)}


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
    rows, wrong = json_lines([options.build / "bin" / "bench-ops", "--backend",
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


# ---- programs ----

class Cut(Exception):
    """No time was left, or a program failed."""


class Program:
    """A program of the corpus in one width. It prints a few items, of which the last is the time of
    what it is about."""

    def __init__(self, options, name, width, end):
        self.options, self.width, self.end = options, width, end
        self.source = CORPUS / f"{name}.vcode"

    def run(self, source, *rest):
        """What a process prints, on both streams."""
        command = vinterp(self.options, self.width, *FUSED, *rest, source)
        # The emulated device does what it is given as late as can be: so many waits there may be.
        environment = {"CUDA_MODULE_LOADING": "EAGER", "RAVEL_EMULATION": "deferred", **os.environ}
        left = self.end - time.time()
        if left < 0.5:
            raise Cut("no time")
        try:
            run = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                                 timeout=left, check=False, stdin=subprocess.DEVNULL,
                                 env=environment)
        except subprocess.TimeoutExpired as why:
            raise Cut("no time") from why
        if run.returncode:
            raise Cut((run.stderr.strip() or f"exit status {run.returncode}")[-300:])
        return run.stdout, run.stderr

    def first(self, runs):
        """Each in a process of its own, which finds its kernels on disk."""
        return [seconds_of(self.run(self.source)[0], 1)[0] for _ in range(runs)]

    def warm(self, runs):
        """In one process, behind one more."""
        with tempfile.NamedTemporaryFile("w", suffix=".vcode") as file:
            file.write(repeated(self.source.read_text(), runs + 1))
            file.flush()
            return seconds_of(self.run(file.name)[0], runs + 1)[1:]

    def counts(self, seeds):
        """What the device did, in runs of their own: the profiler takes time."""
        found = []
        for seed in range(seeds):
            text = self.run(self.source, "--seed", seed, "--profile=device", "--json")[1]
            found.append(json.loads(text[text.index("{"):]))
        return {key: median(c[key] for c in found) for key in DEVICE_KEYS}


def seconds_of(text, calls):
    """The last item that each of so many calls printed."""
    items = re.findall(r"[-+.\w]+", text)
    each = len(items) // calls
    if each == 0 or len(items) % calls:
        raise Cut(f"{len(items)} items of {calls} calls")
    return [float(item) for item in items[each - 1::each]]


def repeated(text, calls):
    """A VCODE program that does so many times what the given one does."""
    main = re.search(r"^FUNC (\S+)", text, re.MULTILINE)[1]
    return "FUNC ALL-RUNS\n" + f"CALL {main}\n" * calls + "RET\n\n" + text


def measure_program(options, name, width, end):
    on_gpu = options.backend == "cuda"
    runs = PROGRAM_RUNS if on_gpu else 1
    program = Program(options, name, width, end)
    row = {"name": name, "int": width, "float": width, "wrong": None}
    try:
        program.run(program.source)  # compiles the kernels
        row.update(program.counts(1 if on_gpu else COUNTED_SEEDS))
        row["warm"] = spread(program.warm(runs))
        row["first"] = spread(program.first(runs))
    except Cut as why:
        row["wrong"] = str(why)
    return row


def print_program(row):
    line = f"  {row['name']:24} {row['int']}/{row['float']}"
    for kind in ("first", "warm"):
        if kind in row:
            of = {key: 1e3 * value for key, value in row[kind].items()}
            line += (f" {kind} {of['seconds']:10.3f} ms ({of['least_seconds']:.3f}.."
                     f"{of['most_seconds']:.3f}),")
    if "launches" in row:
        line += f" {row['launches']:g} launches, {row['waits']:g} waits"
    print(line + (f" {row['wrong']}" if row["wrong"] else ""), flush=True)


def measure_programs(seconds, options):
    rows, end = [], time.time() + seconds
    if not CORPUS.is_dir():
        print("  SKIPPED: the corpus is not here")
        return {"skipped": "the corpus is not here", "rows": []}
    wanted = [(name, width) for width in (32, 64) for name in PROGRAMS]
    if options.backend != "cuda":  # what is held to a target
        wanted = [(name, 32) for name in GPU_COUNTS]
    for name, width in wanted:
        if time.time() < end - 0.5:
            rows.append(measure_program(options, name, width, end))
            print_program(rows[-1])
    return {"rows": rows}


MEASURES = {"ops": measure_ops, "peers": measure_peers, "python": measure_python,
            "programs": measure_programs}


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
    for name, most in GPU_TIMES.items():
        for kind, limit in zip(("first", "warm"), most):
            if limit:
                lines.append(target(f"{name} in 32/32, {kind}, ms", limit,
                                    [(1e3 * r[kind]["seconds"], "median") for r in programs if
                                     on_gpu and r["name"] == name and r["int"] == 32 and
                                     kind in r], True))
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


def main(words):
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
    options = parser.parse_args(words)
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

