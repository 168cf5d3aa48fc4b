/* apply.hpp - calls of a back end for tests: operands and results by name. */
#ifndef RAVEL_CUDA_TESTS_APPLY_HPP
#define RAVEL_CUDA_TESTS_APPLY_HPP

#include <vector>

extern "C" {
#include "cvl/call.h"
#include "cvl/sharing.h"
#include "cvl/slices.h"
}

/* Runs an operation. `more` gets the descriptor of PACK. */
inline bool apply(const cvl_backend *b, cvl_context *c, uint64_t site, call_kind kind,
                  cvl_op op, const std::vector<cvl_value> &operands, cvl_value *out,
                  cvl_value *more = nullptr) {
  const cvl_call call = call_of(kind, op, (unsigned)operands.size(), operands.data());
  cvl_value results[CALL_RESULTS] = {};
  if (!b->apply(c, site, &call, results)) return false;
  if (out) *out = results[0];
  if (more) *more = results[1];
  return true;
}

#endif
