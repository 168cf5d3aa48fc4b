/* clocks.hpp - what happened before what in a launch (PTX ISA, "Memory Consistency Model",
 * causality order).
 *
 * What orders accesses of different threads:
 *
 *   a barrier of the block     all that its threads did before, before all they do behind
 *   bar.warp.sync              the same for the lanes that its mask names
 *   a release and an acquire   a fence and then a store or an atomic operation in one thread;
 *                              a load or an atomic operation that sees it (or a later one that
 *                              is atomic) and then a fence in the other. The accesses may
 *                              themselves release or acquire (weak.hpp: who sees what)
 *   two fence.sc               the later one behind the earlier one, if `fences_meet`
 *
 * and the order is transitive. Launches are ordered by the stream. A shuffle orders no memory.
 * A fence or an access of the block's scope orders nothing between threads of several blocks.
 *
 * Time in a thread is counted by its releases (vector clocks: Lamport, "Time, Clocks, and the
 * Ordering of Events", 1978; Flanagan and Freund, "FastTrack", 2009), but knowledge is kept as
 * the hierarchy of threads allows: per block up to which barrier all of it is known, and beyond
 * that per thread.
 */
#ifndef RAVEL_PTX_CLOCKS_HPP
#define RAVEL_PTX_CLOCKS_HPP

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
    std::vector<std::pair<uint32_t, uint32_t>> times; /* of threads behind them, up to when */
  };
  std::unordered_map<uint32_t, of_block> blocks;

  bool has(const moment &) const;
  bool has_all(const knowledge &) const;
  void add(const moment &);
  void add(const knowledge &);
};
typedef std::shared_ptr<const knowledge> shared_knowledge;

/* Both; null is to know nothing. */
shared_knowledge joined(const shared_knowledge &, const shared_knowledge &);

/* What passes between threads of one block, what between all, and what to the host. */
struct by_scope {
  shared_knowledge in_block, everywhere, to_host;
  void add(const by_scope &);
};

class clocks final : public observer {
public:
  /* Of a thread: its time, what it knows, what its last fences release by a store, and what it
   * has seen that the next fence acquires. */
  struct thread_state {
    uint32_t time = 1;
    shared_knowledge knows;
    by_scope releases, seen;
  };

  /* `fences_meet`: fence.sc are ordered as they come. A check for races is better without:
   * another schedule may order them otherwise. */
  explicit clocks(bool fences_meet) : fences_meet_(fences_meet) {}
  void begin(const launch_of &) override;
  void block_begins(uint32_t block) override;
  void fenced(uint32_t block, uint32_t thread, const instruction &) override;
  void block_met(uint32_t block) override;
  void lanes_met(uint32_t block, uint32_t warp, lanes) override;

  thread_state &state(uint32_t block, uint32_t thread);
  moment now(uint32_t block, uint32_t thread);
  /* Whether what was done at a moment happened before what this thread does now. */
  bool ordered(const moment &before, const moment &now, const thread_state &) const;
  /* What the thread did until now, and knows, for those whom a scope reaches; its time goes on.
   */
  by_scope release(const moment &now, thread_state &, scope);
  static void acquire(thread_state &, const by_scope &);

private:
  struct block_of {
    uint32_t barriers = 0;
    shared_knowledge fences; /* fence.sc of the block's scope */
    std::vector<thread_state> threads;
  };

  bool fences_meet_;
  uint32_t threads_ = 0;
  std::unordered_map<uint32_t, block_of> blocks_;
  shared_knowledge fences_; /* fence.sc of wider scopes */
};

} // namespace ptx
} // namespace ravel
#endif
