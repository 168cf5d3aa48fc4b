/* test-affine.c - symbolic values against the operations. The result for two random affine
 * values must be what the operation computes at each position of the rectangle that is left. */
#include <criterion/criterion.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/fused/affine.h"

enum { COUNT = 200000, LENGTH_MOST = 40, ROWS_MOST = 12 };

static uint64_t random_state = 1;

/* Returns a random number below n. */
static uint64_t affine_below(uint64_t n) {
  random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (random_state >> 33) % n;
}

/* Returns a mostly small number of either sign; some wrap soon. */
static int64_t affine_number(int64_t most, size_t bytes) {
  const int64_t x = (int64_t)affine_below((uint64_t)(2 * most + 1)) - most;
  if (affine_below(40) > 0) return x;
  return int_wrapped((uint64_t)(bytes == 8 ? INT64_MAX : INT32_MAX) + (uint64_t)x, bytes);
}

static struct affine random_value(size_t bytes) {
  return (struct affine){true, affine_number(60, bytes), affine_number(3, bytes),
                         affine_number(20, bytes)};
}

static int64_t affine_value_at(const struct affine *c, uint64_t i, uint64_t j, size_t bytes) {
  return int_wrapped((uint64_t)c->start + i * (uint64_t)c->row_stride + j * (uint64_t)c->stride,
                     bytes);
}

static int64_t affine_computed(enum cvl_op op, int64_t a, int64_t b, size_t bytes) {
  switch ((int)op) {
  case OP_ADD: return int_wrapped((uint64_t)a + (uint64_t)b, bytes);
  case OP_SUB: return int_wrapped((uint64_t)a - (uint64_t)b, bytes);
  case OP_MUL: return int_wrapped((uint64_t)a * (uint64_t)b, bytes);
  case OP_DIV: return a / b;
  case OP_MOD: return a % b;
  case OP_LT: return a < b;
  case OP_LE: return a <= b;
  case OP_GT: return a > b;
  case OP_GE: return a >= b;
  case OP_EQ: return a == b;
  default: return a != b;
  }
}

static const enum cvl_op operations[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_LT,
                                         OP_LE,  OP_GT,  OP_GE,  OP_EQ,  OP_NE};

/* Checks one operation. Returns whether the result was known, which it is only if it is
 * affine. */
static bool affine_check(enum cvl_op op, struct affine a, struct affine b, size_t bytes) {
  const struct affine *const both[] = {&a, &b};
  const struct affine_extent most = {1 + affine_below(LENGTH_MOST),
                                     1 + affine_below(ROWS_MOST)};
  struct affine_extent e = most;
  const struct affine c = affine_map(op, both, bytes, bytes, &e);
  cr_assert(e.length >= 1 && e.rows >= 1 && e.length <= most.length && e.rows <= most.rows);
  for (uint64_t i = 0; i < e.rows && c.known; i++) {
    for (uint64_t j = 0; j < e.length; j++) {
      const int64_t x = affine_value_at(&a, i, j, bytes), y = affine_value_at(&b, i, j, bytes);
      cr_assert(affine_computed(op, x, y, bytes) == affine_value_at(&c, i, j, bytes),
                "operation %d of %ld and %ld in row %lu, column %lu", (int)op, (long)x, (long)y,
                (unsigned long)i, (unsigned long)j);
    }
  }
  return c.known;
}

Test(affine, operations_are_those_of_each_position) {
  unsigned known = 0;
  for (unsigned k = 0; k < COUNT; k++) {
    const size_t bytes = affine_below(2) ? 8 : 4;
    const enum cvl_op op = operations[affine_below(sizeof operations / sizeof *operations)];
    struct affine a = random_value(bytes), b = random_value(bytes);
    if (affine_below(2)) b.stride = b.row_stride = 0;
    if (op == OP_DIV || op == OP_MOD) {
      a.start = (int64_t)affine_below(200);
      a.stride = (int64_t)affine_below(2);
      b = (struct affine){true, 1 + (int64_t)affine_below(30), 0, 0};
    }
    known += affine_check(op, a, b, bytes);
  }
  cr_assert(known > COUNT / 2, "only %u are known", known);
}

Test(affine, an_index_is_below_its_limit_in_the_whole_rectangle) {
  unsigned found = 0;
  for (unsigned k = 0; k < COUNT; k++) {
    const struct affine c = random_value(8);
    const uint64_t limit = affine_below(100);
    struct affine_extent e = {1 + affine_below(LENGTH_MOST), 1 + affine_below(ROWS_MOST)};
    const bool wraps = c.start > 60 || c.stride > 3 || c.row_stride > 20 || c.start < -60 ||
                       c.stride < -3 || c.row_stride < -20;
    if (!affine_is_below(&c, limit, 8, &e)) {
      cr_assert(wraps || c.start < 0 || (uint64_t)c.start >= limit);
      continue;
    }
    found++;
    for (uint64_t i = 0; i < e.rows; i++) {
      for (uint64_t j = 0; j < e.length; j++)
        cr_assert((uint64_t)affine_value_at(&c, i, j, 8) < limit);
    }
  }
  cr_assert(found > COUNT / 8);
}

/* A change of outcome costs one row or one column, not the rectangle. */
Test(affine, rectangles_are_as_large_as_they_may_be) {
  const struct affine i = {true, -1, 0, 1}, j = {true, 0, 1, 0}, zero = {true, 0, 0, 0},
                      last = {true, 29, 0, 0};
  struct affine_extent e = {30, 10};
  cr_assert(affine_map(OP_LT, (const struct affine *const[]){&i, &zero}, 1, 8, &e).start == 1);
  cr_assert(e.length == 30 && e.rows == 1);
  e = (struct affine_extent){30, 10};
  cr_assert(affine_map(OP_GE, (const struct affine *const[]){&j, &last}, 1, 8, &e).start == 0);
  cr_assert(e.length == 29 && e.rows == 10);
}

Test(affine, row_strides_hold_for_the_rows_that_are_left) {
  const int32_t x[] = {5, 8, 11, 14, 16, 18};
  const uint8_t flags[] = {1, 1, 1, 0, 0};
  struct affine_extent e = {1, 6};
  cr_assert(affine_row_stride(x, 4, &e) == 3 && e.rows == 4);
  e.rows = 3;
  cr_assert(affine_row_stride(x + 3, 4, &e) == 2 && e.rows == 3);
  e.rows = 5;
  cr_assert(affine_row_stride(flags, 1, &e) == 0 && e.rows == 3);
  e.rows = 2;
  cr_assert(affine_row_stride(flags + 2, 1, &e) == 0 && e.rows == 1);
}
