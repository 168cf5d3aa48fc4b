/* fused-native.h - the elementwise part of a superoperator as compiled functions, one for each
 * stage (fused-kernels/emit.h): a chain of maps then takes one loop, whose intermediate values
 * stay in registers. Private to the fused-*.c files.
 */
#ifndef RAVEL_CPU_FUSED_NATIVE_H
#define RAVEL_CPU_FUSED_NATIVE_H

#include "cvl-cpu/fused-plan.h"

typedef void fused_block(uint64_t n, const void *const *in, void *const *out, uint64_t *fault);

struct fused_native;
/* NULL if there is no cache, nothing to compile, or no memory. Sets native_slot of the values.
 */
struct fused_native *fused_native_new(struct cvl_kernel *);
void fused_native_free(struct fused_native *);
/* Whether the functions are there; see native_ready. */
bool fused_native_ready(struct fused_native *);
/* Buffers of a strip that it needs. */
uint32_t fused_native_slots(const struct fused_native *);

/* The steps on a strip, like fused_strip: but all of them even after a fault, since a stage has
 * nodes from before and after it. */
void fused_native_strip(struct fused_worker *, uint64_t first, uint64_t n);

#endif
