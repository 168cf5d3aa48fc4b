"""Sparse matrix times vector in array libraries of Python: a matrix object of compressed rows."""

import numpy as np


def numpy(lengths, columns, values, x):
    # reduceat gives the element itself for an empty row, and fails behind the last one.
    begins = np.cumsum(lengths) - lengths
    filled = lengths > 0
    y = np.zeros(len(lengths))
    if len(values):
        y[filled] = np.add.reduceat(values * x[columns], begins[filled])
    return [y]


def begins(xp, lengths):
    return xp.concatenate([xp.zeros(1, dtype=lengths.dtype), xp.cumsum(lengths)])


def scipy(lengths, columns, values, x):
    from scipy.sparse import csr_array
    return [csr_array((values, columns, begins(np, lengths)), (len(lengths), len(x))) @ x]


def torch(torch_module, lengths, columns, values, x):
    ends = torch_module.cumsum(lengths, 0)
    row_begins = torch_module.cat([ends.new_zeros(1), ends])
    matrix = torch_module.sparse_csr_tensor(row_begins, columns, values, (len(lengths), len(x)))
    return [matrix @ x]


def jax(jnp, lengths, columns, values, x):
    from jax.ops import segment_sum
    rows = jnp.repeat(jnp.arange(len(lengths)), lengths, total_repeat_length=len(values))
    return [segment_sum(values * x[columns], rows, len(lengths), indices_are_sorted=True)]


def cupy(cp, lengths, columns, values, x):
    from cupyx.scipy.sparse import csr_matrix
    return [csr_matrix((values, columns, begins(cp, lengths)), (len(lengths), len(x))) @ x]
