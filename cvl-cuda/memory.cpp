/* memory.cpp - blocks by size classes: a freed one waits in the list of its class. */
#include "cvl-cuda/memory.hpp"

#include "cvl-cuda/queue.hpp"

namespace ravel {

enum : size_t { LEAST = 256, CHUNK = (size_t)64 << 20, PINNED_CHUNK = (size_t)1 << 20 };

/* Powers of two and the middles between them: at most a third of a block is wasted. */
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

static failure out_of_memory(uint64_t site, size_t bytes, uint64_t limit) {
  failure f{};
  f.error.kind = CVL_E_MEMORY;
  f.error.site = site;
  f.error.value = (int64_t)bytes;
  f.error.limit = (int64_t)limit;
  return f;
}

/* A piece of the newest chunk, or a chunk of its own if it is large. */
static char *carve(heap &h, place side, size_t size, bool *own_chunk) {
  const bool on_device = side == place::device;
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

/* Gives free chunks of the device back to it, for pieces of another size; whether there were
 * any. Nothing may be using them: waits. */
bool heap::give_back() {
  bool any = false;
  order->finish();
  for (auto &list : free_device) {
    std::deque<free_piece> kept;
    for (const free_piece &p : list.second) {
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

block *heap::find(place side, size_t bytes) {
  const size_t size = class_of(bytes);
  std::deque<free_piece> &list = (side == place::device ? free_device : free_host)[size];
  free_piece piece{nullptr, false, 0};
  if (!list.empty()) {
    piece = list.front();
    list.pop_front();
  } else {
    piece.at = carve(*this, side, size, &piece.own_chunk);
    if (piece.at == nullptr && side == place::device && give_back())
      piece.at = carve(*this, side, size, &piece.own_chunk);
  }
  if (piece.at == nullptr) return nullptr;
  live += bytes;
  if (live > peak) peak = live;
  if (side == place::device) order->taken(piece.at, bytes, piece.since);
  return new block{1, side, bytes, size, piece.at, this, piece.own_chunk, piece.since, 0};
}

block *heap::take(place side, size_t bytes, uint64_t site) {
  allocations++;
  if (fail_in > 0 && --fail_in == 0) throw out_of_memory(site, bytes, 0);
  if (limit > 0 && (bytes > limit || live > limit - bytes))
    throw out_of_memory(site, bytes, limit);
  block *b = find(side, bytes);
  if (b == nullptr) throw out_of_memory(site, bytes, limit);
  return b;
}

block *heap::take_if_easy(place side, size_t bytes) {
  if (limit > 0 && (bytes > limit || live > limit - bytes)) return nullptr;
  return find(side, bytes);
}

void retain(block *b) {
  b->refs++;
}

void release(block *b) {
  if (--b->refs > 0) return;
  heap &h = *b->home;
  h.live -= b->bytes;
  if (b->side == place::device) h.order->returned(b->at, b->bytes);
  if (h.device->blocks_apart()) {
    if (b->side == place::host) h.device->free_pinned(b->at);
  } else {
    (b->side == place::device ? h.free_device : h.free_host)[b->capacity].push_back(
        {b->at, b->own_chunk, h.order->number});
  }
  delete b;
}

} // namespace ravel
