/* fused.hpp - superoperators as kernels compiled at run time. */
#ifndef RAVEL_CUDA_FUSED_HPP
#define RAVEL_CUDA_FUSED_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

struct kernel_store;

/* Returns what compiles the kernels of a context and keeps them; null if nothing could. With
 * CVL_COMPILE_ALL kernels are kept in the directory of the options. Without it, a device
 * compiles anyway, and keeps kernels in the usual cache. The emulation does not compile then:
 * it would cost much more. */
std::shared_ptr<kernel_store> open_kernels(stream *, const cvl_options &);

/* Plans the kernels of a superoperator, which is borrowed. Returns null if its nodes should run
 * one by one. */
cvl_kernel *prepare_kernel(context &, const superop *);
/* Begins to compile all prepared kernels together, and makes those ready that are on disk. Does
 * nothing if the device is not open. Without this call, the kernels of a superoperator are
 * requested when it is to run. */
void request_prepared(context &);
void discard_kernel(context &, cvl_kernel *);
const superop *superop_of(const cvl_kernel *);

/* Runs a superoperator by its kernel and sets its outputs. Returns false and does nothing if
 * its nodes are better run one by one: the kernel is not ready, or they are so small that the
 * host does them at once. Operands are borrowed. Faults are thrown; outputs are then not
 * set. */
bool run_kernel(context &, uint64_t site, cvl_kernel *, const cvl_value *operands,
                cvl_value *outs);

} // namespace ravel
#endif
