"""Files that texts of NESL import."""

import atexit
import os
import tempfile
import unittest

import ravel as rv


class Modules(unittest.TestCase):
    def setUp(self):
        # Contexts that begin later execute the same definitions: until the end of all tests.
        scratch = tempfile.TemporaryDirectory()
        atexit.register(scratch.cleanup)
        self.directory = scratch.name

    def file(self, text, name):
        path = os.path.join(self.directory, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_beside_a_file(self):
        self.file("factor = 3.0;\nfunction times(x) = x * factor;\nprint_line(\"no\");\n", "lib/scale.nesl")
        program = self.file('import "lib/scale" as s;\nfunction double_times(x) = 2.0 * s.times(x);\n'
                            "third = s.factor;\n", "prog.nesl")
        loaded = rv.load(program)
        self.assertEqual(loaded.double_times(2.0), 12.0)
        self.assertEqual(loaded.third, 3.0)
        self.assertEqual(rv.eval("s.times(x) + s.factor", x=2.0), 9.0)
        self.assertEqual(list(rv.map("s.times", [1.0, 2.0])), [3.0, 6.0])

    def test_file_that_has_changed(self):
        self.file("function g(x) = x + 1;\n", "lib.nesl")
        beside = os.path.join(self.directory, "main.nesl")
        rv.define('import "lib" as changing;', beside)
        self.assertEqual(rv.eval("changing.g(1)"), 2)
        self.file("function g(x) = x + 10;\n", "lib.nesl")
        rv.define('import "lib" as changing;', beside)
        self.assertEqual(rv.eval("changing.g(1)"), 11)

    def test_what_is_refused(self):
        with self.assertRaisesRegex(rv.Error, "there is no file `nothing_here`|No such file"):
            rv.define('import "nothing_here";')
        self.file("x = 1;\n", "lib.nesl")
        with self.assertRaises(rv.DeniedError):
            rv.define(f'import "{os.path.join(self.directory, "lib")}";')
        broken = self.file("x = 1 + t;\n", "broken.nesl")
        program = self.file('import "broken";\n', "prog.nesl")
        with self.assertRaisesRegex(rv.NeslTypeError, f"{broken}:1:"):
            rv.load(program)
        cycle = self.file('import "cycle" as again;\n', "cycle.nesl")
        with self.assertRaisesRegex(rv.Error, "these files import each other"):
            rv.define('import "cycle";', cycle)


if __name__ == "__main__":
    unittest.main()
