/* slices.h - values sliced and concatenated, for batch calls (docs/internals/memory.md).
 *
 * A sub-context (`open_sub` of the back end) is for one thread more, that executes other
 * instances. It has the options of its parent, one thread, an error slot and statistics of its
 * own; memory counts in the limit of the parent, and the peaks of those open together, added,
 * in its peak once none is open. Until all of them are closed nobody calls the parent but
 * open_sub, which any thread may do; any thread closes them. While no thread is in any of them
 * one may call the parent after all: `allocate`, and `fill` and `concatenate`, which then
 * borrow values of sub-contexts. A sub-context reads values of its parent in `slice` only,
 * whose results are its own (a descriptor or vector of form CVL_SCALAR or CVL_ONE_SEGMENT is
 * nobody's), fills targets of its parent, several at a time where their ranges are apart, and
 * runs kernels of its parent. What it still holds when it is closed is freed. open_sub gives
 * NULL, without a fault, where there is no memory, and of a sub-context.
 */
#ifndef RAVEL_CVL_SLICES_H
#define RAVEL_CVL_SLICES_H

#include "cvl/cvl.h"

struct cvl_slices {
  /* Elements first .. first + n of a vector, or segments of a descriptor, which must exist:
   * their sizes have been resolved. Elements are not copied: the slice keeps the memory of
   * all of them, and is never overwritten. Offsets of segments may be computed anew. The value
   * passes as operands do, but a parent's is borrowed. */
  bool (*slice)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t first,
                uint64_t n, struct cvl_value *out);
  /* A vector of n elements, a CVL_VECTOR for any n, for `fill` to write: each element once,
   * before anybody reads any. */
  bool (*allocate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   struct cvl_value *out);
  /* Copies the elements of v, whose length has been resolved, to first .. of `target`, which is
   * of `allocate` and stays the caller's; v passes as operands do. */
  bool (*fill)(struct cvl_context *, uint64_t site, const struct cvl_value *target,
               uint64_t first, const struct cvl_value *v);
  /* The descriptor with the segments of n descriptors, in order; they stay the caller's.
   * Faults: TOTAL. */
  bool (*concatenate)(struct cvl_context *, uint64_t site, uint64_t n,
                      const struct cvl_value *descriptors, struct cvl_value *out);
};

#endif
