"""Exclusive scan with NumPy, whose own is inclusive."""

import numpy as np


def numpy(x):
    sums = np.empty_like(x)
    sums[:1] = 0
    np.cumsum(x[:-1], out=sums[1:])
    return [sums]
