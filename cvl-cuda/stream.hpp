/* stream.hpp - the device as the rest of the room sees it: memory, and commands in order.
 *
 * There are two implementations: cuda/stream.cu, and emulation/stream.cpp, which runs the same
 * kernels on the host. Commands are executed in the order in which they are put into a stream,
 * some time later. Epochs report their completion to the host.
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
  const void *kernel; /* a kernel of the CUDA runtime; null in builds without it */
  void (*on_host)(const void *body, int64_t count, const order *);
  /* If not null, the device calls this instead of `kernel`: it calls a library on a stream, and
   * returns a reason on failure. */
  const char *(*on_device)(const void *body, int64_t count, void *native_stream);
  const void *body;
  uint32_t size;
  int32_t unroll = 1; /* threads = 0: for how many indices a thread can load at a time */
  /* threads = 0: not null if `count` is a bound of a number in the device's memory. */
  ptr<const int64_t> count_at = {};
};

struct toolchain;

struct stream {
  virtual ~stream() = default;

  /* Opens what a device needs. Before that it may be asked about, and for memory of the host;
   * other calls open it, too. Returns null, or why it cannot be opened; nothing has changed
   * then. */
  virtual const char *open() { return nullptr; }
  /* Returns whether opening may be put off: memory of the host from before is then like any
   * other. */
  virtual bool may_open_late() { return true; }

  /* Ends an entry of the back end: the thread has its current device back (visit.hpp). */
  virtual void leave() {}

  /* Allocates memory of the device, aligned to at least 256 bytes. Returns null if there is
   * none left. */
  virtual void *allocate(size_t bytes) = 0;
  virtual void free(void *) = 0;
  /* Allocates host memory that the device can copy from and to, and that kernels may write. */
  virtual void *allocate_pinned(size_t bytes) = 0;
  virtual void free_pinned(void *) = 0;
  /* Allocate memory ahead of its use, on any thread. They return null if there is none yet. The
   * device gives up to `most` bytes, less than what is free; *bytes is their number. */
  virtual void *allocate_early(size_t /*most*/, size_t * /*bytes*/) { return nullptr; }
  virtual void *allocate_pinned_early(size_t /*bytes*/) { return nullptr; }

  /* Returns whether every block must be an allocation of its own. The checking emulation then
   * finds accesses behind a block and to freed ones. `returned` returns such a block. */
  virtual bool blocks_apart() { return false; }

  /* Commands run in order, some time later. Host memory is pinned and stays as it is until
   * then. */
  virtual void run(const launch &) = 0;
  /* Runs a launch on the host, now. */
  virtual void run_here(const launch &l) {
    const order forward{1, 0};
    l.on_host(l.body, l.count, &forward);
  }
  virtual void copy_up(void *device, const void *pinned, size_t bytes) = 0;
  virtual void copy_down(void *pinned, const void *device, size_t bytes) = 0;
  /* Copies from the device to itself. */
  virtual void copy(void *to, const void *from, size_t bytes) = 0;
  virtual void fill(void *device, uint8_t byte, size_t bytes) = 0;
  /* Say that a block of device memory is handed out or returned, for the checking emulation. */
  virtual void taken(void *, size_t) {}
  virtual void returned(void *, size_t) {}

  /* -- memory that is shared with other libraries of the process -- */

  /* Returns the number by which they know the device. */
  virtual int number() = 0;
  /* Allocates memory of the device for them, or returns null. *end frees it, on any thread,
   * also when the stream is closed. */
  virtual void *allocate_shared(size_t bytes, void (**end)(void *)) = 0;
  /* Copies between such memory, that of `allocate` and the host's, after what others have given
   * to the device's default stream. Nothing that was issued here may be unfinished. Waits. */
  virtual void copy_shared(void *to, const void *from, size_t bytes) = 0;

  /* Marks an epoch: `reached() >= epoch` says that everything before it is done. Epochs
   * increase. When the device is lost, no more epochs are reached, and no wait takes longer. */
  virtual void mark(uint64_t epoch) = 0;
  /* Says that no command may come for a while, although no epoch ends. */
  virtual void pauses() {}
  virtual uint64_t reached() = 0;
  virtual void wait(uint64_t epoch) = 0;
  /* Announces accesses by the host itself, where the emulation checks them. */
  virtual void host_reads(const void *, size_t) {}

  /* Returns why the device can no longer be used; null while it can. */
  virtual const char *failure() = 0;
  /* Returns the number of multiprocessors to use. */
  virtual int processors() = 0;
  /* Sets the most blocks of a grid for each multiprocessor: a tuning value. */
  virtual void set_grid_blocks(uint64_t) {}
  /* Sets whether kernels may be launched while the one before ends; they wait for it
   * themselves. */
  virtual void set_dependent_launches(bool) {}
  /* Adds up, from now on, the time that launches and fills take on the device. */
  virtual void measure() = 0;
  /* Gives a number that is not 0 while other threads compile or load kernels, or are about to.
   * Measuring does not hold the device back then (spans.hpp). */
  virtual void loads_while(std::shared_ptr<const std::atomic<unsigned>>) {}
  /* Returns the time so far, of launches that are known to be done. Never waits. */
  virtual uint64_t kernel_ns() = 0;
  /* Returns what compiles kernels for this device (toolchain.hpp); the caller owns it. */
  virtual toolchain *new_toolchain() { return nullptr; }
};

} // namespace ravel
#endif
