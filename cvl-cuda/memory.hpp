/* memory.hpp - blocks of memory on either side, reference counted, within one limit.
 *
 * Memory comes from the stream in a few regions, each at least a quarter of all before it. A
 * thread allocates the first ones while the program is still read and compiled. Blocks are
 * ranges of regions (ranges.hpp). Since everything on the stream happens in order, a block may
 * be handed out again as soon as the host releases it.
 */
#ifndef RAVEL_CUDA_MEMORY_HPP
#define RAVEL_CUDA_MEMORY_HPP

#include <thread>
#include <utility>
#include <vector>

#include "cvl-cuda/ranges.hpp"
#include "cvl-cuda/stream.hpp"

/* In the tables functions have the names of the types that they return. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl/call.h"
#include "cvl/trees.h"
}
#pragma GCC diagnostic pop

namespace ravel {

/* This exception ends an operation with a fault that is known at once. It is the only exception
 * of this room; backend.cpp catches it. */
struct failure {
  cvl_error error;
};

/* Returns the fault CVL_E_MEMORY. */
failure out_of_memory(uint64_t site, size_t bytes, uint64_t limit);

struct block;
struct deferred;
void retain(block *);
void release(block *);
void retain(deferred *);
void release(deferred *);
void retain(cvl_vector *);
void release(cvl_vector *);
void retain(cvl_segdes *);
void release(cvl_segdes *);

/* A counted reference to a block, vector, descriptor or deferred number. */
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
  /* Adds a reference to an object that the caller borrows. */
  static ref to(T *p) {
    if (p) retain(p);
    return ref(p);
  }
  /* Passes the reference to the caller. */
  T *give() {
    T *p = p_;
    p_ = nullptr;
    return p;
  }

private:
  T *p_ = nullptr;
};

enum class memory_space : uint8_t { host, device };

struct heap;

struct block {
  uint32_t refs;
  memory_space side;
  size_t bytes; /* as requested */
  char *at;
  heap *home;
  memory_range *range; /* null: it is an allocation of its own */
  bool counted;        /* counts as memory of the program */
  uint64_t free_since; /* number of the last command before it was free: queue.hpp */
  uint64_t written;    /* number of the last command that writes it */
  block *whole;        /* not null: this is a range of that block, and keeps its memory */
};

/* Returns a reference to bytes first .. first + bytes of a block, without memory of its own.
 * Its owner does not write there (work::take_over). */
block *range_of(block *, size_t first, size_t bytes);

struct queue;

/* The memory of one side. */
struct memory_pool {
  struct region {
    memory_range *first;
    size_t bytes;
  };
  free_ranges free;
  range_list waiting; /* given back by commands of the window, which may still use it */
  std::vector<region> regions;
  size_t held = 0; /* bytes of all regions */

  void add(char *at, size_t bytes);
  /* Frees the waiting memory that was given back before command `before`. */
  void free_waiting(uint64_t before);
  /* Returns the waiting memory of about so many bytes that was given back last, or null. */
  memory_range *take_waiting(size_t bytes);
};

struct heap {
  stream *device;
  queue *order = nullptr; /* the queue of the commands that use the memory */
  uint64_t limit = 0;     /* bytes; 0: none */
  uint64_t live = 0, peak = 0, allocations = 0;
  uint64_t recent = 0;    /* the peak since restart_peak */
  uint64_t most_held = 0; /* bytes of the device, at most so far */
  uint64_t fail_in = 0;   /* the n-th allocation from now fails; 0: none */
  memory_pool of_device, pinned;

  explicit heap(stream *s) : device(s) {}
  ~heap();
  heap(const heap &) = delete;
  heap &operator=(const heap &) = delete;

  /* Begins to allocate a region on either side, on a thread. The first request for a region
   * waits for it. */
  void begin();
  /* Returns a block of uninitialised memory; host blocks are pinned. Throws CVL_E_MEMORY. */
  block *take(memory_space, size_t bytes, uint64_t site);
  /* Returns a block of optional memory, or null if there is none left. It does not count as an
   * allocation. */
  block *try_take(memory_space, size_t bytes);
  /* Returns memory for the back end itself, such as for a small copy under way. It is neither
   * limited nor counted; otherwise, whether a program fits would depend on the progress of the
   * device. */
  block *take_own(memory_space, size_t bytes, uint64_t site);

private:
  std::thread early_; /* allocates the early regions: */
  void *early_device_ = nullptr, *early_pinned_ = nullptr;
  size_t early_bytes_ = 0;

  memory_pool &pool_of(memory_space side) {
    return side == memory_space::device ? of_device : pinned;
  }
  void *allocate(memory_space, size_t bytes);
  bool collect_early();
  size_t next_region(memory_space, size_t least);
  bool grow(memory_space, size_t least);
  bool give_back();
  memory_range *take_unused(memory_space, size_t);
  memory_range *take_anywhere(memory_space, size_t);
  block *find(memory_space, size_t bytes, bool counted);
};

} // namespace ravel
#endif
