/* flops.c - how many multiplications and additions the processor can do in registers: the
 * limit of programs that are bound by arithmetic. bench/run compiles it like a baseline,
 * without contraction, since Ravel's results and those of plain C are rounded after each
 * operation.
 *
 *     flops THREADS      prints operations a second
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The processor's widest vectors: gcc keeps longer ones in memory. */
#ifdef __AVX512F__
enum { LANES = 8 };
#elif defined __AVX__
enum { LANES = 4 };
#else
enum { LANES = 2 };
#endif
enum { SUMS = 12, ROUNDS = 5000000 };
typedef double vector __attribute__((vector_size(LANES * sizeof(double))));

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* So many independent sums that no addition waits for another; the factor bounds their values.
 */
static double multiply_add(double factor, double addend) {
  vector v[SUMS];
  for (int c = 0; c < SUMS; c++) v[c] = (vector){0} + (double)c;
  for (int r = 0; r < ROUNDS; r++) {
#pragma GCC unroll 12
    for (int c = 0; c < SUMS; c++) v[c] = v[c] * factor + addend;
  }
  vector sum = {0};
  for (int c = 0; c < SUMS; c++) sum += v[c];
  double total = 0;
  for (int l = 0; l < LANES; l++) total += sum[l];
  return total;
}

int main(int argc, char **argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 1;
  double best = 0, unused = 0;
  for (int k = 0; k < 5; k++) {
    const double start = now();
#pragma omp parallel for num_threads(threads) reduction(+ : unused) schedule(static, 1)
    for (int t = 0; t < threads; t++) unused += multiply_add(0.5, 1.0 + 1e-3 * t);
    const double rate = 2.0 * SUMS * LANES * ROUNDS * threads / (now() - start);
    if (rate > best) best = rate;
  }
  printf("%.4e\n", best);
  return unused == 0; /* it never is: the compiler must not remove the computation */
}
