"""Which C compiler compiles calls, what `rv.info` says of it, and what is compiled without a question."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CC = shutil.which("cc")
PACKAGE = Path(__file__).resolve().parent.parent
# Calls a recursive function until it has been compiled, or for so many seconds.
OFTEN = """
import os, time
import ravel as rv
{options}
module = rv.define('''
function halves(v) = if #v < 2 then sum(v) else
  let h = #v / 2 in sum({{halves(w) : w in [take(v, h), drop(v, h)]}});''')
def compiled():
    return any(name.endswith(".so") for _, _, names in os.walk(os.environ["XDG_CACHE_HOME"]) for name in names)
until, wanted = time.monotonic() + {seconds}, sum(range(200)) / 4
while time.monotonic() < until and not compiled():
    for _ in range(100):
        assert module.halves([x / 4 for x in range(200)]) == wanted
for _ in range(100):
    assert module.halves([x / 4 for x in range(200)]) == wanted
print(compiled())
"""
FAKE_ZIG = """#!/bin/sh
[ "$1" = cc ] || exit 1
shift
PATH=/usr/bin:/bin
echo run >>"%s"
exec "%s" "$@"
"""


class Compilers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="ravel-compiler-")
        self.addCleanup(folder.cleanup)
        self.here = Path(folder.name)
        self.runs = self.here / "runs"
        for name in "bin", "cache", "packages":
            (self.here / name).mkdir()

    def python(self, program, **environment):
        """What a program prints, and the warnings; without a compiler in PATH."""
        before = {name: value for name, value in os.environ.items() if name != "RAVEL_CC"}
        paths = os.pathsep.join(map(str, (PACKAGE, self.here / "packages")))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False,
            env={**before, "PATH": str(self.here / "bin"), "PYTHONPATH": paths,
                 "XDG_CACHE_HOME": str(self.here / "cache"), **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def info(self, program="print(rv.info())", **environment):
        return self.python("import ravel as rv\n" + program, **environment)[0].splitlines()

    def install_zig(self):
        package = self.here / "packages" / "ziglang"
        package.mkdir()
        (package / "__init__.py").touch()
        (package / "zig").write_text(FAKE_ZIG % (self.runs, CC), encoding="ascii")
        (package / "zig").chmod(0o755)
        return package / "zig"

    def compiles(self, options="", seconds=100, **environment):
        out, err = self.python(OFTEN.format(options=options, seconds=seconds), **environment)
        self.assertEqual(err, "")
        return out == "True\n"

    def test_info(self):
        version, values, compiler = self.info()
        self.assertRegex(version, r"^Ravel [0-9.]+, .*libravel\.so")
        self.assertEqual(values, "values: on the CPU")
        self.assertRegex(compiler, r"^C compiler: none; programs run evaluated and flattened\. Install .*ziglang")
        zig = self.install_zig()
        self.assertEqual(self.info()[2], f"C compiler: {zig} cc")
        self.assertEqual(self.info(RAVEL_CC="")[2].split(";")[0], "C compiler: none, since RAVEL_CC is empty")
        (self.here / "bin" / "clang").write_text("#!/bin/sh\n", encoding="ascii")
        (self.here / "bin" / "clang").chmod(0o755)
        self.assertEqual(self.info()[2], f"C compiler: {self.here}/bin/clang")
        self.assertEqual(self.info(RAVEL_CC=f"{zig} cc")[2], f"C compiler: {zig} cc, as RAVEL_CC says")
        self.assertIn("the option compiler is no", self.info(
            "with rv.options(compiler=False): print(rv.info())")[2])

    def test_a_compiler_that_is_not_there(self):
        _, err = self.python("import ravel as rv; rv.eval('1 + 1')", RAVEL_CC="nowhere -x")
        self.assertIn("RuntimeWarning: superoperators are not compiled: RAVEL_CC names 'nowhere', "
                      "which is no program in PATH", err)

    @unittest.skipUnless(CC, "a C compiler is not installed")
    def test_what_is_called_often_is_compiled(self):
        self.assertTrue(self.compiles(PATH=os.environ["PATH"]))

    @unittest.skipUnless(CC, "a C compiler is not installed")
    def test_by_zig(self):
        self.install_zig()
        self.assertTrue(self.compiles())
        self.assertTrue(self.runs.exists())

    @unittest.skipUnless(CC, "a C compiler is not installed")
    def test_not_if_that_is_not_wanted(self):
        self.assertFalse(self.compiles(options="rv.options(compiler=False).__enter__()", seconds=5,
                                       PATH=os.environ["PATH"]))
        self.assertEqual(list((self.here / "cache").iterdir()), [])


if __name__ == "__main__":
    unittest.main()
