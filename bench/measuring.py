"""Times of programs, systems side by side, as bench/run writes them down."""

import re
import shutil
import sys
import tempfile

from checking import check_case, complaint, computed, expected
from collection import WORK, BenchError, Data, results, variants
from hardware import limit_seconds
from noise import median
from systems import MachineStreams, Ravel
from timing import Contender, alternate

# What --times of `nesl` counts, kept under these names.
FACTS = ("instructions", "work", "steps", "launches", "waits", "peak_bytes", "compile_seconds",
         "load_seconds", "device")

# What contraction of floating point gains is asked once.
AT_THE_LARGEST = ("c-fast", "openmp-fast")


class Plan:
    """What bench/run was asked to measure."""

    def __init__(self, systems, judge, threads, options, limits):
        self.systems, self.threads, self.limits = systems, threads, limits
        self.judge = judge  # plain C, which says what is right at measured sizes
        self.rounds, self.budget = options.rounds, options.seconds
        self.quick, self.largest, self.sizes = options.quick, options.largest, options.sizes
        self.variants, self.widths = options.variants, options.widths
        self.backend, self.build = options.backend, options.build
        self.timeout, self.asked = options.limit, bool(options.systems)

    def points(self, case):
        """Pairs of a variant and a size: all sizes of the first, the largest of the others."""
        sizes = self.sizes or sorted(case.sizes)
        if not self.sizes and self.largest:
            sizes = sizes[-1:]
        elif not self.sizes and self.quick:
            sizes = sizes[:2]
        names = [name for name, _ in variants(case)]
        points = [(names[0], n) for n in sizes]
        if self.variants and not self.quick:
            points += [(name, sizes[-1]) for name in names[1:]]
        return points


def contenders(plan, systems, case, n):
    found, missing = [], {}
    for system in systems:
        if system.name in AT_THE_LARGEST and n < max(case.sizes) and not plan.asked:
            continue
        reason = system.available(case)
        if reason:
            missing[system.name] = reason
            continue
        system.prepare(case, case.widths)
        for threads in plan.threads if system.parallel else (1,):
            found.append(Contender(system, threads))
    return found, missing


def verify(plan, data, found_systems, folder):
    """Runs each: those whose results are wrong have a problem, and are not timed. At measured
    sizes results are compared with those of plain C, which was compared with the reference at
    small ones, and given to the case's check; where they are not unique, to that alone."""
    count, wanted = len(results(data.case)), None
    for c in sorted(found_systems, key=lambda c: c.system.name != "c"):
        try:
            run, found = computed(c.system, data, c.threads, folder, count, plan.timeout, 2)
            c.command = re.sub(r" (-o|--times) \S+", "", run.command)
        except (OSError, ValueError) as error:
            c.problem, c.wrong = f"no results: {error}", True
            continue
        if found is None:
            c.problem, c.wrong = run.complaint(), not run.gave_up()
            continue
        c.result_bytes = sum(f.nbytes for f in found)
        plain = c.system.name == "c"
        if wanted is None and not plain:
            wanted = expected(data)
        if data.case.check or not plain:
            c.problem = complaint(data, found, wanted)
            c.wrong = bool(c.problem)
        if plain and not c.problem and data.case.reference:
            wanted = found
        c.seconds = min(run.times["seconds"])
        c.cost = max(0.0, run.wall - sum(run.times["seconds"]))


def rounded(x):
    return float(f"{x:.5g}")


def record(c):
    """A contender's measurements as JSON."""
    entry = {"system": c.system.name, "threads": c.threads}
    if c.problem:
        return {**entry, "problem": c.problem, "wrong": c.wrong}
    times = [t for r in c.rounds for t in r]
    entry.update(seconds=rounded(median(times)), least=rounded(min(times)),
                 most=rounded(max(times)), repeats=c.repeat,
                 rounds=[rounded(median(r)) for r in c.rounds], process_bytes=c.peak)
    for name in FACTS:
        if name in c.facts:
            # What a baseline says of its peak is that of its process.
            key = "vector_bytes" if name == "peak_bytes" else name
            if key != "vector_bytes" or isinstance(c.system, Ravel):
                entry[key] = c.facts[name]
    return entry


def judges(plan, case):
    """Plain C where it is not measured itself, and results are not judged by the case's check."""
    if case.check or plan.judge in plan.systems or plan.judge.available(case):
        return []
    return [plan.judge]


def machine_streams(plan, limit):
    """The contender that only reads and writes what a program has to, in a list; none where that
    does not decide what it takes, or for a device."""
    if not limit.streams or not plan.limits or plan.backend != "cpu":
        return []
    system = MachineStreams(limit.streams, plan.build)
    missing = system.available(None)
    if missing:
        raise BenchError(missing)
    found = Contender(system, max(plan.threads))
    found.seconds = limit_seconds(plan.limits, limit)
    return [found]


def measure_point(plan, systems, judging, case, variant, n, share):
    """The measurements of all systems at a size."""
    data = Data(case, variant, n)
    arguments = data.arguments(memory_map=True)
    limit = case.limit(n, arguments)
    point = {"n": n, "variant": variant, "data_bytes": data.bytes(),
             "work": float(case.work(n)),
             "limit": {"bytes": float(limit.bytes), "gathers": float(limit.gathers),
                       "flops": float(limit.flops)},
             "memory_promise": float(case.memory(n)) if case.memory else None,
             "facts": case.facts(arguments) if case.facts else {}}
    if plan.limits:
        point["limit_seconds"] = rounded(limit_seconds(plan.limits, limit))
    found, missing = contenders(plan, systems, case, n)
    folder = tempfile.mkdtemp(prefix=f"{case.name}-", dir=WORK)
    try:
        verify(plan, data, contenders(plan, judging, case, n)[0] + found, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    streams = machine_streams(plan, limit)
    alternate([c for c in found + streams if not c.problem], data, case.widths, plan.rounds,
              share, plan.timeout)
    for c in found + streams:
        say(case, variant, n, c)
    point["result_bytes"] = max((c.result_bytes for c in found), default=0)
    point["systems"] = [record(c) for c in found]
    point["streams"] = record(*streams) if streams else None
    point["missing"] = missing
    return point


def say(case, variant, n, c):
    where = f"{case.name} {variant + ' ' if variant else ''}{n}"
    if c.problem:
        what = ("WRONG: " if c.wrong else "not measured: ") + c.problem.split("\n")[0]
        print(f"  {where:40} {c.system.name:14} {c.threads}  {what}", flush=True)
        if c.wrong:
            print(f"    {c.command}", flush=True)
        return
    times = [t for r in c.rounds for t in r]
    print(f"  {where:40} {c.system.name:14} {c.threads} {median(times) * 1e3:11.4f} ms "
          f"({min(times) * 1e3:.4f} to {max(times) * 1e3:.4f}), {len(c.rounds)} rounds of "
          f"{c.repeat}", flush=True)


def budgets(points, seconds):
    """Seconds for the rounds of each point: the largest size of the first variant, which is what
    targets are for, has as many as all others together."""
    main = max((p for p in points if p[0] == points[0][0]), key=lambda p: p[1])
    others = max(1, len(points) - 1)
    return {p: seconds if len(points) == 1 else seconds / 2 / (1 if p == main else others)
            for p in points}


def measure(plan, case):
    """Everything about one program; its results are checked at small sizes first."""
    judging = judges(plan, case)
    names = [s.name for s in plan.systems + judging]
    _, wrong, _ = check_case(case.name, names, plan.backend, plan.build)
    for line in wrong:
        print(line, flush=True)
    broken = {line.split(", ")[1].split(":")[0] for line in wrong if ", " in line}
    systems = [s for s in plan.systems if s.name not in broken]
    judging = [s for s in judging if s.name not in broken]
    program = {"name": case.name, "title": case.title, "paper": case.paper, "unit": case.unit,
               "widths": case.widths, "target": case.target, "against": case.against,
               "remark": case.remark, "wrong": wrong,
               "lines": {s.name: s.lines(case) for s in systems if not s.available(case)},
               "sizes": []}
    shares = budgets(plan.points(case), plan.budget)
    try:
        for (variant, n), share in shares.items():
            program["sizes"].append(
                measure_point(plan, systems, judging, case, variant, n, share))
    except (BenchError, MemoryError) as error:
        print(f"FAILED {case.name}: {error}", file=sys.stderr, flush=True)
        program["wrong"].append(str(error))
    return program


def failures(programs):
    """How many systems were wrong."""
    return sum(len(p["wrong"]) + sum(1 for size in p["sizes"] for s in size["systems"]
                                     if s.get("wrong")) for p in programs)
