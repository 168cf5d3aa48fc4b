/* scan-typed.h - scan.c for elements of TYPE. */
#define JOINED(a, b) a##b
#define NAMED(a, b)  JOINED(a, b)
#define TOTAL        NAMED(total_, TYPE)
#define SCAN_BLOCK   NAMED(scan_block_, TYPE)
#define EIGHT        NAMED(eight_, TYPE)

typedef TYPE EIGHT __attribute__((vector_size(8 * sizeof(TYPE))));

static TYPE TOTAL(const TYPE *x, int64_t n) {
  TYPE sum = 0;
  /* vector: integer */
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

/* Writes `before` and the sums that follow; returns the last, which is behind the block. From
 * eight elements to the next there is one addition; the sums among them do not wait for it. */
static TYPE SCAN_BLOCK(const TYPE *restrict x, TYPE *restrict y, int64_t n, TYPE before) {
  const EIGHT zero = {0};
  int64_t i = 0;
  /* vector: integer */
  for (; i + 8 <= n; i += 8) {
    EIGHT v;
    memcpy(&v, x + i, sizeof v);
    v += __builtin_shufflevector(v, zero, 8, 0, 1, 2, 3, 4, 5, 6);
    v += __builtin_shufflevector(v, zero, 8, 8, 0, 1, 2, 3, 4, 5);
    v += __builtin_shufflevector(v, zero, 8, 8, 8, 8, 0, 1, 2, 3);
    const EIGHT sums = __builtin_shufflevector(v, zero, 8, 0, 1, 2, 3, 4, 5, 6) + before;
    memcpy(y + i, &sums, sizeof sums);
    before += v[7];
  }
  for (; i < n; i++) {
    y[i] = before;
    before += x[i];
  }
  return before;
}

static void NAMED(scan_, TYPE)(const TYPE *x, TYPE *y, int64_t n) {
  TYPE totals[2][MOST_THREADS];
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    TYPE before = 0;
    int round = 0;
    for (int64_t at = 0; at < n; at += (int64_t)threads * CHUNK, round ^= 1) {
      const int64_t first = min(n, at + (int64_t)me * CHUNK), end = min(n, first + CHUNK);
      TYPE sum = before;
      if (threads > 1) {
        totals[round][me] = TOTAL(x + first, end - first);
#pragma omp barrier
        for (int k = 0; k < me; k++) sum += totals[round][k];
        for (int k = 0; k < threads; k++) before += totals[round][k];
      }
      const int64_t next = (int64_t)threads * CHUNK;
      for (int64_t i = first; i < end; i += BLOCK_BYTES / (int64_t)sizeof *y) {
        struct block block;
        TYPE *out = block_begin(&block, y, sizeof *y, n, i);
        if (i + next < n) ask(x + i + next, BLOCK_BYTES);
        sum = SCAN_BLOCK(x + i, out, min(block.count, end - i), sum);
        block_end(&block);
      }
      if (threads == 1) before = sum;
    }
  }
}

#undef JOINED
#undef NAMED
#undef TOTAL
#undef SCAN_BLOCK
#undef EIGHT
#undef TYPE
