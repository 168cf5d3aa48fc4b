"""What runs there are, how a device is said, what of kernels is executed. Needs no module."""

import argparse
import contextlib
import io
import random
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import coverage
import interpreted
import suite
import weak


def options(**changes):
    return argparse.Namespace(**{"seed": "1", "only": None, "every": True, "choices": False, "unchecked": False,
                                 "keep": None, **changes})


def kernel_of(*texts):
    kernel = coverage.Kernel()
    for number, text in enumerate(texts):
        kernel.add(("k", str(number), "7", "1", "0" if "never" in text else "32", "0", "0", text))
    return kernel


class Devices(unittest.TestCase):
    def test_variables(self):
        self.assertEqual(interpreted.variables("late,seed=3,grid=2"),
                         {"RAVEL_CUDA_SMALL": "0", "RAVEL_CUDA_BLOCKS": "2", "RAVEL_PTX": "late,seed=3"})
        self.assertEqual(interpreted.variables("late", "file")["RAVEL_PTX"], "late,coverage=file")
        self.assertEqual(interpreted.variables("small=16,late")["RAVEL_CUDA_SMALL"], "16")

    def test_what_is_given(self):
        self.assertEqual(interpreted.given("late,grid=1,choice=cuda.reduce-kernel:3"),
                         "RAVEL_CUDA_SMALL=0 RAVEL_CUDA_BLOCKS=1 RAVEL_PTX=late choice=cuda.reduce-kernel:3")


class Items(unittest.TestCase):
    def said(self, program):
        return interpreted.run_item(["python3", "-c", program], "late", "")

    def test_what_fails(self):
        self.assertEqual(self.said("print('a: 1 items, 5 cases, 0 failures')"), (5, None))
        for wrong in ("print('a: 1 items, 5 cases, 1 failures'); raise SystemExit(1)", "pass", "raise SystemExit(1)"):
            self.assertIn("FAIL RAVEL_CUDA_SMALL=0 RAVEL_PTX=late conformance", self.said(wrong)[1])

    def test_a_program_that_ends_otherwise_fails(self):
        program = interpreted.PROGRAMS["packed"]
        for out, fails in (("( 1 )\n", False), ("( 2 )\n", True), ("", True)):
            with unittest.mock.patch.object(interpreted, "program_output", lambda *_, out=out: out):
                self.assertEqual(bool(interpreted.run_program(program, "( 1 )\n", "late")[1]), fails)


class Runs(unittest.TestCase):
    def test_long_programs(self):
        chosen = sum(len(values) for _, _, values in suite.LONG_CHOICES) + suite.LOOKING_BACK[2]
        runs = list(suite.long_runs(options(), random.Random(1)))
        self.assertEqual(len(runs), (len(interpreted.LONG) * len(suite.LONG_RUNS) + chosen) * 2)
        self.assertIn("look-back", interpreted.LONG)
        only = list(suite.long_runs(options(choices=True), random.Random(1)))
        self.assertEqual(len(only), chosen * 2)
        self.assertTrue(all("choice=" in run.args[2] for run in only))

    def test_choices_only(self):
        runs = list(suite.item_runs(options(choices=True), random.Random(1)))
        self.assertTrue(runs and all("choice=" in run[2] for run in runs))

    def test_a_sample_has_no_choices(self):
        runs = list(suite.item_runs(options(every=False), random.Random(1)))
        self.assertEqual({run[0] for run in runs}, set(suite.SAMPLE))
        self.assertFalse(any("choice=" in run[2] for run in runs))

    def test_seeds_under_weak_memory(self):
        with unittest.mock.patch.object(weak, "program_output", lambda *_: ""):
            usual = list(weak.weak_runs(random.Random(1), None))
            whole = list(weak.weak_runs(random.Random(1), 5))
        self.assertEqual(len(whole), 5 * len(interpreted.PROGRAMS))
        self.assertEqual(len(usual), len(interpreted.PROGRAMS) - 2 + 2 * len(weak.WAITING))
        self.assertTrue(all(",weak," in run.args[2] for run in usual))


class Coverage(unittest.TestCase):
    def test_templates(self):
        for name, expected in (
            ("void ravel::kernel_blocks<ravel::keep>(ravel::keep, long)", "kernel_blocks<keep>"),
            ("void ravel::kernel_blocks<ravel::(anonymous namespace)::reduction<ravel::combination<int,"
             " (cvl_op)0> > >(ravel::(anonymous namespace)::reduction<int>, long)",
             "kernel_blocks<reduction>"),
            ("ravel::(anonymous namespace)::deliver(ravel::(anonymous namespace)::delivery)", "deliver"),
            ("void cub::v::detail::radix_sort::DeviceRadixSortOnesweepKernel<int, 2>(int*)",
             "DeviceRadixSortOnesweepKernel"),
        ):
            self.assertEqual(coverage.family(name), expected)

    def test_branches_are_executed_by_those_that_do_not_take_them(self):
        kernel = coverage.Kernel()
        kernel.add(("k", "0", "7", "3", "0", "0", "0", "@%p1 bra L"))
        kernel.add(("k", "1", "8", "3", "0", "0", "0", "@%p1 ld.global.u32 %r1, [%rd1]"))
        self.assertEqual(kernel.missed(), [1])

    def test_divisions_of_wide_integers(self):
        kernel = kernel_of("setp.ne.s64 %p1, %rd1, 0", "@%p1 bra L // never", "div.s64 %rd3, %rd1, %rd2 // never",
                           "bra.uni M // never", "add.s64 %rd3, %rd3, 1", "st.global.u64 [%rd4], %rd3 // never")
        kernel.executed[1] = kernel.executed[3] = 0  # branches that nobody comes to
        self.assertEqual((kernel.missed(), kernel.wide_divisions()), ([1, 2, 3, 5], [1, 2, 3]))
        self.assertAlmostEqual(kernel.share(), 200 / 3)

    def test_a_kernel_below_its_limit_fails(self):
        kernels = {"_Zlow": kernel_of("add.s32 %r1, %r2, 1", "sub.s32 %r1, %r2, 1 // never"),
                   "_Zfull": kernel_of("ret"), "fused_kernel#1": kernel_of("ret // never")}
        names = {name: name for name in kernels}
        self.assertEqual([text.split(":")[0] for text in coverage.low_kernels(kernels, names)], ["FAIL _Zlow"])
        with unittest.mock.patch.dict(coverage.LESS, {"_Zlow": 50}):
            self.assertEqual(list(coverage.low_kernels(kernels, names)), [])

    def test_what_is_kept_is_not_repeated(self):
        done = []

        def once(coverage):
            done.append(coverage)
            coverage.write_text("_Zk\t0\t7\t1\t32\t0\t0\tadd.s32 %r1, %r2, 1\n")
            return 5, None

        with tempfile.TemporaryDirectory() as folder, \
                unittest.mock.patch.multiple(coverage, MODULE=Path(__file__), CONFORMANCE=Path(__file__),
                                             VINTERP=Path(__file__)):
            for _ in range(2):
                coverage.Runs(options(), folder).do(3, once)
            self.assertEqual(len(done), 1)
            self.assertEqual(coverage.read_coverage(folder)["_Zk"].executed[0], 32)
            self.assertRaises(SystemExit, coverage.Runs, options(seed="2"), folder)
            for _ in range(2):  # what failed is not kept
                self.assertEqual(coverage.Runs(options(), folder).do(4, lambda coverage: (0, "FAIL")), (0, "FAIL"))

    def test_missed_instructions_are_printed(self):
        kernel = kernel_of("add.s32 %r1, %r2, 1", "sub.s32 %r1, %r2, 1 // never", "mul.lo.s32 %r1, %r2, 1")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            coverage.print_missed({"_Zk": kernel, "_Zother": kernel_of("ret")}, {"_Zk": "_Zk", "_Zother": "o"}, "")
        self.assertEqual([line.split()[0] for line in out.getvalue().splitlines()], ["_Zk:", "32", "never", "32"])

    def test_kernels_of_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "module.so")
            module.write_bytes(b"\0_Z20__device_stub__Z1kivPi\0_ZZL19__device_stub__Z1jvPiE5__tmp\0_Z3foov")
            with unittest.mock.patch.object(coverage, "MODULE", module):
                self.assertEqual(coverage.kernels_of_module(), {"_Z1kiv", "_Z1jv"})
                self.assertEqual(list(coverage.idle_templates({"_Z1kiv": None})),
                                 ["FAIL j: 1 instances were not launched"])

