"""The greatest value and its first position, with NumPy: one call, and an element."""

import numpy as np


def numpy(v):
    if len(v) == 0:
        return [np.zeros(1), np.array([-1])]
    at = np.argmax(v)
    return [v[at], at]
