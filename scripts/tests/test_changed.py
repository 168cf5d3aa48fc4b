#!/usr/bin/env python3
"""Tests of scripts/changed.py: which rooms a change concerns, and that each has something to run."""

import contextlib
import io
import subprocess
import sys
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import changed
from stage_runner import ROOT


class Rooms(unittest.TestCase):
    def test_a_room_and_what_tests_it(self):
        self.assertEqual(changed.rooms_of(["base/arena.c", "cvl-cpu/pool.c", "README.md"]),
                         ["base", "cvl-cpu", "vcode"])

    def test_commands_name_files_that_exist(self):
        for room, commands in changed.RUNS.items():
            self.assertTrue((ROOT / room).is_dir(), room)
            for command in commands:
                for word in command.split():
                    if word.endswith(".py"):
                        self.assertTrue((ROOT / word).exists(), command)

    def test_a_folder_without_tests_is_named(self):
        said = io.StringIO()
        with mock.patch.object(changed, "unit_tests", return_value=([], [])), contextlib.redirect_stdout(said):
            self.assertEqual(list(changed.stages(["packaging"], "")), [])
        self.assertIn("packaging/ has no tests", said.getvalue())


class Files(unittest.TestCase):
    def test_a_file_that_git_does_not_know(self):
        known = subprocess.run(["git", "rev-parse", "--git-dir"], cwd=ROOT, capture_output=True, check=False)
        if known.returncode:
            self.skipTest("no git")
        new = ROOT / "scripts" / "tests" / "new-file-of-a-test"
        new.write_text("")
        self.addCleanup(new.unlink)
        self.assertIn("scripts/tests/new-file-of-a-test", changed.changed_files("HEAD"))


if __name__ == "__main__":
    unittest.main()
