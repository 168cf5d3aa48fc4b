"""Dot product in single precision: one call."""

import numpy as np


def numpy(x, y):
    return [np.dot(x, y)]
