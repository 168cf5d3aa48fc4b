/* elementwise.cu - elementwise operations: which row is meant, and what is known of its result.
 * The rows are in elementwise-*.cu. */
#include "cvl-cuda/elementwise.hpp"

namespace ravel {

/* ---- known sums ---- */

/* What the host knows of an INT vector: the sum of its elements, and bounds of each. */
struct known {
  int64_t sum, least, most;
};

static bool known_of(const cvl_value &v, int64_t n, known *k) {
  const bool wide = v.elem == CVL_I64;
  int32_t x32;
  int64_t x;
  if (wide ? constant(v, &x) : constant(v, &x32)) {
    if (!wide) x = x32;
    k->least = k->most = x;
    return !__builtin_mul_overflow(x, n, &k->sum);
  }
  const cvl_vector &vector = *v.as.vector;
  *k = {vector.sum, vector.least, vector.most};
  return vector.has_sum;
}

/* The sum of sums or of differences, if no element can have wrapped. */
static void keep_sum(cvl_op op, const cvl_value *v, cvl_vector &r) {
  known x, y, z;
  if (op != OP_ADD && op != OP_SUB) return;
  if (!known_of(v[0], r.length, &x) || !known_of(v[1], r.length, &y)) return;
  const bool wraps = op == OP_ADD ? __builtin_add_overflow(x.sum, y.sum, &z.sum) ||
                                        __builtin_add_overflow(x.least, y.least, &z.least) ||
                                        __builtin_add_overflow(x.most, y.most, &z.most)
                                  : __builtin_sub_overflow(x.sum, y.sum, &z.sum) ||
                                        __builtin_sub_overflow(x.least, y.most, &z.least) ||
                                        __builtin_sub_overflow(x.most, y.least, &z.most);
  if (wraps || (r.elem == CVL_I32 && (z.least < INT32_MIN || z.most > INT32_MAX))) return;
  r.has_sum = true;
  r.sum = z.sum;
  r.least = z.least;
  r.most = z.most;
}

/* ---- the operation ---- */

static cvl_elem elem_of_class(const context &c, elem_class k) {
  return k == CLASS_INT ? c.int_elem : k == CLASS_FLOAT ? c.float_elem : CVL_BOOL;
}

/* The one element of a constant vector. */
static void give_scalar(cvl_value *out, const cvl_vector &v) {
  *out = cvl_value{};
  out->form = CVL_SCALAR;
  out->elem = (uint8_t)v.elem;
  memcpy(&out->as, &v.first, elem_info(v.elem)->bytes);
}

static int64_t length_of_operands(context &c, unsigned arity, const cvl_value *v) {
  for (unsigned k = 0; k < arity; k++) {
    if (v[k].form == CVL_VECTOR) return settled_length(c, *v[k].as.vector);
  }
  return 1;
}

void elementwise(context &c, uint64_t site, cvl_op op, unsigned arity, const cvl_value *v,
                 cvl_value *out) {
  const cvl_value none{};
  const int64_t n = length_of_operands(c, arity, v);
  work w(c, site, {&v[0], arity > 1 ? &v[1] : &none, arity > 2 ? &v[2] : &none}, n);
  const cvl_elem in = (cvl_elem)v[arity - 1].elem;
  const cvl_elem to = elem_of_class(c, map_row(op, elem_info(in)->klass)->out);
  map_function f = integer_row(op, in, to);
  if (!f) f = float_row(op, in, to);
  if (!f) f = conversion_row(op, in, to);
  const ref<cvl_vector> r = f(w, v, n);
  if (elem_info(to)->klass == CLASS_INT && arity == 2) keep_sum(op, v, *r.get());
  if (r->kind == ALL_EQUAL && n == 1) {
    give_scalar(out, *r.get());
  } else {
    w.give(out, r);
  }
}

} // namespace ravel
