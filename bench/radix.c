/* radix.c - see radix.h. Least significant digit first, 8 bits at a time, a histogram for each
 * thread and digit; a digit that is the same in all keys is passed over. */
#include "bench/radix.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

enum { DIGITS = 256 };

struct radix {
  pthread_barrier_t step;
  size_t n, (*counts)[DIGITS]; /* one histogram a thread, then the first place of each digit */
  const void *keys;
  void *rank, *work;
  bool trivial;
};

/* Turns histograms into places: digits in order, within a digit threads in order. */
static void places(struct radix *r, unsigned threads) {
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
  static void rank_##word(void *arg, unsigned thread, unsigned threads) {                      \
    struct radix *r = arg;                                                                     \
    const size_t n = r->n, first = n * thread / threads, last = n * (thread + 1) / threads;    \
    word##_t *key = r->work, *index = key + n, *key2 = index + n, *index2 = key2 + n;          \
    size_t *const count = r->counts[thread];                                                   \
    for (size_t i = first; i < last; i++) {                                                    \
      key[i] = ((const word##_t *)r->keys)[i];                                                 \
      index[i] = (word##_t)i;                                                                  \
    }                                                                                          \
    for (unsigned shift = 0; shift < 8 * sizeof *key; shift += 8) {                            \
      for (size_t d = 0; d < DIGITS; d++) count[d] = 0;                                        \
      for (size_t i = first; i < last; i++) count[key[i] >> shift & (DIGITS - 1)]++;           \
      pthread_barrier_wait(&r->step);                                                          \
      if (thread == 0) places(r, threads);                                                     \
      pthread_barrier_wait(&r->step);                                                          \
      if (!r->trivial) {                                                                       \
        for (size_t i = first; i < last; i++) {                                                \
          const size_t to = count[key[i] >> shift & (DIGITS - 1)]++;                           \
          key2[to] = key[i];                                                                   \
          index2[to] = index[i];                                                               \
        }                                                                                      \
        word##_t *const k = key, *const j = index;                                             \
        key = key2, index = index2;                                                            \
        key2 = k, index2 = j;                                                                  \
      }                                                                                        \
      pthread_barrier_wait(&r->step);                                                          \
    }                                                                                          \
    for (size_t i = first; i < last; i++) ((word##_t *)r->rank)[index[i]] = (word##_t)i;       \
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
