/* counts.hpp - sums of counts, and prefix sums over tiles for PACK. Sums saturate at 2^63,
 * which is too large in any case. Each block of threads sums its tile, and one block makes
 * prefixes of these sums. The prefix of an element is that of its tile plus that within the
 * tile.
 */
#ifndef RAVEL_CUDA_COUNTS_HPP
#define RAVEL_CUDA_COUNTS_HPP

#include "cvl-cuda/launch.hpp"

namespace ravel {

enum : uint64_t { TOO_LARGE = (uint64_t)1 << 63 };

/* Adds two counts; the result is at most TOO_LARGE. It is associative. */
struct add_counts {
  HD uint64_t operator()(uint64_t a, uint64_t b) const {
    const uint64_t sum = a + b;
    return sum < a || sum > TOO_LARGE ? TOO_LARGE : sum;
  }
  HD static uint64_t pad() { return 0; }
};

/* Run by one block. counts[k] becomes the sum of those before it, for k up to n, so that the
 * last one is the sum of all. That sum goes to *total too, unless it is null. In a round each
 * warp takes EACH rows of adjacent counts, and loads all before the first is used. */
struct scan_counts {
  enum { threads = 1024, WARPS = threads / WARP, EACH = 8, ROUND = threads * EACH };
  static_assert((int)WARPS == (int)WARP, "a warp scans the sums of all warps");
  struct shared {
    shared_array<uint64_t, WARPS> of_warp, before_warp;
  };
  ptr<uint64_t> counts;
  int64_t n;
  ptr<int64_t> total;

  template <class B> HD void operator()(B &block) const {
    typename B::template reg<uint64_t> before; /* the sum before this round */
    block.each([&](int t) { before[t] = 0; });
    for (int64_t first = 0; first < n; first += ROUND) one_round(block, first, before);
    block.each([&](int t) {
      if (t != 0) return;
      counts[n] = before[t];
      if (total != nullptr) *total = (int64_t)before[t];
    });
  }
  template <class B, class REG> HD void one_round(B &block, int64_t first, REG &before) const {
    const add_counts add;
    auto &memory = block.shared;
    REG x[EACH], sum, here; /* prefixes in rows; sums of warps */
    block.each([&](int t) {
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) x[r][t] = count_at(index_of(first, t, r));
    });
    scan_rows(block, x, sum);
    block.each([&](int t) {
      if (t % WARP == WARP - 1) memory.of_warp[t / WARP] = sum[t];
    });
    block.each([&](int t) { sum[t] = memory.of_warp[t % WARP]; });
    block.prefix(sum, WARP, add);
    block.shift_up(here, sum, 1);
    block.each([&](int t) {
      if (t < WARP) memory.before_warp[t] = t == 0 ? 0 : here[t];
    });
    block.broadcast(sum, sum, WARP - 1);
    block.each([&](int t) {
      const uint64_t base = add(before[t], memory.before_warp[t / WARP]);
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) {
        const int64_t k = index_of(first, t, r);
        if (k < n) counts[k] = add(base, x[r][t]);
      }
      before[t] = add(before[t], sum[t]);
    });
  }
  /* Counts become the sums of those before them in the warp's rows; `sum` becomes the sum of
   * all. */
  template <class B, class REG> HD void scan_rows(B &block, REG (&x)[EACH], REG &sum) const {
    const add_counts add;
    REG row[EACH];
    RAVEL_UNROLL
    for (int r = 0; r < EACH; r++) {
      block.prefix(x[r], WARP, add);
      block.broadcast(row[r], x[r], WARP - 1);
      block.shift_up(x[r], x[r], 1);
    }
    block.each([&](int t) {
      sum[t] = 0;
      RAVEL_UNROLL
      for (int r = 0; r < EACH; r++) {
        x[r][t] = t % WARP == 0 ? (uint64_t)sum[t] : add(sum[t], x[r][t]);
        sum[t] = add(sum[t], row[r][t]);
      }
    });
  }
  HD static int64_t index_of(int64_t first, int t, int r) {
    return first + (t / WARP * EACH + r) * WARP + t % WARP;
  }
  HD uint64_t count_at(int64_t k) const { return k < n ? (uint64_t)counts[k] : 0; }
};

} // namespace ravel
#endif
