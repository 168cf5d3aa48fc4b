"""Rounds in which systems have their turns, until it is known how they compare."""

import time

from noise import LEAST_ROUNDS, MOST_ROUNDS, is_narrow, median, ratios
from timing import run_system

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
PATIENCE = 5                        # turns of one that are taken again, since others had its processors


def repeats_for(seconds, wanted=RUN_SECONDS):
    """How often to repeat what takes so long, so that a process works for about `wanted`."""
    return max(1, min(MOST_REPEATS, round(wanted / max(seconds, 1e-9))))


class Contender:
    """A system on so many threads, and what its rounds gave."""

    def __init__(self, system, threads):
        self.system, self.threads = system, threads
        self.repeat = 1
        self.seconds = self.cost = 0.0  # of a run, and of the rest of its process
        self.rounds = []       # seconds of the repeats, a list a round
        self.firsts = []       # seconds of the first run of each round's process
        self.peak, self.facts, self.command = 0, {}, ""
        self.result_bytes = 0
        self.disturbed = 0     # turns that do not count, since others had its processors
        self.problem, self.wrong = None, False   # why it is not timed, and whether that is bad

    def name(self):
        return self.system.name

    def medians(self):
        return [median(r) for r in self.rounds]

    def takes(self, each):
        """Seconds of a round in which it is to work for `each`."""
        return self.cost + max(each, 2 * self.seconds)

    def round(self, data, widths, limit):
        run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        while run.status == 0 and self.disturbed < PATIENCE and run.disturbed(self.threads):
            self.disturbed += 1
            run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status == -1 and self.repeat > 1:  # it was faster once: a busy machine
            self.repeat = max(1, self.repeat // 20)
            run = run_system(self.system, data, widths, [], self.threads, self.repeat, limit)
        if run.status != 0:
            self.problem = run.complaint()
            return
        self.rounds.append(run.times["seconds"])
        self.firsts.append(run.times.get("first_seconds"))
        self.peak = max(self.peak, run.peak)
        self.learn(run)

    def learn(self, run):
        """What a run says of itself besides times."""
        self.facts = {k: v for k, v in run.times.items() if k not in ("seconds", "first_seconds")}


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
        for c in turn[k % len(turn):] + turn[:k % len(turn)]:
            if not c.problem:
                play(c)
