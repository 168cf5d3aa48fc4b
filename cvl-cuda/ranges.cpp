/* ranges.cpp - see ranges.hpp. */
#include "cvl-cuda/ranges.hpp"

#include <algorithm>

namespace ravel {

/* ---- a list ---- */

void range_list::add_newest(memory_range *r) {
  r->newer = nullptr;
  r->older = newest;
  (newest ? newest->newer : oldest) = r;
  newest = r;
}

void range_list::add_oldest(memory_range *r) {
  r->older = nullptr;
  r->newer = oldest;
  (oldest ? oldest->older : newest) = r;
  oldest = r;
}

void range_list::remove(memory_range *r) {
  (r->newer ? r->newer->older : newest) = r->older;
  (r->older ? r->older->newer : oldest) = r->newer;
}

/* ---- sizes ---- */

/* Returns the bin of a size. Sizes of less than SECONDS units have a bin each. */
int free_ranges::bin_of(size_t bytes) {
  const uint64_t units = bytes / UNIT;
  if (units < SECONDS) return (int)units;
  const int power = 63 - __builtin_clzll(units);
  const int second = (int)(units >> (power - SECOND_BITS)) % SECONDS;
  return std::min((power - SECOND_BITS + 1) * SECONDS + second, (int)BINS - 1);
}

/* Returns the first bin from `from` on that has a range, or BINS. */
int free_ranges::next_bin(int from) const {
  for (int word = from / WORD; word < BINS / WORD; word++) {
    uint64_t some = has_some_[word];
    if (word == from / WORD) some &= ~(uint64_t)0 << from % WORD;
    if (some) return word * WORD + __builtin_ctzll(some);
  }
  return BINS;
}

void free_ranges::put(memory_range *r, bool as_newest) {
  const int bin = bin_of(r->bytes);
  r->is_free = true;
  has_some_[bin / WORD] |= (uint64_t)1 << bin % WORD;
  if (as_newest) {
    bins_[bin].add_newest(r);
  } else {
    bins_[bin].add_oldest(r);
  }
}

void free_ranges::withdraw(memory_range *r) {
  const int bin = bin_of(r->bytes);
  bins_[bin].remove(r);
  if (bins_[bin].newest == nullptr) has_some_[bin / WORD] &= ~((uint64_t)1 << bin % WORD);
  r->is_free = false;
}

/* ---- regions ---- */

memory_range *free_ranges::add(char *at, size_t bytes) {
  memory_range *r = new memory_range{at, bytes, 0, false, nullptr, nullptr, nullptr, nullptr};
  put(r, false);
  return r;
}

void free_ranges::forget(memory_range *first) {
  withdraw(first);
  delete first;
}

void free_ranges::end(memory_range *first) {
  while (first) {
    memory_range *const behind = first->behind;
    delete first;
    first = behind;
  }
}

/* ---- taking and giving ---- */

/* Returns the newest range of a bin that fits. In the bin of `bytes` itself some are too short,
 * so the search is limited. */
memory_range *free_ranges::fitting(int bin, size_t bytes, uint64_t before) const {
  enum { MOST_LOOKS = 32 };
  int looks = 0;
  for (memory_range *r = bins_[bin].newest; r && looks < MOST_LOOKS; r = r->older, looks++) {
    if (r->bytes >= bytes && r->since < before) return r;
  }
  return nullptr;
}

/* The rest of a range keeps its time. */
memory_range *free_ranges::take(size_t bytes, uint64_t before) {
  memory_range *r = nullptr;
  for (int bin = next_bin(bin_of(bytes)); r == nullptr && bin < BINS; bin = next_bin(bin + 1))
    r = fitting(bin, bytes, before);
  if (r == nullptr) return nullptr;
  withdraw(r);
  if (r->bytes == bytes) return r;
  memory_range *rest = new memory_range{r->at + bytes, r->bytes - bytes, r->since, false, r,
                                        r->behind,     nullptr,          nullptr};
  if (r->behind) r->behind->before = rest;
  r->behind = rest;
  r->bytes = bytes;
  put(rest, false);
  return r;
}

/* Makes the range behind the end of this one. */
void free_ranges::absorb(memory_range *r, memory_range *behind) {
  r->bytes += behind->bytes;
  r->since = std::max(r->since, behind->since);
  r->behind = behind->behind;
  if (r->behind) r->behind->before = r;
  delete behind;
}

void free_ranges::give(memory_range *r) {
  if (r->behind && r->behind->is_free) {
    withdraw(r->behind);
    absorb(r, r->behind);
  }
  if (r->before && r->before->is_free) {
    memory_range *const before = r->before;
    withdraw(before);
    absorb(before, r);
    r = before;
  }
  put(r, true);
}

} // namespace ravel
