"""Tuning values from outside: --tuning, and what --tune tries, keeps and refuses.

usage: tune_command.py VINTERP NESL PLUGIN [unittest options]

A back end for tests (plugin.c) takes a time that depends on a tuning value, so that there is
something to find on any machine.
"""

import glob
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import unittest

from support import SUM_OF_SQUARES, SUM_OF_SQUARES_RESULT, ScratchTest

VINTERP = NESL = PLUGIN = None
LONG = 300  # seconds: an end for what would never end; any machine is faster

READS_INPUT = """FUNC MAIN
READ INT
POP 2 0
COPY 1 0
+ INT
RET
"""
TIMES = """FUNC MAIN
START_TIMER
STOP_TIMER
RET
"""
FAILS = """FUNC MAIN
CONST INT 1
CONST INT 0
/ INT
RET
"""


class TuneTest(ScratchTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("backends"))
        shutil.copy(PLUGIN, self.path("backends/cvl-paper.so"))
        self.write(SUM_OF_SQUARES, "prog.vcode")
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.path("cache"),
                            "RAVEL_BACKENDS": self.path("backends"), "RAVEL_TEST_PLUGIN": "slow"}
        for name in ("RAVEL_CACHE", "RAVEL_TUNING"):
            self.environment.pop(name, None)

    def run_command(self, *command, stdin=subprocess.DEVNULL, text=None, **more):
        given = {"input": text} if text is not None else {"stdin": stdin}
        return subprocess.run(command, capture_output=True, text=True, cwd=self.directory,
                              env={**self.environment, **more.pop("env", {})}, timeout=LONG,
                              check=False, **given, **more)

    def vinterp(self, *arguments, **more):
        return self.run_command(VINTERP, *arguments, **more)

    def tune(self, *arguments, seconds="0.05", **more):
        return self.vinterp("--backend", "paper", f"--tune={seconds}", *arguments, **more)

    def tune_until_found(self, *arguments, **more):
        """Where the machine is very busy one search may find nothing."""
        for _ in range(5):
            result = self.tune(*arguments, **more)
            if "nothing is clearly better" not in result.stdout:
                break
        return result

    def kept(self):
        return glob.glob(self.path("cache/ravel/tuning/*.tuning"))

    def failed(self, result, *messages):
        self.assertEqual(result.returncode, 1, result.stdout)
        for message in messages:
            self.assertIn(message, result.stderr)

    def misused(self, message, *arguments):
        result = self.vinterp(*arguments)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(message, result.stderr)

    def origin(self, *arguments, **more):
        """Where the tuning values of a run are from, and whether its result is right."""
        result = self.vinterp("--profile", "--json", *arguments, **more)
        self.assertEqual((result.returncode, result.stdout), (0, SUM_OF_SQUARES_RESULT),
                         result.stderr)
        return json.loads(result.stderr).get("tuning")


class Tuning(TuneTest):
    """--tuning FILE, off, list; RAVEL_TUNING."""

    def test_results_are_the_same(self):
        for values in ("cpu.serial-bytes 1K\ncpu.chunk-bytes 16K\n", "cpu.serial-bytes 64M\n"):
            self.write(values, "some.tuning")
            self.assertEqual(self.origin("--tuning", "some.tuning", "prog.vcode"), "some.tuning")
            self.assertEqual(self.origin("-O", "--tuning=some.tuning", "prog.vcode"), "some.tuning")

    def test_environment(self):
        self.write("cpu.serial-bytes 1K\n", "some.tuning")
        given = {"RAVEL_TUNING": "some.tuning"}
        self.assertEqual(self.origin("prog.vcode", env=given), "some.tuning")
        self.assertIsNone(self.origin("--tuning", "off", "prog.vcode", env=given))
        self.assertIsNone(self.origin("prog.vcode", env={"RAVEL_TUNING": "off"}))
        self.assertIsNone(self.origin("prog.vcode", env={"RAVEL_TUNING": ""}))

    def test_profile_for_people(self):
        self.write("cpu.serial-bytes 1K\n", "some.tuning")
        result = self.vinterp("--profile", "--tuning", "some.tuning", "prog.vcode")
        self.assertIn("\ntuning values of some.tuning\n", result.stderr)

    def test_bad_files(self):
        for text, message in (
                ("cpu.serial-byte 1K\n", "some.tuning:1:1: error: there is no tuning value"),
                ("\ncpu.serial-bytes 3K\n", "some.tuning:2:18: error: cpu.serial-bytes is a power"),
                ("cpu.serial-bytes 1K\ncpu.chu", "some.tuning:2: error: the file ends in the "
                                                 "middle of a line")):
            self.write(text, "some.tuning")
            for command in ([VINTERP, "prog.vcode"], [NESL, "-e", "1"]):
                self.failed(self.run_command(*command, "--tuning", "some.tuning"), message)
        self.failed(self.vinterp("--tuning", "", "prog.vcode"), "No such file or directory")
        self.failed(self.vinterp("--tuning", "nowhere", "prog.vcode"),
                    "nowhere: error: No such file or directory")

    def test_list(self):
        for command in (VINTERP, NESL):
            result = self.run_command(command, "--tuning=list")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, r"(?m)^# cpu\.chunk-bytes 256K  # .*; a power of two")
            self.assertRegex(result.stdout, r"(?m)^# cuda\.scan-threads 512  # .*; compiled in$")
        self.write(result.stdout.replace("# cpu.chunk-bytes 256K", "cpu.chunk-bytes 1M"),
                   "some.tuning")
        result = self.vinterp("--tuning=list", env={"RAVEL_TUNING": "some.tuning"})
        self.assertRegex(result.stdout, r"(?m)^cpu\.chunk-bytes 1M  # ")

    def test_nesl(self):
        self.write("cpu.serial-bytes 1K\n", "some.tuning")
        result = self.run_command(NESL, "--tuning", "some.tuning", "-e", "sum([0:100000])")
        self.assertIn("4999950000", result.stdout)


class Tune(TuneTest):
    def test_finds_keeps_and_uses(self):
        result = self.tune_until_found("prog.vcode", "--threads", "2")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^prog\.vcode on paper: a white sheet, ")
        self.assertRegex(result.stdout, r"(?m)^\(the defaults\) +\d+\.\d{3} ms .* 1\.000$")
        self.assertRegex(result.stdout, r"(?m)^cpu\.serial-bytes +256K +\d.*\*$")
        (path,) = self.kept()
        self.assertIn(f"kept in {path}: ", result.stdout)
        values = [line for line in self.text(path).splitlines() if line[0] != "#"]
        self.assertEqual(values, ["cpu.serial-bytes 256K"])
        paper = ("--backend", "paper", "--threads", "2")
        self.assertEqual(self.origin(*paper, "prog.vcode"), path)
        self.assertIsNone(self.origin(*paper, "--tuning", "off", "prog.vcode"))
        self.assertIsNone(self.origin("prog.vcode"))  # on the CPU
        self.assertIsNone(self.origin(*paper, "-O", "prog.vcode"))
        self.assertIsNone(self.origin(*paper, "--device", "1", "prog.vcode"))
        self.assertIsNone(self.origin(*paper, "--threads", "3", "prog.vcode"))
        self.write(SUM_OF_SQUARES + "\n", "other.vcode")
        self.assertIsNone(self.origin(*paper, "other.vcode"))
        self.damaged_file_is_not_used(path)

    def test_what_no_longer_gains_is_removed(self):
        self.tune_until_found("prog.vcode")
        (path,) = self.kept()
        for _ in range(5):
            result = self.tune("prog.vcode", env={"RAVEL_TEST_PLUGIN": ""})
            if not self.kept():
                break
        self.assertIn(f"removed: {path}\n", result.stdout)

    def damaged_file_is_not_used(self, path):
        text = self.text(path)
        self.write(text[:-2], path)
        paper = ("--backend", "paper", "--threads", "2")
        result = self.vinterp(*paper, "prog.vcode")
        self.assertEqual((result.returncode, result.stdout), (0, SUM_OF_SQUARES_RESULT))
        self.assertIn(f"{path}:4: warning: the file ends in the middle of a line; --tune "
                      "makes this file", result.stderr)
        self.write(text, path)
        os.chmod(os.path.dirname(path), 0o777)  # others may write there: not trusted
        self.assertIsNone(self.origin(*paper, "prog.vcode"))

    def test_what_gains_nothing_is_not_kept(self):
        result = self.tune("prog.vcode", env={"RAVEL_TEST_PLUGIN": ""})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("nothing is clearly better than the defaults\n", result.stdout)
        self.assertEqual(self.kept(), [])

    def test_where_it_cannot_be_kept(self):
        self.write("", "cache")
        self.failed(self.tune_until_found("prog.vcode"),
                    "vinterp: error: the tuning values cannot be kept: "
                    f"{self.path('cache/ravel/tuning')}: Not a directory")
        self.failed(self.tune_until_found("prog.vcode", env={"RAVEL_CACHE": ""}),
                    "there is no folder to keep tuning values in")

    def test_full_disk(self):
        """A limit of a file's size is met in the same way."""
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))
        self.failed(self.tune_until_found("prog.vcode", preexec_fn=limit),
                    ".tuning: error: File too large")
        self.assertEqual(os.listdir(self.path("cache/ravel/tuning")), [])

    def test_input_is_read_anew(self):
        self.write(READS_INPUT, "reads.vcode")
        self.write("(20 22) (1 2)\n", "input")
        with open(self.path("input"), encoding="ascii") as given:
            result = self.tune("reads.vcode", stdin=given)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.tune("reads.vcode", text="(20 22) (1 2)\n")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_sizes_of_input(self):
        self.write("FUNC MAIN I SEGDES INT O INT\nCPOP 1 1\n+_REDUCE INT\nRET\n", "takes.vcode")
        small, large = "(1 2 3)", "(" + "1 " * 100 + ")"
        result = self.tune_until_found("takes.vcode", small)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        (path,) = self.kept()
        for text, tuned in ((small, path), ("(3 2 1)", path), (large, None)):
            result = self.vinterp("--backend", "paper", "--profile", "--json", "takes.vcode", text)
            self.assertEqual(json.loads(result.stderr).get("tuning"), tuned)

    def test_programs_that_cannot_be_compared(self):
        self.write(TIMES, "times.vcode")
        self.failed(self.tune("times.vcode"), "times.vcode: error: what the program prints is not "
                    "the same in each run")
        self.failed(self.tune("prog.vcode", env={"RAVEL_TEST_PLUGIN": "wrong"}),
                    "another tuning value has changed what the program prints")
        self.write(FAILS, "fails.vcode")
        self.failed(self.tune("fails.vcode"), "fails.vcode:4:1: error: ")
        self.assertEqual(self.kept(), [])

    def test_misuse(self):
        for value in ("0", "-1", "x", "inf", ""):
            self.misused("--tune must be followed by a positive number of seconds",
                         f"--tune={value}", "prog.vcode")
        self.misused("it does not go with --tuning", "--tune", "--tuning=off", "prog.vcode")
        for option in ("--check", "--dump", "--profile", "--trace=t", "-t"):
            self.misused("--tune runs the program many times", "--tune", option, "prog.vcode")
        self.misused("which program?", "--tune")

    def test_cpu(self):
        result = self.vinterp("--backend", "cpu", "--tune=0.2", "prog.vcode")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?m)^prog\.vcode on cpu: ")
        self.assertNotIn("cuda.", result.stdout)


SUMS = """
function squares(v) = {x * x : x in v};
function total(n) = sum({x * 3 : x in [0:n]});
function many(n) = squares([0:n]);
sum(squares([0:1000]));
"""
READS_LINES = """
let (line, rest) = read_line(stdin) in (line, sum([0:1000]));
"""


class TuneNesl(TuneTest):
    """nesl --tune, by the same search."""

    def setUp(self):
        super().setUp()
        self.write(SUMS, "sums.nesl")

    def nesl(self, *arguments, **more):
        # which sleeps in reductions alone, not in superoperators
        return self.run_command(NESL, "--backend", "paper", "--no-fusion", *arguments, **more)

    def tune(self, *arguments, seconds="0.05", **more):
        return self.nesl(f"--tune={seconds}", *arguments, **more)

    def used(self, *arguments):
        """Which tuning values a measured run has used; None: the defaults."""
        result = self.nesl("--repeat", "1", "--times", "t.json", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(self.text("t.json")).get("tuning")

    def found(self, *arguments):
        """The file that a search has added."""
        before = self.kept()
        result = self.tune_until_found(*arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        (path,) = set(self.kept()) - set(before)
        self.assertIn(f"kept in {path}: ", result.stdout)
        return path

    def test_finds_and_keeps(self):
        path = self.found("run", "sums.nesl")
        first, second, third, value = self.text(path).splitlines()
        self.assertEqual((first, value), ("# made by nesl --tune of sums.nesl",
                                          "cpu.serial-bytes 256K"))
        self.assertIn("on paper, a white sheet, ", second)
        self.assertIn(" of the time of the defaults", third)

    def test_results_are_not_printed(self):
        result = self.tune("run", "sums.nesl", env={"RAVEL_TEST_PLUGIN": ""})
        self.assertRegex(result.stdout, r"\Asums\.nesl on paper: a white sheet, ")
        self.assertNotIn("it =", result.stdout)
        self.assertEqual(self.kept(), [])

    def test_sizes_of_arguments(self):
        path = self.found("run", "sums.nesl", "--entry", "total", "1000")
        for argument, wanted in (("1000", path), ("1001", path), ("100000", None),
                                 ("500 + 500", None)):
            self.assertEqual(self.used("run", "sums.nesl", "--entry", "total", argument), wanted)
        self.assertIsNone(self.used("--tuning", "off", "run", "sums.nesl", "--entry", "total", "1000"))
        self.assertIsNone(self.used("--unchecked", "run", "sums.nesl", "--entry", "total", "1000"))
        path = self.found("run", "sums.nesl", "--entry", "total", "400 + 600")
        self.assertEqual(self.used("run", "sums.nesl", "--entry", "total", "400 + 600"), path)

    def test_sizes_of_files(self):
        for length, name in ((100, "small.csv"), (101, "as-small.csv"), (1000, "large.csv")):
            self.write("x\n" + "1\n" * length, name)
        self.write("function total(v) = sum(v) + 1;\n", "totals.nesl")
        path = self.found("run", "totals.nesl", "--entry", "total", "small.csv")
        for name, wanted in (("small.csv", path), ("as-small.csv", path), ("large.csv", None)):
            self.assertEqual(self.used("run", "totals.nesl", "--entry", "total", name), wanted)

    def test_expressions(self):
        path = self.found("-e", "sum([0:1000])")
        self.assertEqual(self.used("-e", "sum([0:1000])"), path)
        self.assertIsNone(self.used("-e", "sum([0:1001])"))
        path = self.found("sums.nesl", "-e", "sum(squares([0:50]))")
        self.assertEqual(self.used("sums.nesl", "-e", "sum(squares([0:50]))"), path)

    def test_a_changed_program_has_none(self):
        self.found("run", "sums.nesl", "--entry", "total", "1000")
        self.write(SUMS + "\n", "sums.nesl")
        self.assertIsNone(self.used("run", "sums.nesl", "--entry", "total", "1000"))

    def test_input_is_read_anew(self):
        self.write(READS_LINES, "reads.nesl")
        self.write("one\ntwo\n", "input")
        for given in ({"text": "one\ntwo\n"}, {"stdin": self.path("input")}):
            if "stdin" in given:
                with open(given["stdin"], encoding="ascii") as opened:
                    result = self.tune("run", "reads.nesl", stdin=opened)
            else:
                result = self.tune("run", "reads.nesl", **given)
            self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)

    def test_what_cannot_be_compared(self):
        self.failed(self.tune("-e", "sum([0:1000])", env={"RAVEL_TEST_PLUGIN": "wrong"}),
                    "another tuning value has changed what the program prints")
        self.failed(self.tune("-e", "time(sum([0:1000]))"), "is not the same in each run")
        self.write("sum([0:1000]);\nsum([0:10])[1];\n", "fails.nesl")
        self.failed(self.tune("run", "fails.nesl"), "fails.nesl:2:")
        self.write("function f1(x) = x;\n", "nothing.nesl")
        self.failed(self.tune("run", "nothing.nesl"),
                    "nothing.nesl: error: nothing of it runs on a back end")
        self.failed(self.tune("run", "nowhere.nesl"), "nowhere.nesl: error: No such file")
        self.failed(self.tune("run", "-", text="sum([0:10]);\n"), "it must be a regular file")
        self.assertEqual(self.kept(), [])

    def test_arguments_are_not_measured(self):
        """The call has no reduction, each of which takes 30 ms; its argument has one."""
        result = self.tune("run", "sums.nesl", "--entry", "many", "sum([0:100]) - 4940")
        median = re.search(r"(?m)^\(the defaults\) +(\d+\.\d+) ms", result.stdout)[1]
        self.assertLess(float(median), 30)

    def test_all_of_a_long_result_is_compared(self):
        """With --print-length 1 only the first element would be."""
        self.write("[0:2] ++ [sum({x * x : x in [0:1000]})];", "long.nesl")
        result = self.tune("--print-length", "1", "run", "long.nesl",
                           env={"RAVEL_TEST_PLUGIN": "wrong"})
        self.failed(result, "another tuning value has changed what the program prints")

    def test_misuse(self):
        for message, *arguments in (
                ("--tune goes with run and -e", "sums.nesl"),
                ("--tune goes with run and -e", "check", "sums.nesl"),
                ("it does not go with --tuning", "--tuning=off", "run", "sums.nesl"),
                ("--direct compiles nothing", "--direct", "run", "sums.nesl"),
                ("it does not go with --repeat", "--repeat", "2", "-e", "1"),
                ("it does not go with --repeat", "-o", "x.npy", "-e", "[1]")):
            result = self.tune(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(message, result.stderr)


if __name__ == "__main__":
    VINTERP, NESL, PLUGIN = (os.path.abspath(a) for a in sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
