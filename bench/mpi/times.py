#!/usr/bin/env python3
"""Times of programs on two ranks of an MPI job, of one thread each, beside one process of two threads and OpenMP C.

    bench/mpi/times.py [NAME ...]      measures them, or these only, and writes bench/results/mpi-2-cores.json
    bench/mpi/times.py --page          docs/results-distributed.md from that file

Data, rounds and ratios are those of bench/run; results are compared before anything is timed. All cores that are used are
those of one machine: what the network between two would take is not in these times.
"""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import hardware  # noqa: E402
from collection import ROOT, WORK, BenchError, Data, chosen, load_cases, variants  # noqa: E402
from machine import commit_text  # noqa: E402
from measuring import Plan, contenders, triple, verify  # noqa: E402
from noise import ratios, verdict  # noqa: E402
from resultfile import write  # noqa: E402
from rounds import alternate  # noqa: E402
from systems import all_systems  # noqa: E402
from tables import digits, grid  # noqa: E402

KEPT = ROOT / "bench" / "results" / "mpi-2-cores.json"
PAGE = ROOT / "docs" / "results-distributed.md"
RANKS, ONE, PEER = "ravel-ranks", "ravel-native", "openmp"
THREADS = 2
SECONDS = 12  # for the rounds of a program
# What binds programs, the most that ranks may take over one process, and over OpenMP C; and which are held to that.
KINDS = (("elementwise", 1.3, ("saxpy", "black-scholes", "forward-difference", "mandelbrot", "n-body")),
         ("reductions", 1.3, ("reduce", "dot-product", "rmse", "segmented-sum", "argmax")),
         ("scans", 1.3, ("scan", "recurrence")),
         ("sorting", 2.0, ("sort",)),
         ("gathers", 5.0, ("sparse-matrix-vector", "pagerank", "bfs", "connected-components", "radix-sort")),
         ("other", 2.0, ("pack", "quicksort", "quickhull", "barnes-hut", "ragged-sort", "k-means", "jacobi",
                         "adaptive-integration", "random-sums", "matrix-product")))
NAMES = [name for _, _, names in KINDS for name in names]


# ---- measuring ----

def measure(case, systems, plan):
    """{name, title, n, systems: {name: {seconds} or {problem}}, ratio, peer_ratio, rounds}"""
    n, variant = max(case.sizes), variants(case)[0][0]
    data = Data(case, variant, n)
    found, missing = contenders(plan, systems, case, n)
    folder = tempfile.mkdtemp(prefix=f"{case.name}-", dir=WORK)
    try:
        verify(plan, data, found, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    alternate(found, lambda c: c.round(data, case.widths, plan.timeout), plan.rounds, plan.budget)
    row = {"name": case.name, "title": case.title, "n": n, "unit": case.unit, "systems": {}}
    for name, reason in missing.items():
        row["systems"][name] = {"problem": reason, "wrong": False}
    for c in found:
        row["systems"][c.name()] = ({"problem": c.problem, "wrong": c.wrong} if c.problem else
                                    {"seconds": triple(c.medians()), "rounds": len(c.rounds)})
    by_name = {c.name(): c for c in found if not c.problem}
    for key, other in (("ratio", ONE), ("peer_ratio", PEER)):
        if RANKS in by_name and other in by_name:
            row[key] = triple(ratios(by_name[RANKS].medians(), by_name[other].medians()))
    return row


def said(row):
    times = ", ".join(f"{name} {s['seconds'][0] * 1e3:.3f} ms" if "seconds" in s else f"{name}: {s['problem']}"
                      for name, s in row["systems"].items())
    return f"{row['name']} {row['n']}: {times}" + "".join(
        f"; {key} {row[key][0]:.2f} ({row[key][1]:.2f} to {row[key][2]:.2f})" for key in ("ratio", "peer_ratio") if key in row)


def run(options):
    known = all_systems("cpu", options.build)
    systems = [known[name] for name in (RANKS, ONE, PEER)]
    limits = SimpleNamespace(rounds=31, seconds=options.seconds, quick=False, largest=True, sizes=None, curves=False,
                             variants=False, backend="cpu", build=options.build, limit=240, once=False,
                             systems=[s.name for s in systems])
    plan = Plan(systems, known["c"], [THREADS], limits, None)
    WORK.mkdir(parents=True, exist_ok=True)
    rows = json.loads(options.out.read_text())["programs"] if options.out.exists() else []
    machine = hardware.description()
    for case in chosen(load_cases(), options.names or NAMES):
        row = measure(case, systems, plan)
        print(said(row), flush=True)
        rows = [r for r in rows if r["name"] != case.name] + [row]
        options.out.parent.mkdir(parents=True, exist_ok=True)
        write(options.out, {"command": shlex.join(["bench/mpi/times.py", *options.names]), "machine": machine,
                            "programs": rows})
    wrong = sum(bool(s.get("wrong")) for r in rows for s in r["systems"].values())
    print(f"{len(rows)} programs, {wrong} systems wrong")
    return 1 if wrong else 0


# ---- the page ----

HEAD = """# Times of programs on two ranks

Generated by `bench/mpi/times.py --page` from measurements of `bench/mpi/times.py`; do not edit. Two ranks of an MPI job of one thread
each, beside one process of two threads (*one process*) and OpenMP C of two threads, on the same two cores and data, all compiled. A time is the
median over rounds, in which systems run in turn; a ratio is the median of the rounds' ratios, with a range that contains the true
median with a probability of 0.9. A target is met or missed if all of the range is on one side. What a network between machines would take is not in
these times: messages go through the memory of one machine. [distributed.md](distributed.md) says what is sent.
"""


def ratio_cells(row, key, target):
    """The ratio with its range; the verdict."""
    if key not in row:
        return ["", ""]
    found, low, high = row[key]
    rounds = row["systems"][RANKS]["rounds"]
    judged = verdict(row[key], rounds, target)
    return [f"{found:.2f} ({low:.2f} to {high:.2f})", f"**{judged}**" if judged == "missed" else judged]


def cells(row, target):
    def time(name):
        one = row["systems"].get(name, {})
        return digits(one["seconds"][0] * 1e3) if "seconds" in one else "not measured"
    return [row["title"], f"{row['n']:,} {row['unit']}", time(RANKS), time(ONE), time(PEER),
            *ratio_cells(row, "ratio", target), *ratio_cells(row, "peer_ratio", target)]


def page(options):
    kept = json.loads(options.out.read_text())
    rows = {r["name"]: r for r in kept["programs"]}
    machine = kept["machine"]
    lines = [HEAD, f"Processor: {machine['processor']['model']}, {machine['processor']['cores']} cores; {machine['system']}.",
             f"Commit {commit_text(machine)}, {machine['date']}; load before: {machine['load']:.1f}.", ""]
    for kind, target, names in KINDS:
        shown = [cells(rows[name], target) for name in names if name in rows]
        if not shown:
            continue
        lines += [f"## {kind.capitalize()}: at most {target:.1f} times", ""]
        lines += [*grid(["program", "size", "two ranks, ms", "one process, ms", "OpenMP C, ms", "to one process", "",
                         "to OpenMP C", ""], shown), ""]
    left_out = [name for name in NAMES if name not in rows]
    if left_out:
        lines += [f"Not measured: {', '.join(left_out)}."]
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; none: all of the page")
    parser.add_argument("--page", action="store_true", help="write the page")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the rounds of a program")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=KEPT)
    options = parser.parse_args()
    if options.page:
        PAGE.write_text(page(options))
        return 0
    if (os.cpu_count() or 1) < THREADS:
        raise BenchError(f"{THREADS} processors are needed")
    return run(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench/mpi/times.py: {error}")
