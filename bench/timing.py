"""Runs of commands that are watched.

Memory of a process is asked of a small process between: a child's begins as its parent's, which
here holds arrays.
"""

import os
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from collection import ROOT, relative
from systems import read_times

# Starts a command, and writes the peak of its resident memory in KiB to a file.
WATCH = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(child, 0)
with open(sys.argv[1], "w") as file: print(used.ru_maxrss, file=file)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


DISTURBED = 0.1         # of the time of a processor
CLOCK_TICKS = 0.03      # seconds: what Linux counts of processors is a few hundredths of a second off


def processors_worked():
    """Seconds that all processors have worked since the machine began, as Linux counts them, stolen ones
    included; None elsewhere."""
    try:
        with open("/proc/stat", encoding="ascii") as file:
            user, nice, system, _, _, interrupts, soft, stolen = map(int, file.readline().split()[1:9])
    except (OSError, ValueError):
        return None
    return (user + nice + system + interrupts + soft + stolen) / os.sysconf("SC_CLK_TCK")


def own_work():
    """Seconds that this process and its children have worked."""
    return sum(used.ru_utime + used.ru_stime for used in
               map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


@dataclass
class Run:
    command: str            # as a person types it
    status: int
    stdout: str
    stderr: str
    wall: float
    peak: int               # bytes of the process
    times: dict
    others: float = 0.0     # seconds that processors worked for others meanwhile

    def disturbed(self, threads):
        """Whether so many threads had to share processors with others."""
        idle = max(0, os.cpu_count() - threads) * self.wall
        return self.others > idle + DISTURBED * self.wall + CLOCK_TICKS

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
        started, worked, own = time.monotonic(), processors_worked(), own_work()
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
        others = 0.0 if worked is None else processors_worked() - worked - (own_work() - own)
        peak = int(memory.read() or 0) * 1024
    return Run(shlex.join(words), status, out, err, wall, peak, {}, others)


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
