#!/usr/bin/env python3
"""Installs a build into a folder, moves the folder, and uses it while the checkout is hidden.

    packaging/tests/installation.py [--build FOLDER]"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "packaging" / "tests" / "program"
LIBRARY = ROOT / "packaging" / "tests" / "library"
sys.path[:0] = [str(ROOT / "packaging"), str(ROOT / "nesl-tests")]
from checks import Checks  # noqa: E402
from hiding import can_hide, hidden  # noqa: E402
from version import VERSION, changes  # noqa: E402

COMMANDS = ("fcodeopt", "nesl", "neslc", "vinterp")
FILES = [*(f"bin/{c}" for c in COMMANDS), *(f"share/man/man1/{c}.1" for c in COMMANDS),
         "include/ravel.h", "include/ravel/arrow.h", "include/ravel/dlpack.h", "lib/libravel.so", "lib/libravel.a",
         "lib/pkgconfig/ravel.pc", "lib/cmake/ravel/ravel-config.cmake", "lib/cmake/ravel/ravel-library.cmake",
         "share/ravel/library/sequences.nesl", "share/ravel/editors/package.json",
         "share/ravel/editors/vim/syntax/nesl.vim", "share/ravel/editors/emacs/nesl-mode.el",
         *(f"share/bash-completion/completions/{c}" for c in COMMANDS), "share/zsh/site-functions/_ravel",
         "share/doc/ravel/examples/quicksort.nesl", "share/doc/ravel/docs/c-api.md"]
OUTPUT = f"{VERSION}: 3 2 1, of Arrow: g"  # of the program of C
# What is said of an empty file as a back end: that it was looked for in the moved prefix.
BROKEN = "cannot be loaded: {}/lib/ravel/cvl-broken.so: file too short"


class Installation(Checks):
    """The installed files, and where a command that uses them runs."""

    def __init__(self, build: Path, folder: Path) -> None:
        super().__init__()
        self.work, self.prefix = folder / "work", folder / "moved"
        self.hide = [ROOT, build] if can_hide() else []
        if not self.hide:
            print("SKIPPED (no namespaces) installed files are used beside the checkout")
        install(build, folder / "first")
        (folder / "first").rename(self.prefix)
        shutil.copytree(PROGRAM, self.work)
        shutil.copytree(LIBRARY, self.work / "library")
        libraries = str(self.prefix / "lib")
        self.environment = dict(os.environ, LD_LIBRARY_PATH=libraries,
                                PKG_CONFIG_PATH=f"{libraries}/pkgconfig")
        self.environment.pop("RAVEL_BACKENDS", None)

    def run(self, *command: str | Path) -> str:
        """What a command prints, on both streams, in the folder of the program."""
        line = hidden(command, self.hide) if self.hide else command
        return subprocess.run(line, cwd=self.work, env=self.environment, text=True, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120).stdout

    def expect(self, want: str, *command: str | Path) -> None:
        got = self.run(*command)
        self.check(re.fullmatch(want, got.strip(), re.DOTALL),
                   f"{' '.join(map(str, command))} printed\n{got}instead of {want}")


def install(build: Path, prefix: Path) -> None:
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True,
                   stdout=subprocess.DEVNULL)


def break_backend(i: Installation) -> None:
    (i.prefix / "lib/ravel").mkdir(exist_ok=True)
    (i.prefix / "lib/ravel/cvl-broken.so").touch()


def check_files(i: Installation, build: Path) -> None:
    for name in FILES:
        i.check((i.prefix / name).exists(), f"{name} was not installed")
    module = "lib/ravel/cvl-cuda.so"
    i.check((i.prefix / module).exists() == (build / module).exists(),
            f"{module} is not installed as it was built")
    if i.hide:
        i.expect("", "ls", ROOT)


def declared(i: Installation) -> set[str]:
    """What programs may call, and what the package for Python alone does."""
    header = (i.prefix / "include/ravel.h").read_text() + (ROOT / "libravel/python.h").read_text()
    return set(re.findall(r"^RAVEL_API[^;(]*\b(ravel_\w+)\(", header, re.MULTILINE))


def check_library(i: Installation) -> None:
    library = i.prefix / "lib/libravel.so"
    i.check(library.resolve().name == f"libravel.so.{VERSION}",
            f"libravel.so is {library.resolve().name}")
    i.expect(r".*\(SONAME\)[^\n]*\[libravel\.so\.0\].*", "readelf", "-d", library)
    for file in (library, *(i.prefix / "bin").iterdir()):
        i.check("RUNPATH" not in i.run("readelf", "-d", file),
                f"{file.name} says where libraries are")
    symbols = i.run("nm", "-D", "--defined-only", "--format=posix", library)
    exported = {line.split()[0] for line in symbols.splitlines()}
    i.check(declared(i) == exported,
            f"the header and the library differ in {sorted(declared(i) ^ exported)}")


def check_module(i: Installation) -> None:
    """The CUDA back end, if it was built, is what it would be in another folder. nvcc could name
    its temporary files in it, and names unnamed namespaces _GLOBAL__N__PATH_7_pack_cu_SYMBOL, with
    two hashes, or ..._FOLDER_PROCESS."""
    module = i.prefix / "lib/ravel/cvl-cuda.so"
    if not module.exists():
        return
    content = module.read_bytes()
    i.check(b"tmpxft_" not in content, f"{module.name} names temporary files")
    paths = (str(source.relative_to(ROOT)) for source in (ROOT / "cvl-cuda").rglob("*.cu"))
    known = {b"%08x" % zlib.crc32(path.encode()) for path in paths}
    hashes = set(re.findall(rb"_GLOBAL__N__([0-9a-f]{8})_", content))
    i.check(hashes and hashes <= known, f"{module.name} depends on the folder of the sources")
    i.check(not re.search(rb"_GLOBAL__N__\w+_cu_[0-9a-f]{8}_\d", content),
            f"{module.name} depends on the process that compiled it")


def check_program(i: Installation, down: str) -> None:
    """A C program that was compiled with the installed files."""
    i.expect(re.escape(OUTPUT), down)
    i.expect(f".*{BROKEN.format(i.prefix)}.*", down, "broken")


def check_documents(i: Installation) -> None:
    """Pages name what is installed, and so do those for programs of C and the header; only others name files
    of the sources."""
    documents = i.prefix / "share/doc/ravel/docs"
    for page in sorted(documents.glob("*.md")):
        of_c = page.stem in ("c-api", "libraries")
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text()):
            i.check((documents / target).exists() or (target.startswith("../") and not of_c),
                    f"{page.name} names {target}, which is not installed")
    for header in (i.prefix / "include").rglob("*.h"):
        for target in re.findall(r"\bdocs/[\w-]+\.md\b", header.read_text()):
            i.check((documents.parent / target).exists(), f"{header.name} names {target}, which is not installed")


def check_page(i: Installation) -> None:
    """The lines by which docs/c-api.md compiles and starts a program, without variables that others have set."""
    page = (i.prefix / "share/doc/ravel/docs/c-api.md").read_text().replace("DIR", str(i.prefix))
    export, *lines = "".join(re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)).splitlines()
    [start] = [line for line in lines if line.endswith(" ./down")]
    compilations = [line for line in lines if line.startswith("cc ")]
    i.check(len(compilations) == 4, "docs/c-api.md does not compile a program in four ways")
    for line in compilations:
        knows = "rpath" in line or "static" in line
        script = f"unset LD_LIBRARY_PATH; {export}; rm -f down; {line}; {'./down' if knows else start}"
        i.expect(rf"(.*\n)?{re.escape(OUTPUT)}", "sh", "-c", script)


def check_static(i: Installation) -> None:
    """Only ravel.h's names are seen in the static library, with which CMake's programs are linked, too."""
    symbols = i.run("nm", "--extern-only", "--defined-only", "--format=posix", i.prefix / "lib/libravel.a")
    names = {line.split()[0] for line in symbols.splitlines() if len(line.split()) > 1}
    i.check(names == declared(i), f"the header and libravel.a differ in {sorted(names ^ declared(i))}")
    i.run("cmake", "-G", "Ninja", "-S", "library", "-B", "build-static", "-DLINKED=STATIC",
          f"-DCMAKE_PREFIX_PATH={i.prefix}")
    i.expect(".*Linking C executable norms", "cmake", "--build", "build-static")
    i.check("libravel" not in i.run("readelf", "-d", "build-static/norms"), "norms needs libravel.so")
    i.expect("5 0 8", "build-static/norms")  # of the file as check_cmake_library has left it


def check_pkg_config(i: Installation) -> None:
    flags = i.run("pkg-config", "--cflags", "--libs", "ravel").split()
    i.expect(re.escape(VERSION), "pkg-config", "--modversion", "ravel")
    i.expect("", "cc", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "down.c", *flags, "-o",
             "down")
    check_program(i, "./down")


def check_cmake(i: Installation) -> None:
    i.run("cmake", "-G", "Ninja", "-B", "build", f"-DCMAKE_PREFIX_PATH={i.prefix}")
    i.expect(".*Linking C executable down", "cmake", "--build", "build")
    check_program(i, "build/down")


def check_cmake_library(i: Installation) -> None:
    """Functions of NESL in a project of CMake; made anew when their file changes."""
    configured = i.run("cmake", "-G", "Ninja", "-S", "library", "-B", "build-library",
                       f"-DCMAKE_PREFIX_PATH={i.prefix}")
    i.expect(".*Linking C executable norms", "cmake", "--build", "build-library")
    i.expect("5 0 7", "build-library/norms")
    i.check("Configuring done" in configured, configured)
    source = i.work / "library" / "rows.nesl"
    source.write_text(source.read_text().replace("then default", "then default + 1"))
    i.expect(".*Linking C executable norms", "cmake", "--build", "build-library")
    i.expect("5 0 8", "build-library/norms")


def check_commands(i: Installation) -> None:
    programs = i.prefix / "bin"
    for command in COMMANDS:
        i.expect(f".*{re.escape(VERSION)}.*", programs / command, "--version")
    i.expect(r".*\[3, 2, 1\] : \[int\]", programs / "nesl", "run", "down.nesl")
    i.expect("", programs / "neslc", "down.nesl", "-o", "down.vcode")
    i.expect(r".*\( 3 2 1 \)", programs / "vinterp", "down.vcode")
    i.expect("", programs / "fcodeopt", "down.vcode", "-o", "down.fcode")
    i.expect(r".*\( 3 2 1 \)", programs / "vinterp", "down.fcode")
    i.expect(f".*{BROKEN.format(i.prefix)}.*", programs / "vinterp", "--backend", "broken",
             "down.vcode")


def check_libraries(i: Installation) -> None:
    """Functions of NESL as functions of C, by the installed neslc."""
    for file in (ROOT / "nesl-tests").glob("libraries*.*"):
        shutil.copy(file, i.work)
    i.expect(r"([^\n]* 0 wrong\n?)+", sys.executable, "libraries.py", "--brief", "--prefix",
             i.prefix)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    build = parser.parse_args().build.resolve()
    changes()
    editors = json.loads((ROOT / "editors" / "package.json").read_text())["version"]
    if editors != VERSION:
        raise ValueError(f"editors/package.json has version {editors}, CMakeLists.txt {VERSION}")
    with tempfile.TemporaryDirectory() as folder:
        i = Installation(build, Path(folder))
        check_files(i, build)
        check_library(i)
        check_module(i)
        check_documents(i)
        break_backend(i)
        check_pkg_config(i)
        check_page(i)
        check_cmake(i)
        check_cmake_library(i)
        check_static(i)
        check_commands(i)
        check_libraries(i)
        return i.status()


if __name__ == "__main__":
    sys.exit(main())
