"""The suffix array in NumPy: prefix doubling with sorting by pairs of order numbers."""

import numpy as np


def numpy(text):
    n = len(text)
    _, order = np.unique(text, return_inverse=True)
    known = 1
    while True:
        behind = np.zeros(n, np.int64)
        behind[:n - min(known, n)] = order[known:] + 1
        keys = order * (n + 1) + behind
        positions = np.argsort(keys, kind="stable")
        differs = np.diff(keys[positions], prepend=keys[positions[:1]]) != 0
        order = np.empty(n, np.int64)
        order[positions] = np.cumsum(differs)
        if n == 0 or order[positions[-1]] == n - 1:
            return [positions]
        known *= 2
