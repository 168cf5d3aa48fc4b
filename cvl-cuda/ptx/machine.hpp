/* machine.hpp - executes a launch.
 *
 * Threads have instruction counters of their own (independent thread scheduling, as since
 * Volta). What runs at a time is a *group*: lanes of one warp that are at the same instruction.
 * The schedule chooses the group, and the number of its instructions:
 *
 *   in order   the lanes that are behind the others of their warp, warp by warp, block by block
 *   seeded     any lanes of any resident block, for a random number of instructions: every
 *              interleaving can come up, and a seed always gives the same one
 *   in step    all lanes of a warp together; those that diverge at a branch meet again at its
 *              immediate post-dominator, as on hardware. This is for counting.
 *
 * An instruction of a group is executed for one lane after the other. That is one of the
 * interleavings that a device may show.
 */
#ifndef RAVEL_PTX_MACHINE_HPP
#define RAVEL_PTX_MACHINE_HPP

#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/ptx/executor.hpp"
#include "cvl-cuda/ptx/memory.hpp"

namespace ravel {
namespace ptx {

enum schedule : uint8_t { IN_ORDER, SEEDED, IN_STEP };

struct machine_options {
  schedule how = IN_ORDER;
  uint64_t seed = 0;
  uint32_t resident = 1;   /* blocks that run at the same time */
  uint32_t quantum = 1000; /* SEEDED: the most instructions of a group before another runs */
  uint64_t most_steps = (uint64_t)1
                        << 34; /* instructions of groups after which a launch is endless */
};

/* The blocks of a grid, or the threads of a block, which are numbered along x, then y, then
 * z. */
struct extent {
  uint32_t x, y, z;
  extent(uint32_t along_x = 0, uint32_t along_y = 1, uint32_t along_z = 1)
      : x(along_x), y(along_y), z(along_z) {}
  uint32_t count() const { return x * y * z; }
};

/* A launch; its argument bytes are laid out as the kernel's parameters. */
struct launch_of {
  kernel *of = nullptr;
  extent blocks, threads;
  uint32_t dynamic_shared = 0;
  std::vector<uint8_t> parameters;
};

/* How often an instruction was executed, and how many threads took a branch. */
struct executions {
  uint64_t groups = 0, threads = 0, taken = 0, diverged = 0;
};

/* A block's shared memory has addresses of its own there, which differ from those of global
 * memory and of other blocks. */
enum : uint64_t { SHARED_SPACE = (uint64_t)1 << 60, BLOCK_BYTES = (uint64_t)1 << 20 };
inline uint64_t address_of_block(uint32_t block, const instruction &i, uint64_t address) {
  if (i.where != SHARED && address < SHARED_WINDOW) return address;
  return SHARED_SPACE | block * BLOCK_BYTES | address % BLOCK_BYTES;
}

/* Watches what a machine does. Every function may throw `error`. Threads are numbered in their
 * block, blocks in their grid. */
struct observer {
  virtual ~observer() = default;
  virtual void begin(const launch_of &) {}
  virtual void end() {}
  virtual void block_begins(uint32_t /*block*/) {}
  virtual void block_ends(uint32_t /*block*/) {}
  /* Called before an access by one thread; the address is that of its space. */
  virtual void access(uint32_t /*block*/, uint32_t /*thread*/, const instruction &, ptx::access,
                      uint64_t /*address*/, unsigned /*bytes*/) {}
  virtual void fenced(uint32_t /*block*/, uint32_t /*thread*/, const instruction &) {}
  /* Called when all threads of a block, or these lanes of a warp at bar.warp.sync, have met. */
  virtual void block_met(uint32_t /*block*/) {}
  virtual void lanes_met(uint32_t /*block*/, uint32_t /*warp*/, lanes) {}
  /* Called after an instruction of a group, with the addresses of its accesses. */
  virtual void executed(uint32_t /*block*/, uint32_t /*warp*/, const instruction &, lanes,
                        const uint64_t * /*addresses*/) {}
};

/* The memory of ended blocks, which later launches reuse. */
struct block_state;
struct block_pool {
  block_pool();
  ~block_pool();
  block_pool(const block_pool &) = delete;
  block_pool &operator=(const block_pool &) = delete;
  std::vector<std::unique_ptr<block_state>> blocks;
};

/* Executes a launch to its end. Adds to `counts`, which has an element for each instruction. A
 * weak_memory (weak.hpp) decides what strong accesses see; without one they see what memory
 * holds. Throws `error` for what a device must not do. */
class weak_memory;
void execute(const launch_of &, const machine_options &, memory &, block_pool &,
             std::vector<executions> &counts, const std::vector<observer *> &,
             weak_memory * = nullptr);

/* Returns a kernel's name as in its source, shortened. */
std::string readable(const std::string &mangled);

} // namespace ptx
} // namespace ravel
#endif
