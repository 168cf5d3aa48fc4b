"""The command fcodeopt from outside, and what vinterp does with its files.

usage: fcodeopt_command.py FCODEOPT VINTERP [unittest options]
"""

import json
import os
import re
import subprocess
import sys
import unittest

from support import ScratchTest

FCODEOPT = VINTERP = None

# The sum of squares of 0 .. 9; SQUARE is called once, KEPT is not.
SQUARES = """FUNC MAIN
CONST INT 0
CONST INT 1
CONST SEGDES 10
INDEX
CALL SQUARE
CONST SEGDES 10
+_REDUCE INT
RET
FUNC SQUARE
COPY 1 0
* INT
RET
FUNC KEPT
RET
"""
WRAP = "FUNC MAIN\nCONST INT (2147483647 1)\nCONST INT (1 1)\n+ INT\nRET\n"
OLD = "FUNC MAIN\nCONST INT (1 2)\nCONST INT (3 4)\nFUSED 0\nRET\n"
OLD_SOP = "fused OP0#1 ($0 : INT, $1 : INT) = (+ INT @ (* INT @ $0 $1) $1)\n"


class CommandTest(ScratchTest):
    def program(self, text, name="prog.vcode"):
        return self.write(text, name)

    def files(self):
        return sorted(os.listdir(self.directory))

    def run_command(self, *command, stdin="", **more):
        return subprocess.run(command, cwd=self.directory, input=stdin, timeout=60,
                              capture_output=True, text=True, check=False, **more)

    def fcodeopt(self, *arguments, **more):
        return self.run_command(FCODEOPT, *arguments, **more)

    def vinterp(self, *arguments, **more):
        return self.run_command(VINTERP, *arguments, **more)

    def fine(self, done, out=None):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        if out is not None:
            self.assertEqual(done.stdout, out)

    def fails(self, done, status, *parts):
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)


class Usage(CommandTest):
    def wrong(self, arguments, *parts):
        done = self.fcodeopt(*arguments)
        self.fails(done, 2, "fcodeopt: error: ", *parts)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_help_and_version(self):
        done = self.fcodeopt("--help")
        self.fine(done)
        for name in ("no-fusion print-after explain stats verify no-verify int float classic "
                     "inline emit-cuda sop help version").split():
            self.assertIn("--" + name, done.stdout)
        done = self.fcodeopt("--version")
        self.assertRegex(done.stdout, r"^fcodeopt \(Ravel\) \d+\.\d+\.\d+\n$")

    def test_wrong_usage(self):
        self.wrong([], "FILE")
        self.wrong(["a", "b"], "a or b")
        self.wrong(["--explian", "p"], "did you mean --explain?")
        self.wrong(["--print-after", "everything", "p"], "--print-after", "everything")
        self.wrong(["--inline=-1", "p"], "--inline")
        self.wrong(["--int", "16", "p"], "--int must be 32 or 64")
        self.wrong(["-o", "", "p"], "output is empty")
        self.wrong(["p", "-o"], "-o needs a value")
        self.wrong(["--emit-cuda", "-", "p"], "--emit-cuda")


class Files(CommandTest):
    def test_names(self):
        self.program(SQUARES)
        self.fine(self.fcodeopt("prog.vcode"), "")
        self.fine(self.fcodeopt("--no-fusion", "prog.vcode"), "")
        self.fine(self.fcodeopt("prog.vcode", "-o", "other"), "")
        self.assertEqual(self.files(), ["other", "prog.fcode", "prog.ucode", "prog.vcode"])
        self.assertEqual(self.text("other"), self.text("prog.fcode"))
        self.assertNotIn("FUSED", self.text("prog.ucode"))
        for name in ("prog.vcode", "prog.ucode", "prog.fcode"):
            self.fine(self.vinterp(name), "( 285 )\n")

    def test_name_without_extension(self):
        os.mkdir(self.path("a.b"))
        self.program(SQUARES, "a.b/prog")
        self.fine(self.fcodeopt("a.b/prog"), "")
        self.assertEqual(sorted(os.listdir(self.path("a.b"))), ["prog", "prog.fcode"])

    def test_standard_streams(self):
        done = self.fcodeopt("-", stdin=SQUARES)
        self.fine(done)
        self.fine(self.vinterp("-", stdin=done.stdout), "( 285 )\n")
        self.program(SQUARES)
        self.fine(self.fcodeopt("-o", "-", "prog.vcode"))
        self.assertEqual(self.files(), ["prog.vcode"])

    def test_information_keeps_away_from_the_program(self):
        plain = self.fcodeopt("-", stdin=SQUARES).stdout
        done = self.fcodeopt("-", "--stats", "--explain", "--print-after", "all", stdin=SQUARES)
        self.assertEqual((done.returncode, done.stdout), (0, plain))
        self.assertIn("calls inlined                     1", done.stderr)
        self.assertIn("--- after inline ---\nlet-form", done.stderr)
        self.program(SQUARES)
        done = self.fcodeopt("prog.vcode", "--stats")
        self.fine(done)
        self.assertIn("functions before", done.stdout)

    def test_functions_that_nobody_calls_any_more_are_not_shown(self):
        self.program("FUNC MAIN CONST INT 3 CALL A RET FUNC A CONST INT 1 + INT RET "
                     "FUNC NEVER CONST INT 1 RET")
        done = self.fcodeopt("prog.vcode", "--print-after", "inline")
        self.fine(done)
        self.assertEqual(re.findall(r"^fun (\w+)", done.stdout, re.MULTILINE), ["MAIN"])

    def test_the_program_is_not_replaced(self):
        self.program(SQUARES, "prog.fcode")
        self.fails(self.fcodeopt("prog.fcode"), 1, "prog.fcode: error: ", "-o")
        self.assertEqual(self.text("prog.fcode"), SQUARES)

    def test_nothing_is_left_behind(self):
        self.program("FUNC MAIN\n+ INT\nRET\n", "bad.vcode")
        self.program("precious", "bad.fcode")
        self.fails(self.fcodeopt("bad.vcode"), 1, "bad.vcode:2:1: error: ")
        self.assertEqual(self.text("bad.fcode"), "precious")
        self.program(SQUARES)
        self.fails(self.fcodeopt("prog.vcode", "-o", "no/where"), 1, "no/where: error: ")
        self.fails(self.fcodeopt("prog.vcode", "-o", "."), 1, ".: error: ")
        self.fails(self.fcodeopt("absent.vcode"), 1, "absent.vcode: error: ")
        self.assertEqual(self.files(), ["bad.fcode", "bad.vcode", "prog.vcode"])

    def test_a_device_is_written_directly(self):
        self.program(SQUARES)
        self.fine(self.fcodeopt("prog.vcode", "-o", "/dev/null"), "")
        if os.path.exists("/dev/full"):
            self.fails(self.fcodeopt("prog.vcode", "-o", "/dev/full"), 1, "/dev/full: error: ")
            with open("/dev/full", "w", encoding="ascii") as full:
                done = subprocess.run([FCODEOPT, "-"], input=SQUARES.encode(), stdout=full,
                                      stderr=subprocess.PIPE, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"standard output", done.stderr)

    def test_a_link_stays_one_and_modes_stay(self):
        self.program(SQUARES)
        self.program("", "target")
        os.chmod(self.path("target"), 0o640)
        os.symlink("target", self.path("prog.fcode"))
        self.fine(self.fcodeopt("prog.vcode"))
        self.assertTrue(os.path.islink(self.path("prog.fcode")))
        self.assertIn("FUNC MAIN", self.text("target"))
        self.assertEqual(os.stat(self.path("target")).st_mode & 0o777, 0o640)

    def test_the_same_program_gives_the_same_file(self):
        self.program(SQUARES)
        texts = {self.fcodeopt("-o", "-", "prog.vcode").stdout for _ in range(3)}
        self.assertEqual(len(texts), 1)

    def test_what_is_written_can_be_optimised_again(self):
        self.program(SQUARES)
        self.fine(self.fcodeopt("prog.vcode"))
        self.fine(self.fcodeopt("prog.fcode", "-o", "again.fcode"))
        self.fine(self.vinterp("again.fcode"), "( 285 )\n")

    def test_emitted_cuda(self):
        self.program(SQUARES)
        self.fine(self.fcodeopt("prog.vcode", "--emit-cuda", "ops.cu"))
        self.assertIn("__global__", self.text("ops.cu"))


class Widths(CommandTest):
    def test_recorded(self):
        self.program(WRAP)
        self.fine(self.fcodeopt("--classic", "prog.vcode"))
        self.assertIn("{% widths INT 32 FLOAT 64 }", self.text("prog.fcode"))
        self.fine(self.vinterp("prog.fcode"), "( -2147483648 2 )\n")
        self.fine(self.vinterp("--classic", "prog.fcode"), "( -2147483648 2 )\n")
        self.fine(self.vinterp("--float", "64", "prog.fcode"), "( -2147483648 2 )\n")
        for flag in (["--int", "64"], ["--float=32"]):
            self.fails(self.vinterp(*flag, "prog.fcode"), 1, "prog.fcode:1:1: error: ")
            self.fails(self.fcodeopt(*flag, "prog.fcode", "-o", "x"), 1, "prog.fcode:1:1: error: ")
        self.fine(self.fcodeopt("prog.fcode", "-o", "x.fcode"))
        self.assertIn("{% widths INT 32 FLOAT 64 }", self.text("x.fcode"))

    def test_default(self):
        self.program(WRAP)
        self.fine(self.fcodeopt("prog.vcode"))
        self.fine(self.vinterp("prog.fcode"), "( 2147483648 2 )\n")
        self.fails(self.vinterp("--classic", "prog.fcode"), 1, "prog.fcode:1:1: error: ")


class Definitions(CommandTest):
    def test_beside_the_program(self):
        self.program(OLD, "old.fcode")
        self.fails(self.vinterp("old.fcode"), 1, "old.fcode:4:1: error: ")
        self.program(OLD_SOP, "old.sop")
        self.fine(self.vinterp("old.fcode"), "( 6 12 )\n")
        self.fine(self.fcodeopt("old.fcode", "-o", "new.fcode"))
        self.fine(self.vinterp("new.fcode"), "( 6 12 )\n")

    def test_named(self):
        self.program(OLD, "old.fcode")
        self.program(OLD_SOP, "other")
        self.fine(self.vinterp("--sop", "other", "old.fcode"), "( 6 12 )\n")
        self.fine(self.vinterp("--sop", "other", "-", stdin=OLD), "( 6 12 )\n")
        self.fails(self.vinterp("--sop", "absent", "old.fcode"), 1, "absent: error: ")
        self.fine(self.fcodeopt("--sop", "other", "old.fcode", "-o", "new.fcode"))

    def test_faults_in_it(self):
        self.program(OLD, "old.fcode")
        self.program("fused OP0#1 ($0 : INT) = (+ INT @ $0)\n", "old.sop")
        self.fails(self.vinterp("old.fcode"), 1, "old.sop:1:")


class InMemory(CommandTest):
    def test_same_results(self):
        self.program(SQUARES)
        for flags in (["-O"], ["-O", "--no-fusion"], ["-O", "--checked"], ["-O", "--native"],
                      ["-O", "--native=wait"]):
            environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache")}
            self.fine(self.vinterp(*flags, "prog.vcode", env=environment), "( 285 )\n")

    def test_fewer_instructions(self):
        self.program(SQUARES)
        counts = [json.loads(self.vinterp("--profile", "--json", *flags, "prog.vcode").stderr)
                  ["instructions"] for flags in ([], ["-O"])]
        self.assertLess(counts[1], counts[0])

    def test_dump(self):
        self.program(SQUARES)
        self.assertNotIn("call", self.vinterp("-O", "--dump", "prog.vcode").stdout)
        self.assertIn("call", self.vinterp("--dump", "prog.vcode").stdout)

    def test_wrong_usage(self):
        self.fails(self.vinterp("--no-fusion", "p"), 2, "-O")
        self.fails(self.vinterp("--native=now", "p"), 2, "--native", "wait")
        self.fails(self.vinterp("-O", "--dump=vcode", "p"), 2, "fcodeopt")

    def test_no_folder_for_compiled_code(self):
        self.program(SQUARES)
        bare = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
        self.fails(self.vinterp("-O", "--native", "prog.vcode", env=bare), 1, "HOME")
        self.program("", "file")
        self.fails(self.vinterp("-O", "--native", "prog.vcode",
                                env={**bare, "XDG_CACHE_HOME": self.path("file")}), 1, "file")

    def test_trace(self):
        self.program(SQUARES)
        self.fine(self.vinterp("-O", "--trace", "t.json", "prog.vcode"), "( 285 )\n")
        self.assertTrue(json.loads(self.text("t.json")))
        self.fails(self.vinterp("--trace", "no/where", "prog.vcode"), 1, "no/where: error: ")

    def test_errors_name_the_original(self):
        self.program("FUNC MAIN\nCONST INT (1 2)\nCALL BY\nRET\nFUNC BY\nCONST INT (1 0)\n/ INT\n"
                     "RET\n")
        self.fine(self.fcodeopt("prog.vcode"))
        for file in (["-O", "prog.vcode"], ["prog.fcode"]):
            done = self.vinterp(*file)
            self.fails(done, 1, "prog.vcode:7:1: error: / INT: division by zero at element 1")
        self.assertIn("(at prog.fcode:", done.stderr)


if __name__ == "__main__":
    FCODEOPT, VINTERP = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
