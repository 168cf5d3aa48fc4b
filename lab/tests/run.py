#!/usr/bin/env python3
"""Runs the tests of the laboratory. Without nvcc some are left out, and a line says so."""

import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent

if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    unittest.main(module=None, argv=["run.py", "discover", "-s", str(HERE), *sys.argv[1:]])
