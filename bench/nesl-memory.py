#!/usr/bin/env python3
"""Memory that nested parallelism needs: Barnes-Hut, peak of the vectors and of the process.

    bench/nesl-memory.py [--build FOLDER] [--json FILE]

The functions of examples/barnes-hut.nesl on random bodies, width 0.5, --classic, two threads,
compiled by neslc and run by vinterp -O, whose calls by instances are cut (--chunks auto) or not (off).
`blocks` calls forces for 5,000 targets after the other, as programs did before calls were cut. Counts of bytes: uncut
the same on every run, but for the process."""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCKS = """
function blocks(targets, bodies, middle, half, width, size) =
  if #targets <= size then forces(targets, bodies, middle, half, width)
  else forces(take(targets, size), bodies, middle, half, width)
       ++ blocks(drop(targets, size), bodies, middle, half, width, size);
"""
ROWS = [
    ("barnes_hut", 10_000, "off", "barnes_hut(bodies, 0.5)"),
    ("barnes_hut", 10_000, "auto", "barnes_hut(bodies, 0.5)"),
    ("barnes_hut", 100_000, "off", "barnes_hut(bodies, 0.5)"),
    ("blocks", 100_000, "off", "blocks({b.position : b in bodies}, bodies, (0.5, 0.5), 0.5, 0.5, 5000)"),
    ("barnes_hut", 100_000, "auto", "barnes_hut(bodies, 0.5)"),
    ("all_pairs", 10_000, "auto", "all_pairs(bodies)"),
]


def measure(build, bodies, chunks, expression):
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.nesl"
        definitions = (ROOT / "examples" / "barnes-hut.nesl").read_text()
        program.write_text(definitions + BLOCKS)
        subprocess.run([build / "bin" / "neslc", "--classic", program, "-e",
                        f"let bodies = random_bodies({bodies}) in total({expression})"],
                       check=True)
        run = subprocess.Popen([build / "bin" / "vinterp", "-O", "--classic", "--threads", "2",
                                "--backend", "cpu", "--chunks", chunks, "--profile", "--json",
                                program.with_suffix(".vcode")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = run.stderr.read()
        _, status, usage = os.wait4(run.pid, 0)
        if status:
            raise SystemExit(said)
        profile = json.loads(said[said.index("{"):])
        return profile["peak_bytes"], usage.ru_maxrss * 1024, profile["elapsed"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = []
    print("| program | bodies | `--chunks` | vectors, MB | process, MB |\n|---|---|---|---|---|")
    for name, bodies, chunks, expression in ROWS:
        vectors, process, seconds = measure(options.build.resolve(), bodies, chunks, expression)
        rows.append({"program": name, "bodies": bodies, "chunks": chunks, "vectors": vectors,
                     "process": process, "seconds": seconds})
        print(f"| `{name}` | {bodies:,} | {chunks} | {vectors / 1e6:,.0f} | {process / 1e6:,.0f} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
