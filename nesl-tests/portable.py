#!/usr/bin/env python3
"""portable.py - `neslc --portable` writes programs for the interpreters of the 1990s.

    nesl-tests/portable.py [--neslc PATH] [--vinterp PATH] [FILE...]

Compiles expressions of the corpus, of nesl-tests/nesl and of the examples (all, or those of the
files) with --portable and without. Portable programs must pass the checker in classic.py, and
`vinterp --classic` must print the same for both, or the sentence of a failed check. At most --forms
expressions of each file are used, evenly distributed."""

import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import classic
from nesl import File, suite_files

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFINITION = re.compile(r"function\b|datatype\b|\(?[A-Za-z_][\w, ()]*\s*=[^=]")
# What differs from one run to the next, or looks at what is outside of the program.
NOT_REPEATED = re.compile(r"\btime\b|\bset\b|\bload\b|\bshell_command\b|\bplot|\bdump\b|@")

# What a classic interpreter refuses, one program for each reason: a checker that takes one of
# them checks nothing.
REFUSED = {
    "CONST SEGDES takes one number": "FUNC MAIN CONST SEGDES (2 1) RET",
    "'ASSERT' is no instruction": 'FUNC MAIN ASSERT "x" RET',
    "more than 32 bits": "FUNC MAIN CONST INT 2147483648 RET",
    "no FLOAT": "FUNC MAIN CONST FLOAT 1e5 RET",
    "no instruction": "FUNC MAIN SORT_UP INT RET",
    "CPOP of more than 100": "FUNC MAIN CPOP 101 0 RET",
    "more than 50 nested": "FUNC MAIN" + " IF" * 51 + " ELSE ENDIF" * 51 + " RET",
    "more than 49 characters": f"FUNC {'A' * 50} RET",
    "ENDIF without an IF": "FUNC MAIN ENDIF RET",
    "ELSE without an IF": "FUNC MAIN IF ELSE ELSE ENDIF RET",
    "is not defined": "FUNC MAIN CALL OTHER RET",
    "defined twice": "FUNC MAIN RET FUNC MAIN RET",
    "begins no token": "FUNC MAIN # RET",
    "- BOOL": "FUNC MAIN - BOOL RET",
    "has no RET": "FUNC MAIN IF ELSE ENDIF",
}


def expressions(path, most):
    """The definitions of a file that work, and up to `most` of its expressions."""
    file = File(path)
    if file.speed or "classic" not in file.widths:
        return [], []
    definitions, found = [], []
    for (_, form), expected in zip(file.forms, file.expected):
        wrong = expected is not None and expected.startswith("error ")
        if NOT_REPEATED.search(form):
            continue
        if DEFINITION.match(form):
            if not wrong:
                definitions.append(form)
        elif not wrong or expected.startswith("error runtime"):
            found.append(form)
    step = max(1, -(-len(found) // most))
    return definitions, found[::step]


class Checker:
    def __init__(self, options):
        self.neslc, self.vinterp = options.neslc, options.vinterp

    def compile(self, folder, form, *flags):
        """The name of the compiled program, or None if it cannot be compiled."""
        out = f"{folder}/{'-'.join(flags) or 'own'}.vcode"
        ran = subprocess.run([self.neslc, f"{folder}/p.nesl", "-e", form, "-o", out, *flags],
                             capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
        return out if ran.returncode == 0 else None

    def run(self, program):
        return subprocess.run([self.vinterp, "--classic", program], capture_output=True,
                              timeout=60, stdin=subprocess.DEVNULL, encoding="latin-1")

    def difference(self, portable, own):
        """The error in the output of the portable program, or None."""
        want, got = self.run(own), self.run(portable)
        if got.returncode == 0 and want.returncode == 0:
            return None if got.stdout == want.stdout else f"{got.stdout!r}, not {want.stdout!r}"
        if want.returncode == 0:
            return f"it fails: {got.stderr}"
        if got.returncode != 0:  # a fault of the machine's own
            return None if "RUNTIME" not in want.stderr else got.stderr
        said = re.search(r"RUNTIME ERROR: (.*)\n", got.stdout)
        reported = said and said.group(1) in want.stderr
        ended = "error(" in want.stderr or got.stdout == want.stdout
        return None if reported or ended else f"{got.stdout!r}, not {want.stderr!r}"

    def check(self, definitions, form):
        """(1 if a program was checked, its error or None)."""
        with tempfile.TemporaryDirectory(prefix="ravel-") as folder:
            pathlib.Path(folder, "p.nesl").write_text("\n".join(definitions) + "\n", "latin-1")
            portable = self.compile(folder, form, "--portable")
            own = self.compile(folder, form, "--classic")
            if not portable or not own:
                return 0, None if bool(portable) == bool(own) else "only one way compiles"
            reason = classic.refusal(pathlib.Path(portable).read_text("latin-1"))
            return 1, reason or self.difference(portable, own)

    def check_file(self, path, most):
        """(how many programs were checked, failures)."""
        definitions, forms = expressions(path, most)
        count, failures = 0, []
        for form in forms:
            checked, wrong = self.check(definitions, form)
            count += checked
            if wrong:
                failures.append(f"{path}: {form[:100]}\n  {wrong}")
        return count, failures


def checker_is_blind():
    """The reasons for refusals that the checker does not detect."""
    return [why for why, text in REFUSED.items() if why not in (classic.refusal(text) or "")]


def main():
    options = argparse.ArgumentParser(description=__doc__,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--neslc", default=str(ROOT / "build/bin/neslc"))
    options.add_argument("--vinterp", default=str(ROOT / "build/bin/vinterp"))
    options.add_argument("--forms", type=int, default=1, help="of each file, at most (1)")
    options.add_argument("files", nargs="*", metavar="FILE")
    options = options.parse_args()
    failures = [f"classic.py takes a program though {why}" for why in checker_is_blind()]
    checker, count = Checker(options), 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for checked, wrong in pool.map(lambda path: checker.check_file(path, options.forms),
                                       suite_files(options.files)):
            count += checked
            failures += wrong
    for failure in failures:
        print(failure)
    print(f"{count} portable programs, {len(failures)} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
