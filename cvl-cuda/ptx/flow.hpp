/* flow.hpp - where the lanes of a warp that diverge at a branch meet again.
 *
 * Hardware lets them meet at the branch's immediate post-dominator: the first instruction that
 * every way from the branch to the kernel's end leads through.
 */
#ifndef RAVEL_PTX_FLOW_HPP
#define RAVEL_PTX_FLOW_HPP

#include <vector>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {

/* The immediate post-dominator of each instruction; code.size() stands for the kernel's end,
 * where also meets what never comes to an end. */
std::vector<uint32_t> post_dominators(const kernel &);
/* The first instruction that post-dominates both, or is one of them. */
uint32_t meeting_point(const std::vector<uint32_t> &post_dominators, uint32_t a, uint32_t b);

} // namespace ptx
} // namespace ravel
#endif
