/* copy.h - superoperators that copy segments, in one pass. Private to this folder.
 *
 * An INDEX of stride 1 consists of *runs*: start, start + 1 and so on. A *target* is a vector
 * that is written run by run: an FPERMUTE of all, or a DPERMUTE, and the DPERMUTEs into its
 * result. Each of these is an *input*. Its values are a parameter, the gather of a parameter by
 * runs, or the result of an inner target. A gather by runs that is an output is a target of one
 * input, whose elements stay in order.
 *
 *   copy-plan.c  whether a superoperator consists of targets
 *   copy.c       execution
 *   copy-walk.c        the walk over the runs of a target
 */
#ifndef RAVEL_CPU_FUSED_COPY_H
#define RAVEL_CPU_FUSED_COPY_H

#include "cvl-cpu/cpu.h"
#include "cvl/superop.h"

enum { COPY_INPUTS = 24, COPY_TARGETS = 16 };

/* An INDEX, by value numbers. */
struct copy_runs {
  uint32_t start;    /* a parameter, or a CONST that is the start of all */
  uint32_t stride;   /* a parameter, or SUPEROP_NONE: 1 */
  uint32_t segments; /* a parameter */
};

struct copy_input {
  uint32_t values; /* a parameter; or SUPEROP_NONE: of the target `inner` */
  uint32_t inner;
  bool gathered; /* the values are those of `values` at `from` */
  struct copy_runs from;
  uint32_t source, positions; /* then: descriptors of `values` and of the index */
  bool scattered;             /* the values go to `to`; else they are the result */
  struct copy_runs to;
  uint32_t near, far; /* then: descriptors of the values and of the result */
};

struct copy_target {
  uint32_t node;         /* whose result it is */
  uint32_t first, count; /* its inputs, in the order of nodes */
  uint32_t previous;     /* a parameter, or SUPEROP_NONE: zeros, where no input writes */
  uint32_t output; /* its number among the outputs; SUPEROP_NONE: inner, or checked only */
  bool whole;      /* of a PERMUTE: the input writes every element */
  bool inner;
};

struct copy_plan {
  const struct superop *op;
  uint32_t input_count, target_count;
  struct copy_input inputs[COPY_INPUTS];
  struct copy_target targets[COPY_TARGETS];
};

/* The plan of a superoperator; NULL if it is no such one, or there is no memory. */
struct copy_plan *fused_copy_plan(struct cvl_context *, const struct superop *);
void fused_copy_discard(struct cvl_context *, struct copy_plan *); /* or NULL */

/* FAILED: a fault is recorded. UNFIT: on these operands it is not one pass: an index is out of
 * range, or runs overlap or are not in the order of the result. What a result was to be written
 * over may have got some of its runs. */
enum copy_outcome { COPY_DONE, COPY_FAILED, COPY_UNFIT };

/* Executes it, all of whose rules hold. Does not release operands. */
enum copy_outcome fused_copy(struct cvl_context *, uint64_t site, const struct copy_plan *,
                             const struct cvl_value *operands, struct cvl_value *outs);

#endif
