/* rig.hpp - an emulated device and the reports of its checker, for tests of the checker: a
 * kernel with a planted defect must be reported, and the repaired kernel must not. */
#ifndef RAVEL_CUDA_TESTS_RIG_HPP
#define RAVEL_CUDA_TESTS_RIG_HPP

#include <criterion/criterion.h>
#include <string.h>

#include <memory>
#include <string>
#include <vector>

#include "cvl-cuda/emulation/checker.hpp"
#include "cvl-cuda/emulation/stream.hpp"
#include "cvl-cuda/launch.hpp"

using namespace ravel;
using namespace ravel::emulation;

struct rig {
  std::unique_ptr<stream> device;
  uint64_t epoch = 0;
  std::vector<void *> of_device, of_host;

  explicit rig(const char *options) {
    emulation_options o;
    cr_assert(o.parse(options));
    device.reset(emulated_stream(o));
  }
  ~rig() {
    finish();
    for (void *p : of_device) device->free(p);
    for (void *p : of_host) device->free_pinned(p);
  }
  rig(const rig &) = delete;
  rig &operator=(const rig &) = delete;
  void finish() {
    device->mark(++epoch);
    device->wait(epoch);
  }
  template <class T> ptr<T> fresh(int64_t n) {
    void *p = device->allocate((size_t)n * sizeof(T));
    of_device.push_back(p);
    device->taken(p, (size_t)n * sizeof(T));
    return pointer_to<T>(p);
  }
  template <class T> T *pinned(int64_t n) {
    of_host.push_back(device->allocate_pinned((size_t)n * sizeof(T)));
    return (T *)of_host.back();
  }
  template <class T> ptr<T> upload(const std::vector<T> &x) {
    const size_t bytes = x.size() * sizeof(T);
    ptr<T> p = fresh<T>((int64_t)x.size());
    T *source = pinned<T>((int64_t)x.size());
    memcpy(source, x.data(), bytes);
    device->copy_up(address(p), source, bytes);
    return p;
  }
  template <class T> std::vector<T> download(ptr<T> p, int64_t n) {
    const size_t bytes = (size_t)n * sizeof(T);
    T *there = pinned<T>(n);
    device->copy_down(there, address(p), bytes);
    finish();
    device->host_reads(there, bytes);
    return std::vector<T>(there, there + n);
  }
  template <class F> void map(const char *name, int64_t n, const F &f) {
    device->run(launch_n(name, n, f));
  }
  template <class F> void blocks(const char *name, int64_t n, const F &f) {
    device->run(launch_blocks(name, n, f));
  }
};

inline std::vector<int64_t> numbers(int64_t n) {
  std::vector<int64_t> x;
  for (int64_t i = 0; i < n; i++) x.push_back(10 * i);
  return x;
}

/* Expects that all reports are of this kind, and that the first one has all of `words`. Forgets
 * them. */
inline void expect_found(finding what, const std::vector<std::string> &words) {
  const std::vector<report> all = take_reports();
  cr_assert_not(all.empty(), "nothing was reported");
  for (const report &r : all) cr_assert_eq(r.what, what, "%s", r.text.c_str());
  for (const std::string &w : words)
    cr_assert_neq(all[0].text.find(w), std::string::npos, "no \"%s\" in: %s", w.c_str(),
                  all[0].text.c_str());
}

inline void expect_clean() {
  const std::vector<report> all = take_reports();
  cr_assert(all.empty(), "%s", all.empty() ? "" : all[0].text.c_str());
}

/* Every way in which a device may execute its commands. */
static const char *const ways[] = {
    "check",
    "check,order=reverse",
    "check,order=shuffled,seed=1",
    "check,order=shuffled,seed=2,deferred",
    "check,order=reverse,seed=3,deferred=random",
};

/* Runs a body with the defect and without it: defect(rig, true), defect(rig, false). */
template <class G> void planted(finding what, const std::vector<std::string> &words, G g) {
  for (const char *way : ways) {
    {
      rig r(way);
      g(r, true);
      r.finish();
    }
    expect_found(what, words);
    {
      rig r(way);
      g(r, false);
      r.finish();
    }
    expect_clean();
  }
}

#endif
