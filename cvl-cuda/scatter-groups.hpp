/* scatter-groups.hpp - the operands of COMBINE_SCATTER as segments. Each default has a group:
 * the default comes first, followed by the elements that go to it, in their order.
 */
#ifndef RAVEL_CUDA_SCATTER_GROUPS_HPP
#define RAVEL_CUDA_SCATTER_GROUPS_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* n defaults and m elements sorted by group, in scratch memory of an operation. */
struct scatter_groups {
  segments d;                /* without a directory */
  ptr<const uint64_t> order; /* of the sorted ones: a default below n, an element from n on */
};

/* Finds the groups. `slots` has the group of each element as an INT from 0 to n - 1; n > 0. */
scatter_groups find_scatter_groups(work &, const cvl_value &slots, int64_t n, int64_t m);
/* Writes a column in sorted order to memory of n + m elements of type `elem`. */
void merge_column(work &, const scatter_groups &, cvl_elem, int64_t n,
                  const cvl_value &defaults, const cvl_value &elements, void *to);

} // namespace ravel
#endif
