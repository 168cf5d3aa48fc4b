/* plugin.cpp - the entry point of the module: the table over the GPUs of this machine. */
#include "cvl-cuda/cuda/module.hpp"

static cvl_context *plugin_open_device(const cvl_options *o, const char **why) {
  return ravel::open_on_device(o, why);
}

/* Returns the back end, or null if the program has another version of the contract. */
extern "C" __attribute__((visibility("default"))) const cvl_backend *
ravel_backend(uint32_t version) {
  static const cvl_backend backend =
      ravel::module_backend("cuda", "NVIDIA GPUs", plugin_open_device);
  return version == CVL_VERSION ? &backend : nullptr;
}
