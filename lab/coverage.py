"""What of each kernel of the CUDA module the conformance suite executes, in the interpreter of PTX.

    lab/check coverage     all items at all widths, what tuning values choose and the programs of
                           lab/long, whose accesses are not looked at; fails for kernels with less
                           than LEAST per cent, or than LESS says, and for templates that are never
                           launched
    ... --only ITEM ...    these items and long programs; fails never
    ... --keep FOLDER      what each run executed stays there, and a run that is there is not
                           repeated: after an end that nobody wanted, the same command goes on
    ... --table            a line for each template of kernels
    ... --missed KERNEL    what was not executed of kernels whose name contains this
    ... --jobs N           processes at the same time

An instruction counts if a thread has executed it, a branch also if nobody takes it. The kernels of
random superoperators are not held to a limit: each seed has others.
"""

import collections
import concurrent.futures
import gzip
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from interpreted import CONFORMANCE, MODULE, VINTERP, missing, parser_of, report
from suite import all_of

LEAST = 95
# Kernels that are never launched here, without their namespaces.
NEVER = (
    # positions or claims of 64 bits: 2^32 elements and more
    r"(claim_body|keys_body|segments_body|check_marks_body|group_keys_body)<.*, unsigned long>",
    r"(ranks_body|fetch_claimed_body|group_starts_body|unclaim_body)<unsigned long",
    r"DeviceRadixSort.*<.*policy_hub<[^;]*unsigned long, unsigned long",
    r"segments_body<unsigned int", r"\bfits_body\b",
    r"same_element<",  # memory that is given back: blocks of 64 MB
    r"\bEmptyKernel\b",  # CUB asks for its attributes
    r"\bhold_back\b",  # time is measured
)
# The least share in per cent of kernels that are not held to LEAST, by what is left of them.
LESS = {
    # CUB's: the number of passes, which keys of one width always have; tiles that end anywhere.
    "DeviceRadixSortHistogramKernel": 75, "DeviceRadixSortOnesweepKernel": 79,
    # CUB's: an initial value in memory, a first tile that is the last, waiting in grids of 500
    # blocks; of MIN and MAX both zeros in one of many steps of looking back.
    "DeviceScanKernel": 82, "DeviceScanByKeyKernel": 94,
    # What nvcc adds behind a loop of four for turns that are left, of which there are none.
    "kernel_blocks<scan_of_blocks>": 89,
    # Levels of the tree from 2^28 elements of a segment on.
    "kernel_blocks<scan_chunks>": 92,
    # Reports that meet another fault at the same moment, one for each length of a thread.
    "kernel_blocks<write_offsets>": 87,
    # Progressions of the other width; the segment of a duplicate in each form of descriptor; a
    # thread's second fault.
    "kernel_together<claim_and_move_body>": 92, "kernel_together<mark_and_move_body>": 85,
    "kernel_blocks<check_marks_body>": 93,
    # Marks, which only PERMUTE has: without the test for them RANK takes 34 to 36 registers instead
    # of 25 to 28.
    "kernel_blocks<deliver_body>": 82,
    # Loops of four elements for a slice of one segment; a second directory of ranks, which one
    # segment does not have.
    "kernel_n<slice_body>": 68, "kernel_n<map_body>": 54,
}
# Opcodes of a division that is not executed.
DIVIDING = ("or", "and", "setp", "bra", "div", "rem", "mul", "sub", "cvt", "mov", "@")


def opcode(text):
    words = text.split(": ", 1)[1].split()
    return words[1] if words[0].startswith("@") else words[0]


class Kernel:
    """What was executed of a kernel: per instruction how often."""

    def __init__(self):
        self.executed = collections.Counter()
        self.text = {}

    def add(self, fields):
        _, number, line, groups, threads, _, _, text = fields
        self.text[int(number)] = f"line {line}: {text}"
        # A branch is executed by those that do not take it, too.
        branch = opcode(self.text[int(number)]).startswith("bra")
        self.executed[int(number)] += int(groups if branch else threads)

    def counted(self):
        """All but the end that the interpreter adds."""
        return [number for number in self.executed if "(the end" not in self.text[number]]

    def missed(self):
        return [number for number in self.counted() if self.executed[number] == 0]

    def wide_divisions(self):
        """Of what was missed: nvcc divides 64-bit integers by 32-bit instructions where both are
        short; the other way needs indices of 2^32 and more. A test of the source's own in front of
        it leaves nvcc's dead."""
        found, run = [], []
        for number in [*self.missed(), -1]:
            if run and number != run[-1] + 1:
                opcodes = [opcode(self.text[n]).split(".") for n in run]
                if all(o[0] in DIVIDING for o in opcodes) and any(o[0] in ("div", "rem") for o in opcodes):
                    found += run
                run = []
            run.append(number)
        return found

    def share(self):
        """Per cent that was executed, of all but wide divisions."""
        wide = len(self.wide_divisions())
        return 100 - 100 * (len(self.missed()) - wide) / max(1, len(self.counted()) - wide)


# ---- what runs have written ----


def listed_kernels(lines):
    """The rows of one kernel after the other, as lists of fields."""
    rows = []
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if fields[1] == "0" and rows:
            yield rows
            rows = []
        rows.append(fields)
    if rows:
        yield rows


def read_coverage(folder):
    """Kernels by name, in the order of their launches. Those that NVRTC makes have a digest of
    their code behind their name."""
    kernels = collections.defaultdict(Kernel)
    for path in sorted(Path(folder).iterdir()):
        if path.suffix in (".txt", ".tmp"):
            continue
        with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
            for rows in listed_kernels(file):
                for fields in rows:
                    kernels[fields[0]].add(fields)
    return kernels


def demangled(names):
    done = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, done.stdout.splitlines()))


def family(name):
    """A kernel's template: of the back end's own that of the body, `kernel_blocks<keep>`."""
    plain = name.replace("(anonymous namespace)::", "").replace("ravel::", "").removeprefix("void ")
    outer, *inner = plain.split("(")[0].split("<")
    if outer.startswith("kernel_") and inner:
        return f"{outer}<{inner[0].rstrip('> ')}>"
    return outer.split("::")[-1]


def is_of_nvrtc(name):
    """Whether it is the kernel of a superoperator."""
    return not name.startswith("_Z")


STUB = b"__device_stub_"


def kernels_of_module():
    """By the names of the functions that launch them: of each its length and then the stub's name,
    which ends with that of the kernel."""
    module, names = MODULE.read_bytes(), set()
    for found in re.finditer(rb"_Z(?:ZL)?(\d+)" + STUB, module):
        names.add(module[found.end():found.end() + int(found[1]) - len(STUB)].decode())
    return names


# ---- reports ----


def sums(kernels):
    total, missed = (sum(len(of(k)) for k in kernels) for of in (Kernel.counted, Kernel.missed))
    return f"{len(kernels)}; {100 - 100 * missed / max(1, total):.1f} % of their {total} instructions were executed"


def low_kernels(kernels, names):
    for name, kernel in sorted(kernels.items(), key=lambda pair: pair[1].share()):
        least = LESS.get(family(names[name]), LEAST)
        if not is_of_nvrtc(name) and kernel.share() < least:
            yield f"FAIL {names[name][:150]}: {kernel.share():.1f} % executed, at least {least}; see --missed"


def idle_templates(kernels):
    """Templates of which a kernel was not launched and is not known to be."""
    idle = demangled(sorted(kernels_of_module() - set(kernels))).values()
    unknown = collections.Counter(family(name) for name in idle if not any(re.search(never, name) for never in NEVER))
    for template, count in sorted(unknown.items()):
        yield f"FAIL {template}: {count} instances were not launched"


def print_table(kernels, names):
    """Of each template: instances, instructions, the share that was executed, and of the least
    instance."""
    templates = collections.defaultdict(list)
    for name, kernel in kernels.items():
        if not is_of_nvrtc(name):
            templates[family(names[name])].append(kernel)
    for template, those in sorted(templates.items()):
        print(f"{template}: {sums(those)}; {min(k.share() for k in those):.1f} % of the least, but for wide divisions")


def print_missed(kernels, names, wanted):
    """What was not executed, a line for each instruction; between others how often those were."""
    for name, kernel in sorted(kernels.items()):
        missed = set(kernel.missed()) - set(kernel.wide_divisions())
        if wanted not in names[name] or not missed:
            continue
        print(f"{names[name][:150]}: {len(missed)} of {len(kernel.counted())} instructions")
        for number in sorted(kernel.counted()):
            if number in missed:
                print(f"    never    {kernel.text[number]}")
            elif number + 1 in missed or number - 1 in missed:
                print(f"    {kernel.executed[number]:8} {kernel.text[number]}")


# ---- runs ----


class Runs:
    """Numbered runs of a command. What each executed is kept in a folder; one that is there is not
    repeated."""

    def __init__(self, options, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        built = [(p.name, p.stat().st_size, p.stat().st_mtime_ns) for p in (MODULE, CONFORMANCE, VINTERP)]
        about, now = self.folder / "about.txt", f"seed={options.seed} only={options.only} {built}\n"
        if not about.exists():
            about.write_text(now)
        elif about.read_text() != now:
            sys.exit(f"{folder} holds runs of another command, or of what has been built anew since: remove it, or"
                     f" name another folder. It says: {about.read_text()}")

    def do(self, number, once):
        kept = self.folder / f"{number}.gz"
        if kept.exists():
            return 1, None
        with tempfile.TemporaryDirectory() as folder:
            counts = Path(folder, "counts")
            cases, text = once(coverage=counts)
            if counts.exists() and not text:
                with gzip.open(f"{kept}.tmp", "wb", compresslevel=1) as to:
                    to.write(counts.read_bytes())
                os.replace(f"{kept}.tmp", kept)
        return cases, text


def perform(options, folder):
    """Cases and texts of all runs, and the kernels."""
    runs, kernels = Runs(options, options.keep or Path(folder, "runs")), Path(folder, "kernels")
    kernels.mkdir()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda pair: runs.do(*pair), enumerate(all_of(options, kernels))))
    return results, read_coverage(runs.folder)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", metavar="ITEM")
    parser.add_argument("--keep", metavar="FOLDER")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--missed", metavar="KERNEL")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    options.every, options.unchecked, options.choices = True, True, False
    if missing("coverage of the kernels"):
        return 0
    with tempfile.TemporaryDirectory() as folder:
        results, kernels = perform(options, folder)
    names = demangled(sorted(kernels))
    print("kernels of the module:", sums([k for name, k in kernels.items() if not is_of_nvrtc(name)]))
    print("kernels of random superoperators:", sums([k for name, k in kernels.items() if is_of_nvrtc(name)]))
    if options.table:
        print_table(kernels, names)
    if options.missed:
        print_missed(kernels, names, options.missed)
    wrong = [] if options.only else [*low_kernels(kernels, names), *idle_templates(kernels)]
    return report([*results, *((0, text) for text in wrong)])
