"""The operations as loops by hand, parallel over lists, compiled by numba."""

import numpy as np
from numba import njit, prange


@njit(parallel=True)
def sum(offsets, content):  # pylint: disable=redefined-builtin
    total = np.zeros(len(offsets) - 1)
    for i in prange(len(offsets) - 1):
        one = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            one += content[k]
        total[i] = one
    return total


@njit(parallel=True)
def sort(offsets, content):
    out = content.copy()
    for i in prange(len(offsets) - 1):
        out[offsets[i]:offsets[i + 1]].sort()
    return out


@njit(parallel=True)
def filter(offsets, content):  # pylint: disable=redefined-builtin
    counts = np.zeros(len(offsets), np.int64)
    for i in prange(len(offsets) - 1):
        count = 0
        for k in range(offsets[i], offsets[i + 1]):
            count += content[k] > 0.5
        counts[i + 1] = count
    ends = np.cumsum(counts)
    out = np.empty(ends[-1])
    for i in prange(len(offsets) - 1):
        at = ends[i]
        for k in range(offsets[i], offsets[i + 1]):
            if content[k] > 0.5:
                out[at] = content[k]
                at += 1
    return ends, out


@njit(parallel=True)
def pairs(offsets, content):
    total = np.zeros(len(offsets) - 1)
    for i in prange(len(offsets) - 1):
        one = 0.0
        for k in range(offsets[i], offsets[i + 1]):
            for m in range(k + 1, offsets[i + 1]):
                one += content[k] * content[m]
        total[i] = one
    return total


@njit
def _quicksort(v):
    if len(v) < 2:
        return
    p = v[len(v) // 2]
    low, high = 0, len(v) - 1
    while low <= high:
        while v[low] < p:
            low += 1
        while v[high] > p:
            high -= 1
        if low <= high:
            v[low], v[high] = v[high], v[low]
            low += 1
            high -= 1
    _quicksort(v[:high + 1])
    _quicksort(v[low:])


@njit(parallel=True)
def quicksort(offsets, content):
    out = content.copy()
    for i in prange(len(offsets) - 1):
        _quicksort(out[offsets[i]:offsets[i + 1]])
    return out
