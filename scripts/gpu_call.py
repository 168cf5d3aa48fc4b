"""One call on a machine that is borrowed for minutes: parts with shares of its time, steps that are cut off
when their time is over, and a file of results that is written after each step."""

import concurrent.futures
import json
import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

ROOT = Path(__file__).resolve().parent.parent
AT_ONCE = 4  # processes that share the device where time is not measured
TEXT = 4000  # characters of a step's output that are kept in the file of results


@dataclass
class Part:
    """Part of the call: run(call, seconds) makes its steps."""

    name: str
    seconds: float   # of a call of nine minutes
    decides: str     # what its results are for
    run: Callable


def telling(text):
    """The lines that say what is wrong, if there are such; else the last ones."""
    lines = text.splitlines()
    return [line for line in lines if re.search(r"FAIL|error|ERROR", line)][:6] or lines[-10:]


def stop(process):
    """Ends a process and its children; what it printed."""
    for what in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, what)
            return process.communicate(timeout=2)[0]
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            break
    return b""


def whole(parts):
    """What was not done to its end: names of steps."""
    return [s["name"] for part in parts.values() for s in part["steps"]
            if s["outcome"] != "passed" or re.search(r"^\d+ runs left out", s["text"], re.M)]


def summed(part, steps, seconds):
    """The result of a part: the worst of its steps, and their counts."""
    outcomes = [s["outcome"] for s in steps]
    outcome = next((o for o in ("FAILED", "cut", "passed") if o in outcomes), "SKIPPED")
    notes = []
    for s in steps:
        for pattern in (r"^\d+ passed, \d+ failed$", r"^conformance: .*?(\d+ cases, \d+ failures)",
                        r"^\d+ runs left out.*$"):
            notes += [m.group(m.lastindex or 0) for m in re.finditer(pattern, s["text"], re.M)]
    counts = {word: sum(int(n) for note in notes for n in re.findall(rf"(\d+) {word}", note))
              for word in ("passed", "failed", "cases", "failures", "runs left out")}
    note = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
    if not note and outcome == "SKIPPED":
        note = steps[0]["text"] if steps else "no time"
    return {"outcome": outcome, "seconds": round(seconds, 1), "note": note, "decides": part.decides,
            "steps": [{**s, "text": s["text"][-TEXT:]} for s in steps]}


class Call:
    """Where results go, how much time is left, what was found."""

    def __init__(self, out, end, about):
        self.out, self.end, self.about = out, end, about
        self.environment = {}  # of every command
        out.mkdir(parents=True, exist_ok=True)
        self.log = (out / "gpu-check.log").open("w", encoding="utf-8")
        self.parts = {}
        self.part, self.steps, self.started = None, [], 0.0
        self.lock = threading.Lock()

    # ---- steps ----

    def run(self, name, command, seconds, environment=None):
        """One command: a step. Cut off after so many seconds, with its children."""
        command = [str(word) for word in command]
        started = time.time()
        try:
            process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       start_new_session=True,
                                       env={**os.environ, **self.environment, **(environment or {})})
        except OSError as why:
            return self.step(name, command, "FAILED", started, str(why))
        try:
            text = process.communicate(timeout=max(1, seconds))[0]
            outcome = "passed" if process.returncode == 0 else "FAILED"
        except subprocess.TimeoutExpired:
            text, outcome = stop(process), "cut"
        return self.step(name, command, outcome, started, text.decode("utf-8", "replace"))

    def step(self, name, command, outcome, started, text):
        """Keeps what a step has given; written at once, for who ends the call."""
        shown = " ".join(command)
        result = {"name": name, "outcome": outcome, "seconds": round(time.time() - started, 1),
                  "command": shown, "text": text}
        with self.lock:
            self.log.write(f"==== {name}: {outcome}\n$ {shown}\n{text}\n")
            self.log.flush()
            self.steps.append(result)
            self.write()
        print(f"  {outcome:7} {name} ({result['seconds']:.0f} s)", flush=True)
        if outcome == "FAILED":
            print("\n".join("      " + line[:200] for line in telling(text)), flush=True)
        return result

    def skipped(self, name, why):
        print(f"  SKIPPED {name}: {why}", flush=True)
        result = {"name": name, "outcome": "SKIPPED", "seconds": 0.0, "command": "", "text": why}
        with self.lock:
            self.steps.append(result)
        return result

    def run_all(self, steps, seconds):
        """Several commands, some at once: (name, command, environment) each."""
        end = time.time() + seconds
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(
                lambda s: self.run(s[0], s[1], end - time.time(), s[2])
                if end - time.time() > 1 else self.skipped(s[0], "no time"), steps))

    # ---- parts ----

    def write(self):
        """All that there is; who calls it has the lock."""
        if self.part:
            self.parts[self.part.name] = summed(self.part, self.steps, time.time() - self.started)
        unfinished = self.out / "gpu-check.json.part"
        unfinished.write_text(json.dumps({**self.about, "parts": self.parts}, indent=1) + "\n")
        unfinished.replace(self.out / "gpu-check.json")

    def run_parts(self, parts):
        for k, part in enumerate(parts):
            print(f"{part.name}: {part.decides}", flush=True)
            self.part, self.steps, self.started = part, [], time.time()
            left = self.end - self.started
            share = left * part.seconds / sum(p.seconds for p in parts[k:])
            if share < 2:
                self.skipped(part.name, "no time")
            else:
                part.run(self, share)
            with self.lock:
                self.write()
        self.part = None

    def table(self):
        for name, result in self.parts.items():
            print(f"{name:12} {result['outcome']:8} {result['seconds']:6.0f} s  {result['note']}")
