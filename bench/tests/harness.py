#!/usr/bin/env python3
"""Tests of what surrounds the benchmark programs: statistics, comparisons, the report, data on
disk, and that wrong results, crashes and endless programs are found."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
sys.path.insert(0, str(BENCH))

import case  # noqa: E402  (first: it finds a python that has numpy)
import checking  # noqa: E402
import cliff_cases  # noqa: E402
import collection  # noqa: E402
import expected  # noqa: E402
import hardware  # noqa: E402
import measuring  # noqa: E402
import rounds  # noqa: E402
import systems  # noqa: E402
import timing  # noqa: E402
from case import numpy  # noqa: E402
from papers_tests import *  # noqa: E402,F401,F403
from target_tests import *  # noqa: E402,F401,F403
from vector_tests import *  # noqa: E402,F401,F403

RESULTS = HERE / "results.json"


def load_command(name):
    """A command of bench/, which is no module by its name."""
    loader = importlib.machinery.SourceFileLoader(f"bench_{name}", str(BENCH / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


cliffs = load_command("cliffs")


def command(program, *words):
    return subprocess.run([sys.executable, BENCH / program, *map(str, words)], text=True,
                          capture_output=True, check=False)


class Statistics(unittest.TestCase):
    def test_median(self):
        self.assertEqual(rounds.median([3, 1, 2]), 2)
        self.assertEqual(rounds.median([4, 1, 2, 3]), 2.5)

    def test_interval(self):
        low, high, confidence = rounds.interval([5, 1, 4, 2, 3])
        self.assertEqual((low, high), (1, 5))
        self.assertAlmostEqual(confidence, 1 - 2 / 32)
        # Of ten, P(fewer than 2 below the median) = 11/1024, and of 3: 56/1024.
        low, high, confidence = rounds.interval(range(10))
        self.assertEqual((low, high), (1, 8))
        self.assertAlmostEqual(confidence, 1 - 22 / 1024)
        self.assertEqual(rounds.interval([7])[:2], (7, 7))


class Streams(unittest.TestCase):
    MACHINE = {"bandwidth": [[1000, 100.0], [2000, 50.0], [4000, 20.0]]}

    def test_seconds(self):
        self.assertEqual([hardware.stream_seconds(self.MACHINE, size) for size in (1000, 1500, 8000)], [10, 30, 400])

    def test_command(self):
        system = systems.MachineStreams(case.streamed([1000, 20], [300], passes=2), "build")
        self.assertEqual(
            " ".join(system.command(None, "64", [], threads=2, repeat=3)),
            "build/bin/bench-stream-times --read 1000,20 --write 300 --passes 2 --threads 2 "
            "--repeat 3")
        system = systems.MachineStreams(case.streamed([8]), "nowhere")
        self.assertNotIn("--write", system.command(None, "64", []))
        self.assertIn("ninja -C nowhere bench-stream-times", system.available(None))

    def test_contenders(self):
        """On the back end for the host only, and for what streams decide."""
        plan = type("Plan", (), {"limits": {"bandwidth": [[1 << 40, 100.0]]},
                                 "backend": "cpu", "threads": [1, 2], "build": "nowhere"})()
        self.assertEqual(measuring.machine_streams(plan, None), [])
        with self.assertRaises(collection.BenchError):
            measuring.machine_streams(plan, case.streamed([800]))
        with tempfile.TemporaryDirectory() as folder:
            plan.build = Path(folder)
            (plan.build / "bin").mkdir()
            (plan.build / "bin" / "bench-stream-times").touch()
            found, = measuring.machine_streams(plan, case.streamed([800]))
            self.assertEqual((found.threads, found.seconds), (2, 8))
            plan.backend = "cuda"
            self.assertEqual(measuring.machine_streams(plan, case.streamed([800])), [])


class Environment(unittest.TestCase):
    """Of runs: what somebody keeps on this machine must not change what is measured."""

    def test_kept_tuning_values_do_not_count(self):
        for said, wanted in (({}, "off"), ({"RAVEL_TUNING": ""}, "off"),
                             ({"RAVEL_TUNING": "some.tuning"}, "some.tuning")):
            with unittest.mock.patch.dict("os.environ", said):
                if not said:
                    systems.os.environ.pop("RAVEL_TUNING", None)
                self.assertEqual(systems.System().environment(1)["RAVEL_TUNING"], wanted)


    def test_threads_of_baselines_have_processors_of_their_own(self):
        known = systems.all_systems()
        self.assertEqual(known["openmp"].environment(2)["OMP_PROC_BIND"], "spread")
        self.assertNotIn("OMP_PROC_BIND", known["numpy"].environment(2))   # it has other threads, too

    def test_turns_beside_other_processes(self):
        """Whether they count depends on how many processors are left."""
        run = timing.Run("", 0, "", "", 1.0, 0, {}, others=0.5)
        with unittest.mock.patch("os.cpu_count", return_value=2):
            self.assertEqual([run.disturbed(threads) for threads in (1, 2)], [False, True])

    def test_disturbed_turns_are_taken_again(self):
        taken = []

        def run_system(*_):
            taken.append(timing.Run("", 0, "", "", 1.0, 0, {"seconds": [len(taken)]}, others=1.0))
            return taken[-1]
        contender = measuring.Contender(systems.System(), 2)
        with unittest.mock.patch("os.cpu_count", return_value=2), \
                unittest.mock.patch.object(measuring, "run_system", run_system):
            contender.round(None, "64", 1)
            contender.round(None, "64", 1)
        self.assertEqual((contender.disturbed, contender.rounds),
                         (measuring.PATIENCE, [[measuring.PATIENCE], [measuring.PATIENCE + 1]]))


class Comparison(unittest.TestCase):
    def compare(self, change, *options):
        """bench/compare of the results with themselves after `change` of what each system took."""
        document = json.loads(RESULTS.read_text())
        for size in document["programs"][0]["sizes"]:
            for s in size["systems"]:
                if "rounds" in s:
                    change(s)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file)
            file.flush()
            return command("compare", RESULTS, file.name, *options)

    def scale(self, factor, *options, system=None):
        def change(s):
            if s["system"] == (system or s["system"]):
                s["seconds"] = [factor * t for t in s["seconds"]]
        return self.compare(change, *options)

    def test_same(self):
        run = self.scale(1.0)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("0 faster, 0 slower, 11 within noise", run.stdout)

    def test_slower(self):
        run = self.scale(1.5, system="ravel")
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("3 slower", run.stdout)
        self.assertRegex(run.stdout, r"dot-product 100000 +ravel 2 +1\.500 .* slower")

    def test_faster(self):
        """But for what had one round."""
        run = self.scale(0.5)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("9 faster, 0 slower, 2 within noise", run.stdout)

    def test_machine_slower(self):
        run = self.scale(2.0, "--relative")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("4 within noise", run.stdout)

    def test_noise(self):
        def change(s):
            s["seconds"] = [s["seconds"][0] * f for f in (1.2, 0.5, 3)]
        run = self.compare(change)
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("11 within noise", run.stdout)

    def test_no_results(self):
        self.assertEqual(command("compare", RESULTS, BENCH / "run").returncode, 2)


class FakeProgram:
    """Each way takes what the next of its times says, again and again."""
    name, sizes = "fake", {"small": 10}

    def __init__(self, **times):
        self.times, self.turns = times, []

    def prepare(self, build, n, way):
        return self.times[way][0]

    def turn(self, build, n, way, repeat):
        self.turns.append(way)
        k = self.turns.count(way) - 1
        return [self.times[way][k % len(self.times[way])]] * repeat


class Cliffs(unittest.TestCase):
    OPTIONS = argparse.Namespace(build=Path("build"), rounds=3)

    def found(self, default, uncut=(0.01,), thread=(0.01,), together=(0.01,)):
        program = FakeProgram(**{"default": default, "uncut": uncut, "one thread": thread, "together": together})
        with contextlib.redirect_stdout(io.StringIO()):
            return cliffs.measured(program, "small", self.OPTIONS), program

    def test_turns_rotate(self):
        found, program = self.found([0.01])
        self.assertFalse(found.suspect() or found.again)
        self.assertEqual([program.turns[k] for k in (0, 4, 8)], list(cliffs.WAYS)[:3])

    def test_above_its_bound(self):
        found, _ = self.found([0.0125])
        self.assertTrue(found.again and found.suspect())
        self.assertEqual(len(found.rounds["default"]), cliffs.AGAIN_ROUNDS)

    def test_short_runs_have_another_bound(self):
        self.assertFalse(self.found([0.00125], [0.001], [0.001])[0].suspect())
        self.assertTrue(self.found([0.00135], [0.001], [0.001])[0].suspect())

    def test_noise_is_no_cliff(self):
        """What was above at first, and is not in the second measurement."""
        found, _ = self.found([0.013] * 3 + [0.009, 0.013, 0.009])
        self.assertTrue(found.again)
        self.assertFalse(found.suspect())

    def test_one_thread_counts(self):
        self.assertTrue(self.found([0.01], [0.01], [0.008])[0].suspect())

    def test_native_code_may_be_a_cliff(self):
        self.assertTrue(self.found([0.01], together=[0.008])[0].suspect())

    def test_an_obvious_one_is_not_measured_again(self):
        found, _ = self.found([2.0], [0.5], [0.5])
        self.assertTrue(found.suspect() and not found.again)

    def test_all_programs_have_sizes(self):
        self.assertEqual(len({p.name for p in cliff_cases.programs()}), len(cliff_cases.programs()))


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def report(self, name, results=RESULTS):
        page = Path(self.folder.name) / name / "results.md"
        run = command("report", results, "--out", page)
        self.assertEqual(run.returncode, 0, run.stderr)
        return page

    def test_same_again(self):
        files = [{p.relative_to(page.parent): p.read_bytes() for p in page.parent.rglob("*.*")}
                 for page in (self.report("a"), self.report("b"))]
        self.assertEqual(files[0], files[1])

    def test_content(self):
        text = self.report("a").read_text()
        self.assertRegex(text, r"Made-up <program> \| flat \| 100,000 \| 4\.00 \| 1\.00 \| "
                               r"4\.00 \(3\.90 to 4\.10\) \| 5 \| 1\.20 \| \*\*missed\*\*")
        self.assertIn("Ravel: 0 met, 1 missed, 0 undecided.", text)
        self.assertIn("OpenMP C, again: 2 met, 0 missed, 0 undecided.", text)
        self.assertIn("* Made-up <program>: ", text)
        self.assertIn("**broken**", text)           # promise of memory

    def changed(self, change):
        """The page of the results after `change` of the systems at the largest size, by name."""
        def of_document(document):
            point = max(document["programs"][0]["sizes"], key=lambda p: p["n"])
            change(point, {s["system"]: s for s in point["systems"]})
        return self.page_of(of_document)

    def page_of(self, change):
        document = json.loads(RESULTS.read_text())
        change(document)
        path = Path(self.folder.name) / "changed.json"
        path.write_text(json.dumps(document))
        return self.report("c", path).read_text()

    def test_verdicts(self):
        """Of the largest size: by the range, and by whether there is one."""
        for ratio, rounds, verdict in (((1.1, 1.0, 1.2), 5, "met"), ((1.1, 1.0, 1.3), 31, "undecided"),
                                       ((1.1, 1.1, 1.1), 4, "undecided")):
            def change(_, systems):
                systems["ravel"].update(ratio=ratio, rounds=rounds)
            self.assertRegex(self.changed(change),
                             rf"100,000 \| 4\.00 \| 1\.00 \| 1\.10.* \| {rounds} \| 1\.20 \| {verdict}")

    def test_restless_machine(self):
        """Where OpenMP C is not as fast as itself, nothing is decided."""
        def change(_, systems):
            systems["openmp-again"]["ratio"] = [1.0, 0.1, 1.1]
        self.assertRegex(self.changed(change),
                         r"4\.00 \(3\.90 to 4\.10\) \| 5 \| 1\.20 \| undecided")

    def test_first_runs(self):
        """A row where they were timed, and no table where they were not."""
        self.assertNotIn("### First runs", self.report("a").read_text())

        def change(_, systems):
            systems["ravel"].update(first_seconds=0.012, first_ratio=[1.6, 1.55, 1.7])
            systems["openmp"].update(first_seconds=0.0075)
        self.assertRegex(self.changed(change), r"Made-up <program> \| 100,000 \| 12\.00 \| 7\.50 \| "
                         r"1\.60 \(1\.55 to 1\.70\) \| 5 \| 1\.50 \| \*\*missed\*\*")

    def test_first_runs_are_compared_in_the_same_rounds(self):
        system = type("System", (), {"name": "ravel"})
        ours, other = (measuring.Contender(system, 1) for _ in range(2))
        other.system = type("System", (), {"name": "openmp"})
        ours.firsts, other.firsts = [3.0, 8.0, 3.0], [1.0, 4.0, 2.0]
        self.assertEqual(measuring.first_runs(ours, other),
                         {"first_seconds": 3.0, "first_ratio": [2.0, 1.5, 3.0]})
        self.assertEqual(measuring.first_runs(other, other), {"first_seconds": 2.0})
        ours.firsts[1] = None
        self.assertEqual(measuring.first_runs(ours, other), {})

    def test_quicksort_beside_one_thread(self):
        """The C++ library is shown beside OpenMP C, not instead of it."""
        def change(point, _):
            point["systems"].append({"system": "c++", "threads": 1, "rounds": 1,
                                     "seconds": [0.01, 0.01, 0.01]})
        text = self.changed(change)
        self.assertRegex(text, r"\| 4\.00 \| 1\.00 \| 2\.00 \| 10\.00 \|  \| 2\.00 \| 0\.40 \|")
        self.assertIn("**missed**", text)

    def test_streams(self):
        """Shares of the bandwidth, by rounds side by side."""
        def change(point, systems):
            point["streams"] = {"system": "streams", "threads": 2, "rounds": 5,
                                "seconds": [0.0009, 0.0009, 0.0009]}
            point["streamed_bytes"] = 8e5
            systems["openmp"]["share"] = [0.9, 0.88, 0.91]
        text = self.changed(change)
        self.assertRegex(text, r"Made-up <program> \| 100,000 \| 0\.900 \| 0\.889 \| "
                               r"0\.90 \(0\.88 to 0\.91\)")
        self.assertNotIn("the machine's streams, ms", text)   # it is no system

    def test_too_slow(self):
        def change(point, systems):
            del systems["c"]["seconds"], systems["c"]["rounds"]
            systems["c"].update(problem="it would take too long", wrong=False)
            point["systems"].append({"system": "c++", "threads": 1, "rounds": 1, "seconds": [0.01, 0.01, 0.01]})
        self.assertRegex(self.changed(change), r"\| 100,000 \| 4\.00 \| 1\.00 \| too slow \| 10\.00 \|")

    def test_tables_without_data(self):
        """They have no heading, and the page says what measures them."""
        def without(document):
            for point in document["programs"][0]["sizes"]:
                point["systems"] = [s for s in point["systems"] if s["system"] != "ravel-base"]
        text = self.page_of(without)
        self.assertNotIn("### First runs", text)
        self.assertIn("* First runs: `bench/run --largest --out R.json`", text)


class Expected(unittest.TestCase):
    """What is held besides results: bench/expected.txt."""

    def check(self, entries, whole=True):
        with unittest.mock.patch.object(expected, "lists", lambda: {"list": {"a": "1 whole", "b": "2 split"}}), \
                contextlib.redirect_stdout(io.StringIO()):
            return expected.check("list", entries, "command", whole)

    def test_what_is_as_it_was_passes(self):
        self.assertEqual(self.check({"a": "1 whole", "b": "2 split", "c": ""}), 0)
        self.assertEqual(self.check({"a": "1 whole"}, whole=False), 0)

    def test_what_is_other_missing_or_new_fails(self):
        for entries in ({"a": "1 split", "b": "2 split"}, {"a": "1 whole"}, {"a": "1 whole", "b": ""},
                        {"a": "1 whole", "b": "2 split", "c": "1 whole"}):
            self.assertEqual(self.check(entries), 1, entries)

    def test_the_file_is_as_it_is_written(self):
        self.assertEqual(expected.written(expected.lists()), expected.FILE.read_text())


class Programs(unittest.TestCase):
    def test_nesl_lines(self):
        self.assertEqual(collection.nesl_lines(
            "% a\n comment %\n\nfunction f(x) =\n  let y = 1;\n  in x + y;\n\nf(1);\n%= 2 %\n"), 3)

    def test_c_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "b.h").write_text("int y;\nint z;\n")
            path = Path(folder) / "a.c"
            path.write_text('/* a\n b */\n#include "baseline.h"\n#include "b.h"\nint x; // y\n\n')
            self.assertEqual(collection.c_lines(path), 5)

    def test_python_lines(self):
        text = 'def numpy(x):\n    """A."""\n    # b\n    return x\n\n\ndef jax(x):\n    return x\n'
        self.assertEqual(collection.python_lines(text, "numpy"), 2)

    def test_types(self):
        self.assertEqual(collection.split_type(" ([int], (int, float)) "),
                         ["[int]", "(int, float)"])
        self.assertEqual(collection.split_type("[(int, int)]"), ["[(int, int)]"])

    def test_arrays(self):
        with tempfile.TemporaryDirectory() as folder:
            for k, array in enumerate((numpy.arange(3), numpy.zeros(0), numpy.array([True]),
                                       numpy.frombuffer(b"text", numpy.uint8),
                                       numpy.zeros(0, numpy.uint8))):
                path = Path(folder) / f"{k}.npy"
                collection.save(path, array)
                numpy.testing.assert_array_equal(collection.load(path, memory_map=True), array)
            with self.assertRaises(collection.BenchError):
                collection.save(path, numpy.zeros((2, 2)))


class Correctness(unittest.TestCase):
    """What is wrong must not pass."""

    def test_results(self):
        found = case.wrong([numpy.array([1.0, 2.5])], [numpy.array([1.0, 2.0])], 1e-9)
        self.assertIn("first at 1: 2.5 for 2.0", found)
        self.assertIn("3 elements instead of 2",
                      case.wrong([numpy.zeros(3)], [numpy.zeros(2)], 1))
        self.assertIsNotNone(case.wrong([numpy.array([numpy.nan])], [numpy.zeros(1)], 1))
        self.assertIsNone(case.wrong([numpy.array([1])], [numpy.array([1])], 0))

    def test_nothing_to_compare_with(self):
        data = type("Data", (), {"case": case.Case("x", "X", "beyond", [1], [1], None)})()
        self.assertIsNotNone(checking.complaint(data, [numpy.zeros(1)], None))

    def test_processes(self):
        run = timing.execute(["/bin/sh", "-c", "sleep 60"], limit=0.3)
        self.assertEqual(run.status, -1)
        self.assertTrue(run.gave_up())
        run = timing.execute(["/bin/sh", "-c", "echo no >&2; exit 3"])
        self.assertEqual((run.status, run.gave_up()), (3, False))
        self.assertIn("no", run.complaint())

    def test_wrong_systems_are_not_timed(self):
        """A baseline that computes something else is found, and counted."""
        with tempfile.TemporaryDirectory(dir=collection.WORK) as folder:
            source = Path(folder) / "dot-product.c"
            source.write_text((collection.BASELINES / "dot-product.c").read_text().replace(
                "sum += x[i] * y[i]", "sum += x[i] + y[i]"))
            cases = collection.load_cases()
            system = measuring_system(source)
            data = collection.Data(cases["dot-product"], "", 1000)
            contender = measuring.Contender(system, 1)
            plan = type("Plan", (), {"timeout": 60, "judge": None, "once": False})()
            measuring.verify(plan, data, [contender], Path(folder) / "out")
            self.assertTrue(contender.wrong)
            self.assertIn("is off by", contender.problem)


def measuring_system(source):
    """Plain C from another file, under another name, so that it is compared."""
    from systems import Compiled, compiled

    class Broken(Compiled):
        def compile(self, _, widths):
            return compiled(source, widths=widths)
    return Broken("broken", "Broken", ".c")


if __name__ == "__main__":
    collection.WORK.mkdir(parents=True, exist_ok=True)
    unittest.main()
