#!/usr/bin/env python3
"""The reductions and scans that tuning values choose (cvl-cuda/variants), side by side: what each
asks of a GPU, counted by the interpreter of PTX, and modelled times of an H100.

    bench/variants.py [--build DIR] [--size LOG2] [--width 32|64] [--check]

An ADD of 2^SIZE INTs of one segment, on a device of 4 multiprocessors with as large a part of
everything else, as bench/gpu-model counts operations; beside them Ravel's own kernels and CUB's. It
wants `cmake --build build --target bench-gpu-ops cvl-cuda-ptx bench-gpu-peers-ptx`. --check: few
elements; fails if anything cannot be counted. Times are a model's (modelling.py), not measured."""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "scripts"))  # occupancy, ptxas

import modelling
import ptxas
from occupancy import WARP
from tables import digits, grid

ROOT = HERE.parent
PROCESSORS, RESIDENT = 4, 8
REDUCTIONS = ["the tree", *(f"red{k}" for k in range(1, 8))]
SCANS = ["CUB's look-back", "sklansky", "sklansky2", "sklansky3", "the tree"]
GROUPS = (("ADD_REDUCE", "cuda.reduce-kernel", REDUCTIONS), ("ADD_SCAN", "cuda.scan-kernel", SCANS))


class CountError(Exception):
    pass


def works_in(file, options, peer):
    """The works of the file so far, by name."""
    whole = file.read_text().rpartition("\n")[0] if file.exists() else ""
    found = modelling.works(json.loads(line) for line in whole.splitlines())
    return {w.about["name"]: w for w in found if w.about.get("peer") == peer and
            w.about["elem"] == f"i{options.width}" and w.about["shape"] == "one"}


def count(options, names, program, *words, peer=None):
    """The works of these names that a program of the benchmarks makes a device do; it is ended when
    they are there."""
    device = modelling.H100.part(PROCESSORS)
    with tempfile.TemporaryDirectory() as folder, open(Path(folder) / "said", "w+") as said:
        file = Path(folder) / "counts.jsonl"
        command = [options.build / "bin" / program, "--count", file, "--sizes", options.size, "--width",
                   options.width, *words]
        how = f"unchecked,count={file},processors={PROCESSORS},l2={int(device.l2)},resident={RESIDENT}"
        with subprocess.Popen([str(w) for w in command], cwd=ROOT, stdout=said, stderr=said,
                              env={**os.environ, "RAVEL_PTX": how}) as process:
            works = {}
            while process.poll() is None and not names <= works.keys():
                time.sleep(0.5)
                works = works_in(file, options, peer)
            process.terminate()
        works = works_in(file, options, peer)
        if names <= works.keys():
            return works
        said.seek(0)
        raise CountError(f"{program}: exit status {process.returncode}, without"
                         f" {', '.join(sorted(names - works.keys()))}\n{said.read()[-2000:]}")


def by_choice(options, name, value, number):
    """The work of an operation with a tuning value."""
    with tempfile.TemporaryDirectory() as folder:
        tuning = Path(folder) / "choice.tuning"
        tuning.write_text(f"{value} {number}\n")
        return count(options, {name}, "bench-gpu-ops", "--backend", "cuda-ptx", "--only", name,
                     "--tuning", tuning)[name]


def registers_of(build):
    """A function from a kernel's name in its module to the registers of a thread."""
    known = {}
    for path in build.rglob("*.cu.o"):
        if "gpu" in path.name or "cvl-cuda" in str(path):
            unit = ptxas.Unit(path.name, [], arch=modelling.ARCH, object=path)
            for kernel in ptxas.kernels_of_object(unit) or []:
                known[kernel.symbol] = kernel.registers
    return lambda symbol: known.get(symbol, modelling.UNKNOWN_REGISTERS)


def instructions(work):
    """Of warps, for each of their elements: as many as a thread would execute for its own."""
    groups = work.total(lambda l: sum(l["groups"].values()))
    return groups * WARP / work.about["n"]


def cells(work, registers):
    device = dataclasses.replace(modelling.H100.part(PROCESSORS), wait=0.0)
    seconds, binds = work.seconds(registers, device)
    # As if every launch had enough loads in flight: ptxas moves them before what waits for them.
    at_best, _ = work.seconds(registers, dataclasses.replace(device, in_flight=0.0))
    rest = [work.moved() / work.about["bytes"], work.touched() / work.about["bytes"],
            work.sector_efficiency(), work.conflicts(), instructions(work),
            work.in_flight(registers, device)]  # by the order of loads in the PTX
    return seconds, [*("" if x is None else f"{x:.2f}" for x in rest), len(work.launches),
                     digits(seconds * 1e6), binds, digits(at_best * 1e6)]


def rows(works, registers):
    """A row for each (title, work); the last column compares with the first."""
    base = None
    for title, work in works:
        seconds, row = cells(work, registers)
        base = base or seconds
        yield [title, *row, f"{seconds / base:.2f}"]


def table(options, name, value, titles, peers, registers):
    works = [(f"{title} ({number})", by_choice(options, name, value, number))
             for number, title in enumerate(titles)]
    if peers:
        works.append(("CUB", peers[name]))
    return grid([f"`{value}`", "moved", "touched", "sectors", "banks", "instructions", "in flight",
                 "launches", "us H100", "binds", "us at best", "of 0"], list(rows(works, registers)))


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--size", type=int, default=20, help="logarithm of the elements")
    parser.add_argument("--width", choices=["32", "64"], default="32")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    options.size = 14 if options.check else options.size
    return options


def main():
    options = parse()
    missing = [n for n in ("bin/bench-gpu-ops", "lib/ravel/cvl-cuda-ptx.so")
               if not (options.build / n).exists()]
    if missing:
        why = "" if (options.build / "lib/ravel/cvl-cuda.so").exists() else " (no nvcc)"
        print(f"SKIPPED{why} {', '.join(missing)}: not built in {options.build}")
        return 0
    try:
        peers = count(options, {name for name, *_ in GROUPS}, "bench-gpu-peers-ptx", peer="CUB")
    except (CountError, FileNotFoundError) as why:  # the others are worth having
        if options.check:
            raise
        print(f"SKIPPED: CUB's: {why}", file=sys.stderr)
        peers = {}
    registers = registers_of(options.build)
    for name, value, titles in GROUPS:
        print("\n".join(table(options, name, value, titles, peers, registers)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CountError as error:
        sys.exit(f"variants: {error}")
