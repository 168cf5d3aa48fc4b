"""Batcher's bitonic sort with NumPy: words that are `distance` from each other are views."""

import numpy as np


def numpy(words, width):
    v = words.copy()
    run = 2
    while run <= width:
        distance = run // 2
        while distance:
            blocks = v.reshape(-1, 2, distance)
            starts = np.arange(len(blocks)) * 2 * distance
            down = (starts % width & run != 0)[:, None]
            low, high = blocks[:, 0], blocks[:, 1]
            smaller, larger = np.minimum(low, high), np.maximum(low, high)
            low[...] = np.where(down, larger, smaller)
            high[...] = np.where(down, smaller, larger)
            distance //= 2
        run *= 2
    return [v]
