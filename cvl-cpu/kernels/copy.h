/* copy.h - copies the runs of a walk (fused/copy-walk.h). */
#ifndef RAVEL_CPU_KERNELS_COPY_H
#define RAVEL_CPU_KERNELS_COPY_H

#include "cvl-cpu/fused/copy-walk.h"

struct copy_kernels {
  /* Writes the elements from w->position to before `end` to `out`. May write behind them, but
   * not from `limit` on. Ends early if the walk turns out to be unfit. */
  void (*copy)(struct copy_walk *w, uint64_t end, char *out, const char *limit);
};

#endif
