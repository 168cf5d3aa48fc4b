/* scan-typed.h - scan.c for elements of TYPE; the functions' names end in it. */
#define JOINED(a, b) a##b
#define NAMED(a, b)  JOINED(a, b)
#define TOTAL        NAMED(total_, TYPE)
#define SCAN_PIECE   NAMED(scan_piece_, TYPE)

static TYPE TOTAL(const TYPE *x, int64_t n) {
  TYPE sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; i++) sum += x[i];
  return sum;
}

/* Writes the sums, each with `before` added, and returns the last. Eight at a time, so that the
 * chain from sum to sum has one addition for all of them. */
static TYPE SCAN_PIECE(const TYPE *restrict x, TYPE *restrict y, int64_t n, TYPE before) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const TYPE *v = x + i;
    const TYPE ab = v[0] + v[1], cd = v[2] + v[3], ef = v[4] + v[5], gh = v[6] + v[7];
    const TYPE abcd = ab + cd;
    y[i] = before;
    y[i + 1] = before + v[0];
    y[i + 2] = before + ab;
    y[i + 3] = before + (ab + v[2]);
    y[i + 4] = before + abcd;
    y[i + 5] = before + (abcd + v[4]);
    y[i + 6] = before + (abcd + ef);
    y[i + 7] = before + (abcd + ef + v[6]);
    before += abcd + (ef + gh);
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
      if (threads == 1) {
        before = SCAN_PIECE(x + first, y + first, end - first, before);
        continue;
      }
      totals[round][me] = TOTAL(x + first, end - first);
#pragma omp barrier
      TYPE left = before;
      for (int k = 0; k < me; k++) left += totals[round][k];
      for (int k = 0; k < threads; k++) before += totals[round][k];
      SCAN_PIECE(x + first, y + first, end - first, left);
    }
  }
}

#undef JOINED
#undef NAMED
#undef TOTAL
#undef SCAN_PIECE
#undef TYPE
