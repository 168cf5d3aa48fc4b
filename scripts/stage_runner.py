"""Runs stages of commands, two at a time, each with a log, and prints their outcomes.

A stage is a command line, the targets that it needs and, for --all, the inputs on which its outcome
depends. Builds take all processors, one after the other; then two stages at a time run on half of
the processors each, so that no processor is idle at the end of a stage, which is rarely parallel. Stages that
mostly wait run beside them, one at a time.

A line of a log that begins with SKIPPED says what was not tested because something is missing. It
is shown and counted, and it is a failure, since scripts/setup has installed what the stages need, unless it
names what that cannot install: "SKIPPED (no nvcc)" and others (ELSEWHERE) are failures only if CI is set in
the environment, since CI must have all tools. "SKIPPED (no GPU)" is counted only, since no test machine has
one, and so is "SKIPPED (optional)": what scripts/setup does not install, and a stage of --all does.
"""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from source_files import source_files

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
PASSED = ROOT / "build" / "test-passed.json"
CORPUS = ROOT.parent / "shared" / "corpus"
EVERYTHING = (".",)
IN_CI = os.environ.get("CI") == "true"
AT_A_TIME = 2
COUNTED = ("SKIPPED (no GPU)", "SKIPPED (optional)")
# What scripts/setup cannot install: a compiler and a library of NVIDIA's, programs beside the checkout, and
# what a machine may forbid.
ELSEWHERE = tuple(f"SKIPPED (no {what})" for what in ("nvcc", "NVRTC", "corpus", "namespaces", "network", "root"))
CPUS = len(os.sched_getaffinity(0))
# Processors for one of the stages that run side by side: the value of "{jobs}" in a command.
JOBS = max(1, CPUS // AT_A_TIME)


@dataclasses.dataclass
class Stage:
    """A command and what it needs. In it {jobs} and the values of the run, as {seed}, are filled
    in."""

    name: str
    command: str
    needs: str = "release"  # a build
    # Folders and built programs that the outcome depends on, besides the command.
    reads: tuple = EVERYTHING
    alone: bool = False  # takes all processors
    waits: bool = False  # for what it starts, most of its time


@dataclasses.dataclass
class Outcome:
    """How a stage ended: ok, FAILED or SKIPPED, its counts and what it lacked."""

    word: str
    passed: int = 0
    failed: int = 0
    skipped: tuple = ()


# ---- one stage ----


def run_command(command, log):
    """(exit status, seconds of the clock, seconds of processors)"""
    started = time.time()
    with log.open("wb") as sink:
        process = subprocess.Popen(["sh", "-c", command], cwd=ROOT, stdout=sink,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.time() - started, usage.ru_utime + usage.ru_stime


def must_not_miss(line, in_ci):
    """Whether what a line that begins with SKIPPED names has to be there."""
    return not line.startswith(COUNTED if in_ci else COUNTED + ELSEWHERE)


def judge(status, text, in_ci):
    """The outcome of a stage from its exit status and what it printed."""
    skipped = tuple(re.findall(r"^\s*(SKIPPED.*)", text, re.MULTILINE))
    missing = [line for line in skipped if must_not_miss(line, in_ci)]
    counts = re.findall(r"^(\d+) passed, (\d+) failed", text, re.MULTILINE)
    passed, failed = (sum(int(c[k]) for c in counts) for k in (0, 1))
    if status != 0 or missing:
        return Outcome("FAILED", passed, max(failed, 1), skipped)
    if skipped and not passed:
        return Outcome("SKIPPED", 0, 0, skipped)
    return Outcome("ok", passed if counts else 1, failed, skipped)


def report(stage, command, outcome, seconds, text, log):
    wall, cpu = seconds
    lines = [f"{outcome.word:7} {stage.name} ({wall:.0f} s, {cpu:.0f} s of processors)"]
    lines += ["    " + line for line in outcome.skipped]
    if outcome.word == "FAILED":
        lines += ["    " + line for line in text.splitlines()[-60:]]
        lines += [f"    command: {command}", f"    log: {log.relative_to(ROOT)}"]
    print("\n".join(lines), flush=True)


def log_of(stage):
    return LOGS / (re.sub(r"[^a-z0-9]+", "-", stage.name.lower()).strip("-") + ".log")


def command_of(stage, values):
    command = stage.command
    for name, value in {"jobs": str(CPUS if stage.alone else JOBS), **values}.items():
        command = command.replace(f"{{{name}}}", value)
    return command


def perform(stage, values):
    """Runs a stage and reports it; (outcome, seconds of the clock)."""
    log, command = log_of(stage), command_of(stage, values)
    status, wall, cpu = run_command(command, log)
    text = log.read_text(errors="replace")
    outcome = judge(status, text, IN_CI)
    report(stage, command, outcome, (wall, cpu), text, log)
    return outcome, wall


# ---- what passed before ----


def file_digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "none"


def tree_digest(folder):
    """Of the sources in a folder."""
    return hashlib.sha256("".join(f"{name} {file_digest(ROOT / name)}\n" for name in
                                  source_files(folder, root=ROOT)).encode()).hexdigest()


def program_digest(path):
    """Of what a built program does: without names of lines, and without the build's own digest."""
    with tempfile.TemporaryDirectory() as scratch:
        bare = Path(scratch) / "bare"
        subprocess.run(["objcopy", "--strip-all", "--remove-section=.note.gnu.build-id", path, bare],
                       check=False, capture_output=True)
        return file_digest(bare)


def corpus_digest():
    return hashlib.sha256("".join(f"{p.relative_to(CORPUS)} {file_digest(p)}\n" for p in
                                  sorted(CORPUS.rglob("*"))).encode()).hexdigest()


class Record:
    """Which stages passed on which inputs, and how long they took."""

    def __init__(self, use):
        self.use, self.lock, self.digests = use, threading.Lock(), {}
        self.passed = json.loads(PASSED.read_text()) if PASSED.exists() else {}
        self.corpus = corpus_digest() if use else ""

    def digest(self, what):
        if what not in self.digests:
            path = ROOT / what
            self.digests[what] = (program_digest(path) if what.startswith("build")
                                  else tree_digest(what))
        return self.digests[what]

    def inputs(self, stage):
        parts = [stage.command, self.corpus, *(self.digest(what) for what in stage.reads)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def has(self, stage):
        return self.use and self.passed.get(stage.name, {}).get("inputs") == self.inputs(stage)

    def seconds(self, stage):
        return self.passed.get(stage.name, {}).get("seconds")

    def add(self, stage, seconds):
        if not self.use:
            return
        with self.lock:
            self.passed[stage.name] = {"inputs": self.inputs(stage), "seconds": round(seconds)}
            PASSED.write_text(json.dumps(self.passed, indent=1) + "\n")


# ---- all stages ----


class Run:
    """The builds and stages of one run, and their sums."""

    def __init__(self, values, record):
        self.values, self.record = values, record
        self.totals = {"passed": 0, "failed": 0, "skipped": 0}
        self.failed_stages = []

    def count(self, stage, outcome):
        self.totals["passed"] += outcome.passed
        self.totals["failed"] += outcome.failed
        self.totals["skipped"] += len(outcome.skipped)
        if outcome.word == "FAILED":
            self.failed_stages.append(stage.name)

    def lacks(self, what):
        """Something is missing, for which nothing was tested."""
        print(f"SKIPPED {what}", flush=True)
        self.totals["skipped"] += 1
        if must_not_miss(f"SKIPPED {what}", IN_CI):
            self.totals["failed"] += 1
            self.failed_stages.append(f"what must be there: {what}")

    def do(self, stage):
        outcome, seconds = perform(stage, self.values)
        self.count(stage, outcome)
        if outcome.word == "ok":
            self.record.add(stage, seconds)
        return outcome

    def announce(self, stages):
        """How long the stages took when they last passed."""
        known = [self.record.seconds(s) for s in stages]
        total = sum(k for k in known if k is not None)
        unknown = known.count(None)
        print(f"{len(stages)} stages to run; when they last passed they took {total // 60} minutes,"
              f" {AT_A_TIME} at a time" + (f" ({unknown} not known)" if unknown else ""), flush=True)

    def stages(self, stages):
        again = [s for s in stages if not self.record.has(s)]
        if self.record.use:
            print(f"{len(stages) - len(again)} of {len(stages)} stages passed before on the same"
                  " inputs (--afresh runs them again)")
            self.announce(again)
        if len(again) == 1:
            again[0].alone = True
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool, \
                concurrent.futures.ThreadPoolExecutor(1) as beside:
            waiting = beside.map(self.do, [s for s in again if s.waits and not s.alone])
            list(pool.map(self.do, [s for s in again if not s.waits and not s.alone]))
            list(waiting)
        for stage in again:
            if stage.alone:
                self.do(stage)


@dataclasses.dataclass
class Build:
    """A build: the command that makes it, and the programs that this needs."""

    command: str
    tools: tuple = ()

    def missing(self):
        return [tool for tool in self.tools if not shutil.which(tool)]


def make_builds(this, builds, stages):
    """Makes what the stages need; the names of builds that there are not."""
    absent = set()
    for name, build in builds.items():
        users = [s for s in stages if s.needs == name]
        if not users:
            continue
        if build.missing():
            this.lacks(f"{len(users)} stages: no {', '.join(build.missing())}")
            absent.add(name)
        elif this.do(Stage(f"build {name}", build.command, alone=True)).word == "FAILED":
            absent.add(name)
    return absent


def run(builds, stages, values, record, lacking=lambda: ()):
    """Makes the builds that the stages need, then runs the stages; the exit status. values: what
    is filled into commands, by name; lacking() says after that what else is missing here."""
    LOGS.mkdir(parents=True, exist_ok=True)
    os.environ["RAVEL_BUILT"] = "1"  # to scripts that would build what they use
    started = time.time()
    this = Run(values, record)
    absent = make_builds(this, builds, stages)
    this.stages([s for s in stages if s.needs not in absent])
    for what in lacking():
        this.lacks(what)
    for name in this.failed_stages:
        print(f"FAILED: {name}")
    print(f"{time.time() - started:.0f} s")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**this.totals), flush=True)
    return 1 if this.totals["failed"] else 0
