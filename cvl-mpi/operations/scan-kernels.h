/* scan-kernels.h - what is made of a superoperator that is one combination of scans, to execute
 * it in segments that go on on other ranks (combine-scan.c, which these functions belong to).
 */
#ifndef RAVEL_MPI_SCAN_KERNELS_H
#define RAVEL_MPI_SCAN_KERNELS_H

#include "cvl-mpi/operations/combine-scan.h"

/* A superoperator made from the scan: with parameters of its own behind those of that, an
 * identity for each column, which nobody reads, and the descriptor. */
struct derived {
  struct superop op;
  struct cvl_kernel *kernel; /* of the inner back end; NULL: no memory */
};

struct combine_scan {
  const struct superop *op;
  struct superop_combination at;
  struct heap heap;
  struct arena arena;
  /* Of each column: the parameter; that of identities, SUPEROP_NONE: a constant, or none. */
  uint32_t param[SUPEROP_COLUMNS_MAX], identity[SUPEROP_COLUMNS_MAX];
  enum cvl_elem elem[SUPEROP_COLUMNS_MAX];
  struct derived totals, before; /* its reduction; its exclusive scan */
  struct cvl_kernel *in_blocks;  /* the latter on this back end; made when it is wanted first */
};

static inline struct cvl_value zero_of(enum cvl_elem elem) {
  return (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)elem};
}

/* Operands of one of them: columns of n elements, which it borrows, each identity, and the
 * descriptor, which it passes. The caller frees them. */
struct cvl_value *derived_operands(struct cvl_context *, const struct combine_scan *,
                                   const struct cvl_value *columns, uint64_t n,
                                   const struct cvl_value *identities,
                                   struct cvl_value descriptor);

#endif
