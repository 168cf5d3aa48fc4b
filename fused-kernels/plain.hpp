/* plain.hpp - kernels of superoperators that have two versions of what is done at a position:
 * one for operands that are in memory or the same everywhere, all of them, and one for any. In
 * the first no load waits for a test of an operand, or for another load, and a thread has those
 * of several positions under way. The second has all the code that computes elements where they
 * are needed, and is there once. Such a kernel has
 *
 *     plain()             whether the operands allow the first; once for a launch
 *     operands            their elements at a position
 *     load<STEP>(x, i)    as many as x has room for, plain ones: at i, i + STEP ...
 *     of<true>(x, i)      from these the results at i, with gathers from plain operands
 *     at(i)               the results at i, of any operands
 *     put(i, results)     stores them
 *
 * The text of a superoperator's kernel contains it, behind prelude.hpp.
 */
namespace ravel {

template <class T> HD bool is_plain(const operand<T> &x) {
  return x.kind == FROM_MEMORY || x.kind == ALL_EQUAL;
}

/* Elements i, i + STEP ... of a plain operand, COUNT in all, to(k, element). */
template <int COUNT, int STEP, class T, class F>
HD void load_plain(const operand<T> &x, int64_t i, F to) {
  if (x.kind == FROM_MEMORY) {
    const ptr<const T> from = x.data + i;
    RAVEL_UNROLL
    for (int k = 0; k < COUNT; k++) to(k, (T)from[k * STEP]);
  } else {
    RAVEL_UNROLL
    for (int k = 0; k < COUNT; k++) to(k, x.first);
  }
}

/* One element, for gathers. */
template <bool PLAIN, class T> HD T element(const operand<T> &x, int64_t i) {
  if constexpr (!PLAIN) return x[i];
  T v = x.first;
  if (x.kind == FROM_MEMORY) v = x.data[i];
  return v;
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
template <class F> __device__ void map_plain(const F &f, int64_t first) {
  typename F::operands x[F::unroll];
  typename F::results r[F::unroll];
  f.template load<MAP_THREADS>(x, first);
  RAVEL_UNROLL
  for (int k = 0; k < F::unroll; k++) r[k] = f.template of<true>(x[k], first + k * MAP_THREADS);
  RAVEL_UNROLL
  for (int k = 0; k < F::unroll; k++) f.put(first + k * MAP_THREADS, r[k]);
}
/* Does what run_map in prelude.hpp does; whole tiles come first. */
template <class F> __device__ void run_plain_map(const F &f, int64_t n) {
  const map_tiles tiles(n, F::unroll, gridDim.x);
  int64_t b = blockIdx.x;
  if (f.plain()) {
    RAVEL_ROLLED
    for (; b < tiles.whole; b += gridDim.x) map_plain(f, tiles.first(b) + threadIdx.x);
  }
  for (; b < tiles.blocks(); b += gridDim.x) {
    const int64_t first = tiles.first(b) + threadIdx.x;
    const int64_t end = b < tiles.whole ? first + tiles.tile : first < n ? first + 1 : first;
    RAVEL_ROLLED
    for (int64_t i = first; i < end; i += MAP_THREADS) f.put(i, f.at(i));
  }
}
#define RAVEL_KERNEL_PLAIN_MAP(NAME)                                                           \
  extern "C" __global__ void __launch_bounds__(256, 1)                                         \
      NAME##_kernel(const __grid_constant__ NAME f, int64_t n, const int64_t *n_at) {          \
    ravel::run_plain_map(f, ravel::counted(n, n_at));                                          \
  }
#else
#define RAVEL_KERNEL_PLAIN_MAP(NAME) RAVEL_KERNEL_N(NAME)
#endif

} // namespace ravel
