/* fused-native.h - the elementwise part of a superoperator as compiled functions, one for each
 * stage (fused-kernels/emit.h): a chain of maps then takes one loop, whose intermediate values
 * stay in registers. Private to the fused-*.c files.
 */
#ifndef RAVEL_CPU_FUSED_NATIVE_H
#define RAVEL_CPU_FUSED_NATIVE_H

#include "cvl-cpu/fused-plan.h"

typedef void fused_block(uint64_t n, const void *const *in, void *const *out, uint64_t *fault);
typedef void fused_fold(uint64_t n, const void *const *in, void *const *out, uint64_t *fault,
                        void *const *lanes, bool begin, bool whole);

struct fused_native;
/* NULL if there is no cache, nothing to compile, or no memory. Sets native_slot of the values.
 */
struct fused_native *fused_native_new(struct cvl_kernel *);
void fused_native_free(struct fused_native *);
/* Whether the functions are there, without compiling; begun or waited for, see native_ready;
 * or will never be. */
bool fused_native_kept(const struct fused_native *);
bool fused_native_ready(struct fused_native *);
bool fused_native_failed(const struct fused_native *);
/* Whether a node is computed by the function of a stage. */
bool fused_native_does(const struct fused_native *, uint32_t node);
/* Buffers of a strip that it needs. */
uint32_t fused_native_slots(const struct fused_native *);

/* Of a run in which indices are followed (fused-stretch.c): whether the stage of a map only
 * makes indices that are known in a stretch, so that it is spared there. Of all stages that is
 * assumed first, by _spare_all; _keep takes it back where a step's result is wanted otherwise,
 * and says whether it has. */
void fused_native_spare_all(struct fused_native *);
bool fused_native_keep(struct fused_native *);
bool fused_native_spares(const struct fused_native *, uint32_t node);

/* Whether the reductions take their elements of these places, which are of one segment, as the
 * last stage computes them: then the strips of a tile, whose places these are, leave them in
 * w->lanes, CVL_REDUCE_LANES for each, until _fold_end. What is spread over segments is read
 * from where it is spread from, as it is the same in all these places. */
bool fused_native_fold_begin(struct fused_worker *, uint64_t first, uint64_t n);
void fused_native_fold_end(struct fused_worker *, uint64_t first, uint64_t n);
/* Whether there is nothing else to do to such places. Then, after _fold_begin, several blocks
 * at a time, at most FUSED_WHOLE places, the last block perhaps shorter: w->lanes[r] has a
 * total for each. False after a fault, which is noted. */
bool fused_native_folds_alone(const struct cvl_kernel *);
bool fused_native_fold_blocks(struct fused_worker *, uint64_t first, uint64_t n);

/* The steps on a strip, like fused_strip: but all of them even after a fault, since a stage has
 * nodes from before and after it. */
void fused_native_strip(struct fused_worker *, uint64_t first, uint64_t n);

#endif
