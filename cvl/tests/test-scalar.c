/* test-scalar.c - scalars: width, sign, faults and types of results, in all pairs of widths.
 * The conformance suite tests the meaning of each operation. */
#include "cvl/cvl.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>

static const enum cvl_elem ints[] = {CVL_I32, CVL_I64}, floats[] = {CVL_F32, CVL_F64};

/* One pair of widths. */
struct widths {
  enum cvl_elem i, f;
};

static struct cvl_value scalar_apply(struct widths w, enum cvl_op op, struct cvl_value a,
                                     struct cvl_value b, struct cvl_value c) {
  const struct cvl_value operands[3] = {a, b, c};
  struct cvl_value out = {0};
  enum cvl_error_kind fault = CVL_E_NONE;
  cr_assert(cvl_scalar_op(w.i, w.f, op, operands, &out, &fault), "%s", op_info(op)->name);
  cr_assert(out.form == CVL_SCALAR && !out.owned);
  return out;
}

static const struct cvl_value nothing;

#define FOR_ALL_WIDTHS(w)                                                                      \
  for (size_t pair_ = 0; pair_ < 4; pair_++)                                                   \
    for (struct widths w = {ints[pair_ / 2], floats[pair_ % 2]}, *once_ = &w; once_;           \
         once_ = NULL)

Test(scalar, values_are_made_and_read_in_both_widths) {
  struct cvl_value v = cvl_scalar_int(CVL_I32, 0x1234567890);
  cr_expect(v.elem == CVL_I32 && cvl_int_of(&v) == 0x34567890);
  v = cvl_scalar_int(CVL_I32, 0x80000000);
  cr_expect(cvl_int_of(&v) == INT32_MIN);
  v = cvl_scalar_int(CVL_I64, INT64_MIN);
  cr_expect(v.elem == CVL_I64 && cvl_int_of(&v) == INT64_MIN);
  v = cvl_scalar_float(CVL_F32, 0.1);
  cr_expect(v.elem == CVL_F32 && cvl_float_of(&v) == (double)0.1f);
  v = cvl_scalar_float(CVL_F64, 0.1);
  cr_expect(v.elem == CVL_F64 && cvl_float_of(&v) == 0.1);
  v = cvl_scalar_bool(true);
  cr_expect(v.elem == CVL_BOOL && v.as.b == 1);
  v = cvl_one_segment(UINT64_C(1) << 40);
  cr_expect(v.form == CVL_ONE_SEGMENT && v.as.one_segment == UINT64_C(1) << 40);
}

Test(scalar, every_row_of_the_table_yields_its_class) {
  size_t rows;
  const struct map_row *row = map_rows(&rows);
  cr_assert(rows > 50);
  for (size_t r = 0; r < rows; r++) {
    FOR_ALL_WIDTHS(w) {
      const struct cvl_value one[] = {[CLASS_INT] = cvl_scalar_int(w.i, 1),
                                      [CLASS_FLOAT] = cvl_scalar_float(w.f, 1.0),
                                      [CLASS_BOOL] = cvl_scalar_bool(true)};
      const struct cvl_value x = one[row[r].in];
      const struct cvl_value first = op_info(row[r].op)->arity == 3 ? one[CLASS_BOOL] : x;
      const struct cvl_value y = scalar_apply(w, row[r].op, first, x, x);
      cr_expect(y.elem == one[row[r].out].elem, "%s", op_info(row[r].op)->name);
    }
  }
}

Test(scalar, int_wraps_in_its_width) {
  FOR_ALL_WIDTHS(w) {
    const int bits = w.i == CVL_I32 ? 32 : 64;
    const int64_t least = w.i == CVL_I32 ? INT32_MIN : INT64_MIN;
    const struct cvl_value low = cvl_scalar_int(w.i, least), one = cvl_scalar_int(w.i, 1);
    const struct cvl_value minus = cvl_scalar_int(w.i, -1);
    struct cvl_value y = scalar_apply(w, OP_SUB, low, one, nothing);
    cr_expect(cvl_int_of(&y) == -(least + 1));
    y = scalar_apply(w, OP_DIV, low, minus, nothing);
    cr_expect(cvl_int_of(&y) == least);
    y = scalar_apply(w, OP_MOD, low, minus, nothing);
    cr_expect(cvl_int_of(&y) == 0);
    y = scalar_apply(w, OP_LSHIFT, one, cvl_scalar_int(w.i, bits + 3), nothing);
    cr_expect(cvl_int_of(&y) == 8);
    y = scalar_apply(w, OP_RSHIFT, low, cvl_scalar_int(w.i, -1), nothing);
    cr_expect(cvl_int_of(&y) == -1);
  }
}

Test(scalar, division_by_zero_is_a_fault_and_sets_nothing) {
  FOR_ALL_WIDTHS(w) {
    const struct cvl_value operands[2] = {cvl_scalar_int(w.i, 7), cvl_scalar_int(w.i, 0)};
    struct cvl_value out = cvl_scalar_int(w.i, 99);
    enum cvl_error_kind fault = CVL_E_NONE;
    cr_expect(!cvl_scalar_op(w.i, w.f, OP_DIV, operands, &out, &fault));
    cr_expect(fault == CVL_E_DIVIDE_BY_ZERO && cvl_int_of(&out) == 99);
    fault = CVL_E_NONE;
    cr_expect(!cvl_scalar_op(w.i, w.f, OP_MOD, operands, &out, &fault));
    cr_expect(fault == CVL_E_DIVIDE_BY_ZERO && cvl_int_of(&out) == 99);
  }
}

Test(scalar, conversions_at_the_edges_of_int) {
  FOR_ALL_WIDTHS(w) {
    const int64_t least = w.i == CVL_I32 ? INT32_MIN : INT64_MIN;
    const double edge = w.i == CVL_I32 ? 0x1p31 : 0x1p63;
    const struct {
      double x;
      int64_t floor, round;
    } cases[] = {{edge, least, least},
                 {-edge, least, least},
                 {-2.0 * edge, least, least},
                 {INFINITY, least, least},
                 {NAN, least, least},
                 {0x1p30, 1 << 30, 1 << 30},
                 {-1.5, -2, -1},
                 {2.5, 2, 3},
                 {-2.625, -3, -3},
                 {-0.5, -1, 0},
                 {-3.0, -3, -3},
                 {0x1.fffffep-2, 0, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
      const struct cvl_value x = cvl_scalar_float(w.f, cases[k].x);
      const struct cvl_value f = scalar_apply(w, OP_FLOOR, x, nothing, nothing);
      const struct cvl_value r = scalar_apply(w, OP_ROUND, x, nothing, nothing);
      cr_expect(cvl_int_of(&f) == cases[k].floor, "floor of %a", cases[k].x);
      cr_expect(cvl_int_of(&r) == cases[k].round, "round of %a", cases[k].x);
    }
  }
}

Test(scalar, the_result_may_replace_an_operand) {
  FOR_ALL_WIDTHS(w) {
    struct cvl_value v[3] = {cvl_scalar_bool(false), cvl_scalar_float(w.f, 1.5),
                             cvl_scalar_float(w.f, 2.5)};
    enum cvl_error_kind fault;
    cr_expect(cvl_scalar_op(w.i, w.f, OP_SELECT, v, &v[0], &fault));
    cr_expect(cvl_float_of(&v[0]) == 2.5);
    cr_expect(cvl_scalar_op(w.i, w.f, OP_LT, v + 1, &v[1], &fault));
    cr_expect(v[1].elem == CVL_BOOL && v[1].as.b == 1);
  }
}
