#!/usr/bin/env python3
"""nesl.py - runs NESL forms through `nesl --outcomes` and compares what comes of each.

A suite is a folder with NAME.nesl and NAME.expected beside it, one line for each form (the
format stands in the corpus' README). Every file runs in a fresh process, in several
configurations: interpreted directly, compiled, compiled and optimised.

    nesl.py                        the corpus and nesl-tests/nesl, in the usual configurations
    nesl.py --config direct FILE   one file, one configuration
    nesl.py --list                 the configurations

Comparison: white space outside of strings is squeezed; floats agree within 1e-9 relative or
1e-12 absolute; type variables may have other names. Of an error the kind must agree, and where
an expected line has a message, what is reported must begin with it. A failure is printed with
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

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parent.parent / "shared" / "corpus" / "nesl"

CONFIGS = {
    "direct": ["--direct"],
    "compiled": ["--backend", "cpu"],
    "optimised": ["--backend", "cpu", "-O"],
    "no-fusion": ["--backend", "cpu", "-O", "--no-fusion"],
    "one-thread": ["--backend", "cpu", "-O", "--threads", "1"],
    "delayed": ["--backend", "delayed"],
    "delayed-optimised": ["--backend", "delayed", "-O"],
    "cuda-emu": ["--backend", "cuda-emu"],
    "cuda-emu-optimised": ["--backend", "cuda-emu", "-O"],
}
DEFAULT_CONFIGS = ["direct", "compiled", "optimised"]


# ---- forms of a file ----


def split_forms(text):
    """The forms of a .nesl file: (line number, text). A form starts where a line begins without
    white space and goes on over lines that begin with it."""
    forms = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or (line.startswith("%") and line.rstrip().endswith("%")):
            continue
        if line[0] in " \t" and forms:
            forms[-1][1] += " " + line.strip()
        else:
            forms.append([number, line.rstrip()])
    return [(number, form) for number, form in forms]


# ---- comparison ----

TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"'  # string
    r"|`.|\s+"
    r"|-?\d+\.\d*(?:[Ee][-+]?\d+)?|-?\d+[Ee][-+]?\d+|-?\d+"
    r"|[A-Za-z_][A-Za-z_0-9]*|.",
    re.DOTALL,
)
FLOAT = re.compile(r"-?\d+\.\d*(?:[Ee][-+]?\d+)?$|-?\d+[Ee][-+]?\d+$")
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


def same_number(a, b):
    x, y = float(a), float(b)
    return x == y or abs(x - y) <= max(1e-12, 1e-9 * max(abs(x), abs(y)))


def same_values(a, b):
    a, b = tokens(a), tokens(b)
    return len(a) == len(b) and all(
        x == y or (FLOAT.match(x) and FLOAT.match(y) and same_number(x, y))
        for x, y in zip(a, b)
    )


def canonical_type(text):
    """The type with its variables named in order of first appearance."""
    names = {}
    return [
        names.setdefault(t, "?%d" % len(names)) if VARIABLE.match(t) else t
        for t in tokens(text)
    ]


def agrees(expected, actual):
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
    return same_values(value, actual_value) and canonical_type(type_text) == canonical_type(
        actual_type
    )


# ---- running ----


def outcomes(nesl, flags, path, timeout):
    """(lines, what went wrong with the process or None)."""
    command = [nesl, "--classic", *flags, "--outcomes", str(path)]
    try:
        ran = subprocess.run(command, capture_output=True, timeout=timeout)
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
    def __init__(self, path, config, line, form, expected, actual):
        self.path, self.config, self.line = path, config, line
        self.form, self.expected, self.actual = form, expected, actual
        self.follows = False


def run_file(nesl, path, config, timeout):
    """(forms, failures) of a file in a configuration."""
    forms = split_forms(path.read_text("latin-1"))
    expected = path.with_suffix(".expected").read_text("latin-1").split("\n")
    if expected and expected[-1] == "":
        expected.pop()
    if len(forms) != len(expected):
        sys.exit("%s: %d forms, %d expected lines" % (path, len(forms), len(expected)))
    lines, trouble = outcomes(nesl, CONFIGS[config], path, timeout)
    failures = []
    for at, ((number, form), want) in enumerate(zip(forms, expected)):
        gone = trouble or "nothing: there were only %d lines" % len(lines)
        got = lines[at] if at < len(lines) else gone
        if not agrees(want, got):
            failures.append(Failure(path, config, number, form, want, got))
            failures[-1].follows = at > len(lines)  # the process was gone before
    if not failures and (trouble or len(lines) != len(forms)):
        what = trouble or "%d lines for %d forms" % (len(lines), len(forms))
        failures.append(Failure(path, config, 0, "", "a line for each form", what))
    return len(forms), failures


# ---- the shortest program that shows a failure ----


def reproduce(nesl, failure, timeout):
    """The least of the forms before a failing one that it needs to fail in the same way."""
    forms = [form for number, form in split_forms(failure.path.read_text("latin-1"))
             if number <= failure.line]

    def fails(kept):
        with tempfile.NamedTemporaryFile("w", suffix=".nesl", encoding="latin-1") as file:
            file.write("\n".join(kept) + "\n")
            file.flush()
            lines, trouble = outcomes(nesl, CONFIGS[failure.config], file.name, timeout)
        if len(lines) < len(kept):
            return trouble is not None and failure.actual.startswith(trouble[:9])
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


# ---- the command ----


def suite_files(arguments):
    if arguments:
        return [pathlib.Path(a).resolve() for a in arguments]
    files = []
    for root in (CORPUS, HERE / "nesl"):
        if root.exists():
            files += sorted(root.rglob("*.nesl"))
    return [f for f in files if f.with_suffix(".expected").exists()]


def suite_of(path):
    return path.parent.name


def print_table(totals, configs):
    suites = sorted({suite for suite, _ in totals})
    width = max(len(s) for s in suites + ["all"])
    print("%-*s %7s" % (width, "", "forms"), *("%12s" % c for c in configs))
    for suite in [*suites, "all"]:
        cells, forms = [], 0
        for config in configs:
            rows = [v for (s, c), v in totals.items() if c == config and suite in (s, "all")]
            forms, failed = sum(r[0] for r in rows), sum(r[1] for r in rows)
            cells.append("%12s" % ("all pass" if not failed else "%d fail" % failed))
        print("%-*s %7d" % (width, suite, forms), *cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nesl", default=str(HERE.parent / "build" / "bin" / "nesl-tests"),
                        help="the command")
    parser.add_argument("files", nargs="*", help="instead of every suite")
    parser.add_argument("--config", action="append", choices=CONFIGS)
    parser.add_argument("--direct", action="store_true", help="as --config direct")
    parser.add_argument("--list", action="store_true", help="print the configurations")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=60, help="seconds for one file")
    parser.add_argument("--most", type=int, default=20, help="failures shown in full")
    options = parser.parse_args()
    if options.list:
        for name, flags in CONFIGS.items():
            print(name, *flags)
        return 0
    configs = options.config or (["direct"] if options.direct else DEFAULT_CONFIGS)
    files = suite_files(options.files)
    if not files:
        print("nesl.py: no suite is here")
        return 1
    totals, failures = {}, []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [(f, c) for f in files for c in configs]
        ran = pool.map(lambda job: run_file(options.nesl, *job, options.timeout), jobs)
        for (path, config), (forms, failed) in zip(jobs, ran):
            total = totals.setdefault((suite_of(path), config), [0, 0])
            total[0] += forms
            total[1] += len(failed)
            failures += failed
    print_table(totals, configs)
    failed = bool(failures)
    failures = [f for f in failures if not f.follows]
    for failure in failures[: options.most]:
        print("\n%s:%d (%s)" % (failure.path, failure.line, failure.config))
        print("  expected %s\n  but it is %s" % (failure.expected, failure.actual))
        for form in reproduce(options.nesl, failure, options.timeout):
            print("    " + form)
    if len(failures) > options.most:
        print("\n%d more failures; --most shows them" % (len(failures) - options.most))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
