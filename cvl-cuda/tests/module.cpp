/* module.cpp - the emulated GPU as a module, for tests of libravel, which links only the CPU
 * back end. RAVEL_BACKENDS names its folder, build/lib/ravel-tests. */
#include "cvl-cuda/backend.hpp"
#include "cvl-cuda/emulation.h"

extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  return version == CVL_VERSION ? cvl_cuda_emulation_backend() : nullptr;
}
