/* scan-typed.h - scan.c for elements of TYPE. */
#define JOINED(a, b) a##b
#define NAMED(a, b)  JOINED(a, b)
#define TOTAL        NAMED(total_, TYPE)
#define SCAN_BLOCK   NAMED(scan_block_, TYPE)
#define FOUR NAMED(four_, TYPE)

typedef TYPE FOUR __attribute__((vector_size(4 * sizeof(TYPE))));

static TYPE TOTAL(const TYPE *x, int64_t n) {
  TYPE sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

/* Writes `before` and the sums that follow; returns the last, which is behind the block. From
 * four elements to the next four there is one addition; the sums among them do not wait for it.
 */
static TYPE SCAN_BLOCK(const TYPE *restrict x, TYPE *restrict y, int64_t n, TYPE before) {
  const FOUR zero = {0};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    FOUR v;
    memcpy(&v, x + i, sizeof v);
    v += __builtin_shufflevector(v, zero, 4, 0, 1, 2);
    v += __builtin_shufflevector(v, zero, 4, 4, 0, 1);
    const FOUR sums = __builtin_shufflevector(v, zero, 4, 0, 1, 2) + before;
    memcpy(y + i, &sums, sizeof sums);
    before += v[3];
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
    for (int64_t at = 0; at < n; at += (int64_t)threads * PIECE, round ^= 1) {
      const int64_t first = min(n, at + (int64_t)me * PIECE), end = min(n, first + PIECE);
      TYPE sum = before;
      if (threads > 1) {
        totals[round][me] = TOTAL(x + first, end - first);
#pragma omp barrier
        for (int k = 0; k < me; k++) sum += totals[round][k];
        for (int k = 0; k < threads; k++) before += totals[round][k];
      }
      for (int64_t i = first; i < end; i += BLOCK) {
        struct block block;
        TYPE *out = block_begin(&block, y, sizeof *y, n, i);
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
#undef FOUR
#undef TYPE
