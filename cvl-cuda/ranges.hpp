/* ranges.hpp - ranges of memory, free or in use: chooses the free range for a request, and
 * merges neighbours. It knows addresses only, and touches no memory.
 *
 * The fit is good, by two levels of sizes: powers of two and eighths of them. Each size has a
 * list of its free ranges and a bit that says whether there are any. (Masmano, Ripoll, Crespo,
 * Real: "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", 2004.) Neighbours merge
 * at once. The range that was given back last is used first, since a cache may still hold it.
 */
#ifndef RAVEL_CUDA_RANGES_HPP
#define RAVEL_CUDA_RANGES_HPP

#include <stddef.h>
#include <stdint.h>

namespace ravel {

struct memory_range {
  char *at;
  size_t bytes;
  uint64_t since;                /* number of the last command before it was free; 0: none */
  bool is_free;                  /* among the free ranges */
  memory_range *before, *behind; /* in its region; null at the ends of that */
  memory_range *newer, *older;   /* in a list; nothing otherwise */
};

/* Ranges in an order of time. */
struct range_list {
  memory_range *newest = nullptr, *oldest = nullptr;

  void add_newest(memory_range *);
  void add_oldest(memory_range *);
  void remove(memory_range *);
};

class free_ranges {
public:
  enum : size_t { UNIT = 256 }; /* of all addresses and sizes */

  free_ranges() = default;
  free_ranges(const free_ranges &) = delete;
  free_ranges &operator=(const free_ranges &) = delete;

  /* Adds a region, which is free as a whole. Returns its first range, which stays the first. */
  memory_range *add(char *at, size_t bytes);
  /* Forgets a region, which must be free as a whole, by its first range. */
  void forget(memory_range *first);
  /* Frees the data about a region, whatever its state. */
  static void end(memory_range *first);

  /* Takes a range of `bytes`, a multiple of UNIT, from one that is little longer and was free
   * before command `before`. Returns null if there is none. */
  memory_range *take(size_t bytes, uint64_t before);
  /* Gives a range back, as the newest. Another one may absorb it. */
  void give(memory_range *);

private:
  enum { SECONDS = 8, SECOND_BITS = 3, BINS = 320, WORD = 64 };
  range_list bins_[BINS];
  uint64_t has_some_[BINS / WORD] = {};

  static int bin_of(size_t bytes);
  int next_bin(int from) const;
  memory_range *fitting(int bin, size_t bytes, uint64_t before) const;
  void put(memory_range *, bool as_newest);
  void withdraw(memory_range *);
  static void absorb(memory_range *, memory_range *behind);
};

} // namespace ravel
#endif
