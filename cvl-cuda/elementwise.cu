/* elementwise.cu - elementwise operations: finds the row, and what is known of its result. The
 * rows are in elementwise-*.cu. If all operands are constant, or computed from values of the
 * segments of one descriptor, no kernel touches the elements. */
#include "cvl-cuda/elementwise.hpp"

#include "cvl-cuda/sums.hpp"

namespace ravel {

/* ---- known sums ---- */

/* Facts that the host knows about an INT vector: the sum of its elements, and bounds of
 * each. */
struct known {
  int64_t sum, least, most;
};

static bool known_of(context &c, const cvl_value &v, int64_t n, known *k) {
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
  if (vector.has_sum) return true;
  const ref<deferred> total = sum_later(c, vector);
  if (!total || !is_known(c, *total.get()) || total->required) return false;
  *k = {total->value, 0, total->value}; /* a vector of lengths: each is between 0 and the sum */
  return true;
}

void keep_sum(context &c, cvl_op op, const cvl_value *v, cvl_vector &r) {
  known x, y, z;
  if (op != OP_ADD && op != OP_SUB) return;
  if (!known_of(c, v[0], r.length, &x) || !known_of(c, v[1], r.length, &y)) return;
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

/* ---- computed operands give computed results ---- */

/* Gives the one element of a constant vector. */
static void give_scalar(cvl_value *out, const cvl_vector &v) {
  *out = cvl_value{};
  out->form = CVL_SCALAR;
  out->elem = (uint8_t)v.elem;
  memcpy(&out->as, &v.first, elem_info(v.elem)->bytes);
}

/* Returns whether two descriptors are known to be equal. */
static bool elementwise_same_segments(const cvl_segdes *a, const cvl_segdes *b) {
  return a == b || (a->equal >= 0 && a->equal == b->equal && a->count == b->count);
}

/* Returns the descriptor under which all operands are computed, from a constant or from values
 * of its segments; null if there is none. `*kind` is then the most complex form among them. */
static cvl_segdes *computed_alike(unsigned arity, const cvl_value *v, operand_form *kind) {
  cvl_segdes *d = nullptr;
  *kind = ALL_EQUAL;
  for (unsigned k = 0; k < arity; k++) {
    if (v[k].form == CVL_SCALAR || v[k].as.vector->kind == ALL_EQUAL) continue;
    const cvl_vector &x = *v[k].as.vector;
    if (x.kind == FROM_MEMORY || (d && !elementwise_same_segments(d, x.under.get())))
      return nullptr;
    d = x.under.get();
    if (x.kind == PROGRESSION) *kind = PROGRESSION;
    if (x.kind == SPREAD && *kind == ALL_EQUAL) *kind = SPREAD;
  }
  return d;
}

/* Returns the value with which a computed vector begins in each segment. */
static cvl_value elementwise_start_of(const cvl_value &v) {
  cvl_value start = v;
  start.owned = 0;
  if (v.form == CVL_SCALAR) return start;
  if (v.as.vector->data)
    start.as.vector = v.as.vector->data.get();
  else
    give_scalar(&start, *v.as.vector);
  return start;
}

/* Applies the operation to the values of the segments, which are spread like the operands. This
 * takes no wait and no kernel on the elements. */
static void map_spread(context &c, uint64_t site, cvl_op op, unsigned arity, const cvl_value *v,
                       cvl_segdes *d, cvl_value *out) {
  cvl_value of_segments[3], result;
  ref<cvl_vector> r(new cvl_vector);
  r->under = ref<cvl_segdes>::to(d);
  for (unsigned k = 0; k < arity; k++) {
    of_segments[k] = elementwise_start_of(v[k]);
    if (v[k].form == CVL_VECTOR) {
      r->length = v[k].as.vector->length;
      r->size = v[k].as.vector->size;
    }
  }
  elementwise(c, site, op, arity, of_segments, &result);
  r->elem = (cvl_elem)result.elem;
  if (result.form == CVL_SCALAR) {
    r->kind = ALL_EQUAL;
    memcpy(&r->first, &result.as, elem_info(r->elem)->bytes);
  } else {
    r->kind = SPREAD;
    r->data = ref<cvl_vector>(result.as.vector);
  }
  *out = cvl_value{};
  out->form = CVL_VECTOR;
  out->elem = result.elem;
  out->as.vector = r.give();
}

/* Returns the step of a computed vector in each segment. */
static cvl_value elementwise_step_of(const cvl_value &v) {
  cvl_value step = v;
  step.owned = 0;
  step.form = CVL_SCALAR;
  step.as.i64 = 0;
  if (v.form == CVL_SCALAR || v.as.vector->kind != PROGRESSION) return step;
  if (v.as.vector->steps) {
    step.form = CVL_VECTOR;
    step.as.vector = v.as.vector->steps.get();
  } else {
    memcpy(&step.as, &v.as.vector->step, sizeof(uint64_t));
  }
  return step;
}

/* A value that is released with its scope. */
struct held_value {
  cvl_value v{};
  ~held_value() {
    if (v.form == CVL_VECTOR) release(v.as.vector);
  }
};

/* The sum or difference of progressions is a progression, also where it wraps. */
static void map_progression(context &c, uint64_t site, cvl_op op, const cvl_value *v,
                            cvl_segdes *d, cvl_value *out) {
  const cvl_value starts[] = {elementwise_start_of(v[0]), elementwise_start_of(v[1])};
  const cvl_value steps[] = {elementwise_step_of(v[0]), elementwise_step_of(v[1])};
  held_value start, step;
  cvl_value under{};
  elementwise(c, site, op, 2, starts, &start.v);
  elementwise(c, site, op, 2, steps, &step.v);
  under.form = CVL_SEGDES;
  under.as.segdes = d;
  index(c, site, start.v, step.v, under, out);
}

/* Returns whether the result is computed instead of stored. Two cases are excluded: a row that
 * finds faults needs the elements, for their positions; and if most segments are empty, there
 * are fewer elements than values. */
static bool elementwise_map_computed(context &c, uint64_t site, cvl_op op, unsigned arity,
                                     const cvl_value *v, cvl_value *out) {
  operand_form kind;
  cvl_segdes *const d = computed_alike(arity, v, &kind);
  if (d == nullptr || d->count > d->total) return false;
  const elem_class k = elem_info((cvl_elem)v[arity - 1].elem)->klass;
  if (kind == SPREAD && map_row(op, k)->fault == CVL_E_NONE) {
    map_spread(c, site, op, arity, v, d, out);
    return true;
  }
  if (kind == PROGRESSION && (op == OP_ADD || op == OP_SUB)) {
    map_progression(c, site, op, v, d, out);
    return true;
  }
  return false;
}

/* ---- the operation ---- */

static cvl_elem elem_of_class(const context &c, elem_class k) {
  return k == CLASS_INT ? c.int_elem : k == CLASS_FLOAT ? c.float_elem : CVL_BOOL;
}

/* Returns the length of the operands, or its bound. */
static int64_t length_of_operands(context &c, unsigned arity, const cvl_value *v,
                                  ref<deferred> &domain) {
  for (unsigned k = 0; k < arity; k++) {
    if (v[k].form != CVL_VECTOR) continue;
    const cvl_vector &x = *v[k].as.vector;
    if (!stays_deferred(c, x.size)) return settled_length(c, x);
    domain = x.size;
    return x.length;
  }
  return 1;
}

void elementwise(context &c, uint64_t site, cvl_op op, unsigned arity, const cvl_value *v,
                 cvl_value *out) {
  const cvl_value none{};
  if (elementwise_map_computed(c, site, op, arity, v, out)) return;
  ref<deferred> domain;
  const int64_t n = length_of_operands(c, arity, v, domain);
  work w(c, site, {&v[0], arity > 1 ? &v[1] : &none, arity > 2 ? &v[2] : &none}, n,
         operand_lengths::BOUNDED);
  w.over(domain);
  const cvl_elem in = (cvl_elem)v[arity - 1].elem;
  const cvl_elem to = elem_of_class(c, map_row(op, elem_info(in)->klass)->out);
  map_function f = integer_row(op, in, to);
  if (!f) f = float_row(op, in, to);
  if (!f) f = conversion_row(op, in, to);
  const ref<cvl_vector> r = f(w, v, n);
  r->size = domain;
  if (elem_info(to)->klass == CLASS_INT && arity == 2 && !domain) keep_sum(c, op, v, *r.get());
  if (r->kind == ALL_EQUAL && n == 1 && !domain) {
    give_scalar(out, *r.get());
  } else {
    w.give(out, r);
  }
}

} // namespace ravel
