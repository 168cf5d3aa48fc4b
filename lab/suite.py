"""Runs the module for GPUs in the interpreter of its PTX (cvl-cuda/ptx), against the oracle.

    lab/check ptx          a sample of the conformance suite, half of it in order, half by seeds and
                           with blocks that do several blocks' work; a few seeds of `lab/check weak`
    ... --whole            all items at all widths, what tuning values choose, and programs on
                           vectors of millions (lab/long)
    ... --only ITEM ...    these items (conformance --list), or programs of lab/long, likewise
    ... --choices          only what tuning values choose (CHOICES, LONG_CHOICES below)
    ... --unchecked        accesses are not looked at: in a third of the time
    ... --seed S           from which other seeds are drawn
    ... --jobs N           processes at the same time

Every access of a kernel is looked at: bounds, alignment, memory that was never written or was given
back, races, masks, barriers.
"""

import concurrent.futures
import functools
import random
import subprocess
import tempfile
from pathlib import Path

from interpreted import (CONFORMANCE, LONG, WIDTHS, is_superoperator, item_command, missing,
                         parser_of, program_output, report, run_item, run_program)
from weak import weak_runs

# An item for each kind of kernel.
SAMPLE = ("ADD.INT", "DIV.FLOAT", "SELECT.BOOL", "ADD_REDUCE.FLOAT", "OR_REDUCE.BOOL", "ADD_SCAN.INT",
          "MUL_SCAN.FLOAT", "SORT_DOWN.FLOAT", "RANK_UP.INT", "DFPERMUTE.INT", "REPLACE.INT",
          "DIST.INT", "PACK.FLOAT", "RAND.INT")
# Items of several operations, which have kernels of their own.
OF_SEVERAL = ("SIZES", "RANGES", "SLICE", "FILL", "CONCATENATE")
# Of long programs only results are looked at.
LONG_RUNS = ("late,unchecked", "late,unchecked,grid=3,small=65536", "seed={},unchecked,resident=64,quantum=60")
# What tuning values choose (cvl-cuda/variants, permute.cu, rank.cu, scan.cu): the operations, the
# value, its choices.
COMBINING = ("ADD", "MUL", "MAX", "MIN", "AND", "OR", "XOR")
CHOICES = (([f"{op}_REDUCE.INT" for op in COMBINING], "cuda.reduce-kernel", range(1, 8)),
           ([f"{op}_SCAN.INT" for op in COMBINING], "cuda.scan-kernel", range(1, 5)),
           (["PERMUTE.INT", "PERMUTE.FLOAT", "PERMUTE.BOOL"], "cuda.permute-marks", (1,)),
           (["ADD.INT", "ADD_REDUCE.FLOAT", "PACK.FLOAT"], "cuda.dependent-launch", (1,)),
           (["PERMUTE.INT", "PERMUTE.FLOAT"], "cuda.permute-buckets", (1,)),
           (["RANK_UP.INT", "RANK_DOWN.FLOAT"], "cuda.rank-buckets", (1,)),
           ([*(f"{op}_SCAN.INT" for op in COMBINING), "MAX_SCAN.FLOAT", "MIN_SCAN.FLOAT",
             *(f"{op}_SCAN.BOOL" for op in ("AND", "OR", "XOR"))], "cuda.scan-heads", (1,)))
# The same of long programs, for levels of blocks.
LONG_CHOICES = (("reductions", *CHOICES[0][1:]), ("scans-one-pass", *CHOICES[1][1:]))
# Of these with descriptors of up to 400 segments in memory without a directory of ranks, too.
SEARCHING = ("cuda.permute-marks", "cuda.permute-buckets", "cuda.rank-buckets")
# Two sources that meet are a fault, and race before it is found.
RACING = ("cuda.permute-marks", "cuda.permute-buckets")
# Blocks of CUB's scans look back past the window that is next to theirs only if many are under way
# at the same time.
LOOKING_BACK = ("scans-looking-back", "seed={},unchecked,resident=200,quantum=400,choice=cuda.scan-heads:1", 3)
# What only other devices and lengths reach: one or few blocks for all; descriptors without a
# directory of ranks, which a device has that leaves small vectors to the host; and, of all lengths
# (no --brief), more chunks than one block adds up.
FURTHER = (("late,grid=1,small=400", True), ("late,grid=1", True), ("late,grid=3,small=16", False))
# Operations that look up the numbers of segments do without a list of them where memory is short.
LOOKS_UP, WITHOUT_LIST = ("RANK_", "SORT_"), ("late,ids=0", True)


def all_items():
    listed = subprocess.run([CONFORMANCE, "--list"], check=True, capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if line in OF_SEVERAL or "." in line and " " not in line]


def number(draw):
    return draw.randrange(1, 10**6)


# Runs of items: item, widths, behaviour of the device, seed of the values, whether without long
# vectors.


def few_runs(item, at, draw):
    if at % 2:
        yield item, draw.choice(WIDTHS), f"seed={number(draw)},late=random,grid=2", number(draw), True
    else:
        yield item, WIDTHS[0], "late", number(draw), True
    if at % 4 == 3:
        yield item, draw.choice(WIDTHS), f"seed={number(draw)},weak", number(draw), True
    else:
        yield item, WIDTHS[0], FURTHER[0][0], number(draw), FURTHER[0][1]


def all_runs(item, draw, unchecked):
    """At all widths in order, with many blocks and with few; and once each by seeds, if accesses
    are looked at. Random superoperators are the same for all behaviours of a pair of widths, so
    that each executes more of their kernels."""
    for widths in WIDTHS[::3] if is_superoperator(item) and unchecked else WIDTHS:
        seed = number(draw)
        without = [WITHOUT_LIST] if item.startswith(LOOKS_UP) else []
        for said, brief in (("late", True), *FURTHER, *without):
            if brief or (widths[0] == widths[1] and not is_superoperator(item)):
                values = seed if is_superoperator(item) else number(draw)
                yield item, widths, said + (",unchecked" if unchecked else ""), values, brief
    for said in () if unchecked else ("seed={},late=random,grid=2", "seed={},weak"):
        yield item, draw.choice(WIDTHS), said.format(number(draw)), number(draw), True


def choice_runs(only, draw):
    """Every choice with all of its operations, or those named."""
    for items, name, values in CHOICES:
        for value in values:
            said = f"late{',unchecked' if name in RACING else ''},choice={name}:{value}"
            for item in items:
                if not only or item in only:
                    yield from ((item, widths, said + words, number(draw), True)
                                for widths in WIDTHS[::3] for words in devices_of(name))


def devices_of(name):
    """Behaviours of the device with this tuning value: with one block threads have several
    elements."""
    further = [",small=400"] if name in SEARCHING else []
    if name == "cuda.rank-buckets":
        further.append("," + WITHOUT_LIST[0].removeprefix("late,"))
    return [few + other for other in ("", *further) for few in ("", ",grid=1")]


def item_runs(options, draw):
    if options.choices:
        items = []
    elif options.only:
        items = [item for item in options.only if item not in LONG]
    else:
        items = all_items() if options.every else SAMPLE
    for at, item in enumerate(items):
        yield from all_runs(item, draw, options.unchecked) if options.every else few_runs(item, at, draw)
    if options.every:
        yield from choice_runs(options.only, draw)


def run_long(program, widths, said, coverage=None):
    return run_program(program, program_output(program, "cpu", "", None, widths), said, coverage, widths)


def long_runs(options, draw):
    for name, program in LONG.items():
        if not (name in options.only if options.only else options.every):
            continue
        usual = [] if options.choices else LONG_RUNS[:2] if options.unchecked else LONG_RUNS
        chosen = [f"late,unchecked,choice={of}:{value}" for its, of, values in LONG_CHOICES if its == name
                  for value in values]
        if name == LOOKING_BACK[0]:
            chosen += [LOOKING_BACK[1]] * LOOKING_BACK[2]
        for said in (*usual, *chosen):
            for widths in WIDTHS[::3]:
                yield functools.partial(run_long, program, widths, said.format(number(draw)))


def all_of(options, kernels):
    """A function for each run, in the same order whenever they are asked for."""
    draw = random.Random(options.seed)
    for item, widths, said, seed, brief in item_runs(options, draw):
        yield functools.partial(run_item, item_command(item, widths, seed, brief, options.every), said, kernels)
    yield from long_runs(options, draw)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="ITEM")
    parser.add_argument("--choices", action="store_true")
    parser.add_argument("--unchecked", action="store_true")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    options.every = bool(options.whole or options.only or options.choices)
    if missing("the PTX of the module for GPUs"):
        return 0
    with tempfile.TemporaryDirectory() as kernels, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = list(all_of(options, Path(kernels)))
        if not options.every:
            runs += weak_runs(random.Random(options.seed), None)
        return report(list(pool.map(lambda once: once(), runs)))
