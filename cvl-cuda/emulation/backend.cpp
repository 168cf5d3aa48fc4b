/* backend.cpp - the contract's table over the emulated device. */
#include "cvl-cuda/backend.hpp"

#include <stdio.h>

#include "cvl-cuda/emulation.h"
#include "cvl-cuda/emulation/failing.hpp"
#include "cvl-cuda/emulation/stream.hpp"
#include "cvl-cuda/variants/paper.hpp"

static cvl_context *open_emulation(const cvl_options *o, const char **why) {
  ravel::emulation_options how;
  *why = how.from_environment();
  if (*why) return nullptr;
  ravel::stream *device = ravel::failing_stream(ravel::emulated_stream(how), how.fails);
  ravel::context *c = ravel::open_context(device, *o, why);
  if (c) c->variants = &ravel::paper_kernels;
  if (c && how.has_small) ravel::set_host_elements(*c, how.small);
  if (c && how.staging) c->work_queue.ring.most = how.staging;
  return c;
}

static unsigned devices(cvl_device *out, unsigned most, const char **) {
  if (most > 0) {
    out[0] = cvl_device{};
    snprintf(out[0].name, sizeof out[0].name, "the host, emulating a GPU");
    out[0].processors = 4;
  }
  return 1;
}

extern "C" const cvl_backend *cvl_cuda_emulation_backend(void) {
  static const cvl_backend backend = [] {
    cvl_backend b = ravel::backend_over_streams();
    b.name = "cuda-emu";
    b.doc = "the CUDA back end, emulated on the host: for tests";
    b.open = open_emulation;
    b.devices = devices;
    return b;
  }();
  return &backend;
}
