#!/usr/bin/env python3
"""Derives every constant of cvl/elementary.h, -tools.h and .c; needs mpmath.

Prints the polynomials (near-minimax: interpolation in Chebyshev nodes with 60 digits, then
coefficients rounded to double), with the error of each after rounding, the splittings of
ln 2 and pi/2, and the bits of 2/pi. The build does not run this: its output is in the files.
"""
from mpmath import (mp, mpf, matrix, lu_solve, cos, pi, exp, log, sin, sinh, tanh, asin, atan,
                    atanh, sqrt, floor, ldexp, frexp)

mp.dps = 80


def fit(f, low, high, terms):
    """Coefficients, lowest first, of the polynomial that meets f in the Chebyshev nodes."""
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * terms))
             for k in range(terms)]
    powers = matrix(terms, terms)
    values = matrix(terms, 1)
    for row, x in enumerate(nodes):
        for column in range(terms):
            powers[row, column] = x ** column
        values[row] = f(x)
    return [float(c) for c in lu_solve(powers, values)]


def report(name, what, f, low, high, terms, weight):
    """Prints one polynomial; weight turns an error of it into a relative one of the result."""
    coefficients = fit(f, low, high, terms)
    worst = mpf(0)
    for k in range(400):
        x = mpf(low) + (mpf(high) - mpf(low)) * (k + mpf(0.3)) / 400
        value = sum(mpf(c) * x ** i for i, c in enumerate(coefficients))
        worst = max(worst, abs((value - f(x)) * weight(x)))
    print(f'/* {name}: {what}; relative error 2^{float(log(worst, 2)):.1f} */')
    print(',\n'.join('  ' + c.hex() for c in coefficients))


def split(name, value, bits, parts):
    """value as a sum of doubles, all but the last of `bits` bits, truncated downward."""
    rest = mpf(value)
    for part in range(parts):
        if part == parts - 1:
            summand = mpf(float(rest))
        else:
            exponent = frexp(rest)[1]
            summand = ldexp(floor(ldexp(rest, bits - exponent)), exponent - bits)
        print(f'{name}_{part + 1} = {float(summand).hex()}')
        rest -= summand


def words_of_two_over_pi(count):
    mp.prec = 64 * count + 200
    rest = 2 / pi
    for _ in range(count):
        rest = ldexp(rest, 64)
        word = int(floor(rest))
        rest -= word
        print(f'  0x{word:016x},')


def main():
    half_ln2 = log(2) / 2
    root = lambda z: sqrt(mpf(z))
    edge = (sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)
    report('EXP', 'e^r = 1 + r + r^2 P(r), |r| <= ln 2 / 2',
           lambda r: (exp(r) - 1 - r) / r ** 2, -half_ln2 * 1.001, half_ln2 * 1.0011, 11,
           lambda r: r ** 2 / exp(r))
    report('EXP_ALONE', 'the same, for exp itself',
           lambda r: (exp(r) - 1 - r) / r ** 2, -half_ln2 * 1.001, half_ln2 * 1.0011, 10,
           lambda r: r ** 2 / exp(r))
    report('LOG', '2 atanh(s) = 2 s + s z P(z), z = s^2, s <= 0.1716',
           lambda z: 2 * (atanh(root(z)) / root(z) - 1) / z, 0, (edge * 1.001) ** 2, 7,
           lambda z: z / 2)
    quarter = (pi / 4 * 1.001) ** 2
    report('SIN', 'sin r = r + r z P(z), z = r^2, |r| <= pi/4',
           lambda z: (sin(root(z)) / root(z) - 1) / z, 0, quarter, 7, lambda z: z)
    report('COS', 'cos r = 1 - z/2 + z^2 P(z), z = r^2, |r| <= pi/4',
           lambda z: (cos(root(z)) - 1 + z / 2) / z ** 2, 0, quarter, 6, lambda z: z ** 2)
    report('ASIN', 'asin x = x + x z P(z), z = x^2 <= 1/4',
           lambda z: (asin(root(z)) / root(z) - 1) / z, 0, mpf(0.2501), 14, lambda z: z)
    report('ATAN', 'atan u = u + u z P(z), z = u^2, |u| <= tan(pi/8)',
           lambda z: (atan(root(z)) / root(z) - 1) / z, 0, mpf(0.1717), 12, lambda z: z)
    report('SINH', 'sinh x = x + x z P(z), z = x^2 <= 1',
           lambda z: (sinh(root(z)) / root(z) - 1) / z, 0, 1, 8, lambda z: z)
    report('TANH', 'tanh x = x + x z P(z), z = x^2, |x| <= 0.55',
           lambda z: (tanh(root(z)) / root(z) - 1) / z, 0, mpf(0.3026), 12, lambda z: z)
    split('LN2', log(2), 40, 2)
    split('HALF_PI', pi / 2, 53, 2)
    split('REDUCE', pi / 2, 33, 4)
    print('1/ln2 =', float(1 / log(2)).hex(), ' 2/pi =', float(2 / pi).hex())
    print('tan(pi/8) =', float(sqrt(mpf(2)) - 1), ' tan(3pi/8) =', float(sqrt(mpf(2)) + 1))
    print('/* 2/pi, 64 bits a word */')
    words_of_two_over_pi(20)


if __name__ == '__main__':
    main()
