"""neslc --library: what it writes and what it refuses; superoperators compiled ahead of time for
the CPU: neslc --kernels, fcodeopt --emit-cpu, vinterp --kernels. What the functions compute:
nesl-tests/libraries.py.

    library_command.py NESLC FCODEOPT VINTERP C-COMPILER
"""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from support import SUM_OF_SQUARES, SUM_OF_SQUARES_RESULT, ScratchTest

NESLC, FCODEOPT, VINTERP, CC = (str(Path(shutil.which(p) or p).resolve()) for p in sys.argv[1:5])
PROGRAM = """datatype text(float);
function twice(x) = x + x;
function both(n) : int -> (int, int) = (n, 1);
function apply(g, x) : (int -> int, int) -> int = g(x);
function letters(s, d) : ([char], text) -> [char] = s;
function length_of(v, v2) : ([int], [int]) -> int = #v + #v2;
function only(x) : int -> int;
k = 3;
"""
FLAGS = "-O1 -ffp-contract=off -fno-math-errno -fno-trapping-math -std=c11 -w -fPIC -shared".split()
# The beginning of each function of superoperators.
FUNCTION = re.compile(r"(ravel_[0-9a-f]{64}_(?:block|fold|loop|range)\w*\([^;{]*\)\s*\{)")


class CommandTest(ScratchTest):
    def command(self, *words, **environment):
        return subprocess.run(words, cwd=self.directory, capture_output=True, text=True, check=False,
                              env={**os.environ, **environment})

    def must(self, *words, **environment):
        done = self.command(*words, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Library(CommandTest):
    def library(self, *words):
        self.write(PROGRAM, "prog.nesl")
        return self.command(NESLC, "prog.nesl", *words)

    def test_usage(self):
        for words, said in {
                ("--library", "9x", "--entry", "twice"): "must be a name of C",
                ("--library", "ravel_x", "--entry", "twice"): "must be a name of C",
                ("--library", "l"): "--library needs --entry",
                ("--entry", "twice", "--entry", "both"): "one --entry, or --library",
                ("--entry", "twice", "--kernels"): "--kernels goes with --library",
                ("--library", "l", "--entry", "twice", "--kernels="): "--kernels may be followed by",
                ("--library", "l", "-e", "1"): "either -e or --library",
                ("--library", "l", "--entry", "twice", "--portable"): "goes with neither",
                ("--library", "l", "--entry", "twice", "--print-after", "all"): "goes with neither",
        }.items():
            with self.subTest(words=words):
                done = self.library(*words)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)

    def test_entries_that_are_refused(self):
        for entry, said in {
                "twise": "there is no function `twise`; did you mean `twice`?",
                "k": "`k` is no function",
                "only": "`only` has no body of its own",
                "sum:[int]": "`sum` has no body of its own",
                "twice": "say for which types, as in --entry 'twice:[float], int'",
                "twice:[char]": "it does not take [char]",
                "twice:what": "there is no type `what`",
                "twice:int,": "error: ",
                "apply": "functions or streams",
                "9=twice:int": "`9` is no name of C",
                "": "`` is no name of C",
                "x=": "there is no function ``",
        }.items():
            with self.subTest(entry=entry):
                done = self.library("--library", "l", "--entry", entry)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn(said, done.stderr)
                self.assertFalse(self.exists("l.h") or self.exists("l.c"))

    def test_names_that_clash(self):
        for entries in (["twice:int", "twice:float"], ["twice:int", "twice_function=twice:int"],
                        ["pair_i64_i64=twice:int", "both"], ["letters"]):
            with self.subTest(entries=entries):
                done = self.library("--library", "l", *(w for e in entries for w in ("--entry", e)))
                self.assertEqual(done.returncode, 1)
                self.assertIn("give a function another name", done.stderr)

    def test_words_of_c_and_its_kin(self):
        """No parameter or member has the name of a word of C23 or C++20."""
        words = ("char8_t concept consteval constinit co_await co_return co_yield requires typeof_unqual "
                 "constexpr alignas nullptr union").split()
        text = "".join(f"function go{k}({word}, y) = {word} + y;\n" for k, word in enumerate(words))
        fields = ", ".join(f"{word} : int" for word in words)
        self.write(f"{text}datatype every({fields});\nfunction give(x) : int -> every = "
                   f"every({', '.join('x' for _ in words)});\n", "prog.nesl")
        entries = [w for k in range(len(words)) for w in ("--entry", f"go{k}:int, int")]
        self.must(NESLC, "prog.nesl", "--library", "l", *entries, "--entry", "give")
        header = self.text("l.h")
        for word in words:
            self.assertRegex(header, rf"\b{word}_\b")
            self.assertNotRegex(re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL), rf"\b{word}\b")
        if shutil.which("c++"):
            include = Path(__file__).resolve().parents[2] / "include"
            self.must("c++", "-std=c++20", "-fsyntax-only", "-I", str(include), "-x", "c++", "l.h")

    def test_the_folder_is_made(self):
        done = self.library("--library", "l", "--entry", "length_of", "-o", "new")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(sorted(os.listdir(self.path("new"))), ["l.c", "l.h"])
        done = self.library("--library", "l", "--entry", "length_of", "-o", "no/new")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such file or directory", done.stderr)

    def test_the_same_bytes_each_time(self):
        self.library("--library", "l", "--entry", "length_of", "-o", "a")
        self.library("--library", "l", "--entry", "length_of", "-o", "b")
        for name in ("l.c", "l.h"):
            self.assertEqual(self.text(f"a/{name}"), self.text(f"b/{name}"))

    def test_kernels(self):
        self.write("function go(v) : [float] -> float = sum({x * x + 1.0 : x in v});", "prog.nesl")
        words = (NESLC, "prog.nesl", "--library", "l", "--entry", "go")
        self.must(*words, "--kernels")
        self.assertTrue({"l-cpu.c", "l-cpu.so", "l.c", "l.cu", "l.h"} <= set(os.listdir(self.directory)))
        self.assertRegex(self.text("l-cpu.c"), FUNCTION)
        self.assertRegex(self.text("l-cpu-go.c"), r"RAVEL_ENTRY\(entry\)")
        done = self.command(*words, "--kernels=no-processor", "-o", "b")
        self.assertEqual(done.returncode, 1)
        self.assertIn("b/l-cpu.c: error: it could not be compiled: the C compiler failed", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path("b"))), ["l-cpu-go.c", "l-cpu.c", "l.c", "l.cu", "l.h"])
        done = self.command(*words, "--kernels", "-o", "c", PATH="/nowhere")
        self.assertEqual(done.returncode, 1)
        self.assertIn("it could not be compiled: ", done.stderr)

    def test_procedures_of_the_same_text_are_written_once(self):
        self.write("function go(v) : [float] -> float = sum({x * x + 1.0 : x in v});\n"
                   "function went(v) : [float] -> float = sum({x * x + 1.0 : x in v});\n"
                   "function gone(v) : [float] -> float = sum({x * x + 2.0 : x in v});", "prog.nesl")
        self.must(NESLC, "prog.nesl", "--library", "l", "--entry", "go", "--entry", "went", "--entry", "gone",
                  "--kernels")
        self.assertEqual(sorted(name for name in os.listdir(self.directory) if name.startswith("l-cpu-")),
                         ["l-cpu-go.c", "l-cpu-gone.c"])


class Ahead(CommandTest):
    def setUp(self):
        super().setUp()
        self.write(SUM_OF_SQUARES, "prog.vcode")
        self.must(FCODEOPT, "--emit-cpu", "prog.c", "prog.vcode")

    def compile(self, text, name="prog.so"):
        self.write(text, "changed.c")
        self.must(CC, *FLAGS, "-o", name, "changed.c", "-lm")

    def run_with(self, *words):
        """A run where there is no compiler."""
        return self.command(VINTERP, "--backend", "cpu", *words, "prog.fcode", PATH="/nowhere",
                            XDG_CACHE_HOME=self.directory)

    def test_the_functions_are_used(self):
        shows = FUNCTION.sub(r'\1 extern int puts(const char *); puts("used");', self.text("prog.c"))
        self.assertNotEqual(shows, self.text("prog.c"))
        self.compile(shows)
        for wish in ("--native=wait", "--native"):
            done = self.run_with("--kernels", "prog.so", wish)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(set(done.stdout.splitlines()), {"used", SUM_OF_SQUARES_RESULT.strip()})

    def test_without_asking_they_are_used_where_it_pays(self):
        self.write(SUM_OF_SQUARES.replace("1000", "5000000"), "prog.vcode")
        self.must(FCODEOPT, "--emit-cpu", "prog.c", "prog.vcode")
        self.compile(FUNCTION.sub(r'\1 extern int puts(const char *); puts("used");', self.text("prog.c")))
        done = self.run_with("--kernels", "./prog.so", "--native=off")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("used", done.stdout)

    def test_results_are_the_same(self):
        self.compile(self.text("prog.c"))
        done = self.run_with("--kernels", "prog.so", "--native=wait")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, SUM_OF_SQUARES_RESULT, ""))

    def test_those_of_another_program_are_not(self):
        self.write(SUM_OF_SQUARES.replace("* INT", "+ INT"), "other.vcode")
        self.must(FCODEOPT, "--emit-cpu", "other.c", "other.vcode")
        self.assertNotEqual(FUNCTION.findall(self.text("other.c")), FUNCTION.findall(self.text("prog.c")))
        self.compile(self.text("other.c"))
        done = self.run_with("--kernels", "prog.so", "--native=wait")
        self.assertEqual((done.returncode, done.stdout), (0, SUM_OF_SQUARES_RESULT))

    def test_files_that_are_refused(self):
        text = self.text("prog.c")
        for changed, said in {
                re.sub('"Ravel [^"]*"', '"Ravel 0.0.1, CPU"', text): "made by another version of Ravel",
                text.replace('    ""\n', '    " no-such-feature"\n', 1): "compiled for another processor",
                "int nothing;": "is not made from what",
        }.items():
            with self.subTest(said=said):
                self.compile(changed, f"{said.split()[-1]}.so")
                self.is_refused(f"{said.split()[-1]}.so", said)
        self.is_refused("prog.c", "no library that can be loaded")
        self.is_refused("none.so", "no library that can be loaded")

    def test_files_that_cannot_be_written(self):
        done = self.command(FCODEOPT, "--emit-cpu", "-", "prog.vcode")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--emit-cpu needs the name of a file", done.stderr)
        done = self.command(FCODEOPT, "--emit-cpu", "no/prog.c", "prog.vcode")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no/prog.c: error: No such file or directory", done.stderr)

    def is_refused(self, file, said):
        done = self.run_with("--kernels", file)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(said, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
