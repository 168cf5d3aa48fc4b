"""Triangles with SciPy: paths of two edges that begin and end where an edge does."""

import numpy as np


def scipy(lengths, neighbours):
    from scipy.sparse import csr_array
    n = len(lengths)
    vs = np.repeat(np.arange(n), lengths)
    # Every edge at the end with fewer neighbours, or else there are too many paths.
    ours, theirs = lengths[vs], lengths[neighbours]
    kept = (ours < theirs) | ((ours == theirs) & (vs < neighbours))
    graph = csr_array((np.ones(kept.sum(), dtype=int), (vs[kept], neighbours[kept])), (n, n))
    return [(graph @ graph).multiply(graph).sum()]
