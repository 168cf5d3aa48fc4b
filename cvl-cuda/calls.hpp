/* calls.hpp - the calls that a device may refuse, counted: one place where tests let the n-th
 * fail. Both streams ask here before each. */
#ifndef RAVEL_CUDA_CALLS_HPP
#define RAVEL_CUDA_CALLS_HPP

#include <stdint.h>
#include <stdlib.h>

namespace ravel {

struct calls {
  uint64_t made = 0;
  uint64_t fail_at = 0; /* the call with this number (from 1) fails; 0: none */

  /* RAVEL_FAIL_CALL=n in the environment: a device that is lost at the n-th call. */
  calls() {
    const char *text = getenv("RAVEL_FAIL_CALL");
    if (text) fail_at = strtoull(text, nullptr, 10);
  }
  /* Counts one more; whether it is the one to fail. */
  bool next_fails() { return ++made == fail_at; }
};

} // namespace ravel
#endif
