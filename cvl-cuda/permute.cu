/* permute.cu */
#include "cvl-cuda/ops.hpp"

namespace ravel {

void permute(context &, uint64_t, const cvl_permute_args &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

} // namespace ravel
