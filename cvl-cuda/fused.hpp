/* fused.hpp - superoperators as kernels compiled at run time. */
#ifndef RAVEL_CUDA_FUSED_HPP
#define RAVEL_CUDA_FUSED_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

struct kernel_store;

/* What compiles the kernels of a context and keeps them; null if there is nothing that could.
 * With CVL_COMPILE_ALL kernels are kept in the directory of the options. Without, a device
 * compiles anyway and keeps kernels where it always does; the emulation, which it costs much
 * more, does not compile. */
std::shared_ptr<kernel_store> open_kernels(stream *, const cvl_options &);

/* Plans; null if it would rather not. The superoperator is borrowed. */
cvl_kernel *prepare_kernel(context &, const superop *);
/* Begins to compile what was prepared, all kernels together, and makes ready what is on disk;
 * of a device that is not open nothing. Without it a superoperator's are requested when it is
 * to run. */
void request_prepared(context &);
void discard_kernel(context &, cvl_kernel *);
const superop *superop_of(const cvl_kernel *);

/* Runs a superoperator by its kernel, setting its outputs. False, and nothing is done, if the
 * nodes are better run one by one: the kernel is not ready, or they are so small that the host
 * does them at once. Operands are borrowed; faults are thrown, and outputs then not set. */
bool run_kernel(context &, uint64_t site, cvl_kernel *, const cvl_value *operands,
                cvl_value *outs);

} // namespace ravel
#endif
