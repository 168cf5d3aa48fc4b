/* together.hpp - kernels whose threads do several elements at once: all loads come before the
 * first use, so that a thread has several in flight.
 *
 * The body is a functor of one element, as for launch_n, that can also do U of them:
 *
 *     struct body {
 *       enum { at_once = ... };                             // U; without it the least
 *       HD bool simple() const;                             // whether U > 1 may be
 *       template <int U>
 *       HD void together(int64_t i, int64_t step) const;    // i + k * step
 *       HD void operator()(int64_t i) const { together<1>(i, 0); }
 *     };
 *
 * Elements whose type is known at run time only, as their width, are reached through
 * `retyped`. */
#ifndef RAVEL_CUDA_TOGETHER_HPP
#define RAVEL_CUDA_TOGETHER_HPP

#include "cvl-cuda/launch.hpp"

namespace ravel {

enum { ONE_BLOCK_THREADS = 1024 };

#ifdef __CUDACC__
/* Does every index below n, several of them at once in whole tiles (map_tiles) if the body can.
 * There is one call of together<1>, since it is inlined. */
template <class F> __device__ void run_together(const F &f, int64_t n) {
  enum { AT_ONCE = at_once_of<F>::value };
  const map_tiles tiles(n, AT_ONCE, gridDim.x);
  for (int64_t b = blockIdx.x; b < tiles.blocks(); b += gridDim.x) {
    const int64_t i = tiles.first(b) + threadIdx.x;
    const bool whole = b < tiles.whole;
    if (whole && f.simple()) {
      f.template together<AT_ONCE>(i, MAP_THREADS);
      continue;
    }
    const int64_t end = whole ? i + AT_ONCE * MAP_THREADS : i < n ? i + 1 : i;
    RAVEL_ROLLED
    for (int64_t at = i; at < end; at += MAP_THREADS) f.template together<1>(at, MAP_THREADS);
  }
}
/* The body stays in parameter memory: it may be too large for registers, and is indexed.
 * Without a number of blocks the compiler would spill registers to reach full occupancy; F may
 * have one. */
template <class F>
__global__ void __launch_bounds__(MAP_THREADS, resident_blocks<F>::value)
    kernel_together(const __grid_constant__ F f, int64_t n, const int64_t *n_at) {
  run_together(f, counted(n, n_at));
}
#endif

/* Returns a launch of f for every i in 0 .. n-1, in any order. */
template <class F> launch launch_together(const char *name, int64_t n, const F &f) {
  static_assert(std::is_trivially_copyable<F>::value, "bodies are copied as bytes");
  return {
      name,    n,  0,        RAVEL_KERNEL_OF(kernel_together<F>),           run_n_on_host<F>,
      nullptr, &f, sizeof f, f.simple() ? (int32_t)at_once_of<F>::value : 1};
}

/* Runs several bodies one after the other in a single block, by one launch. This is for few
 * elements, where launches cost more than the work. */
struct no_body {
  HD void operator()(int64_t) const {}
};
template <class A, class B, class C> struct in_one_block {
  enum { threads = ONE_BLOCK_THREADS };
  struct shared {};
  A a;
  B b;
  C c;
  int64_t n_a, n_b, n_c;

  template <class K> HD void operator()(K &block) const {
    block.each([&](int t) {
      RAVEL_ROLLED
      for (int64_t i = t; i < n_a; i += threads) a(i);
    });
    block.each([&](int t) {
      RAVEL_ROLLED
      for (int64_t i = t; i < n_b; i += threads) b(i);
    });
    block.each([&](int t) {
      RAVEL_ROLLED
      for (int64_t i = t; i < n_c; i += threads) c(i);
    });
  }
};
template <class A, class B, class C = no_body>
in_one_block<A, B, C> one_block_of(const A &a, int64_t n_a, const B &b, int64_t n_b,
                                   const C &c = C(), int64_t n_c = 0) {
  return {a, b, c, n_a, n_b, n_c};
}

/* ---- elements of an operand and of a descriptor ---- */

/* Returns whether an operand is in memory or the same everywhere. Elements that are computed
 * take too many registers for several at a time. */
template <class T> HD bool is_simple(const operand<T> &x) {
  return x.kind == FROM_MEMORY || x.kind == ALL_EQUAL;
}

/* Loads several elements of a simple operand, or one of any operand. */
template <class T, int U>
HD void load(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  if (U == 1) {
    to[0] = x[i];
  } else if (x.kind == FROM_MEMORY) {
    for (int k = 0; k < U; k++) to[k] = x.data[i + k * step];
  } else {
    for (int k = 0; k < U; k++) to[k] = x.first;
  }
}

/* Loads elements at given positions; 0 where a position is -1. */
template <class T, int U>
HD void load_at(const operand<T> &x, const int64_t (&at)[U], T (&to)[U]) {
  if (U == 1) {
    to[0] = at[0] < 0 ? (T)0 : x[at[0]];
  } else if (x.kind == FROM_MEMORY) {
    for (int k = 0; k < U; k++) to[k] = at[k] < 0 ? (T)0 : (T)x.data[at[k]];
  } else {
    for (int k = 0; k < U; k++) to[k] = at[k] < 0 ? (T)0 : x.first;
  }
}

/* Moves each segment at[k] on by `by` if that segment, too, begins at element i + k * step or
 * before. The loads do not wait for each other. */
template <int U>
HD void climb(const segments &d, int64_t i, int64_t step, int64_t by, int64_t (&at)[U]) {
  int64_t start[U];
  RAVEL_UNROLL
  for (int k = 0; k < U; k++)
    start[k] = d.offsets[at[k] + by < d.count ? at[k] + by : d.count - 1];
  RAVEL_UNROLL
  for (int k = 0; k < U; k++) {
    const bool further = at[k] + by < d.count && start[k] <= i + k * step;
    at[k] += further ? by : 0;
  }
}
/* Moves each at[k] to the last segment that begins there, which is less than 2 * `most` behind
 * at[k]. */
template <int U>
HD void climb_within(const segments &d, int64_t i, int64_t step, int64_t most,
                     int64_t (&at)[U]) {
  for (int64_t by = most; by > 0; by /= 2) climb(d, i, step, by, at);
}

/* Finds the segments of elements. */
template <int U>
HD void load_segments(const segments &d, int64_t i, int64_t step, int64_t (&to)[U]) {
  if (d.count == 1) { /* a test for each would stand between loads */
    for (int k = 0; k < U; k++) to[k] = 0;
    return;
  }
  if (U == 1 || d.equal >= 0) {
    for (int k = 0; k < U; k++) to[k] = d.of(i + k * step);
    return;
  }
  if (d.ranks == nullptr) { /* few segments */
    int64_t most = 1;
    while (2 * most < d.count) most *= 2;
    for (int k = 0; k < U; k++) to[k] = 0;
    climb_within(d, i, step, most, to);
    return;
  }
  rank_word w[U];
  int64_t sign = 0; /* of all bases: a test for each would stand between loads */
  RAVEL_UNROLL
  for (int k = 0; k < U; k++) w[k] = d.ranks[(i + k * step) >> 6];
  RAVEL_UNROLL
  for (int k = 0; k < U; k++) {
    to[k] = w[k].base + segments::count_begun(w[k], i + k * step);
    sign |= w[k].base;
  }
  if (sign >= 0) return;
  RAVEL_UNROLL
  for (int k = 0; k < U; k++) {
    const int64_t begun = to[k] - w[k].base, word = (i + k * step) >> 6;
    if (!w[k].counts()) to[k] = d.numbers[word + w[k].first() + begun];
  }
}

/* Loads the start and the length of segments. */
template <int U>
HD void load_bounds(const segments &d, const int64_t (&s)[U], int64_t (&start)[U],
                    int64_t (&length)[U]) {
  if (d.equal >= 0) {
    for (int k = 0; k < U; k++) start[k] = s[k] * d.equal;
    for (int k = 0; k < U; k++) length[k] = d.equal;
  } else {
    for (int k = 0; k < U; k++) start[k] = d.offsets[s[k]];
    for (int k = 0; k < U; k++) length[k] = (int64_t)d.offsets[s[k] + 1] - start[k];
  }
}

/* Computes elements of a progression, in these segments. */
template <class T, int U>
HD void load_progression(const operand<T> &x, int64_t i, int64_t step, const int64_t (&s)[U],
                         T (&to)[U]) {
  int64_t start[U];
  T by[U];
  for (int k = 0; k < U; k++) to[k] = x.data == nullptr ? x.first : (T)x.data[s[k]];
  for (int k = 0; k < U; k++) by[k] = x.steps == nullptr ? x.step : (T)x.steps[s[k]];
  for (int k = 0; k < U; k++) start[k] = x.under.start(s[k]);
  for (int k = 0; k < U; k++) to[k] = progression<T>::at(to[k], i + k * step - start[k], by[k]);
}

/* Computes elements of a vector from one value, or from one and a step. */
template <class T, int U>
HD void load_in_one_segment(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  const T first = x.data == nullptr ? x.first : (T)x.data[0];
  if constexpr (progression<T>::exists) {
    const T by = x.kind == SPREAD ? (T)0 : x.steps == nullptr ? x.step : (T)x.steps[0];
    for (int k = 0; k < U; k++) to[k] = progression<T>::at(first, i + k * step, by);
  } else {
    for (int k = 0; k < U; k++) to[k] = first;
  }
}

/* Computes elements from values of their segments. */
template <class T, int U>
HD void load_by_segments(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  int64_t s[U];
  load_segments(x.under, i, step, s);
  if constexpr (progression<T>::exists) {
    if (x.kind != SPREAD) {
      load_progression(x, i, step, s, to);
      return;
    }
  }
  for (int k = 0; k < U; k++) to[k] = x.data[s[k]];
}

/* Computes several elements of an operand in any form that is not in memory. */
template <class T, int U>
HD void load_computed(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  enum { FEW = U < LEAST_AT_ONCE ? U : (int)LEAST_AT_ONCE };
  if (x.kind == ALL_EQUAL) {
    for (int k = 0; k < U; k++) to[k] = x.first;
    return;
  }
  if (x.under.count == 1) return load_in_one_segment(x, i, step, to);
  /* The segments of more elements would take too many registers. */
  RAVEL_UNROLL
  for (int first = 0; first < U; first += FEW) {
    T few[FEW];
    load_by_segments(x, i + first * step, step, few);
    RAVEL_UNROLL
    for (int k = 0; k < FEW; k++) to[first + k] = few[k];
  }
}

/* Loads elements that are in memory, for a body of several operands: these loads begin before
 * any other waits. */
template <class T, int U>
HD void load_memory(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  if (x.kind == FROM_MEMORY) {
    for (int k = 0; k < U; k++) to[k] = x.data[i + k * step];
  } else {
    for (int k = 0; k < U; k++) to[k] = (T)0;
  }
}
template <class T, int U>
HD void load_others(const operand<T> &x, int64_t i, int64_t step, T (&to)[U]) {
  if (x.kind != FROM_MEMORY) load_computed(x, i, step, to);
}

/* ---- types at run time ---- */

/* Returns the operand with the same memory, as elements of another type. */
template <class T, class U> HD operand<T> retyped(const operand<U> &x) {
  return {x.kind, (T)x.first, (T)x.step, retyped<const T>(x.data), retyped<const T>(x.steps),
          x.under};
}

/* Returns whether two operands of kernels are the same, hence equal. False proves nothing. */
inline bool same(const segments &a, const segments &b) {
  return a.count == b.count && a.total == b.total && a.equal == b.equal &&
         a.offsets == b.offsets;
}
template <class T> bool same(const operand<T> &a, const operand<T> &b) {
  return a.kind == b.kind && a.first == b.first && a.step == b.step && a.data == b.data &&
         a.steps == b.steps && same(a.under, b.under);
}

} // namespace ravel
#endif
