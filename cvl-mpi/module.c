/* module.c - the plug-in `mpi`: over the CPU back end, or over another one. */
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-mpi/cvl-mpi.h"

__attribute__((visibility("default"))) const struct cvl_backend *
ravel_backend(uint32_t version);

const struct cvl_backend *ravel_backend(uint32_t version) {
  return version == CVL_VERSION ? cvl_mpi_over(&cvl_cpu_backend) : NULL;
}

__attribute__((visibility("default"))) const struct cvl_backend *
ravel_backend_over(uint32_t version, const struct cvl_backend *inner);

const struct cvl_backend *ravel_backend_over(uint32_t version,
                                             const struct cvl_backend *inner) {
  return version == CVL_VERSION && inner->version == version ? cvl_mpi_over(inner) : NULL;
}
