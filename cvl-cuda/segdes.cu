/* segdes.cu */
#include "cvl-cuda/ops.hpp"

namespace ravel {

void make_segdes(context &, uint64_t, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void segdes_from_host(context &c, uint64_t site, uint64_t n, const int64_t *lengths,
                      cvl_value *out) {
  if (n == 1) {
    out->form = CVL_ONE_SEGMENT;
    out->as.one_segment = (uint64_t)lengths[0];
    return;
  }
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = (int64_t)n;
  d->host_offsets = ref<block>(c.memory.take(place::host, (n + 1) * sizeof(int64_t), site));
  int64_t *offsets = (int64_t *)(void *)d->host_offsets->at;
  bool equal = true;
  offsets[0] = 0;
  for (uint64_t k = 0; k < n; k++) {
    offsets[k + 1] = offsets[k] + lengths[k];
    equal = equal && lengths[k] == lengths[0];
  }
  d->total = offsets[n];
  if (equal) {
    d->equal = n > 0 ? lengths[0] : 0;
    d->host_offsets = nullptr;
  }
  out->form = CVL_SEGDES;
  out->as.segdes = d.give();
}

void lengths(context &, uint64_t, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void length_of(context &, uint64_t, const cvl_value &, cvl_value *) {
  fail(CVL_E_DEVICE, 0);
}

void make_ranks(work &, cvl_segdes &) {
  fail(CVL_E_DEVICE, 0);
}

} // namespace ravel
