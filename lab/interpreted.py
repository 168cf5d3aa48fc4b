"""Runs programs and items of the conformance suite in the interpreter of PTX (cvl-cuda/ptx).

How a device behaves is said by words with commas between them: those of RAVEL_PTX
(cvl-cuda/ptx/options.hpp), and

    grid=N              the most blocks of a launch
    small=N             up to how many elements an operation stays on the host; without it none
    ids=0               no lists of segments' numbers
    choice=NAME:VALUE   a tuning value
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
MODULE = BUILD / "lib" / "ravel" / "cvl-cuda-ptx.so"
CONFORMANCE = BUILD / "bin" / "conformance"
VINTERP = BUILD / "bin" / "vinterp"
# Superoperators by the kinds of their kernels, and kernels of the module and of CUB. A file beside
# a program has its tuning values.
PROGRAMS = {path.stem: path for path in sorted((HERE / "programs").glob("*.vcode"))}
OF_CUB = {"sorted", "ranked", "scanned-in-one-pass"}
OF_MODULE = {"faults", "look-back", "totals", "windows", "offsets"}
FUSED = PROGRAMS.keys() - OF_CUB - OF_MODULE
# Vectors of hundreds of thousands to millions: several levels of scans, blocks that look back, full
# tiles of sorts.
LONG = {path.stem: path for path in sorted((HERE / "long").glob("*.vcode"))}
WIDTHS = ((64, 64), (32, 64), (64, 32), (32, 32))
SAID = {"grid": "RAVEL_CUDA_BLOCKS", "small": "RAVEL_CUDA_SMALL", "ids": "RAVEL_CUDA_IDS"}
JOBS = len(os.sched_getaffinity(0))
LINES_SHOWN = 12


def parser_of(text):
    """The options of a command, whose help is the text; all have --jobs."""
    parser = argparse.ArgumentParser(sys.argv[0], description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=JOBS, help=argparse.SUPPRESS)
    return parser


def missing(what):
    """Whether there is no back end cuda-ptx; says why."""
    if not MODULE.exists():
        no_nvcc = "" if (BUILD / "lib/ravel/cvl-cuda.so").exists() else " (no nvcc)"
        print(f"SKIPPED{no_nvcc} {what}: there is no back end cuda-ptx"
              f"{'' if no_nvcc else ', since libzstd-dev is missing'}")
    return not MODULE.exists()


def variables(said, coverage=None):
    values, words = {"RAVEL_CUDA_SMALL": "0"}, []
    for word in said.split(","):
        name, _, value = word.partition("=")
        if name in SAID:
            values[SAID[name]] = value
        elif name != "choice" and word not in words:
            words.append(word)
    if coverage:
        words.append(f"coverage={coverage}")
    return {**values, "RAVEL_PTX": ",".join(words)}


def choices(said):
    return [word.removeprefix("choice=") for word in said.split(",") if word.startswith("choice=")]


def given(said):
    """What a device does and has, as messages say it."""
    return " ".join([*(f"{name}={value}" for name, value in variables(said).items()),
                     *(f"choice={choice}" for choice in choices(said))])


def output_of(command, said, coverage=None, seconds=None, cwd=None):
    """(exit status, what it prints); the status is None if it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        tuning = Path(folder, "choice.tuning")
        tuning.write_text("".join(choice.replace(":", " ") + "\n" for choice in choices(said)))
        options = ["--tuning", tuning] if choices(said) else []
        try:
            done = subprocess.run([*command, *options], env={**os.environ, **variables(said, coverage)}, cwd=cwd,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, ""
    return done.returncode, done.stdout


# ---- programs ----


def program_output(program, backend, said, coverage=None, widths=(64, 64), seconds=None):
    """What a program prints; None if it took too long."""
    fused = ["-O", "--native=wait"] if program.stem in FUSED else []
    tuning = program.with_suffix(".tuning")
    command = [VINTERP, "--backend", backend, "--int", str(widths[0]), "--float", str(widths[1]), *fused,
               *(["--tuning", tuning] if tuning.exists() else []), program.name]
    status, text = output_of(command, said, coverage, seconds, cwd=program.parent)
    return None if status is None else text


def run_program(program, expected, said, coverage=None, widths=(64, 64)):
    """Whether a program ends as on the CPU: the number of cases, 1, and the text to print if
    not."""
    out = program_output(program, "cuda-ptx", said, coverage, widths)
    if out == expected:
        return 1, None
    return 1, (f"FAIL {given(said)} vinterp --backend cuda-ptx {program.relative_to(ROOT)}\n{out[:400]}\n"
               f"    expected\n{expected[:400]}")


# ---- items of the suite ----


def is_superoperator(item):
    return item.startswith("SUPEROP.")


def item_command(item, widths, seed, brief=True, all_forms=False):
    return [CONFORMANCE, "--backend", "cuda-ptx", "--brief" if brief else "--quick",
            *(["--all-forms"] if brief and all_forms else []), "--only", item, "--int", str(widths[0]),
            "--float", str(widths[1]), "--seed", str(seed)]


def run_item(command, said, kernels, coverage=None):
    """The cases of an item and, if it failed, the text to print. Kernels that NVRTC makes are kept
    in a folder."""
    native = ["--native", f"wait:{kernels}"] if any(is_superoperator(str(word)) for word in command) else []
    status, out = output_of([*command, *native], said, coverage)
    cases = sum(int(line.split(" items, ")[1].split()[0]) for line in out.splitlines() if " items, " in line)
    if status == 0 and cases > 0:
        return cases, None
    shown = "\n".join(out.splitlines()[:LINES_SHOWN])
    return cases, f"FAIL {given(said)} conformance {' '.join(map(str, command[1:]))}\n{shown}"


# ---- reports ----


def report(results):
    """Prints what failed of (cases, text); the exit status."""
    texts = [text for _, text in results if text]
    print("".join(f"{text}\n" for text in texts), end="")
    print(f"{sum(cases for cases, _ in results)} cases of {len(results)} runs")
    print(f"{len(results) - len(texts)} passed, {len(texts)} failed")
    return 1 if texts else 0
