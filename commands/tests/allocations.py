"""Every allocation of every command fails once: exit status 1 and one message, or all is as it
would have been; no file is half written, no process left behind.

usage: allocations.py LIBRARY C-COMPILER NESL NESLC VINTERP FCODEOPT [--all] [unittest options]

LIBRARY is failing-malloc.c, which is preloaded. A run without failures counts allocations; then
a sample of them fails, one in each run, with --all each of them.
"""

import ctypes
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zipfile

LIBRARY = COMPILED_BY = COMMANDS = ALL = None
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LONG = 100  # seconds: an end for what would never end
SAMPLE = 8  # runs of each case, without --all
PR_SET_CHILD_SUBREAPER = 36
OLD = b"what the file held before\n"

# What a command says of memory that is lacking: it knows, or the C library does (whose threads
# have one error for all that they lack).
OUT_OF_MEMORY = re.compile(r"out of memory|Cannot allocate memory|not enough memory|"
                           r"no memory|cannot start the threads")
# What follows from a form that could not be executed: others want what it defines.
FOLLOWS = re.compile(r"error: `\w+` is not defined")
QUEENS = """function safe(row, queens) =
  all({row /= q and abs(row - q) /= #queens - i : q in queens; i in index(#queens)});
function boards(n, queens) =
  if #queens == n then 1
  else sum({if safe(row, queens) then boards(n, queens ++ [row]) else 0 : row in index(n)});
boards(5, [] int);
"""
RAGGED = """function mean(v) = float(sum(v)) / float(#v);
function spread(v) = let m = mean(v) in sqrt(sum({(float(x) - m)^2 : x in v}) / float(#v));
rows = {{mod(i * j, 17) : j in index(i + 1)} : i in index(9)};
{spread(row) : row in rows};
"""
WORDS = """datatype entry([char], int);
function counted(text) =
  let words = wordify(text)
  in {entry(key, #positions) : (key, positions) in collect(zip(words, index(#words)))};
counted("the cat and the dog and the bird");
"""
CALLED = """function norm(v) = sqrt(sum({x * x : x in v}));
function scaled(v, k) = ({x * k : x in v}, norm(v));
function ranked(v) : [float] -> [float] =
  {let a = {sqrt(x + float(k)) : k in index(5)}; b = permute(a, rank(a)) in b[1] + sum(b) : x in v};
"""
DOUBLED = """function doubled(v) : [float] -> [(float, float)] = {(x * 2.0, x) : x in v};
"""
WRITING = """(write_npy([[1, 2], [3, 4]], "a.npy"), write_csv([(1, 2.5), (3, 4.5)], "b.csv"),
 write_npz(([[1], [2, 3]], "x"), "f.npz"),
 write_object_to_file([[1.5], [2.5, 3.5]], "c"),
 write_string_to_file("a text", "d"),
 read_npy([] [int], "a.npy"), read_csv([] (int, float), "b.csv"),
 read_npz(([] [int], ""), "f.npz"), read_csv([] (float, float), "b.csv", header := 0, missing := "-"));
"""
LARGE = """squares = {x * x : x in [0:40000]};
sum({a + b : a in squares; b in reverse(squares)});
"""
DUMPING = """dump vcode "e.vcode" 1 + 2;
"""
TALKING = """shell_command("cat", "said and heard");
"""
TESTED = """function double(x) = 2 * x;
double(4);
%= 8 %
{double(x) : x in [1, 2]};
%= [2, 4] %
%property doubled(v : [a], k : int from abs) cases := 4 size := 3 where #v < 3 = sum({double(k) : x in v}) == #v * double(k) %
"""
FILES = {"queens.nesl": QUEENS, "ragged.nesl": RAGGED, "words.nesl": WORDS,
         "called.nesl": CALLED, "doubled.nesl": DOUBLED, "l.csv": "12.5\n" * 330000, "writing.nesl": WRITING, "large.nesl": LARGE, "dumping.nesl": DUMPING,
         "talking.nesl": TALKING, "tested.nesl": TESTED, "v.csv": "3\n4\n12\n"}
# A compressed archive with an array of numpy's.
ARRAY = (b"\x93NUMPY\1\0\x76\0{'descr': '<i8', 'fortran_order': False, 'shape': (2000,), }".ljust(127) +
         b"\n" + bytes(16000))
EXAMPLES = ("primes", "quicksort", "sparse-matrix", "variance")

# Written by a compilation that is no test: what vinterp and fcodeopt run.
PREPARATIONS = [["neslc", f"{name}.nesl"] for name in ("queens", "ragged", "words", "writing",
                                                       "talking")]
PREPARATIONS += [["neslc", "--entry", "scaled", "called.nesl"], ["fcodeopt", "ragged.vcode"]]

# A command line, the files it writes, and standard input.
CASES = [
    (["nesl", "run", "queens.nesl"], [], ""),
    (["nesl", "run", "ragged.nesl"], [], ""),
    (["nesl", "run", "words.nesl"], [], ""),
    (["nesl", "--direct", "run", "ragged.nesl"], [], ""),
    (["nesl", "--native=wait", "run", "ragged.nesl"], [], ""),
    (["nesl", "--allow-files", "run", "writing.nesl"], ["a.npy", "b.csv", "c", "d", "f.npz"], ""),
    (["nesl", "--allow-files", "run", "dumping.nesl"], ["e.vcode"], ""),
    (["nesl", "--allow-spawn", "run", "talking.nesl"], [], ""),
    (["nesl", "--direct", "called.nesl", "-e", "scaled([3.0, 4.0], 2.0)", "-o", "r.csv", "-o",
      "s.npy"], ["r.csv", "s.npy"], ""),
    (["nesl", "run", "called.nesl", "--entry", "scaled", "v.csv", "2.0", "-o", "r.npy", "-o",
      "s.npy"], ["r.npy", "s.npy"], ""),
    (["nesl", "--native=off", "run", "doubled.nesl", "--entry", "doubled", "l.csv", "-o", "s.npy", "--memory", "12M"], ["s.npy"], ""),
    (["nesl", "--allow-files", "-e", "sum(read_npz(\"z.npz\"))"], [], ""),
    (["nesl", "check", "words.nesl"], [], ""),
    (["nesl", "test", "tested.nesl"], [], ""),
    (["nesl", "cost", "sum(index(100))"], [], ""),
    (["nesl", "--chunks", "2", "run", "called.nesl", "--entry", "ranked", "v.csv", "-o", "r.npy"],
     ["r.npy"], ""),
    (["nesl", "called.nesl"], [], "norm([3.0, 4.0]);\n"),
    (["nesl", "called.nesl"], [], "trace norm([3.0, 4.0]);\nexit\n"),
    (["neslc", "queens.nesl", "-o", "made.vcode"], ["made.vcode"], ""),
    (["neslc", "ragged.nesl", "-o", "made.vcode", "--print-after", "all"], ["made.vcode"], ""),
    (["neslc", "words.nesl", "-o", "-"], [], ""),
    (["neslc", "--portable", "queens.nesl", "-o", "made.vcode"], ["made.vcode"], ""),
    (["neslc", "called.nesl", "--entry", "scaled", "-o", "made.vcode"], ["made.vcode"], ""),
    (["neslc", "called.nesl", "--entry", "scaled", "--library", "made"], ["made.h", "made.c"], ""),
    (["fcodeopt", "primes.vcode", "-o", "made.fcode", "--emit-cuda", "made.cu", "--emit-cpu",
      "made.c"], ["made.fcode", "made.cu", "made.c"], ""),
    (["fcodeopt", "queens.vcode", "-o", "made.fcode", "--explain", "--stats"], ["made.fcode"],
     ""),
    (["fcodeopt", "ragged.vcode", "-o", "-", "--print-after", "all"], [], ""),
    (["fcodeopt", "quicksort.vcode", "-o", "made.ucode", "--no-fusion"], ["made.ucode"], ""),
    (["fcodeopt", "variance.vcode", "-o", "made.fcode"], ["made.fcode"], ""),
    (["nesl", "large.nesl"], [], ""),
    (["vinterp", "primes.vcode"], [], "100"),
    (["vinterp", "-O", "sparse-matrix.vcode"], [], ""),
    (["vinterp", "--trace", "made.json", "--profile", "ragged.fcode"], ["made.json"], ""),
    (["vinterp", "--native=wait", "ragged.fcode"], [], ""),
    (["vinterp", "--dump=ir", "queens.vcode"], [], ""),
    (["vinterp", "called.vcode", "v.csv", "2.0"], [], ""),
    (["vinterp", "--allow-files", "writing.vcode"], ["a.npy", "b.csv", "c", "d", "f.npz"], ""),
    (["vinterp", "--allow-spawn", "talking.vcode"], [], ""),
]

# The output of these contains times.
VARYING = {"--profile", "--stats", "cost"}
# With these, programs get a status when files and processes fail, and continue.
CONTINUES_WITH = {"--allow-files", "--allow-spawn"}
# The compiler: it keeps what it has made of a source, so that each is compiled once.
COMPILER = """#!/bin/sh
cat >source
kept="%s/$(sha256sum <source | cut -d ' ' -f 1)"
test -e "$kept" || { "%s" "$@" <source && cp object "$kept"; }
cp "$kept" object
"""


def run_alone(arguments, **options):
    return subprocess.run(arguments, timeout=LONG, capture_output=True, check=False, **options)


def adopt_orphans():
    """What a command leaves behind becomes a child of this process."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def orphan_left():
    try:
        return os.waitpid(-1, os.WNOHANG) is not None
    except ChildProcessError:
        return False


def contents(directory):
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, directory)] = file.read()
    return found


class AllocationsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        adopt_orphans()
        cls.scratch = tempfile.TemporaryDirectory()
        cls.home = os.path.join(cls.scratch.name, "home")
        cls.directory = os.path.join(cls.scratch.name, "work")
        cls.record = os.path.join(cls.scratch.name, "record")
        os.mkdir(cls.home)
        os.mkdir(cls.directory)
        kept = os.path.join(cls.scratch.name, "kept")
        os.mkdir(kept)
        compiler = os.path.join(kept, "cc")
        with open(compiler, "w", encoding="ascii") as file:
            file.write(COMPILER % (kept, COMPILED_BY))
        os.chmod(compiler, 0o700)
        cls.environment = {**os.environ, "HOME": cls.home, "XDG_CACHE_HOME": cls.home,
                           "RAVEL_BACKENDS": cls.home, "PATH": f"{kept}:{os.environ['PATH']}"}
        for name, text in FILES.items():
            with open(os.path.join(cls.directory, name), "w", encoding="ascii") as file:
                file.write(text)
        with zipfile.ZipFile(os.path.join(cls.directory, "z.npz"), "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("v.npy", ARRAY)
        for name in EXAMPLES:
            shutil.copy(os.path.join(ROOT, "examples", f"{name}.vcode"), cls.directory)
        for command, *arguments in PREPARATIONS:
            made = run_alone([COMMANDS[command], *arguments], cwd=cls.directory)
            assert made.returncode == 0, made.stderr
        cls.before = contents(cls.directory)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def reset(self, targets, old):
        """The directory as it was, with or without older files under the names of targets."""
        shutil.rmtree(self.home)
        os.mkdir(self.home)
        now = contents(self.directory)
        wanted = {**self.before, **({name: OLD for name in targets} if old else {})}
        for name in now.keys() - wanted.keys():
            os.remove(os.path.join(self.directory, name))
        for name, data in wanted.items():
            if now.get(name) != data:
                with open(os.path.join(self.directory, name), "wb") as file:
                    file.write(data)

    def run_case(self, case, fail_at, old):
        """What the command said, how many allocations it asked for, and the files it left."""
        (command, *arguments), targets, stdin = case
        self.reset(targets, old)
        with open(self.record, "wb") as file:
            file.write(struct.pack("QQ", fail_at, 0))
        # Where there is no memory to load it, NVIDIA's runtime crashes: it is not the subject here.
        cpu = ["--backend", "cpu"] if command in ("nesl", "vinterp") else []
        said = run_alone([COMMANDS[command], *cpu, *arguments], cwd=self.directory, input=stdin.encode(),
                         env={**self.environment, "LD_PRELOAD": LIBRARY,
                              "FAILING_MALLOC": self.record})
        with open(self.record, "rb") as file:
            _, count = struct.unpack("QQ", file.read())
        return said, count, contents(self.directory)

    def check_failure(self, case, said, files, whole):
        """What came of a run in which an allocation failed."""
        arguments, targets, _ = case
        text = said.stderr.decode(errors="replace")
        self.assertIn(said.returncode, (0, 1), text)
        self.assertFalse(orphan_left(), "a process was left behind")
        for name in files.keys() | self.before.keys():
            if name.endswith(".json") and files.get(name, OLD) != OLD:
                json.loads(files[name]) # what was executed until then
            elif name in targets:
                self.assertIn(files.get(name, OLD), (OLD, whole[2][name]),
                              f"{name} is half written")
            else:
                self.assertEqual(files.get(name), self.before.get(name), f"{name}: {text}")
        shown = said.stdout.decode(errors="replace")
        continued = CONTINUES_WITH.intersection(arguments) and OUT_OF_MEMORY.search(shown)
        if said.returncode == 1:
            errors = [line for line in text.splitlines()
                      if "error: " in line and not FOLLOWS.search(line)]
            self.assertEqual(len(errors), 1, text)
            self.assertRegex(shown if continued else errors[0], OUT_OF_MEMORY)
        elif not continued: # it could be done without
            if not VARYING.intersection(arguments):
                self.assertEqual((shown, text), (whole[0].stdout.decode(),
                                                 whole[0].stderr.decode()))
            for name in targets:
                if not name.endswith(".json"):
                    self.assertEqual(files.get(name), whole[2][name])

    def test_every_command(self):
        for case in CASES:
            name = " ".join(case[0])
            with self.subTest(command=name):
                whole = self.run_case(case, 0, False)
                count = whole[1]
                self.assertEqual(whole[0].returncode, 0, whole[0].stderr)
                self.assertGreater(count, 0, "nothing was counted")
                step = 1 if ALL else max(1, count // SAMPLE)
                for n in range(1 if ALL else 1 + hash_of(name) % step, count + 1, step):
                    said, asked, files = self.run_case(case, n, n % 2 == 0)
                    with self.subTest(command=name, allocation=n, of=count):
                        if asked >= n:
                            self.check_failure(case, said, files, whole)


def hash_of(text):
    """The same in every run, other than hash()."""
    return sum(map(ord, text))


if __name__ == "__main__":
    COMPILED_BY = shutil.which(sys.argv[2])
    LIBRARY, _, *paths = map(os.path.abspath, sys.argv[1:7])
    COMMANDS = dict(zip(("nesl", "neslc", "vinterp", "fcodeopt"), paths))
    rest = sys.argv[7:]
    ALL = "--all" in rest
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main(argv=sys.argv[:1] + [argument for argument in rest if argument != "--all"])
