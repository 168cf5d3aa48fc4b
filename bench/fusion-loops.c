/* fusion-loops.c - what a C programmer would write for each kernel of fusion.py: one loop.
 *
 *     loops KERNEL N ROUNDS THREADS
 *
 * Prints the machine's limit in GB/s for the kernel's streams (0 if the kernel is bound by
 * arithmetic), then the time of each round in seconds and the sum of its results.
 */
#include "bench/normal.h"
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef double *restrict vector;

struct data {
  long n, total;
  int side;
  double *a, *b, *c, *d, *out, *out2, *out3;
  long *column, *start;
};

static void *room(size_t bytes) {
  void *p = NULL;
  if (posix_memalign(&p, 2 << 20, bytes + 64)) abort();
  madvise(p, bytes, MADV_HUGEPAGE);
  return p;
}

static double *ramp(long n, long modulus, double scale, double offset) {
  double *v = room((size_t)n * sizeof *v);
#pragma omp parallel for
  for (long i = 0; i < n; i++) v[i] = (double)(i % modulus) * scale + offset;
  return v;
}

static double *empty(long n) {
  double *v = room((size_t)n * sizeof *v);
#pragma omp parallel for
  for (long i = 0; i < n; i++) v[i] = 0;
  return v;
}

static double sum(const double *v, long n) {
  double s = 0;
#pragma omp parallel for simd reduction(+ : s)
  for (long i = 0; i < n; i++) s += v[i];
  return s;
}

/* ---- data, the same as in fusion.py ---- */

static void data_vectors(struct data *k) {
  k->a = ramp(k->n, 1000, 0.001, 0.5);
  k->b = ramp(k->n, 777, 0.002, -0.25);
  k->c = ramp(k->n, 555, 0.003, 0.125);
  k->out = empty(k->n);
}

static void data_options(struct data *k) {
  k->a = ramp(k->n, 1000, 0.05, 10.0);
  k->b = ramp(k->n, 777, 0.06, 12.0);
  k->c = ramp(k->n, 555, 0.01, 0.25);
  k->out = empty(k->n);
  k->out2 = empty(k->n);
}

static void data_matrix(struct data *k) {
  k->start = room(((size_t)k->n + 1) * sizeof *k->start);
  k->start[0] = 0;
  for (long r = 0; r < k->n; r++) k->start[r + 1] = k->start[r] + r * 7919 % 61 + 1;
  k->total = k->start[k->n];
  k->column = room((size_t)k->total * sizeof *k->column);
  for (long i = 0; i < k->total; i++) k->column[i] = i * 7919 % k->n;
  k->a = ramp(k->total, 1000, 0.001, 0.5);
  k->b = ramp(k->n, 777, 0.002, -0.25);
  k->out = empty(k->n);
}

static void data_bodies(struct data *k) {
  k->a = ramp(k->n, 97, 0.01, 0.5);
  k->b = ramp(k->n, 89, 0.02, -0.25);
  k->c = ramp(k->n, 83, 0.03, 0.125);
  k->d = ramp(k->n, 79, 0.001, 0.001);
  k->out = empty(k->n);
  k->out2 = empty(k->n);
  k->out3 = empty(k->n);
}

static void data_plane(struct data *k) {
  k->a = ramp(k->n, 1024, 3.0 / 1024, -2.0);
  k->b = ramp(k->n, 1023, 2.0 / 1023, -1.0);
  k->out = empty(k->n);
}

static void data_grid(struct data *k) {
  k->side = (int)sqrt((double)k->n);
  k->a = ramp((long)k->side * k->side, 1000, 0.001, 0.5);
  k->out = empty((long)k->side * k->side);
}

/* ---- the loops ---- */

static void dot(struct data *k) {
  double s = 0;
  const double *a = k->a, *b = k->b;
#pragma omp parallel for simd reduction(+ : s)
  for (long i = 0; i < k->n; i++) s += a[i] * b[i];
  k->out[0] = s;
}

static void rmse(struct data *k) {
  double s = 0;
  const double *a = k->a, *b = k->b;
#pragma omp parallel for simd reduction(+ : s)
  for (long i = 0; i < k->n; i++) s += (a[i] - b[i]) * (a[i] - b[i]);
  k->out[0] = sqrt(s / (double)k->n);
}

static void saxpy(struct data *k) {
  const double *a = k->a, *b = k->b;
  vector out = k->out;
#pragma omp parallel for simd
  for (long i = 0; i < k->n; i++) out[i] = a[i] * 2.5 + b[i];
}

static void muladd(struct data *k) {
  const double *a = k->a, *b = k->b, *c = k->c;
  vector out = k->out;
#pragma omp parallel for simd
  for (long i = 0; i < k->n; i++) out[i] = a[i] * b[i] + c[i];
}

static void difference(struct data *k) {
  const double *a = k->a;
  vector out = k->out;
#pragma omp parallel for simd
  for (long i = 0; i < k->n - 1; i++) out[i] = a[i + 1] - a[i];
}

static void average(struct data *k) {
  const double *a = k->a;
  vector out = k->out;
#pragma omp parallel for simd
  for (long i = 0; i < k->n - 14; i++) {
    out[i] =
        (a[i] + a[i + 1] + a[i + 2] + a[i + 3] + a[i + 4] + a[i + 5] + a[i + 6] + a[i + 7] +
         a[i + 8] + a[i + 9] + a[i + 10] + a[i + 11] + a[i + 12] + a[i + 13] + a[i + 14]) /
        15.0;
  }
}

static void jacobi(struct data *k) {
  const long w = k->side;
  const double *a = k->a;
  vector out = k->out;
#pragma omp parallel for
  for (long r = 1; r < w - 1; r++) {
    const double *row = a + r * w;
    double *to = out + (r - 1) * (w - 2) - 1;
#pragma omp simd
    for (long c = 1; c < w - 1; c++) {
      to[c] = 0.25 * ((row[c - w] + row[c + w]) + (row[c - 1] + row[c + 1]));
    }
  }
}

static void sparse(struct data *k) {
  const double *a = k->a, *x = k->b;
  const long *column = k->column, *start = k->start;
  vector out = k->out;
#pragma omp parallel for schedule(static)
  for (long r = 0; r < k->n; r++) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (long i = start[r]; i < start[r + 1]; i++) s += a[i] * x[column[i]];
    out[r] = s;
  }
}

static void black_scholes(struct data *k) {
  const double *s = k->a, *x = k->b, *t = k->c;
  vector call = k->out;
  vector put = k->out2;
#pragma omp parallel for simd
  for (long i = 0; i < k->n; i++) {
    const double root = sqrt(t[i]);
    const double d1 = (log(s[i] / x[i]) + (0.02 + 0.045) * t[i]) / (0.3 * root);
    const double d2 = d1 - 0.3 * root;
    const double n1 = normal(d1), n2 = normal(d2), e = x[i] * exp(-0.02 * t[i]);
    call[i] = s[i] * n1 - e * n2;
    put[i] = e * (1.0 - n2) - s[i] * (1.0 - n1);
  }
}

static void bodies(struct data *k) {
  const double *x = k->a, *y = k->b, *z = k->c, *m = k->d;
  const long n = k->n;
#pragma omp parallel for
  for (long i = 0; i < n; i++) {
    double ax = 0, ay = 0, az = 0;
#pragma omp simd reduction(+ : ax, ay, az)
    for (long j = 0; j < n; j++) {
      const double dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      const double q = dx * dx + dy * dy + dz * dz + 0.01;
      const double w = m[j] / (q * sqrt(q));
      ax += dx * w;
      ay += dy * w;
      az += dz * w;
    }
    k->out[i] = ax;
    k->out2[i] = ay;
    k->out3[i] = az;
  }
}

static void mandelbrot(struct data *k) {
  const double *cr = k->a, *ci = k->b;
  vector out = k->out;
#pragma omp parallel for simd
  for (long i = 0; i < k->n; i++) {
    double zr = cr[i], zi = ci[i], count = 0;
    for (int round = 0; round < 32; round++) {
      const double rr = zr * zr, ii = zi * zi;
      count += rr + ii <= 4.0 ? 1.0 : 0.0;
      zi = (zr + zr) * zi + ci[i];
      zr = rr - ii + cr[i];
    }
    out[i] = count;
  }
}

/* ---- limits: GB/s of as many streams ---- */

static double best_of(double (*measure)(double *, double *, double *, long), long n) {
  double *a = ramp(n, 1000, 0.001, 0.5), *b = ramp(n, 777, 0.002, 0.5), *c = empty(n), best = 0;
  for (int i = 0; i < 5; i++) {
    const double rate = measure(a, b, c, n);
    if (rate > best) best = rate;
  }
  free(a);
  free(b);
  free(c);
  return best;
}

static double limit_read(double *a, double *b, double *c, long n) {
  double s = 0;
  const double start = omp_get_wtime();
#pragma omp parallel for simd reduction(+ : s)
  for (long i = 0; i < n; i++) s += a[i] + b[i];
  c[0] = s;
  return 16.0 * (double)n / (omp_get_wtime() - start) / 1e9;
}

static double limit_triad(double *a, double *b, double *c, long n) {
  const double start = omp_get_wtime();
#pragma omp parallel for simd nontemporal(c)
  for (long i = 0; i < n; i++) c[i] = a[i] + 3.0 * b[i];
  return 24.0 * (double)n / (omp_get_wtime() - start) / 1e9;
}

static const struct kernel {
  const char *name;
  void (*data)(struct data *);
  void (*run)(struct data *);
  double (*limit)(double *, double *, double *, long);
} kernels[] = {{"dot", data_vectors, dot, limit_read},
               {"saxpy", data_vectors, saxpy, limit_triad},
               {"rmse", data_vectors, rmse, limit_read},
               {"muladd", data_vectors, muladd, limit_triad},
               {"difference", data_vectors, difference, limit_triad},
               {"average", data_vectors, average, limit_triad},
               {"jacobi", data_grid, jacobi, limit_triad},
               {"sparse", data_matrix, sparse, limit_read},
               {"black-scholes", data_options, black_scholes, NULL},
               {"bodies", data_bodies, bodies, NULL},
               {"mandelbrot", data_plane, mandelbrot, NULL}};

/* How many results there are, for the sum. */
static long results(const char *name, const struct data *k) {
  if (!strcmp(name, "dot") || !strcmp(name, "rmse")) return 1;
  if (!strcmp(name, "difference")) return k->n - 1;
  if (!strcmp(name, "average")) return k->n - 14;
  if (!strcmp(name, "jacobi")) return (long)(k->side - 2) * (k->side - 2);
  return k->n;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: loops KERNEL N ROUNDS THREADS\n");
    return 2;
  }
  omp_set_num_threads(atoi(argv[4]));
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    const struct kernel *kernel = &kernels[i];
    if (strcmp(kernel->name, argv[1])) continue;
    struct data data = {.n = atol(argv[2])};
    printf("%.6f\n",
           kernel->limit ? best_of(kernel->limit, data.n < 1 << 22 ? 1 << 22 : data.n) : 1.0);
    kernel->data(&data);
    for (int round = 0; round < atoi(argv[3]); round++) {
      const double start = omp_get_wtime();
      kernel->run(&data);
      const double seconds = omp_get_wtime() - start;
      double check = 0;
      double *outs[] = {data.out, data.out2, data.out3};
      for (int o = 0; o < 3; o++) {
        if (outs[o]) check += sum(outs[o], results(kernel->name, &data));
      }
      printf("%.9f %.16e\n", seconds, check);
    }
    return 0;
  }
  fprintf(stderr, "loops: no kernel '%s'\n", argv[1]);
  return 2;
}
