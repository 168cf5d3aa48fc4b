#!/usr/bin/env python3
"""Derives base/powers-of-ten.c, and the bounds that base/decimal.c depends on.

Prints the file: 10^k as 128 bits, cut off below, for each k that decimal.c and real.c need. With
--bounds it prints how near to an integer 2 * m * 2^e * 10^k comes without being one, for each m
and e of a double or of half the distance to its neighbour. The build does not run this.
"""
import sys
from fractions import Fraction
from math import log2

LEAST, MOST = -342, 340       # "4.9e-324" with 17 digits; 16 digits more than the least double has
BITS = 128


def entry(k):
    """The first 128 bits of 10^k, which are those of 5^k."""
    numerator, denominator = (5 ** k, 1) if k >= 0 else (1 << 2000, 5 ** -k)
    quotient = (numerator << 2000) // denominator
    return quotient >> quotient.bit_length() - BITS


def nearest(a, b, most):
    """The least of m * a mod b and of -m * a mod b for 1 <= m <= most, zero aside.

    Both are lowered in turn by the other, as in Euclid's algorithm, while m permits.
    """
    above, above_m, below, below_m = a % b, 1, b - a % b, 1
    while above != below:
        if above > below:
            steps = min((above - 1) // below, (most - above_m) // below_m)
            above, above_m = above - steps * below, above_m + steps * below_m
        else:
            steps = min((below - 1) // above, (most - below_m) // above_m)
            below, below_m = below - steps * above, below_m + steps * above_m
        if steps <= 0:
            break
    return min(above, below)


def bound():
    """log2 of the least distance from an integer, over doubles and the ends of their intervals.

    x lies between 2^n and 2^(n + 1); both are multiples of 2^e below 2^(n + 2).
    """
    worst = 0.0
    for n in range(-1075, 1024):
        e = max(n - 54, -1076)
        k = 16 - (n * 315653 >> 20)
        product = 2 * Fraction(2) ** e * Fraction(10) ** k
        a, b = product.numerator, product.denominator
        if b > 1:
            worst = min(worst, log2(nearest(a, b, 1 << n + 2 - e)) - log2(b))
    return worst


def main():
    if '--bounds' in sys.argv[1:]:
        print(f'2^{bound():.2f}')
        return
    print('/* powers-of-ten.c - printed by scripts/derive-powers-of-ten.py. */\n'
          '#include "base/powers-of-ten.h"\n\n/* clang-format off */\n'
          'const struct power_of_ten powers_of_ten[] = {')
    words = [(entry(k) >> 64, entry(k) & (1 << 64) - 1) for k in range(LEAST, MOST + 1)]
    for i in range(0, len(words), 2):
        print('  ' + ' '.join(f'{{0x{high:016x}, 0x{low:016x}}},' for high, low in words[i:i + 2]))
    print('};')


main()
