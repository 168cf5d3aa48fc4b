/* flow.hpp - where the lanes of a warp that diverge at a branch meet again.
 *
 * Hardware lets them meet at the branch's immediate post-dominator: the first instruction that
 * is on every path from the branch to the kernel's end.
 */
#ifndef RAVEL_PTX_FLOW_HPP
#define RAVEL_PTX_FLOW_HPP

#include <vector>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {

/* Returns the immediate post-dominator of each instruction. code.size() stands for the kernel's
 * end; paths that never end meet there, too. */
std::vector<uint32_t> post_dominators(const kernel &);
/* Returns the first instruction that post-dominates both, or is one of them. */
uint32_t meeting_point(const std::vector<uint32_t> &post_dominators, uint32_t a, uint32_t b);

} // namespace ptx
} // namespace ravel
#endif
