/* plugin.cpp - what programs find in the module: the table over the GPUs of this machine. */
#include <stdlib.h>

#include "cvl-cuda/backend.hpp"
#include "cvl-cuda/context.hpp"
#include "cvl-cuda/cuda/stream.hpp"

/* RAVEL_CUDA_SMALL is for tests, as in the emulation (emulation/options.hpp): 0 leaves the host
 * nothing that has elements. */
static cvl_context *open_device(const cvl_options *o, const char **why) {
  const char *small = getenv("RAVEL_CUDA_SMALL");
  ravel::stream *s = ravel::cuda_stream(o->device, why);
  ravel::context *c = s ? ravel::open_context(s, *o, why) : nullptr;
  if (c && small) c->small = strtoll(small, nullptr, 10);
  return c;
}

/* The back end, or null to programs of another version of the contract. */
extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  static const cvl_backend backend = [] {
    cvl_backend b = ravel::backend_over_streams();
    b.name = "cuda";
    b.own_memory = true;
    b.doc = "NVIDIA GPUs";
    b.open = open_device;
    b.devices = ravel::cuda_devices;
    return b;
  }();
  return version == CVL_VERSION ? &backend : nullptr;
}
