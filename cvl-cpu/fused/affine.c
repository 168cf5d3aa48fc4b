/* affine.c - see affine.h. */
#include "cvl-cpu/fused/affine.h"

#include "cvl-cpu/cpu.h"

static void affine_shorten(uint64_t *count, uint64_t to) {
  if (to < *count) *count = to;
}

/* ---- ranges ---- */

/* Whether x is far from where additions of two such numbers overflow. */
static bool affine_is_small(int64_t x, size_t bytes) {
  const int64_t most = bytes == 8 ? INT64_MAX / 4 : INT32_MAX;
  return -most <= x && x <= most;
}

/* The change from the first of `count` steps to the last, if it is small. */
static bool affine_distance(int64_t stride, uint64_t count, size_t bytes, int64_t *to) {
  return affine_is_small(stride, bytes) && count <= INT64_MAX &&
         !__builtin_mul_overflow(stride, (int64_t)count - 1, to) && affine_is_small(*to, bytes);
}

/* Whether the value wraps nowhere in the rectangle, nor comes near to it. */
static bool is_straight_over(const struct affine *c, struct affine_extent e, size_t bytes) {
  int64_t along, across;
  return affine_is_small(c->start, bytes) &&
         affine_distance(c->stride, e.length, bytes, &along) &&
         affine_distance(c->row_stride, e.rows, bytes, &across) &&
         affine_is_small(c->start + along, bytes) &&
         affine_is_small(c->start + across, bytes) &&
         affine_is_small(c->start + along + across, bytes);
}

/* Whether values are straight over all rows, or else over one row, to which *e is then cut. */
static bool is_straight(const struct affine *c, struct affine_extent *e, size_t bytes) {
  if (!c->known) return false;
  if (is_straight_over(c, *e, bytes)) return true;
  e->rows = 1;
  return is_straight_over(c, *e, bytes);
}

/* ---- signs ---- */

/* Returns the value in the first row that is closest to zero. All values of the row have one
 * sign. */
static int64_t affine_nearest(const struct affine *c, const struct affine_extent *e) {
  const int64_t last = c->start + c->stride * (int64_t)(e->length - 1);
  return (c->start < 0) == (last > c->start) ? last : c->start;
}

/* Keeps the rows in which values stay at least 0, or negative, as those of the first row are.
 */
static void keep_rows(const struct affine *c, struct affine_extent *e) {
  const int64_t x = affine_nearest(c, e), pace = c->row_stride;
  if (x < 0 && pace > 0) affine_shorten(&e->rows, (uint64_t)((-x + pace - 1) / pace));
  if (x >= 0 && pace < 0) affine_shorten(&e->rows, (uint64_t)(x / -pace) + 1);
}

/* Whether a value is negative, up to where this changes. */
static bool is_negative(struct affine c, struct affine_extent *e) {
  if (c.start < 0 && c.stride > 0)
    affine_shorten(&e->length, (uint64_t)((-c.start + c.stride - 1) / c.stride));
  if (c.start >= 0 && c.stride < 0)
    affine_shorten(&e->length, (uint64_t)(c.start / -c.stride) + 1);
  keep_rows(&c, e);
  return c.start < 0;
}

static bool is_zero(struct affine c, struct affine_extent *e) {
  if (c.start == 0) {
    if (c.stride != 0) e->length = 1;
    if (c.row_stride != 0) e->rows = 1;
    return true;
  }
  if (c.stride != 0 && (c.start < 0) != (c.stride < 0) && c.start % c.stride == 0)
    affine_shorten(&e->length, (uint64_t)(-(c.start / c.stride)));
  const int64_t last = c.start + c.stride * (int64_t)(e->length - 1);
  if ((last < 0) != (c.start < 0)) {
    if (c.row_stride != 0) e->rows = 1;
  } else {
    if (c.start > 0) c.start--; /* at least 1 becomes at least 0 */
    keep_rows(&c, e);
  }
  return false;
}

/* ---- operations ---- */

static struct affine truth(bool is_true) {
  return (struct affine){true, is_true, 0, 0};
}

/* a - b, both far from wrapping. */
static struct affine difference(const struct affine *a, const struct affine *b) {
  return (struct affine){true, a->start - b->start, a->stride - b->stride,
                         a->row_stride - b->row_stride};
}

static struct affine affine_compare(enum cvl_op op, const struct affine *a,
                                    const struct affine *b, size_t bytes,
                                    struct affine_extent *e) {
  if (!is_straight(a, e, bytes) || !is_straight(b, e, bytes)) return (struct affine){0};
  switch ((int)op) {
  case OP_LT: return truth(is_negative(difference(a, b), e));
  case OP_LE: return truth(!is_negative(difference(b, a), e));
  case OP_GT: return truth(is_negative(difference(b, a), e));
  case OP_GE: return truth(!is_negative(difference(a, b), e));
  case OP_EQ: return truth(is_zero(difference(a, b), e));
  default: return truth(!is_zero(difference(a, b), e));
  }
}

/* Quotient and remainder by one positive number, up to the next multiple of it. */
static struct affine affine_divide(enum cvl_op op, const struct affine *a,
                                   const struct affine *b, size_t bytes,
                                   struct affine_extent *e) {
  if (!is_straight(a, e, bytes) || !b->known || b->stride != 0 || b->start <= 0 ||
      a->start < 0 || a->stride < 0 || a->stride > 1)
    return (struct affine){0};
  const int64_t rest = a->start % b->start;
  if (b->row_stride != 0 || a->row_stride < 0 || a->row_stride % b->start != 0) e->rows = 1;
  if (a->stride == 1) affine_shorten(&e->length, (uint64_t)(b->start - rest));
  if (op == OP_DIV)
    return (struct affine){true, a->start / b->start, 0, a->row_stride / b->start};
  return (struct affine){true, rest, a->stride, 0};
}

static struct affine wrapped(uint64_t start, uint64_t stride, uint64_t row_stride,
                             size_t bytes) {
  return (struct affine){true, int_wrapped(start, bytes), int_wrapped(stride, bytes),
                         int_wrapped(row_stride, bytes)};
}

/* A product is affine if one factor is constant. */
static struct affine affine_product(const struct affine *a, const struct affine *b,
                                    size_t bytes, struct affine_extent *e) {
  const uint64_t a0 = (uint64_t)a->start, b0 = (uint64_t)b->start;
  const bool a_varies = a->stride != 0 || a->row_stride != 0;
  const bool b_varies = b->stride != 0 || b->row_stride != 0;
  if (a->stride != 0 && b->stride != 0) return (struct affine){0};
  if (a_varies && b_varies) e->rows = 1;
  return wrapped(a0 * b0, (uint64_t)a->stride * b0 + a0 * (uint64_t)b->stride,
                 (uint64_t)a->row_stride * b0 + a0 * (uint64_t)b->row_stride, bytes);
}

/* a + sign * b */
static struct affine affine_sum(const struct affine *a, const struct affine *b, uint64_t sign,
                                size_t bytes) {
  return wrapped((uint64_t)a->start + sign * (uint64_t)b->start,
                 (uint64_t)a->stride + sign * (uint64_t)b->stride,
                 (uint64_t)a->row_stride + sign * (uint64_t)b->row_stride, bytes);
}

struct affine affine_map(enum cvl_op op, const struct affine *const operands[], size_t bytes,
                         size_t operand_bytes, struct affine_extent *e) {
  const struct affine *a = operands[0];
  if (!a->known) return (struct affine){0};
  if (op == OP_NOT) return truth(!a->start);
  if (op == OP_SELECT) return *operands[a->start ? 1 : 2];
  const struct affine *b = operands[1];
  if (!b->known) return (struct affine){0};
  switch ((int)op) {
  case OP_DIV:
  case OP_MOD: return affine_divide(op, a, b, bytes, e);
  case OP_LT:
  case OP_LE:
  case OP_GT:
  case OP_GE:
  case OP_EQ:
  case OP_NE: return affine_compare(op, a, b, operand_bytes, e);
  case OP_AND: return truth(a->start && b->start);
  case OP_OR: return truth(a->start || b->start);
  case OP_ADD: return affine_sum(a, b, 1, bytes);
  case OP_SUB: return affine_sum(a, b, UINT64_MAX, bytes);
  case OP_MUL: return affine_product(a, b, bytes, e);
  default: return (struct affine){0};
  }
}

bool affine_is_below(const struct affine *index, uint64_t limit, size_t bytes,
                     struct affine_extent *e) {
  const struct affine end = {true, (int64_t)limit, 0, 0};
  return limit <= INT64_MAX / 4 && is_straight(index, e, bytes) && !is_negative(*index, e) &&
         is_negative(difference(index, &end), e);
}

/* Element i of x: an INT, or a BOOL. */
static int64_t affine_element(const void *x, uint64_t i, size_t bytes) {
  return bytes == 1 ? ((const uint8_t *)x)[i] : int_element(x, i, bytes);
}

static int64_t increase(const void *x, uint64_t i, size_t bytes) {
  const uint64_t by =
      (uint64_t)affine_element(x, i + 1, bytes) - (uint64_t)affine_element(x, i, bytes);
  return bytes == 1 ? (int64_t)by : int_wrapped(by, bytes);
}

/* Whether the elements increase by the same everywhere: in a loop for vectors, since a
 * rectangle asks for each value that is spread over its rows. */
static bool increases_alike(const void *x, size_t bytes, uint64_t rows) {
  uint64_t differs = 0;
  if (bytes == 8) {
    const uint64_t *u = x, by = u[1] - u[0];
    for (uint64_t i = 1; i < rows; i++) differs |= (u[i] - u[i - 1]) ^ by;
  } else if (bytes == 4) {
    const uint32_t *u = x, by = u[1] - u[0];
    uint32_t some = 0;
    for (uint64_t i = 1; i < rows; i++) some |= (u[i] - u[i - 1]) ^ by;
    differs = some;
  } else {
    return false;
  }
  return differs == 0;
}

int64_t affine_row_stride(const void *x, size_t bytes, struct affine_extent *e) {
  if (e->rows == 1) return 0;
  if (increases_alike(x, bytes, e->rows)) return increase(x, 0, bytes);
  const int64_t by = increase(x, 0, bytes);
  uint64_t rows = bytes == 1 && by != 0 ? 1 : 2;
  while (rows > 1 && rows < e->rows && increase(x, rows - 1, bytes) == by) rows++;
  e->rows = rows;
  return rows == 1 ? 0 : by;
}
