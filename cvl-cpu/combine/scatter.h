/* scatter.h - COMBINE_SCATTER (cvl/superop.h): elements are combined with a default and
 * with each other where their indices are equal.
 */
#ifndef RAVEL_CPU_COMBINE_SCATTER_H
#define RAVEL_CPU_COMBINE_SCATTER_H

#include "cvl-cpu/combine/order-tree.h"

struct scatter_column {
  const char *values;
  bool same; /* values has one element, which is that of all positions */
  const char *defaults;
  char *out; /* as many as defaults; not these */
  uint8_t elem;
  /* OP_NONE, or what the function is for this column: an operation whose results are the same
   * in any order. Only if it is given for all columns is the function not called. */
  enum cvl_op exact;
};

struct combine_scatter {
  const void *index;         /* INTs */
  struct segments near, far; /* of the index; of the defaults */
  uint32_t columns;
  struct scatter_column column[SUPEROP_COLUMNS_MAX];
  /* The function, for each worker of the pool, with its scratch memory. */
  const struct order_function *(*function)(void *with, unsigned worker, char **scratch);
  void *with;
};

/* Writes the results. False after a fault, INDEX at the lowest position, of this site. */
bool cpu_combine_scatter(struct cvl_context *, uint64_t site, const struct combine_scatter *);

#endif
