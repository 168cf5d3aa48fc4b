/* radix.h - stable radix sorting of keys with their positions, which gives ranks; also the
 * digits for sorting elements without positions (kernels/rank.h).
 *
 * The least significant digit is sorted first, so the time does not depend on the distribution
 * of keys. Digits are taken only from bits that differ between keys; bits below the lowest that
 * varies, and bits above the range, are left out. An item is a key with its position. If both
 * fit 64 bits, the item is *narrow*: all 32-bit keys are, up to 2^32 elements, and 64-bit keys
 * of a small range. Otherwise it is *wide*, with a word for each.
 */
#ifndef RAVEL_CPU_RADIX_H
#define RAVEL_CPU_RADIX_H

#include "cvl-cpu/cpu.h"

/* The range of some keys. */
struct radix_keys {
  uint64_t least, most;
  uint64_t varying; /* bits in which any two of them differ */
};

/* How keys are put into items: (key - least) >> low in `bits` bits, above the position if items
 * are narrow. */
struct radix_format {
  uint64_t least;
  unsigned low, bits;
  unsigned position_bits; /* for narrow items */
  bool wide;
};

struct wide_item {
  uint64_t key, position;
};

/* Returns the format for n elements with such keys. */
struct radix_format radix_format_for(const struct radix_keys *, uint64_t n);
static inline size_t radix_item_bytes(const struct radix_format *f) {
  return f->wide ? sizeof(struct wide_item) : sizeof(uint64_t);
}

/* Sorts the n items in `items`, and sets ranks[position] to the rank of each, an INT of
 * `rank_bytes`. `spare` has room for n items too. Both are overwritten. Works on this thread
 * alone. */
void radix_rank(const struct radix_format *, uint64_t n, void *items, void *spare,
                size_t rank_bytes, void *ranks);

/* Returns the number of chunks into which n items are cut for all threads. There is at least
 * one for each thread, and more for many items, so that a chunk takes some hundredths of a
 * second. */
unsigned radix_chunks(const struct pool *, uint64_t n);
/* Does what radix_rank does, on all threads of the pool, in so many chunks. `counts` has room
 * for radix_counts(chunks) words. False if it was asked to end. */
bool radix_rank_parallel(struct pool *, const struct radix_format *, uint64_t n,
                         unsigned chunks, void *items, void *spare, uint64_t *counts,
                         size_t rank_bytes, void *ranks) __attribute__((warn_unused_result));
size_t radix_counts(unsigned chunks);

/* ---- sorting without positions ---- */

enum {
  /* bits of a digit: a first-level cache holds as many lines that are being written */
  SORT_BITS = 8,
  SORT_DIGITS = 1 << SORT_BITS
};

/* A digit of key - least: `bits` bits from bit `shift` on. */
struct radix_digit {
  uint64_t least;
  unsigned shift, bits;
};

/* Bits low .. high - 1 of key - least, in which keys may differ. */
struct radix_bits {
  uint64_t least;
  unsigned low, high;
};

/* Returns the highest digit, of at most `most` bits. */
static inline struct radix_digit radix_highest(const struct radix_bits *b, unsigned most) {
  const unsigned bits = b->high - b->low < most ? b->high - b->low : most;
  return (struct radix_digit){b->least, b->high - bits, bits};
}

#endif
