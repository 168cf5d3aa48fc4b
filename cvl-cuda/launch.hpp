/* launch.hpp - makes a launch from a functor. */
#ifndef RAVEL_CUDA_LAUNCH_HPP
#define RAVEL_CUDA_LAUNCH_HPP

#include <type_traits>

#include "cvl-cuda/stream.hpp"
#include "cvl/tuning.h"

namespace ravel {

static_assert((int)MAP_THREADS == (int)COMPILED_CUDA_MAP_THREADS, "what --tuning=list says");

/* The number of elements that a thread loads before it uses the first: COMPILED_CUDA_MAP_BYTES
 * of an operand, so that narrow elements keep the memory as busy as wide ones. Fewer than four
 * would be too few for several operands. More than eight cost registers, hence threads. */
enum { LEAST_AT_ONCE = 4, MOST_AT_ONCE = 8 };
template <class T> HD constexpr int elements_at_once() {
  constexpr int n = COMPILED_CUDA_MAP_BYTES / (int)sizeof(T);
  return n < LEAST_AT_ONCE ? (int)LEAST_AT_ONCE : n > MOST_AT_ONCE ? (int)MOST_AT_ONCE : n;
}

/* The number at_once of a body, which may set it by its constant `at_once`; else it is the
 * least. */
template <class F, class = void> struct at_once_of {
  enum { value = LEAST_AT_ONCE };
};
template <class F> struct at_once_of<F, std::void_t<decltype(F::at_once)>> {
  enum { value = F::at_once };
};

/* A map: element i of the result is f(i). A body in two halves lets a kernel load several
 * elements before it stores any (run_map in prelude.hpp), unlike a body that stores. The loads
 * of f are not known here. */
template <class F, class R> struct map_body {
  using results = R;
  enum { unroll = LEAST_AT_ONCE };

  F f;
  ptr<R> out;
  HD R at(int64_t i) const { return f(i); }
  HD void put(int64_t i, const R &r) const { out[i] = r; }
  HD void operator()(int64_t i) const { put(i, at(i)); }
};

/* The number of blocks of a body that must fit a multiprocessor at once, which bounds the
 * registers of a thread. It is the body's constant `resident`, else one. */
template <class F, class = void> struct resident_blocks {
  enum { value = 1 };
};
template <class F> struct resident_blocks<F, std::void_t<decltype(F::resident)>> {
  enum { value = F::resident };
};

#ifdef __CUDACC__
/* Launch bounds without a number of blocks make ptxas spill registers of small kernels to reach
 * 32. */
template <class F>
__global__ void __launch_bounds__(MAP_THREADS, 1)
    kernel_n(const F f, int64_t n, const int64_t *n_at) {
  run_n(f, counted(n, n_at));
}
template <class F>
__global__ void __launch_bounds__(F::threads, resident_blocks<F>::value)
    kernel_blocks(const __grid_constant__ F f, int64_t blocks) { /* read in place */
  run_blocks(f, blocks);
}
template <class F>
__global__ void __launch_bounds__(MAP_THREADS, resident_blocks<F>::value)
    kernel_map(const F f, int64_t n, const int64_t *n_at) {
  run_map(f, counted(n, n_at));
}
#define RAVEL_KERNEL_OF(...)    ((const void *)(__VA_ARGS__))
#define RAVEL_EMULATION_OF(...) nullptr
#else
#define RAVEL_KERNEL_OF(...)    nullptr
#define RAVEL_EMULATION_OF(...) __VA_ARGS__
#endif

/* Returns a launch of f(i) for every i in 0 .. n-1, in any order. */
template <class F> launch launch_n(const char *name, int64_t n, const F &f) {
  static_assert(std::is_trivially_copyable<F>::value, "bodies are copied as bytes");
  return {name, n, 0, RAVEL_KERNEL_OF(kernel_n<F>), run_n_on_host<F>, nullptr, &f, sizeof f};
}
/* Returns a launch of f(block) for `blocks` cooperative blocks. */
template <class F> launch launch_blocks(const char *name, int64_t blocks, const F &f) {
  static_assert(std::is_trivially_copyable<F>::value, "bodies are copied as bytes");
  return {name,    blocks, F::threads, RAVEL_KERNEL_OF(kernel_blocks<F>), run_blocks_on_host<F>,
          nullptr, &f,     sizeof f};
}
/* Returns a launch of f(block) for a body that never runs on the host (work::on_host). The CUDA
 * module then lacks its host code, which takes longer to compile than its kernel. */
template <class F>
launch launch_blocks_on_device(const char *name, int64_t blocks, const F &f) {
  static_assert(std::is_trivially_copyable<F>::value, "bodies are copied as bytes");
  return {name,
          blocks,
          F::threads,
          RAVEL_KERNEL_OF(kernel_blocks<F>),
          RAVEL_EMULATION_OF(run_blocks_on_host<F>),
          nullptr,
          &f,
          sizeof f};
}
/* Returns a launch over 0 .. n-1 for a body in two halves. */
template <class F> launch launch_map(const char *name, int64_t n, const F &f) {
  static_assert(std::is_trivially_copyable<F>::value, "bodies are copied as bytes");
  return {name, n,        0,        RAVEL_KERNEL_OF(kernel_map<F>), run_n_on_host<F>, nullptr,
          &f,   sizeof f, F::unroll};
}

} // namespace ravel
#endif
