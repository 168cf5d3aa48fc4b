"""Spencer's moving average, a convolution."""

import numpy as np

WEIGHTS = np.array([-3, -6, -5, 3, 21, 46, 67, 74, 67, 46, 21, 3, -5, -6, -3]) / 320


def numpy(x):
    return [np.convolve(x, WEIGHTS, "valid")[:len(x) - 14]]
