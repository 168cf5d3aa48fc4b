/* short.h - few positions: one call of a compiled function, without chunks, tiles and
 * workers. Private to this folder.
 *
 * What a run prepares takes longer than a hundred elements do. Where a superoperator is one
 * stage (emit.h), whose values are outputs or go to reductions of one segment, that function
 * needs no more than where operands and results are.
 */
#ifndef RAVEL_CPU_FUSED_SHORT_H
#define RAVEL_CPU_FUSED_SHORT_H

#include "cvl-cpu/fused/plan.h"
#include "fused-kernels/emit.h"

/* Where an operand comes from, or where a result goes. */
enum short_kind {
  SHORT_VECTOR,  /* a parameter */
  SHORT_SPREAD,  /* `from`, spread over the segments under[0] */
  SHORT_INDEX,   /* an INDEX from `from` by steps of `by`, over under[0] */
  SHORT_GATHER,  /* what a gather reads: `from`, from under[0], for positions of under[1] */
  SHORT_WRITTEN, /* a result of the stage */
  SHORT_REDUCED  /* a result of a reduction */
};

struct short_item {
  uint8_t kind; /* enum short_kind */
  uint32_t value;
  uint32_t from, by;
  uint32_t under[2]; /* descriptors: parameters */
};

/* The types of the functions of a stage (emit.h). */
typedef void short_block(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
                         const struct tile_ahead *);
typedef void short_fold(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
                        const struct tile_ahead *, void *const *lanes, _Bool begin,
                        char *const *totals, uint64_t block, uint64_t lead);

struct fused_short {
  bool fits;                /* the superoperator is such a one, and then: */
  struct short_item *items; /* in the order in which memory is asked for */
  uint32_t item_count;
  uint32_t *checked; /* the nodes that may fail */
  uint32_t checked_count;
  uint32_t spreads; /* items that do */
  bool folds;
  short_block *block;
  short_fold *fold;
};

/* Plans it, in the arena; all but the functions. */
void fused_short_plan(struct arena *, const struct cvl_kernel *, const struct fused_functions *,
                      struct fused_short *);

enum short_outcome {
  SHORT_UNFIT, /* nothing has been done: sizes do not suit, or an element is at fault */
  SHORT_DONE,
  SHORT_FAILED /* no memory, which is recorded */
};

/* Runs it, if k->run has n, segments and functions that suit them. */
enum short_outcome fused_short_run(struct cvl_kernel *, const struct fused_short *,
                                   const struct cvl_value *operands);

#endif
