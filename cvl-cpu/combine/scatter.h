/* scatter.h - COMBINE_SCATTER (cvl/superop.h): elements are combined with a default and
 * with each other where their indices are equal.
 */
#ifndef RAVEL_CPU_COMBINE_SCATTER_H
#define RAVEL_CPU_COMBINE_SCATTER_H

#include "cvl-cpu/combine/order-tree.h"

struct scatter_column {
  const char *values;
  bool same; /* values has one element, which all positions share */
  const char *defaults;
  char *out; /* as many elements as defaults; another array */
  uint8_t elem;
  /* An operation that gives the same results as the function for this column, in any order, or
   * OP_NONE. The function is not called if all columns have such an operation. */
  enum cvl_op exact;
};

struct combine_scatter {
  const void *index;         /* INTs */
  struct segments near, far; /* of the index; of the defaults */
  uint32_t columns;
  struct scatter_column column[SUPEROP_COLUMNS_MAX];
  /* Returns the function for a worker of the pool, with its scratch memory. */
  const struct order_function *(*function)(void *with, unsigned worker, char **scratch);
  void *with;
};

/* Writes the results. Returns false after a fault of this site: CVL_E_INDEX, at the lowest
 * position. */
bool cpu_combine_scatter(struct cvl_context *, uint64_t site, const struct combine_scatter *);

#endif
