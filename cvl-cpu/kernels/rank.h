/* rank.h - ranks of short segments, the keys that longer ones are sorted by, and sorting.
 *
 * A key is an unsigned integer, and keys are ordered as ranks are: ascending or descending,
 * with NaN last. 0.0 and -0.0 have equal keys.
 */
#ifndef RAVEL_CPU_KERNELS_RANK_H
#define RAVEL_CPU_KERNELS_RANK_H

#include "cvl-cpu/operations/radix.h"
#include "cvl/cvl.h"

enum {
  RANK_FEW = 8,   /* segments of so few elements are ranked side by side */
  RANK_SOME = 128 /* segments of so few elements are ranked by comparing all pairs */
};

struct rank_row {
  /* Returns the range of the keys of x[0 .. n), n > 0. */
  struct radix_keys (*keys)(const void *x, uint64_t n);
  /* Writes items first .. first + n - 1 to `items` (operations/radix.h), made from those
   * elements of x. */
  void (*items)(const void *x, uint64_t first, uint64_t n, const struct radix_format *,
                void *items);
  /* Ranks the segments x[offsets[k] .. offsets[k+1]), k < count, up to the first that has more
   * than RANK_SOME elements. Returns that one's number, or count. */
  uint64_t (*segments)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* Does the same, but writes the elements in the order of their ranks. */
  uint64_t (*ordered)(const void *x, const uint64_t *offsets, uint64_t count, void *out);
  /* Adds to counts[digit] how many of x[first .. first + n) have this digit in their key. */
  void (*count)(const void *x, uint64_t first, uint64_t n, const struct radix_digit *,
                uint64_t *counts);
  /* Moves these elements to next[digit] of `to`, which is incremented. */
  void (*move)(const void *x, uint64_t first, uint64_t n, const struct radix_digit *,
               uint64_t *next, void *to);
  /* Sorts at[first .. first + n) by the given bits of the keys. The result is in `at` if
   * `stay`, else at the same positions of `other`. Both are overwritten. */
  void (*bucket)(void *at, void *other, uint64_t first, uint64_t n, const struct radix_bits *,
                 bool stay);
};

struct rank_kernels {
  /* [type of x][type of the ranks][1 for RANK_DOWN]; functions are NULL where there is none. */
  struct rank_row row[CVL_ELEM_COUNT][CVL_ELEM_COUNT][2];
};

#endif
