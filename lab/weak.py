"""Programs whose threads wait for each other, in the interpreter of PTX under weak memory.

    lab/check weak [--seeds N] [--seed S] [--only PROGRAM ...] [--jobs N]

Each program of lab/programs runs with N seeds (200) drawn from S: any interleaving of threads, and
loads that see what the memory model of PTX allows (cvl-cuda/ptx/weak.hpp). It must end as on the
CPU. It finds a fence that is missing between accesses that are volatile or atomic, which `lab/check
ptx` cannot see.
"""

import concurrent.futures
import functools
import random

from interpreted import PROGRAMS, missing, parser_of, program_output, report, run_program

# In a usual run of `ptx` three seeds of these, one of the others; sorts have none, since they take
# longest.
WAITING = {"packed", "scanned", "faults", "look-back", "totals", "offsets"}
SORTS = {"sorted", "ranked"}
SEEDS, USUAL = 200, 3


def weak_runs(draw, seeds, only=None):
    """A function for each run, of PROGRAMS or those named; without `seeds` those of a usual run."""
    for name, program in PROGRAMS.items():
        if only and name not in only or not (seeds or only) and name in SORTS:
            continue
        expected = program_output(program, "cpu", "")
        for _ in range(seeds or (USUAL if name in WAITING else 1)):
            said = f"seed={draw.randrange(1, 10**6)},weak,resident={draw.randrange(2, 9)}"
            yield functools.partial(run_program, program, expected, said)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, metavar="PROGRAM")
    options = parser.parse_args()
    if missing("programs under weak memory"):
        return 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = weak_runs(random.Random(options.seed), options.seeds, options.only)
        return report(list(pool.map(lambda once: once(), runs)))
