"""Runs of commands: one that is watched, and rounds of several systems in turn.

Memory of a process is asked of a small process between: a child's begins as its parent's, which
here holds arrays.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from collection import ROOT, relative
from noise import median
from systems import read_times

# Starts a command, and writes its most resident kibibytes where it is told.
WATCH = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file: print(used.ru_maxrss, file=file)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""

RUN_SECONDS = 0.3      # that a process of a round repeats its work
MOST_REPEATS = 2000
FAR = 4                # times what the median takes
COMPARED = ("ravel", "ravel-native", "openmp", "c++", "streams")


@dataclass
class Run:
    command: str            # as a person types it
    status: int
    stdout: str
    stderr: str
    wall: float
    peak: int               # bytes of the process
    times: dict

    def complaint(self):
        if self.status == 0:
            return None
        if self.status == -1:
            return "it took too long"
        lines = (self.stderr + self.stdout).strip().split("\n")
        return f"exit status {self.status}: " + "\n    ".join(lines[:4])[:600]

    def gave_up(self):
        """It did nothing wrong, it only wanted more time or memory than there is."""
        text = (self.stderr + self.stdout).lower()
        return self.status == -1 or (self.status != 0 and "memory" in text)


def execute(words, environment=None, limit=60.0):
    """Runs a command in the root of the tree: exit status (-1: too long), output, memory."""
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-") as memory:
        program = words[0] if os.path.isabs(words[0]) else str(ROOT / words[0])
        started = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", WATCH, memory.name, program, *words[1:]],
            cwd=ROOT, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True)
        try:
            out, err = child.communicate(timeout=limit)
            status = child.returncode
        except BaseException as error:  # whatever ends this must not leave it running
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            status = -1
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        wall = time.monotonic() - started
        peak = int(memory.read() or 0) * 1024
    return Run(shlex.join(words), status, out, err, wall, peak, {})


def run_system(system, data, widths, outputs, threads=1, repeat=0, limit=60.0):
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-", suffix=".json") as times:
        words = system.command(data, widths, outputs, threads, repeat, times.name)
        run = execute(words, system.environment(threads), limit)
        if run.status == 0 and repeat:
            run.times = read_times(system, run.stdout, times.name)
    return run


def result_files(folder, count):
    """Where `count` results go."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return [relative(Path(folder) / f"r{k}.npy") for k in range(count)]


def repeats_for(seconds, wanted=RUN_SECONDS):
    """How often to repeat what takes so long, so that a process works for about `wanted`."""
    return max(1, min(MOST_REPEATS, round(wanted / max(seconds, 1e-9))))


class Contender:
    """A system on so many threads, and what its rounds gave."""

    def __init__(self, system, threads):
        self.system, self.threads = system, threads
        self.repeat = 1
        self.seconds = self.cost = 0.0  # of a run, and of the rest of its process
        self.rounds = []       # seconds of the repeats, a list a round
        self.peak, self.facts, self.command = 0, {}, ""
        self.result_bytes = 0
        self.problem, self.wrong = None, False   # why it is not timed, and whether that is bad

    def takes(self, each):
        """Seconds of a round in which it is to work for `each`."""
        return self.cost + max(each, self.seconds)

    def round(self, data, widths, limit):
        run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status == -1 and self.repeat > 1:  # it was faster once: a busy machine
            self.repeat = max(1, self.repeat // 20)
            run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status != 0:
            self.problem = run.complaint()
            return
        self.rounds.append(run.times["seconds"])
        self.peak = max(self.peak, run.peak)
        self.facts = {k: v for k, v in run.times.items() if k != "seconds"}


def alternate(contenders, data, widths, rounds, budget, limit=120.0):
    """Rounds in which every contender has its turn, each time beginning with another one, within
    a budget of seconds: first processes repeat less, then there are fewer rounds. Who takes far
    longer than most has one round, so that the others have more, but for what targets are about."""
    if not contenders:
        return
    far = FAR * median([c.takes(RUN_SECONDS) for c in contenders])
    near = [c for c in contenders
            if c.takes(RUN_SECONDS) <= far or c.system.name in COMPARED]
    for attempt in (1.0, 0.5, 0.25):
        each = RUN_SECONDS * attempt
        first, later = (sum(c.takes(each) for c in group) for group in (contenders, near))
        if first + later * (rounds - 1) <= budget:
            break
    rounds = max(1, min(rounds, 1 + int((budget - first) / later)))
    for c in contenders:
        c.repeat = repeats_for(c.seconds, each)
    for k in range(rounds):
        for c in contenders[k % len(contenders):] + contenders[:k % len(contenders)]:
            if not c.problem and (k == 0 or c in near):
                c.round(data, widths, limit)
