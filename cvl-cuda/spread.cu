/* spread.cu - DIST and INDEX, which compute nothing. Their results are descriptions of vectors
 * (values.hpp), whose elements are computed by the kernels that use them. If a result is needed
 * in memory, one launch writes it. That moves E + R bytes for each element (R = 0.25, the rank
 * directory; nothing under one segment or under equal ones) and E for each segment.
 */
#include <string.h>

#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/together.hpp"

namespace ravel {

__extension__ typedef __int128 int128;

/* ---- known elements and sums ---- */

/* Returns whether the host knows that all elements of v are equal, and sets *bits to them. */
static bool known_element(context &c, const cvl_value &v, uint64_t *bits) {
  const size_t width = elem_info((cvl_elem)v.elem)->bytes;
  *bits = 0;
  if (v.form == CVL_SCALAR) {
    memcpy(bits, &v.as, width);
    return true;
  }
  const cvl_vector &x = *v.as.vector;
  if (x.kind == ALL_EQUAL) {
    *bits = x.first;
    return true;
  }
  if (x.size || x.length != 1 || !x.host || !at_hand(c, v)) return false;
  memcpy(bits, x.host->at, width);
  return true;
}

static bool spread_is_int(cvl_elem e) {
  return elem_info(e)->klass == CLASS_INT;
}

static int64_t spread_int_of(cvl_elem e, uint64_t bits) {
  return e == CVL_I32 ? (int32_t)(uint32_t)bits : (int64_t)bits;
}

static bool spread_fits(cvl_elem e, int128 x) {
  return e == CVL_I32 ? x >= INT32_MIN && x <= INT32_MAX : x >= INT64_MIN && x <= INT64_MAX;
}

/* Notes the sum of first + j * step for j < n, unless something wraps. */
static void note_sum(cvl_vector &v, int64_t first, int64_t step, int64_t n) {
  if (!spread_is_int(v.elem) || n <= 0) return;
  const int128 last = (int128)first + (int128)step * (n - 1);
  /* Twice the sum is below 2^127: the elements fit their type, and n is below 2^63. */
  if (!spread_fits(v.elem, last)) return;
  const int128 sum = ((int128)first + last) * n / 2;
  if (!spread_fits(CVL_I64, sum)) return;
  v.has_sum = true;
  v.sum = (int64_t)sum;
  v.least = step < 0 ? (int64_t)last : first;
  v.most = step < 0 ? first : (int64_t)last;
}

/* ---- results ---- */

/* Makes a vector as long as the total of d, which may be deferred. */
static ref<cvl_vector> new_under(const cvl_value &d, cvl_elem elem, operand_form kind) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = elem;
  v->kind = kind;
  v->length = d.form == CVL_SEGDES ? d.as.segdes->total : (int64_t)d.as.one_segment;
  if (d.form == CVL_SEGDES) v->size = d.as.segdes->size;
  return v;
}

static ref<cvl_segdes> spread_descriptor_of(const cvl_value &d) {
  if (d.form == CVL_SEGDES) return ref<cvl_segdes>::to(d.as.segdes);
  ref<cvl_segdes> one(new cvl_segdes);
  one->count = 1;
  one->total = one->equal = (int64_t)d.as.one_segment;
  return one;
}

static void spread_give(cvl_value *out, const ref<cvl_vector> &v) {
  *out = cvl_value{};
  out->elem = (uint8_t)v->elem;
  if (v->kind == ALL_EQUAL && v->length == 1 && !v->size) {
    out->form = CVL_SCALAR;
    memcpy(&out->as, &v->first, elem_info(v->elem)->bytes);
    return;
  }
  out->form = CVL_VECTOR;
  out->as.vector = ref<cvl_vector>(v).give();
}

/* Gives an operand as the result. */
static void give_same(cvl_value *out, const cvl_value &v) {
  *out = v;
  out->owned = 0;
  if (v.form == CVL_VECTOR) retain(v.as.vector);
}

/* Returns whether every segment has one element, so that spreading changes nothing. */
static bool all_ones(const cvl_value &d) {
  return d.form == CVL_SEGDES ? d.as.segdes->equal == 1 : d.as.one_segment == 1;
}

void dist(context &c, uint64_t, const cvl_value &v, const cvl_value &d, cvl_value *out) {
  const cvl_elem elem = (cvl_elem)v.elem;
  uint64_t bits;
  if (all_ones(d)) {
    give_same(out, v);
  } else if (known_element(c, v, &bits)) {
    const ref<cvl_vector> r = new_under(d, elem, ALL_EQUAL);
    r->first = bits;
    if (!r->size) note_sum(*r.get(), spread_int_of(elem, bits), 0, r->length);
    spread_give(out, r);
  } else {
    const ref<cvl_vector> r = new_under(d, elem, SPREAD);
    r->data = ref<cvl_vector>::to(v.as.vector);
    r->under = spread_descriptor_of(d);
    spread_give(out, r);
  }
}

void index(context &c, uint64_t, const cvl_value &start, const cvl_value &stride,
           const cvl_value &d, cvl_value *out) {
  const cvl_elem elem = (cvl_elem)start.elem;
  uint64_t first, step;
  if (all_ones(d)) {
    give_same(out, start);
    return;
  }
  const bool first_known = known_element(c, start, &first);
  const bool step_known = known_element(c, stride, &step);
  if (step_known && spread_int_of(elem, step) == 0) {
    dist(c, 0, start, d, out);
    return;
  }
  const ref<cvl_vector> r = new_under(d, elem, PROGRESSION);
  r->first = first;
  r->step = step;
  if (!first_known) r->data = ref<cvl_vector>::to(start.as.vector);
  if (!step_known) r->steps = ref<cvl_vector>::to(stride.as.vector);
  r->under = spread_descriptor_of(d);
  if (first_known && step_known && r->under->count == 1 && !r->size)
    note_sum(*r.get(), spread_int_of(elem, first), spread_int_of(elem, step), r->length);
  spread_give(out, r);
}

/* ---- slices ---- */

static ref<cvl_vector> new_slice(const cvl_vector &of, int64_t n) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = of.elem;
  v->kind = of.kind;
  v->length = n;
  v->first = of.first;
  v->step = of.step;
  return v;
}

/* Returns a slice of one segment; null if the step, or the first element, is only on the
 * device. */
static ref<cvl_vector> slice_of_one_segment(const cvl_vector &v, int64_t first, int64_t n) {
  if (v.kind == PROGRESSION && (v.data || v.steps)) return nullptr;
  const ref<cvl_vector> s = new_slice(v, n);
  s->data = v.data;
  s->under = equal_segdes(1, n);
  if (v.kind != PROGRESSION) return s;
  s->first = v.first + (uint64_t)first * v.step;
  if (v.elem == CVL_I32) s->first = (uint32_t)s->first;
  note_sum(*s.get(), spread_int_of(v.elem, s->first), spread_int_of(v.elem, v.step), n);
  return s;
}

/* Returns a slice of whole segments of equal length. */
static ref<cvl_vector> slice_of_segments(context &c, uint64_t site, const cvl_vector &v,
                                         int64_t first, int64_t n) {
  const ref<cvl_vector> s = new_slice(v, n * v.under->equal);
  if (v.data) s->data = slice_of(c, site, *v.data.get(), first, n);
  if (v.steps) s->steps = slice_of(c, site, *v.steps.get(), first, n);
  s->under = equal_segdes(n, v.under->equal);
  return s;
}

ref<cvl_vector> slice_of_computed(context &c, uint64_t site, cvl_vector &v, int64_t first,
                                  int64_t n) {
  if (v.kind == ALL_EQUAL) {
    const ref<cvl_vector> s = new_slice(v, n);
    note_sum(*s.get(), spread_int_of(v.elem, v.first), 0, n);
    return s;
  }
  if (v.under->count == 1) return slice_of_one_segment(v, first, n);
  const int64_t equal = v.under->equal;
  if (equal <= 0 || first % equal != 0 || n % equal != 0) return nullptr;
  return slice_of_segments(c, site, v, first / equal, n / equal);
}

/* ---- in memory ---- */

namespace {

template <class T> struct spread_body {
  enum { at_once = elements_at_once<T>() };
  operand<T> x;
  ptr<T> out;

  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t i, int64_t step) const {
    T v[U];
    load_memory(x, i, step, v);
    load_others(x, i, step, v);
    for (int k = 0; k < U; k++) out[i + k * step] = v[k];
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

} // namespace

/* T matters only by its width: progressions wrap in the same way. */
template <class T> static void copy_elements_to(work &w, const cvl_value &v, void *to) {
  const int64_t n = v.form == CVL_VECTOR ? v.as.vector->length : 1;
  const operand<T> x = w.read<T>(v);
  w.run(launch_together("spread", n, spread_body<T>{x, pointer_to<T>(to)}));
}

void copy_to(work &w, const cvl_value &v, const ref<block> &to, size_t at) {
  void *const begin = address(w.changed<char>(to)) + at;
  switch (elem_info((cvl_elem)v.elem)->bytes) {
  case 1: copy_elements_to<uint8_t>(w, v, begin); break;
  case 4: copy_elements_to<uint32_t>(w, v, begin); break;
  default: copy_elements_to<uint64_t>(w, v, begin); break;
  }
}

template <class T> static ref<cvl_vector> spread_copy_elements(work &w, const cvl_value &v) {
  const ref<deferred> size = v.form == CVL_VECTOR ? v.as.vector->size : nullptr;
  const bool bounded = w.mode == operand_lengths::BOUNDED && stays_deferred(w.c, size);
  const ref<deferred> domain = w.domain;
  const ref<block> domain_at = w.domain_at;
  const int64_t n = bounded || !size ? length_bound(v) : settled_length(w.c, *v.as.vector);
  const operand<T> x = w.read<T>(v);
  w.over(bounded ? size : nullptr);
  const ref<cvl_vector> r = w.make_each((cvl_elem)v.elem, n);
  w.run(w.for_each(launch_together("spread", n, spread_body<T>{x, w.data<T>(r)})));
  w.domain = domain;
  w.domain_at = domain_at;
  return r;
}

ref<cvl_vector> copy_of(work &w, const cvl_value &v) {
  switch (elem_info((cvl_elem)v.elem)->bytes) {
  case 1: return spread_copy_elements<uint8_t>(w, v);
  case 4: return spread_copy_elements<uint32_t>(w, v);
  default: return spread_copy_elements<uint64_t>(w, v);
  }
}

void materialise(work &w, cvl_vector &v) {
  cvl_value as_value{};
  as_value.form = CVL_VECTOR;
  as_value.elem = (uint8_t)v.elem;
  as_value.as.vector = &v;
  const ref<cvl_vector> r = copy_of(w, as_value);
  if (w.on_host) {
    v.host = r->host;
    v.arrives = 0;
  } else {
    v.device = r->device;
  }
}

} // namespace ravel
