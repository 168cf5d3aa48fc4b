/* weak.cpp - see weak.hpp. */
#include "cvl-cuda/ptx/weak.hpp"

#include <string.h>

#include <algorithm>
#include <utility>

namespace ravel {
namespace ptx {

void weak_memory::begin(uint64_t seed) {
  lines_.clear();
  random_ = seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d;
  if (random_ == 0) random_ = 1;
}

/* Returns a number below `below`, from the high bits of xorshift64*. */
size_t weak_memory::draw(size_t below) {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return (size_t)(random_ * 0x2545f4914f6cdd1d >> 33) % below;
}

/* ---- locations ---- */

/* Returns the history of an access's location. A new one begins with the value in memory, and
 * with everything that others released there by stores of other sizes. */
weak_memory::location &weak_memory::at(const access_of &a) {
  std::vector<location> &line = lines_[a.address / MOST_BYTES];
  for (location &x : line) {
    if (x.address == a.address && x.bytes == a.bytes) return x;
  }
  store initial{};
  initial.initial = true;
  for (const location &x : line) {
    const bool overlaps = x.address < a.address + a.bytes && a.address < x.address + x.bytes;
    if (overlaps) initial.released.add(x.history.back().released);
  }
  forget(a);
  line.push_back({a.address, a.bytes, a.memory, {initial}});
  return line.back();
}

/* Forgets all locations that overlap the access. */
void weak_memory::forget(const access_of &a) {
  const auto found = lines_.find(a.address / MOST_BYTES);
  if (found == lines_.end()) return;
  std::vector<location> &line = found->second;
  line.erase(std::remove_if(line.begin(), line.end(),
                            [&](const location &x) {
                              return x.address < a.address + a.bytes &&
                                     a.address < x.address + x.bytes;
                            }),
             line.end());
}

/* ---- what a thread knows ---- */

/* Returns whether the thread knows that the value was stored, or that someone saw it. */
bool weak_memory::knows(const store &s, const view &v) const {
  if (s.initial || clocks_.ordered(s.at, v.now, v.thread)) return true;
  return std::any_of(s.seen_by.begin(), s.seen_by.end(), [&](const moment &seen) {
    return clocks_.ordered(seen, v.now, v.thread);
  });
}

/* Returns the oldest store that the thread may see: the last one that it knows. */
size_t weak_memory::oldest(const location &x, const view &v) const {
  if (!any_) return x.history.size() - 1;
  for (size_t n = x.history.size(); n-- > 0;) {
    if (knows(x.history[n], v)) return n;
  }
  return 0;
}

/* Returns what the thread learns from a store. Each access must have a scope that contains the
 * other's thread. */
by_scope weak_memory::passed(const store &s, const view &v) {
  if (s.initial) return s.released;
  if (s.at.block == v.now.block) return {s.released.in_block, nullptr, nullptr};
  const bool narrow = s.within == BLOCK_SCOPE || v.by.within == BLOCK_SCOPE;
  return {nullptr, narrow ? nullptr : s.released.everywhere, nullptr};
}

/* Orders moments by thread. */
static bool weak_before(const moment &a, const moment &b) {
  return a.block != b.block ? a.block < b.block : a.thread < b.thread;
}

/* Returns whether the thread saw it; `there` is its place among the threads that did. */
static bool saw(const std::vector<moment> &by, const moment &m, size_t &there) {
  const auto at = std::lower_bound(by.begin(), by.end(), m, weak_before);
  there = (size_t)(at - by.begin());
  return at != by.end() && !weak_before(m, *at);
}

/* Notes that a load or an atomic operation sees a store. If it acquires, the thread also learns
 * from what it saw at this location before. */
void weak_memory::see(location &x, size_t n, const view &v) {
  store &s = x.history[n];
  size_t there;
  if (any_ && !saw(s.seen_by, v.now, there))
    s.seen_by.insert(s.seen_by.begin() + (ptrdiff_t)there, v.now);
  const by_scope seen = passed(s, v);
  v.thread.seen.add(seen);
  if (!v.by.acquires()) return;
  clocks::acquire(v.thread, seen);
  for (const store &earlier : x.history) {
    if (saw(earlier.seen_by, v.now, there)) clocks::acquire(v.thread, passed(earlier, v));
  }
}

/* ---- accesses ---- */

uint8_t *weak_memory::load(location &x, const view &v) {
  const size_t last = x.history.size() - 1, first = oldest(x, v);
  size_t n = last;
  if (first < last) {
    const size_t way = draw(4); /* often the ends, where most mistakes show */
    n = way < 2 ? last : way == 2 ? first : first + draw(last - first + 1);
  }
  see(x, n, v);
  return n == last ? x.memory : x.history[n].bytes;
}

/* Makes a store of this thread. It carries what the thread's fences released, and what an
 * earlier release at this location did. */
weak_memory::store weak_memory::made(const location &x, const view &v) {
  store s{};
  s.at = v.now;
  s.within = v.by.within;
  s.released = v.thread.releases;
  for (const store &weak_before : x.history) {
    const bool own =
        weak_before.at.block == v.now.block && weak_before.at.thread == v.now.thread;
    if (!weak_before.initial && own) s.released_here = weak_before.released_here;
  }
  if (v.by.releases()) s.released_here.add(clocks_.release(v.now, v.thread, v.by.within));
  s.released.add(s.released_here);
  return s;
}

/* Inserts the store as number n. Returns where its value goes. */
uint8_t *weak_memory::insert(location &x, size_t n, store s) {
  const bool last = n == x.history.size();
  if (last) memcpy(x.history.back().bytes, x.memory, x.bytes);
  x.history.insert(x.history.begin() + (ptrdiff_t)n, std::move(s));
  const size_t most = any_ ? MOST_STORES : 1;
  if (x.history.size() > most) {
    x.history.erase(x.history.begin());
    n--;
  }
  return last ? x.memory : x.history[n].bytes;
}

/* Inserts a store behind all that the thread knows, and not between an atomic operation and the
 * store that it changed. */
uint8_t *weak_memory::write(location &x, const view &v) {
  size_t n = x.history.size();
  const size_t first = oldest(x, v) + 1;
  if (first < n && draw(4) == 0) n = first + draw(n - first + 1);
  while (x.history[n - 1].changed) n++;
  return insert(x, n, made(x, v));
}

/* Inserts an atomic change. What others released there stays with the value. */
uint8_t *weak_memory::change(location &x, const view &v) {
  const size_t last = x.history.size() - 1, first = oldest(x, v);
  size_t n = last;
  if (first < last && draw(4) == 0) n = first + draw(last - first + 1);
  while (x.history[n].changed) n++;
  see(x, n, v);
  store s = made(x, v);
  s.released.add(x.history[n].released);
  x.history[n].changed = true;
  if (n < last) memcpy(s.bytes, x.history[n].bytes, x.bytes);
  return insert(x, n + 1, std::move(s));
}

bool weak_memory::delays(const access_of &a) {
  return any_ && a.kind == READ && a.by->order == RELAXED && draw(2) == 0;
}

weak_memory::view weak_memory::view_of(const access_of &a) {
  return {clocks_.now(a.block, a.thread), clocks_.state(a.block, a.thread), *a.by};
}

uint8_t *weak_memory::reach(const access_of &a) {
  if (a.by->order == WEAK) return a.memory;
  location &x = at(a);
  const view v = view_of(a);
  switch (a.kind) {
  case READ: return load(x, v);
  case WRITE: return write(x, v);
  case CHANGE: break;
  }
  return change(x, v);
}

} // namespace ptx
} // namespace ravel
