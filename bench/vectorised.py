"""Whether the baselines' loops are vector code, on machines with AVX2 and with AVX-512.

    bench/report vectors [NAME...]     a line for each claim; exit status 1 if one does not hold

A claim is a comment before a loop, `/* vector: real */` or `/* vector: integer */`, with the names of
functions of libmvec that it calls; or, of a program without such loops, `/* scalar: ... */` with the
reason. Each baseline makes one. Its object, compiled as bench/run compiles it but for the
processor, is disassembled: instructions that come from the lines of a loop must compute in vectors of
32 bytes or more.
"""

import argparse
import platform
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from case import numpy  # noqa: F401  (first: it finds a python that has numpy)
from collection import BASELINES, ROOT, BenchError, includes, load_cases, relative
from systems import FLOAT_BITS, compiler_version, standard_flags

PROCESSORS = {"AVX2": "x86-64-v3", "AVX-512": "x86-64-v4"}
HERE = platform.machine() == "x86_64"
CLAIM = re.compile(r"/\* (vector|scalar): (.*?) ?\*/", re.DOTALL)
LETTER = {64: "d", 32: "s"}
REAL = r"v(add|sub|mul|div|sqrt|min|max|cmp\w*)p{letter}$"
INTEGER = r"vp(add|sub|mul\w*|min\w*|max\w*|cmp\w*)[bwdq]$"
WIDE = re.compile(r"%([yz])mm")


@dataclass
class Claim:
    """Of the lines of a loop, or of a whole program that has no vector code."""
    source: Path
    kind: str          # real or integer; scalar
    functions: list    # of libmvec
    first: int = 0
    last: int = 0

    def where(self):
        return f"{relative(self.source)}:{self.first}"


def end_of_loop(text, at):
    """The position behind the statement of the first `for` at or after a position."""
    at = text.index("(", re.compile(r"^\s*for\b", re.MULTILINE).search(text, at).end())
    depth = 0
    for at in range(at, len(text)):
        depth += (text[at] in "({") - (text[at] in ")}")
        if depth == 0 and text[at] in ";}":
            return at + 1
    raise BenchError("a loop has no end")


def claims_of(path):
    """The claims of one file."""
    text, found = path.read_text(), []
    for match in CLAIM.finditer(text):
        if match[1] == "scalar":
            found.append(Claim(path, "scalar", []))
            continue
        kind, *functions = match[2].replace(",", " ").split()
        if kind not in ("real", "integer"):
            raise BenchError(f"{relative(path)}: a loop is of `real` or `integer`, not `{kind}`")
        end = end_of_loop(text, match.end())
        found.append(Claim(path, kind, functions, text.count("\n", 0, match.start()) + 1,
                           text.count("\n", 0, end) + 1))
    return found


def claims(source):
    """Those of a baseline and of the files that it includes."""
    found = [claim for path in (source, *includes(source)) for claim in claims_of(path)]
    if not found:
        raise BenchError(f"{relative(source)} says neither which loops are vector code nor why none is")
    return found


def disassembled(source, widths, processor):
    """[(file, line, instruction, operands)] of a baseline for a processor; a call has the name of the
    function as its operands."""
    with tempfile.NamedTemporaryFile(prefix="ravel-bench-", suffix=".o") as made:
        words = ["cc", *standard_flags(source, True, False, widths, processor), "-g1", "-gdwarf-4", "-c",
                 relative(source), "-o", made.name]
        run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
        if run.returncode:
            raise BenchError(f"{' '.join(words)}\n{run.stderr[:3000]}")
        text = subprocess.run(["objdump", "-drl", "--no-show-raw-insn", made.name],
                              capture_output=True, text=True, check=True).stdout
    return instructions(text)


def instructions(text):
    """As `disassembled`, from what objdump prints."""
    found, where = [], ("", 0)
    for line in text.splitlines():
        location = re.match(r"(\S.*):(\d+)( \(discriminator \d+\))?$", line)
        code = re.match(r"\s+[0-9a-f]+:\s+(\S+)\s*(.*)", line)
        if location:
            where = (Path(location[1]).name, int(location[2]))
        elif code and code[1].startswith("R_"):
            found.append((*where, "call", code[2]))
        elif code:
            found.append((*where, code[1], code[2]))
    return found


def complaint(claim, code, float_bits):
    """None, or what the code of a loop lacks."""
    own = [(name, operands) for file, line, name, operands in code
           if file == claim.source.name and claim.first <= line <= claim.last]
    wanted = re.compile(INTEGER if claim.kind == "integer" else
                        REAL.format(letter=LETTER[float_bits]))
    if not any(wanted.match(name) and WIDE.search(operands) for name, operands in own):
        return f"no vectors of {claim.kind}s"
    for function in claim.functions:
        if not any(name == "call" and re.match(rf"_ZGV[de]N\d+v+_{function}f?\b", operands)
                   for name, operands in own):
            return f"no {function} of libmvec"
    return None


def check(source, widths, processor):
    """[(claim, complaint)] of a baseline on a processor."""
    found = [c for c in claims(source) if c.kind != "scalar"]
    code = disassembled(source, widths, PROCESSORS[processor]) if found else []
    return [(claim, complaint(claim, code, FLOAT_BITS[widths])) for claim in found]


def baselines(names):
    """[(source, widths)] of the programs of these names, all for none: those of cases, and others."""
    cases = load_cases()
    known = {path.stem: (path, cases[path.stem].widths if path.stem in cases else "64")
             for path in sorted(BASELINES.glob("*.c")) if path.stem != "serve"}
    for name in names:
        if name not in known:
            raise BenchError(f"no baseline is called {name}; there are {', '.join(known)}")
    return [known[name] for name in names or known]


def main(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="NAME", help="default: all of them")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at a time")
    options = parser.parse_args(words)
    if not HERE or "Free Software Foundation" not in compiler_version("cc"):
        print("SKIPPED: vector code of the baselines: it is looked for in what gcc makes for x86-64")
        return 0
    wanted = [(*found, processor) for found in baselines(options.programs) for processor in PROCESSORS]
    held = failed = 0
    with ThreadPoolExecutor(max_workers=options.jobs) as jobs:
        for (source, _, processor), found in zip(wanted, jobs.map(lambda words: check(*words), wanted)):
            for claim, problem in found:
                failed += bool(problem)
                held += not problem
                print(f"{'FAILED' if problem else 'ok':7}{source.stem}, {processor}: {claim.where()}: "
                      f"{problem or claim.kind}", flush=True)
    print(f"{held} passed, {failed} failed")
    return 1 if failed else 0

