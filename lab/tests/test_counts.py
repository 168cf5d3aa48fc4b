"""What `lab/check counts` makes of lines of the interpreter, by numbers that can be worked out by
hand."""

import json
import unittest
import unittest.mock

import counts


def launch(**changes):
    """A block of one warp that loads 32 sectors in one round trip."""
    fields = {"launch": "k", "instructions": 8, "loads": [32, 1024], "stores": [0, 0], "atomics": [0, 0], "blocks": 4,
              "threads": 32, "shared": 0, "touched": 1024, "wavefronts": 0, "least_wavefronts": 0, "round_trips": 4}
    return {**fields, **changes}


def work(*launches, copied=0, **about):
    fields = {"name": "ADD", "elem": "i64", "shape": "one", "family": "map", "n": 128, "bytes": 1024}
    return counts.Work({**fields, **about}, list(launches), copied)


def figures(one, registers=32):
    return counts.figures(one, lambda _: registers)


class Figures(unittest.TestCase):
    def test_ratios(self):
        found = figures(work(launch(loads=[32, 256], stores=[32, 256], wavefronts=6, least_wavefronts=2), launch(),
                             copied=1024))
        self.assertEqual((found["touched"], found["sectors"], found["banks"], found["launches"]), (3, 0.5, 3, 2))
        self.assertEqual(found["instructions"], 32 * 16 / 128)

    def test_where_there_is_nothing(self):
        found = figures(work())
        self.assertEqual((found["sectors"], found["banks"], found["in flight"]), (None, None, None))

    def test_bytes_in_flight(self):
        one = launch(blocks=4, loads=[4 * 11 * 32, 0])  # a warp a multiprocessor
        self.assertAlmostEqual(counts.in_flight(one, 32) * counts.BYTES_IN_FLIGHT, 11 * 32 * 32)
        many = {**one, "blocks": 4000, "threads": 1024}
        self.assertAlmostEqual(counts.in_flight(many, 32), 64 * counts.in_flight(one, 32))
        self.assertAlmostEqual(counts.in_flight(many, 64), 32 * counts.in_flight(one, 32))
        self.assertIsNone(counts.in_flight({**one, "round_trips": 0}, 32))


class Lines(unittest.TestCase):
    def test_sections_are_between_their_lines(self):
        lines = [launch(), {"name": "ADD"}, launch(), {"copy": 8, "way": "out"}, {"copy": 8, "way": "on"},
                 {"copy": 1, "way": "fill"}, {"end": 0.1}, launch()]
        found = list(counts.works(json.dumps(line) for line in lines))
        self.assertEqual([(w.about["name"], len(w.launches), w.copied) for w in found], [("ADD", 1, 17)])


class Limits(unittest.TestCase):
    def said(self, one, misses=()):
        with unittest.mock.patch.object(counts, "MISSES", misses):
            return list(counts.complaints(one.about, figures(one)))

    def test_a_new_miss_fails(self):
        self.assertEqual(self.said(work(launch(loads=[3200, 102400]))), [])
        half = work(launch(loads=[3200, 51200]))
        self.assertEqual(self.said(half), ["FAIL ADD i64: sectors 0.500, at least 0.95"])
        self.assertEqual(self.said(half, [("ADD|MUL", "sectors", 0.5, "a reason")]), [])
        self.assertEqual(len(self.said(half, [("ADD", "sectors", 0.6, "a reason")])), 1)
        self.assertEqual(len(self.said(half, [("ADD", "banks", 0.5, "a reason")])), 1)

    def test_more_than_needed_fails(self):
        self.assertEqual(self.said(work(launch(loads=[3200, 102400], touched=1100))),
                         ["FAIL ADD i64: touched 1.074, at most 1.02"])

    def test_other_families_are_not_held(self):
        self.assertEqual(self.said(work(launch(loads=[3200, 51200]), family="move")), [])

    def test_a_miss_that_is_none_any_more_fails(self):
        with unittest.mock.patch.object(counts, "MISSES", [("ADD", "sectors", 0.5, "a reason")]):
            good, bad = (work(launch(loads=[3200, wanted])) for wanted in (102400, 51200))
            self.assertEqual(len(list(counts.idle([(good.about, figures(good))]))), 1)
            self.assertEqual(list(counts.idle([(bad.about, figures(bad))])), [])
