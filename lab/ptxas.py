"""Compiles sources of CUDA by nvcc and ptxas, without a GPU, and reads what a kernel takes.

A unit is a source for one architecture. What the build's object has for that architecture is read
from there. Otherwise nvcc makes PTX of it with the options of the build, for each architecture
anew, since sources and CUB look at __CUDA_ARCH__, and ptxas makes machine code of that, whose own
tables say what kernels take.
"""

import ctypes
import ctypes.util
import dataclasses
import json
import re
import shlex
import struct
import subprocess
import tempfile
from pathlib import Path


class Failure(Exception):
    """A compiler refused a source, or made what this file does not understand."""


@dataclasses.dataclass
class Kernel:
    """What ptxas gives an entry point. Bytes are those of a thread, shared ones of a block; the
    stack is all of its local memory, spilled registers and that of functions it calls included."""

    symbol: str
    registers: int = 0
    stack: int = 0
    shared: int = 0
    threads: int = 0   # the most of a block, which is what Ravel launches; 0: no bound
    resident: int = 1  # blocks for which the source asks to find room on a multiprocessor


@dataclasses.dataclass
class Unit:
    """A source with the command of nvcc that compiles it, without architecture and output, and the
    object that the build made of it."""

    name: str
    command: list
    arch: int = 0
    object: Path | None = None


# ---- the module ----


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
    """The sources of the CUDA module, and of that for benchmarks, as the build compiles them; none
    if it has no module."""
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


# ---- machine code ----


# Attributes in .nv.info: of a function, by its number in the table of symbols. The stack is with
# the functions that it calls.
STACK, REGISTERS = 0x12, 0x2F
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


RESERVED = 1024  # bytes of shared memory of each block that the system has, since sm_80


def shared_bytes(sections):
    """Static shared memory of each kernel, by symbol: sections without contents, with what the
    system reserves."""
    reserved = RESERVED if any(s.name.startswith(".nv.shared.reserved.") for s in sections) else 0
    return {s.name.removeprefix(".nv.shared."): max(0, s.size - reserved) for s in sections
            if s.name.startswith(".nv.shared.")}


def read_cubin(data, symbol_names):
    """The kernels of these names."""
    sections = elf_sections(data)
    symbols = elf_symbols(sections)
    info = next((s.contents for s in sections if s.name == ".nv.info"), b"")
    table = {(a, symbols[number]): value for a, number, value in attributes(info)}
    local = {s.name.removeprefix(".nv.local."): s.size for s in sections if s.name.startswith(".nv.local.")}
    shared = shared_bytes(sections)
    missing = [name for name in symbol_names if (REGISTERS, name) not in table]
    if missing:
        raise Failure(f"the machine code does not have {', '.join(missing[:3])}")
    return {name: Kernel(name, registers=table[(REGISTERS, name)],
                         stack=table[(STACK, name)] + local.get(name, 0), shared=shared.get(name, 0))
            for name in symbol_names}


ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry (\S+?)\((.*?)^\{", re.MULTILINE | re.DOTALL)


def kernels_in(cubin, ptx):
    """The kernels of machine code, with what __launch_bounds__ says in the PTX that it is of."""
    entries = ENTRY.findall(ptx)
    kernels = read_cubin(cubin, [symbol for symbol, _ in entries])
    for symbol, head in entries:
        sizes = re.search(r"\.maxntid (\d+)(?:, (\d+))?(?:, (\d+))?", head)
        if sizes:
            kernels[symbol].threads = int(sizes[1]) * int(sizes[2] or 1) * int(sizes[3] or 1)
        asked = re.search(r"\.minnctapersm (\d+)", head)
        kernels[symbol].resident = int(asked[1]) if asked else 1
    return list(kernels.values())


# ---- the build's objects ----


FATBIN, PTX_ENTRY, CUBIN_ENTRY = 0xBA55ED50, 1, 2
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
    """(offset of its fat binary, kind, architecture, contents) of each entry of those in an object
    or a module. The format is not documented; cvl-cuda/ptx/fatbin.hpp says what is used of it."""
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


def kernels_of_object(unit):
    """The kernels of a unit, from its object's machine code; None if it has none for the
    architecture."""
    if unit.object is None or not unit.object.exists():
        return None
    entries = [(kind, arch, decompressed(contents) if contents.startswith(ZSTANDARD) else contents)
               for _, kind, arch, contents in located_entries(unit.object.read_bytes())]
    cubin = next((c for kind, arch, c in entries if kind == CUBIN_ENTRY and arch == unit.arch), None)
    ptx = next((c for kind, _, c in entries if kind == PTX_ENTRY), None)
    return None if cubin is None or ptx is None else kernels_in(cubin, ptx.rstrip(b"\0").decode())


# ---- compiling ----


def do(command):
    """Runs a compiler."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")


def compiled(unit):
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = Path(folder) / "it.ptx", Path(folder) / "it.cubin"
        do([*unit.command, "-ptx", f"-arch=compute_{unit.arch}", "-o", ptx])
        do([Path(unit.command[0]).parent / "ptxas", f"-arch=sm_{unit.arch}", ptx, "-o", cubin])
        return kernels_in(cubin.read_bytes(), ptx.read_text())


def kernels_of(unit):
    """The kernels of a unit."""
    built = kernels_of_object(unit)
    return compiled(unit) if built is None else built
