#!/usr/bin/env python3
"""The one driver of program tests: runs suites of programs over configurations of vinterp.

    nesl-tests/drive.py [--vinterp PATH] [--suite NAME ...] [--config NAME ...]
                        [--backend NAME [--device N]] [--sample PERCENT [--seed TEXT]]
                        [--jobs N] [--only PATTERN ...] [--seconds N] [--json FILE]

Suites:
    own        nesl-tests/vcode: expectations are in comments of the programs
    examples   examples/*.vcode, likewise
    ops, programs, bad, fcode, real
               the shared corpus, if it is beside the checkout
    fcode-2012 the .fcode files of the corpus as they are, with the .sop beside each
Each program runs in an empty directory of its own. An optimised run (-O, or through fcodeopt and
a file) must also agree with the plain one: the same bytes on standard output, the same writes,
and for a failure the same source location and message. A run on another back end must agree with
that on the CPU's. Of programs that print times only the first line is compared.
Prints failures with a command that reproduces them, a table of suites against configurations,
and "N passed, N failed".
"""

import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import TOLERANCE, difference

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPORA = [ROOT.parent / "shared" / "corpus", ROOT / ".local" / "corpus"]
CORPUS = next((c for c in CORPORA if c.is_dir()), CORPORA[0]) / "vcode"

# name: (flags, width of INT, width of FLOAT). FILE in front: fcodeopt writes a file in these
# widths (with the flags up to "--"), which vinterp runs with the other flags. EMULATED with words
# behind it: on the emulated GPU with these options (cvl-cuda/emulation/options.hpp).
FILE = "file:"
EMULATED = "RAVEL_EMULATION="
CONFIGS = {
    "classic": (["--classic", "--threads", "1"], 32, 64),
    "classic-2t": (["--classic", "--threads", "2"], 32, 64),
    "classic-8t": (["--classic", "--threads", "8"], 32, 64),
    "64": (["--int", "64", "--float", "64", "--threads", "1"], 64, 64),
    "64-2t": (["--int", "64", "--float", "64", "--threads", "2"], 64, 64),
    "32-32": (["--int", "32", "--float", "32", "--threads", "2"], 32, 32),
    "64-32": (["--int", "64", "--float", "32", "--threads", "2"], 64, 32),
    "checked": (["--classic", "--threads", "2", "--checked"], 32, 64),
    "delayed": (["--classic", "--threads", "2", "--backend", "delayed"], 32, 64),
    "delayed-64": (["--threads", "2", "--backend", "delayed"], 64, 64),
    "optimised": (["-O", "--no-fusion", "--classic", "--threads", "2"], 32, 64),
    "optimised-64": (["-O", "--no-fusion", "--threads", "1"], 64, 64),
    "fused": (["-O", "--classic", "--threads", "1"], 32, 64),
    "fused-2t": (["-O", "--classic", "--threads", "2"], 32, 64),
    "fused-64": (["-O", "--threads", "2"], 64, 64),
    "fused-32-32": (["-O", "--int", "32", "--float", "32", "--threads", "2"], 32, 32),
    "fused-delayed": (["-O", "--classic", "--threads", "2", "--backend", "delayed"], 32, 64),
    "fused-checked": (["-O", "--classic", "--threads", "2", "--checked"], 32, 64),
    "native": (["-O", "--native=wait", "--classic", "--threads", "2"], 32, 64),
    "native-64": (["-O", "--native=wait", "--threads", "2"], 64, 64),
    "background-64": (["-O", "--native", "--threads", "2"], 64, 64),
    "file": ([FILE, "--classic", "--", "--threads", "2"], 32, 64),
    "file-64": ([FILE, "--", "--threads", "1"], 64, 64),
    # The emulated GPU, which checks what kernels do. small=0 leaves the host nothing.
    "cuda-emu": ([EMULATED + "check,deferred,order=shuffled,seed=1", "--classic"], 32, 64),
    "cuda-emu-64": ([EMULATED + "check,deferred=random,order=reverse,seed=2,small=0"], 64, 64),
    "cuda-emu-32-32": ([EMULATED + "check,deferred,order=shuffled,seed=3,small=0", "--int", "32",
                        "--float", "32"], 32, 32),
    "cuda-emu-forward": ([EMULATED + "check,small=0", "--classic"], 32, 64),
    "cuda-emu-plain": ([EMULATED + "deferred=random,seed=4"], 64, 64),
    "cuda-emu-fused": ([EMULATED + "check,deferred,order=reverse,small=0", "-O", "--classic"],
                       32, 64),
    "cuda-emu-fused-64": ([EMULATED + "check,deferred=random,order=shuffled,seed=5", "-O"],
                          64, 64),
    # Superoperators as kernels of the host's compiler.
    "cuda-emu-native": ([EMULATED + "check,deferred,order=shuffled,seed=6,small=0", "-O",
                         "--native=wait"], 64, 64),
    "file-vcode": ([FILE, "--classic", "--no-fusion", "--", "--threads", "2"], 32, 64),
}
PERMISSIONS = ["--allow-files", "--allow-spawn"]
SECONDS = 300  # limit for a program, about a hundred times its usual time; LONG_SECONDS for the suite `real`
LONG_SECONDS = 600
OUTCOMES = ("passed", "failed", "skipped", "left out")


class Case:
    """One program: where it is, what it reads, what is expected of a run."""

    def __init__(self, suite, path):
        self.suite, self.path, self.name = suite, path, path.stem
        self.stdin, self.flags = b"", []
        self.out = self.err = None  # expected text; None: not compared
        self.status = 0
        self.error_lines = None  # line numbers, one of which the message must name
        self.error_text = None  # text that the message must contain
        self.seconds = LONG_SECONDS if suite == "real" else SECONDS
        self.widths = None  # set of (int, float) widths the expectations hold for; None: all
        self.clock = False  # it prints times: two runs may differ


def read(path):
    return path.read_text(encoding="latin-1")


def optional(path):
    return read(path) if path.exists() else None


def width_dependent():
    """Corpus programs whose expected output holds for some widths only: name -> widths."""
    table = {}
    for line in read(HERE / "width-dependent.txt").splitlines():
        if line and not line.startswith("#"):
            name, what = line.split(":", 1)[0].split()
            table[name] = {
                "int": {(32, 64), (32, 32)},
                "float": {(32, 64), (64, 64)},
                "both": {(32, 64)},
            }[what]
    return table


def corpus_cases(suite):
    folder, widths = CORPUS / suite.removesuffix("-2012"), width_dependent()
    for path in sorted(folder.glob("*.fcode" if suite.endswith("-2012") else "*.vcode")):
        case = Case(suite, path)
        case.widths = widths.get(case.name)
        case.clock = "STOP_TIMER" in read(path)
        if suite == "bad":
            why = read(path.with_suffix(".why"))
            case.status, case.out = 1, ""
            lines = re.match(r"[a-z ]+ error at line ([0-9]+(?: or [0-9]+)*):", why).group(1)
            case.error_lines = [int(n) for n in lines.split(" or ")]
            case.widths = {(32, 64)}
            case.flags = ["--memory", "4G"]
        elif suite == "real":
            case.widths = case.widths or {(32, 64), (64, 64)}
        else:
            stem = case.name[: -len("_nochk")] if case.name.endswith("_nochk") else case.name
            case.out = read(path.with_name(stem + ".out"))
            case.err = optional(path.with_name(stem + ".err"))
            source = path.with_suffix(".in")
            case.stdin = source.read_bytes() if source.exists() else b""
        yield case


def own_cases(suite, folder):
    """Expectations in comments: {expect: line}, {expect stderr: line}, {expect error LINE: text},
    {input: line}, {flags: words}, {widths: 32/64 64/64}."""
    for path in sorted(folder.glob("*.vcode")):
        case, text = Case(suite, path), read(path)
        case.clock = "STOP_TIMER" in text
        found = re.findall(r"\{(expect|expect stderr|input|flags|widths|expect error)(?: (\d+))?:"
                           r" ?([^}]*)\}", text)
        lines = {"expect": [], "expect stderr": [], "input": []}
        for what, number, rest in found:
            if what in lines:
                lines[what].append(rest + "\n")
            elif what == "flags":
                case.flags = rest.split()
            elif what == "widths":
                case.widths = {tuple(map(int, w.split("/"))) for w in rest.split()}
            else:
                case.status, case.error_text = 1, rest
                case.error_lines = [int(number)] if number else None
        case.out = "".join(lines["expect"])
        case.err = "".join(lines["expect stderr"]) if lines["expect stderr"] else None
        case.stdin = "".join(lines["input"]).encode("latin-1")
        if not found:
            raise SystemExit(f"{path}: no expectation in it")
        yield case


def gather(suite):
    if suite == "own":
        return list(own_cases(suite, HERE / "vcode"))
    if suite == "examples":
        return list(own_cases(suite, ROOT / "examples"))
    return list(corpus_cases(suite)) if (CORPUS / suite.removesuffix("-2012")).is_dir() else []


def complaint(case, run, float_width, optimised=False):
    """The error of a finished run, or None. An optimised program may report fewer calls than the
    expected text."""
    out = run.stdout.decode("latin-1")
    err = run.stderr.decode("latin-1")
    if run.returncode != case.status:
        return f"exit status {run.returncode}, want {case.status}: {err.strip()[:200]}"
    if case.out is not None:
        wrong = difference(out, case.out, TOLERANCE[float_width])
        if wrong:
            return "standard output, " + wrong
    if case.err is not None:
        wrong = difference(err, case.err, TOLERANCE[float_width])
        if wrong:
            return "standard error, " + wrong
    if case.status == 1:
        lines = [int(n) for n in re.findall(r":(\d+):\d+: error: ", err)]
        if case.error_lines and not set(lines) & set(case.error_lines):
            return f"no error at line {case.error_lines}: {err.strip()[:200]}"
        text = case.error_text.split("\n")[0] if case.error_text and optimised else case.error_text
        if text and text not in err.replace(str(case.path), ""):
            return f"the message lacks {case.error_text!r}: {err.strip()[:200]}"
        if not err.strip():
            return "no message"
    return None


class Commands:
    """The paths of vinterp and fcodeopt, the back end under test, and the cache of compiled
    superoperators."""

    def __init__(self, vinterp, cache, end=math.inf, backend="cpu", device=None):
        self.vinterp = vinterp
        self.end = end  # of all: nothing is waited for any longer
        self.backend = backend
        self.device = [] if device is None else ["--device", str(device)]
        self.fcodeopt = str(Path(vinterp).with_name("fcodeopt"))
        self.environment = {**os.environ, "XDG_CACHE_HOME": cache}
        self.plain = {}  # runs without optimiser, by case and widths

    def run(self, command, case, scratch):
        left = max(0.1, self.end - time.time())
        return subprocess.run(command, input=case.stdin, capture_output=True, cwd=scratch,
                              timeout=min(case.seconds, left), check=False,
                              env=self.environment)

    def on(self, flags):
        """The options for the back end under test, unless the configuration has its own."""
        if "--backend" in flags:
            return []
        return ["--backend", self.backend, *(self.device if self.backend != "cpu" else [])]

    def execute(self, case, flags):
        """The last command, and its run (None: it did not end)."""
        where = []
        if flags[0].startswith(EMULATED):
            where, flags = ["env", flags[0]], [*flags[1:], "--backend", "cuda-emu"]
        command = [*where, self.vinterp, *flags, *self.on(flags), *PERMISSIONS, *case.flags,
                   str(case.path)]
        with tempfile.TemporaryDirectory(prefix="ravel-") as scratch:
            try:
                if flags[0] == FILE:
                    split = flags.index("--")
                    command = [self.fcodeopt, *flags[1:split], "-o", f"{scratch}/program.fcode",
                               str(case.path)]
                    run = self.run(command, case, scratch)
                    if run.returncode:
                        return command, run
                    command = [self.vinterp, *flags[split + 1:], *self.on(flags), *PERMISSIONS,
                               *case.flags, f"{scratch}/program.fcode"]
                    with tempfile.TemporaryDirectory(prefix="ravel-") as empty:
                        return command, self.run(command, case, empty)
                return command, self.run(command, case, scratch)
            except subprocess.TimeoutExpired:
                return command, None

    def plain_run(self, case, int_width, float_width):
        key = (case.suite, case.name, int_width, float_width)
        if key not in self.plain:
            flags = ["--backend", "cpu", "--threads", "1", "--int", str(int_width), "--float",
                     str(float_width)]
            self.plain[key] = self.execute(case, flags)[1]
        return self.plain[key]


# An optimised program uses memory differently, and may reach a limit elsewhere.
LIMIT = b" would exceed the limit"
CLOCK = "the time limit of "


def said(run, clock):
    """The outcome that must not depend on the optimiser or the back end: exit status, standard output,
    and standard error up to the first error, without its position in an optimised file. Of programs
    that print times only the first line, which is no time."""
    lines = run.stderr.decode("latin-1").split("\n")
    if clock:
        return run.returncode, run.stdout.split(b"\n")[0], ""
    for k, line in enumerate(lines):
        if ": error: " in line:
            if CLOCK in line:  # the location depends on the time
                line = line[line.index(CLOCK):]
            lines[k:] = [re.sub(r" \(at [^()]*\)$", "", line)]
            break
    return run.returncode, run.stdout, "\n".join(lines)


def disagreement(run, plain, clock):
    """How a run differs from the plain one, or None."""
    if plain is None:
        return "the plain program does not end"
    got, want = said(run, clock), said(plain, clock)
    for what, a, b in zip(("exit status", "standard output", "standard error"), got, want):
        if a != b:
            return f"{what} is not that of the plain program: {str(a)[-300:]!r}, not {str(b)[-300:]!r}"
    return None


def one(commands, case, config):
    flags, int_width, float_width = CONFIGS[config]
    if time.time() > commands.end:
        return case, config, "left out", ""
    if case.widths is not None and (int_width, float_width) not in case.widths:
        return case, config, "skipped", ""
    optimised, emulated = "-O" in flags or flags[0] == FILE, flags[0].startswith(EMULATED)
    command, run = commands.execute(case, flags)
    compared = optimised or emulated or commands.backend != "cpu"
    plain = commands.plain_run(case, int_width, float_width) if compared else None
    if time.time() > commands.end and (run is None or compared and plain is None):
        return case, config, "left out", ""
    if run is None:
        wrong = f"no end within {case.seconds} s"
    elif b"\nemulation: " in b"\n" + run.stderr:
        wrong = next(line for line in run.stderr.decode("latin-1").split("\n")
                     if line.startswith("emulation: "))
    elif plain is not None and LIMIT in plain.stderr:
        wrong = None if LIMIT in run.stderr else "no message of the limit"
    else:
        wrong = complaint(case, run, float_width, optimised)
        if wrong is None and compared and (case.suite == "real" or not case.clock):
            wrong = disagreement(run, plain, case.clock)
    if wrong is None:
        return case, config, "passed", ""
    shown = " ".join(command).replace(str(ROOT) + "/", "")
    if flags[0] == FILE:
        shown += "  # of fcodeopt " + " ".join([*flags[1:flags.index("--")], str(case.path)])
    return case, config, "failed", f"{case.suite}/{case.name} [{config}]: {wrong}\n    {shown}"


def sampled(case, config, percent, seed):
    digest = hashlib.sha256(f"{seed} {case.suite} {case.name} {config}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 100 < percent


def main():
    parser = argparse.ArgumentParser(description="runs program tests; see the file's comment")
    parser.add_argument("--vinterp", default=str(ROOT / "build" / "bin" / "vinterp-tests"))
    parser.add_argument("--suite", action="append")
    parser.add_argument("--config", action="append", choices=list(CONFIGS))
    parser.add_argument("--sample", type=int, default=100, help="percent of the runs to make")
    parser.add_argument("--seed", default="", help="what the sample is drawn by")
    parser.add_argument("--only", action="append", help="pattern of program names")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--backend", default="cpu", help="of configurations that name none")
    parser.add_argument("--device", type=int, help="of that back end")
    parser.add_argument("--seconds", type=float, default=math.inf,
                        help="after which what is not done is left out")
    parser.add_argument("--json", type=Path, help="file for the counts and the failures")
    options = parser.parse_args()
    suites = options.suite or ["own", "examples", "ops", "programs", "bad", "fcode",
                                  "fcode-2012"]
    configs = options.config or ["classic", "64-2t"]

    gathered = {s: gather(s) for s in suites}
    cases = [c for s in suites for c in gathered[s]
             if any(fnmatch.fnmatch(c.name, pattern) for pattern in options.only or ["*"])]
    work = [(c, k) for c in cases for k in configs
            if sampled(c, k, options.sample, options.seed)]
    started, counts, failures = time.time(), {}, []
    with (tempfile.TemporaryDirectory(prefix="ravel-cache-") as cache,
          concurrent.futures.ThreadPoolExecutor(options.jobs) as pool):
        commands = Commands(str(Path(options.vinterp).resolve()), cache,
                            started + options.seconds, options.backend, options.device)
        for case, config, outcome, text in pool.map(lambda w: one(commands, *w), work):
            cell = counts.setdefault((case.suite, config), dict.fromkeys(OUTCOMES, 0))
            cell[outcome] += 1
            if outcome == "failed":
                failures.append(text)
    for text in failures:
        print("FAILED", text)
    print("suite".ljust(12) + "".join(c.rjust(15) for c in configs))
    for suite in suites:
        row = suite.ljust(12)
        for config in configs:
            cell = counts.get((suite, config))
            shown = "-" if not cell else str(cell["passed"])
            if cell and cell["failed"]:
                shown += f" !{cell['failed']}"
            row += shown.rjust(15)
        print(row)
    total = {k: sum(c[k] for c in counts.values()) for k in OUTCOMES}
    missing = [s for s in suites if not gathered[s]]
    if missing:
        print(f"SKIPPED (no corpus) {', '.join(missing)}")
    if total["left out"]:
        print(f"{total['left out']} runs left out: no time")
    if options.json:
        suite_counts = {f"{suite} {config}": cell for (suite, config), cell in counts.items()}
        options.json.write_text(json.dumps({"backend": options.backend, **total, "failures": failures,
                                            "runs": suite_counts}, indent=1) + "\n")
    print(f"{total['skipped']} runs skipped: expectations for other widths;"
          f" {time.time() - started:.1f} s")
    print(f"{total['passed']} passed, {total['failed']} failed")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
