/* reduce.h - reductions of raw arrays, with one row for each element type and operation. */
#ifndef RAVEL_CPU_KERNELS_REDUCE_H
#define RAVEL_CPU_KERNELS_REDUCE_H

#include "cvl/cvl.h"
#include "cvl/trees.h"

/* Several threads reduce a segment that is longer than this, cut into blocks. */
enum { REDUCE_WHOLE = 32 * CVL_REDUCE_BLOCK };
/* Segments need no offsets if all have one length, which is at most this. */
enum { REDUCE_EQUAL = 8 };

/* Sets totals[k] to block k of the reproducible tree over x[0 .. n); totals may be x. For an
 * exact operation totals[0] is the total of all blocks, and the others are pads. */
typedef void reduce_blocks(const void *x, uint64_t n, void *totals);

struct reduce_row {
  reduce_blocks *blocks;
  /* Sets out[k] to the reduction of x[offsets[k] .. offsets[k+1]) for k < count. Nothing is
   * written for a segment longer than REDUCE_WHOLE. */
  void (*segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* Sets out[k] to the reduction of x[k * n .. k * n + n) for k < count; n <= REDUCE_EQUAL. */
  void (*equal)(const void *x, uint64_t n, uint64_t count, void *out);
  /* Combines x[i] into lane[i], for i < n. */
  void (*lanes)(void *lane, const void *x, uint64_t n);
};

struct reduce_kernels {
  /* Functions are NULL where operations.def has no combining row. */
  struct reduce_row row[CVL_ELEM_COUNT][OP_COUNT];
};

#endif
