/* plugin.cpp - the module cuda-variants for benchmarks: the back end cuda with the kernels of
 * variants.cu. */
#include "cvl-cuda/cuda/module.hpp"
#include "cvl-cuda/variants/paper.hpp"

static cvl_context *open_device(const cvl_options *o, const char **why) {
  cvl_context *c = ravel::open_on_device(o, why);
  if (c) c->variants = &ravel::paper_kernels;
  return c;
}

extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  static const cvl_backend backend = ravel::module_backend(
      "cuda-variants", "NVIDIA GPUs, with other reductions and scans: for benchmarks",
      open_device);
  return version == CVL_VERSION ? &backend : nullptr;
}
