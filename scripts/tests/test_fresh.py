#!/usr/bin/env python3
"""Tests of scripts/fresh: which commands the documents have, and what may be skipped. Makes no root."""

import doctest
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def load_fresh():
    loader = importlib.machinery.SourceFileLoader("fresh", str(SCRIPTS / "fresh"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("fresh", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
fresh = load_fresh()
PAGE = """# A page

Text names `scripts/test --all` and `scripts/testing`, and `pip` alone.

    scripts/run a.nesl       # a comment
    scripts/test
    let x = 1

## Another

`scripts/run a.nesl` again, and `pip install build/*.whl`; `cmake --install` of what, `cmake --install build --prefix DIR`.
"""


class Commands(unittest.TestCase):
    def test_of_a_page(self):
        self.assertEqual(fresh.commands_of(PAGE), ["scripts/test --all", "scripts/run a.nesl", "scripts/test",
                                                   "pip install build/*.whl", "cmake --install build --prefix DIR"])
        self.assertEqual(fresh.commands_of(fresh.section(PAGE, "Another"))[:1], ["scripts/run a.nesl"])

    def test_of_the_documents(self):
        found = fresh.commands()
        self.assertEqual(found[:2], ["scripts/run examples/quicksort.nesl", "scripts/test"])
        for command in ("pip install .", "scripts/package", "apt-get install ./build/packages/*.deb"):
            self.assertIn(command, found)
        self.assertEqual(len(found), len(set(found)))

    def test_steps(self):
        self.assertEqual(list(fresh.steps("scripts/test")), [("scripts/test", True)])
        before, own, after = fresh.steps("pip install .")
        self.assertEqual(("pip install ." in own[0], before[1], own[1], after[1]), (True, False, True, False))
        self.assertIn(("cmake --install build --prefix ~/prefix", True),
                      list(fresh.steps("cmake --install build --prefix DIR")))

    def test_sessions_are_doctests(self):
        for page in ("README.md", "docs/python.md"):
            text, files = fresh.session(page)
            self.assertGreater(len(doctest.DocTestParser().get_examples(text)), 1)
        self.assertIn("geometry.nesl", files)
        self.assertNotIn("import awkward", text)  # what a page says that it needs is not there


class Skipping(unittest.TestCase):
    def test_what_is_not_there(self):
        kinds, wrong = fresh.skipped("SKIPPED (no nvcc) a\n    SKIPPED (no nvcc) b\nSKIPPED (optional) vim\nok\n")
        self.assertEqual((dict(kinds), wrong), ({"no nvcc": 2, "optional": 1}, []))

    def test_stages(self):
        whole, reason = "SKIPPED launches and waits (0 s, 0 s of processors)", "    SKIPPED (no corpus) launches"
        self.assertEqual(fresh.skipped(f"{whole}\n{reason}\nok      words\n")[1], [])
        self.assertEqual(fresh.skipped(f"{whole}\nok      words\n")[1], [whole])
        self.assertEqual(fresh.skipped(f"{whole}\n    SKIPPED: no mpirun\n")[1], [whole, "SKIPPED: no mpirun"])

    def test_what_must_be_there(self):
        for line in ("SKIPPED Open MPI: no mpirun", "SKIPPED (no namespaces) x", "SKIPPED: lintian"):
            self.assertEqual(fresh.skipped(f"  {line}\n")[1], [line])


if __name__ == "__main__":
    unittest.main()
