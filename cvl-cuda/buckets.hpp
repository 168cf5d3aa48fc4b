/* buckets.hpp - scatters to positions all over a result that no cache holds.
 *
 * There each write moves a sector of 32 bytes, out of memory and back. So the positions and
 * what goes to them are first sorted, in one pass, by the highest BUCKET_BITS bits of the
 * position: then what is under way at any time goes into few buckets, which the second-level
 * cache holds until they are full. Bytes of an element: 4 for the histogram, 2 (4 + E) for the
 * pass, 4 + 2E to deliver, where at random 32 and more would be moved for the write alone.
 */
#ifndef RAVEL_CUDA_BUCKETS_HPP
#define RAVEL_CUDA_BUCKETS_HPP

#include "cvl-cuda/rank-kernels.hpp"
#include "cvl-cuda/sort.hpp"

namespace ravel {

enum { BUCKET_BITS = 8 };

/* Positions up to `most`, and what goes to them. */
template <class V> struct buckets {
  int64_t n, most;
  ptr<uint32_t> to, sorted_to;
  ptr<V> values, sorted;

  static int64_t room(const work &w, int64_t n) {
    return sort_scratch<number_order<uint32_t>, V>(w.on_host, n);
  }
  void sort(work &w, ptr<uint8_t> at, int64_t bytes) const {
    const int bits = bits_of(most), first = bits > BUCKET_BITS ? bits - BUCKET_BITS : 0;
    const sort_job<number_order<uint32_t>, V> job{to,    values, sorted_to, sorted,
                                                  first, bits,   at,        bytes};
    w.run(launch_sort("sort into buckets", n, job));
  }
};

} // namespace ravel
#endif
