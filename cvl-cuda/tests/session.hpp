/* session.hpp - a context on the emulated GPU, for tests: 64-bit INT, unless asked for another,
 * and FLOAT. */
#ifndef RAVEL_CUDA_TESTS_SESSION_HPP
#define RAVEL_CUDA_TESTS_SESSION_HPP

#include <criterion/criterion.h>
#include <stdlib.h>

#include <vector>

#include "cvl-cuda/emulation.h"

typedef std::vector<int64_t> ints;

struct emulated_session {
  const cvl_backend *b = cvl_cuda_emulation_backend();
  cvl_context *c = nullptr;
  uint64_t site = 0;

  /* `how`: as RAVEL_EMULATION, see emulation/options.hpp. */
  explicit emulated_session(const char *how, bool measure = false,
                            cvl_elem int_elem = CVL_I64) {
    setenv("RAVEL_EMULATION", how, 1);
    cvl_options o{};
    o.int_elem = int_elem;
    o.float_elem = CVL_F64;
    o.measure = measure;
    const char *why = "";
    c = b->open(&o, &why);
    cr_assert(c != nullptr, "%s", why);
  }
  ~emulated_session() { b->close(c); }
  emulated_session(const emulated_session &) = delete;
  emulated_session &operator=(const emulated_session &) = delete;

  cvl_value upload(const ints &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_I64, x.size(), x.data(), &v));
    return v;
  }
  uint64_t launches() { return b->statistics(c).launches; }
};

#endif
