#!/usr/bin/env python3
"""Tests of scripts/stage_coverage.py: counters that gcc writes, and what only one stage executes."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import stage_coverage

SOURCE = """
static int below(void) { return 1; }
static int above(void) { return 2; }
static int unused(void) { return 3; }
int main(int n, char **words) { return n > 2 ? unused() : words[1][0] < 'm' ? below() : above(); }
"""


class Counters(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        room = self.root / "room"
        room.mkdir()
        (room / "signs.c").write_text(SOURCE)
        subprocess.run(["gcc", "--coverage", "-O0", "-c", "-o", "signs.o", "signs.c"], cwd=room, check=True)
        subprocess.run(["gcc", "--coverage", "-o", self.root / "signs", "signs.o"], cwd=room, check=True)

    def executed(self, stage, *words):
        """What a run with these words executes."""
        folder = self.root / "counters" / stage
        depth = len(self.root.parts) - 1
        subprocess.run([self.root / "signs", *words], check=False,
                       env={**os.environ, "GCOV_PREFIX": str(folder), "GCOV_PREFIX_STRIP": str(depth)})
        return stage_coverage.executed(folder)

    def test_what_only_one_stage_executes(self):
        stages = {"low": self.executed("low", "a"), "high": self.executed("high", "z"),
                  "again": self.executed("again", "z")}
        rows = {name: (reached, dict(only)) for name, reached, only in stage_coverage.alone(stages)}
        self.assertEqual({source for _, only in rows.values() for source in only}, {"room/signs"})
        self.assertGreater(rows["low"][1]["room/signs"], 0)
        self.assertEqual(rows["high"][1]["room/signs"], 0, "another stage executes the same")
        self.assertEqual(rows["high"][0], rows["again"][0])

    def test_what_is_no_product(self):
        self.assertEqual(stage_coverage.source_of("vcode/CMakeFiles/ravel_vcode.dir/lexer.c.gcda"), "vcode/lexer.c")
        for name in ("vcode/CMakeFiles/test-x.dir/tests/x.c.gcda", "bench/CMakeFiles/bench-ops.dir/ops.c.gcda"):
            self.assertIsNone(stage_coverage.source_of(name))


if __name__ == "__main__":
    unittest.main()
