/* test-superop.c - which programs are superoperators, what follows from their shape, and how
 * executing their nodes treats sizes, references and faults. */
#include "base/tests/memory.h"
#include "cvl/oracle/oracle.h"
#include "cvl/superop.h"

#include <signal.h>
#include <string.h>

const struct cvl_backend *const *cvl_backends(void) {
  static const struct cvl_backend *const all[] = {&cvl_oracle_backend, NULL};
  return all;
}

enum { I = SUPEROP_INT, F = SUPEROP_FLOAT, B = SUPEROP_BOOL, S = SUPEROP_SEGDES, MOST = 8 };

/* A superoperator to be completed, as a table. */
struct sketch {
  uint32_t param_count;
  uint8_t params[MOST];
  uint32_t node_count;
  struct superop_node nodes[MOST];
  uint32_t output_count, outputs[MOST];
};

#define NODE(o, t, n, ...)                                                                     \
  {                                                                                            \
    .op = OPC_##o, .type = TW_##t, .operand_count = n, .checked = true, .operands = {          \
      __VA_ARGS__                                                                              \
    }                                                                                          \
  }
#define CONST_INT(x)                                                                           \
  {                                                                                            \
    .op = OPC_CONST, .type = TW_INT, .constant = {                                             \
      .form = CVL_SCALAR,                                                                      \
      .elem = CVL_I64,                                                                         \
      .as.i64 = x                                                                              \
    }                                                                                          \
  }

TestSuite(superop, .init = memory_begin, .fini = memory_end);

static struct superop test_superop_of(struct sketch *k) {
  return (struct superop){.param_count = k->param_count,
                          .node_count = k->node_count,
                          .output_count = k->output_count,
                          .params = k->params,
                          .nodes = k->nodes,
                          .outputs = k->outputs};
}

static struct superop completed(struct sketch *k) {
  struct superop op = test_superop_of(k);
  const char *why;
  uint32_t node;
  cr_assert(superop_complete(&arena, &op, &why, &node), "node %u: %s", node, why);
  return op;
}

/* ---- what is one ---- */

static struct sketch dot_product(void) {
  return (struct sketch){
      3, {F, F, S}, 2, {NODE(MUL, FLOAT, 2, 0, 1), NODE(ADD_REDUCE, FLOAT, 2, 3, 2)}, 1, {4}};
}

Test(superop, dot_product) {
  struct sketch k = dot_product();
  struct superop op = completed(&k);
  cr_expect_eq(op.value_count, 5);
  cr_expect_eq(op.nodes[0].role, ROLE_MAP);
  cr_expect_eq(op.nodes[1].role, ROLE_REDUCE);
  cr_expect_eq(op.nodes[0].result, 3);
  cr_expect_eq(op.nodes[1].result, 4);
  cr_expect_not(op.nodes[0].checked, "a product has no conditions");
  cr_expect_eq(op.kinds[4], SUPEROP_FLOAT);
  cr_expect_eq(op.segments, 2);
  cr_expect_eq(op.domain.what, SIZE_LEN);
  cr_expect_eq(op.domain.param, 0);
  cr_expect_eq(op.sizes[4].what, SIZE_COUNT);
  cr_expect_eq(op.sizes[4].param, 2);
  cr_assert_eq(op.rule_count, 2);
  cr_expect(op.rules[0].b.what == SIZE_LEN && op.rules[0].b.param == 1 &&
            op.rules[0].node == 0);
  cr_expect(op.rules[1].b.what == SIZE_TOTAL && op.rules[1].b.param == 2);
  cr_expect_eq(op.rules[1].node, 1);
  cr_expect_eq(op.uses[3], 1);
  cr_expect_eq(op.last_use[3], 1);
  cr_expect_eq(op.last_use[4], 2);
}

/* A flat constant as of 2012: only a descriptor determines the domain. */
Test(superop, flat_constants) {
  struct sketch k = {3, {S, F, S},
                     3, {CONST_INT(7), NODE(DIST, INT, 2, 3, 0), NODE(I_TO_F, NONE, 1, 4)},
                     1, {5}};
  struct superop op = completed(&k);
  cr_expect_eq(op.domain.what, SIZE_TOTAL);
  cr_expect_eq(op.domain.param, 0);
  cr_assert_eq(op.rule_count, 1, "nothing is required of parameters without use");
  cr_expect(op.rules[0].a.what == SIZE_ONE && op.rules[0].b.what == SIZE_COUNT);
  cr_expect_eq(op.last_use[1], SUPEROP_NONE);
  cr_expect_eq(op.uses[2], 0);
}

/* Makes two scatters, the second into the result of the first. They have no common domain. */
static struct sketch concatenation(void) {
  return (struct sketch){8,
                         {F, I, S, F, I, S, F, S},
                         4,
                         {NODE(INDEX, NONE, 3, 1, 1, 2), NODE(INDEX, NONE, 3, 4, 4, 5),
                          NODE(DPERMUTE, FLOAT, 5, 0, 8, 6, 2, 7),
                          NODE(DPERMUTE, FLOAT, 5, 3, 9, 10, 5, 7)},
                         1,
                         {11}};
}

Test(superop, copies) {
  struct sketch k = concatenation();
  struct superop op = completed(&k);
  cr_expect(op.copies);
  cr_expect_eq(op.domain.what, SIZE_LEN, "a DPERMUTE has the length of its defaults");
  cr_expect_eq(op.domain.param, 6);
  cr_expect_eq(op.uses[10], 1);
  for (uint32_t r = 0; r < op.rule_count; r++)
    cr_expect_neq(op.rules[r].b.param, op.rules[r].a.param, "no rule connects the domains");
  struct sketch dot = dot_product();
  cr_expect_not(completed(&dot).copies);
  k.node_count = 3; /* one scatter has a common domain */
  k.outputs[0] = 10;
  cr_expect_not(completed(&k).copies);
}

/* Without an output, some node must be checked. */
Test(superop, copies_that_check) {
  struct sketch k = concatenation();
  k.output_count = 0;
  cr_expect(completed(&k).copies);
  k.nodes[2].checked = k.nodes[3].checked = false;
  struct superop op = test_superop_of(&k);
  const char *why;
  uint32_t node;
  cr_expect_not(superop_complete(&arena, &op, &why, &node));
  cr_expect_str_eq(why, "it has no output");
}

/* A divisor is picked from each segment, and the quotient is kept in two ways. */
Test(superop, gathers_and_outputs) {
  struct sketch k = {6,
                     {I, I, S, I, S, S},
                     4,
                     {NODE(EXTRACT, INT, 3, 0, 1, 2), NODE(DIV, INT, 2, 3, 6),
                      NODE(BPERMUTE, INT, 4, 0, 7, 4, 5), NODE(PERMUTE, INT, 3, 8, 7, 5)},
                     2,
                     {9, 7}};
  struct superop op = completed(&k);
  cr_expect(op.nodes[0].checked && op.nodes[1].checked && op.nodes[2].checked);
  cr_expect_eq(op.sizes[6].what, SIZE_COUNT);
  cr_expect_eq(op.last_use[7], 4);
  cr_expect_eq(op.uses[7], 3);
  /* len 0 = total 2, len 1 = count 2, len 3 = count 2 or what equals it, len 0 = total 4,
   * len 1 = total 5, count 4 = count 5 */
  cr_expect_eq(op.rule_count, 6);
}

/* Only the domain connects the two, so there is a rule. */
Test(superop, horizontal) {
  struct sketch k = {2, {F, F}, 2, {NODE(EXP, NONE, 1, 0), NODE(LOG, NONE, 1, 1)}, 2, {2, 3}};
  struct superop op = completed(&k);
  cr_assert_eq(op.rule_count, 1);
  cr_expect_eq(op.rules[0].node, 1);
}

Test(superop, results_of_pack) {
  struct sketch k = {3, {I, B, S}, 2, {NODE(PACK, INT, 3, 0, 1, 2), NODE(NOT, INT, 1, 0)},
                     3, {5, 4, 3}};
  struct superop op = completed(&k);
  cr_expect_eq(op.kinds[3], SUPEROP_INT);
  cr_expect_eq(op.kinds[4], SUPEROP_SEGDES);
  cr_expect_eq(op.sizes[3].what, SIZE_UNKNOWN);
  cr_expect_eq(op.nodes[1].result, 5);
}

/* ---- what is none ---- */

static const struct refused {
  const char *why; /* must occur in the reason */
  uint32_t node;
  struct sketch sketch;
} refused[] = {
    {"no output", 1, {1, {I}, 1, {NODE(NOT, INT, 1, 0)}, 0, {0}}},
    {"is a parameter", 1, {1, {I}, 1, {NODE(NOT, INT, 1, 0)}, 1, {0}}},
    {"there is no $2", 1, {1, {I}, 1, {NODE(NOT, INT, 1, 0)}, 1, {2}}},
    {"an output twice", 0, {1, {I}, 1, {NODE(NOT, INT, 1, 0)}, 2, {1, 1}}},
    {"a constant is an output", 0, {1, {S}, 1, {CONST_INT(1)}, 1, {1}}},
    {"single element", 0, {0, {0}, 1, {{.op = OPC_CONST, .type = TW_INT}}, 1, {0}}},
    {"not of the type",
     0,
     {0,
      {0},
      1,
      {{.op = OPC_CONST, .type = TW_FLOAT, .constant = {.form = CVL_SCALAR}}},
      1,
      {0}}},
    {"may not occur", 0, {1, {I}, 1, {NODE(LENGTH, INT, 1, 0)}, 1, {1}}},
    {"may not occur", 0, {2, {I, S}, 1, {NODE(RANK_UP, INT, 2, 0, 1)}, 1, {2}}},
    {"may not occur", 0, {1, {I}, 1, {NODE(RAND, NONE, 1, 0)}, 1, {1}}},
    {"does not exist", 0, {1, {B}, 1, {NODE(ADD, BOOL, 2, 0, 0)}, 1, {1}}},
    {"needs a type", 0, {1, {I}, 1, {NODE(ADD, NONE, 2, 0, 0)}, 1, {1}}},
    {"takes no type", 0, {1, {I}, 1, {NODE(MOD, INT, 2, 0, 0)}, 1, {1}}},
    {"takes 2 operands, not 1", 0, {1, {I}, 1, {NODE(ADD, INT, 1, 0)}, 1, {1}}},
    {"not known there", 0, {1, {I}, 1, {NODE(ADD, INT, 2, 0, 1)}, 1, {1}}},
    {"is FLOAT, not INT", 0, {2, {I, F}, 1, {NODE(ADD, INT, 2, 0, 1)}, 1, {2}}},
    {"is INT, not BOOL", 0, {2, {I, I}, 1, {NODE(SELECT, INT, 3, 0, 0, 1)}, 1, {2}}},
    {"is INT, not SEGDES", 0, {2, {I, I}, 1, {NODE(ADD_REDUCE, INT, 2, 0, 1)}, 1, {2}}},
    {"one element for each position",
     1,
     {1, {I}, 2, {CONST_INT(1), NODE(ADD, INT, 2, 0, 1)}, 1, {2}}},
    {"one element for each position",
     1,
     {2, {I, S}, 2, {NODE(ADD_SCAN, INT, 2, 0, 1), NODE(NOT, INT, 1, 2)}, 1, {3}}},
    {"one element for each position",
     1,
     {3, {I, B, S}, 2, {NODE(PACK, INT, 3, 0, 1, 2), NODE(NOT, INT, 1, 3)}, 1, {5}}},
    {"needs a parameter",
     1,
     {3, {I, I, S}, 2, {NODE(NOT, INT, 1, 0), NODE(BPERMUTE, INT, 4, 3, 1, 2, 2)}, 1, {4}}},
    {"a parameter or a constant",
     1,
     {2, {I, S}, 2, {NODE(NOT, INT, 1, 0), NODE(DIST, INT, 2, 2, 1)}, 1, {3}}},
    {"needs a parameter",
     1,
     {4,
      {I, I, S, S},
      2,
      {NODE(NOT, INT, 1, 0), NODE(DPERMUTE, INT, 5, 0, 1, 4, 2, 3)},
      1,
      {5}}},
    {"under $2, an operation before under $1",
     1,
     {3,
      {I, S, S},
      2,
      {NODE(ADD_REDUCE, INT, 2, 0, 1), NODE(ADD_SCAN, INT, 2, 0, 2)},
      2,
      {3, 4}}},
    {"needs a parameter",
     1,
     {3, {I, B, S}, 2, {NODE(PACK, INT, 3, 0, 1, 2), NODE(ADD_REDUCE, INT, 2, 0, 4)}, 1, {5}}},
    {"no kind", 0, {1, {9}, 1, {NODE(NOT, INT, 1, 0)}, 1, {1}}},
};

Test(superop, what_is_none) {
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
    struct sketch k = refused[i].sketch;
    struct superop op = test_superop_of(&k);
    const char *why = NULL;
    uint32_t node = 99;
    bool ok = superop_complete(&arena, &op, &why, &node);
    cr_expect_not(ok, "number %zu (%s) is accepted", i, refused[i].why);
    if (ok || !why) continue;
    cr_expect(strstr(why, refused[i].why), "number %zu: %s, expected: %s", i, why,
              refused[i].why);
    cr_expect_eq(node, refused[i].node, "number %zu (%s): node %u", i, why, node);
  }
}

Test(superop, too_many_values) {
  enum { N = SUPEROP_VALUES_MAX };
  static struct superop_node nodes[N];
  for (uint32_t i = 0; i < N; i++) nodes[i] = (struct superop_node)NODE(NOT, INT, 1, i);
  struct superop op = {.param_count = 1,
                       .node_count = N - 1,
                       .output_count = 1,
                       .params = (uint8_t[]){I},
                       .nodes = nodes,
                       .outputs = (uint32_t[]){1}};
  const char *why;
  uint32_t node;
  cr_expect(superop_complete(&arena, &op, &why, &node));
  op.node_count = N;
  cr_assert_not(superop_complete(&arena, &op, &why, &node));
  cr_expect(strstr(why, "too many"));
}

#ifdef RAVEL_DEBUG
/* Derived members are checked: a use too few, and a value that does not exist. */
Test(superop, a_wrong_use_ends_a_debug_build, .signal = SIGABRT) {
  struct sketch k = dot_product();
  const struct superop op = completed(&k);
  op.last_use[3] = SUPEROP_NONE;
  superop_check(&op);
}

Test(superop, a_wrong_operand_ends_a_debug_build, .signal = SIGABRT) {
  struct sketch k = dot_product();
  const struct superop op = completed(&k);
  op.nodes[0].operands[1] = 3;
  superop_check(&op);
}
#endif

Test(superop, memory_that_fails) {
  struct sketch k = dot_product();
  struct superop op = test_superop_of(&k);
  const char *why = "";
  uint32_t node;
  heap.fail_at = 1;
  struct memory_guard guard;
  memory_guard_begin(&guard);
  cr_assert(setjmp(guard.jump) == 0, "it jumped");
  cr_expect_not(superop_complete(&arena, &op, &why, &node));
  cr_expect_null(why);
  memory_guard_end(&guard); /* the innermost guard again */
}

/* ---- equality ---- */

Test(superop, equality) {
  struct sketch a = {2, {I, S},
                     3, {CONST_INT(7), NODE(DIST, INT, 2, 2, 1), NODE(DIV, INT, 2, 0, 3)},
                     1, {4}},
                b = a;
  b.nodes[2].origin = 5;
  b.nodes[2].pos.line = 3;
  struct superop x = completed(&a), y = completed(&b);
  y.number = 4;
  cr_expect(superop_same(&x, &y));
  cr_expect_eq(superop_hash(&x), superop_hash(&y));
  b = a;
  b.nodes[2].checked = false;
  y = completed(&b);
  cr_expect_not(superop_same(&x, &y));
  b = a;
  b.nodes[0].constant.as.i64 = 8;
  y = completed(&b);
  cr_expect_not(superop_same(&x, &y));
  cr_expect_neq(superop_hash(&x), superop_hash(&y));
  b = a;
  b.nodes[2].operands[0] = 3;
  y = completed(&b);
  cr_expect_not(superop_same(&x, &y));
  b = a;
  b.outputs[0] = 3;
  y = completed(&b);
  cr_expect_not(superop_same(&x, &y));
}

/* ---- assertions ---- */

/* Makes an ASSERT that $0 < $1, which reports -$0 and $0 - $1. */
static struct sketch superop_ordered(void) {
  struct sketch k = {2,
                     {I, I},
                     5,
                     {NODE(LT, INT, 2, 0, 1), NODE(NOT, INT, 1, 0), NODE(SUB, INT, 2, 0, 1),
                      NODE(ASSERT, NONE, 3, 2, 3, 4), NODE(MUL, INT, 2, 0, 1)},
                     1,
                     {5}};
  k.nodes[3].text = "more than";
  k.nodes[3].text_length = 4;
  return k;
}

Test(superop, assertions) {
  struct sketch k = superop_ordered();
  struct superop op = completed(&k);
  cr_expect_eq(op.nodes[3].result_count, 0);
  cr_expect_eq(op.nodes[4].result, 5);
  const bool cold[] = {false, true, true, false, false};
  for (uint32_t i = 0; i < 5; i++) cr_expect_eq(op.cold[i], cold[i], "node %u", i);
  k = superop_ordered();
  k.output_count = 0; /* an ASSERT needs no outputs */
  k.node_count = 4;
  op = completed(&k);
  cr_expect(op.cold[2]);
  k = superop_ordered();
  k.outputs[k.output_count++] = 4; /* an output is needed */
  op = completed(&k);
  cr_expect(op.cold[1] && !op.cold[2]);
}

Test(superop, assertions_differ_by_their_text) {
  struct sketch a = superop_ordered(), b = superop_ordered();
  char copy[] = "moreover";
  b.nodes[3].text = copy;
  struct superop x = completed(&a), y = completed(&b);
  cr_expect(superop_same(&x, &y));
  cr_expect_eq(superop_hash(&x), superop_hash(&y));
  copy[3] = 'a';
  cr_expect_not(superop_same(&x, &y));
  cr_expect_neq(superop_hash(&x), superop_hash(&y));
  b.nodes[3].text_length = 3;
  y = completed(&b);
  cr_expect_not(superop_same(&x, &y));
}

/* ---- executing it ---- */

static const struct cvl_backend *const b = &cvl_oracle_backend;
static struct cvl_context *ctx;

static void superop_open_oracle(void) {
  memory_begin();
  const char *why;
  struct cvl_options o = {.int_elem = CVL_I64, .float_elem = CVL_F64, .device = -1};
  ctx = b->open(&o, &why);
  cr_assert_not_null(ctx);
}

static void superop_close_oracle(void) {
  cr_expect_eq(b->statistics(ctx).live_bytes, 0);
  b->close(ctx);
  memory_end();
}

TestSuite(execution, .init = superop_open_oracle, .fini = superop_close_oracle);

static struct cvl_value superop_ints(uint64_t n, const int64_t *x) {
  struct cvl_value v;
  cr_assert(b->from_host(ctx, 1, CVL_I64, n, x, &v));
  return v;
}

static struct cvl_error fault_of(uint64_t site, const struct superop *op,
                                 const struct cvl_value *in, struct cvl_value *out) {
  struct cvl_error e;
  cr_assert_not(superop_run(b, ctx, site, op, NULL, in, out));
  cr_assert(b->check(ctx, true, &e));
  return e;
}

/* Makes (x + x) / y, and the sum of x / y. */
static struct sketch quotients(void) {
  return (struct sketch){3,
                         {I, I, S},
                         4,
                         {NODE(ADD, INT, 2, 0, 0), NODE(DIV, INT, 2, 3, 1),
                          NODE(DIV, INT, 2, 0, 1), NODE(ADD_REDUCE, INT, 2, 5, 2)},
                         2,
                         {4, 6}};
}

Test(execution, several_results) {
  struct sketch k = quotients();
  struct superop op = completed(&k);
  struct cvl_value in[3] = {superop_ints(3, (int64_t[]){1, 20, 30}),
                            superop_ints(3, (int64_t[]){1, 10, 5}), cvl_one_segment(3)},
                   out[2];
  in[0].owned = in[1].owned = 1;
  cr_assert(superop_run(b, ctx, 10, &op, NULL, in, out));
  int64_t x[3], sum;
  cr_assert(b->to_host(ctx, &out[0], 0, 3, x) && b->to_host(ctx, &out[1], 0, 1, &sum));
  cr_expect(x[0] == 2 && x[1] == 4 && x[2] == 12 && sum == 9);
  cr_expect_not(out[0].owned);
  b->release(ctx, &out[0]);
  b->release(ctx, &out[1]);
}

Test(execution, with_faults) {
  struct sketch k = quotients();
  struct superop op = completed(&k);
  struct cvl_value in[3] = {superop_ints(3, (int64_t[]){1, 20, 30}),
                            superop_ints(3, (int64_t[]){1, 0, 5}), cvl_one_segment(3)},
                   out[2];
  in[0].owned = 1;
  struct cvl_error e = fault_of(10, &op, in, out);
  cr_expect(e.kind == CVL_E_DIVIDE_BY_ZERO && e.site == 11 && e.position == 1);

  in[0] = superop_ints(2, (int64_t[]){1, 2}); /* shorter than in[1] */
  in[0].owned = in[1].owned = 1;
  e = fault_of(20, &op, in, out);
  cr_expect(e.kind == CVL_E_SIZE && e.site == 21 && e.position == 0);
  cr_expect(e.value == 2 && e.limit == 3);

  in[0] = superop_ints(3, (int64_t[]){1, 2, 3}); /* one reference for two operands */
  in[1] = in[0];
  in[0].owned = 1;
  cr_assert(superop_run(b, ctx, 30, &op, NULL, in, out));
  b->release(ctx, &out[0]);
  b->release(ctx, &out[1]);
}

Test(execution, with_a_failing_assert) {
  struct sketch k = superop_ordered();
  struct superop op = completed(&k);
  struct cvl_value in[2] = {superop_ints(3, (int64_t[]){1, 20, 30}),
                            superop_ints(3, (int64_t[]){2, 30, 31})},
                   out;
  cr_assert(superop_run(b, ctx, 10, &op, NULL, in, &out));
  b->release(ctx, &out);
  b->release(ctx, &in[1]);
  in[1] = superop_ints(3, (int64_t[]){2, 10, 25});
  in[0].owned = in[1].owned = 1;
  const struct cvl_error e = fault_of(20, &op, in, &out);
  cr_expect(e.kind == CVL_E_ASSERT && e.site == 23 && e.position == 1);
  cr_expect(e.value == ~20 && e.limit == 10);
}

Test(execution, on_scalars) {
  struct sketch k = {
      2, {I, I}, 3, {NODE(SUB, INT, 2, 0, 1), NODE(LT, INT, 2, 2, 1), NODE(B_TO_I, NONE, 1, 3)},
      2, {3, 4}};
  struct superop op = completed(&k);
  struct cvl_value in[2] = {cvl_scalar_int(CVL_I64, 3), cvl_scalar_int(CVL_I64, 5)}, out[2];
  cr_assert(superop_run(b, ctx, 1, &op, NULL, in, out));
  cr_expect_eq(out[0].form, CVL_SCALAR);
  cr_expect_eq(out[0].as.b, 1);
  b->release(ctx, &out[1]);
}
