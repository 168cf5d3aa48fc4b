/* range.cpp - the addresses of a checked device: see checker.hpp. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>

#include "cvl-cuda/emulation/checker.hpp"

namespace ravel {
namespace emulation {

enum : size_t {
  PAGE = 65536, /* a multiple of the page size of any system */
  HUGE_PAGE = (size_t)2 << 20,
  UNIT = 256, /* granularity of allocations and gaps */
  MOST_GAP = 4096,
  LARGE = (size_t)1 << 20,   /* allocations from this size on are returned to the system */
  WAITING = (size_t)4 << 20, /* bytes given back before one is used again */
  SIZE = (size_t)32 << 30,   /* bytes of addresses; less if there are not so many */
  LEAST_SIZE = (size_t)256 << 20,
  KEPT = (size_t)12 << 20, /* above this a range does not pass on its pages */
  MOST_ENDED = 4,
};

/* ---- addresses ---- */

static size_t range_length_of(size_t size, bool with_shadow) {
  return with_shadow ? size * (2 + sizeof(cell)) : size;
}

/* Reserves addresses. The range begins at a huge page, but only the memory itself gets huge
 * pages, since each launch opens and closes all of it that is in use. Its shadow uses few
 * bytes, for which a whole huge page would be cleared. */
static char *range_reserve(size_t size, bool with_shadow) {
  const size_t bytes = range_length_of(size, with_shadow);
  void *p = mmap(nullptr, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  const size_t front = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
  char *start = (char *)p + front;
  if (front > 0) munmap(p, front);
  munmap(start + bytes, HUGE_PAGE - front);
  madvise(start, size, MADV_HUGEPAGE);
  return start;
}

/* The ranges of ended contexts, for later contexts: the system takes longer to clear pages than
 * most tests run. Their states are UNALLOCATED. Their cells hold numbers of threads, so the
 * next user takes higher numbers. */
struct addresses {
  char *base;
  size_t size;
  uint32_t numbers;
  bool with_shadow;
};
static struct {
  std::mutex lock;
  std::vector<addresses> all;
} ended;

static bool take_ended(bool with_shadow, addresses *found) {
  const std::lock_guard<std::mutex> guard(ended.lock);
  for (addresses &s : ended.all) {
    if (s.with_shadow != with_shadow) continue;
    *found = s;
    s = ended.all.back();
    ended.all.pop_back();
    return true;
  }
  return false;
}

static bool keep_ended(const addresses &s) {
  const std::lock_guard<std::mutex> guard(ended.lock);
  if (ended.all.size() == MOST_ENDED) return false;
  ended.all.push_back(s);
  return true;
}

static addresses new_addresses(bool with_shadow) {
  for (size_t size = SIZE; size >= LEAST_SIZE; size /= 2) {
    char *p = range_reserve(size, with_shadow);
    if (p != nullptr) return {p, size, 0, with_shadow};
  }
  fputs("emulation: no addresses for the checker; set RAVEL_EMULATION without \"check\"\n",
        stderr);
  abort();
}

range::range(bool with_shadow) : with_shadow_(with_shadow) {
  addresses s;
  if (!take_ended(with_shadow, &s)) s = new_addresses(with_shadow);
  base_ = s.base;
  size_ = s.size;
  numbers = s.numbers;
  if (!with_shadow) return;
  states = (state *)(void *)(base_ + size_);
  cells.write = (uint32_t *)(void *)(base_ + 2 * size_);
  cells.read = cells.write + size_;
  cells.other = cells.read + size_;
}

range::~range() {
  open(true);
  if (with_shadow_ && top_ <= KEPT) memset(states, UNALLOCATED, top_);
  if (top_ <= KEPT && keep_ended({base_, size_, numbers, with_shadow_})) return;
  munmap(base_, range_length_of(size_, with_shadow_));
}

/* ---- allocations ---- */

/* Makes all bytes 0, and frees the memory behind them. */
static void range_clear(void *p, size_t bytes) {
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

/* Frees the huge pages in the bytes until they are used again. */
static void range_drop(char *p, size_t bytes) {
  const uintptr_t first = ((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
  const uintptr_t end = ((uintptr_t)p + bytes) / HUGE_PAGE * HUGE_PAGE;
  if (first < end) madvise((void *)first, end - first, MADV_DONTNEED);
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
    range_drop(base_ + oldest.first, oldest.second);
    if (!with_shadow_) continue;
    range_clear(states + oldest.first, oldest.second);
    cells.from(oldest.first).each([&](uint32_t *numbers_of) {
      range_clear(numbers_of, oldest.second * sizeof *numbers_of);
    });
  }
}

void range::open(bool open) {
  const size_t bytes = std::min((top_ + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE, size_);
  if (bytes > 0 && mprotect(base_, bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
    perror("emulation: mprotect");
}

void range::forget_accesses() {
  cells.each([&](uint32_t *numbers_of) { range_clear(numbers_of, top_ * sizeof *numbers_of); });
}

} // namespace emulation
} // namespace ravel
