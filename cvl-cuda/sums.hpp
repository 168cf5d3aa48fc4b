/* sums.hpp - sums of INTs that the host knows without adding anything up. They are the totals
 * of descriptors of computed lengths. */
#ifndef RAVEL_CUDA_SUMS_HPP
#define RAVEL_CUDA_SUMS_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* Notes the sum of the result of OP_ADD or OP_SUB, for two INT operands whose sums are known,
 * if no element can have wrapped. */
void keep_sum(context &, cvl_op, const cvl_value *operands, cvl_vector &result);

} // namespace ravel
#endif
