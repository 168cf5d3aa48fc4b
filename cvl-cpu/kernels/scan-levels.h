/* scan-levels.h - the levels above the windows, for one element type. Included by
 * scan-elem.h and scan-flags.h.
 */

#include "cvl/trees.h"

ALWAYS_INLINE void NAMED(start)(enum cvl_op op, struct scan_state *s) {
  const ELEMENT_TYPE pad = NAMED(pad)(op);
  memset(s->seen, 0, sizeof s->seen);
  for (int l = 0; l < SCAN_LEVELS; l++) memcpy(&s->before[l], &pad, sizeof pad);
  memcpy(&s->current, &pad, sizeof pad);
}

/* Takes a total into a level. A full window passes its own total on to the next level. */
ALWAYS_INLINE ELEMENT_TYPE NAMED(take)(enum cvl_op op, struct scan_state *s, ELEMENT_TYPE t) {
  int full = 0; /* the number of levels whose window this total completes */
  for (int l = 0;; l++) {
    const uint64_t i = s->seen[l];
    for (int step = 0; step < SCAN_STEPS; step++) {
      ELEMENT_TYPE *partial = (ELEMENT_TYPE *)(void *)s->partial[l][step];
      partial[i] = t;
      if (i >> step) t = NAMED(combine)(op, partial[i - (UINT64_C(1) << step)], t);
    }
    s->seen[l] = (i + 1) % CVL_SCAN_WINDOW;
    if (s->seen[l] != 0) break;
    full++;
  }
  ELEMENT_TYPE base;
  memcpy(&base, &s->before[full], sizeof base);
  t = NAMED(combine)(op, base, t);
  for (int l = 0; l < full; l++) memcpy(&s->before[l], &t, sizeof t);
  return t;
}

ALWAYS_INLINE void NAMED(advance)(enum cvl_op op, struct scan_state *s, uint64_t windows,
                                  void *totals) {
  ELEMENT_TYPE *t = totals, current;
  memcpy(&current, &s->current, sizeof current);
  for (uint64_t k = 0; k < windows; k++) {
    const ELEMENT_TYPE total = t[k];
    t[k] = current;
    current = SCAN_FREELY ? NAMED(combine)(op, current, total) : NAMED(take)(op, s, total);
  }
  memcpy(&s->current, &current, sizeof current);
}
