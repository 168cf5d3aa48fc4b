/* counting.hpp - what a GPU would have to do, counted while launches are interpreted
 * (RAVEL_PTX, `count=FILE`): the file gets a line for each launch, for each copy, and for each
 * time that the host waits, each an object of JSON; bench/gpu-model reads them. Programs that
 * want to say which lines are whose append lines of their own.
 *
 *     {"launch": name, "symbol": name in the module,
 *      "groups": {class of instructions: how many warps executed},
 *      "loads": [requests, sectors, bytes wanted], "stores": likewise, "atomics": likewise,
 *      "blocks", "threads": of a block, "shared", "static_shared": bytes of a block,
 *      "lanes": instructions of threads, "branches": of warps, "diverged": of these,
 *      "atomic_lanes", "collisions": lanes beyond the first at one address in a request,
 *      "read", "written": bytes that the launch alone has to move,
 *      "fetched", "written_back", "dirty" at its end: sectors of the second-level cache,
 *      "shared_requests", "wavefronts", "least_wavefronts", "round_trips": traffic.hpp,
 *      "arrays": [[offset of a pointer to it in the arguments or -1, its bytes,
 *                  sectors loaded, sectors stored, bytes read, bytes written], ...]}
 *     {"copy": bytes, "way": "in", "out", "on" (the device) or "fill"}
 *     {"wait": commands since the last one}
 *
 * Warps run in step, and a block after the other or some at a time: in what order blocks use
 * the second-level cache is this schedule's, not a device's.
 */
#ifndef RAVEL_PTX_COUNTING_HPP
#define RAVEL_PTX_COUNTING_HPP

#include <stdio.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/machine.hpp"
#include "cvl-cuda/ptx/traffic.hpp"

namespace ravel {
namespace ptx {

struct request_counts {
  uint64_t requests = 0, sectors = 0, bytes = 0;
};

struct array_counts {
  uint64_t bytes, loaded = 0, stored = 0, read = 0, written = 0;
};

struct launch_counts {
  uint64_t groups[INSTRUCTION_CLASSES] = {0}, of_lanes = 0, branches = 0, diverged = 0;
  request_counts loads, stores, atomics;
  uint64_t atomic_lanes = 0, collisions = 0, read = 0, written = 0;
  uint64_t shared_requests = 0, round_trips = 0;
  uint64_t wavefronts_taken = 0, wavefronts_least = 0;
  std::map<uint64_t, array_counts> arrays; /* by their first address */
};

class counting final : public observer {
public:
  /* Throws `error` if the file cannot be written. `l2`: bytes of the second-level cache. */
  counting(const std::string &file, uint64_t l2, const memory &);
  ~counting() override;

  void begin(const launch_of &) override;
  void end() override;
  void block_ends(uint32_t block) override;
  void branched(uint32_t block, uint32_t warp, lanes taken, lanes of) override;
  void executed(uint32_t block, uint32_t warp, const instruction &, lanes,
                const uint64_t *addresses) override;

  /* What the host does. Blocks of memory that the back end gives out are arrays. */
  void taken(uint64_t address, uint64_t bytes);
  void returned(uint64_t address);
  void copied(uint64_t to, uint64_t from, uint64_t bytes);
  void filled(uint64_t bytes);
  void waited();

private:
  struct span {
    uint64_t begin, end;
  };
  FILE *file_;
  std::string name_;
  const memory &memory_;
  second_level l2_;
  touched_bytes touched_;
  uint64_t fetched_before_ = 0, written_back_before_ = 0, commands_ = 0;
  const launch_of *launch_ = nullptr;
  launch_counts counts_;
  std::unordered_map<uint32_t, std::vector<round_trips>> trips_; /* by block, warp */
  std::map<uint64_t, uint64_t> taken_;  /* blocks, last address to first */
  span last_{1, 0};                     /* the array that was accessed last */
  array_counts *last_counts_ = nullptr; /* its */

  void global_access(const instruction &, lanes, const uint64_t *addresses);
  void copies(std::vector<round_trips> &, uint32_t warp, const instruction &, lanes,
              const uint64_t *addresses);
  void bulk_copy(uint64_t from, uint64_t to, uint64_t bytes);
  void shared_access(const instruction &, lanes, const uint64_t *addresses);
  void touch(const sector &, bool reads, bool writes, array_counts &);
  span array_at(uint64_t address) const;
  array_counts &array_of(uint64_t address);
  int64_t argument_of(uint64_t begin, uint64_t bytes) const;
  std::string arrays_text() const;
  void write_line();
  void put(const std::string &line);
};

} // namespace ptx
} // namespace ravel
#endif
