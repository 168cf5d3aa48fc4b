/* backends.c - the back ends linked with the commands and with libravel, the best one first.
 * vinterp/choose.c opens better ones, which are modules. */
#include "cvl-cpu/cvl-cpu.h"

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const backends[] = {&cvl_cpu_backend, NULL};
  return backends;
}
