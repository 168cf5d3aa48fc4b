/* counts.hpp - prefix sums of counts, for PACK and for descriptors: a block of threads makes
 * the sum of its tile, one block makes prefixes of those sums, and a prefix within a
 * tile is the sum of the two. Sums saturate at 2^63, which is too large in any case.
 */
#ifndef RAVEL_CUDA_COUNTS_HPP
#define RAVEL_CUDA_COUNTS_HPP

#include "cvl-cuda/launch.hpp"

namespace ravel {

enum : uint64_t { TOO_LARGE = (uint64_t)1 << 63 };

/* Associative: the lesser of the sum and TOO_LARGE. */
struct add_counts {
  HD uint64_t operator()(uint64_t a, uint64_t b) const {
    const uint64_t sum = a + b;
    return sum < a || sum > TOO_LARGE ? TOO_LARGE : sum;
  }
};

/* One block: counts[k] becomes the sum of those before it, for k up to n, which makes the last
 * one the sum of all. That goes to *total too, unless it is null. */
struct scan_counts {
  enum { threads = 1024 };
  struct shared {
    shared_array<uint64_t, threads / WARP> of_warp;
  };
  ptr<uint64_t> counts;
  int64_t n;
  ptr<int64_t> total;

  template <class B> HD void operator()(B &block) const {
    const add_counts add;
    typename B::template reg<uint64_t> before, x, y;
    block.each([&](int t) { before[t] = 0; });
    for (int64_t first = 0; first < n; first += threads) {
      block.each([&](int t) { x[t] = first + t < n ? (uint64_t)counts[first + t] : 0; });
      block.prefix(x, WARP, add);
      block.shift_up(y, x, 1);
      block.each([&](int t) {
        if (t % WARP == WARP - 1) block.shared.of_warp[t / WARP] = x[t];
      });
      block.each([&](int t) {
        uint64_t here = before[t], all = before[t];
        for (int w = 0; w < threads / WARP; w++) {
          const uint64_t sum = block.shared.of_warp[w];
          all = add(all, sum);
          if (w < t / WARP) here = add(here, sum);
        }
        if (first + t < n) counts[first + t] = t % WARP == 0 ? here : add(here, y[t]);
        before[t] = all;
      });
    }
    block.each([&](int t) {
      if (t != 0) return;
      counts[n] = before[t];
      if (total != nullptr) *total = (int64_t)before[t];
    });
  }
};

} // namespace ravel
#endif
