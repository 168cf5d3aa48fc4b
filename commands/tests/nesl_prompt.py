"""The prompt of nesl: what a person types on a terminal, and commands of the prompt.

usage: nesl_prompt.py NESL [unittest options]
"""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import unittest

from support import EVERY, ScratchTest

NESL = None

INTERRUPT = "interrupt"
WAIT_AND_INTERRUPT = "wait"  # until the evaluation is under way

QUICK = """function quick(a) =
  if #a < 2 then a else
    let p = a[#a / 2];
        r = {quick(x) : x in [{e in a | e < p}, {e in a | e > p}]}
    in r[0] ++ {e in a | e == p} ++ r[1];
"""


class PromptTest(ScratchTest):
    def forms(self, text, *flags):
        ran = subprocess.run([NESL, "--backend", "cpu", *flags], cwd=self.directory, input=text,
                             timeout=60, capture_output=True, text=True, check=False)
        return ran

    def prints(self, text, out, err="", flags=(), status=None):
        """The forms print this, and these errors; patterns."""
        ran = self.forms(text, *flags)
        self.assertRegex(ran.stdout, f"^(?s:{out})$")
        self.assertRegex(ran.stderr, f"^(?s:{err})$")
        self.assertEqual(ran.returncode, (1 if err else 0) if status is None else status)


TRACE = """quick\\(\\[3, 1, 2\\]\\)
  quick\\(\\[\\]\\) = \\[\\]
  quick\\(\\[3, 2\\]\\)
    quick\\(\\[\\]\\) = \\[\\]
    quick\\(\\[3\\]\\) = \\[3\\]
  = \\[2, 3\\]
= \\[1, 2, 3\\]

it = \\[1, 2, 3\\] : \\[int\\]
"""


class Observing(PromptTest):
    """cost, profile, time, trace."""

    def test_trace(self):
        for flags in ([], ["--direct"]):
            self.prints("set verbose on;" + QUICK + "trace quick([3, 1, 2]);",
                        r"\nquick = [^\n]*\n" + TRACE, flags=flags)

    def test_trace_of_functions_and_failures(self):
        self.prints("function inv(x) = 1 / x; function twice(x) = let y = {inv(z) : z in x} in y;\n"
                    "trace {inv(x) : x in [1, 2]}; trace twice([2, 0]);\n"
                    "trace max(3, 4);",
                    r".*inv\(1\) = 1\ninv\(2\) = 0\n\nit = \[1, 0\] : \[int\]\n"
                    r"twice\(\[2, 0\]\)\n  inv\(2\) = 0\n  inv\(0\) fails\n\nit = 4 : int\n",
                    r".*Divide by zero.*")

    def test_long_traces_are_cut(self):
        ran = self.forms("function down(n, v) = if n == 0 then 0 else down(n - 1, v);\n"
                         "trace down(20, index(100)); trace {down(x, []  int) : x in index(300)};")
        first, second = ran.stdout.split("it = 0 : int")
        self.assertEqual(first.count("down("), 8)
        self.assertIn("down(20, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... 90 more])\n", first)
        self.assertEqual(second.count("down("), 200)
        self.assertIn("The trace shows the first 200 calls.", second)

    def test_cost_time_profile(self):
        model = r"in the model +(\d+) +(\d+)\n.*as compiled +\d+ +\d+ +\d+ +\d+\.\d{6}\n"
        for flags in ([], ["--direct"]):
            self.prints("cost sum([1, 2, 3]);", r"\nit = 6 : int\n.*" + model, flags=flags)
            self.prints("profile sum([1, 2, 3]);", r"\nit = 6 : int\n\ninstructions .*elapsed.*MAIN.*",
                        flags=flags)
        self.prints("time sum([1, 2, 3]);", r"\nit = 6 : int\n\d+\.\d{6} s, of which the compiled "
                    r"program took \d+\.\d{6} s\n")
        self.prints("time sum([1, 2, 3]);", r"\nit = 6 : int\n\d+\.\d{6} s\n", flags=["--direct"])
        self.prints("x = 1; cost x + 1; it;", r".*\nit = 2 : int\n$")
        ran = subprocess.run([NESL, "cost", "sum({x * x : x in index(1000)})"], text=True,
                             capture_output=True, check=True).stdout
        said = self.forms("cost sum({x * x : x in index(1000)});").stdout
        self.assertEqual(re.search(model, ran, re.DOTALL).groups(), re.search(model, said, re.DOTALL).groups())

    def test_what_is_counted_depends_on_the_program_only(self):
        self.write("function tree(n) = if n < 2 then n else sum({tree(m) : m in [n - 1, n - 2]});\n"
                   "function rows(n) = sum({sum({i * j : j in [0:i]}) : i in [0:n]});\n", "prog.nesl")
        for expression in ("tree(18)", "rows(2000)"):
            said = set()
            for flags in ([], [], ["--threads", "1"], ["--threads", "3"], ["--chunks", "1"], ["--memory", "256M"]):
                ran = subprocess.run([NESL, "--backend", "cpu", *flags, "cost", expression, "prog.nesl"],
                                     cwd=self.directory, capture_output=True, text=True, check=True)
                said.add(re.sub(r" +[0-9.]+\n$", "", ran.stdout))
            for flags in ([], ["--threads", "2"]):
                ran = self.forms(f'load "prog"; cost {expression};', *flags)
                said.add(re.sub(r" +[0-9.]+\n$", "", ran.stdout[ran.stdout.rindex("\nit ="):]))
            self.assertEqual(len(said), 1, said)

    def test_errors_within(self):
        for command in ("cost", "profile", "time", "trace"):
            self.prints(f"{command} none; {command} [1][3]; 1;", r"\nit = 1 : int\n",
                        r"[^\n]*`none` is not defined.*Sequence reference \(a\[i\]\) out of bounds.*")

    def test_definitions_of_the_user_win(self):
        self.prints("time(1)[0];", "", ".*")
        self.prints("let (v, s) = time(7) in v; time (3) ;", r"\nit = 7 : int\n\nit = \(3, [^\n]*\n")
        for command in ("cost", "profile", "trace"):
            self.prints(f"{command} = 4; {command} - 1; function {command}(x) = x + 5; {command} 2; {command}(3);",
                        r".*it = 3 : int.*it = 7 : int\n\nit = 8 : int\n")
        self.prints("quit = 5; quit; 3;", r".*it = 5 : int\n\nit = 3 : int\n")
        self.prints("1; quit; 2;", r"\nit = 1 : int\n")

    def test_not_in_programs(self):
        name = self.write("cost 3; quit; 2;", "prog.nesl")
        ran = subprocess.run([NESL, "run", name], cwd=self.directory, capture_output=True, text=True,
                             check=False)
        self.assertEqual((ran.returncode, ran.stdout), (1, "\nit = 2 : int\n"))
        self.assertIn("`cost` is not defined", ran.stderr)
        self.assertIn("`quit` is not defined", ran.stderr)


class Terminal(PromptTest):
    """What a person types, on a terminal of its own."""

    def talk(self, steps, *flags, locale="", folder="."):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(folder)
            if locale:
                os.environ["LC_ALL"] = locale
            os.environ["TERM"] = "dumb"
            os.environ["XDG_CACHE_HOME"] = self.directory
            os.execv(NESL, [NESL, "--backend", "cpu", *flags])
        seen = self.ahead = self.seen = ""
        try:
            for wanted, typed in steps:
                seen += self.wait_for(fd, wanted)
                self.seen = seen
                if typed == WAIT_AND_INTERRUPT:
                    time.sleep(0.3)
                    typed = INTERRUPT
                if typed == INTERRUPT:
                    # As the key does; but the terminal would discard its output when the key is
                    # pressed, and this test waits for output.
                    os.kill(pid, signal.SIGINT)
                else:
                    os.write(fd, typed.encode())
            deadline = time.time() + 20
            while time.time() < deadline:
                done, status = os.waitpid(pid, os.WNOHANG)
                if done:
                    return seen, os.waitstatus_to_exitcode(status)
                seen += self.read(fd)
            return self.fail("it did not end: " + seen)
        finally:
            os.close(fd)
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass

    @staticmethod
    def read(fd):
        if not select.select([fd], [], [], 0.05)[0]:
            return ""
        try:
            return os.read(fd, 65536).decode("latin-1").replace("\r", "")
        except OSError:
            return ""

    def wait_for(self, fd, wanted):
        """Reads until this appears; what comes behind it is for the next call."""
        deadline = time.time() + 20
        while wanted not in self.ahead:
            self.assertLess(time.time(), deadline,
                            "no %r in %r, behind %r" % (wanted, self.ahead, self.seen[-200:]))
            self.ahead += self.read(fd)
        end = self.ahead.index(wanted) + len(wanted)
        seen, self.ahead = self.ahead[:end], self.ahead[end:]
        return seen

    def test_forms(self):
        seen, status = self.talk([("<Nesl> ", "1 +\n"), ("> ", "2;\n"),
                                  ("it = 3 : int\n", ""), ("<Nesl> ", "exit;\n")])
        self.assertEqual(status, 0, seen)

    def test_what_hides_the_end_of_a_form(self):
        """Operators of other languages, which begin comments: the prompt waits, and says why."""
        seen, status = self.talk([
            ("<Nesl> ", "10 // 3;\n"), ("note: `// 3` is a comment: a / b divides", ""),
            ("> ", ";\n"), ("it = 10", "7 % 2;\n"),
            ("note: `% 2` is a comment: another % ends it; a remainder is rem(a, b)", ""),
            ("> ", "%;\n"), ("it = 7", "1 + // two\n"), ("> ", "2;\n"), ("it = 3", "exit;\n")])
        self.assertEqual(status, 0, seen)
        self.assertEqual(seen.count("is a comment"), 2, seen)

    def test_an_interrupt_returns_to_the_prompt(self):
        for flags in ([], ["--no-optimise"], ["--direct"]):
            steps = [("<Nesl> ", "function spin(n) = if n == 0 then 0 else spin(n - 1);\n"),
                     ("fn :", "function more(n) = if n == 0 then 0 else spin(2000) + more(n - 1);\n"),
                     ("fn :", "function most(n) = if n == 0 then 0 else more(2000) + most(n - 1);\n"),
                     ("fn :", "most(2000);\n"), ("most(2000);", WAIT_AND_INTERRUPT),
                     ("interrupted", ""),
                     ("<Nesl> ", "half a form\n"), ("> ", INTERRUPT), ("<Nesl> ", "1;\n"),
                     ("it = 1 : int", "exit;\n")]
            seen, status = self.talk(steps, *flags)
            self.assertEqual(status, 0, seen)

    def test_names_are_completed(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        seen, status = self.talk([("<Nesl> ", "plus_s\t([1, 2, 3]);\n"),
                                  ("it = [0, 1, 3]", "max_\t"), ("max_val", ""),
                                  ("max_", "val([4]);\n"), ("it = 4", "exit;\n")])
        self.assertEqual(status, 0, seen)

    def test_names_of_modules_are_completed(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        self.write("function triple(x) = 3 * x;\nunder = 4;\n", "lib.nesl")
        lib = os.path.join(self.directory, "lib")
        seen, status = self.talk([("<Nesl> ", f'import "{lib}" as li;\n'), ("<Nesl> ", "li.tri\t(li.un\t);\n"),
                                  ("it = 12", "li.no;\n"), ("is not defined in the module", "exit;\n")])
        self.assertEqual(status, 0, seen)

    def test_typed_names_of_files_are_permitted(self):
        made = os.path.join(self.directory, "made")
        self.write("x = 7;", "prog.nesl")
        prog = os.path.join(self.directory, "prog.nesl")
        seen, status = self.talk([("<Nesl> ", f'load "{prog}";\n'), ("x = 7", ""),
                                  ("<Nesl> ", f'dump vcode "{made}" x;\n'),
                                  ("<Nesl> ", f'load "{prog}" ++ "";\n'),
                                  ("without --allow-files", "exit;\n")])
        self.assertEqual(status, 0, seen)
        self.assertIn("FUNC", self.text("made"))

    def test_lines_are_kept(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        seen, status = self.talk([("<Nesl> ", "40 + 2;\n"), ("it = 42", "exit;\n")])
        self.assertEqual(status, 0, seen)
        self.assertIn("40", self.text("ravel/nesl-history"))
        previous = "\x10\x10\n"  # before exit; comes 40 + 2;
        seen, status = self.talk([("<Nesl> ", previous), ("it = 42", "exit;\n")])
        self.assertEqual(status, 0, seen)

    def test_words_alone_are_whole_forms(self):
        for word in ("exit", "quit", "EXIT ", "1; exit"):
            seen, status = self.talk([("<Nesl> ", word + "\n")])
            self.assertEqual(status, 0, seen)
        seen, status = self.talk([("<Nesl> ", "help\n"), ("Forms end", "value = [7]; value\n"),
                                  ("it = [7]", "vallue\n"), ("`vallue` is not defined; did you mean `value`?", ""),
                                  ("<Nesl> ", "40 + 2;\n"), ("it = 42", "describe\n"),
                                  ("describe takes one name", "1 +\n"), ("> ", "value\n"), ("> ", "[0];\n"),
                                  ("it = 8", "let\n"), ("> ", "x = 8 in x + 1;\n"), ("it = 9", "quit\n")])
        self.assertEqual(status, 0, seen)

    def test_the_second_prompt_says_what_is_awaited(self):
        seen, status = self.talk([("<Nesl> ", "let x = 3;\n"), ("\nin> ", "y = {a + x :\n"), ("\n}> ", "a in [1,\n"),
                                  ("\n]> ", "2]}\n"), ("\nin> ", "in\n"), ("\n> ", "y;\n"), ("it = [4, 5]", '"a\n'),
                                  ('\n"> ', '";\n'), ("it = ", "exit\n")])
        self.assertEqual(status, 0, seen)

    def test_lines_that_are_pasted_together_are_one_form(self):
        seen, status = self.talk([("<Nesl> ", "value\n= 5\n+ 1;\nexit\n"), ("value = 6", "")])
        self.assertEqual(status, 0, seen)

    def test_words_at_the_end_of_a_pipe(self):
        for word in ("exit", "quit", "help", "1; exit"):
            self.assertEqual(self.forms(word).returncode, 0, word)
        self.prints("1;\nexit\n2;\n", r"\nit = 1 : int\n")
        self.prints("value\n= 5\n;\nvalue\n;", r"\nvalue = 5 : int\n\nit = 5 : int\n")
        self.prints("value", "", ".*expected `;`.*")

    def test_a_form_of_several_lines_is_kept_whole(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        previous = "\x10"
        seen, status = self.talk([("<Nesl> ", "[10,\n"), ("> ", "20] ++ [30,\n"), ("> ", "40];\n"),
                                  ("it = [10, 20, 30, 40]", "1 + 1;\n"), ("it = 2 ", previous + previous + "\n"),
                                  ("it = [10, 20, 30, 40]", "2 +\n"), ("\n> ", INTERRUPT),
                                  ("<Nesl> ", previous), ("2 +", "\n"), ("> ", "3;\n"), ("it = 5", "exit\n")])
        self.assertEqual(status, 0, seen)
        seen, status = self.talk([("<Nesl> ", previous * 4 + "\n"), ("it = [10, 20, 30, 40]", "exit\n")])
        self.assertEqual(status, 0, seen)

    def test_names_of_files_are_completed(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        os.mkdir(self.path("folder"))
        self.write("x = 7;", "folder/deep one.nesl")
        self.write("x = 8;", "first.nesl")
        self.write("x = 9;", "second.nesl")
        seen, status = self.talk([("<Nesl> ", 'load "fo\tde\t";\n'), ("x = 7", 'load "f\t'), ("first.nesl", ""),
                                  ("folder/", ""), ('load "f', 'i\t";\n'), ("x = 8", '#"a" + plus_s\t([1])[0];\n'),
                                  ("it = 1", "exit\n")], folder=self.directory)
        self.assertEqual(status, 0, seen)

    def test_input_that_is_not_ascii(self):
        if not self.has_editing():
            self.skipTest("built without libedit")
        for locale in ("C.UTF-8", "C", "POSIX"):
            seen, status = self.talk([("<Nesl> ", "#\"na\u00efve \u2208\";\n"), ("it = 10 ", ""),
                                      ("<Nesl> ", "\x10\x05\x02\x02\x02\u20ac\n"), ("it = 13 ", "\x10\n"),
                                      ("it = 13 ", "exit\n")], locale=locale)
            self.assertEqual(status, 0, seen)

    def has_editing(self):
        linked = subprocess.run(["ldd", NESL], capture_output=True, text=True, check=True)
        return "libedit" in linked.stdout


class Bounds(PromptTest):
    """What a prompt keeps of forms does not grow with their number: so neither does what it looks through. Of a new name a
    prompt keeps some bytes, and nothing else."""

    FORMS = 20000 // EVERY
    KINDS = ("{i} * 3;", "sum({{x + {i} : x in index(9)}});", "x = [{i}];", "function g(x) = x + {i}; g(1);",
             "datatype d(int, float); d({i}, 0.5);", "{i} + [;", "[{i}][1];", "\"{i}\" + 1;",
             "sort_by(x => x - {i}, [3, {i}]);")

    NAMED = ("n{i};", "let n{i} = {i} in n{i} + 1;")

    def peak(self, kind, count):
        """KB that the process has had at most, and how many lines it prints."""
        with open(self.path("forms"), "w", encoding="latin-1") as forms:
            forms.writelines(kind.format(i=i) + "\n" for i in range(count))
            forms.write('shell "grep VmHWM /proc/$PPID/status";\n')
        with open(self.path("forms"), encoding="latin-1") as forms:
            ran = subprocess.run([NESL, "--backend", "cpu", "--threads", "1", "--native=off", "--allow-spawn"], stdin=forms,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        return int(re.search(r"VmHWM:\s+(\d+) kB", ran.stdout)[1]), ran.stdout.count("\n") - 1

    def test_memory(self):
        few = self.FORMS // 10
        for kind in self.KINDS + self.NAMED:
            with self.subTest(kind=kind):
                (before, said), (after, more) = self.peak(kind, few), self.peak(kind, self.FORMS)
                self.assertEqual(more, 10 * said)
                names = self.FORMS - few if kind in self.NAMED else 0
                self.assertLess(after - before, 1000 + 200 * names // 1024)


class Progress(PromptTest):
    """The status line of long evaluations."""

    SPIN = "function spin(n) = if n == 0 then 0 else spin(n - 1);\n"
    LONG = "function most(n) = if n == 0 then 0 else spin(2000) + most(n - 1); most(100000000);\n"

    def shown(self, *flags, seconds):
        """What stands on the terminal that is standard error, when the run was interrupted."""
        name = self.write(self.SPIN + self.LONG, "prog.nesl")
        ours, theirs = pty.openpty()
        with subprocess.Popen([NESL, "--backend", "cpu", *flags, "run", name], cwd=self.directory,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs) as run:
            os.close(theirs)
            time.sleep(seconds)
            run.send_signal(signal.SIGINT)
            shown = ""
            while "interrupted" not in shown:
                shown += os.read(ours, 65536).decode()
            os.close(ours)
        self.assertEqual(run.returncode, 130)
        return shown

    def test_after_two_seconds(self):
        begun = time.monotonic()
        shown = self.shown(seconds=2.6)
        self.assertRegex(shown, r"^(\r\x1b\[K[2-9]\.\d s  (SPIN|MOST)_\d  live [^\r]*  peak [^\r]*)+"
                                r"\r\x1b\[Kprog\.nesl:2:", time.monotonic() - begun)
        self.assertNotIn("\x1b", self.shown(seconds=0.5))


if __name__ == "__main__":
    NESL = os.path.abspath(sys.argv[1])
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
