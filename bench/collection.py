"""The cases of bench/cases, their programs and baselines, and their data on disk.

Data are made once for a case, a variant and a size, and kept in the build folder under a name
with a hash of what made them. Numbers stay Python's; arrays are .npy files of one dimension, texts
(uint8) such files with one string in them, which is what `nesl` takes for [char].
"""

import ast
import difflib
import hashlib
import importlib.util
import json
import re
import shutil
from pathlib import Path

from case import numpy, rng
from dispatch import BenchError

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
WORK = ROOT / "build" / "benchmarks"
PROGRAMS = BENCH / "programs"
BASELINES = BENCH / "baselines"


# ---- cases ----

def load_module(path, name=None):
    spec = importlib.util.spec_from_file_location(name or f"bench_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_cases():
    """Name -> case, in the order of files and lists; each knows the file that it comes from."""
    cases = {}
    for path in sorted((BENCH / "cases").glob("*.py")):
        for case in load_module(path, f"bench_cases_{path.stem}").CASES:
            if case.name in cases:
                raise BenchError(f"{path}: there are two cases {case.name}")
            case.source = path
            cases[case.name] = case
    return cases


def chosen(cases, names):
    """The cases of these names, all for none."""
    for name in names:
        if name not in cases:
            near = difflib.get_close_matches(name, cases, n=3, cutoff=0.6)
            raise BenchError(f"no program is called {name}" +
                             (f"; did you mean {' or '.join(near)}?" if near else
                              f"; there are {', '.join(cases)}"))
    return [cases[name] for name in names or cases]


def variants(case):
    """Pairs of a name, "" where there is only one, and the function that makes the data."""
    return list(case.variants.items()) if case.variants else [("", case.make)]


# ---- programs ----

def program(case):
    return PROGRAMS / f"{case.name}.nesl"


def baseline(case, suffix):
    """The file of a baseline, or None."""
    path = BASELINES / f"{case.name}{suffix}"
    return path if path.is_file() else None


def split_type(text):
    """The parts of a type: those of a tuple, or the type itself."""
    text = text.strip()
    if not (text.startswith("(") and text.endswith(")")):
        return [text]
    parts, depth, begin = [], 0, 1
    for at, c in enumerate(text[:-1]):
        depth += (c in "([") - (c in ")]")
        if depth == 0 and at > 0:
            return [text]  # ... ) ... ( ...: no single pair of parentheses
        if depth == 1 and c == ",":
            parts.append(text[begin:at].strip())
            begin = at + 1
    return parts + [text[begin:-1].strip()]


def results(case):
    """The types of the results of `bench`, as its declaration says."""
    text = re.sub(r"%[^%]*%", " ", program(case).read_text())
    found = re.search(r"function\s+bench\s*\([^)]*\)\s*:(.*?)->([^=]*)=", text, re.DOTALL)
    if not found:
        raise BenchError(f"{program(case)}: `bench` must be declared with its type: "
                         "function bench(x, y) : type -> type = ...")
    return split_type(" ".join(found[2].split()))


# ---- lines of code: neither empty ones, nor comments, nor examples and tests ----

def count(lines):
    return sum(1 for line in lines if line.strip())


def nesl_lines(text):
    """Lines to the end of the last definition: what stands behind are examples."""
    text = re.sub(r"%[^%]*%", lambda m: "\n" * m[0].count("\n"), text)
    forms, form = [], []
    for line in text.split("\n"):
        if not line.strip():
            continue
        form.append(line)
        if line.rstrip()[-1] in ";$":
            forms.append(form)
            form = []
    forms.append(form)
    # A definition may hold lines that end so: what begins with a blank belongs to the form before.
    joined = []
    for form in forms:
        if form and form[0][0].isspace() and joined:
            joined[-1] += form
        elif form:
            joined.append(form)
    definitions = [k for k, form in enumerate(joined)
                   if re.match(r"(function|datatype)\b", form[0])]
    return sum(len(form) for form in joined[:definitions[-1] + 1]) if definitions else 0


def without_comments(path):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", path.read_text(), flags=re.DOTALL)


def includes(path):
    """The files beside a source that it includes."""
    return sorted({path.parent / name
                   for name in re.findall(r'#include "(.*)"', without_comments(path))
                   if (path.parent / name).exists()})


def c_lines(path):
    """Of a file and of those beside it that it includes, but for baseline.h."""
    return count(without_comments(path).split("\n")) + sum(
        c_lines(h) for h in includes(path) if h.name != "baseline.h")


def python_lines(text, function):
    """Of one function, and of the others that do not belong to another system."""
    systems = {"numpy", "scipy", "torch", "jax", "cupy"} - {function}
    lines = text.split("\n")
    total = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name not in systems:
            body = node.body[1:] if ast.get_docstring(node) else node.body
            code = lines[node.lineno - 1:body[0].lineno - 1] if body else []
            if ast.get_docstring(node):
                code = lines[node.lineno - 1:node.body[0].lineno - 1]
            total += count(code) + sum(
                1 for line in lines[body[0].lineno - 1:node.end_lineno]
                if line.strip() and not line.strip().startswith("#"))
    return total


# ---- data ----

def save(path, array):
    array = numpy.asarray(array)
    if array.ndim != 1 or array.dtype.name not in ("bool", "int64", "float64", "uint8"):
        raise BenchError(f"arguments must be arrays of one dimension of bool, int64, float64 or "
                         f"uint8, not {array.dtype} {array.shape}")
    if array.dtype.name == "uint8":
        text = array.tobytes() or b"\0"
        if array.size and text[-1] == 0:
            raise BenchError("a text cannot end in the character 0: numpy's files drop it")
        array = numpy.frombuffer(text, dtype=f"S{len(text)}").reshape(())
    numpy.save(path, numpy.ascontiguousarray(array) if array.ndim else array)


def load(path, memory_map=False):
    """An array of one dimension from what any system wrote."""
    try:
        array = numpy.load(path, mmap_mode="r" if memory_map else None)
    except ValueError:  # empty files cannot be mapped
        array = numpy.load(path)
    if array.dtype.kind == "S" and array.ndim == 0:
        text = array.tobytes()
        return numpy.frombuffer(b"" if text == b"\0" else text, dtype=numpy.uint8)
    if array.dtype.kind == "S":
        array = array.view(numpy.uint8)
    return numpy.atleast_1d(array)


class Data:
    """The arguments of a case at a size, on disk."""

    def __init__(self, case, variant, n):
        self.case, self.variant, self.n = case, variant, n
        made_by = hashlib.sha256(case.source.read_bytes() +
                                 (BENCH / "case.py").read_bytes()).hexdigest()[:12]
        name = "-".join(str(part) for part in (variant, n) if part != "")
        self.folder = WORK / "data" / case.name / (re.sub(r"[^\w.-]", "_", name) + "." + made_by)
        if not (self.folder / "arguments.json").exists():
            self.make()
        self.plan = json.loads((self.folder / "arguments.json").read_text())

    def make(self):
        for old in self.folder.parent.glob(self.folder.name.rsplit(".", 1)[0] + ".*"):
            shutil.rmtree(old, ignore_errors=True)
        self.folder.mkdir(parents=True)
        seed = f"{self.case.name} {self.variant}".strip()
        plan = []
        for k, a in enumerate(dict(variants(self.case))[self.variant](
                self.n, rng(seed, self.n))):
            if isinstance(a, (bool, int, float)):
                plan.append({"value": a})
            elif isinstance(a, numpy.generic):
                plan.append({"value": a.item()})
            else:
                save(self.folder / f"a{k}.npy", a)
                plan.append({"file": f"a{k}.npy", "bytes": int(a.nbytes)})
        (self.folder / "arguments.json").write_text(json.dumps(plan))

    def arguments(self, memory_map=False):
        """As Case.reference takes them. What comes of memory maps is not to be changed."""
        return [a["value"] if "value" in a else load(self.folder / a["file"], memory_map)
                for a in self.plan]

    def bytes(self):
        return sum(a.get("bytes", 8) for a in self.plan)

    def words(self, number):
        """Words of a command line: files, and numbers as `number` writes them."""
        return [number(a["value"]) if "value" in a else relative(self.folder / a["file"])
                for a in self.plan]


def relative(path):
    """As people type it, from the root of the tree."""
    path = Path(path)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
