"""The sum of words with NumPy: one call."""

import numpy as np


def numpy(x):
    return [np.sum(x)]
