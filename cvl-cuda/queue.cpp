/* queue.cpp - what is put into the stream, counted. */
#include "cvl-cuda/queue.hpp"

#include <string.h>
#include <time.h>

namespace ravel {

static uint64_t now_ns() {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void queue::run(const launch &l) {
  if (l.count == 0) return;
  const uint64_t start = now_ns();
  device->run(l);
  launch_ns += now_ns() - start;
  launches++;
  idle_ = false;
}

void queue::fill(void *device_memory, uint8_t byte, size_t bytes) {
  if (bytes == 0) return;
  device->fill(device_memory, byte, bytes);
  launches++;
  idle_ = false;
}

void queue::upload(heap &h, block *to, const void *from, size_t bytes, uint64_t site) {
  if (bytes == 0) return;
  ref<block> source(h.take(place::host, bytes, site));
  memcpy(source->at, from, bytes);
  device->copy_up(to->at, source->at, bytes);
  in_flight_.emplace_back(epoch, source);
  bytes_up += bytes;
  idle_ = false;
}

void queue::download(void *pinned, const void *from_device, size_t bytes) {
  device->copy_down(pinned, from_device, bytes);
  bytes_down += bytes;
  idle_ = false;
}

bool queue::reached(uint64_t e) {
  if (e > done) done = device->reached();
  return e <= done;
}

void queue::finish() {
  if (idle_) return;
  device->mark(epoch);
  if (!reached(epoch)) {
    const uint64_t start = now_ns();
    waits++;
    device->wait(epoch);
    wait_ns += now_ns() - start;
  }
  done = epoch++;
  in_flight_.clear();
  idle_ = true;
}

} // namespace ravel
