#!/usr/bin/env python3
"""Whether a build folder that was configured on a machine without some packages takes them up once they
are installed, without being asked: what is not found at first is hidden by the environment."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NOWHERE = "/nonexistent"
# Where the CUDA module's own configuration looks for it (cvl-cuda/cuda).
NVCC = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
# Targets that there are with the packages alone that an environment hides.
HIDDEN = {"CXX": ["cvl-cuda-emu", "test-cuda-copies"],
          "PKG_CONFIG_LIBDIR": ["cvl-mpi", "cvl-mpi-mpich", "test-ir"],
          "CUDACXX": ["cvl-cuda"] if NVCC else []}


class BuildFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = Path(folder.name) / "build"
        self.installed = Path(folder.name) / "installed"  # for the list of a package manager
        self.installed.touch()

    def run_without(self, names, *command):
        kept = {name: value for name, value in os.environ.items() if name not in HIDDEN}
        done = subprocess.run([str(word) for word in command], env={**kept, **dict.fromkeys(names, NOWHERE)},
                              text=True, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def configure(self, names):
        self.run_without(names, "cmake", "--preset", "release", "-S", ROOT, "-B", self.build,
                         f"-DRAVEL_INSTALLED={self.installed};{NOWHERE}")

    def make(self, names=()):
        """Makes nothing but what configures the folder again, if anything does; whether it did."""
        return "Re-running CMake" in self.run_without(names, "cmake", "--build", self.build,
                                                      "--target", "build.ninja")

    def expect(self, *, lacking):
        targets = self.run_without((), "ninja", "-C", self.build, "-t", "targets", "all")
        there = set(re.findall(r"^([\w-]+): phony$", targets, re.MULTILINE))
        for name, wanted in HIDDEN.items():
            for target in wanted:
                self.assertEqual(target in there, name not in lacking, target)

    def test_what_is_installed_later_is_taken_up(self):
        self.configure(HIDDEN)
        self.expect(lacking=HIDDEN)
        self.assertFalse(self.make(HIDDEN))  # nothing was installed: the folder is as new as it can be
        self.installed.touch()
        self.assertTrue(self.make(["CUDACXX"]))
        self.expect(lacking=["CUDACXX"])
        self.assertFalse(self.make())
        self.installed.touch()
        self.assertTrue(self.make())
        self.expect(lacking=[])

    def test_a_list_of_the_future_is_no_reason(self):
        os.utime(self.installed, (4e9, 4e9))
        self.configure([])
        self.assertFalse(self.make())


if __name__ == "__main__":
    unittest.main()
