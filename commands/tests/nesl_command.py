"""The commands nesl and neslc from outside: modes, commands of the top level, compiled
programs.

usage: nesl_command.py NESL NESLC VINTERP [unittest options]
"""

import os
import re
import signal
import subprocess
import sys
import time
import unittest

from support import EVERY, ScratchTest

NESL = NESLC = VINTERP = None

QUICK = """% sorts %
function quick(a) =
  if #a < 2 then a else
    let p = a[#a / 2];
        less = {e in a | e < p};
        same = {e in a | e == p};
        more = {e in a | e > p};
        r = {quick(x) : x in [less, more]}
    in r[0] ++ same ++ r[1];
v = [3, 1, 2];
"""


class CommandTest(ScratchTest):
    def file(self, text, name="prog.nesl"):
        return self.write(text, name)

    def run_command(self, *command, stdin=""):
        return subprocess.run(command, cwd=self.directory, input=stdin, timeout=60,
                              capture_output=True, text=True, check=False)

    def nesl(self, *arguments, stdin=""):
        return self.run_command(NESL, "--backend", "cpu", *arguments, stdin=stdin)

    def expect(self, ran, status, out=None, err=None):
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        if out is not None:
            self.assertEqual(ran.stdout, out)
        if err is None:
            self.assertEqual(ran.stderr, "")
        else:
            self.assertIn(err, ran.stderr)


class Modes(CommandTest):
    def test_expression(self):
        for flags in ([], ["--direct"], ["--no-optimise"], ["--no-fusion"], ["--threads", "1"]):
            ran = self.nesl(*flags, "-e", "sum({x * x : x in [1:5]})")
            self.expect(ran, 0, "\nit = 30 : int\n")
        self.expect(self.nesl("-e", "x = 1; (x, 2.5);"), 0,
                    "\nx = 1 : int\n\nit = (1, 2.5) : int, float\n")
        self.expect(self.nesl("-e", "1 + 2.5"), 1, "", "<command-line>:1:")

    def test_unchecked_results_fit(self):
        wrong = "the lengths in the result do not fit its elements"
        for form, counts in (('partition("ab", [100000000])', "should be 100000000 of them, and there are 2"),
                             ("zip([1, 2], [3])", "should be 2 of them, and there are 1"),
                             ("([1], zip([1, 2], [[3]]))", "should be 2 of them, and there are 1")):
            self.expect(self.nesl("--unchecked", "-e", form), 1, "", f"{wrong} (there {counts})")
            set_off = self.nesl(stdin=f"set arg_check off;\nx = {form};\nx;\n1 + 1;\n")
            self.assertEqual(set_off.returncode, 1)
            self.assertIn(wrong, set_off.stderr + set_off.stdout)
            self.assertTrue(set_off.stdout.endswith("it = 2 : int\n"), set_off.stdout)
        self.expect(self.nesl("--unchecked", "-e", "zip([1, 2], [[3], [4]])"), 0,
                    "\nit = [(1, [3]), (2, [4])] : [(int, [int])]\n")

    def test_many_parameters(self):
        def program(count):
            names = ", ".join(f"p{i}" for i in range(count))
            return (f"function last({names}) = if p0 == 0 then p{count - 1} else last(0, "
                    f"{', '.join(f'p{i}' for i in range(1, count))});\n"
                    f"last({', '.join(str(i + 1) for i in range(count))});\n")
        self.expect(self.nesl("run", self.file(program(150))), 0)
        self.expect(self.nesl("run", self.file(program(151))), 1, None,
                    "`last` is called with 151 values, and 150 are the most that can be compiled")

    def test_widths(self):
        self.expect(self.nesl("-e", "2147483647 + 1"), 0, "\nit = 2147483648 : int\n")
        self.expect(self.nesl("--int", "32", "-e", "2147483647 + 1"), 0,
                    "\nit = -2147483648 : int\n")
        self.expect(self.nesl("-e", "1.0e300 * 1.0e300"), 0, "\nit = infinity : float\n")
        self.expect(self.nesl("--classic", "-e", "1.0e300 * 1.0e300"), 1, "", "infinity")
        self.expect(self.nesl("-e", "1.0e39"), 0, "\nit = 1.0E39 : float\n")
        self.expect(self.nesl("--float", "32", "-e", "1.0e39"), 1, "",
                    "too large for a float of 32 bits: the greatest is 3.403E38")
        self.expect(self.nesl("--classic", "-e", "2147483649"), 1, "",
                    "too large for an int of 32 bits: the greatest is 2147483647")

    def test_run(self):
        prog = self.file("#!/usr/bin/env -S nesl run\n" + QUICK + "quick(v ++ [9, 0]);\n")
        ran = self.nesl("run", prog)
        self.expect(ran, 0)
        self.assertEqual(ran.stdout, "\nit = [0, 1, 2, 3, 9] : [int]\n")
        self.expect(self.nesl("run", "nothing.nesl"), 1, "", "nothing.nesl: error: No such file")

    def test_echo(self):
        """Of a file without errors, and of one whose last expression fails; commands print."""
        self.file("function inc(x) = x + 1;\nset verbose on; print_string(\"out\");\n[inc(1)];\n"
                  "inc(1);\nfunction inc(x) = x + 1.5;\nx = 5;\nexit;\n7;\n")
        every = ("\ninc = fn : int -> int\nout\nit = T : bool\n\nit = [2] : [int]\n\nit = 2 : int\n"
                 "Redefining inc with a new type.  Old calls will not be modified.\n\ninc = fn : float -> float\n"
                 "\nx = 5 : int\n")
        for way in ([], ["--direct"]):
            self.expect(self.nesl("run", *way, "prog.nesl"), 0, "out\nit = 2 : int\n")
            self.expect(self.nesl("run", *way, "--echo", "prog.nesl"), 0, every)
            self.expect(self.nesl("run", *way, "--quiet", "prog.nesl"), 0, "out")
        self.expect(self.nesl("--quiet", "-e", "1; print_string(\"a\")"), 0, "a")
        self.expect(self.nesl("--quiet", "run", "prog.nesl", "--entry", "inc", "1.0"), 0, "out")
        self.file("x = 5; x; print_string(\"in \");", "defines.nesl")
        self.file("load \"defines\"; 3 +; y = none; x + 1; function inc(x) = x; show code inc;", "loads.nesl")
        self.expect(self.nesl("run", "loads.nesl"), 1, "in \nit = 6 : int\nfunction inc(x) = x;\n\n",
                    "loads.nesl:1:")
        self.file("1; 2; none;", "fails.nesl")
        self.expect(self.nesl("run", "fails.nesl"), 1, "", "`none` is not defined")
        self.file("1; 2; x = none; y = ;", "fails.nesl")
        self.expect(self.nesl("run", "fails.nesl"), 1, "\nit = 2 : int\n", "`none` is not defined")

    def test_files_with_similar_names_are_suggested(self):
        for name in ("two-words.nesl", "b.nesl", "words.vcode", "words.nesl"):
            self.file("1;", name)
        for typed, meant in (("two_words.nesl", "two-words.nesl"),
                             ("tow-words.nesl", "two-words.nesl"),
                             ("./words", "./words.nesl"), ("wurds.nesl", "words.nesl")):
            self.expect(self.nesl("run", typed), 1, "", f"directory; did you mean {meant}?")
        for typed in ("a.nesl", "nothing.nesl", "none/words.nesl", "x" * 300):
            ran = self.nesl("run", typed)
            self.assertEqual(ran.returncode, 1)
            self.assertNotIn("did you mean", ran.stderr)
            self.assertNotIn("nesl -e", ran.stderr)
        for typed in ("1 + 2", "sum([1,2])", "{x in v | x > 1}", "3*4"):
            self.expect(self.run_command(NESL, typed), 1, "",
                        "No such file or directory; nesl -e EXPR evaluates an expression")

    def test_commands_for_other_files(self):
        prog = self.file("function f(x) = 2 * x;\nf(2);\n", "other.nesl")
        ran = self.run_command(VINTERP, prog)
        self.assertEqual((ran.returncode, len(ran.stderr.splitlines())), (1, 1), ran.stderr)
        self.assertIn("this is no VCODE program but one of NESL, which `nesl run` executes", ran.stderr)
        self.expect(self.run_command(NESL, prog, "--entry", "g", "3"), 2, "",
                    "--entry goes with run: nesl run FILE --entry g")

    def test_entry(self):
        prog = self.file(QUICK + "function scale(v, k) = {x * k : x in v};\n")
        self.expect(self.nesl("run", prog, "--entry", "quick", "[5, 2, 9]"), 0,
                    "\nit = [2, 5, 9] : [int]\n")
        self.expect(self.nesl("run", prog, "--entry", "scale", "[5, 2]", "1 + 1"), 0,
                    "\nit = [10, 4] : [int]\n")
        self.expect(self.nesl("run", prog, "--entry", "scale", "[5, 2]", "-10"), 0,
                    "\nit = [-50, -20] : [int]\n")
        self.expect(self.nesl("run", prog, "--entry", "none", "1"), 1, "", "none")

    def test_strings_without_quotes(self):
        prog = self.file('function hello(name) = "hello " ++ name; bob = "Bob";\n')
        for text in ("eve", "eve and adam"):
            self.expect(self.nesl("run", prog, "--entry", "hello", text), 1, "",
                        f"argument 1 of --entry hello is an expression, and {text} is not defined; "
                        f"a string has quotes: '\"{text}\"'")
        for text, wanted in (("bob", "Bob"), ("BOB", "Bob"), ('if t then bob else ""', "Bob"),
                             ("let x = bob in x", "Bob"), ('"eve"', "eve")):
            self.expect(self.nesl("run", prog, "--entry", "hello", text), 0,
                        f'\nit = "hello {wanted}" : [char]\n')

    def test_check_evaluates_nothing(self):
        prog = self.file(QUICK + "w = error(\"boo\"); print_string(\"out\"); w; quick(v);")
        self.expect(self.nesl("check", prog), 0, "")
        prog = self.file(QUICK + "quick(3);\nnone(v);\n")
        ran = self.nesl("check", prog)
        self.expect(ran, 1, "", "prog.nesl:11:")
        self.assertIn("prog.nesl:12:1: error: `none` is not defined", ran.stderr)

    def test_test(self):
        good = ("1 + 2; %= 3 %\n[1.5]; % why % %= it = [1.5] : [float] %\n"
                "1 + 2.0; %= error type %\n[1][3]; %= error runtime %\n"
                "(0.1 + 0.2, \"0.10000000000000004\"); %= (0.3, \"0.10000000000000004\") %\n"
                "0.1 + 0.2; %= 0.30000000000000004 : float %\n"
                "print_string(\"a\"); %= out \"a\" it = T : bool %\n4; %= 4 : int %\n5;\n"
                "(`\", ` ); %=  (`\",  ` )  :  char, char  %\n")
        self.expect(self.nesl("test", self.file(good)), 0,
                    "prog.nesl: 10 forms, 9 expectations, 0 failed\n")
        for bad in ("1 + 2; %= 4 %", "1; %= 1 : float %", "1 + 2.0;", "1; %= error type %",
                    "0.1 + 0.2; %= 0.30000000000000005 %",
                    "[1][3]; %= error type %", "print_string(\"a\"); %= T %", "12; %= 1 %"):
            ran = self.run_command(NESL, "test", self.file(bad))
            self.assertEqual(ran.returncode, 1, bad)
            self.assertIn("1 failed", ran.stdout)

    def test_outcomes(self):
        prog = self.file("1 + 2;\nfunction inc(x) = x + 1;\n(a, b) = (1, \"x\\\"y\");\n"
                         "set print_length 2;\n[1, 2, 3];\nprint_string(\"p \\\"q\");\n1 +;\n"
                         "none;\n1 / 0;\nerror(\"boo\");\n")
        for flags in ([], ["--direct"], ["--no-optimise"]):
            self.expect(
                self.nesl(*flags, "--outcomes", prog), 0,
                "it = 3 : int\ninc = fn : int -> int\n(a, b) = (1, \"x\\\"y\") : int, [char]\n"
                "ok\nit = [1, 2,...] : [int]\nout \"p \\\"q\" it = T : bool\nerror parse\n"
                "error unbound\nerror runtime: Divide by zero.\nerror user: boo\n")

    def test_limits(self):
        loop = self.file("function deep(n) = if n < 0 then n else 1 + deep(n + 1);\ndeep(0);\n1;\n")
        for flags in (["--max-depth", "100"], ["--max-depth", "50", "--direct"],
                      ["--time", "0.2", "--max-depth", "1000000000"]):
            ran = self.nesl(*flags, "--outcomes", loop)
            self.expect(ran, 0)
            self.assertEqual(ran.stdout.splitlines()[1:], ["error limit", "it = 1 : int"])
        # Neither a loop nor a call at the end of a function counts.
        long = self.file("loop i = 0 while i < 20000 do i + 1;\n"
                         "function down(n) = if n == 0 then 7 else let m = n - 1 in down(m);\n"
                         "down(20000);\n"
                         "sum({#(loop v = [i] while #v < 300 do v ++ [#v]) : i in [0:3]});\n")
        for flags in ([], ["--direct"], ["--no-optimise"], ["--no-fusion"]):
            ran = self.nesl("--max-depth", "100", *flags, "--outcomes", long)
            self.expect(ran, 0, "it = 20000 : int\ndown = fn : int -> int\nit = 7 : int\n"
                                "it = 900 : int\n")
        endless = self.file("loop i = 0 while t do i + 1;\n"
                            "{loop (i, v) = (k, [k]) while i >= 0 do (i + 1, v) : k in [1, 2]};\n"
                            "function spin(n) = if n < 0 then n else spin(n + 1);\nspin(0);\n")
        for flags in ([], ["--direct"], ["--no-optimise"]):
            ran = self.nesl("--time", "0.2", *flags, "--outcomes", endless)
            self.expect(ran, 0)
            self.assertEqual(ran.stdout.count("error limit"), 3)
        ran = self.nesl("--memory", "64M", "--outcomes", self.file("v = [0:100000000];\n1;\n"))
        self.expect(ran, 0, "error limit\nit = 1 : int\n")
        self.expect(self.nesl("--memory", "64K", "-e", "1"), 1, "", "memory")

    def test_recursion_without_end_in_braces(self):
        texts = ("function g(x) = sum({g(i) : i in [0:x + 2]}); g(0);", "function g(x) = sum({g(x) : i in [0:2]}); g(3);",
                 "function g(v) = flatten({g(v ++ [i]) : i in [0:3]}); g([1]);",
                 "function g(x) = if x < 0 then 0 else sum({g(x + i) + g(x) : i in [0:20]}); {g(i) : i in [0:50]};",
                 "function g(x) = sum({h(i) : i in [0:x + 2]}); function h(x) = 1 + g(x); g(1);")
        for k, text in enumerate(texts):
            if " h(" in text:
                text = "function h(n) : int -> int; " + text
            limits = ([], ["--max-depth", "20000"], ["--memory", "200M"])
            for flags in limits if EVERY == 1 else limits[k % 3:][:1]:
                begun = time.monotonic()
                ran = self.nesl(*flags, stdin=text)
                with self.subTest(text=text, flags=flags):
                    self.assertEqual(ran.returncode, 1)
                    self.assertRegex(ran.stderr, "<prompt>:1:.*error: (more than .*does the recursion end|out of memory)")
                    self.assertIn("`g` was called here", ran.stderr)
                    self.assertLess(time.monotonic() - begun, 15)

    def test_an_interrupt_ends_a_run(self):
        prog = self.file("function spin(n) = if n == 0 then 0 else spin(n - 1);\n"
                         "function more(n) = if n == 0 then 0 else spin(2000) + more(n - 1);\n"
                         "function most(n) = if n == 0 then 0 else more(2000) + most(n - 1);\n"
                         "print_string(\"under way\");\nmost(2000);\n1;\n")
        for flags in ([], ["--direct"]):
            with subprocess.Popen([NESL, *flags, "--echo", "run", prog], cwd=self.directory,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                out = b""
                while b"it = T" not in out:
                    out += os.read(run.stdout.fileno(), 4096)
                time.sleep(0.2)
                run.send_signal(signal.SIGINT)
                rest, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 130, err)
            self.assertIn(b"interrupted", err)
            self.assertNotIn(b"it = 1", rest)

    def test_unchecked(self):
        take = "take([1, 2, 3], 2)"
        self.expect(self.nesl("--unchecked", "-e", take), 0, "\nit = [1, 2] : [int]\n")
        self.expect(self.nesl("-e", "take([1, 2, 3], 7)"), 1, "", "Bounds error for function TAKE.")

    def test_usage(self):
        for arguments in (["run"], ["check"], ["test"], ["--outcomes"], ["check", "a", "b"],
                          ["--nothing"], ["--entry", "f"], ["--no-fusion", "--no-optimise"],
                          ["--echo"], ["--quiet", "check", "a"], ["--echo", "--quiet", "run", "a"],
                          ["--direct", "--no-optimise"], ["--direct", "--no-fusion"], ["-e", "1", "check"],
                          ["--int", "16"], ["--backend", "none"], ["--print-length", "-1"]):
            ran = self.run_command(NESL, *arguments)
            self.assertEqual(ran.returncode, 2, arguments)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        for command, option, other in ((NESL, "--profile", "vinterp"), (NESLC, "--direct=1", "nesl"),
                                       (VINTERP, "--outcomes", "nesl"), (NESL, "--stats", "fcodeopt")):
            ran = self.run_command(command, option)
            self.expect(ran, 2, "", f"has no {option.split('=')[0]}, {other} has (see")
        self.expect(self.run_command(NESL, "--thread"), 2, "", "did you mean --threads?")
        self.assertIn("usage: nesl", self.run_command(NESL, "--help").stdout)
        self.assertRegex(self.run_command(NESL, "--version").stdout,
                         r"^nesl \(Ravel\) [0-9.]+\nC compiler: [^\n]+\n$")


class Sessions(CommandTest):
    """What a session keeps: what its names still mean, and no more."""

    def test_values_that_have_no_name_any_more(self):
        self.file("v = index(1000000); #v; index(500000); (v[0], index(400000));\n" * (40 // EVERY + 4))
        for way in [[], ["--direct"]]:
            self.expect(self.nesl("run", *way, "--print-length", "3", "--memory", "100M",
                                  "prog.nesl"), 0)

    def test_values_that_functions_mention(self):
        forms = "v = index(1000000); function pick(x) = v[x]; pick(3);\n"
        self.file(forms * 40)
        self.expect(self.nesl("run", "--print-length", "3", "--memory", "100M", "prog.nesl"), 0)
        text = "v = index(1000000);\n"
        for i in range(20):  # each variable is of another type than the one before
            text += f"function size{i}(x) = #v; v = {i}; v = index(1000000);\n"
        self.file(text)
        ran = self.nesl("run", "--echo", "--print-length", "3", "--memory", "100M", "prog.nesl")
        self.expect(ran, 1, err="out of memory: the session may use 104857600 bytes")

    def test_the_session_goes_on_after_memory_ran_out(self):
        self.file("".join(f"v{i} = index(1000000);\n" for i in range(16)) +
                  "v0 = 1; v1 = 2.5; v2 = `c; w = index(1000000); #w;\n")
        ran = self.nesl("run", "--echo", "--print-length", "3", "--memory", "100M", "prog.nesl")
        self.expect(ran, 1, err="out of memory: the session may use 104857600 bytes")
        self.assertIn("it = 1000000 : int", ran.stdout)

    def test_forms_that_define_nothing(self):
        forms = "1 + 2; x = [2, 3]; function g(a, b) = (b, a); g(x, it); y = z => (z, x);\n" * 2000
        self.file(forms, "forms.nesl")
        self.file("load \"forms\";\n" * 4)
        self.expect(self.nesl("check", "--memory", "8M", "prog.nesl"), 0)
        ran = self.nesl("--memory", "8M", stdin=forms)
        self.assertEqual(ran.stderr, "")


@unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
class LostOutput(CommandTest):
    """What cannot be written is an error, and nothing is executed after it."""

    FORMS = "2;\n3 + 4;\nwrite_string_to_file(\"x\", \"made\");\n"

    def nowhere(self, *command, err=subprocess.PIPE, out=None, stdin=""):
        with open("/dev/full", "w", encoding="ascii") as full:
            return subprocess.run(command, cwd=self.directory, input=stdin, timeout=60, text=True,
                                  stdout=out or full, stderr=err or full, check=False)

    def test_no_form_follows(self):
        self.file(self.FORMS)
        self.file("load \"prog.nesl\";\nload \"prog.nesl\";\n", "loads.nesl")
        for command, stdin in ((["run", "--echo", "prog.nesl"], ""), ([], self.FORMS), (["prog.nesl"], ""),
                               (["run", "--echo", "loads.nesl"], ""), (["--outcomes", "prog.nesl"], "")):
            ran = self.nowhere(NESL, "--allow-files", *command, stdin=stdin)
            self.assertEqual((ran.returncode, ran.stderr),
                             (1, "nesl: error: standard output: No space left on device\n"), command)
            self.assertFalse(os.path.exists(self.path("made")), command)

    def test_no_property_follows(self):
        one, broken = "%property p(x : int) = x == x %\n", "%property q(x) = x %\n"
        self.file(one + broken)
        self.expect(self.nesl("test", "prog.nesl"), 2, None, "prog.nesl:2:")
        self.file("1; %= 2 %\n" + one + broken, "fails.nesl")
        self.file(one, "one.nesl")
        for command in (["prog.nesl"], ["one.nesl", "none.nesl"], ["--only", "p", "one.nesl", "none.nesl"]):
            ran = self.nowhere(NESL, "test", *command)
            self.assertEqual((ran.returncode, ran.stderr),
                             (1, "nesl: error: standard output: No space left on device\n"), command)
        ran = self.nowhere(NESL, "test", "fails.nesl", "none.nesl")
        self.assertEqual((ran.returncode, ran.stderr), (1, ""))

    def test_a_reader_that_left(self):
        there, back = os.pipe()
        with subprocess.Popen([NESL], cwd=self.directory, stdin=there, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as ran:
            os.close(there)
            os.write(back, b"1;\n")
            ran.stdout.readline()
            ran.stdout.close()
            with self.assertRaises(BrokenPipeError):
                while True:  # until it reads no more
                    os.write(back, b"2;\n" * 1000)
            os.close(back)
            self.assertIn("standard output: Broken pipe", ran.stderr.read())

    def test_what_goes_to_standard_error(self):
        prog = self.file("sum({x * x : x in [1, 2]});\n")
        self.expect(self.run_command(NESLC, prog), 0, "")
        fcodeopt = os.path.join(os.path.dirname(VINTERP), "fcodeopt")
        for command in ([VINTERP, "--profile", "prog.vcode"], [VINTERP, "-t", "prog.vcode"],
                        [VINTERP, "--profile", "--json", "prog.vcode"],
                        [fcodeopt, "--explain", "prog.vcode", "-o", "-"],
                        [NESLC, "--print-after", "parse", prog, "-o", "-"], [NESL, "--repeat", "2", "-e", "1"]):
            ran = self.nowhere(*command, out=subprocess.PIPE, err=None)
            self.assertEqual(ran.returncode, 1, command)
        ran = self.nowhere(VINTERP, "prog.vcode", out=subprocess.PIPE, err=None)
        self.assertEqual((ran.returncode, ran.stdout), (0, "( 5 )\n"))

    def test_bytes_of_value_0(self):
        """They are characters of a result like others, and no end of it; programs have none."""
        self.file("[`a, code_char(0), `b];\n")
        for command in (["run", "prog.nesl"], ["run", "--echo", "prog.nesl"], ["--outcomes", "prog.nesl"],
                        ["-e", "[`a, code_char(0), `b]"]):
            self.assertIn('"a\0b" : [char]', self.nesl(*command).stdout)
        prog = self.file("1 + 1;\n1\0+ 1;\n")
        for command in ([NESL, "run", prog], [NESL, prog], [NESLC, prog], [NESL, "check", prog]):
            ran = self.run_command(*command)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("prog.nesl:2:2: error: the byte 0 means nothing", ran.stderr)


class Messages(CommandTest):
    """What was typed as in other languages, and what is added to it."""

    def test_comments_behind_an_expression(self):
        for text in ("1 + 1 // two", "1 + 1 // two;", "1 // one\n+ 1 // one", "1 + 1; // two", "1 + 1 % two %"):
            self.expect(self.nesl("-e", text), 0, "\nit = 2 : int\n")
        self.expect(self.nesl("-e", '"http://x"'), 0, '\nit = "http://x" : [char]\n')
        ran = self.nesl("-e", "10 // 3")
        self.assertEqual((ran.returncode, ran.stderr),
                         (0, "nesl: note: `// 3` is a comment: a / b divides, ints toward 0\n"))

    def test_what_is_meant(self):
        for arguments, status, said in (
                (["-e", "7 % 2"], 1, "a remainder is rem(a, b) or mod(a, b)"),
                (["-e", "1\u00a0+ 2"], 1, "this is a no-break space, U+00A0"),
                (["-e", "half(x) = x / 2"], 1, "a function is defined by `function half(...) = ...`"),
                (["--seed", "9" * 30, "-e", "1"], 2, "from -9223372036854775808 to 9223372036854775807, not"),
                (["run", "p.nesl", "--entry", "g", "-infinity"], 2,
                 "unknown option -infinity; what begins with - and is none stands behind --")):
            ran = self.nesl(*arguments)
            self.assertEqual(ran.returncode, status)
            self.assertIn(said, ran.stderr)
        self.file("function g(x) = x;\n")
        self.expect(self.nesl("run", "prog.nesl", "--entry", "g", "--", "-infinity"), 0, "\nit = -infinity : float\n")


class LargeTypes(CommandTest):
    """Types that are larger as trees than any memory: only values of them are refused."""

    DOUBLINGS = """function p(x) = (x, x);
function a(x) = p(p(p(p(x))));
function b(x) = a(a(a(a(x))));
function c(x) = b(b(x));
"""

    def test_whatever_looks_at_types(self):
        self.file(self.DOUBLINGS + """
function g(h, x) = let y = h(x) in x;
w = [c, c];
let q = c in 3;
function e(x) = let y = c(x) in x;
{#[h] : h in w};
string(c);
""")
        for way in [[], ["--no-optimise"], ["--direct"]]:
            ran = self.nesl("run", "--echo", *way, "prog.nesl")
            self.expect(ran, 0)
            self.assertIn('it = 3 : int', ran.stdout)
            self.assertIn("it = [1, 1] : [int]", ran.stdout)
            self.assertIn('it = "function" : [char]', ran.stdout)
            self.assertLess(len(ran.stdout), 8000)
        self.expect(self.nesl("check", "prog.nesl"), 0, out="")

    def test_values_are_refused(self):
        self.file(self.DOUBLINGS)
        many = "this type has more than 10000 columns"
        for expression in ["c(1)", "{c(i) : i in [1, 2]}", "let y = c(1) in 3", "(x => c(x))(2.5)"]:
            ran = self.nesl("-e", expression, "prog.nesl")
            self.expect(ran, 1, out="", err=many)
            ran = self.run_command(NESLC, "-o", "-", "-e", expression, "prog.nesl")
            self.expect(ran, 1, out="", err=many)
        ran = self.run_command(NESLC, "-o", "-", "--entry", "c:int", "prog.nesl")
        self.expect(ran, 1, out="", err=many)
        ran = self.nesl("run", "prog.nesl", "--entry", "c", "1")
        self.expect(ran, 1, out="", err=many)

    def test_as_many_columns_as_there_may_be(self):
        self.file(self.DOUBLINGS + "function v(x) = p(p(p(p(p(p(p(p(p(p(p(p(p(x)))))))))))));\n")
        self.expect(self.nesl("-e", "let y = v(1) in #[y]", "prog.nesl"), 0, out="\nit = 1 : int\n")


class Commands(CommandTest):
    def forms(self, text, *flags):
        return self.nesl(*flags, stdin=text)

    def test_several_lines_and_several_forms(self):
        self.expect(self.forms("1 +\n2; 3;\n4\n;"), 0,
                    "\nit = 3 : int\n\nit = 3 : int\n\nit = 4 : int\n")
        self.expect(self.forms("1 +"), 1, "", "<prompt>:1:4: error")
        self.expect(self.forms("1;\n2;\nnone;\n"), 1, None, "<prompt>:3:1: error")

    def test_errors_leave_the_session_intact(self):
        ran = self.forms("x = 5;\nx = none;\nfunction not(v) = 3;\nx[1];\n1 / 0;\nx;\nit;\n")
        self.expect(ran, 1, "\nx = 5 : int\n\nit = 5 : int\n\nit = 5 : int\n", "`not` is an operator")

    def test_a_note_about_names_of_the_library(self):
        """Once for each, at the prompt only."""
        said = "Note: rank is a name of the library, too, whose functions keep to their own.\n"
        self.expect(self.forms("rank = 3;\nrank = 4;\n"), 0,
                    said + "\nrank = 3 : int\n\nrank = 4 : int\n")
        self.expect(self.forms("set verbose off;\nrank = 3;\n"), 0, "\nrank = 3 : int\n")
        self.expect(self.nesl("-e", "rank = 3"), 0, "\nrank = 3 : int\n")
        ran = self.forms("f = 3;\nfunction f(x) = x;\n")
        self.assertIn("Note: f is the constant false, too, which can be written 1 == 0.\n", ran.stdout)
        self.assertEqual(ran.stdout.count("Note"), 1)

    def test_describe_and_apropos(self):
        ran = self.forms("describe plus_scan;\n")
        self.expect(ran, 0)
        self.assertIn("plus_scan : [a] -> [a] :: (a in number)\n", ran.stdout)
        self.expect(self.forms("describe plus_scam;"), 1, "", "did you mean plus_scan?")
        ran = self.forms("datatype tagged(label:a,value:(int,int))::(a in any); describe tagged; "
                         "datatype plain(int); describe plain;\n")
        self.assertIn("  The constructor of a datatype.\n"
                      "  datatype tagged(label : a, value : (int, int)) :: (a in any);\n", ran.stdout)
        self.assertTrue(ran.stdout.rstrip().endswith("The constructor of a datatype."), ran.stdout)
        ran = self.forms("apropos SCAN;\napropos zzz;\n")
        self.expect(ran, 0)
        self.assertIn("max_scan : ", ran.stdout)
        self.assertIn("No name contains zzz.", ran.stdout)
        ran = self.forms("help;\n?\n")
        self.expect(ran, 0)
        self.assertEqual(ran.stdout.count("print_length"), 2)

    def test_describe_syntax(self):
        ran = self.forms("describe loop; describe while; describe #; describe @; describe {}; describe any; "
                         "describe IF;\n")
        self.expect(ran, 0)
        loop = "loop PATTERN = E while CONDITION do E\n  Begins with"
        self.assertEqual(ran.stdout.count(loop), 2)
        for said in ("#v\n  The length", "@x\n  The text", "{E : PATTERN in E;", "any : [a] -> a",
                     "a in any\n  As a class", "if CONDITION then"):
            self.assertIn(said, ran.stdout)
        # A definition of the program's comes first; its meaning as syntax is still there.
        ran = self.forms("function do(x) = x + 1; describe do;")
        self.assertRegex(ran.stdout, r"do : int -> int\n  function do\(x\)[^\n]*\nloop PATTERN")
        for bad in ("describe [ };", "describe { x;", "describe nothing;", "describe;"):
            self.expect(self.forms(bad), 1, "", "<prompt>:1:")

    def test_every_example_of_syntax_is_evaluated(self):
        words = ("let in if then else loop while do function datatype { } [ ] ( ) # @ => := :: . t f int bool char "
                 "number ordinal logical sortable scalar").split() + ["|"]
        said = self.forms("".join(f"describe {word};\n" for word in words))
        self.expect(said, 0)
        examples = [line for line in said.stdout.splitlines() if line.startswith("  ") and line.endswith(";")]
        self.assertGreater(len(examples), 20)
        self.expect(self.forms("\n".join(examples)), 0)

    def test_set_and_show(self):
        ran = self.forms("set print_length 1; [1, 2];\nset arg_check off;\nset verbose off;\n"
                         "show status;\n")
        self.expect(ran, 0)
        self.assertIn("it = [1,...] : [int]\n", ran.stdout)
        self.assertIn("arg_check off\nprint_length 1\nprint_total 1000\nverbose off\n", ran.stdout)
        for flags, status in ((["--print-length", "7"], "print_length none\nprint_total 7\n"),
                              (["--print-length", "0"], "print_length 0\nprint_total none\n")):
            self.assertIn(status, self.forms("show status;", *flags).stdout)
        for bad in ("set arg_check 3;", "set print_total on;", "set verbose;", "set print_length on;", "set nothing 3;",
                    "show nothing;", "show code none;", "lisp;"):
            self.expect(self.forms(bad), 1, "", "<prompt>:1:")

    def test_limits_of_what_is_printed(self):
        numbers = ", ".join(map(str, range(100)))
        rows = "{index(30) : x in index(200)}"
        ran = self.forms(f"index(1000); {rows};")
        self.expect(ran, 0)
        first, second = ran.stdout.strip().split("\n\n")
        self.assertEqual(first, f"it = [{numbers},...] : [int]")
        self.assertEqual(second.count("29]"), 32)
        self.assertTrue(second.endswith("[0, 1, 2, 3, 4, 5, 6, ... 23 more], ... 167 more] : [[int]]"))
        self.assertEqual(self.nesl("-e", rows).stdout.count("29]"), 100)
        self.assertNotIn("more", self.forms(f"set print_length 6200; {rows}; set print_total 0; {rows};").stdout)
        self.expect(self.forms("set print_total 2; [7, 8, 9]; (\"abc\", [[7], [8]]);"), 0,
                    "\nit = [7, 8, ... 1 more] : [int]\n\nit = (\"abc\", [[7], ... 1 more]) : [char], [[int]]\n")
        for flags, wanted in ((["2"], "[0, 1, ... 1,234,565 more]"), (["0"], "[...]")):
            self.expect(self.nesl("--print-length", *flags, "-e", "index(1234567)"), 0,
                        f"\nit = {wanted} : [int]\n")

    def test_digits(self):
        self.file("(0.1 + 0.2, 2.0 / 3.0, 1.0e-9, 100.0);")
        every = "it = (0.30000000000000004, 0.6666666666666666, 1.0E-9, 100.0) : float, float, float, float\n"
        fifteen = "it = (0.3, 0.666666666666667, 1.0E-9, 100.0) : float, float, float, float\n"
        for way in ([], ["--direct"]):
            self.expect(self.nesl(*way, "run", "prog.nesl"), 0, "\n" + every)
            self.expect(self.nesl(*way, "--classic", "run", "prog.nesl"), 0, "\n" + fifteen)
            self.expect(self.nesl(*way, "--outcomes", "prog.nesl"), 0, fifteen)
            self.expect(self.nesl(*way, "--digits", "17", "--classic", "-e", "0.1"), 0,
                        "\nit = 0.10000000000000001 : float\n")
            self.expect(self.nesl(*way, "--float", "32", "-e", "(0.1, 1.0 / 3.0)"), 0,
                        "\nit = (0.1, 0.33333334) : float, float\n")
        for digits in ("0", "18", "x"):
            self.expect(self.nesl("--digits", digits, "-e", "0.1"), 2, "", "integer from 1 to 17")

    def test_show_code_is_read_again(self):
        ran = self.forms(QUICK + "show code quick;\n")
        self.expect(ran, 0)
        code = ran.stdout[ran.stdout.index("function") :]
        self.assertIn("quick = fn : [a] -> [a] :: (a in ordinal)", self.forms(code).stdout)

    def test_redefinition(self):
        ran = self.forms("function g(x) = x + 1;\nfunction h(x) = g(x);\nfunction g(x) = x + 2;\n"
                         "h(1);\nfunction g(x) = x + 2.0;\nh(1);\n")
        self.expect(ran, 0)
        self.assertEqual(ran.stdout.count("Redefining g with a new type."), 1)
        self.assertEqual(ran.stdout.count("it = 3 : int"), 2)

    def test_load(self):
        self.file("x = 7;\n", "seven.nesl")
        self.file("load \"self\";\n", "self.nesl")
        self.file("y = none;\n", "bad.nesl")
        self.expect(self.forms("load \"seven\";\nx;\nload;\n"), 0,
                    "\nx = 7 : int\n\nit = 7 : int\n\nx = 7 : int\n")
        self.expect(self.forms("load \"se\" ++ \"ven.nesl\";"), 0, "\nx = 7 : int\n")
        self.expect(self.nesl("seven.nesl", stdin="x + 1;"), 0,
                    "\nx = 7 : int\n\nit = 8 : int\n")
        self.expect(self.forms("load \"self\";"), 1, "", "files load each other")
        self.expect(self.forms("load \"bad\";"), 1, "", "bad.nesl:1:5: error")
        self.expect(self.forms("load \"none\";"), 1, "", "none.nesl: error: No such file")
        self.expect(self.forms("load 3;"), 1, "", "takes a string")
        self.expect(self.forms("load;"), 1, "", "no file was loaded before")

    def test_dump(self):
        self.expect(self.forms("dump vcode \"d.vcode\" sum([1, 2]);", "--allow-files"), 0, "")
        self.expect(self.run_command(VINTERP, "d.vcode"), 0, "( 3 )\n")

    def test_processes_need_permission(self):
        self.expect(self.forms("shell \"echo boo\";"), 1, "", "--allow-spawn")
        self.expect(self.forms("shell \"echo boo\";", "--allow-spawn"), 0, "boo\n")

    def test_exit(self):
        self.expect(self.forms("1; exit; 2;\n3;\n"), 0, "\nit = 1 : int\n")


class Compiler(CommandTest):
    def neslc(self, *arguments, stdin=""):
        return self.run_command(NESLC, *arguments, stdin=stdin)

    def test_an_expression_runs(self):
        prog = self.file(QUICK + "quick(v ++ [9, 0]);\n")
        self.expect(self.neslc(prog), 0, "")
        self.expect(self.run_command(VINTERP, "prog.vcode"), 0, "[ 5 ]\n( 0 1 2 3 9 )\n")
        self.expect(self.neslc(prog, "-e", "sum(v)", "-o", "sum.vcode"), 0, "")
        self.expect(self.run_command(VINTERP, "sum.vcode"), 0, "( 6 )\n")
        ran = self.neslc("-", stdin="1.5 + 2.0;")
        self.expect(ran, 0)
        self.assertIn("FUNC MAIN", ran.stdout)

    def test_assignments_need_memory_for_what_they_use_last(self):
        prog = self.file("function steps(v, k) = if k == 0 then v else steps({x + 1 : x in v}, k - 1);\n"
                         "v = steps(index(10000), 1000);\nv[9];\n")
        self.expect(self.neslc(prog, "--memory", "64M"), 0, "")
        self.expect(self.run_command(VINTERP, "prog.vcode"), 0, "( 1009 )\n")

    def test_nan_in_variables(self):
        """A variable is one constant, with what is not a number among its elements."""
        prog = self.file("v = [nan, 1.0 / -infinity, 2.5, infinity];\nw = ([nan, nan], 0.0 * infinity);\n"
                         "function above(x) : float -> [float] = {if y > x then nan else y : y in v};\n"
                         "(above(2.0), {isnan(x) : x in v}, {2.0 * x : x in v}, w);\n")
        printed = ("[ 4 ]\n( nan -0.00000000000000e+00 nan nan )\n[ 4 ]\n( T F F F )\n"
                   "[ 4 ]\n( nan -0.00000000000000e+00 5.00000000000000e+00 inf )\n"
                   "[ 2 ]\n( nan nan )\n( nan )\n")
        fcodeopt = os.path.join(os.path.dirname(VINTERP), "fcodeopt")
        for flags in ([], ["--no-fusion"], ["--float", "32"], ["--portable"]):
            classic = ["--classic"] if flags == ["--portable"] else flags[:2] if "32" in flags else []
            self.expect(self.neslc(prog, *flags), 0, "")
            text = self.text("prog.vcode")
            self.assertEqual("CONST FLOAT (nan " in text, flags != ["--portable"], text)
            self.assertEqual("nan" in text, flags != ["--portable"], text)
            self.expect(self.run_command(fcodeopt, *classic, "prog.vcode", "-o", "prog.fcode"), 0)
            for program in ("prog.vcode", "prog.fcode"):
                ran = self.run_command(VINTERP, *classic, program)
                self.expect(ran, 0, printed)
        self.assertIn("(CONST FLOAT nan)", self.text("prog.fcode"))
        self.expect(self.neslc(prog, "--library", "l", "--entry", "above"), 0, "")
        self.assertIn("CONST FLOAT (nan ", self.text("l.c"))

    def test_entries_say_their_types(self):
        prog = self.file("function twice(v) = {x + x : x in v};\nfunction first(a, b) : (float, int) -> float = a;\n")
        for types, arguments, printed in (("[float]", ["(1.5 2)"], "[ 2 ]\n( 3.00000000000000e+00 4.00000000000000e+00 )\n"),
                                          ("[int]", ["(4)"], "[ 1 ]\n( 8 )\n")):
            self.expect(self.neslc(prog, "--entry", "Twice:" + types), 0, "")
            self.expect(self.run_command(VINTERP, "prog.vcode", *arguments), 0, printed)
        self.expect(self.neslc(prog, "--entry", "first"), 0, "")
        self.expect(self.run_command(VINTERP, "prog.vcode", "2.5", "7"), 0, "( 2.50000000000000e+00 )\n")
        for arguments, said in ((["--entry", "twice"], "say for which types, as in --entry 'twice:[float], int'"),
                                (["--entry", "twice:bool"], "it does not take bool"),
                                (["--entry", "twice:[flat]"], "did you mean `float`?"),
                                (["--entry", "c=first"], "a name of C goes with --library"),
                                (["--entry", "firts"], "did you mean `first`?"),
                                (["-e", "first"], "--entry F compiles a function"),
                                (["-e", "(1, twice)"], "--entry F compiles a function")):
            self.expect(self.neslc(prog, *arguments), 1, "", said)

    def test_the_least_int(self):
        for bits, least in (("32", "-2147483648"), ("64", "-9223372036854775808")):
            form = f"([1, {least}], [[{least}], [2]], {{x : x in [({least}, `a)]}}, {least});\n"
            self.expect(self.neslc(self.file(form), "--int", bits), 0, "")
            self.expect(self.run_command(VINTERP, "--int", bits, "prog.vcode"), 0,
                        f"[ 2 ]\n( 1 {least} )\n[ 2 ]\n[ 1 1 ]\n( {least} 2 )\n"
                        f"[ 1 ]\n( {least} )\n( 97 )\n( {least} )\n")
            for form in (least[1:], f"[1, {least[1:]}]", f"0 - {least[1:]}"):
                ran = self.neslc(self.file(form + ";\n"), "--int", bits)
                self.expect(ran, 1, "", f"too large for an int of {bits} bits")

    def test_constants_that_no_literal_means(self):
        expression = "{(isnan(y), nan, y) : y in [%s, nan, -infinity]};\n"
        for text, flags in [("x = infinity - infinity;\n" + expression % "x", []),
                            (expression % "nan", ["--portable"])]:
            self.expect(self.neslc(self.file(text), *flags), 0, "")
            self.expect(self.run_command(VINTERP, "prog.vcode"), 0,
                        "[ 3 ]\n( T T F )\n( nan nan nan )\n( nan nan -inf )\n")

    def test_assignments_have_no_permissions(self):
        prog = self.file("(stream, (opened, message)) = open_out_file(\"made\");\nopened;\n")
        self.expect(self.neslc(prog), 0, "")
        self.expect(self.run_command(VINTERP, "prog.vcode"), 0, "( F )\n")
        self.assertFalse(os.path.exists(os.path.join(self.directory, "made")))

    def test_origins_and_checks(self):
        prog = self.file("function at(v, i) =\n  v[i];\nat([1, 2], 5);\n")
        self.expect(self.neslc(prog, "-o", "f.vcode"), 0, "")
        ran = self.run_command(VINTERP, "f.vcode")
        self.expect(ran, 1, "", ": error: Sequence reference (a[i]) out of bounds.")
        self.assertTrue(ran.stderr.startswith("prog.nesl:2:"), ran.stderr)

    def test_portable(self):
        prog = self.file("function at(v, i) = v[i];\nat([1, 2], 5);\n")
        self.expect(self.neslc(prog, "--portable"), 0, "")
        self.assertNotIn("ASSERT", self.text("prog.vcode"))
        self.expect(self.run_command(VINTERP, "--classic", "prog.vcode"), 0,
                    "RUNTIME ERROR: Sequence reference (a[i]) out of bounds.\n")
        self.expect(self.neslc(prog, "--portable", "-e", "at([1, 2], 1)"), 0, "")
        self.expect(self.run_command(VINTERP, "--classic", "prog.vcode"), 0, "( 2 )\n")
        self.expect(self.neslc(prog, "--portable", "-e", "[[1], [2, 3]]"), 0, "")
        self.assertNotIn("SEGDES (", self.text("prog.vcode"))
        self.expect(self.run_command(VINTERP, "--classic", "prog.vcode"), 0,
                    "[ 2 ]\n[ 1 2 ]\n( 1 2 3 )\n")
        conditionals = "".join(f"if x == {i} then {i * i} else " for i in range(60))
        self.expect(self.neslc(self.file(f"function deep(x) = {conditionals} x;\ndeep(7);"),
                               "--portable"),
                    1, "",
                    "prog.nesl: error: conditionals are nested 56 deep in what DEEP_1 became")

    def explained(self, forms, *flags):
        """What --explain prints of combinations in each form, and the number of superoperators."""
        said = []
        for form in forms:
            prog = self.file("function power(a, n) = if n == 0 then 1 else a * power(a, n - 1);\n"
                             + form + ";\n")
            ran = self.neslc(prog, "--explain", *flags)
            self.expect(ran, 0)
            lines = [line for line in ran.stdout.splitlines() if "lifted" not in line]
            said.append(("\n".join(lines).removeprefix("prog.nesl:2:"),
                         len(re.findall("^fused OP", self.text("prog.vcode"), re.MULTILINE))))
        return said

    def test_combinations(self):
        self.assertEqual(self.explained([
            "reduce((a, b) => max(a, b), 0, [1, 2])",
            "{scan_inclusive(((a, b), (c, d)) => (a + c, b * d * float(i)), (0, 1.0), {(k, 2.0)"
            " : k in [0:i]}) : i in [0:3]}",
            "let (s, r) = scan((a, b) => (if a > b then a else b), 0, [1, 2]) in s",
            "scan((a, b) => a + b, 0, [1, 2])",
            "scan_back((a, b) => a + b, 0, [1, 2])",
            "combine((a, b) => a + b, [0, 0], [(1, 2)])",
            "reduce((a, b) => a / b, 1.0, [2.0])",
            "{reduce((a, b) => a - b, 1, v) : v in [[2], [3, 4]]}"]),
            [("1: reduce is a superoperator of 1 column", 1),
             ("2: scan_inclusive is a superoperator of 3 columns", 2),  # one in the procedure
             ("14: scan is a superoperator of 1 column", 1),
             ("1: scan is a superoperator of 1 column", 2),
             ("1: scan is a superoperator of 1 column", 2),
             ("1: combine is a superoperator of 1 column", 1),
             ("1: reduce is a superoperator of 2 columns", 1),
             ("2: reduce is a superoperator of 1 column", 1)])

    def test_rounds(self):
        recursive = "reduce((a, b) => power(a, rem(b, 4)), 0, [1, 2])"
        many = ", ".join("abcdeghij"), ", ".join("klmnopqrs")
        self.assertEqual(self.explained([
            recursive,
            "reduce((a, b) => a ++ b, \"\", [\"a\"])",
            "let v = [5, 6] in reduce((a, b) => a + v[rem(b, 2)], 0, [4, 1, 6])",
            "scan((a, b) => sqrt(a - b), 0.0, [2.0])",
            "reduce((a, b) => a / b + rem(b, a), 0, [2])",
            "reduce((a, b) => a + sum([0:max(b, 0)]), 0, [4, 1, 6])",
            f"reduce((({many[0]}), ({many[1]})) => ({many[0]}), ({'0, ' * 8}0), "
            f"[({'0, ' * 8}0)])",
            "{reduce((a, b) => rand(5), 0, v) : v in [[1, 2]]}"]),
            [("1: reduce takes rounds: its function is recursive, or calls a function that is", 0),
             ("1: reduce takes rounds: its function combines sequences", 0),
             ("19: reduce takes rounds: its function uses a sequence from around it", 0),
             ("1: scan takes rounds: its function has a check whose message reports values", 0),
             ("1: reduce takes rounds: its function has checks of several kinds", 0),
             ("1: reduce takes rounds: its function has a check whose message reports values", 0),
             ("1: reduce takes rounds: its function needs more than 8 columns", 0),
             ("2: reduce takes rounds: its function has a check whose message reports values", 0)])
        plain = "reduce((a, b) => max(a, b), 0, [1, 2])"
        self.assertEqual(self.explained([plain], "--no-fusion"), [("", 0)])
        self.assertEqual(self.explained([plain], "--portable"), [("", 0)])

    # Its body is too large to be expanded.
    LARGE = ("function large(v) = let a = sum(v) * 3 + {0}; b = a * a - 2 * a; c = b * b - 3 * b;"
             " d = c * c + a * b + a * c + b * c + 1; e = d * d - a * b * c * d; g = e * e - 4 * e"
             " in {{x * x + g : x in v}};\n")

    def by_instances(self, form, extra="1"):
        """What --explain says of what is applied to many instances: location, and what became of it."""
        ran = self.neslc(self.file(self.LARGE.format(extra) + form + ";\n"), "--explain")
        self.expect(ran, 0)
        return [line.removeprefix("prog.nesl:").replace("apply-to-each is not lifted: it", "each:")
                for line in ran.stdout.splitlines() if "lifted" in line]

    def test_by_instances(self):
        held = "s = sum({x * x : x in v})"
        large = "1:10: large is lifted: LARGE_1L"
        for form, said in [
                ("{x * x + 1 : x in [0:9]}", []),
                ("{sum({x * x : x in v}) : v in [[1, 2], [3]]}", ["2:1: apply-to-each is lifted: EACH_1L"]),
                ("{sum({x * x : x in v}) : v in [[1, 2], [3]] | #v > 1}",
                 ["2:1: apply-to-each is lifted: EACH_1L"]),
                ("{[0:i] : i in [0:9]}", ["2:1: each: needs no elements of the sequences that it computes"]),
                ("{large(v) : v in [[1, 2]]}", ["2:1: each: computes sequences in calls only", large]),
                ("{sum(large(v)) : v in [[1, 2]]}", ["2:1: apply-to-each is lifted: EACH_2L", large]),
                ("let c = sum([0:3]) > 2 in {if c then sum({rand(10) * x : x in [0:i]}) else 1 : i in index(4)}",
                 ["2:27: each: draws random numbers conditionally"]),
                ('{let p = print_line("x") in sum({x * x : x in [0:i]}) : i in index(4)}',
                 ["2:1: each: prints, reads, takes the time or ends the program"]),
                ("{let " + held + "; w = {[0:j] : j in v} in w[rem(s, 1)] : v in [[1, 2]]}",
                 ["2:1: each: has a value that is a view of sequences that it made, and would be copied",
                  "2:37: each: needs no elements of the sequences that it computes"]),
                ("let w = [1, 2] in {let " + held + "; q = v[s - 1]; u = [7, 8, 9][#w] in (s, q, u) : v in [[1]]}",
                 ["2:19: each: has a value that is the same for all instances, and would be copied"]),
                ("{let " + held + "; q = v[s - 1] in 1 : v in [[1]]}", ["2:1: each: has only checks left to do"]),
                ("{(loop (s, n) = (0, i) while n > 0 do (s + sum([0:n]), n - 1)) : i in [0:4]}",
                 ["2:1: each: computes sequences in calls only", "2:3: loop is lifted: LOOP_1L"]),
                ("{sum({(loop n = x while n > 0 do n - #[0:n]) * x : x in [0:i]}) : i in [0:4]}",
                 ["2:6: each: computes sequences in calls only",
                  "2:1: apply-to-each is lifted: EACH_2L", "2:8: loop is lifted: LOOP_1L"])]:
            with self.subTest(form=form):
                self.assertEqual(self.by_instances(form), said)
        drawing = "{sum({x * y : x in large(v); y in v}) : v in [[1, 2]]}"
        self.assertEqual(self.by_instances(drawing, "rand(3)"),
                         ["2:1: apply-to-each is lifted: EACH_2L", large])
        arm = "reaches a RAND through an arm of an IF: how many are executed may depend on the instances"
        self.assertEqual(self.by_instances(drawing, "(loop k = #v while k > 0 do k - 1 - rand(1))"),
                         [f"2:1: each: {arm}", f"1:10: large is not lifted: it {arm}",
                          f"1:43: loop is not lifted: it {arm}"])

    def test_by_instances_in_the_library(self):
        self.assertIn("library/order.nesl:", "\n".join(self.by_instances("{unique(v) : v in [[1, 2]]}")))

    def test_loops(self):
        """Loops of scalars in an apply-to-each become superoperators, which make no calls; others
        are no recursion as deep as their rounds, even where nothing is optimised."""
        scalars = [("{loop (a, b) = (x, 300) while b > 0 do (b, rem(a, b)) : x in [211, 4]}",
                    "( 1 4 )\n( 0 0 )\n"),
                   ("{loop (a, b) = (x, 300) while b /= 0 do (b, rem(a, b)) : x in [211, 4]}",
                    "( 1 4 )\n( 0 0 )\n"),
                   ("{loop (n, y) = (300, 1) while n > 0 do (n - 1, rem(y * x, 10007)) : x in [2, 3]}",
                    "( 0 0 )\n( 906 8142 )\n")]
        others = [("{loop (n, y) = (300, 7) while n > 0 do (n - 1, rem(y * x, d))"
                   " : x in [2, 3]; d in [5, 11]}", "( 0 0 )\n( 2 7 )\n"),
                  ("{loop (n, y) = (300, 1) while n > 0 do (n - 1, [x, n][rem(n, 2)]) : x in [2, 3]}",
                   "( 0 0 )\n( 1 1 )\n")]
        for form, printed in scalars + others:
            prog = self.file(form + ";\n")
            optimised, depth = (["-O"], "3") if (form, printed) in scalars else ([], "40")
            self.expect(self.neslc(prog), 0, "")
            self.expect(self.run_command(VINTERP, *optimised, "--max-depth", depth, "prog.vcode"),
                        0, "[ 2 ]\n" + printed)
            self.expect(self.neslc(prog, "--portable"), 0, "")
            self.expect(self.run_command(VINTERP, "--classic", "--max-depth", "40", "prog.vcode"),
                        0, "[ 2 ]\n" + printed)

    def test_entry(self):
        prog = self.file(QUICK)
        ran = self.neslc(prog, "--entry", "quick:[int]", "-o", "-")
        self.expect(ran, 0)
        self.assertIn("FUNC", ran.stdout)
        self.expect(self.neslc(prog, "--entry", "quick:[int]", "-o", "quick.vcode"), 0, "")
        self.assertIn("FUNC MAIN I SEGDES INT O SEGDES INT", self.text("quick.vcode"))
        self.expect(self.run_command(VINTERP, "quick.vcode", "(3 1 2)"), 0, "[ 3 ]\n( 1 2 3 )\n")
        self.expect(self.run_command(VINTERP, "-O", "quick.vcode", "(3 1 2)"), 0,
                    "[ 3 ]\n( 1 2 3 )\n")
        self.expect(self.neslc(prog, "--entry", "none"), 1, "", "there is no function `none`")
        self.expect(self.neslc(prog, "--entry", "v"), 1, "", "`v` is no function")

    def test_print_after(self):
        prog = self.file("1 + 2 * 3;\n")
        for phase, text in (("parse", "1 + 2 * 3"), ("check", "int"), ("flatten", "fun MAIN")):
            ran = self.neslc(prog, "--print-after", phase)
            self.expect(ran, 0)
            self.assertIn(text, ran.stdout)
        self.expect(self.neslc(prog, "--print-after", "none"), 2, "", "parse, check")

    def test_errors(self):
        self.expect(self.neslc("none.nesl"), 1, "", "No such file")
        self.expect(self.neslc(self.file("x = none;")), 1, "", "prog.nesl:1:5: error")
        self.expect(self.neslc(self.file("x = 3;")), 1, "", "no expression to compile")
        self.expect(self.neslc(self.file("1;"), "-e", "1 +"), 1, "", "<command-line>:1:")
        self.expect(self.neslc(self.file("1;"), "-e", "x = 3"), 1, "", "no expression")
        for arguments in ([], ["a", "b"], ["a", "-e", "1", "--entry", "f"]):
            self.assertEqual(self.neslc(*arguments).returncode, 2)


if __name__ == "__main__":
    NESL, NESLC, VINTERP = map(os.path.abspath, sys.argv[1:4])
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
