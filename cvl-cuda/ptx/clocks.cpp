/* clocks.cpp - see clocks.hpp. */
#include "cvl-cuda/ptx/clocks.hpp"

#include <algorithm>

namespace ravel {
namespace ptx {

/* ---- knowledge of a thread ---- */

typedef std::vector<std::pair<uint32_t, uint32_t>> thread_times; /* by thread */

static bool before_thread(const std::pair<uint32_t, uint32_t> &t, uint32_t thread) {
  return t.first < thread;
}

bool knowledge::has(const moment &m) const {
  const auto found = blocks.find(m.block);
  if (found == blocks.end()) return false;
  const of_block &b = found->second;
  if (m.barriers != b.barriers) return m.barriers < b.barriers;
  const auto t = std::lower_bound(b.times.begin(), b.times.end(), m.thread, before_thread);
  return t != b.times.end() && t->first == m.thread && m.time <= t->second;
}

/* Adds the moment, and what its thread did before. */
void knowledge::add(const moment &m) {
  of_block &b = blocks[m.block];
  if (m.barriers < b.barriers) return;
  if (m.barriers > b.barriers) b.times.clear();
  b.barriers = m.barriers;
  const auto t = std::lower_bound(b.times.begin(), b.times.end(), m.thread, before_thread);
  if (t != b.times.end() && t->first == m.thread) {
    t->second = std::max(t->second, m.time);
  } else {
    b.times.insert(t, {m.thread, m.time});
  }
}

/* Returns the later time of each thread. */
static thread_times merged(const thread_times &a, const thread_times &b) {
  thread_times all;
  all.reserve(a.size() + b.size());
  for (auto x = a.begin(), y = b.begin(); x != a.end() || y != b.end();) {
    const bool of_a = y == b.end() || (x != a.end() && x->first <= y->first);
    const bool of_b = x == a.end() || (y != b.end() && y->first <= x->first);
    all.push_back(
        {of_a ? x->first : y->first, std::max(of_a ? x->second : 0, of_b ? y->second : 0)});
    x += of_a;
    y += of_b;
  }
  return all;
}

static bool covers(const knowledge::of_block &a, const knowledge::of_block &b) {
  if (a.barriers != b.barriers) return a.barriers > b.barriers;
  auto x = a.times.begin();
  return std::all_of(b.times.begin(), b.times.end(), [&](const auto &t) {
    while (x != a.times.end() && x->first < t.first) ++x;
    return x != a.times.end() && x->first == t.first && x->second >= t.second;
  });
}

void knowledge::add(const knowledge &other) {
  for (const auto &o : other.blocks) {
    of_block &b = blocks[o.first];
    if (o.second.barriers > b.barriers) b = o.second;
    if (o.second.barriers < b.barriers || covers(b, o.second)) continue;
    b.times = merged(b.times, o.second.times);
  }
}

bool knowledge::has_all(const knowledge &other) const {
  return std::all_of(other.blocks.begin(), other.blocks.end(), [&](const auto &o) {
    const auto found = blocks.find(o.first);
    return found != blocks.end() && covers(found->second, o.second);
  });
}

shared_knowledge joined(const shared_knowledge &a, const shared_knowledge &b) {
  if (!a || a == b) return b;
  if (!b || a->has_all(*b)) return a;
  if (b->has_all(*a)) return b;
  auto both = std::make_shared<knowledge>(*a);
  both->add(*b);
  return both;
}

void by_scope::add(const by_scope &other) {
  in_block = joined(in_block, other.in_block);
  everywhere = joined(everywhere, other.everywhere);
  to_host = joined(to_host, other.to_host);
}

/* ---- threads ---- */

void clocks::begin(const launch_of &l) {
  threads_ = l.threads.count();
  blocks_.clear();
  fences_.reset();
}

void clocks::block_begins(uint32_t block) {
  blocks_[block].threads.resize(threads_);
}

clocks::thread_state &clocks::state(uint32_t block, uint32_t thread) {
  return blocks_[block].threads[thread];
}

moment clocks::now(uint32_t block, uint32_t thread) {
  const block_of &b = blocks_[block];
  return {block, thread, b.barriers, b.threads[thread].time};
}

bool clocks::ordered(const moment &before, const moment &m, const thread_state &t) const {
  if (before.block == m.block) {
    if (before.thread == m.thread || before.barriers < m.barriers) return true;
  }
  return t.knows && t.knows->has(before);
}

by_scope clocks::release(const moment &m, thread_state &t, scope within) {
  auto all = t.knows ? std::make_shared<knowledge>(*t.knows) : std::make_shared<knowledge>();
  all->add(m);
  t.time++;
  return {all, within == BLOCK_SCOPE ? nullptr : all, within == SYSTEM_SCOPE ? all : nullptr};
}

void clocks::acquire(thread_state &t, const by_scope &seen) {
  t.knows = joined(joined(t.knows, seen.in_block), seen.everywhere);
}

/* ---- fences ---- */

/* The thread knows from here on what it has seen. Its later stores publish what it has done and
 * knows. A fence of block scope leaves what came from other blocks to a wider fence. */
void clocks::fenced(uint32_t block, uint32_t thread, const instruction &i) {
  if (i.control_of == WARP_SYNC) return; /* see lanes_met */
  thread_state &t = state(block, thread);
  acquire(t, {t.seen.in_block, i.within == BLOCK_SCOPE ? nullptr : t.seen.everywhere, nullptr});
  t.seen.in_block.reset();
  if (i.within != BLOCK_SCOPE) t.seen.everywhere.reset();
  const bool meets = fences_meet_ && i.order == SEQUENTIAL;
  if (meets)
    acquire(t, {blocks_[block].fences, i.within == BLOCK_SCOPE ? nullptr : fences_, nullptr});
  const by_scope all = release(now(block, thread), t, i.within);
  t.releases.in_block = all.in_block;
  if (all.everywhere) t.releases.everywhere = all.everywhere;
  if (all.to_host) t.releases.to_host = all.to_host;
  if (!meets) return;
  blocks_[block].fences = all.in_block;
  if (all.everywhere) fences_ = all.everywhere;
}

/* ---- barriers ---- */

/* All threads know what any of them knows. What they did is known by the number of barriers. */
void clocks::block_met(uint32_t block) {
  block_of &b = blocks_[block];
  b.barriers++;
  shared_knowledge all;
  for (const thread_state &t : b.threads) all = joined(all, t.knows);
  for (thread_state &t : b.threads) t.knows = all;
}

void clocks::lanes_met(uint32_t block, uint32_t warp, lanes l) {
  auto all = std::make_shared<knowledge>();
  for_lanes(l, [&](unsigned lane) {
    const uint32_t thread = warp * WARP + lane;
    thread_state &t = state(block, thread);
    if (t.knows) all->add(*t.knows);
    all->add(now(block, thread));
    t.time++;
  });
  for_lanes(l, [&](unsigned lane) { state(block, warp * WARP + lane).knows = all; });
}

} // namespace ptx
} // namespace ravel
