/* scan-kernels.h - superoperators derived from one that is a combination of scans, to execute
 * it in segments that cross ranks. Part of combine-scan.c.
 */
#ifndef RAVEL_MPI_SCAN_KERNELS_H
#define RAVEL_MPI_SCAN_KERNELS_H

#include "cvl-mpi/operations/combine-scan.h"

/* A superoperator derived from the scan. Its own parameters follow those of the scan: an
 * identity for each column, which nobody reads, and the descriptor. */
struct derived_kernels {
  struct superop op;
  struct cvl_kernel *kernel; /* the kernel of the inner back end; NULL: there was no memory */
};

struct combine_scan {
  const struct superop *op;
  struct superop_combination at;
  struct heap heap;
  struct arena arena;
  /* For each column: its parameter, and the parameter of its identities (SUPEROP_NONE: a
   * constant, or none). */
  uint32_t param[SUPEROP_COLUMNS_MAX], identity[SUPEROP_COLUMNS_MAX];
  enum cvl_elem elem[SUPEROP_COLUMNS_MAX];
  struct derived_kernels totals, before; /* the reduction, and the exclusive scan */
  struct cvl_kernel *in_blocks; /* `before` prepared for this back end, when it is first
                                   wanted */
};

static inline struct cvl_value zero_of(enum cvl_elem elem) {
  return (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)elem};
}

/* Returns the operands of a derived superoperator: columns of n elements, which it borrows, an
 * identity for each, and the descriptor, which it passes on. The caller frees the array. */
struct cvl_value *derived_operands(struct cvl_context *, const struct combine_scan *,
                                   const struct cvl_value *columns, uint64_t n,
                                   const struct cvl_value *identities,
                                   struct cvl_value descriptor);

#endif
