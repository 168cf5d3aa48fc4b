/* session.hpp - contexts on the emulated GPU, for tests: one with 64-bit FLOAT, and 64-bit INT
 * unless the test asks for another width; and one that compiles superoperators. */
#ifndef RAVEL_CUDA_TESTS_SESSION_HPP
#define RAVEL_CUDA_TESTS_SESSION_HPP

#include <criterion/criterion.h>
#include <stdlib.h>

#include <vector>

#include "cvl-cuda/emulation.h"
#include "cvl-cuda/tests/apply.hpp"
#include "cvl-cuda/tests/temporary.hpp"

typedef std::vector<int64_t> ints;

struct emulated_session {
  const cvl_backend *b = cvl_cuda_emulation_backend();
  cvl_context *c = nullptr;
  uint64_t site = 0;

  /* `how` has the syntax of RAVEL_EMULATION, see emulation/options.hpp. */
  explicit emulated_session(const char *how, bool measure = false,
                            cvl_elem int_elem = CVL_I64) {
    cvl_options o{};
    o.int_elem = int_elem;
    o.float_elem = CVL_F64;
    o.measure = measure;
    open(how, o);
  }
  emulated_session(const char *how, const cvl_options &o) { open(how, o); }
  ~emulated_session() { b->close(c); }
  emulated_session(const emulated_session &) = delete;
  emulated_session &operator=(const emulated_session &) = delete;

  cvl_value upload(const ints &x) {
    cvl_value v{};
    cr_assert(b->from_host(c, ++site, CVL_I64, x.size(), x.data(), &v));
    return v;
  }
  bool apply(call_kind kind, cvl_op op, const std::vector<cvl_value> &operands, cvl_value *out,
             cvl_value *more = nullptr) {
    return ::apply(b, c, ++site, kind, op, operands, out, more);
  }
  uint64_t launches() { return b->statistics(c).launches; }

private:
  void open(const char *how, const cvl_options &o) {
    setenv("RAVEL_EMULATION", how, 1);
    const char *why = "";
    c = b->open(&o, &why);
    cr_assert(c != nullptr, "%s", why);
  }
};

/* ---- superoperators by kernels ---- */

/* The kernels of all tests of a program, each of which is a process of its own. They are in a
 * folder that is made before the tests (ReportHook(PRE_ALL)) and removed after them
 * (POST_ALL). */
struct kernels_of_tests {
  static void begin() {
    here() = new temporary;
    setenv(NAME, here()->folder.c_str(), 1);
  }
  static void end() { delete here(); }
  static const char *folder() { return getenv(NAME); }

private:
  static constexpr const char *NAME = "RAVEL_TEST_KERNELS";
  static temporary *&here() {
    static temporary *made = nullptr;
    return made;
  }
};

/* Returns options with 64-bit INT and FLOAT. Superoperators are compiled before they run, or
 * run by their nodes. */
inline cvl_options options_of_superops(bool compiled, uint64_t memory_limit = 0) {
  cvl_options o{};
  o.memory_limit = memory_limit;
  o.int_elem = CVL_I64;
  o.float_elem = CVL_F64;
  o.compile = compiled ? CVL_COMPILE_ALL : CVL_COMPILE_NONE;
  o.compile_waits = true;
  o.compile_directory = compiled ? kernels_of_tests::folder() : "";
  return o;
}

/* Holds its operands until it ends; nothing else may then be left. */
struct superop_session : emulated_session {
  std::vector<cvl_value> held;

  superop_session(const char *how, bool compiled, uint64_t memory_limit = 0)
      : emulated_session(how, options_of_superops(compiled, memory_limit)) {}
  ~superop_session() {
    for (const cvl_value &v : held) b->release(c, &v);
    cr_expect_eq(b->statistics(c).live_bytes, 0);
  }
  cvl_value upload(const ints &x) {
    held.push_back(emulated_session::upload(x));
    return held.back();
  }
  cvl_value segments(const ints &lengths) {
    cvl_value v{};
    cr_assert(b->segdes_from_host(c, ++site, lengths.size(), lengths.data(), &v));
    held.push_back(v);
    return v;
  }
};

#endif
