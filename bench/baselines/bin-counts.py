"""How often each number occurs, with NumPy: one call."""

import numpy as np


def numpy(v, bins):
    return [np.bincount(v, minlength=bins)]
