/* traffic.cpp - see traffic.hpp. */
#include "cvl-cuda/ptx/traffic.hpp"

#include <algorithm>

#include "cvl-cuda/ptx/executor.hpp"

namespace ravel {
namespace ptx {

/* ---- requests ---- */

static sector &among(sector *found, unsigned &count, uint64_t number) {
  for (unsigned s = count; s-- > 0;) {
    if (found[s].number == number) return found[s];
  }
  found[count] = sector{number, 0};
  return found[count++];
}

unsigned sectors_of(lanes l, const uint64_t *addresses, unsigned bytes, sector *found) {
  unsigned count = 0;
  const uint32_t mask = (uint32_t)(((uint64_t)1 << bytes) - 1);
  for_lanes(l, [&](unsigned lane) {
    const uint64_t address = addresses[lane];
    among(found, count, address / SECTOR).wanted |= mask << address % SECTOR;
  });
  return count;
}

namespace {

enum { BANKS = 32, WORD = 4 };

/* The words that lanes want of each bank, each once. */
struct bank_load {
  uint64_t words[BANKS][WARP];
  unsigned counts[BANKS] = {0};

  void add(uint64_t word) {
    uint64_t *of = words[word % BANKS];
    unsigned &count = counts[word % BANKS];
    if (std::find(of, of + count, word) == of + count) of[count++] = word;
  }
  unsigned most() const { return *std::max_element(counts, counts + BANKS); }
};

/* Returns the wavefronts of lanes that are served together. */
unsigned conflicts(lanes l, const uint64_t *addresses, unsigned bytes) {
  bank_load banks;
  for_lanes(l, [&](unsigned lane) {
    for (unsigned b = 0; b < bytes; b += WORD) banks.add((addresses[lane] + b) / WORD);
  });
  return banks.most();
}

} // namespace

wavefronts wavefronts_of(lanes l, const uint64_t *addresses, unsigned bytes) {
  const unsigned turns = std::max(1u, bytes / WORD), together = WARP / turns;
  wavefronts w{0, 0};
  for (unsigned turn = 0; turn < turns; turn++) {
    const lanes first = together == WARP ? (lanes)ALL_LANES : ((lanes)1 << together) - 1;
    const lanes served = l & first << turn * together;
    if (served == 0) continue;
    w.taken += conflicts(served, addresses, bytes);
    w.least++;
  }
  return w;
}

/* ---- bytes ---- */

touched_bytes::page &touched_bytes::page_of(uint64_t sector_number) {
  const uint64_t number = sector_number / SECTORS;
  if (number != last_number_) {
    std::unique_ptr<page> &p = pages_[number];
    if (!p) p.reset(new page);
    last_ = p.get();
    last_number_ = number;
  }
  if (last_->as_of != now_) {
    std::fill(last_->read, last_->read + SECTORS, 0);
    std::fill(last_->written, last_->written + SECTORS, 0);
    last_->as_of = now_;
  }
  return *last_;
}

unsigned touched_bytes::read(const sector &s) {
  page &p = page_of(s.number);
  uint32_t &known = p.read[s.number % SECTORS];
  const uint32_t fresh = s.wanted & ~(known | p.written[s.number % SECTORS]);
  known |= s.wanted;
  return (unsigned)__builtin_popcount(fresh);
}

unsigned touched_bytes::write(const sector &s) {
  uint32_t &known = page_of(s.number).written[s.number % SECTORS];
  const uint32_t fresh = s.wanted & ~known;
  known |= s.wanted;
  return (unsigned)__builtin_popcount(fresh);
}

/* ---- round trips ---- */

uint32_t round_trips::trip_of(const slot &s) const {
  for (const value &v : coming_) {
    if (v.at == s.at) return v.trip;
  }
  return 0;
}

/* Returns the round trip after which the operands are there. */
uint32_t round_trips::trip_of(const instruction &i, bool stores) const {
  uint32_t trip = now_;
  for (const slot *s : {&i.a, &i.b, &i.c, &i.e, &i.guard}) trip = std::max(trip, trip_of(*s));
  for (unsigned k = 0; stores && k < 4; k++) trip = std::max(trip, trip_of(i.elements[k]));
  return trip;
}

void round_trips::comes(const slot &s, uint32_t trip) {
  if (s.at == NO_REGISTER) return;
  const auto old = std::find_if(coming_.begin(), coming_.end(),
                                [&](const value &v) { return v.at == s.at; });
  if (old != coming_.end()) coming_.erase(old);
  if (trip > now_) coming_.push_back({s.at, trip});
}

void round_trips::results_come(const instruction &i, uint32_t trip) {
  comes(i.d, trip);
  for (unsigned k = 0; k < 4; k++) comes(i.elements[k], trip);
}

void round_trips::wait(uint32_t trip) {
  now_ = std::max(now_, trip);
  coming_.erase(std::remove_if(coming_.begin(), coming_.end(),
                               [&](const value &v) { return v.trip <= now_; }),
                coming_.end());
}

unsigned round_trips::executed(const instruction &i, bool global) {
  const bool stores = i.counted == GLOBAL_STORE || i.counted == SHARED_STORE;
  const uint32_t before = now_, ready = trip_of(i, stores);
  const bool in_order = i.counted == ATOMIC || i.order != WEAK;
  if (i.control_of != PLAIN || i.counted == FENCE || (global && in_order)) {
    wait(std::max(ready, wanted_));
  } else if (global && stores) {
    wait(ready);
  } else if (!global) {
    wanted_ = std::max(wanted_, ready);
  }
  if (!stores) results_come(i, std::max(ready, now_) + (global ? 1 : 0));
  return now_ - before;
}

} // namespace ptx
} // namespace ravel
