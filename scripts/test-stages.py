#!/usr/bin/env python3
"""The stages of scripts/test, one after the other, with a summary.

A stage is a command, or several side by side; its log is kept in build/test-logs and shown when
it fails; lines of it that begin with SKIPPED are shown too: what is not here was not tested. The
stages of a normal run (CI) are samples where whole matrices would take too long: samples are drawn
by the commit, so that many commits cover everything; --all runs everything.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"


def commit():
    run = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True,
                         check=False)
    return run.stdout.strip() or "none"


def build(preset, *targets):
    folder = "build" if preset == "release" else f"build-{preset}"
    only = f" --target {' '.join(targets)}" if targets else ""
    return (f"[ -f {folder}/build.ninja ] || cmake --preset {preset} >/dev/null; "
            f"cmake --build {folder}{only}")


def emulated_gpu(everything, seed, full, drive, sample, small):
    """The CUDA back end on the host: cvl-cuda/emulation/options.hpp says what the words mean."""
    number = int(seed[:7], 16) if everything and seed != "none" else 1

    def conformance(how, much=full, floats=(64,)):
        return [f"RAVEL_EMULATION={how},seed={number} build/bin/conformance --backend cuda-emu"
                f" --seed 8 {much} --int {width} --float {real}"
                for real in floats for width in (32, 64)]
    yield ("conformance, emulated GPU",
           conformance("check,deferred,order=shuffled,small=0"))
    yield ("conformance, emulated GPU beside the host",
           conformance("deferred=random,order=reverse", full, (64, 32) if everything else (64,)))
    # Every random superoperator is compiled by the host's compiler, and watched: minutes for all.
    for width in (64, 32) if everything else (64,):
        yield (f"conformance, emulated GPU, compiled superoperators {width}",
               ["mkdir -p build/kernels && RAVEL_EMULATION=check,deferred,order=shuffled,"
                f"seed={number},small=0 build/bin/conformance --backend cuda-emu --quick"
                f" --int {width} --seed {number} --native wait:build/kernels --only {item}"
                for item in (("SUPEROP",) if everything else
                             ("SUPEROP.GATHERS", "SUPEROP.MIXED"))])
    if everything:
        # Full conformance of what is checked takes the better part of an hour.
        for order in ("forward", "reverse", "shuffled"):
            yield (f"conformance, emulated GPU, {order}",
                   conformance(f"check,deferred=random,order={order}", "--quick", (64, 32)))
    yield "programs, emulated GPU", f"{drive} --config cuda-emu-64"
    yield ("programs, emulated GPU in other ways", drive + sample + "".join(
        f" --config cuda-emu{c}" for c in ("", "-forward", "-32-32", "-plain", "-fused",
                                           "-fused-64")))
    where = "" if everything else " examples"
    yield "kernels of superoperators, by NVRTC", "scripts/check-kernels" + where
    yield "programs, emulated GPU, native", f"{drive}{small} --config cuda-emu-native"
    if everything:
        # Those of the sizes that an emulation with all its checks runs in a minute or two.
        yield ("real programs, emulated GPU", f"{drive} --suite real --only muladd --only bh.100"
               " --only dotp.100000 --only '*.1000' --config cuda-emu --config cuda-emu-64"
               " --config cuda-emu-fused-64")
        yield ("what checks a GPU, on the emulated one", "scripts/gpu-check --emulated --whole"
               " --build build --only conformance corpus fused big --minutes 60")


def stages(everything, seed):
    """Pairs of a name and a shell command, or a list of commands that run side by side, in
    order. A name starting with 'build' is a condition for what follows it."""
    drive = "python3 nesl-tests/drive.py"
    sample = "" if everything else f" --sample 12 --seed {seed}"
    small = "" if everything else f" --sample 5 --seed {seed}"
    full = "--full" if everything else "--quick"
    yield "build release", build("release")
    # The next stages run conformance of all back ends themselves.
    yield ("unit tests", "ctest --test-dir build --output-on-failure -j 2 --no-tests=error"
           + ("" if everything else " -LE conformance"))
    yield ("conformance classic and 64/64",
           [f"build/bin/conformance {full} --int {width} --float 64 --seed {seed}"
            for width, seed in ((32, 1), (64, 2))])
    items = "SUPEROP" if everything else "SUPEROP.FUNCTIONS"
    yield ("conformance, compiled superoperators", "mkdir -p build/native && build/bin/conformance "
           f"--quick --backend cpu --int 64 --float 64 --threads 2 --seed 7 "
           f"--native wait:build/native --only {items}")
    if everything:
        yield ("conformance 32/32 and 64/32",
               [f"build/bin/conformance {full} --int {width} --float 32 --seed {seed}"
                for width, seed in ((32, 3), (64, 4))])
    yield "programs", f"{drive} --config classic --config 64-2t"
    yield ("programs, other ways", drive + sample + "".join(
        f" --config {c}" for c in ("classic-2t", "classic-8t", "64", "32-32", "64-32",
                                   "checked", "delayed", "delayed-64")))
    yield "programs, fused", f"{drive} --config fused-2t --config file-64"
    yield ("programs, optimised other ways", drive + sample + "".join(
        f" --config {c}" for c in ("optimised", "optimised-64", "fused", "fused-64", "fused-32-32",
                                   "fused-delayed", "fused-checked", "file", "file-vcode")))
    yield "programs, native", f"{drive}{small} --config native --config native-64"
    if shutil.which("c++"):
        yield from emulated_gpu(everything, seed, full, drive, sample, small)
    # Classic and 64/64 whole, interpreted directly, compiled and fused, and a part of the other
    # 102 configurations; the emulated GPU watches itself.
    matrix = ("RAVEL_EMULATION=check,deferred,order=shuffled,seed=1,small=0 "
              "python3 nesl-tests/matrix.py")
    yield "matrix of NESL", matrix + ("" if everything else f" --sample 1 --seed {seed}")
    if everything:
        yield "matrix of NESL, other data", f"{matrix} --sample 0 --data {seed[:8]}"
    yield "work of compiled NESL", "python3 nesl-tests/work.py"
    yield "passes over memory", "python3 nesl-tests/passes.py"
    yield "benchmark harness", "bench/tests/harness.py"
    yield "benchmark programs", "bench/run --check" + (
        " --compile-cuda" if everything else " --quick")
    yield "the optimiser's page", "python3 nesl-tests/page.py"
    yield "the pages about NESL", "python3 nesl-tests/pages.py"
    yield "the gallery", "scripts/gallery --check"
    yield "manual pages", "python3 nesl-tests/manuals.py"
    yield "grammars for editors", "python3 nesl-tests/grammars.py"
    yield "messages of NESL", "python3 nesl-tests/errors.py"
    yield ("programs for interpreters of the 1990s", "python3 nesl-tests/portable.py"
           + (" --forms 100" if everything else ""))
    yield "reproducibility", "python3 nesl-tests/reproducible.py" + sample
    if everything:
        yield ("real programs", f"{drive} --suite real --jobs 1" + "".join(
            f" --config {c}" for c in ("classic", "64-2t", "optimised", "fused", "fused-64",
                                       "file-64", "native")))
    # A change must not be refused for an input that it has nothing to do with: seeds and numbers
    # of inputs are fixed here, however fast the machine is, and --all looks for new ones.
    number = f"0x{seed[:7]}" if everything and seed != "none" else 1
    length = "--seconds 600" if everything else "--count 200"
    yield ("random programs of VCODE and of NESL",
           ["python3 nesl-tests/random_programs.py" +
            (f" --seconds 600 --native --seed {seed[:8]}" if everything else " --count 1000"),
            f"build/bin/nesl-random --seed {number} {length}"] +
           (["mkdir -p build/kernels && build/bin/nesl-random --first 1000000"
             f" --seed {number} --seconds 300 --native build/kernels"] if everything else []))
    yield ("mutations of the tables", "scripts/mutate-tables --all" if everything else
           "scripts/mutate-tables --sample 4 --seed 93554231")
    yield "build asan", build("asan")
    # Those that take longest under it, and reach little that others do not, wait for --all.
    longest = ("cpu-combine|cuda-superop-faults|fused-kernel|fused-emit|conformance-.*oracle|"
               "conformance-delayed|nesl-measure|compilation-command")
    yield ("address sanitizer: units",
           "ctest --test-dir build-asan --output-on-failure -j 2 --no-tests=error"
           + ("" if everything else f" -E '{longest}'"))
    yield ("address sanitizer: programs", f"{drive} --vinterp build-asan/bin/vinterp-tests"
           f"{sample} --config classic-2t --config checked --config delayed-64"
           " --config fused-2t --config fused-delayed --config file-64")
    yield ("address sanitizer: NESL forms", "python3 nesl-tests/nesl.py"
           " --nesl build-asan/bin/nesl-tests --timeout 300 --config direct --config fused")
    yield ("address sanitizer: random NESL programs", "build-asan/bin/nesl-random"
           f" --seed {number} {'--seconds 300' if everything else '--count 100'}")
    if shutil.which("c++"):
        yield ("address sanitizer: programs, emulated GPU", f"{drive} --vinterp"
               f" build-asan/bin/vinterp-tests{small} --config cuda-emu-plain"
               " --config cuda-emu-64 --config cuda-emu-fused")
        yield ("address sanitizer: conformance, emulated GPU",
               ["RAVEL_EMULATION=deferred=random,order=reverse,small=0 build-asan/bin/conformance"
                f" --backend cuda-emu --quick --seed 9{'' if everything else ' --int 64'}"
                f" --float {width}" for width in (32, 64)])
    if everything:
        yield "address sanitizer: conformance", "build-asan/bin/conformance --quick --seed 5"
    yield "build tsan", build("tsan", "conformance", "vinterp-tests")
    yield ("thread sanitizer: conformance",
           [f"build-tsan/bin/conformance --quick --backend cpu --threads 3 --seed 6 --int {width}"
            for width in (32, 64)])
    yield ("thread sanitizer: programs", f"{drive} --vinterp build-tsan/bin/vinterp-tests"
           f"{small} --config classic-8t --config 64-2t --config fused-2t")
    if shutil.which("clang"):
        yield "build fuzz", build("fuzz", "fuzz-loader", "fuzz-syntax", "fuzz-forms")
        yield ("fuzzing the loader, the reader, and the checker and the flattener",
               [f"scripts/fuzz {what}" for what in (
                   ("300", "syntax 300", "forms 300") if everything else
                   ("--same 100000", "syntax --same 5000", "forms --same 1000"))])
    if everything:
        yield "aarch64, emulated", "scripts/aarch64"
    if everything and shutil.which("gcovr"):
        yield "coverage", "scripts/coverage"


def chosen(every, only):
    """The stages whose name contains `only` (all for none) and the builds that they need: the
    release, and the last build before them."""
    if not only:
        return every
    wanted, before = [], every[0]
    for stage in every:
        if stage[0].startswith("build"):
            before = stage
        elif only in stage[0]:
            wanted += [before] if before not in wanted else []
            wanted += [stage]
    return wanted if every[0] in wanted else [every[0]] + wanted


def side_by_side(commands, log):
    """Runs the commands at the same time; their output is in the log, one after the other, that of
    those that fail last, where it is shown. The exit status of the first that fails, or 0."""
    parts = [log.with_suffix(f".{i}.part") for i in range(len(commands))]
    running = []
    for command, part in zip(commands, parts):
        with part.open("wb") as sink:
            running.append(subprocess.Popen(["sh", "-c", command], cwd=ROOT, stdout=sink,
                                            stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL))
    statuses = [process.wait() for process in running]
    by_outcome = sorted(zip(statuses, parts), key=lambda pair: pair[0] != 0)
    log.write_bytes(b"".join(part.read_bytes() for _, part in by_outcome))
    for part in parts:
        part.unlink()
    return next((status for status in statuses if status != 0), 0)


def execute(name, command):
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".log")
    started = time.time()
    commands = [command] if isinstance(command, str) else command
    status = side_by_side(commands, log)
    text = log.read_text(errors="replace")
    skipped = re.findall(r"^SKIPPED:? .*", text, re.MULTILINE)
    nothing = skipped and not re.search(r"^[1-9]\d* passed", text, re.MULTILINE)
    outcome = "FAILED" if status else "SKIPPED" if nothing else "ok"
    print(f"{outcome:7} {name} ({time.time() - started:.0f} s)", flush=True)
    for line in skipped:
        print("    " + line, flush=True)
    if status != 0:
        print("\n".join("    " + line for line in text.splitlines()[-60:]))
        for each in commands:
            print(f"    command: {each}", flush=True)
        print(f"    log: {log.relative_to(ROOT)}", flush=True)
    return outcome, text


def cuda_missing():
    """Why there is no module, as CMake said when it looked for nvcc."""
    cache = (ROOT / "build/CMakeCache.txt").read_text(errors="replace")
    found = re.search(r"^RAVEL_NVCC:FILEPATH=(.*)$", cache, re.MULTILINE)
    return "it was not built" if found and not found[1].endswith("NOTFOUND") else "no nvcc"


def main():
    parser = argparse.ArgumentParser(description="runs the stages of scripts/test")
    parser.add_argument("--all", action="store_true", help="whole matrices instead of samples")
    parser.add_argument("--only", help="only stages whose name contains this")
    options = parser.parse_args()
    os.environ.setdefault("CTEST_OUTPUT_ON_FAILURE", "1")
    passed, failed = 0, 0
    for name, command in chosen(list(stages(options.all, commit())), options.only):
        outcome, text = execute(name, command)
        counts = re.findall(r"^(\d+) passed, (\d+) failed", text, re.MULTILINE)
        passed += sum(int(p) for p, _ in counts) + (1 if outcome == "ok" and not counts else 0)
        failed += sum(int(f) for _, f in counts)
        failed += 1 if outcome == "FAILED" and not any(int(f) for _, f in counts) else 0
        if outcome == "FAILED" and name == "build release":
            break
    if not list(ROOT.glob("build/lib/ravel/cvl-cuda.so")):
        print("SKIPPED: the CUDA module: " + cuda_missing())
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
