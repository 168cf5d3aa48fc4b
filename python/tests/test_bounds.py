"""What a service does for ever stays within bounds: texts, definitions, functions and options."""

import gc
import os
import resource
import sys
import time
import unittest
from typing import NamedTuple
from unittest import mock

import ravel as rv
from ravel import _context, _options
from ravel._definitions import definitions

EVERY = int(os.environ.get("RAVEL_EVERY", 1))  # each how many-th case of a long test is run


def threads():
    return len(os.listdir("/proc/self/task"))


def grown(work, count):
    """How many KB more the process has after `work` was done so often, the first half aside."""
    for i in range(count // 2):
        work(i)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(count // 2, count):
        work(i)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before


class Counts(NamedTuple):
    """What some calls took of the process."""
    faults: int  # pages that were touched first
    blocks: int  # of Python's memory, behind them
    seconds: float  # of the processors


def counted(work, count):
    """Counts of each eighth of so many calls, behind a few that warm up."""
    found = []
    for i in range(count // 8):
        work(-i - 1)
    for part in range(8):
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, time.process_time()
        for i in range(part * count // 8, (part + 1) * count // 8):
            work(i)
        seconds = time.process_time() - start
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
        gc.collect()
        found.append(Counts(faults, sys.getallocatedblocks(), seconds))
    return found


class Flat(unittest.TestCase):
    """The last of many calls take what the first ones do."""

    def check(self, found):
        first, last = found[0], found[-1]
        self.assertLess(last.faults, 1.2 * first.faults + 200, found)
        self.assertLess(last.blocks, first.blocks + 1000, found)
        # By the clock of the processors only what grows with each call: 8 times as many are known.
        self.assertLess(min(each.seconds for each in found[-3:]), 3 * first.seconds, found)

    def test_texts(self):
        """Of 20,000 different ones, and a part of them, in a context of 12 MB, in which not even 500 could be kept."""
        with rv.options(memory="12M"):
            self.check(counted(lambda i: rv.eval(f"{i} * 3 + 1"), 20000 // EVERY))

    def test_sets_of_options(self):
        """Of 1,000 that have each a back end of its own."""
        def use(i):
            with rv.options(memory=300 * 2**20 + i):
                self.assertEqual(rv.eval("sum(v)", v=[i, 1]), i + 1)
        self.check(counted(use, 1000 // min(EVERY, 2)))
        gc.collect()
        self.assertLessEqual(len(_options._all), _options.MOST_CONTEXTS + 1)


class Texts(unittest.TestCase):
    def test_different_texts_with_data(self):
        self.assertLess(grown(lambda i: rv.eval(f"sum({{x + {i} : x in v}})", v=[1, 2]), 3000), 2000)

    def test_texts_that_are_refused(self):
        def refused(i):
            with self.assertRaises(rv.Error):
                rv.eval(f"[{i}][1]")
            with self.assertRaises(rv.Error):
                rv.eval(f"{i} + [")
        self.assertLess(grown(refused, 4000 // min(EVERY, 2)), 2000)

    def test_what_recurs_is_compiled_once(self):
        def compiled():
            statistics = _options.context().statistics()
            return statistics.compile_seconds
        for i in range(300):
            rv.eval(f"{i} - 1")
            rv.eval("12345 + 1")
        before = compiled()
        rv.eval("12345 + 1")
        self.assertEqual(compiled(), before)

    def test_functions_of_modules(self):
        def use(i):
            module = rv.define(f"function each_time_(x) = x + {i};")
            self.assertEqual(module.each_time_(1), 1 + i)
        with mock.patch.object(_context, "MOST_COMPILED", 100):
            self.assertLess(grown(use, 2000), 3000)


class Definitions(unittest.TestCase):
    def test_a_name_again(self):
        rv.define("function again_(x) = x;")
        before = len(definitions)
        for i in range(50):
            rv.define(f"function again_(x) = if x == 0 then {i} else again_(x - 1);")
        self.assertEqual(len(definitions), before)
        for options in ({}, {"threads": 1, "chunks": 7}):
            with rv.options(**options):
                self.assertEqual(rv.eval("again_(2)"), 49)

    def test_functions_that_call_each_other_again(self):
        """What names of its own a text defines later are no mention of an earlier text, and what
        is tried to find them is forgotten."""
        text = ("function zig_(n) = if n == 0 then {} else zag_(n - 1);"
                " function zag_(n) = if n == 0 then 1 else zig_(n - 1);")
        rv.define(text.format(0))
        before = len(definitions)
        self.assertLess(grown(lambda i: rv.define(text.format(i)), 2000), 1000)
        self.assertEqual(len(definitions), before)
        self.assertEqual(rv.eval("(zig_(3), zag_(3))"), (1, 1999))

    def test_what_others_mention_stays(self):
        rv.define("function base_(x) = x + 1;")
        rv.define("function user_(x) = base_(x) * 10;")
        rv.define("function base_(x) = x + 2;")
        rv.define("value_ = 1;")
        rv.define("value_ = value_ + 1;")
        rv.define("value_ = value_ * 10;")
        there = rv.eval("(user_(1), base_(1), value_)")
        with rv.options(threads=1, chunks=8):
            self.assertEqual(rv.eval("(user_(1), base_(1), value_)"), there)
        rv.define("function two_(x) = x; function kept_too_(x) = x + 5;")
        rv.define("function two_(x) = x * 2;")
        with rv.options(threads=1, chunks=9):
            self.assertEqual(rv.eval("(two_(4), kept_too_(1))"), (8, 6))

    def test_functions_of_a_module_stay_what_they_were(self):
        first = rv.define("function turn_(x) = x + 1;")
        second = rv.define("function turn_(x) = x + 2;")
        with rv.options(threads=1, chunks=11):
            self.assertEqual((first.turn_(1), second.turn_(1), rv.eval("turn_(1)")), (2, 3, 3))


class Options(unittest.TestCase):
    def test_what_needs_no_context(self):
        here = _options.context()
        for options in ({"seed": 3}, {"time": 5}, {"depth": 100}, {"seed": 4, "time": 1.5}):
            with rv.options(**options):
                self.assertIs(_options.context(), here)
        down = "function down_(n) = if n == 0 then 0 else 1 + down_(n - 1);"
        module = rv.define(down)
        with rv.options(depth=50), self.assertRaises(rv.LimitError):
            module.down_(100)
        self.assertEqual(module.down_(100), 100)

    def test_a_seed_begins_anew(self):
        def drawn():
            return rv.eval("{rand(1000000) : i in index(3)}").to_list()
        before = rv.options(seed=5)
        with before:
            first, second = drawn(), drawn()
            with rv.options(time=10):
                third = drawn()
            with rv.options(seed=5):
                self.assertEqual(drawn(), first)
            fourth = drawn()
        with before:
            self.assertEqual([drawn() for _ in range(4)], [first, second, third, fourth])
        self.assertEqual(len({str(each) for each in (first, second, third, fourth)}), 4)
        with rv.options(seed=5, threads=1):
            self.assertEqual(drawn(), first)

    def test_random_numbers_around_a_seed_go_on(self):
        with rv.options(seed=1):
            expected = rv.eval("rand(1000000)"), rv.eval("rand(1000000)")
        with rv.options(seed=1):
            one = rv.eval("rand(1000000)")
            with rv.options(seed=2):
                rv.eval("rand(10)")
            self.assertEqual((one, rv.eval("rand(1000000)")), expected)

    def test_many_sets(self):
        """Threads and memory of a bounded number of contexts."""
        kept = []
        for i in range(1000):
            with rv.options(seed=i, time=100 + i):
                rv.eval("rand(10)")
        for i in range(40):
            with rv.options(memory=f"{200 + i}M"):
                made = rv.eval("{x + 1 : x in v}", v=[i, i])
                if i % 20 == 0:
                    kept.append(made)
        gc.collect()
        self.assertLessEqual(len(_options._contexts), _options.MOST_CONTEXTS)
        of_one = os.cpu_count() or 1
        self.assertLess(threads(), (_options.MOST_CONTEXTS + 3) * of_one + 5)
        self.assertEqual([each.to_list() for each in kept], [[1, 1], [21, 21]])
        self.assertEqual(rv.eval("sum(v)", v=kept[0]), 2)

    def test_functions_are_kept_in_a_bound(self):
        context = _options.context()
        for i in range(_context.MOST_COMPILED + 10):
            context.keep(("test", i), None)
        self.assertEqual(len(context._functions), _context.MOST_COMPILED)
        self.assertIsNone(context.kept(("test", 0)))
        context._functions.clear()

    def test_values_of_options(self):
        for options, said in (({"threads": -1}, "the option threads is 0 .all. or more.*, not -1"),
                              ({"float": 16}, "float is 64 or 32, not 16"),
                              ({"memory": "much"}, "memory is bytes.*, not much"),
                              ({"seed": 2**64}, "seed is an int of 64 bits, not 18446744073709551616"),
                              ({"size": 1}, "no option size; options are backend, threads")):
            with self.subTest(options=options), self.assertRaisesRegex(rv.MisuseError, said):
                with rv.options(**options):
                    pass


if __name__ == "__main__":
    unittest.main()
