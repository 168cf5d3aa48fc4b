/* host-view.cpp - see host-view.hpp. */
#include "cvl-cuda/ptx/host-view.hpp"

namespace ravel {
namespace ptx {

void host_view::begin(const launch_of &l) {
  launch_ = &l;
  last_ = {0, 0, false};
  last_writes_.clear();
  announced_ = false;
}

/* Threads write to few allocations, mostly to one. */
bool host_view::is_of_host(uint64_t address) {
  if (address >= last_.begin && address < last_.end) return last_.of_host;
  const area *a = memory_.find(address);
  if (a) last_ = *a;
  return a && a->of_host;
}

void host_view::found(const std::string &what, const instruction &i) const {
  const kernel &k = *launch_->of;
  throw error(readable(k.label) + ": " + what + ", `" + k.text[i.statement] + "' (line " +
              std::to_string(k.lines[i.statement]) + " of the PTX)");
}

static std::string host_view_named(uint32_t block, uint32_t thread) {
  return "block " + std::to_string(block) + ", thread " + std::to_string(thread);
}

void host_view::access(uint32_t block, uint32_t thread, const instruction &i, ptx::access a,
                       uint64_t address, unsigned) {
  if (a == READ || i.where == PARAM || i.where == LOCAL || i.where == SHARED) return;
  if (address >= SHARED_WINDOW || !is_of_host(address)) return;
  if (i.order == WEAK) {
    if (announced_) {
      found(host_view_named(block, thread) +
                " writes to the host's memory behind the word that the host" + " waits for",
            i);
    }
    last_writes_[{block, thread}] = clocks_.now(block, thread);
    return;
  }
  const shared_knowledge released = clocks_.state(block, thread).releases.to_host;
  for (const auto &w : last_writes_) {
    if (released && released->has(w.second)) continue;
    found("the host may see what " + host_view_named(block, thread) + " stores before what " +
              host_view_named(w.first.first, w.first.second) + " has written to its memory",
          i);
  }
  announced_ = true;
}

} // namespace ptx
} // namespace ravel
