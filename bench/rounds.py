"""The measuring harness: rounds in which systems have their turns, medians, and how sure one can be of them.

What is compared has its turns one after the other: whatever disturbs a round disturbs all of it. Plain Python: a
machine that measures need not have NumPy."""

import time
from math import comb, exp, isfinite, log

CONFIDENCE = 0.9
LEAST_ROUNDS = 5     # the fewest whose least and most enclose the median with that confidence
MOST_ROUNDS = 31
NARROW = 0.1         # a range is narrow if it is narrower than this part of its median

PEER = "openmp"                     # what every system is compared with
TWIN = "openmp-again"               # the same binary once more
# Those that are: they have their turns beside the peer, others are measured once.
COMPARED = ("ravel", "ravel-native", "ravel-ranks", TWIN)
# Measured where there are targets, at other sizes only when they are asked for by name.
AT_TARGETS = ("ravel-unfused", "ravel-base", TWIN)
BESIDE = ("streams",)               # has its turns as long as any of these
RUN_SECONDS = 0.3                   # that a process of a round repeats its work
EXPECTED_ROUNDS = 9                 # that should fit into the budget
MOST_REPEATS = 2000


# ---- statistics ----

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


def geometric_mean(values):
    values = [v for v in values if v > 0 and isfinite(v)]
    return exp(sum(log(v) for v in values) / len(values)) if values else None


# ---- rounds ----

def repeats_for(seconds, wanted=RUN_SECONDS):
    """How often to repeat what takes so long, so that a process works for about `wanted`."""
    return max(1, min(MOST_REPEATS, round(wanted / max(seconds, 1e-9))))


def rotated(names, k):
    """The order of round k, which begins with another one each time."""
    first = k % len(names)
    return names[first:] + names[:first]


def in_turns(names, play, rounds, budget=float("inf"), clock=time.monotonic):
    """Rounds in which each has a turn, `play(name)`; none begins after so many seconds."""
    began = clock()
    for k in range(rounds):
        if k > 0 and clock() - began > budget:
            return
        for name in rotated(names, k):
            play(name)


def settled(contender, peer):
    """Whether a contender needs no further rounds: the range of its ratio to the peer is narrow, or
    it has no ratio."""
    return bool(contender.problem) or bool(peer.problem) or \
        is_narrow(ratios(contender.medians(), peer.medians()))


def open_ones(contenders, peer):
    """Who has a turn in the next round; nobody if all is known."""
    wanted = [c for c in contenders if c.name() in COMPARED and not settled(c, peer)]
    if not wanted:
        return []
    return [c for c in contenders
            if c in wanted or c is peer or (c.name() in BESIDE and not c.problem)]


def alternate(contenders, play, rounds=MOST_ROUNDS, budget=120.0, least=LEAST_ROUNDS,
              run_seconds=RUN_SECONDS, clock=time.monotonic):
    """Rounds, at most so many: `play(contender)` is a turn of one. What is compared with the peer
    has turns until its range is narrow (noise.is_narrow); the order begins with another one in each
    round. Others have one. After the `least` that are wanted (a range needs LEAST_ROUNDS) a round
    begins only if it should end within the budget of seconds."""
    contenders = [c for c in contenders if not c.problem]
    peer = next((c for c in contenders if c.name() == PEER), None)
    first = open_ones(contenders, peer) if peer else []
    shares = [run_seconds * part for part in (1.0, 0.5, 0.25)]
    each = next((s for s in shares if EXPECTED_ROUNDS * sum(c.takes(s) for c in first) <= budget),
                shares[-1])
    for c in contenders:
        c.repeat = repeats_for(c.seconds, each)
    for c in contenders:
        if c not in first and not c.rounds:
            play(c)
    began = clock()
    for k in range(rounds):
        turn = open_ones(contenders, peer) if peer else []
        spent = clock() - began
        if not turn or (k >= least and spent * (k + 1) / k > budget):
            break
        for c in rotated(turn, k):
            if not c.problem:
                play(c)
