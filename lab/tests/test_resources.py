"""Occupancy against the toolkit's own calculation, what is said of kernels that take too much, what
machine code says against what ptxas prints. Without a toolkit only some of them."""

import dataclasses
import itertools
import re
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import ptxas
import resources as check
from interpreted import BUILD

MODULE = ptxas.module_units(BUILD)
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
        return list(check.findings(check.Named(kernel, "rank.cu", name), arch))

    def test_nothing_within_the_limits(self):
        self.assertEqual(self.said(), [])
        self.assertEqual(self.said(registers=80), [])

    def test_each_limit_by_itself(self):
        for taken, text in (
                ({"stack": 8}, "8 bytes of local memory a thread, at most 0"),
                ({"registers": 81, "threads": 0}, "81 registers, at most 80 (ranks by comparison)"),
                ({"shared": 40 << 10, "threads": 128}, "occupancy 31 %, at least 37 %"),
                ({"resident": 4}, "3 blocks find room on a multiprocessor, its __launch_bounds__"
                                  " asks for 4")):
            with self.subTest(text=text):
                found = self.said(**taken)
                self.assertEqual(len(found), 1)
                self.assertIn(text, found[0])

    def test_what_is_exempt_is_so_on_one_architecture(self):
        exemptions = (check.Exemption(120, "compare_body<long", 16, ""),)
        with unittest.mock.patch.object(check, "EXEMPTIONS", exemptions):
            self.assertEqual(self.said(arch=120, stack=16), [])
            self.assertEqual(len(self.said(arch=90, stack=16)), 1)
            self.assertEqual(self.said(arch=120, stack=24), ["24 bytes of local memory a thread, at most 16"])

    def test_each_name_has_a_limit(self):
        for name in ("kernel_n<map_body<unary_body<rows_of_64::EXP_of_F, plain_operand<double>>>>",
                     "kernel_blocks<reduction<combination<int, ADD>>>", "deliver"):
            self.assertIsNot(check.limit_of(check.Named(None, "", name)), check.NO_LIMIT)
        self.assertIs(check.limit_of(check.Named(None, "", "unknown")), check.NO_LIMIT)


class Names(unittest.TestCase):
    def test_names_as_in_the_source(self):
        text = ("void ravel::kernel_blocks<ravel::(anonymous namespace)::reduction<ravel::combination"
                "<float, (cvl_op)0> > >(ravel::(anonymous namespace)::reduction<ravel::combination"
                "<float, (cvl_op)0> >, long)")
        name = check.readable(text, check.operations())
        self.assertEqual(name, "kernel_blocks<reduction<combination<float, ADD>>>")
        self.assertEqual(check.family(name), "kernel_blocks<reduction>")

    def test_names_of_others(self):
        self.assertEqual(check.readable("ravel::(anonymous namespace)::deliver(ravel::x)", []), "deliver")
        text = "void cub::CUB_300001_SM_900::detail::radix_sort::Kernel<cub::x::detail::Y<int> >(int*)"
        self.assertEqual(check.family(check.readable(text, [])), "Kernel")


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
        self.unit = ptxas.Unit("planted", [NVCC, str(self.source)], 90)

    def kernels(self):
        return {k.symbol: k for k in ptxas.kernels_of(self.unit)}

    def printed(self):
        """Registers by symbol, as ptxas prints them."""
        done = subprocess.run([NVCC, "-cubin", "-Xptxas", "-v", "-arch=sm_90", "-o", self.folder / "x.cubin",
                               self.source], capture_output=True, text=True, check=True)
        return {symbol: int(number) for symbol, number in
                re.findall(r"entry function '(\w+)'.*?Used (\d+) registers", done.stderr, re.DOTALL)}

    def test_what_kernels_take(self):
        kernels = self.kernels()
        fits, calls = kernels["_Z4fitsPi"], kernels["_Z5callsPi"]
        self.assertEqual((fits.threads, fits.resident, fits.stack), (64, 2, 0))
        self.assertGreaterEqual(calls.stack, 400)  # that of the function it calls
        self.assertEqual({symbol: kernel.registers for symbol, kernel in kernels.items()}, self.printed())

    def test_a_kernel_with_a_stack_is_refused(self):
        all_named, wrong = check.judged(self.unit)
        self.assertEqual(len(all_named), 2)
        self.assertTrue(any("bytes of local memory a thread, at most 0" in text for text in wrong), wrong)

    def test_other_architectures_and_refusals(self):
        self.unit = dataclasses.replace(self.unit, arch=80)
        self.assertEqual(len(self.kernels()), 2)
        self.source.write_text(SOURCE + "no CUDA")
        self.assertIn("error", check.judged(self.unit)[1][0])


if not NVCC:
    print("SKIPPED (no nvcc) compiling by ptxas")
