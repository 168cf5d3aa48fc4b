/* stream.hpp - the device as the rest of the room sees it: memory, and work done in order.
 *
 * Two implementations: cuda/stream.cu, and emulation/stream.cpp, which runs the same kernels on
 * the host. Commands are executed in the order in which they are put into a stream, some time
 * later; epochs report their completion to the host.
 */
#ifndef RAVEL_CUDA_STREAM_HPP
#define RAVEL_CUDA_STREAM_HPP

#include <stddef.h>

#include <atomic>
#include <memory>

#include "cvl-cuda/pointer.hpp"

namespace ravel {

/* One kernel on some body (prelude.hpp): a functor for each of `count` indices (threads = 0),
 * or a cooperative one for each of `count` blocks. The body is plain data and is copied when
 * the launch is issued. */
struct launch {
  const char *name; /* static */
  int64_t count;
  int32_t threads;
  const void *kernel; /* of the CUDA runtime; null in builds without */
  void (*on_host)(const void *body, int64_t count, const order *);
  /* If not null, what a device does instead of `kernel`: calls of a library on a stream. Gives
   * a reason if they fail. */
  const char *(*on_device)(const void *body, int64_t count, void *native_stream);
  const void *body;
  uint32_t size;
  int32_t unroll = 1; /* threads = 0: for how many indices a thread can load at a time */
  /* threads = 0: not null where `count` is a bound of a number in the device's memory. */
  ptr<const int64_t> count_at = {};
};

struct toolchain;

struct stream {
  virtual ~stream() = default;

  /* What a device needs is opened: until then it may be asked about, and for memory of the
   * host; other calls open it, too. Why it cannot be, and nothing has changed; null: it is
   * open. */
  virtual const char *open() { return nullptr; }
  /* Whether that may be put off: memory of the host from before is then like any other. */
  virtual bool may_open_late() { return true; }

  /* The end of an entry of the back end: the thread has its current device back (visit.hpp). */
  virtual void leave() {}

  /* Memory of the device, of at least 256-byte alignment; null if there is none left. */
  virtual void *allocate(size_t bytes) = 0;
  virtual void free(void *) = 0;
  /* Host memory that the device can copy from and to, and kernels may write. */
  virtual void *allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void *) = 0;
  /* The same ahead of its use, on any thread; null: there is none yet. Of the device up to
   * `most` bytes, less than what is free; *bytes says how many. */
  virtual void *allocate_early(size_t /*most*/, size_t * /*bytes*/) { return nullptr; }
  virtual void *allocate_pinned_early(size_t /*bytes*/) { return nullptr; }

  /* Whether every block is to be an allocation of its own, for the checking emulation: then it
   * finds accesses behind a block and to freed ones. `returned` returns such a block. */
  virtual bool blocks_apart() { return false; }

  /* In order, some time later. Host memory is pinned and stays as it is until then. */
  virtual void run(const launch &) = 0;
  /* On the host, now. */
  virtual void run_here(const launch &l) {
    const order forward{1, 0};
    l.on_host(l.body, l.count, &forward);
  }
  virtual void copy_up(void *device, const void *pinned, size_t bytes) = 0;
  virtual void copy_down(void *pinned, const void *device, size_t bytes) = 0;
  /* From the device to itself. */
  virtual void copy(void *to, const void *from, size_t bytes) = 0;
  virtual void fill(void *device, uint8_t byte, size_t bytes) = 0;
  /* A block of device memory is handed out or returned: for the checking emulation. */
  virtual void taken(void *, size_t) {}
  virtual void returned(void *, size_t) {}

  /* -- memory that others of the process use, too -- */

  /* The number by which they know the device. */
  virtual int number() = 0;
  /* Memory of the device for them, or null; *end frees it, on any thread, also when the stream
   * is closed. */
  virtual void *allocate_shared(size_t bytes, void (**end)(void *)) = 0;
  /* Copies between such memory, that of `allocate` and the host's, after what others have given
   * to the device's default stream; nothing that was issued here may be unfinished. Waits. */
  virtual void copy_shared(void *to, const void *from, size_t bytes) = 0;

  /* From now on: `reached() >= epoch` says that all before it is done. Epochs increase. When
   * the device is lost, no more epochs are reached, and no wait takes longer. */
  virtual void mark(uint64_t epoch) = 0;
  /* Nothing more may come for a while, and no epoch ends. */
  virtual void pauses() {}
  virtual uint64_t reached() = 0;
  virtual void wait(uint64_t epoch) = 0;
  /* The same for the host's own accesses, where the emulation checks them. */
  virtual void host_reads(const void *, size_t) {}

  /* Why the device can no longer be used; null while it can. */
  virtual const char *failure() = 0;
  /* How many multiprocessors to spread over. */
  virtual int processors() = 0;
  /* Ten times the compute capability; 0: not known. */
  virtual unsigned architecture() { return 0; }
  /* Blocks of a grid for each multiprocessor, at most: a tuning value. */
  virtual void set_grid_blocks(uint64_t) {}
  /* Whether kernels may be launched while the one before ends; they wait for it themselves. */
  virtual void set_dependent_launches(bool) {}
  /* From now on the time that launches and fills take on the device is added up. */
  virtual void measure() = 0;
  /* Kernels are compiled or loaded by other threads while this is not 0, or are about to be:
   * measuring is not to hold the device back then (spans.hpp). */
  virtual void loads_while(std::shared_ptr<const std::atomic<unsigned>>) {}
  /* The sum so far, of what is known to be done: never waits. */
  virtual uint64_t kernel_ns() = 0;
  /* What compiles kernels for this device (toolchain.hpp); owned by the caller. */
  virtual toolchain *new_toolchain() { return nullptr; }
};

} // namespace ravel
#endif
