"""What a program may not do: every route to a file or a process (docs/security.md), with and
without permission; files that are written whole or not at all.

usage: security.py NESL NESLC VINTERP FCODEOPT [unittest options]
"""

import fcntl
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import termios
import threading
import time
import unittest

from support import ScratchTest

NESL = NESLC = VINTERP = FCODEOPT = None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = 100  # seconds: an end for what would never end

SECRET = "secret:$6$line-of-another-file:0:0\n"

# Programs that read the file `there`, or a form of it, and what the directory must have for it.
NESL_READS = {
    "open_in_file": 'let (st, ok, why) = open_in_file("there") in (ok, why);',
    "read_string_from_file": 'read_string_from_file("there");',
    "read_int_seq_from_file": 'read_int_seq_from_file("there");',
    "read_float_seq_from_file": 'read_float_seq_from_file("there");',
    "read_object_from_file": 'read_object_from_file(1, "there");',
    "grep": 'grep("secret", "there");',
    "read_npy": 'read_npy([] int, "there");',
    "read_csv": 'read_csv([] [char], "there");',
    "read_npz": 'read_npz([] int, "there");',
    "csv_names": 'csv_names("there");',
    "read_csv with options": 'read_csv([] [char], "there", separator := `;);',
    "read_csv with options, of the type of the file": 'read_csv("there", separator := `;);',
    "read_npz of the type of the file": 'read_npz("there");',
    "read_npy of the type of the file": 'read_npy("there");',
    "read_csv of the type of the file": 'read_csv("there");',
    "load": 'load "../outside";',
    "load, computed": 'load "../out" ++ take("side...", 4);',
}
# Programs that write the file `made`.
NESL_WRITES = {
    "open_out_file": 'let (st, ok, why) = open_out_file("made") in why;',
    "open_append_file": 'let (st, ok, why) = open_append_file("made") in why;',
    "write_string_to_file": 'write_string_to_file("text", "made");',
    "append_string_to_file": 'append_string_to_file("text", "made");',
    "write_object_to_file": 'write_object_to_file([1, 2], "made");',
    "plot_to": 'plot_to("made", "", [("dots", [(1.0, 2.0)])]);',
    "write_npy": 'write_npy([1, 2], "made");',
    "write_npz": 'write_npz([1, 2], "made");',
    "write_csv": 'write_csv([1, 2], "made");',
    "write_csv with options": 'write_csv([1, 2], "made", separator := `;);',
    "dump": 'dump vcode "made" 1 + 2;',
}
# Programs that start a process, which makes the file `made`.
NESL_PROCESSES = {
    "spawn": 'let ((i, o, e), ok, why) = spawn("touch made", nullstr, nullstr, stderr) in why;',
    "shell_command": 'shell_command("touch made", "");',
    "get_environment_variable": 'get_environment_variable("HOME; touch made");',
    "shell": 'shell "touch made";',
    "edit": 'edit "made";',
}
FILE_MODES = {1: "there", 2: "made", 3: "made", 32: "made"}
ARRAY_MODES = {11: "[i:there", 12: "[i:made", 21: "[i:there", 22: "[i:made"}


def fopen(name, mode):
    """A VCODE program that opens a file and leaves whether it could."""
    return (f'FUNC MAIN\nCONST CHAR "{name}"\nCONST INT {mode}\nFOPEN\nCPOP 1 1\nPOP 1 0\n'
            "CPOP 1 1\nPOP 1 0\nRET\n")


class SecurityTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.home = self.path("home")
        self.directory = self.path("work")
        os.mkdir(self.home)
        os.mkdir(self.directory)
        self.environment = {**os.environ, "HOME": self.home, "EDITOR": "touch"}
        self.environment.pop("XDG_CACHE_HOME", None)
        self.file(SECRET, "there")
        self.file(SECRET, "../outside.nesl")

    def file(self, text, name="prog.nesl"):
        return self.write(text, name)

    def remove(self, name):
        if self.exists(name):
            os.remove(self.path(name))

    def run_command(self, *command, stdin="", before=None):
        if os.path.basename(command[0]).startswith(("nesl", "vinterp")) and command[0] != NESLC:
            command = (command[0], "--backend", "cpu", *command[1:])
        return subprocess.run(command, cwd=self.directory, input=stdin, timeout=LONG,
                              env=self.environment, preexec_fn=before, capture_output=True,
                              text=True, errors="replace", check=False)

    def run_program(self, text, *flags, command="run"):
        return self.run_command(NESL, *flags, command, self.file(text))

    def snapshot(self):
        """All names and contents, and what the user's directory has but for the cache, in which
        slow programs leave something."""
        found = {name: self.text(name) for name in os.listdir(self.directory)
                 if os.path.isfile(self.path(name))}
        return found, sorted(set(os.listdir(self.home)) - {".cache"})


class Routes(SecurityTest):
    def test_reading(self):
        for route, text in NESL_READS.items():
            with self.subTest(route=route):
                refused = self.run_program(text)
                shown = refused.stdout + refused.stderr
                self.assertIn("--allow-files", shown)
                self.assertNotIn("$6$", shown)
                allowed = self.run_program(text, "--allow-files")
                self.assertNotIn("--allow-files", allowed.stdout + allowed.stderr)

    def test_writing(self):
        for route, text in NESL_WRITES.items():
            with self.subTest(route=route):
                self.remove("made")
                refused = self.run_program(text)
                self.assertIn("--allow-files", refused.stdout + refused.stderr)
                self.assertFalse(self.exists("made"))
                allowed = self.run_program(text, "--allow-files")
                self.assertEqual(allowed.returncode, 0, allowed.stderr)
                self.assertTrue(self.exists("made"))

    def test_processes(self):
        for route, text in NESL_PROCESSES.items():
            with self.subTest(route=route):
                self.remove("made")
                for flags in ([], ["--allow-files"]):
                    refused = self.run_program(text, *flags)
                    self.assertIn("--allow-spawn", refused.stdout + refused.stderr)
                    self.assertFalse(self.exists("made"))
                allowed = self.run_program(text, "--allow-spawn")
                self.assertEqual(allowed.returncode, 0, allowed.stderr)
                self.assertEqual(self.exists("made"), "environment" not in route)

    def test_vcode(self):
        for mode, name in {**FILE_MODES, **ARRAY_MODES}.items():
            with self.subTest(mode=mode):
                self.remove("made")
                program = self.file(fopen(name, mode), "prog.vcode")
                self.assertEqual(self.run_command(VINTERP, program).stdout, "( F )\n")
                self.assertFalse(self.exists("made"))
                ran = self.run_command(VINTERP, "--allow-files", program)
                if name in ("there", "made"):
                    self.assertEqual(ran.stdout, "( T )\n")

    def test_compiled_programs(self):
        for route in ("write_npy", "write_string_to_file", "shell_command"):
            with self.subTest(route=route):
                self.remove("made")
                self.file({**NESL_WRITES, **NESL_PROCESSES}[route])
                self.assertEqual(self.run_command(NESLC, "prog.nesl").returncode, 0)
                self.run_command(VINTERP, "prog.vcode")
                self.assertFalse(self.exists("made"))
                self.run_command(VINTERP, "--allow-files", "--allow-spawn", "prog.vcode")
                self.assertTrue(self.exists("made"))

    def test_compiling_and_checking_have_no_effects(self):
        effects = {**NESL_READS, **NESL_WRITES, **NESL_PROCESSES,
                   "print": 'print_line("printed");', "computed load": 'load print("there");'}
        for route, text in effects.items():
            with self.subTest(route=route):
                self.file(text)
                before = self.snapshot()
                checked = self.run_command(NESL, "--allow-files", "--allow-spawn", "check",
                                           "prog.nesl")
                self.assertEqual(self.snapshot(), before)
                self.assertNotIn("printed", checked.stdout + checked.stderr)
        self.file('dump vcode "made" 1 + 2; shell "touch made"; 1;')
        ran = self.run_command(NESLC, "prog.nesl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertFalse(self.exists("made"))
        self.assertEqual(self.run_command(NESL, "check", "prog.nesl").returncode, 0)
        self.assertEqual(self.run_command(NESL, "check", self.file("shell 3;")).returncode, 1)
        before = self.snapshot()
        self.run_command(NESL, "--native", "check", self.file("1;"))
        self.assertEqual(self.snapshot()[1], before[1])

    def test_what_is_not_permitted_looks_the_same_whether_it_exists_or_not(self):
        there = self.run_program('load "../outside";')
        nothing = self.run_program('load "../outsidf";')
        self.assertEqual(there.returncode, 1)
        self.assertEqual(there.stderr.replace("outside", "outsidf"), nothing.stderr)

    def test_loading_sources(self):
        os.makedirs(self.path("lib/sub"))
        os.symlink("../../outside.nesl", self.path("lib/link.nesl"))
        os.symlink("../there", self.path("lib/there.nesl"))
        self.file("x = 7;", "lib/seven.nesl")
        self.file("x = 8;", "lib/sub/eight.nesl")
        self.file("x = 9;", "nine.nesl")
        for name, fine in {"lib/seven": True, "lib/sub/eight.nesl": True, "nine": True,
                           "lib/../nine": True, "lib/link": False, "lib/there": False,
                           "../outside": False, "/proc/self/environ": False}.items():
            with self.subTest(name=name):
                ran = self.run_program(f'load "{name}";')
                self.assertEqual(ran.returncode == 0, fine, ran.stderr)
                self.assertNotIn("$6$", ran.stdout + ran.stderr)
        # beside the program, wherever the user is
        self.file('load "' + self.path("lib/seven") + '"; x;', "lib/prog.nesl")
        ran = subprocess.run([NESL, "--echo", "run", self.path("lib/prog.nesl")], cwd="/", timeout=LONG,
                             capture_output=True, text=True, check=False)
        self.assertEqual(ran.stdout, "\nx = 7 : int\n\nit = 7 : int\n")

    def test_what_the_user_typed_is_permitted(self):
        self.file("x = 7;", "../seven.nesl")
        ran = self.run_command(NESL, "-e", 'load "../seven"; dump vcode "made" x;')
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(self.exists("made"))
        # what a program computes was not typed, nor what comes through a pipe
        self.file('function where(x) = "../seven";')
        ran = self.run_command(NESL, "-e", "load where(1);", "prog.nesl")
        self.assertIn("--allow-files", ran.stderr)
        self.remove("made")
        for text in ('load "../seven";', 'dump vcode "made" 1;'):
            ran = self.run_command(NESL, stdin=text)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("--allow-files", ran.stderr)
        self.assertFalse(self.exists("made"))
        # permission does not pass to the files that are loaded
        self.file('dump vcode "made" 1;', "../seven.nesl")
        ran = self.run_command(NESL, "-e", 'load "../seven";')
        self.assertIn("--allow-files", ran.stderr)
        self.assertFalse(self.exists("made"))

    def test_files_named_on_the_command_line_are_permitted(self):
        self.file("FUNC MAIN\nCONST INT (1 2 3)\nCONST INT 2\nRET\n", "p.vcode")
        self.file("[1, 2];")
        self.file("function more(n) : int -> int = n + 1;", "f.nesl")
        for made, command in {
                "o.npy": [NESL, "-e", "[1, 2]", "-o", "o.npy"],
                "t.json": [NESL, "-e", "[1, 2]", "--repeat", "1", "--times", "t.json"],
                "o.vcode": [NESLC, "prog.nesl", "-o", "o.vcode"],
                "o.fcode": [FCODEOPT, "p.vcode", "-o", "o.fcode"],
                "o.h": [NESLC, "f.nesl", "--library", "o", "--entry", "more"],
                "o.c": [FCODEOPT, "p.vcode", "--emit-cpu", "o.c"],
                "o.cu": [FCODEOPT, "p.vcode", "--emit-cuda", "o.cu"],
                "trace.json": [VINTERP, "--trace", "trace.json", "p.vcode"]}.items():
            with self.subTest(made=made):
                ran = self.run_command(*command)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertTrue(self.exists(made))

    def test_the_users_directory_is_left_alone(self):
        self.run_command(NESL, "-e", "1")
        self.run_command(NESL, stdin="1;")
        self.assertEqual(os.listdir(self.home), [])


class Layer(unittest.TestCase):
    # Source files that open names of neither a user nor a program, or that docs/security.md lists.
    KNOWN = {"base/cache.c", "base/permissions.c", "base/replace.c", "base/temporaries.c",
             "base/groups.c",             # /proc, /sys: limits of control groups
             "base/spill.c",              # a file without a name, in TMPDIR
             "commands/source.c",         # readdir, for "did you mean"
             "commands/output.c",         # mkdir of the cache
             "commands/library-kernels.c",  # what the compiler has made
             "commands/nesl-cost.c", "commands/vinterp.c", "commands/process.c",  # /dev/null
             "commands/nesl-lines.c",     # folders, for Tab
             "commands/tune.c",           # /dev/null
             "cvl/plugin.c",              # back ends
             "libravel/context.c",        # /dev/null for what programs print
             "neslc/library/print-library.c",  # makes a page of docs/
             "vinterp/machine/evaluate.c", "vinterp/io/spawn.c",  # /dev/null
             "vinterp/io/results.c",      # tmpfile
             "cvl-cpu/device.c", "cvl-cpu/compile/compiler.c",  # /proc, what the compiler has made
             "cvl-cpu/compile/load.c",    # the cache
             "cvl-cpu/compile/ahead.c",   # /proc, the file of --kernels
             "cvl-cpu/compile/child.c"}   # the compiler
    CALLS = re.compile(r"\b(fopen|fopen64|freopen|open|openat|creat|opendir|scandir|mkstemp\w*|mkostemp\w*|"
                       r"mkdtemp|tmpfile|popen|system|fork|vfork|posix_spawnp?|exec[lv]p?e?|dlopen|"
                       r"rename|unlink|mkdir|mkfifo|symlink|link|truncate)\(")

    def test_nothing_else_opens_files_or_starts_processes(self):
        found = set()
        for room in ("base", "tables", "arrays", "vcode", "ir", "fcode-opt", "fused-kernels", "cvl",
                     "cvl-cpu", "neslc", "vinterp", "libravel", "commands"):
            for path in sorted(pathlib.Path(ROOT, room).rglob("*.[ch]")):
                name = str(path.relative_to(ROOT))
                if f"{room}/tests/" in name or name.startswith(("cvl/suite/", "cvl/oracle/")):
                    continue
                text = re.sub(r"/\*.*?\*/|'(\\.|[^'\\])'" r'|"(\\.|[^"\\])*"', "",
                              path.read_text("utf-8"), flags=re.DOTALL)
                for call in self.CALLS.finditer(text):
                    before = text[:call.start()].rstrip(" *")
                    method = before.endswith(("->", ".")) or before.endswith(("bool", "void"))
                    if not method and (name, call[1]) != ("vinterp/machine/code.c", "open"):
                        found.add(name)
        self.assertEqual(found - self.KNOWN, set())
        self.assertEqual(self.KNOWN - found, set())


class WholeOrNotAtAll(SecurityTest):
    MOST = 8192  # bytes of a file, instead of a full disk

    def limit(self):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.MOST, self.MOST))

    # The file that each writes; all are longer than the limit.
    def writers(self):
        numbers = "[0:5000]"
        program = "".join(f"FUNC F{i}\nCONST INT ({' '.join(map(str, range(i, i + 200)))})\nRET\n"
                          for i in range(20))
        functions = "".join(f"function f{i}(x) = if x > 9 then f{i}(x - 1) else 1;\n"
                            for i in range(300))
        calls = ", ".join(f"f{i}({i})" for i in range(300))
        self.file(program + "FUNC MAIN\n" + "".join(f"CALL F{i}\n" for i in range(20)) + "RET\n",
                  "p.vcode")
        self.file(functions + "sum([" + calls + "]);", "large.nesl")
        self.file(functions + f'dump vcode "made" [{calls}];', "dump.nesl")
        self.file("FUNC MAIN\n" + "CONST INT 1\n" + "CONST INT 1\n+ INT\n" * 200 + "RET\n", "t.vcode")
        allowed = [NESL, "--allow-files", "-e"]
        return {
            "write_npy": [*allowed, f'write_npy({numbers}, "made")'],
            "write_npz": [*allowed, f'write_npz(({numbers}, 1), "made")'],
            "write_csv": [*allowed, f'write_csv({numbers}, "made")'],
            "plot_to": [*allowed, 'plot_to("made", "", [("dots", {(float(i), 1.0) : i in '
                        + numbers + "})])"],
            "write_object_to_file": [*allowed, f'write_object_to_file({numbers}, "made")'],
            "write_string_to_file": [*allowed, f'write_string_to_file(@{numbers}, "made")'],
            "dump": [NESL, "--allow-files", "run", "dump.nesl"],
            "-o of nesl": [NESL, "-e", numbers, "-o", "made.npy"],
            "-o of nesl, archives": [NESL, "-e", numbers, "-o", "made.npz"],
            "-o of nesl, CSV": [NESL, "-e", numbers, "-o", "made.csv"],
            "--times": [NESL, "-e", "1", "--repeat", "2000", "--times", "made"],
            "-o of neslc": [NESLC, "large.nesl", "-o", "made"],
            "-o of fcodeopt": [FCODEOPT, "--inline", "0", "p.vcode", "-o", "made"],
            "--trace": [VINTERP, "--trace", "made", "t.vcode"],
        }

    def test_a_full_disk_leaves_what_was_there(self):
        for route, command in self.writers().items():
            with self.subTest(route=route):
                made = next((c for c in command if c.startswith("made.")), "made")
                for name in ("made", "made.npy", "made.npz", "made.csv"):
                    self.file("old", name)
                before = self.snapshot()
                ran = self.run_command(*command, before=self.limit)
                shown = (ran.stdout + ran.stderr)[-1000:]
                self.assertIn("File too large", shown)
                if "_to" not in route:  # these print what the stream said
                    self.assertIn(f"{made}: ", shown)
                    self.assertEqual(ran.returncode, 1, shown)
                self.assertEqual(self.snapshot(), before)
                ran = self.run_command(*command)
                self.assertEqual(ran.returncode, 0, ran.stderr)
                self.assertGreater(os.path.getsize(self.path(made)), self.MOST)
                self.remove(made)
                self.assertEqual({**before[0], made: ""}, {**self.snapshot()[0], made: ""})

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_devices_are_written_directly(self):
        for text in ('write_npy([1, 2], "/dev/full")', 'write_npz([1, 2], "/dev/full")',
                     'write_csv([1, 2], "/dev/full")',
                     'write_string_to_file("text", "/dev/full")'):
            ran = self.run_command(NESL, "--allow-files", "-e", text)
            self.assertIn("No space left on device", ran.stdout + ran.stderr)
        ran = self.run_command(NESL, "-e", 'dump vcode "/dev/full" 1')
        self.assertIn("/dev/full: error: No space left on device", ran.stderr)
        ran = self.run_command(NESL, "-e", 'dump vcode "/dev/stdout" 1')
        self.assertIn("FUNC", ran.stdout)

    def test_a_pipe_that_nobody_reads_is_left_by_an_interrupt(self):
        os.mkfifo(self.path("pipe.npy"))
        reader = os.open(self.path("pipe.npy"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        ran = subprocess.Popen([NESL, "--backend", "cpu", "-e", "[0:1000000]", "-o", "pipe.npy"],
                               cwd=self.directory, stderr=subprocess.DEVNULL)
        self.addCleanup(ran.kill)
        end = time.monotonic() + LONG
        waiting = 0
        while waiting < 65536:  # what a pipe holds
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(ran.poll())
            waiting = int.from_bytes(fcntl.ioctl(reader, termios.FIONREAD, bytes(4)),
                                     sys.byteorder)
        ran.send_signal(signal.SIGINT)
        self.assertNotEqual(ran.wait(LONG), 0)

    def test_signals_remove_what_is_half_written(self):
        # Writes, and waits for input with the file open.
        program = self.file('FUNC MAIN\nCONST CHAR "made"\nCONST INT 32\nFOPEN\nPOP 2 0\n'
                            'CONST CHAR "new"\nCOPY 1 1\nFWRITE CHAR\nPOP 2 0\nREAD INT\nPOP 3 0\n'
                            "FCLOSE\nPOP 2 0\nRET\n", "prog.vcode")
        self.file("old", "made")
        names = sorted(os.listdir(self.directory))
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            with self.subTest(signal=number):
                ran = subprocess.Popen([VINTERP, "--backend", "cpu", "--allow-files", program],
                                       cwd=self.directory, stdin=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, env=self.environment)
                end = time.monotonic() + LONG
                while sorted(os.listdir(self.directory)) == names:
                    self.assertLess(time.monotonic(), end)
                    self.assertIsNone(ran.poll())
                    time.sleep(0.001)
                ran.send_signal(number)
                ran.wait(LONG)
                ran.stdin.close()
                self.assertNotEqual(ran.returncode, 0)
                self.assertEqual(sorted(os.listdir(self.directory)), names)
                self.assertEqual(self.text("made"), "old")
        ran = self.run_command(VINTERP, "--allow-files", program, stdin="(1)")
        self.assertEqual((ran.returncode, self.text("made")), (0, "new"), ran.stderr)


class Memory(SecurityTest):
    """--memory covers all that grows with what is read. Each input here never ends; there is room
    for the sanitizers, which need much memory of their own."""
    MOST = 1 << 30  # bytes

    def limited(self, *command, source=None, status=1):
        """Runs a command with the output of `source` as its standard input; its output."""
        feed = subprocess.Popen(source or ["true"], stdout=subprocess.PIPE)
        with open(self.path("output"), "w+", encoding="latin-1") as output:
            ran = subprocess.Popen(command, cwd=self.directory, stdin=feed.stdout, stdout=output,
                                   stderr=output, env=self.environment)
            feed.stdout.close()
            watch = threading.Timer(LONG, ran.kill)
            watch.start()
            _, ended, used = os.wait4(ran.pid, 0)
            ran.returncode = os.waitstatus_to_exitcode(ended)
            watch.cancel()
            feed.kill()
            feed.wait()
            output.seek(0)
            text = output.read(10000)
        self.assertEqual(ran.returncode, status, text)
        self.assertLess(used.ru_maxrss * 1024, self.MOST)
        return text

    def test_texts(self):
        for command in ([NESL, "run"], [NESL, "check"], [NESL, "test"], [NESLC], [VINTERP],
                        [FCODEOPT]):
            with self.subTest(command=command):
                self.limited(*command, "/dev/zero")
                text = self.limited(*command, "--memory", "32M", "-", source=["yes", "(1 + "])
                self.assertIn("-: error: out of memory: ", text)
                self.assertEqual(text.count("\n"), 1)
        self.limited(NESL, source=["cat", "/dev/zero"])
        self.limited(NESL, "--memory", "32M", source=["sh", "-c", "yes | tr -d '\\n'"])

    def test_a_session_forgets_what_was_wrong(self):
        text = self.limited(NESL, "--memory", "8M",
                            source=["sh", "-c", "yes '(1 + ' | head -n 8000"])
        self.assertIn("nested more than 2000 deep", text)
        self.assertNotIn("out of memory", text)

    def test_programs(self):
        self.file("".join(f"function f{i}(x) = {{x + y * {i} : y in [1, 2, {i}]}};\n"
                          for i in range(20000)) + "1;\n")
        self.file("FUNC MAIN\nCONST INT 1\n" + "CONST INT 1\n+ INT\n" * 100000 + "RET\n",
                  "p.vcode")
        for command in ([NESL, "check", "prog.nesl"], [NESLC, "prog.nesl"],
                        [VINTERP, "--check", "p.vcode"], [FCODEOPT, "p.vcode"]):
            with self.subTest(command=command):
                self.assertIn("out of memory", self.limited(*command, "--memory", "16M"))

    def test_arrays(self):
        os.mkfifo(self.path("endless.csv"))
        writers = [subprocess.Popen(["sh", "-c", "exec yes 1 > endless.csv"], cwd=self.directory)]
        self.file("function total(v) = sum(v) + 0;\n")
        try:
            for arguments in (["-e", 'sum(read_csv([] int, "endless.csv"))'],
                              ["-e", 'read_csv("endless.csv")'],
                              ["run", "prog.nesl", "--entry", "total", "endless.csv"]):
                with self.subTest(arguments=arguments):
                    text = self.limited(NESL, "--allow-files", "--memory", "32M", *arguments)
                    self.assertIn("out of memory", text)
                    writers.append(subprocess.Popen(["sh", "-c", "exec yes 1 > endless.csv"],
                                                    cwd=self.directory))
        finally:
            for writer in writers:
                writer.kill()
                writer.wait()
        for sample in ("", "[] int, "):
            text = self.limited(NESL, "--allow-files", "-e", f'read_npy({sample}"/dev/zero")')
            self.assertIn("not a numpy file", text)

    def test_what_programs_read_and_print(self):
        for expression in ("read_line(stdin)", "#read_check(read_int_seq(stdin))"):
            source = ["sh", "-c", "printf '('; yes 1 | tr '\\n' ' '"]
            text = self.limited(NESL, "--memory", "32M", "-e", expression, source=source)
            self.assertIn("out of memory", text)
        self.file("function p(n) = if n == 0 then t\n"
                  "  else let done = print_string({`a : i in [0:100000]}) in p(n - 1);\n"
                  "p(500);\np(1);\n")
        text = self.limited(NESL, "--memory", "32M", "--outcomes", "prog.nesl", status=0)
        self.assertIn("\nerror limit\nout ", text)


if __name__ == "__main__":
    NESL, NESLC, VINTERP, FCODEOPT = map(os.path.abspath, sys.argv[1:5])
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
