/* traffic.hpp - the cost of accesses by warps, in the units in which a GPU moves data:
 *
 *   a request    an instruction of a warp that accesses memory
 *   a sector     32 aligned bytes: the least that is moved between caches and DRAM
 *   a wavefront  a cycle of shared memory, in which each of its 32 banks gives a word of
 *                4 bytes
 *
 * Nothing here knows about launches or files; counting.hpp adds these.
 */
#ifndef RAVEL_PTX_TRAFFIC_HPP
#define RAVEL_PTX_TRAFFIC_HPP

#include <stdint.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/instruction.hpp"

namespace ravel {
namespace ptx {

enum : uint64_t { SECTOR = 32 };

/* A sector that a request asks for, with a bit for each byte that a lane wants. */
struct sector {
  uint64_t number; /* address / SECTOR */
  uint32_t wanted;
};

/* Finds the sectors of a request, each once, and returns their number. An access of a lane lies
 * within one sector, because it is aligned to its size, which is at most 16. `found` has room
 * for WARP sectors. */
unsigned sectors_of(lanes, const uint64_t *addresses, unsigned bytes, sector *found);

/* The wavefronts that a request to shared memory takes, and those it would take without
 * conflicts. Lanes of 8 bytes are served by halves of a warp, lanes of 16 bytes by quarters.
 * Lanes that want the same word get it together (CUDA C++ Programming Guide, "Shared
 * Memory"). */
struct wavefronts {
  unsigned taken, least;
};
wavefronts wavefronts_of(lanes, const uint64_t *addresses, unsigned bytes);

/* The bytes of global memory that were read and written since `begin`. So many bytes had to be
 * moved if nothing was in a cache at first and everything stayed in one. */
class touched_bytes {
public:
  void begin() { now_++; }
  /* Returns the bytes of the sector that were neither read nor written before. */
  unsigned read(const sector &);
  /* Returns the bytes of the sector that were not written before. */
  unsigned write(const sector &);

private:
  enum : uint64_t { SECTORS = 128 }; /* sectors of a page */
  struct page {
    uint64_t as_of = 0;
    uint32_t read[SECTORS], written[SECTORS];
  };
  std::unordered_map<uint64_t, std::unique_ptr<page>> pages_;
  uint64_t now_ = 0, last_number_ = UINT64_MAX;
  page *last_ = nullptr;

  page &page_of(uint64_t sector_number);
};

/* The round trips to memory that a warp waits for, one after the other. ptxas reorders the
 * instructions between two branches, which the PTX does not show. It is assumed to issue loads
 * as soon as their addresses are known, but not ahead of a store, an atomic, a fence, a barrier
 * or a branch. Instructions that need a value wait until then. (ptxas also stops at labels, and
 * may turn short branches into predicates; both are ignored.) */
class round_trips {
public:
  /* Notes that an instruction is executed; `global`: it accesses global memory. Returns how
   * many more trips are waited for. */
  unsigned executed(const instruction &, bool global);

private:
  struct value {
    uint32_t at;   /* of the register */
    uint32_t trip; /* the trip after which it has its value */
  };
  std::vector<value> coming_;
  uint32_t now_ = 0;    /* trips waited for */
  uint32_t wanted_ = 0; /* those and the ones needed since the last branch */

  uint32_t trip_of(const slot &) const;
  uint32_t trip_of(const instruction &, bool stores) const;
  void comes(const slot &, uint32_t trip);
  void results_come(const instruction &, uint32_t trip);
  void wait(uint32_t trip);
};

} // namespace ptx
} // namespace ravel
#endif
