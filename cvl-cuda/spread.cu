/* spread.cu */
#include "cvl-cuda/ops.hpp"

namespace ravel {

void dist(context &, uint64_t, const cvl_value &, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void index(context &, uint64_t, const cvl_value &, const cvl_value &, const cvl_value &,
           cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void materialise(work &, cvl_vector &) {
  fail(CVL_E_DEVICE, 0);
}

} // namespace ravel
