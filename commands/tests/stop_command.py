"""--time and signals from outside: every phase of every command ends soon, with one message and
the status that belongs to it, and leaves nothing behind. Called with the paths of nesl, neslc,
vinterp and fcodeopt."""

import os
import pty
import re
import resource
import select
import signal
import stat
import subprocess
import sys
import time
import unittest

from support import ScratchTest

LONG = 30  # seconds: whoever takes longer hangs
EVERY = int(os.environ.get("RAVEL_EVERY", "1"))  # more: a part of the cases (base/tests/every.h)
SOON = 3   # far more than 0.3, for machines that do much else; far less than what is ended takes
OVER = r"the time limit of [0-9.]+ seconds is over"


class StopTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.cache = self.path("cache")

    def start(self, *command, **more):
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE,
                   "stderr": subprocess.PIPE, "cwd": self.directory,
                   "env": {**os.environ, "XDG_CACHE_HOME": self.cache}, **more}
        child = subprocess.Popen(command, **options)
        self.addCleanup(child.stderr.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        if child.stdout:
            self.addCleanup(child.stdout.close)
        if child.stdin:
            self.addCleanup(child.stdin.close)
        return child

    def ends(self, child, status, message, began):
        """Within SOON of `began`; the only error reported is this."""
        out = child.communicate(timeout=LONG)
        took = time.monotonic() - began
        errors = out[1].decode(errors="replace")
        self.assertEqual(child.returncode, status, errors[-500:])
        self.assertLess(took, SOON)
        self.assertRegex(errors, message)
        self.assertEqual(errors.count("error: "), 1, errors[-500:])
        return out[0]

    def late(self, *command, limit=0.3, **more):
        """The time limit ends the command."""
        began = time.monotonic()
        child = self.start(command[0], "--time", str(limit), *command[1:], **more)
        return self.ends(child, 1, OVER, began + limit)

    def catches(self, child, number):
        """The command has come so far that it handles the signal: on a busy machine that takes
        longer than anybody would guess."""
        end = time.monotonic() + LONG
        while time.monotonic() < end and child.poll() is None:
            with open(f"/proc/{child.pid}/status", encoding="latin-1") as file:
                caught = re.search(r"^SigCgt:\s*(\w+)", file.read(), re.MULTILINE)
            if caught and int(caught[1], 16) >> (number - 1) & 1:
                return
            time.sleep(0.01)

    def signalled(self, child, number, status, message):
        self.catches(child, number)
        time.sleep(0.3)  # somewhere in the middle: where does not matter
        began = time.monotonic()
        child.send_signal(number)
        return self.ends(child, status, message, began)

    def gone(self, process):
        """A process that is no child of ours has ended."""
        end = time.monotonic() + LONG
        while time.monotonic() < end:
            try:
                with open(f"/proc/{process}/stat", encoding="latin-1") as file:
                    if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                        return
            except FileNotFoundError:
                return
            time.sleep(0.01)
        self.fail("a child is left")


LONG_SORT = "sort({rand(1.0) : i in index(60000000)})[0]"
EXPRESSIONS = [LONG_SORT,
               "sum({r : r in rank({rand(1.0) : i in index(60000000)})})",
               "let a = index(60000000) in sum({a[rand(60000000)] : x in a} <- {(i, 1) : i in a})"]


def many_instructions(count):
    """What takes seconds to read, check and optimise."""
    return ("FUNC MAIN\nREAD INT\nPOP 2 0\n" + "COPY 1 0\nCOPY 1 0\n* INT\nCONST INT 3\n+ INT\n" *
            count + "RET\n")


class Time(StopTest):
    def test_operations(self):
        for k, expression in enumerate(EXPRESSIONS):
            for threads in ("1", "2") if EVERY == 1 else "12"[k % 2]:
                with self.subTest(threads=threads, expression=expression):
                    self.late(NESL, "--threads", threads, "-e", expression)

    def test_compiling(self):
        program = self.write(many_instructions(200000), "long.vcode")
        self.late(VINTERP, "-O", "--check", program)

    def test_printing(self):
        self.late(NESL, "--print-length", "30000000", "-e", "index(30000000)")
        program = self.write("FUNC MAIN\nCONST INT 0\nCONST INT 1\n"
                             "CONST SEGDES 100000000\nINDEX\nRET\n", "prints.vcode")
        with open(os.devnull, "wb") as nowhere:
            self.late(VINTERP, program, stdout=nowhere)
            self.late(VINTERP, "--dump", self.write(many_instructions(1000000), "dump.vcode"),
                      stdout=nowhere, limit=1.5)

    def test_arrays_in_files(self):
        """Files so large that no machine reads or writes one within the limit."""
        subprocess.run([NESL, "-e", "index(12000000)", "-o", "in.csv"], cwd=self.directory,
                       check=True, timeout=LONG)
        self.write("function total(x) = sum(x);\n", "sum.nesl")
        self.late(NESL, "run", "sum.nesl", "--entry", "total", "in.csv", limit=0.1)
        self.late(NESL, "--allow-files", "-e", 'sum(read_csv("in.csv"))', limit=0.1)
        self.late(NESL, "-e", "index(60000000)", "-o", "out.csv")
        self.assertEqual(sorted(os.listdir(self.directory)), ["in.csv", "sum.nesl"])

    def test_direct(self):
        self.late(NESL, "--direct", "-e", "sum({x * x : x in index(100000000)})")
        self.late(NESL, "--direct", "-e", "let a = index(3) in sum({sum({y * x : y in a}) : x in "
                                          "index(3000000)})")

    def test_input_that_does_not_come(self):
        os.mkfifo(self.path("pipe"))
        keep = os.open(self.path("pipe"), os.O_RDWR)
        self.addCleanup(os.close, keep)
        self.late(NESL, "run", "pipe")
        self.late(VINTERP, "pipe")
        self.late(NESL, "-e", "1", "pipe")
        read = self.write("FUNC MAIN\nREAD INT\nPOP 2 0\nRET\n", "read.vcode")
        self.late(VINTERP, read, stdin=keep)

    def test_each_form_of_a_session(self):
        """The limit is of one form: those around it are evaluated."""
        child = self.start(NESL, "--time", "0.3", stdin=subprocess.PIPE)
        text = f"a = index(5);\n{LONG_SORT};\nsum(a);\n"
        out, err = child.communicate(text.encode(), timeout=LONG)
        self.assertEqual(err.decode().count("error: "), 1, err)
        self.assertRegex(err.decode(), OVER)
        self.assertIn(b"it = 10 : int", out)

    def test_all_forms_of_a_file(self):
        self.write(f"{LONG_SORT};\n1 + 1;\n", "two.nesl")
        out = self.late(NESL, "--echo", "run", "two.nesl")
        self.assertEqual(out, b"")

    def fake_compiler(self):
        """One that never ends, nor does what it has started; the number of that is in a file."""
        os.mkdir(self.path("bin"))
        compiler = self.path("bin/cc")
        self.write(f"#!/bin/sh\nsleep 1000 &\necho $! > {self.path('part')}\n"
                   f"mv {self.path('part')} {self.path('child')}\nwait\n", "bin/cc")
        os.chmod(compiler, stat.S_IRWXU)
        return {**os.environ, "XDG_CACHE_HOME": self.cache,
                "PATH": self.path("bin") + ":" + os.environ["PATH"]}

    def nothing_is_cached(self):
        """But how long compilers were waited for."""
        for folder, _, files in os.walk(self.cache):
            self.assertEqual([name for name in files if not name.endswith(".spent")], [], folder)

    def test_a_compiler_that_is_waited_for(self):
        environment = self.fake_compiler()
        expression = "sum({sqrt(float(x)) * 2.0 + exp(float(x)) : x in index(3000)})"
        self.late(NESL, "--native=wait", "-e", expression, env=environment)
        with open(self.path("child"), encoding="latin-1") as file:
            self.gone(int(file.read()))
        self.nothing_is_cached()
        child = self.start(NESL, "--native=wait", "-e", expression, env=environment)
        self.signalled(child, signal.SIGTERM, -signal.SIGTERM, "ended by a signal")
        with open(self.path("child"), encoding="latin-1") as file:
            self.gone(int(file.read()))
        self.nothing_is_cached()


class Signals(StopTest):
    def test_interrupt(self):
        program = self.write(many_instructions(400000), "long.vcode")
        for command in ([NESL, "-e", LONG_SORT], [NESL, "--direct", "-e", LONG_SORT],
                        [VINTERP, "-O", program], [FCODEOPT, "-o", "made", program],
                        [VINTERP, "--check", program]):
            with self.subTest(command=command):
                self.signalled(self.start(*command), signal.SIGINT, 130, "interrupted")
                self.assertFalse(os.path.exists(self.path("made")))

    def test_interrupt_while_neslc_reads(self):
        # A minute and more, on any machine.
        self.write("a = loop (k, s) = (0, 0) while k < 100000 do (k + 1, s + sum({rand(i + 1) : i in index(1000000)}));\n"
                   "#[a];\n", "long.nesl")
        child = self.start(NESLC, "long.nesl")
        self.signalled(child, signal.SIGINT, 130, "interrupted")
        self.assertEqual(os.listdir(self.directory), ["long.nesl"])

    def test_others_end_the_command_themselves(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            child = self.start(NESL, "-e", LONG_SORT)
            self.signalled(child, number, -number, "ended by a signal")
            child = self.start(NESL, stdin=subprocess.PIPE)  # a session that waits
            time.sleep(0.3)
            child.send_signal(number)
            self.assertEqual(child.wait(timeout=LONG), -number)

    def test_a_session_goes_on(self):
        """After an interrupt of a long operation all that was defined before is as it was."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        child = self.start(NESL, stdin=theirs, stdout=theirs)
        os.close(theirs)
        said = b""

        def until(wanted):
            nonlocal said
            end = time.monotonic() + LONG
            while wanted not in said and time.monotonic() < end:
                if select.select([ours], [], [], 1)[0]:
                    said += os.read(ours, 65536)
            self.assertIn(wanted, said)
            said = said[said.index(wanted) + len(wanted):]

        until(b"<Nesl> ")
        os.write(ours, b"a = index(1000000);\n")
        until(b": [int]")
        for line in (LONG_SORT, "a = sort({rand(1.0) : i in index(60000000)})",
                     "b = {a[rand(1000000)] : i in index(90000000)}"):
            os.write(ours, line.encode() + b";\n")
            time.sleep(0.4)
            began = time.monotonic()
            child.send_signal(signal.SIGINT)
            until(b"<Nesl> ")
            self.assertLess(time.monotonic() - began, SOON)
            os.write(ours, b"sum(a) - 499999499999;\n")
            until(b"it = 1 : int")
        os.write(ours, b"b;\n")
        until(b"<Nesl> ")
        os.write(ours, b"exit;\n")
        self.assertEqual(child.wait(timeout=LONG), 0)
        errors = child.stderr.read().decode()
        self.assertEqual(errors.count("interrupted"), 3, errors)
        self.assertIn("`b` is not defined", errors)


class Loads(StopTest):
    def test_an_interrupt_ends_all_loads(self):
        self.write(f"{LONG_SORT};\n2 + 2;\n", "inner.nesl")
        self.write('load "inner";\n3 + 3;\n', "outer.nesl")
        self.write('load "outer";\n4 + 4;\n', "outermost.nesl")
        child = self.start(NESL, "--allow-files", "run", "outermost.nesl")
        self.assertEqual(self.signalled(child, signal.SIGINT, 130, "interrupted"), b"")

    def test_files_that_load_themselves(self):
        self.write('load "self";\nload "self";\n1;\n', "self.nesl")
        ran = subprocess.run([NESL, "--allow-files", "run", "self.nesl"], cwd=self.directory,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=LONG)
        errors = ran.stderr.decode()
        self.assertEqual((ran.returncode, errors.count("error: ")), (1, 2), errors[-500:])  # forms
        self.assertIn("more than 100 files load each other", errors)

    def test_files_that_load_two_more_each(self):
        for i in range(40):
            self.write(f'load "f{i + 1}";\nload "f{i + 1}";\n', f"f{i}.nesl")
        self.write("1;\n", "f40.nesl")
        ran = subprocess.run([NESL, "--allow-files", "run", "f0.nesl"], cwd=self.directory,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, timeout=LONG)
        errors = ran.stderr.decode()
        self.assertEqual((ran.returncode, errors.count("error: ")), (1, 2), errors[-500:])  # forms
        self.assertIn("more than 10000 loads", errors)


class Files(StopTest):
    def commands(self):
        """What writes: on standard output, and with -o."""
        self.write("FUNC MAIN\nCONST INT (1 2 3)\nCONST SEGDES 3\n+_REDUCE INT\nRET\n", "sum.vcode")
        self.write("FUNC MAIN\n" + 'CONST CHAR "abcdefgh"\n' * 9000 + "RET\n", "long.vcode")
        self.write("sum([1, 2, 3]);\n", "sum.nesl")
        self.write("function g(x) = {x + y : y in [" + "1, " * 20000 + "1]};\ng(1);\n", "long.nesl")
        return [([NESL, "--print-length", "100000", "-e", "index(100000)"], None), ([VINTERP, "--dump", "long.vcode"], None),
                ([NESLC, "-o", "-", "long.nesl"], None), ([FCODEOPT, "-o", "-", "long.vcode"], None),
                ([NESL, "-e", "index(100000)"], "made.npy"), ([NESLC, "long.nesl"], "made.vcode"),
                ([FCODEOPT, "long.vcode"], "made.fcode"),
                ([VINTERP, "--trace", "made.json", "sum.vcode"], "made.json")]

    def test_full(self):
        for command, output in self.commands():
            with self.subTest(command=command, output=output):
                if output and "--trace" in command:
                    command[command.index(output)] = "/dev/full"
                elif output and output.endswith(".npy"):
                    os.symlink("/dev/full", self.path("full.npy"))
                    command += ["-o", "full.npy"]
                elif output:
                    command += ["-o", "/dev/full"]
                with open("/dev/full", "wb") as full, open(os.devnull, "wb") as nowhere:
                    ran = subprocess.run(command, cwd=self.directory, timeout=LONG,
                                         stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                         stdout=nowhere if output else full)
                errors = ran.stderr.decode()
                self.assertEqual((ran.returncode, errors.count("error: ")), (1, 1), errors)
                self.assertIn("No space left on device", errors)

    def test_a_limit_of_size(self):
        """ulimit -f: what would have been SIGXFSZ is a message, and no fragment is left."""
        def limited():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        for command, output in self.commands():
            with self.subTest(command=command, output=output):
                if output and "--trace" not in command:
                    command += ["-o", output]
                before = set(os.listdir(self.directory))
                if output == "made.json":
                    continue  # short
                with open(self.path("out"), "wb") as out:
                    ran = subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL,
                                         stdout=out, stderr=subprocess.PIPE, timeout=LONG,
                                         preexec_fn=limited)
                errors = ran.stderr.decode()
                self.assertEqual((ran.returncode, errors.count("error: ")), (1, 1), errors)
                self.assertIn("File too large", errors)
                self.assertEqual(set(os.listdir(self.directory)) - before - {"out"}, set())

    def test_a_directory_as_input(self):
        for command in ([NESL], [NESL, "run", "-"], [NESLC, "-"], [VINTERP, "-"],
                        [FCODEOPT, "-"]):
            with self.subTest(command=command):
                directory = os.open(self.directory, os.O_RDONLY)
                ran = subprocess.run(command, cwd=self.directory, stdin=directory, timeout=LONG,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                os.close(directory)
                errors = ran.stderr.decode()
                self.assertEqual((ran.returncode, errors.count("error: ")), (1, 1), errors)
                self.assertIn("Is a directory", errors)


def nested(before, middle, after, depth):
    return before * depth + middle + after * depth


class Stacks(StopTest):
    """A stack of 256 KB is enough for all commands, whatever they are given."""

    def run_small(self, *command):
        def small():
            resource.setrlimit(resource.RLIMIT_STACK, (256 << 10, 256 << 10))

        ran = subprocess.run(command, cwd=self.directory, stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=LONG, preexec_fn=small,
                             env={**os.environ, "XDG_CACHE_HOME": self.cache})
        self.assertIn(ran.returncode, (0, 1), (command, ran.stderr[-300:]))
        return ran

    def test_ordinary_work(self):
        for threads in ("1", "3"):
            ran = self.run_small(NESL, "--threads", threads, "-e",
                                 "let a = sort({rand(1.0) : i in index(300000)}); "
                                 "r = rank(a) in (#a, sum(plus_scan({i : i in r | evenp(i)})))")
            self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_deep_nesl(self):
        deep = {"parentheses": nested("(", "1", ")", 100000),
                "braces": nested("{", "x : x in [1]", " : y in [1]}", 100000),
                "sequences": nested("[", "1", "]", 100000),
                "conditions": nested("if true then ", "1", " else 2", 1900),
                "bindings": nested("let a = 1 in ", "a", "", 1900),
                "sums": nested("1 + ", "1", "", 1900), "differences": nested("", "1", " - 1", 1900),
                "brackets": nested("[", "1", "]", 1900), "tuples": nested("(1, ", "1", ")", 1900),
                "calls": nested("(sum([", "1", "]))", 900)}
        for name, text in deep.items():
            self.write(text + ";\n", name + ".nesl")
            for command in ([NESL, "run"], [NESL, "--direct", "run"], [NESLC, "-o", "-"]):
                with self.subTest(name=name, command=command):
                    self.run_small(*command, name + ".nesl")

    def test_deep_vcode(self):
        depth = 4000
        ifs = "FUNC MAIN\nCONST INT 0\n" + nested(
            "CONST BOOL T\nIF\nCONST INT 1\n+ INT\n", "", "ELSE\nCONST INT 2\n+ INT\nENDIF\n",
            depth) + "RET\n"
        pairs = "FUNC MAIN\nCONST INT 0\n" + "CONST INT 1\nPAIR\n" * depth + "RET\n"
        self.write(ifs, "ifs.vcode")
        self.write(pairs, "pairs.vcode")
        calls = "FUNC MAIN\nCONST INT 0\nCALL F0\nRET\n" + "".join(
            f"FUNC F{i}\nCONST INT 1\n+ INT\nCALL F{i + 1}\nRET\n" for i in range(1000)) + (
                "FUNC F1000\nCONST INT 1\n+ INT\nRET\n")
        self.write(calls, "calls.vcode")
        for name in ("ifs.vcode", "pairs.vcode", "calls.vcode"):
            for command in ([VINTERP], [VINTERP, "-O"], [VINTERP, "--checked"],
                            [VINTERP, "--dump"], [FCODEOPT, "-o", "-"]):
                with self.subTest(name=name, command=command):
                    self.run_small(*command, name)

    def test_recursion(self):
        self.write("function g(n) = if n == 0 then 0 else g(n - 1) + 1;\ng(30000);\n", "deep.nesl")
        for command in ([NESL, "run"], [NESL, "--direct", "run"]):
            self.assertEqual(self.run_small(*command, "deep.nesl").returncode, 0)


if __name__ == "__main__":
    FCODEOPT = os.path.abspath(sys.argv.pop())
    VINTERP = os.path.abspath(sys.argv.pop())
    NESLC = os.path.abspath(sys.argv.pop())
    NESL = os.path.abspath(sys.argv.pop())
    unittest.main()
