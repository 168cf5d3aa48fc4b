#!/usr/bin/env python3
"""Tests of scripts/purposes.py: the first comment of each kind of file."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from purposes import first_comment, has_purpose, purpose


class Purposes(unittest.TestCase):
    def test_first_comments(self):
        for text in ("/* x.c - sorts\n * rows. */\nint x;\n", "// x.c - sorts\n// rows.\n#include <x>\n",
                     '#!/usr/bin/env python3\n"""x.c - sorts\nrows.\n\nMore."""\n', "#!/bin/sh\n# x.c - sorts\n# rows.\nset -e\n",
                     "% x.c - sorts\n  rows. %\n\nfunction x(y) = y;\n"):
            self.assertEqual(first_comment(text), "x.c - sorts rows.")
        for text in ("", "int x; /* of x */\n", "#include <x>\n", "import re\n"):
            self.assertEqual(first_comment(text), "")

    def test_of_this_checkout(self):
        self.assertEqual(purpose("scripts/purposes.py"),
                         "What each file of a folder is for: the first sentence of its first comment.")
        self.assertTrue(has_purpose("ir/ir.h") and has_purpose("scripts/build"))
        self.assertFalse(has_purpose("ir/CMakeLists.txt"))


if __name__ == "__main__":
    unittest.main()
