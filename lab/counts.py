"""What operations ask a GPU to do, counted by the interpreter of PTX, beside CUB's on the same data.

    lab/check counts       operations on 2^18 elements, and on segments of a quarter of them
    ... --size LOG2 --width 32|64
    ... --only TEXT        only these operations, with | between several; the limits hold for all of
                           them only
    ... --variants         instead the reductions and scans that tuning values choose
    ... --build DIR

    touched        bytes that each launch alone reads and writes, over those that the operation cannot
                   avoid: its operands and results once, as bench/ops.c counts them
    sectors        bytes that threads want over those of the sectors of 32 bytes that hold them; 1 is
                   best
    banks          cycles of shared memory over those without bank conflicts; 1 is best
    instructions   of warps, for each of their elements
    in flight      bytes of loads in flight over those that an H100's DRAM needs, in the launch that
                   touches most; 1 is enough. ptxas is taken to issue the loads between two branches
                   together, unless their addresses wait for others or a store stands between them
    launches

Counts are exact for the PTX and say nothing of time. A row beyond LIMITS fails unless MISSES has
it, with a reason. It wants `cmake --build build --target bench-ops cvl-cuda-ptx
bench-gpu-peers-ptx`.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import ptxas
from interpreted import BUILD, ROOT, missing, parser_of
from occupancy import WARP, resident_blocks, warps_of

SECTOR, ARCH = 32, 90
PROCESSORS, RESIDENT = 4, 8
OPERATIONS = "ADD|MUL|SELECT|MAX_|OR_|PACK|RANK|SORT|DIST|INDEX|PERMUTE|SQRT"
# Of a multiprocessor, at which DRAM's bandwidth is reached: 32 KiB, which CUB's transform asks for
# on an H100, times 0.35, since an H200 took so much (the median) of the time that fewer bytes would
# have meant.
BYTES_IN_FLIGHT = 11 * 1024
STREAMING = ("map", "reduce", "exact scan", "pack")
# Figure, the families that are held to it, the bound, and whether it is the most or the least.
LIMITS = (("touched", STREAMING, 1.02, "most"), ("sectors", STREAMING, 0.95, "least"),
          ("banks", (*STREAMING, "float scan", "segmented", "rank"), 1.1, "most"),
          ("in flight", STREAMING, 0.9, "least"))
# Rows that miss a limit: operations, figure, the bound instead, and why.
MISSES = (
    ("MUL_SCAN", "in flight", 0.5, "a product of 64-bit integers takes more registers than two blocks leave"),
    ("PACK.*", "sectors", 0.65, "what is kept is written where it lies, a part of a sector at each end of a block"),
    ("(make, )?RANK_UP.*", "banks", 1.7, "CUB's sort"),
)
# Operation, tuning value, what it chooses: from 0.
VARIANTS = (("ADD_REDUCE", "cuda.reduce-kernel", ["the tree", *(f"red{k}" for k in range(1, 8))]),
            ("ADD_SCAN", "cuda.scan-kernel", ["CUB's look-back", "sklansky", "sklansky2", "sklansky3", "the tree"]))


@dataclass
class Work:
    """What one operation made the device do; about: name, elem, shape, n, family, bytes."""

    about: dict
    launches: list = field(default_factory=list)
    copied: int = 0  # bytes within the device

    def total(self, *names):
        return sum(launch[name] for launch in self.launches for name in names)

    def requests(self, what):
        """Sectors (0), or bytes wanted (1)."""
        return sum(launch[way][what] for launch in self.launches for way in ("loads", "stores", "atomics"))


def ratio(a, b):
    return a / b if b else None


def in_flight(launch, registers):
    """Bytes of a multiprocessor in a round trip to memory (cvl-cuda/ptx/traffic.hpp), over those
    that are needed; None if nothing waits."""
    loaded = SECTOR * (launch["loads"][0] + launch["atomics"][0])
    if not launch["round_trips"] or not loaded:
        return None
    blocks = max(1, resident_blocks(launch["threads"], registers, launch["shared"], ARCH))
    warps = warps_of(launch["threads"]) * min(blocks, launch["blocks"] / PROCESSORS)
    return warps * loaded / launch["round_trips"] / BYTES_IN_FLIGHT


def figures(work, registers):
    most = max(work.launches, key=lambda launch: launch["touched"], default=None)
    return {"touched": ratio(work.total("touched") + work.copied, work.about["bytes"]),
            "sectors": ratio(work.requests(1), SECTOR * work.requests(0)),
            "banks": ratio(work.total("wavefronts"), work.total("least_wavefronts")),
            "instructions": WARP * work.total("instructions") / work.about["n"],
            "in flight": most and in_flight(most, registers(most["launch"])),
            "launches": len(work.launches)}


# ---- counting ----


def works(lines):
    """The sections between a line with a name and the one that ends it."""
    work = None
    for line in map(json.loads, lines):
        if "name" in line:
            work = Work(line)
        elif "end" in line:
            if work:
                yield work
            work = None
        elif work and "launch" in line:
            work.launches.append(line)
        elif work and "copy" in line:
            work.copied += {"on": 2, "fill": 1}.get(line["way"], 0) * line["copy"]


def count(options, program, *words):
    """The works of a program of the benchmarks; an error if it fails or counts nothing."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.jsonl"
        command = [options.build / "bin" / program, "--count", file, "--sizes", options.size, "--width", options.width,
                   *words]
        how = f"unchecked,count={file},processors={PROCESSORS},resident={RESIDENT}"
        done = subprocess.run([str(w) for w in command], cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, "RAVEL_PTX": how})
        found = list(works(file.read_text().splitlines())) if file.exists() else []
    if done.returncode or not found:
        sys.exit(f"{program}: exit status {done.returncode}, {len(found)} works\n{done.stderr[-2000:]}")
    return found


def registers_of(build):
    """A function from a kernel's name in its module to the registers of a thread; 32 for those of
    NVRTC."""
    known = {}
    for path in build.rglob("*.cu.o"):
        if "gpu" in path.name or "cvl-cuda" in str(path):
            for kernel in ptxas.kernels_of_object(ptxas.Unit(path.name, [], arch=ARCH, object=path)) or []:
                known[kernel.symbol] = kernel.registers
    return lambda symbol: known.get(symbol, 32)


# ---- the table ----

COLUMNS = ("touched", "sectors", "banks", "instructions", "in flight", "launches")
FORMATS = {"launches": "d"}


def title(about):
    shape = f", {about['shape']}" if about["shape"] != "one" or about.get("family") == "segmented" else ""
    return f"{about.get('peer', '')} {about['name']} {about['elem']}{shape}".strip()


def print_rows(rows):
    """(title, figures)."""
    wide = max(len(name) for name, _ in rows)
    print(" " * wide, *(f"{column:>12}" for column in COLUMNS))
    for name, found in rows:
        print(name.ljust(wide), *(f"{'' if found[c] is None else format(found[c], FORMATS.get(c, '.2f')):>12}"
                                  for c in COLUMNS))


def beyond(value, bound, way):
    return value is not None and (value > bound if way == "most" else value < bound)


def complaints(about, found):
    """What of a row is beyond a limit, and not known to be."""
    for figure, families, bound, way in LIMITS:
        known = [other for names, of, other, _ in MISSES if of == figure and re.fullmatch(names, about["name"])]
        bound = known[0] if known else bound
        if about["family"] in families and beyond(found[figure], bound, way):
            yield f"FAIL {title(about)}: {figure} {found[figure]:.3f}, at {way} {bound}"


def idle(rows):
    """Rows of MISSES that nothing needs."""
    bounds = {figure: (bound, way) for figure, _, bound, way in LIMITS}
    for names, figure, _, reason in MISSES:
        those = [found[figure] for about, found in rows if re.fullmatch(names, about["name"])]
        if not any(beyond(value, *bounds[figure]) for value in those):
            yield f"FAIL {names}: {figure} keeps its limit; remove its row of MISSES ({reason})"


def operations(options, registers):
    only = ["--only", options.only or OPERATIONS]
    mine = [(w.about, figures(w, registers)) for w in count(options, "bench-ops", "--backend", "cuda-ptx", *only)]
    peers = count(options, "bench-gpu-peers-ptx", *(["--only", options.only] if options.only else []))
    print_rows([(title(about), found) for about, found in mine] +
               [(title(w.about), figures(w, registers)) for w in peers])
    if options.only or options.size < 18:
        return 0
    wrong = [text for about, found in mine for text in complaints(about, found)] + list(idle(mine))
    print("".join(f"{text}\n" for text in wrong) + f"{len(mine)} rows, {len(wrong)} failed")
    return 1 if wrong else 0


def variants(options, registers):
    for name, value, choices in VARIANTS:
        rows = []
        for number, text in enumerate(choices):
            with tempfile.TemporaryDirectory() as folder:
                tuning = Path(folder) / "choice.tuning"
                tuning.write_text(f"{value} {number}\n")
                found = count(options, "bench-ops", "--backend", "cuda-ptx", "--only", name, "--tuning", tuning)
            rows += [(f"{title(w.about)}, {text}", figures(w, registers)) for w in found
                     if w.about["name"] == name and w.about["elem"][0] == "i"]
        print_rows(rows)
    return 0


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--size", type=int, default=18)
    parser.add_argument("--width", choices=["32", "64"], default="64")
    parser.add_argument("--only")
    parser.add_argument("--variants", action="store_true")
    options = parser.parse_args()
    if missing("what launches ask of a GPU"):
        return 0
    return (variants if options.variants else operations)(options, registers_of(options.build))
