"""What operations of the back end `mpi` send, beside the least that they have to.

    bench/mpi operations [--ranks N ...] [--elements N] [--build DIR] [--check]
    bench/mpi operations --page             the table of docs/internals/distributed.md, as it is to be; with --check whether
                                            it is so

Ranks of one machine, as many as wanted: what is sent does not depend on where they are. For each case
of bench/mpi-ops.c: collectives and messages, and the bytes of the rank that sends most; and the least bytes
for where the elements are: found here from the elements themselves, without anything of the back end. --check
fails where an operation sends more than 1.2 times that, a kilobyte and four words to each rank, or has more
collectives than 2, or 6 to sort.

The least counts
- elements, at 8 bytes, that a rank has and another one needs; of gathers each once, and its position, of 4 bytes, or a
  bit for each element that the other one has;
- where only the data decide how much goes to whom, a word from each rank to each;
- of results that are so short that all ranks have them, each rank's, to all others;
- of sums and scans in the order of the reproducible tree what that wants of other ranks: a total of each
  block of 1,024 elements, of each of the largest windows of 32^k tiles of 256.
It does not count samples, by which sorting finds out what goes where.
"""

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path

from case import numpy as np
from dispatch import BenchError

ROOT = Path(__file__).resolve().parent.parent
GRAIN, WHOLE, WORD = 1024, 4096, 8
POSITION = 4  # bytes, within a block


# ---- the data of bench/mpi-ops.c ----

def mix(x):
    x = x + np.uint64(0x9e3779b97f4a7c15)
    x = (x ^ x >> np.uint64(30)) * np.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ x >> np.uint64(27)) * np.uint64(0x94d049bb133111eb)
    return x ^ x >> np.uint64(31)


def lengths_of(n):
    """Segments of 1 to 199 elements, n in all."""
    lengths, total = [], 0
    drawn = 1 + (mix(np.arange(n, dtype=np.uint64)) % np.uint64(199)).astype(np.int64)
    for length in drawn:
        lengths.append(min(int(length), n - total))
        total += lengths[-1]
        if total == n:
            return np.array(lengths)
    return None


# ---- where elements are ----

def canonical(n, ranks):
    """First elements of the ranks, and n."""
    grains = -(-n // GRAIN)
    return [min(grains * r // ranks * GRAIN, n) for r in range(ranks)] + [n]


def owners(start, positions):
    return np.searchsorted(np.array(start[1:]), positions, side="right")


class Least:
    """Bytes of the rank that sends most, for each case."""

    def __init__(self, n, ranks):
        self.n, self.ranks = n, ranks
        self.start = canonical(n, ranks)
        self.i = np.arange(n, dtype=np.uint64)
        self.x = (mix(self.i) >> np.uint64(1)).astype(np.int64)
        self.home = owners(self.start, np.arange(n))
        self.segments = lengths_of(n)
        self.offsets = np.concatenate([[0], np.cumsum(self.segments)])
        self.words = WORD * (ranks - 1)

    def moved(self, source, target, each=WORD):
        """Elements that are on one rank and go to another: the most that a rank sends."""
        away = source != target
        return each * int(np.bincount(source[away], minlength=self.ranks).max())

    def add(self):
        return 0

    def add_moved(self):
        kept = np.flatnonzero(mix(self.i) % np.uint64(2))
        return self.moved(self.home[kept], owners(canonical(len(kept), self.ranks), np.arange(len(kept))))

    def dist(self):
        """What a rank lacks of the operands of the segments that its block touches."""
        if len(self.segments) <= WHOLE:
            return 0
        held, sent = canonical(len(self.segments), self.ranks), np.zeros(self.ranks, dtype=np.int64)
        for r in range(self.ranks):
            first, last = np.searchsorted(self.offsets, [self.start[r], self.start[r + 1] - 1], side="right") - 1
            of = owners(held, np.arange(first, last + 1))
            sent += np.bincount(of[of != r], minlength=self.ranks)
        return WORD * int(sent.max())

    def index_one(self):
        return 0

    def sum(self):
        """A sum of each 1,024 elements, to all: which have the result then."""
        return max(-(-(b - a) // 1024) for a, b in zip(self.start, self.start[1:])) * self.words

    def heads(self):
        """Each segment whole where it begins."""
        segment = np.searchsorted(self.offsets, np.arange(self.n), side="right") - 1
        return self.moved(self.home, self.home[self.offsets[segment]])

    def sums(self):
        if len(self.segments) > WHOLE:
            return self.heads()
        begin = np.bincount(self.home[self.offsets[:-1]], minlength=self.ranks)
        segment = np.searchsorted(self.offsets, np.arange(self.n), side="right") - 1
        away = self.home != self.home[self.offsets[segment]]
        sent = np.bincount(self.home[away], minlength=self.ranks) + begin * (self.ranks - 1)
        return WORD * int(sent.max())

    def int_scan(self):
        return self.words

    def real_scan(self):
        blocks = zip(self.start[:-2], self.start[1:-1])
        return max((self.windows(a // 256, b // 256) for a, b in blocks), default=0) * self.words

    def windows(self, a, b):
        """How many windows of 32^k tiles, as large as they can be, are tiles a to b."""
        count = 0
        while a < b:
            size = 1
            while a % (size * 32) == 0 and a + size * 32 <= b:
                size *= 32
            count, a = count + 1, a + size
        return count

    def scans(self):
        return self.heads()

    def pack(self):
        return self.words

    def sum_and_pack(self):
        return 2 * self.words

    def extract(self):
        return self.words + WORD + POSITION

    def replace(self):
        return self.words + WORD + POSITION

    def gather(self, index):
        sent = np.zeros(self.ranks, dtype=np.int64)
        bits = WORD * (np.diff(self.start) // 64 + 1)
        for r in range(self.ranks):
            wanted = np.unique(index[self.home == r])
            asked = np.bincount(owners(self.start, wanted), minlength=self.ranks)
            asked[r] = 0
            sent[r] += int(np.minimum(POSITION * asked, bits).sum())
            sent += WORD * asked
        return int(sent.max()) + self.words

    def gather_any(self):
        return self.gather((mix(self.i + np.uint64(self.n)) % np.uint64(self.n)).astype(np.int64))

    def gather_next(self):
        return self.gather((np.arange(self.n) + 1) % self.n)

    def scatter_any(self):
        index = (mix(self.i + np.uint64(self.n)) % np.uint64(self.n)).astype(np.int64)
        return self.moved(self.home, owners(self.start, index), WORD + POSITION) + self.words

    def permute(self):
        index = (np.arange(self.n) * 40503) % self.n
        return self.moved(self.home, owners(self.start, index), WORD + POSITION) + self.words

    def sorted_targets(self, keys):
        order = np.argsort(keys, kind="stable")
        target = np.empty(self.n, dtype=np.int64)
        target[order] = self.home
        return target

    def sort_one(self):
        return self.moved(self.home, self.sorted_targets(self.x))

    def rank_one(self):
        target = self.sorted_targets(self.x)
        away = self.home != target
        sent = np.bincount(self.home[away], minlength=self.ranks) + np.bincount(target[away], minlength=self.ranks)
        return WORD * int(sent.max())

    def sort_sorted(self):
        return self.moved(self.home, self.sorted_targets((np.arange(self.n) + 1) % self.n))

    def sort_equal(self):
        return self.moved(self.home, self.sorted_targets((mix(self.i) % np.uint64(2)).astype(np.int64)))

    def sorts(self):
        return self.heads()

    def packs(self):
        """How many elements a rank keeps, and of the segment that has begun before; where results are on all
        ranks, the lengths of the segments that begin on it."""
        begin = np.bincount(self.home[self.offsets[:-1]], minlength=self.ranks)
        return 2 * self.words + (int(begin.max()) * self.words if len(self.segments) <= WHOLE else 0)

    def make_segdes(self):
        return self.words

    def lengths(self):
        return 0

    def first_use(self):
        """The sum of a rank's lengths; three numbers of each boundary of blocks, to all; what it lacks of lengths and operands of
        the segments that its block touches."""
        return self.words + 3 * self.words + 2 * self.dist() if len(self.segments) > WHOLE else 0


# ---- the runs ----

def run_ranks(build, ranks, *command, **environment):
    """The completed job of ranks of this machine: what they print."""
    inherited = {name: value for name, value in os.environ.items() if name != "RAVEL_MPI"}
    return subprocess.run(["mpirun.openmpi", "--oversubscribe", "-n", str(ranks), *map(str, command)],
                          env={**inherited, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                               "RAVEL_BACKENDS": str(build / "lib/ravel"), **environment},
                          text=True, capture_output=True, check=True, stdin=subprocess.DEVNULL)


def lacking(build):
    """Whether there is no MPI to run anything with; says so."""
    missing = not shutil.which("mpirun.openmpi") or not (build / "lib/ravel/cvl-mpi.so").exists()
    if missing:
        print("SKIPPED: no Open MPI, or no back end for it")
    return missing


def counts(build, ranks, elements):
    command = build / "bin/bench-mpi-ops"
    if not command.exists():
        raise BenchError(f"{command} is not built: cmake --build {build} --target bench-mpi-ops")
    done = run_ranks(build, ranks, command, elements)
    cases = {}  # of all ranks the most of each
    for line in map(json.loads, done.stdout.splitlines()):
        most = cases.setdefault(line["case"], line)
        for key in ("collectives", "messages", "bytes"):
            most[key] = max(most[key], line[key])
    return list(cases.values())


SAMPLED = ("rank_one", "sort_one", "sort_sorted", "sort_equal")
OF_TWO = ("first_use",)  # operations
SAMPLES = 4096  # of each rank in a round, to all others; at most so many and a few


def complaint(case, least, ranks):
    name = case["case"]
    samples = 2 * (SAMPLES + 4 * ranks) * WORD * (ranks - 1) if name in SAMPLED else 0
    if case["bytes"] > 1.2 * least + 1024 + 4 * WORD * (ranks - 1) + samples:
        return "too many bytes"
    most = 6 if name in SAMPLED else 2 * (1 + (name in OF_TWO))
    return "too many collectives" if case["collectives"] > most else ""


# ---- the page ----

PAGE = ROOT / "docs" / "internals" / "distributed.md"
PAGE_RANKS, PAGE_ELEMENTS = 4, 1 << 20
TITLES = {
    "add": "elementwise, of vectors that lie alike", "add_moved": "elementwise, with the result of a PACK",
    "dist": "DIST over segments of 100", "index_one": "INDEX, one segment", "sum": "sum of FLOATs, one segment",
    "sums": "sums of FLOATs, segments of 100", "int_scan": "scan of INTs, one segment",
    "real_scan": "scan of FLOATs, one segment", "scans": "scans of FLOATs, segments of 100", "pack": "PACK, one segment",
    "sum_and_pack": "a sum of INTs and a PACK, one segment, both wanted",
    "extract": "EXTRACT, one segment", "replace": "REPLACE, one segment", "gather_any": "BPERMUTE, at random",
    "gather_next": "BPERMUTE, each its neighbour", "scatter_any": "DPERMUTE, at random", "permute": "PERMUTE, all over",
    "rank_one": "RANK, one segment", "sort_one": "SORT, one segment", "sort_sorted": "SORT, nearly sorted",
    "sort_equal": "SORT, two different keys", "sorts": "SORT, segments of 100", "packs": "PACK, segments of 100",
    "make_segdes": "MAKE_SEGDES", "lengths": "LENGTHS",
    "first_use": "MAKE_SEGDES and a first DIST, segments of 100"}


def pattern(case):
    """Local: nothing is sent. Boundary: not more than 4,096 elements. Exchange: most elements may go elsewhere."""
    if case["bytes"] == 0:
        return "local"
    return "exchange" if case["case"] in SAMPLED or case["bytes"] > 4096 * WORD else "boundary"


def page_table(build):
    least_of = Least(PAGE_ELEMENTS, PAGE_RANKS)
    yield "| operation | pattern | collectives | messages | bytes | least |"
    yield "|---|---|---|---|---|---|"
    for case in counts(build, PAGE_RANKS, PAGE_ELEMENTS):
        least = getattr(least_of, case["case"])()
        yield (f"| {TITLES[case['case']]} | {pattern(case)} | {case['collectives']} | {case['messages']} |"
               f" {case['bytes']:,} | {least:,} |")


def page(options):
    lines = list(page_table(options.build))
    if not options.check:
        print("\n".join(lines))
        return 0
    there = PAGE.read_text(encoding="utf-8")
    wrong = [line for line in lines if line not in there]
    print("".join(f"FAILED: docs/internals/distributed.md lacks\n{line}\n" for line in wrong), end="")
    print(f"{len(lines) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--elements", type=int, default=1 << 20, help="a power of two; default: 2^20")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args(words)
    options.build = options.build.resolve()
    if lacking(options.build):
        return 0
    if options.page:
        return page(options)
    failures = cases = 0
    print("| case | ranks | collectives | messages | bytes | least | ratio |\n|---|---|---|---|---|---|---|")
    for ranks in options.ranks:
        least_of = Least(options.elements, ranks)
        for case in counts(options.build, ranks, options.elements):
            least = getattr(least_of, case["case"])()
            wrong = complaint(case, least, ranks)
            failures, cases = failures + bool(wrong), cases + 1
            ratio = f"{case['bytes'] / least:.2f}" if least else "" if case["bytes"] == 0 else "-"
            print(f"| {case['case']} | {ranks} | {case['collectives']} | {case['messages']} | {case['bytes']:,} |"
                  f" {least:,} | {ratio} |{'  ' + wrong if options.check and wrong else ''}")
    if options.check:
        print(f"{cases - failures} passed, {failures} failed")
    return 1 if options.check and failures else 0

