/* parts.h - where long segments are cut, and where the totals of their blocks lie.
 *
 * A piece of the path (struct place) owns the segments that start in it; but a segment that
 * crosses the end of a piece and is longer than `whole` elements is a *giant*, whose units of
 * elements, counted from its start, belong to the pieces they start in. So what a piece owns
 * is contiguous, and no shape leaves it with more than it would have had and `whole` elements
 * on top.
 */
#ifndef RAVEL_CPU_PARTS_H
#define RAVEL_CPU_PARTS_H

#include <sched.h>

#include "cvl-cpu/cpu.h"
#include "cvl-cpu/kernels-reduce.h"

static inline uint64_t units_of(uint64_t n, uint64_t unit) {
  return n / unit + (n % unit != 0);
}

/* Whether segment k, counted from 1, is a giant that crosses `position`. */
static inline bool giant_crosses(const struct segments *s, uint64_t whole, uint64_t k,
                                 uint64_t position) {
  if (k == 0) return false;
  const uint64_t start = segment_start(s, k - 1), end = segment_start(s, k);
  return end > position && end - start > whole;
}

/* The first element that is not owned by the pieces before this place of the path. */
static inline uint64_t owned_from(const struct segments *s, uint64_t whole, uint64_t unit,
                                  struct place at) {
  if (!giant_crosses(s, whole, at.segment, at.position)) return segment_start(s, at.segment);
  const uint64_t start = segment_start(s, at.segment - 1);
  const uint64_t end = segment_start(s, at.segment);
  const uint64_t cut = start + units_of(at.position - start, unit) * unit;
  return cut < end ? cut : end;
}

/* The elements of giant k that belong to a piece, from place `low` to `high` of the path. */
struct part {
  uint64_t begin, end; /* none if equal */
  bool from_start;     /* begins where the giant does */
};
static inline struct part part_of(const struct segments *s, uint64_t unit, uint64_t k,
                                  uint64_t low, uint64_t high) {
  const uint64_t start = segment_start(s, k), end = segment_start(s, k + 1);
  struct part p = {.begin = start, .end = end, .from_start = low <= start};
  if (low > start) p.begin = start + units_of(low - start, unit) * unit;
  if (high < end) p.end = start + units_of(high - start, unit) * unit;
  if (p.end > end) p.end = end;
  if (p.begin > p.end) p.begin = p.end;
  return p;
}

/* Waits until all pieces before this one have had their turn at what is handed on. They have
 * all been taken by threads that need nothing from this one. */
static inline void await_turn(_Atomic uint64_t *turn, uint64_t piece) {
  enum { SPINS_TO_A_YIELD = 100 }; /* looks before giving the processor away */
  unsigned spins = 0;
  while (atomic_load_explicit(turn, memory_order_acquire) != piece) {
    if (++spins % SPINS_TO_A_YIELD == 0) sched_yield();
  }
}

/* Where the block totals of a giant that starts at p begin, in elements. The giants before it
 * end before p and have at most length / BLOCK + 1 blocks and more than `whole` elements. */
static inline uint64_t giant_base(uint64_t p, uint64_t whole) {
  return p / CVL_REDUCE_BLOCK + p / whole;
}

/* giants[w] = 1 + the giant that starts in window w of `whole` positions: reduces the totals of
 * each giant's blocks to its result. */
void finish_giants(const struct segments *, uint64_t whole, const uint64_t *giants,
                   const struct reduce_row *, size_t element, char *totals, char *out);

#endif
