"""Arguments of `nesl run --entry` as values of every type, --repeat, --times and --native, from
outside.

usage: nesl_measure.py NESL [unittest options]
"""

import json
import os
import re
import sys
import unittest

import nesl_command
from nesl_command import CommandTest

PROGRAM = """
function same(x) = x;
function two(x, y) = (y, x);
function squares(v) = {x * x : x in v};
function mapped(g, v) = {g(x) : x in v};
function at(v, i) = v[i];
datatype point(float, float);
function left(p) = let point(x, y) = p in x;
table = [1, 2, 3];
function looked_up(v) = {table[i] : i in v};
function numbers(n) = {rand(i) : i in dist(1000000, n)};
function greeting(n) = let ignore = print_line("hello") in n;
function stops(n) = if n > 0 then error("no " ++ @n) else f;
function waits(n) = let ignore = print_line(@n) in if n > 0 then waits(n) else n;
function written(n) = write_csv([n], "out.csv");
"""
ALL_WAYS = ([], ["--no-optimise"], ["--int", "32", "--float", "32"], ["--classic"], ["--direct"],
            ["--repeat", "2"], ["--repeat", "2", "--int", "32", "--float", "32"])


class MeasureTest(CommandTest):
    def call(self, entry, *arguments, flags=()):
        return self.nesl(*flags, "run", self.file(PROGRAM), "--entry", entry, *arguments)

    def measured(self, *arguments, flags=()):
        """What --times says of a run that prints a line on standard error and nothing else."""
        ran = self.call(*arguments, flags=["--repeat", "3", "--times", "t.json", *flags])
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertRegex(ran.stderr, r"\A3 runs: median [-+.e\d]+ s \([-+.e\d]+ to [-+.e\d]+\)\n\Z")
        return json.loads(self.text("t.json"))


class Arguments(MeasureTest):
    def test_values_of_every_type(self):
        for value, kind in (("7", "int"), ("2.5", "float"), ("T", "bool"), ("`a", "char"),
                            ('"text"', "[char]"), ("[1, 2]", "[int]"), ("[0.5]", "[float]"),
                            ("[T, F]", "[bool]"), ("[[1, 2], [3], [] int]", "[[int]]"),
                            ('["ab", "", "c"]', "[[char]]"), ("(1, 2.5, T)", "int, float, bool"),
                            ('[("a", [1.5, 2.5]), ("", [0.5])]', "[([char], [float])]"),
                            ("point(1.5, 2.0)", "point")):
            printed = value.replace("[] int", "[]")
            for flags in ALL_WAYS:
                ran = self.call("same", value, flags=flags)
                self.assertEqual((ran.returncode, ran.stdout), (0, f"\nit = {printed} : {kind}\n"),
                                 ran.stderr)

    def test_expressions_variables_and_functions(self):
        for flags in ALL_WAYS:
            for arguments, result in (
                    (("two", "[1:4]", "(1 + 1, table)"), "((2, [1, 2, 3]), [1, 2, 3])"),
                    (("mapped", "x => x + 1", "[1, 2]"), "[2, 3]"),
                    (("mapped", "negate", "table"), "[-1, -2, -3]"),
                    (("two", "[] float", "[] [int]"), "([], [])"),
                    (("looked_up", "[2, 0]"), "[3, 1]"),
                    (("looked_up", "{i - 1 : i in table}"), "[1, 2, 3]"),
                    (("sum", "table"), "6"),
                    (("left", "point(1.5, 2.0)"), "1.5")):
                ran = self.call(*arguments, flags=flags)
                self.assertEqual((ran.returncode, ran.stdout.split(" : ")[0]),
                                 (0, f"\nit = {result}"), ran.stderr)

    def test_errors_are_reported_as_before(self):
        for flags in ALL_WAYS:
            self.expect(self.call("at", "[1, 2]", "2", flags=flags), 1, "", "prog.nesl:6:")
            self.expect(self.call("squares", "[1 / 0]", flags=flags), 1, "", "Divide by zero.")
            self.expect(self.call("squares", "[1", flags=flags), 1, "", "<command-line>:1:")
            self.expect(self.call("at", "[1, 2]", flags=flags), 1, "", "<command-line>:1:")
            self.expect(self.call("stops", "1", flags=flags), 1, None, "stopped itself")
        self.assertIn("no 1", self.call("stops", "1", flags=["--repeat", "2"]).stdout)

    def test_memory_that_is_not_there(self):
        for flags in ([], ["--repeat", "2"]):
            ran = self.call("squares", "[0:10000000]", flags=["--memory", "64M", *flags])
            self.expect(ran, 1, "", "memory")


class Repeated(MeasureTest):
    def test_what_is_measured(self):
        for flags in ([], ["--int", "32", "--float", "32"], ["--threads", "1"]):
            times = self.measured("squares", "[0:100000]", flags=flags)
            self.assertEqual(len(times["seconds"]), 3)
            self.assertGreater(min(times["seconds"]), 0)
            self.assertGreater(times["first_seconds"], 0)
            self.assertGreater(times["compile_seconds"], 0)
            self.assertGreater(times["load_seconds"], 0)
            self.assertEqual((times["instructions"], times["work"], times["steps"]),
                             (1, 300000, 1))
            self.assertEqual((times["launches"], times["waits"]), (0, 0))
            width = 32 if "--int" in flags else 64
            self.assertEqual((times["int"], times["float"], times["backend"]),
                             (width, width, "cpu"))
            if "--threads" in flags:
                self.assertEqual(times["threads"], 1)
            self.assertGreaterEqual(times["threads"], 1)
            # The argument and the result, and nothing of what made the argument.
            self.assertAlmostEqual(times["peak_bytes"], 2 * 100000 * width / 8, delta=10000)

    def test_an_expression(self):
        ran = self.nesl("--repeat", "1", "-e", "x = 3; x + 1; x + 2")
        self.assertEqual(ran.stdout, "\nx = 3 : int\n\nit = 4 : int\n\nit = 5 : int\n")
        self.assertEqual(len(re.findall(r"^1 run: median ", ran.stderr, re.MULTILINE)), 2)

    def test_every_run_begins_in_the_same_state(self):
        once = self.call("numbers", "5", flags=["--seed", "7"])
        self.expect(once, 0)
        for runs in ("1", "4"):
            again = self.call("numbers", "5", flags=["--seed", "7", "--repeat", runs])
            self.assertEqual(again.stdout, once.stdout)
        self.assertNotEqual(self.call("numbers", "5", flags=["--seed", "8"]).stdout, once.stdout)

    def test_output_is_printed_once(self):
        for flags in (["--repeat", "3"], ["--repeat", "3", "--times", "t.json"]):
            ran = self.call("greeting", "5", flags=flags)
            self.expect(ran, 0, "hello\n\nit = 5 : int\n", "3 runs: median")

    def test_what_cannot_be_repeated(self):
        ran = self.call("written", "1", flags=["--allow-files", "--repeat", "2"])
        self.expect(ran, 1, "", "run repeatedly may not read, open files")
        self.assertFalse(os.path.exists(self.path("out.csv")))
        self.expect(self.call("written", "1", flags=["--allow-files"]), 0)

    def test_limits_hold(self):
        ran = self.call("waits", "1", flags=["--repeat", "2", "--time", "0.2"])
        self.expect(ran, 1, None, "the time limit of 0.2 seconds is over")

    def test_wrong_usage(self):
        for flags, message in (
                (["--repeat", "0", "-e", "1"], "--repeat must be an integer from 1"),
                (["--repeat", "2", self.file(PROGRAM)], "--repeat goes with -e and --entry"),
                (["--times", "t.json", "-e", "1"], "--times goes with --repeat"),
                (["--repeat", "2", "--direct", "-e", "1"], "--direct compiles nothing"),
                (["--native", "--direct", "-e", "1"], "there will be none"),
                (["--native", "--no-fusion", "-e", "1"], "there will be none"),
                (["--native=never", "-e", "1"], "=wait or =off, not 'never'")):
            self.expect(self.nesl(*flags), 2, "", message)
        self.expect(self.nesl("--repeat", "1", "--times", "no/t.json", "-e", "1"), 1, "",
                    "no/t.json: error: No such file")


class Native(MeasureTest):
    EXPRESSION = "sum({sqrt(float(x * x + 3 * x)) : x in [0:300000]})"

    def setUp(self):
        super().setUp()
        os.environ["XDG_CACHE_HOME"] = self.path("cache")
        os.mkdir(os.environ["XDG_CACHE_HOME"])
        self.addCleanup(os.environ.pop, "XDG_CACHE_HOME")

    def compiled(self):
        """Files in the folder of compiled superoperators."""
        folder = os.path.join(os.environ["XDG_CACHE_HOME"], "ravel")
        files = os.listdir(folder) if os.path.exists(folder) else []
        return [name for name in files if name.endswith(".so")]

    def test_results_are_the_same(self):
        plain = self.nesl("-e", self.EXPRESSION)
        self.expect(plain, 0)
        self.assertEqual(self.compiled(), [])
        for flags in (["--native"], ["--native=wait"]):
            self.expect(self.nesl(*flags, "-e", self.EXPRESSION), 0, plain.stdout)
        self.assertEqual(len(self.compiled()), 1)

    def test_when_it_pays(self):
        long = ("sum({sin(x) * cos(x) + exp(-x * x) : x in {float(i) / 1.0e5 "
                ": i in [0:300000]}})")
        off = self.nesl("--native=off", "--repeat", "60", "-e", long)
        self.assertEqual(self.compiled(), [])
        # The compiler works beside it, where nothing else wants the processor, and is ended with it.
        for doubled in range(9):
            ran = self.nesl("--repeat", str(200 << doubled), "-e", long)
            self.assertEqual(ran.stdout, off.stdout)
            if self.compiled():
                break
        self.assertEqual(self.nesl("--repeat", "60", "-e", long).stdout, off.stdout)
        compiled = set(self.compiled())
        self.assertTrue(compiled)
        self.expect(self.nesl("-e", self.EXPRESSION), 0)  # nothing more for what is short
        self.assertEqual(set(self.compiled()), compiled)

    def test_no_folder_for_compiled_code_by_default(self):
        os.environ["XDG_CACHE_HOME"] = "/dev/null"
        self.expect(self.nesl("--repeat", "2", "-e", self.EXPRESSION), 0, None, "2 runs")

    def test_measured_runs_wait_for_the_compiler(self):
        ran = self.nesl("--native", "--repeat", "2", "-e", self.EXPRESSION)
        self.expect(ran, 0, self.nesl("-e", self.EXPRESSION).stdout, "2 runs: median")
        self.assertEqual(len(self.compiled()), 2)  # the superoperator, and the whole run

    def test_no_folder_for_compiled_code(self):
        os.environ["XDG_CACHE_HOME"] = self.path("no/such/folder")
        self.expect(self.nesl("--native", "-e", "1"), 1, "", "No such file")


if __name__ == "__main__":
    nesl_command.NESL = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
