/* elementwise.hpp - the elementwise rows of operations.def as kernels: how a row is run. The
 * files elementwise-*.cu each run some of the rows.
 *
 * A result in memory takes one launch; a result that is the same everywhere takes none. The
 * launch moves the operands in memory and the result once each. A kernel has two variants. One
 * is for operands in memory or constant. The other is for operands that are computed when they
 * are needed (DIST, INDEX); it looks at their descriptors, for several elements at a time.
 */
#ifndef RAVEL_CUDA_ELEMENTWISE_HPP
#define RAVEL_CUDA_ELEMENTWISE_HPP

#include <string.h>

#include "cvl-cuda/ops.hpp"
#include "cvl-cuda/together.hpp"

namespace ravel {

/* Computes one row, which is an operation on given element types, for n elements. */
using map_function = ref<cvl_vector> (*)(work &, const cvl_value *operands, int64_t n);

/* Return the function of a row, by the types of the last operand and of the result; null if the
 * file does not have the row. */
map_function integer_row(cvl_op, cvl_elem in, cvl_elem out);
map_function float_row(cvl_op, cvl_elem in, cvl_elem out);
map_function conversion_row(cvl_op, cvl_elem in, cvl_elem out);

/* ---- operands ---- */

/* Elements in memory, or one value everywhere. */
template <class T> struct plain_operand {
  ptr<const T> data;
  T first;

  HD T operator[](int64_t i) const { return data != nullptr ? (T)data[i] : first; }
};

/* Elements in memory only, for rows of one operand: if that is constant, the host computes the
 * row. */
template <class T> struct loaded_operand {
  ptr<const T> data;
  T first; /* unused */

  HD T operator[](int64_t i) const { return (T)data[i]; }
};

template <class T> plain_operand<T> plain(const operand<T> &x) {
  return {x.data, x.first};
}
template <class T> bool is_plain(const operand<T> &x) {
  return x.kind == FROM_MEMORY || x.kind == ALL_EQUAL;
}

/* Returns whether the host knows that all elements are equal, and sets *x to them. */
template <class T> bool constant(const cvl_value &v, T *x) {
  if (v.form == CVL_SCALAR) {
    memcpy(x, &v.as, sizeof *x);
    return true;
  }
  if (v.as.vector->kind != ALL_EQUAL) return false;
  memcpy(x, &v.as.vector->first, sizeof *x);
  return true;
}

/* Returns a vector of n elements that are all x. */
template <class T> ref<cvl_vector> all_equal(T x, int64_t n) {
  ref<cvl_vector> v(new cvl_vector);
  v->elem = elem_of<T>();
  v->length = n;
  v->kind = ALL_EQUAL;
  memcpy(&v->first, &x, sizeof x);
  return v;
}

/* ---- bodies: a ROW has X and R, the types of its operands and its result, name, of(), and how
 * many elements a thread does at once ----
 *
 * load(i) reads the operands at a position, and result(i, operands) computes. They are separate
 * because a constant operand is a branch: a computation between two branches would wait for its
 * loads before the next ones begin. */

template <class ROW, class A> struct unary_body {
  enum { at_once = ROW::at_once };
  using operands = typename ROW::X;
  A x;
  HD operands load(int64_t i) const { return x[i]; }
  template <int U> HD void load_many(int64_t i, int64_t step, operands (&to)[U]) const {
    load_computed(x, i, step, to);
  }
  HD typename ROW::R result(int64_t, const operands &v) const { return ROW::of(v); }
};

template <class X> struct two { X a, b; };

template <class A, class X, int U>
HD void load_two(const A &x, const A &y, int64_t i, int64_t step, two<X> (&to)[U]) {
  X a[U], b[U];
  load_memory(x, i, step, a);
  load_memory(y, i, step, b);
  load_others(x, i, step, a);
  load_others(y, i, step, b);
  for (int k = 0; k < U; k++) to[k] = {a[k], b[k]};
}

template <class ROW, class A> struct binary_body {
  enum { resident = 4, at_once = ROW::at_once };
  using operands = two<typename ROW::X>;
  A x, y;
  HD operands load(int64_t i) const { return {x[i], y[i]}; }
  template <int U> HD void load_many(int64_t i, int64_t step, operands (&to)[U]) const {
    load_two(x, y, i, step, to);
  }
  HD typename ROW::R result(int64_t, const operands &v) const { return ROW::of(v.a, v.b); }
};

template <class ROW, class A> struct checked_body {
  enum { resident = 4, at_once = ROW::at_once };
  using operands = two<typename ROW::X>;
  A x, y;
  faults bad;
  HD operands load(int64_t i) const { return {x[i], y[i]}; }
  template <int U> HD void load_many(int64_t i, int64_t step, operands (&to)[U]) const {
    load_two(x, y, i, step, to);
  }
  HD typename ROW::R result(int64_t i, const operands &v) const {
    if (ROW::good(v.a, v.b)) return ROW::of(v.a, v.b);
    bad.report(ROW::error, i, 0, 0, 0);
    return 0;
  }
};

template <class ROW, class A, class F> struct select_body {
  enum { at_once = ROW::at_once };
  struct operands {
    uint8_t flag;
    typename ROW::X a, b;
  };
  F f;
  A x, y;
  HD operands load(int64_t i) const { return {f[i], x[i], y[i]}; }
  template <int U> HD void load_many(int64_t i, int64_t step, operands (&to)[U]) const {
    uint8_t flag[U];
    two<typename ROW::X> v[U];
    load_memory(f, i, step, flag);
    load_two(x, y, i, step, v);
    load_others(f, i, step, flag);
    for (int k = 0; k < U; k++) to[k] = {flag[k], v[k].a, v[k].b};
  }
  HD typename ROW::R result(int64_t, const operands &v) const {
    return ROW::of(v.flag, v.a, v.b);
  }
};

/* The kernel. All loads of a thread come before the first result. */
template <class B> struct computed_row_body {
  enum {
    resident = resident_blocks<B>::value,
    at_once = at_once_of<B>::value
  }; /* if they took the launch's count, some rows would need two more registers */
  using R = decltype(B().result(0, typename B::operands()));

  B f;
  ptr<R> out;
  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t i, int64_t step) const {
    typename B::operands v[U];
    f.load_many(i, step, v);
    for (int k = 0; k < U; k++) out[i + k * step] = f.result(i + k * step, v[k]);
  }
  HD void operator()(int64_t i) const { together<1>(i, 0); }
};

/* The kernel for plain operands only. */
template <class B> struct row_body {
  using results = typename B::operands;
  using R = decltype(B().result(0, results()));
  enum { unroll = at_once_of<B>::value };

  B f;
  ptr<R> out;
  HD results at(int64_t i) const { return f.load(i); }
  HD void put(int64_t i, const results &v) const { out[i] = f.result(i, v); }
  HD void operator()(int64_t i) const { put(i, at(i)); }
};

/* Returns the result of a body in new memory. All operands are plain: loads are grouped. */
template <class R, class B>
ref<cvl_vector> map_plain(work &w, const char *name, const B &body, int64_t n) {
  const ref<cvl_vector> r = w.make_each(elem_of<R>(), n);
  w.run(w.for_each(launch_map(name, n, row_body<B>{body, w.data<R>(r)})));
  return r;
}

/* Returns the result of a body in new memory. Some operands are computed. */
template <class R, class B>
ref<cvl_vector> map_computed(work &w, const char *name, const B &body, int64_t n) {
  const ref<cvl_vector> r = w.make_each(elem_of<R>(), n);
  w.run(w.for_each(launch_together(name, n, computed_row_body<B>{body, w.data<R>(r)})));
  return r;
}

/* ---- rows of BOOL only: words of eight flags ---- */

/* Loads of one byte keep too little of the memory busy, however many threads make one. */
template <class ROW> HD uint8_t row_of(const uint8_t (&v)[1]) {
  return ROW::of(v[0]);
}
template <class ROW> HD uint8_t row_of(const uint8_t (&v)[2]) {
  return ROW::of(v[0], v[1]);
}
template <class ROW> HD uint8_t row_of(const uint8_t (&v)[3]) {
  return ROW::of(v[0], v[1], v[2]);
}

/* Index k stands for word k, or for a flag that does not fill a word; such flags are done one
 * by one. */
template <class ROW, int ARITY, template <class> class OPERAND> struct flags_body {
  enum { resident = ARITY < 3 ? 5 : 4 };

  OPERAND<uint8_t> flags[ARITY];
  OPERAND<uint64_t> words[ARITY]; /* the flags as words */
  ptr<uint8_t> out;
  ptr<uint64_t> out_words;
  int64_t n;

  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t k, int64_t step) const {
    if (k + (U - 1) * step < n / 8) {
      words_together<U>(k, step);
    } else if constexpr (U > 1) {
      RAVEL_ROLLED
      for (int q = 0; q < U; q++) together<1>(k + q * step, step);
    } else {
      RAVEL_ROLLED
      for (int64_t i = 8 * k; i < n; i++) out[i] = flag(i);
    }
  }
  HD void operator()(int64_t k) const { together<1>(k, 0); }
  template <int U> HD void words_together(int64_t k, int64_t step) const {
    uint64_t from[ARITY][U];
    for (int a = 0; a < ARITY; a++) {
      for (int q = 0; q < U; q++) from[a][q] = words[a][k + q * step];
    }
    for (int q = 0; q < U; q++) out_words[k + q * step] = word<U>(from, q);
  }
  HD uint8_t flag(int64_t i) const {
    uint8_t v[ARITY];
    for (int a = 0; a < ARITY; a++) v[a] = flags[a][i];
    return row_of<ROW>(v);
  }
  template <int U> HD static uint64_t word(const uint64_t (&from)[ARITY][U], int q) {
    uint64_t to = 0;
    for (int bit = 0; bit < 64; bit += 8) {
      uint8_t v[ARITY];
      for (int a = 0; a < ARITY; a++) v[a] = (uint8_t)(from[a][q] >> bit);
      to |= (uint64_t)row_of<ROW>(v) << bit;
    }
    return to;
  }
};

/* Returns whether operands can be read as words. They cannot if n is a bound. */
template <class... A> bool have_words(const work &w, const A &...flags) {
  return !w.domain && (begins_word(flags.data) && ...);
}

template <class ROW, int ARITY, template <class> class OPERAND>
ref<cvl_vector> map_flags(work &w, const OPERAND<uint8_t> (&x)[ARITY], int64_t n) {
  const ref<cvl_vector> r = w.make(CVL_BOOL, n);
  flags_body<ROW, ARITY, OPERAND> body{};
  for (int a = 0; a < ARITY; a++) {
    body.flags[a] = x[a];
    void *const at = (void *)(uintptr_t)address(x[a].data);
    body.words[a] = {pointer_to<const uint64_t>(at), x[a].first * (~(uint64_t)0 / 255)};
  }
  body.out = w.data<uint8_t>(r);
  body.out_words = w.data<uint64_t>(r);
  body.n = n;
  w.run(launch_together(ROW::name(), n / 8 + (n % 8 != 0), body));
  return r;
}

/* ---- a row from BOOL to a wider type ---- */

/* Index k stands for as many flags as have results of 16 bytes. They are loaded as one word and
 * stored by one instruction. Flags that are left over are done one by one. */
template <class ROW> struct widening_body {
  using R = typename ROW::R;
  enum { at_once = MOST_AT_ONCE, EACH = (int)(16 / sizeof(R)) };
  using word = std::conditional_t<EACH == 4, uint32_t, uint16_t>;
  static_assert(sizeof(word) == EACH, "a byte for each result");
  struct alignas(16) results {
    R of[EACH];
  };

  ptr<const uint8_t> flags;
  ptr<const word> words; /* the flags as words */
  ptr<R> out;
  ptr<results> out_words;
  int64_t n;

  HD bool simple() const { return true; }
  template <int U> HD void together(int64_t k, int64_t step) const {
    if (k + (U - 1) * step < n / EACH) {
      words_together<U>(k, step);
    } else if constexpr (U > 1) {
      RAVEL_ROLLED
      for (int q = 0; q < U; q++) together<1>(k + q * step, step);
    } else {
      for (int64_t i = EACH * k; i < n; i++) out[i] = ROW::of((uint8_t)flags[i]);
    }
  }
  HD void operator()(int64_t k) const { together<1>(k, 0); }
  template <int U> HD void words_together(int64_t k, int64_t step) const {
    word from[U];
    for (int q = 0; q < U; q++) from[q] = words[k + q * step];
    for (int q = 0; q < U; q++) out_words[k + q * step] = widened(from[q]);
  }
  HD static results widened(word from) {
    results to;
    RAVEL_UNROLL
    for (int j = 0; j < EACH; j++) to.of[j] = ROW::of((uint8_t)(from >> 8 * j));
    return to;
  }
};

template <class ROW>
ref<cvl_vector> map_widening(work &w, const loaded_operand<uint8_t> &x, int64_t n) {
  using body = widening_body<ROW>;
  const ref<cvl_vector> r = w.make(elem_of<typename ROW::R>(), n);
  void *const at = (void *)(uintptr_t)address(x.data);
  const body f{x.data, pointer_to<const typename body::word>(at), w.data<typename ROW::R>(r),
               w.data<typename body::results>(r), n};
  w.run(launch_together(ROW::name(), n / body::EACH + (n % body::EACH != 0), f));
  return r;
}

/* ---- rows ---- */

template <class ROW> ref<cvl_vector> run_unary(work &w, const cvl_value *v, int64_t n) {
  using X = typename ROW::X;
  using R = typename ROW::R;
  X a;
  if (constant(v[0], &a)) return all_equal(ROW::of(a), n);
  if constexpr (progression<X>::exists) {
    const operand<X> x = w.read<X>(v[0]);
    if (!is_plain(x)) return map_computed<R>(w, ROW::name(), unary_body<ROW, operand<X>>{x}, n);
  }
  /* Computed operands come here only if there are fewer elements than segments (map_computed in
   * elementwise.cu). They are written to memory first. */
  const loaded_operand<X> x{w.elements<X>(v[0]), 0};
  if constexpr (sizeof(X) == 1 && sizeof(R) == 1) {
    const loaded_operand<uint8_t> one[] = {x};
    if (have_words(w, x)) return map_flags<ROW, 1>(w, one, n);
  }
  if constexpr (sizeof(X) == 1 && sizeof(R) > 1) {
    if (have_words(w, x)) return map_widening<ROW>(w, x, n);
  }
  return map_plain<R>(w, ROW::name(), unary_body<ROW, loaded_operand<X>>{x}, n);
}

template <class ROW> ref<cvl_vector> run_binary(work &w, const cvl_value *v, int64_t n) {
  using X = typename ROW::X;
  using R = typename ROW::R;
  X a, b;
  if (constant(v[0], &a) && constant(v[1], &b)) return all_equal(ROW::of(a, b), n);
  const operand<X> x = w.read<X>(v[0]), y = w.read<X>(v[1]);
  const bool all_plain = is_plain(x) && is_plain(y);
  if constexpr (sizeof(X) == 1 && sizeof(R) == 1) {
    const plain_operand<uint8_t> both[] = {plain(x), plain(y)};
    if (all_plain && have_words(w, x, y)) return map_flags<ROW, 2>(w, both, n);
  } else if (all_plain) {
    const binary_body<ROW, plain_operand<X>> body{plain(x), plain(y)};
    return map_plain<R>(w, ROW::name(), body, n);
  }
  const binary_body<ROW, operand<X>> body{x, y};
  return map_computed<R>(w, ROW::name(), body, n);
}

template <class ROW> ref<cvl_vector> run_checked(work &w, const cvl_value *v, int64_t n) {
  using X = typename ROW::X;
  using R = typename ROW::R;
  X a, b;
  if (constant(v[0], &a) && constant(v[1], &b)) {
    if (ROW::good(a, b)) return all_equal(ROW::of(a, b), n);
    if (n > 0 && !w.domain) fail((cvl_error_kind)ROW::error, w.site);
    if (n == 0) return all_equal(R{}, n);
  } /* if n is a bound, the kernel checks whether there is an element */
  const operand<X> x = w.read<X>(v[0]), y = w.read<X>(v[1]);
  if (is_plain(x) && is_plain(y)) {
    const checked_body<ROW, plain_operand<X>> body{plain(x), plain(y), w.bad()};
    return map_plain<R>(w, ROW::name(), body, n);
  }
  const checked_body<ROW, operand<X>> body{x, y, w.bad()};
  return map_computed<R>(w, ROW::name(), body, n);
}

template <class ROW> ref<cvl_vector> run_select(work &w, const cvl_value *v, int64_t n) {
  using X = typename ROW::X;
  using R = typename ROW::R;
  using flag = uint8_t;
  flag c;
  X a, b;
  if (constant(v[0], &c) && constant(v[1], &a) && constant(v[2], &b))
    return all_equal(ROW::of(c, a, b), n);
  const operand<flag> f = w.read<flag>(v[0]);
  const operand<X> x = w.read<X>(v[1]), y = w.read<X>(v[2]);
  const bool all_plain = is_plain(f) && is_plain(x) && is_plain(y);
  if constexpr (sizeof(X) == 1) {
    const plain_operand<uint8_t> all[] = {plain(f), plain(x), plain(y)};
    if (all_plain && have_words(w, f, x, y)) return map_flags<ROW, 3>(w, all, n);
  } else if (all_plain) {
    const select_body<ROW, plain_operand<X>, plain_operand<flag>> body{plain(f), plain(x),
                                                                       plain(y)};
    return map_plain<R>(w, ROW::name(), body, n);
  }
  const select_body<ROW, operand<X>, operand<flag>> body{f, x, y};
  return map_computed<R>(w, ROW::name(), body, n);
}

} // namespace ravel
#endif
