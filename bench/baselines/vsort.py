"""Vsort with NumPy: a table, and a shuffle as a transposition."""

import numpy as np


def tau(v):
    if len(v) <= 2:
        return v
    half = len(v) // 2
    return np.concatenate([tau(v[:half]), tau(v[half:][::-1])])


def numpy(words, width):
    v = words.reshape(-1, width)
    table, bits = tau(np.arange(width)), width.bit_length() - 1
    for _ in range(bits):
        v = v[:, table]
        for _ in range(bits):
            low, high = v[:, :width // 2], v[:, width // 2:]
            v = np.stack([np.minimum(low, high), np.maximum(low, high)], axis=2)
            v = v.reshape(-1, width)
    return [v.ravel()]
