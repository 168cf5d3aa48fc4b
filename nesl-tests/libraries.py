#!/usr/bin/env python3
"""NESL functions as a library of C (neslc --library): what programs of C and C++ get from them is,
bit by bit, what `nesl` computes, and errors have its messages.

    nesl-tests/libraries.py [--build FOLDER | --prefix FOLDER] [--c COMPILER] [--c++ COMPILER]
                            [--flag FLAG ...] [--seed N] [--brief | --cuda]

FOLDER: of a build (default: build), or where `cmake --install` has put everything: there the
programs are compiled with what pkg-config says. Functions: libraries.nesl."""

import argparse
import ast
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "libraries.nesl"
WARNINGS = "-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror".split()
DATA = {"point": "(float, float)", "celsius": "float", "box([float])": "(int, [float])",
        "body": "(float, [int], (float, float))"}
FIELDS = {"body": ["mass", "struct_", "position"]}  # of records; in C


class Case(NamedTuple):
    function: str
    takes: tuple[str, ...]
    gives: str
    arguments: tuple[Any, ...]
    types: bool = False  # it is polymorphic: --entry names them
    c_name: Optional[str] = None


CASES = [
    Case("saxpy", ("float", "[float]", "[float]"), "[float]", (0.1, [1.5, -2.25, 1e300], [0.3, 0.0, 7.0])),
    Case("saxpy", ("float", "[float]", "[float]"), "[float]", (2.0, [], [])),
    Case("square", ("float",), "float", (0.1,)),
    Case("square", ("float",), "float", (1e200,)),
    Case("both", ("int", "bool"), "(bool, int)", (-2**63, True)),
    Case("upper", ("char",), "char", ("q",)),
    Case("total", ("[float]",), "float", ([0.1 * i for i in range(1000)],)),
    Case("squares", ("[float]",), "float", ([0.1, -2.0, 3.5],)),
    Case("evens", ("[int]",), "[bool]", ([1, 2, 3, 4, -6],)),
    Case("choose", ("[int]", "[bool]"), "[int]", ([1, 2, 3], [True, False, True])),
    Case("shout", ("[char]",), "[char]", ('say "what"',)),
    Case("shout", ("[char]",), "[char]", ("",)),
    Case("words", ("[char]",), "[[char]]", ("to be or not to be",)),
    Case("rows", ("[[float]]",), "[[float]]", ([[3.0, 1.0], [], [2.5, -1.0, 2.0]],)),
    Case("rows", ("[[float]]",), "[[float]]", ([],)),
    Case("sums", ("[[float]]",), "[float]", ([[0.1, 0.2, 0.3], [], [1e16, 1.0]],)),
    Case("leasts", ("[[float]]",), "[(float, int)]", ([[0.1, -0.2, 0.3, -0.2], [], [1e16]],)),
    Case("deep", ("[[[int]]]",), "[[[int]]]", ([[[1, 2], []], [], [[3, 4, 5]]],)),
    Case("swap", ("(int, [float])",), "([float], int)", ((3, [0.5, 1.5]),)),
    Case("nested", ("[int]", "(float, bool)", "char"), "(char, (bool, float), [int])",
         ([4, 5], (0.5, False), "x"), True),
    Case("zipped", ("[int]", "[float]"), "[(int, float)]", ([1, 2], [0.5, 0.25])),
    Case("unzip3", ("[(int, float, bool)]",), "([int], [float], [bool])",
         ([(1, 0.5, True), (2, 0.25, False)],)),
    Case("ragged", ("[(int, [float])]",), "[(float, [[int]])]",
         ([(1, [0.1, 0.2]), (2, []), (3, [0.5])],)),
    Case("shift", ("point", "float"), "point", ((0.5, 1.5), 0.1)),
    Case("shifts", ("[point]",), "[point]", ([(0.5, 1.5), (2.0, -0.0)],)),
    Case("warm", ("[celsius]",), "[celsius]", ([0.1, 20.0],)),
    Case("boxed", ("int", "[float]"), "box([float])", (7, [0.1])),
    Case("heavier", ("body",), "body", ((0.1, [3, 4], (0.5, 1.5)),)),
    Case("moved", ("[body]",), "[body]", ([(0.1, [3, 4], (0.5, 1.5)), (2.0, [], (0.0, -1.0))],)),
    Case("fib", ("int",), "int", (20,)),
    Case("quicksort", ("[float]",), "[float]", ([3.5, 0.1, 2.0, 0.1, 9.0, -1.0],), True),
    Case("quicksort", ("[int]",), "[int]", ([5, 3, 8, 1],), True, "quicksort_int"),
    Case("hull", ("[(float, float)]",), "[(float, float)]",
         ([((i * 37 % 101) / 7, (i * 53 % 97) / 11) for i in range(60)],)),
    Case("steps", ("[int]",), "[int]", (list(range(1, 40)),)),
    Case("dice", ("int", "int"), "[int]", (20, 1000000)),
    Case("int", ("int", "[int]"), "[int]", (1, [2, 3]), False, "words_of_c"),
    Case("pick", ("[int]", "int"), "int", ([7, 8, 9], 2)),
    Case("entry_of", ("int",), "float", (1,)),
    # These fail.
    Case("least_of", ("[[int]]",), "[int]", ([[3], [], [4]],)),
    Case("pick", ("[int]", "int"), "int", ([7, 8, 9], 3)),
    Case("picks", ("[int]", "[int]"), "[int]", ([7, 8, 9], [0, 5])),
    Case("ratio", ("int", "int"), "int", (1, 0)),
    Case("pairs", ("[float]", "[float]"), "[float]", ([1.0], [1.0, 2.0])),
    Case("refuse", ("int",), "int", (1,)),
]


# ---- types ----


def components(text: str) -> list[str]:
    """The parts of a text between commas that no bracket encloses."""
    depth, parts = 0, [""]
    for letter in text:
        depth += (letter in "[(") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def tuple_parts(kind: str) -> Optional[list[str]]:
    """The types of the components of a tuple; None if the type is no tuple."""
    return components(kind[1:-1]) if kind.startswith("(") else None


def parts_of(kind: str) -> Optional[list[str]]:
    """The same for a datatype, which has at least one."""
    return (tuple_parts(DATA[kind]) or [DATA[kind]]) if kind in DATA else tuple_parts(kind)


class Widths(NamedTuple):
    ints: int = 64
    floats: int = 64

    def c_type(self, kind: str) -> str:
        return {"int": f"int{self.ints}_t", "float": "double" if self.floats == 64 else "float",
                "bool": "bool", "char": "char", "lengths": "int64_t"}[kind]

    def packed(self, kind: str) -> str:
        """The elements for the module struct."""
        return {"int": "q" if self.ints == 64 else "i", "float": "d" if self.floats == 64 else "f",
                "bool": "?", "char": "B", "lengths": "q"}[kind]

    def name(self, kind: str) -> str:
        """What the type is called in C, as the header says."""
        scalars = {"int": f"i{self.ints}", "float": f"f{self.floats}", "bool": "bool", "char": "char"}
        if kind in scalars:
            return scalars[kind]
        if kind in DATA:
            name, _, argument = kind.partition("(")
            return f"{name}_{self.name(argument[:-1])}" if argument else name
        if kind == "[char]":
            return "text"
        if kind.startswith("["):
            return "vec_" + self.name(kind[1:-1])
        names = [self.name(part) for part in tuple_parts(kind) or []]
        return "_".join(["pair" if len(names) == 2 else f"tuple{len(names)}", *names])

    def declared(self, kind: str) -> str:
        return self.c_type(kind) if kind in ("int", "float", "bool", "char") else f"struct lib_{self.name(kind)}"


def columns(kind: str, variable: str, many: bool = False) -> Iterator[tuple[str, str, str]]:
    """(kind of elements, pointer, length) for each column of a variable of C: of a value, or of a
    sequence of `many`."""
    parts = parts_of(kind)
    if parts:
        for i, part in enumerate(parts):
            member = FIELDS[kind][i] if kind in FIELDS else f"c{i}"
            yield from columns(part, f"{variable}.{member}", many)
    elif kind.startswith("["):
        if many:
            yield "lengths", f"{variable}.lengths", f"{variable}.length"
            yield from columns(kind[1:-1], f"{variable}.elements", True)
        else:
            yield from columns(kind[1:-1], variable, True)
    else:
        yield (kind, f"{variable}.data", f"{variable}.length") if many else (kind, f"&{variable}", "1")


# ---- values ----


def literal(kind: str, value: Any) -> str:
    """A value in NESL."""
    if kind in DATA:
        name = kind.split("(")[0]
        parts = parts_of(kind) or []
        values = value if len(parts) > 1 else (value,)
        return f"{name}({', '.join(map(literal, parts, values))})"
    parts = tuple_parts(kind)
    if parts:
        return f"({', '.join(map(literal, parts, value))})"
    if kind == "[char]":
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if value else "[] char"
    if kind.startswith("["):
        return f"[{', '.join(literal(kind[1:-1], x) for x in value)}]" if value else f"[] {kind[1:-1]}"
    if kind == "char":
        return f"`{value}"
    if kind == "bool":
        return "t" if value else "f"
    if kind == "int" and value == -2**63:
        return f"(-{2**63 - 1} - 1)"
    if value == 0 and repr(value).startswith("-"):
        return "(-1.0 * 0.0)"
    return f"({value!r})" if value < 0 else repr(value)


def constant(kind: str, value: Any, widths: Widths) -> str:
    """A scalar in C."""
    if kind == "float" and widths.floats == 32:
        return f"{value!r}F"
    if kind == "int" and value == -2**63:
        return "INT64_MIN"
    return {"int": str, "lengths": str, "float": repr, "bool": lambda x: str(x).lower(),
            "char": lambda x: "'\\\\'" if x == "\\" else f"'{x}'"}[kind](value)


class Arguments:
    """The text of C that makes values: arrays, and initialisers that mention them."""

    def __init__(self, widths: Widths):
        self.widths, self.arrays = widths, []

    def array(self, kind: str, values: list) -> str:
        if not values:
            return "NULL, 0"
        name = f"array{len(self.arrays)}"
        inside = ", ".join(constant(kind, x, self.widths) for x in values)
        self.arrays.append(f"  static const {self.widths.c_type(kind)} {name}[] = {{{inside}}};\n")
        return f"{name}, {len(values)}"

    def make(self, kind: str, value: Any) -> str:
        parts = parts_of(kind)
        if parts:
            values = value if len(parts) > 1 else (value,)
            return "{" + ", ".join(map(self.make, parts, values)) + "}"
        if kind.startswith("["):
            return self.sequence(kind[1:-1], list(value))
        return constant(kind, value, self.widths)

    def sequence(self, kind: str, values: list) -> str:
        parts = parts_of(kind)
        if parts:
            lists = [[x[i] if len(parts) > 1 else x for x in values] for i in range(len(parts))]
            return "{" + ", ".join(map(self.sequence, parts, lists)) + "}"
        if kind.startswith("["):
            rows = self.array("lengths", [len(row) for row in values])
            return f"{{{rows}, {self.sequence(kind[1:-1], [x for row in values for x in row])}}}"
        return f"{{{self.array(kind, values)}}}"


# ---- random types ----


def random_type(r: random.Random, depth: int) -> str:
    kind = r.choice("[[((d") if depth > 0 else "s"
    if kind == "[":
        return f"[{random_type(r, depth - 1)}]"
    if kind == "(":
        return f"({', '.join(random_type(r, r.randrange(depth)) for _ in range(r.choice((2, 2, 3))))})"
    return r.choice(("point", "celsius")) if kind == "d" else r.choice(("int", "float", "bool", "char"))


def random_value(r: random.Random, kind: str) -> Any:
    parts = parts_of(kind)
    if parts:
        values = tuple(random_value(r, part) for part in parts)
        return values if len(parts) > 1 else values[0]
    if kind == "[char]":
        return "".join(r.choice("abc xyz") for _ in range(r.randrange(5)))
    if kind.startswith("["):
        return [random_value(r, kind[1:-1]) for _ in range(r.choice((0, 1, 2, 3)))]
    return {"int": r.randrange(-999, 1000), "float": r.randrange(-999, 1000) / 8,
            "bool": r.random() < 0.5, "char": r.choice("abcxyz")}[kind]


def ends_with_tuple(kind: str) -> bool:
    """Whether a tuple in it has a tuple as its last component: it is then written as one."""
    if kind.startswith("["):
        return ends_with_tuple(kind[1:-1])
    parts = tuple_parts(kind) or []
    return any(map(ends_with_tuple, parts)) or bool(parts and parts[-1].startswith("("))


def random_cases(seed: int, count: int) -> list[Case]:
    """Values of random types, there and back."""
    r, cases = random.Random(seed), []
    while len(cases) < count:
        kind = random_type(r, 3)
        if kind[0] in "[(" and not ends_with_tuple(kind):
            name = f"same{len(cases)}"
            cases.append(Case("same", (kind,), kind, (random_value(r, kind),), True, name))
    return cases


# ---- a program of C ----

BEGINNING = """#include "lib.h"
#include <stdio.h>
#include <stdlib.h>

static void show(const void *data, size_t bytes) {
  const unsigned char *at = (const unsigned char *)data;
  for (size_t i = 0; i < bytes; i++) printf("%02x", (unsigned)at[i]);
  printf("\\n");
}

static struct ravel_context *begin(const char *ints, const char *floats) {
  struct ravel_context *context = NULL;
  struct ravel_options *options = ravel_options_new();
  ravel_options_set(options, "backend", "cpu");
  ravel_options_set(options, "int", ints);
  ravel_options_set(options, "float", floats);
  ravel_options_set(options, "seed", "5");
  if (getenv("KERNELS")) {
    if (ravel_options_set(options, "kernels", getenv("KERNELS")) != RAVEL_OK) exit(3);
    ravel_options_set(options, "procedures", "always");
  }
  if (ravel_context_new(options, &context) != RAVEL_OK) {
    fprintf(stderr, "%s", ravel_message(context));
    exit(2);
  }
  ravel_options_free(options);
  return context;
}
"""


def has_memory(kind: str) -> bool:
    return "[" in kind or any(map(has_memory, (parts_of(kind) or []) if kind in DATA else []))


def function_of(number: int, case: Case, widths: Widths) -> str:
    """The function that shows the result of a case."""
    arguments = Arguments(widths)
    values = [arguments.make(kind, x) for kind, x in zip(case.takes, case.arguments)]
    declared = "".join(f"  const {widths.declared(kind)} argument{i} = {value};\n"
                       for i, (kind, value) in enumerate(zip(case.takes, values)))
    passed = "".join(f", argument{i}" for i in range(len(values)))
    shown = "".join(f"  show({data}, {length} * sizeof({widths.c_type(kind)}));\n"
                    for kind, data, length in columns(case.gives, "result"))
    freed = (f"  lib_free_{widths.name(case.gives)}(&result);\n" if has_memory(case.gives) else "")
    return (f"\nstatic void case{number}(struct ravel_context *context) {{\n"
            + "".join(arguments.arrays) + declared + f"  {widths.declared(case.gives)} result;\n"
            f"  printf(\"case {number}\\n\");\n"
            f"  if (lib_{case.c_name or case.function}(context{passed}, &result) != RAVEL_OK) {{\n"
            "    printf(\"%s\", ravel_message(context));\n    return;\n  }\n" + shown + freed + "}\n")


def program(cases: list[Case], widths: Widths) -> str:
    functions = "".join(function_of(i, case, widths) for i, case in enumerate(cases))
    # What is random begins in a context of its own; the others are called twice in one.
    calls = "".join(
        f"  other = begin(\"{widths.ints}\", \"{widths.floats}\");\n  case{i}(other);\n"
        "  ravel_context_free(other);\n  other = NULL;\n" if case.function == "dice" else
        f"  case{i}(context);\n  case{i}(context);\n" for i, case in enumerate(cases))
    return (BEGINNING + functions + "\nint main(void) {\n"
            f"  struct ravel_context *context = begin(\"{widths.ints}\", \"{widths.floats}\"), *other = NULL;\n"
            + calls + "  ravel_context_free(other);\n  ravel_context_free(context);\n  return 0;\n}\n")


# ---- what nesl computes ----


class Columns:
    """NESL that computes the columns of a value as flat sequences."""

    def __init__(self):
        self.bindings, self.results, self.count = [], [], 0

    def name(self) -> str:
        self.count += 1
        return f"x{self.count}"

    def value(self, kind: str, expression: str) -> None:
        parts = parts_of(kind)
        if parts:
            names = [self.name() for _ in parts]
            head = kind.split("(")[0] if kind in DATA else ""
            self.bindings.append(f"{head}({', '.join(names)}) = {expression}")
            for part, name in zip(parts, names):
                self.value(part, name)
        elif kind.startswith("["):
            self.sequence(kind[1:-1], expression)
        else:
            self.sequence(kind, f"[{expression}]")

    def sequence(self, kind: str, expression: str) -> None:
        name = self.name()
        self.bindings.append(f"{name} = {expression}")
        parts = parts_of(kind)
        if parts:
            names = [self.name() for _ in parts]
            head = kind.split("(")[0] if kind in DATA else ""
            for part, part_name in zip(parts, names):
                self.sequence(part, f"{{{part_name} : {head}({', '.join(names)}) in {name}}}")
        elif kind.startswith("["):
            self.results.append(("lengths", f"{{#row : row in {name}}}"))
            self.sequence(kind[1:-1], f"flatten({name})")
        else:
            self.results.append((kind, f"{{char_code(c) : c in {name}}}" if kind == "char" else name))


class Tools(NamedTuple):
    nesl: str
    neslc: str
    flags: list[str]
    environment: dict[str, str]
    folder: Path

    def run(self, *words: str, **more: Any) -> subprocess.CompletedProcess:
        return subprocess.run(words, cwd=self.folder, env={**self.environment, **more}, text=True,
                              capture_output=True, check=False)

    def must(self, *words: str, **more: Any) -> str:
        done = self.run(*words, **more)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}:\n{done.stdout}{done.stderr}"[:3000])
        return done.stdout


LOCATION = re.compile(rf"{SOURCE}:\d+:\d+: error: .*")


def load_npy(path: Path) -> list:
    """The elements of a vector in a file of NumPy's format."""
    data = path.read_bytes()
    begin = 10 + int.from_bytes(data[8:10], "little")
    kind = ast.literal_eval(data[10:begin].decode("latin-1"))["descr"][1:]
    letter = {"i8": "q", "i4": "i", "f8": "d", "f4": "f", "b1": "?"}[kind]
    return [x for (x,) in struct.iter_unpack("<" + letter, data[begin:])]


def expected(tools: Tools, case: Case, widths: Widths) -> list[str]:
    """The lines that the program shows: the bytes of each column, or the message."""
    call = f"{case.function}({', '.join(map(literal, case.takes, case.arguments))})"
    c = Columns()
    c.value(case.gives, call)
    files = [f"{i}.npy" for i in range(len(c.results))]
    expression = f"let {'; '.join(c.bindings)} in ({', '.join(e for _, e in c.results)})"
    outputs = [word for file in files for word in ("-o", file)]
    done = tools.run(tools.nesl, "--int", str(widths.ints), "--float", str(widths.floats), "--seed",
                     "5", "run", SOURCE, "-e", expression, *outputs)
    if done.returncode != 0:
        message = LOCATION.search(done.stderr)
        # What a program prints goes nowhere in a library, so the text of `error` is in the message.
        printed = re.search("ERROR(: .*)", done.stdout)
        return [message[0] + (printed[1] if printed else "") if message else done.stderr]
    arrays = [load_npy(tools.folder / file) for file in files]
    return [struct.pack(f"<{len(a)}{widths.packed(kind)}", *a).hex()
            for a, (kind, _) in zip(arrays, c.results)]


def shown(output: str) -> dict[int, list[list[str]]]:
    """The lines of each case, each time that it was called."""
    cases: dict[int, list[list[str]]] = {}
    for part in output.split("case ")[1:]:
        number, *lines = part.split("\n")[:-1]
        message = LOCATION.search(part)
        cases.setdefault(int(number), []).append([message[0]] if message else lines)
    return cases


# ---- all together ----


def make_library(tools: Tools, cases: list[Case], widths: Widths, *more: str) -> None:
    entries = {f"{case.c_name + '=' if case.c_name else ''}{case.function}"
               f"{':' + ', '.join(case.takes) if case.types else ''}": None for case in cases}
    words = [word for entry in entries for word in ("--entry", entry)]
    tools.must(tools.neslc, "--library", "lib", SOURCE, *words, "-o", "out", "--int",
               str(widths.ints), "--float", str(widths.floats), *more)


def compile_program(tools: Tools, compiler: str, language: list[str], text: str, name: str) -> None:
    suffix = ".cc" if "c++" in language[0] else ".c"
    (tools.folder / f"{name}{suffix}").write_text(text, encoding="ascii")
    tools.must(compiler, *language, *WARNINGS, "-O1", "-Iout", "-o", name, f"{name}{suffix}",
               "-x", "c++" if suffix == ".cc" else "c", "out/lib.c", "-x", "none", *tools.flags)


def compare(tools: Tools, cases: list[Case], want: list[list[str]], name: str, **more: str) -> int:
    done = tools.run(f"./{name}", **more)
    got, failures = shown(done.stdout), 0
    if done.returncode != 0:
        print(f"{name}: status {done.returncode}: {done.stderr}")
        return 1
    for i, case in enumerate(cases):
        times = 1 if case.function == "dice" else 2
        if got.get(i) != [want[i]] * times:
            failures += 1
            print(f"{name}: {case.function}{case.arguments}\n  nesl:  {want[i]}\n  is:    {got.get(i)}")
    return failures


# The beginning of each function of superoperators.
FUNCTION = re.compile(r"(ravel_[0-9a-f]{64}_(range)\([^;{]*\)\s*\{)")


def make_kernels(tools: Tools) -> None:
    """Kernels that say when they are used, beside those that neslc has compiled."""
    made = (tools.folder / "out" / "lib-cpu.c").read_text(encoding="ascii")
    text = FUNCTION.sub(r'\1 extern int puts(const char *); puts("\2");', made)
    (tools.folder / "saying.c").write_text(text, encoding="ascii")
    tools.must("cc", "-O1", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-std=c11",
               "-w", "-fPIC", "-shared", "-o", "saying.so", "saying.c", "-lm")


def test_by_hand(tools: Tools, c: str, brief: bool) -> int:
    """libraries.c; its library has kernels, and what is used of them says so."""
    runs = [["functions"], ["widths"], ["refused"], ["threads"]]
    make_library(tools, CASES, Widths(), *([] if brief else ["--kernels"]))
    if not brief:
        make_kernels(tools)
        runs += [["kernels", "out/lib-cpu.so"], ["kernels", "./saying.so"], ["procedures", "out/lib-cpu.so"]]
    text = (Path(__file__).parent / "libraries.c").read_text(encoding="ascii")
    compile_program(tools, c, ["-std=c11", "-D_DEFAULT_SOURCE", "-pthread"], text, "by-hand")
    failures = 0
    for words in runs:
        done = tools.run("./by-hand", *words)
        said = set(done.stdout.split())
        wanted = {"range"} if words[-1] == "./saying.so" else set()
        if done.returncode != 0 or said != wanted:
            failures += 1
            print(f"by-hand {' '.join(words)}: status {done.returncode}, {said}: {done.stderr}")
    print(f"libraries.c: {len(runs)} runs, {failures} wrong")
    return failures


def test_cuda(tools: Tools) -> int:
    """The kernels for a GPU, compiled."""
    if not shutil.which("nvcc"):
        print("SKIPPED (no nvcc) compiling lib.cu")
        return 0
    make_library(tools, [case for case in CASES if case.function in ("saxpy", "squares")], Widths(),
                 "--kernels")
    done = tools.run("nvcc", "-std=c++17", "--fmad=false", "-arch=sm_90", "-cubin", "-o", "lib.cubin",
                     "out/lib.cu")
    print(f"nvcc: {'compiled' if done.returncode == 0 else done.stderr}")
    return done.returncode


def narrow(case: Case) -> bool:
    """Whether its values fit 32 bits."""
    return "9223372036854775808" not in repr(case) and "1e+" not in repr(case) and "1e16" not in repr(case)


def compare_all(tools: Tools, cases: list[Case], widths: Widths,
                compilers: list[tuple[str, list[str]]], kernels: str = "") -> int:
    """How many calls are wrong, in programs by several compilers, with the file of kernels."""
    make_library(tools, cases, widths, *(["--kernels"] if kernels else []))
    want = [expected(tools, case, widths) for case in cases]
    failures = 0
    for compiler, language in compilers:
        name = f"{language[0][5:].replace('+', 'x')}-{widths.ints}"
        compile_program(tools, compiler, language, program(cases, widths), name)
        failed = compare(tools, cases, want, name, **({"KERNELS": kernels} if kernels else {}))
        print(f"{compiler} {language[0]}, {widths.ints} bits: {len(cases)} calls{kernels and ' by '}{kernels},"
              f" {failed} wrong")
        failures += failed
    return failures


def test(tools: Tools, c: str, cxx: str, seed: int) -> int:
    cases = CASES + random_cases(seed, 12)
    return (compare_all(tools, cases, Widths(), [(c, ["-std=c11"]), (cxx, ["-std=c++17"])]) +
            compare_all(tools, CASES[::3], Widths(), [(c, ["-std=c11"])], "out/lib-cpu.so") +
            compare_all(tools, list(filter(narrow, cases)), Widths(32, 32), [(c, ["-std=c11"])]))


def tools_of(args: argparse.Namespace, folder: Path) -> Tools:
    base = (args.prefix or args.build).resolve()
    environment = {**os.environ, "LD_LIBRARY_PATH": str(base / "lib")}
    if args.prefix:
        environment["PKG_CONFIG_PATH"] = str(base / "lib" / "pkgconfig")
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "ravel"], env=environment, text=True,
                               stdout=subprocess.PIPE, check=True).stdout.split()
    else:
        flags = [f"-I{ROOT / 'include'}", f"-L{base / 'lib'}", "-lravel"]
    return Tools(str(base / "bin" / "nesl"), str(base / "bin" / "neslc"), flags + args.flag, environment,
                 folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--c", default="cc")
    parser.add_argument("--c++", dest="cxx", default="c++")
    parser.add_argument("--seed", type=lambda text: int(text, 0), default=1, help="of random types")
    parser.add_argument("--flag", action="append", default=[], help="of the compiler, to link")
    parser.add_argument("--brief", action="store_true", help="only some calls, from C")
    parser.add_argument("--cuda", action="store_true", help="only compile the kernels for a GPU")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ravel-libraries-") as name:
        folder = Path(name)
        shutil.copy(Path(__file__).parent / SOURCE, folder)
        tools = tools_of(args, folder)
        if args.cuda:
            return test_cuda(tools)
        failures = (compare_all(tools, CASES[::4], Widths(), [(args.c, ["-std=c11"])]) if args.brief
                    else test(tools, args.c, args.cxx, args.seed))
        return 1 if failures + test_by_hand(tools, args.c, args.brief) else 0


if __name__ == "__main__":
    sys.exit(main())
