"""Superoperators compiled ahead of time: fcodeopt --emit-cuda, a compiler, vinterp --kernels.

    kernels_command.py FCODEOPT VINTERP-TESTS C++-COMPILER
"""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

from support import SUM_OF_PRODUCTS, TRIPLES, ScratchTest

FCODEOPT, VINTERP, COMPILER = (str(Path(p).resolve()) for p in sys.argv[1:4])
PROGRAM = "FUNC MAIN\nCONST INT 1000\n" + TRIPLES + """COPY 1 0
* INT
COPY 1 0
- INT
CONST INT 1
COPY 1 2
DIST INT
+ INT
""" + SUM_OF_PRODUCTS


class Kernels(ScratchTest):
    def setUp(self):
        super().setUp()
        self.write(PROGRAM, "prog.vcode")
        self.command(FCODEOPT, "--emit-cuda", "prog.cu", "prog.vcode")
        self.command(COMPILER, "-std=c++17", "-shared", "-fPIC", "-O1", "-ffp-contract=off",
                     "-x", "c++", "-o", "prog.so", "prog.cu")

    def command(self, *words):
        done = subprocess.run(words, cwd=self.directory, capture_output=True, text=True, check=False,
                              env=dict(os.environ, RAVEL_EMULATION="small=0", CXX=COMPILER,
                                       XDG_CACHE_HOME=str(self.directory)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def launches(self, *options):
        out, err = self.command(VINTERP, "--backend", "cuda-emu", "--profile=device", *options,
                                "prog.fcode")
        self.assertEqual(re.findall(r"\d+", out), ["1000"])
        return int(re.search(r"launches (\d+)", err)[1]), err

    def test_kernels_are_found(self):
        without, _ = self.launches()
        with_kernels, err = self.launches("--kernels", "prog.so")
        self.assertLess(with_kernels, without)
        self.assertNotIn("not used", err)

    def test_a_short_program_has_its_kernels_at_its_second_run(self):
        with_kernels, _ = self.launches("--kernels", "prog.so")
        self.launches("--native")
        self.assertEqual(self.launches("--native")[0], with_kernels)

    def test_what_cannot_be_used_is_said(self):
        without, _ = self.launches()
        for name, reason in (("nothing.so", "it cannot be read"), ("prog.cu", "")):
            launches, err = self.launches("--kernels", name)
            self.assertEqual(launches, without)
            self.assertIn(f"the kernels in {name} are not used: {reason}", err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
