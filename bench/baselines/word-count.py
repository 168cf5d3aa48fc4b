"""Word count in NumPy: an array of words, sorted, and the runs in it."""

import numpy as np


def numpy(text):
    words = np.array(text.tobytes().lower().split(), dtype=bytes)
    found, first, counts = np.unique(words, return_index=True, return_counts=True)
    order = np.lexsort((first, -counts))
    found, counts = found[order], counts[order]
    letters = np.frombuffer(b"".join(found.tolist()), np.uint8)
    return [letters, np.char.str_len(found).astype(np.int64), counts]
