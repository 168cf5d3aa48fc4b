"""How ranks of an MPI job execute the superoperators and batch calls of programs.

    bench/mpi programs [NAME ...]                        prints them
    bench/mpi programs [NAME ...] --check | --update     compares their numbers with bench/expected.txt, or writes them

The programs, their arguments and what counts as work are those of superoperators.py. Three ranks of this machine, whose
blocks are of 64 elements: what a superoperator is split at depends on where segments lie, not on how long vectors are.
A superoperator is executed

- whole: each rank executes all of it on its block. Operands that lie otherwise are moved before;
- in steps: what is named is executed by itself. What is between is fused;
- node by node: as the operations that it was made from: they are few, or copies of segments, or vectors are short.

Batch calls are distributed (each rank executes its own instances, without any exchange) or executed together.
"""

import json
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor

import expected
import superoperators as one_process
from mpi_operations import lacking, run_ranks
from systems import WIDTHS

RANKS = 3
SMALL = "grain=64,whole=64,samples=64"


class Ways:
    """What RAVEL_MPI_EXPLAIN says of a superoperator, of all its kernels."""

    def __init__(self):
        self.counts, self.at = [0, 0, 0], set()

    def add(self, said):
        counted = re.match(r"whole (\d+), in steps (\d+), node by node (\d+)(?:: (.*))?$", said)
        if counted:
            self.counts = [a + int(b) for a, b in zip(self.counts, counted.groups()[:3])]
            self.at.update((counted[4] or "").split(", ") if counted[4] else [])
        else:
            self.counts[2] += 1

    def words(self):
        """Of several with their numbers."""
        names = ("whole", "in steps", "node by node")
        ways = [(name, n) for name, n in zip(names, self.counts) if n] or [(names[2], 0)]
        return ways[0][0] if len(ways) == 1 else ", ".join(f"{name} {n}" for name, n in ways)


def profile(program, folder, build):
    """What a run counts, and the ways of superoperators by their numbers."""
    made, _ = one_process.compiled(program, folder, build)
    done = run_ranks(build, RANKS, build / "bin" / "vinterp", "-O", *WIDTHS[program.widths], "--backend", "mpi", "--threads",
                     "1", "--native=off", "--profile", "--json", made, *program.arguments, RAVEL_MPI=SMALL,
                     RAVEL_MPI_EXPLAIN="1")
    ways = {}
    for number, said in re.findall(r"^ravel: OP(\d+) on ranks: (.*)$", done.stderr, re.MULTILINE):
        ways.setdefault(int(number), Ways()).add(said)
    counted = re.sub(r"^ravel: .*\n", "", done.stderr, flags=re.MULTILINE)
    return json.JSONDecoder().raw_decode(counted[counted.index('{"runs"'):])[0], ways


def looked_at(counts):
    """Numbers, shares of the work and formulas of the superoperators that are shown, the greatest first."""
    work, sums, formulas = one_process.work, {}, {}
    total = sum(map(work, counts["superoperators"])) + sum(work(r) for r in counts["opcodes"] if r["opcode"] != "FUSED") or 1
    for row in counts["superoperators"]:
        sums[row["number"]] = sums.get(row["number"], 0) + work(row)
        formulas[row["number"]] = row["formula"]
    return [(n, sums[n] / total, formulas[n]) for n in sorted(sums, key=lambda n: (-sums[n], n))
            if sums[n] > one_process.LEAST * total]


def calls(counts):
    """The names of functions whose calls were distributed, and of the others."""
    distributed = {c["name"] for c in counts.get("chunks", []) if c["bound"] == "ranks"}
    return sorted(distributed), sorted({c["name"] for c in counts.get("chunks", [])} - distributed)


def section(program, counts, ways):
    yield f"{program.title}, {program.says}"
    for word, names in zip(("distributed", "together"), calls(counts)):
        if names:
            yield f"  {word}: {', '.join(names)}"
    for n, share, formula in looked_at(counts):
        way = ways.get(n, Ways())
        at = f" ({', '.join(sorted(way.at))})" if way.at else ""
        yield f"  {one_process.percent(share):>5} {way.words()}{at}: OP{n} {one_process.shortened(formula)}"


def summary(counts, ways):
    """What is held: how many superoperators are executed in which ways, and how many lifted functions."""
    kinds = []
    for n, *_ in looked_at(counts):
        way = ways.get(n, Ways())
        kinds.append(re.sub(r" \d+", "", way.words()).replace(", ", " and ") + (f" ({', '.join(sorted(way.at))})" if way.at else ""))
    distributed, together = calls(counts)
    return "; ".join(filter(None, [expected.counted(sorted(kinds)), distributed and f"distributed {len(distributed)}",
                                   together and f"together {len(together)}"]))


def main(words):
    options = one_process.parse(__doc__, words)
    if lacking(options.build):
        return 0
    programs = one_process.chosen(options.names)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(1) as pool:
        found = list(pool.map(lambda p: (p, *profile(p, folder, options.build)), programs))
    if not options.check:
        for row in found:
            print("\n".join(section(*row)))
    return one_process.conclude(options, "executed by ranks", {one.title: summary(*rest) for one, *rest in found},
                                "bench/mpi programs")
