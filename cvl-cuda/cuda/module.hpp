/* module.hpp - the table of a module over CUDA, on a GPU or interpreted. */
#ifndef RAVEL_CUDA_CUDA_MODULE_HPP
#define RAVEL_CUDA_CUDA_MODULE_HPP

#include <stdlib.h>

#include "cvl-cuda/backend.hpp"
#include "cvl-cuda/context.hpp"
#include "cvl-cuda/cuda/stream.hpp"

namespace ravel {

/* RAVEL_CUDA_SMALL is for tests, as in the emulation (emulation/options.hpp). With 0 the host
 * does no operation that has elements. */
inline cvl_context *open_on_device(const cvl_options *o, const char **why,
                                   const interpreter *interprets = nullptr) {
  const char *small = getenv("RAVEL_CUDA_SMALL");
  stream *s = cuda_stream(o->device, why, interprets);
  context *c = s ? open_context(s, *o, why) : nullptr;
  if (c && small) set_host_elements(*c, strtoll(small, nullptr, 10));
  return c;
}

/* The texts `name` and `doc` must stay valid. */
inline cvl_backend module_backend(const char *name, const char *doc,
                                  cvl_context *(*open)(const cvl_options *, const char **)) {
  cvl_backend b = backend_over_streams();
  b.name = name;
  b.own_memory = true;
  b.doc = doc;
  b.open = open;
  b.devices = cuda_devices;
  return b;
}

} // namespace ravel
#endif
