/* races.cpp - see races.hpp. */
#include "cvl-cuda/ptx/races.hpp"

#include <stdio.h>

namespace ravel {
namespace ptx {

enum { MOST_LOADS = 32, PAGE_BYTES = 4096, WORD = 8 };

/* While all accesses of a launch to a word have one width, the cell of an element's first byte
 * stands for all its bytes. From the first access of another width on, each byte has its own
 * cell. */
struct races::word {
  uint64_t launch = 0;
  unsigned width = 1;
};

struct races::page {
  cell of[PAGE_BYTES];
  word words[PAGE_BYTES / WORD];
};

races::races(clocks &c) : clocks_(c) {}
races::~races() = default;

void races::begin(const launch_of &l) {
  launch_ = &l;
  number_++;
  if (pages_.size() > 4096) pages_.clear();
  last_page_ = UINT64_MAX;
}

/* ---- accesses ---- */

races::page &races::page_of(uint64_t address) {
  const uint64_t number = address / PAGE_BYTES;
  if (number != last_page_) {
    std::unique_ptr<page> &p = pages_[number];
    if (!p) p.reset(new page);
    last_ = p.get();
    last_page_ = number;
  }
  return *last_;
}

/* Copies the cell of each element to all its bytes. */
void races::split(page &p, uint64_t first) {
  word &w = p.words[first / WORD];
  for (unsigned k = 0; k < WORD; k++) {
    const cell &c = p.of[first + k / w.width * w.width];
    if (k % w.width != 0) p.of[first + k] = c;
  }
  w.width = 1;
}

/* Returns how many bytes a cell stands for, at an access to an element of so many bytes. Splits
 * the word's cells if their width is another. */
unsigned races::width_at(page &p, uint64_t at, unsigned bytes) {
  word &w = p.words[at / WORD];
  if (w.launch != number_) w = {number_, bytes};
  if (w.width != bytes) split(p, at / WORD * WORD);
  return w.width;
}

races::cell &races::at(page &p, uint64_t at) {
  cell &c = p.of[at];
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
      readable(k.label) + ": a race: block " + std::to_string(m.block) + ", thread " +
      std::to_string(m.thread) + " " + what + " block " + std::to_string(other.block) +
      ", thread " + std::to_string(other.thread) + " " + "and nothing orders them, at " +
      where + (address >= SHARED_SPACE ? " of shared memory" : "") + ", `" +
      k.text[i.statement] + "' (line " + std::to_string(k.lines[i.statement]) + " of the PTX)");
}

races::strength races::of(const instruction &i) {
  if (i.order == WEAK) return NOBODY;
  return i.within == BLOCK_SCOPE ? OF_BLOCK : OF_ALL;
}

bool races::morally_strong(strength a, const moment &m, strength b, const moment &other) {
  if (a == NOBODY || b == NOBODY) return false;
  return m.block == other.block || (a == OF_ALL && b == OF_ALL);
}

void races::look(cell &c, const moment &m, const clocks::thread_state &t, const instruction &i,
                 ptx::access a, uint64_t address) {
  const strength strong = of(i);
  if (c.written && !morally_strong(strong, m, c.strong, c.write) &&
      !clocks_.ordered(c.write, m, t)) {
    found(a == READ ? "reads what was written by" : "writes what was written by", m, c.write, i,
          address);
  }
  if (a == READ) {
    for (load &r : c.loads) {
      if (r.at.block != m.block || r.at.thread != m.thread) continue;
      r = {m, strong};
      return;
    }
    if (c.loads.size() == MOST_LOADS) c.loads.erase(c.loads.begin());
    c.loads.push_back({m, strong});
    return;
  }
  for (const load &r : c.loads) {
    if (!morally_strong(strong, m, r.strong, r.at) && !clocks_.ordered(r.at, m, t))
      found("writes what was read by", m, r.at, i, address);
  }
  c.loads.clear();
  c.written = true;
  c.strong = strong;
  c.write = m;
}

/* Returns the width of the elements of an access, each of which lies within a word: vectors
 * have several. */
static unsigned element_width(uint64_t address, unsigned bytes) {
  const unsigned width = bytes < WORD ? bytes : (unsigned)WORD;
  const bool whole = (width & (width - 1)) == 0 && bytes % width == 0 && address % width == 0;
  return whole ? width : 1;
}

void races::access(uint32_t block, uint32_t thread, const instruction &i, ptx::access a,
                   uint64_t address, unsigned bytes) {
  if (i.where == PARAM || i.where == LOCAL) return;
  address = address_of_block(block, i, address);
  const moment m = clocks_.now(block, thread);
  const clocks::thread_state &t = clocks_.state(block, thread);
  const unsigned width = element_width(address, bytes);
  for (unsigned b = 0; b < bytes; b += width) {
    page &p = page_of(address + b);
    const uint64_t first = (address + b) % PAGE_BYTES;
    const unsigned step = width_at(p, first, width);
    for (unsigned k = 0; k < width; k += step)
      look(at(p, first + k), m, t, i, a, address + b + k);
  }
}

} // namespace ptx
} // namespace ravel
