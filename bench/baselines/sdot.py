"""Dot product in single precision. Not np.dot: where the BLAS behind it is the plain one, it adds
ten million products one after the other, and is wrong by one percent."""

import numpy as np


def numpy(x, y):
    return [np.sum(x * y)]
