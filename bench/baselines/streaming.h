/* streaming.h - results written past the caches.
 *
 * A store into memory that is not cached reads the line first: a result of n bytes costs 2n.
 * Compilers do not avoid that (GCC 12 reads `omp simd nontemporal` and does nothing), libraries
 * do. Here a loop computes its result in blocks:
 *
 *     #pragma omp parallel for
 *     for (int64_t at = 0; at < n; at += BLOCK) {
 *       struct block block;
 *       real *out = block_begin(&block, z, sizeof *z, n, at);
 *       for (int64_t k = 0; k < block.count; k++) out[k] = ...x[at + k]...;
 *       block_end(&block);
 *     }
 *
 * where `out` points into the result or, if that is large, to a buffer that stays in the first
 * cache and is copied from there. Blocks are short: memory is fastest when it alternates
 * between reading and writing a few lines. */
#ifndef RAVEL_BENCH_STREAMING_H
#define RAVEL_BENCH_STREAMING_H

#include "baseline.h"

#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

enum {
  BLOCK_BYTES = 512,
  BLOCK = BLOCK_BYTES / sizeof(real),
  STREAMED_BYTES = 4 << 20 /* results of more are */
};

struct block {
  _Alignas(64) unsigned char buffer[BLOCK_BYTES];
  unsigned char *to;
  int64_t count; /* of elements */
  size_t bytes;  /* if streamed, otherwise 0 */
};

/* Elements from `at` on, a block of them or what is left, of a result of n: where to put them.
 * `at` is a multiple of a block, and the result aligned, as `result` of baseline.h makes it. */
static inline void *block_begin(struct block *block, void *result, size_t element, int64_t n,
                                int64_t at) {
  block->to = (unsigned char *)result + (size_t)at * element;
  const int64_t most = BLOCK_BYTES / (int64_t)element;
  block->count = n - at < most ? n - at : most;
  const bool streamed = (size_t)n * element > STREAMED_BYTES;
  block->bytes = streamed ? (size_t)block->count * element : 0;
  return streamed ? block->buffer : block->to;
}

/* A copy past the caches; both are aligned to 32 bytes. */
static inline void copy_past(void *to, const void *from, size_t bytes) {
  size_t k = 0;
#ifdef __AVX__
  for (; k + 32 <= bytes; k += 32)
    _mm256_stream_si256(
        (__m256i *)(void *)((char *)to + k),
        _mm256_load_si256((const __m256i *)(const void *)((const char *)from + k)));
#endif
  memcpy((char *)to + k, (const char *)from + k, bytes - k);
}

static inline void block_end(const struct block *block) {
  copy_past(block->to, block->buffer, block->bytes);
}

#endif
