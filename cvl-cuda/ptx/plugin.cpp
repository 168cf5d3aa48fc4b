/* plugin.cpp - the back end cuda-ptx: the CUDA module with interpreted kernels. */
#include "cvl-cuda/cuda/module.hpp"
#include "cvl-cuda/ptx/runtime.hpp"
#include "cvl-cuda/variants/paper.hpp"

static cvl_context *cuda_plugin_open_device(const cvl_options *o, const char **why) {
  static const ravel::interpreter interprets = {ravel::ptx::block_taken,
                                                ravel::ptx::block_returned};
  cvl_context *c = ravel::open_on_device(o, why, &interprets);
  if (c) c->variants = &ravel::paper_kernels;
  return c;
}

extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  static const cvl_backend backend = ravel::module_backend(
      "cuda-ptx", "the code for NVIDIA GPUs, interpreted: slow, and checked",
      cuda_plugin_open_device);
  return version == CVL_VERSION ? &backend : nullptr;
}
