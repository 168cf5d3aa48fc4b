/* superop-run.h - the state of a superoperator while its nodes are executed one by one. Private
 * to superop-run*.c.
 */
#ifndef RAVEL_CVL_SUPEROP_RUN_H
#define RAVEL_CVL_SUPEROP_RUN_H

#include "cvl/superop.h"

struct node_run {
  const struct cvl_backend *b;
  struct cvl_context *ctx;
  const struct superop *op;
  uint64_t site;            /* site of the node being executed */
  struct cvl_value *values; /* by value number; if owned, a reference is held */
  const struct cvl_stop *stop;
};

/* Releases a value if a reference to it is held. */
void run_give_up(struct node_run *, uint32_t value);
/* Returns a size of the row of a node, of its operands. */
struct cvl_size run_size(const struct node_run *, const struct superop_node *, uint8_t size);
/* Executes node k, which belongs to no combination and is no CARRY, WHILE or NEXT. Its results
 * become values. False after a fault. */
bool run_node(struct node_run *, uint32_t k);
/* Executes the combination that begins with node *k (superop-run-combine.c), and sets *k to its
 * last node. After a fault it returns false, *k is unchanged, and nothing it made is held. */
bool run_combination(struct node_run *, uint32_t *k);

#endif
