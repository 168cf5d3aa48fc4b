"""Medians, and how sure one can be of them. Plain Python: for reports, which need nothing else."""

from math import comb, exp, isfinite, log

CONFIDENCE = 0.9
LEAST_ROUNDS = 5     # the fewest whose least and most enclose the median with that confidence
MOST_ROUNDS = 31
NARROW = 0.1         # a range is narrow if it is narrower than this part of its median


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def interval(values):
    """(low, high, confidence): between two of the values, which enclose the median of what they
    are drawn from with that probability, whatever its distribution (order statistics: the k-th
    least and the k-th largest of n miss it if fewer than k fall on one of its sides). The
    narrowest with a confidence of CONFIDENCE, or the widest there is: of 5 values least and most,
    0.94."""
    values = sorted(values)
    n = len(values)

    def confidence(k):
        return 1 - 2 * sum(comb(n, i) for i in range(k)) / 2 ** n
    k = 1
    while k + 1 <= (n + 1) // 2 and confidence(k + 1) >= CONFIDENCE:
        k += 1
    return values[k - 1], values[n - k], max(0.0, confidence(k))


def middle(values):
    """(median, low, high): what is kept of measurements."""
    low, high, _ = interval(values)
    return median(values), low, high


def is_narrow(values):
    """Whether more rounds are of no use: the range that encloses the median is narrower than a
    tenth of it. It is never asked which side of a target the range is on, since rounds that end
    when a verdict pleases favour that verdict."""
    if len(values) < LEAST_ROUNDS:
        return False
    found, low, high = middle(values)
    return high - low < NARROW * found


def verdict(ratio, rounds, target):
    """Of (median, low, high) of a ratio that may be at most `target`: met or missed if all of the
    range is on one side; else, and if rounds were too few for a range, undecided."""
    _, low, high = ratio
    if rounds < LEAST_ROUNDS or low <= target < high:
        return "undecided"
    return "met" if high <= target else "missed"


def verdict_of_twin(ratio, rounds, target):
    """Of something against itself, whose ratio should be 1: met if all of its range is within the
    target and its inverse."""
    found, low, high = ratio
    sides = (verdict(ratio, rounds, target), verdict((1 / found, 1 / high, 1 / low), rounds, target))
    return next((s for s in ("missed", "undecided") if s in sides), "met")


def ratios(times, others):
    """Of two systems' rounds, which had their turns one after the other: whatever disturbed a
    round disturbed both."""
    return [t / o for t, o in zip(times, others) if o > 0]


def exponent(sizes, times):
    """The slope of times against sizes, both as logarithms, by least squares; None for fewer
    than three."""
    points = [(log(n), log(t)) for n, t in zip(sizes, times) if n > 0 and t > 0]
    if len(points) < 3:
        return None
    x, y = (sum(p[k] for p in points) / len(points) for k in (0, 1))
    spread = sum((p[0] - x) ** 2 for p in points)
    return sum((p[0] - x) * (p[1] - y) for p in points) / spread if spread else None


def geometric_mean(values):
    values = [v for v in values if v > 0 and isfinite(v)]
    return exp(sum(log(v) for v in values) / len(values)) if values else None
