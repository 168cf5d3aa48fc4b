/* options.hpp - how a device is emulated: the environment variable RAVEL_EMULATION, words with
 * commas between them. This is their one description.
 *
 *   order=forward | reverse | shuffled
 *               in which order the threads of a launch, and its blocks, are executed
 *   seed=N      what shuffles, and what "deferred=random" draws by
 *   deferred    commands are executed at the next wait, not when they are issued
 *   deferred=random
 *               likewise, but some of them earlier: a random number at random moments
 *   check       every access of a kernel is looked at: checker.hpp. Blocks of memory are kept
 *               apart, so that the memory behind one is unallocated. Reports go to the standard
 *               error; a process with reports ends with status 70
 *   small=N     operations on up to N elements may run on the host (context::small): 0 and -1
 *               leave it nothing that has elements, or nothing at all
 *   nvrtc       superoperators are compiled by NVRTC, for a GPU that is not there: they never
 *               run as kernels, and what the program says of that is what it says on a GPU
 *   staging=N   buffers for longer copies have N bytes (queue.hpp), so that short ones are longer
 *   fail=N      the device is lost at its N-th call (calls.hpp)
 *   fail=memory@N
 *               from its N-th call on it has no memory left
 *
 * RAVEL_CUDA_SMALL=N is the same as small=N.
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

  /* Adds what a text says; false if there is something in it that is no option. */
  bool parse(const char *text);
  /* Those of the environment; null or what is wrong. */
  const char *from_environment();
};

} // namespace ravel
#endif
