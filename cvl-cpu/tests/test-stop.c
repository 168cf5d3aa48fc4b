/* test-stop.c - operations that are asked to end: at the first look, the second, the third and
 * so on. Each ends in a fault of that kind and holds nothing afterwards, or is done and right.
 * Its operands stay as they were. It is meant to run under the sanitizers as well, since half
 * the work of one pass must not mislead the next one. */
#include <criterion/criterion.h>
#include <stdatomic.h>
#include <string.h>

#include "cvl-cpu/cvl-cpu.h"

enum { N = 1200000, SEGMENTS = 1000 };

/* ---- who asks ---- */

struct asker {
  _Atomic uint64_t looks;
  uint64_t from; /* asks from this look on; 0: never */
};

static bool asks(void *asker) {
  struct asker *a = asker;
  const uint64_t look = atomic_fetch_add(&a->looks, 1) + 1;
  return a->from != 0 && look >= a->from;
}

/* ---- operands ---- */

struct operands {
  struct cvl_context *c;
  struct cvl_value reals, ints, flags, index, one, many, counts;
};

static const struct cvl_backend *const b = &cvl_cpu_backend;

static struct cvl_value stop_from(struct cvl_context *c, enum cvl_elem elem, uint64_t n,
                                  const void *data) {
  struct cvl_value v;
  cr_assert(b->from_host(c, 1, elem, n, data, &v));
  return v;
}

static struct operands operands_make(struct cvl_context *c) {
  static double reals[N];
  static int64_t ints[N], index[N], counts[SEGMENTS];
  static uint8_t flags[N];
  uint64_t random = 88172645463325252; /* xorshift (Marsaglia) */
  for (int i = 0; i < N; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    ints[i] = (int64_t)(random % N);
    reals[i] = (double)random * 1e-9;
    flags[i] = random >> 32 & 1;
    index[i] = (i + 7919) % N; /* a permutation */
  }
  for (int k = 0; k < SEGMENTS; k++) counts[k] = N / SEGMENTS - 5 + k % 11;
  int64_t rest = N;
  for (int k = 0; k + 1 < SEGMENTS; k++) rest -= counts[k];
  counts[SEGMENTS - 1] = rest;
  struct operands o = {.c = c,
                       .reals = stop_from(c, CVL_F64, N, reals),
                       .ints = stop_from(c, CVL_I64, N, ints),
                       .flags = stop_from(c, CVL_BOOL, N, flags),
                       .index = stop_from(c, CVL_I64, N, index),
                       .counts = stop_from(c, CVL_I64, SEGMENTS, counts),
                       .one = cvl_one_segment(N)};
  cr_assert(b->segdes_from_host(c, 1, SEGMENTS, counts, &o.many));
  return o;
}

/* ---- operations: site 7, one or two results ---- */

typedef bool operation(const struct operands *, struct cvl_value out[2]);

static bool stop_add(const struct operands *o, struct cvl_value *out) {
  return b->apply(o->c, 7, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, o->ints, o->index), out);
}
#define SEGMENTED_CASE(name, kind, op, v, d)                                                   \
  static bool name(const struct operands *o, struct cvl_value *out) {                          \
    return b->apply(o->c, 7, &CVL_CALL(CALL_##kind, op, o->v, o->d), out);                     \
  }
SEGMENTED_CASE(sum, REDUCE, OP_ADD, reals, one)
SEGMENTED_CASE(sums, REDUCE, OP_ADD, reals, many)
SEGMENTED_CASE(prefix, SCAN, OP_ADD, reals, one)
SEGMENTED_CASE(prefixes, SCAN, OP_MAX, ints, many)
SEGMENTED_CASE(sort, SORT, OP_SORT_UP, reals, one)
SEGMENTED_CASE(sorts, SORT, OP_SORT_DOWN, ints, many)
SEGMENTED_CASE(rank, RANK, OP_RANK_UP, reals, one)
SEGMENTED_CASE(ranks, RANK, OP_RANK_DOWN, ints, many)
static bool permute_by(const struct operands *o, enum cvl_op op, const struct cvl_value *index,
                       bool flagged, bool defaults, struct cvl_value *out) {
  struct cvl_call call = CVL_CALL(CALL_PERMUTE, op, o->reals, *index, {0}, {0}, o->one, o->one);
  if (flagged) call.permute.flags = o->flags;
  if (defaults) call.permute.defaults = o->reals;
  return b->apply(o->c, 7, &call, out);
}
static bool stop_permute(const struct operands *o, struct cvl_value *out) {
  return permute_by(o, OP_PERMUTE, &o->index, false, false, out);
}
static bool stop_gather(const struct operands *o, struct cvl_value *out) {
  return permute_by(o, OP_BPERMUTE, &o->ints, false, false, out);
}
static bool stop_scatter(const struct operands *o, struct cvl_value *out) {
  return permute_by(o, OP_DFPERMUTE, &o->ints, true, true, out);
}
static bool stop_pack(const struct operands *o, struct cvl_value *out) {
  return b->apply(o->c, 7, &CVL_CALL(CALL_PACK, OP_PACK, o->reals, o->flags, o->many), out);
}
static bool stop_spread(const struct operands *o, struct cvl_value *out) {
  return b->apply(o->c, 7, &CVL_CALL(CALL_DIST, OP_DIST, o->counts, o->many), out);
}
static bool count_up(const struct operands *o, struct cvl_value *out) {
  return b->apply(o->c, 7, &CVL_CALL(CALL_INDEX, OP_INDEX, o->counts, o->counts, o->many), out);
}
static bool pick(const struct operands *o, struct cvl_value *out) {
  const struct cvl_value w = cvl_scalar_float(CVL_F64, 2.5), k = cvl_scalar_int(CVL_I64, 5);
  return b->apply(o->c, 7, &CVL_CALL(CALL_REPLACE, OP_REPLACE, o->reals, k, w, o->one), out);
}
static bool stop_descriptor(const struct operands *o, struct cvl_value *out) {
  return b->apply(o->c, 7, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, o->ints), out);
}
static bool stop_draw(const struct operands *o, struct cvl_value *out) {
  struct cvl_value bounds;
  const struct cvl_value bound = cvl_scalar_int(CVL_I64, 1000);
  if (!b->apply(o->c, 6, &CVL_CALL(CALL_DIST, OP_DIST, bound, o->one), &bounds)) return false;
  bounds.owned = 1;
  struct cvl_call call = CVL_CALL(CALL_RANDOM, OP_RAND, bounds);
  call.random = (struct cvl_random){.seed = 3, .k = 5};
  return b->apply(o->c, 7, &call, out);
}

static const struct {
  const char *name;
  operation *run;
} operations[] = {
    {"add", stop_add},
    {"sum", sum},
    {"sums", sums},
    {"prefix", prefix},
    {"prefixes", prefixes},
    {"sort", sort},
    {"sorts", sorts},
    {"rank", rank},
    {"ranks", ranks},
    {"permute", stop_permute},
    {"gather", stop_gather},
    {"scatter", stop_scatter},
    {"pack", stop_pack},
    {"spread", stop_spread},
    {"count_up", count_up},
    {"pick", pick},
    {"descriptor", stop_descriptor},
    {"draw", stop_draw},
};

/* ---- what came of one ---- */

/* Returns the FNV-1a hash of a result, by words; bytes behind its end are 0. */
static uint64_t stop_hash_of(struct cvl_context *c, const struct cvl_value *v) {
  static uint64_t words[N];
  const bool vector = v->form == CVL_VECTOR || v->form == CVL_SCALAR;
  const uint64_t n = vector ? b->length(c, v).bound : b->count(c, v).bound;
  const size_t size = vector ? elem_info((enum cvl_elem)v->elem)->bytes : sizeof(int64_t);
  const size_t count = (n * size + 7) / 8;
  uint64_t hash = 0xCBF29CE484222325 ^ n;
  if (count > 0) words[count - 1] = 0;
  cr_assert(b->to_host(c, v, 0, n, words));
  for (size_t i = 0; i < count; i++) hash = (hash ^ words[i]) * 0x100000001B3;
  return hash;
}

static uint64_t take_hash(struct cvl_context *c, struct cvl_value *out) {
  uint64_t hash = stop_hash_of(c, &out[0]);
  b->release(c, &out[0]);
  if (out[1].form != CVL_NOTHING) {
    hash ^= stop_hash_of(c, &out[1]);
    b->release(c, &out[1]);
  }
  return hash;
}

/* A single thread scans so many elements in one visit (operations/scan.c). */
static void stop_check_operation(struct operands *o, struct asker *asker, int k, bool alone) {
  const char *name = operations[k].name;
  struct cvl_value out[2] = {{0}};
  const uint64_t held = b->statistics(o->c).live_bytes;
  cr_assert(operations[k].run(o, out), "%s", name);
  const uint64_t expected = take_hash(o->c, out);
  bool done = false;
  unsigned ended = 0;
  for (uint64_t at = 1; !done; at += 1 + at / 2) {
    memset(out, 0, sizeof out);
    atomic_store(&asker->looks, 0);
    asker->from = at;
    done = operations[k].run(o, out);
    asker->from = 0;
    if (done) {
      cr_assert_eq(take_hash(o->c, out), expected, "%s asked at %d", name, (int)at);
    } else {
      struct cvl_error e;
      cr_assert(b->check(o->c, true, &e));
      cr_assert_eq(e.kind, CVL_E_STOPPED, "%s asked at %d", name, (int)at);
      ended++;
    }
    cr_assert_eq(b->statistics(o->c).live_bytes, held, "%s asked at %d", name, (int)at);
  }
  const bool one_visit =
      alone && (operations[k].run == prefix || operations[k].run == prefixes);
  cr_assert_eq(ended == 0, one_visit, "%s was asked %u times", name, ended);
  memset(out, 0, sizeof out);
  cr_assert(operations[k].run(o, out), "%s", name);
  cr_assert_eq(take_hash(o->c, out), expected, "%s afterwards", name);
}

/* Opens a context that asks `asker` whether to end. */
static struct cvl_context *asking(struct asker *asker, unsigned threads) {
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = threads,
                                      .device = -1,
                                      .stop = {asks, asker}};
  const char *why = "";
  struct cvl_context *c = b->open(&options, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

static void stop_check_all(unsigned threads) {
  struct asker asker = {.from = 0};
  struct cvl_context *c = asking(&asker, threads);
  struct operands o = operands_make(c);
  for (size_t k = 0; k < sizeof operations / sizeof operations[0]; k++) {
    stop_check_operation(&o, &asker, (int)k, threads == 1);
  }
  b->close(c);
}

Test(stop, by_one_thread) {
  stop_check_all(1);
}

Test(stop, by_several_threads) {
  stop_check_all(3);
}

/* Memory so large that providing it takes as long as a pass over it is touched in chunks,
 * too. */
Test(stop, while_memory_is_provided) {
  enum { LARGE = 9 << 20, FIRST = 1, LAST = 36 }; /* 72 MiB; looks */
  struct asker asker = {.from = 0};
  struct cvl_context *c = asking(&asker, 2);
  const struct cvl_value zero = cvl_scalar_int(CVL_I64, 0), step = cvl_scalar_int(CVL_I64, -3),
                         one = cvl_one_segment(LARGE);
  struct cvl_value v, out;
  cr_assert(b->apply(c, 1, &CVL_CALL(CALL_INDEX, OP_INDEX, zero, step, one), &v));
  const uint64_t held = b->statistics(c).live_bytes;
  for (uint64_t at = FIRST; at <= LAST; at += 7) {
    for (int rank = 0; rank < 2; rank++) {
      struct cvl_error e;
      atomic_store(&asker.looks, 0);
      asker.from = at;
      cr_assert_not((rank ? b->apply(c, 7, &CVL_CALL(CALL_RANK, OP_RANK_UP, v, one), &out)
                          : b->apply(c, 7, &CVL_CALL(CALL_SORT, OP_SORT_UP, v, one), &out)));
      asker.from = 0;
      cr_assert(b->check(c, true, &e) && e.kind == CVL_E_STOPPED);
      cr_assert_eq(b->statistics(c).live_bytes, held);
    }
  }
  cr_assert(b->apply(c, 7, &CVL_CALL(CALL_SORT, OP_SORT_UP, v, one), &out));
  int64_t ends[2];
  cr_assert(b->to_host(c, &out, 0, 1, &ends[0]) && b->to_host(c, &out, LARGE - 1, 1, &ends[1]));
  cr_expect_eq(ends[0], -3 * ((int64_t)LARGE - 1));
  cr_expect_eq(ends[1], 0);
  b->release(c, &v);
  b->release(c, &out);
  b->close(c);
}

/* Elements that are copied to the host are not there either. */
Test(stop, copies_to_the_host) {
  struct asker asker = {.from = 0};
  struct cvl_context *c = asking(&asker, 2);
  static double data[N];
  struct cvl_value v = stop_from(c, CVL_F64, N, data);
  struct cvl_error e;
  asker.from = 1;
  cr_assert_not(b->to_host(c, &v, 0, N, data));
  asker.from = 0;
  cr_assert(b->check(c, true, &e));
  cr_assert_eq(e.kind, CVL_E_STOPPED);
  cr_assert(b->to_host(c, &v, 0, N, data));
  b->release(c, &v);
  b->close(c);
}
