"""Compiles sources of CUDA by nvcc and ptxas, without a GPU, and reads what a kernel takes.

A unit is a source for one architecture. What the build's object has for that architecture is read
from there (`kernels_of_object`). Otherwise nvcc makes PTX of it with the options of the build, for
each architecture anew, since sources and CUB look at __CUDA_ARCH__; ptxas makes machine code of that.
Both are kept in a folder: the PTX is made again if nvcc, its options or a file that it read has
changed, and the machine code if ptxas, the architecture or the PTX has. What was found of a text that
includes nothing of Ravel is also kept for all checkouts, by its content (`reports`). What ptxas says of registers
and stack is compared with what the machine code's own tables say.
"""

import contextlib
import ctypes
import ctypes.util
import dataclasses
import fcntl
import functools
import hashlib
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import time
from pathlib import Path

# Changes if this file reads more or other things: what is kept is then read anew.
FORM = "1"
KEPT_DAYS = 60


class Failure(Exception):
    """A compiler refused a source, or said what this file does not understand."""


@dataclasses.dataclass
class Kernel:
    """What ptxas gives an entry point. Bytes are those of a thread, shared ones of a block; the
    stack is all of its local memory, that of functions it calls included."""

    symbol: str
    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0
    barriers: int = 0
    threads: int = 0   # the most of a block, which is what Ravel launches; 0: no bound
    resident: int = 1  # blocks for which the source asks to find room on a multiprocessor
    # Instructions on local memory in the listing of nvdisasm; None where that was not found.
    local: int | None = None


@dataclasses.dataclass
class Unit:
    """A source with the command of nvcc that compiles it, without architecture and output, and
    the object that the build made of it."""

    name: str
    command: list
    arch: int = 0
    object: Path | None = None
    # A text that includes files of the toolkit only: what ptxas said of it is kept for all checkouts.
    text: str = ""


@dataclasses.dataclass
class Tools:
    """The programs of a toolkit; nvdisasm may be missing ("")."""

    nvcc: str
    ptxas: str
    nvdisasm: str

    @functools.cached_property
    def version(self):
        """That of ptxas, such as 13.0.88."""
        return version(self.ptxas)

    @functools.cached_property
    def marks(self):
        """What results depend on besides PTX and architecture."""
        return f"{FORM} {self.version}"

    @functools.cached_property
    def listing(self):
        return version(self.nvdisasm) if self.nvdisasm else ""


def version(program):
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return re.search(r"V(\d+\.\d+\.\d+)", said)[1]


def find_tools(nvcc):
    """Those beside nvcc, nvdisasm perhaps elsewhere."""
    folder = Path(nvcc).parent
    nvdisasm = folder / "nvdisasm"
    found = str(nvdisasm) if nvdisasm.exists() else shutil.which("nvdisasm") or ""
    return Tools(nvcc, str(folder / "ptxas"), found)


# ---- the module ----


def no_interpreter(build, what):
    """The line that says why `what` cannot be tested in a build without the back end cuda-ptx."""
    if (build / "lib/ravel/cvl-cuda.so").exists():
        return f"SKIPPED {what}: there is no back end cuda-ptx, since libzstd-dev is missing"
    return f"SKIPPED (no nvcc) {what}: there is no back end cuda-ptx"



# Options of the build's command that are not for PTX, and those of them with a value of its own.
DROPPED = re.compile(r"--generate-code=.*|-MD|-c|--objdir-as-tempdir")
DROPPED_WITH_VALUE = ("-MT", "-MF", "-o")


def without_outputs(words):
    """The command of nvcc without architecture and outputs."""
    kept, skip = [], False
    for word in words:
        if not skip and word not in DROPPED_WITH_VALUE and not DROPPED.fullmatch(word):
            kept.append(word)
        skip = word in DROPPED_WITH_VALUE
    return kept


def module_units(build):
    """The sources of the CUDA module, and of that for benchmarks, as the build compiles them; none if it
    has no module."""
    if not (build / "build.ninja").exists():
        return []
    listed = subprocess.run(["ninja", "-C", build, "-t", "compdb"], capture_output=True, text=True,
                            check=True).stdout
    units = []
    for entry in json.loads(listed):
        if re.search(r"cvl-cuda-(objects|variants)\.dir", entry["output"]) and entry["file"].endswith(".cu"):
            words = shlex.split(entry["command"])
            nvcc = next(i for i, word in enumerate(words) if Path(word).name == "nvcc")
            units.append(Unit(Path(entry["file"]).name, without_outputs(words[nvcc:]),
                              object=build / entry["output"]))
    return units


# ---- PTX ----


def digest_now(path):
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "none"


# Of a source, which does not change while this runs.
file_digest = functools.lru_cache(maxsize=None)(digest_now)


def read_dependencies(path):
    """The files that a compiler read, from the rule that it wrote for make."""
    words = path.read_text().split(": ", 1)[1].replace("\\\n", " ").split()
    return sorted({os.path.normpath(word) for word in words})


def inputs_digest(unit, tools, files):
    parts = [version(tools.nvcc), str(unit.arch), *unit.command,
             *(f"{name} {file_digest(name)}" for name in files)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def do(command):
    """Runs a compiler; what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def make_ptx(unit, tools, path):
    """Writes the PTX of a unit; the files that were read for it."""
    rules = path.with_suffix(".d")
    do([*unit.command, "-ptx", f"-arch=compute_{unit.arch}", "-o", path, "-MD", "-MF", rules])
    files = read_dependencies(rules)
    rules.unlink()
    return files


# ---- machine code ----

MESSAGE = re.compile(
    r"Compiling entry function '(?P<entry>\S+)'|Function properties for (?P<function>\S+)|"
    r"(?P<stack>\d+) bytes stack frame, (?P<stores>\d+) bytes spill stores, (?P<loads>\d+) bytes "
    r"spill loads|Used (?P<registers>\d+) registers(?P<rest>.*)")


def amount(text, what):
    found = re.search(rf"(\d+) {what}", text)
    return int(found[1]) if found else 0


def read_messages(text):
    """The kernels of which `ptxas -v` speaks, by symbol. The functions that a kernel calls have
    lines of their own after its name: their spills are the kernel's, its stack is its own frame."""
    kernels, now, function = {}, None, ""
    for found in MESSAGE.finditer(text):
        if found["entry"]:
            now = kernels[found["entry"]] = Kernel(found["entry"])
        elif found["function"]:
            function = found["function"]
        elif found["stack"] and now:
            now.stack += int(found["stack"]) if function == now.symbol else 0
            now.spill_stores += int(found["stores"])
            now.spill_loads += int(found["loads"])
        elif found["registers"] and now:
            now.registers = int(found["registers"])
            now.shared = amount(found["rest"], "bytes smem")
            now.barriers = amount(found["rest"], "barriers")
    return kernels


ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (\S+?)\((.*?)^\{", re.MULTILINE | re.DOTALL)


def read_bounds(ptx, kernels):
    """What __launch_bounds__ says, from the PTX. It has the kernels of which ptxas spoke."""
    entries = ENTRY.findall(ptx)
    if {symbol for symbol, _ in entries} != set(kernels):
        raise Failure(f"ptxas spoke of {len(kernels)} kernels, not of the {len(entries)} of the PTX")
    for symbol, head in entries:
        sizes = re.search(r"\.maxntid (\d+)(?:, (\d+))?(?:, (\d+))?", head)
        if sizes:
            kernels[symbol].threads = int(sizes[1]) * int(sizes[2] or 1) * int(sizes[3] or 1)
        asked = re.search(r"\.minnctapersm (\d+)", head)
        kernels[symbol].resident = int(asked[1]) if asked else 1


# Attributes in .nv.info: of a function, by its number in the table of symbols.
FRAME_SIZE, MIN_STACK_SIZE, REGISTERS = 0x11, 0x12, 0x2F
SIZED = 0x04  # the form of an attribute that has a size; the others take four bytes


@dataclasses.dataclass
class Section:
    """Of an ELF file; of a section without contents `contents` means nothing."""

    name: str
    offset: int
    size: int
    link: int        # number of the section that it refers to
    contents: bytes


def elf_sections(data):
    start = struct.unpack_from("<Q", data, 0x28)[0]
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    heads = [struct.unpack_from("<IIQQQQII", data, start + i * size) for i in range(count)]
    text = data[heads[names][4]:]
    return [Section(text[h[0]:text.index(b"\0", h[0])].decode(), h[4], h[5], h[6], data[h[4]:h[4] + h[5]])
            for h in heads]


def elf_symbols(sections):
    """The names of the symbols, by number."""
    table, strings = next((s.contents, sections[s.link].contents) for s in sections if s.name == ".symtab")
    starts = [struct.unpack_from("<I", table, i)[0] for i in range(0, len(table), 24)]
    return [strings[s:strings.index(b"\0", s)].decode() for s in starts]


def attributes(info):
    """(attribute, number of the function, value) of those in .nv.info that have these."""
    at = 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if form == SIZED:
            if size == 8:
                yield attribute, *struct.unpack_from("<II", info, at + 4)
            at += size
        at += 4


def read_cubin(data):
    """By attribute and symbol what the tables of the machine code say, and by symbol the bytes of
    sections of local memory."""
    sections = elf_sections(data)
    symbols = elf_symbols(sections)
    info = next((s.contents for s in sections if s.name == ".nv.info"), b"")
    table = {(a, symbols[number]): value for a, number, value in attributes(info)}
    return table, {s.name.removeprefix(".nv.local."): len(s.contents) for s in sections
                   if s.name.startswith(".nv.local.")}


def compare(kernel, table):
    """A kernel's lines of ptxas against the tables of the machine code, where its stack is with
    the functions that it calls."""
    for attribute, value in ((REGISTERS, kernel.registers), (FRAME_SIZE, kernel.stack)):
        found = table.get((attribute, kernel.symbol))
        if found != value:
            raise Failure(f"{kernel.symbol}: ptxas says {value}, attribute {attribute:#x} of the"
                          f" machine code is {found}")
    kernel.stack = table[(MIN_STACK_SIZE, kernel.symbol)]


def count_local(listing, kernels):
    """Loads and stores of local memory in nvdisasm's listing, by kernel."""
    for kernel in kernels.values():
        kernel.local = 0
    now = None
    for line in listing.splitlines():
        if line.startswith(".text."):
            now = kernels.get(line[len(".text."):].rstrip(":"))
        elif now and re.search(r"\b(LDL|STL)\b", line):
            now.local += 1


def make_kernels(unit, tools, path):
    """The kernels of the PTX in a file."""
    cubin = path.with_suffix(".cubin")
    text = path.read_text()
    kernels = read_messages(do([tools.ptxas, "-v", f"-arch=sm_{unit.arch}", path, "-o", cubin]))
    read_bounds(text, kernels)
    table, local = read_cubin(cubin.read_bytes())
    for kernel in kernels.values():
        compare(kernel, table)
        kernel.stack += local.get(kernel.symbol, 0)
    if tools.nvdisasm:
        count_local(do([tools.nvdisasm, "-c", cubin]), kernels)
    cubin.unlink()
    return list(kernels.values())


# ---- the build's objects ----

FATBIN, PTX_ENTRY, CUBIN_ENTRY = 0xBA55ED50, 1, 2
RESERVED = 1024  # bytes of shared memory of each block that the system has, since sm_80
ZSTANDARD = b"\x28\xb5\x2f\xfd"


def decompressed(data):
    """A frame of Zstandard, which nvcc uses, by the system's library."""
    name = ctypes.util.find_library("zstd")
    if not name:
        raise Failure("the PTX in the object is compressed, and libzstd cannot be found")
    library = ctypes.CDLL(name)
    library.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    library.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
    library.ZSTD_decompress.restype = ctypes.c_size_t
    for function in (library.ZSTD_getFrameContentSize, library.ZSTD_findFrameCompressedSize):
        function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    size = library.ZSTD_getFrameContentSize(data, len(data))
    text = ctypes.create_string_buffer(size)
    frame = library.ZSTD_findFrameCompressedSize(data, len(data))
    got = library.ZSTD_decompress(text, size, data, frame)
    if got != size:
        raise Failure("the PTX in the object cannot be decompressed")
    return text.raw


def located_entries(data):
    """(offset of its fat binary, kind, architecture, contents) of each entry of those in an object or a
    module. The format is not documented; cvl-cuda/ptx/fatbin.hpp says what is used of it."""
    at = data.find(struct.pack("<I", FATBIN))
    while at >= 0:
        begin = at
        head, size = struct.unpack_from("<HQ", data, at + 6)
        end, at = at + head + size, at + head
        while at < end:
            kind, _, head, size = struct.unpack_from("<HHIQ", data, at)
            arch = struct.unpack_from("<I", data, at + 28)[0]
            yield begin, kind, arch, data[at + head:at + head + size]
            at += head + size
        at = data.find(struct.pack("<I", FATBIN), at)


def fatbin_entries(data):
    """(kind, architecture, contents) of these entries, decompressed."""
    for _, kind, arch, contents in located_entries(data):
        yield kind, arch, decompressed(contents) if contents.startswith(ZSTANDARD) else contents


def shared_bytes(data):
    """Static shared memory of each kernel of a cubin, by symbol: sections without contents, with
    what the system reserves in each block."""
    sections = elf_sections(data)
    reserved = RESERVED if any(s.name.startswith(".nv.shared.reserved.") for s in sections) else 0
    return {s.name.removeprefix(".nv.shared."): max(0, s.size - reserved) for s in sections
            if s.name.startswith(".nv.shared.")}


def kernels_of_object(unit):
    """The kernels of a unit, from its object's machine code; none if it has none for the
    architecture. Spilled registers show as stack."""
    if unit.object is None or not unit.object.exists():
        return None
    entries = list(fatbin_entries(unit.object.read_bytes()))
    cubin = next((c for kind, arch, c in entries if kind == CUBIN_ENTRY and arch == unit.arch), None)
    ptx = next((c for kind, _, c in entries if kind == PTX_ENTRY), None)
    if cubin is None or ptx is None:
        return None
    table, local = read_cubin(cubin)
    shared = shared_bytes(cubin)
    text = ptx.rstrip(b"\0").decode()
    kernels = {symbol: Kernel(symbol, registers=table[(REGISTERS, symbol)],
                              stack=table[(MIN_STACK_SIZE, symbol)] + local.get(symbol, 0),
                              shared=shared.get(symbol, 0))
               for symbol, _ in ENTRY.findall(text)}
    read_bounds(text, kernels)
    return list(kernels.values())


# ---- what is kept ----


@contextlib.contextmanager
def locked(path):
    """While another run compiles the same, this one waits and then finds it made."""
    with open(f"{path}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def load(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def ptx_of(unit, tools, path, kept):
    """Makes the PTX unless it is there; what is to be kept of it."""
    files = kept.get("files", [])
    if (files and kept["inputs"] == inputs_digest(unit, tools, files) and
            kept["ptx"] == digest_now(path)):
        return {"files": files, "inputs": kept["inputs"], "ptx": kept["ptx"]}
    files = make_ptx(unit, tools, path)
    return {"files": files, "inputs": inputs_digest(unit, tools, files), "ptx": digest_now(path)}


def is_of(kept, ptx, tools):
    """Whether what is kept is of this PTX and these tools. A listing that was searched once need
    not be where nvdisasm is missing now."""
    return (kept.get("ptx") == ptx and kept.get("marks") == tools.marks and
            (kept.get("listing") == tools.listing or not tools.nvdisasm))


def kernels_of(unit, tools, folder):
    """The kernels of a unit."""
    built = kernels_of_object(unit)
    if built is not None:
        return built
    path = folder / f"{unit.name}-{unit.arch}.ptx"
    with locked(path):
        return kernels_of_text(path, unit, tools) if unit.text else kernels_at(path, unit, tools)


def reports_of_all():
    """Where reports are kept by their texts, for all checkouts, as in a compiler's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ravel-tests"


def reports():
    folder = Path(os.environ.get("RAVEL_REPORTS") or reports_of_all())
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def forget_old(folder):
    """What was not used for so long is of texts that there are no more."""
    for path in folder.glob("ptxas-*.json"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - KEPT_DAYS * 24 * 3600:
                path.unlink()


def kernels_of_text(path, unit, tools):
    """What is kept has its name by the text, its options and the tools."""
    options = [word for word in unit.command[1:] if word.startswith("-")]
    inputs = [unit.text, str(unit.arch), *options, version(tools.nvcc), tools.marks, tools.listing]
    name = hashlib.sha256("\n".join(inputs).encode()).hexdigest()
    kept = reports() / f"ptxas-{name}.json"
    found = load(kept).get("kernels")
    if found is not None:
        os.utime(kept)
        return [Kernel(**fields) for fields in found]
    kernels = kernels_at(path, unit, tools)
    forget_old(kept.parent)
    made = kept.with_suffix(f".{os.getpid()}")
    made.write_text(json.dumps({"kernels": [dataclasses.asdict(k) for k in kernels]}) + "\n")
    made.replace(kept)
    return kernels


def kernels_at(path, unit, tools):
    record = path.with_suffix(".json")
    kept = load(record)
    now = ptx_of(unit, tools, path, kept)
    if is_of(kept, now["ptx"], tools):
        now = {**kept, **now}
    else:
        now["kernels"] = [dataclasses.asdict(k) for k in make_kernels(unit, tools, path)]
        now.update(marks=tools.marks, listing=tools.listing)
    if now != kept:
        record.write_text(json.dumps(now, indent=0) + "\n")
    return [Kernel(**fields) for fields in now["kernels"]]
