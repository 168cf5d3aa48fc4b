#!/usr/bin/env python3
"""Whether compiled NESL does the work of its cost model, by counting, not timing.

    nesl-tests/work.py [NAME ...] [--build DIR]

Programs of one parameter are compiled and run at n, 2 n and 4 n. The elements that are read and
written (vcode.md, section 21.8) may grow no faster than the work of the algorithm, and be no more
than so many for each unit of it; executed instructions may grow no faster than its depth. So a sequence that all instances only index, measure or pass on is not copied for each. The second
part compiles programs of growing nesting: code is as long as the source. The third runs optimised
functions of a vector, most of which read and write it once. Exit status 1 if one fails."""

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SLACK = 1.12  # of growth: parts that do not grow make it smaller, logarithms round

SEARCH = """function search(v, x, low, high)
  = if high - low <= 1 then low
    else let m = (low + high) / 2
         in if v[m] <= x then search(v, x, m, high) else search(v, x, low, m);
"""
SORT = """function qsort(s)
  = if #s < 2 then s
    else let p = s[#s / 2];
             parts = {qsort(x) : x in [{e in s | e < p}, {e in s | e > p}]}
         in parts[0] ++ {e in s | e == p} ++ parts[1];
"""
SIZE = "function size(tree, i) = 1 + sum({size(tree, k) : k in tree[i]});\n"
HEIGHT = """function reach(tree, i)
  = if #tree[i] == 0 then 0 else 1 + max_val({reach(tree, k) : k in tree[i]});
"""


def linear(n):
    return n


def sort_work(n):
    return n * math.log2(n)


def square(n):
    return n * n


def once(_):
    return 1


# Name: the smallest n, work, the most elements for a unit of it, depth, definitions, expression.
PROGRAMS = {
    "index": (1000, linear, 25, once, "",
              "let v = index(N) in {v[#v - 1 - i] : i in index(N)}"),
    "index, two dimensions": (1024, linear, 65, once, "",
                              "let k = isqrt(N); m = {{i + j : j in index(k)} : i in index(k)}"
                              " in {m[rem(i * 7, k)][rem(i * 5, k)] : i in index(N)}"),
    "index, through a let": (1024, linear, 65, once, "",
                             "let k = isqrt(N); m = {{i + j : j in index(k)} : i in index(k)}"
                             " in {let w = m[rem(i * 7, k)] in w[rem(i * 5, k)] : i in index(N)}"),
    "index, by a function value": (1000, linear, 25, once, "",
                                   "let v = index(N); at = i => v[#v - 1 - i] in {at(i) : i in v}"),
    "get": (1000, linear, 101, once, "",
            "let v = index(N) in {sum(v -> [i, i / 2, i / 3]) : i in index(N)}"),
    "length": (1000, linear, 6, once, "", "let v = index(N) in {#v + i : i in index(N)}"),
    "sum": (1000, linear, 7, once, "", "let v = index(N) in {sum(v) + i : i in index(N)}"),
    "sum of a free sequence for each": (1000, linear, 128, once, "",
                                        "let vs = {index(rem(i, 5)) : i in index(N)}"
                                        " in {sum({sum(v) + k : k in [0:8]}) : v in vs}"),
    "reduce by a function": (1000, linear, 4, once, "",
                             "let v = index(N) in {reduce((a, b) => max(a, b), i, v) : i in v}"),
    "scan by a function": (1000, linear, 24, once, "",
                           "let v = index(N) in"
                           " {scan_inclusive((a, b) => max(a, b), i, v)[i] : i in v}"),
    "reductions by a function": (1000, linear, 30, once, "",
                                 "{reduce((a, b) => a * 3 + b, 0, index(rem(i, 5))) : i in index(N)}"),
    "rows of a matrix by a function": (
        1024, linear, 11, once, "",
        "let m = matrix_tabulate((i, j) => rem(i * j, 7), 4, N / 4)"
        " in sum(matrix_fold_rows((x, y) => x * 3 + y, 0, m))"),
    "search": (512, sort_work, 114, math.log2, SEARCH,
               "let v = {2 * i : i in index(N)} in {search(v, x, 0, #v) : x in index(N)}"),
    "search in each": (512, sort_work, 105, math.log2, SEARCH,
                       "let vs = {{3 * i + j : i in index(N / 8)} : j in [0:8]}"
                       " in {{search(v, x, 0, #v) : x in index(N / 8)} : v in vs}"),
    "sparse matrix": (1000, linear, 120, once, "",
                      "let x = {float(i) : i in index(N)};"
                      " m = {{(rem(i * 7 + k, N), 0.5) : k in index(rem(i, 6))} : i in index(N)}"
                      " in {sum({a * x[j] : (j, a) in row}) : row in m}"),
    "nested free sequences": (500, linear, 2365, once, "",
                              "let v = index(N); w = [0:8] in "
                              "{sum({sum({v[rem(i + j + k, #v)] : k in w}) : j in w}) : i in v}"),
    "a row of each": (512, linear, 46, once, "",
                      "let rows = {{i + j : i in index(N / 8)} : j in [0:8]}; ix = index(N / 8)"
                      " in {{row[#row - 1 - i] : i in ix} : row in rows}"),
    "filter first": (1000, linear, 9, once, "",
                     "{sum(index(N)) + sum(index(x)) : x in index(N) | x == 3}"),
    "the lesser or the greater": (
        1000, linear, 34, once, "",
        "{if rem(x, 2) == 0 then min(x, y) else max(x, y) : x in index(N); y in reverse(index(N))}"),
    "one branch": (1000, linear, 39, once, "",
                   "let v = index(N) in {if i == 3 then sum({v[j] + i : j in v}) else i : i in v}"),
    "the length of a sequence in a branch": (
        1000, linear, 20, once, "", "max_index({rem(i * 7, N) : i in index(N)})"),
    "what one arm uses": (200, linear, 16, once, "",
                          "let v = {i : i in index(N) | i > 5};"
                          " all_pairs = sum({sum({i * j : j in v}) : i in v})"
                          " in if #v < 3 then sum({all_pairs + i : i in v}) else #v"),
    "quicksort": (512, sort_work, 91, math.log2, SORT,
                  "qsort({rem(i * 7919, 65537) : i in index(N)})"),
    "tree without if": (511, linear, 182, math.log2, SIZE,
                        "let tree = {[2 * i + 1 : min(2 * i + 3, max(N, 2 * i + 1))] : i in index(N)}"
                        " in size(tree, 0)"),
    "tree": (511, linear, 210, math.log2, HEIGHT,
             "let tree = {[2 * i + 1 : min(2 * i + 3, max(N, 2 * i + 1))] : i in index(N)}"
             " in reach(tree, 0)"),
    "one more element": (1000, linear, 73, once, "",
                         "{sum(index(rem(i, 8)) ++ [i]) : i in index(N)}"),
    "searchsorted": (512, sort_work, 84, math.log2, "",
                     "let v = {2 * i : i in index(N)} in {searchsorted(v, x) : x in index(N)}"),
    "bin": (1000, linear, 295, once, "", "bin({rem(i * 7, 12) : i in index(N)}, index(9))"),
    "quantiles": (1000, linear, 198, once, "",
                  "let v = {rem(i * 7919, 65537) : i in index(N)}"
                  " in {quantile(v, 1.0 / float(i + 1)) : i in index(N)}"),
    "counts": (1000, linear, 89, once, "", "counts({rem(i * 7919, 65537) : i in index(N)})"),
    "inner_join": (1000, linear, 580, math.log2, "",
                   "let v = {(i * 7919, i) : i in index(N)} in inner_join(v, v)"),
    "split_on": (1000, linear, 138, once, "",
                 "split_on({if rem(i, 5) == 0 then `, else `a : i in index(N)}, \",\")"),
    "replace": (1000, linear, 162, once, "",
                "replace({if rem(i, 5) == 0 then `, else `a : i in index(N)}, \",\", \"; \")"),
    "find_all that overlap": (512, sort_work, 114, math.log2, "", "find_all(\"aa\", dist(`a, N))"),
    "combinations": (50, square, 28, once, "", "combinations(index(N), 2)"),
    "combinations of all but one": (50, square, 11, once, "", "combinations(index(N), N - 1)"),
    "pairs of each": (1000, linear, 118, once, "", "{pairs(index(rem(i, 5))) : i in index(N)}"),
    "evens": (1000, linear, 71, once, "", "evens((x, y) => (y, x), index(N))"),
    "a loop that one goes on with": (
        256, linear, 430, linear, "",
        "{let (j, v) = loop (j, v) = (0, [i]) while j < (if i == 3 then N else rem(i, 4))"
        " do (j + 1, [v[0] + j]) in v[0] : i in index(N)}"),
    "a loop that ends for one after the other": (
        64, square, 48, linear, "",
        "{let (j, v) = loop (j, v) = (0, [i]) while j < i do (j + 1, [v[0] + j]) in v[0]"
        " : i in index(N)}"),
    "a loop on one sequence": (
        64, square, 31, linear, "",
        "let v = index(N) in {let (j, s) = loop (j, s) = (0, i) while j < i do (j + 1, s + v[j])"
        " in s : i in v}"),
    "lists": (1000, linear, 63, once, "", "{sum([i, i * i, 3, i + 1]) : i in index(N)}"),
}


def else_ifs(d):
    arms = "".join(f"if x == {k} then {k} / (x + 1) else " for k in range(d))
    return "{" + arms + "v[x] : x in v}"


def then_ifs(d):
    arms = "".join(f"if x > {k} then " for k in range(d))
    return "{" + arms + "v[x]" + "".join(f" else {k} / (x + 1)" for k in range(d, 0, -1)) + " : x in v}"


def serial_ifs(d):
    arms = "".join(f"if n == {k} then w[n / 2] else " for k in range(d))
    return f"let w = {{x in v | x > 1}}; n = #w in {arms}n"


def eaches(d):
    return "{" * d + "{x + y : x in v}" + " : x in v}" * (d - 1) + " : y in v}"


def lets(d):
    return "{let " + "; ".join(f"x{k + 1} = v[x{k}]" for k in range(d)) + f" in x{d} : x0 in v}}"


NESTINGS = {"else if": else_ifs, "if in if": then_ifs, "if of one instance": serial_ifs,
            "eaches": eaches, "lets": lets}
DEEPEST = 40

# Name: the most elements that are read and written for each element of v, the function of v.
FUSED = {
    "evens in one pass": (2, "evens((x, y) => (min(x, y), max(x, y)), v)"),
    "odds in one pass": (2, "odds((x, y) => (x + y, x - y), v)"),
    "evens of what may fail": (13, "evens((x, y) => (x / (y + 1), y), v)"),
    "two in one pass": (2, "two(w => {2 * x : x in w}, v)"),
    "ilv in one pass": (2, "ilv(w => {2 * x : x in w}, v)"),
    "stencils, clamp": (2, "stencil(w => w[0] + w[1] + w[2], 1, clamp, v)"),
    "stencils, wrap": (2, "stencil(w => w[0] + w[1] + w[2], 1, wrap, v)"),
    "stencils, mirror": (2, "stencil(w => w[0] + w[1] + w[2], 1, mirror, v)"),
    "stencils, symmetric": (2, "stencil(w => w[0] + w[1] + w[2], 1, symmetric, v)"),
    "stencils, constant": (2, "stencil(w => w[0] + w[1] + w[2], 1, constant(0), v)"),
    "sums of windows": (2, "windows(w => sum(w), 5, v)"),
    "windows with weights": (2, "windows(w => sum({x * c : x in w; c in [1, 2, 1]}), 3, v)"),
    "stencils of squares, mirror": (
        2.2, "stencil2(w => w[0][1] + w[1][0] + w[1][2] + w[2][1], 1, mirror, matrix(100, 100, v))"),
    "sums of squares, clamp": (
        2.2, "stencil2(w => sum({sum(r) : r in w}), 1, clamp, matrix(100, 100, v))"),
    "sums of squares, windows": (
        2.2, "windows2(w => sum({sum(r) : r in w}), 3, matrix(100, 100, v))"),
    "signs": (2, "{if x > 5 then -x else x : x in v}"),
    "greater and less of floats": (
        2, "{max(abs(p), min(p, 2.5)) : p in {float(x) : x in v}}"),
    "magnitudes, greater, less": (2, "{max(min(abs(x - 7), 5), rem(x, 3)) : x in v}"),
    "an element of a map": (1, "{exp(float(x)) : x in v}[3]"),
    "two elements of a map": (2, "let u = {x * x : x in v} in (u[0], u[#u - 1])"),
    "an element in a branch": (2, "{if i == 0 then 0 else v[i - 1] : i in index(#v)}"),
    "a division in a branch": (2, "{if x > 5 then 1000 / (x - 5) else x : x in v}"),
    "branches of elements": (
        3, "{if rem(x, 3) == 0 then v[x] + x else if x > 9 then v[x - 9] / x else 0 : x in v}"),
    "ilv of each": (9, "{ilv(w => {2 * x : x in w}, r) : r in group_by(v, 5)}"),
}
FUSED_LENGTH = 10000


def run(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr or done.stdout}")
    return done


def counts(options, definitions, expression, n, folder):
    """Elements moved and instructions executed. The value is not computed for printing only."""
    source, program = Path(folder) / "p.nesl", Path(folder) / "p.vcode"
    source.write_text(definitions + expression.replace("N", str(n)) + ";\n")
    run([options.build / "bin" / "neslc", "-o", program, source], folder)
    text = run([options.build / "bin" / "vinterp-tests", "--threads", "1", "--chunks", "off", "--profile", "--json",
                program], folder).stderr
    profile = json.loads(text[text.index("{"):])
    return profile["work"], profile["instructions"]


def wrong_work(options, name, folder):
    """The error in a program's counts, or nothing; prints them."""
    n, work, most, depth, definitions, expression = PROGRAMS[name]
    seen = [counts(options, definitions, expression, m, folder) for m in (n, 2 * n, 4 * n)]
    print(f"{name:34}" + "".join(f"{w:12}{i:7}" for w, i in seen) +
          f"{seen[2][0] / work(4 * n):9.1f} of {most}")
    for m, (before, after) in zip((n, 2 * n), zip(seen, seen[1:])):
        if after[0] > before[0] * work(2 * m) / work(m) * SLACK:
            return f"from n = {m} to {2 * m} elements grow {after[0] / before[0]:.2f} times"
        if after[1] > before[1] * depth(2 * m) / depth(m) * SLACK:
            return f"from n = {m} to {2 * m} instructions grow {after[1] / before[1]:.2f} times"
    if seen[2][0] > most * work(4 * n):
        return f"{seen[2][0] / work(4 * n):.1f} elements for a unit of work, not {most}"
    return None


def bindings(options, expression, folder):
    source = Path(folder) / "p.nesl"
    source.write_text("v = [0:5];\n" + expression + ";\n")
    text = run([options.build / "bin" / "neslc", "--print-after", "flatten", "-o", "p.vcode",
                source], folder).stdout
    return len(re.findall(r"^ +(?:v\d+.* = |ASSERT)", text, re.MULTILINE))


def wrong_size(options, name, folder):
    sizes = [bindings(options, NESTINGS[name](d), folder) for d in range(1, DEEPEST + 1)]
    print(f"{name:34}{sizes[0]:8}{sizes[DEEPEST // 4 - 1]:8}{sizes[DEEPEST // 2 - 1]:8}{sizes[-1]:8}")
    first = (sizes[DEEPEST // 2 - 1] - sizes[DEEPEST // 4 - 1]) / (DEEPEST // 4)
    last = (sizes[-1] - sizes[DEEPEST // 2 - 1]) / (DEEPEST // 2)
    if last > first * SLACK:
        return f"a level costs {last:.1f} bindings at depth {DEEPEST}, {first:.1f} at {DEEPEST // 2}"
    return None


def wrong_passes(options, name, folder):
    """The error in what an optimised function reads and writes, or nothing; prints it."""
    most, body = FUSED[name]
    source, times = Path(folder) / "p.nesl", Path(folder) / "times.json"
    source.write_text(f"function f(v) = {body};\n")
    run([options.build / "bin" / "nesl-tests", "--threads", "1", "--chunks", "off", "--repeat", "1", "--quiet",
         "--times", times, "run", source, "--entry", "f", f"index({FUSED_LENGTH})"], folder)
    seen = json.loads(times.read_text())["work"] / FUSED_LENGTH
    print(f"{name:34}{seen:12.2f} of {most}")
    return f"{seen:.2f} elements for each of v, not {most}" if seen > most + 0.1 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    options = parser.parse_args()
    options.build = options.build.resolve()
    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for table, check in ((PROGRAMS, wrong_work), (NESTINGS, wrong_size), (FUSED, wrong_passes)):
            for name in table:
                if options.names and name not in options.names:
                    continue
                try:
                    wrong = check(options, name, folder)
                except RuntimeError as error:
                    wrong = str(error)
                if wrong:
                    failed.append(name)
                    print(f"FAILED {name}: {wrong}")
                passed += not wrong
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
