"""Adaptive integration in NumPy: Simpson's rule on all intervals of a level."""

import numpy as np


def integrand(x):
    return np.sin(1 / x)


def simpson(width, left, middle, right):
    return width / 6 * (left + 4 * middle + right)


def numpy(n):
    h = np.array([(1 - 1 / n) / 2])
    x = np.array([1 / n])
    left, middle, right = integrand(x), integrand(x + h), integrand(x + 2 * h)
    total = 0.0
    while len(x):
        a, b = integrand(x + 0.5 * h), integrand(x + 1.5 * h)
        halves = simpson(h, left, a, middle) + simpson(h, middle, b, right)
        error = (halves - simpson(2 * h, left, middle, right)) / 15
        bad = np.abs(error) > 1e-7 * h
        total += (halves + error)[~bad].sum()
        x, h, a, b = x[bad], h[bad], a[bad], b[bad]
        left, middle, right = left[bad], middle[bad], right[bad]
        x, h = np.concatenate([x, x + h]), np.concatenate([h, h]) / 2
        left, middle, right = (np.concatenate([left, middle]), np.concatenate([a, b]),
                               np.concatenate([middle, right]))
    return [np.array([total])]
