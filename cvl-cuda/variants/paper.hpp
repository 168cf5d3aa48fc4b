/* paper.hpp - the reductions and scans of a paper of 2013 (variants.cu). */
#ifndef RAVEL_CUDA_VARIANTS_PAPER_HPP
#define RAVEL_CUDA_VARIANTS_PAPER_HPP

#include "cvl-cuda/variants.hpp"

namespace ravel {

/* The value of cvl_context::variants. */
extern const kernel_variants paper_kernels;

} // namespace ravel
#endif
