"""Tests of the papers' page and of what the call on a GPU measures for it, and of the drawing of ways."""

import contextlib
import io
import json
import re
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import collection  # noqa: E402
import published  # noqa: E402
import report_change_over as change_over  # noqa: E402
import report_papers as papers  # noqa: E402
import report_time_line as time_line  # noqa: E402
import switches  # noqa: E402

RESULTS = HERE / "results.json"


def results(folder, name, backend, times):
    """A file of results in which programs took {name: {size: {system: seconds}}}."""
    document = json.loads(RESULTS.read_text())
    document["backend"] = backend
    cases = collection.load_cases()
    document["programs"] = [{
        "name": program, "title": cases[program].title, "paper": cases[program].paper, "unit": "elements",
        "wrong": [], "lines": {},
        "sizes": [{"n": n, "variant": "", "work": float(n), "held": True, "bytes": 8 * n,
                   "systems": [{"system": s, "threads": 1, "seconds": [t, t, t], "rounds": 1}
                               for s, t in systems.items()]} for n, systems in sizes.items()]}
        for program, sizes in times.items()]
    path = Path(folder) / name
    path.write_text(json.dumps(document))
    return path


class Papers(unittest.TestCase):
    CPU = {"quicksort": {10**6: {"ravel": 0.2, "ravel-native": 0.1, "ravel-unfused": 0.3, "ravel-base": 0.4,
                                 "openmp": 0.02}}}
    GPU = {"quicksort": {10**6: {"ravel-native": 0.004, "ravel-unfused": 0.006, "ravel-base": 0.008, "cuda": 0.001,
                                 "cuda-library": 0.0002}},
           "moving-average": {10**7: {"ravel-native": 0.002, "ravel-unshared": 0.003}},
           "segmented-sum": {10**7: {"ravel-native": 0.0015, "cuda": 0.002, "cuda-library": 0.0012}}}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def page(self, cpu, gpu):
        found = [papers.Outcome(results(self.folder, f"{name}.json", name, times)) if times else None
                 for name, times in (("cpu", cpu), ("cuda", gpu))]
        page = self.folder / "docs" / "results-papers.md"
        papers.write(papers.Both(*found), page)
        return page.read_text()

    def row(self, text, heading, program):
        """The cells of a program's row in the section of a heading."""
        section = text.split(f"## {heading}\n")[1].split("\n## ")[0]
        line, = (line for line in section.split("\n") if line.startswith(f"| {program} |"))
        return [cell.strip() for cell in line.split("|")[2:-1]]

    def test_without_a_gpu(self):
        """Its columns have dashes, and a sentence says what fills them."""
        text = self.page(self.CPU, None)
        self.assertIn("No GPU has run these programs yet", text)
        self.assertIn("scripts/gpu-check --only peers", text)
        self.assertEqual(self.row(text, "NESL/GPU, Table 1: times", "Quicksort")[:6],
                         ["1,000,000", "200", "20.00", "–", "–", "–"])
        self.assertEqual(self.row(text, "What Ravel may take on a GPU", "Quicksort")[2:],
                         ["–", "–", "–", "3.00", ""])

    def test_table_1(self):
        text = self.page(self.CPU, self.GPU)
        self.assertNotIn("No GPU has run", text)
        self.assertEqual(self.row(text, "NESL/GPU, Table 1: times", "Quicksort"),
                         ["1,000,000", "200", "20.00", "4.00", "1.00", "0.200", "259", "3.1", "230", "2,360", "230"])

    def test_table_2(self):
        self.assertEqual(self.row(self.page(self.CPU, self.GPU), "NESL/GPU, Table 2: what optimising saves", "Quicksort"),
                         ["1,000,000", "400", "0.75", "0.50", "0.25", "1,000,000", "8.00", "0.75", "0.50", "0.92", "0.93"])

    def test_limits(self):
        text = self.page(None, self.GPU)
        self.assertIn("have not been timed on a CPU", text)
        heading = "What Ravel may take on a GPU"
        self.assertEqual(self.row(text, heading, "Quicksort")[4:], ["4.00", "3.00", "**missed**"])
        self.assertEqual(self.row(text, heading, "Sums of rows")[3:], ["1.20", "1.25", "1.50", "met"])

    def test_ablations(self):
        text = self.page(None, self.GPU)
        self.assertRegex(text, r"\*\*15-point moving average\*\*\n(.*\n)+?\| 10,000,000 \| – \| – \| 2\.00 \| – \| 1\.50 \| – \| 8 \|")

    def test_sizes_are_those_of_the_tables(self):
        for name, (n, _) in published.NESL_GPU.items():
            self.assertIn(n, published.SIZES[name], name)
        for name in [*published.ACCELERATE, *published.BARRACUDA_SHARED, *published.BARRACUDA_FUSED]:
            self.assertIn(name, published.SIZES)
        self.assertEqual(set(published.SIZES) - set(collection.load_cases()), set())


TABLE = """# Other

## Switches that await a device

| value | ways | what decides | what was counted |
|---|---|---|---|
| `cuda.window-idle` | 1, 2, 4, 8 | time of bh.10000 and qs.1000000 | 12 launches |
| `cuda.scan-heads` | `1M`, `16M` (never by 3) | `ADD_SCAN` rows | 5 |
| `cuda.window` | 1, 64 | anything | |

## Next

| `cuda.other` | 1, 2 | | |
"""


class Switches(unittest.TestCase):
    def test_the_table(self):
        self.assertEqual(switches.switches(TABLE), [
            ("cuda.window-idle", ["1", "2", "4", "8"], ["bh.10000", "qs.1000000"], []),
            ("cuda.scan-heads", ["1M", "16M"], [], ["ADD_SCAN"]),
            ("cuda.window", ["1", "64"], [], [])])
        self.assertEqual(switches.switches("# Nothing\n"), [])

    def test_that_of_the_document_can_be_read(self):
        switches.switches(switches.TABLE.read_text())

    def test_ways_have_their_turns_side_by_side(self):
        options = type("Options", (), {"backend": "cuda", "seconds": 100, "out": None})()
        turns = []

        def fake(_, name, tuning, __):
            turns.append((name, Path(tuning).read_text()))
            return {name: 1.0}, None
        with contextlib.redirect_stdout(io.StringIO()):
            before, switches.of_program = switches.of_program, fake
            try:
                times, wrong = switches.measure(options, TABLE.replace("`ADD_SCAN` rows", "muladd"))
            finally:
                switches.of_program = before
        self.assertEqual(wrong, {})
        self.assertEqual([t for _, t in turns[:3]], [f"cuda.window-idle {way}\n" for way in (1, 2, 4)])
        self.assertEqual(len(times["cuda.window-idle"]["8"]["bh.10000"]), switches.TURNS)
        self.assertEqual(set(times["cuda.window"]["64"]), set(switches.PROGRAMS))


class ChangeOver(unittest.TestCase):
    TIMES = {"quicksort": {100: {"ravel": 1e-5, "ravel-together": 1e-4, "openmp": 1e-6},
                           1000: {"ravel": 1e-4, "ravel-together": 1e-3, "openmp": 1e-5}}}

    def test_drawing(self):
        """Each way that was timed is a series of decimal logarithms; one that was not is empty."""
        with tempfile.TemporaryDirectory() as folder:
            path = results(folder, "ways.json", "cpu", self.TIMES)
            drawn = change_over.drawing(change_over.Outcome(path), "quicksort")
            for way, points in (("off", [2, 3]), ("always", []), ("auto", [1, 2]), ("OpenMP C", [0, 1])):
                found = re.search(rf'"lines: {way}", \[(.*?)\]\)', drawn)[1]
                numbers = [float(y) for y in re.findall(r", ([-\d.e]+)\)", found)]
                self.assertEqual([round(y, 9) for y in numbers], points, drawn)
            self.assertIn("threads: 1", drawn)
            with self.assertRaisesRegex(collection.BenchError, "no results of primes"):
                change_over.drawing(change_over.Outcome(path), "primes")


class TimeLine(unittest.TestCase):
    @staticmethod
    def event(category, thread, begin, duration):
        return {"name": "F", "cat": category, "ph": "X", "tid": thread, "ts": begin, "dur": duration, "args": {}}

    def bars(self, drawn):
        """(x, y, width, colour) of each bar."""
        return [(float(x), int(y), float(w), colour) for x, y, w, colour in re.findall(
            r"<rect x='([\d.]+)' y='(\d+)' width='([\d.]+)' height='54' fill='(#\w+)'/>", drawn)]

    def test_who_did_what(self):
        """What is executed together is in the lanes of all threads, what native code executes in that of its
        thread; neighbours are joined, and the call that they belong to is not drawn."""
        events = [self.event("superoperator", 1, 0, 1000), self.event("elementwise", 1, 1001, 999),
                  self.event("procedure", 1, 2000, 2000), self.event("instances", 1, 2000, 2000),
                  self.event("instances", 2, 2000, 500), self.event("part of an instance", 2, 3000, 1000)]
        drawn = self.bars(time_line.drawing(events, "T", 0))
        scale = (time_line.WIDTH - time_line.LEFT - time_line.RIGHT) / 4
        colours = {kind: colour for kind, (_, colour) in time_line.KINDS.items()}
        lanes = [time_line.TOP, time_line.TOP + time_line.LANE + time_line.GAP]
        wanted = [("instances", 0, 2, 2), ("instances", 1, 2, 0.5), ("part of an instance", 1, 3, 1),
                  ("together", 0, 0, 2), ("together", 1, 0, 2)]
        self.assertEqual(drawn, [(round(time_line.LEFT + a * scale, 1), lanes[lane], round(d * scale, 1), colours[kind])
                                 for kind, lane, a, d in wanted])

    def test_the_last_milliseconds(self):
        events = [self.event("superoperator", 1, 0, 5000), self.event("instances", 2, 5000, 1000)]
        drawn = time_line.drawing(events, "T", 2)
        half = round((time_line.WIDTH - time_line.LEFT - time_line.RIGHT) / 2, 1)
        self.assertEqual([b[2] for b in self.bars(drawn)], [half, half, half])
        self.assertEqual(re.findall(r">([\d.]+ ms)<", drawn)[-1], "2 ms")
        with self.assertRaisesRegex(collection.BenchError, "nothing was executed"):
            time_line.drawing([], "T", 0)
