"""Superoperators compiled by the machine's C compiler: whatever others did to the directory in
which they are kept, the results are right, nothing of theirs is executed, and what is wrong is
said in one line.

    native_command.py VINTERP C-COMPILER [unittest options]
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

from support import SUM_OF_SQUARES, SUM_OF_SQUARES_RESULT, ScratchTest

REFUSED = "ravel: superoperators are not compiled: "
# The compiler: it records its runs, the permissions of its directory, and its standard input.
COMPILER = """#!/bin/sh
echo "$(stat -c '%%a' .) $(readlink /proc/self/fd/0) $*" >>"%s"
exec %s "$@"
"""
# A library that makes a file as soon as it is loaded.
HOSTILE = """#include <stdio.h>
__attribute__((constructor)) static void act(void) { fclose(fopen("%s", "w")); }
"""


class NativeTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.here = Path(self.directory)
        self.kept = self.here / "caches" / "ravel"
        self.kept.parent.mkdir()
        self.runs = self.here / "runs"
        self.harm = self.here / "harm"
        self.runs.touch()
        compiler = self.here / "cc"
        compiler.write_text(COMPILER % (self.runs, CC), encoding="ascii")
        compiler.chmod(0o700)
        (self.here / "prog.vcode").write_text(SUM_OF_SQUARES, encoding="ascii")

    def start(self, **options):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.kept.parent),
                       "PATH": f"{self.here}:{os.environ['PATH']}"}
        return subprocess.Popen([VINTERP, "-O", "--native=wait", "prog.vcode"], cwd=self.here,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=environment, **options)

    def end(self, process, said=""):
        """A run ends well and harmlessly, having said this on standard error."""
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, SUM_OF_SQUARES_RESULT), err)
        self.assertFalse(self.harm.exists())
        self.assertEqual(len(err.splitlines()), bool(said), err)
        self.assertIn(said, err)

    def compilations(self, **options):
        """How many a run starts that says nothing."""
        self.runs.write_text("", encoding="ascii")
        self.end(self.start(**options))
        return len(self.runs.read_text(encoding="ascii").splitlines())

    def is_refused(self, reason):
        """A run evaluates, compiles nothing and says why."""
        self.runs.write_text("", encoding="ascii")
        self.end(self.start(), REFUSED + reason)
        self.assertEqual(self.runs.read_text(encoding="ascii"), "")

    def files(self):
        return sorted(self.kept.iterdir())

    def the_object(self):
        self.assertEqual(len(self.files()), 1)
        return self.files()[0]

    def hostile_library(self):
        source, library = self.here / "hostile.c", self.here / "hostile.so"
        source.write_text(HOSTILE % self.harm, encoding="ascii")
        subprocess.run([CC, "-shared", "-fPIC", "-o", library, source], check=True)
        return library.read_bytes()


class Kept(NativeTest):
    def test_what_is_compiled_is_kept(self):
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.kept.stat().st_mode & 0o777, 0o700)
        self.assertRegex(self.the_object().name, r"^ravel-[0-9a-f]{64}\.so$")
        self.assertEqual(self.compilations(), 0)

    def test_nobody_can_exchange_what_the_compiler_reads_and_writes(self):
        """Its source has no name, and its directory is the user's alone, whatever the mask."""
        self.assertEqual(self.compilations(preexec_fn=lambda: os.umask(0)), 1)
        mode, source, arguments = self.runs.read_text(encoding="ascii").split(" ", 2)
        self.assertEqual(mode, "700")
        self.assertIn("memfd", source)
        self.assertRegex(arguments, r" -x c - -o object ")
        self.assertEqual(self.the_object().stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.compilations(), 0)

    def test_processes_share_it(self):
        for process in [self.start() for _ in range(4)]:
            self.end(process)
        self.assertEqual(len(self.files()), 1)
        self.assertEqual(self.compilations(), 0)

    def test_a_directory_with_the_name_of_the_file(self):
        self.assertEqual(self.compilations(), 1)
        name = self.the_object()
        name.unlink()
        name.mkdir()
        self.end(self.start(), REFUSED + f"{self.kept}: Is a directory")
        self.assertEqual(self.files(), [name])


class Damaged(NativeTest):
    def is_mended(self, spoil):
        """What is spoilt is found before it is loaded, and compiled again."""
        before = self.the_object()
        good = before.read_bytes()
        spoil(before, good)
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.the_object(), before)
        self.assertEqual(before.read_bytes(), good)
        self.assertEqual(self.compilations(), 0)

    def test_files_that_are_not_whole(self):
        self.compilations()
        self.is_mended(lambda file, good: os.truncate(file, 4096))
        self.is_mended(lambda file, good: os.truncate(file, len(good) - 1))
        self.is_mended(lambda file, good: os.truncate(file, 0))
        self.is_mended(lambda file, good: file.write_bytes(good[:5000] + b"?" + good[5001:]))

    def test_a_library_of_somebody_else(self):
        hostile = self.hostile_library()
        self.compilations()
        self.is_mended(lambda file, good: file.write_bytes(hostile))

    def test_a_link(self):
        hostile = self.hostile_library()
        self.compilations()
        target = self.here / "elsewhere.so"
        target.write_bytes(hostile)

        def replace(file, _):
            file.unlink()
            file.symlink_to(target)
        self.is_mended(replace)
        self.assertFalse(self.the_object().is_symlink())
        self.assertEqual(target.read_bytes(), hostile)

    def test_objects_that_others_may_write(self):
        self.compilations()
        self.is_mended(lambda file, good: file.chmod(0o660))
        self.assertEqual(self.the_object().stat().st_mode & 0o777, 0o600)
        self.is_mended(lambda file, good: file.chmod(0o602))


    def test_an_object_of_another_name(self):
        """Compiled code of one superoperator under the name of another's, whole as it is."""
        self.compilations()
        first = self.the_object()
        other = SUM_OF_SQUARES.replace("* INT", "- INT", 1)
        self.assertNotEqual(other, SUM_OF_SQUARES)
        (self.here / "prog.vcode").write_text(other, encoding="ascii")
        out, err = self.start().communicate(timeout=120)
        self.assertNotEqual(out, SUM_OF_SQUARES_RESULT, err)
        second, = (file for file in self.files() if file != first)
        good = first.read_bytes()
        second.rename(first)
        (self.here / "prog.vcode").write_text(SUM_OF_SQUARES, encoding="ascii")
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.the_object(), first)
        self.assertEqual(first.read_bytes(), good)

    def test_a_compiler_that_writes_something_else(self):
        """It is noticed when it is loaded, at once, and nothing of it is kept."""
        source, library = self.here / "other.c", self.here / "other.so"
        source.write_text('const char ravel_made_for[] = "another";\n'
                          "void tile(void) { __builtin_trap(); }\n", encoding="ascii")
        subprocess.run([CC, "-shared", "-fPIC", "-o", library, source], check=True)
        (self.here / "text.so").write_text("no library", encoding="ascii")
        compiler = self.here / "cc"
        honest = compiler.read_text(encoding="ascii")
        for lie in (library, self.here / "text.so", "/dev/null"):
            compiler.write_text(f'#!/bin/sh\necho >>"{self.runs}"\ncp {lie} object\n', encoding="ascii")
            self.assertEqual(self.compilations(), 1)
            self.assertEqual(self.files(), [])
        compiler.write_text(honest, encoding="ascii")
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.compilations(), 0)
        self.assertEqual(len(self.files()), 1)


class Refused(NativeTest):
    def test_a_directory_that_others_may_write(self):
        self.compilations()
        for mode in (0o770, 0o777, 0o702):
            self.kept.chmod(mode)
            self.is_refused(f"others may write into {self.kept}: what is in it is not trusted; "
                            f"chmod go-w {self.kept}")
        subprocess.run(["chmod", "go-w", self.kept], check=True)
        self.assertEqual(self.compilations(), 0)

    @unittest.skipIf(os.geteuid() != 0, "only root can give a directory to another user")
    def test_a_directory_of_another_user(self):
        self.compilations()
        os.chown(self.kept, 12345, -1)
        self.is_refused(f"{self.kept} belongs to user 12345 and not to user 0")
        self.assertEqual(len(self.files()), 1)
        os.chown(self.kept, 0, -1)
        self.assertEqual(self.compilations(), 0)

    def test_a_link_to_a_directory(self):
        """Where it leads is what counts."""
        target = self.here / "elsewhere"
        target.mkdir(mode=0o700)
        self.kept.symlink_to(target)
        self.assertEqual(self.compilations(), 1)
        self.assertEqual(self.compilations(), 0)
        target.chmod(0o770)
        self.is_refused(f"others may write into {self.kept}")


if __name__ == "__main__":
    VINTERP, CC = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
