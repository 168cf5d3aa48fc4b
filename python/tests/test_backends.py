"""A GPU that is not used, and why: a warning, once. The emulated one stands for it, as the module cuda."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EMULATED = ROOT / "build" / "lib" / "ravel-tests" / "cvl-cuda-emu.so"
SUMS = """
import ravel as rv
for threads in (1, 2):  # a context for each
    with rv.options(threads=threads):
        print([rv.eval("sum({rem(x, 2) : x in index(n)})", n=n) for n in (10, %d, 100)])
"""


@unittest.skipUnless(EMULATED.exists(), "the emulated GPU is not built")
class Unused(unittest.TestCase):
    def ran(self, emulation, largest):
        """What is written to standard error, line by line."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(EMULATED, Path(folder, "cvl-cuda.so"))
            done = subprocess.run(
                [sys.executable, "-c", SUMS % largest], capture_output=True, text=True, check=False,
                env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "RAVEL_BACKENDS": folder,
                     "RAVEL_EMULATION": emulation})
        want = str([n // 2 for n in (10, largest, 100)]) + "\n"
        self.assertEqual((done.returncode, done.stdout), (0, 2 * want), done.stderr)
        return [line for line in done.stderr.splitlines() if "Warning: " in line]

    def test_no_device(self):
        [said] = self.ran("no such option", 1000)
        self.assertIn("RuntimeWarning: there is a GPU that is not used: the back end cuda-emu cannot be had: ", said)

    def test_one_that_cannot_be_opened(self):
        """When that is worth it; not before."""
        self.assertEqual(self.ran("fail=1", 1000), [])
        said = self.ran("fail=1", 5_000_000)
        self.assertIn("RuntimeWarning: the GPU is not used: ", said[0])

    def test_one_that_is_used(self):
        self.assertEqual(self.ran("", 5_000_000), [])


if __name__ == "__main__":
    unittest.main()
