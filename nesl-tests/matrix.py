#!/usr/bin/env python3
"""matrix.py - all NESL tests in all configurations of Ravel, with one table of results.

    matrix.py                                every configuration, whole
    matrix.py --sample P [--seed TEXT]       CORE, and P percent of the others, drawn by TEXT
    matrix.py --way fused --widths 64 ...    only these ways, widths, threads, back ends
    matrix.py --chunks 7 --chunks random ... batch calls in chunks of these sizes (nesl --chunks)
    matrix.py --list                         the configurations

A configuration is WAY[-BACKEND][-WIDTHS][-THREADS]: `fused` is what `nesl` does by default, in the
classic widths; `unoptimised-delayed-64`, `native-64-2t` ... It runs the suites of nesl.py
(the corpus, nesl-tests/nesl, examples) and the rows of library.py, in parallel. The ways are
{direct, unoptimised, optimised, fused, native}, the threads {1, 2, 8}, the widths {32/64, 64/64,
32/32, 64/32}, the back ends those available: the CPU's, the delayed one, the
emulated GPU, the code for a GPU interpreted, and a real one. Not every combination is meaningful: `direct` has no back end, only the
CPU has threads, and what is compiled runs on the CPU or a real GPU. A failure is shown as the smallest program with
it.
"""

import argparse
import concurrent.futures
import hashlib
import os
import subprocess
import sys
import tempfile

FLAGS = {
    "direct": ["--direct"],
    "unoptimised": ["--no-optimise"],
    "optimised": ["--no-fusion"],
    "fused": [],
    "native": ["--native=wait"],
}
BACKENDS = ["cpu", "delayed", "cuda-emu", "cuda-ptx", "cuda"]
# Only if it is asked for: what is interpreted is a hundred times as slow.
NOT_USUAL = ["cuda-ptx"]
# What a machine has not if a back end cannot be had there; the others can be had everywhere.
LACKS = {"cuda": " (no GPU)", "cuda-ptx": " (no nvcc)"}
WIDTHS = {
    "classic": ["--classic"],
    "64": [],
    "32-32": ["--int", "32", "--float", "32"],
    "64-32": ["--int", "64", "--float", "32"],
}
# For a number of threads, the widths in which it is tried; None is the machine's number.
THREADS = {None: list(WIDTHS), 1: ["32-32"], 2: ["64"], 8: ["classic"]}
# From which to which percent of the forms and rows, in an order of chance, are in every sample of a
# configuration, as in every run of scripts/test: each is direct, and fused in one of two widths.
CORE = {"direct": (0, 100), "fused": (0, 60), "fused-64": (60, 100), "unoptimised-64": (50, 70)}
# Of CORE but for these: to interpret them directly takes seconds to a minute.
NOT_CORE = {"direct": ("barnes-hut.nesl", "heat.nesl", "library-stencils.nesl", "mandelbrot.nesl")}
# Of a way that compiles what it runs, a sample takes this part of its percent.
PART = {"native": 0.1}


class Config:
    """A way to run NESL: its name, and the options of `nesl` for it."""

    def __init__(self, way, backend, widths, threads, chunks=None):
        self.way, self.backend, self.widths, self.threads, self.chunks = way, backend, widths, threads, chunks
        parts = [way, *([backend] if backend != "cpu" else []),
                 *([widths] if widths != "classic" else []), *([f"{threads}t"] if threads else []), *([f"chunks-{chunks}"] if chunks else [])]
        self.name = "-".join(parts)
        self.flags = [*FLAGS[way], *([] if way == "direct" else ["--backend", backend]),
                      *WIDTHS[widths], *(["--threads", str(threads)] if threads else []),
                      *(["--chunks", chunks] if chunks else [])]

    def in_chunks(self, chunks):
        """The same with batch calls in chunks of this size."""
        return Config(self.way, self.backend, self.widths, self.threads, chunks)


def meaningful(way, backend, threads):
    if way == "direct":
        return backend == "cpu" and threads is None
    if backend != "cpu":
        # Each kernel that is compiled for the emulated GPU takes seconds: drive.py does that.
        return threads is None and (way != "native" or backend == "cuda")
    return True


CONFIGS = {c.name: c for c in (
    Config(way, backend, widths, threads)
    for way in FLAGS for backend in BACKENDS for widths in WIDTHS for threads in THREADS
    if widths in THREADS[threads] and meaningful(way, backend, threads))}


def chunk_sizes(options):
    """Those of the command line; of `random` sizes --seed says which."""
    drawn_by = int(hashlib.sha256(options.seed.encode()).hexdigest(), 16) % 10 ** 6
    return [f"random:{drawn_by}" if size == "random" else size for size in options.chunks]


def wanted(command, options):
    """The configurations of the command line with an available back end."""
    import nesl

    chosen = [c for c in CONFIGS.values()
              if (not options.way or c.way in options.way)
              and (c.backend in options.backend if options.backend else c.backend not in NOT_USUAL)
              and (not options.widths or c.widths in options.widths)
              and (not options.threads or str(c.threads or "all") in options.threads)]
    if options.chunks:
        chosen = [c.in_chunks(size) for c in chosen if c.way != "direct" for size in chunk_sizes(options)]
        for known in (CONFIGS, nesl.CONFIGS):  # this file is two modules: the one that is run, and the others'
            known.update((c.name, c) for c in chosen)
    there = {}
    for c in chosen:
        way = c.way, c.backend
        if way not in there:
            there[way] = subprocess.run([command, *c.flags, "-e", "1"], stdin=subprocess.DEVNULL,
                                        capture_output=True, check=False).returncode == 0
            if not there[way]:
                print(f"SKIPPED{LACKS.get(c.backend, '')} {c.way} on {c.backend}")
    return [c.name for c in chosen if there[c.way, c.backend]]


def drawn(what, config, options, file=""):
    """Whether a sample includes this, a form's file or a row."""
    def percent_of(text):
        return int(hashlib.sha256(f"{text} {options.seed}".encode()).hexdigest(), 16) % 1000 / 10

    way = CONFIGS[config].way
    first, end = CORE.get(config, (0, 0)) if file not in NOT_CORE.get(way, ()) else (0, 0)
    part = PART.get(way, 1) if options.sample < 100 else 1
    percent = options.sample * part
    return percent_of(f"{what} {config}") < percent or first <= percent_of(what) < end


def patience(config, options):
    """Seconds for one file, or one row of the library.

    The emulation checks every access of every thread, in chunks of one instance for each of them anew, and
    `native` waits for a compiler, which lets all others of a busy machine go first."""
    emulated = CONFIGS[config].backend in ("cuda-emu", "cuda-ptx")
    slow = emulated or CONFIGS[config].way == "native"
    return options.timeout * (15 if emulated and CONFIGS[config].chunks else 5 if slow else 1)


def print_table(configs, totals):
    """Configurations against suites."""
    suites = ["forms", "library"]
    width = max(len(c) for c in configs + ["configuration"])
    print(f"{'configuration':{width}}", *(f"{s:>20}" for s in suites))
    for config in configs:
        cells = []
        for suite in suites:
            ran, failed = totals.get((suite, config), (0, 0))
            cells.append(f"{failed} of {ran} fail" if failed else f"{ran} pass" if ran else "-")
        print(f"{config:{width}}", *(f"{c:>20}" for c in cells))


def main():
    import library  # which knows the configurations above, as nesl does
    import nesl

    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--nesl", default=nesl.COMMAND, help="the command")
    parser.add_argument("--sample", type=float, default=100, help="percent of what CORE has not")
    parser.add_argument("--seed", default="", help="which ones a sample has")
    parser.add_argument("--data", default="ravel", help="what the library's arguments follow from")
    parser.add_argument("--way", action="append", choices=FLAGS)
    parser.add_argument("--backend", action="append", choices=BACKENDS)
    parser.add_argument("--widths", action="append", choices=WIDTHS)
    parser.add_argument("--threads", action="append", choices=["all", "1", "2", "8"])
    parser.add_argument("--chunks", action="append", metavar="N", help="in chunks of N, instead of as"
                        " nesl cuts by itself; not in CORE")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--timeout", type=int, default=120,
                        help="seconds for one file or row; five times that on the emulated GPU, and"
                        " where superoperators are compiled")
    parser.add_argument("--list", action="store_true", help="print the configurations")
    options = parser.parse_args()
    if options.list:
        for config in CONFIGS.values():
            print(config.name, *config.flags)
        return 0
    configs = wanted(options.nesl, options)
    files = [nesl.File(path) for path in nesl.suite_files([])]
    totals, shown = {}, []
    with tempfile.TemporaryDirectory(prefix="ravel-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [("forms", c, pool.submit(nesl.run_file, options.nesl, f, c, s,
                                         patience(c, options)))
                for c in configs for f in files if f.runs_in(c)
                for s in f.seeds if drawn(f"{f.path.name} {s}", c, options, f.path.name)]
        jobs += [("library", c, pool.submit(library.run_row, options.nesl, row, c, options.data,
                                            folder, patience(c, options)))
                 for c in configs for row in library.ROWS if library.runs_in(row, c)
                 and drawn(row.call, c, options)]
        for suite, config, job in jobs:
            ran, failed = job.result()
            total = totals.setdefault((suite, config), [0, 0])
            total[0] += ran
            total[1] += len(failed)
            shown += [(suite, failure) for failure in failed]
    print_table(configs, totals)
    for suite, failure in shown[:20]:
        if suite == "forms":
            nesl.show_failure(options.nesl, failure, patience(failure.config, options))
        else:
            library.show_failure(failure, options.data)
    ran, failed = (sum(t[k] for t in totals.values()) for k in (0, 1))
    print(f"{ran - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
