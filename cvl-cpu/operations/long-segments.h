/* long-segments.h - where long segments are cut, and where the totals of their blocks are
 * stored.
 *
 * A chunk of the path (struct path_coordinate) owns the segments that start in it. A *long
 * segment*, one of more than `whole` elements that crosses the end of a chunk, is cut into
 * units, counted from its start. Each unit belongs to the chunk that it starts in. So a chunk
 * owns contiguous elements, at most `whole` more than its own length.
 */
#ifndef RAVEL_CPU_LONG_SEGMENTS_H
#define RAVEL_CPU_LONG_SEGMENTS_H

#include <sched.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels/reduce.h"

static inline uint64_t units_of(uint64_t n, uint64_t unit) {
  return n / unit + (n % unit != 0);
}

/* Whether segment k, counted from 1, is a long segment that crosses `position`. */
static inline bool long_segment_crosses(const struct segments *s, uint64_t whole, uint64_t k,
                                        uint64_t position) {
  if (k == 0) return false;
  const uint64_t start = segment_start(s, k - 1), end = segment_start(s, k);
  return end > position && end - start > whole;
}

/* Returns the first element that is not owned by the chunks before this coordinate. */
static inline uint64_t owned_from(const struct segments *s, uint64_t whole, uint64_t unit,
                                  struct path_coordinate at) {
  if (!long_segment_crosses(s, whole, at.segment, at.position))
    return segment_start(s, at.segment);
  const uint64_t start = segment_start(s, at.segment - 1);
  const uint64_t end = segment_start(s, at.segment);
  const uint64_t cut = start + units_of(at.position - start, unit) * unit;
  return cut < end ? cut : end;
}

/* The elements of long segment k that belong to a chunk, between positions `low` and `high`. */
struct segment_range {
  uint64_t begin, end; /* equal if there are none */
  bool from_start;     /* begins where the segment does */
};
static inline struct segment_range segment_range_of(const struct segments *s, uint64_t unit,
                                                    uint64_t k, uint64_t low, uint64_t high) {
  const uint64_t start = segment_start(s, k), end = segment_start(s, k + 1);
  struct segment_range p = {.begin = start, .end = end, .from_start = low <= start};
  if (low > start) p.begin = start + units_of(low - start, unit) * unit;
  if (high < end) p.end = start + units_of(high - start, unit) * unit;
  if (p.end > end) p.end = end;
  if (p.begin > p.end) p.begin = p.end;
  return p;
}

/* Waits until all earlier chunks have had their turn at the state that is handed on. The
 * threads that took those chunks never wait for this one. */
static inline void await_turn(_Atomic uint64_t *turn, uint64_t chunk) {
  enum { SPINS_TO_A_YIELD = 100 }; /* attempts before yielding the processor */
  unsigned spins = 0;
  while (atomic_load_explicit(turn, memory_order_acquire) != chunk) {
    if (++spins % SPINS_TO_A_YIELD == 0) sched_yield();
  }
}

/* Returns the index of the first block total of a long segment that starts at position p.
 * Earlier long segments end before p. Each has more than `whole` elements, and at most length /
 * BLOCK + 1 blocks. */
static inline uint64_t block_totals_at(uint64_t p, uint64_t whole) {
  return p / CVL_REDUCE_BLOCK + p / whole;
}

/* Reduces the totals of each long segment's blocks to its result. long_segments[w] is 1 + the
 * number of the long segment that starts in window w of `whole` positions, or 0. */
void finish_long_segments(const struct segments *, uint64_t whole,
                          const uint64_t *long_segments, const struct reduce_row *,
                          size_t element, char *totals, char *out);

#endif
