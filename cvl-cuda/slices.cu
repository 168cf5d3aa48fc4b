/* slices.cu - values split and concatenated, for batch calls: SLICE, ALLOCATE, FILL and
 * CONCATENATE of the contract.
 *
 * A slice of a vector is a range of its memory (range_of in memory.hpp), or is computed as the
 * vector is. It takes no launch and no memory. If neither is possible, all elements of the
 * vector are written first, once. FILL copies on the device, without a kernel. Elements on the
 * host go with the other uploads of the window. Computed elements are computed in their place,
 * by one launch. Offsets of descriptors are written again: one launch for a slice, 16 bytes for
 * each segment, and one for MOST descriptors that are concatenated. The total of a slice is
 * deferred if its offsets are on the device only; concatenation waits for the totals.
 */
#include <string.h>

#include <algorithm>

#include "cvl-cuda/ops.hpp"

namespace ravel {

/* ---- slices of vectors ---- */

static ref<block> range_in(const ref<block> &b, size_t width, int64_t first, int64_t n) {
  return b ? ref<block>(range_of(b.get(), (size_t)first * width, (size_t)n * width)) : b;
}

static ref<cvl_vector> slice_in_memory(const cvl_vector &v, int64_t first, int64_t n) {
  const size_t width = elem_info(v.elem)->bytes;
  ref<cvl_vector> s(new cvl_vector);
  s->elem = v.elem;
  s->length = n;
  s->host = range_in(v.host, width, first, n);
  s->device = range_in(v.device, width, first, n);
  s->arrives = v.arrives;
  return s;
}

static cvl_value slices_value_of(cvl_vector &v) {
  cvl_value x{};
  x.form = CVL_VECTOR;
  x.elem = (uint8_t)v.elem;
  x.as.vector = &v;
  return x;
}

static ref<cvl_vector> no_elements(cvl_elem elem) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = elem;
  v->kind = ALL_EQUAL;
  return v;
}

ref<cvl_vector> slice_of(context &c, uint64_t site, cvl_vector &v, int64_t first, int64_t n) {
  exact(c, v);
  if (n == 0) return no_elements(v.elem);
  const bool in_memory = v.host || v.device;
  if (v.kind == ALL_EQUAL || !in_memory) {
    const ref<cvl_vector> s = slice_of_computed(c, site, v, first, n);
    if (s) return s;
    const cvl_value all = slices_value_of(v);
    work w(c, site, {&all}, 0);
    materialise(w, v);
  }
  return slice_in_memory(v, first, n);
}

static void give_vector(context &c, const ref<cvl_vector> &v, cvl_value *out) {
  *out = slices_value_of(*v.get());
  const bool computed = v->kind == ALL_EQUAL, there = v->host && at_hand(c, *out);
  if (v->length != 1 || !(computed || there)) {
    out->as.vector = ref<cvl_vector>(v).give();
    return;
  }
  const size_t width = elem_info(v->elem)->bytes;
  *out = cvl_value{};
  out->form = CVL_SCALAR;
  out->elem = (uint8_t)v->elem;
  if (!computed) c.device->host_reads(v->host->at, width);
  memcpy(&out->as, computed ? (const void *)&v->first : v->host->at, width);
}

/* ---- slices of descriptors ---- */

static void slices_give_segdes(const ref<cvl_segdes> &d, cvl_value *out) {
  const bool one = d->count == 1 && !d->size;
  *out = cvl_value{};
  out->form = one ? CVL_ONE_SEGMENT : CVL_SEGDES;
  if (one)
    out->as.one_segment = (uint64_t)d->total;
  else
    out->as.segdes = ref<cvl_segdes>(d).give();
}

namespace {

/* Writes offset i of n + 1. */
struct slice_body {
  ptr<const int64_t> from; /* offset of the first segment */
  ptr<int64_t> to, total;  /* `to` is null if there is one segment */
  int64_t n;

  HD void operator()(int64_t i) const {
    const int64_t x = (int64_t)from[i] - (int64_t)from[0];
    if (to != nullptr) to[i] = x;
    if (i == n) put_number(total, x);
  }
};

} // namespace

static const int64_t *host_offsets(context &c, const cvl_segdes &d, int64_t first, int64_t n) {
  const int64_t *from = (const int64_t *)(const void *)d.host_offsets->at + first;
  c.device->host_reads(from, (size_t)(n + 1) * sizeof *from);
  return from;
}

/* Makes a descriptor whose offsets the host is about to write. */
static ref<cvl_segdes> new_on_host(context &c, uint64_t site, int64_t count) {
  ref<cvl_segdes> d(new cvl_segdes);
  const size_t bytes = (size_t)(count + 1) * sizeof(int64_t);
  d->count = count;
  d->host_offsets = ref<block>(c.memory.take(memory_space::host, bytes, site));
  return d;
}

static ref<cvl_segdes> slice_on_host(context &c, uint64_t site, const cvl_segdes &d,
                                     int64_t first, int64_t n) {
  const ref<cvl_segdes> s = new_on_host(c, site, n);
  const int64_t *from = host_offsets(c, d, first, n);
  int64_t *to = (int64_t *)(void *)s->host_offsets->at;
  for (int64_t k = 0; k <= n; k++) to[k] = from[k] - from[0];
  s->total = to[n];
  s->longest = longest_on_host(*s.get());
  recognise_equal(*s.get());
  return s;
}

static int64_t bound_of_total(const cvl_segdes &d) {
  return d.size && d.size->known ? d.size->value : d.total;
}

static void slice_on_device(context &c, uint64_t site, cvl_segdes &d, int64_t first, int64_t n,
                            cvl_value *out) {
  work w(c, site, {}, 0);
  w.on_host = false;
  const int64_t bound = bound_of_total(d);
  const ref<cvl_segdes> s = n == 1 ? ref<cvl_segdes>(new cvl_segdes) : w.make_segdes(n, bound);
  slice_body body{};
  body.from = w.offsets_here(d) + first;
  if (n > 1) body.to = w.offsets(s);
  body.n = n;
  s->count = n;
  s->total = bound;
  s->size = w.later(bound, &body.total);
  s->longest = d.longest; /* no segment of the slice is longer */
  s->longest_later = d.longest_later;
  w.run(launch_n("slice", n + 1, body));
  if (n > 1) has_total(*s.get(), s->size);
  w.give(out, s);
}

static void slice_segments(context &c, uint64_t site, const cvl_value &v, int64_t first,
                           int64_t n, cvl_value *out) {
  if (n == count_of(v)) { /* nothing is written to it, so it may be v itself */
    *out = v;
    out->owned = 0;
    if (v.form == CVL_SEGDES) retain(v.as.segdes);
    return;
  }
  cvl_segdes *d = v.form == CVL_SEGDES ? v.as.segdes : nullptr;
  if (n == 0) {
    slices_give_segdes(equal_segdes(0, 0), out);
  } else if (d->equal >= 0) {
    slices_give_segdes(equal_segdes(n, d->equal), out);
  } else if (at_hand(c, v) && (n <= c.small || !d->device_offsets)) {
    slices_give_segdes(slice_on_host(c, site, *d, first, n), out);
  } else {
    slice_on_device(c, site, *d, first, n, out);
  }
}

void slice(context &c, uint64_t site, const cvl_value &v, int64_t first, int64_t n,
           cvl_value *out) {
  if (v.form == CVL_VECTOR) {
    give_vector(c, slice_of(c, site, *v.as.vector, first, n), out);
  } else if (v.form == CVL_SCALAR && n == 0) {
    give_vector(c, no_elements((cvl_elem)v.elem), out);
  } else if (v.form == CVL_SCALAR) {
    *out = v;
    out->owned = 0;
  } else {
    slice_segments(c, site, v, first, n, out);
  }
}

/* ---- vectors to be filled ---- */

/* The vector is on the device, wherever its elements will come from. */
void allocate(context &c, uint64_t site, cvl_elem elem, uint64_t n, cvl_value *out) {
  const size_t width = elem_info(elem)->bytes;
  if (n > INT64_MAX / width) throw out_of_memory(site, INT64_MAX, c.memory.limit);
  ref<cvl_vector> v(new cvl_vector);
  v->elem = elem;
  v->length = (int64_t)n;
  need_device(c, site);
  v->device = ref<block>(c.memory.take(memory_space::device, (size_t)n * width, site));
  *out = slices_value_of(*v.give());
}

/* Returns where the elements are if the host can read them, and they are not worth a copy on
 * the device; else null. */
static const void *few_on_host(context &c, const cvl_value &v, size_t bytes) {
  if (v.form == CVL_SCALAR) return &v.as;
  const cvl_vector &x = *v.as.vector;
  if (!x.host || !at_hand(c, v) || (x.device && x.length > c.small)) return nullptr;
  c.device->host_reads(x.host->at, bytes);
  return x.host->at;
}

/* Writes elements that are not in the memory of the device. */
static void compute_to(context &c, uint64_t site, const cvl_value &v, const ref<block> &to,
                       size_t at) {
  work w(c, site, {&v}, 0);
  w.on_host = false;
  copy_to(w, v, to, at);
}

void fill(context &c, uint64_t site, cvl_vector &target, int64_t first, const cvl_value &v) {
  if (v.form == CVL_VECTOR) exact(c, *v.as.vector);
  const int64_t n = length_bound(v);
  if (n == 0) return;
  const size_t width = elem_info(target.elem)->bytes, bytes = (size_t)n * width;
  const ref<block> &to = target.device, range = range_in(to, width, first, n);
  const void *from = few_on_host(c, v, bytes);
  if (from)
    c.work_queue.upload(c.memory, range.get(), from, bytes, site);
  else if (v.as.vector->device)
    c.work_queue.copy_within(range.get(), v.as.vector->device->at, bytes);
  else
    compute_to(c, site, v, to, (size_t)first * width);
  to->written = std::max(to->written, range->written);
}

/* ---- concatenated descriptors ---- */

namespace {

/* One of the descriptors, or several in a row with segments of one length. */
struct joined_segdes {
  ptr<const int64_t> offsets;  /* null: all segments have this length */
  int64_t length, first, base; /* the first segment in the result, and its offset there */

  HD int64_t offset(int64_t k) const {
    return base + (offsets == nullptr ? (k - first) * length : (int64_t)offsets[k - first]);
  }
};

/* Writes the offsets of segments from those of the first descriptor on. MOST descriptors fill a
 * launch's arguments. */
struct concatenate_body {
  enum { MOST = 100 };
  int32_t count;
  int64_t first;
  ptr<int64_t> to;
  joined_segdes list[MOST];

  HD void operator()(int64_t i) const {
    const int64_t k = first + i;
    int32_t low = 0, high = count - 1;
    while (low < high) {
      const int32_t middle = low + (high - low + 1) / 2;
      if (list[middle].first <= k) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    to[k] = list[low].offset(k);
  }
};

/* One or several of the descriptors, as the host knows them. */
struct segments_in_a_row {
  cvl_segdes *d; /* null: they have one length */
  int64_t length, count, total, first, base;
};

struct all_segments {
  std::vector<segments_in_a_row> list;
  int64_t count = 0, total = 0, longest = 0;
  bool on_host = true; /* the host can read all offsets */
};

} // namespace

/* Returns the first segment of some behind `base` elements whose end is past INT64_MAX. */
static int64_t first_too_far(context &c, const segments_in_a_row &x, int64_t base) {
  const int64_t left = INT64_MAX - base;
  if (x.d == nullptr) return left / x.length;
  std::vector<int64_t> offsets((size_t)x.count + 1);
  read_block(c, x.d->host_offsets, x.d->arrives, x.d->device_offsets, 0,
             offsets.size() * sizeof(int64_t), offsets.data());
  int64_t k = 0;
  while (offsets[(size_t)k + 1] <= left) k++;
  return k;
}

static segments_in_a_row slices_known_segments(context &c, const cvl_value &v) {
  if (v.form == CVL_SEGDES) exact(c, *v.as.segdes);
  cvl_segdes *d = v.form == CVL_SEGDES && v.as.segdes->equal < 0 ? v.as.segdes : nullptr;
  segments_in_a_row x{d, 0, count_of(v), total_of(c, v), 0, 0};
  if (d == nullptr) x.length = x.count > 0 ? x.total / x.count : 0;
  return x;
}

static int64_t longest_of(const segments_in_a_row &x) {
  if (x.d == nullptr) return x.length;
  return x.d->longest >= 0 ? x.d->longest : x.total;
}

static void slices_add_segments(context &c, uint64_t site, segments_in_a_row x,
                                all_segments &all) {
  if (x.count == 0) return;
  if (x.count > INT64_MAX - all.count) throw out_of_memory(site, INT64_MAX, c.memory.limit);
  if (x.total > INT64_MAX - all.total)
    fail(CVL_E_TOTAL, site, all.count + first_too_far(c, x, all.total));
  x.first = all.count;
  x.base = all.total;
  all.count += x.count;
  all.total += x.total;
  all.longest = std::max(all.longest, longest_of(x));
  segments_in_a_row *last = all.list.empty() ? nullptr : &all.list.back();
  if (last && !last->d && !x.d && last->length == x.length)
    last->count += x.count;
  else
    all.list.push_back(x);
}

static all_segments add_all(context &c, uint64_t site, uint64_t n, const cvl_value *v) {
  all_segments all;
  for (uint64_t k = 0; k < n; k++) {
    const segments_in_a_row x = slices_known_segments(c, v[k]);
    all.on_host = all.on_host && at_hand(c, v[k]);
    slices_add_segments(c, site, x, all);
  }
  return all;
}

/* Writes the offsets of descriptors from k on, as many as fill a launch. */
static void write_offsets_of(work &w, const all_segments &all, size_t k,
                             const ref<cvl_segdes> &d) {
  concatenate_body body{};
  const size_t end = std::min(all.list.size(), k + concatenate_body::MOST);
  const bool last = end == all.list.size();
  body.first = all.list[k].first;
  body.to = w.offsets(d);
  for (; k < end; k++) {
    const segments_in_a_row &x = all.list[k];
    joined_segdes &j = body.list[body.count++];
    j = {nullptr, x.length, x.first, x.base};
    if (x.d) j.offsets = w.offsets_here(*x.d);
  }
  const int64_t behind = last ? all.count + 1 : all.list[end].first;
  w.run(launch_n("concatenate", behind - body.first, body));
}

void concatenate(context &c, uint64_t site, uint64_t n, const cvl_value *descriptors,
                 cvl_value *out) {
  const all_segments all = add_all(c, site, n, descriptors);
  if (all.list.size() <= 1 && (all.list.empty() || !all.list[0].d)) {
    slices_give_segdes(equal_segdes(all.count, all.count ? all.list[0].length : 0), out);
    return;
  }
  work w(c, site, {}, all.count);
  w.on_host = w.on_host && all.on_host;
  const ref<cvl_segdes> d = w.make_segdes(all.count, all.total);
  for (size_t k = 0; k < all.list.size(); k += concatenate_body::MOST)
    write_offsets_of(w, all, k, d);
  d->longest = all.longest;
  if (w.on_host) recognise_equal(*d.get());
  w.give(out, d);
}

} // namespace ravel
