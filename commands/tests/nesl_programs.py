"""Programs of the command nesl: their arguments, and files that they load and import.

usage: nesl_programs.py NESL NESLC VINTERP [unittest options]
"""

import os
import subprocess
import sys
import unittest

from support import ScratchTest

NESL = NESLC = VINTERP = None

ECHO = "a = arguments();\n(a, {#s : s in a});\n"


class ProgramTest(ScratchTest):
    def run_command(self, *command, stdin="", **environment):
        return subprocess.run(command, cwd=self.directory, input=stdin, timeout=60, check=False,
                              capture_output=True, text=True, env={**os.environ, **environment})

    def nesl(self, *arguments, stdin="", **environment):
        return self.run_command(NESL, *arguments, stdin=stdin, **environment)

    def prints(self, ran, *lines):
        """What is printed, without empty lines; and that nothing failed."""
        self.assertEqual((ran.stderr, ran.returncode), ("", 0), ran.stdout)
        self.assertEqual([line for line in ran.stdout.split("\n") if line], list(lines))

    def fails(self, ran, *messages, status=1):
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        for message in messages:
            self.assertIn(message, ran.stderr)


class Arguments(ProgramTest):
    def shown(self, *arguments):
        lengths = ", ".join(str(len(a.encode())) for a in arguments)
        strings = ", ".join(f'"{a}"' for a in arguments)
        return f"it = ([{strings}], [{lengths}]) : [[char]], [int]"

    def test_of_a_program(self):
        program = self.write(ECHO, "prog.nesl")
        for flags in ([], ["--direct"], ["--no-optimise"], ["--int", "32", "--backend", "cpu"]):
            for given in ([], ["x"], ["x", "", "two words"], ["caf\u00e9", "-3", "-", "b"]):
                ran = self.nesl(*flags, "run", program, *given)
                self.prints(ran, self.shown(*given))

    def test_options_stand_before(self):
        program = self.write(ECHO, "prog.nesl")
        for given, left in ((["x", "--classic"], None), (["--classic", "x"], ["x"]), (["--", "--classic"], ["--classic"]),
                            (["--depth", "3"], None), (["-z", "--"], None), (["--classic", "--", "--"], ["--"])):
            self.prints(self.nesl("run", program, *given), self.shown(*(given if left is None else left)))
        self.fails(self.nesl("--depth", "run", program), "unknown option --depth", status=2)

    def test_of_a_script(self):
        script = self.write(f"#!/usr/bin/env -S {NESL} run\n" + ECHO, "script")
        os.chmod(self.path(script), 0o755)
        for given in ([], ["--classic", "--help", "x"], ["--quiet"]):
            self.prints(self.run_command("./script", *given), self.shown(*given))

    def test_elsewhere(self):
        program = self.write("function g(x) = #arguments() + x;\n", "prog.nesl")
        self.prints(self.nesl("-e", "arguments()"), "it = [] : [[char]]")
        self.prints(self.nesl("run", program, "--entry", "g", "3"), "it = 3 : int")
        self.fails(self.nesl("-e", "{#arguments() : i in [0:2]}"), "arguments cannot be called in parallel")
        self.prints(self.nesl("-e", "arguments = [4, 5]; let arguments = 6 in arguments; arguments[1];"),
                    "arguments = [4, 5] : [int]", "it = 6 : int", "it = 5 : int")
        self.fails(self.nesl("check", program, "x"), "one program at a time", status=2)

    def test_of_compiled_programs(self):
        self.write("{#s : s in arguments()};\n", "prog.nesl")
        self.prints(self.run_command(NESLC, "prog.nesl"))
        self.prints(self.run_command(VINTERP, "prog.vcode"), "[ 0 ]", "( )")
        self.prints(self.run_command(VINTERP, "-O", "prog.vcode", "x", "", "--", "--y"), "[ 3 ]", "( 1 0 3 )")
        self.write("a = arguments();\na;\n", "early.nesl")
        self.fails(self.run_command(NESLC, "early.nesl"),
                   "The arguments of the program are not known while it is compiled.")
        self.write("sum([1, 2]);\n", "none.nesl")
        self.prints(self.run_command(NESLC, "none.nesl"))
        self.fails(self.run_command(VINTERP, "none.vcode", "x"), "takes nothing more")


if __name__ == "__main__":
    NESL, NESLC, VINTERP = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
