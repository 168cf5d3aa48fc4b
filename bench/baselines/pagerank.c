/* pagerank.c - each page fetches its share from those that link to it. */
#include "csr.h"

/* The shares of those that link to one page. A few are not worth the beginning and the end of a
 * vector loop. */
static inline real received(const real *shares, const integer *sources, int64_t count) {
  enum { FEW = 24 };
  real sum = 0;
  if (count < FEW) {
    for (int64_t e = 0; e < count; e++) sum += shares[sources[e]];
  } else {
    /* vector: real */
#pragma omp simd reduction(+ : sum)
    for (int64_t e = 0; e < count; e++) sum += shares[sources[e]];
  }
  return sum;
}

void baseline(const struct array *arguments, struct array *results) {
  enum { PART = 2048 };
  const real damping = (real)0.85;
  const int64_t n = arguments[0].length;
  const integer *sources = arguments[1].as.i, *degrees = arguments[2].as.i;
  const integer steps = arguments[3].as.i[0];
  int64_t *offsets = scratch(0, (size_t)(n + 1) * sizeof *offsets);
  real *shares = scratch(1, (size_t)n * sizeof *shares);
  real *ranks = result(results, 0, ARRAY_REAL, n)->as.r;
  offsets_of(arguments[0].as.i, n, offsets);
#pragma omp parallel for
  for (int64_t v = 0; v < n; v++) ranks[v] = 1 / (real)n;
  for (integer step = 0; step < steps; step++) {
    real lost = 0;
    /* vector: real */
    /* Degrees have 32 bits: AVX2 does not convert longer integers. */
#pragma omp parallel for simd reduction(+ : lost)
    for (int64_t v = 0; v < n; v++) {
      shares[v] = degrees[v] ? ranks[v] / (real)(int32_t)degrees[v] : 0;
      lost += degrees[v] ? 0 : ranks[v];
    }
    const real base = (1 - damping + damping * lost) / (real)n;
    /* Few pages have most of the links: parts are handed out as threads come for them. */
#pragma omp parallel for schedule(dynamic, PART)
    for (int64_t v = 0; v < n; v++) {
      const int64_t count = offsets[v + 1] - offsets[v];
      ranks[v] = base + damping * received(shares, sources + offsets[v], count);
    }
  }
}
