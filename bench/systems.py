"""The systems that are compared: whether they are here, how a program of theirs is made, and the
command that runs it on arguments from files.

Every command prints, or leaves in a file, {"first_seconds": ..., "seconds": [...]}: of a first run,
which does not count, and of repeated ones. It writes its results as .npy files.
"""

import functools
import hashlib
import json
import math
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from collection import BASELINES, BENCH, ROOT, WORK, BenchError, baseline, c_lines, nesl_lines
from collection import includes, program, python_lines, relative
from machine import find_nvcc, gpu

WIDTHS = {"64": ["--int", "64", "--float", "64"], "classic": ["--classic"],
          "32": ["--int", "32", "--float", "32"]}
INT_BITS = {"64": 64, "classic": 32, "32": 32}
FLOAT_BITS = {"64": 64, "classic": 64, "32": 32}
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]


def nesl_number(x):
    """As an expression; in parentheses, lest a sign is taken for an option."""
    if isinstance(x, bool):
        return "T" if x else "F"
    if isinstance(x, float) and not math.isfinite(x):
        raise BenchError("arguments must be finite numbers")
    return repr(x) if x >= 0 else f"({x!r})"


def plain_number(x):
    return str(x).lower() if isinstance(x, bool) else repr(x)


class System:
    """One column of the tables."""
    name = ""
    parallel = False   # whether the number of threads says anything
    title = ""

    def available(self, case):
        """None, or why it is not here for this case."""
        raise NotImplementedError

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        """Words of a command line. repeat 0: run once, only the results count."""
        raise NotImplementedError

    def environment(self, threads):
        """Of a run. Tuning values that somebody keeps do not count, those of RAVEL_TUNING do."""
        return {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads),
                "MKL_NUM_THREADS": str(threads),
                "RAVEL_TUNING": os.environ.get("RAVEL_TUNING") or "off"}

    def prepare(self, case, widths):
        """Compiles what has to be."""

    def lines(self, case):
        return None


# ---- Ravel ----

class Ravel(System):
    parallel = True

    memory = None    # most for its vectors, as --memory wants it; None: what nesl takes

    def __init__(self, name, title, options, nesl, backend):
        self.name, self.title, self.options = name, title, options
        self.nesl, self.backend = Path(nesl), backend

    def available(self, case):
        if not self.nesl.exists():
            return f"{relative(self.nesl)} is not built"
        if not program(case).exists():
            return f"there is no {relative(program(case))}"
        for option in self.options:
            if not self.has(option.split("=")[0]):
                return f"{relative(self.nesl)} does not know {option}"
        return None

    def has(self, option):
        said = subprocess.run([self.nesl, "--help"], capture_output=True, text=True, check=True)
        return option in said.stdout

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        words = [relative(self.nesl), *WIDTHS[widths], "--backend", self.backend,
                 "--threads", str(threads), *self.options]
        if self.memory:
            words += ["--memory", self.memory]
        if repeat:
            words += ["--repeat", str(repeat), "--times", str(times)]
        words += ["run", relative(program(data.case)), "--entry", "bench",
                  *data.words(nesl_number)]
        for output in outputs:
            words += ["-o", str(output)]
        return words

    def lines(self, case):
        return nesl_lines(program(case).read_text())


class Unshared(Ravel):
    """On a GPU, without windows of stencils in shared memory."""

    TUNING = BENCH / "unshared.tuning"

    def available(self, case):
        return super().available(case) if self.backend != "cpu" else "a CPU has no shared memory"

    def environment(self, threads):
        return {**super().environment(threads), "RAVEL_TUNING": relative(self.TUNING)}


class Ranks(Ravel):
    """The same commands as ranks of an MPI job, of one thread each, and so many as others have threads."""

    MPIRUN = "mpirun.openmpi"

    def available(self, case):
        if not shutil.which(self.MPIRUN):
            return f"no {self.MPIRUN}"
        module = self.nesl.parent.parent / "lib" / "ravel" / "cvl-mpi.so"
        return super().available(case) if module.exists() else f"{relative(module)} is not built"

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        words = super().command(data, widths, outputs, 1, repeat, times)
        return [shutil.which(self.MPIRUN), "--oversubscribe", "--bind-to", "none", "-n", str(threads), *words]

    def environment(self, threads):
        return {**super().environment(threads), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


# ---- what is compiled ----

def own_flags(source):
    """Those that a comment of the file asks for: /* flags: -fopenmp-simd */"""
    found = re.search(r"/\*\s*flags:(.*?)\*/", source.read_text(), re.DOTALL)
    return shlex.split(found[1]) if found else []


@functools.lru_cache
def compiler_version(compiler):
    return subprocess.run([compiler, "--version"], capture_output=True, text=True,
                          check=True).stdout


# The widest vectors of an x86 processor, which gcc does not use by itself: Ravel's kernels have them, too.
WIDEST = ["-mprefer-vector-width=512"] if platform.machine() == "x86_64" else []


def standard_flags(source, openmp, contract, widths, processor="native"):
    # Without OpenMP its pragmas for vectors still count, those for threads do not. No program looks at the
    # flags of floating point's exceptions: gcc 12 would not make vectors of comparisons for their sake.
    return ["-std=gnu11" if source.suffix == ".c" else "-std=c++17", "-O3", f"-march={processor}", *WIDEST,
            "-fno-math-errno", "-fno-trapping-math", f"-ffp-contract={'fast' if contract else 'off'}",
            *(["-fopenmp"] if openmp else ["-fopenmp-simd", "-Wno-unknown-pragmas"]), *WARNINGS,
            f"-DINT_BITS={INT_BITS[widths]}", f"-DFLOAT_BITS={FLOAT_BITS[widths]}",
            f"-I{relative(BASELINES)}", *own_flags(source)]


def build(commands, target, sources, linked=()):
    """Runs the commands, which make $dir/program, unless they did so before from the same sources,
    headers of the baselines and libraries. Returns where it is: a file named after `target`."""
    key = hashlib.sha256()
    included = [path for source in sources for path in includes(source)]
    for source in [*sources, *included, *sorted(BASELINES.glob("*.h")), *linked]:
        key.update(source.read_bytes())
    for command in commands:
        key.update("\0".join(command).encode() + compiler_version(command[0]).encode())
    path = WORK / "baselines" / f"{target}.{key.hexdigest()[:16]}"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for command in commands:
            words = [w.replace("$dir", relative(folder)) for w in command]
            run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
            if run.returncode:
                raise BenchError(f"{shlex.join(words)}\n{run.stderr[:3000]}")
        os.replace(Path(folder) / "program", path)
    return path


def compiled(source, openmp=False, contract=False, widths="64", compiler=None, processor="native"):
    """A baseline with its main, as an executable file."""
    compiler = compiler or ("cc" if source.suffix == ".c" else "c++")
    serve = BASELINES / "serve.c"
    flags = standard_flags(source, openmp, contract, widths, processor)
    name = f"{source.stem}{source.suffix}" + ("-openmp" if openmp else "") + \
        ("-fast" if contract else "")
    serving = standard_flags(serve, openmp, contract, widths, processor)
    commands = [["cc", *serving, "-c", relative(serve), "-o", "$dir/serve.o"],
                [compiler, *flags, "-c", relative(source), "-o", "$dir/baseline.o"],
                [compiler, "$dir/baseline.o", "$dir/serve.o", "-o", "$dir/program",
                 *(["-fopenmp"] if openmp else []), *own_flags(source), "-lm"]]
    return build(commands, name, [serve, source])


def read_by_clang(source, openmp, widths):
    """Has clang warn of what it finds; flags of the file's own are gcc's."""
    own = own_flags(source)
    flags = [f for f in standard_flags(source, openmp, False, widths) if f not in own]
    try:
        build([["clang" if source.suffix == ".c" else "clang++", *flags, "-Wno-pass-failed",
                "-Wno-unknown-attributes", "-fsyntax-only", relative(source)],
               ["touch", "$dir/program"]],
              f"{source.name}-clang{'-openmp' if openmp else ''}", [source])
    except BenchError as error:
        # Which OpenMP clang comes with is its own affair.
        if "'omp.h' file not found" not in str(error):
            raise


class Compiled(System):
    """A program in C, C++ or CUDA by hand."""

    def __init__(self, name, title, suffix, openmp=False, contract=False):
        self.name, self.title, self.suffix = name, title, suffix
        self.parallel, self.contract = openmp, contract
        self.made = {}

    def available(self, case):
        source = baseline(case, self.suffix)
        if not source:
            return f"{relative(BASELINES / (case.name + self.suffix))} is missing"
        compiler = "cc" if self.suffix == ".c" else "c++"
        there = shutil.which(compiler) or carried(case, self.name, case.widths)
        return None if there else f"no {compiler}"

    def environment(self, threads):
        """Each thread has a processor of its own. Where another process has one of two, Linux puts both
        threads on the other, and the one that waits, by spinning, keeps it until its slice is over: a
        loop of 2 microseconds takes 8 ms."""
        return {**super().environment(threads), "OMP_PROC_BIND": "spread"}

    def prepare(self, case, widths):
        if (case.name, widths) not in self.made:
            self.made[case.name, widths] = carried(case, self.name, widths) or \
                self.compile(baseline(case, self.suffix), widths)

    def compile(self, source, widths):
        return compiled(source, self.parallel, self.contract, widths)

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        self.prepare(data.case, widths)
        words = [relative(self.made[data.case.name, widths]), "--repeat", str(repeat),
                 "--threads", str(threads)]
        for output in outputs:
            words += ["-o", str(output)]
        return words + data.words(plain_number)

    def lines(self, case):
        return c_lines(baseline(case, self.suffix))


class Cuda(Compiled):
    """By hand for a GPU, or, with the folder of a build, for the interpreter of PTX there."""

    def __init__(self, name, title, suffix, interpreted=None):
        super().__init__(name, title, suffix)
        self.interpreted = interpreted

    def available(self, case):
        source = baseline(case, self.suffix)
        if not source:
            return f"{relative(BASELINES / (case.name + self.suffix))} is missing"
        if not find_nvcc() and not carried(case, self.name, case.widths):
            return "no nvcc"
        if not self.interpreted:
            return None if gpu() else "no GPU"
        text = "".join(path.read_text() for path in [source, *includes(source)])
        closed = re.search(r"#include <(cublas|cusparse)", text)
        if closed:
            return f"{relative(source)} calls {closed[1]}, of which there is no PTX"
        missing = [path for path in PTX_RUNTIME if not (Path(self.interpreted) / path).exists()]
        return f"{missing[0]} is not built" if missing else None

    def compile(self, source, widths):
        if self.interpreted:
            return compiled_cuda(source, widths, arch="sm_90", interpreted=self.interpreted)
        return compiled_cuda(source, widths)


# What replaces CUDA's runtime by the interpreter of PTX, in a build's folder.
PTX_RUNTIME = ("cvl-cuda/cuda/ptx/libravel_ptx-runtime.a", "cvl-cuda/libravel_ptx.a",
               "base/libravel_base.a")


def compiled_cuda(source, widths, arch="native", link=True, interpreted=None):
    """A baseline for the GPU; not linked where it is only to be seen that it compiles. `interpreted`:
    the folder of a build with the interpreter of PTX, which then executes it."""
    nvcc, serve = find_nvcc(), BASELINES / "serve.c"
    flags = ["-std=c++17", "-O3", f"-arch={arch}", "--extended-lambda", "-Werror", "all-warnings",
             "-Xcompiler", "-Wall,-Wextra", f"-DINT_BITS={INT_BITS[widths]}",
             f"-DFLOAT_BITS={FLOAT_BITS[widths]}", f"-I{relative(BASELINES)}", *own_flags(source)]
    sources = [BASELINES / "serve.cu", source]
    processor = "native" if arch == "native" else CARRIED_PROCESSOR
    commands = [["cc", *standard_flags(serve, False, False, widths, processor), "-DON_GPU", "-c",
                 relative(serve), "-o", "$dir/serve.o"],
                *([nvcc, *flags, "-c", relative(s), "-o", f"$dir/{s.stem}.cu.o"] for s in sources)]
    objects = ["$dir/serve.o", *(f"$dir/{s.stem}.cu.o" for s in sources)]
    if interpreted:
        runtime = [relative(Path(interpreted) / path) for path in PTX_RUNTIME]
        commands.append([nvcc, f"-arch={arch}", "-cudart", "none", *objects, *runtime, "-o",
                         "$dir/program", "-lzstd", "-lpthread", "-ldl"])
        return build(commands, f"{source.stem}.cu-ptx", [serve, *sources],
                     [Path(interpreted) / path for path in PTX_RUNTIME])
    commands.append([nvcc, f"-arch={arch}", *objects, "-o", "$dir/program", "-lcublas",
                     "-lcusparse"] if link
                    else ["cp", objects[-1], "$dir/program"])
    return build(commands, f"{source.stem}.cu-{arch}", [serve, *sources])


# ---- Python ----

class Peer(System):
    """An array library of Python, through peer.py."""
    def __init__(self, name, title):
        self.name, self.title = name, title

    def available(self, case):
        source = baseline(case, ".py")
        if not source:
            return f"{relative(BASELINES / (case.name + '.py'))} is missing"
        if not re.search(rf"^def {self.name}\(", source.read_text(), re.MULTILINE):
            return f"{relative(source)} has no function {self.name}"
        return self.missing()

    def missing(self):
        run = subprocess.run([peer_python(), str(BENCH / "peer.py"), "--have", self.name],
                             capture_output=True, text=True, check=False)
        return None if run.returncode == 0 else run.stdout.strip() or run.stderr[-200:]

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        words = [peer_python(), relative(BENCH / "peer.py"), "--system", self.name,
                 "--repeat", str(repeat), "--widths", widths]
        for output in outputs:
            words += ["-o", str(output)]
        return [*words, "--", relative(baseline(data.case, ".py")), *data.words(plain_number)]

    def lines(self, case):
        return python_lines(baseline(case, ".py").read_text(), self.name)


def peer_python():
    """That of the environment for the peers, if there is one: RAVEL_PEERS_PYTHON; else ours."""
    return os.environ.get("RAVEL_PEERS_PYTHON", sys.executable)


# ---- the machine itself ----

class MachineStreams(System):
    """No program: what is read and written, and nothing computed (`bench-stream-times`). It has no
    results, so that it is none of all_systems."""
    name, title, parallel = "streams", "the machine's streams", True

    def __init__(self, streams, folder):
        self.streams, self.program = streams, Path(folder) / "bin" / "bench-stream-times"

    def available(self, case):
        if self.program.exists():
            return None
        build = relative(self.program.parent.parent)
        return f"{relative(self.program)} is not built: ninja -C {build} {self.program.name}"

    def command(self, data, widths, outputs, threads=1, repeat=0, times=None):
        words = [relative(self.program)]
        for option, sizes in ("--read", self.streams.reads), ("--write", self.streams.writes):
            if sizes:
                words += [option, ",".join(map(str, sizes))]
        return [*words, "--passes", str(self.streams.passes), "--threads", str(threads),
                "--repeat", str(max(1, repeat))]


# ---- all of them ----

def all_systems(backend="cpu", folder=ROOT / "build"):
    nesl = Path(folder) / "bin" / ("nesl-tests" if backend == "cuda-emu" else "nesl")
    interpreted = Path(folder) if backend == "cuda-ptx" else None
    systems = [
        Ravel("ravel", "Ravel", [], nesl, backend),
        Ravel("ravel-unfused", "Ravel, no fusion", ["--no-fusion"], nesl, backend),
        Ravel("ravel-base", "Ravel, not optimised", ["--no-optimise"], nesl, backend),
        Ravel("ravel-evaluated", "Ravel, nothing compiled", ["--native=off"], nesl, backend),
        Ravel("ravel-native", "Ravel, compiled", ["--native=wait"], nesl, backend),
        Ravel("ravel-together", "--procedures off", ["--native=wait", "--procedures", "off"], nesl, backend),
        Ravel("ravel-apart", "--procedures always", ["--native=wait", "--procedures", "always"], nesl, backend),
        Unshared("ravel-unshared", "Ravel, no shared memory", ["--native=wait"], nesl, backend),
        Ravel("direct", "Ravel, interpreted directly", ["--direct"], nesl, backend),
        Ranks("ravel-ranks", "Ravel, ranks of MPI", ["--native=wait"], nesl, "mpi"),
        Compiled("c", "C", ".c"),
        Compiled("openmp", "OpenMP C", ".c", openmp=True),
        Compiled("openmp-again", "OpenMP C, again", ".c", openmp=True),
        Compiled("c-fast", "C, contracted", ".c", contract=True),
        Compiled("openmp-fast", "OpenMP C, contracted", ".c", openmp=True, contract=True),
        Compiled("c++", "C++", ".cc"),
        Peer("numpy", "NumPy"), Peer("scipy", "SciPy"),
        Peer("torch", "PyTorch"), Peer("jax", "JAX"),
        Peer("cupy", "CuPy"), Cuda("cuda", "CUDA", ".cu", interpreted),
        Cuda("cuda-library", "CUDA's libraries", "-library.cu", interpreted),
    ]
    return {s.name: s for s in systems}


def read_times(system, stdout, times):
    """What a run said about itself."""
    text = Path(times).read_text() if isinstance(system, Ravel) else stdout.strip().split("\n")[-1]
    return json.loads(text)


# ---- for another machine ----

# An x86-64 of 2015 and after, and a GPU of compute capability 9.0.
CARRIED_PROCESSOR, CARRIED_ARCH = "x86-64-v3", "sm_90"


def carry(folder, cases):
    """Compiles what --backend cuda compares with, and what says whether results are right, for a machine
    that has no time to. An exit status."""
    folder.mkdir(parents=True, exist_ok=True)
    known, failed = all_systems("cuda"), 0
    for case in cases:
        for name in ("c", "cuda", "cuda-library"):
            source = baseline(case, known[name].suffix)
            if not source:
                continue
            try:
                made = compiled(source, widths=case.widths, processor=CARRIED_PROCESSOR) if name == "c" else \
                    compiled_cuda(source, case.widths, arch=CARRIED_ARCH)
            except BenchError as error:
                print(f"FAILED {case.name}, {name}: {error}", flush=True)
                failed += 1
                continue
            to = folder / carried_name(case, name, case.widths)
            shutil.copyfile(made, to)
            to.chmod(0o755)
            subprocess.run(["strip", to], check=False)
            print(f"{relative(to)}: {to.stat().st_size >> 10} KiB", flush=True)
    return 1 if failed else 0


def carried_name(case, system, widths):
    return f"{case.name}.{system}.{widths}"


def carried(case, system, widths):
    """A program that was compiled elsewhere, in the folder RAVEL_BASELINES; or None."""
    folder = os.environ.get("RAVEL_BASELINES")
    path = folder and Path(folder).resolve() / carried_name(case, system, widths)
    return path if path and path.is_file() else None
