"""How much of each program is compiled: the superoperators that take more than 5 % of its work.

    bench/report compiled [NAME ...]            prints them
    bench/report compiled --check | --update    compares their kinds with bench/expected.txt, or writes them there

The programs are those of bench/programs, called with the smallest arguments that bench/cases
measures or those of SIZES, and the examples, of which FORMS says what is computed. They run
optimised, with the profile. Work is the elements that an instruction reads and writes, times its passes
over them: a count, which is the same on every machine and for every number of threads.
How much of a superoperator is compiled is what `vinterp -O --profile` says of it (docs/vcode.md).
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import case  # noqa: F401  (first: it finds a python that has numpy)
import expected
from collection import ROOT, Data, load_cases, program, relative, variants
from systems import WIDTHS

EXAMPLES = ROOT / "examples"
LEAST = 0.05       # of a program's work: what a superoperator must take to be here
LEAST_WAY = 0.01   # what a way to execute it must take to have a row of its own
LONGEST = 90       # characters of a formula that are shown
SECONDS = 120

# What is larger than the smallest size: rows of a grid are long in use, and affine runs need that.
SIZES = {"jacobi": 256 ** 2}
# What is computed of an example by its functions: what it is about, without the drawing.
FORMS = {"barnes-hut": "barnes_hut(random_bodies(500), 0.5)",
         "bfs": "bfs(grid(50), 0)",
         "fft": "fft({(cos(float(i)), 0.0) : i in [0:1024]})",
         "heat": "heat(larger(letters(dist(dist(`#, 23), 7)), 8), boundary(56, 184), 60)",
         "histogram": "bin(heights(6000, 163.0, 6.5) ++ heights(4000, 177.0, 7.0), linspace(140.0, 200.0, 31))",
         "jets": "flatten({masses(jets) : jets in selected({event(rand(1.0) < 0.4) : i in [0:5000]})})",
         "kmeans": "let clouds = flatten({cloud(p, 300) : p in [(0.0, 0.0), (7.0, 2.0), (3.0, 6.0)]}) "
                   "in kmeans(clouds, clouds -> [10, 310, 610])",
         "mandelbrot": "{{steps(c, (0.0, 0.0), 0, 100) : c in row} : row in plane(200, 300)}",
         "n-queens": "queens(8)",
         "primes": "primes(100000)",
         "quickhull": "hull({let a = 2.0 * pi * rand(k); r = sqrt(rand(k)) in (r * cos(a), r * sin(a)) "
                      ": k in dist(1.0, 1000)})",
         "quicksort": "quicksort({rand(k) : k in dist(1000000, 10000)})",
         "random-walks": "walks(2000, 401)",
         "sorters": "vsort_by_hand({rand(k) : k in dist(1000000, 2 ^ 12)})",
         "sparse-matrix": "solve(bar(101), dist(0.01, 101))",
         "string-search": 'search("ana", flatten(dist("bananas and an anaconda ", 100)))',
         "tables": "by_key({(dist(`a, 1 + rand(50)), rand(1.0)) : i in [0:5000]})",
         "word-count": 'word_count(flatten(dist("she sells sea shells by the sea shore; ", 100)))'}

WAYS = ("whole", "split", "evaluated", "node by node")


def run(words):
    done = subprocess.run([str(w) for w in words], cwd=ROOT, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr[-2000:]}")
    return done


# ---- programs ----

def literal(x):
    """A number as vinterp reads it."""
    return "T" if x is True else "F" if x is False else repr(x)


class Program:
    """Something to compile and to run."""

    def __init__(self, title, source, compiling, widths="64", arguments=(), says=""):
        self.title, self.source, self.compiling = title, source, compiling
        self.widths, self.arguments, self.says = widths, list(arguments), says


# Of programs that leave the types of their data open.
TYPES = {"scan": ":[int]"}


def entry(one):
    """The words for neslc that name the function of a benchmark program."""
    return ["--entry", "bench" + TYPES.get(one.name, "")]


def of_benchmarks():
    for one in load_cases().values():
        variant = variants(one)[0][0]
        n = SIZES.get(one.name, one.sizes[0])
        yield Program(one.name, program(one), entry(one), one.widths,
                      Data(one, variant, n).words(literal), f"n = {n:,}")


def definitions(text):
    """The functions and datatypes of a program in their lines: neslc computes what else stands there."""
    kept = set()
    for form in re.finditer(r"^(?:function|datatype)\b.*?;\n(?=\n|\S|\Z)", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, form.start())
        kept.update(range(first, first + form[0].count("\n")))
    return "".join(line if k in kept else "\n"
                   for k, line in enumerate(text.splitlines(keepends=True)))


def of_examples():
    for source in sorted(EXAMPLES.glob("*.nesl")):
        form = FORMS[source.stem]
        yield Program(f"examples/{source.stem}", source, ["-e", form], says=f"`{form}`")


def compiled(one, folder, build):
    """The file in VCODE, in a folder of its own, and what the compiler explains."""
    folder = Path(folder) / one.title
    folder.mkdir(parents=True)
    made, source, widths = folder / "made.vcode", one.source, WIDTHS[one.widths]
    if source.parent == EXAMPLES:
        source = folder / source.name
        source.write_text(definitions(one.source.read_text()))
    return made, run([build / "bin" / "neslc", *widths, "--explain", "-o", made, *one.compiling,
                      relative(source)]).stdout


def profile(one, folder, build):
    """What a run counts, and the calls that take rounds."""
    made, said = compiled(one, folder, build)
    folder, widths = made.parent, WIDTHS[one.widths]
    counted = run([build / "bin" / "vinterp", "-O", *widths, "--backend", "cpu", "--threads", "1",
                   "--native=off", "--profile", "--json", made, *one.arguments]).stderr
    rounds = [line.replace(f"{folder}/", "") for line in said.splitlines()
              if " takes rounds: " in line]
    return json.loads(counted[counted.index('{"runs"'):]), rounds


# ---- what is shown ----

def work(row):
    """Elements times passes; instructions that are not elementwise pass once."""
    return row["work"] * max(1, row["passes"] / row["calls"])


def counts_in(row, superops, total):
    """Whether a row is shown: the superoperator takes enough work, and this way some of it."""
    whole = sum(work(r) for r in superops if r["number"] == row["number"])
    return whole > LEAST * total and work(row) > LEAST_WAY * total


def percent(share):
    return f"{100 * share:.0f} %"


def shortened(formula):
    if len(formula) > LONGEST:
        formula = formula[:LONGEST].rstrip() + " ..."
    return formula


def shown(counts):
    """The rows of superoperators, single instructions above LEAST, and the work of all."""
    superops = counts["superoperators"]
    singles = [row for row in counts["opcodes"] if row["opcode"] != "FUSED"]
    total = sum(map(work, superops)) + sum(map(work, singles)) or 1
    rows = sorted((r for r in superops if counts_in(r, superops, total)),
                  key=lambda r: (-work(r), r["number"], r["compiled"], r["reasons"]))
    alone = sorted((r for r in singles if work(r) > LEAST * total),
                   key=lambda r: (-work(r), r["opcode"], r.get("type", "")))
    return rows, alone, total


def opcode(row):
    return " ".join(filter(None, [row["opcode"], row.get("type")]))


def how(row):
    reasons = row["reasons"].replace("no elementwise operations, ", "")
    return row["compiled"] + (f" ({reasons})" if reasons else "")


def summary(counts, rounds):
    """What is held: how many superoperators of each kind, and what is outside of them."""
    rows, alone, _ = shown(counts)
    kinds = expected.counted([how(r) for r in sorted(rows, key=lambda r: (WAYS.index(r["compiled"]), r["reasons"]))])
    outside = ", ".join(sorted(map(opcode, alone)))
    return "; ".join(filter(None, [kinds, outside and f"outside {outside}", rounds and f"{len(rounds)} in rounds"]))


def section(one, counts, rounds):
    """The lines of a program: its superoperators, by their share of the work."""
    rows, alone, total = shown(counts)
    fused = sum(map(work, counts["superoperators"])) / total
    yield f"{one.title}, {one.says}: {percent(fused)} in superoperators" + "".join(
        f"; {opcode(r)} {percent(work(r) / total)}" for r in alone)
    for r in rows:
        yield f"  {percent(work(r) / total):>5} {how(r)}: OP{r['number']} {shortened(r['formula'])}"
    for line in rounds:
        yield f"        in rounds: {line}"


def look_at(programs, options):
    """[(program, what a run counts, calls in rounds)]"""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        running = [(p, pool.submit(profile, p, folder, options.build)) for p in programs]
        return [(one, *future.result()) for one, future in running]


def chosen(names):
    """The programs of these names, all for none; also their number."""
    known = [*of_benchmarks(), *of_examples()]
    unknown = [name for name in names if name not in [p.title for p in known]]
    if unknown:
        sys.exit(f"no program is called {unknown[0]}")
    return [p for p in known if not names or p.title in names]


def parse(about, words):
    """The options of a command that looks at programs."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; none: all")
    parser.add_argument("--check", action="store_true", help="compare with bench/expected.txt")
    parser.add_argument("--update", action="store_true", help="write bench/expected.txt")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(words)
    if options.update and options.names:
        parser.error("a list is written as a whole")
    options.build = options.build.resolve()
    return options


def conclude(options, title, entries, command, whole=True):
    """Checks or writes a list of {program: words}, all of it unless programs are named; an exit status."""
    if options.update:
        expected.update(title, entries)
        return 0
    return expected.check(title, entries, command, whole and not options.names) if options.check else 0


def main(words):
    options = parse(__doc__, words)
    found = look_at(chosen(options.names), options)
    if not options.check:
        for row in found:
            print("\n".join(section(*row)))
    return conclude(options, "compiled", {one.title: summary(*rest) for one, *rest in found}, "bench/report compiled")
