/* slices.h - values sliced and concatenated, for batch calls (docs/internals/memory.md).
 *
 * A sub-context (`open_sub` of the back end) is for one more thread, which executes other
 * instances. It has the options of its parent, one thread, and an error slot and statistics of
 * its own. Its memory counts in the limit of the parent. The peaks of sub-contexts that were
 * open together are added, and count in the parent's peak once none is open. Any thread may
 * open and close them. open_sub returns NULL, without a fault, if there is no memory, or if the
 * context is itself a sub-context.
 *
 * While sub-contexts are open, open_sub is the only function of the parent that may be called.
 * There is one exception: while no thread is in any of them, one thread may call `allocate`,
 * and `fill` and `concatenate`, which then borrow values of sub-contexts.
 *
 * A sub-context may use its parent's values in these ways:
 *
 *   - `slice` reads them. Its results belong to the sub-context. (A descriptor or vector of
 * form CVL_SCALAR or CVL_ONE_SEGMENT belongs to nobody.)
 *   - `fill` writes to targets of the parent. Several may do so at a time if their ranges are
 *     disjoint.
 *   - It may run kernels of the parent.
 *
 * What a sub-context still holds when it is closed is freed.
 */
#ifndef RAVEL_CVL_SLICES_H
#define RAVEL_CVL_SLICES_H

#include "cvl/cvl.h"

struct cvl_slices {
  /* Returns elements first .. first + n of a vector, or such segments of a descriptor. They
   * must exist, and sizes must have been resolved. Elements are not copied: the slice keeps the
   * memory of all of them, and is never overwritten. Offsets of segments may be computed anew.
   * The value is passed as operands are, but a parent's is borrowed. */
  bool (*slice)(struct cvl_context *, uint64_t site, const struct cvl_value *, uint64_t first,
                uint64_t n, struct cvl_value *out);
  /* Makes a vector of n elements, a CVL_VECTOR for any n, which `fill` writes. Each element is
   * written once, before anybody reads any. */
  bool (*allocate)(struct cvl_context *, uint64_t site, enum cvl_elem, uint64_t n,
                   struct cvl_value *out);
  /* Copies the elements of v, whose length has been resolved, to elements first .. of `target`.
   * `target` comes from `allocate`, and stays the caller's. v is passed as operands are. */
  bool (*fill)(struct cvl_context *, uint64_t site, const struct cvl_value *target,
               uint64_t first, const struct cvl_value *v);
  /* Makes the descriptor with the segments of n descriptors, in order. They stay the caller's.
   * Faults: TOTAL. */
  bool (*concatenate)(struct cvl_context *, uint64_t site, uint64_t n,
                      const struct cvl_value *descriptors, struct cvl_value *out);
};

#endif
