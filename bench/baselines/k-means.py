"""k-means in NumPy: the nearest centre so far of all points, one centre after the other."""

import numpy as np


def nearest(xs, ys, centre_xs, centre_ys):
    best = np.full(len(xs), np.inf)
    labels = np.zeros(len(xs), dtype=int)
    for k, (x, y) in enumerate(zip(centre_xs, centre_ys)):
        distances = (xs - x) ** 2 + (ys - y) ** 2
        closer = distances < best
        labels[closer] = k
        np.minimum(best, distances, out=best)
    return labels


def numpy(xs, ys, centre_xs, centre_ys, steps):
    for _ in range(steps):
        labels = nearest(xs, ys, centre_xs, centre_ys)
        counts, x_sums, y_sums = (np.bincount(labels, values, minlength=len(centre_xs))
                                  for values in (None, xs, ys))
        used = counts > 0    # a centre without points stays where it is
        centre_xs = np.where(used, x_sums / np.maximum(counts, 1), centre_xs)
        centre_ys = np.where(used, y_sums / np.maximum(counts, 1), centre_ys)
    return [centre_xs, centre_ys, nearest(xs, ys, centre_xs, centre_ys)]
