"""Leaves out each barrier and fence of the kernels of superoperators and of CUB, and takes a lane
from each of their masks, one at a time, in the interpreter of PTX: does a run notice?

    lab/check drops            the programs of lab/programs that are superoperators or CUB's; fails if
                               something is noticed by nothing, but for what survivors.txt there lists,
                               which is not tried
    ... --only PROGRAM ...     the kernels that these launch
    ... --list                 tries all, and prints what survives as lines for survivors.txt; fails
                               never
    ... --details              a line for each mutation: what noticed it
    ... --kernels NAME ... --only ITEM ...
                               the module's own kernels whose name contains this, one of each template,
                               by items of the conformance suite or programs; fails never
    ... --jobs N               processes at the same time

Programs run in order, by seeds, with one block that does the work of all, and, if it is a fence, by
seeds under weak memory. A run that ends otherwise than without the mutation has noticed. The fences
of the error slot are in every kernel that reports faults, several times: they are left out in one
of them, and the others must be the same code. lab/README.md says why what survives may be missing.
"""

import collections
import concurrent.futures
import re
import sys
import tempfile
from pathlib import Path

from coverage import demangled, family, is_of_nvrtc, opcode, read_coverage
from interpreted import (FUSED, HERE, OF_CUB, PROGRAMS, item_command, missing, output_of, parser_of,
                         program_output)

SURVIVORS = HERE / "programs" / "survivors.txt"
ORDERING = ("bar.sync", "barrier.sync", "bar.warp", "membar", "fence")
MASKED = ("shfl.sync", "vote.", "bar.warp")
IN_ORDER = ("late", "late,grid=1,processors=1")
BY_SEEDS = (*IN_ORDER, "seed=11", "seed=12,late=random,grid=2,processors=1", "seed=13,grid=1,processors=1")
# Also of CUB: so many blocks that look back at each other that none of a window's has all before it
# yet.
AT_ONCE = ("seed=3,resident=64,quantum=100", "seed=4,resident=64,quantum=20")
WEAK_SEEDS, WEAK_SEEDS_OF_CUB = 60, 5  # these take longer, and have fences of blocks only
# Instead of a run that notices. LISTED: in survivors.txt, so that it is not tried. SAME: of the
# error slot.
NOTHING, NEVER, LISTED = "nothing", "nothing: never executed", "nothing: listed"
SAME = "another kernel with the same code"
# The fences of the error slot are left out in the kernels of this program. The lock's accesses to
# its memory, in order: opcode and offset (fused-kernels/prelude.hpp, faults).
OF_SLOT = "map-faults"
SLOT = ("ld.volatile 0", "membar", "ld.volatile 4", "ld.volatile 8", "ld.volatile 16", "membar", "ld.volatile 0",
        "atom 0", "membar", *(f"st.volatile {offset}" for offset in (4, 8, 16, 24, 32, 40)), "membar",
        "st.volatile 0")
SECONDS = 60  # for a program, of which none takes more than 3 unless it waits for ever
SECONDS_OF_ITEM = 300

Mutation = collections.namedtuple("Mutation", "how number text")
# A kernel, as survivors.txt names it: by the first program that launches it. Its mutations are
# numbered from 1. `runs`: of each program that launches it what is executed. `slot`: the numbers of
# instructions that are the error slot's.
Kernel = collections.namedtuple("Kernel", "name label mutations runs slot")
Survivors = collections.namedtuple("Survivors", "of why")  # mutations of the kernel; number: reason


class Program:
    """A program of lab/programs, or an item of the suite: what runs of it print."""

    def __init__(self, name):
        self.name = name
        self.expected = self.output("" if name in PROGRAMS else IN_ORDER[0])
        self.seeds = BY_SEEDS + (AT_ONCE if name in OF_CUB else ())
        self.weak_seeds = WEAK_SEEDS_OF_CUB if name in OF_CUB else WEAK_SEEDS if name in PROGRAMS else 0

    def output(self, said, coverage=None):
        """None if it took too long; without words that on the CPU."""
        if self.name in PROGRAMS:
            return program_output(PROGRAMS[self.name], "cuda-ptx" if said else "cpu", said, coverage, seconds=SECONDS)
        command = item_command(self.name, (64, 64), 1, all_forms=True)
        return output_of(command, said, coverage, SECONDS_OF_ITEM)[1]

    def has(self, label, wanted):
        """Whether this kernel is meant: of the program's kind, or one of those that are wanted."""
        if wanted:
            return not is_of_nvrtc(label) and any(name in label for name in wanted)
        return label.startswith("_ZN3cub") if self.name in OF_CUB else is_of_nvrtc(label)

    def behaviours(self, mutation):
        yield from self.seeds
        if mutation.how == "drop" and not opcode(mutation.text).startswith(("bar.", "barrier.")):
            yield from (f"seed={seed},weak,resident={seed % 4 + 2}" for seed in range(1, self.weak_seeds + 1))


# ---- the list ----


def numbers_of(text):
    """Of `3 5-7` 3, 5, 6, 7."""
    for word in text.split():
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def ranges_of(numbers):
    """The other way round."""
    words, run = [], []
    for number in [*sorted(numbers), None]:
        if run and number != run[-1] + 1:
            words.append(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}")
            run = []
        run.append(number)
    return " ".join(words)


def read_survivors(text):
    """Lines `PROGRAM KERNEL of N: NUMBERS: REASON`, several for a kernel; by PROGRAM KERNEL."""
    found = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        head, numbers, reason = line.split(":", 2)
        name, _, of = head.rpartition(" of ")
        listed = found.setdefault(name, Survivors(int(of), {}))
        listed.why.update((number, reason.strip()) for number in numbers_of(numbers))
    return found


def lines_of(kernel, numbers, listed):
    """What a person puts into the list, the reasons that are known among it."""
    by_reason = collections.defaultdict(list)
    for number in numbers:
        by_reason[listed.why.get(number, "?") if listed else "?"].append(number)
    for reason, those in by_reason.items():
        yield f"{kernel.name} of {len(kernel.mutations)}: {ranges_of(those)}: {reason}"


# ---- the kernels of programs ----


def executed_by(program, wanted):
    """Of the kernels that are meant what runs execute, in the order of their launches."""
    with tempfile.TemporaryDirectory() as folder:
        for number, said in enumerate(program.seeds):
            out = program.output(said, Path(folder, str(number)))
            if out != program.expected:
                sys.exit(f"FAIL {program.name} without a mutation, {said}:\n{str(out)[:400]}\n"
                         f"    expected\n{program.expected[:400]}")
        found = read_coverage(folder)
    return {label: counts for label, counts in found.items() if program.has(label, wanted)}


def mutations_of(counts):
    """Of a kernel: instructions that order, and those with a mask."""
    for number in sorted(counts.counted()):
        text = counts.text[number]
        for how, those in (("drop", ORDERING), ("narrow", MASKED)):
            if opcode(text).startswith(those):
                yield Mutation(how, number, text)


def access_of(text):
    """Of an instruction as the error slot has them what SLOT says of it; else nothing."""
    kind = next((kind for kind in ("ld.volatile", "st.volatile", "atom", "membar")
                 if opcode(text).startswith(kind)), None)
    address = re.search(r"\[%\w+(?:\+(\d+))?\]", text)
    if kind is None or kind == "membar":
        return kind
    return f"{kind} {address[1] or 0}" if address else None


def slot_of(counts):
    """The fences of the error slot, by their instructions' numbers."""
    accesses = [(number, access_of(counts.text[number])) for number in sorted(counts.text)]
    accesses = [access for access in accesses if access[1]]
    found = set()
    for first in range(len(accesses) - len(SLOT) + 1):
        those = accesses[first:first + len(SLOT)]
        if tuple(kind for _, kind in those) == SLOT:
            found.update(number for number, kind in those if kind == "membar")
    return found


def kernels_of(programs, wanted):
    """Superoperators' have a number behind their name, that of their first launch in the program;
    of templates that are wanted there is one instance."""
    kernels, seen = {}, collections.Counter()
    for program in programs:
        found = executed_by(program, wanted)
        names = demangled(list(found))
        for label, counts in found.items():
            # NVRTC names a superoperator's kernel by its content, with a digest of its code behind.
            kind = "fused_kernel" if is_of_nvrtc(label) else family(names[label])
            name = f"{program.name} {kind}"
            # The same code may have other names in other programs.
            code = label.partition("#")[2] or label
            if code not in kernels and wanted and seen[name]:
                continue
            seen[name] += 1
            name += f".{seen[name]}" if is_of_nvrtc(label) or seen[name] > 1 else ""
            kernels.setdefault(code, Kernel(name, label, list(mutations_of(counts)), [], slot_of(counts)))
            kernels[code].runs.append((program, counts, label))
    return [kernel for kernel in kernels.values() if kernel.mutations]


# ---- a mutation ----


def noticed_by(kernel, mutation):
    """The first run that ends otherwise, as a person reads it; or NOTHING, NEVER or SAME."""
    if mutation.number in kernel.slot and all(program.name != OF_SLOT for program, *_ in kernel.runs):
        return SAME
    runs = [(program, label) for program, counts, label in kernel.runs if counts.executed[mutation.number]]
    for program, label, said in ((p, label, said) for p, label in runs for said in p.behaviours(mutation)):
        out = program.output(f"{said},{mutation.how}={label}@{mutation.number}")
        if out is not None and "RAVEL_PTX: " in out:
            sys.exit(f"{program.name}: {out}")
        if out != program.expected:
            return f"{program.name}, {said}"
    return NOTHING if runs else NEVER


# ---- reports ----


def report(kernel, notices, listed, options):
    """Prints what is noticed, and what survives and should not; gives how many those are."""
    left = {n for n, said in enumerate(notices, 1) if said in (NOTHING, NEVER)}
    counts = collections.Counter(m.how for m in kernel.mutations)
    noticed = collections.Counter(m.how for m, said in zip(kernel.mutations, notices)
                                  if said not in (NOTHING, NEVER, SAME, LISTED))
    digest = kernel.label.rpartition("#")[1:] if is_of_nvrtc(kernel.label) else ()
    print(f"{kernel.name}{''.join(digest)}: noticed {noticed['drop']} of {counts['drop']} barriers and fences,"
          f" {noticed['narrow']} of {counts['narrow']} masks; {notices.count(SAME)} are the error slot's,"
          f" {notices.count(NEVER)} are never executed, {notices.count(LISTED)} are listed", flush=True)
    if options.details:
        for n, (m, said) in enumerate(zip(kernel.mutations, notices), 1):
            print(f"    {n}: {m.how} @{m.number}, {m.text}: noticed by {said}")
    if options.list:
        print("".join(f"{line}\n" for line in lines_of(kernel, left, listed)), end="", flush=True)
        return 0
    return complaints(kernel, left, listed)


def complaints(kernel, left, listed):
    known = listed.why if listed else {}
    if listed and listed.of != len(kernel.mutations):
        print(f"FAIL {kernel.name}: it has {len(kernel.mutations)} barriers, fences and masks, but {SURVIVORS.name}"
              f" says {listed.of}: look at those that nothing notices anew, and list what --list prints")
        return 1
    for number in sorted(left - known.keys()):
        mutation = kernel.mutations[number - 1]
        print(f"FAIL {kernel.name}: nothing notices {mutation.how}={kernel.label}@{mutation.number}, number {number}"
              f" ({mutation.text}), and {SURVIVORS.name} does not list it: find a program that does, or write"
              " down why it may be missing")
    return len(left - known.keys())


def all_notices(kernel, listed, options, pool):
    """Of each mutation what noticed it."""
    known = listed.why if listed and not options.list else {}
    futures = [None if number in known else pool.submit(noticed_by, kernel, mutation)
               for number, mutation in enumerate(kernel.mutations, 1)]
    return [future.result() if future else LISTED for future in futures]


def report_idle(kernels, listed, options):
    idle = [] if options.only else sorted(listed.keys() - {kernel.name for kernel in kernels})
    for name in idle:
        print(f"FAIL {name}: {SURVIVORS.name} lists it, but no program launches it: remove its lines")
    return len(idle)


def is_wanted(kernel, options):
    return not options.only or any(program.name in options.only for program, *_ in kernel.runs)


def parsed():
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", metavar="PROGRAM")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--kernels", nargs="+", metavar="NAME")
    options = parser.parse_args()
    if options.kernels and not options.only:
        parser.error("--kernels wants --only: the items or programs that launch them")
    options.list = options.list or bool(options.kernels)
    return options


def main():
    options = parsed()
    if missing("barriers left out"):
        return 0
    # A kernel has its name by the first program that launches it: all of them are run.
    names = options.only if options.kernels else sorted(FUSED | OF_CUB)
    kernels = [k for k in kernels_of([Program(name) for name in names], options.kernels) if is_wanted(k, options)]
    listed = {} if options.kernels else read_survivors(SURVIVORS.read_text())
    failed = report_idle(kernels, listed, options)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for kernel in kernels:
            notices = all_notices(kernel, listed.get(kernel.name), options, pool)
            failed += report(kernel, notices, listed.get(kernel.name), options)
    print(f"{sum(len(kernel.mutations) for kernel in kernels)} mutations of {len(kernels)} kernels, {failed} failed")
    return 1 if failed else 0
