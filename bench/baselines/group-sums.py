"""The sum of the values of each group, with NumPy: one call."""

import numpy as np


def numpy(values, groups, count):
    return [np.bincount(groups, weights=values, minlength=count).astype(values.dtype)]
