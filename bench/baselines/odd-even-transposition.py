"""Odd-even transposition with NumPy: pairs of views."""

import numpy as np


def numpy(words, width):
    v = words.reshape(-1, width).copy()
    for k in range(width):
        low, high = v[:, k % 2:width - 1:2], v[:, k % 2 + 1::2]
        smaller = np.minimum(low, high)
        np.maximum(low, high, out=high)
        low[...] = smaller
    return [v.ravel()]
