/* radix.h - radix sort for the baselines that sort: the highest digit divides the keys into
 * buckets; those of many keys that differ in few bits are then sorted from the lowest digit on,
 * others by the next digit, until they have few keys. All threads take part in the first pass;
 * the buckets, which fit in the cache, are distributed over them. Stable.
 */
#ifndef RAVEL_BENCH_RADIX_H
#define RAVEL_BENCH_RADIX_H

#include "baseline.h"

#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  RADIX_BITS = 8,
  RADIX_DIGITS = 1 << RADIX_BITS,
  RADIX_FEW = 24,
  RADIX_MANY = 1000,
  RADIX_PARALLEL_LEAST = 20000
};

struct radix_counts {
  int64_t of[RADIX_DIGITS];
};

static inline int radix_most_threads(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* Memory for the counts of all threads and the starts of buckets: scratch number k. */
static inline struct radix_counts *radix_scratch(int k) {
  return scratch(k, ((size_t)radix_most_threads() + 1) * sizeof(struct radix_counts));
}

/* Replaces counts by start positions: digits in order, within a digit threads in order. */
static inline void radix_assign(struct radix_counts *counts, int threads, int64_t *begin) {
  int64_t sum = 0;
  for (int d = 0; d < RADIX_DIGITS; d++) {
    begin[d] = sum;
    for (int t = 0; t < threads; t++) {
      const int64_t count = counts[t].of[d];
      counts[t].of[d] = sum;
      sum += count;
    }
  }
}

/* A number without sign that orders integers as they are. */
static inline uint64_t radix_key(integer x) {
  return (uint64_t)x ^ (uint64_t)1 << 63;
}

/* A number without sign that orders reals as they are. */
static inline uint64_t radix_real_key(real x) {
  const double wide = x;
  uint64_t bits;
  memcpy(&bits, &wide, sizeof bits);
  return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

/* Replaces the count of each digit by the position of its first element. */
static inline void radix_starts(int64_t *starts, unsigned digits) {
  int64_t sum = 0;
  for (unsigned d = 0; d < digits; d++) {
    const int64_t count = starts[d];
    starts[d] = sum;
    sum += count;
  }
}

/* How many bits the numbers from 0 to `most` have. */
static inline int radix_bits(uint64_t most) {
  return most == 0 ? 0 : 64 - __builtin_clzll(most);
}

/* Defines NAME, which sorts n elements by KEY(x) - base, a number of so many bits; `other` is
 * room for n more, `counts` is from radix_scratch. NAME_bucket is the part of it for one
 * thread: from `keys` to `keys`, or to `other` where `swap` says so. */
#define RADIX_SORT(NAME, ELEMENT, KEY)                                                         \
  static inline void NAME##_count(const ELEMENT *keys, int64_t n, int shift, unsigned mask,    \
                                  uint64_t base, int64_t *counts) {                            \
    for (int64_t i = 0; i < n; i++) counts[(KEY(keys[i]) - base) >> shift & mask]++;           \
  }                                                                                            \
  static inline void NAME##_move(const ELEMENT *keys, int64_t n, int shift, unsigned mask,     \
                                 uint64_t base, int64_t *starts, ELEMENT *to) {                \
    for (int64_t i = 0; i < n; i++) {                                                          \
      const ELEMENT x = keys[i];                                                               \
      to[starts[(KEY(x) - base) >> shift & mask]++] = x;                                       \
    }                                                                                          \
  }                                                                                            \
                                                                                               \
  /* From the lowest digit on; for many keys of few bits. */                                   \
  static void NAME##_digits(ELEMENT *keys, ELEMENT *other, int64_t n, int bits, uint64_t base, \
                            bool swap) {                                                       \
    const ELEMENT *const wanted = swap ? other : keys;                                         \
    for (int shift = 0; shift < bits; shift += RADIX_BITS) {                                   \
      int64_t starts[RADIX_DIGITS] = {0};                                                      \
      NAME##_count(keys, n, shift, RADIX_DIGITS - 1, base, starts);                            \
      radix_starts(starts, RADIX_DIGITS);                                                      \
      NAME##_move(keys, n, shift, RADIX_DIGITS - 1, base, starts, other);                      \
      ELEMENT *const moved = other;                                                            \
      other = keys;                                                                            \
      keys = moved;                                                                            \
    }                                                                                          \
    if (keys != wanted) memcpy(other, keys, (size_t)n * sizeof *keys);                         \
  }                                                                                            \
                                                                                               \
  static void NAME##_bucket(ELEMENT *keys, ELEMENT *other, int64_t n, int bits, uint64_t base, \
                            bool swap) {                                                       \
    if (n <= RADIX_FEW || bits == 0) {                                                         \
      ELEMENT *const to = swap ? other : keys;                                                 \
      for (int64_t i = 0; i < n; i++) {                                                        \
        const ELEMENT x = keys[i];                                                             \
        int64_t k = i;                                                                         \
        for (; k > 0 && bits && KEY(to[k - 1]) > KEY(x); k--) to[k] = to[k - 1];               \
        to[k] = x;                                                                             \
      }                                                                                        \
      return;                                                                                  \
    }                                                                                          \
    if (n >= RADIX_MANY && bits <= 3 * RADIX_BITS) {                                           \
      NAME##_digits(keys, other, n, bits, base, swap);                                         \
      return;                                                                                  \
    }                                                                                          \
    const int wide = radix_bits((uint64_t)n) - 2,                                              \
              width = wide < RADIX_BITS ? wide : RADIX_BITS;                                   \
    const int shift = bits > width ? bits - width : 0;                                         \
    const unsigned digits = 1U << (bits - shift);                                              \
    int64_t starts[RADIX_DIGITS];                                                              \
    for (unsigned d = 0; d < digits; d++) starts[d] = 0;                                       \
    NAME##_count(keys, n, shift, digits - 1, base, starts);                                    \
    radix_starts(starts, digits);                                                              \
    NAME##_move(keys, n, shift, digits - 1, base, starts, other);                              \
    for (unsigned d = 0; d < digits; d++) {                                                    \
      const int64_t start = d == 0 ? 0 : starts[d - 1], count = starts[d] - start;             \
      if (count > 0) NAME##_bucket(other + start, keys + start, count, shift, base, !swap);    \
    }                                                                                          \
  }                                                                                            \
                                                                                               \
  __attribute__((unused)) static void NAME(ELEMENT *keys, ELEMENT *other, int64_t n, int bits, \
                                           uint64_t base, struct radix_counts *counts) {       \
    if (n < RADIX_PARALLEL_LEAST) {                                                            \
      NAME##_bucket(keys, other, n, bits, base, false);                                        \
      return;                                                                                  \
    }                                                                                          \
    const int shift = bits > RADIX_BITS ? bits - RADIX_BITS : 0;                               \
    int64_t *const begin = counts[radix_most_threads()].of;                                    \
    RADIX_PARALLEL {                                                                           \
      RADIX_THREADS                                                                            \
      const int64_t first = n * thread / threads, many = n * (thread + 1) / threads - first;   \
      struct radix_counts count = {0};                                                         \
      NAME##_count(keys + first, many, shift, RADIX_DIGITS - 1, base, count.of);               \
      counts[thread] = count;                                                                  \
      RADIX_BARRIER RADIX_SINGLE radix_assign(counts, threads, begin);                         \
      count = counts[thread];                                                                  \
      NAME##_move(keys + first, many, shift, RADIX_DIGITS - 1, base, count.of, other);         \
      RADIX_BARRIER RADIX_FOR for (int d = 0; d < RADIX_DIGITS; d++) {                         \
        const int64_t start = begin[d], end = d + 1 < RADIX_DIGITS ? begin[d + 1] : n;         \
        NAME##_bucket(other + start, keys + start, end - start, shift, base, true);            \
      }                                                                                        \
    }                                                                                          \
  }

#ifdef _OPENMP
#define RADIX_PARALLEL _Pragma("omp parallel")
#define RADIX_BARRIER  _Pragma("omp barrier")
#define RADIX_SINGLE   _Pragma("omp single")
#define RADIX_FOR      _Pragma("omp for schedule(dynamic)")
#define RADIX_THREADS  const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
#else
#define RADIX_PARALLEL
#define RADIX_BARRIER
#define RADIX_SINGLE
#define RADIX_FOR
#define RADIX_THREADS const int thread = 0, threads = 1;
#endif

#endif
