/* rank.cu */
#include "cvl-cuda/ops.hpp"

namespace ravel {

void rank(context &, uint64_t, cvl_op, const cvl_value &, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

} // namespace ravel
