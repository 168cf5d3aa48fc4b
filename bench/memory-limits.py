#!/usr/bin/env python3
"""Programs in bounded memory: the same results under ten limits, and what they take beside targets.

    bench/memory-limits.py limits  [NAME...]   each program with ten --memory limits: time, peak, results
    bench/memory-limits.py targets [NAME...]   cut, not cut and OpenMP C beside what is wanted
    bench/memory-limits.py page                docs/results-memory.md and its plots, from both
    bench/memory-limits.py check [--quick]     small sizes: no times, an error where a promise is broken

What is measured is kept in bench/results/memory-2-cores.json (--out), of which rows of the same names are replaced.
With every limit a run must give the results that it gives in 2 GB, bit for bit, and report a peak within the limit, or end
in the message that memory does not suffice. programs and targets: memory_cases.py.
"""

import argparse
import hashlib
import json
import shlex
import sys
import tempfile
from pathlib import Path

import case
import memory_page
from collection import ROOT, BenchError, load, relative
from hardware import description
from machine import commit_text
from memory_cases import LIMITED, TARGETS, cases, data_of, named, result_count, source
from noise import median
from resultfile import write
from systems import WIDTHS, Compiled, compiled, nesl_number
from timing import execute, result_files

KEPT = ROOT / "bench" / "results" / "memory-2-cores.json"
LIMITS = [20, 35, 60, 100, 170, 280, 460, 770, 1300, 2000]   # MB
SMALL_LIMITS = [9, 12, 16, 22, 30, 45, 70, 120, 400, 2000]
QUICK = ["barnes-hut-example", "random-sums", "ragged-unique"]   # what needs much more without chunks
UNCUT_LIMIT = "12G"
SECONDS = 900
LACK = "out of memory"
# Limits are tried in 64 bits: arguments and results of 32 are converted in the machine's own eighth of the memory.
WIDE = "64"


class Wrong(Exception):
    """A promise is broken."""


# ---- runs ----

def digest(paths):
    """Of results; headers included, since they have lengths and types."""
    key = hashlib.sha256()
    for path in paths:
        key.update((ROOT / path).read_bytes())
    return key.hexdigest()[:16]


def ravel(options, one, data, memory, chunks="auto", native=()):
    """A run of nesl: {seconds, peak, process, digest}, {lack: message} where memory did not suffice."""
    with tempfile.TemporaryDirectory(prefix="ravel-memory-") as folder:
        times, outputs = Path(folder) / "times.json", result_files(folder, result_count(one))
        words = [relative(options.build / "bin" / "nesl"), *WIDTHS[one.widths], "--backend", "cpu",
                 "--threads", str(options.threads), "--memory", memory, "--chunks", chunks, "--repeat", "1",
                 "--times", str(times), *native, "run", relative(source(one)), "--entry", "bench", *data.words(nesl_number)]
        for output in outputs:
            words += ["-o", output]
        run = execute(words, {"RAVEL_TUNING": "off"}, SECONDS)
        if run.status and LACK in run.stderr:
            return {"lack": run.stderr.split("\n")[0]}
        if run.status:
            raise Wrong(f"{run.command}\n{run.complaint()}")
        said = json.loads(times.read_text())
        return {"seconds": median(said["seconds"]), "peak": said["peak_bytes"], "process": run.peak,
                "digest": digest(outputs)}


def warm_up(options, name, one):
    """Has its superoperators compiled, as those of a program are that has run before: a compiler would count in the
    peak of the process."""
    row = next(row for row in LIMITED if row.name == name)
    ravel(options, one, data_of(row, one, row.small), UNCUT_LIMIT, native=["--native=wait"])


def compile_for_vinterp(options, one, data, folder):
    """Once, what nesl would run twice: neslc's code, and the words of its run by vinterp."""
    made = Path(folder) / "made.vcode"
    run = execute([str(options.build / "bin" / "neslc"), *WIDTHS[one.widths], "-o", str(made), "--entry", "bench",
                   relative(source(one))])
    if run.status:
        raise Wrong(run.complaint())
    plain = [str(x) for x in data.words(nesl_number)]
    return [str(options.build / "bin" / "vinterp"), "-O", *WIDTHS[one.widths], "--backend", "cpu",
            "--threads", str(options.threads), "--profile=device", "--json", str(made), *plain]


def ravel_once(options, one, data, memory):
    """The same by vinterp, in one run, without a first one: for what takes minutes."""
    with tempfile.TemporaryDirectory(prefix="ravel-memory-") as folder:
        words = compile_for_vinterp(options, one, data, folder)
        run = execute([words[0], "--memory", memory, *words[1:]], {"RAVEL_TUNING": "off"}, SECONDS)
        if run.status and LACK in run.stderr:
            return {"lack": run.stderr.split("\n")[0]}
        if run.status:
            raise Wrong(f"{run.command}\n{run.complaint()}")
        said = json.loads(run.stderr[run.stderr.index("{"):])
        return {"seconds": said["elapsed"], "peak": said["peak_bytes"], "process": run.peak,
                "digest": hashlib.sha256(run.stdout.encode()).hexdigest()[:16]}


def openmp(options, one, data, repeat=1):
    """The program by hand: {seconds, process}."""
    system = Compiled("openmp", "OpenMP C", ".c", openmp=True)
    words = [relative(compiled(ROOT / "bench" / "baselines" / f"{one.name}.c", openmp=True, widths=one.widths)),
             "--repeat", str(repeat), "--threads", str(options.threads), *map(str, data.words(repr))]
    run = execute(words, system.environment(options.threads), SECONDS)
    if run.status:
        raise Wrong(f"{run.command}\n{run.complaint()}")
    said = json.loads(run.stdout.strip().split("\n")[-1])
    return {"seconds": median(said["seconds"]), "process": run.peak}


# ---- limits ----

def complaint(found, limit):
    """What is wrong with runs of [(limit, run)], the last one having the most memory; None: nothing."""
    right = found[-1][1]
    if "lack" in right:
        return f"{limit} MB do not suffice: {right['lack']}"
    for mb, run in found:
        if "lack" not in run and run["digest"] != right["digest"]:
            return f"the results with {mb} MB differ"
        if "lack" not in run and run["peak"] > mb * 10 ** 6:
            return f"the peak with {mb} MB is {run['peak']:,} bytes"
    return None


def with_limits(options, row, one, limits, n):
    """[(limit in MB, run)]."""
    data = data_of(row, one, n)
    return [(mb, ravel(options, one, data, f"{mb * 10 ** 6}")) for mb in limits]


def limits(options):
    known = cases()
    for row in named(LIMITED, options.names):
        one = known[row.name]
        one.widths = WIDE
        warm_up(options, row.name, one)
        found = with_limits(options, row, one, LIMITS, row.n)
        wrong = complaint(found, LIMITS[-1])
        if wrong:
            raise Wrong(f"{row.label()}: {wrong}")
        uncut = ravel(options, one, data_of(row, one), UNCUT_LIMIT, "off")
        if "lack" not in uncut and uncut["digest"] != found[-1][1]["digest"]:
            raise Wrong(f"{row.label()}: the results without chunks differ")
        kept = {"title": row.label(), "n": row.n, "variant": row.variant, "unit": one.unit,
                "input": data_of(row, one).bytes(), "uncut": uncut,
                "limits": [{"limit": mb * 10 ** 6, **run} for mb, run in found]}
        keep(options, "limits", kept)
        print(memory_page.limits_line(kept), flush=True)


# ---- targets ----

def rounds_of(options, row, one, data):
    """Runs of each system in turn."""
    many = 1 if row.once else options.rounds
    run = ravel_once if row.once else ravel
    found = {"cut": [], "uncut": [], "c": []}
    for _ in range(many):
        found["cut"].append(run(options, one, data, UNCUT_LIMIT))
        if row.uncut:
            found["uncut"].append(ravel(options, one, data, UNCUT_LIMIT, "off"))
        if row.c:
            found["c"].append(openmp(options, one, data))
    return found


def middle(runs):
    """The medians of what runs took; of peaks the greatest."""
    runs_done = [run for run in runs if "lack" not in run]
    if not runs_done:
        return runs[0] if runs else None
    kept = {"seconds": median([run["seconds"] for run in runs_done])}
    for key in ("peak", "process"):
        if key in runs_done[0]:
            kept[key] = max(run[key] for run in runs_done)
    return kept


def ratio(above, below):
    """The median of the rounds' ratios of times."""
    pairs = [(a, b) for a, b in zip(above, below) if "lack" not in a and "lack" not in b]
    return median([a["seconds"] / b["seconds"] for a, b in pairs]) if pairs else None


def targets(options):
    known = cases()
    for row in named(TARGETS, options.names):
        if row.once and options.without_long:
            continue
        one = known[row.name]
        data = data_of(row, one)
        warm_up(options, row.name, one)
        found = rounds_of(options, row, one, data)
        results = {run["digest"] for run in found["cut"] + found["uncut"] if "lack" not in run}
        if len(results) > 1:
            raise Wrong(f"{row.label()}: the results without chunks differ")
        kept = {"title": row.label(), "input": data.bytes(), "cut": middle(found["cut"]),
                "uncut": middle(found["uncut"]), "c": middle(found["c"]),
                "over_uncut": ratio(found["cut"], found["uncut"]), "over_c": ratio(found["cut"], found["c"]),
                "wanted": {"memory": row.most(data.bytes()), "uncut": row.cut, "c": row.c}}
        keep(options, "targets", kept)
        print(memory_page.targets_line(kept), flush=True)


# ---- check ----

def check_reference(row, one, folder):
    """Of what bench/run --check does not know: the results of the program by hand, by an independent way."""
    data = data_of(row, one, row.small)
    outputs = result_files(folder, result_count(one))
    words = [relative(compiled(ROOT / "bench" / "baselines" / f"{one.name}.c", openmp=True, widths=one.widths))]
    for output in outputs:
        words += ["-o", output]
    run = execute([*words, *data.words(repr)])
    wrong = run.complaint() or case.wrong([load(path) for path in outputs], one.reference(data.arguments()), 1e-9)
    return wrong and f"{one.name}.c: {wrong}"


def too_much(row, least, sizes):
    promised = min(mb for mb in sizes if mb >= row.suffices)
    return None if least <= promised else f"{least} MB are needed, {promised} should suffice"


def check_one(options, row, one, sizes):
    """None, or a sentence."""
    found = with_limits(options, row, one, sizes, row.small)
    wrong = complaint(found, sizes[-1])
    if wrong is None:
        whole = ravel(options, one, data_of(row, one, row.small), "2G", "off")
        if whole["digest"] != found[-1][1]["digest"]:
            wrong = "the results without chunks differ"
    if wrong is None:
        done = [mb for mb, run in found if "lack" not in run]
        wrong = too_much(row, done[0], sizes)
        print(f"{row.label()}: from {done[0]} MB; {whole['peak'] / 1e6:.1f} MB without chunks")
    return wrong and f"{row.label()}: {wrong}"


def check(options):
    known, wrong = cases(), []
    rows = named(LIMITED, options.names)
    sizes = SMALL_LIMITS
    if options.quick:
        rows, sizes = named(LIMITED, QUICK), SMALL_LIMITS[::3]
    for row in rows:
        known[row.name].widths = WIDE
        wrong.append(check_one(options, row, known[row.name], sizes))
    if not options.quick:
        with tempfile.TemporaryDirectory(prefix="ravel-memory-") as folder:
            wrong += [check_reference(row, known[row.name], folder) for row in rows if row.name == "all-pairs"]
    wrong = [sentence for sentence in wrong if sentence]
    for sentence in wrong:
        print(f"FAILED {sentence}")
    return 1 if wrong else 0


# ---- what is kept ----

def keep(options, section, row):
    """Into the file, instead of a row with its title; the page has the order of the tables."""
    document = json.loads(options.out.read_text()) if options.out.exists() else {"limits": {}, "targets": {}}
    machine = description()
    row["commit"] = commit_text(machine, 12)
    row["load"] = machine["load"]
    row["command"] = shlex.join(["bench/memory-limits.py", section])
    document["machine"] = {"commit": machine["commit"], "processor": machine["processor"]["model"], "cores": machine["processor"]["cores"],
                           "memory": machine["memory"], "system": machine["system"]}
    document[section][row["title"]] = row
    write(options.out, document)


def page(options):
    memory_page.write(json.loads(options.out.read_text()), [row.label() for row in LIMITED],
                      [row.label() for row in TARGETS], ROOT / "docs" / "results-memory.md")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["limits", "targets", "page", "check"])
    parser.add_argument("names", nargs="*", help="programs; default: all")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3, help="of targets")
    parser.add_argument("--without-long", action="store_true", help="targets: not what takes minutes")
    parser.add_argument("--quick", action="store_true", help="check: some programs and limits")
    options = parser.parse_args()
    options.build = options.build.resolve()
    return options


def main():
    options = parse()
    return {"limits": limits, "targets": targets, "page": page, "check": check}[options.what](options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (BenchError, Wrong) as error:
        sys.exit(f"memory-limits.py: {error}")
