/* backends-tests.c - the back ends of vinterp-tests: those of vinterp, and three that only
 * tests want: the hand-written oracle, the one that does everything late, and the emulated GPU.
 */
#include "cvl-cpu/cvl-cpu.h"
#include "cvl/delayed.h"
#include "cvl/oracle/oracle.h"

#ifdef RAVEL_HAS_CUDA_EMULATION
#include "cvl-cuda/emulation.h"
#endif

DELAYED_BACKEND(delayed_cpu, "delayed", cvl_cpu_backend)

const struct cvl_backend *const *cvl_backends(void) {
  static struct cvl_backend table; /* filled alike by every call */
  static const struct cvl_backend *backends[] = {&cvl_cpu_backend, &cvl_oracle_backend, &table,
                                                 NULL, NULL};
  delayed_cpu(&table);
#ifdef RAVEL_HAS_CUDA_EMULATION
  backends[3] = cvl_cuda_emulation_backend();
#endif
  return backends;
}
