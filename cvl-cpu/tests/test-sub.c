/* test-sub.c - slices and sub-contexts. Several threads, each with a sub-context, execute a
 * body for chunks of the instances and fill common results, which must have the bits of the
 * whole. They share one memory limit, and nothing is left. It is meant to run under the
 * sanitizers as well. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tests/memory.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused/plan.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl/slices.h"
#include "cvl/superop.h"

TestSuite(sub, .init = memory_begin, .fini = memory_end);

static const struct cvl_backend *const cpu = &cvl_cpu_backend;

static struct cvl_context *sub_open_with(struct cvl_options o) {
  const char *why;
  o.int_elem = CVL_I64, o.float_elem = CVL_F64;
  struct cvl_context *c = cpu->open(&o, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

static struct cvl_context *open_sub(struct cvl_context *c) {
  struct cvl_context *s = cpu->open_sub(c);
  cr_assert_not_null(s);
  return s;
}

/* ---- data: rows of many lengths ---- */

enum { ROWS = 4000, MOST = 8 * ROWS };

struct data {
  struct cvl_context *c;
  struct cvl_value d, reals, ints;
  struct superop consumers, map;
  struct cvl_kernel *consume, *maps;
};

static int64_t offsets[ROWS + 1];
static uint64_t total;

static void sub_upload(struct data *x) {
  static int64_t lengths[ROWS], ints[MOST];
  static double reals[MOST];
  uint64_t random = 88172645463325252; /* xorshift (Marsaglia) */
  total = 0;
  for (int k = 0; k < ROWS; k++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    lengths[k] = k % 1000 == 500 ? 3000 : (int64_t)(random % 6);
    if (total + (uint64_t)lengths[k] > MOST) lengths[k] = 0;
    total += (uint64_t)lengths[k];
    offsets[k + 1] = (int64_t)total;
  }
  for (uint64_t i = 0; i < total; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    ints[i] = (int64_t)(random % 100) - 50;
    reals[i] = (double)(int64_t)random * 1e-12;
  }
  cr_assert(cpu->segdes_from_host(x->c, 1, ROWS, lengths, &x->d));
  cr_assert(cpu->from_host(x->c, 1, CVL_F64, total, reals, &x->reals));
  cr_assert(cpu->from_host(x->c, 1, CVL_I64, total, ints, &x->ints));
}

/* Computes v * v + v of each element, the sums of the rows, and their scans. */
static void sub_prepare(struct data *x) {
  static const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_FLOAT};
  static struct superop_node nodes[] = {
      {.op = OPC_MUL, .type = TW_FLOAT, .operand_count = 2, .operands = {1, 1}},
      {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {2, 1}},
      {.op = OPC_ADD_REDUCE, .type = TW_FLOAT, .operand_count = 2, .operands = {3, 0}},
      {.op = OPC_ADD_SCAN, .type = TW_FLOAT, .operand_count = 2, .operands = {3, 0}}};
  static struct superop_node alone[] = {
      {.op = OPC_MUL, .type = TW_FLOAT, .operand_count = 2, .operands = {0, 0}},
      {.op = OPC_SIN, .type = TW_NONE, .operand_count = 1, .operands = {1}}};
  static const uint32_t outputs[] = {3, 4, 5}, result[] = {2};
  x->consumers = (struct superop){.param_count = 2,
                                  .node_count = 4,
                                  .output_count = 3,
                                  .params = kinds,
                                  .nodes = nodes,
                                  .outputs = outputs};
  x->map = (struct superop){.param_count = 1,
                            .node_count = 2,
                            .output_count = 1,
                            .params = kinds + 1,
                            .nodes = alone,
                            .outputs = result};
  x->consume = prepared(x->c, &x->consumers);
  x->maps = prepared(x->c, &x->map);
}

/* The data must stay in place, since kernels borrow their superoperators. */
static void data_begin(struct data *x, struct cvl_options options) {
  x->c = sub_open_with(options);
  sub_upload(x);
  sub_prepare(x);
}

static void data_end(struct data *x) {
  cpu->superops->discard(x->c, x->consume);
  cpu->superops->discard(x->c, x->maps);
  cpu->release(x->c, &x->d);
  cpu->release(x->c, &x->reals);
  cpu->release(x->c, &x->ints);
  cr_expect_eq(cpu->statistics(x->c).live_bytes, 0);
  cpu->close(x->c);
}

/* ---- the body ---- */

enum { SORTED, SCANNED, LARGEST, MAPPED, SUMS, SUM_SCANS, SINES, COUNTS, RANDOM, RESULTS };

static bool by_rows(int result) {
  return result == LARGEST || result == SUMS || result == COUNTS;
}

static bool are_ints(int result) {
  return result == SCANNED || result == COUNTS || result == RANDOM;
}

static size_t result_bytes(int result) {
  return by_rows(result) ? ROWS * sizeof(double) : total * sizeof(double);
}

/* Computes rows first .. first + n, from values of any context, of which c makes slices. */
static bool sub_body(const struct data *x, struct cvl_context *c, uint64_t first, uint64_t n,
                     struct cvl_value out[RESULTS]) {
  const uint64_t begin = (uint64_t)offsets[first];
  const uint64_t length = (uint64_t)offsets[first + n] - begin;
  struct cvl_value d, reals, ints, bounds;
  const struct cvl_value seven = cvl_scalar_int(CVL_I64, 7);
  const struct cvl_value all = cvl_one_segment(length);
  if (!(cpu->slices->slice(c, 2, &x->d, first, n, &d) &&
        cpu->slices->slice(c, 2, &x->reals, begin, length, &reals) &&
        cpu->slices->slice(c, 2, &x->ints, begin, length, &ints) &&
        cpu->apply(c, 3, &CVL_CALL(CALL_DIST, OP_DIST, seven, all), &bounds)))
    return false;
  const struct cvl_value operands[2] = {d, reals};
  struct cvl_call draw = CVL_CALL(CALL_RANDOM, OP_RAND, bounds);
  draw.random = (struct cvl_random){.seed = 5, .k = 3, .first = begin};
  const bool good =
      cpu->apply(c, 3, &CVL_CALL(CALL_SORT, OP_SORT_UP, reals, d), &out[SORTED]) &&
      cpu->apply(c, 4, &CVL_CALL(CALL_SCAN, OP_ADD, ints, d), &out[SCANNED]) &&
      cpu->apply(c, 5, &CVL_CALL(CALL_REDUCE, OP_MAX, reals, d), &out[LARGEST]) &&
      cpu->apply(c, 6, &CVL_CALL(CALL_LENGTHS, OP_LENGTHS, d), &out[COUNTS]) &&
      cpu->apply(c, 7, &draw, &out[RANDOM]) &&
      cpu->superops->run(c, 8, x->consume, operands, &out[MAPPED]) &&
      cpu->superops->run(c, 12, x->maps, &reals, &out[SINES]);
  if (!good) return false;
  cpu->release(c, &d);
  cpu->release(c, &reals);
  cpu->release(c, &ints);
  cpu->release(c, &bounds);
  return true;
}

/* ---- threads ---- */

struct work {
  const struct data *data;
  struct cvl_value targets[RESULTS];
  _Atomic uint64_t next; /* row */
  uint64_t most;         /* rows of a chunk */
  _Atomic int failures;
};

static bool do_chunk(struct work *w, struct cvl_context *s, uint64_t first, uint64_t n) {
  struct cvl_value out[RESULTS];
  if (!sub_body(w->data, s, first, n, out)) return false;
  for (int r = 0; r < RESULTS; r++) {
    out[r].owned = 1;
    const uint64_t at = by_rows(r) ? first : (uint64_t)offsets[first];
    if (!cpu->slices->fill(s, 20, &w->targets[r], at, &out[r])) return false;
  }
  return true;
}

/* Takes chunks of different sizes, in a sub-context that is opened several times. */
static void *sub_work(void *arg) {
  struct work *w = arg;
  for (;;) {
    struct cvl_context *s = cpu->open_sub(w->data->c);
    for (int i = 0; s && i < 40; i++) {
      const uint64_t first = atomic_fetch_add(&w->next, w->most);
      const uint64_t end = first + w->most < ROWS ? first + w->most : ROWS;
      if (first >= ROWS) {
        cpu->close(s);
        return NULL;
      }
      const uint64_t middle = first + (end - first) / 3;
      if (!do_chunk(w, s, first, middle - first) || !do_chunk(w, s, middle, end - middle))
        w->failures++;
      if (cpu->statistics(s).live_bytes != 0) w->failures++;
    }
    if (!s) {
      w->failures++;
      return NULL;
    }
    cpu->close(s);
  }
}

static void sub_run_threads(struct work *w) {
  enum { THREADS = 3 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, sub_work, w), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  cr_assert_eq(w->failures, 0, "%d failures with chunks of %d rows", w->failures, (int)w->most);
}

static void sub_compare(struct work *w, const struct cvl_value *whole) {
  struct cvl_context *c = w->data->c;
  for (int r = 0; r < RESULTS; r++) {
    const size_t bytes = result_bytes(r);
    char *a = malloc(bytes), *b = malloc(bytes);
    cr_assert(cpu->to_host(c, &whole[r], 0, bytes / sizeof(double), a));
    cr_assert(cpu->to_host(c, &w->targets[r], 0, bytes / sizeof(double), b));
    cr_assert(memcmp(a, b, bytes) == 0, "result %d differs with chunks of %d rows", r,
              (int)w->most);
    free(a);
    free(b);
    cpu->release(c, &w->targets[r]);
  }
}

/* The parent runs them until it tries the compiled code, with which its copies go on. */
static void try_compiled(struct data *x) {
  struct cvl_value out[RESULTS];
  for (int i = 0; i < 1000 && x->consume->choice.stage < CHOICE_SETTLED; i++) {
    cr_assert(sub_body(x, x->c, 0, ROWS, out));
    for (int r = 0; r < RESULTS; r++) cpu->release(x->c, &out[r]);
  }
  cr_assert_geq(x->consume->choice.stage, CHOICE_SETTLED);
}

/* Runs in chunks of two sizes, and compares. */
static void cut_and_compare(struct cvl_options options, uint64_t large, uint64_t small) {
  const uint64_t sizes[] = {large, small};
  struct data x;
  data_begin(&x, options);
  struct cvl_value whole[RESULTS];
  cr_assert(sub_body(&x, x.c, 0, ROWS, whole));
  if (options.compile == CVL_COMPILE_WHEN_IT_PAYS) try_compiled(&x);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    struct work w = {.data = &x, .most = sizes[i]};
    for (int r = 0; r < RESULTS; r++) {
      const enum cvl_elem elem = are_ints(r) ? CVL_I64 : CVL_F64;
      cr_assert(cpu->slices->allocate(x.c, 30, elem, by_rows(r) ? ROWS : total, &w.targets[r]));
    }
    sub_run_threads(&w);
    sub_compare(&w, whole);
    cr_expect_eq(x.reals.as.vector->held.references, 1);
  }
  for (int r = 0; r < RESULTS; r++) cpu->release(x.c, &whole[r]);
  data_end(&x);
}

Test(sub, chunks_have_the_bits_of_the_whole) {
  cut_and_compare((struct cvl_options){.threads = 2}, 300, 7);
  cut_and_compare((struct cvl_options){.threads = 1, .memory_limit = 64 << 20}, 1000, 30);
}

/* Compiled code arrives in the background, for several threads at once. */
Test(sub, chunks_of_compiled_superoperators) {
  static const enum cvl_compile kinds[] = {CVL_COMPILE_ALL, CVL_COMPILE_ALL,
                                           CVL_COMPILE_WHEN_IT_PAYS};
  char directory[] = "/tmp/ravel-sub-XXXXXX", command[100];
  cr_assert_not_null(mkdtemp(directory));
  for (int i = 0; i < 3; i++) {
    cut_and_compare((struct cvl_options){.threads = 2,
                                         .compile = kinds[i],
                                         .compile_waits = i == 1,
                                         .compile_directory = directory},
                    500, 30);
  }
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_expect_eq(system(command), 0);
}

/* ---- memory ---- */

static bool is_memory_fault(struct cvl_context *c) {
  struct cvl_error e;
  return cpu->check(c, true, &e) && e.kind == CVL_E_MEMORY;
}

/* Memory that one sub-context keeps serves another. Memory that it holds counts for both. */
Test(sub, are_in_one_limit) {
  enum { LIMIT = 8 << 20, LARGE = 5 << 20 };
  struct cvl_context *c =
      sub_open_with((struct cvl_options){.threads = 1, .memory_limit = LIMIT});
  struct cvl_context *a = open_sub(c), *b = open_sub(c);
  struct cvl_value x, y;
  for (int i = 0; i < 3; i++) {
    cr_assert(cpu->slices->allocate(a, 1, CVL_BOOL, LARGE, &x));
    cr_expect(!cpu->slices->allocate(b, 1, CVL_BOOL, LARGE, &y));
    cr_expect(is_memory_fault(b));
    cr_expect(!is_memory_fault(a), "an error slot is its own");
    cpu->release(a, &x);
    cr_assert(cpu->slices->allocate(b, 1, CVL_BOOL, LARGE, &y));
    cpu->release(b, &y);
  }
  cr_assert(cpu->slices->allocate(a, 1, CVL_BOOL, LARGE, &x)); /* freed by close */
  cpu->close(a);
  cr_assert(cpu->slices->allocate(b, 1, CVL_BOOL, LARGE, &y));
  cpu->close(b);
  cr_assert(cpu->slices->allocate(c, 1, CVL_BOOL, LARGE, &x));
  cr_expect_eq(cpu->statistics(c).live_bytes, (uint64_t)LARGE + HEAD_BYTES);
  cpu->release(c, &x);
  cpu->close(c);
}

/* Many small vectors of one sub-context, all freed, leave room for another. */
Test(sub, are_in_one_limit_with_small_blocks) {
  enum { LIMIT = 4 << 20, EACH = 10000, MANY = LIMIT / EACH };
  struct cvl_context *c =
      sub_open_with((struct cvl_options){.threads = 1, .memory_limit = LIMIT});
  struct cvl_context *const both[] = {open_sub(c), open_sub(c)};
  static struct cvl_value v[MANY];
  for (int i = 0; i < 4; i++) {
    int n = 0;
    while (n < MANY && cpu->slices->allocate(both[i % 2], 1, CVL_BOOL, EACH, &v[n])) n++;
    cr_expect_gt(n, 3 * MANY / 4, "%d of %d in round %d", n, MANY, i);
    (void)is_memory_fault(both[i % 2]);
    while (n > 0) cpu->release(both[i % 2], &v[--n]);
  }
  cpu->close(both[0]);
  cpu->close(both[1]);
  cpu->close(c);
}

enum { CROWD = 3, CROWD_LIMIT = 6 << 20, CROWD_MOST = 2 << 20 };

/* Takes and frees vectors, many of which do not fit. Each keeps its elements. */
static void *crowd(void *context) {
  enum { ROUNDS = 600, HELD = 5 };
  struct cvl_context *s = context;
  struct cvl_value held[HELD] = {{0}};
  uint64_t random = (uintptr_t)&held | 1, wrong = 0;
  for (int i = 0; i < ROUNDS; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    struct cvl_value *v = &held[random % HELD];
    if (v->form == CVL_VECTOR) {
      const uint8_t *data = v->as.vector->data;
      wrong += data[0] != (uint8_t)(uintptr_t)v || data[v->as.vector->length - 1] != data[0];
      cpu->release(s, v);
      v->form = CVL_NOTHING;
    } else if (cpu->slices->allocate(s, 1, CVL_BOOL, 2 + (random >> 20) % CROWD_MOST, v)) {
      uint8_t *data = v->as.vector->data;
      data[0] = data[v->as.vector->length - 1] = (uint8_t)(uintptr_t)v;
    } else {
      wrong += !is_memory_fault(s);
    }
  }
  cpu->close(s);
  return (void *)(uintptr_t)wrong;
}

Test(sub, crowd_at_a_limit) {
  struct cvl_context *c =
      sub_open_with((struct cvl_options){.threads = 1, .memory_limit = CROWD_LIMIT});
  struct cvl_value all;
  pthread_t threads[CROWD];
  for (int i = 0; i < CROWD; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, crowd, open_sub(c)), 0);
  for (int i = 0; i < CROWD; i++) {
    void *wrong;
    pthread_join(threads[i], &wrong);
    cr_expect_eq((uintptr_t)wrong, 0);
  }
  cr_expect(cpu->slices->allocate(c, 1, CVL_BOOL, CROWD_LIMIT - (64 << 10), &all),
            "what closed ones keep is there");
  cpu->close(c);
}

Test(sub, is_kept_for_the_next_time) {
  struct cvl_context *c = sub_open_with((struct cvl_options){.threads = 2});
  struct cvl_value v;
  struct cvl_context *s = open_sub(c), *other = open_sub(c);
  cr_expect(s != other);
  cr_expect_null(cpu->open_sub(s), "of a sub-context there is none");
  cr_assert(cpu->slices->allocate(s, 1, CVL_F64, 100, &v));
  cr_expect_gt(cpu->statistics(s).live_bytes, 800);
  cpu->close(s);
  cr_expect(open_sub(c) == s);
  cr_expect_eq(cpu->statistics(s).live_bytes, 0);
  cr_expect_eq(cpu->statistics(s).allocations, 0);
  cpu->close(s);
  cpu->close(other);
  cr_expect_geq(cpu->statistics(c).allocations, 4, "those of both are its own");
  cpu->close(c);
}

Test(sub, peaks_are_in_the_parents) {
  enum { LARGE = 1 << 20 };
  struct cvl_context *c = sub_open_with((struct cvl_options){.threads = 2});
  struct cvl_context *a = open_sub(c), *b = open_sub(c);
  struct cvl_value x;
  for (int i = 0; i < 2; i++) { /* one after the other, so that the peak is still one */
    cr_assert(cpu->slices->allocate(a, 1, CVL_BOOL, LARGE, &x));
    cpu->release(a, &x);
  }
  cr_assert(cpu->slices->allocate(b, 1, CVL_BOOL, 2 * LARGE, &x));
  cpu->close(a);
  cpu->close(b);
  cr_expect_eq(cpu->statistics(c).recent_peak_bytes, 3 * LARGE + 2 * HEAD_BYTES);
  cpu->restart_peak(c);
  cpu->close(open_sub(c));
  cr_expect_eq(cpu->statistics(c).recent_peak_bytes, 0);
  cr_expect_eq(cpu->statistics(c).peak_bytes, 3 * LARGE + 2 * HEAD_BYTES);
  cpu->close(c);
}

/* Each allocation of a sub-context fails once, by the parent's number. */
Test(sub, allocations_fail) {
  struct data x;
  data_begin(&x, (struct cvl_options){.threads = 1});
  struct cvl_value target;
  bool done = false;
  int faults = 0;
  cr_assert(cpu->slices->allocate(x.c, 1, CVL_F64, total, &target));
  for (uint64_t n = 1; !done; n++) {
    cr_assert_lt(n, 500);
    const uint64_t before = cpu->statistics(x.c).allocations;
    cpu->fail_allocation(x.c, n);
    struct cvl_context *s = cpu->open_sub(x.c);
    struct cvl_value out[RESULTS] = {{0}};
    const bool good = s && sub_body(&x, s, 100, 50, out);
    const bool filled =
        good && cpu->slices->fill(s, 9, &target, (uint64_t)offsets[100], &out[SORTED]);
    const bool fault = s && is_memory_fault(s);
    if (s) cpu->close(s); /* frees all that it holds, too */
    done = cpu->statistics(x.c).allocations - before < n;
    cpu->fail_allocation(x.c, 0);
    faults += fault;
    cr_expect(filled != (fault || !s), "allocation %d: fault %d, done %d", (int)n, fault,
              filled);
  }
  cr_expect_gt(faults, 10);
  cpu->release(x.c, &target);
  data_end(&x);
}

/* ---- slices in one context ---- */

Test(sub, slices_count_elements_once) {
  enum { N = 100000 };
  struct cvl_context *c = sub_open_with((struct cvl_options){.threads = 2});
  static double reals[N];
  struct cvl_value v, slices[50], doubled, two[2];
  for (int i = 0; i < N; i++) reals[i] = i;
  cr_assert(cpu->from_host(c, 1, CVL_F64, N, reals, &v));
  const uint64_t live = cpu->statistics(c).live_bytes;
  for (uint64_t i = 0; i < 50; i++)
    cr_assert(cpu->slices->slice(c, 2, i % 2 ? &slices[i - 1] : &v, i, N / 2, &slices[i]));
  cr_expect_eq(cpu->statistics(c).live_bytes, live + (uint64_t)50 * HEAD_BYTES);
  cr_expect_eq(v.as.vector->held.references, 51, "a slice of a slice keeps the vector");
  cpu->release(c, &v);
  for (int i = 0; i < 49; i++) cpu->release(c, &slices[i]);
  cr_expect_eq(cpu->statistics(c).live_bytes, live + HEAD_BYTES);
  two[0] = two[1] = slices[49];
  cr_assert(cpu->apply(c, 3, &CVL_CALL(CALL_ELEMENTWISE, OP_ADD, two[0], two[1]), &doubled));
  double x;
  cr_assert(cpu->to_host(c, &doubled, 1, 1, &x));
  cr_expect_eq(x, 2 * (48 + 49 + 1));
  cpu->close(c); /* frees what is held: a slice, and with it its vector */
}

Test(sub, equal_segments_stay_equal) {
  struct cvl_context *c = sub_open_with((struct cvl_options){.threads = 1});
  const int64_t fours[] = {4, 4, 4, 4, 4, 3, 4, 4};
  struct cvl_value d, slice, whole;
  cr_assert(cpu->segdes_from_host(c, 1, 8, fours, &d));
  cr_assert(cpu->slices->slice(c, 2, &d, 1, 4, &slice));
  cr_expect_eq(slice.as.segdes->held.form, SEGDES_EQUAL);
  const struct cvl_value all[] = {slice, cvl_one_segment(4), slice};
  cr_assert(cpu->slices->concatenate(c, 3, 3, all, &whole));
  cr_expect_eq(whole.as.segdes->held.form, SEGDES_EQUAL);
  cr_expect_eq(whole.as.segdes->count, 9);
  cr_expect_eq(whole.as.segdes->total, 36);
  cpu->close(c);
}
