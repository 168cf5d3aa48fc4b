"""What is cut of each program: which bodies and functions are applied to many instances, and what becomes of them.

    bench/report cut [NAME ...]            prints them
    bench/report cut --check | --update    compares their numbers with bench/expected.txt, or writes them there

The programs are those of bench/programs (their function `bench`) and the examples, of which superoperators.FORMS says
what is computed; and each function of the library that takes or returns sequences, called for many instances.
`neslc --explain` says what becomes of each body, `fcodeopt --explain` which lifted functions stay. Nothing is
executed. A body or function with sequences of its own is

- cut: a lifted function when it is optimised: the machine may execute it for some instances at a time;
- in superoperators: none of its elements are ever in memory, but those of its result;
- one operation: the body is a single operation on all segments;
- in calls: what it holds is held by functions that it calls for its instances;
- not: all of its elements exist at once;
- removed: the optimiser found that it is never called.
"""

import re
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import case  # noqa: F401  (first: it finds a python that has numpy)
import expected
import superoperators
from collection import ROOT, relative, split_type
from systems import WIDTHS

LIBRARY = ROOT / "docs" / "nesl-library.md"

# Words of the compiler for what gains nothing by being cut, and for what is cut further inside.
VALUE_ONLY = "needs no elements of the sequences that it computes"
IN_CALLS = "computes sequences in calls only"

# Of what a function and those that it calls became the first of these counts.
ORDER = ["not", "cut", "in superoperators", "one operation", "nothing to cut"]

# A line of what neslc says, and then what became of it.
Row = namedtuple("Row", "file line column what verdict reason")
SAID = re.compile(r"(.*?):(\d+):(\d+): (.*?) is (not )?lifted: (.*)")


# ---- what the commands say ----

def compiled(build, folder, source, words, widths):
    """The lines of neslc, and function -> what fcodeopt says of it, and of values in memory that were to be fused."""
    made = Path(folder) / "made.vcode"
    said = superoperators.run([build / "bin" / "neslc", *widths, "--explain", "-o", made, *words, source]).stdout
    optimised = superoperators.run([build / "bin" / "fcodeopt", *widths, "--explain", "-o", "/dev/null", made]).stdout
    kept = re.findall(r"^function (\S+)\n  (lifted|inlined): (.*)$", optimised, re.MULTILINE)
    left = left_in_memory(made.read_text().splitlines(), optimised)
    return said.replace(f"{folder}/", ""), {name: (stays, why, left.get(name)) for name, stays, why in kept}


def left_in_memory(code, optimised):
    """Function -> the first gather in its lines whose result fusion left in memory.

    Whether a function is inlined is decided before fusion, from what fusion is expected to do. What it left afterwards
    is said by line. Such a gather may be of elements for each instance where the function has segments: some that it
    makes, or those of its parameters."""
    starts = [k for k, line in enumerate(code) if line.startswith("FUNC ")] + [len(code)]
    own = {}
    for begin, end in zip(starts, starts[1:]):
        mark = re.search(r"\{% instances (.*?) ->", code[begin])
        segments = "MAKE_SEGDES" in code[begin:end] or mark and re.search(r"\d", mark[1])
        own.update((line + 1, code[begin].split()[1]) for line in range(begin, end) if segments)
    left = {}
    for line, why in re.findall(r"^  line (\d+): (the result of BPERMUTE .*)$", optimised, re.MULTILINE):
        if int(line) in own and re.search(r"keeps its order with|needs the result of another pass", why):
            left.setdefault(own[int(line)], plain(why))
    return left


def plain(why):
    """A reason without the numbers that change with every other change of the program."""
    why = re.sub(r"line \d+: | in line \d+", "", why)
    why = re.sub(r"in memory: (.*), which may fail", r"in memory, since \1, which may fail", why)
    why = re.sub(r"\bOP\d+\b", "a superoperator", why)
    why = re.sub(r"\bEACH_\d+L\b", "an apply-to-each", why)
    return re.sub(r"\b(\w+?)_\d+L?\b", lambda name: name[1].lower(), why)


def verdict(negated, said, kept):
    if negated:
        why = said.removeprefix("it ")
        return {IN_CALLS: ("in calls", ""), VALUE_ONLY: ("value only", "")}.get(why, ("not", why))
    stays, why, left = kept.get(said, ("removed", "", None))
    if stays == "lifted":
        return "cut", plain(why)
    if stays == "removed":
        return stays, ""
    if why == "it is one operation":
        return "one operation", ""
    return ("not", f"is inlined, but {left}") if left else ("in superoperators", "")


def rows(said, kept):
    """In the order of source locations, each once."""
    found = set()
    for line in said.splitlines():
        match = SAID.fullmatch(line)
        if match:
            file, at, column, what, negated, rest = match.groups()
            found.add(Row(file, int(at), int(column), what, *verdict(negated, rest, kept)))
    return sorted(found, key=lambda r: (r.file.startswith("library/"), r))


# ---- programs ----

def look_at(one, build):
    """The rows of a program."""
    with tempfile.TemporaryDirectory() as folder:
        source = one.source
        if source.parent == superoperators.EXAMPLES:
            source = Path(folder) / source.name
            source.write_text(superoperators.definitions(one.source.read_text()))
        said, kept = compiled(build, folder, relative(source), one.compiling, WIDTHS[one.widths])
    return [row for row in rows(said, kept) if row.verdict != "value only"]


def lines(title, found):
    """What is said of a program."""
    yield title
    for row in found:
        yield f"  {row.file}:{row.line}:{row.column}: {row.what}: {row.verdict}" + (f": {row.reason}" if row.reason else "")


# ---- the library ----

# A row of the page of the library, and what cannot be called here.
ENTRY = re.compile(r"^\| `(?P<call>[^`]*)` \| `(?P<type>[^`]*)` \| (?P<meaning>.*) \|$", re.MULTILINE)
BUILT_IN = {"int", "float", "bool", "char"}


def parameters(call):
    """The names of the parameters of a call: of a function, or of an operator."""
    inside = re.fullmatch(r"\w+\((.*)\)", call)
    return [name.split()[0] for name in inside[1].split(",")] if inside else [call.split()[0], call.split()[-1]]


def of_library():
    """The calls of functions of sequences, and the types of arguments and result, with ints where there is a choice."""
    for entry in ENTRY.finditer(LIBRARY.read_text()):
        kind, _, classes = entry["type"].replace("\\|", "|").partition(" :: ")
        words = set(re.findall(r"\w+", kind))
        if "[" not in kind or kind.count("->") != 1 or not all(len(word) == 1 or word in BUILT_IN for word in words):
            continue
        if "Serial only" not in entry["meaning"]:
            arguments, _, result = re.sub(r"\b\w\b", "int", kind).partition(" -> ")
            yield entry["call"].replace("\\|", "|"), split_type(arguments), result


def called_for_many(call, arguments, result):
    """A program with the function `bench` that makes the call for many instances."""
    names = parameters(call)
    if len(names) < len(arguments):
        raise ValueError(f"{relative(LIBRARY)}: {call} has {len(names)} parameters, and types of {len(arguments)}")
    if len(arguments) == 1 < len(names):  # a tuple
        names = names[:1]
    generators = "; ".join(f"{name} in {name}_all" for name in names)
    kinds = ", ".join(f"[{kind}]" for kind in arguments)
    return (f"function bench({', '.join(name + '_all' for name in names)}) : ({kinds}) -> [{result}] =\n"
            f"  {{{call} : {generators}}};\n")


def look_at_function(entry, build):
    """The first of ORDER that a call for many instances, or what it calls, became."""
    call, arguments, result = entry
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "call.nesl"
        source.write_text(called_for_many(call, arguments, result))
        verdicts = {row.verdict for row in rows(*compiled(build, folder, source, ["--entry", "bench"], WIDTHS["64"]))}
    return next(word for word in ORDER if word in verdicts or word == ORDER[-1])


def library(pool, build):
    """{word of ORDER: names of functions}"""
    entries = list(of_library())
    names = {word: [] for word in ORDER}
    for entry, word in zip(entries, pool.map(lambda e: look_at_function(e, build), entries)):
        names[word].append(entry[0].split("(")[0])
    return {word: ", ".join(sorted(found)) for word, found in names.items()}


def main(words):
    options = superoperators.parse(__doc__, words)
    programs = superoperators.chosen(options.names)
    with ThreadPoolExecutor(options.jobs) as pool:
        found = list(pool.map(lambda one: look_at(one, options.build), programs))
        functions = {} if options.names else library(pool, options.build)
    if not options.check:
        for one, rows_of_one in zip(programs, found):
            print("\n".join(lines(one.title, rows_of_one)))
        for word, names in functions.items():
            print(f"functions of the library, {word}: {names}")
    counts = {one.title: expected.counted(sorted(row.verdict for row in rows_of_one))
              for one, rows_of_one in zip(programs, found)}
    status = superoperators.conclude(options, "cut", counts, "bench/report cut")
    return (functions and superoperators.conclude(options, "cut, functions of the library", functions, "bench/report cut")) or status
