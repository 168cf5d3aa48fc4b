"""Root mean square error with NumPy."""

import numpy as np


def numpy(x, y):
    d = x - y
    return [np.sqrt(np.dot(d, d) / len(d))]
