/* memory.hpp - blocks of memory on either side, reference counted, within one limit.
 *
 * Device memory comes in large chunks from the stream and is handed out by size classes; since
 * everything on the stream happens in order, a block may be handed out again as soon as the
 * host releases it.
 */
#ifndef RAVEL_CUDA_MEMORY_HPP
#define RAVEL_CUDA_MEMORY_HPP

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "cvl-cuda/stream.hpp"

/* In the tables functions have the names of the types that they return. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "cvl/cvl.h"
}
#pragma GCC diagnostic pop

namespace ravel {

/* A fault known at once ends an operation by this exception: the only one of this room, which
 * backend.cpp catches. */
struct failure {
  cvl_error error;
};

/* CVL_E_MEMORY. */
failure out_of_memory(uint64_t site, size_t bytes, uint64_t limit);

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

/* A counted reference to one of these objects. */
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
  size_t bytes;    /* requested */
  size_t capacity; /* of its size class */
  char *at;
  heap *home;
  bool own_chunk; /* the memory is a chunk of its own, which can be returned to the device */
  bool counted;   /* among the program's */
  uint64_t free_since; /* number of the last command before it was free: queue.hpp */
  uint64_t written;    /* number of the last command that writes it */
  block *whole;        /* not null: a range of that block, whose memory it keeps */
};

/* A reference to bytes first .. first + bytes of a block: no memory, no allocation. Who has it
 * does not write there (work::take_over). */
block *range_of(block *, size_t first, size_t bytes);

struct queue;

struct heap {
  stream *device;
  queue *order = nullptr; /* of the commands that use the memory */
  uint64_t limit = 0;     /* bytes; 0: none */
  uint64_t live = 0, peak = 0, allocations = 0;
  uint64_t recent = 0;  /* the peak since restart_peak */
  uint64_t fail_in = 0; /* the n-th allocation from now fails; 0: none */
  struct free_range {
    char *at;
    bool own_chunk;
    uint64_t since;
  };
  /* By capacity. The range that has been free for longest is used first: commands in the window
   * rarely use it still. */
  std::map<size_t, std::deque<free_range>> free_host, free_device;
  std::vector<void *> chunks, pinned_chunks;
  char *chunk_at = nullptr, *chunk_end = nullptr;
  char *pinned_at = nullptr, *pinned_end = nullptr;

  explicit heap(stream *s) : device(s) {}
  ~heap();
  heap(const heap &) = delete;
  heap &operator=(const heap &) = delete;

  /* A block of uninitialised memory; host blocks are pinned. Throws CVL_E_MEMORY. */
  block *take(memory_space, size_t bytes, uint64_t site);
  /* The same for optional memory: null if there is none left; not counted as an allocation. */
  block *try_take(memory_space, size_t bytes);
  /* Pinned memory of the back end's own, for a small copy under way: neither limited nor
   * counted, or what fits would depend on how far the device is. */
  block *take_for_copy(size_t bytes, uint64_t site);

private:
  block *find(memory_space, size_t bytes, bool counted);
  bool give_back();
};

} // namespace ravel
#endif
