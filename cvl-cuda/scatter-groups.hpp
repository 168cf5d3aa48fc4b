/* scatter-groups.hpp - what COMBINE_SCATTER combines, as segments: a group for each default,
 * which comes first, and behind it, in their order, the elements that go to it.
 */
#ifndef RAVEL_CUDA_SCATTER_GROUPS_HPP
#define RAVEL_CUDA_SCATTER_GROUPS_HPP

#include "cvl-cuda/context.hpp"

namespace ravel {

/* n defaults and m elements sorted by the group, as scratch memory of an operation. */
struct scatter_groups {
  segments d;                /* without a directory */
  ptr<const uint64_t> order; /* of the sorted ones: a default below n, an element from n on */
};

/* `slots`: INTs from 0 to n - 1, n > 0: the group of each element. */
scatter_groups find_scatter_groups(work &, const cvl_value &slots, int64_t n, int64_t m);
/* A column, sorted, into memory of n + m elements of type `elem`. */
void merge_column(work &, const scatter_groups &, cvl_elem, int64_t n,
                  const cvl_value &defaults, const cvl_value &elements, void *to);

} // namespace ravel
#endif
