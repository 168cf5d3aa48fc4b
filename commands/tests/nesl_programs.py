"""Programs of the command nesl: their arguments, and files that they load and import.

usage: nesl_programs.py NESL NESLC VINTERP [unittest options]
"""

import os
import random
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


class Finding(ProgramTest):
    def folder(self, *files):
        for name, text in files:
            os.makedirs(os.path.dirname(self.path(name)) or ".", exist_ok=True)
            self.write(text, name)

    def test_beside_the_file_that_loads(self):
        self.folder(("lib/one.nesl", 'load "two";\n'), ("lib/two.nesl", "x = 2;\n"),
                    ("prog.nesl", 'load "lib/one";\nx;\n'))
        self.prints(self.nesl("run", "prog.nesl"), "it = 2 : int")
        self.prints(self.nesl("run", self.path("prog.nesl")), "it = 2 : int")
        # and, as ever, in the current directory
        self.folder(("lib/three.nesl", 'load "lib/two";\nx + 1;\n'), ("lib/four.nesl", 'load "four";\nx;\n'),
                    ("four.nesl", "x = 4;\n"))
        self.prints(self.nesl("run", "lib/three.nesl"), "it = 3 : int")
        self.fails(self.nesl("run", "lib/four.nesl"), "more than 100 files load each other")

    def test_in_the_folders_of_a_path(self):
        self.folder(("a/one.nesl", "x = 1;\n"), ("b/one.nesl", "x = 2;\n"), ("b/two.nesl", 'load "one"; y = x;\n'),
                    ("prog.nesl", 'load "two";\ny;\n'), ("typed.nesl", "z = 3;\n"))
        folders = f"{self.path('nowhere')}:{self.path('a')}:{self.path('b')}"
        # `two` is in b, and so is the `one` beside it
        self.prints(self.nesl("run", "prog.nesl", NESL_PATH=folders), "it = 2 : int")
        self.prints(self.nesl("-e", 'load "one"; x;', NESL_PATH=folders), "x = 1 : int", "it = 1 : int")
        self.fails(self.nesl("run", "prog.nesl"), "No such file")

    def test_nowhere(self):
        self.folder(("lib/prog.nesl", 'load "missing";\nimport "missing" as m;\n'), ("lib/type.nesl", "x = 1;\n"))
        ran = self.nesl("run", "lib/prog.nesl", NESL_PATH=self.path("a"))
        looked = f"looked for lib/missing.nesl, missing.nesl, {self.path('a')}/missing.nesl; NESL_PATH names more"
        self.fails(ran, "lib/prog.nesl:1:1: error: there is no file `missing`: " + looked,
                   "lib/prog.nesl:2:1: error: there is no file `missing`: " + looked)
        self.fails(self.nesl("-e", 'load "lib/types";'), "lib/types.nesl: error: No such file", "did you mean lib/type.nesl?")


VECTORS = """% vectors of the plane %
import "scalars" as s;
datatype point(x : float, y : float);
unit = point(1.0, 0.0);
scale = 2.0;
function scaled(p, by := scale) = let point(x, y) = p in point(x * by, y * by);
function dot(p, q) = p.x * q.x + p.y * q.y;
function size(p : point) : point -> float = s.root(dot(p, p));
function power(n, k) = if k == 0 then 1 else n * power(n, k - 1);
function at(v, i) = v[i];
print_line("never printed");
dot(unit, unit);
"""
USES = """import "lib/vectors" as v;
scale = 100.0;
function dot(p, q) = 17;
p = v.point(3.0, 4.0);
(v.size(p), v.dot(p, v.unit), dot(p, p), v.scale);
(v.scaled(p), v.scaled(p, by := 3.0), v.scaled(v.unit, by := scale).x);
let v.point(x, y) = p in x + y;
function both(q : v.point, n) = ([] v.point, v.scaled(q).x, v.power(n, 2));
{both(q, n) : q in [p, v.point(y := 1.0, x := 2.0)]; n in [3, 4]};
{v.size(q) : q in [p, v.unit]};
let v = p in v.x;
{v.x : v in [p, v.unit]};
"""
GIVES = ["it = (5.0, 3.0, 17, 2.0) : float, float, int, float",
         "it = (v.point(x := 6.0, y := 8.0), v.point(x := 9.0, y := 12.0), 100.0) : v.point, v.point, float",
         "it = 7.0 : float",
         "it = [([], 6.0, 9), ([], 4.0, 16)] : [([v.point], float, int)]",
         "it = [5.0, 1.0] : [float]", "it = 3.0 : float", "it = [3.0, 1.0] : [float]"]


class Modules(ProgramTest):
    def setUp(self):
        super().setUp()
        os.makedirs(self.path("lib"))
        self.write("function root(x) = sqrt(x);\n", "lib/scalars.nesl")
        self.write(VECTORS, "lib/vectors.nesl")
        self.write(USES, "prog.nesl")

    def test_names(self):
        for flags in ([], ["--direct"], ["--no-optimise"], ["--classic"], ["--no-fusion"]):
            with self.subTest(flags=flags):
                ran = self.nesl(*flags, "run", "--echo", "prog.nesl")
                self.assertEqual((ran.stderr, ran.returncode), ("", 0))
                self.assertEqual([line for line in ran.stdout.split("\n") if line.startswith("it = ")],
                                 GIVES)
        self.prints(self.nesl("check", "prog.nesl"))

    def test_what_is_not_visible(self):
        for form, message in (
                ("v.sise(v.unit)", "`sise` is not defined in the module lib/vectors.nesl; did you mean `size`?"),
                ("size(v.unit)", "`size` is not defined"), ("v.s.root(4.0)", "`s` is not defined in the module"),
                ("v.sum([1])", "`sum` is not defined in the module"), ("w.x", "`w` is not defined"),
                ("[] point", "there is no type `point`"), ("[] v.pont", "the module lib/vectors.nesl has no type `pont`"),
                ("[] w.point", "nothing is imported as `w`"),
                ("let v.pont(x, y) = v.unit in x", "there is no datatype `v.pont`"),
                ("v.unit = 3", "this is not a pattern")):
            self.fails(self.nesl("-e", f'import "lib/vectors" as v; {form};'), message)

    def test_errors_name_them(self):
        ran = self.nesl("-e", 'import "lib/vectors" as v; {v.at([1, 2], i) : i in [0, 2]};')
        self.fails(ran, "lib/vectors.nesl:10:21: error: Sequence reference (a[i]) out of bounds.", "note: `v.at` was called here")
        self.fails(self.nesl("-e", 'import "lib/vectors" as v; v.size(3);'), "`v.size` takes v.point, but its argument is int")

    def test_commands(self):
        ran = self.nesl("-e", 'import "lib/vectors" as v; describe v.dot; show code v.at; apropos dot; trace v.power(2, 1);'
                              'cost v.size(v.unit);')
        self.assertEqual(ran.returncode, 0, ran.stderr)
        for text in ("v.dot : (v.point, v.point) -> float\n  function dot(p, q)", "\nfunction at(v, i) = v[i];\n",
                     "v.power(2, 1)\n  v.power(2, 0) = 1\n= 2\n", "\nin the model "):
            self.assertIn(text, ran.stdout)
        self.assertNotIn("v.s.root", ran.stdout)

    def test_default_names_and_words(self):
        self.prints(self.nesl("-e", 'import "lib/vectors.nesl"; vectors.scale;'), "it = 2.0 : float")
        self.write("x = 3;\n", "3d.nesl")
        self.prints(self.nesl("-e", 'import "3d" as three; three.x;'), "it = 3 : int")
        self.fails(self.nesl("-e", 'import "3d";'), 'the file\'s own name is no name of NESL: import "3d" as NAME')
        self.fails(self.nesl("-e", 'import "3d" as 3;'), "import takes the name of a file as a string")
        # a definition of the program's own wins
        self.prints(self.nesl("-e", 'function import(s) = #s; import "3d"; import = 4; import + 1;'),
                    "import = fn : [a] -> int :: (a in any)", "it = 2 : int",
                    "Redefining import with a new type.  Old calls will not be modified.",
                    "import = 4 : int", "it = 5 : int")

    def test_one_file_by_two_names(self):
        self.write('import "../lib/scalars" as t2;\nfunction both(x) = t2.root(x);\n', "lib/other.nesl")
        self.write("seed = rand_seed(1);\nx = rand(1000000);\n", "lib/random.nesl")
        ran = self.nesl("-e", 'import "lib/vectors" as v; import "lib/../lib/vectors" as w; w.size(v.unit);'
                              'import "lib/other" as o; o.both(4.0); import "lib/random" as a; import "lib/random" as b;'
                              "a.x == b.x;")
        self.prints(ran, "it = 1.0 : float", "it = 2.0 : float", "it = T : bool")

    def test_two_files_by_one_name(self):
        self.write("x = 1;\nfunction g(y) = y + x;\n", "a.nesl")
        self.write("x = 2;\nfunction g(y) = y + x;\n", "b.nesl")
        self.write('import "b" as m;\nz = m.x;\n', "c.nesl")
        ran = self.nesl("-e", 'import "a" as m; function h(y) = m.g(y); import "b" as m; (h(0), m.g(0));'
                              'import "c" as c; import "a" as again; (c.z, again.x, m.x);')
        self.prints(ran, "h = fn : int -> int", "it = (1, 2) : int, int", "it = (2, 1, 2) : int, int, int")

    def test_cycles(self):
        self.write('import "b" as b;\n', "a.nesl")
        self.write('import "c";\n', "b.nesl")
        self.write('x = 1;\nimport "a";\n', "c.nesl")
        ran = self.nesl("-e", 'import "a";')
        self.fails(ran, "c.nesl:2:1: error: these files import each other: a.nesl imports b.nesl, which imports c.nesl, "
                        "which imports a.nesl", "a.nesl:1:1: error: 1 form of b.nesl failed")
        self.write('import "self" as me;\n', "self.nesl")
        self.fails(self.nesl("-e", 'import "self";'), "these files import each other: self.nesl imports self.nesl")

    def test_again(self):
        def files(step):
            return f"cp lib/vectors{step}.nesl lib/vectors.nesl"
        self.write("scale = 5;\nfunction at(v, i) = v[i + 1];\nfunction sise(x) = x;\n", "lib/vectors2.nesl")
        self.write("scale = 5 + t;\n", "lib/vectors3.nesl")
        forms = ['import "lib/vectors" as v;', "function g(v2) = v.at(v2, 0);", "g([1, 2]);", "v.scale;",
                 f'shell "{files(2)}";', "g([1, 2]);", 'import "lib/vectors" as v;', "g([1, 2]);", "v.scale;", "v.dot;",
                 f'shell "{files(3)}";', 'import "lib/vectors" as v;', "v.scale;"]
        ran = self.nesl("--allow-spawn", stdin="\n".join(forms) + "\n")
        self.assertEqual([line for line in ran.stdout.split("\n") if line.startswith("it = ")],
                         ["it = 1 : int", "it = 2.0 : float", "it = 1 : int", "it = 2 : int", "it = 5 : int",
                          "it = 5 : int"])
        self.assertIn("`dot` is not defined in the module lib/vectors.nesl", ran.stderr)
        self.assertIn("1 form of lib/vectors.nesl failed", ran.stderr)

    def test_what_a_module_imports_changes(self):
        self.write("function root(x) = 0.0 - sqrt(x);\n", "lib/new.nesl")
        forms = ['import "lib/vectors" as v;', "v.size(v.unit);", 'shell "cp lib/new.nesl lib/scalars.nesl";',
                 "v.size(v.unit);", 'import "lib/vectors" as v;', "v.size(v.unit);"]
        ran = self.nesl("--allow-spawn", stdin="\n".join(forms) + "\n")
        self.prints(ran, "it = 1.0 : float", "it = 1.0 : float", "it = -1.0 : float")

    def test_compiled(self):
        self.prints(self.run_command(NESLC, "prog.nesl", "-e", "(v.size(p), {v.power(2, i) : i in [3, 4]})", "-o", "p.vcode"))
        ran = self.run_command(VINTERP, "p.vcode")
        self.assertEqual(ran.stdout, "( 5.00000000000000e+00 )\n[ 2 ]\n( 8 16 )\n")
        self.prints(self.run_command(NESLC, "prog.nesl", "--entry", "v.power", "-o", "p.vcode"))
        self.prints(self.run_command(VINTERP, "p.vcode", "2", "10"), "( 1024 )")
        self.prints(self.nesl("run", "prog.nesl", "--entry", "v.power", "2", "10"), "it = 1024 : int")

    def test_properties(self):
        self.write('import "lib/vectors" as v;\n%property scaled(p : v.point) = (v.scaled(p)).x == 2.0 * p.x %\n'
                   "%property short(ps : [v.point]) = #ps < 3 %\n", "laws.nesl")
        ran = self.nesl("test", "laws.nesl")
        self.assertIn("laws.nesl:2: scaled holds in", ran.stdout)
        self.assertIn("let ps = [v.point(", ran.stdout)

    def test_functions_of_c(self):
        self.prints(self.run_command(NESLC, "--library", "made", "prog.nesl", "--entry", "dot=v.dot", "--entry", "both",
                                     "--entry", "p2=v.power:int, int"))
        header = self.text("made.h")
        self.assertIn("struct made_v_point {", header)
        self.assertIn("made_dot(struct ravel_context *context, struct made_v_point ", header)
        self.fails(self.run_command(NESLC, "--library", "made", "prog.nesl", "--entry", "v.dot"), "`v.dot` is no name of C")

    def test_effects_of_commands_within(self):
        self.write('print_line("no");\nload "more";\nshell "touch made";\nx = y + 1;\n', "lib/effects.nesl")
        self.write("y = 4;\n", "lib/more.nesl")
        self.prints(self.nesl("--allow-spawn", "-e", 'import "lib/effects" as e1; e1.x + e1.y;'), "it = 9 : int")
        self.assertFalse(self.exists("made"))

    def test_permission(self):
        os.makedirs(self.path("deep"))
        self.write("x = 1;\n", "outside.nesl")
        self.write('import "../outside";\noutside.x;\n', "deep/prog.nesl")
        ran = subprocess.run([NESL, "run", "prog.nesl"], cwd=self.path("deep"), capture_output=True, text=True,
                             check=False, timeout=60)
        self.fails(ran, "--allow-files")
        ran = subprocess.run([NESL, "run", "prog.nesl"], cwd=self.path("deep"), capture_output=True, text=True,
                             check=False, timeout=60, env={**os.environ, "NESL_PATH": self.directory})
        self.prints(ran, "it = 1 : int")


class Overflow(ProgramTest):
    """--check-overflow, against ints of Python."""

    OPERATIONS = {"x + y": lambda x, y: x + y, "x - y": lambda x, y: x - y, "x * y": lambda x, y: x * y,
                  "x ^ rem(y and 63, 70)": lambda x, y: x ** (y & 63), "-x": lambda x, y: -x, "x ^ 2": lambda x, y: x * x,
                  "x ^ 3": lambda x, y: x ** 3, "sum([x, y, x, -1])": lambda x, y: 2 * x + y - 1,
                  "product([x, y, 2])": lambda x, y: 2 * x * y, "plus_scan([x, y, 7])[2]": lambda x, y: x + y}

    def numbers(self, bits):
        edge = [0, 1, -1, 2, -2, 3, 2 ** (bits - 1) - 1, -2 ** (bits - 1), 2 ** (bits - 2), -2 ** (bits - 2) - 1,
                2 ** (bits // 2), 2 ** (bits // 2 - 1) + 5]
        draw = random.Random(bits)
        return edge + [draw.randint(-2 ** draw.randint(1, bits - 1), 2 ** draw.randint(1, bits - 1) - 1) for _ in range(20)]

    def outcomes(self, forms, *flags):
        self.write("\n".join(forms), "forms.nesl")
        ran = self.nesl("--check-overflow", *flags, "--outcomes", "forms.nesl")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout.splitlines()

    def test_against_python(self):
        for bits, flags in ((64, []), (64, ["--direct"]), (64, ["--float", "32"]), (32, ["--int", "32", "--no-optimise"])):
            draw, numbers = random.Random(7), self.numbers(bits)
            cases = [(text, draw.choice(numbers), draw.choice(numbers)) for text in self.OPERATIONS for _ in range(40)]
            # Each by itself and as one of three instances, whose others are right.
            said = self.outcomes([f"let x = {x}; y = {y} in {text};" for text, x, y in cases], *flags)
            lifted = self.outcomes([f"{{{text} : (x, y) in [(1, 1), ({x}, {y}), (2, 0)]}}[1];" for text, x, y in cases], *flags)
            for (text, x, y), one, many in zip(cases, said, lifted):
                with self.subTest(text=text, x=x, y=y, flags=flags):
                    exact = self.OPERATIONS[text](x, y)
                    fits = -2 ** (bits - 1) <= exact < 2 ** (bits - 1)
                    wanted = f"it = {exact} : int" if fits else "error runtime: Integer overflow"
                    self.assertTrue(one.startswith(wanted), one)
                    self.assertTrue(many.startswith(wanted), many)

    def test_what_is_checked(self):
        big = "9223372036854775807"
        for text, said in ((f"{big} + 1", f"Integer overflow in +. ({big} + 1)"),
                           (f"-2 * {big}", f"Integer overflow in *. (-2 * {big})"),
                           ("3 ^ 41", "Integer overflow in ^ . (3 ^ 41)"),
                           (f"sum([{big}, 1])", "Integer overflow in function SUM. (of 2 elements)"),
                           (f"plus_scan([{big}, 1, 1])", "PLUS_SCAN. (of the elements before position 2)"),
                           (f"function g(x) = x + x; (g(0.5), g({big}))", f"({big} + {big})"),
                           (f"reduce((a, b) => a + b, 0, [{big}, 1])", "Integer overflow in +.")):
            for flags in ([], ["--direct"], ["--native=wait"], ["--chunks", "1", "--threads", "2"]):
                self.fails(self.nesl("--check-overflow", *flags, "-e", text), said)
            self.assertEqual(self.nesl("-e", text).returncode, 0)
        for text, said in (("1.0e308 + 1.0e308", "it = infinity : float"), (f"hash({big}, 5) < 5", "it = T : bool"),
                           ("product([0, 3037000500, 3037000500, 3037000500])", "it = 0 : int"),
                           (f"(x => x + {big})(0)", f"it = {big} : int")):
            self.prints(self.nesl("--check-overflow", "-e", text), said)

    def test_compiled_programs(self):
        program = self.write("function square(x) = x * x;\n{square(x) : x in [3, 3037000500]};\n", "prog.nesl")
        for flags, status in (([], 0), (["--check-overflow"], 1)):
            self.prints(self.run_command(NESLC, *flags, program))
            ran = self.run_command(VINTERP, "prog.vcode")
            self.assertEqual(ran.returncode, status)
            if status:
                self.fails(ran, "prog.nesl:1:24: error: Integer overflow in *. (3037000500 * 3037000500)")


if __name__ == "__main__":
    NESL, NESLC, VINTERP = sys.argv[1:4]
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
