"""PageRank: a sum over each page's links in NumPy, a matrix times a vector in SciPy."""

import numpy as np


def iterate(passed_on, degrees, steps):
    n = len(degrees)
    ranks = np.full(n, 1.0 / n)
    for _ in range(steps):
        shares = ranks / np.maximum(degrees, 1)
        lost = ranks[degrees == 0].sum()
        ranks = (0.15 + 0.85 * lost) / n + 0.85 * passed_on(shares)
    return [ranks]


def numpy(lengths, sources, degrees, steps):
    # reduceat gives the element itself for an empty row, and fails behind the last one.
    filled = lengths > 0
    begins = (np.cumsum(lengths) - lengths)[filled]

    def passed_on(shares):
        sums = np.zeros(len(lengths))
        if len(begins):
            sums[filled] = np.add.reduceat(shares[sources], begins)
        return sums
    return iterate(passed_on, degrees, steps)


def scipy(lengths, sources, degrees, steps):
    from scipy.sparse import csr_array
    begins = np.concatenate([[0], np.cumsum(lengths)])
    links = csr_array((np.ones(len(sources)), sources, begins), (len(lengths), len(lengths)))
    return iterate(links.__matmul__, degrees, steps)
