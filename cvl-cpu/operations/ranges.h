/* ranges.h - splits the destination of a scatter into ranges, one thread each. So the order of
 * two sources with the same destination never depends on the threads.
 */
#ifndef RAVEL_CPU_RANGES_H
#define RAVEL_CPU_RANGES_H

#include "cvl-cpu/cpu.h"

/* Returns into how many ranges to split a destination of so many bytes. A thread looks at all
 * sources of the segments that its range touches. If there are few segments, every thread does
 * all of that work, with an unpredictable branch, and gains only where stores wait for
 * memory. */
static inline uint64_t ranges_for(const struct cvl_context *c, const struct segments *far,
                                  uint64_t bytes) {
  enum { SEGMENTS = 8 }; /* segments of a range; other ranges look at one or two of them */
  const uint64_t threads = pool_threads(c->pool);
  return far->count < SEGMENTS * threads && bytes < tuned(c, SCATTER_BYTES) ? 1 : threads;
}

/* Positions low .. high - 1. They belong to segments first .. past - 1, which may have other
 * positions too. */
struct range {
  uint64_t low, high, first, past;
};

/* Returns range r of the given number. Its segments are those from the one at `low` to the last
 * that starts before `high`. Empty segments at the very end belong to the last range, so that
 * each source is seen at least once. */
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
