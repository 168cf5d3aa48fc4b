"""Programs on records of different lengths: logs, documents, features of rows, events."""

import collections

import numpy

from case import Case

# ---- sessions of a log

GAP = 1800   # seconds


def log(users_of):
    """n events of 30 days: sessions of some eight events, two minutes apart, of users that users_of(count,
    n, rng) draws. In the order in which the servers write them, up to ten seconds wrong."""
    def make(n, rng):
        lengths = rng.geometric(1 / 8, n // 8 + 1)
        users = numpy.repeat(users_of(len(lengths), n, rng), lengths)
        starts = numpy.repeat(rng.integers(0, 30 * 86400, len(lengths)), lengths)
        waits = rng.exponential(120, len(users)).astype(numpy.int64)
        begins = numpy.cumsum(lengths) - lengths
        passed = numpy.cumsum(waits)
        times = starts + passed - numpy.repeat(passed[begins], lengths)
        chosen = rng.permutation(len(users))[:n]
        order = chosen[numpy.argsort(times[chosen] + rng.integers(0, 10, len(chosen)))]
        return [users[order], times[order], GAP]
    return make


def visitors(count, n, rng):
    """As numbers without order: most come once or twice, a few come daily."""
    return 1_000_003 * (rng.zipf(1.5, count) % (n // 10 + 1))


def robots(count, n, rng):
    """Four of them."""
    return rng.integers(0, 4, count)


def divided_log(arguments):
    users, times, gap = arguments
    found = []
    for user, time in sorted(zip(users.tolist(), times.tolist())):
        if not found or found[-1][0] != user or time > found[-1][2] + gap:
            found.append([user, time, time, 0])
        found[-1][2] = time
        found[-1][3] += 1
    return [numpy.array([session[k] for session in found], dtype=numpy.int64) for k in range(4)]


CASES = [
    Case("sessions", "Sessions of a log", "beyond",
         sizes=[10**4, 10**5, 10**6, 4 * 10**6], test_sizes=[0, 1, 2, 100, 3000],
         make=log(visitors), variants={"visitors": log(visitors), "robots": log(robots)},
         reference=divided_log, unit="events"),
]
