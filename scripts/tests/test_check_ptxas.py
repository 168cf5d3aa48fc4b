#!/usr/bin/env python3
"""Tests of scripts/check-ptxas: occupancy against the toolkit's own calculation, what is said of
kernels that take too much, when something is compiled anew. Without a toolkit only some of them."""

import dataclasses
import importlib.machinery
import importlib.util
import itertools
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))
import ptxas


def load_check():
    loader = importlib.machinery.SourceFileLoader("check_ptxas", str(SCRIPTS / "check-ptxas"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_ptxas", loader))
    sys.modules["check_ptxas"] = module  # for dataclasses
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
check = load_check()
MODULE = ptxas.module_units(SCRIPTS.parent / "build")
NVCC = MODULE[0].command[0] if MODULE else ""

# Reads lines of numbers; for each prints the blocks that find room.
CALCULATOR = r"""
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <cuda_occupancy.h>
int main(void) {
  int arch, warps, shared, threads, registers, bytes;
  while (scanf("%d %d %d %d %d %d", &arch, &warps, &shared, &threads, &registers, &bytes) == 6) {
    struct cudaOccDeviceProp p = {0};
    struct cudaOccFuncAttributes f = {0};
    struct cudaOccDeviceState s = {0};
    struct cudaOccResult r;
    p.computeMajor = arch / 10, p.computeMinor = arch % 10;
    p.maxThreadsPerBlock = 1024, p.maxThreadsPerMultiprocessor = 32 * warps;
    p.regsPerBlock = p.regsPerMultiprocessor = 65536, p.warpSize = 32, p.numSms = 1;
    p.sharedMemPerBlock = 48 << 10, p.sharedMemPerMultiprocessor = (size_t)shared;
    p.sharedMemPerBlockOptin = (size_t)shared - 1024, p.reservedSharedMemPerBlock = 1024;
    f.maxThreadsPerBlock = INT_MAX, f.numRegs = registers, f.sharedSizeBytes = (size_t)bytes;
    f.numBlockBarriers = 1;
    s.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
    cudaOccError e = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &p, &f, &s, threads, 0);
    printf("%d\n", e == CUDA_OCC_SUCCESS ? r.activeBlocksPerMultiprocessor : -1);
  }
}
"""


@unittest.skipUnless(NVCC, "no nvcc")
class Occupancy(unittest.TestCase):
    def calculated(self, lines):
        include = Path(NVCC).resolve().parent.parent / "include"
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "calculator.c", Path(folder) / "calculator"
            source.write_text(CALCULATOR)
            subprocess.run(["cc", "-O1", "-isystem", include, "-o", program, source], check=True)
            done = subprocess.run([program], input="\n".join(" ".join(map(str, l)) for l in lines),
                                  capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()]

    def test_it_is_that_of_the_toolkit(self):
        cases = list(itertools.product(check.ARCHITECTURES, (32, 96, 128, 256, 384, 512, 1024),
                                       (4, 24, 32, 33, 40, 48, 64, 65, 80, 96, 128, 168, 255),
                                       (0, 64, 2120, 10272, 25348, 45448, 48 << 10)))
        lines = [(arch, check.ARCHITECTURES[arch][0], check.ARCHITECTURES[arch][2], threads,
                  registers, shared) for arch, threads, registers, shared in cases]
        for (arch, threads, registers, shared), blocks in zip(cases, self.calculated(lines),
                                                              strict=True):
            kernel = ptxas.Kernel("k", registers=registers, shared=shared, threads=threads)
            with self.subTest(arch=arch, kernel=kernel):
                self.assertEqual(check.resident_blocks(kernel, arch), blocks)


class Findings(unittest.TestCase):
    """What is said of a kernel of the class of rank comparisons: 80 registers, 37 %."""

    def said(self, name="kernel_map<compare_body<long, long>, long>", arch=90, **taken):
        kernel = ptxas.Kernel("k", **{"registers": 72, "threads": 256, **taken})
        return list(check.findings(check.Named(kernel, "rank.cu", name, ""), arch))

    def test_nothing_within_the_limits(self):
        self.assertEqual(self.said(), [])
        self.assertEqual(self.said(registers=80), [])

    def test_each_limit_by_itself(self):
        for taken, text in (
                ({"stack": 8}, "8 bytes of local memory a thread, at most 0"),
                ({"spill_loads": 4}, "registers are spilled: 0 bytes of stores and 4 of loads"),
                ({"spill_stores": 4}, "registers are spilled: 4 bytes of stores and 0 of loads"),
                ({"local": 3}, "3 instructions on local memory (LDL, STL), at most 0"),
                ({"registers": 81, "threads": 0}, "81 registers, at most 80 (ranks by comparison)"),
                ({"shared": 40 << 10, "threads": 128}, "occupancy 31 %, at least 37 %"),
                ({"resident": 4}, "3 blocks find room on a multiprocessor, its __launch_bounds__"
                                  " asks for 4")):
            with self.subTest(text=text):
                found = self.said(**taken)
                self.assertEqual(len(found), 1)
                self.assertIn(text, found[0])

    def test_what_is_exempt_is_so_on_one_architecture(self):
        self.addCleanup(setattr, check, "EXEMPTIONS", check.EXEMPTIONS)
        check.EXEMPTIONS = (check.Exemption(120, "compare_body<long", 16, ""),)
        taken = {"stack": 16, "spill_loads": 16, "spill_stores": 16, "local": 8}
        self.assertEqual(self.said(arch=120, **taken), [])
        self.assertEqual(len(self.said(arch=90, **taken)), 3)
        self.assertEqual(self.said(arch=120, **{**taken, "stack": 24}),
                         ["24 bytes of local memory a thread, at most 16"])

    def test_each_name_has_a_limit(self):
        for name in ("kernel_n<map_body<unary_body<rows_of_64::EXP_of_F, plain_operand<double>>>>",
                     "kernel_blocks<reduction<combination<int, ADD>>>", "deliver", "superoperator x"):
            self.assertTrue(check.limit_of(check.Named(None, "", name, "")))


class Names(unittest.TestCase):
    def test_names_as_in_the_source(self):
        text = ("void ravel::kernel_blocks<ravel::(anonymous namespace)::reduction<ravel::combination"
                "<float, (cvl_op)0> > >(ravel::(anonymous namespace)::reduction<ravel::combination"
                "<float, (cvl_op)0> >, long)")
        name = check.readable(text, check.operations())
        self.assertEqual(name, "kernel_blocks<reduction<combination<float, ADD>>>")
        self.assertEqual(check.family_of(name), "kernel_blocks<reduction>")

    def test_names_of_others(self):
        self.assertEqual(check.readable("ravel::(anonymous namespace)::deliver(ravel::x)", []), "deliver")
        text = "void cub::CUB_300001_SM_900::detail::radix_sort::Kernel<cub::x::detail::Y<int> >(int*)"
        self.assertEqual(check.family_of(check.readable(text, [])), "Kernel")

    def test_map_bodies_are_not_the_family(self):
        self.assertEqual(check.family_of("kernel_n<map_body<unary_body<x>>>"), "kernel_n<unary_body>")


SOURCE = """
__global__ void __launch_bounds__(64, 2) fits(int *x) { x[threadIdx.x]++; }
__device__ __noinline__ int behind(int *x, int i) {
  int planted[100];
  for (int k = 0; k < 100; k++) planted[k] = x[k * i];
  return planted[x[i] % 100];
}
__global__ void __launch_bounds__(64) calls(int *x) { x[threadIdx.x] = behind(x, threadIdx.x); }
"""


@unittest.skipUnless(NVCC, "no nvcc")
class Compiling(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.source = self.folder / "planted.cu"
        self.source.write_text(SOURCE)
        self.tools = ptxas.find_tools(NVCC)
        self.unit = ptxas.Unit("planted", [NVCC, str(self.source)], 90)

    def kernels(self):
        ptxas.file_digest.cache_clear()
        return {k.symbol: k for k in ptxas.kernels_of(self.unit, self.tools, self.folder)}

    def test_what_kernels_take(self):
        kernels = self.kernels()
        fits, calls = kernels["_Z4fitsPi"], kernels["_Z5callsPi"]
        self.assertEqual((fits.threads, fits.resident, fits.stack), (64, 2, 0))
        self.assertGreater(fits.registers, 0)
        self.assertGreaterEqual(calls.stack, 400)  # that of the function it calls
        if self.tools.nvdisasm:
            self.assertEqual(fits.local, 0)

    def test_nothing_is_compiled_twice(self):
        first = self.kernels()
        made, ptxas.make_kernels = ptxas.make_kernels, None
        self.addCleanup(setattr, ptxas, "make_kernels", made)
        self.assertEqual(self.kernels(), first)
        self.source.write_text("// a comment\n" + SOURCE.replace("fits(int *x) {", "fits(int *x) { "))
        self.assertEqual(self.kernels(), first)  # the same PTX
        self.source.write_text(SOURCE.replace("64, 2", "64, 3"))
        with self.assertRaises(TypeError):
            self.kernels()

    def test_a_text_is_compiled_once_for_all_checkouts(self):
        self.enterContext(unittest.mock.patch.dict(os.environ, RAVEL_REPORTS=str(self.folder / "kept")))
        self.unit = dataclasses.replace(self.unit, text=SOURCE)
        first = self.kernels()
        made, ptxas.make_kernels = ptxas.make_kernels, None
        self.addCleanup(setattr, ptxas, "make_kernels", made)
        for made_here in self.folder.glob("planted-90.*"):
            made_here.unlink()  # in another checkout there is none
        self.assertEqual(self.kernels(), first)
        for other in ({"text": SOURCE + "\n"}, {"arch": 80}, {"command": [*self.unit.command, "-O1"]}):
            unit, self.unit = self.unit, dataclasses.replace(self.unit, **other)
            with self.assertRaises(TypeError):
                self.kernels()
            self.unit = unit

    def test_other_architectures_and_refusals(self):
        self.kernels()
        self.unit = dataclasses.replace(self.unit, arch=80)
        self.assertEqual(len(self.kernels()), 2)
        self.source.write_text(SOURCE + "no CUDA")
        with self.assertRaisesRegex(ptxas.Failure, "error"):
            self.kernels()


if __name__ == "__main__":
    if not NVCC:
        print("SKIPPED (no nvcc) compiling by ptxas")
    unittest.main()
