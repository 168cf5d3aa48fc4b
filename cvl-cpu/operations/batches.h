/* batches.h - offsets of equal segments for kernels that need offsets. */
#ifndef RAVEL_CPU_BATCHES_H
#define RAVEL_CPU_BATCHES_H

#include "cvl-cpu/cpu.h"

enum { BATCH = 256 }; /* equal segments whose offsets are written out at a time */

struct batch {
  uint64_t written[BATCH + 1];
};

/* Returns the offsets of `*many` segments from `first` on. These are the descriptor's own. For
 * equal segments they are written into the batch, and *many becomes as many as fit it. */
static inline const uint64_t *batch_offsets(struct batch *b, const struct segments *s,
                                            uint64_t first, uint64_t *many) {
  if (s->offsets) return s->offsets + first;
  if (*many > BATCH) *many = BATCH;
  for (uint64_t i = 0; i <= *many; i++) b->written[i] = (first + i) * s->equal;
  return b->written;
}

#endif
