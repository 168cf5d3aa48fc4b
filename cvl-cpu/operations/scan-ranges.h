/* scan-ranges.h - scans the range of a long segment that belongs to a chunk (long-segments.h),
 * alone or within a superoperator. First the totals of the range's windows are computed. Then
 * the chunk waits for its turn at the state that is handed from chunk to chunk. Last, the range
 * is written.
 */
#ifndef RAVEL_CPU_SCAN_RANGES_H
#define RAVEL_CPU_SCAN_RANGES_H

#include <string.h>

#include "cvl-cpu/kernels/scan.h"
#include "cvl-cpu/operations/long-segments.h"

static inline uint64_t scan_windows(const struct segment_range *p) {
  return units_of(p->end - p->begin, SCAN_WINDOW);
}

/* Computes the totals of the range's windows. x has the elements, of `element` bytes each. */
static inline void scan_range_totals(const struct scan_row *row, size_t element,
                                     const struct segment_range *p, const void *x,
                                     char *totals) {
  const uint64_t n = p->end - p->begin;
  row->totals(x, n / SCAN_WINDOW, totals);
  /* Nothing comes after a short window, so its total is not used. */
  if (n % SCAN_WINDOW) memset(totals + n / SCAN_WINDOW * element, 0, element);
}

/* Advances the state by the totals, and replaces each by the prefix before its window. */
static inline void scan_range_advance(const struct scan_row *row, const struct segment_range *p,
                                      struct scan_state *state, char *totals) {
  if (p->begin == p->end) return;
  if (p->from_start) row->start(state);
  row->advance(state, scan_windows(p), totals);
}

/* Writes the scan of the range. `out` is the result of the whole vector. */
static inline void scan_range_write(const struct scan_row *row, size_t element,
                                    const struct segment_range *p, const void *x,
                                    const char *before, char *out, scan_put *put) {
  const uint64_t n = p->end - p->begin;
  if (n > 0) row->write(x, n, before, p->from_start, out + p->begin * element, put);
}

/* A scan_put for results that will be read soon. */
static inline void put_in_caches(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}

#endif
