/* test-oracle.c - the oracle against numbers that others published, or that were worked out by
 * hand from vcode.md and cvl.h. The oracle tests the back ends, so it must be tested itself. */
#include "cvl/oracle/oracle.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct host_value oracle_ints(struct heap *h, uint64_t n, const int64_t *x) {
  struct host_value v = host_vector(h, CVL_I64, n);
  for (uint64_t i = 0; i < n; i++) host_put_int(&v, i, x[i]);
  return v;
}

static struct host_value oracle_reals(struct heap *h, uint64_t n, const double *x) {
  struct host_value v = host_vector(h, CVL_F64, n);
  for (uint64_t i = 0; i < n; i++) host_put_real(&v, i, x[i]);
  return v;
}

static struct host_value oracle_segdes(struct heap *h, uint64_t n, const int64_t *lengths) {
  struct host_value d = host_segdes(h, n);
  for (uint64_t i = 0; i < n; i++) {
    host_put_int(&d, i, lengths[i]);
    d.total += (uint64_t)lengths[i];
  }
  return d;
}

#define N(...)      (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INTS(...)   oracle_ints(&heap, N(__VA_ARGS__), (int64_t[]){__VA_ARGS__})
#define SEGDES(...) oracle_segdes(&heap, N(__VA_ARGS__), (int64_t[]){__VA_ARGS__})
#define EXPECT(...) oracle_expect(&heap, &call, N(__VA_ARGS__), (int64_t[]){__VA_ARGS__})

static struct oracle_outcome test_oracle_run(struct heap *heap, struct oracle_call *call) {
  struct oracle_outcome o;
  call->int_elem = CVL_I64;
  call->float_elem = CVL_F64;
  oracle_run(heap, call, &o);
  return o;
}

static void oracle_expect(struct heap *heap, struct oracle_call *call, uint64_t n,
                          const int64_t *want) {
  struct oracle_outcome o = test_oracle_run(heap, call);
  cr_assert_eq(o.error.kind, CVL_E_NONE);
  cr_assert_eq(o.out[0].n, n);
  for (uint64_t i = 0; i < n; i++) {
    cr_expect_eq(host_int(&o.out[0], i), want[i], "element %d is %lld, expected %lld", (int)i,
                 (long long)host_int(&o.out[0], i), (long long)want[i]);
  }
  for (unsigned r = 0; r < CALL_RESULTS; r++) host_free(heap, &o.out[r]);
  for (unsigned i = 0; i < CALL_OPERANDS; i++) host_free(heap, &call->operand[i]);
  cr_expect_eq(heap->live, 0);
}

/* These are the known answers of Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy
 * as 1, 2, 3 (SC 2011), distributed with their library. */
Test(oracle, philox_known_answers) {
  static const struct {
    uint32_t counter[4], key[2], want[4];
  } known[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (int i = 0; i < 3; i++) {
    uint32_t got[4];
    oracle_philox(known[i].counter, known[i].key, got);
    cr_expect_arr_eq(got, known[i].want, sizeof got);
  }
}

/* The examples of vcode.md, sections 7.3, 7.4 and 8. */
Test(oracle, examples_of_the_specification) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_SCAN, .op = OP_ADD, .count = 2};
  call.operand[0] = INTS(3, 1, 2, 5, -4, 7), call.operand[1] = SEGDES(3, 0, 2, 1);
  EXPECT(0, 3, 4, 0, 5, 0);
  call.kind = CALL_REDUCE;
  call.operand[0] = INTS(3, 1, 2, 5, -4, 7), call.operand[1] = SEGDES(3, 0, 2, 1);
  EXPECT(6, 0, 1, 7);
  call.op = OP_MIN;
  call.operand[0] = INTS(3, 1, 2, 5, -4, 7), call.operand[1] = SEGDES(3, 0, 2, 1);
  EXPECT(1, INT64_MAX, -4, 7);
  call.kind = CALL_RANK, call.op = OP_RANK_UP;
  call.operand[0] = INTS(5, 3, 9, 3, 5, -1, 0), call.operand[1] = SEGDES(3, 0, 4);
  EXPECT(1, 0, 2, 2, 3, 0, 1);
  call.op = OP_RANK_DOWN;
  call.operand[0] = INTS(5, 3, 5, 3), call.operand[1] = SEGDES(4);
  EXPECT(0, 2, 1, 3);
  call.kind = CALL_SORT, call.op = OP_SORT_UP;
  call.operand[0] = INTS(5, 3, 9, 3, 5, -1, 0), call.operand[1] = SEGDES(3, 0, 4);
  EXPECT(3, 5, 9, -1, 0, 3, 5);
  call.op = OP_SORT_DOWN;
  call.operand[0] = INTS(5, 3, 9, 3, 5, -1, 0), call.operand[1] = SEGDES(3, 0, 4);
  EXPECT(9, 5, 3, 5, 3, 0, -1);
  call.kind = CALL_PERMUTE, call.op = OP_PERMUTE, call.count = 6;
  call.operand[0] = INTS(10, 20, 30, 40, 50), call.operand[1] = INTS(1, 0, 2, 0, 1);
  call.operand[4] = SEGDES(2, 0, 3), call.operand[5] = SEGDES(2, 0, 3);
  EXPECT(20, 10, 40, 50, 30);
  call.op = OP_DPERMUTE;
  call.operand[0] = INTS(70, 80), call.operand[1] = INTS(3, 0);
  call.operand[3] = INTS(1, 2, 3, 4, 5);
  call.operand[4] = SEGDES(2), call.operand[5] = SEGDES(5);
  EXPECT(80, 2, 3, 70, 5);
  call.op = OP_BPERMUTE;
  call.operand[0] = INTS(10, 20, 30, 40, 50), call.operand[1] = INTS(1, 1, 0, 2, 0);
  call.operand[4] = SEGDES(2, 0, 3), call.operand[5] = SEGDES(3, 0, 2);
  EXPECT(20, 20, 10, 50, 30);
  call.kind = CALL_REPLACE, call.op = OP_REPLACE, call.count = 4;
  call.operand[0] = INTS(10, 20, 30, 40), call.operand[1] = INTS(2, 0);
  call.operand[2] = INTS(99, 98), call.operand[3] = SEGDES(3, 1);
  EXPECT(10, 20, 99, 98);
  call.kind = CALL_INDEX, call.op = OP_INDEX, call.count = 3;
  call.operand[0] = INTS(0, 5, 100), call.operand[1] = INTS(1, 2, -1);
  call.operand[2] = SEGDES(3, 0, 2);
  EXPECT(0, 1, 2, 100, 99);
}

Test(oracle, rounds_as_the_specification_says) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_ELEMENTWISE, .op = OP_ROUND, .count = 1};
  const double x[] = {0.5, 2.5, -0.5, -1.5, -2.5, -2.6, -3.0, 0.49999999999999994, NAN, 0x1p63};
  call.operand[0] = oracle_reals(&heap, 10, x);
  EXPECT(1, 3, 0, -1, -2, -3, -3, 0, INT64_MIN, INT64_MIN);
}

/* Makes a sum for each rule of the tree, with values for which any other order gives other
 * bits. */
static double oracle_sum_of(uint64_t n, uint64_t big_at, uint64_t minus_at, uint64_t one_at) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_REDUCE, .op = OP_ADD, .count = 2};
  call.operand[0] = host_vector(&heap, CVL_F64, n);
  for (uint64_t i = 0; i < n; i++) host_put_real(&call.operand[0], i, -0.0);
  host_put_real(&call.operand[0], big_at, 1e17);
  host_put_real(&call.operand[0], minus_at, -1e17);
  host_put_real(&call.operand[0], one_at, 1.0);
  call.operand[1] = SEGDES((int64_t)n);
  struct oracle_outcome o = test_oracle_run(&heap, &call);
  double sum = host_real(&o.out[0], 0);
  host_free(&heap, &o.out[0]);
  for (int i = 0; i < 2; i++) host_free(&heap, &call.operand[i]);
  return sum;
}

Test(oracle, sums_follow_the_tree) {
  /* one lane, with rows in order: the 1 comes last */
  cr_expect_eq(oracle_sum_of(100, 5, 37, 69), 1.0);
  cr_expect_eq(oracle_sum_of(100, 5, 69, 37), 0.0); /* the 1 is lost in the lane */
  cr_expect_eq(oracle_sum_of(32, 0, 16, 8), 1.0);   /* lanes 0 and 16 meet first */
  cr_expect_eq(oracle_sum_of(32, 0, 8, 16), 0.0);   /* lane 16 meets lane 0 before 8 does */
  cr_expect_eq(oracle_sum_of(3000, 0, 2048, 1024),
               1.0); /* blocks are lanes: 0 and 2 meet first */
  cr_expect_eq(oracle_sum_of(3000, 0, 1024, 2048), 0.0); /* the 1 is lost in block 0 */
  cr_expect_eq(oracle_sum_of(1025, 31, 63, 1024), 1.0);  /* the second block is added last */
}

/* Prefixes of 8 and 32 show the order within a window, and that windows are added on the
 * left. */
Test(oracle, scans_follow_the_tree) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_SCAN, .op = OP_ADD, .count = 2};
  const double x[] = {1, 1e17, -1e17, 0, 0, 0, 0, 0, 1, 1e17, -1e17, 5};
  call.operand[0] = oracle_reals(&heap, 12, x), call.operand[1] = SEGDES(12);
  struct oracle_outcome o = test_oracle_run(&heap, &call);
  /* At position 3, s = 1 joins elements 1 and 2, then s = 2 adds element 0, and the 1 survives.
   * The total of the first window first joins 0 with 1, and 2 with 3, and the 1 is lost. */
  const double want3 = 1 + (1e17 + -1e17), window = (1 + 1e17) + (-1e17 + 0);
  const double want11 = window + (1 + (1e17 + -1e17));
  cr_expect_eq(host_real(&o.out[0], 0), 0.0);
  cr_expect_eq(host_real(&o.out[0], 1), 1.0);
  cr_expect_eq(host_real(&o.out[0], 3), want3);
  cr_expect_eq(host_real(&o.out[0], 11), want11);
  host_free(&heap, &o.out[0]);
  for (int i = 0; i < 2; i++) host_free(&heap, &call.operand[i]);
}

Test(oracle, empty_sums_and_minus_zeros) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_REDUCE, .op = OP_ADD, .count = 2};
  const double x[] = {-0.0, -0.0, -0.0};
  call.operand[0] = oracle_reals(&heap, 3, x), call.operand[1] = SEGDES(0, 3);
  struct oracle_outcome o = test_oracle_run(&heap, &call);
  cr_expect(!signbit(host_real(&o.out[0], 0)));
  cr_expect(signbit(host_real(&o.out[0], 1)));
}

Test(oracle, faults_name_the_lowest_position) {
  struct heap heap;
  heap_init(&heap, 0);
  struct oracle_call call = {.kind = CALL_PERMUTE, .op = OP_PERMUTE, .count = 6};
  call.operand[0] = INTS(1, 2, 3, 4, 5), call.operand[1] = INTS(0, 0, 1, 1, 3);
  call.operand[4] = SEGDES(2, 3), call.operand[5] = SEGDES(2, 3);
  struct oracle_outcome o = test_oracle_run(&heap, &call);
  /* reported before the duplicates, though at a later position */
  cr_expect_eq(o.error.kind, CVL_E_INDEX);
  cr_expect_eq(o.error.position, 4);
  cr_expect_eq(o.error.value, 3);
  cr_expect_eq(o.error.limit, 3);
  cr_expect_eq(o.error.segment, 1);
  host_put_int(&call.operand[1], 4, 2);
  o = test_oracle_run(&heap, &call);
  cr_expect_eq(o.error.kind, CVL_E_DUPLICATE);
  cr_expect_eq(o.error.position, 1);
  cr_expect_eq(o.error.value, 0);
  cr_expect_eq(o.error.segment, 0);
}
