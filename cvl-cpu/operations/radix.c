/* radix.c - stable radix sorting of keys with their positions; see radix.h.
 *
 * The last pass moves no items: the place where an item would go is the rank.
 */
#include "cvl-cpu/operations/radix.h"

#include <string.h>

enum {
  /* Bits of a digit, measured. Few bits are better where clearing and summing the counts costs
   * as much as the items. Many bits are better where every pass goes to memory. */
  FEW_BITS = 8,
  MANY_BITS = 11,
  MANY_FROM = 1 << 15, /* so many elements use MANY_BITS */
  DIGITS = 1 << MANY_BITS
};

struct radix_format radix_format_for(const struct radix_keys *k, uint64_t n) {
  const uint64_t range = k->most - k->least;
  if (range == 0) return (struct radix_format){.least = k->least, .position_bits = 63};
  const unsigned low = (unsigned)__builtin_ctzll(k->varying);
  const unsigned bits = 64 - (unsigned)__builtin_clzll(range) - low;
  const unsigned position_bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 0;
  return (struct radix_format){.least = k->least,
                               .low = low,
                               .bits = bits,
                               .position_bits = position_bits,
                               .wide = bits + position_bits > 64};
}

/* One pass over a chunk of the items. */
struct pass {
  const struct radix_format *format;
  const void *from;
  void *to; /* items, or ranks in the last pass */
  /* the digit's place in the key of a wide item, or in a whole narrow item */
  unsigned shift, bits;
  size_t rank_bytes;
  bool last;
};

static inline size_t digit_of(const struct pass *p, uint64_t word) {
  return (size_t)(word >> p->shift) & ((1U << p->bits) - 1);
}

/* Counts the digits of items first .. last - 1. */
static void radix_count(const struct pass *p, uint64_t first, uint64_t last, uint64_t *counts) {
  memset(counts, 0, sizeof *counts << p->bits);
  if (p->format->wide) {
    const struct wide_item *from = p->from;
    for (uint64_t i = first; i < last; i++) counts[digit_of(p, from[i].key)]++;
  } else {
    const uint64_t *from = p->from;
    for (uint64_t i = first; i < last; i++) counts[digit_of(p, from[i])]++;
  }
}

/* Moves items first .. last - 1 to next[digit] of the target, which is incremented. */
static void radix_distribute(const struct pass *p, uint64_t first, uint64_t last,
                             uint64_t *next) {
  if (p->format->wide) {
    const struct wide_item *from = p->from;
    struct wide_item *to = p->to;
    for (uint64_t i = first; i < last; i++) to[next[digit_of(p, from[i].key)]++] = from[i];
  } else {
    const uint64_t *from = p->from;
    uint64_t *to = p->to;
    for (uint64_t i = first; i < last; i++) to[next[digit_of(p, from[i])]++] = from[i];
  }
}

/* Makes the last pass: an item's position in the target is the rank of its element. */
static void radix_deliver(const struct pass *p, uint64_t first, uint64_t last, uint64_t *next) {
  const uint64_t mask = (UINT64_C(1) << p->format->position_bits) - 1;
  const struct wide_item *wide = p->format->wide ? p->from : NULL;
  const uint64_t *narrow = p->from;
  int32_t *short_ranks = p->to;
  int64_t *long_ranks = p->to;
  for (uint64_t i = first; i < last; i++) {
    const uint64_t word = wide ? wide[i].key : narrow[i];
    const uint64_t position = wide ? wide[i].position : word & mask;
    const uint64_t rank = next[digit_of(p, word)]++;
    if (p->rank_bytes == sizeof *short_ranks) {
      short_ranks[position] = (int32_t)rank;
    } else {
      long_ranks[position] = (int64_t)rank;
    }
  }
}

/* Turns the counts of consecutive chunks into the positions to which each chunk writes each
 * digit. If all n items have the same digit, leaves the counts unchanged and returns false. */
static bool radix_scan_counts(const struct pass *p, uint64_t *counts, unsigned chunks,
                              uint64_t n) {
  const size_t digits = (size_t)1 << p->bits;
  for (size_t digit = 0; digit < digits; digit++) {
    uint64_t all = 0;
    for (unsigned chunk = 0; chunk < chunks; chunk++) all += counts[chunk * DIGITS + digit];
    if (all == n) return false;
    if (all) break;
  }
  uint64_t sum = 0;
  for (size_t digit = 0; digit < digits; digit++) {
    for (unsigned chunk = 0; chunk < chunks; chunk++) {
      uint64_t *c = &counts[chunk * DIGITS + digit];
      const uint64_t many = *c;
      *c = sum;
      sum += many;
    }
  }
  return true;
}

/* Returns how many passes are needed; their digits have equal widths where possible. */
static unsigned passes_for(const struct radix_format *f, uint64_t n) {
  const unsigned most = n < MANY_FROM ? FEW_BITS : MANY_BITS;
  return (f->bits + most - 1) / most;
}

static struct pass pass_of(const struct radix_format *f, unsigned k, unsigned passes,
                           void *from, void *to) {
  const unsigned begin = f->bits * k / passes, end = f->bits * (k + 1) / passes;
  return (struct pass){.format = f,
                       .from = from,
                       .to = to,
                       .shift = begin + (f->wide ? 0 : f->position_bits),
                       .bits = end - begin};
}

/* Writes the ranks of items first .. last - 1 if all keys are equal. */
static void deliver_in_order(uint64_t first, uint64_t last, size_t rank_bytes, void *ranks) {
  if (rank_bytes == sizeof(int32_t)) {
    int32_t *r = ranks;
    for (uint64_t i = first; i < last; i++) r[i] = (int32_t)i;
  } else {
    int64_t *r = ranks;
    for (uint64_t i = first; i < last; i++) r[i] = (int64_t)i;
  }
}

void radix_rank(const struct radix_format *f, uint64_t n, void *items, void *spare,
                size_t rank_bytes, void *ranks) {
  const unsigned passes = passes_for(f, n);
  if (passes == 0) {
    deliver_in_order(0, n, rank_bytes, ranks);
    return;
  }
  uint64_t counts[DIGITS];
  for (unsigned k = 0; k < passes; k++) {
    struct pass p = pass_of(f, k, passes, items, spare);
    radix_count(&p, 0, n, counts);
    const bool needed = radix_scan_counts(&p, counts, 1, n);
    if (k + 1 == passes) {
      p.to = ranks;
      p.rank_bytes = rank_bytes;
      if (!needed) memset(counts, 0, sizeof counts);
      radix_deliver(&p, 0, n, counts);
    } else if (needed) {
      radix_distribute(&p, 0, n, counts);
      void *turn = items;
      items = spare;
      spare = turn;
    }
  }
}

/* ---- by all threads ---- */

struct parallel_pass {
  struct pass pass;
  uint64_t n;
  unsigned chunks;
  uint64_t *counts;
};

static uint64_t radix_chunk_begin(const struct parallel_pass *p, uint64_t chunk) {
  return p->n / p->chunks * chunk + (chunk == p->chunks ? p->n % p->chunks : 0);
}

static void radix_count_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct parallel_pass *p = arg;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    radix_count(&p->pass, radix_chunk_begin(p, chunk), radix_chunk_begin(p, chunk + 1),
                p->counts + chunk * DIGITS);
  }
}

static void radix_move_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct parallel_pass *p = arg;
  (void)worker;
  for (uint64_t chunk = first; chunk < last; chunk++) {
    (p->pass.last ? radix_deliver : radix_distribute)(&p->pass, radix_chunk_begin(p, chunk),
                                                      radix_chunk_begin(p, chunk + 1),
                                                      p->counts + chunk * DIGITS);
  }
}

static void radix_order_chunk(void *arg, uint64_t first, uint64_t last, unsigned worker) {
  const struct parallel_pass *p = arg;
  (void)worker;
  deliver_in_order(radix_chunk_begin(p, first), radix_chunk_begin(p, last), p->pass.rank_bytes,
                   p->pass.to);
}

unsigned radix_chunks(const struct pool *pool, uint64_t n) {
  /* elements of a chunk, whose counts take 16 KB */
  enum { CHUNK = 1 << 19, MOST_CHUNKS = 1024 };
  const uint64_t chunks = n / CHUNK < MOST_CHUNKS ? n / CHUNK : MOST_CHUNKS;
  const unsigned threads = pool_threads(pool);
  return chunks > threads ? (unsigned)chunks : threads;
}

size_t radix_counts(unsigned chunks) {
  return (size_t)chunks * DIGITS;
}

bool radix_rank_parallel(struct pool *pool, const struct radix_format *f, uint64_t n,
                         unsigned chunks, void *items, void *spare, uint64_t *counts,
                         size_t rank_bytes, void *ranks) {
  const unsigned passes = passes_for(f, n);
  if (passes == 0) {
    struct parallel_pass p = {
        .pass = {.to = ranks, .rank_bytes = rank_bytes}, .n = n, .chunks = chunks};
    return pool_for(pool, chunks, 1, radix_order_chunk, &p);
  }
  for (unsigned k = 0; k < passes; k++) {
    struct parallel_pass p = {.pass = pass_of(f, k, passes, items, spare),
                              .n = n,
                              .chunks = chunks,
                              .counts = counts};
    p.pass.last = k + 1 == passes;
    if (p.pass.last) {
      p.pass.to = ranks;
      p.pass.rank_bytes = rank_bytes;
    }
    if (!pool_for(pool, p.chunks, 1, radix_count_chunk, &p)) return false;
    const bool needed = radix_scan_counts(&p.pass, counts, p.chunks, n);
    if (!needed && !p.pass.last) continue;
    if (!needed) {
      for (uint64_t chunk = 0; chunk < p.chunks; chunk++) {
        for (size_t digit = 0; digit < DIGITS; digit++) {
          counts[chunk * DIGITS + digit] = radix_chunk_begin(&p, chunk);
        }
      }
    }
    if (!pool_for(pool, p.chunks, 1, radix_move_chunk, &p)) return false;
    void *turn = items;
    items = spare;
    spare = turn;
  }
  return true;
}
