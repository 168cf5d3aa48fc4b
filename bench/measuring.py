"""Times of programs, systems side by side, as bench/run writes them down."""

import re
import shutil
import sys
import tempfile

import published
from checking import check_case, complaint, computed, expected
from collection import WORK, BenchError, Data, results, variants
from hardware import stream_seconds
from rounds import AT_TARGETS, COMPARED, PEER, TWIN, alternate, median, middle, ratios
from systems import MachineStreams
from timing import run_system

# What --times of `nesl` says, and as what it is kept, of which systems.
EXPLAINED = {"ravel": {"peak_bytes": "vector_bytes"}}

# What contraction of floating point gains is asked once.
AT_THE_LARGEST = ("c-fast", "openmp-fast")

COUNTED = ("ravel", "c")  # whose lines of code are

IN_CACHE = 1 << 20        # bytes of arguments, at most, of the size that is held to targets, too
# Of the other sizes, which only show how times grow: rounds, seconds of a process, and seconds after
# which one round is enough.
CURVE_ROUNDS, CURVE_SECONDS, CURVE_BUDGET = 3, 0.1, 3.0
ENOUGH_SECONDS = 0.1      # whose results were looked at for so long is not run again
ONCE_REPEATS = 9          # of the one process that a system has with --once, besides its first run
SLOW_SECONDS = 2.0        # who is not compared is left out where it would take longer
SLOW_PROCESS = 20.0       # and ended after that
PATIENCE = 5              # turns of one that are taken again, since others had its processors


class Contender:
    """A system on so many threads, and what its rounds gave."""

    def __init__(self, system, threads):
        self.system, self.threads = system, threads
        self.repeat = 1
        self.seconds = self.cost = 0.0  # of a run, and of the rest of its process
        self.rounds = []       # seconds of the repeats, a list a round
        self.firsts = []       # seconds of the first run of each round's process
        self.peak, self.facts, self.command = 0, {}, ""
        self.result_bytes = 0
        self.disturbed = 0     # turns that do not count, since others had its processors
        self.problem, self.wrong = None, False   # why it is not timed, and whether that is bad

    def name(self):
        return self.system.name

    def medians(self):
        return [median(r) for r in self.rounds]

    def takes(self, each):
        """Seconds of a round in which it is to work for `each`."""
        return self.cost + max(each, 2 * self.seconds)

    def round(self, data, widths, limit):
        run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        while run.status == 0 and self.disturbed < PATIENCE and run.disturbed(self.threads):
            self.disturbed += 1
            run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status == -1 and self.repeat > 1:  # it was faster once: a busy machine
            self.repeat = max(1, self.repeat // 20)
            run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status != 0:
            self.problem = run.complaint()
            return
        self.rounds.append(run.times["seconds"])
        self.firsts.append(run.times.get("first_seconds"))
        self.peak = max(self.peak, run.peak)
        self.learn(run)

    def learn(self, run):
        """What a run says of itself besides times."""
        self.facts = {k: v for k, v in run.times.items() if k not in ("seconds", "first_seconds")}


class Plan:
    """What bench/run was asked to measure."""

    def __init__(self, systems, judge, threads, options, limits):
        self.systems, self.threads, self.limits = systems, threads, limits
        self.judge = judge  # plain C, which says what is right at measured sizes
        self.rounds, self.budget = options.rounds, options.seconds
        self.quick, self.largest, self.sizes = options.quick, options.largest, options.sizes
        self.curves, self.variants = options.curves, options.variants
        self.backend, self.build = options.backend, options.build
        self.timeout, self.asked = options.limit, bool(options.systems)
        self.once, self.papers = options.once, options.papers

    def points(self, case):
        """[(variant, n, held)]: all sizes of the first variant, rising, the largest of the others;
        held to the target are the largest and the largest in the cache; with --papers also that of
        Table 1. Without --variants others than the first only where a table shows them."""
        sizes = sorted(self.sizes or case.sizes)
        if not self.sizes and self.quick:
            sizes = sizes[:2]
        first, *others = [name for name, _ in variants(case)]
        held = {sizes[-1]}
        if not self.largest and not self.sizes:
            held.add(in_cache(case, first, sizes))
        if self.papers and case.name in published.NESL_GPU:
            held.add(published.NESL_GPU[case.name][0])
        points = [(first, n, n in held) for n in sizes
                  if n in held or self.sizes or (self.curves and not self.largest)]
        if (self.variants or case.facts) and not self.quick:
            points += [(name, sizes[-1], False) for name in others]
        return points


def in_cache(case, variant, sizes):
    """The largest of rising sizes whose arguments have at most IN_CACHE bytes; else the least."""
    found = sizes[0]
    for n in sizes:
        if Data(case, variant, n).bytes() > IN_CACHE:
            break
        found = n
    return found


def taking_part(plan, system, held):
    """Whether a system is measured at a size that is held to targets, or not."""
    return held or system.name not in AT_TARGETS or (plan.asked and system.name != TWIN)


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


def patience(plan, c):
    """Seconds for a process: who is not compared, nor says what is right, gets few."""
    needed = c.name() in (*COMPARED, PEER) or c.system is plan.judge
    return plan.timeout if needed else min(plan.timeout, SLOW_PROCESS)


def verify(plan, data, found_systems, folder):
    """Runs each: those whose results are wrong have a problem, and are not timed. At measured
    sizes results are compared with those of plain C, which was compared with the reference at
    small ones, and given to the case's check; where they are not unique, to that alone."""
    count, wanted = len(results(data.case)), None
    for c in sorted(found_systems, key=lambda c: c.system.name != "c"):
        if c.problem or c.name() == TWIN:
            continue
        try:
            run, found = computed(c.system, data, c.threads, folder, count, patience(plan, c),
                                  ONCE_REPEATS if plan.once else 2)
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
        take_times(c, run, plan.once)


def take_times(c, run, once=False):
    """What is known of a system after its results were looked at. Who is measured once, and was
    at work for long enough, has been measured; with `once` everybody has."""
    times = run.times["seconds"]
    c.seconds = min(times)
    c.cost = max(0.0, run.wall - sum(times))
    if once or (c.name() not in (*COMPARED, PEER) and sum(times) >= ENOUGH_SECONDS):
        c.rounds, c.peak = [times], run.peak
        c.learn(run)


def same_binary(found):
    """OpenMP C against itself: what is known of it is known of its twin."""
    peers = {c.threads: c for c in found if c.name() == PEER}
    for c in found:
        if c.name() == TWIN and c.threads in peers:
            peer = peers[c.threads]
            c.seconds, c.cost, c.command = peer.seconds, peer.cost, peer.command
            c.problem, c.wrong = peer.problem, False
            c.result_bytes = peer.result_bytes
        elif c.name() == TWIN:
            c.problem = "it has no twin"


def rounded(x):
    return float(f"{x:.4g}")


def triple(values):
    return [rounded(x) for x in middle(values)]


WATCHED = ("ravel", PEER)   # whose first runs and memory are kept


def first_runs(c, peer):
    """The median of the first runs of its processes, and the ratio to those of the peer in the same
    rounds; nothing of what does not time them."""
    if c.name() not in WATCHED or not c.firsts or None in c.firsts:
        return {}
    entry = {"first_seconds": rounded(median(c.firsts))}
    if peer and peer is not c and None not in peer.firsts:
        entry["first_ratio"] = triple(ratios(c.firsts, peer.firsts))
    return entry


def record(c, held, peer=None, streams=None):
    """A contender's measurements as JSON: medians with the ranges that enclose them. Of sizes that
    are not held to targets only the time."""
    entry = {"system": c.system.name, "threads": c.threads}
    if c.problem:
        return {**entry, "problem": c.problem, "wrong": c.wrong}
    entry.update(seconds=triple(c.medians()), rounds=len(c.rounds))
    if not held:
        return entry
    if peer and c.name() in COMPARED:
        entry["ratio"] = triple(ratios(c.medians(), peer.medians()))
    entry.update(first_runs(c, peer))
    if streams and c.name() in (*COMPARED, PEER):
        entry["share"] = triple(ratios(streams.medians(), c.medians()))
    if c.name() in WATCHED:
        entry["process_bytes"] = c.peak
    for name, key in EXPLAINED.get(c.name(), {}).items():
        if name in c.facts:
            value = c.facts[name]
            entry[key] = rounded(value) if isinstance(value, float) else value
    return entry


def judges(plan, case):
    """Plain C where it is not measured itself, and results are not judged by the case's check."""
    if case.check or plan.judge in plan.systems or plan.judge.available(case):
        return []
    return [plan.judge]


def machine_streams(plan, streams):
    """The contender that only reads and writes what a program has to, in a list; none where that
    does not decide what it takes, or for a device."""
    if not streams or not plan.limits or plan.backend != "cpu":
        return []
    system = MachineStreams(streams, plan.build)
    missing = system.available(None)
    if missing:
        raise BenchError(missing)
    found = Contender(system, max(plan.threads))
    found.seconds = stream_seconds(plan.limits, streams.bytes())
    return [found]


def leave_out_slow(found, before, n):
    """Those that are not compared, and whose time at the size before says that they would take
    too long at this one."""
    for c in found:
        old = before.get((c.name(), c.threads))
        if c.name() in (*COMPARED, PEER) or not old:
            continue
        if old[1] is None or old[1] * n / old[0] > SLOW_SECONDS:
            c.problem = "it would take too long"


def measure_point(plan, systems, judging, case, point, budget, before):
    """The measurements of all systems at a size; before: what each took at the one before."""
    variant, n, held = point
    data = Data(case, variant, n)
    arguments = data.arguments(memory_map=True)
    needed = case.streams(n, arguments) if case.streams else None
    found, missing = contenders(plan, [s for s in systems if taking_part(plan, s, held)], case, n)
    leave_out_slow(found, before, n)
    folder = tempfile.mkdtemp(prefix=f"{case.name}-", dir=WORK)
    try:
        verify(plan, data, contenders(plan, judging, case, n)[0] + found, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    same_binary(found)
    streams = machine_streams(plan, needed) if held else []

    def play(c):
        c.round(data, case.widths, plan.timeout)
    if held and not plan.once:
        alternate(found + streams, play, plan.rounds, budget)
    elif not plan.once:
        alternate(found, play, min(plan.rounds, CURVE_ROUNDS), CURVE_BUDGET, 1, CURVE_SECONDS)
    for c in found + streams:
        say(case, variant, n, c)
    for name, reason in missing.items():
        if not reason.startswith("bench/baselines"):
            print(f"  {name}: {reason}", flush=True)
    before.update({(c.name(), c.threads): (n, None if c.problem else median(c.medians()))
                   for c in found})
    return as_json(case, point, data, needed, arguments, found, streams)


def as_json(case, point, data, needed, arguments, found, streams):
    variant, n, held = point
    peers = {c.threads: c for c in found if c.name() == PEER and not c.problem}
    bare = streams[0] if streams and not streams[0].problem else None
    entry = {"n": n, "variant": variant, "held": held,
             "bytes": data.bytes() + max((c.result_bytes for c in found), default=0),
             "streamed_bytes": float(needed.bytes()) if bare else None,
             "memory_promise": float(case.memory(n)) if case.memory else None,
             "facts": case.facts(arguments) if case.facts else None,
             "streams": record(bare, held) if bare else None}
    return {**{k: v for k, v in entry.items() if v is not None},
            "systems": [record(c, held, peers.get(c.threads), bare) for c in found]}


def say(case, variant, n, c):
    where = f"{case.name} {variant + ' ' if variant else ''}{n}"
    if c.problem:
        what = ("WRONG: " if c.wrong else "not measured: ") + c.problem.split("\n")[0]
        print(f"  {where:40} {c.system.name:14} {c.threads}  {what}", flush=True)
        if c.wrong:
            print(f"    {c.command}", flush=True)
        return
    found, low, high = middle(c.medians())
    print(f"  {where:40} {c.system.name:14} {c.threads} {found * 1e3:11.4f} ms "
          f"({low * 1e3:.4f} to {high * 1e3:.4f}), {len(c.rounds)} rounds of "
          f"{len(c.rounds[0])}{f', {c.disturbed} disturbed' if c.disturbed else ''}", flush=True)


def budgets(points, seconds):
    """Seconds for the rounds of each point: two thirds for the largest size that is held to its
    target, a third for the other one; rounds of the rest are few."""
    held = [p for p in points if p[2]]
    shares = {held[-1]: 2 / 3, **{p: 1 / 3 for p in held[:-1]}} if len(held) > 1 else {}
    return {p: seconds * shares.get(p, 1.0) for p in points}


def measure(plan, case):
    """Everything about one program; its results are checked at small sizes first."""
    judging = judges(plan, case)
    names = [s.name for s in plan.systems + judging]
    wrong = [] if plan.once else check_case(case.name, names, plan.backend, plan.build)[1]
    for line in wrong:
        print(line, flush=True)
    broken = {line.split(", ")[1].split(":")[0] for line in wrong if ", " in line}
    systems = [s for s in plan.systems if s.name not in broken]
    judging = [s for s in judging if s.name not in broken]
    program = {"name": case.name, "title": case.title, "paper": case.paper, "unit": case.unit,
               "wrong": wrong,
               "lines": {s.name: s.lines(case) for s in systems
                         if s.name in COUNTED and not s.available(case)},
               "sizes": []}
    shares, before = budgets(plan.points(case), plan.budget), {}
    try:
        for point, budget in shares.items():
            program["sizes"].append(
                measure_point(plan, systems, judging, case, point, budget, before))
    except (BenchError, MemoryError) as error:
        print(f"FAILED {case.name}: {error}", file=sys.stderr, flush=True)
        program["wrong"].append(str(error))
    return program


def failures(programs):
    """How many systems were wrong."""
    return sum(len(p["wrong"]) + sum(1 for size in p["sizes"] for s in size["systems"]
                                     if s.get("wrong")) for p in programs)
