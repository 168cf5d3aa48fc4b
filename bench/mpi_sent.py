"""What programs send on ranks of an MPI job.

    bench/mpi sent [NAME ...] [--ranks N ...]    counts: collectives, exchanges, messages, bytes of the rank that sends most
    bench/mpi sent --check | --update            compares them with bench/expected.txt, or writes them there

Counts do not depend on where ranks are: they are those of ranks of this machine, as many as wanted. They are of a whole run on
data in files, of which the first element of each result is wanted: printing all of it would be counted, too. Bytes are
those of exchanges, and those of collectives.
"""

import argparse
import re
import tempfile
from pathlib import Path

import superoperators as one_process
from collection import ROOT, WORK, BenchError, Data, load_cases, program, variants
from mpi_operations import lacking, run_ranks
from systems import WIDTHS

HELD = (2, 4)   # ranks
SIZES = {"dot-product": 1 << 20, "sort": 1 << 20, "pagerank": 1 << 17, "barnes-hut": 80000, "saxpy": 1 << 18,
         "black-scholes": 1 << 18, "mandelbrot": 1 << 16, "n-body": 1 << 13, "sparse-matrix-vector": 1 << 18,
         "quickhull": 50000, "radix-sort": 1 << 17, "quicksort": 1 << 14}


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
    """What the last context of rank 0 says that a rank has sent at most, in words."""
    found = re.findall(r"most sent by a rank: (.*)", said)
    if not found:
        raise BenchError("the back end does not say what was sent:\n" + said[-2000:])
    collectives, exchanges, messages, sent, gathered = map(int, re.findall(r"\d+", found[-1]))
    return f"{collectives} collectives, {exchanges} exchanges, {messages} messages, {max(sent - gathered, 0)} + {gathered} bytes"


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
    return read_counts(done.stderr)


def counted(names, ranks, built):
    """Pairs of a program with its size and ranks, and what it sends; as they come."""
    cases = load_cases()
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            vcode = made(cases[name], folder, built)
            for p in ranks:
                yield f"{name} {SIZES[name]}, {p} ranks", count(cases[name], SIZES[name], p, vcode, built)


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs; none: all that are held")
    parser.add_argument("--ranks", type=int, nargs="+", default=list(HELD))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args(words)
    options.build = options.build.resolve()
    unknown = [name for name in options.names if name not in SIZES]
    if unknown:
        raise BenchError(f"{', '.join(unknown)}: not among {', '.join(SIZES)}")
    return options


def main(words):
    options = parse(words)
    if lacking(options.build):
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    found = {}
    for key, said in counted(options.names or SIZES, options.ranks, options.build):
        found[key] = said
        print(f"{key}: {said}", flush=True)
    return one_process.conclude(options, "sent by ranks", found, "bench/mpi sent", options.ranks == list(HELD))
