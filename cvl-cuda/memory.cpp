/* memory.cpp - blocks by size classes: a freed one waits in the list of its class. */
#include "cvl-cuda/memory.hpp"

#include "base/sanitizers.h"
#include "cvl-cuda/queue.hpp"

namespace ravel {

/* The address sanitizer marks all bytes of a chunk when it is allocated and again when it is
 * freed: 15 ms of each context for one of 64 MB. */
#ifdef RAVEL_ASAN
enum : size_t { MEGABYTES = 4 };
#else
enum : size_t { MEGABYTES = 64 };
#endif

/* SMALL: blocks of which there may be a few more, see `find`. */
enum : size_t {
  SMALL = (size_t)8 << 20,
  LEAST = 256,
  CHUNK = (size_t)MEGABYTES << 20,
  PINNED_CHUNK = (size_t)1 << 20
};

/* Size classes: powers of two and the means between them. At most a third is wasted. */
static size_t class_of(size_t bytes) {
  size_t size = LEAST;
  while (size < bytes) {
    if (size + size / 2 >= bytes && size >= 2 * LEAST) return size + size / 2;
    size *= 2;
  }
  return size;
}

heap::~heap() {
  for (void *p : chunks) device->free(p);
  for (void *p : pinned_chunks) device->free_pinned(p);
}

failure out_of_memory(uint64_t site, size_t bytes, uint64_t limit) {
  failure f{};
  f.error.kind = CVL_E_MEMORY;
  f.error.site = site;
  f.error.value = (int64_t)bytes;
  f.error.limit = (int64_t)limit;
  return f;
}

/* A range of the newest chunk, or a chunk of its own if it is large. */
static char *carve(heap &h, memory_space side, size_t size, bool *own_chunk) {
  const bool on_device = side == memory_space::device;
  char *&at = on_device ? h.chunk_at : h.pinned_at;
  char *&end = on_device ? h.chunk_end : h.pinned_end;
  std::vector<void *> &all = on_device ? h.chunks : h.pinned_chunks;
  const size_t chunk = on_device ? CHUNK : PINNED_CHUNK;
  *own_chunk = size > chunk / 4 || h.device->blocks_apart();
  if (!*own_chunk && (size_t)(end - at) >= size) {
    char *p = at;
    at += size;
    return p;
  }
  const size_t want = *own_chunk ? size : chunk;
  char *p = (char *)(on_device ? h.device->allocate(want) : h.device->allocate_pinned(want));
  if (p == nullptr || h.device->blocks_apart()) return p;
  all.push_back(p);
  if (!*own_chunk) {
    at = p + size;
    end = p + chunk;
  }
  return p;
}

/* Returns free chunks to the device, for blocks of another size; whether there were any. Waits
 * until no command uses them. */
bool heap::give_back() {
  bool any = false;
  order->finish();
  for (auto &list : free_device) {
    std::deque<free_range> kept;
    for (const free_range &p : list.second) {
      if (!p.own_chunk) {
        kept.push_back(p);
        continue;
      }
      for (size_t k = 0; k < chunks.size(); k++) {
        if (chunks[k] == p.at) chunks.erase(chunks.begin() + (std::ptrdiff_t)k--);
      }
      device->free(p.at);
      any = true;
    }
    list.second = kept;
  }
  return any;
}

/* What a command of the window still uses keeps the next one from being joined with an earlier
 * one, and from having its memory set before the window: small blocks rather become more. */
static bool is_used(const heap &h, memory_space side, const heap::free_range &r, size_t size) {
  return side == memory_space::device && size <= SMALL && r.since >= h.order->first;
}

block *heap::find(memory_space side, size_t bytes, bool counted) {
  const size_t size = class_of(bytes);
  std::deque<free_range> &list = (side == memory_space::device ? free_device : free_host)[size];
  free_range range{nullptr, false, 0};
  if (list.empty() || is_used(*this, side, list.front(), size))
    range.at = carve(*this, side, size, &range.own_chunk);
  if (range.at == nullptr && !list.empty()) {
    range = list.front();
    list.pop_front();
  }
  if (range.at == nullptr && side == memory_space::device && give_back())
    range.at = carve(*this, side, size, &range.own_chunk);
  if (range.at == nullptr) return nullptr;
  if (counted) live += bytes;
  if (live > peak) peak = live;
  if (live > recent) recent = live;
  if (side == memory_space::device) order->taken(range.at, bytes, range.since);
  return new block{1,       side,        bytes, size,   range.at, this, range.own_chunk,
                   counted, range.since, 0,     nullptr};
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

block *heap::take_for_copy(size_t bytes, uint64_t site) {
  block *b = find(memory_space::host, bytes, false);
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

/* Memory that nobody refers to any more. */
static void put_back(block *b) {
  heap &h = *b->home;
  if (b->counted) h.live -= b->bytes;
  if (b->side == memory_space::device) h.order->returned(b->at, b->bytes);
  if (h.device->blocks_apart()) {
    if (b->side == memory_space::host) h.device->free_pinned(b->at);
  } else {
    (b->side == memory_space::device ? h.free_device : h.free_host)[b->capacity].push_back(
        {b->at, b->own_chunk, h.order->number});
  }
}

void release(block *b) {
  if (--b->refs > 0) return;
  if (b->whole)
    release(b->whole);
  else
    put_back(b);
  delete b;
}

} // namespace ravel
