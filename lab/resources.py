"""Compiles all kernels of the CUDA back end by ptxas, without a GPU, and checks what they take.

    lab/check ptxas [--arch 90 ...]    the module cvl-cuda, and that of benchmarks
    ... --only TEXT                    only sources whose name contains this
    ... --table                        a line for each template of kernels
    ... --jobs N                       processes at the same time

A kernel may use no local memory (a stack frame, spilled registers), must not exceed what LIMITS
says of its class, and must find room for as many blocks on a multiprocessor as its
__launch_bounds__ asks for. Occupancy is computed, not measured. The machine code of the module for
the architecture of the build is read from its objects; for another one it is compiled, which takes
some 160 s of a processor. Kernels of superoperators: scripts/check-kernels.
"""

import collections
import concurrent.futures
import dataclasses
import re

import occupancy as occupancy_of
import ptxas
from coverage import demangled, family
from interpreted import BUILD, ROOT, parser_of
from occupancy import ARCHITECTURES

USUAL_ARCH = 90
LONGEST = 100  # characters of a kernel's name that are shown

# ---- occupancy ----


def resident_blocks(kernel, arch):
    return occupancy_of.resident_blocks(kernel.threads, kernel.registers, kernel.shared, arch)


def occupancy(kernel, arch):
    """Resident warps in percent of the most there can be; None without a bound of threads."""
    if not kernel.threads:
        return None
    warps = resident_blocks(kernel, arch) * occupancy_of.warps_of(kernel.threads)
    return 100 * warps // ARCHITECTURES[arch][0]


# ---- limits ----


@dataclasses.dataclass
class Limit:
    """What kernels whose family or name matches may take: the most registers of a thread, the
    least occupancy in percent on any architecture. The first that matches holds."""

    pattern: str
    what: str
    registers: int
    occupancy: int


# Registers are those at which the next block would no longer find room. A row has the reason where
# its kernels take more than others of their kind.
LIMITS = (
    # Polynomials of high degree, four elements at once.
    Limit(r"^kernel_(map|n)<.*::(EXP|LOG|SINH?|COSH?|TANH?|ASIN|ACOS|ATAN)_of_F",
          "elementwise: transcendental functions", 80, 37),
    # Four searches at once; a search and a move.
    Limit(r"^kernel_map<(map_body<)?compare_body|^kernel_n<move_to_rank_body",
          "ranks by comparison", 80, 37),
    # Words of 16 flags of three operands, two in flight.
    Limit(r"^kernel_map<flags_body<.*::SELECT_of_B", "elementwise: SELECT of flags", 64, 50),
    # Quotients, and where the count of the launch may lie.
    Limit(r"^kernel_map<row_body<binary_body<rows_of_64::DIV_of_F", "elementwise: quotients of 64 bits", 64, 50),
    # Nine offsets in flight.
    Limit(r"^kernel_n<directory_body", "words of a rank directory", 64, 50),
    # Four words of it, and numbers of segments where these do not count.
    Limit(r"^kernel_map<map_body<id_at", "expanded ids", 64, 50),
    Limit(r"^kernel_(map|n)<", "other elementwise kernels", 48, 62),
    # Four polynomials at once, of operands that are computed.
    Limit(r"^kernel_together<computed_row_body<.*::EXP_of_F", "elementwise: EXP of DIST", 96, 25),
    # Three operands that are computed, of four elements.
    Limit(r"^kernel_together<computed_row_body<select_body", "elementwise: SELECT of DIST", 80, 37),
    Limit(r"^kernel_together<", "gathers and scatters of several vectors in one launch", 64, 50),
    # A product of 64-bit integers takes more registers than two blocks leave (scans.hpp), or four
    # of a reduction.
    Limit(r"scan_(pass|chunks)<combination<long, MUL>", "scans: products of 64-bit integers", 128, 25),
    Limit(r"reduction<combination<long, MUL>>", "reductions: products of 64-bit integers", 80, 37),
    # ptxas for sm_120 takes 77 registers, and one block of 512 threads finds room instead of two.
    Limit(r"^kernel_blocks<write_offsets<", "offsets of segments", 80, 33),
    # Three blocks by their bound: a fourth would not find its shared memory on sm_120.
    Limit(r"^kernel_blocks<scan_of_blocks<combination<long,", "Sklansky's scans of 64-bit integers", 80, 37),
    Limit(r"^kernel_blocks<", "other kernels of blocks: reductions, scans, counts", 64, 50),
    Limit(r"^(deliver|hold_back)", "copies of small results, what holds the device", 32, 100),
    # NVIDIA's own choices for each architecture.
    Limit(r"^DeviceRadixSortSingleTile", "CUB's radix sort, one block for all", 168, 12),
    Limit(r"^(DeviceRadixSort|EmptyKernel)", "CUB's radix sort, other kernels", 96, 25),
    Limit(r"^DeviceScan", "CUB's scans", 128, 25),
)


@dataclasses.dataclass
class Exemption:
    """Kernels that may have so many bytes of local memory on an architecture, spilled registers
    included, or so many registers and so little occupancy, and why."""

    arch: int
    pattern: str
    stack: int
    reason: str
    registers: int = 0
    occupancy: int = 100


UNTUNED = "bounds of blocks are chosen for sm_90, and nothing has been measured here"


EXEMPTIONS = (
    Exemption(120, r"^kernel_blocks<scan_(pass|chunks)<", 96, "two blocks leave a thread 64 registers; with"
              " one block they would take up to 122 and spill none, at half of the occupancy. Which is"
              " faster has not been measured"),
    Exemption(120, r"^DeviceRadixSortOnesweepKernel<", 8, "a choice of NVIDIA's", 112, 25),
    Exemption(120, r"^DeviceScanByKeyKernel<", 8, "a choice of NVIDIA's"),
    Exemption(90, r"^DeviceScanByKeyKernel<", 8, "a choice of NVIDIA's"),
    Exemption(90, r"^kernel_blocks<scan_(pass|chunks)<", 24, "a chunk of 64-bit elements takes half of the 64"
              " registers that two blocks leave a thread; what is spilled is used once a chunk"),
    Exemption(80, r"^DeviceScan(ByKey)?Kernel<", 8, "a choice of NVIDIA's"),
    Exemption(80, r"^kernel_blocks<scan_chunks<", 56, UNTUNED),
    Exemption(120, r"^kernel_blocks<reduction<", 56, UNTUNED),
    Exemption(120, r"^kernel_together<fetch_claimed_body<", 0, UNTUNED, 82, 33),
    Exemption(120, r"^kernel_map<row_body<checked_body<", 0, UNTUNED, 52, 50),
    Exemption(120, r"^kernel_blocks<write_offsets<", 0, UNTUNED, 104, 25),
)


# What matches no row is refused, so that its limits are decided.
NO_LIMIT = Limit(r"", "no row of LIMITS in lab/resources.py", 0, 100)


def limit_of(named):
    return next((limit for limit in LIMITS if re.search(limit.pattern, named.name)), NO_LIMIT)


def exemption_of(named, arch):
    return next((e for e in EXEMPTIONS if e.arch == arch and re.search(e.pattern, named.name)),
                Exemption(arch, "", 0, ""))


def findings(named, arch):
    """What is wrong with a kernel: what was found, and what may be."""
    kernel, limit, exemption = named.kernel, limit_of(named), exemption_of(named, arch)
    registers = max(limit.registers, exemption.registers)
    least = min(limit.occupancy, exemption.occupancy)
    if kernel.stack > exemption.stack:
        yield f"{kernel.stack} bytes of local memory a thread, at most {exemption.stack}"
    if kernel.registers > registers:
        yield f"{kernel.registers} registers, at most {registers} ({limit.what})"
    if not kernel.threads:
        return
    if occupancy(kernel, arch) < least:
        yield f"occupancy {occupancy(kernel, arch)} %, at least {least} % ({limit.what})"
    if resident_blocks(kernel, arch) < kernel.resident:
        yield (f"{resident_blocks(kernel, arch)} blocks find room on a multiprocessor, its"
               f" __launch_bounds__ asks for {kernel.resident}")


# ---- names ----


@dataclasses.dataclass
class Named:
    """A kernel with the source it is of and its name as a reader knows it."""

    kernel: ptxas.Kernel
    source: str
    name: str


def operations():
    """The names of enum cvl_op, in the order of their rows."""
    rows = (ROOT / "tables" / "operations.def").read_text()
    return re.findall(r"^OPERATION\((\w+),", rows, re.MULTILINE)


def first_argument(text):
    """Up to the bracket that ends the template's arguments."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">")
        if letter == ">" and depth == 0:
            return text[:at + 1]
    return text


def readable(demangled, names):
    """A kernel's name without return type, parameters and namespaces."""
    text = re.sub(r"^void ", "", demangled)
    text = re.sub(r"\(anonymous namespace\)::|\bravel::|\bcub::\w+::detail::(?:\w+::)*", "", text)
    text = re.sub(r"\(cvl_op\)(\d+)", lambda found: names[int(found[1])], text)
    text = first_argument(text) if "<" in text.split("(")[0] else text.split("(")[0]
    return text.replace("> >", ">>").replace("> >", ">>")


def shortened(name):
    return name if len(name) <= LONGEST else name[:LONGEST - 3] + "..."


def name_kernels(unit, kernels):
    """The kernels of a unit with their names."""
    names, plain = operations(), demangled([k.symbol for k in kernels])
    return [Named(kernel, unit.name, readable(plain[kernel.symbol], names)) for kernel in kernels]


# ---- the command ----


def span(numbers):
    """The least and the greatest."""
    known = sorted({n for n in numbers if n is not None})
    return "-" if not known else f"{known[0]}" if len(known) == 1 else f"{known[0]}-{known[-1]}"


def print_table(all_named, arch):
    """A line for each template of a source."""
    groups = collections.defaultdict(list)
    for named in all_named:
        groups[named.source, family(named.name)].append(named.kernel)
    for (source, template), kernels in sorted(groups.items()):
        print(f"sm_{arch} {source} {template}: {len(kernels)} kernels,"
              f" {span(k.threads or None for k in kernels)} threads,"
              f" {span(k.registers for k in kernels)} registers, {span(k.shared for k in kernels)} bytes shared,"
              f" occupancy {span(occupancy(k, arch) for k in kernels)} %")


def judged(unit):
    """The kernels of a unit with their names, and what is wrong, a text for each that is."""
    try:
        all_named = name_kernels(unit, ptxas.kernels_of(unit))
    except ptxas.Failure as failure:
        return [], [f"FAIL sm_{unit.arch} {unit.name}: {failure}"]
    return all_named, [f"FAIL sm_{unit.arch} {unit.name}: {shortened(named.name)}: {'; '.join(wrong)}"
                       for named in all_named if (wrong := list(findings(named, unit.arch)))]


def parse():
    parser = parser_of(__doc__)
    parser.add_argument("--arch", type=int, nargs="+", default=[USUAL_ARCH], choices=ARCHITECTURES)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", metavar="TEXT", default="")
    return parser.parse_args()


def main():
    options = parse()
    units = ptxas.module_units(BUILD)
    if not units:
        print("SKIPPED (no nvcc) kernels by ptxas: the build has no CUDA module")
        return 0
    failed = count = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for arch in options.arch:
            found = list(pool.map(judged, [dataclasses.replace(unit, arch=arch) for unit in units
                                           if options.only in unit.name]))
            if options.table:
                print_table([named for all_named, _ in found for named in all_named], arch)
            texts = [text for _, wrong in found for text in wrong]
            print("".join(f"{text}\n" for text in texts), end="")
            count, failed = count + sum(len(all_named) for all_named, _ in found), failed + len(texts)
    print(f"{count} kernels, {failed} failed")
    return 1 if failed or not count else 0
