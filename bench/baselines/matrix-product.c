/* matrix-product.c - in blocks: those of the second matrix that a band of rows needs next stay
 * in the second-level cache, and the innermost loop adds to a row of the result. */
#include "baseline.h"

#include <string.h>

enum { DEPTH = 64, WIDTH = 512, BAND = 8 };

/* Adds what rows k .. k + depth of b, columns j .. j + width, give to `count` rows of c. */
static void add_block(const real *a, const real *b, real *c, int64_t n, int64_t count,
                      int64_t depth, int64_t width) {
  for (int64_t i = 0; i < count; i++)
    for (int64_t k = 0; k < depth; k++) {
      const real x = a[i * n + k];
      /* vector: real */
#pragma omp simd
      for (int64_t j = 0; j < width; j++) c[i * n + j] += x * b[k * n + j];
    }
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void baseline(const struct array *arguments, struct array *results) {
  const real *a = arguments[0].as.r, *b = arguments[1].as.r;
  const int64_t n = arguments[2].as.i[0];
  real *c = result(results, 0, ARRAY_REAL, n * n)->as.r;
#pragma omp parallel for schedule(dynamic)
  for (int64_t i = 0; i < n; i += BAND) {
    const int64_t count = least(BAND, n - i);
    memset(c + i * n, 0, (size_t)(count * n) * sizeof *c);
    for (int64_t j = 0; j < n; j += WIDTH)
      for (int64_t k = 0; k < n; k += DEPTH)
        add_block(a + i * n + k, b + k * n + j, c + i * n + j, n, count, least(DEPTH, n - k),
                  least(WIDTH, n - j));
  }
}
