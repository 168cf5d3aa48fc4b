#!/usr/bin/env python3
"""What programs send on up to 64 ranks, and what a model makes of that for up to 4,096: docs/results-scaling.md.

    bench/mpi/scaling.py [NAME ...] [--ranks N ...]    counts: collectives, messages, bytes; --json: as JSON
    bench/mpi/scaling.py --page [NAME ...]             counts anew, and writes bench/results/mpi-scaling.json and the page
    bench/mpi/scaling.py --times                       measures the times of this machine anew that the model starts from
    bench/mpi/scaling.py --check [NAME ...]            whether the page has what programs do

Counts do not depend on where ranks are: they are those of ranks of this machine, as many as wanted. They are of a whole run on
data in files, of which the first element of each result is wanted: printing all of it would be counted, too.
Times are measured of one process and of two ranks, of one thread each. Everything else is a model's (scalingmodel.py).
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import hardware  # noqa: E402
import scalingpage  # noqa: E402
import superoperators as one_process  # noqa: E402
from collection import ROOT, WORK, BenchError, Data, load_cases, program, relative, variants  # noqa: E402
from counts import run_ranks  # noqa: E402
from resultfile import write  # noqa: E402
from scalingpage import PROGRAMS  # noqa: E402
from systems import WIDTHS, build, nesl_number  # noqa: E402

KEPT = ROOT / "bench" / "results" / "mpi-scaling.json"
PAGE = ROOT / "docs" / "results-scaling.md"
RANKS_ALL = sorted({p for known in PROGRAMS.values() for ranks in known.sizes.values() for p in ranks})
SAMPLES = (64, 65536, 262144, 524288)  # the first: what is left of a sort without them
RUNS = 5  # of which the fastest counts


# ---- counting ----

def counting_source(text):
    """The program with a function `bench_counted`: of each result of `bench` the first element."""
    name, kinds, result = re.search(r"function\s+bench\s*(\([^)]*\))\s*:(.*?)->([^=]*)=", text, re.DOTALL).groups()
    found = results_of(result)
    names = [f"r{k}" for k in range(len(found))]
    firsts = [f"{r}[0]" if kind.startswith("[") else r for r, kind in zip(names, found)]
    small = [kind[1:-1] if kind.startswith("[") else kind for kind in found]

    def tuple_of(items):
        return items[0] if len(items) == 1 else f"({', '.join(items)})"

    return (f"{text}\nfunction bench_counted{name} : {' '.join(kinds.split())} -> {tuple_of(small)} =\n"
            f"  let {tuple_of(names)} = bench{name} in {tuple_of(firsts)};\n")


def results_of(text):
    """The types of results of a declaration: of flat vectors and scalars."""
    text = " ".join(text.split())
    return text[1:-1].split(", ") if text.startswith("(") else [text]


def read_counts(said):
    """What the last context of rank 0 says that a rank has sent at most."""
    found = re.findall(r"most sent by a rank: (.*)", said)
    if not found:
        raise BenchError("the back end does not say what was sent:\n" + said[-2000:])
    collectives, exchanges, messages, sent, gathered = map(int, re.findall(r"\d+", found[-1]))
    return {"collectives": collectives, "exchanges": exchanges, "messages": messages, "gathered": gathered,
            "exchanged": max(sent - gathered, 0)}


def made(case, folder, built):
    """The program in VCODE."""
    source = Path(folder) / f"{case.name}.nesl"
    source.write_text(counting_source(program(case).read_text()))
    one = one_process.Program(case.name, source, ["--entry", "bench_counted"], case.widths)
    return one_process.compiled(one, Path(folder) / "made", built)[0]


def count(case, n, ranks, vcode, built):
    arguments = Data(case, variants(case)[0][0], n).words(one_process.literal)
    done = run_ranks(built, ranks, built / "bin" / "vinterp", "-O", *WIDTHS[case.widths], "--backend", "mpi", "--threads", "1",
                     "--native=off", "--profile=device", vcode, *arguments, RAVEL_MPI_EXPLAIN="1")
    return {"name": case.name, "n": n, "ranks": ranks, **read_counts(done.stderr)}


def counts_of(cases, names, ranks, built):
    """A row for each program, size and number of ranks; as they come."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            vcode = made(cases[name], folder, built)
            for n, wanted in PROGRAMS[name].sizes.items():
                for p in wanted:
                    if p in ranks:
                        yield count(cases[name], n, p, vcode, built)


# ---- times of this machine ----

def messages():
    """What messages.c measures between two ranks."""
    source = Path(__file__).resolve().parent / "messages.c"
    made_program = build([["mpicc.openmpi", "-O2", "-Wall", "-Wextra", "-Werror", relative(source), "-o", "$dir/program"]],
                         "mpi-messages", [source])
    return json.loads(run_ranks(Path("."), 2, "--bind-to", "none", made_program).stdout)


def timed(case, n, ranks, built, **environment):
    """Seconds of the fastest run, with arguments where they are wanted and results left there. 1: of a process that is no
    rank."""
    with tempfile.NamedTemporaryFile(suffix=".json") as times:
        command = [built / "bin" / "nesl", *WIDTHS[case.widths], "--backend", "mpi" if ranks > 1 else "cpu", "--threads", "1",
                   "--native=wait", "--print-length", "1", "--repeat", RUNS, "--times", times.name, "run", program(case),
                   "--entry", "bench", *Data(case, variants(case)[0][0], n).words(nesl_number)]
        if ranks > 1:
            run_ranks(built, ranks, "--bind-to", "none", *command, **environment)
        else:
            subprocess.run(list(map(str, command)), cwd=ROOT, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        return min(json.loads(Path(times.name).read_text())["seconds"])


def sampled(case, n, built):
    """Seconds of two ranks that sort with ever more samples: what the model's term for samples is compared with."""
    return [{"n": n, "samples": samples,
             "seconds": timed(case, n, 2, built, RAVEL_MPI=f"grain=1024,whole=4096,samples={samples}")} for samples in SAMPLES]


def times_of(cases, built):
    """Seconds of one process and of two ranks of each program that is modelled, and what messages take between them."""
    work = {}
    for name, known in PROGRAMS.items():
        if known.timed:
            work[name] = {"n": known.timed, "one": timed(cases[name], known.timed, 1, built),
                          "two": timed(cases[name], known.timed, 2, built)}
            print(f"{name}, n = {known.timed:,}: {work[name]['one']:.3f} s, two ranks {work[name]['two']:.3f} s", flush=True)
    return {"command": "bench/mpi/scaling.py --times", "messages": messages(), "work": work,
            "samples": sampled(cases["sort"], PROGRAMS["sort"].timed, built), "machine": hardware.description()}


# ---- commands ----

def in_order(rows):
    """By programs, sizes and ranks as the page has them."""
    listed = [(name, n, p) for name, known in PROGRAMS.items() for n, ranks in known.sizes.items() for p in ranks]
    return sorted((row for row in rows if key(row) in listed), key=lambda row: listed.index(key(row)))


def key(row):
    return row["name"], row["n"], row["ranks"]


def make_page(options, cases, names):
    """What is wanted anew: counts (of some programs), times, or (--draw) neither; the rest stays as it was kept."""
    document = json.loads(options.out.read_text()) if options.out.exists() else {}
    if options.times or "times" not in document:
        document["times"] = times_of(cases, options.build)
    if options.page or "counts" not in document:
        rows = [row for row in document.get("counts", []) if row["name"] not in names]
        for row in counts_of(cases, names, RANKS_ALL, options.build):
            rows.append(row)
            print(scalingpage.line(row), flush=True)
        document = {**document, "command": "bench/mpi/scaling.py --page", "commit": hardware.description()["commit"],
                    "counts": in_order(rows)}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write(options.out, document)
    PAGE.write_text(scalingpage.text(document, work_of(cases)))
    return 0


def work_of(cases):
    """The algorithms' work, by the number of elements."""
    return {name: cases[name].work for name in PROGRAMS}


def check(options, cases, names):
    """The page is that of the kept counts, and these are what programs do."""
    document = json.loads(options.out.read_text())
    kept = {key(row): row for row in document["counts"]}
    passed = failed = 0
    if PAGE.read_text() != scalingpage.text(document, work_of(cases)):
        print(f"FAILED: {relative(PAGE)} is not made from {relative(options.out)}")
        failed += 1
    for row in counts_of(cases, names, options.ranks, options.build):
        there = kept.get(key(row))
        passed, failed = passed + (there == row), failed + (there != row)
        if there != row:
            print(f"FAILED: {relative(options.out)} has\n{scalingpage.line(there) if there else 'nothing'}\n"
                  f"for\n{scalingpage.line(row)}\nbench/mpi/scaling.py --page makes it anew")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def show(options, cases, names):
    rows = []
    for row in counts_of(cases, names, options.ranks, options.build):
        rows.append(row)
        if not options.json:
            print(scalingpage.line(row), flush=True)
    if options.json:
        json.dump(rows, sys.stdout, indent=1)
        print()
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; none: all of the page")
    parser.add_argument("--ranks", type=int, nargs="+", default=list(RANKS_ALL))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="compare with what is kept")
    parser.add_argument("--page", action="store_true", help="count all and write the page")
    parser.add_argument("--times", action="store_true", help="measure the times and write the page")
    parser.add_argument("--draw", action="store_true", help="write the page from what is kept")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--out", type=Path, default=KEPT)
    options = parser.parse_args()
    options.build = options.build.resolve()
    cases = load_cases()
    if not shutil.which("mpirun.openmpi") or not (options.build / "lib/ravel/cvl-mpi.so").exists():
        print("SKIPPED: no Open MPI, or no back end for it")
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    names = options.names or list(PROGRAMS)
    unknown = [name for name in names if name not in PROGRAMS]
    if unknown:
        raise BenchError(f"{', '.join(unknown)}: not among {', '.join(PROGRAMS)}")
    if options.page or options.times or options.draw:
        return make_page(options, cases, names)
    return check(options, cases, names) if options.check else show(options, cases, names)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as error:
        sys.exit(f"bench/mpi/scaling.py: {error}")
