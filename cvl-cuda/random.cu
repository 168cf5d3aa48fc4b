/* random.cu */
#include "cvl-cuda/ops.hpp"

namespace ravel {

void random_numbers(context &, uint64_t, uint64_t, uint64_t, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void assert_all(context &, uint64_t, const cvl_value &, const cvl_value &, const cvl_value &) {
  fail(CVL_E_DEVICE, 0);
}

} // namespace ravel
