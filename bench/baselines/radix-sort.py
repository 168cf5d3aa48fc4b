"""Sorting in array libraries of Python: one call; NumPy's stable sort of ints goes by radix or by
merging."""

import numpy as np


def numpy(v):
    return [np.sort(v, kind="stable")]


def torch(torch_module, v):
    return [torch_module.sort(v).values]


def jax(jnp, v):
    return [jnp.sort(v)]


def cupy(cp, v):
    return [cp.sort(v)]
