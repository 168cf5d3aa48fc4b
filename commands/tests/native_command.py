"""Superoperators compiled by the machine's C compiler: whatever others did to the directory in
which they are kept, the results are right, nothing of theirs is executed, and what is wrong is
said in one line.

    native_command.py VINTERP C-COMPILER [unittest options]
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import SUM_OF_SQUARES, SUM_OF_SQUARES_RESULT, TRIPLES, ScratchTest

# Superoperators of a program of which less than half are compiled first, and what all sources have
# at most.
MANY, MOST_BYTES = 600, 400_000
REFUSED = "ravel: superoperators are not compiled: "
# The compiler: it records its runs, the permissions of its directory, its standard input, and what
# that has.
COMPILER = """#!/bin/sh
echo "$(stat -c '%%a' .) $(readlink /proc/self/fd/0) $*" >>"%s"
tee -a "%s" | %s "$@"
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
        self.sources = self.here / "sources"
        self.result = SUM_OF_SQUARES_RESULT
        self.runs.touch()
        self.sources.touch()
        compiler = self.here / "cc"
        compiler.write_text(COMPILER % (self.runs, self.sources, CC), encoding="ascii")
        compiler.chmod(0o700)
        (self.here / "prog.vcode").write_text(SUM_OF_SQUARES, encoding="ascii")
        self.environment = {**os.environ, "XDG_CACHE_HOME": str(self.kept.parent),
                            "PATH": f"{self.here}:{os.environ['PATH']}"}
        self.environment.pop("RAVEL_CC", None)

    def start(self, **options):
        return subprocess.Popen([VINTERP, "-O", "--native=wait", "prog.vcode"], cwd=self.here,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=self.environment, **options)

    def end(self, process, said=""):
        """A run ends well and harmlessly, having said this on standard error."""
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, out), (0, self.result), err)
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


class Short(NativeTest):
    """Processes that end long before compiling would have paid for one of them."""

    def test_many_of_them_pay(self):
        (self.here / "prog.vcode").write_text(
            "FUNC MAIN\nCONST INT 0\nCONST INT 1\nCONST SEGDES 20000000\nINDEX\n"
            "COPY 1 0\n* INT\nCONST INT 7\nCONST SEGDES 20000000\nDIST INT\n"
            "+ INT\nCONST SEGDES 20000000\n+_REDUCE INT\nRET\n", encoding="ascii")
        command = [VINTERP, "-O", "prog.vcode"]
        results = set()
        for _ in range(400):
            results.add(subprocess.run(command, cwd=self.here, env=self.environment, check=True,
                                       capture_output=True, text=True, timeout=60).stdout)
            if list(self.kept.glob("*.so")):
                break
        self.assertEqual(len(results), 1)
        self.assertEqual([file.suffix for file in self.files()], [".so"])
        self.assertEqual(len(self.runs.read_text(encoding="ascii").splitlines()), 1)


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


def shapes(numbers):
    """A program with a superoperator for each number, by whose digits x is multiplied or doubled
    before it is summed, and its result."""
    text, total = "FUNC MAIN\nCONST INT 0\n", 0
    for number in numbers:
        digits = f"{number:b}"
        text += f"CONST INT {100 + number}\nCALL F{number}\n+ INT\n"
        elements = [3 * k for k in range(100 + number)]
        for digit in digits:
            elements = [x * x if digit == "1" else x + x for x in elements]
        total += sum(elements)
    text += "RET\n"
    for number in numbers:
        steps = "".join("COPY 1 0\n* INT\n" if digit == "1" else "COPY 1 0\n+ INT\n"
                        for digit in f"{number:b}")
        text += f"FUNC F{number}\n" + TRIPLES + steps + "COPY 1 1\n+_REDUCE INT\nPOP 1 1\nRET\n"
    return text, f"( {(total + 2**63) % 2**64 - 2**63} )\n"


class Shared(NativeTest):
    """Superoperators of one program are compiled together, and found one by one."""

    def take(self, numbers):
        text, self.result = shapes(numbers)
        (self.here / "prog.vcode").write_text(text, encoding="ascii")

    def compiled(self):
        """How many compilers a run starts, and how many superoperators they compile."""
        self.sources.write_text("", encoding="ascii")
        runs = self.compilations()
        return runs, len(re.findall(r"^const char ravel_[0-9a-f]{64}_\[\] = ",
                                    self.sources.read_text(encoding="ascii"), re.MULTILINE))

    def objects(self):
        return [file for file in self.files() if not file.is_symlink()]

    def links(self):
        return [file for file in self.files() if file.is_symlink()]

    def test_they_share_files(self):
        self.take(range(10, 30))
        runs, members = self.compiled()
        self.assertLessEqual(runs, 2)
        self.assertEqual(members, 20)
        self.assertEqual(len(self.objects()), runs)
        self.assertGreaterEqual(len(self.links()), 18)  # one that is alone in a file needs none
        self.assertEqual(self.compiled(), (0, 0))

    def test_another_program_finds_those_it_has_in_common(self):
        self.take(range(10, 16))
        self.assertEqual(self.compiled()[1], 6)
        self.take(range(13, 19))
        self.assertEqual(self.compiled()[1], 3)
        self.take([10, 14, 18])
        self.assertEqual(self.compiled(), (0, 0))

    def test_links_that_a_process_did_not_make_any_more(self):
        self.take(range(10, 14))
        self.compiled()
        names = self.files()
        for link in self.links():
            link.unlink()
        self.assertEqual(self.compiled(), (0, 0))
        self.assertEqual(self.files(), names)

    def test_files_that_are_not_whole(self):
        self.take(range(10, 14))
        runs = self.compiled()
        for file in self.objects():
            os.truncate(file, 5000)
        self.assertEqual(self.compiled(), runs)
        self.assertEqual(self.compiled(), (0, 0))

    def test_links_to_other_code(self):
        """They lead to code of another superoperator, to nothing, or out of the directory."""
        hostile = self.here / "hostile.so"
        hostile.write_bytes(self.hostile_library())
        self.take([10])
        self.compiled()
        other, = self.objects()
        self.take(range(11, 19))
        self.compiled()
        first, second, third, fourth = self.links()[:4]
        for link, to in ((first, other.name), (second, "ravel-gone.so"), (third, hostile),
                         (fourth, f"../ravel/{other.name}")):
            link.unlink()
            link.symlink_to(to)
        self.assertLessEqual(self.compiled()[0], 2)
        self.assertEqual(self.compiled(), (0, 0))
        led_to = {link: os.readlink(link) for link in self.links()}
        self.assertNotEqual(led_to.get(first), other.name)
        self.assertTrue(all("/" not in to for to in led_to.values()))

    def test_processes_share_them(self):
        self.take(range(10, 16))
        for process in [self.start() for _ in range(4)]:
            self.end(process)
        self.assertLessEqual(len(self.objects()), 2)
        self.assertEqual(self.compiled(), (0, 0))

    def test_a_compiler_that_fails(self):
        """It is asked for each alone, all of them are evaluated, and nothing is kept."""
        self.take(range(10, 16))
        (self.here / "cc").write_text(f'#!/bin/sh\necho >>"{self.runs}"\nexit 1\n', encoding="ascii")
        self.assertIn(self.compilations(), (7, 8))
        self.assertEqual(self.files(), [])

    def test_a_compiler_that_fails_for_several(self):
        """It is asked for each alone."""
        self.take(range(10, 16))
        (self.here / "cc").write_text(
            f'#!/bin/sh\necho >>"{self.runs}"\ncat >source\n'
            f'[ "$(grep -c "^const char ravel_" source)" = 1 ] && {CC} "$@" <source\n', encoding="ascii")
        self.assertIn(self.compilations(), (7, 8))
        self.assertEqual((len(self.objects()), len(self.links())), (6, 0))
        self.assertEqual(self.compilations(), 0)

    def test_what_is_compiled_first_is_bounded(self):
        """Superoperators of a long program: some are, the others once they have run for long."""
        self.take(range(256, 256 + MANY))
        (self.here / "cc").write_text(
            f'#!/bin/sh\necho >>"{self.runs}"\ncat >>"{self.sources}"\n', encoding="ascii")
        runs, members = self.compiled()
        self.assertLessEqual(runs, 4)      # on a busy machine some have run for long at once
        self.assertGreater(members, 20)
        self.assertLess(members, MANY // 2)
        self.assertLess(self.sources.stat().st_size, MOST_BYTES * runs)


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


class Named(NativeTest):
    """The compiler that RAVEL_CC names."""

    def setUp(self):
        super().setUp()
        (self.here / "cc").rename(self.here / "other")
        (self.here / "cc").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (self.here / "cc").chmod(0o700)

    def compilations_by(self, command):
        self.environment["RAVEL_CC"] = command
        return self.compilations()

    def arguments(self):
        return self.runs.read_text(encoding="ascii").split("(deleted) ")[1]

    def test_its_words(self):
        self.assertEqual(self.compilations_by("other"), 1)
        self.assertRegex(self.arguments(), "^-O3 ")
        self.assertEqual(self.compilations_by(f" {self.here}/other  -DA  -DB "), 1)
        self.assertRegex(self.arguments(), "^-DA -DB -O3 ")
        self.assertEqual(self.compilations_by("./other"), 1)

    def test_none_gets_the_code_of_another(self):
        commands = ["other", f"{self.here}/./other", "other -DA", CC]
        for command in commands:
            self.compilations_by(command)
        self.assertEqual(len(self.files()), len(commands))
        for command in commands:
            self.assertEqual(self.compilations_by(command), 0)
        os.utime(self.here / "other", (1, 1))
        self.assertEqual(self.compilations_by("other"), 1)

    def test_there_is_none(self):
        for command, why in ("nowhere -x", "'nowhere', which is no program in PATH"), \
                            ("./prog.vcode", "'./prog.vcode', which is no program"):
            self.environment["RAVEL_CC"] = command
            self.is_refused(f"RAVEL_CC names {why}")
        self.assertEqual(self.compilations_by(""), 0)
        self.assertEqual(self.files(), [])

    def test_it_fails(self):
        """It ends with a status, without an object, or is not executed at all."""
        text, self.result = shapes([10, 11])
        (self.here / "prog.vcode").write_text(text, encoding="ascii")
        (self.here / "data").write_text("data", encoding="ascii")
        (self.here / "data").chmod(0o700)
        for command in "false", "true", "data":
            self.environment["RAVEL_CC"] = command
            self.end(self.start(), "the compiler that RAVEL_CC names fails")
        self.assertEqual(self.files(), [])

    def test_what_zig_keeps_is_removed(self):
        (self.here / "other").write_text(
            '#!/bin/sh\nset -e\nmkdir -p "$ZIG_LOCAL_CACHE_DIR/o/one" "$ZIG_LOCAL_CACHE_DIR/.h"\n'
            'cat >"$ZIG_LOCAL_CACHE_DIR/o/one/source"\n'
            f'{CC} "$@" <o/one/source\n', encoding="ascii")
        self.environment["ZIG_LOCAL_CACHE_DIR"] = str(self.harm)
        self.compilations_by("other")
        self.assertRegex(self.the_object().name, r"\.so$")


if __name__ == "__main__":
    VINTERP, CC = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
