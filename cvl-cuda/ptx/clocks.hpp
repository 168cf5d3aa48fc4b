/* clocks.hpp - which accesses of a launch happened before which others (PTX ISA, "Memory
 * Consistency Model", causality order).
 *
 * These order accesses of different threads:
 *
 *   a barrier of the block     all that its threads did before, before all they do behind
 *   bar.warp.sync              does so for the lanes that its mask names
 *   a release and an acquire   a fence and then a store or an atomic operation in one thread;
 *                              a load or an atomic operation that sees it (or a later one that
 *                              is atomic) and then a fence in the other. The accesses may
 *                              themselves release or acquire (weak.hpp: who sees what)
 *   two fence.sc               the later one behind the earlier one, if `fences_meet`
 *
 * The order is transitive. The stream orders launches. A shuffle orders no memory. A fence or
 * an access of block scope orders nothing between threads of several blocks.
 *
 * Time in a thread is counted by its releases (vector clocks: Lamport, "Time, Clocks, and the
 * Ordering of Events", 1978; Flanagan and Freund, "FastTrack", 2009). Knowledge is kept as the
 * hierarchy of threads allows: for each block up to which barrier all of it is known, and
 * beyond that for each thread.
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

/* The events that happened before: all events of each block up to a barrier, and later ones of
 * some threads. */
struct knowledge {
  struct of_block {
    uint32_t barriers = 0;                            /* all before so many barriers is known */
    std::vector<std::pair<uint32_t, uint32_t>> times; /* threads known beyond, up to when */
  };
  std::unordered_map<uint32_t, of_block> blocks;

  bool has(const moment &) const;
  bool has_all(const knowledge &) const;
  void add(const moment &);
  void add(const knowledge &);
};
typedef std::shared_ptr<const knowledge> shared_knowledge;

/* Returns the union of two; null is empty knowledge. */
shared_knowledge joined(const shared_knowledge &, const shared_knowledge &);

/* Knowledge that passes between threads of one block, between all threads, and to the host. */
struct by_scope {
  shared_knowledge in_block, everywhere, to_host;
  void add(const by_scope &);
};

class clocks final : public observer {
public:
  /* The state of a thread: its time, what it knows, what its last fences release by a store,
   * and what it has seen that the next fence acquires. */
  struct thread_state {
    uint32_t time = 1;
    shared_knowledge knows;
    by_scope releases, seen;
  };

  /* With `fences_meet`, fence.sc instructions are ordered as they are executed. A check for
   * races is better without, since another schedule may order them otherwise. */
  explicit clocks(bool fences_meet) : fences_meet_(fences_meet) {}
  void begin(const launch_of &) override;
  void block_begins(uint32_t block) override;
  void fenced(uint32_t block, uint32_t thread, const instruction &) override;
  void block_met(uint32_t block) override;
  void lanes_met(uint32_t block, uint32_t warp, lanes) override;

  thread_state &state(uint32_t block, uint32_t thread);
  moment now(uint32_t block, uint32_t thread);
  /* Returns whether what was done at a moment happened before what this thread does now. */
  bool ordered(const moment &before, const moment &now, const thread_state &) const;
  /* Returns what the thread did until now and knows, for the threads that a scope reaches. Its
   * time goes on. */
  by_scope release(const moment &now, thread_state &, scope);
  static void acquire(thread_state &, const by_scope &);

private:
  struct block_of {
    uint32_t barriers = 0;
    shared_knowledge fences; /* fence.sc of block scope */
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
