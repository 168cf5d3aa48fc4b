/* counting.hpp - counts what a GPU would have to do while launches are interpreted (RAVEL_PTX,
 * `count=FILE`). The file gets a line for each launch and for each copy, each an object of
 * JSON; `lab/check counts` reads them. A program may append lines of its own, to say which
 * lines belong to what.
 *
 *     {"launch": its kernel's name in the module,
 *      "instructions": executed by warps,
 *      "loads": [sectors, bytes wanted], "stores": and "atomics": the same pair,
 *      "blocks", "threads": of a block, "shared": bytes of a block,
 *      "touched": bytes that the launch alone has to move,
 *      "wavefronts", "least_wavefronts", "round_trips": traffic.hpp}
 *     {"copy": bytes, "way": "in", "out", "on" (the device) or "fill"}
 *
 * The lanes of a warp run in step.
 */
#ifndef RAVEL_PTX_COUNTING_HPP
#define RAVEL_PTX_COUNTING_HPP

#include <stdio.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "cvl-cuda/ptx/machine.hpp"
#include "cvl-cuda/ptx/traffic.hpp"

namespace ravel {
namespace ptx {

struct request_counts {
  uint64_t sectors = 0, bytes = 0;
};

struct launch_counts {
  uint64_t instructions = 0, touched = 0, round_trips = 0;
  request_counts loads, stores, atomics;
  uint64_t wavefronts_taken = 0, wavefronts_least = 0;
};

class counting final : public observer {
public:
  /* Throws `error` if the file cannot be written. */
  counting(const std::string &file, const memory &);
  ~counting() override;

  void begin(const launch_of &) override;
  void end() override;
  void block_ends(uint32_t block) override;
  void executed(uint32_t block, uint32_t warp, const instruction &, lanes,
                const uint64_t *addresses) override;

  /* Count what the host does. */
  void copied(uint64_t to, uint64_t from, uint64_t bytes);
  void filled(uint64_t bytes);

private:
  FILE *file_;
  std::string name_;
  const memory &memory_;
  touched_bytes touched_;
  const launch_of *launch_ = nullptr;
  launch_counts counts_;
  std::unordered_map<uint32_t, std::vector<round_trips>> trips_; /* by block and warp */

  void global_access(const instruction &, lanes, const uint64_t *addresses);
  void shared_access(const instruction &, lanes, const uint64_t *addresses);
  void put(const std::string &line);
};

} // namespace ptx
} // namespace ravel
#endif
