/* memory.hpp - blocks of memory on either side, reference counted, within one limit.
 *
 * Device memory comes in large chunks from the stream and is handed out by size classes; since
 * everything on the stream happens in order, a block may be handed out again as soon as the
 * host lets go of it.
 */
#ifndef RAVEL_CUDA_MEMORY_HPP
#define RAVEL_CUDA_MEMORY_HPP

#include <map>
#include <utility>
#include <vector>

#include "cvl-cuda/stream.hpp"

/* Functions of the tables are called like the records they give. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl/cvl.h"
}
#pragma GCC diagnostic pop

namespace ravel {

/* What ends an operation: a fault known at once. The only exception of this room; it never
 * leaves it (backend.cpp). */
struct failure {
  cvl_error error;
};

struct block;
struct pending;
void retain(block *);
void release(block *);
void retain(pending *);
void release(pending *);
void retain(cvl_vector *);
void release(cvl_vector *);
void retain(cvl_segdes *);
void release(cvl_segdes *);

/* A counted reference to one of these. */
template <class T> class ref {
public:
  ref() = default;
  ref(std::nullptr_t) {}
  /* Takes over the reference of the caller. */
  explicit ref(T *p) : p_(p) {}
  ref(const ref &other) : p_(other.p_) {
    if (p_) retain(p_);
  }
  ref(ref &&other) noexcept : p_(other.p_) { other.p_ = nullptr; }
  ref &operator=(ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~ref() {
    if (p_) release(p_);
  }
  T *get() const { return p_; }
  T *operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }
  /* One more reference to what the caller only borrows. */
  static ref to(T *p) {
    if (p) retain(p);
    return ref(p);
  }
  /* Gives the reference to the caller. */
  T *give() {
    T *p = p_;
    p_ = nullptr;
    return p;
  }

private:
  T *p_ = nullptr;
};

enum class place : uint8_t { host, device };

struct heap;

struct block {
  uint32_t refs;
  place side;
  size_t bytes;    /* asked for */
  size_t capacity; /* of its size class */
  char *at;
  heap *home;
  uint64_t written; /* number of the last command in the window that writes it: queue.hpp */
};

struct heap {
  stream *device;
  uint64_t limit = 0; /* bytes; 0: none */
  uint64_t live = 0, peak = 0, allocations = 0;
  uint64_t fail_in = 0; /* the n-th allocation from now fails; 0: none */
  std::map<size_t, std::vector<char *>> free_host, free_device; /* by capacity */
  std::vector<void *> chunks, pinned_chunks;
  char *chunk_at = nullptr, *chunk_end = nullptr;
  char *pinned_at = nullptr, *pinned_end = nullptr;

  explicit heap(stream *s) : device(s) {}
  ~heap();
  heap(const heap &) = delete;
  heap &operator=(const heap &) = delete;

  /* A block of uninitialised memory; host blocks are pinned. Throws CVL_E_MEMORY. */
  block *take(place, size_t bytes, uint64_t site);
};

} // namespace ravel
#endif
