/* extract.cu - one element of each segment: EXTRACT reads it, REPLACE sets it. Each takes one
 * launch on a device; EXTRACTs of tuples take one for up to 16 vectors in a row. REPLACE writes
 * into the memory of a vector without other references. Otherwise the vector is copied first,
 * by a launch before, or by the same launch if there are few elements. */
#include "cvl-cuda/moves.hpp"
#include "cvl-cuda/ops.hpp"

namespace ravel {

/* Returns addresses in which element k of the index refers to segment k of the vector. */
template <class I>
static addresses<I, ONE_OF_EACH> one_of_each(work &w, const cvl_value &index,
                                             const cvl_value &d) {
  addresses<I, ONE_OF_EACH> x{};
  x.near.count = x.near.total = count_of(d);
  x.near.equal = 1;
  x.far = w.view(d);
  x.index = w.read<I>(index);
  x.bad = w.bad();
  return x;
}

/* Reads a vector as bits. */
static operand<uint64_t> read_bits(work &w, const cvl_value &v) {
  switch (elem_info((cvl_elem)v.elem)->bytes) {
  case 1: return retyped<uint64_t>(w.read<uint8_t>(v));
  case 4: return retyped<uint64_t>(w.read<uint32_t>(v));
  default: return retyped<uint64_t>(w.read<uint64_t>(v));
  }
}

static moved extract_move_to(work &w, const ref<cvl_vector> &to, operand<uint64_t> from) {
  moved m{};
  m.width = (int32_t)elem_info(to->elem)->bytes;
  m.from = from;
  m.to = w.data<uint64_t>(to);
  return m;
}

template <class I>
static void extract_by(context &c, uint64_t site, const cvl_value &v, const cvl_value &at,
                       const cvl_value &d, cvl_value *out) {
  work w(c, site, {&v, &at, &d}, 0, operand_lengths::BOUNDED);
  const int64_t m = count_of(d);
  const ref<cvl_vector> r = w.make((cvl_elem)v.elem, m);
  using extract_body = gather_body<I, ONE_OF_EACH>;
  extract_body body{};
  body.from = one_of_each<I>(w, at, d);
  body.vectors.count = 1;
  body.vectors.list[0] = extract_move_to(w, r, read_bits(w, v));
  w.run_joined(launch_together("extract", m, body), join_moves<extract_body>);
  w.give(out, r);
}

void extract(context &c, uint64_t site, const cvl_value &v, const cvl_value &at,
             const cvl_value &d, cvl_value *out) {
  if (c.int_elem == CVL_I32) {
    extract_by<int32_t>(c, site, v, at, d, out);
  } else {
    extract_by<int64_t>(c, site, v, at, d, out);
  }
}

static bool is_few(const work &w, const cvl_value &v, int64_t segments) {
  const bool deferred = v.form == CVL_VECTOR && v.as.vector->size;
  return !w.on_host && !deferred && length_bound(v) <= FEW_MOVED && segments <= FEW_MOVED;
}

static bool same_vector(const cvl_value &a, const cvl_value &b) {
  return a.form == CVL_VECTOR && b.form == CVL_VECTOR && a.as.vector == b.as.vector;
}

template <class I>
static void replace_by(context &c, uint64_t site, const cvl_value &v, const cvl_value &at,
                       const cvl_value &x, const cvl_value &d, cvl_value *out) {
  work w(c, site, {&v, &at, &x, &d}, 0, operand_lengths::BOUNDED);
  const int64_t m = count_of(d);
  ref<cvl_vector> r;
  if (!same_vector(v, at) && !same_vector(v, x)) r = w.take_over(v);
  const bool few = !r && is_few(w, v, m);
  if (few) r = w.make((cvl_elem)v.elem, length_bound(v));
  if (!r) r = copy_of(w, v);
  const scatter_body<I> body{one_of_each<I>(w, at, d), extract_move_to(w, r, read_bits(w, x))};
  if (few) {
    const copy_body copy{extract_move_to(w, r, read_bits(w, v))};
    w.run(launch_blocks("replace few", 1, one_block_of(copy, r->length, body, m)));
  } else {
    w.run(launch_together("replace", m, body));
  }
  w.give(out, r);
}

void replace(context &c, uint64_t site, const cvl_value &v, const cvl_value &at,
             const cvl_value &x, const cvl_value &d, cvl_value *out) {
  if (c.int_elem == CVL_I32) {
    replace_by<int32_t>(c, site, v, at, x, d, out);
  } else {
    replace_by<int64_t>(c, site, v, at, x, d, out);
  }
}

} // namespace ravel
