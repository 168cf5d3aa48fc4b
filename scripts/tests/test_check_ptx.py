#!/usr/bin/env python3
"""Tests of scripts/check-ptx: which kernels are of one template, which instructions are mutated, how a
run is said to a person, and when one has noticed. Needs no module."""

import argparse
import contextlib
import importlib.machinery
import importlib.util
import io
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent


def load_check():
    loader = importlib.machinery.SourceFileLoader("check_ptx", str(SCRIPTS / "check-ptx"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_ptx", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))
check = load_check()


def run_options(seed="1", shard=(1, 1)):
    return argparse.Namespace(seed=seed, whole=False, only=None, choices=False, unchecked=True, shard=shard,
                              measures=True)


def kernel_of(*texts):
    kernel = check.Kernel()
    for number, text in enumerate(texts):
        kernel.add(("k", str(number), "7", "1", "0" if "never" in text else "32", "0", "0", text))
    return kernel


class Mutations(unittest.TestCase):
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
            self.assertEqual(check.family(name), expected)

    def test_instructions(self):
        kernel = kernel_of("add.s32 %r1, %r2, 1", "bar.sync 0", "@%p1 membar.sys",
                           "shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1", "bar.warp.sync -1",
                           "bar.sync 0 // never")
        found = [(m.how, m.number) for m in check.mutations_of("k", kernel)]
        self.assertEqual(found, [("drop", 1), ("drop", 2), ("narrow", 3), ("drop", 4), ("narrow", 4)])

    def test_variables(self):
        self.assertEqual(check.variables("late,seed=3,grid=2"),
                         {"RAVEL_CUDA_SMALL": "0", "RAVEL_CUDA_BLOCKS": "2", "RAVEL_PTX": "late,seed=3"})
        self.assertEqual(check.variables("late", "file")["RAVEL_PTX"], "late,coverage=file")
        self.assertEqual(check.variables("small=16,late")["RAVEL_CUDA_SMALL"], "16")

    def test_branches_are_executed_by_those_that_do_not_take_them(self):
        kernel = check.Kernel()
        kernel.add(("k", "0", "7", "3", "0", "0", "0", "@%p1 bra L"))
        kernel.add(("k", "1", "8", "3", "0", "0", "0", "@%p1 ld.global.u32 %r1, [%rd1]"))
        self.assertEqual(kernel.missed(), [1])

    def test_kernels_of_one_name_are_apart(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, text in enumerate(("add.s32", "sub.s32", "add.s32")):
                Path(folder, str(number)).write_text(f"k\t0\t7\t1\t{number}\t0\t0\t{text} %r1, %r2, 1\n")
            found = check.read_coverage(folder)
        self.assertEqual([kernel.executed[0] for kernel in found.values()], [0 + 2, 1])

    def test_divisions_of_wide_integers(self):
        kernel = kernel_of("setp.ne.s64 %p1, %rd1, 0", "@%p1 bra L // never", "div.s64 %rd3, %rd1, %rd2 // never",
                           "bra.uni M // never", "add.s64 %rd3, %rd3, 1", "st.global.u64 [%rd4], %rd3 // never")
        kernel.executed[1] = kernel.executed[3] = 0  # branches that nobody comes to
        self.assertEqual((kernel.missed(), kernel.wide_divisions()), ([1, 2, 3, 5], [1, 2, 3]))
        self.assertAlmostEqual(kernel.share(but=3), 2 / 3)

    def test_long_programs(self):
        options = argparse.Namespace(weak=None, only=None, every=True, choices=False, unchecked=False, seed="1")
        chosen = sum(len(values) for _, _, values in check.LONG_CHOICES) + check.LOOKING_BACK[2]
        runs = list(check.long_runs(options))
        self.assertEqual(len(runs), (len(check.LONG) * len(check.LONG_RUNS) + chosen) * 2)
        self.assertIn("look-back", check.LONG)
        options.choices = True
        only = list(check.long_runs(options))
        self.assertEqual(len(only), chosen * 2)
        self.assertTrue(all("choice=" in run.args[2] for run in only))

    def test_choices_only(self):
        options = argparse.Namespace(weak=None, only=None, every=True, choices=True, unchecked=True, seed="1")
        self.assertTrue(all("choice=" in run[3] for run in check.runs_of(options)))
        self.assertEqual(check.given("late,grid=1,choice=cuda.reduce-kernel:3"),
                         "RAVEL_CUDA_SMALL=0 RAVEL_CUDA_BLOCKS=1 RAVEL_PTX=late choice=cuda.reduce-kernel:3")

    def test_shards_are_all_runs(self):
        self.assertEqual(check.shard_of("2/3"), (2, 3))
        for wrong in ("0/3", "4/3", "1", "a/b", "-1/3"):
            self.assertRaises(argparse.ArgumentTypeError, check.shard_of, wrong)
        with tempfile.TemporaryDirectory() as folder:
            shards = [check.Runs(run_options(shard=(k, 3)), folder) for k in (1, 2, 3)]
            self.assertEqual(sum(runs.is_mine(n) for n in range(10) for runs in shards), 10)

    def test_what_is_kept_is_not_repeated(self):
        done = []

        def once(coverage):
            done.append(coverage)
            coverage.write_text("_Zk\t0\t7\t1\t32\t0\t0\tadd.s32 %r1, %r2, 1\n")
            return 5, None

        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                check.Runs(run_options(), folder).do(3, "ADD.INT", once)
            self.assertEqual(len(done), 1)
            self.assertEqual(check.read_coverage(folder)["_Zk"].executed[0], 32)
            self.assertRaises(SystemExit, check.Runs, run_options(seed="2"), folder)

    def test_failures_are_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                _, text = check.Runs(run_options(), folder).do(3, "ADD.INT", lambda coverage: (0, "FAIL"))
                self.assertEqual(text, "FAIL")

    def test_missed_instructions_are_printed(self):
        kernel = kernel_of("add.s32 %r1, %r2, 1", "sub.s32 %r1, %r2, 1 // never", "mul.lo.s32 %r1, %r2, 1")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            check.print_missed({"_Zk": kernel, "_Zother": kernel_of("ret")}, "")
        self.assertEqual([line.split()[0] for line in out.getvalue().splitlines()], ["_Zk:", "32", "never", "32"])

    def test_kernels_of_a_module(self):
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder, "module.so")
            module.write_bytes(b"\0_Z20__device_stub__Z1kivPi\0_ZZL19__device_stub__Z1jvPiE5__tmp\0_Z3foov")
            with unittest.mock.patch.object(check, "MODULE", module):
                self.assertEqual(check.kernels_of_module(), {"_Z1kiv", "_Z1jv"})

    def test_notices(self):
        for program, seconds, noticed in (
            ("print('conformance: cuda-ptx, 5 cases, 0 failures')", 60, False),
            ("print('conformance: cuda-ptx, 5 cases, 1 failures')", 60, True),
            ("import time; print('a race', flush=True); time.sleep(60)", 60, True),
            ("import time; time.sleep(60)", 0.5, True),
            ("raise SystemExit(1)", 60, True),
        ):
            self.assertEqual(check.first_notice([sys.executable, "-c", program], "late", seconds), noticed)


if __name__ == "__main__":
    unittest.main()
