"""Sorting networks on batches of 512 words, as Obsidian's papers have them."""

import numpy

from case import Case

WIDTH = 512


def batches(n, rng):
    return [rng.integers(-2**31, 2**31, n // WIDTH * WIDTH), WIDTH]


def sorted_batches(a):
    return [numpy.sort(a[0].reshape(-1, a[1]), axis=1).ravel()]


def network(name, title):
    """A case."""
    return Case(name, title, "Obsidian",
                sizes=[2**13, 2**15, 2**17, 2**20], test_sizes=[0, WIDTH, 9 * WIDTH],
                make=batches, reference=sorted_batches, unit="words", widths="classic")


CASES = [
    network("odd-even-transposition", "Odd-even transposition sort"),
    network("bitonic-sort", "Bitonic sort"),
    network("vsort", "Vsort"),
]
