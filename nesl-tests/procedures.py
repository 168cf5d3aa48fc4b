#!/usr/bin/env python3
"""Procedures of lifted functions compute what the lifted functions compute (ir/ir.h).

    nesl-tests/procedures.py [FILE.nesl ...] [--random N] [--sample PERCENT] [--seed S] [--build DIR] [--jobs N]

Each expression of a file is compiled, with the definitions before it. In the program, each lifted
function with a procedure is replaced: for one instance it calls the procedure. Executed in chunks
of one instance, this program must print what the program prints as it is, or fail where that
fails; likewise behind the optimiser. Without files: bench/programs, examples and nesl-tests/nesl; with --random,
programs of nesl-random; with --sample, some of them.
Exit status 1 if one differs, or if nothing was compared."""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from nesl import File

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["bench/programs", "examples", "nesl-tests/nesl"]
LIFTED = re.compile(
    r"^FUNC (\S+) (\{% instances [^}]*\}) \{% procedure (\S+) \} (I[A-Z ]*? O[A-Z ]*)$", re.M)
DEFINITION = re.compile(r"(function|datatype|import)\b|\(?[\w, ()]+\)? *=[^=]")
FAULT = re.compile(r"internal error|let-form of|Sanitizer|runtime error")
SECONDS = 60

# For one instance: the operands but the first to the procedure. Else the function as it was.
INSTEAD = """FUNC {name} {mark} {signature}
COPY 1 {last}
LENGTHS
CONST INT 1
= INT
IF
  POP 1 {last}
  CALL {procedure}
ELSE
  CALL {name}_WHOLE
ENDIF
RET

FUNC {name}_WHOLE"""


def by_procedures(text):
    """The program that calls procedures, and the number of functions that do."""
    def instead(match):
        name, mark, procedure, signature = match.groups()
        last = len(signature.split(" O")[0].split()) - 2
        return INSTEAD.format(name=name, mark=mark, procedure=procedure, signature=signature,
                              last=last)
    return LIFTED.subn(instead, text)


def run(command, program):
    """How a program ended, and what it printed."""
    try:
        done = subprocess.run([*command, program], capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=SECONDS, cwd=program.parent)
    except subprocess.TimeoutExpired:
        return "too slow", b""
    return ("fails" if done.returncode else "ends"), (b"" if done.returncode else done.stdout)


def compare(options, program):
    """Runs a compiled program in both ways: the number of procedures, and the difference."""
    text, links = by_procedures(program.read_text("latin-1"))
    if links == 0:
        return 0, None
    other = program.with_name("by-procedures" + program.suffix)
    other.write_text(text, "latin-1")
    vinterp = options.build / "bin" / "vinterp"
    whole = run([vinterp, "--chunks", "off"], program)
    one = run([vinterp, "--chunks", "1"], other)
    if whole[0] == "too slow" or whole == one:
        return links, None
    return links, f"{program.suffix}: {whole[0]} with {whole[1]!r}, but {one[0]} with {one[1]!r}"


def compiled(command):
    """Runs a compiler; None if it takes too long."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None


def try_expression(options, path, text):
    """The last expression of a text, without and with the optimiser."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / path.name
        source.write_text(text, "latin-1")
        vcode, fcode = source.with_suffix(".vcode"), source.with_suffix(".fcode")
        done = compiled([options.build / "bin" / "neslc", source, "-o", vcode])
        if not done:
            return 0, None
        if done.returncode:  # wrong forms are not for this test
            wrong = done.returncode < 0 or FAULT.search(done.stderr)
            return 0, f"neslc: {done.stderr.strip()}" if wrong else None
        links, difference = compare(options, vcode)
        done = compiled([options.build / "bin" / "fcodeopt", "--verify", vcode, "-o", fcode])
        if done and done.returncode:
            return links, f"fcodeopt: {done.stderr.strip()}"
        if done and not difference:
            more, difference = compare(options, fcode)
            links += more
    return links, difference


def expressions(path):
    """(line, text) of each expression, with the definitions before it."""
    file, definitions = File(path), ""
    if file.files:
        return
    for line, form in file.forms:
        if DEFINITION.match(form):
            definitions += form + "\n"
        else:
            yield line, definitions + form + "\n"


def random_programs(options):
    """(path, number, text) of programs that nesl-random makes."""
    command = [options.build / "bin" / "nesl-random", "--seed", str(options.seed),
               "--count", str(options.random), "--show"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for number, text in enumerate(shown.split("\n\n")):
        yield Path("random.nesl"), number, text.strip() + "\n"


def programs_of(options):
    if options.random:
        return random_programs(options)
    files = options.files or [f for folder in FOLDERS
                              for f in sorted((ROOT / folder).rglob("*.nesl"))]
    found = [(path, line, text) for path in files for line, text in expressions(path)]
    return random.Random(options.seed).sample(found, len(found) * options.sample // 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--random", type=int, metavar="N")
    parser.add_argument("--sample", type=int, default=100, metavar="PERCENT", help="of the programs")
    parser.add_argument("--seed", type=lambda text: int(text, 16), default=1, help="hexadecimal")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    options.build = options.build.resolve()
    procedures = programs = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tried = [(path, line, pool.submit(try_expression, options, path, text))
                 for path, line, text in programs_of(options)]
        for path, line, job in tried:
            links, difference = job.result()
            procedures += links
            programs += links > 0
            if difference:
                failed += 1
                print(f"{path}:{line}: {difference}")
    print(f"{programs} programs with {procedures} procedures, {failed} differ")
    return 1 if failed or programs == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
