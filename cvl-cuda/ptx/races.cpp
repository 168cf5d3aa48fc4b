/* races.cpp - see races.hpp. */
#include "cvl-cuda/ptx/races.hpp"

#include <algorithm>

namespace ravel {
namespace ptx {

enum { MOST_LOADS = 32, PAGE_BYTES = 4096 };
/* Addresses of a block's shared memory, apart from global ones and from other blocks'. */
enum : uint64_t { SHARED_SPACE = (uint64_t)1 << 60 };

struct races::page {
  cell of[PAGE_BYTES];
};

races::races() = default;
races::~races() = default;

/* ---- knowledge ---- */

bool knowledge::has(const moment &m) const {
  const auto found = blocks.find(m.block);
  if (found == blocks.end()) return false;
  if (m.barriers < found->second.barriers) return true;
  if (m.barriers > found->second.barriers) return false;
  for (const auto &t : found->second.times) {
    if (t.first == m.thread) return m.time <= t.second;
  }
  return false;
}

/* The moment, and what its thread did before. */
void knowledge::add(const moment &m) {
  of_block &b = blocks[m.block];
  if (m.barriers < b.barriers) return;
  if (m.barriers > b.barriers) b.times.clear();
  b.barriers = m.barriers;
  for (auto &t : b.times) {
    if (t.first != m.thread) continue;
    t.second = std::max(t.second, m.time);
    return;
  }
  b.times.push_back({m.thread, m.time});
}

void knowledge::add(const knowledge &other) {
  for (const auto &o : other.blocks) {
    of_block &b = blocks[o.first];
    if (o.second.barriers > b.barriers) b = o.second;
    if (o.second.barriers < b.barriers) continue;
    for (const auto &t : o.second.times) {
      add({o.first, t.first, o.second.barriers, t.second});
    }
  }
}

/* ---- threads ---- */

void races::begin(const launch_of &l) {
  launch_ = &l;
  number_++;
  blocks_.clear();
  released_.clear();
  if (pages_.size() > 4096) pages_.clear();
  last_page_ = UINT64_MAX;
}

void races::block_begins(uint32_t block) {
  blocks_[block].threads.resize(launch_->threads);
}

races::thread_state &races::state(uint32_t block, uint32_t thread) {
  return blocks_[block].threads[thread];
}

moment races::now(uint32_t block, uint32_t thread) {
  const block_of &b = blocks_[block];
  return {block, thread, b.barriers, b.threads[thread].time};
}

bool races::has_released(uint32_t block, uint32_t thread, const moment &before) {
  const shared_knowledge &all = state(block, thread).releases;
  return all && all->has(before);
}

bool races::ordered(const moment &before, const moment &m, const thread_state &t) const {
  if (before.block == m.block) {
    if (before.thread == m.thread || before.barriers < m.barriers) return true;
  }
  return t.knows && t.knows->has(before);
}

static std::shared_ptr<const knowledge> joined(const std::shared_ptr<const knowledge> &a,
                                               const std::shared_ptr<const knowledge> &b) {
  if (!a || a == b) return b;
  if (!b) return a;
  auto both = std::make_shared<knowledge>(*a);
  both->add(*b);
  return both;
}

/* A fence: what the thread has done, and knows, may be published from here on. */
void races::release(const moment &m, thread_state &t) {
  auto all = t.knows ? std::make_shared<knowledge>(*t.knows) : std::make_shared<knowledge>();
  all->add(m);
  t.releases = all;
  t.time++;
}

void races::acquire(thread_state &t) {
  t.knows = joined(t.knows, t.seen);
  t.seen.reset();
}

void races::fenced(uint32_t block, uint32_t thread, const instruction &i) {
  if (i.control_of == WARP_SYNC) return; /* lanes_met */
  thread_state &t = state(block, thread);
  acquire(t);
  release(now(block, thread), t);
}

/* All know what any of them knows; what they did is known by the number of barriers. */
void races::block_met(uint32_t block) {
  block_of &b = blocks_[block];
  b.barriers++;
  std::shared_ptr<const knowledge> all;
  for (const thread_state &t : b.threads) all = joined(all, t.knows);
  for (thread_state &t : b.threads) t.knows = all;
}

void races::lanes_met(uint32_t block, uint32_t warp, lanes l) {
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

/* ---- accesses ---- */

races::cell &races::at(uint64_t address) {
  const uint64_t number = address / PAGE_BYTES;
  if (number != last_page_) {
    std::unique_ptr<page> &p = pages_[number];
    if (!p) p.reset(new page);
    last_ = p.get();
    last_page_ = number;
  }
  cell &c = last_->of[address % PAGE_BYTES];
  if (c.launch != number_) {
    c.launch = number_;
    c.written = false;
    c.loads.clear();
  }
  return c;
}

void races::found(const char *what, const moment &m, const moment &other, const instruction &i,
                  uint64_t address) const {
  char where[40];
  snprintf(where, sizeof where, "0x%llx", (unsigned long long)(address & (SHARED_SPACE - 1)));
  const kernel &k = *launch_->of;
  throw error(
      readable(k.name) + ": a race: block " + std::to_string(m.block) + ", thread " +
      std::to_string(m.thread) + " " + what + " block " + std::to_string(other.block) +
      ", thread " + std::to_string(other.thread) + " " + "and nothing orders them, at " +
      where + (address >= SHARED_SPACE ? " of shared memory" : "") + ", `" +
      k.text[i.statement] + "' (line " + std::to_string(k.lines[i.statement]) + " of the PTX)");
}

void races::look(cell &c, const moment &m, thread_state &t, const instruction &i, ptx::access a,
                 uint64_t address) {
  const bool weak = i.order == WEAK;
  if (c.written && (weak || c.weak_write) && !ordered(c.write, m, t)) {
    found(a == READ ? "reads what was written by" : "writes what was written by", m, c.write, i,
          address);
  }
  if (a == READ) {
    for (load &r : c.loads) {
      if (r.at.block != m.block || r.at.thread != m.thread) continue;
      r = {m, weak};
      return;
    }
    if (c.loads.size() == MOST_LOADS) c.loads.erase(c.loads.begin());
    c.loads.push_back({m, weak});
    return;
  }
  for (const load &r : c.loads) {
    if ((weak || r.weak) && !ordered(r.at, m, t))
      found("writes what was read by", m, r.at, i, address);
  }
  c.loads.clear();
  c.written = true;
  c.weak_write = weak;
  c.write = m;
}

/* What a store publishes, and what a load sees. An atomic operation does both, and what others
 * published there stays. */
void races::synchronise(const moment &m, thread_state &t, const instruction &i, ptx::access a,
                        uint64_t address) {
  shared_knowledge &there = released_[address];
  if (a != WRITE) {
    t.seen = joined(t.seen, there);
    if (i.order == ACQUIRE || i.order == ACQUIRE_RELEASE) acquire(t);
  }
  if (a == READ) return;
  if (i.order == RELEASE || i.order == ACQUIRE_RELEASE) release(m, t);
  there = a == CHANGE ? joined(there, t.releases) : t.releases;
}

void races::access(uint32_t block, uint32_t thread, const instruction &i, ptx::access a,
                   uint64_t address, unsigned bytes) {
  if (i.where == PARAM || i.where == LOCAL) return;
  const bool shared = i.where == SHARED || address >= SHARED_WINDOW;
  if (shared) address = SHARED_SPACE | (uint64_t)block << 20 | (address & 0xfffff);
  const moment m = now(block, thread);
  thread_state &t = state(block, thread);
  for (unsigned b = 0; b < bytes; b++) look(at(address + b), m, t, i, a, address + b);
  if (i.order != WEAK) synchronise(m, t, i, a, address);
}

} // namespace ptx
} // namespace ravel
