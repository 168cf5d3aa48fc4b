#!/usr/bin/env python3
"""Tests of scripts/stage_runner.py: what counts as a failure, and what --all leaves out."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import stage_runner as runner


class Judging(unittest.TestCase):
    def outcome(self, status, text, in_ci=False):
        o = runner.judge(status, text, in_ci)
        return o.word, o.passed, o.failed, len(o.skipped)

    def test_counts_of_all_its_commands(self):
        text = "3 passed, 0 failed\nmore\n4 passed, 0 failed, 2 skipped\n"
        self.assertEqual(self.outcome(0, text), ("ok", 7, 0, 0))

    def test_success_without_counts_is_one(self):
        self.assertEqual(self.outcome(0, ""), ("ok", 1, 0, 0))

    def test_a_status_is_a_failure_whatever_was_counted(self):
        self.assertEqual(self.outcome(1, "3 passed, 0 failed\n"), ("FAILED", 3, 1, 0))
        self.assertEqual(self.outcome(-11, ""), ("FAILED", 0, 1, 0))
        self.assertEqual(self.outcome(1, "3 passed, 2 failed\n"), ("FAILED", 3, 2, 0))

    def test_what_setup_cannot_install_is_counted_and_in_ci_fails(self):
        text = "SKIPPED (no nvcc) kernels\n2 passed, 0 failed\n"
        self.assertEqual(self.outcome(0, text), ("ok", 2, 0, 1))
        self.assertEqual(self.outcome(0, text, in_ci=True), ("FAILED", 2, 1, 1))
        self.assertEqual(self.outcome(0, "SKIPPED (no nvcc) kernels\n"), ("SKIPPED", 0, 0, 1))

    def test_what_setup_installs_is_there_or_fails(self):
        for text in ("SKIPPED: no qemu\n", "SKIPPED Open MPI: no mpirun\n", "  SKIPPED (no qemu) x\n"):
            self.assertEqual(self.outcome(0, text + "2 passed, 0 failed\n"), ("FAILED", 2, 1, 1))
            self.assertEqual(self.outcome(0, text), ("FAILED", 0, 1, 1))

    def test_no_gpu_and_what_is_optional_are_no_failures(self):
        text = "SKIPPED (no GPU): fused on cuda\nSKIPPED (optional) x\n2 passed, 0 failed\n"
        self.assertEqual(self.outcome(0, text, in_ci=True), ("ok", 2, 0, 2))


class Running(unittest.TestCase):
    """Stages over a file of our own in a tree of our own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        kept = {name: getattr(runner, name) for name in ("ROOT", "LOGS", "IN_CI")}
        self.addCleanup(lambda: [setattr(runner, n, v) for n, v in kept.items()])
        runner.ROOT, runner.LOGS = self.root, self.root / "build" / "logs"
        runner.IN_CI = False
        (self.root / ".gitignore").write_text("/build/\n")
        (self.root / "data").mkdir()
        (self.root / "data" / "x").write_text("1")
        self.stage = runner.Stage("counts", "echo run >>build/runs; grep -q 1 data/x", "none")

    def go(self, **more):
        """The exit status of a run, and how often the stage has run by then."""
        self.said = io.StringIO()
        with contextlib.redirect_stdout(self.said):
            status = runner.run({}, [self.stage], {"seed": "1"}, **more)
        return status, len((self.root / "build" / "runs").read_text().splitlines())

    def test_a_failure_is_named_at_the_end(self):
        self.assertEqual(self.go(), (0, 1))
        (self.root / "data" / "x").write_text("2")
        self.assertEqual(self.go(), (1, 2))
        self.assertIn("FAILED: counts", self.said.getvalue())

    def test_values_and_parts_are_filled_in(self):
        stage = runner.Stage("s", "try --seed 0x{seed} --shard {shard} --count {300} --least {3}")
        values = {"seed": "2a", "shard": "3/10", "parts": "10"}
        self.assertEqual(runner.command_of(stage, values), "try --seed 0x2a --shard 3/10 --count 30 --least 1")
        self.assertEqual(runner.command_of(runner.Stage("s", "try {300}"), {}), "try 300")

    def test_what_is_missing_counts_and_fails_in_ci(self):
        status, _ = self.go(lacking=lambda: ["(no nvcc) a module"])
        self.assertEqual(status, 0)
        self.assertIn("1 passed, 0 failed, 1 skipped", self.said.getvalue())
        runner.IN_CI = True
        status, _ = self.go(lacking=lambda: ["(no nvcc) a module"])
        self.assertEqual(status, 1)

    def test_what_setup_installs_may_not_be_missing(self):
        status, _ = self.go(lacking=lambda: ["g++: build/ was configured without it"])
        self.assertEqual(status, 1)
        self.assertIn("1 passed, 1 failed, 1 skipped", self.said.getvalue())

    def test_a_build_without_its_tools_skips_its_stages_and_fails(self):
        builds = {"none": runner.Build("true", ("no-such-compiler",))}
        (self.root / "build").mkdir()
        (self.root / "build" / "runs").write_text("")
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(runner.run(builds, [self.stage], {"seed": "1"}), 1)
        self.assertIn("SKIPPED 1 stages: no no-such-compiler", said.getvalue())
        self.assertEqual((self.root / "build" / "runs").read_text(), "")

    def test_one_that_waits_runs_beside_two_others(self):
        def waits_for(mine, others):
            found = " && ".join(f"[ -e build/{name} ]" for name in others)
            return f"touch build/{mine}; for k in $(seq 100); do {found} && exit 0; sleep 0.05; done; exit 1"
        stages = [runner.Stage(mine, waits_for(mine, "abc".replace(mine, "")), "none", waits=mine == "c")
                  for mine in "abc"]
        (self.root / "build").mkdir()
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(runner.run({}, stages, {}), 0)


if __name__ == "__main__":
    unittest.main()
