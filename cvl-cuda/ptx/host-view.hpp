/* host-view.hpp - what the host may see of a kernel that runs while it looks.
 *
 * A kernel hands results to the host through pinned memory. It stores them, and then a word
 * that the host waits for, by an access that is not weak (volatile, or stronger). The host may
 * act as soon as it sees the word. So by then the thread that stores the word must have
 * released everything that the launch has written there: a fence of system scope, after what
 * the thread knows of (clocks.hpp) and before the word. Nothing may be written there
 * afterwards. What earlier launches wrote comes before, in the order of the stream.
 */
#ifndef RAVEL_PTX_HOST_VIEW_HPP
#define RAVEL_PTX_HOST_VIEW_HPP

#include <map>

#include "cvl-cuda/ptx/clocks.hpp"

namespace ravel {
namespace ptx {

class host_view final : public observer {
public:
  host_view(const memory &m, clocks &c) : memory_(m), clocks_(c) {}
  void begin(const launch_of &) override;
  void access(uint32_t block, uint32_t thread, const instruction &, ptx::access,
              uint64_t address, unsigned bytes) override;

private:
  const memory &memory_;
  clocks &clocks_;
  const launch_of *launch_ = nullptr;
  area last_{0, 0, false}; /* the area of the last query */
  std::map<std::pair<uint32_t, uint32_t>, moment>
      last_writes_;        /* the last write of each thread to the host */
  bool announced_ = false; /* a word was stored */

  bool is_of_host(uint64_t address);
  [[noreturn]] void found(const std::string &what, const instruction &) const;
};

} // namespace ptx
} // namespace ravel
#endif
