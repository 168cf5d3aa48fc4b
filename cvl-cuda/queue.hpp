/* queue.hpp - what is put into the stream, counted.
 *
 * The host learns that work is done by epochs: `close_epoch` ends the current one, and
 * `reached(e)` says whether everything issued in it is done.
 */
#ifndef RAVEL_CUDA_QUEUE_HPP
#define RAVEL_CUDA_QUEUE_HPP

#include "cvl-cuda/memory.hpp"

namespace ravel {

struct queue {
  stream *device;
  uint64_t launches = 0, waits = 0, bytes_up = 0, bytes_down = 0;
  uint64_t launch_ns = 0, wait_ns = 0;
  uint64_t epoch = 1; /* of what is issued now */
  uint64_t done = 0;  /* the last one known to be reached */

  explicit queue(stream *s) : device(s) {}

  /* Runs in order with everything issued before. */
  void run(const launch &);
  void fill(void *device_memory, uint8_t byte, size_t bytes);
  /* Copies host memory of any kind to the device; `from` may change as soon as this returns. */
  void upload(heap &, block *to, const void *from, size_t bytes, uint64_t site);
  /* Copies to pinned memory, which is there when the current epoch is reached. */
  void download(void *pinned, const void *from_device, size_t bytes);
  /* Whether all work of an epoch is done; never waits. */
  bool reached(uint64_t e);
  /* Waits for everything issued so far; counted as a wait if something was not done. */
  void finish();

private:
  std::vector<std::pair<uint64_t, ref<block>>> in_flight_; /* pinned sources, by epoch */
  bool idle_ = true; /* nothing issued since the last finish */
};

} // namespace ravel
#endif
