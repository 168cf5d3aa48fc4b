"""The data: ten million doubles in lists of three shapes, or lists for combinations."""

import numpy as np

ELEMENTS = 10_000_000
SHAPES = {"short": "2M lists of about 5", "long": "1K lists of about 10K",
          "power": "power-law lengths"}


def lengths(shape, elements, random):
    """About as many elements, in lists of a shape."""
    if shape == "short":
        return random.poisson(5, elements // 5)
    if shape == "long":
        return random.poisson(10_000, max(elements // 10_000, 1))
    found = np.minimum(random.pareto(1.2, elements // 3) + 1, elements // 10).astype(np.int64)
    return found[:np.searchsorted(np.cumsum(found), elements)]


class Lists:
    """Offsets and content, and the same as each library has them, made when first asked for."""

    def __init__(self, shape, elements=ELEMENTS, most=None):
        random = np.random.default_rng(1)
        counts = lengths(shape, elements, random)
        if most is not None:
            counts = np.minimum(counts, most)
        self.offsets = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=self.offsets[1:])
        self.content = random.random(self.offsets[-1])
        self._made = {}

    def of(self, library, make):
        """What `make` makes of this, once for each library."""
        if library not in self._made:
            self._made[library] = make(self)
        return self._made[library]

    def pairs(self):
        """Combinations of two elements of a list, over all lists."""
        counts = np.diff(self.offsets)
        return int((counts * (counts - 1) // 2).sum())
