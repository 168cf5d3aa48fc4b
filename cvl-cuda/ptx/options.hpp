/* options.hpp - how a device that interprets PTX behaves: the environment variable RAVEL_PTX,
 * words with commas between them. This is their one description.
 *
 *   seed=N        any interleaving of threads and blocks, drawn by N (machine.hpp: SEEDED)
 *   resident=N    blocks that run at the same time: 1, with a seed 3
 *   quantum=N     the most instructions of a group of lanes until others run: 1000
 *   weak          loads may see older stores, as the memory model allows; drawn by the seed
 *                 (weak.hpp)
 *   step          the lanes of a warp run in step and meet at post-dominators, as on hardware
 *   unchecked     no look at never written memory, at blocks that were given back, and at races
 *   late          commands are executed when the host waits, one at each look
 *   late=random   or earlier, as the seed draws
 *   processors=N  multiprocessors that the device claims to have: 4
 *   memory=N      bytes of its memory: 8 GiB
 *   fail=N        the N-th call of the runtime fails; at the end: how many there were, if fewer
 *   fail=memory@N the N-th allocation fails
 *   leaks         at the end: how many allocations, streams and events nobody gave back
 *   count=FILE    what a GPU would have to do is added to the file (counting.hpp); implies step
 *   coverage=FILE at the end a line for each instruction of each kernel that was launched is
 *                 added to the file: how often it was executed
 *   drop=KERNEL@N leaves out instruction N of a kernel, a barrier or fence: does a test notice?
 *                 KERNEL is its name in the PTX; of a superoperator also that and the digest
 *                 that coverage and messages have behind it
 *   narrow=KERNEL@N
 *                 the mask of instruction N, which exchanges values between lanes or lets them
 *                 meet, lacks the highest of its lanes
 */
#ifndef RAVEL_PTX_OPTIONS_HPP
#define RAVEL_PTX_OPTIONS_HPP

#include <string>

#include "cvl-cuda/ptx/machine.hpp"

namespace ravel {
namespace ptx {

struct options {
  enum when { AT_ONCE, ON_WAIT, AT_RANDOM };

  machine_options machine;
  when executed = AT_ONCE;
  bool checked = true, weak = false, leaks = false;
  int processors = 4;
  uint64_t memory = (uint64_t)8 << 30;
  uint64_t failing_call = 0, failing_allocation = 0; /* 0: none */
  std::string count, coverage;
  mutation mutated;

  /* Throws `error` that names the word which is no option. */
  void parse(const std::string &text);
};

/* Those of the environment. */
options options_from_environment();

} // namespace ptx
} // namespace ravel
#endif
