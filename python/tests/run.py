#!/usr/bin/env python3
"""All tests of the package ravel, or those of some files: python/tests/run.py [NAME ...]

What a machine lacks is a line that begins with SKIPPED. RAVEL_LIBRARY names another libravel.
"""

import os
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def load(names):
    loader = unittest.TestLoader()
    if names:
        return loader.loadTestsFromNames(names)
    return loader.discover(str(HERE), pattern="test_*.py", top_level_dir=str(HERE))


def main():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    with tempfile.TemporaryDirectory(prefix="ravel-cache-") as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # compiled code is of this run
        result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(load(sys.argv[1:]))
    for reason in sorted({reason for _, reason in result.skipped}):
        count = sum(1 for _, other in result.skipped if other == reason)
        kind = " (optional)" if reason.endswith("is not installed") else ""
        print(f"SKIPPED{kind} {count} of the tests of the package for Python: {reason}")
    wrong = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - wrong - len(result.skipped)} passed, {wrong} failed")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
