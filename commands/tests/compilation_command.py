"""Superoperators compiled at run time: whatever becomes of the compiler and of the folder in
which kernels are kept, the results are right, and what is amiss is said in one line.

    compilation_command.py FCODEOPT VINTERP-TESTS C-COMPILER C++-COMPILER FAKE-NVRTC-SOURCE
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import SUM_OF_PRODUCTS, TRIPLES, ScratchTest

# Two superoperators, since what is said once has to be met twice. Each has two kernels, the second for short
# segments, and a module of its own.
PROGRAM = """FUNC MAIN
CONST INT 1000
CALL SUM
CONST INT 600
CALL MOST
+ INT
RET

FUNC SUM
""" + TRIPLES + """COPY 1 0
* INT
COPY 1 0
+ INT
""" + SUM_OF_PRODUCTS + """
FUNC MOST
MAKE_SEGDES
CONST INT 0
CONST INT 2
COPY 1 2
INDEX
COPY 1 0
+ INT
COPY 1 0
* INT
COPY 1 0
+ INT
COPY 1 1
MAX_REDUCE INT
POP 1 1
RET
"""
RESULT = sum((2 * (3 * k) ** 2) ** 2 for k in range(1000)) + 2 * (4 * 599) ** 2
MODULES = 2
NO_KERNELS = "ravel: superoperators run as single operations where they cannot be compiled: "
NOT_KEPT = "ravel: compiled superoperators are not kept: "
HEADER_BYTES = 48  # of a file in the cache, before what the compiler wrote
# The compiler: it records its runs, sleeps for COMPILER_TAKES seconds, and has no limit for the
# size of its files, whatever that of others.
COMPILER = """#!/bin/sh
ulimit -S -f unlimited
case "$*" in *-shared*) echo run >>"$COMPILER_RUNS"; sleep "${COMPILER_TAKES:-0}";; esac
exec %s "$@"
"""


class CompilationTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.here = Path(self.directory)
        self.caches = self.here / "caches"
        self.kept = self.caches / "ravel"
        self.runs = self.here / "runs"
        self.caches.mkdir()
        self.runs.touch()
        self.compiler = self.here / "compiler"
        self.compiler.write_text(COMPILER % CXX, encoding="ascii")
        self.compiler.chmod(0o700)
        (self.here / "prog.vcode").write_text(PROGRAM, encoding="ascii")
        (self.here / "apart.tuning").write_text("cuda.module-kernels 2\n", encoding="ascii")
        subprocess.run([FCODEOPT, "prog.vcode"], cwd=self.here, check=True)
        self.without, said = self.end(self.start(native=False))
        self.assertEqual(said, [])

    def start(self, native=True, emulation="small=0", file_bytes=None, **environment):
        """vinterp under way; it may write so many bytes into a file."""
        def limit():
            most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, most))
        command = [VINTERP, "--backend", "cuda-emu", "--profile=device", "--tuning", "apart.tuning", "prog.fcode"]
        if native:
            command.insert(1, "--native=wait")
        settings = {"RAVEL_EMULATION": emulation, "XDG_CACHE_HOME": str(self.caches),
                    "CXX": str(self.compiler), "COMPILER_RUNS": str(self.runs)}
        return subprocess.Popen(
            command, cwd=self.here, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # Python ignores SIGXFSZ, and so does then what it starts.
            preexec_fn=limit if file_bytes else None, restore_signals=not file_bytes,
            env={**os.environ, **settings, **environment})

    def end(self, process):
        """The launches of a run, which must end well, and what it said beside the profile."""
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(re.findall(r"\d+", out), [str(RESULT)])
        said = [line for line in err.splitlines() if line.startswith("ravel: ")]
        return int(re.search(r"launches (\d+)", err)[1]), said

    def runs_by_kernels(self, **how):
        """What a run says that has its kernels."""
        launches, said = self.end(self.start(**how))
        self.assertLess(launches, self.without)
        return said

    def says_why_there_are_none(self, reason, **how):
        """A run without kernels says so in one line."""
        launches, said = self.end(self.start(**how))
        self.assertEqual(launches, self.without)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(NO_KERNELS), said[0])
        self.assertIn(reason, said[0])

    def compilations(self):
        """So many since the last time."""
        count = len(self.runs.read_text(encoding="ascii").splitlines())
        self.runs.write_text("", encoding="ascii")
        return count

    def files(self):
        return sorted(self.kept.iterdir())


class Compilers(CompilationTest):
    def fake_nvrtc(self, major):
        library = self.here / f"nvrtc-{major}.so"
        subprocess.run([CC, "-shared", "-fPIC", f"-DFAKE_MAJOR={major}", "-o", library,
                        FAKE_NVRTC], check=True)
        return str(library)

    def test_nvrtc_is_missing(self):
        self.says_why_there_are_none("/nowhere/nvrtc.so", emulation="small=0,nvrtc",
                                     RAVEL_NVRTC="/nowhere/nvrtc.so")

    def test_nvrtc_is_too_old(self):
        self.says_why_there_are_none("NVRTC 11.8 is too old", emulation="small=0,nvrtc",
                                     RAVEL_NVRTC=self.fake_nvrtc(11))

    def test_nvrtc_fails(self):
        self.says_why_there_are_none("NVRTC 13.8: trouble", emulation="small=0,nvrtc",
                                     RAVEL_NVRTC=self.fake_nvrtc(13))

    def test_nvrtc_is_something_else(self):
        self.says_why_there_are_none("something else", emulation="small=0,nvrtc",
                                     RAVEL_NVRTC="libm.so.6")

    def test_a_compiler_is_missing(self):
        self.says_why_there_are_none("No such file", CXX="/nowhere/c++")

    def test_a_compiler_fails(self):
        self.says_why_there_are_none("error", CXX=f"{CXX} -include /nowhere/at/all.hpp")

    def test_a_compiler_writes_garbage(self):
        script = self.here / "liar"
        script.write_text('#!/bin/sh\nfor word; do test "$before" = -o && echo no >"$word"; '
                          'before=$word; done\necho 1.0\n', encoding="ascii")
        script.chmod(0o700)
        self.says_why_there_are_none("kernel.so", CXX=str(script))


class Caches(CompilationTest):
    def test_kernels_are_kept(self):
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertEqual(self.compilations(), MODULES)
        self.assertEqual(len(self.files()), MODULES)
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertEqual(self.compilations(), 0)

    def says_that_nothing_is_kept(self, reason, **how):
        """A run has its kernels, and says in one line that others will not."""
        said = self.runs_by_kernels(**how)
        self.assertEqual(len(said), 1, said)
        self.assertTrue(said[0].startswith(NOT_KEPT), said[0])
        self.assertIn(reason, said[0])

    def test_a_file_with_the_name_of_the_folder(self):
        self.kept.write_text("a file", encoding="ascii")
        self.says_that_nothing_is_kept("Not a directory")
        self.assertEqual(self.kept.read_text(encoding="ascii"), "a file")

    def test_a_file_with_the_name_of_the_folder_above(self):
        self.caches.rmdir()
        self.caches.write_text("a file", encoding="ascii")
        process = self.start()
        _, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 1)
        self.assertEqual(len(err.splitlines()), 1, err)
        self.assertIn("Not a directory", err)

    def test_a_folder_that_nobody_may_write(self):
        """In /proc not even root makes files."""
        self.kept.symlink_to("/proc")
        self.says_that_nothing_is_kept(str(self.kept))

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_is_read_only(self):
        self.runs_by_kernels()
        last = self.files()[-1]
        last.unlink()
        self.kept.chmod(0o500)
        self.says_that_nothing_is_kept("Permission denied")
        self.kept.chmod(0o700)
        self.assertEqual(self.compilations(), MODULES + 1)
        self.assertEqual(len(self.files()), MODULES - 1)

    def test_a_disk_that_is_full(self):
        """There is room for what the compiler wrote, but not for the header before it; with a large
        constant that is more than its source, which has to be written too."""
        large = self.here / "large.h"
        large.write_text("__attribute__((used)) static const char large[1 << 20] = {1};\n", encoding="ascii")
        compiler = f"{self.compiler} -include {large}"
        self.runs_by_kernels(CXX=compiler)
        most = max(file.stat().st_size for file in self.files())
        for file in self.files():
            file.unlink()
        self.says_that_nothing_is_kept("File too large", CXX=compiler,
                                       file_bytes=most - HEADER_BYTES // 2)
        self.assertLess(len(self.files()), MODULES)
        self.assertEqual([file for file in self.files() if file.suffix != ".kernel"], [])
        self.assertEqual(self.runs_by_kernels(CXX=compiler), [])
        self.assertEqual(len(self.files()), MODULES)

    def spoil_and_run(self, spoil):
        """Kernels whose files are spoilt are compiled again, and the files are mended."""
        self.runs_by_kernels()
        contents = {file: file.read_bytes() for file in self.files()}
        self.compilations()
        for file, good in contents.items():
            file.write_bytes(spoil(good))
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertEqual(self.compilations(), MODULES)
        for file, good in contents.items():
            self.assertEqual(len(file.read_bytes()), len(good))
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertEqual(self.compilations(), 0)

    def test_garbage_in_files(self):
        self.spoil_and_run(lambda good: b"garbage")
        self.spoil_and_run(lambda good: b"")
        self.spoil_and_run(lambda good: good[:-100])
        self.spoil_and_run(lambda good: good[:200] + bytes([good[200] ^ 1]) + good[201:])
        self.spoil_and_run(lambda good: bytes(len(good)))

    def test_garbage_beside_files(self):
        self.kept.mkdir()
        for name in ("ravel-.kernel", "ravel-0.kernel.tmp", "notes", "ravel-x.kernel.abcdef.tmp"):
            (self.kept / name).write_bytes(os.urandom(100))
        (self.kept / "ravel-folder.kernel").mkdir()
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertTrue((self.kept / "notes").exists())

    def test_a_folder_with_the_name_of_a_file(self):
        self.runs_by_kernels()
        for file in self.files():
            file.unlink()
            file.mkdir()
        self.says_that_nothing_is_kept(str(self.kept))
        self.assertEqual(len(self.files()), MODULES)

    def test_processes_share_it(self):
        """They look for a kernel, compile it and write it all at the same time."""
        processes = [self.start(COMPILER_TAKES="0.5") for _ in range(4)]
        for process in processes:
            launches, said = self.end(process)
            self.assertLess(launches, self.without)
            self.assertEqual(said, [])
        self.assertGreater(self.compilations(), MODULES, "they never met")
        self.assertEqual([file.suffix for file in self.files()], [".kernel"] * MODULES)
        self.assertEqual(self.runs_by_kernels(), [])
        self.assertEqual(self.compilations(), 0)


class Profile(CompilationTest):
    def test_time_in_kernels(self):
        _, err = self.start().communicate(timeout=120)
        self.assertGreater(float(re.search(r"in kernels ([\d.]+) s", err)[1]), 0)
        _, err = self.start(emulation="small=1000000").communicate(timeout=120)
        self.assertNotRegex(err, r"in kernels 0*[.]0*[1-9]")


if __name__ == "__main__":
    FCODEOPT, VINTERP, CC, CXX, FAKE_NVRTC = (os.path.abspath(p) for p in sys.argv[1:6])
    # What has its name on the path may know what was compiled before (scripts/tests/cached-compiler).
    CXX = shutil.which(Path(CXX).name) or CXX
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
