/* options.hpp - how a device is emulated: the environment variable RAVEL_EMULATION has words,
 * separated by commas. They are described here only.
 *
 *   order=forward | reverse | shuffled
 *               the order in which the blocks of a launch, and their threads, are executed
 *   seed=N      the seed of shuffling and of "deferred=random"
 *   deferred    commands are executed at the next wait, not when they are issued
 *   deferred=random
 *               a random number of commands is executed at random moments, the rest at the
 *               next wait
 *   check       every access of a kernel is checked (checker.hpp). Blocks of memory are kept
 *               apart, so that the memory behind one is unallocated. Reports go to standard
 *               error; a process with reports ends with status 70
 *   small=N     operations on up to N elements may run on the host (context::small): with 0 it
 *               runs only those without elements, with -1 none at all
 *   nvrtc       superoperators are compiled by NVRTC, for a GPU that does not exist: they never
 *               run as kernels, and the program says what it says on a GPU
 *   staging=N   buffers for longer copies have N bytes (queue.hpp), so that short copies use
 *               them, too
 *   fail=N      the device is lost at its N-th call (calls.hpp)
 *   fail=memory@N
 *               from its N-th call on it has no memory left
 *
 * RAVEL_CUDA_SMALL=N means small=N.
 */
#ifndef RAVEL_EMULATION_OPTIONS_HPP
#define RAVEL_EMULATION_OPTIONS_HPP

#include "cvl-cuda/calls.hpp"
#include "cvl-cuda/pointer.hpp"

namespace ravel {

struct emulation_options {
  enum when { AT_ONCE, ON_WAIT, AT_RANDOM };

  order threads{1, 0};
  when executed = AT_ONCE;
  bool check = false;
  bool nvrtc = false;
  bool has_small = false;
  int64_t small = 0;
  uint64_t staging = 0; /* 0: as on a GPU */
  calls fails;

  /* Adds the options of a text. Returns false if it has something that is no option. */
  bool parse(const char *text);
  /* Reads the options of the environment. Returns null, or what is wrong. */
  const char *from_environment();
};

} // namespace ravel
#endif
