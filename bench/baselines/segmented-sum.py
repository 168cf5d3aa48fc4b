"""Sums of rows with NumPy: reduceat knows no empty rows, they are left out."""

import numpy as np


def numpy(values, lengths):
    sums = np.zeros(len(lengths))
    filled = lengths > 0
    if filled.any():
        starts = np.cumsum(lengths) - lengths
        sums[filled] = np.add.reduceat(values, starts[filled])
    return [sums]
