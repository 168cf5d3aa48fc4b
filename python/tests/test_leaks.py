"""Nothing stays behind: values of the context, memory, and what keeps borrowed memory alive."""

import gc
import os
import resource
import unittest

import batches
import numpy as np
import ravel as rv
from ravel import _options

EVERY = int(os.environ.get("RAVEL_EVERY", 1))  # each how many-th case of a long test is run


def live_bytes():
    """Of values in the back end."""
    gc.collect()
    return _options.context().statistics().live_bytes


class Leaks(unittest.TestCase):
    def rounds(self, count):
        data = np.random.default_rng(1).random(1000)
        nested = [[1.0, 2.0], [], [3.0]] * 100
        module = rv.define("function each_(v) = {x + 1.0 : x in v};")
        for _ in range(count):
            made = rv.map(module.each_, rv.eval("{r : r in rows}", rows=nested))
            self.assertEqual(len(made[1:2].to_list()), 1)
            rv.array(made.__array__ and [list(row) for row in made[:2]])
            rv.eval("(sum(d), d, k)", d=data, k=(1, "text", [("a", 2)]))
            made.__arrow_c_stream__()
            for wrong in ("1 / 0", "nothing", "1 +"):
                with self.assertRaises(rv.Error):
                    rv.eval(wrong)
            with self.assertRaises(rv.DataError):
                rv.eval("x", x=[[1], [None]])

    def test_values(self):
        self.rounds(1)
        before, kept = live_bytes(), batches.kept()
        self.rounds(5)
        self.assertEqual((live_bytes(), batches.kept()), (before, kept))

    def test_memory_of_the_process(self):
        self.rounds(50 // EVERY)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.rounds(300 // EVERY)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        self.assertLess(grown, 4000 if EVERY == 1 else 2000, f"kB more after {300 // EVERY} rounds")

    def test_large_arguments_are_freed(self):
        data = np.zeros(10**6)
        rv.eval("sum(data)", data=data)
        before = live_bytes()
        for _ in range(5):
            rv.eval("sum(data)", data=data)
        self.assertEqual(live_bytes(), before)


if __name__ == "__main__":
    unittest.main()
