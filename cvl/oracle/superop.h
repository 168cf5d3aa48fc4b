/* superop.h - the oracle of superoperators while it executes one. Private to
 * oracle-superop*.c.
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

/* Records the error for node k; always false. */
bool oracle_fail(const struct oracle *, uint32_t k, struct cvl_error);
/* Whether the rules of node k hold; else false after recording the error. */
bool oracle_sizes(const struct oracle *, uint32_t k);
/* Executes node k, which belongs to no combination and is no CARRY, WHILE or NEXT. Its results
 * replace those it had. */
bool oracle_node(const struct oracle *, uint32_t k);
/* Executes a combination (superop-combine.c): sets the results of its consumers. */
bool oracle_combination(const struct oracle *, struct superop_combination);

#endif
