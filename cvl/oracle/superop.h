/* superop.h - the state of the oracle while it executes a superoperator. Private to superop*.c
 * of this folder.
 */
#ifndef RAVEL_CVL_ORACLE_SUPEROP_H
#define RAVEL_CVL_ORACLE_SUPEROP_H

#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"

struct oracle {
  struct heap *heap;
  const struct superop *op;
  enum cvl_elem int_elem, float_elem;
  struct host_value *values;
  struct cvl_error *e;
};

/* Records the error for node k. Always false. */
bool oracle_fail(const struct oracle *, uint32_t k, struct cvl_error);
/* Checks the rules of node k. False after recording the error. */
bool oracle_sizes(const struct oracle *, uint32_t k);
/* Executes node k, which belongs to no combination and is no CARRY, WHILE or NEXT. Its results
 * replace those of an earlier round. */
bool oracle_node(const struct oracle *, uint32_t k);
/* Executes a combination (superop-combine.c), and sets the results of its consumers. */
bool oracle_combination(const struct oracle *, struct superop_combination);

#endif
