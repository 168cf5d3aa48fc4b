#!/usr/bin/env python3
"""Tests of what surrounds the benchmark programs: statistics, comparisons, the report, data on
disk, and that wrong results, crashes and endless programs are found."""

import copy
import json
import re
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom
from pathlib import Path

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
sys.path.insert(0, str(BENCH))

import case  # noqa: E402  (first: it finds a python that has numpy)
import checking  # noqa: E402
import collection  # noqa: E402
import hardware  # noqa: E402
import measuring  # noqa: E402
import noise  # noqa: E402
import outcome  # noqa: E402
import systems  # noqa: E402
import timing  # noqa: E402
from case import numpy  # noqa: E402

RESULTS = HERE / "results.json"


def command(program, *words):
    return subprocess.run([sys.executable, BENCH / program, *map(str, words)], text=True,
                          capture_output=True, check=False)


class Statistics(unittest.TestCase):
    def test_median(self):
        self.assertEqual(noise.median([3, 1, 2]), 2)
        self.assertEqual(noise.median([4, 1, 2, 3]), 2.5)

    def test_interval(self):
        low, high, confidence = noise.interval([5, 1, 4, 2, 3])
        self.assertEqual((low, high), (1, 5))
        self.assertAlmostEqual(confidence, 1 - 2 / 32)
        # Of ten, P(fewer than 2 below the median) = 11/1024, and of 3: 56/1024.
        low, high, confidence = noise.interval(range(10))
        self.assertEqual((low, high), (1, 8))
        self.assertAlmostEqual(confidence, 1 - 22 / 1024)
        self.assertEqual(noise.interval([7])[:2], (7, 7))

    def test_exponent(self):
        self.assertAlmostEqual(noise.exponent([10, 100, 1000], [2e-3, 0.2, 20]), 2)
        self.assertIsNone(noise.exponent([10, 100], [1, 2]))

    def test_repeats(self):
        self.assertEqual(timing.repeats_for(0.1), 3)
        self.assertEqual(timing.repeats_for(9.0), 1)
        self.assertEqual(timing.repeats_for(0.0), timing.MOST_REPEATS)


class Limits(unittest.TestCase):
    MACHINE = {"bandwidth": [[1000, 100.0], [2000, 50.0], [4000, 20.0]], "gathers": 10.0,
               "flops": None}

    def seconds(self, **parts):
        return hardware.limit_seconds(self.MACHINE, case.Limit(**parts))

    def test_bytes(self):
        self.assertEqual(self.seconds(bytes=1000), 10)
        self.assertEqual(self.seconds(bytes=1500), 30)
        self.assertEqual(self.seconds(bytes=8000), 400)

    def test_largest_part_counts(self):
        self.assertEqual(self.seconds(bytes=1000, gathers=300), 30)
        self.assertEqual(self.seconds(bytes=1000, flops=1e9), 10)   # not known there

    def test_streams(self):
        limit = case.streamed([1000, 20], [300], passes=2, flops=7)
        self.assertEqual((limit.bytes, limit.flops), (2640, 7))
        system = systems.MachineStreams(limit.streams, "build")
        self.assertEqual(
            " ".join(system.command(None, "64", [], threads=2, repeat=3)),
            "build/bin/bench-stream-times --read 1000,20 --write 300 --passes 2 --threads 2 "
            "--repeat 3")
        system = systems.MachineStreams(case.streamed([8]).streams, "nowhere")
        self.assertNotIn("--write", system.command(None, "64", []))
        self.assertIn("ninja -C nowhere bench-stream-times", system.available(None))

    def test_streams_are_contenders(self):
        """On the back end for the host only, and for what streams decide."""
        plan = type("Plan", (), {"limits": {"bandwidth": [[1 << 40, 100.0]], "gathers": None,
                                            "flops": None},
                                 "backend": "cpu", "threads": [1, 2], "build": "nowhere"})()
        self.assertEqual(measuring.machine_streams(plan, case.Limit(bytes=800)), [])
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


class Comparison(unittest.TestCase):
    def compare(self, change, *options):
        """bench/compare of the results with themselves after `change` of each system's rounds."""
        document = json.loads(RESULTS.read_text())
        for size in document["programs"][0]["sizes"]:
            for s in size["systems"]:
                if "rounds" in s:
                    s["rounds"] = change(s["system"], s["rounds"])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(document, file)
            file.flush()
            return command("compare", RESULTS, file.name, *options)

    def test_same(self):
        run = self.compare(lambda system, rounds: rounds)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("0 faster, 0 slower, 7 within noise", run.stdout)

    def test_slower(self):
        run = self.compare(lambda system, rounds: [
            t * (1.5 if system == "ravel" else 1) for t in rounds])
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn("3 slower", run.stdout)
        self.assertRegex(run.stdout, r"made-up 100000 +ravel 2 +1\.500 .* slower")

    def test_faster(self):
        run = self.compare(lambda system, rounds: [t / 2 for t in rounds])
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("7 faster", run.stdout)

    def test_machine_slower(self):
        run = self.compare(lambda system, rounds: [t * 2 for t in rounds], "--relative")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("4 within noise", run.stdout)

    def test_noise(self):
        run = self.compare(lambda system, rounds: [rounds[0] * f for f in (0.5, 1.2, 3)])
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("7 within noise", run.stdout)

    def test_no_results(self):
        self.assertEqual(command("compare", RESULTS, BENCH / "run").returncode, 2)


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def report(self, name):
        page = Path(self.folder.name) / name / "results.md"
        run = command("report", RESULTS, "--out", page)
        self.assertEqual(run.returncode, 0, run.stderr)
        return page

    def test_same_again(self):
        files = [{p.relative_to(page.parent): p.read_bytes() for p in page.parent.rglob("*.*")}
                 for page in (self.report("a"), self.report("b"))]
        self.assertEqual(files[0], files[1])
        self.assertEqual(len(files[0]), 2)

    def test_content(self):
        text = self.report("a").read_text()
        self.assertRegex(text, r"Made-up <program> \| 100,000 \| 4\.00 \| 1\.00 \| OpenMP C \| "
                               r"4\.00 \(4\.00 to 4\.00\) \|  \| 1\.20 \| \*\*missed\*\*")
        self.assertIn("* Made-up <program>: It is made up.", text)
        self.assertIn("**broken**", text)           # promise of memory
        self.assertIn("**faster than its work**", text)
        self.assertIn("too slow", text)

    def test_two_files(self):
        """What a first file lacks comes from the second; what both have, from the first."""
        document = json.loads(RESULTS.read_text())
        largest = copy.deepcopy(document)
        for program in largest["programs"]:
            point = max(program["sizes"], key=lambda p: p["n"])
            point["systems"] = [s for s in point["systems"] if s["system"] in ("ravel", "openmp")]
            for system in point["systems"]:
                for key in ("seconds", "least", "most"):
                    system[key] = 2 * system[key] if key in system else None
            program["sizes"] = [point]
        first = Path(self.folder.name) / "largest.json"
        second = Path(self.folder.name) / "all.json"
        first.write_text(json.dumps(largest))
        second.write_text(json.dumps(document))
        page = Path(self.folder.name) / "results.md"
        run = command("report", first, second, "--out", page)
        self.assertEqual(run.returncode, 0, run.stderr)
        text, alone = page.read_text(), self.report("a").read_text()
        self.assertEqual(text.count("### Targets"), 1)
        self.assertRegex(text, r"Made-up <program> \| 100,000 \| 8\.00 \| 2\.00 \| OpenMP C")
        sizes = r"\| Made-up <program> \| 1,000 to 100,000 \| 1\.15"
        self.assertRegex(alone, sizes)
        self.assertRegex(text, sizes.replace("1\\.15", "1\\.3"))
        # Rounds of two files were not side by side.
        for program in largest["programs"]:
            for point in program["sizes"]:
                point["systems"] = [s for s in point["systems"] if s["system"] == "ravel"]
        first.write_text(json.dumps(largest))
        both = outcome.Outcome(first)
        both.add(outcome.Outcome(second))
        point = next(iter(both.programs.values())).largest()
        self.assertIsNotNone(point.seconds("openmp"))
        self.assertIsNone(point.ratio("ravel", "openmp"))

    def test_streams(self):
        """Shares of the bandwidth, by rounds side by side, and what by hand has too small a one."""
        document = json.loads(RESULTS.read_text())
        point = max(document["programs"][0]["sizes"], key=lambda p: p["n"])
        by_hand = next(s["rounds"] for s in point["systems"] if s["system"] == "openmp")
        first = Path(self.folder.name) / "streams.json"
        for share, verdict in (0.95, ""), (0.85, "below"):
            rounds = [share * t for t in by_hand]
            point["streams"] = {"system": "streams", "threads": 2, "rounds": rounds,
                                "seconds": noise.median(rounds)}
            first.write_text(json.dumps(document))
            page = Path(self.folder.name) / "results.md"
            self.assertEqual(command("report", first, "--out", page).returncode, 0)
            text = page.read_text()
            self.assertRegex(text, rf"Made-up <program> \| 100,000 \| {share}0* \|.*\| {share} "
                                   rf"\({share} to {share}\) \|.* \| {verdict} \|\n")
            self.assertNotIn("the machine's streams, ms", text)   # it is no system
        self.assertEqual(command("compare", RESULTS, first).returncode, 0)

    def test_plot(self):
        page = self.report("a")
        text = (page.parent / "results/tests/made-up.svg").read_text()
        xml.dom.minidom.parseString(text)
        self.assertIn("Made-up &lt;program&gt;", text)
        # A line for each system that was timed twice or more, and the limit.
        self.assertEqual(len(re.findall(r'<path class="s', text)), 2)
        self.assertEqual(len(re.findall(r'<path class="limit', text)), 1)


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
            contender = timing.Contender(system, 1)
            plan = type("Plan", (), {"timeout": 60})()
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
