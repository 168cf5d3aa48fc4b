/* options.hpp - how a device that interprets PTX behaves: the environment variable RAVEL_PTX
 * has words, separated by commas. They are described here only.
 *
 *   seed=N        any interleaving of threads and blocks, drawn by N (machine.hpp: SEEDED)
 *   resident=N    blocks that run at the same time: 1, with a seed 3
 *   quantum=N     the most instructions of a group of lanes before others run: 1000
 *   weak          loads may see older stores, as the memory model allows; drawn by the seed
 *                 (weak.hpp)
 *   step          the lanes of a warp run in step and meet at post-dominators, as on hardware
 *   unchecked     no check for never written memory, for blocks that were given back, and for
 *                 races
 *   late          commands are executed when the host waits, one at each look
 *   late=random   or earlier, as the seed draws
 *   processors=N  multiprocessors that the device claims to have: 4
 *   memory=N      bytes of its memory: 8 GiB
 *   fail=N        the N-th call of the runtime fails; if there were fewer, the end of the
 *                 process says how many
 *   fail=memory@N the N-th allocation fails
 *   leaks         the end of the process says how many allocations, streams and events nobody
 *                 gave back
 *   count=FILE    counts of what a GPU would have to do are appended to the file
 *                 (counting.hpp); implies step
 *   coverage=FILE at the end a line for each instruction of each kernel that was launched is
 *                 appended to the file: how often it was executed
 *   drop=KERNEL@N leaves out instruction N of a kernel, a barrier or fence, to see whether a
 *                 test notices. KERNEL is its name in the PTX; for a superoperator also its
 *                 name and the digest that coverage and messages add to it
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

  /* Reads options. Throws `error`, which names the word that is no option. */
  void parse(const std::string &text);
};

/* Returns the options of the environment. */
options options_from_environment();

} // namespace ptx
} // namespace ravel
#endif
