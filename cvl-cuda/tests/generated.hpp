/* generated.hpp - for tests: the text of a superoperator, and what a toolchain makes of a text.
 */
#ifndef RAVEL_CUDA_TESTS_GENERATED_HPP
#define RAVEL_CUDA_TESTS_GENERATED_HPP

#include <criterion/criterion.h>

#include <atomic>
#include <memory>
#include <string>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl-cuda/tests/superops.h"
#include "fused-kernels/emit-kernel.h"
}
#pragma GCC diagnostic pop

#include "cvl-cuda/toolchain.hpp"

/* The kernel "fused" of one definition, in 64-bit INT and FLOAT. */
struct generated {
  superops *ops;
  fused_source source{};
  std::string text;

  explicit generated(const char *definition, const struct tuning *values = nullptr)
      : ops(superops_load(definition)) {
    cr_assert(fused_source_make(ops->ops[0], {CVL_I64, CVL_F64}, LEAVE_NOTHING, values, "fused",
                                &source));
    text = source.text;
  }
  ~generated() {
    fused_source_free(&source);
    superops_free(ops);
  }
  generated(const generated &) = delete;
  generated &operator=(const generated &) = delete;

  /* Returns the text with the last occurrence of `what` replaced by `instead`. */
  std::string with(const std::string &what, const std::string &instead) const {
    const size_t at = text.rfind(what);
    cr_assert_neq(at, std::string::npos, "no \"%s\" in\n%s", what.c_str(),
                  text.substr(text.rfind("struct fused {")).c_str());
    return text.substr(0, at) + instead + text.substr(at + what.size());
  }
};

/* The kernel "fused" of a text, compiled and loaded. */
struct built {
  std::unique_ptr<ravel::toolchain> tools;
  void *loaded = nullptr;
  ravel::kernel_entry entry;

  built(std::unique_ptr<ravel::toolchain> t, const std::string &text) : tools(std::move(t)) {
    const std::atomic<bool> stop{false};
    std::string bytes, why;
    cr_assert(tools->open(why) && tools->compile(text, "fused", stop, bytes, why), "%s",
              why.c_str());
    loaded = tools->load(bytes, why);
    cr_assert(loaded && tools->entry_of(loaded, "fused", entry, why), "%s", why.c_str());
  }
  ~built() { tools->unload(loaded); }
  built(const built &) = delete;
  built &operator=(const built &) = delete;
};

#endif
