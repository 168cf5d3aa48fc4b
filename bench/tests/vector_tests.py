"""Tests of the claims of vector code: that they are found, and that false ones fail."""

import tempfile
import unittest
import unittest.mock
from pathlib import Path

import case  # noqa: F401  (first: it finds a python that has numpy)
import collection
import hardware
import systems
import vectorised

HEAD = '''#include "baseline.h"
void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const real *x = arguments[0].as.r;
  real *y = result(results, 0, ARRAY_REAL, n)->as.r;
'''


@unittest.skipUnless(vectorised.HERE, "it is looked for in x86-64 only")
class Claims(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name) / "made-up.c"

    def complaints(self, text):
        self.source.write_text(HEAD + text + "\n}\n")
        code = vectorised.disassembled(self.source, "64", "x86-64-v3")
        return [vectorised.complaint(claim, code, 64) for claim in vectorised.claims(self.source)]

    def test_loop_of_vectors(self):
        self.assertEqual(self.complaints("/* vector: real */\n#pragma omp parallel for simd\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;"), [None])

    def test_false_claims(self):
        """Another loop's vectors do not count."""
        self.assertEqual(self.complaints(
            "  for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;\n"
            "  /* vector: real */\n"
            "  for (int64_t i = 1; i < n; i++) {\n    y[i] = y[i - 1] * x[i];\n  }"),
            ["no vectors of reals"])

    def test_other_elements(self):
        self.assertEqual(self.complaints("/* vector: integer */\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;"),
                         ["no vectors of integers"])

    def test_functions(self):
        self.assertEqual(self.complaints("/* vector: real, exp */\n"
                                         "  for (int64_t i = 0; i < n; i++) y[i] = x[i] + 1;"),
                         ["no exp of libmvec"])

    def test_nothing_claimed(self):
        self.source.write_text(HEAD)
        with self.assertRaises(collection.BenchError):
            vectorised.claims(self.source)
        self.source.write_text(HEAD + "/* scalar: it is short */\n}\n")
        self.assertEqual([c.kind for c in vectorised.claims(self.source)], ["scalar"])

    def test_flags_are_needed(self):
        """Without one of them gcc 12 makes no vectors of Mandelbrot's loop for AVX2."""
        def without(*words):
            return [f for f in flags(*words) if f != "-fno-trapping-math"]
        flags, source = systems.standard_flags, collection.BASELINES / "mandelbrot.c"
        claim, = vectorised.claims(source)
        for chosen, wanted in ((flags, None), (without, "no vectors of reals")):
            with unittest.mock.patch.object(vectorised, "standard_flags", chosen):
                code = vectorised.disassembled(source, "64", "x86-64-v3")
            self.assertEqual(vectorised.complaint(claim, code, 64), wanted)


class Processors(unittest.TestCase):
    def test_vectors(self):
        for abilities, wanted in (("sse2 avx avx2 fma", ("AVX2", 32)), ("asimd sve", ("Advanced SIMD", 16)),
                                  ("sse2 avx2 fma avx512f", ("AVX2", 32)),
                                  ("avx2 fma avx512f avx512bw avx512dq avx512vl", ("AVX-512", 64))):
            found = hardware.vectors(abilities)
            self.assertEqual((found["name"], found["bytes"]), wanted)
        self.assertIsNone(hardware.vectors("fpu"))
