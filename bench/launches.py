"""Launches and waits of programs of the corpus on the emulated GPU, held to limits: targets.def.

    bench/gpu launches            seconds: small problems, their separate operations
    bench/gpu launches --whole    minutes: the sizes of the targets, superoperators compiled

The emulated device does what it is given when the host waits, so counts are always the same. A
limit is what a program takes now; who needs more says why in the same commit."""

import argparse
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from gpu import CORPUS, HERE, ROOT
from targets import TAKES

WIDTHS = ["--int", "32", "--float", "32"]
# Programs in NESL of this folder, and what is counted of them.
SOURCES = {"mandelbrot": "sum(bench({n}, {n}, 100))"}
# How superoperators run, and up to how many elements an operation stays on the host: fewer than
# usual for small problems.
WAYS = {"compiled": (["-O", "--native=wait"], None), "separate": (["-O", "--native=off"], 256)}


def counted(vinterp, program, options, on_host):
    """Launches and waits of a run, or what went wrong."""
    small = "" if on_host is None else f",small={on_host}"
    environment = {**os.environ, "RAVEL_EMULATION": "deferred" + small}
    command = [vinterp, "--backend", "cuda-emu", *WIDTHS, *options,
               "--allow-files", "--seed", "0", "--profile=device", "--json", program]
    run = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                         stdin=subprocess.DEVNULL, env=environment)
    if run.returncode or "{" not in run.stderr:
        return None, (run.stderr.strip() or f"exit status {run.returncode}")[-300:]
    device = json.loads(run.stderr[run.stderr.index("{"):])
    return (device["launches"], device["waits"]), None


def of_size(name, size, folder):
    """A program of the corpus with another problem size: the one constant of its first lines."""
    source = max(CORPUS.glob(f"{name}.*.vcode"), key=lambda p: int(p.suffixes[0][1:]))
    text = source.read_text()
    old = f"CONST INT {source.suffixes[0][1:]}\n"
    assert text.count(old) == 1, source
    program = Path(folder) / f"{name}.{size}.vcode"
    program.write_text(text.replace(old, f"CONST INT {size}\n"))
    return program


def of_source(name, size, folder, neslc):
    """A program of this folder with another call instead of its own."""
    text = (HERE / "programs" / f"{name}.nesl").read_text()
    text, calls = re.subn(r"(?m)^bench\(.*\);\n(%=.*%\n)?", "", text)
    assert calls > 0, name
    source, program = Path(folder) / f"{name}.nesl", Path(folder) / f"{name}.{size}.vcode"
    source.write_text(f"{text}{SOURCES[name].format(n=size)};\n")
    subprocess.run([neslc, *WIDTHS, "-o", program, source], check=True)
    return program


def main(words):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--vinterp", type=Path, default=ROOT / "build" / "bin" / "vinterp-tests")
    options = parser.parse_args(words)
    if not CORPUS.is_dir():
        print("SKIPPED (no corpus) launches and waits")
        return 0
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="ravel-") as folder:
        for (name, size, way), most in TAKES.items():
            if way != ("compiled" if options.whole else "separate"):
                continue
            made, (words, on_host) = name in SOURCES, WAYS[way]
            program = (of_source(name, size, folder, options.vinterp.parent / "neslc") if made
                       else of_size(name, size, folder))
            # A GPU has memory for all instances at once; the emulated one is cautious.
            words = [*words, "--chunks", "off"] if made else words
            counts, wrong = counted(options.vinterp, program, words, on_host)
            good = counts is not None and all(n <= limit for n, limit in zip(counts, most))
            passed, failed = passed + good, failed + (not good)
            said = wrong or (f"{counts[0]:6} launches of {most[0]}, {counts[1]:4} waits of"
                             f" {most[1]}")
            print(f"  {name}.{size:<12} {said}{'' if good else '   FAILED'}", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

