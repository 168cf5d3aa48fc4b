#!/usr/bin/env python3
"""nesl.py - runs NESL forms through `nesl --outcomes` and compares their outcomes.

A suite is a folder of .nesl files. The expected outcomes are either in NAME.expected, one line for
each form (the corpus' README describes the format), or in a comment after each form:

    1 + 2;
    %= 3 : int %

where "it = " and the type may be omitted; a form without a comment must not fail. (`nesl
test` understands the same.) Comments at the top of such a file are options: `% widths: classic
%` or `% widths: 64 %` if what is expected depends on the widths, `% seeds: 1 2 3 %` to run it with
each of these seeds, `% needs: files %` to let it open files and start processes, which compiled
programs can, in an empty directory, `% needs: speed %` if interpreting it directly, or on the
emulated GPU, would take minutes. Every file runs in a fresh process, in several configurations:
interpreted directly, compiled, compiled and optimised; the corpus in the classic widths only.

    nesl.py                        the corpus, nesl-tests/nesl and examples, in the usual ways
    nesl.py --config direct FILE   one file, one configuration
    nesl.py --list                 the configurations

Comparison: white space outside of strings is squeezed; floats agree within 1e-9 relative or
1e-12 absolute; type variables may have other names. Kinds of errors must agree, and where an
expected line has a message, the reported one must begin with it. A failure is printed with
the shortest beginning of its file that shows it: the definitions before the form, and the form.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from matrix import CONFIGS

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "shared" / "corpus" / "nesl"
COMMAND = str(HERE.parent / "build" / "bin" / "nesl-tests")

DEFAULT_CONFIGS = ["direct", "unoptimised", "fused"]


# ---- forms of a file ----


def split_forms(text):
    """The forms of a .nesl file: (line number, text). A form starts where a line begins without
    white space and goes on over lines that begin with it. Properties are comments (properties.py
    tries them), which may have several lines, too."""
    forms, in_property = [], False
    for number, line in enumerate(text.split("\n"), 1):
        if in_property or line.startswith("%property "):
            in_property = not line.rstrip().endswith("%")
            continue
        if not line.strip() or line.startswith("#!") or (
                line.startswith("%") and line.rstrip().endswith("%")):
            continue
        if line[0] in " \t" and forms:
            forms[-1][1] += " " + line.strip()
        else:
            forms.append([number, line.rstrip()])
    return [(number, form) for number, form in forms]

# Forms of the corpus that the language now accepts: what is a number and logical is an int, and
# programs may use the names of constants and of the library for their own.
IDENTITY = "%s = fn : a -> a :: (a in any)"
SUPERSEDED = {
    "function r6(x, y) = (x + y) and x;": "r6 = fn : (int, int) -> int",
    "let t = 3 in t;": "it = 3 : int",
    "let f = 3 in f;": "it = 3 : int",
    "t = 3;": "t = 3 : int",
    "f = 4;": "f = 4 : int",
    "time = 5;": "time = 5 : int",
    "pi = 3;": "pi = 3 : int",
    "sort = 3;": "sort = 3 : int",
    "datatype one(int);": "one = fn : int -> one",
    **{f"function {name}(x) = x;": IDENTITY % name for name in ("rank", "find", "median")},
}


class File:
    """The forms of a .nesl file, what is expected of each (None: no error), and how it runs."""

    def __init__(self, path):
        self.path, self.widths, self.seeds = path, {"classic", "64"}, [None]
        self.files = self.speed = False
        text = path.read_text("latin-1")
        self.forms = split_forms(text)
        beside = path.with_suffix(".expected")
        if beside.exists():
            self.widths = {"classic"}
            self.expected = beside.read_text("latin-1").removesuffix("\n").split("\n")
            if len(self.forms) != len(self.expected):
                sys.exit("%s: %d forms, %d expected lines"
                         % (path, len(self.forms), len(self.expected)))
            self.expected = [SUPERSEDED.get(form, wanted) for (_, form), wanted
                             in zip(self.forms, self.expected)]
        else:
            self.read_comments(text)

    def read_comments(self, text):
        indices = {number: at for at, (number, _) in enumerate(self.forms)}
        self.expected, form = [None] * len(self.forms), None
        for number, line in enumerate(text.split("\n"), 1):
            form = indices.get(number, form)
            comment = line.strip().strip("%").strip()
            if line.startswith("%= "):
                if form is None or self.expected[form] is not None:
                    sys.exit("%s:%d: an expectation without a form" % (self.path, number))
                self.expected[form] = comment.removeprefix("=").strip()
            elif line.startswith("% widths: "):
                self.widths = set(comment.split()[1:])
            elif line.startswith("% seeds: "):
                self.seeds = comment.split()[1:]
            elif line.startswith("% needs: files"):
                self.files = True
            elif line.startswith("% needs: speed"):
                self.speed = True

    def runs_in(self, config):
        way, backend = CONFIGS[config].way, CONFIGS[config].backend
        if way == "direct" and (self.files or self.speed):
            return False
        if backend == "cuda-emu" and self.speed:
            return False
        return CONFIGS[config].widths in self.widths


# ---- comparison ----

TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"'  # string
    r"|`.|\s+"
    r"|-?\d+\.\d*(?:[Ee][-+]?\d+)?|-?\d+[Ee][-+]?\d+|-?\d+"
    r"|[A-Za-z_][A-Za-z_0-9]*|.",
    re.DOTALL,
)
FLOAT = re.compile(r"-?\d+\.\d*(?:[Ee][-+]?\d+)?$|-?\d+[Ee][-+]?\d+$")
RESULT = re.compile(r'(out "(?:\\.|[^"\\])*" )?([A-Za-z_]\w*|\([\w, ()]*\)) = ')
VARIABLE = re.compile(r"[a-z]\d*$")


def tokens(text):
    return [t for t in TOKEN.findall(text) if not t.isspace()]


def split_type(text):
    """(everything up to the type, the type) of a result line."""
    depth, at, last = 0, 0, None
    for match in TOKEN.finditer(text):
        if match.group() == ":" and not text.startswith("::", match.start()):
            if text[match.start() - 1] != ":":
                last = match.start()
        at += 1
    return (text[:last], text[last:]) if last is not None else (text, "")


def same_number(a, b, tolerance):
    x, y = float(a), float(b)
    return x == y or abs(x - y) <= max(tolerance / 1000, tolerance * max(abs(x), abs(y)))


def same_values(a, b, tolerance):
    a, b = tokens(a), tokens(b)
    return len(a) == len(b) and all(
        x == y or (FLOAT.match(x) and FLOAT.match(y) and same_number(x, y, tolerance))
        for x, y in zip(a, b)
    )


def canonical_type(text):
    """The type with its variables named in order of first appearance."""
    names = {}
    return [
        names.setdefault(t, "?%d" % len(names)) if VARIABLE.match(t) else t
        for t in tokens(text)
    ]


def agrees(expected, actual, tolerance=1e-9):
    """Whether an outcome is the expected one; None: any but an error."""
    if expected is None:
        return not actual.startswith("error ")
    if expected == actual:
        return True
    if expected.startswith("error "):
        if not actual.startswith("error "):
            return False
        kind, _, message = expected[6:].partition(": ")
        actual_kind, _, actual_message = actual[6:].partition(": ")
        return kind == actual_kind and actual_message.startswith(message)
    if actual.startswith("error "):
        return False
    value, type_text = split_type(expected)
    actual_value, actual_type = split_type(actual)
    if not RESULT.match(value):
        value = "it = " + value
        actual_type = actual_type if type_text else ""
    return same_values(value, actual_value, tolerance) and canonical_type(type_text) == canonical_type(
        actual_type
    )


# ---- running ----


def outcomes(nesl, flags, path, timeout):
    """(lines, the failure of the process or None)."""
    command = [nesl, *flags, "--outcomes", str(path)]
    try:
        with tempfile.TemporaryDirectory(prefix="ravel-") as scratch:
            ran = subprocess.run(command, capture_output=True, timeout=timeout, cwd=scratch,
                                 stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"").decode("latin-1").splitlines(), "more than %d s" % timeout
    lines = ran.stdout.decode("latin-1").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    trouble = None
    if ran.returncode != 0:
        trouble = "status %d: %s" % (ran.returncode, ran.stderr.decode("latin-1")[-300:])
    return lines, trouble


class Failure:
    def __init__(self, path, flags, config, line, form, expected, actual):
        self.path, self.flags, self.config, self.line = path, flags, config, line
        self.form, self.expected, self.actual = form, expected, actual
        self.follows = False


def run_file(nesl, file, config, seed, timeout):
    """(forms, failures) of a file in a configuration."""
    flags = CONFIGS[config].flags + (["--seed", seed] if seed else [])
    if file.files:
        flags = [*flags, "--allow-files", "--allow-spawn"]
    lines, trouble = outcomes(nesl, flags, file.path, timeout)
    failures = []
    for at, ((number, form), want) in enumerate(zip(file.forms, file.expected)):
        gone = trouble or "nothing: there were only %d lines" % len(lines)
        got = lines[at] if at < len(lines) else "error process: " + gone
        if not agrees(want, got):
            failures.append(Failure(file.path, flags, config, number, form, want, got))
            failures[-1].follows = at > len(lines)  # the process was gone before
    if not failures and (trouble or len(lines) != len(file.forms)):
        what = trouble or "%d lines for %d forms" % (len(lines), len(file.forms))
        failures.append(Failure(file.path, flags, config, 0, "", "a line for each form", what))
    return len(file.forms), failures


# ---- the shortest program that shows a failure ----


def reproduce(nesl, failure, timeout):
    """The smallest subset of the preceding forms with which a form still fails in the same way."""
    forms = [form for number, form in split_forms(failure.path.read_text("latin-1"))
             if number <= failure.line]

    def fails(kept):
        with tempfile.NamedTemporaryFile("w", suffix=".nesl", encoding="latin-1") as file:
            file.write("\n".join(kept) + "\n")
            file.flush()
            lines, trouble = outcomes(nesl, failure.flags, file.name, timeout)
        if len(lines) < len(kept):
            return trouble is not None and trouble[:9] in failure.actual
        return lines[-1] == failure.actual

    if not forms or not fails(forms):
        return forms
    at = len(forms) - 2
    while at >= 0:
        without = forms[:at] + forms[at + 1 :]
        if fails(without):
            forms = without
        at -= 1
    return forms


def show_failure(nesl, failure, timeout):
    print("\n%s:%d (%s: nesl %s)" % (failure.path, failure.line, failure.config,
                                     " ".join(failure.flags)))
    print("  expected %s\n  but it is %s" % (failure.expected or "no error", failure.actual))
    if ": more than " in failure.actual:
        return  # each try would take as long
    for form in reproduce(nesl, failure, timeout):
        print("    " + form)


# ---- the command ----


def suite_files(arguments):
    if arguments:
        return [pathlib.Path(a).resolve() for a in arguments]
    files = []
    for root in (CORPUS, HERE / "nesl", HERE.parent / "examples"):
        if root.exists():
            files += sorted(root.rglob("*.nesl"))
    return files


def suite_of(path):
    return path.parent.name


def print_table(totals, configs):
    """Suites against configurations: how many forms ran, and how many failed."""
    suites = sorted({suite for suite, _ in totals})
    width = max(len(s) for s in suites + ["all"])
    print("%-*s" % (width, ""), *("%18s" % c for c in configs))
    for suite in [*suites, "all"]:
        cells = []
        for config in configs:
            rows = [v for (s, c), v in totals.items() if c == config and suite in (s, "all")]
            forms, failed = sum(r[0] for r in rows), sum(r[1] for r in rows)
            cells.append("%d pass" % forms if not failed else "%d of %d fail" % (failed, forms))
        print("%-*s" % (width, suite), *("%18s" % c for c in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nesl", default=COMMAND, help="the command")
    parser.add_argument("files", nargs="*", help="instead of every suite")
    parser.add_argument("--config", action="append", choices=CONFIGS)
    parser.add_argument("--direct", action="store_true", help="as --config direct")
    parser.add_argument("--list", action="store_true", help="print the configurations")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--every", type=int, default=1, metavar="N",
                        help="only each N-th file of the suites")
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one file")
    parser.add_argument("--most", type=int, default=20, help="failures shown in full")
    options = parser.parse_args()
    options.nesl = str(pathlib.Path(options.nesl).resolve())
    if options.list:
        for config in CONFIGS.values():
            print(config.name, *config.flags)
        return 0
    configs = options.config or (["direct"] if options.direct else DEFAULT_CONFIGS)
    files = [File(path) for path in suite_files(options.files)[::options.every]]
    if not files:
        print("nesl.py: no suite is here")
        return 1
    totals, failures = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [(f, c, s) for f in files for c in configs if f.runs_in(c) for s in f.seeds]
        ran = pool.map(lambda job: run_file(options.nesl, *job, options.timeout), jobs)
        for (file, config, _), (forms, failed) in zip(jobs, ran):
            total = totals.setdefault((suite_of(file.path), config), [0, 0])
            total[0] += forms
            total[1] += len(failed)
            failures += failed
    print_table(totals, configs)
    failed = bool(failures)
    failures = [f for f in failures if not f.follows]
    for failure in failures[: options.most]:
        show_failure(options.nesl, failure, options.timeout)
    if len(failures) > options.most:
        print("\n%d more failures; --most shows them" % (len(failures) - options.most))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
