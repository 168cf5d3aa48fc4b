/* small-loops.c - what a C loop takes on vectors of a few elements: small.py compares.
 *
 *     bench-small-loops N ROUNDS ADDITIONS
 *
 * prints the nanoseconds of a round, in which every element of a vector of N doubles has the
 * one of another added to it so many times: once or four times.
 */
#include <stdlib.h>

#include "bench/measure.h"

/* Not inlined, so that no round is moved out of the loop. */
__attribute__((noinline)) static void add_once(double *x, const double *y, long n) {
  for (long i = 0; i < n; i++) x[i] += y[i];
}

__attribute__((noinline)) static void add_four_times(double *x, const double *y, long n) {
  for (long i = 0; i < n; i++) x[i] = x[i] + y[i] + y[i] + y[i] + y[i];
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: bench-small-loops N ROUNDS ADDITIONS\n", stderr);
    return 2;
  }
  const struct measure_options options = {.cpu_clock = true};
  const long n = strtol(argv[1], NULL, 10), rounds = strtol(argv[2], NULL, 10);
  const bool once = strtol(argv[3], NULL, 10) == 1;
  double *x = measure_memory((size_t)n * sizeof *x), *y = measure_memory((size_t)n * sizeof *y);
  const double start = measure_now(&options, 1);
  for (long i = 0; i < rounds; i++) (once ? add_once : add_four_times)(x, y, n);
  printf("%.2f\n", (measure_now(&options, 1) - start) / (double)rounds * 1e9);
  return 0;
}
