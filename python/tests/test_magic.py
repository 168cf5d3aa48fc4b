"""Cells of NESL in a notebook."""

import importlib
import unittest

import ravel as rv


class Shell:  # pylint: disable=too-few-public-methods
    """As much of IPython's shell as the extension uses."""

    def __init__(self):
        self.user_ns, self.magics = {}, {}
        rv.load_ipython_extension(self)

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function

    def cell(self, line, text):
        return self.magics["cell", "nesl"](line, text)


class Cells(unittest.TestCase):
    def setUp(self):
        self.shell = Shell()

    def test_definitions_and_values(self):
        self.shell.user_ns["rows"] = [[1, 2], [3]]
        found = self.shell.cell("rows", "% a comment; %\nfunction plus_(x) = x + 1;\n"
                                "sums_ = {plus_(sum(r)) : r in rows};\nsum(sums_)\n")
        self.assertEqual((found, self.shell.user_ns["sums_"].to_list()), (8, [4, 4]))
        self.assertEqual(self.shell.cell("", "plus_(1)"), 2)
        self.assertIsNone(self.shell.cell("", "other_ = 1;"))

    def test_functions_of_python(self):
        @rv.function
        def doubled_(x):
            return 2 * x
        self.shell.user_ns["doubled_"] = doubled_
        found = self.shell.cell("doubled_", "function all_of_(v) : [int] -> [int] = {doubled_(x) : x in v};\n"
                                "function plain_(x) = x;\nsum(all_of_([1, 2])) + plain_(doubled_(5))")
        self.assertEqual(found, 16)

    def test_errors(self):
        with self.assertRaisesRegex(NameError, "no variable nothing"):
            self.shell.cell("nothing", "1")
        with self.assertRaisesRegex(rv.NeslTypeError, "<cell>:3:"):
            self.shell.cell("", "function one_(x) = x;\n\nfunction two_(x) = unknown_;")

    def test_drawings(self):
        for text in ("plot([(1, 2.0), (2, 1.0)])", "plot_lines([(1.0, 2)])",
                     "plot_bars([1, 2])", "plot_image([[1, 2], [3, 4]])",
                     'plot_svg("a", [("lines", [(1.0, 2.0)])])'):
            with self.subTest(text):
                self.assertTrue(self.shell.cell("", text)._repr_svg_().startswith("<svg"))

    def test_ipython(self):
        try:
            interactive = importlib.import_module("IPython.core.interactiveshell")
        except ImportError:
            self.skipTest("IPython is not installed")
        shell = interactive.InteractiveShell.instance()
        shell.run_line_magic("load_ext", "ravel")
        shell.user_ns["k_"] = 20
        self.assertEqual(shell.run_cell_magic("nesl", "k_", "1 + 1;\nk_ + 1"), 21)


if __name__ == "__main__":
    unittest.main()
