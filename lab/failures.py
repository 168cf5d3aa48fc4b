"""Makes each call of the CUDA runtime and each allocation of small programs fail once, in the
interpreter of PTX (RAVEL_PTX=fail=N, cvl-cuda/ptx/options.hpp).

    lab/check failures                 a sample of the calls of each program
    lab/check failures --every         all of them
    ... --only PROGRAM ...                 these programs
    ... --jobs N                           processes at the same time

A program must then end with its result, or with exit status 1 and a message that says what failed;
never by a signal, with another result, without an end, or with memory, streams or events that
nobody gave back.
"""

import concurrent.futures
import os
import re
import subprocess
import tempfile
from pathlib import Path

from interpreted import BUILD, missing, parser_of

BIN = BUILD / "bin"
SAMPLE = 4  # failures of a program, of calls and of allocations
SECONDS = 100  # that a run may take
NO_CALL = 4_000_000_000  # more than any program makes
NUMBERS = ", ".join(str(k * k % 97) for k in range(6000))
# In NESL; each is optimised, so that what it has of superoperators is compiled by NVRTC.
PROGRAMS = {
    "scans and packs": "{(sum(r), plus_scan(r), {y in r | y > 2}) : r in [[3, 1, 4], [] int, [1, 5, 9, 2, 6]]};",
    "a sort": "let x = {rem(i * 7919, 1009) : i in [0:300]} in sum({i * y : y in sort(x); i in [0:300]});",
    "a superoperator": "function g(x) = sqrt(float(x)) * 2.0 + 1.0;\n"
                       "(sum({g(i) : i in [0:40]}), {g(i) : i in [0:5]});",
    "a scatter": "dist(0, 5) <- [(1, 5), (3, 7), (1, 6)];",
    "a reduction by a function": "function g(a, b) = max(a, b) * 2 - min(a, b);\n"
                                 "reduce(g, 0, {i * i : i in [0:1200]});",
    "a copy to the device": f"sum([{NUMBERS}]);",
    "a copy to the host": "{rem(i * i, 97) : i in [0:6000]};",
    "an error of the program": "[10, 20, 30][sum({i : i in [0:5]})];",
}
LIMITS = "only (\\d+) calls and (\\d+) allocations were made"
# What a message says of a call that fails, which CUB may have made; and of an allocation.
MESSAGES = (("was to fail", "the device failed: work of "), ("memory",))


class Program:
    """One that is compiled, with what it prints where nothing fails."""

    def __init__(self, name, folder):
        self.name = name
        self.path = folder / (name.replace(" ", "-") + ".vcode")
        self.folder = folder
        subprocess.run([BIN / "neslc", "-o", self.path, "-"], input=PROGRAMS[name], text=True, check=True)
        self.on_cpu = self.run("cpu", "")
        self.whole = self.run("cuda-ptx", f"fail={NO_CALL}")
        counts = re.search(LIMITS, self.whole.stderr)
        self.calls, self.allocations = (int(n) for n in counts.groups()) if counts else (0, 0)

    def run(self, backend, said):
        words = ",".join(word for word in ("late", "leaks", said) if word)
        environment = {**os.environ, "RAVEL_CUDA_SMALL": "0", "RAVEL_PTX": words,
                       "XDG_CACHE_HOME": str(self.folder)}
        command = [BIN / "vinterp", "-O", "--native=wait", "--backend", backend, self.path]
        try:
            return subprocess.run(command, env=environment, capture_output=True, text=True,
                                  timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, None, "", f"no end within {SECONDS} s")

    def is_right(self, done):
        return (done.returncode, done.stdout) == (self.on_cpu.returncode, self.on_cpu.stdout)

    def wrong(self):
        """What is wrong where nothing fails; or None."""
        if not self.is_right(self.whole):
            return "its result is another one than on the CPU"
        if not self.calls or not self.allocations:
            return "it makes no calls of the runtime"
        return left_behind(self.whole.stderr)

    def failures(self, every):
        for what, count in (("", self.calls), ("memory@", self.allocations)):
            step = 1 if every else max(1, count // SAMPLE)
            for number in range(1, count + 1, step):
                yield f"fail={what}{number}"

    def check(self, said):
        """Runs it with a failure: what is wrong, or None, and whether it ended with its result."""
        done = self.run("cuda-ptx", said)
        left = left_behind(done.stderr)
        if left:
            return left, False
        if self.is_right(done) and "cuda-ptx: " not in done.stderr:
            return None, True  # and perhaps a note, as of kernels that cannot be loaded
        return self.complaint(done, MESSAGES["memory" in said]), False

    def complaint(self, done, messages):
        """Of a run that did not end with its result."""
        if done.returncode is None:
            return done.stderr
        if done.returncode != 1:
            return f"exit status {done.returncode}, not 1: {done.stderr.strip()[-300:]}"
        if "error: " not in done.stderr or not any(m in done.stderr for m in messages):
            return f"its message does not say what failed: {done.stderr.strip()[-300:]}"
        if not self.on_cpu.stdout.startswith(done.stdout):
            return f"it printed what it does not print elsewhere: {done.stdout[-300:]}"
        return None


def left_behind(stderr):
    found = re.search(".*not given back", stderr)
    return found.group() if found else None


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS), metavar="PROGRAM")
    options = parser.parse_args()
    if missing("calls of the CUDA runtime that fail"):
        return 0
    ended = failed = runs = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for program in pool.map(lambda name: Program(name, Path(folder)), options.only):
            wrong = program.wrong()
            said = [] if wrong else list(program.failures(options.every))
            results = [(wrong, False)] if wrong else list(pool.map(program.check, said))
            for how, (what, right) in zip(said or [""], results):
                failed += what is not None
                ended += right
                if what:
                    print(f"FAIL {program.name}, {how}: {what}")
            runs += len(results)
    print(f"{runs} runs in which a call or an allocation fails: {ended} ended with the result,"
          f" {runs - ended - failed} with a message")
    print(f"{runs - failed} passed, {failed} failed")
    return 1 if failed else 0

