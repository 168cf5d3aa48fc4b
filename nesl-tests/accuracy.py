#!/usr/bin/env python3
"""accuracy.py - the errors of the functions of neslc/library/reals.nesl, in units in the last digit.

    accuracy.py [--count N] [--seed S] [--nesl COMMAND]

Calls each function of BOUNDS with random arguments of all magnitudes, floats of 64 and of 32 bits, and compares
with results of 50 digits, computed here. Prints the largest error of each; fails if one is above its bound.
fma must be exact: what rounding once gives.
"""

import argparse
import math
import random
import struct
import subprocess
import sys
import tempfile
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
getcontext().prec = 60
getcontext().Emin, getcontext().Emax = -99999, 99999
PROGRAM = """
function of_one(x) = {expm1(a) : a in x}, {log1p(abs(a)) : a in x}, {log1p(a) : a in x | a > -1.0},
                     {cbrt(a) : a in x};
function of_two(x, y) = {hypot(a, b) : a in x; b in y}, {atan2(a, b) : a in x; b in y};
function of_three(x, y, z) = {fma(a, b, c) : a in x; b in y; c in z};
"""
# Units in the last digit. The documentation of the functions says them.
BOUNDS = {"expm1": 3, "log1p": 3, "cbrt": 1, "hypot": 2, "atan2": 1.5, "fma": 0.5}
WIDTHS = {64: ("d", "<f8", 53, -1074), 32: ("f", "<f4", 24, -149)}


def arctan(x):
    """Of a Decimal: halved five times, then Taylor's series."""
    for _ in range(5):
        x = x / (1 + (1 + x * x).sqrt())
    total, power, k = Decimal(0), x, 0
    while power and abs(power) > abs(x) * Decimal(10) ** -55:
        total += (-power if k % 2 else power) / (2 * k + 1)
        power, k = power * x * x, k + 1
    return 32 * total


HALF_TURN = 4 * arctan(Decimal(1))


def angle(y, x):
    if x == 0:
        return HALF_TURN / 2 if y > 0 else -HALF_TURN / 2 if y < 0 else Decimal(0)
    a = arctan(y / x)
    return a if x > 0 else a + HALF_TURN if y >= 0 else a - HALF_TURN


def cube_root(x):
    return Decimal(0) if x == 0 else (abs(x).ln() / 3).exp().copy_sign(x)


MODELS = {
    "expm1": lambda x: x.exp() - 1 if abs(x) > Decimal("1e-20") else x + x * x / 2,
    "log1p": lambda x: (1 + x).ln() if abs(x) > Decimal("1e-20") else x - x * x / 2,
    "cbrt": cube_root,
    "hypot": lambda x, y: (x * x + y * y).sqrt(),
    "atan2": angle,
    "fma": lambda x, y, z: Fraction(x) * Fraction(y) + Fraction(z),
}


def unit(x, digits, least):
    """The unit in the last digit of floats around x."""
    if x == 0:
        return Fraction(2) ** least
    x = abs(Fraction(x))
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > x
    return Fraction(2) ** max(exponent - digits + 1, least)


def argument(r, magnitude):
    x = r.choice([r.uniform(-1, 1), r.uniform(-1, 1) * 10.0 ** r.randint(-magnitude, magnitude),
                  float(r.randint(-20, 20)), r.randint(-9, 9) / 8])
    return x


def near_half(r, digits):
    """x, y, z with x * y as good as half a unit of z, but a little more or less."""
    k, m = digits // 2 + 2, digits // 3 + 1
    x, y = r.choice([(1 + 2.0 ** -k, 1 - 2.0 ** -k), (1 + 2.0 ** -m, 1 - 2.0 ** -m + 4.0 ** -m)])
    z = 1 + r.randint(0, 9) * 2.0 ** (1 - digits)
    return r.choice([-1, 1]) * x, y * 2.0 ** -digits, z


def triple(r, kind):
    """x, y, z of which z is near -x * y, or a half of a unit of it."""
    if r.random() < 0.3:
        return near_half(r, 53 if kind == "d" else 24)
    x, y = rounded(argument(r, 5), kind), rounded(argument(r, 5), kind)
    z = r.choice([argument(r, 5), -x * y, -x * y * (1 + 2.0 ** -20), x * y * 2.0 ** r.randint(-60, 60)])
    return x, y, rounded(z, kind)


def rounded(x, kind):
    return struct.unpack(kind, struct.pack(kind, x))[0]


def write_array(path, kind, descr, v):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(v))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
                     + struct.pack("<%d%s" % (len(v), kind), *v))


def read_array(path):
    data = path.read_bytes()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    kind = "d" if b"<f8" in data[:start] else "f"
    count = (len(data) - start) // struct.calcsize(kind)
    return struct.unpack_from("<%d%s" % (count, kind), data, start)


class Runs:
    """Calls of the program in one width."""

    def __init__(self, options, width, folder):
        self.options, self.width, self.folder = options, width, Path(folder)
        self.kind, self.descr, self.digits, self.least = WIDTHS[width]
        (self.folder / "accuracy.nesl").write_text(PROGRAM)

    def call(self, function, columns, results):
        names = []
        for at, v in enumerate(columns):
            write_array(self.folder / f"in{at}.npy", self.kind, self.descr, v)
            names.append(f"in{at}.npy")
        outputs = [x for at in range(results) for x in ("-o", f"out{at}.npy")]
        subprocess.run([self.options.nesl, "--backend", "cpu", "--float", str(self.width), "run", "accuracy.nesl",
                        "--entry", function, *names, *outputs], cwd=self.folder, check=True,
                       stdout=subprocess.DEVNULL)
        return [read_array(self.folder / f"out{at}.npy") for at in range(results)]

    def error(self, name, arguments, got):
        exact = MODELS[name](*map(Decimal, arguments))
        greatest = Fraction(2) ** (1024 if self.width == 64 else 128)
        if abs(Fraction(exact)) >= greatest * (1 - Fraction(2) ** -25):
            return 0.0  # overflows, or may
        if not math.isfinite(got):
            return math.inf
        return abs(Fraction(got) - Fraction(exact)) / unit(exact, self.digits, self.least)

    def worst(self, name, cases, results):
        return max((self.error(name, case, got), case, got) for case, got in zip(cases, results))


def measured(runs, r, count):
    """(name, (error, arguments, result)) of each function."""
    magnitude = 300 if runs.width == 64 else 35
    x = [rounded(argument(r, magnitude), runs.kind) for _ in range(count)]
    y = [rounded(argument(r, magnitude), runs.kind) for _ in range(count)]
    results = runs.call("of_one", [x], 4)
    for name, chosen, got in [("expm1", x, results[0]), ("log1p", [abs(a) for a in x], results[1]),
                              ("log1p", [a for a in x if a > -1], results[2]), ("cbrt", x, results[3])]:
        cases = [(a,) for a in chosen]
        if name == "expm1":  # the model's exponents are large beyond
            kept = [i for i, (a,) in enumerate(cases) if abs(a) < 800]
            cases, got = [cases[i] for i in kept], [got[i] for i in kept]
        yield name, runs.worst(name, cases, got)
    for name, got in zip(["hypot", "atan2"], runs.call("of_two", [x, y], 2)):
        yield name, runs.worst(name, list(zip(x, y)), got)
    z = [triple(r, runs.kind) for _ in range(count)]
    yield "fma", runs.worst("fma", z, runs.call("of_three", list(zip(*z)), 1)[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nesl", default=str(ROOT / "build" / "bin" / "nesl"))
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", default="ravel")
    options = parser.parse_args()
    failed = 0
    for width in WIDTHS:
        with tempfile.TemporaryDirectory(prefix="ravel-") as folder:
            runs = Runs(options, width, folder)
            for name, (error, case, got) in measured(runs, random.Random(options.seed), options.count):
                good = error <= BOUNDS[name]
                failed += not good
                print("%s %d: %.3f units, of %s, which gives %r%s"
                      % (name, width, error, case, got, "" if good else ": MORE THAN %g" % BOUNDS[name]))
    print("%d failed" % failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
