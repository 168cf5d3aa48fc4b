/* queue.hpp - the window: commands that are issued but not yet passed to the device.
 *
 * The delay saves launches. One launch before the window makes all its uploads and sets all
 * memory that is set before it is used (`set`). One launch behind it mirrors all small results
 * to the host. A move may join an earlier one with the same index (`join`). The window is
 * passed to the device (`flush`) when the host waits and when it is long. While the device is
 * idle, all of it is passed at once, except launches that others may soon join, and commands
 * behind these.
 *
 * Every command has a number. An epoch is the time from one flush to the next. `reached(e)`
 * says whether everything of epoch e is done.
 */
#ifndef RAVEL_CUDA_QUEUE_HPP
#define RAVEL_CUDA_QUEUE_HPP

#include <deque>
#include <memory>

#include "cvl-cuda/memory.hpp"
#include "cvl/tuning.h"

namespace ravel {

/* The memory of a block. */
struct address_range {
  void *at;
  size_t bytes;
};

/* A command in the window. */
struct command {
  enum what { LAUNCH, FILL, COPY_UP, COPY_DOWN, COPY, RETURNED } kind;
  uint64_t number;
  bool waits; /* LAUNCH: others may be joined with it, or begin with it */
  launch l;   /* LAUNCH; its body is in `body` */
  std::unique_ptr<char[]> body;
  void *to;
  const void *from;
  size_t bytes;
  uint8_t byte;
  std::vector<address_range> taken; /* RETURNED: blocks that are handed out there again */
};

/* Bytes of the device on their way to the host. */
struct staged_copy {
  const char *at;
  size_t bytes;
  uint64_t epoch;
};

/* Two pinned buffers through which longer copies pass, in either direction. A copy's next range
 * is put into one while the device copies from the other. They belong to the back end: they do
 * not count as memory of the program, and are not larger than the longest copy needs. Ranges
 * lie one behind the other, and an epoch says when all copies of a buffer are done. */
struct staging {
  enum : size_t { MOST = (size_t)32 << 20, LEAST = (size_t)1 << 20, APART = 256 };
  struct buffer {
    char *at = nullptr;
    size_t capacity = 0, used = 0;
    uint64_t epoch = 0; /* of the last range */
  } buffers[2];
  unsigned now = 0;   /* the buffer from which ranges are taken */
  size_t most = MOST; /* bytes of a buffer, and so of a range; tests have fewer */
};

/* Adds the work of `body` to that of a launch still in the window. Returns false if it does not
 * fit. */
typedef bool (*join_function)(void *waiting_body, launch *waiting, const void *body);

struct queue {
  stream *device;
  uint64_t launches = 0, waits = 0, bytes_up = 0, bytes_down = 0;
  uint64_t launch_ns = 0, wait_ns = 0;
  uint64_t epoch = 1;  /* of the window */
  uint64_t done = 0;   /* the last one known to be reached */
  uint64_t number = 0; /* of the last command */
  uint64_t runs = 0;   /* kernels put into the window so far */
  uint64_t first = 1;  /* number of the window's first command */

  staging ring;
  /* Tuning values. most_held is the most launches of an epoch. A launch that others may join,
   * or that the window begins for, is kept back while the device is idle until `company`
   * launches are behind it. */
  uint64_t most_held = tuning_default(TUNE_CUDA_WINDOW);
  uint64_t company = tuning_default(TUNE_CUDA_WINDOW_IDLE);

  explicit queue(stream *s) : device(s) {}
  ~queue();
  queue(const queue &) = delete;
  queue &operator=(const queue &) = delete;

  /* Runs a launch in order with everything issued before. Returns the number of the command. */
  uint64_t run(const launch &);
  /* Runs a launch, or joins it by `join` with one of the same name and kernel in the window,
   * numbered after `after`. Returns the number of the command. */
  uint64_t run_joined(const launch &, join_function join, uint64_t after);
  void fill(void *device_memory, uint8_t byte, size_t bytes);
  /* Sets bytes of a block that was handed out and not used yet. It does so before the window if
   * nothing in the window has used the memory. Returns the number of the command, 0 if it is
   * not one. */
  uint64_t set(const block &, uint8_t byte, size_t bytes);
  /* Copies within the device's memory, to a block or a range of one. */
  void copy_within(block *to, const void *from, size_t bytes);
  /* Copies host memory of any kind to the device; `from` may change as soon as this returns. */
  void upload(heap &, block *to, const void *from, size_t bytes, uint64_t site);
  /* Copies at most `ring.most` bytes of the device's memory. The result says where they are,
   * once the given epoch is reached. They stay there until the next but one call. */
  staged_copy stage_down(const void *from_device, size_t bytes, uint64_t site);
  /* Copies to pinned memory, where the bytes are when the current epoch is reached. */
  void download(void *pinned, const void *from_device, size_t bytes);
  /* Copies small blocks at the end of the window, unless the queue has the last reference to
   * `from` then. */
  void mirror(const ref<block> &to, const ref<block> &from, size_t bytes);
  /* Say that a block of device memory is handed out or returned. `since` is the number of the
   * last command that returned any of it. */
  void taken(void *, size_t, uint64_t since);
  void returned(void *, size_t);

  /* Passes the window to the device, and ends the epoch. */
  void flush();
  /* Returns whether all work of an epoch is done. Never waits. */
  bool reached(uint64_t e);
  /* Waits for everything issued so far. It counts as a wait if something was not done. */
  void finish();
  /* Waits for everything of an epoch. */
  void finish(uint64_t epoch);

private:
  struct copy {
    ref<block> to, from; /* device and pinned, or the reverse */
    size_t bytes;
  };
  std::deque<command> window_;
  struct setting {
    void *to;
    uint8_t byte;
    size_t bytes;
  };
  std::vector<copy> uploads_, mirrors_;
  std::vector<setting> settings_;
  size_t begins_ = 0; /* uploads and settings before the last launch */
  std::deque<std::pair<uint64_t, ref<block>>> in_flight_; /* pinned memory, by epoch */
  size_t held_ = 0;                                       /* launches and fills of the epoch */
  bool works_ = false;  /* the epoch has commands for a device */
  bool passed_ = false; /* the device has some of them */

  command &push(enum command::what);
  uint64_t put(const launch &, bool joinable);
  char *stage(size_t bytes, uint64_t site);
  void enlarge(staging::buffer &, size_t bytes, uint64_t site);
  void upload_small(heap &, block *to, const void *from, size_t bytes, uint64_t site);
  void copy_up(void *to, const void *from, size_t bytes, block *of);
  void issue(const command &);
  template <class G> void issue_timed(G give);
  void issue_launch(const launch &);
  void issue_beginning();
  void issue_mirrors();
  size_t passable() const;
  void pass(size_t commands);
  void maybe_flush();
};

} // namespace ravel
#endif
