"""The command vinterp from outside: every option, every sort of bad input.

usage: vinterp_command.py VINTERP [unittest options]
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest
import zipfile

from support import ScratchTest

VINTERP = None
LONG = 300  # seconds: an end for what would never end; any machine is faster

SUM = "FUNC MAIN\nCONST INT (1 2 3)\nCONST SEGDES 3\n+_REDUCE INT\nRET\n"

# Runs for ever in a depth of 60, after it said so.
ENDLESS = """FUNC MAIN
CONST CHAR "ready
"
WRITE CHAR
POP 2 0
CONST INT 60
CALL TWICE
RET
FUNC TWICE
COPY 1 0
CONST INT 0
> INT
IF
  COPY 1 0
  CONST INT 1
  - INT
  CALL TWICE
  CONST INT 1
  - INT
  CALL TWICE
ELSE
  POP 1 0
ENDIF
RET
"""


class Result:
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def waiting_bytes(pipe):
    """How many bytes are in a pipe, not read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def wait_until(condition):
    end = time.monotonic() + LONG
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.001)


class CommandTest(ScratchTest):
    def program(self, text, name="prog.vcode"):
        return self.write(text, name)

    def vinterp(self, *arguments, stdin=b"", **more):
        done = subprocess.run([VINTERP, *arguments], cwd=self.directory, input=stdin,
                              timeout=LONG, capture_output=True, **more)
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def outputs(self, expected, *arguments, **more):
        result = self.vinterp(*arguments, **more)
        self.assertEqual((result.status, result.err), (0, ""), arguments)
        self.assertEqual(result.out, expected, arguments)

    def one_line(self, result, status, *parts):
        """Exit status, one line on standard error with these parts, nothing on standard output."""
        self.assertEqual(result.status, status, result.err)
        self.assertEqual(result.out, "")
        self.assertEqual(result.err.count("\n"), 1, result.err)
        self.assertTrue(result.err.endswith("\n"))
        for part in parts:
            self.assertIn(part, result.err)


class Arguments(CommandTest):
    """What stands behind the program is on its stack, of the kinds that its entry declares."""

    DOT = "FUNC DOT I SEGDES FLOAT SEGDES FLOAT O FLOAT\nCPOP 1 1 POP 1 0\n* FLOAT CPOP 1 1\n" \
          "+_REDUCE FLOAT RET\n"
    MIXED = "FUNC MAIN I SEGDES SEGDES INT BOOL FLOAT INT O SEGDES SEGDES INT BOOL FLOAT INT RET\n"

    def array(self, name, shape, data):
        header = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }" % (shape,)
        header = header.ljust(117) + "\n"
        with open(self.path(name), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                       + struct.pack("<%dd" % len(data), *data))
        return name

    def setUp(self):
        super().setUp()
        self.program(self.DOT, "dot.vcode")
        self.program("1.5\n2\n3\n", "a.csv")
        self.array("b.npy", (3,), (1, 10, 100))

    def test_text_and_files(self):
        for arguments in (["(1.5 2 3)", "(1 10 100)"], ["[3]", "(1.5 2 3)", "[3] (1 10 100)"],
                          ["[ 3 ]( 1.5 2 3 )[ 3 ]( 1 10 100 )"], ["a.csv", "b.npy"],
                          ["b.npy", "(1.5 2 3)"], ["[2 1] (1.5 2 3)", "[1 2] (1 10 100)"]):
            split = arguments[0] == "[2 1] (1.5 2 3)"
            expected = ("( 2.15000000000000e+01 3.00000000000000e+02 )\n" if split
                        else "( 3.21500000000000e+02 )\n")
            for flags in ([], ["-O"], ["--checked"], ["--backend", "cpu", "--threads", "2"]):
                self.outputs(expected, *flags, "dot.vcode", *arguments)

    def test_every_kind(self):
        self.program(self.MIXED, "mixed.vcode")
        values = "[ 2 ]\n[ 2 1 ]\n( 1 -2 3 )\n( T F )\n( 2.50000000000000e+00 )\n( 104 105 )\n"
        self.outputs(values, "mixed.vcode", "[2]", "[2 1]", "(1 -2 3)", "(T F)", "2.5", '"hi"')
        self.outputs(values, "mixed.vcode", values)  # what is printed is taken
        self.program("FUNC MAIN I SEGDES INT BOOL O SEGDES INT BOOL RET", "table.vcode")
        self.program("1,T\n-2,F\n", "table.csv")
        self.outputs("[ 2 ]\n( 1 -2 )\n( T F )\n", "table.vcode", "table.csv")
        self.program("FUNC MAIN I SEGDES SEGDES FLOAT O SEGDES SEGDES FLOAT RET", "matrix.vcode")
        self.array("m.npy", (2, 1), (1, 2))
        self.outputs("[ 2 ]\n[ 1 1 ]\n( 1.00000000000000e+00 2.00000000000000e+00 )\n",
                     "matrix.vcode", "m.npy")

    def test_archives(self):
        with zipfile.ZipFile(self.path("both.npz"), "w") as archive:
            for name in "xy":
                archive.write(self.path(self.array("c.npy", (3,), (1, 10, 100))), f"{name}.npy")
        self.outputs("( 1.01010000000000e+04 )\n", "dot.vcode", "both.npz")
        self.program("FUNC MAIN I SEGDES FLOAT O SEGDES FLOAT RET", "one.vcode")
        self.one_line(self.vinterp("one.vcode", "both.npz"), 1,
                      "both.npz: the file holds a value of the signature ([f[f",
                      "here the program takes SEGDES FLOAT")

    def test_what_does_not_fit(self):
        takes = "here the program takes SEGDES FLOAT SEGDES FLOAT"
        for arguments, parts in (
                ([], ["the program takes 4 values, SEGDES FLOAT SEGDES FLOAT, and there are 0"]),
                (["a.csv"], ["the arguments are 2: give SEGDES FLOAT"]),
                (["a.csv", "b.npy", "1"], ["argument 3, 1", "the program takes nothing more"]),
                (["7"], ["argument 1, 7: this is a scalar", takes]),
                (["(1 x)"], ['expected a number, found "x"', takes]),
                (["(1 2"], ["expected ')', found the end", takes]),
                (['"text"'], ["characters are INTs", takes]),
                ([""], ["there is no value in it", takes]),
                (["[1] [1]"], ["this does not fit", "here the program takes FLOAT SEGDES FLOAT"]),
                (["none.npy"], ["none.npy: error: No such file"]),
                (["m.npy"], ["2 levels of sequences of 1 column", takes])):
            self.array("m.npy", (2, 1), (1, 2))
            self.one_line(self.vinterp("dot.vcode", *arguments), 1, *parts)
        self.program("FUNC MAIN I INT O INT RET", "int.vcode")
        self.one_line(self.vinterp("--classic", "int.vcode", "2147483648"), 1,
                      "2147483648 does not fit an INT of 32 bits")
        self.outputs("( 2147483648 )\n", "int.vcode", "2147483648")
        self.one_line(self.vinterp(self.program(SUM), "1"), 1, "takes nothing more")
        self.one_line(self.vinterp(self.program("FUNC M +  INT RET")), 1, "needs 2 items")

    def test_text_that_is_printed_declares_them_too(self):
        printed = self.vinterp("--dump=vcode", "dot.vcode").out
        self.assertIn("FUNC DOT I SEGDES FLOAT SEGDES FLOAT O FLOAT\n", printed)
        self.outputs("( 3.21500000000000e+02 )\n", self.program(printed), "a.csv", "b.npy")


class Usage(CommandTest):
    def wrong(self, arguments, *parts):
        self.one_line(self.vinterp(*arguments), 2, "vinterp: error: ", *parts)

    def test_help(self):
        result = self.vinterp("--help")
        self.assertEqual((result.status, result.err), (0, ""))
        for name in ("int float classic threads backend device devices seed memory time "
                     "max-depth allow-files allow-spawn check dump profile json progress help "
                     "no-fusion native sop trace "
                     "version").split():
            self.assertIn("--" + name, result.out)

    def test_version(self):
        result = self.vinterp("--version")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertRegex(result.out, r"^vinterp \(Ravel\) \d+\.\d+\.\d+\n$")

    def test_devices(self):
        result = self.vinterp("--devices")
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertIn("cpu: ", result.out)
        self.assertRegex(result.out, r"\nC compiler: [^\n]+\n$")

    def test_no_program(self):
        self.wrong([], "FILE")
        self.wrong([""], "empty")
        self.wrong(["p"] + ["1"] * 1001, "more than 1000 arguments")

    def test_unknown_options(self):
        self.wrong(["--profle", "p"], "--profle", "did you mean --profile?")
        self.wrong(["--alow-files", "p"], "did you mean --allow-files?")
        self.wrong(["--trheads=3", "p"], "--trheads,", "did you mean --threads?")
        self.wrong(["--wibblewobble", "p"], "unknown option --wibblewobble (")
        self.wrong(["-z", "p"], "-z")
        self.one_line(self.vinterp("--", "--check", "p"), 1, "--check: error: No such file")

    def test_values(self):
        self.wrong(["p", "--int"], "--int needs a value")
        self.wrong(["p", "-m"], "-m needs a value")
        self.wrong(["--check=1", "p"], "--check takes no value")
        for option, bad in [("int", "16"), ("int", ""), ("float", "double"), ("threads", "0"),
                            ("threads", "-1"), ("threads", "x"), ("threads", "99999999999999"),
                            ("seed", "1.5"), ("seed", ""), ("device", "-1"), ("memory", "0"),
                            ("memory", "lots"), ("memory", "-5"), ("time", "0"), ("time", "-1"),
                            ("time", "soon"), ("time", "inf"), ("time", "nan"),
                            ("max-depth", "0"), ("dump", "xml")]:
            self.wrong([f"--{option}={bad}", "p"], f"--{option} must be")
        self.wrong(["--backend", "abacus", "p"], "abacus", "--devices")
        self.wrong(["-m", "x", "p"], "-m must be")

    def test_contradictions(self):
        self.wrong(["--json", "p"], "--json", "--profile")
        self.wrong(["--check", "--dump", "p"], "--check", "--dump")


class Options(CommandTest):
    def test_order_and_form(self):
        wrap = self.program("FUNC MAIN\nCONST INT 2147483647\nCONST INT 1\n+ INT\nRET\n")
        self.outputs("( 2147483648 )\n", wrap)
        for arguments in (["--int", "32", wrap], ["--int=32", wrap], [wrap, "--int", "32"],
                          [wrap, "--int=32"], ["--int=64", "--int=32", wrap],
                          ["--classic", wrap], [wrap, "--classic"], ["--int=32", "--", wrap]):
            self.outputs("( -2147483648 )\n", *arguments)
        self.outputs("( 2147483648 )\n", "--classic", "--int", "64", wrap)

    def test_float_width(self):
        tenth = self.program("FUNC MAIN\nCONST FLOAT 0.1\nRET\n")
        self.outputs("( 1.00000000000000e-01 )\n", tenth)
        self.outputs("( 1.00000000000000e-01 )\n", "--classic", tenth)
        self.outputs("( 1.00000001490116e-01 )\n", "--float", "32", tenth)

    def test_options_without_effect_on_results(self):
        sum_ = self.program(SUM)
        for arguments in (["--threads", "1"], ["--threads=3"], ["--backend", "auto"],
                          ["--backend=cpu"], ["--device", "0"], ["--memory", "1G"],
                          ["--time", "30"], ["--max-depth", "100"], ["--allow-files"],
                          ["--allow-spawn"], ["--seed", "-7"], ["--progress"], ["-c"],
                          ["-m", "1000"], ["-m1000"], ["-g"], ["-cg"], ["-cgm", "5"]):
            self.outputs("( 6 )\n", sum_, *arguments)

    def test_seed(self):
        rand = self.program("FUNC MAIN\nCONST INT (1000000 1000000 1000000)\nRAND\nRET\n")
        first = self.vinterp(rand, "--seed", "1").out
        self.assertEqual(self.vinterp(rand, "--seed", "1", "--threads", "1").out, first)
        self.assertNotEqual(self.vinterp(rand, "--seed", "2").out, first)
        self.assertEqual(self.vinterp(rand).out, self.vinterp(rand, "--seed=0").out)

    def test_memory_limit(self):
        big = self.program("FUNC MAIN\nCONST INT 0\nCONST INT 1\nCONST SEGDES 100000000\nINDEX\n"
                           "CONST SEGDES 100000000\n+_REDUCE INT\nRET\n")
        self.one_line(self.vinterp(big, "--memory", "64M"), 1, "prog.vcode:5:")

    def test_memory_limit_while_loading(self):
        long = self.program("FUNC MAIN\n" + "CONST INT 1\nPOP 1 0\n" * 50000 + "RET\n")
        self.outputs("", long)
        self.assertEqual(self.vinterp(long, "--memory", "200K").status, 1)

    def test_time_limit(self):
        endless = self.program(ENDLESS)
        result = self.vinterp(endless, "--time", "0.3")
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertIn("prog.vcode:", result.err)

    def test_depth_limit(self):
        deep = self.program("FUNC MAIN\nCALL MAIN\nCONST INT 1\nRET\n")
        for arguments in ([], ["--max-depth", "10"]):
            result = self.vinterp(deep, *arguments)
            self.assertEqual((result.status, result.out), (1, ""))
            self.assertIn("prog.vcode:2:", result.err)

    def makes_with(self, permission, program, without, allowed):
        """The file `made` is made only with the permission; what is printed without and with it."""
        self.outputs(without, program)
        self.assertFalse(self.exists("made"))
        self.outputs(allowed, program, permission)
        self.assertTrue(self.exists("made"))

    def test_permission_for_files(self):
        write = self.program('FUNC MAIN\nCONST CHAR "made"\nCONST INT 2\nFOPEN\nCPOP 1 1\n'
                             'POP 1 0\nRET\n')
        self.makes_with("--allow-files", write, "( -1 )\n( F )\n", "( 3 )\n( T )\n")

    def test_permission_for_processes(self):
        spawn = self.program('FUNC MAIN\nCONST CHAR "touch made"\nCONST INT STDIN\n'
                             'CONST INT STDOUT\nCONST INT STDERR\nSPAWN\nCPOP 1 1\nPOP 1 0\n'
                             'POP 3 1\nRET\n')
        self.makes_with("--allow-spawn", spawn, "( F )\n", "( T )\n")

    def test_messages_name_the_permission(self):
        text = self.program('FUNC MAIN\nCONST CHAR "f"\nCONST INT 1\nFOPEN\nPOP 1 0\n'
                            'WRITE CHAR\nPOP 3 0\nRET\n')
        self.assertIn("--allow-files", self.vinterp(text).err)

    def test_check(self):
        self.outputs("", "--check", self.program(ENDLESS))
        bad = self.program("FUNC MAIN\nCONST INT 1\nCONST BOOL T\n+ INT\nRET\n", "bad.vcode")
        result = self.vinterp("--check", bad)
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertIn("bad.vcode:4:", result.err)

    def test_dump(self):
        sum_ = self.program(SUM)
        result = self.vinterp("--dump", sum_)
        self.assertEqual((result.status, result.err), (0, ""))
        self.assertIn("MAIN", result.out)
        self.assertEqual(self.vinterp("--dump=ir", sum_).out, result.out)
        listing = self.vinterp("--dump=vcode", sum_)
        self.assertEqual((listing.status, listing.err), (0, ""))
        self.assertEqual(self.vinterp("-", stdin=listing.out.encode()).out, "( 6 )\n")

    def test_profile(self):
        result = self.vinterp("--profile", self.program(SUM))
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"))
        self.assertIn("+_REDUCE INT", result.err)
        self.assertIn("instructions 1, work 5, steps 2\n", result.err)

    def test_profile_as_json(self):
        result = self.vinterp("--profile", "--json", self.program(SUM))
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"))
        profile = json.loads(result.err)
        self.assertEqual([profile[key] for key in ("instructions", "read", "written", "work",
                                                   "steps", "runs")], [1, 4, 1, 5, 2, 1])
        self.assertEqual([(line["opcode"], line["type"], line["calls"])
                          for line in profile["opcodes"]], [("+_REDUCE", "INT", 1)])
        self.assertEqual([(line["name"], line["calls"]) for line in profile["functions"]],
                         [("MAIN", 1)])

    def test_elapsed_time(self):
        result = self.vinterp("-t", self.program(SUM))
        self.assertEqual((result.status, result.out), (0, "( 6 )\n"))
        self.assertRegex(result.err, r"^elapsed time = \d+\.\d+ seconds\n$")

    def test_progress_on_a_terminal(self):
        """Shown until the run is interrupted, then erased."""
        ours, theirs = pty.openpty()
        child = subprocess.Popen([VINTERP, "--progress", self.program(ENDLESS)],
                                 cwd=self.directory, stdout=subprocess.DEVNULL, stderr=theirs,
                                 stdin=subprocess.DEVNULL)
        self.addCleanup(child.kill)
        os.close(theirs)
        self.addCleanup(os.close, ours)
        shown = self.shown_until(ours, r"\r\x1b\[K\d+\.\d s  TWICE  live .*  peak ")
        child.send_signal(signal.SIGINT)
        shown += self.shown_until(ours, "interrupted")
        self.assertEqual(child.wait(timeout=LONG), 130)
        self.assertRegex(shown, r"peak [^\n]*\r\x1b\[K[^\r]*prog\.vcode:")

    def shown_until(self, terminal, pattern):
        """What is read until it contains this."""
        shown, end = "", time.monotonic() + LONG
        while not re.search(pattern, shown) and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536).decode()
        self.assertRegex(shown, pattern)
        return shown


class Files(CommandTest):
    def test_missing(self):
        self.one_line(self.vinterp("missing.vcode"), 1,
                      "missing.vcode: error: No such file or directory")

    def test_directory(self):
        os.mkdir(self.path("dir"))
        self.one_line(self.vinterp("dir"), 1, "dir: error: Is a directory")

    @unittest.skipIf(os.geteuid() == 0, "everything is readable for root")
    def test_unreadable(self):
        os.chmod(self.path(self.program(SUM)), 0)
        self.one_line(self.vinterp("prog.vcode"), 1, "prog.vcode: error: Permission denied")

    def test_empty(self):
        self.one_line(self.vinterp(self.program("")), 1, "prog.vcode:1:")
        self.one_line(self.vinterp(self.program(" \n{ nothing }\n")), 1, "prog.vcode:")

    def test_binary(self):
        for number, text in enumerate([b"\x7fELF\x02\x01\x01" + bytes(200), bytes(1000),
                                       bytes(range(256)) * 20, SUM.encode() + b"\0\0\0",
                                       b"\xff\xfe" + SUM.encode("utf-16-le")]):
            with self.subTest(number=number):
                self.one_line(self.vinterp(self.program(text)), 1, "prog.vcode:", "binary")

    def test_truncated(self):
        whole = ENDLESS
        for end in (whole.index("CONST CHAR") + 15, whole.index("IF\n") + 3,
                    whole.index("FUNC TWICE") + 7, whole.rindex("RET")):
            with self.subTest(end=whole[:end][-12:]):
                self.one_line(self.vinterp(self.program(whole[:end])), 1, "prog.vcode:")

    def test_standard_input(self):
        read = b"FUNC MAIN\nREAD INT\nPOP 1 1\nRET\n"
        self.outputs("( )\n( F )\n", "-", stdin=read)
        self.outputs("( 7 )\n( T )\n", self.program(read), stdin=b"(7)")
        self.one_line(self.vinterp("-"), 1, "-:1:")

    def test_named_pipe(self):
        os.mkfifo(self.path("pipe"))
        child = subprocess.Popen([VINTERP, "pipe"], cwd=self.directory,
                                 stdout=subprocess.PIPE)
        with open(self.path("pipe"), "w") as pipe:
            pipe.write(SUM)
        self.assertEqual(child.communicate(timeout=LONG)[0], b"( 6 )\n")

    def test_run_time_error(self):
        result = self.vinterp(self.program("FUNC MAIN\nCONST INT 3\nCONST INT 1\nCONST INT 0\n"
                                           "/ INT\nRET\n"))
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertRegex(result.err, r"^prog\.vcode:5:1: error: ")

    def test_at_most_twenty_errors(self):
        result = self.vinterp(self.program("FUNC MAIN\n" + "CALL NOWHERE\n" * 100 + "RET\n"))
        self.assertEqual((result.status, result.out), (1, ""))
        self.assertLessEqual(result.err.count("error: "), 21)


class Streams(CommandTest):
    def with_output(self, stdout, *arguments):
        done = subprocess.run([VINTERP, *arguments], cwd=self.directory, stdout=stdout,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=LONG)
        return Result(done.returncode, "", done.stderr.decode())

    def test_full_disk(self):
        sum_ = self.program(SUM)
        for arguments in ([sum_], ["--help"], ["--version"], ["--devices"], ["--dump", sum_],
                          ["--dump=vcode", sum_]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                self.one_line(self.with_output(full, *arguments), 1, "No space left on device")

    def test_no_reader(self):
        """The time is over, or an interrupt comes, while results wait for their reader."""
        program = self.program(
            "FUNC MAIN\nCONST INT 0\nCONST INT 1\nCONST SEGDES 100000\nINDEX\nRET\n")
        for time_limit, status in (("0.2", 1), ("1000", 130)):
            child = subprocess.Popen([VINTERP, "--time", time_limit, program],
                                     cwd=self.directory, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.addCleanup(child.kill)
            wait_until(lambda: waiting_bytes(child.stdout) >= 4096)
            if status == 130:
                child.send_signal(signal.SIGINT)
            self.assertEqual(child.wait(timeout=LONG), status)
            err = child.stderr.read().decode()
            child.stdout.close()
            child.stderr.close()
            self.assertEqual(err.count("error: "), 1, err)
            self.assertRegex(err, "the time limit of 0.2 seconds is over|interrupted")

    def test_closed_pipe(self):
        sum_ = self.program(SUM)
        for arguments in ([sum_], ["--help"]):
            ours, theirs = os.pipe()
            os.close(ours)
            self.one_line(self.with_output(theirs, *arguments), 1, "Broken pipe")
            os.close(theirs)

    def test_closed_standard_streams(self):
        self.program(SUM)
        run = f"cd {self.directory} && exec {VINTERP} prog.vcode"
        closed = subprocess.run(["sh", "-c", run + " >&-"], stderr=subprocess.PIPE)
        self.one_line(Result(closed.returncode, "", closed.stderr.decode()), 1,
                      "Bad file descriptor")
        closed = subprocess.run(["sh", "-c", run + " <&- 2>&-"], stdout=subprocess.PIPE)
        self.assertEqual((closed.returncode, closed.stdout), (0, b"( 6 )\n"))

    def test_program_that_closes_its_output(self):
        self.outputs("", self.program("FUNC MAIN\nCONST INT STDOUT\nFCLOSE\nRET\n"))

    def test_output_of_programs_is_in_order(self):
        result = subprocess.run([VINTERP, self.program(
            "FUNC MAIN\nCONST INT 1\nCONST INT STDOUT\nFWRITE INT\nPOP 2 0\nCONST INT 2\n"
            "WRITE INT\nPOP 2 0\nCONST INT 3\nRET\n")], cwd=self.directory,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        self.assertEqual(result.stdout, b"( 1 )\n( 2 )\n( 3 )\n")


class Misuse(CommandTest):
    """I/O instructions that are wrong in themselves: errors, not statuses."""

    def wrong(self, line, code, *parts):
        result = self.vinterp("--allow-files", "--allow-spawn",
                              self.program("FUNC MAIN\n" + code + "RET\n"))
        self.assertEqual((result.status, result.out), (1, ""), code)
        for part in (f"prog.vcode:{line}:1: error: ", *parts):
            self.assertIn(part, result.err)

    def test_modes_of_files(self):
        for mode in ("0", "4", "-1", "(1 2)", "()"):
            self.wrong(4, f'CONST CHAR "f"\nCONST INT {mode}\nFOPEN\n', "FOPEN: ")
        self.assertFalse(os.path.exists(self.path("f")))

    def test_streams_that_are_no_scalars(self):
        for stream in ("(1 2)", "()"):
            self.wrong(3, f"CONST INT {stream}\nFCLOSE\n", "FCLOSE: ")
            self.wrong(3, f"CONST INT {stream}\nFREAD BOOL\n", "FREAD BOOL: ")
            self.wrong(4, f"CONST INT 1\nCONST INT {stream}\nFWRITE INT\n", "FWRITE INT: ")
            self.wrong(5, f"CONST INT ()\nCONST INT 1\nCONST INT {stream}\nFREAD_CHAR\n")
            self.wrong(5, f"CONST INT ()\nCONST INT {stream}\nCONST INT 0\nFREAD_CHAR\n")
            self.wrong(6, f'CONST CHAR "true"\nCONST INT 0\nCONST INT {stream}\nCONST INT 2\n'
                          "SPAWN\n", "SPAWN: ")

    def test_characters(self):
        for bad in ("256", "-1"):
            self.wrong(5, f"CONST INT (10 {bad})\nCONST INT 1\nCONST INT 0\nFREAD_CHAR\n",
                       "FREAD_CHAR: ", bad, "position 1")
            self.wrong(4, f"CONST INT (65 65 {bad})\nCONST INT 1\nFOPEN\n", bad, "position 2")
            self.wrong(6, f"CONST INT ({bad})\nCONST INT 0\nCONST INT 1\nCONST INT 2\nSPAWN\n",
                       bad, "position 0")


class Interrupt(CommandTest):
    def start(self, text):
        child = subprocess.Popen([VINTERP, self.program(text)], cwd=self.directory,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        self.assertEqual(child.stderr.readline(), b"ready\n")
        return child

    def interrupted(self, child):
        child.wait(timeout=LONG)
        out, err = child.stdout.read(), child.stderr.read().decode()
        for pipe in (child.stdin, child.stdout, child.stderr):
            pipe.close()
        self.assertEqual((child.returncode, out), (130, b""))
        return err

    def test_while_computing(self):
        child = self.start(ENDLESS)
        child.send_signal(signal.SIGINT)
        self.assertIn("interrupt", self.interrupted(child))

    def test_while_reading(self):
        child = self.start('FUNC MAIN\nCONST CHAR "ready\n"\nWRITE CHAR\nPOP 2 0\nREAD INT\n'
                           "POP 2 0\nRET\n")
        child.send_signal(signal.SIGINT)
        self.assertIn("interrupt", self.interrupted(child))

    def test_twice(self):
        child = self.start(ENDLESS)
        for _ in range(2):
            child.send_signal(signal.SIGINT)
        self.interrupted(child)


if __name__ == "__main__":
    VINTERP = os.path.abspath(sys.argv.pop(1))
    unittest.main()
