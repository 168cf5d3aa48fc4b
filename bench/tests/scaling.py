#!/usr/bin/env python3
"""Tests of the model of many ranks: numbers that can be worked out by hand."""

import sys
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH / "mpi")]

import scalingmodel as model  # noqa: E402
import scaling  # noqa: E402

NONE = dict.fromkeys(model.COUNTS, 0)


def constants(**changes):
    """A microsecond for whatever waits, 0.1 for a further message, a byte a nanosecond."""
    fields = {"name": "k", "latency": 1e-6, "message": 1e-7, "bandwidth": 1e9, "comparison": 1e-9, "step": 1e-9, "word": 0.0}
    return model.Constants(**{**fields, **changes})


def rows(count, of):
    return [{**NONE, "ranks": p, "n": n, count: of(p, n)} for n in (1 << 16, 1 << 18) for p in (2, 4, 8, 16)]


class Forms(unittest.TestCase):
    def one(self, count, of):
        return model.forms(rows(count, of), 2, 16)[count]

    def test_what_does_not_depend_on_ranks(self):
        self.assertEqual(list(self.one("collectives", lambda p, n: 31).terms), ["1"])

    def test_what_every_rank_sends_to_all(self):
        form = self.one("messages", lambda p, n: 3 * (p - 1))
        self.assertEqual(list(form.terms), ["(P - 1)"])
        self.assertAlmostEqual(form(4096, 1), 3 * 4095)

    def test_an_exchange_of_all_elements(self):
        form = self.one("exchanged", lambda p, n: 8 * n * (p - 1) / p ** 2)
        self.assertAlmostEqual(form(64, 1 << 20), 8 * 2 ** 20 * 63 / 4096)

    def test_two_terms(self):
        form = self.one("collectives", lambda p, n: 5 + 7 * {2: 1, 4: 2, 8: 3, 16: 4}[p])
        self.assertAlmostEqual(form(1024, 1), 75)

    def test_bytes_of_collectives_are_those_that_a_rank_gives(self):
        found = model.forms(rows("gathered", lambda p, n: 100 * (p - 1)), 2, 16)
        self.assertAlmostEqual(found["gathered"](64, 1), 100)
        self.assertAlmostEqual(model.counted(found, 64, 1)["gathered"], 6300)

    def test_samples_grow_with_boundaries(self):
        found = model.forms(rows("gathered", lambda p, n: (p - 1) * 8 * (4096 + 6 * (p - 1))), 2, 16, sorts=True)
        self.assertEqual(list(found["gathered"].terms), ["samples"])
        self.assertAlmostEqual(found["gathered"](4097, 1), 8 * (4096 + 6 * 4096), delta=0.01)

    def test_nothing_is_sent_by_one_rank(self):
        found = model.forms(rows("messages", lambda p, n: 5), 2, 16)
        self.assertEqual(model.counted(found, 1, 1000), dict.fromkeys(model.COUNTS, 0.0))

    def test_other_ranks_do_not_count(self):
        found = model.forms([{**NONE, "ranks": p, "n": 1, "messages": p if p > 4 else 99} for p in (1, 2, 4, 8, 16, 64)], 8, 16)
        self.assertAlmostEqual(found["messages"](8, 1), 8, delta=0.5)


class Times(unittest.TestCase):
    def test_a_collective_is_a_message_to_each(self):
        self.assertAlmostEqual(model.collective(11, constants()), 2e-6)
        self.assertEqual(model.collective(1, constants()), 0)

    def test_doubled_it_is_a_latency_for_each_power_of_two(self):
        self.assertAlmostEqual(model.collective(1024, constants(), True), 10e-6)
        self.assertAlmostEqual(model.collective(1025, constants(), True), 11e-6)

    def test_work_is_divided_in_whole_blocks(self):
        self.assertAlmostEqual(model.largest_share(4, 1 << 20), 0.25)
        self.assertAlmostEqual(model.largest_share(4, 5 * 1024), 0.4)
        self.assertAlmostEqual(model.largest_share(4096, 1024), 1)

    def test_terms_add_up(self):
        counts = {**NONE, "collectives": 2, "exchanges": 3, "messages": 10, "gathered": 600, "exchanged": 400}
        found = model.terms(11, 11 * 1024, 1.1, counts, constants())
        self.assertAlmostEqual(found["work"], 0.1)
        self.assertAlmostEqual(found["collectives"], 4e-6)
        self.assertAlmostEqual(found["exchanges"], 4e-6)
        self.assertAlmostEqual(found["bytes"], 1e-6)
        self.assertEqual(model.binds(found), "work")
        self.assertAlmostEqual(model.seconds(found), 0.1 + 9e-6)

    def test_samples_are_sorted_by_all(self):
        self.assertAlmostEqual(model.samples_time(2, 4, constants()), (2 * 8 * 3 + 8) * 1e-9)
        self.assertEqual(model.samples_time(1, 4, constants()), 0)

    def test_loops_over_ranks(self):
        found = model.terms(9, 1024, 0.0, {**NONE, "collectives": 1}, constants(word=1e-9))
        self.assertAlmostEqual(found["ranks"], model.PASSES * 10e-9)


class Programs(unittest.TestCase):
    def test_a_program_gets_a_result_that_is_small(self):
        text = scaling.counting_source("function bench(xs, n) : ([int], int) -> ([float], int) = (f(xs), n);\n\nbench([], 1);\n")
        self.assertIn("function bench_counted(xs, n) : ([int], int) -> (float, int) =", text)
        self.assertIn("let (r0, r1) = bench(xs, n) in (r0[0], r1);", text)

    def test_one_result(self):
        text = scaling.counting_source("function bench(v) : [int] -> [int] = sort(v);\n")
        self.assertIn("function bench_counted(v) : [int] -> int =\n  let r0 = bench(v) in r0[0];", text)

    def test_what_ranks_say_is_read(self):
        said = "ravel: most sent by a rank: collectives 7, exchanges 2, messages 3, bytes 7256, in collectives 5208\n"
        self.assertEqual(scaling.read_counts(said), {"collectives": 7, "exchanges": 2, "messages": 3, "gathered": 5208,
                                                     "exchanged": 2048})


if __name__ == "__main__":
    unittest.main()
