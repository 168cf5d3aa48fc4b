/* backends-tests.c - the back ends of vinterp-tests: those of vinterp, and two that only tests
 * want, the hand-written oracle and the one that does everything late. */
#include "cvl-cpu/cvl-cpu.h"
#include "cvl/delayed.h"
#include "cvl/oracle.h"

DELAYED_BACKEND(delayed_cpu, "delayed", cvl_cpu_backend)

const struct cvl_backend *const *cvl_backends(void) {
  static struct cvl_backend table; /* filled alike by every call */
  static const struct cvl_backend *const backends[] = {&cvl_cpu_backend, &cvl_oracle_backend,
                                                       &table, NULL};
  delayed_cpu(&table);
  return backends;
}
