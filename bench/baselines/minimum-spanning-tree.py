"""Minimum spanning tree as SciPy finds it. The weights in its result identify the edges."""

import numpy as np


def scipy(n, us, vs, weights):
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree
    if n == 0:
        return [np.zeros(1), np.zeros(0, dtype=bool)]    # matrices without rows are refused
    tree = minimum_spanning_tree(coo_array((weights, (us, vs)), (n, n)).tocsr())
    return [tree.data.sum(), np.isin(weights, tree.data)]
