/* races.hpp - two accesses of one launch to the same bytes, one of them a write, that nothing
 * orders: their result is left to chance (PTX ISA, "Memory Consistency Model", data races).
 *
 * What orders accesses of different threads:
 *
 *   a barrier of the block     all that its threads did before, before all they do behind
 *   bar.warp.sync              the same for the lanes that its mask names
 *   a release and an acquire   a fence and then a store or an atomic operation in one thread;
 *                              a load or an atomic operation that sees it (or a later one that
 * is atomic) and then a fence in the other
 *
 * and the order is transitive. Launches are ordered by the stream. A shuffle orders no memory.
 * Accesses that are not weak (volatile, relaxed, atomic) do not race with each other.
 *
 * Time in a thread is counted by its releases (vector clocks: Lamport, "Time, Clocks, and the
 * Ordering of Events", 1978; Flanagan and Freund, "FastTrack", 2009), but knowledge is kept as
 * the hierarchy of threads allows: per block up to which barrier all of it is known, and beyond
 * that per thread. Of the loads of a byte the last few are remembered: a race with a
 * forgotten one is missed. A fence counts for every scope.
 */
#ifndef RAVEL_PTX_RACES_HPP
#define RAVEL_PTX_RACES_HPP

#include <memory>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/machine.hpp"

namespace ravel {
namespace ptx {

/* When an access was made: by which thread, between which barriers, at its thread's time. */
struct moment {
  uint32_t block, thread, barriers, time;
};

/* What happened before: of each block all up to a barrier, and of some threads more. */
struct knowledge {
  struct of_block {
    uint32_t barriers = 0;                            /* all before that many barriers */
    std::vector<std::pair<uint32_t, uint32_t>> times; /* of a thread behind them, up to when */
  };
  std::unordered_map<uint32_t, of_block> blocks;

  bool has(const moment &) const;
  void add(const moment &);
  void add(const knowledge &);
};

class races final : public observer {
public:
  races();
  ~races() override;
  void begin(const launch_of &) override;
  void block_begins(uint32_t block) override;
  void access(uint32_t block, uint32_t thread, const instruction &, ptx::access,
              uint64_t address, unsigned bytes) override;
  void fenced(uint32_t block, uint32_t thread, const instruction &) override;
  void block_met(uint32_t block) override;
  void lanes_met(uint32_t block, uint32_t warp, lanes) override;

  moment now(uint32_t block, uint32_t thread);
  /* Whether who sees what this thread stores next, and acquires, sees what was done then. */
  bool has_released(uint32_t block, uint32_t thread, const moment &);

private:
  typedef std::shared_ptr<const knowledge> shared_knowledge;

  /* Of a thread: its time, what it knows, what its last fence releases, and what it has seen
   * that the next fence acquires. */
  struct thread_state {
    uint32_t time = 1;
    shared_knowledge knows, releases, seen;
  };
  struct block_of {
    uint32_t barriers = 0;
    std::vector<thread_state> threads;
  };
  struct load {
    moment at;
    bool weak;
  };
  struct cell {
    uint64_t launch = 0; /* whose accesses these are */
    bool written = false, weak_write = false;
    moment write{};
    std::vector<load> loads;
  };
  struct page;

  const launch_of *launch_ = nullptr;
  uint64_t number_ = 0;
  std::unordered_map<uint32_t, block_of> blocks_;
  std::unordered_map<uint64_t, std::unique_ptr<page>> pages_;
  std::unordered_map<uint64_t, shared_knowledge> released_; /* by address */
  uint64_t last_page_ = UINT64_MAX;
  page *last_ = nullptr;

  thread_state &state(uint32_t block, uint32_t thread);
  bool ordered(const moment &before, const moment &now, const thread_state &) const;
  cell &at(uint64_t address);
  void look(cell &, const moment &, thread_state &, const instruction &, ptx::access,
            uint64_t address);
  void synchronise(const moment &, thread_state &, const instruction &, ptx::access,
                   uint64_t address);
  void release(const moment &, thread_state &);
  void acquire(thread_state &);
  [[noreturn]] void found(const char *what, const moment &, const moment &other,
                          const instruction &, uint64_t address) const;
};

} // namespace ptx
} // namespace ravel
#endif
