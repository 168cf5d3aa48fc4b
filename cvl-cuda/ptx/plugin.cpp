/* plugin.cpp - the back end cuda-ptx: the CUDA module, its kernels interpreted. */
#include <stdlib.h>

#include "cvl-cuda/backend.hpp"
#include "cvl-cuda/context.hpp"
#include "cvl-cuda/cuda/stream.hpp"
#include "cvl-cuda/ptx/runtime.hpp"

/* RAVEL_CUDA_SMALL as in cuda/plugin.cpp. */
static cvl_context *open_device(const cvl_options *o, const char **why) {
  static const ravel::interpreter interprets = {ravel::ptx::block_taken,
                                                ravel::ptx::block_returned};
  const char *small = getenv("RAVEL_CUDA_SMALL");
  ravel::stream *s = ravel::cuda_stream(o->device, why, &interprets);
  ravel::context *c = s ? ravel::open_context(s, *o, why) : nullptr;
  if (c && small) c->small = strtoll(small, nullptr, 10);
  return c;
}

extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  static const cvl_backend backend = [] {
    cvl_backend b = ravel::backend_over_streams();
    b.name = "cuda-ptx";
    b.own_memory = true;
    b.doc = "the code for NVIDIA GPUs, interpreted: slow, and checked";
    b.open = open_device;
    b.devices = ravel::cuda_devices;
    return b;
  }();
  return version == CVL_VERSION ? &backend : nullptr;
}
