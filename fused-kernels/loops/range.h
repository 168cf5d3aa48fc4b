/* range.h - a kernel as one function of C over a range of its positions, or of its segments
 * (range-call.h). It returns false where it cannot go on: a check fails, an index is out of
 * range. It has then written something, and whoever called it executes the kernel in another
 * way, which reports.
 */
#ifndef RAVEL_FUSED_RANGE_H
#define RAVEL_FUSED_RANGE_H

#include "cvl/superop.h"
#include "fused-kernels/kernel.h"
#include "fused-kernels/loops/range-call.h"

#include <stdio.h>

typedef _Bool kernel_range_function(const struct kernel_range *);

/* Whether a superoperator may have such a function: it copies no segments. */
bool kernel_range_fits(const struct superop *);

/* Marks, of every parameter, whether INDEXes take their strides from it. Where these are all 1
 * what gathers by them is contiguous. */
void kernel_range_find_strides(const struct superop *, bool *strides);

/* The descriptor of whose segments a range has some, if all have several; SUPEROP_NONE: there
 * is none, or no function. */
uint32_t kernel_range_main(struct arena *, const struct superop *);

/* How the function is called. */
struct kernel_range_plan {
  uint32_t main; /* the descriptor of whose segments a range has some; SUPEROP_NONE: it has some
                    positions */
  bool *reads;   /* of every parameter in every way: the function reads it */
  uint32_t *far; /* of those read in segments, or picked: the descriptor of these */
  bool *cursors; /* of every parameter: it reads `segments` */
  /* Of every output of a scatter: the descriptor of the segments that are written to, as it is
   * read. */
  uint32_t *written;
  /* Of every column of every combination: the function writes its elements. Not those of a
   * parameter, and what is scattered only if it is not the same everywhere. The index of a
   * combination that scatters is written unless it is a parameter. */
  bool *columns;
  bool ordered; /* several positions may write an element: the last one counts */
  /* What the function does: a kernel that has each parameter in the way in which it is read.
   * Near descriptors are those of positions. Of every value its level; of every parameter in
   * every way, a descriptor, whether it is one segment. */
  const struct kernel *kernel;
  const uint8_t *levels; /* enum kernel_level */
  const bool *one;
};
/* Plans them, in the arena. one: of every descriptor, whether it is one segment in all runs; of
 * strides, whether they are all 1. False if there is no function. */
bool kernel_range_plan_make(struct arena *, const struct superop *, const bool *one,
                            struct kernel_range_plan *);
/* Writes the function, whose name is the prefix and `range`. */
void kernel_range_print(struct arena *, const struct superop *, const bool *one,
                        const char *prefix, FILE *);

#endif
