#!/usr/bin/env python3
"""Fused programs against the same programs unfused and against one loop written by hand.

    bench/fusion.py [--only NAME] [--rounds N] [--threads N] [--scale S] [--json FILE] [--keep DIR]

Each kernel is a VCODE program made here, whose rounds are timed by START_TIMER and STOP_TIMER,
and a loop in fusion-loops.c (gcc -O3 -march=native -fopenmp, vectorised; -ffast-math for the
functions of libmvec). All run on the same data in turn, `--turns` times; every result is
compared with the loop's before a time counts. A line shows the median time of the loop and the
ratio of each way to it (median, least and most over the turns)."""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = HERE.parent / "build" / "bin"
WAYS = {"unfused": [], "fused": ["-O"], "native": ["-O", "--native=wait"]}


class Function:
    """Stack code from names: every value stays where it is and is copied to the top for use."""

    def __init__(self, name, *parameters):
        self.lines, self.stack, self.temporaries = [f"FUNC {name}"], list(parameters), 0

    def get(self, *names):
        """Copies values to the top, where the next instruction finds them."""
        for pushed, name in enumerate(names):
            depth = list(reversed(self.stack)).index(name)
            self.lines.append(f"COPY 1 {depth + pushed}")

    def do(self, instruction, operands="", results="_"):
        self.get(*operands.split())
        self.lines.append(instruction)
        self.stack += results.split()

    def number(self, name, value):
        kind = "FLOAT" if isinstance(value, float) else "INT"
        self.do(f"CONST {kind} {value!r}", "", name)

    def segments(self, name, lengths):
        """A descriptor from the name of an INT vector, or one segment from a number."""
        if isinstance(lengths, int):
            self.number(f"{name}#", lengths)
            lengths = f"{name}#"
        self.do("MAKE_SEGDES", lengths, name)

    def spread(self, name, value, d):
        """A constant, or the values of a vector, over the segments of d."""
        kind = "FLOAT"
        if not isinstance(value, str):
            kind = "FLOAT" if isinstance(value, float) else "INT"
            self.number(f"{name}#", value)
            value = f"{name}#"
        self.do(f"DIST {kind}", f"{value} {d}", name)

    def index(self, name, start, stride, d):
        for part, value in (("s", start), ("t", stride)):
            if isinstance(value, int):
                self.number(f"{name}#{part}", value)
        self.do("INDEX", f"{start if isinstance(start, str) else name + '#s'} {name}#t {d}", name)

    def ramp(self, name, modulus, scale, offset, d):
        """i mod modulus times scale plus offset, at index i."""
        self.index(f"{name}.i", 0, 1, d)
        self.spread(f"{name}.m", modulus, d)
        self.do("% ", f"{name}.i {name}.m", f"{name}.r")
        self.do("I_TO_F", f"{name}.r", f"{name}.f")
        self.spread(f"{name}.s", scale, d)
        self.do("* FLOAT", f"{name}.f {name}.s", f"{name}.p")
        self.spread(f"{name}.o", offset, d)
        self.do("+ FLOAT", f"{name}.p {name}.o", name)

    def ramps(self, d, **named):
        """Several of them; the names of all, and of their descriptor."""
        for name, (modulus, scale, offset) in named.items():
            self.ramp(name, modulus, scale, offset, d)
        return [*named, d]

    def formula(self, name, text, d):
        """An expression in prefix form, e.g. (+ a (* b 2.0)); numbers are spread over d."""
        tokens = re.findall(r"[()]|[^\s()]+", text)

        def fresh():
            self.temporaries += 1
            return f"~{self.temporaries}"

        def parse():
            token = tokens.pop(0)
            if token != "(":
                if not re.fullmatch(r"-?\d+(\.\d*)?(e-?\d+)?", token):
                    return token
                value = float(token) if re.search(r"[.e]", token) else int(token)
                result = fresh()
                self.spread(result, value, d)
                return result
            op, operands = tokens.pop(0), []
            while tokens[0] != ")":
                operands.append(parse())
            tokens.pop(0)
            result = fresh()
            word = op[:-1] + " INT" if op.endswith("i") and op[:-1] in "+-*/" else \
                f"{op} FLOAT" if op in ("+", "-", "*", "/", "<", "<=", ">", ">=", "SELECT") else op
            self.do(word, " ".join(operands), result)
            return result

        result = parse()
        self.lines.append(f"COPY 1 {list(reversed(self.stack)).index(result)}")
        self.stack.append(name)

    def text(self, *results):
        """The function's code: leaves these values and drops the rest."""
        depth = len(self.stack)
        self.get(*results)
        return "\n".join([*self.lines, f"POP {depth} {len(results)}", "RET", ""])


class Kernel:
    """One kernel: its data, the function that is timed, and the number that checks it."""

    def __init__(self, name, size, data, body, outputs, bytes_per, flops_bound=False):
        self.name, self.size, self.data, self.body = name, size, data, body
        self.outputs, self.bytes_per, self.flops_bound = outputs, bytes_per, flops_bound

    def program(self, n, rounds):
        setup = Function("MAIN")
        inputs = self.data(setup, n)
        kernel = Function("KERNEL", *inputs)
        outputs = self.body(kernel, n)
        check = Function("CHECK", *outputs)
        total = None
        for output in outputs:
            check.do("LENGTH FLOAT", output, f"{output}.n")
            check.segments(f"{output}.d", f"{output}.n")
            check.do("+_REDUCE FLOAT", f"{output} {output}.d", f"{output}.sum")
            if total:
                check.do("+ FLOAT", f"{total} {output}.sum", f"{total}+")
            total = f"{total}+" if total else f"{output}.sum"
        results = []
        for r in range(rounds):
            setup.do("START_TIMER", "", "")
            setup.do("CALL KERNEL", " ".join(inputs), " ".join(outputs))
            setup.do("STOP_TIMER", "", f"time{r}")
            setup.do("CALL CHECK", " ".join(outputs), f"check{r}")
            for output in outputs:
                setup.stack[len(setup.stack) - 1 - setup.stack[::-1].index(output)] = "_"
            results += [f"time{r}", f"check{r}"]
        return setup.text(*results) + kernel.text(*outputs) + check.text(total)


def two_vectors(f, n):
    f.segments("d", n)
    f.ramp("a", 1000, 0.001, 0.5, "d")
    f.ramp("b", 777, 0.002, -0.25, "d")
    return ["a", "b", "d"]


def three_vectors(f, n):
    two_vectors(f, n)
    f.ramp("c", 555, 0.003, 0.125, "d")
    return ["a", "b", "c", "d"]


def dot(f, n):
    f.do("* FLOAT", "a b", "p")
    f.do("+_REDUCE FLOAT", "p d", "r")
    return ["r"]


def saxpy(f, n):
    f.formula("r", "(+ (* a 2.5) b)", "d")
    return ["r"]


def muladd(f, n):
    f.formula("r", "(+ (* a b) c)", "d")
    return ["r"]


def rmse(f, n):
    f.formula("e", "(- a b)", "d")
    f.do("* FLOAT", "e e", "q")
    f.do("+_REDUCE FLOAT", "q d", "s")
    f.number("n", float(n))
    f.do("/ FLOAT", "s n", "m")
    f.do("SQRT", "m", "r")
    return ["r"]


def options_data(f, n):
    f.segments("d", n)
    return f.ramps("d", s=(1000, 0.05, 10.0), x=(777, 0.06, 12.0), t=(555, 0.01, 0.25))


def normal(f, name, x):
    """The cumulative normal distribution, by the polynomial of Abramowitz and Stegun 26.2.17."""
    f.formula(f"{name}.a", f"(SELECT (< {x} 0.0) (- 0.0 {x}) {x})", "d")
    f.formula(f"{name}.k", f"(/ 1.0 (+ 1.0 (* 0.2316419 {name}.a)))", "d")
    k = f"{name}.k"
    f.formula(f"{name}.p", f"(* {k} (+ 0.31938153 (* {k} (+ -0.356563782 (* {k} (+ 1.781477937 "
              f"(* {k} (+ -1.821255978 (* {k} 1.330274429)))))))))", "d")
    f.formula(f"{name}.w", f"(- 1.0 (* (* 0.39894228040143267 (EXP (* -0.5 (* {x} {x})))) {name}.p))", "d")
    f.formula(name, f"(SELECT (< {x} 0.0) (- 1.0 {name}.w) {name}.w)", "d")


def black_scholes(f, n):
    f.formula("q", "(SQRT t)", "d")
    f.formula("d1", "(/ (+ (LOG (/ s x)) (* (+ 0.02 0.045) t)) (* 0.3 q))", "d")
    f.formula("d2", "(- d1 (* 0.3 q))", "d")
    normal(f, "n1", "d1")
    normal(f, "n2", "d2")
    f.formula("e", "(* x (EXP (* -0.02 t)))", "d")
    f.formula("call", "(- (* s n1) (* e n2))", "d")
    f.formula("put", "(- (* e (- 1.0 n2)) (* s (- 1.0 n1)))", "d")
    return ["call", "put"]


def matrix_data(f, n):
    """n rows of 1 to 61 elements."""
    total = sum(r * 7919 % 61 + 1 for r in range(n))
    f.segments("rows", n)
    f.index("r", 0, 1, "rows")
    f.formula("len", "(+i (% (*i r 7919) 61) 1)", "rows")
    f.segments("d", "len")
    f.segments("flat", total)
    f.index("k", 0, 1, "flat")
    f.formula("column", f"(% (*i k 7919) {n})", "flat")
    f.ramp("a", 1000, 0.001, 0.5, "flat")
    f.ramp("x", 777, 0.002, -0.25, "rows")
    return ["a", "column", "x", "d", "flat", "rows"]


def sparse(f, n):
    f.do("BPERMUTE FLOAT", "x column rows flat", "g")
    f.do("* FLOAT", "a g", "p")
    f.do("+_REDUCE FLOAT", "p d", "r")
    return ["r"]


def bodies_data(f, n):
    f.segments("one", n)
    return f.ramps("one", x=(97, 0.01, 0.5), y=(89, 0.02, -0.25), z=(83, 0.03, 0.125),
                   m=(79, 0.001, 0.001))


def bodies(f, n):
    f.spread("lengths", n, "one")
    f.segments("all", "lengths")
    f.spread("zeros", 0, "one")
    f.spread("ones", 1, "one")
    f.do("INDEX", "zeros ones all", "j")
    f.do("LENGTH INT", "j", "pairs#")
    f.segments("pairs", "pairs#")
    for v in "xyzm":
        f.do("BPERMUTE FLOAT", f"{v} j one pairs", f"{v}j")
    for v in "xyz":
        f.do("DIST FLOAT", f"{v} all", f"{v}i")
        f.formula(f"d{v}", f"(- {v}j {v}i)", "pairs")
    f.formula("q", "(+ (+ (* dx dx) (* dy dy)) (+ (* dz dz) 0.01))", "pairs")
    f.formula("w", "(/ mj (* q (SQRT q)))", "pairs")
    for v in "xyz":
        f.formula(f"f{v}", f"(* d{v} w)", "pairs")
        f.do("+_REDUCE FLOAT", f"f{v} all", f"a{v}")
    return ["ax", "ay", "az"]


def plane_data(f, n):
    f.segments("d", n)
    f.ramp("cr", 1024, 3.0 / 1024, -2.0, "d")
    f.ramp("ci", 1023, 2.0 / 1023, -1.0, "d")
    return ["cr", "ci", "d"]


def mandelbrot(f, n):
    """32 iterations for every point, counting those that stay within the circle."""
    zr, zi, count = "cr", "ci", None
    for i in range(32):
        f.formula(f"rr{i}", f"(* {zr} {zr})", "d")
        f.formula(f"ii{i}", f"(* {zi} {zi})", "d")
        f.formula(f"in{i}", f"(SELECT (<= (+ rr{i} ii{i}) 4.0) 1.0 0.0)", "d")
        f.formula(f"zi{i}", f"(+ (* (+ {zr} {zr}) {zi}) ci)", "d")
        f.formula(f"zr{i}", f"(+ (- rr{i} ii{i}) cr)", "d")
        if count:
            f.formula(f"n{i}", f"(+ {count} in{i})", "d")
        zr, zi, count = f"zr{i}", f"zi{i}", f"n{i}" if count else f"in{i}"
    return [count]


def one_vector(f, n):
    f.segments("d", n)
    f.ramp("a", 1000, 0.001, 0.5, "d")
    return ["a", "d"]


def shifted(f, name, v, by, d, inner):
    f.index(f"{name}.i", by, 1, inner)
    f.do("BPERMUTE FLOAT", f"{v} {name}.i {d} {inner}", name)


def difference(f, n):
    f.segments("inner", n - 1)
    shifted(f, "l", "a", 0, "d", "inner")
    shifted(f, "r", "a", 1, "d", "inner")
    f.formula("o", "(- r l)", "inner")
    return ["o"]


def average(f, n):
    f.segments("inner", n - 14)
    for k in range(15):
        shifted(f, f"v{k}", "a", k, "d", "inner")
    total = "v0"
    for k in range(1, 15):
        total = f"(+ {total} v{k})"
    f.formula("o", f"(/ {total} 15.0)", "inner")
    return ["o"]


def grid_data(f, n):
    side = math.isqrt(n)
    f.segments("d", side * side)
    f.ramp("a", 1000, 0.001, 0.5, "d")
    return ["a", "d"]


def jacobi(f, n):
    side = math.isqrt(n)
    f.segments("rows", side - 2)
    f.spread("lengths", side - 2, "rows")
    f.segments("inner", "lengths")
    f.number("first", side + 1)
    f.number("step", side)
    f.do("INDEX", "first step rows", "starts")
    f.spread("ones", 1, "rows")
    f.do("INDEX", "starts ones inner", "i")
    f.segments("all", (side - 2) * (side - 2))
    for name, by in (("n", -side), ("s", side), ("w", -1), ("e", 1)):
        f.spread(f"by{name}", by, "all")
        f.do("+ INT", f"i by{name}", f"i{name}")
        f.do("BPERMUTE FLOAT", f"a i{name} d all", f"v{name}")
    f.formula("o", "(* 0.25 (+ (+ vn vs) (+ vw ve)))", "all")
    return ["o"]


KERNELS = [
    Kernel("dot", 1 << 24, two_vectors, dot, 1, 16),
    Kernel("saxpy", 1 << 24, two_vectors, saxpy, 1, 24),
    Kernel("rmse", 1 << 24, two_vectors, rmse, 1, 16),
    Kernel("muladd", 1 << 24, three_vectors, muladd, 1, 32),
    Kernel("difference", 1 << 24, one_vector, difference, 1, 16),
    Kernel("average", 1 << 23, one_vector, average, 1, 16),
    Kernel("jacobi", 1 << 22, grid_data, jacobi, 1, 16),
    Kernel("sparse", 1 << 17, matrix_data, sparse, 1, 31 * 24),
    Kernel("black-scholes", 1 << 21, options_data, black_scholes, 2, 40, True),
    Kernel("bodies", 1 << 11, bodies_data, bodies, 3, 0, True),
    Kernel("mandelbrot", 1 << 20, plane_data, mandelbrot, 1, 24, True),
]


def build_loops(folder):
    target = folder / "loops"
    subprocess.run(["cc", "-O3", "-march=native", "-mprefer-vector-width=512", "-fopenmp",
                    "-ffast-math", "-Wall", "-Wextra", "-Werror",
                    f"-I{HERE.parent}", str(HERE / "fusion-loops.c"),
                    "-lm", "-lmvec", "-o", str(target)], check=True)
    return target


def numbers(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")
    return [float(x) for x in re.findall(r"-?\d+\.\d+(?:[eE][-+]?\d+)?", done.stdout)]


def median(values):
    return sorted(values)[len(values) // 2]


def measure(kernel, n, options, loops, folder):
    source = folder / f"{kernel.name}.vcode"
    source.write_text(kernel.program(n, options.rounds))
    ratios, times = {way: [] for way in options.ways}, {}
    for _ in range(options.turns):
        base = numbers([loops, kernel.name, str(n), str(options.rounds), str(options.threads)])
        limit, base = base[0], base[1:]
        loop, wanted = min(base[0::2][1:] or base[0::2]), base[1]
        times.setdefault("loop", []).append(loop)
        times.setdefault("limit", []).append(kernel.bytes_per * n / limit / 1e9)
        for way in options.ways:
            got = numbers([options.vinterp, *WAYS[way], "--threads", str(options.threads), source])
            for value in got[1::2]:
                if abs(value - wanted) > 1e-6 * max(1.0, abs(wanted)):
                    sys.exit(f"{kernel.name}, {way}: result {value}, the loop's is {wanted}")
            best = min(got[0::2][1:] or got[0::2])
            ratios[way].append(best / loop)
            times.setdefault(way, []).append(best)
    row = {"kernel": kernel.name, "n": n, "loop_ms": 1e3 * median(times["loop"])}
    if kernel.bytes_per and not kernel.flops_bound:
        row["loop_of_limit"] = median([l / t for l, t in zip(times["limit"], times["loop"])])
    for way, r in ratios.items():
        row[way] = {"ratio": median(r), "least": min(r), "most": max(r)}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="part of a kernel's name")
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds in one process")
    parser.add_argument("--turns", type=int, default=5, help="processes of each way")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--vinterp", default=str(BIN / "vinterp"))
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--keep", type=Path, help="folder to leave the programs in")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        loops = build_loops(folder)
        print(f"{'kernel':14}{'n':>10}{'loop ms':>10}{'of limit':>9}  " +
              "".join(f"{way + ' / loop':>22}" for way in options.ways))
        for kernel in KERNELS:
            if options.only and options.only not in kernel.name:
                continue
            row = measure(kernel, int(kernel.size * options.scale), options, loops, folder)
            rows.append(row)
            limit = f"{row['loop_of_limit']:9.2f}" if "loop_of_limit" in row else " " * 9
            print(f"{row['kernel']:14}{row['n']:10}{row['loop_ms']:10.2f}{limit}  " + "".join(
                f"{row[w]['ratio']:8.2f} ({row[w]['least']:.2f}..{row[w]['most']:.2f})"
                for w in options.ways), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
