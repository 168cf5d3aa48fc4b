#!/usr/bin/env python3
"""Tests of the compiler that finds what another checkout has compiled (cached-compiler)."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

WRAPPER = Path(__file__).resolve().parent / "cached-compiler"
TEXT = 'const char a_[] = "{}", b_[] = "{}", again_[] = "{}";\n'


class CachedCompiler(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def checkout(self, name):
        """A copy of the wrapper, as another checkout has it: the folder for PATH."""
        folder = self.folder / name / "cached"
        folder.mkdir(parents=True)
        shutil.copy(WRAPPER, folder.parent)
        (folder / "cc").symlink_to("../cached-compiler")
        return folder

    def compiled(self, checkout, names):
        """The names in what is made of a text with them, and whether the cache had it."""
        log = self.folder / "log"
        log.unlink(missing_ok=True)
        environment = {**os.environ, "PATH": f"{checkout}:{os.environ['PATH']}", "CCACHE_LOGFILE": str(log),
                       "CCACHE_DIR": str(self.folder / "ccache")}
        subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", "object"], env=environment, check=True,
                       cwd=self.folder, input=TEXT.format(*names, names[0]), text=True)
        code = (self.folder / "object").read_bytes()
        return [code.count(name.encode()) for name in names], "Result: direct_cache_hit" in log.read_text()

    @unittest.skipUnless(shutil.which("ccache"), "no ccache")
    def test_names_are_no_part_of_the_key(self):
        """Two names of a text stay two, and other names find the same code."""
        first = [f"ravel-{digit * 64}.so" for digit in "ab"]
        second = [f"ravel-{digit * 64}.so" for digit in "cd"]
        self.assertEqual(self.compiled(self.checkout("one"), first), ([2, 1], False))
        self.assertEqual(self.compiled(self.checkout("two"), second), ([2, 1], True))


if __name__ == "__main__":
    sys.exit(unittest.main())
