/* scan-parts.h - the part of a giant that a piece scans (parts.h), alone or within a
 * superoperator: the totals of its windows are found, wait for their turn at the state that is
 * handed from piece to piece, and then the part is written.
 */
#ifndef RAVEL_CPU_SCAN_PARTS_H
#define RAVEL_CPU_SCAN_PARTS_H

#include <string.h>

#include "cvl-cpu/kernels-scan.h"
#include "cvl-cpu/parts.h"

static inline uint64_t scan_windows(const struct part *p) {
  return units_of(p->end - p->begin, SCAN_WINDOW);
}

/* totals = those of the windows of the part, whose elements, of so many bytes, are at x. */
static inline void scan_part_totals(const struct scan_row *row, size_t element,
                                    const struct part *p, const void *x, char *totals) {
  const uint64_t n = p->end - p->begin;
  row->totals(x, n / SCAN_WINDOW, totals);
  /* Nothing comes after a short window: its total is not used. */
  if (n % SCAN_WINDOW) memset(totals + n / SCAN_WINDOW * element, 0, element);
}

/* Takes the totals in, and replaces each by what is before its window. */
static inline void scan_part_advance(const struct scan_row *row, const struct part *p,
                                     struct scan_state *state, char *totals) {
  if (p->begin == p->end) return;
  if (p->from_start) row->start(state);
  row->advance(state, scan_windows(p), totals);
}

/* `out` is that of the whole vector. */
static inline void scan_part_write(const struct scan_row *row, size_t element,
                                   const struct part *p, const void *x, const char *before,
                                   char *out, scan_put *put) {
  const uint64_t n = p->end - p->begin;
  if (n > 0) row->write(x, n, before, p->from_start, out + p->begin * element, put);
}

/* A scan_put for results that others will read soon. */
static inline void put_in_caches(void *to, const void *from, size_t bytes) {
  memcpy(to, from, bytes);
}

#endif
