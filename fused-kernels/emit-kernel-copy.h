/* emit-kernel-copy.h - kernels of superoperators of copies, to emit-kernel.c. Private to this
 * room.
 */
#ifndef RAVEL_FUSED_EMIT_KERNEL_COPY_H
#define RAVEL_FUSED_EMIT_KERNEL_COPY_H

#include "fused-kernels/emit-kernel.h"

/* The functions of values, and the operator, of a kernel that has been planned. */
void emit_copy_body(const struct fused_kernel *, FILE *);
/* How many results of a thread there are at a time: the constant `unroll`. */
unsigned emit_copy_unrolled(const struct fused_kernel *);

#endif
