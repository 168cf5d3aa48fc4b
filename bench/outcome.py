"""Results of bench/run as the report asks for them."""

import json
from pathlib import Path

import targets
from rounds import PEER, TWIN, verdict, verdict_of_twin


class Outcome:
    """Results of one machine and one back end."""

    def __init__(self, path):
        document = json.loads(Path(path).read_text())
        self.path = Path(path)
        self.command, self.backend = document["command"], document["backend"]
        self.machine, self.titles = document["machine"], document["systems"]
        self.programs = {p["name"]: Program(p) for p in document["programs"]}

    def title(self, system):
        """Of a system on this back end."""
        title = self.titles.get(system, system)
        return f"{title} ({self.backend})" if system.startswith("ravel") and \
            self.backend != "cpu" else title


class Program:
    def __init__(self, found):
        self.name, self.title, self.paper = found["name"], found["title"], found["paper"]
        self.unit, self.lines, self.wrong = found["unit"], found["lines"], found["wrong"]
        self.kind = targets.CLASSES.get(self.name, "")
        self.target = targets.of_program(self.name)
        self.remark = ""
        self.points = [Point(p) for p in found["sizes"]]

    def main(self):
        """The sizes of the first variant, rising."""
        first = [p for p in self.points if p.variant == self.points[0].variant] \
            if self.points else []
        return sorted(first, key=lambda p: p.n)

    def largest(self):
        main = self.main()
        return main[-1] if main else None

    def in_cache(self):
        """The smaller size that is held to the target, too; None if there is none."""
        held = [p for p in self.main() if p.held]
        return held[0] if len(held) > 1 else None

    def variants(self):
        """The largest size of every variant."""
        found = {}
        for p in self.points:
            if p.variant not in found or p.n > found[p.variant].n:
                found[p.variant] = p
        return list(found.values())

    def verdict(self, point, system):
        """met, missed or undecided; wrong; or nothing if there is no ratio. Where OpenMP C is not
        as fast as itself, nothing is decided about others."""
        if self.wrong or point.get(system, "wrong"):
            return "wrong"
        ratio = point.ratio(system)
        if not ratio or not self.target:
            return ""
        if system == TWIN:
            return verdict_of_twin(ratio, point.get(TWIN, "rounds"), self.target)
        if self.verdict(point, TWIN) not in ("met", ""):
            return "undecided"
        return verdict(ratio, point.get(system, "rounds"), self.target)


class Point:
    """One variant at one size."""

    def __init__(self, found):
        self.n, self.variant = found["n"], found["variant"]
        self.held, self.data_bytes = found["held"], found["bytes"]   # in and out
        self.streamed_bytes = found.get("streamed_bytes")
        self.promise, self.facts = found.get("memory_promise"), found.get("facts", {})
        # Of a system on several numbers of threads the one on most.
        self.systems = {}
        for s in sorted(found["systems"], key=lambda s: s["threads"]):
            if s["system"] not in self.systems or "rounds" in s:
                self.systems[s["system"]] = s
        if found.get("streams"):
            self.systems["streams"] = found["streams"]

    def seconds(self, system):
        """The median, or None."""
        found = self.get(system, "seconds")
        return found[0] if found else None

    def get(self, system, key):
        return self.systems.get(system, {}).get(key)

    def problem(self, system):
        """Why there is no time: a few words, or None."""
        problem = self.get(system, "problem")
        if problem is None:
            return None
        if self.get(system, "wrong"):
            return "wrong"
        return "too slow" if "too long" in problem else "out of memory"

    def ratio(self, system):
        """(ratio, low, high) of its time to that of OpenMP C, from rounds side by side; None if
        one was not timed, or if they had no rounds together."""
        return self.get(system, "ratio")

    def times(self, system, other=PEER):
        """The ratio of both medians, of whatever rounds."""
        a, b = self.seconds(system), self.seconds(other)
        return a / b if a and b else None
