"""Times of programs on two ranks of an MPI job, of one thread each, beside one process of two threads and OpenMP C.

    bench/mpi times [NAME ...]      measures them, or these only, and prints a table for each kind

Data, rounds and ratios are those of bench/run; results are compared before anything is timed. All cores that are used are
those of one machine: what the network between two would take is not in these times.
"""

import argparse
import os
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace

from collection import ROOT, WORK, BenchError, Data, chosen, load_cases, variants
from mpi_operations import lacking
from measuring import Plan, contenders, triple, verify
from rounds import alternate, ratios, verdict
from systems import all_systems
from tables import digits, grid

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
HEADER = ["program", "size", "two ranks, ms", "one process, ms", "OpenMP C, ms", "to one process", "", "to OpenMP C", ""]


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


def run(options):
    known = all_systems("cpu", options.build)
    systems = [known[name] for name in (RANKS, ONE, PEER)]
    limits = SimpleNamespace(rounds=31, seconds=options.seconds, quick=False, largest=True, sizes=None, curves=False,
                             variants=False, backend="cpu", build=options.build, limit=240, once=False,
                             systems=[s.name for s in systems], papers=False)
    plan, cases, wrong = Plan(systems, known["c"], [THREADS], limits, None), load_cases(), 0
    WORK.mkdir(parents=True, exist_ok=True)
    chosen(cases, options.names)
    for kind, target, names in KINDS:
        rows = [measure(cases[name], systems, plan) for name in names if not options.names or name in options.names]
        wrong += sum(bool(s.get("wrong")) for r in rows for s in r["systems"].values())
        if rows:
            print(f"{kind}: at most {target:.1f} times\n")
            print("\n".join(grid(HEADER, [cells(row, target) for row in rows])), flush=True)
    print(f"{wrong} systems wrong")
    return 1 if wrong else 0


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; none: all")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the rounds of a program")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args(words)
    if lacking(options.build):
        return 0
    if (os.cpu_count() or 1) < THREADS:
        raise BenchError(f"{THREADS} processors are needed")
    return run(options)
