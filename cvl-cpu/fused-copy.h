/* fused-copy.h - superoperators that copy segments, in one pass. Private to fused-*.c.
 *
 * An INDEX of stride 1 consists of *runs*: start, start + 1 and so on. A *chain* is a vector
 * that is written run by run: an FPERMUTE of all, or a DPERMUTE, and the DPERMUTEs into its
 * result. Each of these is a *piece*. Its values are a parameter, the gather of a parameter by
 * runs, or the result of an inner chain. A gather by runs that is an output is a chain of one
 * piece, whose elements stay in order.
 *
 *   fused-copy-plan.c  whether a superoperator consists of chains
 *   fused-copy.c       execution
 *   copy-walk.c        the walk over the runs of a chain
 */
#ifndef RAVEL_CPU_FUSED_COPY_H
#define RAVEL_CPU_FUSED_COPY_H

#include "cvl-cpu/cpu.h"
#include "cvl/superop.h"

enum { COPY_PIECES = 24, COPY_CHAINS = 16 };

/* An INDEX, by value numbers. */
struct copy_runs {
  uint32_t start;    /* a parameter, or a CONST that is the start of all */
  uint32_t stride;   /* a parameter, or SUPEROP_NONE: 1 */
  uint32_t segments; /* a parameter */
};

struct copy_piece {
  uint32_t values; /* a parameter; or SUPEROP_NONE: of the chain `inner` */
  uint32_t inner;
  bool gathered; /* the values are those of `values` at `from` */
  struct copy_runs from;
  uint32_t source, positions; /* then: descriptors of `values` and of the index */
  bool scattered;             /* the values go to `to`; else they are the result */
  struct copy_runs to;
  uint32_t near, far; /* then: descriptors of the values and of the result */
};

struct copy_chain {
  uint32_t node;         /* whose result it is */
  uint32_t first, count; /* its pieces, in the order of nodes */
  uint32_t previous;     /* a parameter, or SUPEROP_NONE: zeros, where no piece writes */
  uint32_t output; /* its number among the outputs; SUPEROP_NONE: inner, or checked only */
  bool whole;      /* of a PERMUTE: the piece writes every element */
  bool inner;
};

struct copy_plan {
  const struct superop *op;
  uint32_t piece_count, chain_count;
  struct copy_piece pieces[COPY_PIECES];
  struct copy_chain chains[COPY_CHAINS];
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
