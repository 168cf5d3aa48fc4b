/* fused.h - what bench/fused.c measures superoperators against: one loop for each, as a C
 * programmer would write it, with OpenMP where there is one. f64 and i64. */
#ifndef RAVEL_BENCH_FUSED_H
#define RAVEL_BENCH_FUSED_H

#include <stdint.h>

enum { FUSED_OPERANDS = 4, FUSED_RESULTS = 2 };

struct fused_data {
  int64_t n, rows;
  const double *in[FUSED_OPERANDS];
  const int64_t *column, *start; /* sparse matrix: of elements, of rows */
  double *out[FUSED_RESULTS];
};

void loop_dot(const struct fused_data *, int threads);
void loop_saxpy(const struct fused_data *, int threads);
void loop_squares(const struct fused_data *, int threads);
void loop_average(const struct fused_data *, int threads);
void loop_filter(const struct fused_data *, int threads);
void loop_black_scholes(const struct fused_data *, int threads);
void loop_sparse(const struct fused_data *, int threads);

#endif
