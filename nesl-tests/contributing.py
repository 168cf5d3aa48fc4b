#!/usr/bin/env python3
"""contributing.py - whether CONTRIBUTING.md names the files that adding an operation needs.

    nesl-tests/contributing.py            the files exist, and have rows where the new ones go
    nesl-tests/contributing.py --build    adds one to a copy, builds that and uses it (minutes)

The operations that are added are ABS_DIFF, of INT and FLOAT, in NESL abs_diff; and REVERSE, the
only one of a new class of opcodes, in the oracle and the CPU's back end. The tables of edits are all
changes by hand; pages that are made from the tables are made again. With --build the files that
differ from those of the checkout afterwards must be those that the page lists, no more and no
less; each is needed: a check fails before it is changed."""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import Checks

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / "scripts"))
from source_files import source_files  # noqa: E402


def after(pattern, new):
    """An edit: `new` behind the last line that matches."""
    def edit(text):
        found = list(re.finditer(f"^{pattern}.*\n", text, re.MULTILINE))
        return found and text[:found[-1].end()] + new + text[found[-1].end():]
    return edit


def both(first, second):
    def edit(text):
        text = first(text)
        return text and second(text)
    return edit


AGREE = "EQ(LEN(0), LEN(1)), LEN(0)"
VCODE_EDITS = {
    "tables/operations.def": both(
        after(r"OPERATION\(XOR,", 'OPERATION(ABS_DIFF, 2, "distance")\n'),
        after(r"BINARY \(XOR, ",
              "BINARY (ABS_DIFF, I, I, x > y ? WRAP(U(x) - U(y)) : WRAP(U(y) - U(x)))\n"
              "BINARY (ABS_DIFF, F, F, x > y ? x - y : y - x)\n")),
    "tables/opcodes.def": after(
        r"OPCODE\(XOR,", f'OPCODE(ABS_DIFF, "ABS_DIFF", ELEMENTWISE, T_IF, "TT", "T", {AGREE}, '
                         'ABS_DIFF, NONE, "distance; INT wraps")\n'),
    "cvl/oracle/elements.c": both(
        after(r"  case OP_XOR: return \(int64_t\)",
              "  case OP_ABS_DIFF: return (int64_t)(x < y ? uy - ux : ux - uy);\n"),
        after(r"  case OP_SUB: return x - y;",
              "  case OP_ABS_DIFF: return x > y ? x - y : y - x;\n")),
}
NAMES = "python/ravel/_translate/names.py"
NESL_EDITS = {
    "neslc/primitives/primitives.def": after(
        r"PRIMITIVE\(RSHIFT,", 'PRIMITIVE(ABS_DIFF, "abs_diff", SCALAR, ABS_DIFF, SAFE, FREE, NONE, '
                               '"distance")\n'),
    "neslc/library/arrays.nesl": lambda text: text + (
        '\nfunction abs_diff(x, y)\n  "The distance of x and y."\n'
        "  : (a, a) -> a :: (a in number) = primitive;\n"),
    NAMES: lambda text: text.replace("abs acos ", "abs abs_diff acos ", 1),
}
# A class of opcodes, whose function goes over segments.
CLASS_EDITS = {
    "tables/operations.def": after(
        r"OPERATION\(SORT_DOWN,", 'OPERATION(REVERSE, 0, "each segment from its end on")\n'),
    "tables/opcodes.def": both(
        after(r"OPCODE_CLASS\(SORT,", 'OPCODE_CLASS(REVERSE, PURE, ONE, "reverse", "Reversal", '
                                       '"Elements of segments from the last one on.")\n'),
        after(r"OPCODE\(SORT_DOWN,", 'OPCODE(REVERSE, "REVERSE", REVERSE, T_IFB, "Ts", "T", '
              'EQ(LEN(0), TOTAL(1)), LEN(0), REVERSE, NONE, "each segment from its end on")\n')),
    "cvl/segmented.def": after(r"SEGMENTED\(SORT,", "SEGMENTED(REVERSE, reverse)\n"),
    "cvl/oracle/combine.c": lambda text: text + """
bool oracle_reverse(struct heap *heap, const struct oracle_call *c, struct oracle_outcome *o) {
  const struct host_value *d = &c->operand[1];
  (void)heap;
  for (uint64_t k = 0, start = 0; k < d->n; start += host_segment(d, k), k++) {
    const uint64_t n = host_segment(d, k);
    for (uint64_t i = 0; i < n; i++) {
      host_copy(&o->out[0], start + i, &c->operand[0], start + n - 1 - i);
    }
  }
  return true;
}
""",
    "cvl-cpu/operations/reverse.c": lambda text: """/* reverse.c - each segment from its end on. */
#include <string.h>

#include "cvl-cpu/cpu.h"

bool cpu_reverse(struct cvl_context *c, uint64_t site, enum cvl_op op, const struct cvl_value *v,
                 const struct cvl_value *d, struct cvl_value *out) {
  const struct segments s = value_segments(d);
  const size_t element = elem_bytes(v->elem);
  const char *x = value_data(v);
  (void)op;
  if (!result_new(c, site, (enum cvl_elem)v->elem, s.total, NULL, out)) return false;
  char *y = result_data(out);
  for (uint64_t k = 0; k < s.count; k++) {
    const uint64_t start = segment_start(&s, k), end = segment_start(&s, k + 1);
    for (uint64_t i = start; i < end; i++) {
      memcpy(y + i * element, x + (start + end - 1 - i) * element, element);
    }
  }
  return true;
}
""",
    "cvl-cpu/CMakeLists.txt": lambda text: text.replace(" operations/sort.c", " operations/sort.c operations/reverse.c", 1),
    "editors/vcode.tmLanguage.json": lambda text: text.replace(
        "(?:RANK|SORT)_(?:UP|DOWN)", "(?:RANK|SORT)_(?:UP|DOWN)|REVERSE", 1),
}
NEW_FILE = "cvl-cpu/operations/reverse.c"
# Pages, and what prints them.
PAGES = {"docs/vcode-reference.md": "print-reference", "docs/nesl-library.md": "print-library"}

VCODE = """FUNC MAIN
CONST INT (7 -3 9223372036854775807) CONST INT (10 4 -1) ABS_DIFF INT
CONST FLOAT (0.5 -2.0 1.0) COPY 1 0 CONST FLOAT (2.0 -3.0 1.0) ABS_DIFF FLOAT
* FLOAT CONST SEGDES 3 +_REDUCE FLOAT
RET
"""
VCODE_PRINTS = ["( 3 7 -9223372036854775808 )", "( -1.25000000000000e+00 )"]
CLASS = """FUNC MAIN
CONST INT (1 2 3 4 5 6) CONST SEGDES (4 0 2) REVERSE INT
CONST BOOL (T F F) CONST SEGDES 3 REVERSE BOOL
RET
"""
CLASS_PRINTS = ["( 4 3 2 1 6 5 )", "( F F T )"]
NESL = "{abs_diff(x, y) + sum({abs_diff(x, z) : z in [1, 5]}) : x in [3, 8]; y in [10, 2]};\n"
NESL_PRINTS = "[11, 16]"


def section(title):
    """The text under a title of the page."""
    page = (ROOT / "CONTRIBUTING.md").read_text()
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def listed(title):
    """The files of the list under a title: the first name of each item."""
    return re.findall(r"^- `([^`]+)`", section(title), re.MULTILINE)


def check_approximate(tests):
    """Each file that the page lists for such a function has all that there are."""
    operations = (ROOT / "tables" / "operations.def").read_text()
    names = re.findall(r"^APPROXIMATE\((\w+),", operations, re.MULTILINE)
    files = listed("Add an approximate function")
    tests.check(len(names) > 10 and len(files) > 8, "CONTRIBUTING.md lists nothing for approximate functions")
    for path in files:
        text = (ROOT / path).read_text().upper()
        tests.check(all(name in text for name in names), f"{path} does not list all approximate functions")


def check_library(tests):
    """Where tests look for a function of the library: tables of cases, examples, names, and orders."""
    text = section("Add a function to the library")
    tables = re.findall(r"^from (\w+_cases) import", (ROOT / "nesl-tests" / "library.py").read_text(), re.MULTILINE)
    # Algorithms are programs that call functions.
    needed = [f"nesl-tests/{name}.py" for name in tables if name != "algorithm_cases"]
    for path in (*needed, "docs/nesl-library.md", "docs/nan.md", NAMES, "neslc/library/examples",
                 "docs/nesl-errors.md"):
        tests.check(f"`{path}`" in text, f"CONTRIBUTING.md does not list {path} for the library")
    index = (ROOT / "neslc" / "library" / "README.md").read_text()
    indexed = re.findall(r"^\| `([\w-]+)\.nesl` \|", index, re.MULTILINE)
    there = [path.stem for path in (ROOT / "neslc" / "library").glob("*.nesl")]
    tests.check(sorted(indexed) == sorted(there), f"neslc/library/README.md has not one row for each of {sorted(there)}")


def check_lists(tests):
    vcode, nesl = listed("Add an elementwise operation"), listed("Make it a function of NESL")
    of_class = listed("Add a class of operations")
    pages = list(PAGES)
    for name, got, edits, page, most in (("VCODE", vcode, VCODE_EDITS, pages[0], 4),
                                         ("NESL", nesl, NESL_EDITS, pages[1], 4),
                                         ("a class", of_class, CLASS_EDITS, pages[0], 10)):
        needed = {*edits, page}
        tests.check(set(got) == needed and len(got) == len(needed),
                    f"CONTRIBUTING.md lists {got} for {name}, needed are {sorted(needed)}")
        tests.check(len(got) <= most, f"{len(got)} files for {name} are too many")
        for path, edit in edits.items():
            text = (ROOT / path).read_text() if path != NEW_FILE else ""
            tests.check(edit(text) not in ([], None, text),
                        f"{path} has no row beside which to add the new one")
    links = re.findall(r"`([\w./-]+/[\w./-]*)`", (ROOT / "CONTRIBUTING.md").read_text())
    for path in links:
        tests.check((ROOT / path).exists() or path.startswith("build") or path == NEW_FILE,
                    f"CONTRIBUTING.md speaks of {path}, which does not exist")
    return vcode + nesl, of_class


class Copy:
    """The files of the checkout in a folder of their own, and a build of them."""

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="contributing-"))
        self.build = self.root / "build"
        self.names = [name for name in source_files() if (ROOT / name).is_file()]
        for name in self.names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        self.keep()
        self.need("cmake", "-G", "Ninja", "-S", self.root, "-B", self.build,
                  "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1", "-DRAVEL_CUDA=OFF",
                  "-DRAVEL_CUDA_EMULATION=OFF", "-DRAVEL_KERNELS=baseline")

    def run(self, *command, text=None):
        return subprocess.run([str(c) for c in command], cwd=self.root, input=text, timeout=1200,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              text=True)

    def need(self, *command):
        done = self.run(*command)
        if done.returncode != 0:
            sys.exit(f"contributing.py: {command[0]} failed:\n{done.stdout[-3000:]}")

    def make(self, *targets):
        self.need("cmake", "--build", self.build, "--target", *targets)

    def command(self, name, *arguments, text=None):
        return self.run(self.build / "bin" / name, *arguments, text=text)

    def edit(self, path, edit):
        self.write(path, edit((self.root / path).read_text() if path != NEW_FILE else ""))

    def write(self, path, text):
        (self.root / path).write_text(text)

    def keep(self):
        """From here on, a file counts as changed if it differs from its present contents."""
        self.before = {name: (self.root / name).read_bytes() for name in self.names}

    def changed(self):
        now = self.run("find", ".", "-path", "./build", "-prune", "-o", "-type", "f", "-print")
        now = {name.removeprefix("./") for name in now.stdout.split("\n") if name}
        return (now ^ set(self.names)) | {
            name for name in now & set(self.names)
            if self.before[name] != (self.root / name).read_bytes()}


def check_page(tests, copy, path):
    """A generated page must differ before it is regenerated: then it has to be in the list."""
    text = copy.command(PAGES[path]).stdout
    tests.check(text != (copy.root / path).read_text(), f"{path} need not be made again")
    copy.write(path, text)


def conforms(copy, operation="ABS_DIFF"):
    done = copy.command("conformance", "--backend", "cpu", "--quick", "--only", operation)
    return done.returncode == 0 and re.search(r" [1-9]\d* cases, 0 failures", done.stdout)


def check_programs(tests, copy, program, prints):
    for flags in ([], ["-O"], ["--checked"], ["-O", "--native=wait"]):
        done = copy.command("vinterp", *flags, "-", text=program)
        tests.check(done.returncode == 0 and done.stdout.splitlines() == prints,
                    f"vinterp {' '.join(flags)}: {done.stdout}")
    grammars = copy.run("python3", "nesl-tests/grammars.py")
    tests.check(grammars.returncode == 0, grammars.stdout)


def check_class(tests, copy):
    for path, edit in CLASS_EDITS.items():
        copy.edit(path, edit)
    copy.make("conformance", "vinterp", "print-reference")
    check_page(tests, copy, "docs/vcode-reference.md")
    tests.check(conforms(copy, "REVERSE"), "conformance of REVERSE")
    check_programs(tests, copy, CLASS, CLASS_PRINTS)


def check_vcode(tests, copy):
    oracle = "cvl/oracle/elements.c"
    for path in VCODE_EDITS:
        if path != oracle:
            copy.edit(path, VCODE_EDITS[path])
    copy.make("conformance", "vinterp", "print-reference")
    tests.check(not conforms(copy), f"conformance passes without {oracle}")
    copy.edit(oracle, VCODE_EDITS[oracle])
    copy.make("conformance")
    tests.check(conforms(copy), "conformance of ABS_DIFF")
    check_page(tests, copy, "docs/vcode-reference.md")
    check_programs(tests, copy, VCODE, VCODE_PRINTS)


def check_names(tests, copy):
    """The test of the package that compares its names with the page fails before the edit."""
    def passes():
        tested = ("import sys; sys.path[:0] = ['python', 'python/tests']; import unittest; "
                  "unittest.main('test_function_lists', argv=['', 'Lists.test_all_names_of_nesl_are_known'])")
        return copy.run("python3", "-c", tested).returncode == 0
    tests.check(not passes(), f"the package knows a name that {NAMES} does not have")
    copy.edit(NAMES, NESL_EDITS[NAMES])
    tests.check(passes(), f"the package does not know a name of {NAMES}")


def check_nesl(tests, copy):
    for path, edit in NESL_EDITS.items():
        if path != NAMES:
            copy.edit(path, edit)
    copy.make("nesl", "print-library", "ravel")
    check_page(tests, copy, "docs/nesl-library.md")
    check_names(tests, copy)
    (copy.build / "program.nesl").write_text(NESL)
    for flags in ([], ["--direct"], ["--no-fusion"]):
        done = copy.command("nesl", "--echo", "run", *flags, copy.build / "program.nesl")
        tests.check(done.returncode == 0 and NESL_PRINTS in done.stdout,
                    f"nesl {' '.join(flags)}: {done.stdout}")
    if "test-neslc-library" in copy.run("ninja", "-C", copy.build, "-t", "targets").stdout:
        copy.make("test-neslc-library")
        done = copy.command("test-neslc-library")
        tests.check(done.returncode == 0, done.stdout)
    else:
        print("SKIPPED: unit tests of the library: no Criterion")


def check_changed(tests, copy, files):
    changed = copy.changed()
    tests.check(changed == set(files), f"changed are {sorted(changed)}, listed {files}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", action="store_true", help="add an operation to a copy")
    parser.add_argument("--keep", action="store_true", help="do not delete the copy")
    options = parser.parse_args()
    tests = Checks()
    of_operation, of_class = check_lists(tests)
    check_approximate(tests)
    check_library(tests)
    if options.build:
        copy = Copy()
        try:
            check_vcode(tests, copy)
            check_nesl(tests, copy)
            check_changed(tests, copy, of_operation)
            copy.keep()
            check_class(tests, copy)
            check_changed(tests, copy, of_class)
        finally:
            if options.keep:
                print(f"the copy is {copy.root}")
            else:
                shutil.rmtree(copy.root)
    return tests.status()


if __name__ == "__main__":
    sys.exit(main())
