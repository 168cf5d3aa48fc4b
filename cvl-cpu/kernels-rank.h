/* kernels-rank.h - ranks of short segments, and the keys that longer ones are sorted by.
 *
 * A key is an unsigned integer whose order is the order of ranks: ascending or descending, NaN
 * last, equal for 0.0 and -0.0.
 */
#ifndef RAVEL_CPU_KERNELS_RANK_H
#define RAVEL_CPU_KERNELS_RANK_H

#include "cvl-cpu/radix.h"
#include "cvl/cvl.h"

enum {
  RANK_FEW = 8,   /* segments of so few elements are ranked side by side */
  RANK_SOME = 128 /* and of so few by comparing all with all */
};

struct rank_row {
  /* The range of keys of x[0 .. n), n > 0. */
  struct radix_keys (*keys)(const void *x, uint64_t n);
  /* Items first .. first + n - 1, made from those elements of x, to `items` (see radix.h). */
  void (*items)(const void *x, uint64_t first, uint64_t n, const struct radix_format *,
                void *items);
  /* Ranks of the segments x[offsets[k] .. offsets[k+1]), k < count, up to the first that has
   * more than RANK_SOME elements; returns its number, or count. */
  uint64_t (*segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
};

struct rank_kernels {
  /* [type of x][type of the ranks][1 for RANK_DOWN]; NULL functions where there is none. */
  struct rank_row row[CVL_ELEM_COUNT][CVL_ELEM_COUNT][2];
};

#endif
