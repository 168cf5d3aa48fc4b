"""Programs without nesting: chains of maps, reductions, scans."""

import numpy

from case import Case, Limit

CASES = [
    Case("dot-product", "Dot product", "NESL/GPU",
         sizes=[10**4, 10**5, 10**6, 10**7], test_sizes=[0, 1, 1000],
         make=lambda n, rng: [rng.random(n), rng.random(n)],
         reference=lambda a: [numpy.dot(a[0], a[1])],
         limit=lambda n, a: Limit(bytes=16 * n), target=1.2),
]
