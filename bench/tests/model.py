#!/usr/bin/env python3
"""Tests of the model of a GPU: numbers that can be worked out by hand."""

import importlib.machinery
import importlib.util
import json
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(BENCH), str(BENCH.parent / "scripts")]

import modelling  # noqa: E402
import modelpage  # noqa: E402
from collection import BenchError  # noqa: E402


def command_module():
    """bench/gpu-model, whose name has no suffix."""
    loader = importlib.machinery.SourceFileLoader("gpu_model", str(BENCH / "gpu-model"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_model", loader))
    loader.exec_module(module)
    return module


gpu_model = command_module()


def device(**changes):
    """One multiprocessor of 1 GHz, a byte a nanosecond."""
    fields = {"name": "H100", "processors": 1, "clock": 1e9, "dram": 1e9, "l2": 1e6,
              "l2_bandwidth": 1e10, "in_flight": 1024, "round_trip": 1e-6, "launch": 0.0, "wait": 0.0}
    return modelling.Device(**{**fields, **changes})


def launch(**changes):
    """A block of one warp that loads 32 sectors, all from DRAM, in one round trip."""
    fields = {"symbol": "k", "blocks": 1, "threads": 32, "shared": 0, "static_shared": 0,
              "groups": {"integer": 4}, "loads": [1, 32, 1024], "stores": [0, 0, 0],
              "atomics": [0, 0, 0], "fetched": 32, "written_back": 0, "dirty": 0, "read": 1024,
              "written": 0, "wavefronts": 0, "least_wavefronts": 0, "round_trips": 1,
              "collisions": 0, "branches": 0, "diverged": 0}
    return {**fields, **changes}


def work(*launches, copies=(), waits=0, **about):
    return modelling.Work({"name": "w", "bytes": 1024, **about}, list(launches), list(copies), waits)


def seconds(one, of=None):
    found = modelling.limits(one, 32, of or device())
    return {name: value for name, value in found.items() if value}


class Launches(unittest.TestCase):
    def test_dram_takes_its_bytes_over_its_bandwidth(self):
        self.assertAlmostEqual(seconds(launch())["DRAM"], 1024e-9)
        self.assertAlmostEqual(seconds(launch(written_back=32))["DRAM"], 2048e-9)

    def test_few_bytes_in_flight_hold_it_back(self):
        self.assertNotIn("in flight", seconds(launch()))
        self.assertAlmostEqual(seconds(launch(round_trips=4))["in flight"], 4 * 1024e-9)

    def test_more_warps_have_more_in_flight(self):
        one = modelling.bytes_in_flight(launch(), 32, device())
        four = launch(threads=128, loads=[4, 128, 4096], round_trips=4)
        self.assertAlmostEqual(modelling.bytes_in_flight(four, 32, device()), 4 * one)

    def test_registers_bound_the_warps(self):
        many = launch(blocks=1000, threads=1024)
        self.assertEqual(modelling.resident_warps(many, 32, device()), 64)
        self.assertEqual(modelling.resident_warps(many, 64, device()), 32)
        self.assertEqual(modelling.resident_warps({**many, "shared": 200 * 1024}, 32, device()), 32)

    def test_blocks_that_are_few_use_few_multiprocessors(self):
        issue = launch(groups={"integer": 8000})
        self.assertAlmostEqual(seconds(issue, device(processors=4))["issue"], 2e-6)
        self.assertAlmostEqual(seconds({**issue, "blocks": 4}, device(processors=4))["issue"], 0.5e-6)

    def test_barriers_slow_the_issue(self):
        issue = launch(groups={"integer": 7990, "barrier": 10})
        self.assertAlmostEqual(seconds(issue)["issue"], 2e-6 / 0.36)

    def test_shared_memory_and_round_trips(self):
        self.assertAlmostEqual(seconds(launch(wavefronts=3000))["shared"], 3e-6)
        self.assertAlmostEqual(seconds(launch(round_trips=7))["latency"], 7e-6)

    def test_the_second_level_serves_all_that_is_asked(self):
        self.assertAlmostEqual(seconds(launch(loads=[10, 320, 1024]))["L2"], 1024e-9)


class Sums(unittest.TestCase):
    def test_time_is_that_of_what_binds_and_of_launches_and_waits(self):
        slow = device(launch=5e-6, wait=7e-6)
        took, binds = work(launch(), launch(), waits=1).seconds(lambda _: 32, slow)
        self.assertAlmostEqual(took, 2 * 1.024e-6 + 2 * 5e-6 + 7e-6)
        self.assertEqual(binds, "launches")
        self.assertEqual(work(launch()).seconds(lambda _: 32, device())[1], "DRAM")

    def test_what_is_still_to_be_written_counts_once(self):
        self.assertEqual(work(launch(dirty=5), launch(dirty=9)).moved(), 2 * 1024 + 9 * 32)

    def test_copies_on_the_device_count_both_ways(self):
        copies = [{"copy": 100, "way": "on"}, {"copy": 10, "way": "in"}, {"copy": 1, "way": "fill"}]
        self.assertEqual(work(launch(), copies=copies).touched(), 1024 + 201)

    def test_efficiency_and_conflicts(self):
        w = work(launch(loads=[1, 32, 256], wavefronts=6, least_wavefronts=2))
        self.assertAlmostEqual(w.sector_efficiency(), 0.25)
        self.assertAlmostEqual(w.conflicts(), 3.0)
        self.assertIsNone(work().sector_efficiency())

    def test_a_part_of_a_device(self):
        part = modelling.H100.part(4)
        self.assertAlmostEqual(part.dram * 33, modelling.H100.dram)
        self.assertEqual(part.in_flight, modelling.H100.in_flight)


class Lines(unittest.TestCase):
    def read(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
            f.write(text)
            f.flush()
            return list(modelling.works(modelling.read_lines(f.name)))

    def test_sections_are_between_their_lines(self):
        lines = [launch() | {"launch": "before"}, {"name": "ADD"}, launch() | {"launch": "k"},
                 {"copy": 8, "way": "out"}, {"wait": 2}, {"end": 0.1}, {"wait": 1}]
        found = self.read("".join(json.dumps(line) + "\n" for line in lines))
        self.assertEqual([(w.about["name"], len(w.launches), len(w.copies), w.waits) for w in found],
                         [("ADD", 1, 1, 1)])

    def test_a_line_that_is_cut_is_named(self):
        with self.assertRaisesRegex(SystemExit, "line 2: not an object of JSON"):
            self.read('{"name": "ADD"}\n{"launch": "k", "blo')


class Programs(unittest.TestCase):
    """Of a program that writes these results, the work is taken only if they are right."""

    def counted(self, result, launches=1):
        reference = gpu_model.load_cases()["reduce"]
        data = gpu_model.Data(reference, "", reference.test_sizes[1])
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "0.npy"

            class Fake:
                def run(self, command, processors, l2):
                    gpu_model.checking.numpy.save(output, [result])
                    return [launch() | {"launch": "k"}] * launches

            return gpu_model.count_right(data, "by hand", [], [output], Fake()), data

    def right(self):
        reference = gpu_model.load_cases()["reduce"]
        data = gpu_model.Data(reference, "", reference.test_sizes[1])
        return int(gpu_model.checking.expected(data)[0][0])

    def test_results_are_looked_at(self):
        found, data = self.counted(self.right())
        self.assertEqual((len(found.launches), found.about["n"]), (1, data.n))
        with self.assertRaisesRegex(BenchError, "reduce, by hand, n = "):
            self.counted(self.right() + 1)

    def test_a_program_without_launches_is_an_error(self):
        found, _ = self.counted(self.right(), launches=0)
        with self.assertRaisesRegex(BenchError, "reduce by hand: no launch was counted"):
            gpu_model.launched(found, "by hand")


class Pages(unittest.TestCase):
    def test_the_page_has_all_rows_and_ratios(self):
        options = type("Options", (), {"size": 5, "width": "64"})
        page = modelpage.Page(options, 4, 8, lambda _: 32)
        about = {"elem": "i64", "n": 32, "shape": "one", "name": "ADD_REDUCE"}
        mine = work(launch(round_trips=0), family="reduce", **about)
        peer = work(launch(round_trips=0), launch(round_trips=0), peer="CUB", **about)
        short = work(launch(round_trips=0), family="segmented", **{**about, "name": "+_SCAN"})
        text = page.text([mine, short], [peer], [], [], "command")
        self.assertRegex(text, r"\| ADD_REDUCE i64 \| 1\.00 \| 1\.00 \| 1\.00 \|.*\| 0\.50 \|")
        self.assertRegex(text, r"\| of peer at most 1\.0 \|.*\| 1 \| 0 \|  \|")
        self.assertRegex(text, r"\| in flight at least 0\.9 \|.*\| 0 \| 0 \|")
        self.assertRegex(text, r"\| \+_SCAN i64, one \|.*\| 1\.00 \|")
        self.assertEqual({f["system"] for f in page.figures}, {"Ravel", "CUB"})

    def test_measured_times_are_compared_by_element(self):
        options = type("Options", (), {"size": 5, "width": "64"})
        page = modelpage.Page(options, 4, 8, lambda _: 32)
        about = {"elem": "i64", "n": 32, "shape": "one", "name": "ADD_REDUCE", "family": "reduce"}
        page.text([work(launch(round_trips=0), **about)], [], [], [], "command")
        modelled = page.figures[0]["seconds"]["H100"]
        rows = [{**about, "n": n, "seconds": 2 * modelled * n / (32 * 33)} for n in (64, 4096)]
        self.assertRegex("".join(page.against({"ops": {"rows": rows}})),
                         r"\| ADD_REDUCE i64 \| 4,096 \| 2\.00 \|")
        self.assertEqual(page.against({}), ["nothing that was measured is modelled\n"])


if __name__ == "__main__":
    unittest.main()
