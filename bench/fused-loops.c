/* fused-loops.c - the loops of fused.h; compiled for this machine, with leave to reorder. */
#include "bench/fused.h"

#include "bench/normal.h"

#define PARALLEL _Pragma("omp parallel for simd schedule(static) num_threads(threads)")

void loop_dot(const struct fused_data *d, int threads) {
  const double *a = d->in[0], *b = d->in[1];
  double s = 0;
  (void)threads;
#pragma omp parallel for simd reduction(+ : s) num_threads(threads)
  for (int64_t i = 0; i < d->n; i++) s += a[i] * b[i];
  d->out[0][0] = s;
}

void loop_saxpy(const struct fused_data *d, int threads) {
  const double *a = d->in[0], *b = d->in[1];
  double *restrict out = d->out[0];
  (void)threads;
  PARALLEL for (int64_t i = 0; i < d->n; i++) out[i] = 2.5 * a[i] + b[i];
}

void loop_squares(const struct fused_data *d, int threads) {
  const double *a = d->in[0], *b = d->in[1];
  double s = 0;
  (void)threads;
#pragma omp parallel for simd reduction(+ : s) num_threads(threads)
  for (int64_t i = 0; i < d->n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
  d->out[0][0] = s;
}

void loop_average(const struct fused_data *d, int threads) {
  const double *a = d->in[0];
  double *restrict out = d->out[0];
  (void)threads;
  PARALLEL for (int64_t i = 0; i < d->n; i++) {
    out[i] = (a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4]) / 5.0;
  }
}

/* Sequential: in parallel it is no single loop. */
void loop_filter(const struct fused_data *d, int threads) {
  const double *a = d->in[0], *b = d->in[1];
  double *restrict out = d->out[0];
  int64_t kept = 0;
  (void)threads;
  for (int64_t i = 0; i < d->n; i++) {
    const double x = a[i] * b[i];
    out[kept] = x;
    kept += x > 0.25;
  }
}

void loop_black_scholes(const struct fused_data *d, int threads) {
  const double *s = d->in[0], *x = d->in[1], *t = d->in[2];
  double *restrict call = d->out[0];
  (void)threads;
  PARALLEL for (int64_t i = 0; i < d->n; i++) {
    const double root = sqrt(t[i]);
    const double d1 = (log(s[i] / x[i]) + (0.02 + 0.045) * t[i]) / (0.3 * root);
    const double d2 = d1 - 0.3 * root;
    call[i] = s[i] * normal(d1) - x[i] * exp(-0.02 * t[i]) * normal(d2);
  }
}

void loop_sparse(const struct fused_data *d, int threads) {
  const double *a = d->in[0], *x = d->in[1];
  const int64_t *column = d->column, *start = d->start;
  double *restrict out = d->out[0];
  (void)threads;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int64_t r = 0; r < d->rows; r++) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = start[r]; i < start[r + 1]; i++) s += a[i] * x[column[i]];
    out[r] = s;
  }
}
