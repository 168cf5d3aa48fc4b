"""A filter with NumPy: a mask."""


def numpy(x):
    return [x[x > 0]]
