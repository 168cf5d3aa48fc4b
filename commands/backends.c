/* backends.c - the back ends of the commands, best first: --backend auto takes the first. */
#include "cvl-cpu/cvl-cpu.h"

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const backends[] = {&cvl_cpu_backend, NULL};
  return backends;
}
