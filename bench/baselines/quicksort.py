"""Sorting in NumPy by its quicksort."""

import numpy as np


def numpy(v):
    return [np.sort(v, kind="quicksort")]
