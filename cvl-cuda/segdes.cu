/* segdes.cu - descriptors from lengths, and lengths from descriptors.
 *
 * If the host knows that lengths are equal, their descriptor takes no memory. Otherwise a
 * descriptor is its offsets. On the device they take one launch, which moves I + 8 bytes for
 * each length. With more than OFFSETS_TILE lengths its blocks use memory that is set before the
 * window. The total is known if the sum of the lengths is (LENGTHS, and vectors computed from
 * it), and deferred if not. No operation waits here. LENGTHS is one launch (8 + I bytes), the
 * first time. A deferred total is also the sum of the lengths, and the length of a descriptor
 * of one segment. These share its memory, and take no launch. The longest segment comes with
 * the offsets, and is known after the next wait. Until then all segments may be as long as the
 * total.
 *
 * Two structures say in which segment an element is. Each is made when it is first needed, by
 * one launch, and kept. The rank directory has 16 bytes for each 64 elements, and takes a
 * search among the offsets for each of those. If some segments are empty, it has a list of 4
 * bytes for each segment. The expanded ids, as in the paper of 2012, come from the directory: 4
 * bytes an element. In order, a lookup costs R = 1/4 byte of the directory or 4 bytes of ids.
 * The directory also counts bits, and loads from the list if segments are empty. Random access
 * costs a sector of 32 bytes either way, but the directory is a sixteenth of the size and fits
 * the second-level cache sooner. So ids move more bytes, but save instructions. On an H200 that
 * makes no difference, or a tenth more (RANK_UP in bench-ops, with ids and without). RANK uses
 * them: rank.cu.
 */
#include <limits.h>

#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/segdes-kernels.hpp"

namespace ravel {

/* ---- on the host ---- */

static void give_one(cvl_value *out, int64_t length) {
  *out = cvl_value{};
  out->form = CVL_ONE_SEGMENT;
  out->as.one_segment = (uint64_t)length;
}

ref<cvl_segdes> equal_segdes(int64_t count, int64_t length) {
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = count;
  d->equal = length;
  d->total = count * length;
  return d;
}

void recognise_equal(cvl_segdes &d) {
  const int64_t *offsets = (const int64_t *)(const void *)d.host_offsets->at;
  const int64_t length = d.count > 0 ? offsets[1] : 0;
  for (int64_t k = 0; k < d.count; k++) {
    if (offsets[k + 1] - offsets[k] != length) return;
  }
  d.equal = length;
  d.host_offsets = nullptr;
}

/* Makes a descriptor from lengths that the host has; `length` gives each. */
template <class G>
static ref<cvl_segdes> segdes_on_host(context &c, uint64_t site, int64_t count, G length) {
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = count;
  d->host_offsets = ref<block>(
      c.memory.take(memory_space::host, (size_t)(count + 1) * sizeof(int64_t), site));
  int64_t *offsets = (int64_t *)(void *)d->host_offsets->at;
  offsets[0] = 0;
  d->longest = 0;
  for (int64_t k = 0; k < count; k++) {
    const int64_t x = length(k);
    if (x < 0) fail(CVL_E_NEGATIVE_LENGTH, site, k, x);
    if (x > INT64_MAX - offsets[k]) fail(CVL_E_TOTAL, site, k);
    offsets[k + 1] = offsets[k] + x;
    if (x > d->longest) d->longest = x;
  }
  d->total = offsets[count];
  recognise_equal(*d.get());
  return d;
}

void segdes_from_host(context &c, uint64_t site, uint64_t n, const int64_t *lengths,
                      cvl_value *out) {
  if (n == 1) {
    give_one(out, lengths[0]);
    return;
  }
  ref<cvl_segdes> d =
      segdes_on_host(c, site, (int64_t)n, [&](int64_t k) { return lengths[k]; });
  out->form = CVL_SEGDES;
  out->as.segdes = d.give();
}

/* Gives a descriptor of equal lengths x, of which nothing else is kept. */
static void give_equal(uint64_t site, int64_t count, int64_t x, cvl_value *out) {
  if (count > 0 && x < 0) fail(CVL_E_NEGATIVE_LENGTH, site, 0, x);
  if (x > 0 && count > INT64_MAX / x) fail(CVL_E_TOTAL, site, INT64_MAX / x);
  if (count == 1) {
    give_one(out, x);
    return;
  }
  out->form = CVL_SEGDES;
  out->as.segdes = equal_segdes(count, count > 0 ? x : 0).give();
}

/* ---- offsets on the device ---- */

/* Gives a descriptor the deferred total of lengths whose sum is not known. `*at` is where a
 * kernel writes it, unless it comes anyway. Lengths that are made of the descriptor then have
 * it, too. */
static void segdes_expect_total(work &w, const cvl_vector &lengths, cvl_segdes &d,
                                ptr<int64_t> *at) {
  int64_t bound;
  if (lengths.elem == CVL_I64 || __builtin_mul_overflow(d.count, (int64_t)INT32_MAX, &bound))
    bound = INT64_MAX;
  d.size = sum_later(w.c, lengths);
  if (!d.size) d.size = w.later(bound, at);
  d.total = d.size->bound;
}

/* Prepares what the blocks of several tiles share. All of it is 0, so no total has the mark. */
template <class T> static void prepare_tiles(work &w, write_offsets<T> &body) {
  using totals = typename write_offsets<T>::totals;
  using total = typename totals::total;
  const int64_t words = sizeof(total) / sizeof(uint64_t), all = totals::count(body.count);
  const ref<cvl_vector> memory = w.make(CVL_I64, all * words + OFFSETS_COUNTERS);
  w.set(memory, 0);
  const ptr<uint64_t> at = w.data<uint64_t>(memory);
  body.published = {(total *)(void *)address(at), body.count, 1};
  body.counters = at + all * words;
}

/* Makes a descriptor on the device. The host knows the sum of the lengths at most. */
template <class T>
static void make_on_device(work &w, const cvl_value &v, int64_t count, cvl_value *out) {
  cvl_vector &vector = *v.as.vector;
  const int64_t tiles = (count + OFFSETS_TILE - 1) / OFFSETS_TILE;
  const bool known = vector.has_sum;
  const int64_t total = known && vector.sum > 0 ? vector.sum : 0;
  write_offsets<T> body{};
  body.lengths = w.read<T>(v);
  body.count = count;
  body.tiles = tiles;
  body.bad = w.bad();
  body.fallback = total;
  body.known = known;
  const ref<cvl_segdes> d = w.make_segdes(count, total);
  body.offsets = w.offsets(d);
  if (tiles > 1) prepare_tiles(w, body);
  if (!known) segdes_expect_total(w, vector, *d.get(), &body.total);
  if (count >= w.c.small) d->longest_later = w.greatest_later(INT64_MAX, &body.longest);
  w.run(launch_blocks_on_device("offsets", tiles, body));
  if (!known) {
    expect_sum(w.c, vector, d->size); /* nothing can fail any more */
    has_total(*d.get(), d->size);
    require_again(w.c, w.site, d->size);
  }
  d->lengths = ref<cvl_vector>::to(&vector);
  d->faults_taken = w.c.faults_taken;
  vector.made = d.get();
  w.give(out, d);
}

template <class T>
static void make_on_host(work &w, const cvl_value &v, int64_t count, cvl_value *out) {
  const operand<T> x = w.read<T>(v);
  const ref<cvl_segdes> d = segdes_on_host(w.c, w.site, count, [&](int64_t k) { return x[k]; });
  cvl_vector &lengths = *v.as.vector;
  d->lengths = ref<cvl_vector>::to(&lengths);
  d->faults_taken = w.c.faults_taken;
  lengths.made = d.get();
  w.give(out, d);
}

/* Gives the descriptor of one segment whose length is deferred. Nothing waits. */
static void give_one_later(context &c, uint64_t site, const ref<deferred> &p, cvl_value *out) {
  ref<cvl_segdes> d(new cvl_segdes);
  d->count = 1;
  d->size = length_of_deferred(c, site, p);
  d->total = d->size->bound;
  out->form = CVL_SEGDES;
  out->as.segdes = d.give();
}

/* Returns whether the host knows that all lengths are equal, and sets *length to them. */
static bool one_length(const cvl_value &v, int64_t *length) {
  if (v.form == CVL_SCALAR) {
    *length = cvl_int_of(&v);
    return true;
  }
  const cvl_vector &x = *v.as.vector;
  if (x.kind != ALL_EQUAL) return false;
  *length = x.elem == CVL_I32 ? (int32_t)(uint32_t)x.first : (int64_t)x.first;
  return true;
}

void make_segdes(context &c, uint64_t site, const cvl_value &v, cvl_value *out) {
  int64_t length;
  if (v.form == CVL_VECTOR) exact(c, *v.as.vector);
  if (length_bound(v) == 0) {
    give_equal(site, 0, 0, out);
    return;
  }
  if (one_length(v, &length)) {
    give_equal(site, length_bound(v), length, out);
    return;
  }
  cvl_vector &lengths = *v.as.vector;
  /* These may be the lengths of a descriptor that still exists, and is without fault. */
  if (lengths.made && lengths.made->faults_taken == c.faults_taken) {
    *out = cvl_value{};
    out->form = CVL_SEGDES;
    out->as.segdes = ref<cvl_segdes>::to(lengths.made).give();
    return;
  }
  const int64_t count = lengths.length;
  if (lengths.has_sum && count == 1) {
    give_equal(site, count, lengths.sum, out);
    return;
  }
  const ref<deferred> sum = sum_later(c, lengths);
  if (sum && count == 1 && !is_known(c, *sum.get())) {
    give_one_later(c, site, sum, out);
    return;
  }
  work w(c, site, {&v}, count);
  with_int(lengths.elem, [&](auto zero) {
    typedef decltype(zero) T;
    if (w.on_host) {
      make_on_host<T>(w, v, count, out);
    } else {
      make_on_device<T>(w, v, count, out);
    }
    return 0;
  });
}

/* ---- lengths ---- */

static void give_int(const context &c, cvl_value *out, int64_t x) {
  *out = cvl_scalar_int(c.int_elem, x);
}

/* Gives the same length `count` times. */
static void give_lengths(const context &c, uint64_t site, int64_t count, int64_t length,
                         cvl_value *out) {
  if (count > 0 && length > most_of_int(c)) fail(CVL_E_INT_RANGE, site, 0, length);
  if (count == 1) {
    give_int(c, out, length);
    return;
  }
  ref<cvl_vector> v(new cvl_vector);
  v->elem = c.int_elem;
  v->length = count;
  v->kind = ALL_EQUAL;
  v->first = (uint64_t)length;
  v->has_sum = true;
  v->sum = count * length;
  v->least = v->most = length;
  out->form = CVL_VECTOR;
  out->elem = (uint8_t)v->elem;
  out->as.vector = v.give();
}

/* Gives a deferred size that fits an INT. Returns false if the size is another. */
static bool give_int_later(context &c, const ref<deferred> &size, cvl_value *out) {
  if (!size || is_known(c, *size.get()) || size->bound > most_of_int(c)) return false;
  out->form = CVL_VECTOR;
  out->elem = (uint8_t)c.int_elem;
  out->as.vector = int_of_deferred(c, size).give();
  return true;
}

/* Adds one more descriptor. */
template <class T> static bool join_lengths(void *waiting, launch *l, const void *body) {
  lengths_body<T> &x = *(lengths_body<T> *)waiting;
  const lengths_body<T> &y = *(const lengths_body<T> *)body;
  if (x.count == x.most || x.n != y.n) return false;
  x.list[x.count++] = y.list[0];
  l->count += x.n;
  return true;
}

void lengths(context &c, uint64_t site, const cvl_value &v, cvl_value *out) {
  if (v.form == CVL_ONE_SEGMENT) {
    give_lengths(c, site, 1, (int64_t)v.as.one_segment, out);
    return;
  }
  cvl_segdes &d = *v.as.segdes;
  if (d.count == 1 && give_int_later(c, d.size, out)) return;
  if (d.count == 1) exact(c, d);
  if (d.equal >= 0) {
    give_lengths(c, site, d.count, d.equal, out);
    return;
  }
  work w(c, site, {}, d.count); /* the total may stay deferred */
  w.on_host = w.on_host && at_hand(c, v);
  if (!d.lengths) {
    const ref<cvl_vector> r = w.make(c.int_elem, d.count);
    with_int(c.int_elem, [&](auto zero) {
      typedef decltype(zero) T;
      lengths_body<T> body{};
      body.n = d.count;
      body.greatest = most_of_int(c);
      body.list[body.count++] = {w.offsets_here(d), w.data<T>(r), w.bad()};
      w.run_joined(launch_map("lengths", d.count, body), join_lengths<T>);
      return 0;
    });
    if (!d.size) {
      r->has_sum = true;
      r->sum = r->most = d.total;
      r->least = 0;
    } else {
      expect_sum(c, *r.get(), d.size);
    }
    if (d.total > most_of_int(c)) { /* perhaps a fault, which must be reported */
      w.give(out, r);
      return;
    }
    d.lengths = r;
    d.faults_taken = c.faults_taken;
    r->made = &d;
  }
  w.give(out, d.lengths);
}

void length_of(context &c, uint64_t site, const cvl_value &v, cvl_value *out) {
  if (v.form == CVL_VECTOR && give_int_later(c, v.as.vector->size, out)) return;
  if (v.form == CVL_VECTOR) exact(c, *v.as.vector);
  const int64_t n = length_bound(v);
  if (n > most_of_int(c)) fail(CVL_E_INT_RANGE, site, 0, n);
  give_int(c, out, n);
}

/* ---- rank directories and expanded ids ---- */

/* Up to so many segments no directory is made, since a search among the offsets, which stay in
 * the first-level cache, costs less than the launch. This is an estimate: 0.5 ps for each step
 * of each element and four uses of a descriptor, against 2.5 us, which is 2^20 steps. With up
 * to 16 segments the steps are hidden behind the elements' own memory accesses. If nothing is
 * small (tests), every directory pays. The numbers in its list have 32 bits. */
enum { FEW_SEGMENTS = 16, STEPS_OF_SMALL = 512 };

bool ranks_pay(const context &c, const cvl_segdes &d) {
  if (d.count > (int64_t)UINT32_MAX) return false;
  if (c.small <= 0) return true;
  if (d.count <= FEW_SEGMENTS) return false;
  int64_t steps = 0;
  while (d.count > (int64_t)1 << steps) steps++;
  return d.total > STEPS_OF_SMALL * c.small / steps;
}

void make_ranks(work &w, cvl_segdes &d) {
  const int64_t words = (d.total + 63) / 64;
  const ref<cvl_vector> r = w.make(CVL_I64, 2 * words); /* rank_word is two of them */
  const ref<cvl_vector> numbers = w.make(CVL_I32, words + d.count);
  /* Each thread makes one word: there are few words, and each waits for a search. */
  w.run(
      launch_n("ranks", words,
               directory_body{{w.view(&d)}, w.data<rank_word>(r), w.data<uint32_t>(numbers)}));
  d.device_ranks = r->device;
  d.device_numbers = numbers->device;
}

void make_ids(work &w, const segments &s, ptr<uint32_t> ids) {
  w.run(launch_map("segment ids", s.total, map_body<id_at, uint32_t>{{s}, ids}));
}

} // namespace ravel
