#!/usr/bin/env python3
"""The back end over MPI: conformance at several numbers of ranks, and commands as ranks of a job.

    ranks.py [--ranks N ...] [--build DIR] [--conformance OPTIONS] ...

It tests each MPI that the module was built for. Lines that begin with SKIPPED name what was not tested.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "nesl-tests"))

from random_programs import make  # noqa: E402

# For each MPI: the launcher, its options for more ranks than processors, and the module.
MPIS = {"Open MPI": ("mpirun.openmpi", ["--oversubscribe"], "lib/ravel", "mpi"),
        "MPICH": ("mpirun.mpich", [], "lib/ravel-tests", "mpi-mpich")}
EVERY = int(os.environ.get("RAVEL_EVERY", 1))  # a long test runs each n-th case
SOON = 30  # seconds, in which a job ends that has a reason to: ranks share the processors with each other and with others
FORMS = [ROOT / "nesl-tests/nesl" / name for name in ("instances.nesl", "found-at-random.nesl")]
CORPUS = ROOT.parent / "shared/corpus/nesl"
# Blocks have few elements, and only shorter vectors are on all ranks, so there are borders everywhere.
SMALL = "grain=4,whole=3,samples=2"


class Job:
    """Starts jobs of one MPI."""

    def __init__(self, name, build):
        self.name, self.build = name, Path(build).resolve()
        self.launcher, self.options, folder, self.backend = MPIS[name]
        self.folder = self.build / folder
        self.environment = dict(os.environ, RAVEL_BACKENDS=str(self.folder), RAVEL_MPI=SMALL,
                                OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        # The libraries of MPI keep memory until the end.
        given = os.environ.get("ASAN_OPTIONS", "")
        self.environment["ASAN_OPTIONS"] = f"{given}:detect_leaks=0".lstrip(":")

    def missing(self):
        """Returns what is missing on this machine, or None."""
        if not shutil.which(self.launcher):
            return f"no {self.launcher}"
        if not (self.folder / f"cvl-{self.backend}.so").exists():
            return f"no module cvl-{self.backend}.so"
        return None

    def command(self, ranks, *command):
        return [self.launcher, *self.options, "-n", str(ranks), *map(str, command)]

    def run(self, ranks, *command, timeout=600, folder=None, text=""):
        return subprocess.run(self.command(ranks, *command), env=self.environment, text=True,
                              capture_output=True, timeout=timeout, check=False, cwd=folder, input=text)

    def nesl(self, ranks, expression, *options):
        return self.run(ranks, self.build / "bin/nesl", "run", "--backend", self.backend, *options,
                        "-e", expression)


class Tests:
    """Counts passed checks, and prints failed ones."""

    def __init__(self):
        self.passed = self.failed = 0

    def expect(self, good, what, shown=""):
        if good:
            self.passed += 1
            return
        self.failed += 1
        print(f"FAILED: {what}\n{shown[-3000:]}")


def conformance(tests, job, ranks, options, inner="", **extra):
    """All ranks run the suite, with the same outcome. inner: the back end that holds their blocks, if it is not the
    CPU's. extra: environment variables for this run."""
    environment = job.environment
    job.environment = {**environment, **extra}
    if inner:
        job.environment["RAVEL_BACKENDS"] = str(job.build / "lib/ravel-tests")
    done = job.run(ranks, job.build / "bin/conformance", "--backend", job.backend + inner, "--threads", "1",
                   *options, timeout=9000)  # 16 ranks of MPICH on two processors take half an hour and more
    job.environment = environment
    lines = re.findall(r"^conformance: .* 0 failures$", done.stdout, re.MULTILINE)
    tests.expect(done.returncode == 0 and len(lines) == ranks,
                 f"{job.name}, conformance, {ranks} ranks{inner} {extra}", done.stdout + done.stderr)


# Each of the ways below runs another small part of the suite.
SOME = ["--quick", "--brief", "--int", "64", "--shard"]


def other_ways(tests, job, whole):
    """Runs the suite with ranks that come late and messages in other orders, with allocations that fail on one rank
    alone, and with blocks on emulated GPUs."""
    shards = ["1/8"] * 5 if whole else ["7/100", "27/100", "47/100", "37/100", "37/100"]
    conformance(tests, job, 3, [*SOME, shards[0]], RAVEL_MPI_DELAYS="1")
    for rank in range(3):
        conformance(tests, job, 3, [*SOME, shards[1 + rank]], RAVEL_MPI_FAILS=str(rank))
    if (job.build / "lib/ravel-tests/cvl-cuda-emu.so").exists():
        conformance(tests, job, 3, [*SOME, shards[4]], ":cuda-emu", RAVEL_EMULATION="deferred=random,small=0")
    else:
        print("SKIPPED ranks on emulated GPUs: no cvl-cuda-emu.so")


def printed_once(tests, job):
    done = job.nesl(3, "sum({x * x : x in index(1000)})")
    tests.expect(done.returncode == 0 and done.stdout.count("332833500") == 1,
                 f"{job.name}, one result is printed", done.stdout + done.stderr)


def fault_once(tests, job):
    """A fault is reported at its position in the whole vector, whichever rank has it."""
    done = job.nesl(3, "let v = index(1000) in {v[i] : i in index(2000)}")
    message = "index 1000 is outside a sequence of length 1000"
    tests.expect(done.returncode != 0 and done.stderr.count(message) == 1,
                 f"{job.name}, one fault is reported", done.stdout + done.stderr)


DISTRIBUTED = """let r = {let a = [1 : i + 2]; s = {x * x : x in a | rem(x, 2) == rem(i, 2)}
                in (sum(s), s, sqrt(float(sum(a)))) : i in index(200)}
in (sum({a : (a, b, c) in r}), {b : (a, b, c) in r}, sum({c : (a, b, c) in r}))"""
# RANDs within nested batch calls, of data-dependent numbers of elements, and one RAND behind them all.
DRAWN = """function draw(n) = {rand(7) + rand(3) : x in index(n)} $
function walk(n) = let r = {sum(draw(m)) : m in index(n)}; s = {draw(rem(x, 5) + 1) : x in r} in (sum(r), flatten(s)) $
let r = {walk(rem(i, 9)) : i in index(200)} in (sum({a : (a, b) in r}), {b : (a, b) in r}, rand(1000000))"""


def distributed_call(tests, job, program, *options):
    """Each rank executes its instances of a batch call; the profile says so, and what this rank sent."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        source, code = Path(folder, "p.nesl"), Path(folder, "p.vcode")
        source.write_text(program + " $\n")
        subprocess.run([job.build / "bin/neslc", source, "-o", code], check=True)
        wanted = subprocess.run([job.build / "bin/vinterp", "--backend", "cpu", code], text=True, check=True,
                                stdout=subprocess.PIPE).stdout
        done = job.run(3, job.build / "bin/vinterp", "--backend", job.backend, "--profile", *options, code)
    apart = re.search(r"^EACH_[12]L +1 +3 +6\d +6\d .* ranks$", done.stderr, re.MULTILINE)
    tests.expect(done.returncode == 0 and done.stdout == wanted and apart and "sent to other ranks: " in done.stderr,
                 f"{job.name}, a call is distributed, and what was sent is counted: {program}",
                 done.stdout + done.stderr)


LARGE = "sum({sum({sqrt(float(j + i)) : j in index(1000)}) : i in index(20000)})"
NESTED = """let a = {{float(rem(i * 7 + j, 13)) : j in index(300)} : i in index(300)}; b = {{row[j] : row in a} : j in index(300)}
in sum({sum({sum({x * y : x in row; y in column}) : column in b}) : row in a})"""


def in_little_memory(tests, job):
    """Ranks, like one process, execute calls chunk by chunk, or without intermediate values."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        source, code = Path(folder, "p.nesl"), Path(folder, "p.vcode")
        source.write_text(LARGE + " $\n")
        subprocess.run([job.build / "bin/neslc", source, "-o", code], check=True)
        options = ["--memory", "40M", "--threads", "1", code]
        alone = subprocess.run([job.build / "bin/vinterp", *options], text=True, capture_output=True, check=False)
        done = job.run(2, job.build / "bin/vinterp", "--backend", job.backend, "--profile", *options)
    apart = re.search(r"^EACH_1L +1 +2 +10000 .* ranks$", done.stderr, re.MULTILINE)
    tests.expect(alone.returncode == 0 and done.stdout == alone.stdout and apart,
                 f"{job.name}, ranks in chunks", done.stdout + done.stderr)
    done = job.nesl(2, NESTED, "--memory", "60M")
    alone = subprocess.run([job.build / "bin/nesl", "run", "-e", NESTED], text=True, capture_output=True, check=False)
    tests.expect(alone.stdout and done.stdout == alone.stdout, f"{job.name}, nested sums", done.stdout + done.stderr)


IN_STEPS = """let v = {float(i) * 0.5 : i in index(5000)}; w = {rem(i * 7, 5000) : i in index(5000)}
in sum({x * v[j] + sqrt(x) : x in v; j in w})"""


def in_steps(tests, job):
    """Nodes between gathers and operations on long segments are fused, as RAVEL_MPI_EXPLAIN prints."""
    alone = subprocess.run([job.build / "bin/nesl", "run", "--backend", "cpu", "-e", IN_STEPS], text=True,
                           capture_output=True, check=True)
    job.environment["RAVEL_MPI_EXPLAIN"] = "1"
    done = job.nesl(3, IN_STEPS)
    del job.environment["RAVEL_MPI_EXPLAIN"]
    steps = re.search(r"^ravel: OP\d+ on ranks: whole 0, in steps 1, node by node 0: BPERMUTE$",
                      done.stderr, re.MULTILINE)
    tests.expect(alone.stdout == done.stdout and steps, f"{job.name}, a superoperator in steps",
                 done.stdout + done.stderr)


WINDOWS = """function ramp(n) = {float(rem(i * 7919, 1009)) * 0.5 : i in index(n)} $
function ahead(n) = windows(w => w[1] - w[0], 2, ramp(n)) $
function five(n) = windows(w => w[4] * 0.5 - w[0] + w[2], 5, ramp(n)) $
function two(n) = let a = ramp(n); b = ramp(n + 9) in {a[i] + b[i] * b[i + 9 - 9] : i in index(n)} $
function later(n) = let a = ramp(n); b = {x * 2.0 : x in ramp(n)}
  in {x + y + float(i) : x in drop(a, 3); y in drop(b, 3); i in index(n - 3)} $
function every(n) = (ahead(n), five(n), two(n), later(n)) $
function outside(n) = let a = ramp(n) in {a[i] - a[i + 1] : i in index(n)} $
"""


def windows(tests, job, ranks):
    """For a gather from neighbours a rank gets a few elements of the next one, and executes the superoperator whole. An
    index outside is the same fault as in one process."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "w.nesl").write_text(WINDOWS)
        wanted, write = outputs("wanted", 4)
        found, write_too = outputs("found", 4)
        for n in ("5", "20", "5001"):
            run_alone(job, folder, "w.nesl", "--entry", "every", n, *write)
            for r in ranks:
                done = run_ranks(job, folder, r, "w.nesl", "--entry", "every", n, *write_too)
                differ = compared(folder, wanted, found)
                tests.expect(done.returncode == 0 and not differ, f"{job.name}, windows of {n} on {r} ranks",
                             f"{differ}{done.stderr}")
        job.environment["RAVEL_MPI_EXPLAIN"] = "1"
        done = run_ranks(job, folder, 3, "w.nesl", "--entry", "ahead", "5001", "-o", "found0.npy")
        del job.environment["RAVEL_MPI_EXPLAIN"]
        tests.expect("whole 1" in done.stderr and "in steps 1" not in done.stderr, f"{job.name}, windows are whole",
                     done.stderr)
        for n in ("7", "5001"):
            alone = run_alone(job, folder, "w.nesl", "--entry", "outside", n)
            done = run_ranks(job, folder, 3, "w.nesl", "--entry", "outside", n)
            tests.expect(alone.stderr and done.stderr.count(alone.stderr) == 1, f"{job.name}, outside of {n}",
                         f"{alone.stderr}{done.stderr}")


SCANS = """function then_by((a, b), (c, d)) = (a * c, c * b + d) $
function later((a, b), (c, d)) = (rem(a * 3 + c, 1000003), max(b * 0.75, d)) $
function columns(v, w) = ({a : (a, b) in v}, {b : (a, b) in v}, {a : (a, b) in w}, {b : (a, b) in w}) $
function one(n) =
  let v = {(1.0 + float(rem(i, 7)) * 0.001 - 0.003, float(rem(i * 13, 101))) : i in index(n)};
      (s, all) = scan(then_by, (1.0, 0.0), v)
  in columns(scan_inclusive(then_by, (1.0, 0.0), v), s) $
function ragged(n, m) =
  let vs = {{(rem(i * j + 7, 91), float(rem(j * 31 + i, 17)) * 0.5) : j in index(rem(i * 7919 + 13, m))} : i in index(n)};
      r = {scan_inclusive(later, (0, 0.0), v) : v in vs}; s = {scan(later, (i, float(i)), v) : v in vs; i in index(n)}
  in columns(flatten(r), flatten({v : (v, all) in s})) $
"""


def scans(tests, job, ranks):
    """Scans by user-defined functions have the results of one process, in segments of many blocks of the tree."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "s.nesl").write_text(SCANS)
        wanted, write = outputs("wanted", 4)
        found, write_too = outputs("found", 4)
        for call in (["one", "50000"], ["ragged", "20", "9000"], ["ragged", "3", "20011"]):
            alone = run_alone(job, folder, "s.nesl", "--entry", *call, *write)
            for r, lies in [(r, lies) for r in ranks for lies in (SMALL, "grain=1024,whole=4096,samples=4096")]:
                job.environment["RAVEL_MPI"] = lies  # all totals are in blocks, or on all ranks
                done = run_ranks(job, folder, r, "s.nesl", "--entry", *call, *write_too)
                differ = compared(folder, wanted, found)
                tests.expect(alone.returncode == done.returncode == 0 and not differ,
                             f"{job.name}, scans {call} on {r} ranks, {lies}", f"{differ}{done.stderr}")
            job.environment["RAVEL_MPI"] = SMALL


def random_programs(tests, job, count, seed):
    """Random programs print the same, or fail with the same message, as in one process."""
    for number in range(count):
        with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
            path = Path(folder, "p.vcode")
            path.write_text(make(seed, number))
            options = [*(["--classic"] if number % 2 else []), *(["-O"] if number % 4 < 2 else []), path]
            alone = subprocess.run([job.build / "bin/vinterp", "--backend", "cpu", *options], capture_output=True,
                                   check=False)
            done = subprocess.run(job.command(2 + number % 4, job.build / "bin/vinterp", "--backend", job.backend,
                                              *options), capture_output=True, check=False, env=job.environment,
                                  timeout=600)
        errors = [line for line in alone.stderr.split(b"\n") if b": error: " in line][:1]
        same = alone.stdout == done.stdout and (alone.returncode == 0) == (done.returncode == 0)
        tests.expect(same and all(line in done.stderr for line in errors),
                     f"{job.name}, random program {number} of {seed} ({number % 4 + 2} ranks)",
                     f"{errors}\n{done.stderr.decode('latin-1')}")


def distributed_faults(tests, job):
    """The fault of one instance is reported as in one process, whichever rank has the instance."""
    each = ("sum({{index(i + 2)[x + (if i == {i} then 5 else 0)] : x in index(i + 2)}})",
            "let a = {{rand(9) : x in index(i + 2)}}; b = a[if i == {i} then 500 else 0] in b + sum({{rand(9) : x in a}})",
            "let a = {{rand(9) : x in index(i + 2)}}; b = {{rand(9) : x in a}} in b[if i == {i} then 500 else 0]")
    cases = [(i, what) for i in (7, 150, 298) for what in each]
    for i, what in cases if EVERY == 1 else cases[::4]:
        program = f"{{{what.format(i=i)} : i in index(300)}}"
        alone = subprocess.run([job.build / "bin/nesl", "run", "--backend", "cpu", "-e", program], text=True,
                               capture_output=True, check=False)
        done = job.nesl(3, program)
        tests.expect(alone.stderr and done.returncode != 0 and done.stderr.count(alone.stderr) == 1,
                     f"{job.name}, a fault of instance {i}: {program}", done.stdout + done.stderr)


INPUT_OUTPUT = """let (source, o1, m1) = open_in_file("/dev/stdin");
    ((a, d), o2, m2) = read_string(" ", 100, source);
    (out, o3, m3) = open_append_file("log.txt");
    (o4, m4) = write_string(a ++ " and so on\t", out);
    (o5, m5) = close_file(out);
    (none, o6, m6) = open_in_file("none.txt")
in (a, o3, o5, o6, m6, sum({i * #a : i in index(1000)}))"""


def input_output(tests, job):
    """Rank 0 reads and writes, once; all ranks know the outcome. Results go to one file."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        done = job.run(3, job.build / "bin/nesl", "run", "--allow-files", "--backend", job.backend, "-e",
                       INPUT_OUTPUT, folder=folder, text="three words here")
        log = Path(folder, "log.txt")
        written = log.read_text() if log.exists() else ""
        tests.expect('("three", T, T, F, "No such file or directory", 2497500)' in done.stdout and
                     written == "three and so on\t", f"{job.name}, input and output", f"{done.stdout}{written}{done.stderr}")
        Path(folder, "f.nesl").write_text("function squares(n) = {i * i : i in index(n)} $\n")
        done = job.run(3, job.build / "bin/nesl", "run", "--backend", job.backend, "f.nesl", "--entry", "squares",
                       "9", "-o", "out.csv", folder=folder)
        out = Path(folder, "out.csv")
        tests.expect(out.exists() and out.read_text().split() == [str(i * i) for i in range(9)] and
                     sorted(os.listdir(folder)) == ["f.nesl", "log.txt", "out.csv"],
                     f"{job.name}, a result in a file", f"{done.stdout}{done.stderr}{os.listdir(folder)}")


RESULTS = """function results(n) =
  ({i * i - 7 : i in index(n)}, {float(i) * 0.1 : i in index(n)}, {rem(i, 3) == 1 : i in index(n)},
   {{float(i * 3 + j) : j in index(3)} : i in index(n)}, {i : i in index(n) | rem(i, 5) > 0},
   {(i, float(i)) : i in index(n)}) $
function floats(n) = {float(i) : i in index(n)} $
function ragged(n) = {{i : j in index(if i == n - 1 then 4 else 3)} : i in index(n)} $
function stepped(n) = {{i : j in index(if i < 4 then 3 else 4)} : i in index(n)} $
function halves(x : [float], i : [int], b : [bool], m : [[float]]) =
  ({v * 0.5 : v in x}, {v + 1 : v in i}, {not(v) : v in b}, {sum(r) : r in m}) $
"""


def run_alone(job, folder, *options):
    """Runs a program in one process."""
    return subprocess.run([job.build / "bin/nesl", "run", "--backend", "cpu", *options], text=True,
                          capture_output=True, check=False, cwd=folder)


def run_ranks(job, folder, ranks, *options, prefix=()):
    return job.run(ranks, *prefix, job.build / "bin/nesl", "run", "--backend", job.backend, *options, folder=folder)


def outputs(name, count):
    """Returns names of files, and the options that name them."""
    names = [f"{name}{k}.npy" for k in range(count)]
    return names, [option for each in names for option in ("-o", each)]


def compared(folder, some, others):
    """Returns which files of two lists differ."""
    return [a for a, b in zip(some, others) if not Path(folder, b).exists() or
            Path(folder, a).read_bytes() != Path(folder, b).read_bytes()]


def results_in_files(tests, job, ranks):
    """Files that ranks write together, and read, are those of one process. Rank 0 alone writes the last one."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "f.nesl").write_text(RESULTS)
        wanted, write = outputs("wanted", 6)
        found, write_too = outputs("found", 6)
        for n in (0, 1, 2, 5, 3000) if EVERY == 1 else (1, 5, 3000):
            for widths in ([], ["--int", "32", "--float", "32"])[:1 + (n == 3000)]:
                call = [*widths, "f.nesl", "--entry", "results", str(n)]
                alone = run_alone(job, folder, *call, *write)
                for r in ranks:
                    done = run_ranks(job, folder, r, *call, *write_too)
                    differ = compared(folder, wanted, found)
                    tests.expect(alone.returncode == done.returncode == 0 and not differ,
                                 f"{job.name}, results {n} {widths} in files of {r} ranks", f"{differ}{done.stderr}")
        call = ["f.nesl", "--entry", "halves", *(wanted[k] for k in (1, 0, 2, 3))]
        read, write = outputs("read", 4)
        run_alone(job, folder, *call, *write)
        found, write = outputs("found", 4)
        done = run_ranks(job, folder, 3, *call, *write)
        tests.expect(not compared(folder, read, found), f"{job.name}, arguments in files", done.stderr)


# Executes a command; the rank in ONLY does something before.
ONE_RANK = """#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != "$ONLY" ] || %s
exec "$@"
"""


def failing_files(tests, job):
    """A failure to write ends all ranks with one message, that of one process if rank 0 fails, and leaves no file."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "f.nesl").write_text(RESULTS)
        os.symlink("/dev/full", Path(folder, "full.npy"))
        os.mkdir(Path(folder, "other"))
        shutil.copy(Path(folder, "f.nesl"), Path(folder, "other"))
        before = sorted(os.listdir(folder))
        for call in (["floats", "5000", "-o", "none/x.npy"], ["floats", "50000", "-o", "full.npy"],
                     ["ragged", "500", "-o", "x.npy"], ["stepped", "12", "-o", "x.npy"]):
            alone = run_alone(job, folder, "f.nesl", "--entry", *call)
            done = run_ranks(job, folder, 3, "f.nesl", "--entry", *call)
            tests.expect(alone.returncode == done.returncode == 1 and alone.stderr.strip() and
                         done.stderr.count(alone.stderr) == 1 and sorted(os.listdir(folder)) == before,
                         f"{job.name}, {call} fails", f"{alone.stderr}{done.stderr}{os.listdir(folder)}")
        script = Path(folder, "other", "one-rank")
        missing = "cannot open the file, which all ranks write (an .npz file is written by rank 0): No such file"
        for rank, does, message in ((0, "ulimit -f 12288", "x.npy: error: File too large"),
                                    (1, "ulimit -f 12288", "rank 1 cannot write its elements: File too large"),
                                    (2, "cd other", f"rank 2 {missing}")):
            script.write_text(ONE_RANK % does)
            script.chmod(0o755)
            job.environment["ONLY"] = str(rank)
            done = run_ranks(job, folder, 3, "f.nesl", "--entry", "floats", str(1 << 21), "-o", "x.npy", prefix=[script])
            del job.environment["ONLY"]
            tests.expect(done.returncode == 1 and done.stderr.count("error:") == done.stderr.count(message) == 1 and
                         sorted(os.listdir(folder)) == before, f"{job.name}, {does} on rank {rank}",
                         f"{done.stderr}{os.listdir(folder)}")


def interrupted_file(tests, job):
    """A job that is asked to end while it writes leaves the whole file, or none."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "f.nesl").write_text(RESULTS)
        command = job.command(3, job.build / "bin/nesl", "run", "--backend", job.backend, "f.nesl", "--entry", "floats",
                              1 << 23, "-o", "x.npy")
        started = subprocess.Popen(command, env=job.environment, text=True, stdin=subprocess.DEVNULL, cwd=folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        while started.poll() is None and len(os.listdir(folder)) == 1:
            time.sleep(0.001)
        started.send_signal(signal.SIGINT)
        begun = time.time()
        text, _ = started.communicate(timeout=60)
        left = sorted(os.listdir(folder))
        whole = left == ["f.nesl", "x.npy"] and Path(folder, "x.npy").stat().st_size == 128 + (8 << 23)
        tests.expect(time.time() - begun < SOON and (whole or (left == ["f.nesl"] and started.returncode != 0)),
                     f"{job.name}, interrupted while a file is written", f"{text}{left}")


def programs(tests, job, names):
    """Examples print what one process prints."""
    for name in names:
        source = ROOT / "examples" / f"{name}.nesl"
        with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
            options = ["run", "--allow-files", "--backend"]
            alone = subprocess.run([job.build / "bin/nesl", *options, "cpu", source], text=True, cwd=folder,
                                   capture_output=True, check=False)
            done = job.run(3, job.build / "bin/nesl", *options, job.backend, source, folder=folder)
        tests.expect(alone.returncode == done.returncode == 0 and alone.stdout == done.stdout,
                     f"{job.name}, {name}.nesl", done.stderr)


def forms(tests, job, files):
    """Each form of a file has the outcome that it has in one process."""
    for file in files:
        command = [job.build / "bin/nesl-tests", "--outcomes", file, "--allow-files", "--backend"]
        with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
            alone = subprocess.run([*command, "cpu"], text=True, cwd=folder, capture_output=True, check=False,
                                   stdin=subprocess.DEVNULL)
        with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
            done = job.run(3, *command, job.backend, folder=folder)
        differ = [f"{a}\n{b}" for a, b in zip(alone.stdout.split("\n"), done.stdout.split("\n")) if a != b]
        tests.expect(alone.stdout and alone.stdout == done.stdout, f"{job.name}, {file.name}",
                     "\n".join(differ) + done.stderr)


def wrong_launcher(tests, jobs):
    """Processes that another MPI has started fail, and do not compute the same each."""
    for job in jobs:
        for other in jobs:
            if other is job:
                continue
            command = [other.launcher, *other.options, "-n", "2", str(job.build / "bin/nesl"), "run",
                       "--backend", job.backend, "-e", "1"]
            done = subprocess.run(command, env=job.environment, text=True, capture_output=True,
                                  timeout=60, check=False)
            tests.expect(done.returncode != 0 and "do not find each other" in done.stderr,
                         f"{job.name}'s module started by {other.name}", done.stdout + done.stderr)


def children(pid):
    """Returns the children of a process, and theirs."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            child = int(status.parent.name)
            found += [child, *children(child)]
    return found


def rank_dies(tests, job):
    """If a rank is killed, the others end soon, and a message says what happened."""
    program = "let (i, s) = loop (i, s) = (0, 0) while i < 100000000 do (i + 1, s + sum(index(5000))) in s"
    seconds, text = one_rank_signalled(job, signal.SIGKILL, program)
    named = re.search(r"rank 2|EXIT CODE: 9|[Kk]illed", text)
    tests.expect(seconds and seconds < SOON and named, f"{job.name}, a rank that dies ends the job", text)


FORMS_TYPED = """1 + 1;
function twice(x) = 2 * x;
sum({twice(i) : i in index(10000)});
loop i = 0 while i >= 0 do rem(i + 1, 1000);
max_val({twice(i) :
         i in index(7000)});
"""
ADDS = """FUNC MAIN
CONST INT 30
CONST INT 12
+ INT
RET
"""


def standard_input(tests, job):
    """Only rank 0 has standard input, and all ranks execute its forms, of which one takes too long, and programs."""
    nesl, vinterp = job.build / "bin/nesl", job.build / "bin/vinterp"
    backend = ["--backend", job.backend]
    done = job.run(3, nesl, *backend, "--time", "3", text=FORMS_TYPED, timeout=60)
    tests.expect(re.findall("it = (.*) :", done.stdout) == ["2", "99990000", "13998"] and
                 done.stderr.count("error: the time limit of 3 seconds is over") == 1,
                 f"{job.name}, forms on standard input", done.stdout + done.stderr)
    done = job.run(3, nesl, "run", *backend, "-", text="sum(index(20000));", timeout=60)
    tests.expect(done.returncode == 0 and done.stdout.count("199990000") == 1,
                 f"{job.name}, a program on standard input", done.stdout + done.stderr)
    done = job.run(3, nesl, "run", *backend, "-", text="1 +;", timeout=60)
    tests.expect(done.returncode != 0 and done.stderr.count("error:") == 1,
                 f"{job.name}, an error on standard input", done.stdout + done.stderr)
    done = job.run(2, vinterp, *backend, "-", text=ADDS, timeout=60)
    tests.expect(done.stdout == "( 42 )\n", f"{job.name}, VCODE on standard input", done.stdout + done.stderr)


TURNS = """function mixed(n) =
  let v = {rem(i * 31, 30011) : i in [0:30011]};
      (w, k) = loop (w, k) = (v, 0) while k < n do ((if rem(k, 3) == 0 then {w[x] : x in w} else {w[x] : x in v}), k + 1)
  in sum(w) $
function distributed(n) =
  sum({let v = [0:i + 100]; (s, k) = loop (s, k) = (0, 0) while k < n do (s + sum({x * k : x in v}), k + 1) in s
       : i in index(500)}) $
"""


def in_time(tests, job):
    """A limit that one rank notices first ends all ranks, with one message, wherever each of them is."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        Path(folder, "f.nesl").write_text(TURNS)
        for k in range(6 if EVERY == 1 else 2):
            entry = ("mixed", "distributed")[k % 2]
            try:
                done = job.run(2, job.build / "bin/nesl", "run", "--backend", job.backend, "--time", f"0.{k + 3}",
                               "f.nesl", "--entry", entry, "1000000000", folder=folder, timeout=SOON)
                text, good = done.stderr, done.returncode != 0
            except subprocess.TimeoutExpired:
                text, good = "hangs", False
            tests.expect(good and text.count(f"error: the time limit of 0.{k + 3} seconds is over") == 1,
                         f"{job.name}, {entry} ends in time", text)


def ranks_at_work(job, count):
    """Returns the processes of a job, when so many have computed for a while and are beyond their beginning."""
    working, end = [], time.time() + 60
    while job.poll() is None and time.time() < end:
        working = []
        for child in children(job.pid):
            with contextlib.suppress(OSError):
                fields = Path(f"/proc/{child}/stat").read_text().split(" (", 1)[1].rsplit(") ", 1)
                used = sum(map(int, fields[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
                working += [child] if fields[0] == "nesl" and used > 0.25 else []
        if len(working) == count:
            break
        time.sleep(0.05)
    return sorted(working)


def one_rank_signalled(job, number, program, *options):
    """Sends one rank of a job a signal, when all are at work. Returns the seconds until the job ends, None if it ended
    before, and its output."""
    command = job.command(3, job.build / "bin/nesl", "run", "--backend", job.backend, *options, "-e", program)
    started = subprocess.Popen(command, env=job.environment, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ranks = ranks_at_work(started, 3)
    if len(ranks) == 3:
        os.kill(ranks[-1], number)
    begun = time.time()
    try:
        text, _ = started.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        started.kill()
        text, _ = started.communicate()
    return time.time() - begun if len(ranks) == 3 else None, text


def one_rank_ends(tests, job):
    """An interrupt of one rank ends all. If a rank does not go on at all, the limit of time ends the job."""
    program = "loop (i, s) = (0, 0) while i >= 0 do (i + 1, s + sum({rem(x, 7) : x in index(6000)}))"
    seconds, text = one_rank_signalled(job, signal.SIGINT, program)
    tests.expect(seconds and seconds < SOON and text.count("error: interrupted") == 1,
                 f"{job.name}, one rank is interrupted", text)
    for limit in (5, 15, 45):  # on a busy machine the ranks may still begin when the limit is over
        seconds, text = one_rank_signalled(job, signal.SIGSTOP, program, "--time", str(limit))
        if seconds:
            break
    tests.expect(seconds and seconds < limit + SOON and text.count(f"the time limit of {limit} seconds is over") == 1,
                 f"{job.name}, one rank does not go on", text)


LOOKED_UP = """function main(n) =
  let v = {i * i : i in index(300)}; w = {rem(i * 7, 300) : i in index(3000)};
      (k, s) = loop (k, s) = (0, 0) while k < n do (k + 1, s + sum({v[rem(j + k, 300)] : j in w}))
  in s $
"""


def kept_copies(tests, job):
    """All ranks get a vector that they gather from again and again only twice: a rank has 100 elements of v for each of
    two others."""
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        source = Path(folder, "p.nesl")
        source.write_text(LOOKED_UP)
        arguments = [source, "--entry", "main", "30"]
        alone = subprocess.run([job.build / "bin/nesl", "run", "--backend", "cpu", *arguments], text=True,
                               capture_output=True, check=True)
        job.environment["RAVEL_MPI_EXPLAIN"] = "1"
        done = job.run(3, job.build / "bin/nesl", "run", "--backend", job.backend, *arguments)
        del job.environment["RAVEL_MPI_EXPLAIN"]
    sent = re.search(r"most sent by a rank: .* bytes (\d+),", done.stderr)
    tests.expect(done.stdout == alone.stdout and sent and int(sent[1]) < 30 * 1600 // 2,
                 f"{job.name}, copies of what is looked up are kept", done.stdout + done.stderr)


GROWING = """function grow(n, v) = if n == 0 then v else let r = grow(n - 1, {x + n : x in v}) in {a + b : a in v; b in r};
sum(grow(3000, index(3000)));
"""


def without_memory(tests, job):
    """Short vectors are on all ranks, without exchanges. If no rank has memory for them, it is as in one process. If
    one rank alone has none, the job ends with a message that names it."""
    whole = {name: value for name, value in job.environment.items() if name != "RAVEL_MPI"}
    with tempfile.TemporaryDirectory(prefix="ravel-ranks-") as folder:
        source = Path(folder, "grow.nesl")
        source.write_text(GROWING)
        nesl = [job.build / "bin/nesl", "run", "--backend", job.backend, "--memory"]
        commands = [job.command(3, *nesl, "8M", source),
                    [*job.command(1, *nesl, "1G", source), ":", "-n", "1", *map(str, nesl), "8M", str(source)]]
        found = []
        for command in commands:
            done = subprocess.run(command, env=whole, text=True, capture_output=True, timeout=60, check=False)
            found.append((done.stderr, done.returncode != 0))
    tests.expect(found[0][1] and found[0][0].count("error: out of memory") == 1,
                 f"{job.name}, no rank has memory for what all compute", found[0][0])
    tests.expect(found[1][1] and "rank 1 cannot go on with the others: it has no memory left" in found[1][0],
                 f"{job.name}, one rank has no memory for what all compute", found[1][0])


def launching(tests, job):
    """Tests what depends on the launcher and on how ranks end."""
    printed_once(tests, job)
    fault_once(tests, job)
    input_output(tests, job)
    interrupted_file(tests, job)
    rank_dies(tests, job)
    standard_input(tests, job)
    in_time(tests, job)
    one_rank_ends(tests, job)


def computing(tests, job, arguments):
    """Tests what ranks compute, and what they write."""
    other_ways(tests, job, arguments.forms)
    distributed_call(tests, job, DISTRIBUTED)
    distributed_call(tests, job, DRAWN)
    distributed_call(tests, job, DRAWN, "--chunks", "7")  # calls that draw random numbers are not cut into chunks
    distributed_faults(tests, job)
    in_steps(tests, job)
    in_little_memory(tests, job)
    random_programs(tests, job, arguments.random, arguments.seed)
    results_in_files(tests, job, arguments.ranks)
    scans(tests, job, arguments.ranks)
    windows(tests, job, arguments.ranks)
    failing_files(tests, job)
    programs(tests, job, arguments.programs or sorted(p.stem for p in (ROOT / "examples").glob("*.nesl")))
    forms(tests, job, FORMS if not arguments.forms else
          [*sorted((ROOT / "nesl-tests/nesl").glob("*.nesl")), *sorted(CORPUS.glob("*/*.nesl"))])
    without_memory(tests, job)
    kept_copies(tests, job)


def smoke(tests, job):
    conformance(tests, job, 3, [*SOME, "7/300"])
    printed_once(tests, job)
    fault_once(tests, job)
    distributed_call(tests, job, DISTRIBUTED)
    in_steps(tests, job)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--build", default=ROOT / "build")
    parser.add_argument("--conformance", default="--quick --brief --int 64",
                        help="options of the suite; default: %(default)s")
    parser.add_argument("--forms", action="store_true",
                        help="all files of nesl-tests/nesl and of the corpus, if it is there; default: a few")
    parser.add_argument("--programs", nargs="*", default=["quicksort", "sparse-matrix"],
                        help="examples; without names all; default: %(default)s")
    parser.add_argument("--random", type=int, default=6, metavar="N", help="random programs; default: %(default)s")
    parser.add_argument("--seed", default="ranks", help="of these")
    parser.add_argument("--smoke", action="store_true", help="a few jobs of three ranks, of one MPI: seconds")
    arguments = parser.parse_args()
    tests, jobs = Tests(), []
    for name in MPIS:
        job = Job(name, arguments.build)
        if job.missing():
            print(f"SKIPPED {name}: {job.missing()}")
            continue
        jobs.append(job)
        if arguments.smoke:
            smoke(tests, job)
            break
        # Other MPIs differ in how messages are sent, and in what their launchers do.
        first = job is jobs[0] or arguments.forms
        for ranks in arguments.ranks if first else [2]:
            conformance(tests, job, ranks, shlex.split(arguments.conformance))
        launching(tests, job)
        if first:
            computing(tests, job, arguments)
    wrong_launcher(tests, jobs)
    print(f"{tests.passed} passed, {tests.failed} failed")
    return 1 if tests.failed else 0


if __name__ == "__main__":
    sys.exit(main())
