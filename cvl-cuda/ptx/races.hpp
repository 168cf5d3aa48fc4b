/* races.hpp - data races: two accesses of one launch to the same bytes, at least one of them a
 * write, that nothing orders. Their result is left to chance (PTX ISA, "Memory Consistency
 * Model", data races).
 *
 * clocks.hpp says what orders accesses of different threads. Accesses that are not weak
 * (volatile, relaxed, atomic) do not race with each other, unless one has block scope and the
 * other belongs to another block.
 *
 * The last few loads of a byte are remembered: a race with a forgotten one is missed.
 */
#ifndef RAVEL_PTX_RACES_HPP
#define RAVEL_PTX_RACES_HPP

#include <memory>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/clocks.hpp"

namespace ravel {
namespace ptx {

class races final : public observer {
public:
  explicit races(clocks &);
  ~races() override;
  void begin(const launch_of &) override;
  void access(uint32_t block, uint32_t thread, const instruction &, ptx::access,
              uint64_t address, unsigned bytes) override;

private:
  /* The threads with whose strong accesses an access does not race. */
  enum strength : uint8_t { NOBODY, OF_BLOCK, OF_ALL };
  struct load {
    moment at;
    strength strong;
  };
  struct cell {
    uint64_t launch = 0; /* the launch whose accesses these are */
    bool written = false;
    strength strong = NOBODY; /* strength of the write */
    moment write{};
    std::vector<load> loads;
  };
  struct word;
  struct page;

  const launch_of *launch_ = nullptr;
  uint64_t number_ = 0;
  clocks &clocks_;
  std::unordered_map<uint64_t, std::unique_ptr<page>> pages_;
  uint64_t last_page_ = UINT64_MAX;
  page *last_ = nullptr;

  static strength of(const instruction &);
  static bool morally_strong(strength, const moment &, strength, const moment &);
  page &page_of(uint64_t address);
  static void split(page &, uint64_t first);
  unsigned width_at(page &, uint64_t at, unsigned bytes);
  cell &at(page &, uint64_t at);
  void look(cell &, const moment &, const clocks::thread_state &, const instruction &,
            ptx::access, uint64_t address);
  [[noreturn]] void found(const char *what, const moment &, const moment &other,
                          const instruction &, uint64_t address) const;
};

} // namespace ptx
} // namespace ravel
#endif
