"""Results of bench/run as the report asks for them."""

import json
from pathlib import Path

from noise import exponent, interval, median, ratios


class Outcome:
    """Results of one machine and one back end."""

    def __init__(self, path):
        document = json.loads(Path(path).read_text())
        self.path = Path(path)
        self.command, self.backend = document["command"], document["backend"]
        self.machine, self.titles = document["machine"], document["systems"]
        self.machines = [self.machine]   # at the time of each file
        self.programs = {p["name"]: Program(p) for p in document["programs"]}

    def beside(self, other):
        """Whether both are of one machine: files in one folder."""
        return (self.path.parent, self.backend) == (other.path.parent, other.backend)

    def add(self, other):
        """What only the other has been asked for; where both measured something, this stays."""
        self.command += "\n" + other.command
        self.machines += other.machines
        self.titles = {**other.titles, **self.titles}
        for name, program in other.programs.items():
            if name in self.programs:
                self.programs[name].add(program)
            else:
                self.programs[name] = program

    def title(self, system):
        """Of a system on this back end."""
        title = self.titles.get(system, system)
        return f"{title} ({self.backend})" if system.startswith("ravel") and \
            self.backend != "cpu" else title


class Program:
    def __init__(self, found):
        self.name, self.title, self.paper = found["name"], found["title"], found["paper"]
        self.unit, self.target, self.against = found["unit"], found["target"], found["against"]
        self.remark, self.lines, self.wrong = found["remark"], found["lines"], found["wrong"]
        self.widths = found["widths"]
        self.points = [Point(p) for p in found["sizes"]]

    def add(self, other):
        """As Outcome.add."""
        here = {(p.variant, p.n): p for p in self.points}
        for point in other.points:
            mine = here.get((point.variant, point.n))
            if mine:
                mine.add(point)
            else:
                self.points.append(point)
        self.wrong = self.wrong or other.wrong

    def main(self):
        """The sizes of the first variant, rising."""
        first = [p for p in self.points if p.variant == self.points[0].variant] \
            if self.points else []
        return sorted(first, key=lambda p: p.n)

    def largest(self):
        main = self.main()
        return main[-1] if main else None

    def variants(self):
        """The largest size of every variant."""
        found = {}
        for p in self.points:
            if p.variant not in found or p.n > found[p.variant].n:
                found[p.variant] = p
        return list(found.values())

    def series(self, system):
        """[(n, seconds)] of the first variant."""
        return [(p.n, p.seconds(system)) for p in self.main() if p.seconds(system)]

    def growth(self, system):
        """The exponent of time against the algorithm's work, or None."""
        points = [(p.work, p.seconds(system)) for p in self.main() if p.seconds(system)]
        return exponent([w for w, _ in points], [t for _, t in points])

    def limit_growth(self):
        """The same for the limit of the hardware: above 1 where larger data leave the caches."""
        points = [(p.work, p.limit_seconds) for p in self.main() if p.limit_seconds]
        return exponent([w for w, _ in points], [t for _, t in points])


class Point:
    """One variant at one size."""

    def __init__(self, found):
        self.n, self.variant, self.work = found["n"], found["variant"], found["work"]
        self.data_bytes = found["data_bytes"] + found["result_bytes"]   # in and out
        self.limit = found["limit"]
        self.limit_seconds = found.get("limit_seconds") or None
        self.promise, self.facts = found["memory_promise"], found["facts"]
        # Of a system on several numbers of threads the one on most.
        self.systems = {}
        for s in sorted(found["systems"], key=lambda s: s["threads"]):
            if s["system"] not in self.systems or "rounds" in s:
                self.systems[s["system"]] = s
        if found.get("streams"):
            self.systems["streams"] = found["streams"]

    def add(self, other):
        """As Outcome.add. Rounds of different runs are not side by side: there is no ratio of
        the systems of one to those of the other."""
        for name, system in other.systems.items():
            if name not in self.systems:
                self.systems[name] = {**system, "run": other}

    def seconds(self, system):
        return self.systems.get(system, {}).get("seconds")

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

    def ratio(self, system, other):
        """(ratio, least, most) of times, from rounds side by side; None if one was not timed."""
        a, b = self.get(system, "rounds"), self.get(other, "rounds")
        if not a or not b or self.get(system, "run") is not self.get(other, "run"):
            return None
        found = ratios(a, b)
        low, high, _ = interval(found)
        return median(found), low, high
