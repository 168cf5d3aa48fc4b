"""The ways of the tuning values that await a device, side by side in one call.

    bench/gpu switches [--build DIR] [--backend cuda] [--seconds N] [--out FILE.json]

docs/internals/cuda.md has them in the table under "Switches that await a device": the value, its ways, which are
numbers, and what decides: programs of the corpus, and operations in backquotes; without any the programs
below. Ways have their turns one after the other, so that what changes on the machine changes all of them; a program's
first run of each way does not count, since it compiles kernels. Prints a line for each way, and writes what it has after
each turn."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gpu import CORPUS
from rounds import median

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
TABLE = ROOT / "docs" / "internals" / "cuda.md"
HEADING = "Switches that await a device"
PROGRAMS = ("qs.1000000", "quickhull.5000000", "bh.10000")
SMALL_PROGRAMS = ("qs.1000",)      # where no device is
TURNS = 5
NUMBER = r"\d+[KMG]?"
OPERATIONS = ["--width", "32", "--sizes", "26,16", "--rounds", "3"]


# ---- the table ----

def rows_below(heading, text):
    """The cells of the table under a heading, without its first two lines."""
    found = re.search(rf"^#+ {heading}\s*$(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    lines = [line for line in found[1].splitlines() if line.startswith("|")] if found else []
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def switches(text):
    """[(value, ways, programs, operations)] of the document."""
    found = []
    for value, ways, decides, *_ in rows_below(HEADING, text):
        names = [word for word in quoted(value) if word.startswith("cuda.")]
        numbers = [w for w in quoted(ways) if re.fullmatch(NUMBER, w)] or re.findall(rf"(?<![\w.]){NUMBER}(?![\w.])", ways)
        if len(names) != 1 or len(numbers) < 2:
            sys.exit(f"bench/gpu switches: {TABLE.relative_to(ROOT)}: a row without one value and two ways: {value}, {ways}")
        programs = re.findall(r"\b(?:qs|quickhull|bh|black-scholes|dotp)\.\d+\b|\bmuladd\b", decides)
        operations = [w for w in quoted(decides) if re.fullmatch(r"[A-Z+*_]+", w)]
        found.append((names[0], numbers, programs, operations))
    return found


# ---- runs ----

def run(command, limit):
    """What a command prints, or None with what went wrong."""
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=max(1, limit),
                              env={**os.environ, "CUDA_MODULE_LOADING": "EAGER"})
    except subprocess.TimeoutExpired:
        return None, "no time"
    return (done.stdout, None) if done.returncode == 0 else (None, (done.stderr.strip() or "failed")[-300:])


def of_program(options, name, tuning, limit):
    """{name: seconds of its timed region}"""
    text, wrong = run([options.build / "bin" / "vinterp-tests", "--backend", options.backend, "-O", "--native=wait",
                       "--int", "32", "--float", "32", "--allow-files", "--seed", "0", "--tuning", tuning,
                       CORPUS / f"{name}.vcode"], limit)
    times = re.findall(r"\d+\.\d+(?:e[-+]?\d+)?", text or "")
    return ({name: float(times[-1])} if times else {}), wrong or (None if times else "no time in its output")


def of_operation(options, name, tuning, limit):
    """{name, element, size: seconds} of its rows."""
    sizes = OPERATIONS if options.backend == "cuda" else ["--width", "32", "--sizes", "12", "--rounds", "1"]
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as sink:
        _, wrong = run([options.build / "bin" / "bench-ops", "--backend", options.backend, "--only", name, "--tuning",
                        tuning, "--seconds", max(1, int(limit)), "--json", sink.name, *sizes], limit + 10)
        lines = Path(sink.name).read_text(errors="replace").splitlines()
    rows = [json.loads(line) for line in lines if line.endswith("}")]
    return {f"{r['name']} {r['elem']} {r['shape']} n={r['n']}": r["seconds"] for r in rows if "name" in r}, wrong


def plan(options, text):
    """[(value, way, what, whether it is a program)], each once a turn, ways of a thing side by side."""
    found = []
    for value, ways, programs, operations in switches(text):
        if options.backend != "cuda":
            programs = [*SMALL_PROGRAMS] if programs or not operations else []
        elif not programs and not operations:
            programs = [*PROGRAMS]
        for what in [*programs, *operations]:
            found += [(value, way, what, what in programs) for way in ways]
    return found


def measure(options, text, clock=time.time):
    """{value: {way: {what: [seconds, ...]}}} and what went wrong, as far as there is time."""
    times, wrong, end = {}, {}, clock() + options.seconds
    for turn in range(TURNS + 1 if options.backend == "cuda" else 1):
        for value, way, what, is_program in plan(options, text):
            left = end - clock()
            if left < 1 or (value, way, what) in wrong:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".tuning") as tuning:
                tuning.write(f"{value} {way}\n")
                tuning.flush()
                found, why = (of_program if is_program else of_operation)(options, what, tuning.name, left)
            if why:
                wrong[value, way, what] = why
                print(f"  {value} {way}, {what}: {why}", flush=True)
            if turn == 0 and options.backend == "cuda" and is_program:
                continue
            for name, seconds in found.items():
                times.setdefault(value, {}).setdefault(way, {}).setdefault(name, []).append(seconds)
        write(options, times, wrong)
    return times, wrong


def write(options, times, wrong):
    if options.out:
        part = options.out.with_name(options.out.name + ".part")
        part.write_text(json.dumps({"times": times, "wrong": [[*key, why] for key, why in wrong.items()]}, indent=1) + "\n")
        part.replace(options.out)


def show(times):
    """A line for each thing that was timed: the medians of all ways, the first first."""
    for value, ways in times.items():
        for what in next(iter(ways.values())):
            found = [f"{way}: {1e6 * median(of[what]):.1f} us" for way, of in ways.items() if what in of]
            print(f"  {value:28} {what:36} {', '.join(found)}")


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    options = parser.parse_args(words)
    text = TABLE.read_text()
    if not switches(text):
        print(f"no switches await a device in {TABLE.relative_to(ROOT)}")
        return 0
    times, wrong = measure(options, text)
    show(times)
    return 1 if wrong else 0

