/* failing.cpp - see failing.hpp. */
#include "cvl-cuda/emulation/failing.hpp"

#include <stdio.h>

#include <memory>

namespace ravel {
namespace {

struct failing final : stream {
  std::unique_ptr<stream> inner_;
  calls calls_;
  bool lost_ = false, is_open_ = false;
  char why_[128];

  failing(stream *inner, const calls &c) : inner_(inner), calls_(c) {}

  /* Returns whether the call is to be made. */
  bool good(const char *what, const char *of = "") {
    if (!is_open_ && open()) lost_ = true;
    return counted(what, of);
  }
  bool counted(const char *what, const char *of) {
    if (lost_ || inner_->failure()) return false;
    if (!calls_.next_fails()) return true;
    snprintf(why_, sizeof why_, "%s%s%s: made to fail, call %llu", what, *of ? " of " : "", of,
             (unsigned long long)calls_.made);
    lost_ = true;
    return false;
  }

  /* Opening counts as a call; if it fails, nothing changes. */
  const char *open() override {
    if (is_open_) return nullptr;
    if (lost_) return why_;
    const bool opened = counted("cudaStreamCreate", "") && inner_->open() == nullptr;
    lost_ = false;
    is_open_ = opened;
    return opened ? nullptr : why_;
  }
  void leave() override { inner_->leave(); }
  void *allocate(size_t bytes) override {
    if (!good("cudaMalloc") || calls_.out_of_memory()) return nullptr;
    return inner_->allocate(bytes);
  }
  void free(void *p) override { inner_->free(p); }
  void *allocate_pinned(size_t bytes) override {
    if (is_open_ && (!good("cudaHostAlloc") || calls_.out_of_memory())) return nullptr;
    return inner_->allocate_pinned(bytes);
  }
  void free_pinned(void *p) override { inner_->free_pinned(p); }
  /* Gives none if memory is to run out: the failing call must not depend on another thread. */
  void *allocate_early(size_t most, size_t *bytes) override {
    return calls_.no_memory_from > 0 ? nullptr : inner_->allocate_early(most, bytes);
  }
  void *allocate_pinned_early(size_t bytes) override {
    return calls_.no_memory_from > 0 ? nullptr : inner_->allocate_pinned_early(bytes);
  }
  void run(const launch &l) override {
    if (good("launch", l.name)) inner_->run(l);
  }
  void run_here(const launch &l) override { inner_->run_here(l); }
  bool blocks_apart() override { return inner_->blocks_apart(); }
  void copy_up(void *to, const void *from, size_t bytes) override {
    if (good("copy to the device")) inner_->copy_up(to, from, bytes);
  }
  void copy_down(void *to, const void *from, size_t bytes) override {
    if (good("copy from the device")) inner_->copy_down(to, from, bytes);
  }
  void copy(void *to, const void *from, size_t bytes) override {
    if (good("copy on the device")) inner_->copy(to, from, bytes);
  }
  void fill(void *p, uint8_t byte, size_t bytes) override {
    if (good("cudaMemsetAsync")) inner_->fill(p, byte, bytes);
  }
  int number() override { return inner_->number(); }
  void *allocate_shared(size_t bytes, void (**end)(void *)) override {
    if (!good("cudaMalloc") || calls_.out_of_memory()) return nullptr;
    return inner_->allocate_shared(bytes, end);
  }
  void copy_shared(void *to, const void *from, size_t bytes) override {
    if (good("copy of a tensor")) inner_->copy_shared(to, from, bytes);
  }
  void taken(void *p, size_t bytes) override { inner_->taken(p, bytes); }
  void returned(void *p, size_t bytes) override { inner_->returned(p, bytes); }
  void mark(uint64_t epoch) override {
    if (good("mark")) inner_->mark(epoch);
  }
  void pauses() override { inner_->pauses(); }
  uint64_t reached() override { return inner_->reached(); }
  void wait(uint64_t epoch) override {
    if (good("wait")) inner_->wait(epoch);
  }
  void host_reads(const void *p, size_t bytes) override {
    if (!lost_) inner_->host_reads(p, bytes);
  }
  const char *failure() override { return lost_ ? why_ : inner_->failure(); }
  int processors() override { return inner_->processors(); }
  void measure() override { inner_->measure(); }
  uint64_t kernel_ns() override { return inner_->kernel_ns(); }
  toolchain *new_toolchain() override { return inner_->new_toolchain(); }
};

} // namespace

stream *failing_stream(stream *inner, const calls &c) {
  return new failing(inner, c);
}

} // namespace ravel
