/* streaming.h - results written past the caches.
 *
 * A store into memory that is not cached reads the line first: a result of n bytes costs 2n.
 * Compilers do not avoid that (GCC 12 reads `omp simd nontemporal` and does nothing), libraries
 * do. Here a loop makes its result by blocks:
 *
 *     #pragma omp parallel for
 *     for (int64_t at = 0; at < n; at += BLOCK) {
 *       struct block block;
 *       block_begin(&block, n, at);
 *       real *out = block_of(&block, z);
 *       for (int64_t k = 0; k < block.count; k++) out[k] = ...x[at + k]...;
 *       block_end(&block, z);
 *     }
 *
 * where `out` is the place in the result or, if that is large, a buffer that stays in the first
 * cache and is copied from there. */
#ifndef RAVEL_BENCH_STREAMING_H
#define RAVEL_BENCH_STREAMING_H

#include "baseline.h"

#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

enum { BLOCK = 512, STREAMED_BYTES = 4 << 20 };

struct block {
  _Alignas(64) real buffer[BLOCK];
  int64_t at, count;
  bool streamed;
};

static inline void block_begin(struct block *block, int64_t n, int64_t at) {
  block->at = at;
  block->count = n - at < BLOCK ? n - at : BLOCK;
  block->streamed = n * (int64_t)sizeof(real) > STREAMED_BYTES;
}

/* Where to put the elements of the block. */
static inline real *block_of(struct block *block, real *result) {
  return block->streamed ? block->buffer : result + block->at;
}

/* The result is aligned, as `result` of baseline.h makes it. */
static inline void block_end(struct block *block, real *result) {
  if (!block->streamed) return;
  int64_t k = 0;
#ifdef __AVX__
  enum { LANES = 32 / sizeof(real) };
  for (; k + LANES <= block->count; k += LANES)
    _mm256_stream_si256((__m256i *)(void *)(result + block->at + k),
                        _mm256_load_si256((const __m256i *)(const void *)(block->buffer + k)));
#endif
  memcpy(result + block->at + k, block->buffer + k, (size_t)(block->count - k) * sizeof(real));
}

#endif
