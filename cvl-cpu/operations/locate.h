/* locate.h - turns indices into positions: the first step of gathers and scatters, alone or
 * within a superoperator. An index in segment k of `near` counts from the start of segment k of
 * `far`.
 */
#ifndef RAVEL_CPU_LOCATE_H
#define RAVEL_CPU_LOCATE_H

#include "cvl-cpu/kernels/move.h"
#include "cvl/tuning.h"

enum { LOCATE_MOST = COMPILED_CPU_STRIP }; /* the most indices at a time: two buffers of 4 KB */

/* Advances w, a walk over s, to a position, and returns the segment there. */
static inline uint64_t walk_to(struct walk *w, const struct segments *s, uint64_t position) {
  enum { TRIES = 4 };
  w->position = position;
  for (unsigned i = 0; w->segment < s->count && i < TRIES; i++) {
    if (segment_start(s, w->segment) > position) return w->segment - 1;
    w->segment++;
  }
  w->segment = segment_at(s, position) + 1;
  return w->segment - 1;
}

/* Whether the positions from w->position to before `last` belong to one segment. Its number is
 * then w->segment - 1. */
static inline bool walk_in_one(struct walk *w, uint64_t last) {
  if (walk_start(w, w->segment) == w->position && walk_start(w, w->segment + 1) >= last) {
    w->segment++;
  }
  return w->segment && walk_start(w, w->segment) >= last;
}

/* Locates the indices at the positions from w->position to before `last`, at most LOCATE_MOST.
 * at[i] becomes the position in far's vector, or NOWHERE if flags is not NULL and the flag is
 * F. `at` has room for SPREAD_SLACK bytes more. Advances w. Returns the number of positions, or
 * the first whose index is out of range. walk_in_one must be true. */
static inline uint64_t locate_in_one(const struct move_int *ints, const struct segments *far,
                                     struct walk *w, uint64_t last, const void *index,
                                     const uint8_t *flags, uint64_t *at) {
  const uint64_t k = w->segment - 1, base = segment_start(far, k), n = last - w->position;
  w->position = last;
  return ints->locate_in_one(n, index, flags, base, segment_start(far, k + 1) - base, at);
}

/* Does the same without walk_in_one. */
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
