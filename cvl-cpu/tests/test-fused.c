/* test-fused.c - random superoperators. One pass must give the bits and the faults of their
 * nodes executed one by one on the same back end. The seed is printed on failure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/tests/every.h"
#include "base/tests/memory.h"
#include "cvl-cpu/cpu.h"
#include "cvl-cpu/cvl-cpu.h"
#include "cvl-cpu/fused/plan.h"
#include "cvl-cpu/tests/prepared.h"
#include "cvl-cpu/tests/random-superop.h"
#include "cvl/superop.h"
#include "fused-kernels/fused.h"

TestSuite(fused, .init = memory_begin, .fini = memory_end);

static const struct cvl_backend *const cpu = &cvl_cpu_backend;

/* ---- comparison ---- */

/* Clears the signs of NaNs. Compilers may give a NaN another sign than the processor does,
 * which no program can see. */
static void unsign_nans(enum cvl_elem elem, uint64_t n, void *x) {
  double *wide = x;
  float *narrow = x;
  for (uint64_t i = 0; i < n && elem == CVL_F64; i++) {
    if (isnan(wide[i])) wide[i] = (double)NAN;
  }
  for (uint64_t i = 0; i < n && elem == CVL_F32; i++) {
    if (isnan(narrow[i])) narrow[i] = NAN;
  }
}

static bool same_value(struct cvl_context *c, const struct cvl_value *a,
                       const struct cvl_value *b) {
  const bool vector = a->form == CVL_SCALAR || a->form == CVL_VECTOR;
  const uint64_t n = vector ? cpu->length(c, a).bound : cpu->count(c, a).bound;
  if (n != (vector ? cpu->length(c, b).bound : cpu->count(c, b).bound)) return false;
  if (vector && a->elem != b->elem) return false;
  const size_t bytes = n * (vector ? elem_bytes(a->elem) : sizeof(int64_t));
  char *x = malloc(bytes + 1), *y = malloc(bytes + 1);
  cr_assert(cpu->to_host(c, a, 0, n, x));
  cr_assert(cpu->to_host(c, b, 0, n, y));
  if (vector) unsign_nans((enum cvl_elem)a->elem, n, x);
  if (vector) unsign_nans((enum cvl_elem)a->elem, n, y);
  const bool same = memcmp(x, y, bytes) == 0;
  free(x);
  free(y);
  return same;
}

static bool same_error(const struct cvl_error *a, const struct cvl_error *b) {
  return a->kind == b->kind && a->site == b->site && a->position == b->position &&
         a->value == b->value && a->limit == b->limit && a->segment == b->segment;
}

enum { MOST_FAILURES = 12 };

/* Compares one superoperator on one set of operands, in one pass and node by node. Returns
 * false if the nodes fail. */
static bool fused_compare(struct random *r, struct cvl_context *c, const struct superop *op,
                          const struct cvl_value *operands, uint64_t seed) {
  enum { SITE = 1000 };
  struct cvl_value expected[MOST_VALUES], given[PARAMS], got[MOST_VALUES];
  struct cvl_error wanted, found;
  const bool good = superop_run(cpu, c, SITE, op, NULL, operands, expected);
  if (!good) cr_assert(cpu->check(c, true, &wanted));
  struct cvl_kernel *k = cpu->superops->prepare(c, op);
  if (!k) return good; /* it is left to whoever asks */
  const uint64_t live = cpu->statistics(c).live_bytes;
  for (int round = 0; round < 3; round++) {
    /* Some operands are passed with their references, some of which are not the only ones. */
    for (uint32_t i = 0; i < PARAMS; i++) {
      given[i] = operands[i];
      if (round == 0 || below(r, 2)) continue;
      if (given[i].form == CVL_VECTOR && below(r, 2)) {
        const struct cvl_vector *v = operands[i].as.vector;
        cr_assert(cpu->from_host(c, 0, (enum cvl_elem)v->elem, v->length, v->data, &given[i]));
      } else {
        cpu->retain(c, &given[i]);
      }
      given[i].owned = true;
    }
    const bool ran = cpu->superops->run(c, SITE, k, given, got);
    cr_assert(ran == good, "seed %llu round %d: ran %d, nodes %d", (unsigned long long)seed,
              round, ran, good);
    const bool one_pass =
        good && !k->copying && k->strips && !strips_plan(k->strips)->ordered;
    cr_assert(!one_pass || k->run.way != BY_NODES, "seed %llu: not in one pass",
              (unsigned long long)seed);
    if (!ran) {
      cr_assert(cpu->check(c, true, &found));
      cr_assert(same_error(&wanted, &found),
                "seed %llu: fault %d site %d at %lld (%lld of %lld in %lld) not %d site %d at "
                "%lld (%lld of %lld in %lld)",
                (unsigned long long)seed, found.kind, (int)found.site,
                (long long)found.position, (long long)found.value, (long long)found.limit,
                (long long)found.segment, wanted.kind, (int)wanted.site,
                (long long)wanted.position, (long long)wanted.value, (long long)wanted.limit,
                (long long)wanted.segment);
    }
    for (uint32_t i = 0; i < op->output_count && ran; i++) {
      char formula[1000];
      cr_assert(same_value(c, &expected[i], &got[i]), "seed %llu: output %u differs: %s",
                (unsigned long long)seed, i, fused_formula(op, formula, sizeof formula));
      cpu->release(c, &got[i]);
    }
    cr_assert_eq(cpu->statistics(c).live_bytes, live, "seed %llu: leak",
                 (unsigned long long)seed);
  }
  /* Every allocation fails once. */
  for (uint64_t nth = 1; nth < 40; nth++) {
    cpu->fail_allocation(c, nth);
    const bool ran = cpu->superops->run(c, SITE, k, operands, got);
    cpu->fail_allocation(c, 0);
    if (ran) {
      for (uint32_t i = 0; i < op->output_count; i++) cpu->release(c, &got[i]);
    } else {
      cr_assert(cpu->check(c, true, &found));
    }
    cr_assert_eq(cpu->statistics(c).live_bytes, live, "seed %llu: leak",
                 (unsigned long long)seed);
    if (ran || found.kind != CVL_E_MEMORY) break;
  }
  cpu->superops->discard(c, k);
  for (uint32_t i = 0; i < op->output_count && good; i++) cpu->release(c, &expected[i]);
  return good;
}

static struct cvl_context *fused_opened(const struct cvl_options *options) {
  const char *why;
  struct cvl_context *c = cpu->open(options, &why);
  cr_assert_not_null(c, "%s", why);
  return c;
}

static unsigned fused_run_random(uint64_t first, unsigned rounds, uint64_t most, bool long_sums,
                                 const char *directory) {
  static const uint64_t lengths[] = {0, 1, 2, 7, 64, 100, 513, 1024, 3000, 20000, 70000};
  unsigned good = 0;
  for (uint64_t seed = first; seed < first + rounds; seed++) {
    struct random r = {seed, long_sums};
    const struct cvl_options options = {.int_elem = below(&r, 2) ? CVL_I64 : CVL_I32,
                                        .float_elem = below(&r, 2) ? CVL_F64 : CVL_F32,
                                        .threads = 1 + (unsigned)below(&r, 4),
                                        .compile =
                                            directory ? CVL_COMPILE_ALL : CVL_COMPILE_NONE,
                                        .compile_waits = true,
                                        .compile_directory = directory};
    struct cvl_context *c = fused_opened(&options);
    uint64_t n = lengths[below(&r, 11)];
    if (n > most) n = below(&r, most);
    struct cvl_value operands[PARAMS];
    random_operands(&r, c, n, operands);
    for (int i = 0; i < 4; i++) {
      const struct superop *op =
          random_superop(&r, &arena, options.int_elem, options.float_elem, n,
                         cpu->length(c, &operands[P_FAR_INT]).bound);
      if (op) good += fused_compare(&r, c, op, operands, seed);
    }
    arena_free(&arena);
    cpu->close(c);
  }
  return good;
}

/* The seeds: $RAVEL_SEED alone, or $RAVEL_ROUNDS of them, for more than the usual number. */
static uint64_t fused_number_of(const char *variable, uint64_t otherwise) {
  const char *text = getenv(variable);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

Test(fused, random) {
  const uint64_t seed = fused_number_of("RAVEL_SEED", 0);
  const unsigned rounds = (unsigned)fused_number_of("RAVEL_ROUNDS", 400);
  const unsigned good =
      fused_run_random(seed ? seed : 1, seed ? 1 : rounds, 70000, false, NULL);
  cr_assert(seed || good >= rounds, "only %u superoperators without faults", good);
}

#define SUPEROP_OF(its_params, its_nodes, its_outputs)                                         \
  {                                                                                            \
    .param_count = sizeof its_params / sizeof *its_params,                                     \
    .node_count = sizeof its_nodes / sizeof *its_nodes,                                        \
    .output_count = sizeof its_outputs / sizeof *its_outputs, .params = its_params,            \
    .nodes = its_nodes, .outputs = its_outputs                                                 \
  }

/* A fault in the chunk that would start the state of a long segment's scan, while later chunks
 * wait for their turn: they must not use a state that has not been started, which is what the
 * memory held before. Sines of large numbers take long, so the later chunks usually wait;
 * whether they do is still a matter of time, hence the many runs. */
Test(fused, fault_while_chunks_wait) {
  enum { SHORT = 10, MANY = 4000, BEFORE = SHORT * MANY, N = 3 * BEFORE, RUNS = 200 };
  const int64_t wild = INT64_C(0x4142434445464748); /* as an index, it ends outside of memory */
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 3};
  const char *why;
  struct cvl_context *c = cpu->open(&options, &why);
  cr_assert_not_null(c);
  const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_INT, SUPEROP_INT, SUPEROP_FLOAT};
  struct superop_node nodes[] = {
      {.op = OPC_SIN, .type = TW_NONE, .operand_count = 1, .operands = {3}},
      {.op = OPC_DIV, .type = TW_INT, .checked = true, .operand_count = 2, .operands = {1, 2}},
      {.op = OPC_MIN_SCAN, .type = TW_INT, .operand_count = 2, .operands = {5, 0}}};
  const uint32_t outputs[] = {4, 6};
  struct superop op = SUPEROP_OF(kinds, nodes, outputs);
  struct cvl_kernel *k = prepared(c, &op);
  int64_t *x = malloc(N * sizeof *x);
  double *y = malloc(N * sizeof *y);
  for (int i = 0; i < MANY; i++) x[i] = SHORT;
  x[MANY] = N - BEFORE;
  struct cvl_value operands[4] = {segdes(c, MANY + 1, x)}, got[2], other;
  for (int i = 0; i < N; i++) x[i] = wild;
  operands[1] = ints(c, N, x);
  struct random r = {.state = 1};
  for (int run = 0; run < RUNS; run++) {
    for (int i = 0; i < 8; i++) { /* fills the memory that the run will take, of any class */
      cr_assert(cpu->from_host(c, 0, CVL_I64, (uint64_t)N >> i, x, &other));
      cpu->release(c, &other);
    }
    const uint64_t at = BEFORE + below(&r, N / 4);
    for (uint64_t i = 0; i < N; i++) y[i] = i <= at ? 1e300 : 0;
    x[at] = 0;
    operands[2] = ints(c, N, x);
    x[at] = wild;
    cr_assert(cpu->from_host(c, 0, CVL_F64, N, y, &operands[3]));
    cr_assert_not(cpu->superops->run(c, 1, k, operands, got));
    struct cvl_error e;
    cr_assert(cpu->check(c, true, &e));
    cr_assert(e.kind == CVL_E_DIVIDE_BY_ZERO && e.position == (int64_t)at,
              "run %d: kind %d at %lld", run, e.kind, (long long)e.position);
    cpu->release(c, &operands[2]);
    cpu->release(c, &operands[3]);
  }
  cpu->superops->discard(c, k);
  free(x);
  free(y);
  cpu->close(c);
}

/* Functions are compiled before they are run. The second time they are in the cache. */
Test(fused, compiled) {
  char directory[] = "/tmp/ravel-compiled-XXXXXX", command[64];
  const unsigned rounds =
      (unsigned)fused_number_of("RAVEL_COMPILED_ROUNDS", every() > 1 ? 1 : 3);
  cr_assert_not_null(mkdtemp(directory));
  fused_run_random(1, rounds, 3000, false, directory);
  snprintf(command, sizeof command, "ls %s | grep -c so$ > /dev/null", directory);
  cr_assert_eq(system(command), 0, "nothing was compiled");
  fused_run_random(1, rounds, 3000, false, directory);
  fused_run_random(1, 2 * rounds, 20000, true, directory);
  /* There is a sum of a stencil, whose edges end in the middle of a row of the tree's lanes. */
  fused_run_random(56, 1, 20000, true, directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* Compares a superoperator, compiled into this directory, on long segments. */
static void compare_by_seed(struct builder *m, uint64_t seed, const char *directory) {
  struct random r = {seed, true};
  const struct cvl_options options = {.int_elem = CVL_I64,
                                      .float_elem = CVL_F64,
                                      .threads = 1 + seed % 2,
                                      .compile = CVL_COMPILE_ALL,
                                      .compile_waits = true,
                                      .compile_directory = directory};
  struct cvl_context *c = fused_opened(&options);
  struct cvl_value operands[PARAMS];
  random_operands(&r, c, 70000, operands);
  struct superop op = {.param_count = PARAMS,
                       .node_count = m->node_count,
                       .output_count = m->output_count,
                       .params = param_kinds,
                       .nodes = m->nodes,
                       .outputs = m->outputs};
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(&arena, &op, &why, &node), "node %u: %s", node, why);
  fused_compare(&r, c, &op, operands, seed);
  cpu->close(c);
}

/* Compares with several seeds. The superoperator is compiled once. */
static void compare_on_long_segments(struct builder *m, uint64_t first, uint64_t count) {
  char directory[] = "/tmp/ravel-compiled-XXXXXX", command[64];
  cr_assert_not_null(mkdtemp(directory));
  for (uint64_t seed = first; seed < first + count; seed++) compare_by_seed(m, seed, directory);
  snprintf(command, sizeof command, "rm -r %s", directory);
  cr_assert_eq(system(command), 0);
}

/* A value spread over segments is read twice, as an index and in a sum. */
Test(fused, spread_that_is_read_twice) {
  struct builder m = {.value_count = PARAMS};
  const uint32_t each = builder_add(&m, OPC_DIST, TW_INT, 2, (uint32_t[]){P_EACH_INT, P_MAIN});
  const uint32_t index = builder_add(&m, OPC_ADD, TW_INT, 2, (uint32_t[]){each, each});
  const uint32_t there =
      builder_add(&m, OPC_BPERMUTE, TW_INT, 4, (uint32_t[]){P_FAR_INT, index, P_FAR, P_WHOLE});
  const uint32_t product = builder_add(&m, OPC_MUL, TW_INT, 2, (uint32_t[]){there, each});
  m.outputs[m.output_count++] =
      builder_add(&m, OPC_ADD_REDUCE, TW_INT, 2, (uint32_t[]){product, P_MAIN});
  compare_on_long_segments(&m, 7, 1);
}

/* There are only maps and reductions: several blocks at a time, of one segment and of many. */
Test(fused, nothing_but_reductions) {
  struct builder m = {.value_count = PARAMS};
  const uint32_t each =
      builder_add(&m, OPC_DIST, TW_FLOAT, 2, (uint32_t[]){P_EACH_FLOAT, P_MAIN});
  const uint32_t product =
      builder_add(&m, OPC_MUL, TW_FLOAT, 2, (uint32_t[]){P_FLOAT, P_FLOAT2});
  const uint32_t distance = builder_add(&m, OPC_SUB, TW_FLOAT, 2, (uint32_t[]){product, each});
  m.outputs[m.output_count++] =
      builder_add(&m, OPC_ADD_REDUCE, TW_FLOAT, 2, (uint32_t[]){distance, P_MAIN});
  m.outputs[m.output_count++] =
      builder_add(&m, OPC_MAX_REDUCE, TW_INT, 2, (uint32_t[]){P_INT2, P_MAIN});
  compare_on_long_segments(&m, 1, 8);
}

/* A number in (-1, 0] becomes 0 as an INT, and not -0 when that is a FLOAT again. */
Test(fused, integers_and_back) {
  static const enum opcode to_int[] = {OPC_FLOOR, OPC_CEIL, OPC_TRUNC, OPC_ROUND};
  struct builder m = {.value_count = PARAMS};
  const uint32_t each = builder_add(&m, OPC_SIN, TW_NONE, 1, (uint32_t[]){P_FLOAT});
  for (int i = 0; i < 4; i++) {
    const uint32_t there = builder_add(&m, to_int[i], TW_NONE, 1, (uint32_t[]){each});
    m.outputs[m.output_count++] = builder_add(&m, OPC_I_TO_F, TW_NONE, 1, (uint32_t[]){there});
  }
  compare_on_long_segments(&m, 1, 2);
}

/* ---- gathers of slices ---- */

enum slices { OF_EACH, OF_ONE, OF_OTHERS, SLICES };
enum spoiled { BY_NOTHING, BY_ONE_TOO_FAR, BY_ONE_BEFORE, BY_ONE_STRIDE, SPOILED };

/* Makes so many slices of random lengths, `length` on average. OF_EACH: each slice has a
 * segment of its own. OF_ONE: all slices are of one segment. OF_OTHERS: three slices share a
 * segment, which ends within a slice. */
static void make_slices(struct random *r, struct cvl_context *c, enum slices way,
                        enum spoiled spoiled, uint64_t count, uint64_t length,
                        struct cvl_value *p) {
  enum { ROOM = 5, GROUP = 3 };
  int64_t *lengths = calloc(count, sizeof *lengths), *far = calloc(count, sizeof *far);
  int64_t *starts = calloc(count, sizeof *starts), *strides = calloc(count, sizeof *strides);
  uint64_t n = 0, m = 0, segments = 0;
  for (uint64_t i = 0; i < count; i++) {
    n += (uint64_t)(lengths[i] = (int64_t)below(r, 2 * length + 1));
    m += (uint64_t)(far[i] = lengths[i] + 1 + (int64_t)below(r, ROOM));
    strides[i] = 1;
  }
  p[0] = segdes(c, count, lengths);
  int64_t *near = calloc(count, sizeof *near);
  if (way == OF_EACH) {
    segments = count;
    memcpy(near, lengths, count * sizeof *near);
  } else if (way == OF_ONE) {
    near[segments++] = (int64_t)n;
    far[0] = (int64_t)m;
  } else {
    for (uint64_t i = 0; i < count; i++) near[i / GROUP] += lengths[i];
    segments = (count + GROUP - 1) / GROUP;
    if (segments > 1 && near[0] > 1) near[0]--, near[1]++; /* the segment ends within a slice */
    for (uint64_t i = 0; i < segments; i++) far[i] = (int64_t)(2 * length + ROOM);
    m = segments * (2 * length + ROOM);
  }
  for (uint64_t i = 0; i < count; i++) {
    const int64_t of = way == OF_EACH ? far[i] : way == OF_ONE ? (int64_t)m : far[0];
    starts[i] = (int64_t)below(r, (uint64_t)(of - lengths[i] + 1));
    if (2 * i / count == 1 && lengths[i] > 1 && spoiled != BY_NOTHING) {
      if (spoiled == BY_ONE_TOO_FAR) starts[i] = of - lengths[i] + 1;
      if (spoiled == BY_ONE_BEFORE) starts[i] = -1;
      if (spoiled == BY_ONE_STRIDE) strides[i] = 0;
      spoiled = BY_NOTHING;
    }
  }
  p[1] = ints(c, count, starts);
  p[2] = ints(c, count, strides);
  p[3] = segdes(c, segments, near);
  p[4] = segdes(c, segments, far);
  p[5] = floats(r, c, m);
  p[6] = flags(r, c, m);
  free(lengths);
  free(far);
  free(starts);
  free(strides);
  free(near);
}

static void compare_slices(struct cvl_context *c, struct superop *op, const struct cvl_value *p,
                           bool fails) {
  struct cvl_value expected[4], got[4];
  struct cvl_error wanted, found;
  struct cvl_kernel *k = prepared(c, op);
  const bool good = superop_run(cpu, c, 1, op, NULL, p, expected);
  cr_assert_eq(good, !fails);
  if (!good) cr_assert(cpu->check(c, true, &wanted));
  cr_assert_eq(cpu->superops->run(c, 1, k, p, got), good);
  if (!good) cr_assert(cpu->check(c, true, &found) && same_error(&wanted, &found));
  for (uint32_t i = 0; i < op->output_count && good; i++) {
    cr_assert(same_value(c, &expected[i], &got[i]), "output %u", i);
    cpu->release(c, &expected[i]);
    cpu->release(c, &got[i]);
  }
  cpu->superops->discard(c, k);
}

/* Gathers two vectors by one INDEX, which is a result itself or not. */
Test(fused, gathers_of_slices) {
  static const uint64_t counts[] = {1, 2, 30, 3000}, lengths[] = {1, 5, 40, 700};
  static const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_INT,   SUPEROP_INT, SUPEROP_SEGDES,
                                  SUPEROP_SEGDES, SUPEROP_FLOAT, SUPEROP_BOOL};
  static const uint32_t outputs[] = {9, 10, 7};
  for (uint64_t i = 0; i < 16 * SLICES * SPOILED; i++) {
    struct random r = {.state = i};
    const uint64_t count = counts[i % 4], length = lengths[i / 4 % 4];
    const enum spoiled spoiled = (enum spoiled)(i / 16 / SLICES);
    if (count * length > 200000 || (spoiled != BY_NOTHING && count < 30)) continue;
    const struct cvl_options options = {.int_elem = i % 3 ? CVL_I64 : CVL_I32,
                                        .float_elem = i % 5 ? CVL_F64 : CVL_F32,
                                        .threads = 1 + (unsigned)(i % 3)};
    struct cvl_context *c = fused_opened(&options);
    struct superop_node nodes[] = {
        {.op = OPC_INDEX, .type = TW_NONE, .operand_count = 3, .operands = {1, 2, 0}},
        {.op = OPC_BPERMUTE,
         .type = TW_FLOAT,
         .checked = true,
         .operand_count = 4,
         .operands = {5, 7, 4, 3}},
        {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {8, 8}},
        {.op = OPC_BPERMUTE,
         .type = TW_BOOL,
         .checked = true,
         .operand_count = 4,
         .operands = {6, 7, 4, 3}}};
    struct superop op = SUPEROP_OF(kinds, nodes, outputs);
    op.output_count = 2 + below(&r, 2);
    struct cvl_value p[7];
    make_slices(&r, c, (enum slices)(i / 16 % SLICES), spoiled, count, length, p);
    compare_slices(c, &op, p, spoiled == BY_ONE_TOO_FAR || spoiled == BY_ONE_BEFORE);
    cpu->close(c);
    arena_free(&arena);
  }
}

/* A value is spread over one segment, then over several, and over one again: (e + x) * 2 + x.
 */
Test(fused, one_segment_and_several_in_turn) {
  enum { N = 700, TURNS = 4 };
  static const uint8_t kinds[] = {SUPEROP_SEGDES, SUPEROP_FLOAT, SUPEROP_FLOAT, SUPEROP_SEGDES};
  static const uint32_t outputs[] = {9};
  struct superop_node nodes[] = {
      {.op = OPC_DIST, .type = TW_FLOAT, .operand_count = 2, .operands = {1, 0}},
      {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {4, 2}},
      {.op = OPC_CONST, .type = TW_FLOAT, .constant = {.form = CVL_SCALAR, .elem = CVL_F64}},
      {.op = OPC_DIST, .type = TW_FLOAT, .operand_count = 2, .operands = {6, 3}},
      {.op = OPC_MUL, .type = TW_FLOAT, .operand_count = 2, .operands = {5, 7}},
      {.op = OPC_ADD, .type = TW_FLOAT, .operand_count = 2, .operands = {8, 2}}};
  nodes[2].constant.as.f64 = 2;
  struct superop op = SUPEROP_OF(kinds, nodes, outputs);
  const struct cvl_options options = {.int_elem = CVL_I64, .float_elem = CVL_F64, .threads = 2};
  struct cvl_context *c = fused_opened(&options);
  struct cvl_kernel *k = prepared(c, &op);
  const int64_t whole = N, several[] = {N / 7, 0, N / 2, N - N / 7 - N / 2};
  struct random r = {.state = 1};
  for (int turn = 0; turn < TURNS; turn++) {
    const uint64_t count = turn % 2 ? 4 : 1;
    const struct cvl_value p[] = {segdes(c, count, turn % 2 ? several : &whole),
                                  floats(&r, c, count), floats(&r, c, N), segdes(c, 1, &whole)};
    struct cvl_value expected, got;
    cr_assert(superop_run(cpu, c, 1, &op, NULL, p, &expected));
    cr_assert(cpu->superops->run(c, 1, k, p, &got));
    cr_assert(same_value(c, &expected, &got), "turn %d", turn);
  }
  cpu->superops->discard(c, k);
  cpu->close(c);
  arena_free(&arena);
}

/* Without a compiler, or a directory, the evaluator does all runs. */
Test(fused, not_compiled_without_a_directory) {
  cr_assert(fused_run_random(1, 3, 100, false, "/nowhere/at/all") > 0);
}
