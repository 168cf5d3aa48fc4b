"""Batch calls by native code, one instance after the other: --procedures of all kinds prints what
a run without prints, results and errors; limits end it; and what --profile says of it.

    procedures_command.py NESL NESLC VINTERP [unittest options]
"""
import json
import os
import re
import subprocess
import sys
import unittest

from support import ScratchTest

PROGRAM = """function qs(v) =
  if #v < 2 then v
  else
    let pivot = v[#v / 2];
        parts = [{x in v | x < pivot}, {x in v | x > pivot}];
        sorted = {qs(part) : part in parts}
    in sorted[0] ++ {x in v | x == pivot} ++ sorted[1];
function rows(n) = {{rem(i * 7919 + j * 104729, 1009) : j in index(rem(i, 60))} : i in index(n)};
function steps(n) = if n < 2 then 0 else 1 + steps(if rem(n, 2) == 0 then n / 2 else 3 * n + 1);
function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);
function picked(v, i) = if #v < 1 then 0 else if i < 2 then v[i - 1] else picked(v, i - 1);
"""
SORTED = "let r = {qs(v) : v in rows(3000)} in (sum({#v : v in r}), {v in take(r, 5) | #v > 0})"
EXPRESSIONS = [SORTED, "sum({steps(i) : i in [1:3000]})", "{picked(v, #v) : v in rows(2000)}"]
FAILS = "{picked(v, 50) + v[40] : v in rows(60)}"


def run(command, **where):
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, **where)


class Procedures(ScratchTest):
    def setUp(self):
        super().setUp()
        self.write(PROGRAM, "p.nesl")
        self.environment = {**os.environ, "XDG_CACHE_HOME": self.directory}
        os.chmod(self.directory, 0o700)

    def nesl(self, *arguments):
        return run([NESL, *arguments, "p.nesl"], cwd=self.directory, env=self.environment)

    def test_all_ways_print_the_same(self):
        for expression in (*EXPRESSIONS, FAILS):
            whole = self.nesl("--procedures", "off", "-e", expression)
            self.assertEqual(whole.returncode, 1 if expression == FAILS else 0, whole.stderr)
            for way in ("always", "auto"):
                for more in ([], ["--threads", "1"], ["--chunks", "100"], ["--threads", "3", "--chunks", "random:5"]):
                    with self.subTest(expression=expression, way=way, more=more):
                        other = self.nesl("--procedures", way, *more, "-e", expression)
                        self.assertEqual((other.stdout, other.stderr), (whole.stdout, whole.stderr))

    def test_a_limit_of_time(self):
        limited = self.nesl("--procedures", "always", "--time", "1", "-e", "{fib(i) : i in [60, 61]}")
        self.assertEqual(limited.returncode, 1)
        self.assertIn("the time limit of 1 second", limited.stderr)

    def test_profile(self):
        self.assertEqual(run([NESLC, "p.nesl", "-e", SORTED, "-o", "p.vcode"], cwd=self.directory).stderr, "")

        def profile(*arguments):
            return run([VINTERP, "-O", "--profile", *arguments, "p.vcode"], cwd=self.directory,
                       env=self.environment).stderr

        # The whole run is one instance of the entry function.
        said = profile("--procedures", "always")
        self.assertRegex(said, r"\nprocedures +calls +instances +seconds +given up\nMAIN +1 +1 +[0-9.]+ +0\n")
        lines = json.loads(profile("--procedures", "always", "--json"))["procedures"]
        self.assertEqual([(each["name"], each["calls"], each["instances"], each["given_up"]) for each in lines],
                         [("MAIN", 1, 1, 0)])
        for arguments in (["--procedures", "off"], ["--procedures", "always", "--native=off"],
                          ["--procedures", "always", "--checked"]):
            self.assertIsNone(re.search("^procedures", profile(*arguments), re.MULTILINE), arguments)

    def test_option(self):
        wrong = self.nesl("--procedures", "some", "-e", "1")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--procedures must be auto, off or always, not 'some'", wrong.stderr)


if __name__ == "__main__":
    NESL, NESLC, VINTERP = (os.path.abspath(each) for each in sys.argv[1:4])
    del sys.argv[1:4]
    unittest.main()
