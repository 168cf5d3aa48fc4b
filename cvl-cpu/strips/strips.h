/* strips.h - kernels evaluated: what a compiled function does for a range of a superoperator
 * (fused-kernels/loops/range.h), by the kernels of this back end, strip by strip. Private to
 * the rooms of this folder.
 *
 * A *strip* is up to 512 positions. Each statement of the kernel is executed for all positions
 * of the strip before the next one is, from buffer to buffer in the first-level cache. Where
 * something is at fault the range fails, as it does if it is compiled.
 */
#ifndef RAVEL_CPU_STRIPS_H
#define RAVEL_CPU_STRIPS_H

#include "cvl-cpu/cpu.h"
#include "fused-kernels/loops/range.h"

struct strips;

/* Plans a superoperator, given what is one segment in all runs, or a stride of 1. NULL: it has
 * no ranges, or there is no memory. */
struct strips *strips_new(const struct cvl_context *, const struct superop *, const bool *one);
void strips_free(struct strips *);
/* Whether the plan suits a run in which this is one segment, or a stride of 1. */
bool strips_suit(const struct strips *, const bool *one);
/* How ranges are called. */
const struct kernel_range_plan *strips_plan(const struct strips *);

/* The memory of a thread in a run of n positions; sets it up. */
size_t strips_bytes(const struct strips *, uint64_t n);
struct strip_worker *strips_set_up(const struct strips *, uint64_t n, char *memory);
/* Executes a range. Returns false where it fails. Of a scan it writes the elements, whatever
 * their type is. */
bool strips_range(struct strip_worker *, const struct kernel_range *);

#endif
