"""What a program would take on many ranks, from what it sends on few: a model, which proves nothing about time.

A run takes

    work         the time of one process of one thread, by the program's work, over the ranks; of the rank that has
                 most blocks of 1,024 elements
    collectives  each all ranks' latency. Open MPI makes a non-blocking all-gather or all-to-all, which is what comm.c
                 asks for, of a message of each rank to each other one: latency + (P - 1) messages. *Doubled*, by
                 recursive doubling, it would be ceil(log2 P) latencies
    exchanges    each a latency; and every message that a rank sends in them
    bytes        those of the rank that sends most, at the bandwidth of its link: as many arrive there
    ranks        what every rank does for each of the P ranks: the P + 1 words of distributions, requests, blocks to send
    samples      of RANK and SORT, if P > 1: each rank sorts positions and keys of the samples of all, and looks at
                 all of them for each of P - 1 boundaries

one after the other: nothing overlaps. Counts are those of `forms`, fitted to few ranks.
"""

import itertools
import math
from dataclasses import dataclass

import case  # noqa: F401  (first: it finds a python that has numpy)
import numpy

WORD, GRAIN = 8, 1024


@dataclass
class Constants:
    """Times in seconds, bandwidth in bytes a second."""

    name: str
    latency: float      # of a message that somebody waits for
    message: float      # of each further one, sent and received
    bandwidth: float    # of a rank's link, each way
    comparison: float   # of two samples that are sorted
    step: float         # to look at a sample
    word: float         # of a distribution


# Latency: 1 to 2 us between hosts is what vendors and benchmarks of MPI report for networks of this kind; the larger, for
# switches between thousands of hosts. Bandwidth: 100 and 200 Gbit/s, by definition of the link. A message: what a core needs to
# send and to match one, some millions a second (network adapters themselves take a hundred times as many); a guess. The
# processor's constants are measured by messages.c where the rest was measured.
LINKS = (("100 Gbit/s", 2.0e-6, 0.3e-6, 12.5e9), ("200 Gbit/s", 1.0e-6, 0.2e-6, 25e9))
PASSES = 8   # loops over all ranks in a collective or an exchange and what follows from it: a guess from reading comm.c

SORTS = 2    # of samples in a round: their positions, to leave out what is there twice, and then their keys

TERMS = ("work", "collectives", "exchanges", "bytes", "ranks", "samples")


def networks(measured):
    return [Constants(name, latency, message, bandwidth, measured["comparison"], measured["step"], measured["word"])
            for name, latency, message, bandwidth in LINKS]


def shared_memory(measured):
    """Of ranks of the machine where messages.c has run."""
    names = ("latency", "message", "bandwidth", "comparison", "step", "word")
    return Constants("shared memory", *(measured[name] for name in names))


# ---- how counts depend on ranks and elements ----

def samples_of(ranks):
    """Keys that a rank gives in a round, as splitters.c chooses them: 4,096 over all boundaries, and for each 4 more and
    the 2 beside its interval."""
    return 4096 + 6 * (ranks - 1)


BASES = {"1": lambda p, n: 1.0, "log P": lambda p, n: math.log2(p), "(P - 1)": lambda p, n: p - 1.0,
         "samples": lambda p, n: WORD * samples_of(p), "n / 4,096": lambda p, n: n / 4096, "n / P": lambda p, n: n / p,
         "n (P - 1) / P^2": lambda p, n: n * (p - 1) / p ** 2, "n (P - 1) / P": lambda p, n: n * (p - 1) / p,
         "n (P - 1)": lambda p, n: n * (p - 1), "n^2 (P - 1) / P": lambda p, n: n * n * (p - 1) / p}
# Of each count, what it may be a sum of, the plainest first.
CHOICES = {"collectives": ("1", "log P", "n / 4,096"), "exchanges": ("1", "log P", "n / 4,096"),
           "messages": ("1", "(P - 1)", "log P", "n / 4,096"), "gathered": ("1", "(P - 1)", "log P", "n / P", "n / 4,096"),
           # of programs that sort or rank:
           "gathered, sorting": ("samples", "1", "n / 4,096"),
           "exchanged": ("n / P", "n (P - 1) / P^2", "n (P - 1) / P", "1", "(P - 1)", "n (P - 1)", "n^2 (P - 1) / P")}
CLOSE = 0.02       # an error that needs no further term
POINTS = 3         # for each term, at least: more terms fit anything


@dataclass
class Form:
    """A sum of terms, each a number of times a base."""

    terms: dict        # base -> number
    error: float       # the worst, relative, where it was fitted

    def __call__(self, ranks, n):
        return sum(number * BASES[base](ranks, n) for base, number in self.terms.items())

    def words(self):
        return " + ".join(f"{number:.3g}" if base == "1" else f"{number:.3g} {base}" for base, number in self.terms.items()) or "0"


def fitted(bases, points):
    """The form of these bases with the least relative errors, or None if a number would be negative. A point: (ranks, n, count)."""
    a = numpy.array([[BASES[base](p, n) / max(y, 1) for base in bases] for p, n, y in points])
    y = numpy.array([count / max(count, 1) for _, _, count in points])
    numbers = numpy.linalg.lstsq(a, y, rcond=None)[0]
    if (numbers < 0).any():
        return None
    return Form(dict(zip(bases, numbers.tolist())), float(numpy.abs(a @ numbers - y).max()))


def form_of(choices, points):
    """The plainest form that is close at all points; if none is, the closest."""
    if not any(y for _, _, y in points):
        return Form({}, 0.0)
    found = []
    for size in range(1, max(len(points) // POINTS, 1) + 1):
        for bases in itertools.combinations(choices, size):
            form = fitted(bases, points)
            if form and form.error <= CLOSE:
                return form
            found += [form] if form else []
    return min(found, key=lambda form: form.error)


def normalised(count, ranks, value):
    """Bytes of collectives for each other rank: what one rank gives."""
    return value / (ranks - 1) if count == "gathered" else value


COUNTS = ("collectives", "exchanges", "messages", "gathered", "exchanged")


def forms(rows, least, most, sorts=False):
    """Of each count the form that fits the rows of least to most ranks. A row: {ranks, n, counts...}."""
    used = [r for r in rows if max(least, 2) <= r["ranks"] <= most]
    return {count: form_of(CHOICES["gathered, sorting" if sorts and count == "gathered" else count],
                           [(r["ranks"], r["n"], normalised(count, r["ranks"], r[count])) for r in used])
            for count in COUNTS}


def counted(found, ranks, n):
    """All counts at so many ranks, by the forms."""
    if ranks == 1:
        return dict.fromkeys(COUNTS, 0.0)
    counts = {count: form(ranks, n) for count, form in found.items()}
    counts["gathered"] *= ranks - 1
    return counts


# ---- time ----

def collective(ranks, k, doubled=False):
    """Of something small: without its bytes."""
    if ranks == 1:
        return 0.0
    return math.ceil(math.log2(ranks)) * k.latency if doubled else k.latency + (ranks - 1) * k.message


def samples_time(ranks, given, k):
    """Each rank gives so many samples, and has those of all."""
    n = ranks * given
    return SORTS * n * math.log2(max(n, 2)) * k.comparison + (ranks - 1) * n * k.step if ranks > 1 else 0.0


def largest_share(ranks, n):
    """Of the work, what the rank does that has most blocks of 1,024 elements."""
    grains = max(math.ceil(n / GRAIN), 1)
    return math.ceil(grains / ranks) / grains


def terms(ranks, n, work, counts, k, given=0, doubled=False):
    """Seconds by what takes them. `work`: of all, by one rank; `given`: samples of each rank, of all sorts of a run."""
    calls = counts["collectives"] + counts["exchanges"]
    return {"work": work * largest_share(ranks, n),
            "collectives": counts["collectives"] * collective(ranks, k, doubled),
            "exchanges": counts["exchanges"] * k.latency + counts["messages"] * k.message,
            "bytes": (counts["gathered"] + counts["exchanged"]) / k.bandwidth,
            "ranks": calls * PASSES * (ranks + 1) * k.word if ranks > 1 else 0.0,
            "samples": samples_time(ranks, given, k)}


def seconds(found):
    return sum(found.values())


def binds(found):
    """The term that takes most."""
    return max(TERMS, key=lambda term: found[term])
