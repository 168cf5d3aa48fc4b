"""The sieve in NumPy: flags of the odd numbers, crossed out in strides."""

import math

import numpy as np


def numpy(n):
    if n <= 2:
        return [np.array([], np.int64)]
    prime = np.ones(n // 2, bool)
    for p in range(3, math.isqrt(n) + 1, 2):
        if prime[p // 2]:
            prime[p * p // 2::p] = False
    primes = 2 * np.flatnonzero(prime) + 1
    primes[0] = 2
    return [primes]
