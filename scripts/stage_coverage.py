#!/usr/bin/env python3
"""What each stage of scripts/test executes that no other does.

    git clone . FOLDER && cd FOLDER && scripts/stage_coverage.py

builds that clone with --coverage, and runs the stages of its release, each with counters of its own. It prints
for each of them the seconds of processors that it took, how many branches of the product it executed (the arcs
that gcov counts), and how many of these no other stage did, with the files that have most of them. With --table
it prints the table of the last run. What a sanitizer finds is not in it: those stages execute the same, and look
at more.

The counters are read as libgcov of GCC 12 writes them (gcov-io.h: FUNCTION and COUNTER_ARCS records). A function
that is compiled into several libraries is one.
"""

import argparse
import importlib.util
import re
import struct
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy

from stage_runner import ROOT, Build, log_of, run

COUNTERS = ROOT / "build" / "stage-coverage"
FUNCTION, ARCS = 0x01000000, 0x01A10000
HEAD = 16  # bytes before the first record
MOST_NAMED = 3
TIMES = "times"
# What is no product, or is code of the checks themselves.
CHECKING = ("bench/", "lab/", "nesl-tests/", "cvl/suite/", "cvl/oracle/")


def counters(path):
    """Function -> which of its arcs were executed."""
    data, at, function, found = path.read_bytes(), HEAD, None, {}
    while at + 8 <= len(data):
        tag, length = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION and length:
            function = struct.unpack_from("<I", data, at)[0]
        elif tag == ARCS and length < 0:  # all are 0
            found[function] = numpy.zeros(-length // 8, bool)
        elif tag == ARCS:
            found[function] = numpy.frombuffer(data, "<u8", length // 8, at) != 0
        at += max(length, 0)
    return found


def source_of(counter):
    """The source that counters belong to; None if it is not of the product."""
    name = re.sub(r"CMakeFiles/[^/]*\.dir/", "", counter).removesuffix(".gcda").replace("__/", "")
    return None if "/tests/" in name or name.startswith(CHECKING) else name


def executed(folder):
    """(source, function) -> its arcs, of one stage."""
    arcs = {}
    for path in sorted(folder.rglob("*.gcda")):
        source = source_of(str(path.relative_to(folder)))
        for function, bits in counters(path).items() if source else ():
            old = arcs.get((source, function))
            if old is None or len(old) == len(bits):
                arcs[source, function] = bits if old is None else old | bits
    return arcs


def alone(stages):
    """Stage -> how many arcs it executes, and source -> how many of them nobody else does."""
    times = defaultdict(lambda: 0)
    for arcs in stages.values():
        for key, bits in arcs.items():
            times[key, len(bits)] = times[key, len(bits)] + bits.astype(int)
    for name, arcs in stages.items():
        only = Counter()
        for key, bits in arcs.items():
            only[key[0]] += int((bits & (times[key, len(bits)] == 1)).sum())
        yield name, sum(int(bits.sum()) for bits in arcs.values()), only


def seconds_of(stage):
    """Of processors, which the shell has counted: minutes and seconds of what it started, in user's code and the
    system's."""
    spent = re.findall(r"(\d+)m([\d.]+)s", (COUNTERS / stage / TIMES).read_text())[2:]
    return round(sum(60 * int(minutes) + float(rest) for minutes, rest in spent))


def table():
    stages = {folder.name: executed(folder) for folder in sorted(COUNTERS.iterdir())}
    seconds = {name: seconds_of(name) for name in stages}
    print(f"{'seconds':>7} {'arcs':>7} {'only':>6}  stage")
    for name, reached, only in sorted(alone(stages), key=lambda row: -seconds[row[0]]):
        most = ", ".join(f"{source} {n}" for source, n in only.most_common(MOST_NAMED) if n)
        print(f"{seconds[name]:7} {reached:7} {sum(only.values()):6}  {name}: {most}")


def usual_stages():
    """Those of the release, each with a folder for its counters."""
    spec = importlib.util.spec_from_file_location("test_stages", ROOT / "scripts" / "test-stages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    depth = len((ROOT / "build").parts) - 1
    for stage in module.usual():
        if stage.needs == "release":
            folder = COUNTERS / log_of(stage).stem
            stage.command = (f"mkdir -p {folder}; export GCOV_PREFIX={folder} GCOV_PREFIX_STRIP={depth}; "
                             f"({stage.command}); status=$?; times >{folder / TIMES}; exit $status")
            yield stage


def build():
    if (ROOT / "build" / "build.ninja").exists() and "RAVEL_COVERAGE:BOOL=ON" not in (
            ROOT / "build" / "CMakeCache.txt").read_text():
        sys.exit("stage_coverage: build/ is a build without counters: run this in a clone of its own")
    for words in (["cmake", "--preset", "release", "-DRAVEL_COVERAGE=ON"],
                  ["cmake", "--build", "build", "--target", "all", "tests-usual", "benchmarks"]):
        subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--table", action="store_true")
    if not parser.parse_args().table:
        build()
        run({"release": Build("true")}, list(usual_stages()), {})
    table()


if __name__ == "__main__":
    main()
