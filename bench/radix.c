/* radix.c - see radix.h. Least significant digit first, 8 bits at a time, a histogram for each
 * thread and digit; a digit that is the same in all keys is passed over. */
#include "bench/radix.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DIGITS = 256 };

struct radix {
  pthread_barrier_t step;
  size_t n,
      (*counts)[DIGITS]; /* one histogram a thread, then the first position of each digit */
  const void *keys;
  void *rank, *work;
  bool trivial;
};

/* Turns histograms into positions: digits in order, within a digit threads in order. */
static void positions(struct radix *r, unsigned threads) {
  size_t sum = 0;
  r->trivial = false;
  for (size_t d = 0; d < DIGITS; d++) {
    const size_t before = sum;
    for (unsigned t = 0; t < threads; t++) {
      const size_t count = r->counts[t][d];
      r->counts[t][d] = sum;
      sum += count;
    }
    if (sum - before == r->n) r->trivial = true;
  }
}

#define RADIX(word)                                                                            \
  struct pair_##word {                                                                         \
    word##_t key, index;                                                                       \
  };                                                                                           \
  static void rank_##word(void *arg, unsigned thread, unsigned threads) {                      \
    struct radix *r = arg;                                                                     \
    const size_t n = r->n, first = n * thread / threads, last = n * (thread + 1) / threads;    \
    struct pair_##word *from = r->work, *to = from + n;                                        \
    size_t *const count = r->counts[thread];                                                   \
    for (size_t i = first; i < last; i++) {                                                    \
      from[i] = (struct pair_##word){((const word##_t *)r->keys)[i], (word##_t)i};             \
    }                                                                                          \
    for (unsigned shift = 0; shift < 8 * sizeof(word##_t); shift += 8) {                       \
      for (size_t d = 0; d < DIGITS; d++) count[d] = 0;                                        \
      for (size_t i = first; i < last; i++) count[from[i].key >> shift & (DIGITS - 1)]++;      \
      pthread_barrier_wait(&r->step);                                                          \
      if (thread == 0) positions(r, threads);                                                  \
      pthread_barrier_wait(&r->step);                                                          \
      if (!r->trivial) {                                                                       \
        for (size_t i = first; i < last; i++) {                                                \
          to[count[from[i].key >> shift & (DIGITS - 1)]++] = from[i];                          \
        }                                                                                      \
        struct pair_##word *const other = from;                                                \
        from = to;                                                                             \
        to = other;                                                                            \
      }                                                                                        \
      pthread_barrier_wait(&r->step);                                                          \
    }                                                                                          \
    for (size_t i = first; i < last; i++) ((word##_t *)r->rank)[from[i].index] = (word##_t)i;  \
  }
RADIX(uint32)
RADIX(uint64)

double radix_rank_seconds(const struct measure_options *o, size_t n, size_t word_bytes,
                          const void *keys, void *rank, void *work, unsigned threads) {
  struct radix r = {.n = n, .keys = keys, .rank = rank, .work = work};
  r.counts = malloc(threads * sizeof *r.counts);
  if (!r.counts || pthread_barrier_init(&r.step, NULL, threads) != 0) abort();
  const double seconds =
      measure_parallel(o, word_bytes == 4 ? rank_uint32 : rank_uint64, &r, threads);
  pthread_barrier_destroy(&r.step);
  free(r.counts);
  return seconds;
}
