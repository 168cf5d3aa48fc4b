/* mpi-ops.c - what each operation of the back end `mpi` sends, as the ranks of a job: one line
 * of JSON for each case and rank. bench/mpi operations runs it and knows what had to be sent.
 *
 *     mpirun -n RANKS bench-mpi-ops [N]       N elements, default 2^18
 *
 * The data are functions of the position, so that other ranks can have them without reading
 * anything. Element i is x(i) = mix(i). Its index is where(i), a permutation of 0 .. N-1, or
 * any(i), which is none.
 */
#include "cvl/call.h"
#include "cvl/plugin.h"
#include "cvl/processes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* No back end is linked: the one that is measured is a module. */
const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const none[] = {NULL};
  return none;
}

struct bench {
  const struct cvl_backend *b;
  struct cvl_context *c;
  uint64_t n, site;
  struct cvl_value x, real, where, any, next, flags, begin, half, one, many, first, per_segment,
      bits, lengths;
  struct cvl_value other; /* a second result */
  struct cvl_value kept;  /* a vector as long as `half`, distributed otherwise than x */
};

/* ---- data ---- */

static uint64_t mix(uint64_t x) { /* splitmix64 (Steele, Lea, Flood, 2014) */
  x += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static _Noreturn void mpi_ops_fail(const char *what) {
  fprintf(stderr, "mpi-ops: %s\n", what);
  exit(1);
}

static struct cvl_value mpi_ops_numbers(struct bench *k, uint64_t n, const int64_t *data) {
  struct cvl_value v;
  if (!k->b->from_host(k->c, ++k->site, CVL_I64, n, data, &v)) mpi_ops_fail("from_host");
  return v;
}

static struct cvl_value mpi_ops_ints(struct bench *k, uint64_t n,
                                     int64_t (*at)(uint64_t i, uint64_t n)) {
  int64_t *data = malloc(n * sizeof *data + 1);
  if (!data) mpi_ops_fail("no memory");
  for (uint64_t i = 0; i < n; i++) data[i] = at(i, k->n);
  const struct cvl_value v = mpi_ops_numbers(k, n, data);
  free(data);
  return v;
}

static int64_t x_at(uint64_t i, uint64_t n) {
  (void)n;
  return (int64_t)(mix(i) >> 1);
}
static int64_t bit_at(uint64_t i, uint64_t n) {
  (void)n;
  return (int64_t)(mix(i) % 2);
}
/* Odd multipliers permute 0 .. N-1, a power of two. */
static int64_t where_at(uint64_t i, uint64_t n) {
  return (int64_t)(i * 40503 % n);
}
static int64_t any_at(uint64_t i, uint64_t n) {
  return (int64_t)(mix(i + n) % n);
}
static int64_t next_at(uint64_t i, uint64_t n) {
  return (int64_t)((i + 1) % n);
}
/* Returns lengths of segments, of 1 to 199 elements. */
static int64_t length_at(uint64_t i) {
  return 1 + (int64_t)(mix(i) % 199);
}

static struct cvl_value reals(struct bench *k) {
  double *data = malloc(k->n * sizeof *data);
  struct cvl_value v;
  if (!data) mpi_ops_fail("no memory");
  for (uint64_t i = 0; i < k->n; i++) data[i] = (double)(mix(i) >> 11);
  if (!k->b->from_host(k->c, ++k->site, CVL_F64, k->n, data, &v)) mpi_ops_fail("from_host");
  free(data);
  return v;
}

static struct cvl_value some(struct bench *k) {
  uint8_t *data = malloc(k->n);
  struct cvl_value v;
  if (!data) mpi_ops_fail("no memory");
  for (uint64_t i = 0; i < k->n; i++) data[i] = mix(i) % 2;
  if (!k->b->from_host(k->c, ++k->site, CVL_BOOL, k->n, data, &v)) mpi_ops_fail("from_host");
  free(data);
  return v;
}

static struct cvl_value segments(struct bench *k, uint64_t *count) {
  int64_t *lengths = malloc(k->n * sizeof *lengths);
  struct cvl_value d;
  uint64_t total = 0;
  if (!lengths) mpi_ops_fail("no memory");
  for (*count = 0; total < k->n; ++*count) {
    const int64_t next = length_at(*count), left = (int64_t)(k->n - total);
    lengths[*count] = next < left ? next : left;
    total += (uint64_t)lengths[*count];
  }
  if (!k->b->segdes_from_host(k->c, ++k->site, *count, lengths, &d))
    mpi_ops_fail("segdes_from_host");
  k->lengths = mpi_ops_numbers(k, *count, lengths);
  free(lengths);
  return d;
}

static void make_data(struct bench *k) {
  uint64_t count;
  struct cvl_value packed[CALL_RESULTS];
  k->x = mpi_ops_ints(k, k->n, x_at);
  k->real = reals(k);
  k->where = mpi_ops_ints(k, k->n, where_at);
  k->any = mpi_ops_ints(k, k->n, any_at);
  k->next = mpi_ops_ints(k, k->n, next_at);
  k->flags = some(k);
  k->bits = mpi_ops_ints(k, k->n, bit_at);
  k->one = cvl_one_segment(k->n);
  k->many = segments(k, &count);
  k->per_segment = mpi_ops_ints(k, count, x_at);
  k->first = cvl_scalar_int(CVL_I64, (int64_t)(k->n / 3));
  if (!k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_PACK, OP_PACK, k->x, k->flags, k->one),
                   packed))
    mpi_ops_fail("pack");
  k->kept = packed[0];
  struct cvl_size size = k->b->length(k->c, &k->kept);
  if (!k->b->resolve(k->c, &size)) mpi_ops_fail("resolve");
  k->half = mpi_ops_ints(k, size.bound, x_at);
}

/* ---- cases ---- */

typedef bool operation(struct bench *, struct cvl_value *out);

static bool nothing_at_all(struct bench *k, struct cvl_value *out) {
  (void)k;
  *out = cvl_scalar_int(CVL_I64, 0);
  return true;
}
static bool add(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, k->x, k->where), out);
}
static bool add_moved(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, k->half, k->kept),
                     out);
}
#define SEGMENTED_CASE(name, kind, op, v, d)                                                   \
  static bool name(struct bench *k, struct cvl_value *out) {                                   \
    return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_##kind, op, k->v, k->d), out);          \
  }
SEGMENTED_CASE(sum, REDUCE, OP_ADD, real, one)
SEGMENTED_CASE(sums, REDUCE, OP_ADD, real, many)
SEGMENTED_CASE(int_scan, SCAN, OP_ADD, x, one)
SEGMENTED_CASE(real_scan, SCAN, OP_ADD, real, one)
SEGMENTED_CASE(scans, SCAN, OP_ADD, real, many)
SEGMENTED_CASE(rank_one, RANK, OP_RANK_UP, x, one)
SEGMENTED_CASE(sort_one, SORT, OP_SORT_UP, x, one)
SEGMENTED_CASE(sort_sorted, SORT, OP_SORT_UP, next, one)
SEGMENTED_CASE(sort_equal, SORT, OP_SORT_UP, bits, one)
SEGMENTED_CASE(sorts, SORT, OP_SORT_UP, x, many)

static bool permute_by(struct bench *k, enum cvl_op op, const struct cvl_value *index,
                       struct cvl_value *out) {
  struct cvl_call call = CVL_CALL(CALL_PERMUTE, op, k->x, *index, {0}, {0}, k->one, k->one);
  if (op == OP_DPERMUTE) call.permute.defaults = k->x;
  return k->b->apply(k->c, ++k->site, &call, out);
}
#define PERMUTE_CASE(name, op, index)                                                          \
  static bool name(struct bench *k, struct cvl_value *out) {                                   \
    return permute_by(k, op, &k->index, out);                                                  \
  }
PERMUTE_CASE(permute, OP_PERMUTE, where)
PERMUTE_CASE(gather_any, OP_BPERMUTE, any)
PERMUTE_CASE(gather_next, OP_BPERMUTE, next)
PERMUTE_CASE(scatter_any, OP_DPERMUTE, any)

static bool extract(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site,
                     &CVL_CALL(CALL_EXTRACT, OP_EXTRACT, k->x, k->first, k->one), out);
}
static bool replace(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site,
                     &CVL_CALL(CALL_REPLACE, OP_REPLACE, k->x, k->first, k->first, k->one),
                     out);
}
static bool pack_by(struct bench *k, const struct cvl_value *d, struct cvl_value *out) {
  struct cvl_value packed[CALL_RESULTS];
  if (!k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_PACK, OP_PACK, k->x, k->flags, *d), packed))
    return false;
  *out = packed[0];
  k->other = packed[1];
  return true;
}
static bool pack(struct bench *k, struct cvl_value *out) {
  return pack_by(k, &k->one, out);
}
/* Computes two results that wait for the same exchange. */
static bool sum_and_pack(struct bench *k, struct cvl_value *out) {
  struct cvl_value total;
  if (!k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_REDUCE, OP_ADD, k->x, k->one), &total))
    return false;
  const bool good = pack(k, out);
  k->b->release(k->c, &k->other);
  k->other = total;
  return good;
}
static bool dist(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_DIST, OP_DIST, k->per_segment, k->many),
                     out);
}
static bool make_segdes(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, k->bits),
                     out);
}
static bool lengths(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, k->many), out);
}

/* Makes a descriptor, and what ranks must know of it for the vectors that it describes. */
static bool first_use(struct bench *k, struct cvl_value *out) {
  struct cvl_value d;
  if (!k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_MAKE_SEGDES, OP_MAKE_SEGDES, k->lengths),
                   &d))
    return false;
  const bool good =
      k->b->apply(k->c, ++k->site, &CVL_CALL(CALL_DIST, OP_DIST, k->per_segment, d), out);
  k->b->release(k->c, &d);
  return good;
}

static bool packs(struct bench *k, struct cvl_value *out) {
  return pack_by(k, &k->many, out);
}

static bool index_one(struct bench *k, struct cvl_value *out) {
  return k->b->apply(k->c, ++k->site,
                     &CVL_CALL(CALL_INDEX, OP_INDEX, k->first, k->first, k->one), out);
}

static const struct {
  const char *name;
  operation *run;
} cases[] = {
    {"nothing", nothing_at_all},
#define CASE(name)                                                                             \
  { #name, name }
    CASE(add),
    CASE(add_moved),
    CASE(dist),
    CASE(index_one),
    CASE(sum),
    CASE(sums),
    CASE(int_scan),
    CASE(real_scan),
    CASE(scans),
    CASE(pack),
    CASE(sum_and_pack),
    CASE(extract),
    CASE(replace),
    CASE(gather_any),
    CASE(gather_next),
    CASE(scatter_any),
    CASE(permute),
    CASE(rank_one),
    CASE(sort_one),
    CASE(sort_sorted),
    CASE(sort_equal),
    CASE(sorts),
    CASE(packs),
    CASE(make_segdes),
    CASE(lengths),
    CASE(first_use),
};

/* ---- measuring ---- */

/* Runs an operation twice; the second time counts, when facts about descriptors are known. It
 * ends with a check, before which nothing need be exchanged. The cost of the check itself is
 * measured as `nothing`. */
static struct cvl_statistics sent_by(struct bench *k, operation *run) {
  struct cvl_statistics before = {0}, after = {0};
  for (int turn = 0; turn < 2; turn++) {
    struct cvl_value out;
    struct cvl_error e;
    before = k->b->statistics(k->c);
    if (!run(k, &out)) mpi_ops_fail("an operation failed");
    if (k->b->check(k->c, true, &e)) mpi_ops_fail("an operation has a fault");
    after = k->b->statistics(k->c);
    k->b->release(k->c, &out);
    k->b->release(k->c, &k->other);
    k->other = (struct cvl_value){.form = CVL_NOTHING};
  }
  after.collectives -= before.collectives;
  after.messages -= before.messages;
  after.sent_bytes -= before.sent_bytes;
  return after;
}

static void mpi_ops_measure(struct bench *k) {
  const struct cvl_statistics none = sent_by(k, cases[0].run);
  for (size_t i = 1; i < sizeof cases / sizeof *cases; i++) {
    const struct cvl_statistics s = sent_by(k, cases[i].run);
    printf("{\"rank\": %u, \"case\": \"%s\", \"collectives\": %" PRIu64
           ", \"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 "}\n",
           k->b->processes->process(k->c), cases[i].name, s.collectives - none.collectives,
           s.messages - none.messages, s.sent_bytes - none.sent_bytes);
  }
}

int main(int argc, char **argv) {
  char why[PLUGIN_WHY_MAX];
  const char *reason = NULL;
  struct bench k = {.n = argc > 1 ? strtoull(argv[1], NULL, 10) : 1 << 18};
  const struct cvl_options o = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 1};
  if (k.n == 0 || (k.n & (k.n - 1)) != 0) mpi_ops_fail("N must be a power of two");
  k.b = plugin_open("mpi", why);
  if (!k.b) mpi_ops_fail(why);
  k.c = k.b->open(&o, &reason);
  if (!k.c) mpi_ops_fail(reason);
  make_data(&k);
  mpi_ops_measure(&k);
  k.b->close(k.c);
  return 0;
}
