/* memory.cpp - see memory.hpp. */
#include "cvl-cuda/ptx/memory.hpp"

#include <string.h>
#include <sys/mman.h>

namespace ravel {
namespace ptx {

enum : uint64_t { ALIGNMENT = 512, GAP = 4096, PAGE = 4096 };

static uint64_t cuda_memory_rounded(uint64_t n, uint64_t align) {
  return (n + align - 1) / align * align;
}

/* Reserves addresses without memory behind them. Returns 0 if the system refuses so many. */
static uint64_t memory_reserve(uint64_t bytes) {
  void *p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? 0 : (uint64_t)p;
}

/* Returns zeros; only those that are touched take memory. */
static uint8_t *bits_for(uint64_t bytes) {
  void *p = mmap(nullptr, bytes / 8, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw error("no addresses for what is known of the device's memory");
  return (uint8_t *)p;
}

memory::memory(uint64_t most, bool checked) : most_(most), checked_(checked) {
  for (reserved_ = (uint64_t)1 << 42; reserved_ >= (uint64_t)1 << 34; reserved_ /= 2) {
    base_ = memory_reserve(reserved_);
    if (base_) break;
  }
  if (base_ == 0) throw error("no addresses for the device's memory");
  if (!checked_) return;
  written_ = bits_for(reserved_);
  away_ = bits_for(reserved_);
}

memory::~memory() {
  munmap((void *)base_, reserved_);
  if (!checked_) return;
  munmap(written_, reserved_ / 8);
  munmap(away_, reserved_ / 8);
}

/* ---- bits ---- */

static void set_bits(uint8_t *bits, uint64_t from, uint64_t count, bool to) {
  uint64_t i = from;
  const uint64_t end = from + count;
  for (; i < end && i % 8; i++) {
    bits[i / 8] = (uint8_t)(to ? bits[i / 8] | 1 << i % 8 : bits[i / 8] & ~(1 << i % 8));
  }
  memset(bits + i / 8, to ? 255 : 0, (end - i) / 8 * (end > i));
  for (i += (end > i ? (end - i) / 8 * 8 : 0); i < end; i++) {
    bits[i / 8] = (uint8_t)(to ? bits[i / 8] | 1 << i % 8 : bits[i / 8] & ~(1 << i % 8));
  }
}

static bool all_set(const uint8_t *bits, uint64_t from, uint64_t count) {
  if (from % 8 + count <= 8) {
    const unsigned wanted = ((1u << count) - 1) << from % 8;
    return (bits[from / 8] & wanted) == wanted;
  }
  for (uint64_t i = from; i < from + count; i++) {
    if (!(bits[i / 8] >> i % 8 & 1)) return false;
  }
  return true;
}

static bool any_set(const uint8_t *bits, uint64_t from, uint64_t count) {
  if (from % 8 + count <= 8) {
    return (bits[from / 8] & ((1u << count) - 1) << from % 8) != 0;
  }
  for (uint64_t i = from; i < from + count; i++) {
    if (bits[i / 8] >> i % 8 & 1) return true;
  }
  return false;
}

static bool bit(const uint8_t *bits, uint64_t i) {
  return bits[i / 8] >> i % 8 & 1;
}

/* ---- allocations ---- */

uint64_t memory::allocate(uint64_t bytes, bool of_host) {
  const uint64_t length = cuda_memory_rounded(bytes + GAP, PAGE), begin = top_;
  if (!of_host && used_ + bytes > most_) return 0;
  if (length > reserved_ - top_) return 0;
  void *p = (void *)(base_ + begin);
  if (mprotect(p, length, PROT_READ | PROT_WRITE) != 0) return 0;
  top_ += length;
  if (!of_host) used_ += bytes;
  const area a{base_ + begin, base_ + begin + bytes, of_host};
  areas_[a.end] = a;
  return a.begin;
}

void memory::release(const area &a) {
  const uint64_t length = cuda_memory_rounded(a.end - a.begin + GAP, PAGE);
  mmap((void *)a.begin, length, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (!a.of_host) used_ -= a.end - a.begin;
}

bool memory::free(uint64_t address) {
  const area *found = find(address);
  if (found == nullptr || found->begin != address) return false;
  release(*found);
  areas_.erase(found->end);
  return true;
}

const area *memory::find(uint64_t address) const {
  const auto a = areas_.upper_bound(address);
  return a != areas_.end() && a->second.begin <= address ? &a->second : nullptr;
}

uint64_t memory::variable(uint64_t bytes, uint64_t, const void *initial) {
  const uint64_t address = allocate(bytes ? bytes : 1, false);
  if (address == 0) throw error("no memory for a module's variable");
  variables_++;
  memcpy((void *)address, initial, bytes);
  wrote(address, bytes);
  return address;
}

/* ---- what is known of bytes ---- */

void memory::taken(uint64_t address, uint64_t bytes) {
  if (!checked_) return;
  set_bits(away_, address - base_, bytes, false);
  set_bits(written_, address - base_, bytes, false);
}

void memory::returned(uint64_t address, uint64_t bytes) {
  if (checked_) set_bits(away_, address - base_, bytes, true);
}

memory_state memory::state(uint64_t address, uint64_t bytes, bool reads) const {
  const uint64_t at = address - base_;
  if (!checked_) return FINE;
  if (any_set(away_, at, bytes)) return GIVEN_BACK;
  return reads && !all_set(written_, at, bytes) ? NEVER_WRITTEN : FINE;
}

void memory::wrote(uint64_t address, uint64_t bytes) {
  if (checked_) set_bits(written_, address - base_, bytes, true);
}

void memory::copy(uint64_t to, uint64_t from, uint64_t bytes) {
  memcpy((void *)to, (const void *)from, bytes);
  const area *a = find(from), *b = find(to);
  if (!checked_ || b == nullptr || b->of_host) return;
  if (a == nullptr || a->of_host) return wrote(to, bytes);
  for (uint64_t i = 0; i < bytes; i++) {
    set_bits(written_, to - base_ + i, 1, bit(written_, from - base_ + i));
  }
}

void memory::fill(uint64_t to, uint8_t byte, uint64_t bytes) {
  memset((void *)to, byte, bytes);
  wrote(to, bytes);
}

} // namespace ptx
} // namespace ravel
