"""Arguments and results of `nesl run --entry` in files: what is too large for memory goes from file to
file in chunks, with the same bytes; and whatever fails leaves no file.

usage: stream_command.py NESL [--large] [unittest options]

--large: a NumPy file of 8 GB and a CSV file of 3 GB in 500 MB, too, where the disk has room."""

import array
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
import unittest

from support import ScratchTest

NESL = None
LARGE = False
LONG = 60  # seconds
HEADER = 128

PROGRAM = """
function each(v) : [float] -> [float] =
  {let a = {sqrt(abs(x) + float(k)) : k in index(4)}; b = permute(a, rank(a)) in b[1] + sum(a) : x in v};
function within(v) : [float] -> [float] = let w = each(v) in w;
function rows(m) : [[float]] -> [[float]] =
  {let s = plus_scan(r); k = rank(s) in permute(r, k) : r in m};
function kept(m) : [[int]] -> [[int]] = {reverse({x : x in plus_scan(r) | rem(x, 3) == 0}) : r in m};
function both(m) : [[float]] -> ([float], [[float]], [int]) =
  let all = {let s = plus_scan(r); k = rank(s) in (sum(s), permute(r, k), k[0]) : r in m}
  in ({a : (a, b, c) in all}, {b : (a, b, c) in all}, {c : (a, b, c) in all});
function changed(v) : [float] -> [float] = let w = each(v) in {x + 1.0 : x in w};
function summed(v) : [float] -> ([float], float) = let w = each(v) in (w, sum(w));
function failing(v) : [float] -> [float] =
  {let a = {sqrt(abs(x) + float(k)) : k in index(4)}; b = permute(a, rank(a)) in b[trunc(x)] : x in v};
function squares(v) : [float] -> [float] = {x * x + 1.0 : x in v};
function signs(v) : [float] -> [bool] = {x > 50.0 : x in v};
function table(v, w) : ([int], [float]) -> [float] = {w[rem(x, #w)] * 2.0 : x in v};
function two_of(v) : [float] -> ([float], [int]) = ({sqrt(x - 3.0) : x in v}, {trunc(x) / 3 : x in v});
function noisy(v) : [float] -> [(float, float)] =
  {let a = {x + rand(1.0) : k in index(4)} in (sum(permute(a, rank(a))), a[0]) : x in v};
function heavy(x) = let a = {sqrt(abs(x) + float(k)) : k in index(4)}; b = permute(a, rank(a)) in b[1] + sum(a);
function record(rows) : [(int, float, bool)] -> [(float, int, bool)] =
  {let h = heavy(x) in (h, i + trunc(h), h > 20.0 or c) : (i, x, c) in rows};
function kept_column(rows) : [(int, float, bool)] -> [(int, float)] = {(i, heavy(x)) : (i, x, c) in rows};
function shifted(rows) : [(int, float, bool)] -> [(int, float)] = {(i + 1, x * 2.0) : (i, x, c) in rows};
function both_of(rows) : [(int, float, bool)] -> ([(float, bool)], [[float]]) =
  let all = {let h = heavy(x) in ((h, c), {x : k in index(rem(i, 3))}) : (i, x, c) in rows}
  in ({a : (a, b) in all}, {b : (a, b) in all});
function late(rows) : [(int, float, bool)] -> [(float, float)] =
  {let h = heavy(x); a = {x + float(k) : k in index(4)} in (h, a[if i == 99990 then 7 else 1]) : (i, x, c) in rows};
function spelled(rows) : [([char], int)] -> [([char], int)] =
  {let u = {c in w | c /= `a}; r = rank({char_code(c) : c in u}) in (u, n + sum(r)) : (w, n) in rows};
function halves(v) : [int] -> [int] = {let a = plus_scan(index(rem(abs(x), 7) + 1)); k = rank(a) in k[0] + sum(a) : x in v};
"""


def header(kind, *shape):
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", HEADER - 10) + text.ljust(HEADER - 11).encode() + b"\n"


class StreamTest(ScratchTest):
    def setUp(self):
        super().setUp()
        self.write(PROGRAM, "p.nesl")

    def array(self, name, kind, *shape, bound=100, last=None):
        """A file of random elements, a block of them again and again."""
        n = 1
        for length in shape:
            n *= length
        code = {"<f8": "d", "<i8": "q", "<i4": "i", "<f4": "f"}[kind]
        draw = random.Random(len(name) + n)
        block = array.array(code, [draw.randrange(bound) for _ in range(5000)])
        elements = block * (n // 5000 + 1)
        del elements[n:]
        if last is not None:
            elements[-1] = last
        return self.write(header(kind, *shape) + elements.tobytes(), name)

    def sparse(self, name, *shape):
        self.write(header("<f8", *shape), name)
        n = 8
        for length in shape:
            n *= length
        os.truncate(self.path(name), HEADER + n)
        return name

    def command(self, entry, arguments, outputs=("o.npy",), memory="12G", chunks="auto", more=()):
        files = [word for name in outputs for word in ("-o", name)]
        return [NESL, "run", "p.nesl", "--entry", entry, *arguments, *files, "--memory", memory, "--chunks", chunks,
                "--threads", "2", "--backend", "cpu", *more]

    def nesl(self, *arguments, limit=None, temporary=None, **more):
        def prepare():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        environment = {**os.environ, "TMPDIR": temporary} if temporary else None
        return subprocess.run(self.command(*arguments, **more), cwd=self.directory, capture_output=True, text=True,
                              timeout=LONG, check=False, preexec_fn=prepare if limit else None, env=environment)

    def bytes(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def files(self):
        return sorted(os.listdir(self.directory))

    def result(self, *arguments, outputs=("o.npy",), **more):
        """The bytes of the outputs, which are then gone."""
        run = self.nesl(*arguments, outputs=outputs, **more)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        contents = [self.bytes(name) for name in outputs]
        for name in outputs:
            os.remove(self.path(name))
        return contents

    def fails(self, message, *arguments, **more):
        before = self.files()
        run = self.nesl(*arguments, **more)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, message)
        self.assertEqual(run.stderr.count("error: "), 1, run.stderr)
        self.assertEqual(self.files(), before)
        return run.stderr

    # ---- memory ----

    def test_more_than_memory(self):
        """16 MB and what they become, in 12 MB."""
        for entry, shape, outputs in (("within", (1 << 21,), 1), ("both", (2048, 1024), 3)):
            name = self.array("a.npy", "<f8", *shape)
            files = [f"{k}.npy" for k in range(outputs)]
            self.fails("out of memory", entry, [name], outputs=files, memory="12M", chunks="off")
            whole = self.result(entry, [name], outputs=files, chunks="off")
            streamed = self.result(entry, [name], outputs=files, memory="12M")
            self.assertTrue(whole == streamed, entry)

    def test_what_is_not_streamed_needs_memory(self):
        """That is known with the first chunk."""
        name = self.array("a.npy", "<f8", 1 << 21)
        self.fails("out of memory: a result of all 2097152 instances takes 16.0 MiB; .*-o FILE", "changed", [name],
                   memory="12M")

    def same_in_little_memory(self, entry, arguments, outputs, memory="12M", **more):
        whole = self.result(entry, arguments, outputs=outputs, chunks="off")
        self.assertTrue(self.result(entry, arguments, outputs=outputs, memory=memory, **more) == whole, entry)

    def test_single_superoperators(self):
        """Bodies that have no elements of their own: 16 MB and more in 12 MB."""
        floats = self.array("f.npy", "<f8", 1 << 21, bound=1000)
        words = self.array("i.npy", "<i8", 1 << 21, bound=1000)
        small = self.array("s.npy", "<f8", 500)
        for entry, arguments, outputs in (("squares", [floats], ("o.npy",)), ("signs", [floats], ("o.csv",)),
                                          ("table", [words, small], ("o.npy",))):
            self.same_in_little_memory(entry, arguments, outputs)

    def test_other_numpy_arrays(self):
        """What is not as the machine has it is converted in a file."""
        single = self.array("f.npy", "<f4", 1 << 21)
        self.same_in_little_memory("squares", [single], ("o.npy",))
        self.fails("out of memory", "squares", [single], memory="12M", temporary="/none")
        fortran = self.bytes(self.array("m.npy", "<f8", 2048, 512)).replace(b"False", b"True ", 1)
        self.write(fortran, "m.npy")
        self.same_in_little_memory("rows", ["m.npy"], ("o.npy",))

    def rows(self, count, last=""):
        """A CSV file of ints, floats and bools."""
        lines = (f"{i},{i * 7919 % 100003}.{i % 10},{'False' if i % 3 else 'True'}\n" for i in range(count))
        return self.write("".join(lines) + last, "r.csv")

    def test_csv_files(self):
        """5 MB as text, and what they become in all kinds of files."""
        name = self.rows(200000)
        self.fails("out of memory", "record", [name], memory="12M", temporary="/none")
        for entry, outputs, more in (
                ("record", ("o.csv",), {}), ("record", ("o.npz",), {"chunks": "random:3"}), ("record", ("o.npy",), {}),
                ("kept_column", ("o.npz",), {}), ("both_of", ("a.npy", "b.npz"), {})):
            self.same_in_little_memory(entry, [name], outputs, **more)

    def test_columns_of_csv_files(self):
        """7 MB as text, 17 bytes of columns for each row."""
        name = self.rows(300000)
        self.fails("out of memory", "shifted", [name], memory="12M", temporary="/none")
        self.same_in_little_memory("shifted", [name], ("o.npy",))

    def test_archives(self):
        name = self.rows(130000)
        self.nesl("both_of", [name], outputs=("a.npy", "b.npz"))
        self.same_in_little_memory("rows", ["b.npz"], ("o.npz",), memory="16M")

    def test_texts(self):
        self.write("".join(f'"w, {i % 97}",{i}\na,{i}\n' for i in range(50000)), "w.csv")
        self.same_in_little_memory("spelled", ["w.csv"], ("o.csv",), memory="14M")
        self.fails("out of memory", "spelled", ["w.csv"], memory="14M", temporary="/none")

    def test_random_numbers(self):
        name = self.array("v.npy", "<f8", 1 << 18)
        self.same_in_little_memory("noisy", [name], ("o.npz",))

    # ---- the same bytes ----

    def test_chunks_of_all_sizes(self):
        arrays = {"v.npy": ("<f8", 1000), "m.npy": ("<f8", 300, 7), "i.npy": ("<i8", 300, 7), "n.npy": ("<i4", 1000),
                  "w.npy": ("<i8", 1000), "none.npy": ("<f8", 0), "empty.npy": ("<f8", 200, 0)}
        for name, (kind, *shape) in arrays.items():
            self.array(name, kind, *shape)
        three = ("a.npy", "b.npy", "c.npy")
        for entry, argument, outputs in (
                ("each", "v.npy", ("o.npy",)), ("within", "v.npy", ("o.npy",)), ("each", "none.npy", ("o.npy",)),
                ("rows", "m.npy", ("o.npy",)), ("rows", "empty.npy", ("o.npy",)), ("both", "m.npy", three),
                ("halves", "n.npy", ("o.npy",)), ("halves", "w.npy", ("o.npy",)), ("changed", "v.npy", ("o.npy",)),
                ("kept", "i.npy", ("o.npz",)), ("both", "m.npy", ("o.npz",)), ("each", "v.npy", ("o.csv",))):
            for more in ((), ("--int", "32", "--float", "32")):
                whole = self.result(entry, [argument], outputs=outputs, chunks="off", more=more)
                for chunks in ("7",) if more else ("1", "7", "500", "random:3", "auto"):
                    with self.subTest(entry=entry, argument=argument, chunks=chunks, more=more):
                        self.assertEqual(self.result(entry, [argument], outputs=outputs, chunks=chunks, more=more),
                                         whole)

    def test_a_result_that_is_used_as_well(self):
        name = self.array("v.npy", "<f8", 1000)
        whole = self.result("summed", [name], outputs=("a.npz",), chunks="off")
        self.assertEqual(self.result("summed", [name], outputs=("a.npz",), chunks="7"), whole)
        run = self.nesl("summed", [name], outputs=("a.npy", "b.npy"), chunks="7")
        self.assertEqual(run.stderr, self.nesl("summed", [name], outputs=("a.npy", "b.npy"), chunks="off").stderr)

    def test_ragged_rows_are_no_array(self):
        name = self.array("i.npy", "<i8", 300, 7)
        message = self.fails("a numpy array is rectangular", "kept", [name], chunks="7")
        self.assertEqual(self.fails("rectangular", "kept", [name], chunks="off"), message)

    def test_a_file_is_replaced(self):
        name = self.array("v.npy", "<f8", 1000)
        (whole,) = self.result("each", [name], chunks="off")
        self.write("old", "o.npy")
        os.chmod(self.path("o.npy"), 0o640)
        run = self.nesl("each", [name], chunks="7")
        self.assertEqual((run.stderr, self.bytes("o.npy")), ("", whole))
        self.assertEqual(os.stat(self.path("o.npy")).st_mode & 0o777, 0o640)
        self.write(self.bytes(name), "o.npy")  # its own argument
        run = self.nesl("each", ["o.npy"], chunks="7")
        self.assertEqual((run.stderr, self.bytes("o.npy")), ("", whole))

    # ---- failures ----

    def test_a_full_disk_is_found_first(self):
        """A limit on files stands for it. The first chunk is executed, no other."""
        name = self.array("v.npy", "<f8", 100000, bound=4, last=7e9)  # the last element would fail
        message = self.fails(r"o\.npy: File too large", "failing", [name], chunks="1000", limit=HEADER + 799999)
        self.assertNotIn("index", message)
        self.fails("index", "failing", [name], chunks="1000", limit=HEADER + 800000)
        rows = self.array("m.npy", "<f8", 1000, 100)  # whose size is not known before
        self.fails(r"o\.npy: File too large", "rows", [rows], chunks="100", limit=HEADER + 799999)

    def test_a_full_disk_for_temporary_files(self):
        name = self.rows(150000)
        message = self.fails(r"r\.csv: .*a temporary file in .* needs at least .*, and no file may have more than 977 KiB",
                             "record", [name], memory="12M", limit=1000000)
        self.assertIn("(ulimit -f)", message)
        # there is room for columns of 8 bytes, not for rows as text
        self.fails(r"o\.csv: error: File too large", "record", [name], outputs=("o.csv",), memory="12M", limit=1300000)

    def test_a_wrong_row_of_many(self):
        name = self.rows(100000, "7,no,True\n")
        self.fails(r"r\.csv: error: line 100001: field 2 is no float: 'no'; argument 1 of `record` is to be "
                   r"\[\(int, float, bool\)\]", "record", [name], memory="12M")

    def test_faults_behind_temporary_files(self):
        name = self.rows(100000)
        message = self.fails("index 7 is outside", "late", [name], outputs=("o.csv",), memory="12M")
        self.assertEqual(self.fails("index", "late", [name], outputs=("o.csv",), chunks="off"), message)
        for name in (self.array("v.npy", "<f8", 1 << 18, bound=4000, last=1e300),
                     self.array("w.npy", "<f8", 1 << 18, bound=3, last=1e300)):
            message = self.fails("No int for|Sqrt of negative", "two_of", [name], outputs=("o.csv", "p.npy"))
            self.assertEqual(self.fails("error", "two_of", [name], outputs=("o.csv", "p.npy"), chunks="off"), message)

    def test_a_disk_that_is_too_small(self):
        about = os.statvfs(self.directory)
        n = about.f_bavail * about.f_frsize // 8 + (1 << 31)  # 16 GiB too many
        try:
            self.sparse("a.npy", n)
        except OSError:
            self.skipTest("the file system has no files that are so large")
        began = time.monotonic()
        self.fails(r"o\.npy: the result takes [0-9.]+ [GT]iB, and the disk has [0-9.]+ [KMGT]iB left", "each", ["a.npy"],
                   memory="500M")
        self.assertLess(time.monotonic() - began, LONG / 2)

    def test_a_folder_that_is_not_there(self):
        """That, too, is known with the first chunk."""
        name = self.array("v.npy", "<f8", 1000)
        self.fails("none/o.npy: No such file or directory", "each", [name], outputs=("none/o.npy",), chunks="7")
        name = self.array("w.npy", "<f8", 1 << 18, bound=4, last=7e9)
        message = self.fails("none/o.csv: No such file or directory", "failing", [name], outputs=("none/o.csv",),
                             memory="12M")
        self.assertNotIn("index", message)

    def test_a_fault_in_a_late_chunk(self):
        name = self.array("v.npy", "<f8", 100000, last=7e9, bound=4)
        message = self.fails("index", "failing", [name], chunks="1000")
        self.assertEqual(self.fails("index", "failing", [name], chunks="off"), message)
        self.write("old", "o.npy")
        self.fails("index", "failing", [name], chunks="1000")
        self.assertEqual(self.text("o.npy"), "old")

    def test_signals(self):
        self.sparse("a.npy", 1 << 30)  # 8 GB: too much for the time until the signal
        room = os.statvfs(self.directory)
        if room.f_bavail * room.f_frsize < 9 << 30:
            self.skipTest("there is no room for 8 GB")
        before = self.files()
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)):
            child = subprocess.Popen(self.command("each", ["a.npy"], memory="500M"), cwd=self.directory,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            end = time.monotonic() + LONG
            while self.files() == before and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(len(self.files()), len(before) + 1)
            child.send_signal(number)
            self.assertEqual(child.wait(LONG), status)
            self.assertEqual(self.files(), before)

    def test_time(self):
        self.sparse("a.npy", 1 << 30)
        self.fails("the time limit", "each", ["a.npy"], memory="500M", more=("--time", "0.3"))

    def shortened(self, name, entry, length, outputs=("o.npy",)):
        """The file is cut while it is read, when the result's has been begun."""
        before = self.files()
        child = subprocess.Popen(self.command(entry, [name], outputs, memory="500M"), cwd=self.directory,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + LONG
        while self.files() == before and child.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        os.truncate(self.path(name), length)
        out, errors = child.communicate(timeout=LONG)
        self.assertEqual((child.returncode, out), (1, ""), errors)
        self.assertRegex(errors, f"^{name}: error: another process has made the file shorter while it was read")
        self.assertEqual(errors.count("error: "), 1, errors)
        self.assertEqual(self.files(), before)

    def test_a_file_that_becomes_shorter(self):
        for entry in ("each", "squares"):
            self.sparse("a.npy", 1 << 25)
            self.shortened("a.npy", entry, HEADER + 8000)
        self.sparse("a.npy", 1 << 23)  # its last page reads as zeros then
        self.shortened("a.npy", "each", HEADER + 8 * ((1 << 23) - 1))

    # ---- much ----

    def test_a_csv_file_of_gigabytes(self):
        """3 GB in 500 MB, and never as much resident."""
        if not LARGE:
            self.skipTest("without --large")
        if shutil.disk_usage(self.directory).free < 16 << 30 or shutil.disk_usage("/var/tmp").free < 16 << 30:
            self.skipTest("there is no room for it")
        blocks = 150
        block = "".join(f"{i},{i * 7919 % 100003}.{i % 10},{'False' if i % 3 else 'True'}\n" for i in range(1000000))
        with open(self.path("r.csv"), "w", encoding="ascii") as file:
            for _ in range(blocks):
                file.write(block)
        child = subprocess.Popen(self.command("shifted", ["r.csv"], outputs=("o.csv",), memory="500M"),
                                 cwd=self.directory)
        _, child.returncode, usage = os.wait4(child.pid, 0)
        self.assertEqual(child.returncode, 0)
        self.assertLess(usage.ru_maxrss, 500 << 10)
        with open(self.path("o.csv"), encoding="ascii") as file:
            for k, line in enumerate(file):
                i = k % 1000000
                if i % 9973 == 0:
                    self.assertEqual(line, f"{i + 1},{2 * float(f'{i * 7919 % 100003}.{i % 10}')!r}\n".replace(".0\n", "\n"))
        self.assertEqual(k + 1, blocks * 1000000)

    def test_eight_gigabytes(self):
        if not LARGE:
            self.skipTest("without --large")
        if shutil.disk_usage(self.directory).free < 9 << 30:
            self.skipTest("there is no room for 8 GB")
        self.sparse("a.npy", 1000000, 1000)
        run = subprocess.run(self.command("rows", ["a.npy"], memory="500M"), cwd=self.directory, capture_output=True,
                             text=True, check=False)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        compared = subprocess.run(["cmp", self.path("a.npy"), self.path("o.npy")], capture_output=True, text=True,
                                  check=False)
        self.assertEqual(compared.stdout + compared.stderr, "")


if __name__ == "__main__":
    NESL = os.path.abspath(sys.argv.pop(1))
    LARGE = "--large" in sys.argv
    unittest.main(argv=[word for word in sys.argv if word != "--large"])
