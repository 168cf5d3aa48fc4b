"""Sorting in NumPy: for 64-bit ints a vectorised quicksort, where the processor has AVX-512."""

import numpy as np


def numpy(v):
    return [np.sort(v)]
