/* evaluate.h - what a procedure computes, by the oracle: for tests. Functions are executed
 * binding by binding; a batch call executes the procedure of what it calls for one instance
 * after the other.
 */
#ifndef RAVEL_PROCEDURES_TESTS_EVALUATE_H
#define RAVEL_PROCEDURES_TESTS_EVALUATE_H

#include "cvl/oracle/oracle.h"
#include "ir/ir.h"

struct evaluation {
  struct heap *heap;
  struct arena *arena;
  const struct ir_program *program;
  ARRAY(struct host_value) made; /* every value, to be freed */
  uint64_t depth, most_depth;    /* of calls; deeper ones fail */
};

void evaluation_begin(struct evaluation *, struct arena *, const struct ir_program *);
/* Frees all values. */
void evaluation_end(struct evaluation *);
/* A vector or descriptor of n elements, which evaluation_end frees. */
struct host_value evaluation_vector(struct evaluation *, enum cvl_elem, uint64_t n);
struct host_value evaluation_segdes(struct evaluation *, uint64_t n);

/* Executes the procedure of a lifted function for instances first .. last - 1. Parameters and
 * results are those of the procedure; `params` has the arguments of all instances. Results are
 * those of these instances, one behind the other. False if one of them fails. */
bool evaluate_batch(struct evaluation *, uint32_t lifted, const struct host_value *params,
                    uint64_t first, uint64_t last, struct host_value *results);

#endif
