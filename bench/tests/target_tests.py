"""Tests of what is held to targets: when rounds end, verdicts, the file of results."""

import copy
import json
import random
import tempfile
import unittest
from pathlib import Path

import case  # noqa: F401  (first: it finds a python that has numpy)
import collection
import gpu
import measuring
import resultfile
import rounds
import targets
import timing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = HERE / "results.json"


class FakeSystem:
    def __init__(self, name):
        self.name = name


def contender(name, seconds=0.001, cost=0.0):
    found = measuring.Contender(FakeSystem(name), 2)
    found.seconds, found.cost = seconds, cost
    return found


class Rounds(unittest.TestCase):
    """When rounds end, with a clock and times that are given."""

    def play(self, contenders, times, **options):
        """Rounds of contenders whose k-th turn takes times[name](k); who had them, in order."""
        turns, now = [], [0.0]

        def turn(c):
            turns.append(c.name())
            seconds = times[c.name()](len(c.rounds))
            c.rounds.append([seconds])
            now[0] += seconds
        rounds.alternate(contenders, turn, clock=lambda: now[0], **options)
        return turns

    def test_without_noise(self):
        """No more than are needed for a range; who is not compared has one."""
        found = [contender(n) for n in ("ravel", "openmp", "openmp-again", "c", "numpy")]
        turns = self.play(found, {n: lambda k: 1.0 for n in
                                  ("ravel", "openmp", "openmp-again", "c", "numpy")})
        counts = [turns.count(c.name()) for c in found]
        self.assertEqual(counts, [rounds.LEAST_ROUNDS] * 3 + [1, 1])

    def test_order(self):
        """Each round begins with another one."""
        found = [contender(n) for n in ("ravel", "openmp")]
        turns = self.play(found, {n: lambda k: 1.0 for n in ("ravel", "openmp")})
        self.assertEqual(turns[:4], ["ravel", "openmp", "openmp", "ravel"])

    def test_noisy(self):
        """Until the range is narrow; at most 31, whatever the ratio is."""
        draw = random.Random(1)
        times = {"ravel": lambda k: draw.uniform(0.9, 1.1), "openmp": lambda k: 1.0}
        found = [contender(n) for n in times]
        self.play(found, times, budget=1e9)
        count = len(found[0].rounds)
        self.assertTrue(rounds.LEAST_ROUNDS < count < rounds.MOST_ROUNDS, count)
        ratio = rounds.ratios(found[0].medians(), found[1].medians())
        self.assertTrue(rounds.is_narrow(ratio))
        self.assertFalse(rounds.is_narrow(ratio[:-1]))
        times["ravel"] = lambda k: 1.0 + k % 2
        found = [contender(n) for n in times]
        self.play(found, times, budget=1e9)
        self.assertEqual([len(c.rounds) for c in found], [31, 31])

    def test_who_is_known_rests(self):
        """Rounds go on for the one whose range is wide, with the peer beside it."""
        names = ("ravel", "ravel-native", "openmp", "openmp-again", "streams")
        times = {n: lambda k: 1.0 for n in names}
        times["ravel-native"] = lambda k: 1.0 + k % 2
        found = [contender(n) for n in names]
        self.play(found, times, budget=1e9)
        self.assertEqual([len(c.rounds) for c in found], [5, 31, 31, 5, 31])

    def test_budget(self):
        """It ends rounds, but not before there is a range."""
        times = {"ravel": lambda k: 1.0 + k % 2, "openmp": lambda k: 1.0}
        for budget, count in (0.1, rounds.LEAST_ROUNDS), (26, 10):
            found = [contender(n) for n in times]
            self.play(found, times, budget=budget)
            self.assertEqual(len(found[0].rounds), count)

    def test_curves(self):
        """Where there is nothing to decide, one round of what takes long."""
        for seconds, count in (0.1, 3), (2.0, 1):
            times = {n: lambda k: seconds for n in ("ravel", "openmp")}
            found = [contender(n) for n in times]
            self.play(found, times, rounds=3, budget=3.0, least=1)
            self.assertEqual([len(c.rounds) for c in found], [count, count])

    def test_broken(self):
        """One with a problem has no turn, and nobody waits for it; without peer there is one."""
        found = [contender(n) for n in ("ravel", "ravel-native", "openmp")]
        found[0].problem = "it crashed"
        turns = self.play(found, {n: lambda k: 1.0 for n in ("ravel-native", "openmp")})
        self.assertEqual((turns.count("ravel"), turns.count("openmp")), (0, 5))
        found = [contender(n) for n in ("ravel", "c")]
        self.assertEqual(sorted(self.play(found, {n: lambda k: 1.0 for n in ("ravel", "c")})),
                         ["c", "ravel"])

    def test_repeats(self):
        self.assertEqual(rounds.repeats_for(0.1), 3)
        self.assertEqual(rounds.repeats_for(9.0), 1)
        self.assertEqual(rounds.repeats_for(0.0), rounds.MOST_REPEATS)

    def test_itself(self):
        """OpenMP C against itself is the same binary, and has its turns beside it."""
        known = __import__("systems").all_systems()
        cases = collection.load_cases()
        found = [known[name] for name in ("openmp", "openmp-again")]
        for system in found:
            system.prepare(cases["reduce"], "64")
        self.assertEqual(*(s.made["reduce", "64"] for s in found))
        self.assertIn("openmp-again", rounds.COMPARED)
        twins = [contender("openmp", 0.5, 0.1), contender("openmp-again", 0.0)]
        twins[0].problem = "it crashed"
        measuring.same_binary(twins)
        self.assertEqual((twins[1].seconds, twins[1].problem), (0.5, "it crashed"))


class Verdicts(unittest.TestCase):
    def test_sides(self):
        for ratio, wanted in (([1.1, 1.0, 1.2], "met"), ([1.3, 1.21, 1.4], "missed"),
                              ([1.15, 1.1, 1.21], "undecided"), ([1.3, 1.2, 1.4], "undecided"),
                              ([9.0, 2.0, 20.0], "missed")):
            self.assertEqual(rounds.verdict(ratio, 5, 1.2), wanted, ratio)

    def test_twin(self):
        """Something against itself: both sides of 1 count."""
        for ratio, wanted in (([1.0, 0.9, 1.1], "met"), ([1.0, 0.8, 1.1], "undecided"),
                              ([1.0, 0.9, 1.3], "undecided"), ([0.5, 0.4, 0.6], "missed"),
                              ([1.5, 1.4, 1.6], "missed")):
            self.assertEqual(rounds.verdict_of_twin(ratio, 5, 1.2), wanted, ratio)

    def test_too_few(self):
        self.assertEqual(rounds.verdict([0.5, 0.5, 0.5], rounds.LEAST_ROUNDS - 1, 1.2), "undecided")

    def test_narrow(self):
        self.assertTrue(rounds.is_narrow([1.0, 1.01, 1.02, 1.03, 1.099]))
        self.assertFalse(rounds.is_narrow([1.0, 1.01, 1.02, 1.03, 1.11]))
        self.assertFalse(rounds.is_narrow([1.0] * (rounds.LEAST_ROUNDS - 1)))

    def test_every_program_has_a_target(self):
        self.assertEqual(set(targets.CLASSES), set(collection.load_cases()))
        self.assertEqual({targets.of_program(p) for p in targets.CLASSES}, {1.2, 1.3, 1.5, 2.0, 3.0, 4.0})

    def test_every_program_has_its_peer(self):
        for name, found in collection.load_cases().items():
            self.assertTrue(collection.baseline(found, ".c"), name)


class Points(unittest.TestCase):
    def points(self, name="dot-product", at=(10, 100, 10**6), **changes):
        options = {"rounds": 31, "seconds": 30, "quick": False, "largest": False, "sizes": None,
                   "curves": True, "variants": False, "backend": "cpu", "build": "build",
                   "limit": 60, "systems": None, "once": False, "papers": False, **changes}
        found = collection.load_cases()[name]
        found.sizes = list(at)
        plan = measuring.Plan([], None, [2], type("Options", (), options)(), None)
        return plan.points(found)

    def test_patience(self):
        """Who is compared has all the time, others have little."""
        plan = type("Plan", (), {"timeout": 120, "judge": FakeSystem("c")})()
        known = {name: contender(name) for name in ("ravel", "openmp", "c", "numpy", "ravel-base")}
        known["c"].system = plan.judge
        self.assertEqual({name: measuring.patience(plan, c) for name, c in known.items()},
                         {"ravel": 120, "openmp": 120, "c": 120, "numpy": measuring.SLOW_PROCESS,
                          "ravel-base": measuring.SLOW_PROCESS})

    def test_measured_once(self):
        """Who worked for long enough when its results were looked at has been measured, and explained."""
        c = contender("ravel-base")
        measuring.take_times(c, timing.Run("", 0, "", "", 3.0, 5, {"seconds": [1.0, 1.5], "instructions": 7}))
        self.assertEqual((c.rounds, c.peak, c.facts), ([[1.0, 1.5]], 5, {"instructions": 7}))

    def test_systems_at_points(self):
        """What optimising gains is measured at targets, elsewhere when it is asked for."""
        plan = type("Plan", (), {"asked": False})()
        base, twin = FakeSystem("ravel-base"), FakeSystem("openmp-again")

        def parts(held):
            return [measuring.taking_part(plan, s, held) for s in (base, twin, FakeSystem("ravel"))]
        self.assertEqual((parts(True), parts(False)), ([True] * 3, [False, False, True]))
        plan.asked = True
        self.assertEqual(parts(False), [True, False, True])

    def test_points(self):
        """Held to the target are the largest size and the largest in the cache."""
        self.assertEqual(self.points(), [("", 10, False), ("", 100, True), ("", 10**6, True)])
        self.assertEqual(self.points(curves=False), [("", 100, True), ("", 10**6, True)])
        self.assertEqual(self.points(largest=True), [("", 10**6, True)])
        sizes = (10, 1000, 10**7, 10**8)
        self.assertEqual([held for *_, held in self.points(at=sizes)], [False, True, False, True])
        self.assertEqual([held for *_, held in self.points(at=sizes, papers=True)], [False, True, True, True])
        self.assertIn("webbase", [v for v, *_ in self.points("sparse-matrix-vector")])
        self.assertEqual(len(self.points("quicksort")), 3)
        self.assertEqual(len(self.points("quicksort", variants=True)), 5)
        self.assertEqual(self.points(sizes=[7, 5]), [("", 5, False), ("", 7, True)])

    def test_budgets(self):
        shares = measuring.budgets([("", 1, True), ("", 2, False), ("", 3, True)], 30)
        self.assertEqual(shares[("", 1, True)], 10)
        self.assertEqual(shares[("", 3, True)], 20)

    def test_slow_ones_are_left_out(self):
        found = [contender(n) for n in ("numpy", "c", "ravel")]
        measuring.leave_out_slow(found, {("numpy", 2): (100, 0.5), ("c", 2): (100, 0.1),
                                         ("ravel", 2): (100, 9.0)}, 1000)
        self.assertEqual([bool(c.problem) for c in found], [True, False, False])


class ResultFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "results.json"

    def full(self):
        """What a whole run writes: all programs at four sizes, two of them held to targets."""
        one = measuring.Contender(FakeSystem("ravel"), 2)
        one.rounds, one.peak = [[0.123456789 + k] for k in range(5)], 123456789
        one.firsts = [0.123456789 + k for k in range(5)]
        one.facts = {"peak_bytes": 123456789}
        document = json.loads(RESULTS.read_text())
        program = document["programs"][0]
        size = program["sizes"][-1]
        names = ("ravel", "ravel-native", "openmp", "c", "c++", "numpy")
        program["sizes"] = []
        for held in (True, False, False, True):
            program["sizes"].append({**size, "held": held, "systems": []})
            for name in (*names, *(rounds.AT_TARGETS if held else ())):
                one.system = FakeSystem(name)
                program["sizes"][-1]["systems"].append(
                    measuring.record(one, held, copy.copy(one), copy.copy(one)))
        document["programs"] = [{**program, "name": n} for n in targets.CLASSES]
        return document

    def test_small(self):
        """A whole run stays below the limit, and reading it returns the same."""
        document = self.full()
        resultfile.write(self.path, document)
        self.assertEqual(json.loads(self.path.read_text()), document)
        resultfile.check_size(self.path)
        self.assertLess(max(map(len, self.path.read_text().split("\n"))), 2 * resultfile.LINE)

    def test_too_large(self):
        document = self.full()
        document["programs"] *= 3
        resultfile.write(self.path, document)
        with self.assertRaises(collection.BenchError):
            resultfile.check_size(self.path)

    def test_committed(self):
        """One file for each measurement, small, of one commit."""
        found = {p.name: p for p in (ROOT / "bench" / "results").rglob("*.json")
                 if not p.parent.name.startswith("gpu-")}
        self.assertEqual(set(found), {"cpu-2-cores.json", "papers-2-cores.json", "python-2-cores.json"})
        for path in found.values():
            resultfile.check_size(path)
            kept = json.loads(path.read_text())
            self.assertRegex(kept["machine"]["commit"], r"^[0-9a-f]{40}$")
        document = json.loads(found["cpu-2-cores.json"].read_text())
        measured = {p["name"] for p in document["programs"]}
        self.assertEqual(measured, set(targets.CLASSES))

    def test_clean(self):
        """Only results of a commit are kept in the repository."""
        kept = ROOT / "bench" / "results" / "cpu-2-cores.json"
        with self.assertRaisesRegex(collection.BenchError, "commit them first"):
            resultfile.check_clean(kept, {"changed": True})
        resultfile.check_clean(kept, {"changed": False})
        resultfile.check_clean(self.path, {"changed": True})

    def test_continued(self):
        document = json.loads(RESULTS.read_text())
        resultfile.write(self.path, document)
        machine = copy.deepcopy(document["machine"])
        self.assertEqual(resultfile.go_on(self.path, machine), document)
        machine["changed"] = True
        self.assertTrue(resultfile.go_on(self.path, machine)["machine"]["changed"])
        machine["commit"] = "f" * 40
        with self.assertRaisesRegex(collection.BenchError, "commit"):
            resultfile.go_on(self.path, machine)


class GpuPrograms(unittest.TestCase):
    """Programs of the corpus on a GPU: bench/gpu.py."""

    def test_median(self):
        self.assertEqual(gpu.spread([4, 1, 2, 10]),
                         {"seconds": 3, "least_seconds": 1, "most_seconds": 10, "runs": 4})

    def test_repeated(self):
        text = "{ a comment }\n\nFUNC MAIN2_1\nCONST INT 7\nRET\n\nFUNC F\nRET\n"
        self.assertEqual(gpu.repeated(text, 2), "FUNC ALL-RUNS\nCALL MAIN2_1\nCALL MAIN2_1\nRET\n\n" + text)

    def test_the_last_item_of_each_call_is_its_time(self):
        self.assertEqual(gpu.seconds_of("nan\n0.5\n1.5\n2e-05\n", 2), [0.5, 2e-5])
        with self.assertRaises(gpu.Cut):
            gpu.seconds_of("1\n0.5\n0.25\n", 2)
        with self.assertRaises(gpu.Cut):
            gpu.seconds_of("", 1)

    def test_targets_are_for_both_kinds(self):
        times = gpu.spread([0.007])
        rows = [{"name": "qs.1000000", "int": 32, "first": times, "warm": times}]
        lines = {t["target"]: t["met"] for t in gpu.targets({"programs": {"rows": rows}}, "cuda")}
        self.assertIs(lines["qs.1000000 in 32/32, first, ms"], False)
        self.assertIs(lines["qs.1000000 in 32/32, warm, ms"], False)
        self.assertIsNone(lines["bh.100 in 32/32, warm, ms"])
        self.assertNotIn("bh.75000 in 32/32, first, ms", lines)
