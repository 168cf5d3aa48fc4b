/* rank.h - ranks of short segments, the keys that longer ones are sorted by, and
 * sorting.
 *
 * A key is an unsigned integer whose order is the order of ranks: ascending or descending, NaN
 * last, equal for 0.0 and -0.0.
 */
#ifndef RAVEL_CPU_KERNELS_RANK_H
#define RAVEL_CPU_KERNELS_RANK_H

#include "cvl-cpu/operations/radix.h"
#include "cvl/cvl.h"

enum {
  RANK_FEW = 8,   /* segments of so few elements are ranked side by side */
  RANK_SOME = 128 /* and of so few by comparing all with all */
};

struct rank_row {
  /* The range of keys of x[0 .. n), n > 0. */
  struct radix_keys (*keys)(const void *x, uint64_t n);
  /* Items first .. first + n - 1, made from those elements of x, to `items` (see
   * operations/radix.h). */
  void (*items)(const void *x, uint64_t first, uint64_t n, const struct radix_format *,
                void *items);
  /* Ranks of the segments x[offsets[k] .. offsets[k+1]), k < count, up to the first that has
   * more than RANK_SOME elements; returns its number, or count. */
  uint64_t (*segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* The elements of those segments in the order of their ranks. */
  uint64_t (*ordered)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* Adds to counts[digit] how many of x[first .. first + n) have it in their key. */
  void (*count)(const void *x, uint64_t first, uint64_t n, const struct radix_digit *,
                uint64_t *counts);
  /* Moves them to next[digit] of `to`, counting that on. */
  void (*move)(const void *x, uint64_t first, uint64_t n, const struct radix_digit *,
               uint64_t *next, void *to);
  /* Sorts at[first .. first + n) by these bits of the keys; the result is there if they are to
   * stay, else at the same positions of `other`. Both are overwritten. */
  void (*bucket)(void *at, void *other, uint64_t first, uint64_t n, const struct radix_bits *,
                 bool stay);
};

struct rank_kernels {
  /* [type of x][type of the ranks][1 for RANK_DOWN]; NULL functions where there is none. */
  struct rank_row row[CVL_ELEM_COUNT][CVL_ELEM_COUNT][2];
};

#endif
