/* ranges.h - the destination of a scatter in ranges, one thread each: so the order of two
 * sources with one destination never depends on the threads.
 */
#ifndef RAVEL_CPU_RANGES_H
#define RAVEL_CPU_RANGES_H

#include "cvl-cpu/cpu.h"

/* Into how many ranges to split a destination that takes so many bytes. A thread looks at all
 * sources of the segments that its range touches: where these are few it is the same work for
 * each, with a branch that nobody can predict, and gains only where the stores wait for
 * memory. */
static inline uint64_t ranges_for(const struct cvl_context *c, const struct segments *far,
                                  uint64_t bytes) {
  enum { SEGMENTS = 8 }; /* of a range, of which others look at one or two */
  const uint64_t threads = pool_threads(c->pool);
  return far->count < SEGMENTS * threads && bytes < tuned(c, SCATTER_BYTES) ? 1 : threads;
}

/* Positions low .. high - 1; they belong to segments first .. past - 1, and perhaps to others.
 */
struct range {
  uint64_t low, high, first, past;
};

/* Range r of so many. Its segments: from the one at `low` to the last that starts before
 * `high`. Empty ones at the very end belong to the last range, so that each source is seen at
 * least once.
 */
static inline struct range range_of(const struct segments *far, uint64_t ranges, uint64_t r) {
  const uint64_t total = far->total, size = total / ranges + 1;
  const uint64_t low = r * size < total ? r * size : total;
  const uint64_t high = total - low < size ? total : low + size;
  uint64_t first = r == 0 ? 0 : segment_from(far, low);
  if (first) first--;
  const uint64_t past = r + 1 == ranges ? far->count : segment_from(far, high);
  return (struct range){low, high, first, past};
}

#endif
