#!/usr/bin/env python3
"""Derives every constant of cvl/elementary.h, -tools.h, -single.h and .c; needs mpmath.

    scripts/derive-elementary.py            prints them
    scripts/derive-elementary.py --check    says which of them are not in these files

Prints the polynomials (near-minimax: interpolation in Chebyshev nodes with 80 digits, then
coefficients rounded to double), with the error of each after rounding, the splittings of
ln 2 and pi/2, and the bits of 2/pi. The build does not run this: its output is in the files.

Polynomials of doubles keep the terms that are exact (the 1 of e^r = 1 + r + ..., which becomes the
head of a pair), and approximate the rest. Those of floats approximate the function as a whole, up
to a factor such as the r of sin r, by relative error; two are quotients of polynomials.
"""
import re
import sys
from pathlib import Path

from mpmath import (mp, mpf, matrix, lu_solve, cos, cosh, pi, exp, log, log1p, sin, sinh, tan, tanh,
                    asin, atan, atanh, sqrt, floor, ldexp, frexp)

mp.dps = 80

ROOT = Path(__file__).resolve().parent.parent
FILES = [ROOT / "cvl" / name for name in ("elementary.h", "elementary-tools.h", "elementary-single.h",
                                          "elementary.c")]

printed = []


def constant(x):
    """The text of a constant, which is noted."""
    printed.append(x.hex() if isinstance(x, float) else f'0x{x:016x}')
    return printed[-1]


def chebyshev_nodes(low, high, count):
    return [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count))
            for k in range(count)]


def fit(f, low, high, above, below=0):
    """The coefficients, lowest first, of the quotient that meets f in the Chebyshev nodes: `above`
    of its numerator, and `below` of its denominator without the first, which is 1."""
    count = above + below
    powers, values = matrix(count, count), matrix(count, 1)
    for row, x in enumerate(chebyshev_nodes(mpf(low), mpf(high), count)):
        values[row] = f(x)
        for column in range(above):
            powers[row, column] = x ** column
        for column in range(below):
            powers[row, above + column] = -values[row] * x ** (column + 1)
    solved = [float(c) for c in lu_solve(powers, values)]
    return solved[:above], solved[above:]


def value(coefficients, x):
    return sum(mpf(c) * x ** i for i, c in enumerate(coefficients))


def report(name, what, f, low, high, terms, weight):
    """Prints one; weight turns an error of it into a relative one of the result."""
    above, below = fit(f, low, high, *terms)
    worst = mpf(0)
    for k in range(400):
        x = mpf(low) + (mpf(high) - mpf(low)) * (k + mpf(0.3)) / 400
        worst = max(worst, abs((value(above, x) / value([1.0] + below, x) - f(x)) * weight(x)))
    print(f'/* {name}: {what}; relative error 2^{float(log(worst, 2)):.1f} */')
    print(',\n'.join('  ' + constant(c) for c in above))
    if below:
        print('  / 1,\n' + ',\n'.join('  ' + constant(c) for c in below))


def report_float(name, what, f, low, high, above, below=0):
    """The same of a polynomial or quotient for floats, by relative error."""
    report(f'{name} of floats', what, f, low, high, (above, below), lambda x: 1 / f(x))


def split(name, x, bits, parts):
    """x as a sum of doubles, all but the last of `bits` bits, truncated downward."""
    rest = mpf(x)
    for part in range(parts):
        if part == parts - 1:
            summand = mpf(float(rest))
        else:
            exponent = frexp(rest)[1]
            summand = ldexp(floor(ldexp(rest, bits - exponent)), exponent - bits)
        print(f'{name}_{part + 1} = {constant(float(summand))}')
        rest -= summand


def words_of_two_over_pi(count):
    mp.prec = 64 * count + 200
    rest = 2 / pi
    for _ in range(count):
        rest = ldexp(rest, 64)
        word = int(floor(rest))
        rest -= word
        print(f'  {constant(word)},')


def root(z):
    return sqrt(mpf(z))


def by_root(f):
    """f(r) / r of z = r^2, for an odd function."""
    return lambda z: f(root(z)) / root(z)


def doubles():
    half_ln2 = log(2) / 2
    edge = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    report('EXP', 'e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2',
           lambda r: (exp(r) - 1 - r) / r ** 2, -half_ln2 * 1.001, half_ln2 * 1.0011, (11,),
           lambda r: r ** 2 / exp(r))
    report('EXP_ALONE', 'the same, for exp itself',
           lambda r: (exp(r) - 1 - r) / r ** 2, -half_ln2 * 1.001, half_ln2 * 1.0011, (10,),
           lambda r: r ** 2 / exp(r))
    report('LOG', '2 atanh(s) = 2 s + s z P(z), z = s^2, s <= 0.1716',
           lambda z: 2 * (atanh(root(z)) / root(z) - 1) / z, 0, (edge * 1.001) ** 2, (7,),
           lambda z: z / 2)
    quarter = (pi / 4 * 1.001) ** 2
    report('SIN', 'sin r = r + r z P(z), z = r^2, |r| <= pi/4',
           lambda z: (sin(root(z)) / root(z) - 1) / z, 0, quarter, (7,), lambda z: z)
    report('COS', 'cos r = 1 - z/2 + z^2 P(z), z = r^2, |r| <= pi/4',
           lambda z: (cos(root(z)) - 1 + z / 2) / z ** 2, 0, quarter, (6,), lambda z: z ** 2)
    report('ASIN', 'asin x = x + x z P(z), z = x^2 <= 1/4',
           lambda z: (asin(root(z)) / root(z) - 1) / z, 0, mpf(0.2501), (14,), lambda z: z)
    report('ATAN', 'atan u = u + u z P(z), z = u^2, |u| <= tan(pi/8)',
           lambda z: (atan(root(z)) / root(z) - 1) / z, 0, mpf(0.1717), (12,), lambda z: z)
    report('SINH', 'sinh x = x + x z P(z), z = x^2 <= 1',
           lambda z: (sinh(root(z)) / root(z) - 1) / z, 0, 1, (8,), lambda z: z)
    report('TANH', 'tanh x = x + x z P(z), z = x^2, |x| <= 0.55',
           lambda z: (tanh(root(z)) / root(z) - 1) / z, 0, mpf(0.3026), (12,), lambda z: z)
    split('LN2', log(2), 40, 2)
    split('HALF_PI', pi / 2, 53, 2)
    split('REDUCE', pi / 2, 33, 4)
    print('tan(pi/8) =', float(sqrt(mpf(2)) - 1), ' tan(3pi/8) =', float(sqrt(mpf(2)) + 1))


def floats():
    most = log(2) / 2 * mpf(1.0001)
    report_float('EXP', 'e^r, |r| <= ln 2 / 2', exp, -most, most, 8)
    report_float('COSH', 'cosh r, z = r^2, |r| <= ln 2 / 2', lambda z: cosh(root(z)), 0, most ** 2, 4)
    report_float('SINH', 'sinh(r) / r, z = r^2, |r| <= ln 2 / 2', by_root(sinh), 0, most ** 2, 4)
    report_float('TANH', 'tanh(w) / w, z = w^2, |w| <= ln 2 / 4', by_root(tanh), 0, most ** 2 / 4, 2, 2)
    least = mpf(0x1ae89f00000000) / mpf(2) ** 53  # E_LOG_LEAST; the upper half begins at 2 least - 1/2
    low = min(least - 1, (2 * least - 0.5) / sqrt(mpf(2)) - 1)
    high = max(2 * least - 1.5, 2 * least / sqrt(mpf(2)) - 1)
    report_float('LOG', f'log(1 + f) / f, {float(low):.3f} <= f <= {float(high):.3f}',
                 lambda f: log1p(f) / f, low, high, 9)
    most = pi / 2 * mpf(1.00001)
    report_float('SIN', 'sin(r) / r, z = r^2, |r| <= pi/2', by_root(sin), 0, most ** 2, 6)
    report_float('TAN', 'tan(r) / r, z = r^2, |r| <= pi/4', by_root(tan), 0, most ** 2 / 4, 3, 2)
    report_float('ASIN', 'asin(x) / x, z = x^2 <= 1/4', by_root(asin), 0, mpf(0.25), 8)
    report_float('ATAN', 'atan(u) / u, z = u^2, |u| <= tan(pi/8)', by_root(atan), 0, mpf(0.1717), 7)
    split('PI', pi, 33, 2)
    print('1/pi =', constant(float(1 / pi)), ' 2/pi =', constant(float(2 / pi)))
    print('ln2 =', constant(float(log(2))), ' 1/ln2 =', constant(float(1 / log(2))),
          ' root(1/2) =', constant(float(sqrt(mpf(0.5)))))


def main():
    doubles()
    floats()
    print('/* 2/pi, 64 bits a word */')
    words_of_two_over_pi(20)
    if sys.argv[1:] != ['--check']:
        return 0
    there = set(re.findall(r'-?0x[0-9a-f.]+(?:p[+-][0-9]+)?', ''.join(f.read_text() for f in FILES)))
    missing = [c for c in printed if c not in there]
    print(f'{len(printed)} constants, of which {len(missing)} are not in the files: {" ".join(missing)}')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main())
