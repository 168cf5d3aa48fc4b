"""The product of two sparse matrices as SciPy makes it; its rows then have to be sorted."""

import numpy as np


def matrix(lengths, columns, values, width):
    from scipy.sparse import csr_array
    begins = np.concatenate([[0], np.cumsum(lengths)])
    return csr_array((values, columns, begins), (len(lengths), width))


def scipy(a_lengths, a_columns, a_values, b_lengths, b_columns, b_values):
    width = max(b_columns.max(initial=-1) + 1, len(b_lengths))
    product = (matrix(a_lengths, a_columns, a_values, len(b_lengths))
               @ matrix(b_lengths, b_columns, b_values, width))
    product.sort_indices()
    return [np.diff(product.indptr), product.indices, product.data]
