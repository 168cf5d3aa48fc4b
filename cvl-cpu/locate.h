/* locate.h - from indices to positions: what gathers and scatters begin with, alone or within
 * a superoperator. An index counts from the start of the segment of `far` that has the number
 * of the segment of `near` in which the index itself stands.
 */
#ifndef RAVEL_CPU_LOCATE_H
#define RAVEL_CPU_LOCATE_H

#include "cvl-cpu/kernels-move.h"

enum { LOCATE_MOST = 512 }; /* indices at a time: two buffers of 4 KB */

/* Whether the places from w->position to `last` all lie in one segment, number w->segment - 1
 * from then on. */
static inline bool walk_in_one(struct walk *w, uint64_t last) {
  if (walk_start(w, w->segment) == w->position && walk_start(w, w->segment + 1) >= last) {
    w->segment++;
  }
  return w->segment && walk_start(w, w->segment) >= last;
}

/* at[i] = the position in far's vector that index[i] stands for, for the places from
 * w->position to `last`, at most LOCATE_MOST; NOWHERE where flags (unless NULL) say so. `at`
 * has room for SPREAD_SLACK bytes more. Moves w on. Returns the number of places, or the first
 * whose index is out of range. This form: where walk_in_one says yes. */
static inline uint64_t locate_in_one(const struct move_int *ints, const struct segments *far,
                                     struct walk *w, uint64_t last, const void *index,
                                     const uint8_t *flags, uint64_t *at) {
  const uint64_t k = w->segment - 1, base = segment_start(far, k), n = last - w->position;
  w->position = last;
  return ints->locate_in_one(n, index, flags, base, segment_start(far, k + 1) - base, at);
}

/* The same for any places. */
static inline uint64_t locate_across(const struct move_kernels *move,
                                     const struct move_int *ints, const struct segments *far,
                                     struct walk *w, uint64_t last, const void *index,
                                     const uint8_t *flags, uint64_t *at) {
  const uint64_t n = last - w->position;
  if (!w->offsets && !far->offsets) {
    move->expand_equal(w, last, far->equal, at);
    return ints->locate_equal(n, index, flags, far->equal, at);
  }
  uint64_t bounds[LOCATE_MOST + SPREAD_SLACK / sizeof(uint64_t)];
  if (far->total <= UINT32_MAX) {
    move->expand_packed(w, last, far, bounds);
    return ints->locate_packed(n, index, flags, bounds, at);
  }
  move->expand(w, last, far, at, bounds);
  return ints->locate(n, index, flags, bounds, at);
}

#endif
