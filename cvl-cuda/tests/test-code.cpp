/* test-code.cpp - for which GPUs a build has code, by its list of architectures. */
#include <criterion/criterion.h>

#include "cvl-cuda/code.hpp"

using namespace ravel;

namespace {

const char PACKAGE[] = "80-real:90-real:100-real:120-real:75-virtual", USUAL[] = "90";

void expect(const char *list, unsigned architecture, code want) {
  cr_expect_eq((int)code_for(list, architecture), (int)want, "sm_%u of %s", architecture, list);
}

} // namespace

Test(code, machine_code_runs_on_its_generation) {
  for (unsigned a : {80u, 86u, 87u, 89u, 90u, 100u, 103u, 120u, 121u})
    expect(PACKAGE, a, code::MACHINE);
  expect("86-real", 80, code::NONE);
  expect("86-real", 89, code::MACHINE);
  expect(USUAL, 90, code::MACHINE);
}

Test(code, ptx_is_for_all_that_are_not_older) {
  for (unsigned a : {75u, 110u, 130u}) expect(PACKAGE, a, code::PTX);
  for (unsigned a : {60u, 70u, 72u}) expect(PACKAGE, a, code::NONE);
  for (unsigned a : {100u, 120u}) expect(USUAL, a, code::PTX);
  for (unsigned a : {75u, 80u, 86u, 89u}) expect(USUAL, a, code::NONE);
}

Test(code, what_is_for_one_gpu_only) {
  expect("90a", 90, code::MACHINE);
  expect("100f-real", 103, code::NONE);
  expect("all-major", 75, code::MACHINE);
}

Test(code, remarks) {
  cr_expect(code_remark(PACKAGE, 86) == "");
  cr_expect(code_remark(PACKAGE, 75) ==
            "the driver compiles the kernels for sm_75 when they are first used");
  cr_expect(code_remark(USUAL, 89) ==
            "this build has no code for sm_89, only sm_90, PTX for sm_90 and newer; cmake"
            " -DRAVEL_CUDA_ALL=ON makes one for all");
  cr_expect(code_remark(PACKAGE, 70) ==
            "this build has no code for sm_70, only sm_80, sm_90, sm_100, sm_120, PTX for"
            " sm_75 and newer; CUDA 13 knows no GPU before sm_75");
}
