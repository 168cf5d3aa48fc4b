"""Sorting, searching and counting: divide and conquer, trees of cases, texts, rows of ragged arrays."""

import collections
import math
import os

import numpy

from case import Case

LETTERS = numpy.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", numpy.uint8)
# Partial placements of n queens that no queen attacks, of all columns together: what has to be
# looked at, for n = 0, 1, ...
PLACEMENTS = [1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35539, 166926, 856189, 4674890, 27358553]

# Mean lengths of strings that are compared.
SHORT, LONG = 8, 40


# ---- data

def distinct(n, rng):
    return [rng.permutation(n)]


def ordered(n, rng):
    return [numpy.arange(n)]


def few_values(n, rng):
    return [rng.integers(0, 100, n)]


def whole_range(n, rng):
    return [rng.integers(-2**63, 2**63, n)]


def four_bytes(n, rng):
    return [rng.integers(-2**31, 2**31, n)]


def words(count, rng):
    """Words of 1 to about 15 random letters, as vocabularies have them: short and long."""
    lengths = numpy.minimum(1 + rng.poisson(5, count), 15)
    shares = 1 / numpy.arange(1, 27)
    letters = LETTERS[rng.choice(26, int(lengths.sum()), p=shares / shares.sum())]
    return numpy.split(letters, numpy.cumsum(lengths)[:-1])


def prose(n, rng):
    """n characters of words with frequencies as Zipf's law has them, with a space between."""
    vocabulary = [word.tobytes() for word in words(max(n // 200, 20), rng)]
    shares = 1 / numpy.arange(1, len(vocabulary) + 1)
    picks = rng.choice(len(vocabulary), n // 4 + 1, p=shares / shares.sum())
    text = b" ".join([vocabulary[k] for k in picks])
    return numpy.frombuffer(text.ljust(n)[:n], numpy.uint8)


def documents(longest):
    """Prose in lines of up to so many characters, most of them short, and some empty; with capital letters."""
    def make(n, rng):
        text = prose(n, rng)
        text = numpy.where((text != 32) & (rng.random(n) < 0.05), text - 32, text).astype(numpy.uint8)
        ends = numpy.minimum(numpy.cumsum(numpy.minimum(rng.zipf(1.3, n // 20 + 1) - 1, longest)), n)
        ends = numpy.append(ends, n)
        return [text, numpy.diff(ends, prepend=0)]
    return make


def genome(n, rng):
    """Four letters, with repeats: most of it are mutated copies of what stands before."""
    text = rng.integers(0, 4, n)
    for k in range(1000, n - 1000, max(n // 50, 1000)):
        text[k:k + 1000] = text[k - 1000:k]
    return [numpy.frombuffer(b"ACGT", numpy.uint8)[text]]


def random_letters(n, rng):
    return [rng.integers(97, 123, n).astype(numpy.uint8)]


def patterns(n, rng):
    """A text and a hundred patterns of 8 to 20 characters; nine of ten occur in it."""
    text = prose(n, rng)
    starts = rng.integers(0, max(n - 20, 1), 100)
    chosen = [text[s:s + k] for s, k in zip(starts, rng.integers(8, 21, 100))]
    chosen = [rng.permutation(p) if k % 10 == 9 else p for k, p in enumerate(chosen)]
    return [text, numpy.concatenate(chosen), numpy.array([len(p) for p in chosen])]


def rows(lengths_of):
    """Random ints cut into rows: n of them, or a few less than one row more."""
    def make(n, rng):
        lengths = lengths_of(n, rng)
        return [rng.integers(0, 2**31, int(lengths.sum())), lengths]
    return make


def power_law(n, rng):
    """Most rows are short, and a tenth of all elements is in the longest ones."""
    lengths = numpy.minimum(rng.zipf(1.6, n // 4 + 1) - 1, n // 10 + 1)
    return lengths[:int(numpy.searchsorted(numpy.cumsum(lengths), n))]


def strings(length):
    """make of n pairs of strings: half of the second ones are the first with some letters changed."""
    def make(n, rng):
        lengths = rng.poisson(length, n)
        letters = LETTERS[rng.integers(0, 26, int(lengths.sum()))]
        changed = numpy.where(rng.random(len(letters)) < 0.2, rng.permutation(letters), letters)
        others = numpy.maximum(lengths - rng.integers(0, 3, n), 0)
        ends = numpy.cumsum(lengths)
        cut = [changed[e - k:e - k + o] for e, k, o in zip(ends, lengths, others)]
        return [letters, lengths, numpy.concatenate([*cut, letters[:0]]), others]
    return make


ROWS = {
    "power law": power_law,
    "0 to 20": lambda n, rng: rng.integers(0, 21, n // 10),
    "1000 each": lambda n, rng: numpy.full(n // 1000, 1000),
    "one half, ones": lambda n, rng: numpy.concatenate(
        [numpy.ones(n // 4, numpy.int64), [n // 2], numpy.ones(n // 4, numpy.int64)]),
}


def top_rows(shape):
    return lambda n, rng: [*rows(shape)(n, rng), 10]


# ---- results

def counted_words(arguments):
    counts = collections.Counter(arguments[0].tobytes().lower().split())
    found = counts.most_common()   # of equal numbers, first the one that occurred first
    letters = b"".join(word for word, _ in found)
    return [numpy.frombuffer(letters, numpy.uint8), numpy.array([len(w) for w, _ in found], int),
            numpy.array([c for _, c in found], int)]


def postings(arguments):
    text, lengths = arguments
    found, at = {}, 0
    for d, length in enumerate(lengths.tolist()):
        for word in dict.fromkeys(text[at:at + length].tobytes().lower().split()):
            found.setdefault(word, []).append(d)
        at += length
    return [numpy.frombuffer(b"".join(found), numpy.uint8), numpy.array([len(w) for w in found], int),
            numpy.array([d for documents in found.values() for d in documents], int),
            numpy.array([len(documents) for documents in found.values()], int)]


def suffixes(arguments):
    text = arguments[0].tobytes()
    return [numpy.array(sorted(range(len(text)), key=lambda i: text[i:]), int)]


def repeated_substring(arguments):
    """Of neighbours in the sorted list of all suffixes."""
    text = arguments[0].tobytes()
    order = sorted(range(len(text)), key=lambda i: text[i:])
    first = longest = 0
    for i, j in zip(order, order[1:]):
        same = len(os.path.commonprefix([text[i:], text[j:]]))
        if (same, -min(i, j)) > (longest, -first):
            first, longest = min(i, j), same
    return [first if longest else 0, longest]


def sorted_rows(arguments):
    values, lengths = arguments
    ends = numpy.cumsum(lengths)
    return [numpy.concatenate([numpy.sort(values[e - k:e]) for e, k in zip(ends, lengths)]
                              + [values[:0]])]


def split(values, lengths):
    return numpy.split(values, numpy.cumsum(lengths)[:-1]) if len(lengths) else []


def distance(a, b):
    """Of two byte strings, letter by letter."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        corner, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (x != y))
    return row[-1]


def distances(arguments):
    pairs = zip(split(*arguments[:2]), split(*arguments[2:]))
    return [numpy.array([distance(a.tolist(), b.tolist()) for a, b in pairs], int)]


def distinct_of_rows(arguments):
    found = [numpy.unique(row) for row in split(*arguments)]
    return [numpy.concatenate([arguments[0][:0], *found]), numpy.array([len(r) for r in found], int)]


def greatest(arguments):
    *ragged, k = arguments
    return [numpy.concatenate([ragged[0][:0], *(numpy.sort(r)[::-1][:k] for r in split(*ragged))])]


def occurrences(arguments):
    text, letters, lengths = arguments
    text, ends, found = text.tobytes(), numpy.cumsum(lengths), []
    for number, (end, length) in enumerate(zip(ends, lengths)):
        pattern = letters[end - length:end].tobytes()
        at = text.find(pattern)
        while at >= 0:
            found.append((at, number))
            at = text.find(pattern, at + 1)
    found.sort()
    return [numpy.array([x[k] for x in found], int) for k in (0, 1)]


def queens(arguments):
    """Rows of all columns at once as permutations, diagonals compared pairwise; for small n."""
    import itertools
    n = arguments[0]
    return [sum(len({c + r for c, r in enumerate(p)}) == n == len({c - r for c, r in enumerate(p)})
                for p in itertools.permutations(range(n)))]


def oscillation(arguments):
    """With u = 1/x the integral is that of sin(u)/u^2 from 1 to n: Gauss's rule on intervals of length 1."""
    nodes, weights = numpy.polynomial.legendre.leggauss(12)
    total = 0.0
    for start in range(1, arguments[0]):
        u = start + 0.5 + 0.5 * nodes
        total += float((0.5 * weights * numpy.sin(u) / u**2).sum())
    return [total]


def sieve(arguments):
    n = arguments[0]
    prime = numpy.ones(max(n, 2), bool)
    prime[:2] = False
    for p in range(2, math.isqrt(max(n, 1)) + 1):
        if prime[p]:
            prime[p * p::p] = False
    return [numpy.flatnonzero(prime[:n])]


def in_order(arguments):
    return [numpy.sort(arguments[0])]


TENS = [10**4, 10**5, 10**6]

CASES = [
    Case("quicksort", "Quicksort", "NESL/GPU", sizes=[*TENS, 10**7],
         test_sizes=[0, 1, 2, 1000, 20000], make=distinct, reference=in_order,
         widths="classic",
         variants={"distinct": distinct, "ordered": ordered, "few values": few_values},
         remark="Each level of calls reads or writes about 29 elements for each key, since the "
                "list [below, above], the branches of the lifted `if` and both concatenations copy. "
                "C partitions in one pass and sorts segments of a few keys serially."),
    Case("sort", "Sort (library)", "beyond", sizes=[*TENS, 10**7], test_sizes=[0, 1, 2, 1000],
         make=four_bytes, reference=in_order,
         variants={"32 bits": four_bytes, "64 bits": whole_range, "few values": few_values}),
    Case("radix-sort", "Radix sort", "Accelerate", sizes=[*TENS, 4 * 10**6],
         test_sizes=[0, 1, 2, 1000], make=four_bytes, reference=in_order,
         widths="classic"),
    Case("word-count", "Word count", "beyond", sizes=[*TENS, 10**7], test_sizes=[0, 1, 10, 3000],
         make=lambda n, rng: [prose(n, rng)], reference=counted_words,
         unit="characters"),
    Case("inverted-index", "Inverted index", "beyond", sizes=[*TENS, 4 * 10**6], test_sizes=[0, 1, 10, 3000],
         make=documents(2000), reference=postings,
         unit="characters",
         variants={"lines": documents(2000), "long documents": documents(10**6)}),
    Case("suffix-array", "Suffix array", "beyond", sizes=[*TENS, 4 * 10**6],
         test_sizes=[0, 1, 2, 2000], make=lambda n, rng: [prose(n, rng)], reference=suffixes,
         unit="characters",
         variants={"prose": lambda n, rng: [prose(n, rng)], "genome": genome}),
    Case("repeated-substring", "Longest repeated substring", "beyond", sizes=[*TENS, 4 * 10**6],
         test_sizes=[0, 1, 2, 50, 2000], make=lambda n, rng: [prose(n, rng)], reference=repeated_substring,
         unit="characters",
         variants={"prose": lambda n, rng: [prose(n, rng)], "genome": genome, "random": random_letters}),
    Case("ragged-sort", "Ragged row sort", "beyond", sizes=[*TENS, 10**7],
         test_sizes=[0, 1, 5, 3000], make=rows(power_law), reference=sorted_rows,
         variants={name: rows(shape) for name, shape in ROWS.items()}),
    Case("n-queens", "Queens on a board", "beyond", sizes=[8, 9, 10, 11, 12, 13],
         test_sizes=[1, 2, 3, 7], make=lambda n, rng: [n], reference=queens,
         unit="columns",
         memory=lambda n: 16 * PLACEMENTS[n] + 2**22),
    Case("adaptive-integration", "Adaptive integration", "beyond",
         sizes=[100, 1000, 10**4, 10**5], test_sizes=[1, 2, 50], make=lambda n, rng: [n],
         reference=oscillation, tolerance=1e-6, unit="1/lower end"),
    Case("string-search", "String search", "beyond", sizes=[*TENS, 10**7],
         test_sizes=[1, 30, 3000], make=patterns, reference=occurrences,
         unit="characters",
         remark="Checks separate expressions: a gather that may fail is not moved across an ASSERT, "
                "and the values that an ASSERT reports are written to memory."),
    Case("primes", "Primes", "beyond", sizes=[*TENS, 10**7], test_sizes=[1, 2, 3, 4, 100, 1000],
         make=lambda n, rng: [n], reference=sieve,
         unit="numbers",
         memory=lambda n: 2 * n + 2**24,
         remark="Each block is sieved in a vector of its size and packed in a second pass; the "
                "primes of the blocks are then concatenated two by two, while C copies each once."),
    Case("edit-distance", "Edit distance of pairs", "beyond", sizes=[10**2, 10**3, *TENS[:2]],
         test_sizes=[0, 1, 60], make=strings(LONG), reference=distances,
         unit="pairs",
         variants={"40 letters": strings(LONG), "8 letters": strings(SHORT)}),
    Case("ragged-unique", "Distinct elements of rows", "beyond", sizes=[*TENS, 10**7],
         test_sizes=[0, 1, 5, 3000], make=rows(ROWS["power law"]), reference=distinct_of_rows,
         variants={name: rows(shape) for name, shape in ROWS.items()}),
    Case("ragged-top", "Ten greatest of each row", "beyond", sizes=[*TENS, 10**7],
         test_sizes=[0, 1, 5, 3000], make=top_rows(ROWS["power law"]), reference=greatest,
         variants={name: top_rows(shape) for name, shape in ROWS.items()}),
]
