/* range.cpp - the addresses of a checked device: see checker.hpp. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "cvl-cuda/emulation/checker.hpp"

namespace ravel {
namespace emulation {

enum : size_t {
  PAGE = 65536, /* of any system */
  UNIT = 256,   /* of all allocations and gaps */
  MOST_GAP = 4096,
  LARGE = (size_t)1 << 20,   /* allocations that are returned to the system */
  WAITING = (size_t)4 << 20, /* bytes given back before one is used again */
  SIZE = (size_t)32 << 30,   /* of addresses; less if there are not so many */
  LEAST_SIZE = (size_t)256 << 20,
};

static void *reserve(size_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  madvise(p, bytes, MADV_HUGEPAGE); /* each launch opens and closes all that is in use */
  return p;
}

/* Makes all bytes 0, and needs no memory for them. */
static void clear(void *p, size_t bytes) {
  const uintptr_t first = ((uintptr_t)p + PAGE - 1) / PAGE * PAGE;
  const uintptr_t end = ((uintptr_t)p + bytes) / PAGE * PAGE;
  if (first >= end) {
    memset(p, 0, bytes);
    return;
  }
  memset(p, 0, first - (uintptr_t)p);
  memset((void *)end, 0, (uintptr_t)p + bytes - end);
  madvise((void *)first, end - first, MADV_DONTNEED);
}

range::range(bool with_shadow) : with_shadow_(with_shadow) {
  for (size_t size = SIZE; size >= LEAST_SIZE; size /= 2) {
    char *p = (char *)reserve(with_shadow ? size * (2 + sizeof(cell)) : size);
    if (p == nullptr) continue;
    base_ = p;
    size_ = size;
    if (with_shadow) {
      states = (state *)(void *)(p + size);
      cells = (cell *)(void *)(p + 2 * size);
    }
    return;
  }
  fputs("emulation: no addresses for the checker; set RAVEL_EMULATION without \"check\"\n",
        stderr);
  abort();
}

range::~range() {
  munmap(base_, with_shadow_ ? size_ * (2 + sizeof(cell)) : size_);
}

void *range::allocate(size_t bytes) {
  size_t size = UNIT;
  while (size < bytes)
    size = size + size / 2 >= bytes ? (size + size / 2 + UNIT - 1) / UNIT * UNIT : 2 * size;
  std::vector<size_t> &list = free_[size];
  size_t at;
  if (!list.empty()) {
    at = list.back();
    list.pop_back();
  } else {
    const size_t gap = std::min<size_t>(MOST_GAP, size);
    if (size > size_ - top_ || gap > size_ - top_ - size) return nullptr;
    at = top_;
    top_ += size + gap;
  }
  sizes_[at] = size;
  if (!with_shadow_) memset(base_ + at, POISON, bytes);
  return base_ + at;
}

void range::free(void *p) {
  if (!has(p)) return;
  const auto found = sizes_.find(offset(p));
  if (found == sizes_.end()) return; /* not the start of an allocation */
  waiting_.push_back({found->first, found->second});
  waiting_bytes_ += found->second;
  sizes_.erase(found);
  while (waiting_bytes_ > WAITING && waiting_.size() > 1) {
    const std::pair<size_t, size_t> oldest = waiting_.front();
    waiting_.pop_front();
    waiting_bytes_ -= oldest.second;
    free_[oldest.second].push_back(oldest.first);
    if (oldest.second < LARGE) continue;
    clear(base_ + oldest.first, oldest.second);
    if (!with_shadow_) continue;
    clear(states + oldest.first, oldest.second);
    clear(cells + oldest.first, oldest.second * sizeof(cell));
  }
}

void range::open(bool open) {
  const size_t bytes = std::min((top_ + PAGE - 1) / PAGE * PAGE, size_);
  if (bytes > 0 && mprotect(base_, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
    perror("emulation: mprotect");
}

void range::forget_accesses() {
  clear(cells, top_ * sizeof(cell));
}

} // namespace emulation
} // namespace ravel
