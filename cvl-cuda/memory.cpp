/* memory.cpp - regions of memory from the stream, and blocks in them: see memory.hpp. */
#include "cvl-cuda/memory.hpp"

#include <signal.h>

#include <algorithm>
#include <system_error>

#include "base/sanitizers.h"
#include "cvl-cuda/queue.hpp"

namespace ravel {

/* The address sanitizer marks all bytes of a region when it is allocated and when it is freed.
 * For a region of 64 MB this takes 15 ms of each context. */
#ifdef RAVEL_ASAN
enum : size_t { MEGABYTES = 4, EARLY_MEGABYTES = 4 };
#else
enum : size_t { MEGABYTES = 64, EARLY_MEGABYTES = 1024 };
#endif

/* SMALL: such blocks should not lie in memory that the window uses; see `take_unused`. The
 * first regions are for what a context needs before it has the early ones. */
enum : size_t {
  SMALL = (size_t)8 << 20,
  GRAIN = (size_t)2 << 20, /* a device has its memory in such units */
  FIRST = GRAIN,
  REGION = (size_t)MEGABYTES << 20,
  EARLY = (size_t)EARLY_MEGABYTES << 20,
  FIRST_PINNED = (size_t)64 << 10,
  PINNED = (size_t)16 << 20
};

static size_t memory_rounded(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

failure out_of_memory(uint64_t site, size_t bytes, uint64_t limit) {
  failure f{};
  f.error.kind = CVL_E_MEMORY;
  f.error.site = site;
  f.error.value = (int64_t)bytes;
  f.error.limit = (int64_t)limit;
  return f;
}

/* ---- a pool ---- */

void memory_pool::add(char *at, size_t bytes) {
  regions.push_back({free.add(at, bytes), bytes});
  held += bytes;
}

void memory_pool::free_waiting(uint64_t before) {
  while (waiting.oldest && waiting.oldest->since < before) {
    memory_range *const r = waiting.oldest;
    waiting.remove(r);
    free.give(r);
  }
}

memory_range *memory_pool::take_waiting(size_t bytes) {
  enum { MOST_LOOKS = 8, MOST_WASTE = 8 };
  int looks = 0;
  for (memory_range *r = waiting.newest; r && looks < MOST_LOOKS; r = r->older, looks++) {
    if (r->bytes < bytes || r->bytes - bytes > bytes / MOST_WASTE) continue;
    waiting.remove(r);
    return r;
  }
  return nullptr;
}

/* ---- regions ---- */

/* Errors of the thread are ignored, since the memory is requested again when it is needed. The
 * thread takes no signals, which are for the program. */
void heap::begin() {
  if (device->blocks_apart()) return;
  size_t most = EARLY;
  if (limit > 0) most = (size_t)std::min(limit, (uint64_t)most) / GRAIN * GRAIN;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    early_ = std::thread([this, most] {
      if (most > 0) early_device_ = device->allocate_early(most, &early_bytes_);
      early_pinned_ = device->allocate_pinned_early(PINNED);
    });
  } catch (const std::system_error &) { /* no more threads: no memory ahead */
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/* Takes over the early regions. Returns false if they were taken over before. */
bool heap::collect_early() {
  if (!early_.joinable()) return false;
  early_.join();
  if (early_device_) of_device.add((char *)early_device_, early_bytes_);
  if (early_pinned_) pinned.add((char *)early_pinned_, PINNED);
  most_held = std::max(most_held, (uint64_t)of_device.held);
  return true;
}

heap::~heap() {
  collect_early();
  for (const memory_pool::region &r : of_device.regions) {
    device->free(r.first->at);
    free_ranges::end(r.first);
  }
  for (const memory_pool::region &r : pinned.regions) {
    device->free_pinned(r.first->at);
    free_ranges::end(r.first);
  }
}

void *heap::allocate(memory_space side, size_t bytes) {
  return side == memory_space::device ? device->allocate(bytes)
                                      : device->allocate_pinned(bytes);
}

/* Returns the size of the next region: a quarter of all regions so far. So they are few, and
 * the memory held is not far from what is needed. It exceeds the limit only if the
 * free memory lies in ranges that are too small. */
size_t heap::next_region(memory_space side, size_t least) {
  if (side == memory_space::host)
    return std::max(least, pinned.held == 0 ? (size_t)FIRST_PINNED : (size_t)PINNED);
  const size_t held = of_device.held;
  size_t bytes = held == 0 ? (size_t)FIRST : std::max((size_t)REGION, held / 4);
  if (limit > 0) bytes = std::min(bytes, limit > held ? (size_t)(limit - held) : 0);
  return memory_rounded(std::max(bytes, least), GRAIN);
}

bool heap::grow(memory_space side, size_t least) {
  size_t bytes = next_region(side, least);
  void *at = allocate(side, bytes);
  if (at == nullptr && bytes > least) at = allocate(side, bytes = least);
  if (at == nullptr) return false;
  memory_pool &p = pool_of(side);
  p.add((char *)at, bytes);
  most_held = std::max(most_held, (uint64_t)of_device.held);
  return true;
}

/* Returns unused regions to the device, and whether there were any. Waits until no command uses
 * them. */
bool heap::give_back() {
  order->finish();
  of_device.free_waiting(UINT64_MAX);
  const size_t before = of_device.held;
  std::vector<memory_pool::region> kept;
  for (const memory_pool::region &r : of_device.regions) {
    if (!r.first->is_free || r.first->behind) {
      kept.push_back(r);
      continue;
    }
    device->free(r.first->at);
    of_device.free.forget(r.first);
    of_device.held -= r.bytes;
  }
  of_device.regions = kept;
  return of_device.held < before;
}

/* ---- blocks ---- */

/* Finds memory that no command of the window uses. Otherwise the next command could not be
 * joined with an earlier one, nor have its memory set before the window. Small blocks may take
 * a new region for that, as long as small free ranges take at most half of the program's peak.
 * Large blocks take the memory of the last block of about their size, used or not. */
memory_range *heap::take_unused(memory_space side, size_t size) {
  memory_pool &p = pool_of(side);
  if (side == memory_space::device) p.free_waiting(order->first);
  if (size > SMALL) {
    if (memory_range *r = p.take_waiting(size)) return r;
  }
  memory_range *r = p.free.take(size, order->first);
  if (r == nullptr && collect_early()) r = p.free.take(size, order->first);
  const bool grows = r == nullptr && size <= SMALL &&
                     p.held + next_region(side, size) <= peak + peak / 2 && grow(side, size);
  return grows ? p.free.take(size, order->first) : r;
}

memory_range *heap::take_anywhere(memory_space side, size_t size) {
  memory_pool &p = pool_of(side);
  p.free_waiting(UINT64_MAX);
  if (memory_range *r = p.free.take(size, UINT64_MAX)) return r;
  const bool on_device = side == memory_space::device;
  if (on_device && limit > 0 && p.held + size > limit) give_back();
  if (grow(side, size) || (on_device && give_back() && grow(side, size)))
    return p.free.take(size, UINT64_MAX);
  return nullptr;
}

block *heap::find(memory_space side, size_t bytes, bool counted) {
  const size_t size = memory_rounded(std::max(bytes, (size_t)1), free_ranges::UNIT);
  memory_range *r = nullptr;
  char *at = nullptr;
  if (device->blocks_apart()) {
    at = (char *)allocate(side, size);
  } else {
    r = take_unused(side, size);
    if (r == nullptr) r = take_anywhere(side, size);
    if (r) at = r->at;
  }
  if (at == nullptr) return nullptr;
  if (counted) live += bytes;
  if (live > peak) peak = live;
  if (live > recent) recent = live;
  const uint64_t since = r ? r->since : 0;
  if (side == memory_space::device) order->taken(at, bytes, since);
  return new block{1, side, bytes, at, this, r, counted, since, 0, nullptr};
}

block *heap::take(memory_space side, size_t bytes, uint64_t site) {
  allocations++;
  if (fail_in > 0 && --fail_in == 0) throw out_of_memory(site, bytes, 0);
  if (limit > 0 && (bytes > limit || live > limit - bytes))
    throw out_of_memory(site, bytes, limit);
  block *b = find(side, bytes, true);
  if (b == nullptr) throw out_of_memory(site, bytes, limit);
  return b;
}

block *heap::try_take(memory_space side, size_t bytes) {
  if (limit > 0 && (bytes > limit || live > limit - bytes)) return nullptr;
  return find(side, bytes, true);
}

block *heap::take_own(memory_space side, size_t bytes, uint64_t site) {
  block *b = find(side, bytes, false);
  if (b == nullptr) throw out_of_memory(site, bytes, 0);
  return b;
}

void retain(block *b) {
  b->refs++;
}

block *range_of(block *b, size_t first, size_t bytes) {
  block *whole = b->whole ? b->whole : b;
  block *range = new block(*b);
  range->refs = 1;
  range->bytes = bytes;
  range->at = b->at + first;
  range->whole = whole;
  retain(whole);
  return range;
}

/* Puts back the memory of a block that has no references left. */
static void memory_put_back(block *b) {
  heap &h = *b->home;
  if (b->counted) h.live -= b->bytes;
  if (b->side == memory_space::device) h.order->returned(b->at, b->bytes);
  if (b->range == nullptr) { /* `returned` ends a block that is apart on the device */
    if (b->side == memory_space::host) h.device->free_pinned(b->at);
  } else if (b->side == memory_space::device) {
    b->range->since = h.order->number;
    h.of_device.waiting.add_newest(b->range);
  } else {
    h.pinned.free.give(b->range);
  }
}

void release(block *b) {
  if (--b->refs > 0) return;
  if (b->whole)
    release(b->whole);
  else
    memory_put_back(b);
  delete b;
}

} // namespace ravel
