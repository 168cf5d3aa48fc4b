/* fused-compiled.h - the elementwise operations of a superoperator as compiled functions, one
 * for each stage (fused-kernels/emit.h): all maps of a stage are one loop, whose intermediate
 * values stay in registers. Private to the fused-*.c files.
 */
#ifndef RAVEL_CPU_FUSED_COMPILED_H
#define RAVEL_CPU_FUSED_COMPILED_H

#include "cvl-cpu/fused-plan.h"

typedef void fused_block(uint64_t n, const void *const *in, void *const *out, uint64_t *fault);
typedef void fused_fold(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
                        void *const *lanes, bool begin, bool whole);

struct fused_compiled;
/* NULL if there is no cache, nothing to compile, or no memory. Sets compiled_slot of the
 * values.
 */
struct fused_compiled *fused_compiled_new(struct cvl_kernel *);
void fused_compiled_free(struct fused_compiled *);
/* Whether the functions have been compiled, of which _kept only looks and _ready starts the
 * compiler or waits for it, as compiled_ready does; whether compiling them has failed. */
bool fused_compiled_cached(const struct fused_compiled *);
bool fused_compiled_ready(struct fused_compiled *);
bool fused_compiled_failed(const struct fused_compiled *);
/* Whether the function of a stage computes a node. */
bool fused_compiled_does(const struct fused_compiled *, uint32_t node);
/* The functions of the combination that begins with a node. */
const struct order_compiled *fused_compiled_combination(const struct fused_compiled *,
                                                        uint32_t node);
/* The number of strip buffers that the functions need. */
uint32_t fused_compiled_slots(const struct fused_compiled *);

/* For a run with affine indices (fused-affine.c): a stage is skipped in affine runs if its maps
 * only compute indices that are known there. _skip_all assumes this of all stages. _keep
 * withdraws it for stages whose results other steps need, and says whether it has. _skips:
 * whether the stage of a node is skipped. */
void fused_compiled_skip_all(struct fused_compiled *);
bool fused_compiled_keep(struct fused_compiled *);
bool fused_compiled_skips(const struct fused_compiled *, uint32_t node);

/* Whether the last stage can add its elements directly to the lanes of the reductions, for
 * these positions, which belong to one segment. Then the strips of the tile at these positions
 * leave them in w->lanes, CVL_REDUCE_LANES for each reduction, until _fold_end. A value spread
 * over segments is uniform in these positions, and is read from the vector that is spread. */
bool fused_compiled_fold_begin(struct fused_worker *, uint64_t first, uint64_t n);
void fused_compiled_fold_end(struct fused_worker *, uint64_t first, uint64_t n);
/* Whether nothing but the fold is to be done. Then _fold_blocks, after _fold_begin, evaluates
 * several blocks, at most FUSED_WHOLE positions, the last block perhaps shorter: w->lanes[r]
 * has a total for each. False after a fault, which is recorded. */
bool fused_compiled_folds_alone(const struct cvl_kernel *);
bool fused_compiled_fold_blocks(struct fused_worker *, uint64_t first, uint64_t n);

/* Executes the steps for a strip, as fused_strip does, but all of them even after a fault: a
 * stage has nodes from before and after it. */
void fused_compiled_strip(struct fused_worker *, uint64_t first, uint64_t n);

#endif
