/* test-combine.c - combinations. The tree, written out by hand for short segments, is compared
 * with the oracle and with the rounds of superop_run. Further tests are of sizes and faults,
 * and of what follows from the shape.
 */
#include "base/tests/memory.h"
#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"

#include <string.h>

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const all[] = {&cvl_oracle_backend, NULL};
  return all;
}

enum { I = SUPEROP_INT, S = SUPEROP_SEGDES };

static const struct cvl_backend *const b = &cvl_oracle_backend;
static struct cvl_context *ctx;

static void combine_open_oracle(void) {
  memory_begin();
  const char *why;
  struct cvl_options o = {.int_elem = CVL_I64, .float_elem = CVL_F64, .device = -1};
  ctx = b->open(&o, &why);
  cr_assert_not_null(ctx);
}

static void combine_close_oracle(void) {
  cr_expect_eq(b->statistics(ctx).live_bytes, 0);
  b->close(ctx);
  memory_end();
}

TestSuite(combine, .init = combine_open_oracle, .fini = combine_close_oracle);

/* Makes f(a, b) = 3 a - b, with 3 a DIST of a CONST: neither associative nor commutative.
 * Parameters are the column, a descriptor of one segment, and those of the consumer, which is
 * node 4. */
static struct superop threes(struct superop_node *consumer, uint32_t param_count,
                             const uint8_t *params) {
  static struct superop_node nodes[7];
  static uint32_t output;
  const uint32_t three = param_count, left = param_count + 2;
  nodes[0] = (struct superop_node){
      .op = OPC_CONST, .type = TW_INT, .constant = cvl_scalar_int(CVL_I64, 3)};
  nodes[1] = (struct superop_node){
      .op = OPC_DIST, .type = TW_INT, .operand_count = 2, .operands = {three, 1}};
  nodes[2] = (struct superop_node){.op = SUPEROP_COLUMN, .type = TW_INT, .operand_count = 1};
  nodes[3] = (struct superop_node){
      .op = OPC_MUL, .type = TW_INT, .operand_count = 2, .operands = {three + 1, left}};
  nodes[4] = (struct superop_node){
      .op = OPC_SUB, .type = TW_INT, .operand_count = 2, .operands = {left + 2, left + 1}};
  nodes[5] = *consumer;
  nodes[5].type = TW_INT;
  nodes[5].operands[0] = left;
  nodes[5].operands[1] = left + 3;
  output = left + 4;
  struct superop op = {.param_count = param_count,
                       .node_count = 6,
                       .output_count = 1,
                       .params = params,
                       .nodes = nodes,
                       .outputs = &output};
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(&arena, &op, &why, &node), "node %u: %s", node, why);
  return op;
}

static int64_t combine_f(int64_t x, int64_t y) {
  return 3 * x - y;
}

/* Returns the reduction of x[0..n), n = 1 .. 8 and 13, written out as trees.h defines it. */
static int64_t combine_tree(const int64_t *x, unsigned n) {
  switch (n) {
  case 1: return x[0];
  case 2: return combine_f(x[0], x[1]);
  case 3: return combine_f(combine_f(x[0], x[1]), x[2]);
  case 4: return combine_f(combine_f(x[0], x[1]), combine_f(x[2], x[3]));
  case 5: return combine_f(combine_tree(x, 4), x[4]);
  case 6: return combine_f(combine_tree(x, 4), combine_f(x[4], x[5]));
  case 7: return combine_f(combine_f(combine_tree(x, 4), combine_f(x[4], x[5])), x[6]);
  case 8: return combine_f(combine_tree(x, 4), combine_tree(x + 4, 4));
  case 13: return combine_f(combine_f(combine_tree(x, 8), combine_tree(x + 8, 4)), x[12]);
  default: cr_assert_fail("no tree of %u", n);
  }
  return 0;
}

enum { SEGMENTS = 11, TOTAL = 49 };
static const int64_t lengths[SEGMENTS] = {0, 1, 2, 3, 0, 4, 5, 6, 7, 8, 13};

static struct cvl_value test_combine_ints(uint64_t n, const int64_t *x) {
  struct cvl_value v;
  cr_assert(b->from_host(ctx, 1, CVL_I64, n, x, &v));
  return v;
}

static struct host_value host_ints(uint64_t n, const int64_t *x) {
  struct host_value v = host_vector(&heap, CVL_I64, n);
  for (uint64_t i = 0; i < n; i++) host_put_int(&v, i, x[i]);
  return v;
}

static struct cvl_value combine_segdes(uint64_t n, const int64_t *of) {
  struct cvl_value d;
  cr_assert(b->segdes_from_host(ctx, 1, n, of, &d));
  return d;
}

static struct host_value host_descriptor(uint64_t n, const int64_t *of) {
  struct host_value d = host_segdes(&heap, n);
  for (uint64_t i = 0; i < n; i++) {
    host_put_int(&d, i, of[i]);
    d.total += (uint64_t)of[i];
  }
  return d;
}

/* A parameter: an INT vector, or a descriptor. */
struct param {
  uint8_t kind;
  uint64_t n;
  const int64_t *x;
};

/* Runs it in both ways. Both results must be the wanted ones. */
static void combine_expect(const struct superop *op, const struct param *params, uint64_t n,
                           const int64_t *wanted) {
  struct cvl_value in[8], out;
  struct host_value values[32] = {{0}};
  struct cvl_error e = {0};
  for (uint32_t p = 0; p < op->param_count; p++) {
    const struct param *q = &params[p];
    in[p] = q->kind == S ? combine_segdes(q->n, q->x) : test_combine_ints(q->n, q->x);
    values[p] = q->kind == S ? host_descriptor(q->n, q->x) : host_ints(q->n, q->x);
  }
  int64_t got[64];
  cr_assert(superop_run(b, ctx, 10, op, NULL, in, &out));
  cr_assert_eq(b->length(ctx, &out).bound, n);
  cr_assert(b->to_host(ctx, &out, 0, n, got));
  b->release(ctx, &out);
  cr_assert(oracle_superop(&heap, op, CVL_I64, CVL_F64, values, &e));
  const struct host_value *oracle = &values[op->outputs[0]];
  cr_assert_eq(oracle->n, n);
  for (uint64_t i = 0; i < n; i++) {
    cr_expect_eq(got[i], wanted[i], "superop_run: element %zu", (size_t)i);
    cr_expect_eq(host_int(oracle, i), wanted[i], "oracle: element %zu", (size_t)i);
  }
  for (uint32_t p = 0; p < op->param_count; p++) b->release(ctx, &in[p]);
  for (uint32_t v = 0; v < op->value_count; v++) host_free(&heap, &values[v]);
}

static int64_t elements[TOTAL];

/* Computes for every element what the tree gives for all before it, and with `own` for that
 * element, too. */
static void want_scan(int64_t *out, const int64_t *identities, bool own) {
  const int64_t *x = elements;
  for (uint32_t k = 0; k < SEGMENTS; k++) {
    for (unsigned i = 0; i < lengths[k]; i++) {
      const unsigned n = i + own;
      out[x + i - elements] = n == 0             ? identities[k]
                              : n > 8 && n != 13 ? 0 /* other prefixes are not compared */
                                                 : combine_tree(x, n);
    }
    x += lengths[k];
  }
}

static const int64_t identities[SEGMENTS] = {70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80};
static const int64_t all[] = {TOTAL};

static void combine_fill(void) {
  for (int i = 0; i < TOTAL; i++) elements[i] = (i * 37 + 11) % 23 - 7;
}

Test(combine, reductions) {
  combine_fill();
  int64_t wanted[SEGMENTS];
  const int64_t *x = elements;
  for (uint32_t k = 0; k < SEGMENTS; x += lengths[k++]) {
    wanted[k] = lengths[k] ? combine_tree(x, (unsigned)lengths[k]) : identities[k];
  }
  const struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_REDUCE,
                                                          .operand_count = 4,
                                                          .operands = {0, 0, 2, 3}},
                                   4, (const uint8_t[]){I, S, I, S});
  combine_expect(
      &op,
      (const struct param[]){
          {I, TOTAL, elements}, {S, 1, all}, {I, SEGMENTS, identities}, {S, SEGMENTS, lengths}},
      SEGMENTS, wanted);
}

/* The segment of 13 is left out, since combine_tree does not have all of its prefixes. */
Test(combine, scans) {
  enum { N = TOTAL - 13, COUNT = SEGMENTS - 1 };
  combine_fill();
  int64_t wanted[TOTAL];
  static const int64_t most[] = {N};
  const struct param params[] = {
      {I, N, elements}, {S, 1, most}, {I, COUNT, identities}, {S, COUNT, lengths}};
  struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_SCAN,
                                                    .operand_count = 4,
                                                    .operands = {0, 0, 2, 3}},
                             4, (const uint8_t[]){I, S, I, S});
  want_scan(wanted, identities, false);
  combine_expect(&op, params, N, wanted);
  op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_SCAN_INCLUSIVE,
                                     .operand_count = 3,
                                     .operands = {0, 0, 3}},
              4, (const uint8_t[]){I, S, I, S});
  want_scan(wanted, identities, true);
  combine_expect(&op, params, N, wanted);
}

/* The default comes first, then the elements in order. The second segment's 0 gets no
 * element. */
Test(combine, scatters) {
  const int64_t x[] = {1, 2, 3, 4, 5, 6}, index[] = {1, 0, 1, 1, 2, 2}, of[] = {4, 2},
                defaults[] = {10, 20, 30, 40, 50}, into[] = {2, 3};
  const int64_t wanted[] = {combine_f(10, 2), combine_f(combine_f(20, 1), combine_f(3, 4)), 30,
                            40, combine_f(combine_f(50, 5), 6)};
  const struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_SCATTER,
                                                          .operand_count = 6,
                                                          .operands = {0, 0, 2, 3, 4, 5}},
                                   6, (const uint8_t[]){I, S, I, I, S, S});
  const int64_t six[] = {6};
  combine_expect(
      &op,
      (const struct param[]){
          {I, 6, x}, {S, 1, six}, {I, 6, index}, {I, 5, defaults}, {S, 2, of}, {S, 2, into}},
      5, wanted);
}

Test(combine, a_wrong_index_is_a_fault) {
  const int64_t x[] = {1, 2, 3}, index[] = {0, 1, 2}, defaults[] = {1, 2}, three[] = {3},
                two[] = {2};
  const struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_SCATTER,
                                                          .operand_count = 6,
                                                          .operands = {0, 0, 2, 3, 4, 5}},
                                   6, (const uint8_t[]){I, S, I, I, S, S});
  struct cvl_value in[6] = {test_combine_ints(3, x),     combine_segdes(1, three),
                            test_combine_ints(3, index), test_combine_ints(2, defaults),
                            combine_segdes(1, three),    combine_segdes(1, two)},
                   out;
  struct cvl_error e;
  cr_assert_not(superop_run(b, ctx, 10, &op, NULL, in, &out));
  cr_assert(b->check(ctx, true, &e));
  cr_expect(e.kind == CVL_E_INDEX && e.site == 15 && e.position == 2 && e.value == 2 &&
            e.limit == 2);
  for (int i = 0; i < 6; i++) b->release(ctx, &in[i]);
}

/* An identity that is a CONST stands for all segments; one that is a parameter does not. */
Test(combine, identities_and_sizes) {
  struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_REDUCE,
                                                    .operand_count = 4,
                                                    .operands = {0, 0, 3, 2}},
                             3, (const uint8_t[]){I, S, S});
  const int64_t of[] = {0, 2, 0}, x[] = {4, 5}, wanted[] = {3, combine_f(4, 5), 3}, two[] = {2};
  combine_expect(&op, (const struct param[]){{I, 2, x}, {S, 1, two}, {S, 3, of}}, 3, wanted);
  for (uint32_t i = 0; i < op.rule_count; i++) cr_expect_neq(op.rules[i].a.what, SIZE_COUNT);

  op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_REDUCE,
                                     .operand_count = 4,
                                     .operands = {0, 0, 2, 3}},
              4, (const uint8_t[]){I, S, I, S});
  struct cvl_value in[4] = {test_combine_ints(2, x), combine_segdes(1, two),
                            test_combine_ints(2, x), combine_segdes(3, of)},
                   out;
  struct cvl_error e;
  cr_assert_not(superop_run(b, ctx, 10, &op, NULL, in, &out));
  cr_assert(b->check(ctx, true, &e));
  cr_expect(e.kind == CVL_E_SIZE && e.site == 15 && e.position == 2 && e.value == 2 &&
            e.limit == 3);
  for (int i = 0; i < 4; i++) b->release(ctx, &in[i]);
}

Test(combine, what_follows_from_the_shape) {
  const struct superop op = threes(&(struct superop_node){.op = SUPEROP_COMBINE_SCAN,
                                                          .operand_count = 4,
                                                          .operands = {0, 0, 2, 3}},
                                   4, (const uint8_t[]){I, S, I, S});
  const struct superop_combination c = superop_combination_at(&op, 2);
  cr_expect(superop_has_combinations(&op) && !superop_has_loops(&op));
  cr_expect(c.first == 2 && c.count == 1 && c.ends == 5);
  cr_expect_eq(op.nodes[2].result_count, 2);
  cr_expect_eq(op.segments, 3);
  cr_expect_eq(op.last_use[5], 5, "f reads the constant again and again");
  cr_expect_eq(op.sizes[op.outputs[0]].what, SIZE_LEN);
  cr_expect_eq(op.sizes[op.outputs[0]].param, 0);
  for (uint32_t k = 0; k < op.node_count; k++) cr_expect_not(op.nodes[k].checked || op.cold[k]);
}
