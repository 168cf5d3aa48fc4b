/* weak.hpp - what a load may see, and what it learns by that (PTX ISA, "Memory Consistency
 * Model"; Lustig, Sahasrabuddhe and Giroux, "A Formal Analysis of the NVIDIA PTX Memory
 * Consistency Model", 2019).
 *
 * Strong accesses are volatile, relaxed, acquire, release or atomic. Each location that they
 * reach has a history: its stores in coherence order. A store carries what its thread had
 * released by then. A thread that sees the store, and then acquires, knows that, too
 * (clocks.hpp). Without `any` the history is the last store, which every load sees: accesses
 * are in order, and only knowledge matters. With `any` (RAVEL_PTX=weak) values are those of any
 * execution that the model allows, up to the limits below, drawn by a seed:
 *
 *   loads     see any store that is not older than one that the thread knows, which was
 *             written, or seen, before what the thread does now. So stores show late, and
 *             to each thread in another order
 *   stores    come behind all that the thread knows, but not always last in coherence order
 *   atomics   change any such store that no other has changed, and come right behind it;
 *             mostly the last one
 *   delayed   a relaxed load may see stores that come after it: its value is drawn when an
 *             instruction names its register, or when the thread comes to a fence, a barrier,
 *             a release, its end, or the same bytes again. So stores overtake loads (load
 *             buffering), but no value comes out of thin air
 *
 * This is the search of tsan11 (Lidbury and Donaldson, "Dynamic Race Detection for C++11",
 * 2017), extended by stores that are not last and loads that are delayed. A thread's knowledge
 * by vector clocks is its view in the sense of Kang et al., "A Promising Semantics for
 * Relaxed-Memory Concurrency", 2017. Delayed loads take the place of promises.
 *
 * Weak accesses read and write the last store. If nothing races, they could see no other, and
 * races.hpp finds those that race.
 *
 * Limits:
 *   - A vector access (.v2, .v4) is whole, as on devices. In the model it is one access for
 *     each element, in any order.
 *   - Where accesses of several sizes overlap, only the last value stays visible. The model
 *     does not define races between them.
 *   - Weak loads and atomic operations are not delayed. Nor is a load behind an instruction
 *     with its register, though a device might guess. A delayed load sees nothing older than
 *     what the thread knows when it is drawn; the model asks for what it knew before.
 *   - A history keeps its last MOST_STORES stores.
 *   - What a fence of block scope released also reaches another block, if that makes an
 *     atomic operation.
 *   - The host reads when a launch is over (but see host-view.hpp).
 */
#ifndef RAVEL_PTX_WEAK_HPP
#define RAVEL_PTX_WEAK_HPP

#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/clocks.hpp"

namespace ravel {
namespace ptx {

/* An access that may be made: by whom, and the bytes of memory. */
struct access_of {
  uint32_t block, thread;
  const instruction *by;
  access kind;
  uint64_t address; /* see address_of_block */
  unsigned bytes;
  uint8_t *memory;
};

class weak_memory {
public:
  weak_memory(clocks &c, bool any) : clocks_(c), any_(any) {}

  /* Begins a launch. */
  void begin(uint64_t seed);
  bool any() const { return any_; }
  /* Returns whether the load's value is drawn later. If so, `reach` is called for it later, on
   * behalf of the same thread. */
  bool delays(const access_of &);
  /* Returns the bytes that are read, written or changed. They stay valid until the next
   * access. */
  uint8_t *reach(const access_of &);

private:
  enum { MOST_BYTES = 32, MOST_STORES = 64 };
  struct store {
    moment at;
    bool initial = false; /* from before the launch: everyone knows it */
    scope within = SYSTEM_SCOPE;
    by_scope released, released_here; /* everything released; that by the store itself */
    bool changed = false;             /* by an atomic operation, which comes next */
    std::vector<moment> seen_by;      /* by thread: the first time of each */
    uint8_t bytes[MOST_BYTES];        /* the last store's bytes are in memory instead */
  };
  struct location {
    uint64_t address;
    unsigned bytes;
    uint8_t *memory;
    std::vector<store> history; /* in coherence order */
  };
  /* The thread that makes an access, and when. */
  struct view {
    moment now;
    clocks::thread_state &thread;
    const instruction &by;
  };

  clocks &clocks_;
  bool any_;
  uint64_t random_ = 1;
  std::unordered_map<uint64_t, std::vector<location>> lines_; /* by address / MOST_BYTES */

  size_t draw(size_t below);
  location &at(const access_of &);
  void forget(const access_of &);
  bool knows(const store &, const view &) const;
  size_t oldest(const location &, const view &) const;
  view view_of(const access_of &);
  uint8_t *load(location &, const view &);
  uint8_t *write(location &, const view &);
  uint8_t *change(location &, const view &);
  void see(location &, size_t, const view &);
  static by_scope passed(const store &, const view &);
  store made(const location &, const view &);
  uint8_t *insert(location &, size_t, store);
};

} // namespace ptx
} // namespace ravel
#endif
