/* test-descriptors.cpp - properties of PACK and of descriptors that conformance cannot see:
 * what is kept and shared, how many launches that saves, and vectors too long for a single tile
 * of sums. */
#include <string.h>

#include "cvl-cuda/context.hpp"
#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/tests/session.hpp"

struct session : emulated_session {
  session() : emulated_session("order=shuffled,seed=5,deferred,small=0") {}

  using emulated_session::upload;
  cvl_value upload(const std::vector<uint8_t> &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_BOOL, x.size(), x.data(), &v));
    return v;
  }
  ints fetch(const cvl_value &v) {
    cvl_size n = v.form == CVL_SEGDES ? b->count(c, &v) : b->length(c, &v);
    cr_assert(b->resolve(c, &n));
    ints x(n.bound);
    cr_assert(b->to_host(c, &v, 0, n.bound, x.data()));
    return x;
  }
};

static ints descriptors_numbers(int64_t n) {
  ints x((size_t)n);
  for (int64_t i = 0; i < n; i++) x[(size_t)i] = i * 3;
  return x;
}

/* There are more tiles of flags than one block adds up. */
Test(descriptors, many_flags) {
  enum { N = (1 << 22) + 20001, SEGMENTS = 3 };
  session s;
  const ints x = descriptors_numbers(N), lengths = {70000, 0, N - 70000};
  std::vector<uint8_t> set(N);
  ints want, want_lengths(SEGMENTS);
  for (int64_t i = 0; i < N; i++) {
    set[(size_t)i] = i % 7 < 3 || i > N - 5;
    if (!set[(size_t)i]) continue;
    want.push_back(x[(size_t)i]);
    want_lengths[i < 70000 ? 0 : 2]++;
  }
  cvl_value v = s.upload(x), f = s.upload(set), d{}, out{}, out_d{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, SEGMENTS, lengths.data(), &d));
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f, d}, &out, &out_d));
  cr_assert(s.fetch(out) == want);
  cr_assert(s.fetch(out_d) == want_lengths);
  for (const cvl_value *p : {&v, &f, &d, &out, &out_d}) s.b->release(s.c, p);
}

/* Vectors packed by the same flags have one length, one descriptor and one launch. */
Test(descriptors, same_flags) {
  enum { N = 50000, VECTORS = 5 };
  session s;
  std::vector<uint8_t> set(N);
  for (size_t i = 0; i < N; i++) set[i] = i % 3 == 0;
  ints lengths = {N / 2, 0, N / 2};
  cvl_value f = s.upload(set), d{}, v[VECTORS], out[VECTORS], out_d[VECTORS];
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 3, lengths.data(), &d));
  for (cvl_value &x : v) x = s.upload(descriptors_numbers(N));
  ints first = s.fetch(v[0]); /* everything that was issued is done */
  const uint64_t before = s.launches(), waits = s.b->statistics(s.c).waits;
  for (int k = 0; k < VECTORS; k++) {
    cr_assert(s.apply(CALL_PACK, OP_PACK, {v[k], f, d}, &out[k], &out_d[k]));
    cr_assert(s.b->same(s.c, &out_d[0], &out_d[k]));
    cr_assert_eq(s.b->length(s.c, &out[k]).symbol, s.b->length(s.c, &out_d[0]).symbol);
    cr_assert_neq(s.b->length(s.c, &out[k]).symbol, 0);
  }
  cr_assert_eq(s.b->statistics(s.c).waits, waits);
  cvl_size n = s.b->length(s.c, &out[0]);
  cr_assert(s.b->resolve(s.c, &n));
  cr_assert_eq(n.bound, (N + 2) / 3);
  cr_assert_leq(s.launches() - before, 4, "index, pack, upload and news, but %d launches",
                (int)(s.launches() - before));
  for (int k = 0; k < VECTORS; k++) {
    const ints x = s.fetch(out[k]);
    cr_assert_eq(x.size(), n.bound);
    for (size_t i = 0; i < x.size(); i++) cr_assert_eq(x[i], first[i * 3]);
  }
  for (int k = 0; k < VECTORS; k++) {
    for (const cvl_value *p : {&v[k], &out[k], &out_d[k]}) s.b->release(s.c, p);
  }
  for (const cvl_value *p : {&f, &d}) s.b->release(s.c, p);
}

/* Returns whether all segments are empty as kernels see them: the emulated device's memory can
 * be read. */
static bool all_empty(const cvl_value &d) {
  const cvl_segdes &x = *d.as.segdes;
  const int64_t *offsets = (const int64_t *)(const void *)x.device_offsets->at;
  return std::all_of(offsets, offsets + x.count + 1, [](int64_t at) { return at == 0; });
}

/* Offsets of many tiles of lengths, and their sum. If a length is at fault, so is the sum, and
 * the offsets of all tiles are written again. */
Test(descriptors, many_lengths) {
  enum { N = (1 << 21) + 5000 };
  session s;
  ints lengths(N);
  int64_t total = 0;
  const uint64_t before = s.launches();
  for (size_t i = 0; i < N; i++) total += lengths[i] = (int64_t)(i * i % 11);
  cvl_value v = s.upload(lengths), d{}, again{}, more{};
  cr_assert(s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {v}, &d));
  cvl_size size = s.b->length(s.c, &d);
  cr_assert_neq(size.symbol, 0);
  cr_assert(s.b->resolve(s.c, &size));
  cr_assert_eq(size.bound, (uint64_t)total);
  cr_assert_eq(s.launches() - before, 3, "before the window, offsets, and behind it");
  cr_assert(s.fetch(d) == lengths);
  cr_assert(s.apply(CALL_LENGTHS, OP_LENGTHS, {d}, &again));
  cr_assert(s.b->same(s.c, &v, &again), "the vector that it was made from");
  lengths[N - 1] = lengths[12345] = -4;
  cvl_value bad = s.upload(lengths);
  cr_assert(s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {bad}, &more));
  cvl_error e;
  cr_assert(s.b->check(s.c, true, &e));
  cr_assert_eq(e.kind, CVL_E_NEGATIVE_LENGTH);
  cr_assert_eq(e.position, 12345);
  cr_assert(all_empty(more));
  for (const cvl_value *p : {&v, &d, &again, &more, &bad}) s.b->release(s.c, p);
}

/* A total becomes too large at some length, which may be in any tile. */
Test(descriptors, many_lengths_that_are_too_many) {
  for (const size_t n : {(size_t)20, (size_t)20000}) {
    session s;
    cvl_value d{};
    cvl_error e;
    cvl_value v = s.upload(ints(n, INT64_MAX / ((int64_t)n - 5)));
    cr_assert(s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {v}, &d));
    cr_assert(s.b->check(s.c, true, &e));
    cr_assert_eq(e.kind, CVL_E_TOTAL);
    cr_assert_eq(e.position, (int64_t)n - 5);
    cr_assert(all_empty(d));
    for (const cvl_value *p : {&v, &d}) s.b->release(s.c, p);
  }
}

/* LENGTHS of a descriptor, and the descriptor of those lengths, take no launch. */
Test(descriptors, there_and_back) {
  session s;
  const ints lengths = {3, 0, 5, 9};
  cvl_value d{}, l{}, back{}, more{};
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, lengths.size(), lengths.data(), &d));
  cr_assert(s.apply(CALL_LENGTHS, OP_LENGTHS, {d}, &l));
  cr_assert(s.fetch(l) == lengths);
  const uint64_t before = s.launches();
  cr_assert(s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {l}, &back));
  cr_assert(s.apply(CALL_LENGTHS, OP_LENGTHS, {back}, &more));
  cr_assert(s.b->same(s.c, &d, &back));
  cr_assert(s.b->same(s.c, &l, &more));
  cr_assert_eq(s.launches(), before);
  cr_assert(s.fetch(more) == lengths);
  for (const cvl_value *p : {&d, &l, &back, &more}) s.b->release(s.c, p);
}

/* If a vector turns out to be short, only its elements are copied to the host, not all that its
 * block has room for. */
Test(descriptors, short_after_all) {
  enum { N = 150, KEPT = 50 };
  emulated_session s("check,deferred,small=100", false, CVL_I32);
  const std::vector<int32_t> ones(N, 1);
  std::vector<uint8_t> set(N);
  for (size_t i = 0; i < N; i++) set[i] = i % (N / KEPT) == 0;
  const int64_t all = N;
  cvl_value v{}, f{}, d{}, kept{}, kept_d{}, rows{}, lengths{};
  cr_assert(s.b->from_host(s.c, ++s.site, CVL_I32, N, ones.data(), &v));
  cr_assert(s.b->from_host(s.c, ++s.site, CVL_BOOL, N, set.data(), &f));
  cr_assert(s.b->segdes_from_host(s.c, ++s.site, 1, &all, &d));
  cr_assert(s.apply(CALL_PACK, OP_PACK, {v, f, d}, &kept, &kept_d));
  cr_assert(
      s.apply(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, {kept}, &rows)); /* waits for the length */
  cr_assert(s.apply(CALL_LENGTHS, OP_LENGTHS, {rows}, &lengths));
  std::vector<int32_t> seen(KEPT);
  cr_assert(s.b->to_host(s.c, &lengths, 0, KEPT, seen.data()));
  cr_assert(seen == std::vector<int32_t>(KEPT, 1));
  cr_assert_eq(ravel::emulation::count_reports(), (uint64_t)0);
  for (const cvl_value *p : {&v, &f, &d, &kept, &kept_d, &rows, &lengths}) s.b->release(s.c, p);
}

/* ---- expanded ids ---- */

/* Long segments, which are sorted, and empty ones: at the ends, between others, and in rows
 * longer than a word of the directory. */
static ints lengths_with_empty() {
  ints x = {0, 0, 100, 0, 63, 64, 1, 0, 0, 0, 300, 1, 0, 1, 0, 65};
  x.insert(x.end(), 150, 0);
  x.insert(x.end(), {1000, 0, 2, 0});
  return x;
}

static ints segment_of_each(const ints &lengths) {
  ints all;
  for (size_t s = 0; s < lengths.size(); s++)
    all.insert(all.end(), (size_t)lengths[s], (int64_t)s);
  return all;
}

static ints descriptors_ranks_of(const ints &x, const ints &lengths) {
  ints ranks;
  for (size_t s = 0, first = 0; s < lengths.size(); first += (size_t)lengths[s++]) {
    for (size_t i = first; i < first + (size_t)lengths[s]; i++) {
      int64_t before = 0;
      for (size_t j = first; j < first + (size_t)lengths[s]; j++)
        before += x[j] < x[i] || (x[j] == x[i] && j < i);
      ranks.push_back(before);
    }
  }
  return ranks;
}

/* A descriptor, something to rank, and the cost of RANK under it. */
struct ranking : session {
  const ints lengths = lengths_with_empty(), ids = segment_of_each(lengths);
  ints x;
  cvl_value v{}, d{};
  uint64_t empty; /* bytes in use before all this */

  ranking() : empty(b->statistics(c).live_bytes) {
    for (size_t i = 0; i < ids.size(); i++) x.push_back((int64_t)(i * 7919 % 1009) - 500);
    v = upload(x);
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &d));
    cr_assert(fetch(v) == x);
  }
  ~ranking() {
    b->release(c, &v);
    b->release(c, &d);
  }
  /* Returns the launches of one RANK. */
  uint64_t rank() {
    cvl_value r{};
    const uint64_t before = launches();
    cr_assert(apply(CALL_RANK, OP_RANK_UP, {v, d}, &r));
    cr_assert(fetch(r) == descriptors_ranks_of(x, lengths));
    b->release(c, &r);
    return launches() - before;
  }
  const ravel::block *kept() { return d.as.segdes->device_ids.get(); }
};

Test(descriptors, ids_number_the_segment_of_each_element) {
  ranking r;
  cr_assert_null(r.kept());
  r.rank();
  cr_assert_not_null(r.kept());
  cr_assert_eq(r.kept()->bytes, r.ids.size() * sizeof(uint32_t));
  for (size_t i = 0; i < r.ids.size(); i++) {
    uint32_t id;
    memcpy(&id, r.kept()->at + i * sizeof id, sizeof id);
    cr_assert_eq(id, r.ids[i], "element %zu", i);
  }
}

Test(descriptors, ids_take_one_launch_the_first_time) {
  uint64_t first[2], again[2];
  for (int made : {0, 1}) {
    ranking r;
    r.c->ids = made != 0;
    first[made] = r.rank();
    const ravel::block *block = r.kept();
    again[made] = r.rank();
    cr_assert_eq(r.kept(), block);
    cr_assert_eq(block != nullptr, made != 0);
  }
  cr_assert_eq(first[1], first[0] + 1);
  cr_assert_eq(again[1], again[0]);
}

Test(descriptors, ids_are_counted_and_end_with_their_descriptor) {
  uint64_t live[2];
  for (int made : {0, 1}) {
    ranking r;
    r.c->ids = made != 0;
    r.rank();
    live[made] = r.b->statistics(r.c).live_bytes;
    r.b->release(r.c, &r.v);
    r.b->release(r.c, &r.d);
    r.v = r.d = cvl_value{};
    cr_assert_eq(r.b->statistics(r.c).live_bytes, r.empty);
  }
  cr_assert_eq(live[1], live[0] + 4 * segment_of_each(lengths_with_empty()).size());
}

/* Memory that is too small for ids is enough for RANK. */
Test(descriptors, ids_are_done_without) {
  uint64_t peak;
  {
    ranking r;
    r.c->ids = false;
    r.rank();
    peak = r.b->statistics(r.c).peak_bytes;
  }
  ranking r;
  r.c->memory.limit = peak;
  r.rank();
  cr_assert_null(r.kept());
  cr_assert_leq(r.b->statistics(r.c).peak_bytes, peak);
}
