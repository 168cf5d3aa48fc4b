/* compiled.h - a superoperator as compiled functions (fused-kernels/emit.h). Private to this
 * folder.
 */
#ifndef RAVEL_CPU_FUSED_COMPILED_H
#define RAVEL_CPU_FUSED_COMPILED_H

#include "cvl-cpu/fused/plan.h"
#include "fused-kernels/emit.h"

struct fused_compiled;
/* Returns functions for what k->one says; NULL if there is no cache, nothing to compile, or no
 * memory. */
struct fused_compiled *fused_compiled_new(struct cvl_kernel *);
/* Returns the functions for a copy of their kernel. */
struct fused_compiled *fused_compiled_copy(struct cvl_kernel *, const struct fused_compiled *);
void fused_compiled_free(struct fused_compiled *);
/* Whether the functions have been compiled, of which _cached only looks and _ready starts the
 * compiler or waits for it, as compiled_ready does; whether compiling them has failed; as
 * compiled_unasked says. */
bool fused_compiled_cached(const struct fused_compiled *);
bool fused_compiled_ready(struct fused_compiled *);
bool fused_compiled_failed(const struct fused_compiled *);
bool fused_compiled_unasked(const struct fused_compiled *);
/* Whether the functions are owed (compile/compile.h); adds seconds of evaluation without them.
 */
bool fused_compiled_owed(const struct fused_compiled *);
void fused_compiled_spent(struct fused_compiled *, double seconds);
/* The plan; the function of ranges, once it is ready. */
const struct fused_functions *fused_compiled_functions(const struct fused_compiled *);
kernel_range_function *fused_compiled_range(const struct fused_compiled *);
/* The functions of the combination that begins with a node. */
const struct order_compiled *fused_compiled_combination(const struct fused_compiled *,
                                                        uint32_t node);

#endif
