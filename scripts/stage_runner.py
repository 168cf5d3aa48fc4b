"""Runs stages of commands, two at a time, each with a log, and prints their outcomes.

A stage is a command line and the build that it needs. Builds take all processors, one after the other; then two stages at a time run on half of
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
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
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
    """A command and what it needs. In it {jobs} and the values of the run, as {seed}, are filled in. A
    number in braces is divided by the run's {parts}."""

    name: str
    command: str
    needs: str = "release"  # a build
    alone: bool = False  # takes all processors
    waits: bool = False  # for what it starts, most of its time
    rare: bool = False  # takes long and cannot be divided: one run of several has it


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
    parts = int(values.get("parts", "1"))
    return re.sub(r"{(\d+)}", lambda of: str(max(1, int(of[1]) // parts)), command)


def perform(stage, values):
    """Runs a stage and reports it; its outcome."""
    log, command = log_of(stage), command_of(stage, values)
    status, wall, cpu = run_command(command, log)
    text = log.read_text(errors="replace")
    outcome = judge(status, text, IN_CI)
    report(stage, command, outcome, (wall, cpu), text, log)
    return outcome


# ---- all stages ----


class Run:
    """The builds and stages of one run, and their sums."""

    def __init__(self, values):
        self.values = values
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
        outcome = perform(stage, self.values)
        self.count(stage, outcome)
        return outcome

    def stages(self, stages):
        if len(stages) == 1:
            stages[0].alone = True
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool, \
                concurrent.futures.ThreadPoolExecutor(1) as beside:
            waiting = beside.map(self.do, [s for s in stages if s.waits and not s.alone])
            list(pool.map(self.do, [s for s in stages if not s.waits and not s.alone]))
            list(waiting)
        for stage in stages:
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


def run(builds, stages, values, lacking=lambda: ()):
    """Makes the builds that the stages need, then runs the stages; the exit status. values: what
    is filled into commands, by name; lacking() says after that what else is missing here."""
    LOGS.mkdir(parents=True, exist_ok=True)
    os.environ["RAVEL_BUILT"] = "1"  # to scripts that would build what they use
    started = time.time()
    this = Run(values)
    absent = make_builds(this, builds, stages)
    this.stages([s for s in stages if s.needs not in absent])
    for what in lacking():
        this.lacks(what)
    for name in this.failed_stages:
        print(f"FAILED: {name}")
    print(f"{time.time() - started:.0f} s")
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**this.totals), flush=True)
    return 1 if this.totals["failed"] else 0
