/* ranges.h - the destination of a scatter in ranges, one thread each: what order two sources
 * for one place are written in is then never up to the threads.
 */
#ifndef RAVEL_CPU_RANGES_H
#define RAVEL_CPU_RANGES_H

#include "cvl-cpu/cpu.h"

/* Places low .. high - 1; those of segments first .. past - 1, and perhaps of others. */
struct range {
  uint64_t low, high, first, past;
};

/* Range r of so many. Its segments: from the one that `low` lies in to the last that starts
 * before `high`; empty ones at the very end belong to the last range, so that each source is
 * looked at once at least. */
static inline struct range range_of(const struct segments *far, uint64_t ranges, uint64_t r) {
  const uint64_t total = far->total, share = total / ranges + 1;
  const uint64_t low = r * share < total ? r * share : total;
  const uint64_t high = total - low < share ? total : low + share;
  uint64_t first = r == 0 ? 0 : segment_from(far, low);
  if (first) first--;
  const uint64_t past = r + 1 == ranges ? far->count : segment_from(far, high);
  return (struct range){low, high, first, past};
}

#endif
