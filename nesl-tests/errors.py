#!/usr/bin/env python3
"""errors.py - tests the messages of docs/nesl-errors.md, and that all ways of evaluation agree on them.

    nesl-tests/errors.py [--nesl PATH] [--update]

Every listing of the page that begins with ```nesl is a file example.nesl, run with the options that
follow the word; the listing after it is the exact output of `nesl`: compiled, compiled without
optimising, interpreted directly (not where it says "compiled only": limits of memory differ).
Beside it is shapes.nesl, which some import. The page must have a section for each kind of error, and every sentence of a failed check of the library.
--update writes the present output into the page, to be reviewed before it is committed.

Then the files of errors (of nesl-tests/nesl, and of the corpus if present) are run in these ways;
their output and errors must agree, including source locations, marks and notes."""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "nesl-errors.md"
CORPUS = ROOT.parent / "shared" / "corpus" / "nesl"
WAYS = [[], ["--no-optimise"], ["--direct"]]
LISTING = re.compile(r"^```nesl ?([^\n]*)\n(.*?)^```\n+```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMPILED_ONLY = "compiled only"
SHAPES = """datatype box(width : float, height : float);
function area(b) = b.width * b.height;
"""

KINDS = """parse type unbound pattern duplicate builtin unknown-type no-body serial-only
optional-argument field nonfinite runtime user limit""".split()

SENTENCES = """Sequence reference (a[i]) out of bounds.
Divide by zero.
Divide by zero in function REM.
Divide by zero in function MOD.
The power must be nonnegative for ^ .
Sqrt of negative number.
Ln of negative number.
Rand only works with positive numbers.
In [s:e:l], e must be >= to s, and l must be positive.
In [s:e:l], the length must not exceed the greatest int.
In a ++ b, the length must not exceed the greatest int.
The length must not exceed the greatest int in function FLATTEN.
Length mismatch in an apply-to-each.
Length mismatch in function ZIP.
Index out of bounds for function ->.
Index out of bounds for function <-.
Bad arguments to function PERMUTE.
Length mismatch in function PARTITION.
Bounds error for function TAKE.
Bounds error for function DROP.
Bounds error for function SUBSEQ.
Length mismatch for function INTERLEAVE.
Lengths of subsequences are not equal in function TRANSPOSE.
The second argument for the function HASH must be positive.
In function exp_string, digits_after_point is too large.
Length mismatch for function PUT.
Length mismatch for function COND_PUT.
Index out of bounds for function REP.
Length mismatch for function JOIN.
Length mismatch for function FLAG_MERGE.
Length mismatch for function UNPACK.
Length mismatch in function SPLIT.
The argument for the function DIST must not be negative.
The argument for the function INDEX must not be negative.
The argument for the function VSEP must have two elements.
The argument for the function MAX_INDEX must not be empty.
The argument for the function MIN_INDEX must not be empty.
An empty sequence of characters has no greatest or least.
The second argument for the function GROUP_BY must be positive.
Bounds error for function KTH_SMALLEST.
No int for the argument of FLOOR.
No int for the argument of CEIL.
No int for the argument of TRUNC.
No int for the argument of ROUND.
No int for the argument of FLOAT_TO_ANY.
The rows of a matrix must be as long as the first.
The counts for the function MATRIX_RESHAPE must not be negative.
Length mismatch for function MATRIX_RESHAPE.
The counts for the function MATRIX_TABULATE must not be negative.
The function MATRIX_TABULATE makes too many elements.
Bounds error for function MATRIX_ROW.
Bounds error for function MATRIX_COLUMN.
Bounds error for function MATRIX_ELEMENT.
Bounds error for function MATRIX_SLICE.
Shape mismatch for function MATRIX_ZIP_WITH.
Shape mismatch for function MATRIX_TIMES_VECTOR.
Shape mismatch for function MATRIX_MULTIPLY.
The radius for the function STENCIL must not be negative.
The radius for the function STENCIL2 must not be negative.
The size for the function WINDOWS must be positive.
The size for the function WINDOWS2 must be positive.""".splitlines()


# The sentences of the library's checks; those above are of checks.def, too.
CHECK = re.compile(r'[={] *_check\([^"]*"([^"]+)"')


def sentences():
    files = sorted((ROOT / "neslc" / "library").glob("*.nesl"))
    return [*SENTENCES, *sorted({s for file in files for s in CHECK.findall(file.read_text())})]


def said(nesl, way, flags, path, folder):
    """Standard output and error of a run, as on a terminal."""
    done = subprocess.run([nesl, *way, *flags, "--echo", "run", path], cwd=folder, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    if done.returncode not in (0, 1):
        return f"exit status {done.returncode}\n" + done.stdout
    return done.stdout


def complaints(output):
    """The errors only, without the results of other forms."""
    return re.sub(r"^\n[a-z(].* = .* : .*\n", "", output, flags=re.MULTILINE)


def compare(name, expected, found):
    if expected == found:
        return 0
    print(f"{name}:\n-- expected\n{expected}-- but it is\n{found}")
    return 1


def check_example(options, match, folder):
    flags = match.group(1).replace(COMPILED_ONLY, "").split()
    ways = WAYS[:1] if COMPILED_ONLY in match.group(1) else WAYS
    (folder / "example.nesl").write_text(match.group(2))
    failed = 0
    for way in ways:
        found = complaints(said(options.nesl, way, flags, "example.nesl", folder))
        name = f"docs/nesl-errors.md, {' '.join(way) or 'compiled'}: {match.group(2).strip()}"
        failed += compare(name, match.group(3), found)
    return bool(failed)


def update(options, folder):
    def now(match):
        flags = match.group(1).replace(COMPILED_ONLY, "").split()
        (folder / "example.nesl").write_text(match.group(2))
        found = complaints(said(options.nesl, [], flags, "example.nesl", folder))
        options_of = " " + match.group(1) if match.group(1) else ""
        return f"```nesl{options_of}\n{match.group(2)}```\n\n```\n{found}```"

    PAGE.write_text(LISTING.sub(now, PAGE.read_text()))


def check_page(options, folder):
    page = PAGE.read_text()
    messages = "".join(match.group(3) for match in LISTING.finditer(page))
    missing = [k for k in KINDS if f"\n## `{k}`" not in page]
    missing += [s for s in sentences() if f"error: {s}" not in messages]
    for what in missing:
        print(f"docs/nesl-errors.md: nothing about {what}")
    results = [check_example(options, match, folder) for match in LISTING.finditer(page)]
    return len(missing) + sum(results), len(results)


def files_of_errors():
    files = sorted((ROOT / "nesl-tests" / "nesl").rglob("errors*.nesl"))
    return files + sorted((CORPUS / "errors").glob("*.nesl"))


def check_agreement(options, path):
    first, *others = [said(options.nesl, way, ["--classic"], path.name, path.parent)
                      for way in WAYS]
    return any([compare(f"{path} {' '.join(way)}", first, found)
                for way, found in zip(WAYS[1:], others)])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nesl", default=str(ROOT / "build" / "bin" / "nesl"))
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    options.nesl = str(pathlib.Path(options.nesl).resolve())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "shapes.nesl").write_text(SHAPES)
        if options.update:
            update(options, folder)
        failed, count = check_page(options, folder)
    files = files_of_errors()
    failed += sum(check_agreement(options, path) for path in files)
    print(f"{count + len(files) - failed} passed, {failed} failed")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
