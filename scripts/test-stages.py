#!/usr/bin/env python3
"""The stages of scripts/test. How they are run and reported: stage_runner.py.

A run without --all takes minutes and tests what a change may break. Its seeds are fixed, so that a
change never fails for an unrelated input.

--all also searches for inputs that fail, and takes a tenth of each matrix (of items, ways to run a program,
programs) by a seed that is new each time and printed. What cannot be divided and takes long, it has in one
run of ten (`rare`). So a run takes an hour or two, and ten of them have all; --parts 1 has all in one, many
hours. An input that fails becomes a regression test: a program in nesl-tests/ or a case of a unit test.
"""

import argparse
import itertools
import os
import re
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

import changed
from stage_runner import ROOT, Build, Stage, run

DRIVE = "python3 nesl-tests/drive.py --jobs {jobs}"
SANITIZED = "build-sanitized/bin"
# What NVRTC says of kernels, by their texts, for all checkouts, as in a compiler's cache.
REPORTS = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ravel-tests"
EMULATION = "RAVEL_EMULATION="
WATCHED = EMULATION + "check,deferred,order=shuffled,small=0"
# To look at the arguments of all strstr that Criterion's libraries call takes longer than most tests.
# Freed blocks wait until there are 16 MB of them: with the usual 256 the system's time for new pages
# doubles.
SANITIZER_OPTIONS = {
    "LSAN_OPTIONS": f"suppressions={ROOT}/scripts/leaks-of-others:print_suppressions=0",
    "ASAN_OPTIONS": "intercept_strstr=0:quarantine_size_mb=16"}
TSAN_TARGETS = ("conformance", "vinterp-tests", "test-cpu-pool", "test-sub-plain",
                "test-procedures-plain", "test-threads", "test-readers")
TUNINGS = ("smallest", "largest")


def build(preset, *targets, options="", anew=False):
    """The command of a build. One that is configured already keeps its options, unless it is to be
    configured anew."""
    folder = "build" if preset == "release" else f"build-{preset}"
    only = f" --target {' '.join(targets)}" if targets else ""
    configured = "false" if anew else f"[ -f {folder}/build.ninja ]"
    return (f"{{ {configured} || cmake --preset {preset} {options} >/dev/null; }} && "
            f"cmake --build {folder}{only}")


def builds(whole):
    """The builds by their names; of tests what --all, or a usual run, needs. The emulated GPU is two fifths
    of what a compiler does for the sanitizers: only --all has it with them. Machine code for a GPU is a quarter of
    what nvcc does, and nothing here executes it: only --all has it, of kernels PTX is enough elsewhere."""
    tests = "tests" if whole else "tests-usual"
    release = "-DRAVEL_KERNELS=all -DCMAKE_CUDA_ARCHITECTURES=90" if whole else "-DCMAKE_CUDA_ARCHITECTURES=90-virtual"
    emulation = f"-DRAVEL_CUDA_EMULATION={'ON' if whole else 'OFF'}"
    return {
        "release": Build(build("release", "all", tests, "benchmarks", options=release, anew=whole)),
        "sanitized": Build(build("sanitized", "all", tests, options=emulation, anew=whole), ("clang", "clang++")),
        "tsan": Build(build("tsan", *TSAN_TARGETS)),
    }


def configs(*names):
    return "".join(f" --config {name}" for name in names)


# ---- in every run: what takes longest comes first ----


# Without --all each unit test runs in one build: those with the label `plain` (CMakeLists.txt) in the
# release, the others sanitized; a part of the cases of the longest (base/tests/every.h).
UNITS = "ctest --test-dir build -j $(({jobs} + 1)) --no-tests=error --output-on-failure"
SANITIZED_UNITS = ("ctest --test-dir build-sanitized -j {jobs} --no-tests=error"
                   " --output-on-failure")
EVERY = "RAVEL_EVERY=5"
# What tests compile at run time comes from the cache of the builds.
CACHED = f"PATH={ROOT}/scripts/tests/cached:$PATH"


def forms():
    yield Stage("NESL: forms and library", f"{EVERY} {CACHED} python3 nesl-tests/matrix.py --jobs {{jobs}}"
                " --sample 1 --seed 1")
    yield Stage("NESL: forms in chunks, a sample", "python3 nesl-tests/matrix.py --jobs {jobs} --way fused"
                " --widths 64 --threads all --backend cpu --backend cuda-emu --sample 1 --seed 1"
                " --chunks 1 --chunks random")


def units():
    # One more than processors: some tests wait for what they started.
    yield Stage("unit tests", f"{EVERY} {CACHED} {UNITS} -L plain -LE lab")


# Of the emulated GPU in 64 bits a quarter of the items is watched; the classes of an operation are in
# different quarters. --all has all of them, and all of them sanitized.
WATCHED_ITEMS = "--shard 1/4"


def conformance():
    """The library's back ends against the oracle: most of it once, with a part of the lengths in
    the other ways."""
    suite = "build/bin/conformance --quick"
    yield Stage("conformance, emulated GPU, watched",
                f"{WATCHED},seed=1 {suite} --brief --backend cuda-emu --seed 8 --int 64"
                f" --float 64 {WATCHED_ITEMS}")
    for backend in ("cpu", "delayed"):
        yield Stage(f"conformance, classic, {backend}",
                    f"{suite} --brief --int 32 --float 64 --seed 1 --backend {backend}")
    # The other half of the items has 64 bits in the next stage and in those of the emulated GPU.
    yield Stage("conformance, 64-bit", f"{suite} --brief --int 64 --float 64 --seed 2 --shard 1/2")
    yield Stage("conformance, tuning values at both ends", " && ".join(
        f"{suite} --brief --backend cpu --int 64 --seed 1 --tuning cvl/tests/{end}.tuning"
        for end in TUNINGS))
    # The smallest values of tuning give short vectors several ranges. The code is the same.
    compiled = (f"{suite} --brief --backend cpu --int 64 --float 64 --threads 2 --seed 1 --native wait:build/native"
                " --only SUPEROP.FUNCTIONS")
    yield Stage("conformance, compiled superoperators",
                f"mkdir -p build/native && rm -f build/native/* && export {CACHED} && {compiled}"
                f" && {compiled} --tuning cvl/tests/smallest.tuning")
    yield Stage("conformance, emulated GPU, 32-bit",
                f"{EMULATION}deferred=random,order=reverse,seed=1,small=0 {suite} --backend cuda-emu"
                " --seed 8 --int 32 --float 32 --shard 2/2")
    yield Stage("conformance, emulated GPU, compiled superoperators",
                f"mkdir -p build/kernels && rm -f build/kernels/* && {CACHED} {WATCHED},seed=1 {suite} --brief"
                " --backend cuda-emu --int 64 --seed 1 --native wait:build/kernels"
                " --only SUPEROP.GATHERS")
    # With this seed a pending length arrives while a superoperator asks for it.
    yield Stage("conformance, emulated GPU, a length that arrives late",
                f"mkdir -p build/kernels-late && {CACHED} RAVEL_EMULATION=small=0 {suite} --brief --all-forms"
                " --backend cuda-emu --int 64 --float 64 --seed 574782 --native wait:build/kernels-late"
                " --only SUPEROP.SCANS")


def programs():
    yield Stage("programs", DRIVE + configs("classic-2t", "delayed-64", "fused-64"))
    yield Stage("programs, a sample of other ways", f"{DRIVE} --sample 12 --seed 1" + configs(
        "classic", "classic-8t", "64-2t", "32-32", "64-32", "checked", "delayed", "optimised",
        "optimised-64", "fused", "fused-32-32", "fused-delayed", "fused-checked", "file", "file-64",
        "file-vcode"))
    yield Stage("programs, a sample compiled and emulated",
                f"{CACHED} {DRIVE} --sample 2 --seed 1" + configs(
                    "native", "native-64", "cuda-emu", "cuda-emu-64", "cuda-emu-32-32",
                    "cuda-emu-fused", "cuda-emu-fused-64", "cuda-emu-native"))
    yield Stage("launches and waits, emulated GPU", "bench/gpu launches")
    yield Stage("kernels of superoperators, by NVRTC", "scripts/check-kernels examples")
    yield Stage("code of the CUDA back end for each GPU, a sample", "lab/check architectures --jobs {jobs}")
    yield Stage("kernels of the CUDA back end, their PTX interpreted", "lab/check ptx --jobs {jobs}")
    yield Stage("calls of the CUDA runtime that fail", "lab/check failures --jobs {jobs}")


def sanitized():
    """One build of clang with the address and undefined-behaviour sanitizers, which fuzzes too."""
    yield Stage("sanitized: units",
                f"{EVERY} {CACHED} {SANITIZED_UNITS} -LE 'plain|conformance|lab'", "sanitized")
    yield Stage("sanitized: NESL forms", "python3 nesl-tests/nesl.py --jobs {jobs} --timeout 300"
                f" --nesl {SANITIZED}/nesl-tests --config fused --every 8", "sanitized")
    yield Stage("sanitized: programs", f"{DRIVE} --vinterp {SANITIZED}/vinterp-tests --sample 5"
                " --seed 1" + configs("classic-2t", "checked", "delayed-64", "fused-2t",
                                      "fused-delayed", "file-64"), "sanitized")
    yield Stage("sanitized: conformance, cpu", f"{SANITIZED}/conformance --backend cpu --brief"
                " --threads 2 --seed 9 --int 64 --float 64 --shard 1/2", "sanitized")
    yield Stage("sanitized: functions of C from NESL", "python3 nesl-tests/libraries.py --brief"
                " --build build-sanitized --c clang"
                " --flag=-fsanitize=address,undefined,fuzzer-no-link", "sanitized")
    yield Stage("sanitized: random NESL programs", f"{SANITIZED}/nesl-random --seed 1 --count 30",
                "sanitized")
    yield Stage("sanitized: programs with wrong lengths, unchecked",
                f"python3 nesl-tests/mismatched.py --nesl {SANITIZED}/nesl-tests --count 500", "sanitized")
    for what, runs in (("", 10000), ("syntax ", 1000), ("forms ", 100)):
        yield Stage(f"fuzzing, the same inputs: {what or 'loader'}",
                    f"scripts/fuzz {what}--same {runs}", "sanitized")


def ranks():
    yield Stage("what ranks of MPI jobs send", "bench/mpi operations --check --ranks 3 --elements 65536"
                " && bench/mpi operations --page --check")
    yield Stage("how ranks of MPI jobs execute programs, a sample", "bench/mpi programs --check dot-product pagerank"
                " barnes-hut quicksort segmented-sum examples/fft")
    yield Stage("ranks of MPI jobs", f"{EVERY} cvl-mpi/tests/ranks.py --ranks 1 2 3 --conformance '--quick --brief"
                " --int 64 --shard 1/60'", waits=True)


def threads():
    # A quarter of the items; --all has all of them.
    yield Stage("thread sanitizer: conformance", "build-tsan/bin/conformance --quick --brief --backend cpu"
                " --threads 3 --seed 6 --int 64 --shard 1/4", "tsan")
    yield Stage("thread sanitizer: programs", f"{DRIVE} --vinterp build-tsan/bin/vinterp-tests"
                " --sample 5 --seed 1" + configs("classic-8t", "64-2t", "fused-2t"), "tsan")
    yield Stage("thread sanitizer: chunks on several threads", "python3 commands/tests/chunks_command.py"
                " build-tsan/bin/vinterp-tests --programs 3 --seed 3 Chunks.test_random_programs", "tsan")
    yield Stage("thread sanitizer: results that others read", "build-tsan/bin/test-readers", "tsan")
    yield Stage("thread sanitizer: sub-contexts", f"{CACHED} build-tsan/bin/test-sub-plain", "tsan")
    yield Stage("thread sanitizer: procedures", f"{EVERY} {CACHED} build-tsan/bin/test-procedures-plain", "tsan")
    yield Stage("thread sanitizer: contexts of libravel", "build-tsan/bin/test-threads 1", "tsan")


def pages():
    """Documents that run, and the tests of what runs tests and benchmarks."""
    yield Stage("the runner of stages", "scripts/tests/test_stage_runner.py"
                " && scripts/tests/test_source_files.py && scripts/tests/test_purposes.py && scripts/tests/test_cached_compiler.py && scripts/tests/test_stage_coverage.py && scripts/tests/test_fresh.py"
                " && scripts/tests/test_gpu_call.py && scripts/tests/test_changed.py")
    yield Stage("a build folder takes up what is installed later", "scripts/tests/test_build_folder.py")
    yield Stage("the laboratory: PTX, ptxas, barriers, counts", "lab/tests/run.py")
    # What is written by hand is compiled through the cache of the builds.
    yield Stage("benchmark programs",
                "PATH=/usr/lib/ccache:$PATH bench/run --check --quick --jobs {jobs}"
                " --systems ravel,direct,c")
    yield Stage("vector code of the baselines", "PATH=/usr/lib/ccache:$PATH bench/report vectors --jobs {jobs}")
    yield Stage("what is compiled of each program", "bench/report compiled --check --jobs {jobs}")
    yield Stage("what is cut of each program", "bench/report cut --check --jobs {jobs}")
    yield Stage("programs in bounded memory, a sample", "bench/memory check --quick")
    yield Stage("benchmark harness", "bench/tests/harness.py")
    yield Stage("work of compiled NESL", "python3 nesl-tests/work.py")
    yield Stage("lifted functions of NESL", "python3 nesl-tests/instances.py")
    yield Stage("procedures of lifted functions, a sample",
                "python3 nesl-tests/procedures.py --jobs {jobs} --sample 22")
    yield Stage("native code and everything else, a sample",
                f"{CACHED} python3 nesl-tests/native.py --jobs {{jobs}} --sample 5 --least 110")
    yield Stage("code of each C compiler, some programs", f"{CACHED} python3 nesl-tests/compilers.py --jobs {{jobs}}")
    yield Stage("chunks of many tiny instances", "python3 nesl-tests/ranges.py")
    yield Stage("loops whose rounds fail, in chunks", "python3 nesl-tests/rounds.py --seed 5 --jobs {jobs}")
    yield Stage("passes over memory", "python3 nesl-tests/passes.py")
    yield Stage("pages: links, lines, words", "python3 nesl-tests/documents.py")
    yield Stage("the optimiser's page", "python3 nesl-tests/page.py")
    yield Stage("the pages about NESL", "python3 nesl-tests/pages.py")
    yield Stage("properties of programs", "python3 nesl-tests/properties.py --cases 25")
    yield Stage("idioms of NumPy beside NESL", "python3 nesl-tests/idioms.py")
    yield Stage("errors of reals of the library", "python3 nesl-tests/accuracy.py")
    yield Stage("functions of C from NESL", f"{CACHED} python3 nesl-tests/libraries.py")
    yield Stage("the package for Python", f"{EVERY} python3 python/tests/run.py")
    yield Stage("the gallery", "scripts/gallery --check")
    yield Stage("manual pages", "python3 nesl-tests/manuals.py")
    yield Stage("grammars for editors", "python3 nesl-tests/grammars.py")
    yield Stage("modes of editors, completion of shells", "python3 nesl-tests/editors.py")
    yield Stage("messages of NESL", "python3 nesl-tests/errors.py")
    yield Stage("messages of libravel", "python3 nesl-tests/embedded.py")
    yield Stage("programs for interpreters of the 1990s", "python3 nesl-tests/portable.py")
    yield Stage("what CONTRIBUTING.md lists", "python3 nesl-tests/contributing.py")
    yield Stage("installation", "packaging/tests/installation.py")


def at_random():
    yield Stage("random programs of VCODE", "python3 nesl-tests/random_programs.py --count 150")
    yield Stage("random programs of NESL", "build/bin/nesl-random --seed 1 --count 120")
    yield Stage("reproducibility", "python3 nesl-tests/reproducible.py --sample 12 --seed 1")


def usual():
    for group in (conformance, units, forms, sanitized, ranks, threads, at_random, programs, pages):
        yield from group()


# ---- scripts/test --all, beside the above ----


PART = "--sample {100} --seed {seed}"  # of programs, or of ways to run them: percent


def whole_conformance():
    """All cases in 64 bits, the usual ones in the other widths."""
    suite = "build/bin/conformance --shard {shard}"
    widths = ((32, 64, "--quick"), (64, 64, "--full"), (32, 32, "--quick"), (64, 32, "--quick"))
    for width, real, cases in widths:
        yield Stage(f"whole: conformance {width}/{real}", f"{suite} {cases} --int {width} --float"
                    f" {real} --seed 0x{{seed}}")
    yield Stage("whole: conformance, compiled superoperators", "mkdir -p build/native-whole && "
                f"{suite} --quick --backend cpu --int 64 --float 64 --threads 2 --seed 0x{{seed}}"
                " --native wait:build/native-whole --only SUPEROP")
    for end in TUNINGS:
        tuned = f"{suite} --seed 0x{{seed}} --tuning cvl/tests/{end}.tuning"
        yield Stage(f"whole: conformance, {end} tuning values", f"{tuned} --quick")
        for backend in ("cpu", "cuda-emu"):
            yield Stage(f"whole: conformance, {end} tuning values, compiled superoperators, {backend}",
                        f"mkdir -p build/native-tuned-{backend} && {tuned} --brief --backend {backend}"
                        f" --int 64 --native wait:build/native-tuned-{backend} --only SUPEROP")
    emulated = f"{suite} --quick --backend cuda-emu"
    for order, (width, real, _) in zip(("forward", "reverse", "shuffled", "forward"), widths):
        yield Stage(f"whole: conformance, emulated GPU, {order}, {width}/{real}",
                    f"{EMULATION}check,deferred=random,order={order},seed=0x{{seed}} {emulated}"
                    f" --seed 0x{{seed}} --int {width} --float {real}")
    yield Stage("whole: conformance, emulated GPU, watched", f"{WATCHED},seed=0x{{seed}} {emulated}"
                " --seed 0x{seed} --int 64 --float 64")
    yield Stage("whole: conformance, emulated GPU, compiled superoperators",
                f"mkdir -p build/kernels-64 && {WATCHED},seed=0x{{seed}} {emulated}"
                " --int 64 --seed 0x{seed} --native wait:build/kernels-64 --only SUPEROP")


def whole_programs():
    groups = {
        "plain": ("classic", "classic-2t", "classic-8t", "64", "64-2t", "32-32", "64-32", "checked",
                  "delayed", "delayed-64"),
        "optimised": ("optimised", "optimised-64", "fused", "fused-2t", "fused-64", "fused-32-32",
                      "fused-delayed", "fused-checked", "file", "file-64", "file-vcode"),
        "compiled": ("native", "native-64"),
        "emulated GPU": ("cuda-emu", "cuda-emu-64", "cuda-emu-forward", "cuda-emu-32-32",
                         "cuda-emu-plain", "cuda-emu-fused", "cuda-emu-fused-64"),
        "emulated GPU, compiled": ("cuda-emu-native",),
    }
    for name, ways in groups.items():
        yield Stage(f"whole: programs, {name}", f"{DRIVE} {PART}" + configs(*ways))
    yield Stage("whole: the pages as a site", "scripts/site")
    yield Stage("whole: functions of C from NESL, by clang", "python3 nesl-tests/libraries.py --c clang"
                " --c++ clang++ --seed 0x{seed}")
    yield Stage("whole: native code and everything else",
                f"{CACHED} python3 nesl-tests/native.py --jobs {{jobs}} {PART} --least {{3000}}")
    yield Stage("whole: native code and everything else, random programs",
                "python3 nesl-tests/native.py --jobs {jobs} --random {1000} --seed 0x{seed} --least {1000}")
    yield Stage("whole: procedures of lifted functions", f"python3 nesl-tests/procedures.py --jobs {{jobs}} {PART}")
    yield Stage("whole: properties of programs", "python3 nesl-tests/properties.py --seed 0x{seed}")
    yield Stage("whole: code of each C compiler", f"{CACHED} python3 nesl-tests/compilers.py --all --jobs {{jobs}}",
                rare=True)
    yield Stage("whole: superoperators compiled ahead of time", "python3 nesl-tests/ahead.py")
    yield Stage("whole: functions of C from NESL, their kernels for a GPU",
                "python3 nesl-tests/libraries.py --cuda")
    yield Stage("whole: real programs", f"{DRIVE} --suite real --jobs 1" + configs(
        "classic", "64-2t", "optimised", "fused", "fused-64", "file-64", "native"), alone=True, rare=True)
    # Those of the sizes that an emulation with all its checks runs in a minute or two.
    yield Stage("whole: real programs, emulated GPU", f"{DRIVE} --suite real --only muladd"
                " --only bh.100 --only dotp.100000 --only '*.1000'" + configs(
                    "cuda-emu", "cuda-emu-64", "cuda-emu-fused-64"))
    yield Stage("whole: launches and waits, emulated GPU", f"{CACHED} bench/gpu launches --whole", rare=True)
    yield Stage("whole: kernels of superoperators, by NVRTC", "scripts/check-kernels", rare=True)
    yield Stage("whole: code of the CUDA back end for each GPU", "lab/check architectures --whole --jobs {jobs}", rare=True)
    yield Stage("whole: kernels of the CUDA back end, by ptxas",
                "lab/check ptxas --jobs {jobs} --arch 80 90 120", rare=True)
    yield Stage("whole: kernels of the CUDA back end, their PTX interpreted",
                "lab/check ptx --jobs {jobs} --whole --seed 0x{seed}", rare=True)
    yield Stage("whole: programs for a GPU under weak memory, their PTX interpreted",
                "lab/check weak --jobs {jobs} --seed 0x{seed} --seeds {200}")
    yield Stage("whole: coverage of the kernels of the CUDA back end",
                "lab/check coverage --jobs {jobs}", rare=True)
    yield Stage("whole: barriers, fences and masks left out of superoperators' kernels and CUB's",
                "lab/check drops --jobs {jobs}", rare=True)
    yield Stage("whole: what launches ask of a GPU, counted",
                "{ [ ! -e build/lib/ravel/cvl-cuda-ptx.so ] || cmake --build build --target bench-gpu-peers-ptx; }"
                " && lab/check counts && lab/check counts --variants --size 14", rare=True)
    yield Stage("whole: programs in CUDA by hand, their PTX interpreted",
                "bench/run --check --backend cuda-ptx --systems cuda,cuda-library --jobs {jobs}", rare=True)
    yield Stage("whole: calls of the CUDA runtime that fail, each of them",
                "lab/check failures --jobs {jobs} --every", rare=True)
    yield Stage("whole: kernels of the examples in NESL, by NVRTC", "scripts/check-kernels examples/*.nesl", rare=True)
    yield Stage("whole: what checks a GPU, on the emulated one", "scripts/gpu-check --emulated"
                " --whole --only conformance switches peers corpus fused big --minutes 60", rare=True)


def whole_forms():
    from matrix import FLAGS  # the ways to run NESL
    matrix = f"{WATCHED},seed=1 python3 nesl-tests/matrix.py --jobs {{jobs}}"
    # An emulation with all its checks takes minutes for a configuration: one for each way.
    emulated = {"unoptimised": "classic", "optimised": "32-32", "fused": "64"}
    for way in FLAGS:
        # Compiling every superoperator takes too long: a new sample each time.
        part = f" --sample {'{30}' if way == 'native' else '{100}'} --seed {{seed}}"
        yield Stage(f"whole: NESL, {way}, cpu", f"{matrix} --way {way} --backend cpu{part}")
        if way in emulated:
            yield Stage(f"whole: NESL, {way}, delayed", f"{matrix} --way {way} --backend delayed{part}")
            yield Stage(f"whole: NESL, {way}, emulated GPU", f"{matrix} --way {way} --backend cuda-emu"
                        f" --widths {emulated[way]}{part}")
    # All batch calls in chunks of these sizes; on each back end beside the CPU's a new sample.
    sizes = "".join(f" --chunks {n}" for n in (1, 2, 3, 7, "random"))
    for backend, percent in (("cpu", 100), ("delayed", 50), ("cuda-emu", 30), ("cuda-ptx", 2)):
        yield Stage(f"whole: NESL in chunks, {backend}", f"{matrix} --way fused --widths 64 --threads all"
                    f" --backend {backend} --sample {{{percent}}} --seed {{seed}}{sizes}")
    yield Stage("whole: NESL, other data", f"{matrix} --sample 0 --data {{seed}}")


def whole_sanitized():
    yield Stage("whole: compiled superoperators of the CPU",
                "RAVEL_COMPILED_ROUNDS={30} build/bin/test-cpu-fused")
    yield Stage("whole: sanitized units", f"{SANITIZED_UNITS} -LE conformance", "sanitized", rare=True)
    yield Stage("whole: sanitized NESL forms", "python3 nesl-tests/nesl.py --jobs {jobs} --timeout"
                f" 300 --nesl {SANITIZED}/nesl-tests --config direct --config fused", "sanitized", rare=True)
    yield Stage("whole: sanitized programs", f"{DRIVE} {PART} --vinterp {SANITIZED}/vinterp-tests" + configs(
        "classic-2t", "checked", "delayed-64", "fused-2t", "fused-delayed", "file-64",
        "cuda-emu-plain", "cuda-emu-64", "cuda-emu-fused"), "sanitized")
    yield Stage("whole: sanitized conformance", f"{SANITIZED}/conformance --quick --seed 0x{{seed}} --shard {{shard}}",
                "sanitized")
    for width in (32, 64):
        yield Stage(f"whole: sanitized conformance, emulated GPU, {width}",
                    f"{EMULATION}deferred=random,order=reverse,small=0 {SANITIZED}/conformance"
                    f" --backend cuda-emu --quick --seed 0x{{seed}} --float {width} --shard {{shard}}", "sanitized")
        yield Stage(f"whole: thread sanitizer, conformance, {width}",
                    "build-tsan/bin/conformance --quick --backend cpu --threads 3 --seed 0x{seed}"
                    f" --int {width} --shard {{shard}}", "tsan")
    yield Stage("whole: thread sanitizer, programs", f"{DRIVE} {PART} --vinterp"
                " build-tsan/bin/vinterp-tests" + configs("classic-8t", "64-2t", "fused-2t"), "tsan")
    yield Stage("whole: thread sanitizer, contexts of libravel", "build-tsan/bin/test-threads {120}",
                "tsan")
    yield Stage("whole: every allocation of the commands fails once",
                "python3 commands/tests/allocations.py build/commands/failing-malloc.so cc"
                " build/bin/nesl build/bin/neslc build/bin/vinterp build/bin/fcodeopt --all", rare=True)
    yield Stage("whole: a file of 8 GB in 500 MB", "python3 commands/tests/stream_command.py"
                " build/bin/nesl --large StreamTest.test_eight_gigabytes", rare=True)
    yield Stage("whole: a CSV file of 3 GB in 500 MB", "python3 commands/tests/stream_command.py"
                " build/bin/nesl --large StreamTest.test_a_csv_file_of_gigabytes", rare=True)
    yield Stage("whole: streams of 3 GB in 100 MB from Python", "python3 python/tests/large_streams.py", rare=True)


def whole_at_random():
    yield Stage("whole: sanitized ranks of MPI jobs",
                "cvl-mpi/tests/ranks.py --build build-sanitized --ranks 3"
                " --conformance '--quick --brief --int 64 --shard 1/20 --seed 0x{seed}'", "sanitized")
    yield Stage("whole: how ranks of MPI jobs execute programs", "bench/mpi programs --check", rare=True)
    yield Stage("whole: what ranks of MPI jobs send, programs", "bench/mpi sent --check"
                " && bench/mpi operations --check --ranks 1 8 16 --elements 262144", rare=True)
    yield Stage("whole: ranks of MPI jobs",
                "cvl-mpi/tests/ranks.py --ranks 1 2 3 4 5 7 16 --programs --forms --random {300} --seed {seed}"
                " --conformance '--quick --brief --int 64 --seed 0x{seed} --shard {shard}'", rare=True)
    yield Stage("whole: random functions of Python",
                "python3 -W ignore python/tests/test_function_random.py --seed 0x{seed} --count {1000}")
    yield Stage("whole: random programs of VCODE", "python3 nesl-tests/random_programs.py"
                " --seconds {search} --native --seed {seed}")
    yield Stage("whole: random batch calls, in chunks", "python3"
                " commands/tests/chunks_command.py build/bin/vinterp --programs {1500} --seed 0x{seed}"
                " Chunks.test_random_programs")
    yield Stage("whole: random loops whose rounds fail, in chunks",
                "python3 nesl-tests/rounds.py --programs {1000} --seed 0x{seed} --jobs {jobs}")
    yield Stage("whole: properties of programs, other cases",
                "python3 nesl-tests/properties.py --seed 0x{seed} --cases {2000}")
    yield Stage("whole: random programs of NESL", "build/bin/nesl-random --seed 0x{seed}"
                " --seconds {search}")
    yield Stage("whole: random programs of NESL, compiled superoperators",
                "mkdir -p build/kernels-random && build/bin/nesl-random --first 1000000"
                " --seed 0x{seed} --seconds {search} --native build/kernels-random")
    yield Stage("whole: sanitized programs with wrong lengths, unchecked", "python3"
                f" nesl-tests/mismatched.py --nesl {SANITIZED}/nesl-tests --seed 0x{{seed}} --count {{2000}}",
                "sanitized")
    yield Stage("whole: sanitized random programs of NESL",
                f"{SANITIZED}/nesl-random --seed 0x{{seed}} --seconds {{search}}", "sanitized")
    for what in ("", "syntax ", "forms "):
        yield Stage(f"whole: fuzzing, {what or 'loader'}", f"scripts/fuzz {what}{{search}}", "sanitized")
    yield Stage("whole: reproducibility", f"python3 nesl-tests/reproducible.py {PART}")
    yield Stage("whole: mutations of the tables", "scripts/mutate-tables --all", alone=True, rare=True)


def whole_rest():
    yield Stage("whole: unit tests", f"{UNITS} -LE conformance")
    yield Stage("whole: elementary functions of all floats", "build/bin/elementary-floats", rare=True)
    yield Stage("whole: what CONTRIBUTING.md lists", "python3 nesl-tests/contributing.py --build", rare=True)
    yield Stage("whole: programs for interpreters of the 1990s",
                "python3 nesl-tests/portable.py --forms 100")
    yield Stage("whole: the package for Python beside other libraries",
                "scripts/with-python-libraries python3 python/tests/run.py &&"
                " scripts/with-python-libraries python3 libravel/tests/with-pyarrow.py &&"
                " scripts/with-python-libraries python3 nesl-tests/pages.py &&"
                " scripts/with-python-libraries python3 nesl-tests/idioms.py")
    yield Stage("whole: notebooks", "scripts/with-python-libraries python3 examples/notebooks/run.py")
    yield Stage("whole: ragged data in other libraries", "scripts/with-python-libraries python3"
                " bench/python --check")
    yield Stage("whole: programs in bounded memory", "bench/memory check", rare=True)
    yield Stage("whole: benchmark programs", "bench/run --check --compile-cuda --jobs {jobs}", rare=True)
    yield Stage("whole: cliffs in speed", "bench/cliffs", alone=True, rare=True)
    yield Stage("whole: aarch64, emulated", "scripts/aarch64", alone=True, rare=True)
    yield Stage("whole: packages", "scripts/package --test --again", alone=True, rare=True)
    yield Stage("whole: coverage", "scripts/coverage", alone=True, rare=True)
    yield Stage("whole: the commands of the documents on a fresh machine", "scripts/fresh", alone=True, rare=True)


def whole(part, parts):
    """The stages of one run of `parts`; those that are rare are in turn in one of the runs."""
    groups = (whole_conformance, whole_forms, whole_programs, whole_sanitized, whole_at_random, whole_rest)
    rare = itertools.count()
    for stage in itertools.chain.from_iterable(group() for group in groups):
        if not stage.rare or next(rare) % parts == part:
            yield stage


# ---- the command ----


# What `scripts/setup --test` installs, by the variable in which a build keeps that it found it. Without one
# some tests would not be built, or would skip themselves.
FOUND = {"CMAKE_CXX_COMPILER": "g++", "CRITERION_FOUND": "libcriterion-dev", "LIBEDIT_FOUND": "libedit-dev",
         "ZLIB_LIBRARY_RELEASE": "zlib1g-dev", "ompi-c_FOUND": "libopenmpi-dev", "mpich_FOUND": "libmpich-dev",
         "RAVEL_LLD": "lld"}


def lacking():
    """Lines about tools without which stages would silently test less."""
    cache = (ROOT / "build/CMakeCache.txt")
    text = cache.read_text(errors="replace") if cache.exists() else ""
    found = dict(re.findall(r"^([\w-]+):[A-Z]+=(.+)$", text, re.MULTILINE))
    there = {name for name, value in found.items() if not value.endswith("NOTFOUND")}
    for name, package in FOUND.items():
        if name not in there:
            yield f"{package}: build/ was configured without it"
    if not (ROOT / "build/lib/ravel/cvl-cuda.so").exists():
        yield "the CUDA module: it was not built" if "RAVEL_NVCC" in there else "(no nvcc) the CUDA module"


def main():
    parser = argparse.ArgumentParser(description="runs the stages of scripts/test")
    parser.add_argument("--all", action="store_true",
                        help="also a tenth of whole matrices, by a new seed, and searches for inputs that fail")
    parser.add_argument("--parts", type=int, default=10, metavar="N",
                        help="with --all: an N-th of the matrices instead of a tenth; 1: all of them, many hours")
    parser.add_argument("--changed", nargs="?", const="HEAD", metavar="COMMIT",
                        help="only the unit tests of rooms with files that differ from a commit (default:"
                        " the last one), and a small part of what executes them")
    parser.add_argument("--only", help="only stages whose name contains this")
    parser.add_argument("--without", action="append", default=[], metavar="TEXT",
                        help="no stages whose name contains this; may be repeated")
    parser.add_argument("--seed", help="with --all: instead of a new one; eight hexadecimal digits")
    parser.add_argument("--search", type=int, default=60, metavar="SECONDS",
                        help="with --all: for each stage that looks for inputs that fail (default 60)")
    parser.add_argument("--list", action="store_true", help="print the stages")
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "nesl-tests"))
    os.environ.update(SANITIZER_OPTIONS)
    os.environ.setdefault("RAVEL_REPORTS", str(REPORTS))
    if shutil.which("ccache"):  # tests with a cache folder of their own keep that of compilers
        os.environ.setdefault("CCACHE_DIR", subprocess.run(
            ["ccache", "--get-config", "cache_dir"], check=True, capture_output=True, text=True).stdout.strip())
    seed = options.seed or (secrets.token_hex(4) if options.all else "1")
    part = int(seed, 16) % options.parts
    made = builds(options.all)
    if options.changed:
        rooms = changed.rooms_of(changed.changed_files(options.changed))
        made["release"] = Build(build("release", "all", *changed.targets(rooms)))
        stages = list(changed.stages(rooms, f"{EVERY} {CACHED}"))
    else:
        stages = list(usual()) + (list(whole(part, options.parts)) if options.all else [])
    stages = [s for s in stages if (not options.only or options.only in s.name)
              and not any(text in s.name for text in options.without)]
    if options.list:
        for stage in stages:
            print(f"{stage.name}: {stage.command}")
        return 0
    if options.all:
        print(f"seed {seed}, part {part + 1} of {options.parts}")
    return run(made, stages, {"seed": seed, "search": str(options.search), "parts": str(options.parts),
                              "shard": f"{part + 1}/{options.parts}"}, lacking)


if __name__ == "__main__":
    sys.exit(main())
