/* stream.cpp - a device made of the host: what is issued is done at once. */
#include "cvl-cuda/emulation/stream.hpp"

#include "cvl-cuda/emulation/host-toolchain.hpp"

#include <stdlib.h>
#include <string.h>

namespace ravel {
namespace {

struct emulated final : stream {
  uint64_t marked = 0;

  void *allocate(size_t bytes) override {
    return aligned_alloc(256, (bytes + 255) / 256 * 256);
  }
  void free(void *p) override { ::free(p); }
  void *allocate_pinned(size_t bytes) override { return allocate(bytes); }
  void free_pinned(void *p) override { ::free(p); }
  void run(const launch &l) override {
    const order forward{1, 0};
    l.on_host(l.body, l.count, &forward);
  }
  void copy_up(void *to, const void *from, size_t bytes) override { memcpy(to, from, bytes); }
  void copy_down(void *to, const void *from, size_t bytes) override { memcpy(to, from, bytes); }
  void fill(void *p, uint8_t byte, size_t bytes) override { memset(p, byte, bytes); }
  void mark(uint64_t epoch) override { marked = epoch; }
  uint64_t reached() override { return marked; }
  void wait(uint64_t) override {}
  const char *failure() override { return nullptr; }
  int processors() override { return 4; }
  toolchain *new_toolchain() override { return host_toolchain().release(); }
};

} // namespace

stream *emulated_stream() {
  return new emulated;
}

} // namespace ravel
