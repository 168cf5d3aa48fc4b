"""The package is typed: mypy agrees, strictly."""

import importlib.util
import subprocess
import sys
import unittest
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "ravel"


class Typing(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("mypy"), "mypy is not installed")
    def test_mypy(self):
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-incremental",
                               str(PACKAGE)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
