/* calls.hpp - counts the calls that a device may refuse, so that tests can make the n-th one
 * fail. Both implementations of a stream ask here before each call. */
#ifndef RAVEL_CUDA_CALLS_HPP
#define RAVEL_CUDA_CALLS_HPP

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace ravel {

/* The environment variable RAVEL_FAIL_CALL=n makes the device lost at the n-th call, counted
 * from 1. With RAVEL_FAIL_CALL=memory:n the device has no memory left from the n-th call on. */
struct calls {
  uint64_t made = 0;
  uint64_t fail_at = 0, no_memory_from = 0; /* 0: never */

  calls() {
    static const char memory[] = "memory:";
    const char *text = getenv("RAVEL_FAIL_CALL");
    if (text == nullptr) return;
    if (strncmp(text, memory, sizeof memory - 1) == 0) {
      no_memory_from = strtoull(text + sizeof memory - 1, nullptr, 10);
    } else {
      fail_at = strtoull(text, nullptr, 10);
    }
  }
  /* Counts a call and returns whether it is the one that fails. */
  bool next_fails() { return ++made == fail_at; }
  bool out_of_memory() const { return no_memory_from > 0 && made >= no_memory_from; }
};

} // namespace ravel
#endif
