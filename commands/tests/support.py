"""What tests of the commands share: a directory of their own, and programs."""

import os
import tempfile
import unittest

EVERY = int(os.environ.get("RAVEL_EVERY", 1))  # each how many-th case of a long test is run

# On a length: 3 k for every k below it, and the descriptor underneath.
TRIPLES = """MAKE_SEGDES
CONST INT 0
CONST INT 3
COPY 1 2
INDEX
"""
# After that: the sum of x * x for every x, without the descriptor.
SUM_OF_PRODUCTS = """COPY 1 0
* INT
COPY 1 1
+_REDUCE INT
POP 1 1
RET
"""
# The sum of (3 k) * (3 k) for k below 1,000: one superoperator once it is optimised.
SUM_OF_SQUARES = "FUNC MAIN\nCONST INT 1000\n" + TRIPLES + SUM_OF_PRODUCTS
SUM_OF_SQUARES_RESULT = f"( {sum((3 * k) ** 2 for k in range(1000))} )\n"


class ScratchTest(unittest.TestCase):
    """Each test has an empty directory, `directory`, which is removed behind it."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, text, name):
        """A file of these characters of Latin-1, or bytes; its name."""
        data = text if isinstance(text, bytes) else text.encode("latin-1")
        with open(self.path(name), "wb") as file:
            file.write(data)
        return name

    def text(self, name):
        with open(self.path(name), encoding="latin-1") as file:
            return file.read()

    def exists(self, name):
        return os.path.exists(self.path(name))
