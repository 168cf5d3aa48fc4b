/* fluid-flow.c - Stam's stable fluids on a grid of rows whose outermost cells are a wall. The
 * relaxations are nearly all of it: sweeps from one of two fields to the other. */
#include "baseline.h"

#include <string.h>

enum { ROUNDS = 40 };

struct grid {
  int64_t rows, columns;
  real *spare; /* a field for the sweeps; its wall is 0 */
};

static size_t bytes_of(const struct grid *g) {
  return (size_t)(g->rows * g->columns) * sizeof(real);
}

static void clear(const struct grid *g, real *field) {
  memset(field, 0, bytes_of(g));
}

/* Jacobi's iteration, which overwrites x except for its wall. */
static void relax(const struct grid *g, real *x, const real *x0, real a, real k) {
  const int64_t columns = g->columns;
  real *from = x, *to = g->spare;
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel for
    for (int64_t i = 1; i < g->rows - 1; i++) {
      const real *restrict u = from + i * columns, *restrict s = x0 + i * columns;
      real *restrict v = to + i * columns;
      /* vector: real */
#pragma omp simd
      for (int64_t j = 1; j < columns - 1; j++)
        v[j] = k * (s[j] + a * (u[j - 1] + u[j + 1] + u[j - columns] + u[j + columns]));
    }
    real *const swapped = from;
    from = to;
    to = swapped;
  }
  _Static_assert(ROUNDS % 2 == 0, "the last round writes to x");
}

/* x0 is the field, whose wall is 0; x becomes the diffused one. */
static void diffuse(const struct grid *g, const real *x0, real *x, real rate) {
  memcpy(x, x0, bytes_of(g));
  relax(g, x, x0, rate, 1 / (1 + 4 * rate));
}

static inline real between(real low, real x, real high) {
  const real least = x > low ? x : low;
  return least < high ? least : high;
}

/* Columns and rows have 32 bits: AVX2 does not convert between reals and longer integers. */
static void advect(const struct grid *g, const real *restrict field, const real *restrict us,
                   const real *restrict vs, real dt, real *restrict to) {
  const int64_t columns = g->columns;
  const real right = (real)columns - (real)1.5, bottom = (real)g->rows - (real)1.5;
#pragma omp parallel for
  for (int64_t i = 1; i < g->rows - 1; i++) {
    /* vector: real */
#pragma omp simd
    for (int32_t j = 1; j < (int32_t)columns - 1; j++) {
      const int64_t here = i * columns + j;
      const real x = between((real)0.5, (real)j - dt * us[here], right);
      const real y = between((real)0.5, (real)i - dt * vs[here], bottom);
      const int32_t column = (int32_t)x, row = (int32_t)y;
      const int64_t k = row * columns + column;
      const real s = x - (real)column, t = y - (real)row;
      to[here] = (1 - t) * ((1 - s) * field[k] + s * field[k + 1]) +
                 t * ((1 - s) * field[k + columns] + s * field[k + columns + 1]);
    }
  }
}

static void project(const struct grid *g, real *restrict us, real *restrict vs,
                    real *restrict sources, real *restrict pressure) {
  const int64_t columns = g->columns;
#pragma omp parallel for
  for (int64_t i = 1; i < g->rows - 1; i++) /* vector: real */
    for (int64_t j = i * columns + 1; j < (i + 1) * columns - 1; j++)
      sources[j] = (real)-0.5 * ((us[j + 1] - us[j - 1]) + (vs[j + columns] - vs[j - columns]));
  clear(g, pressure);
  relax(g, pressure, sources, 1, (real)0.25);
#pragma omp parallel for
  for (int64_t i = 1; i < g->rows - 1; i++) /* vector: real */
    for (int64_t j = i * columns + 1; j < (i + 1) * columns - 1; j++) {
      us[j] -= (real)0.5 * (pressure[j + 1] - pressure[j - 1]);
      vs[j] -= (real)0.5 * (pressure[j + columns] - pressure[j - columns]);
    }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, columns = arguments[3].as.i[0];
  const real dt = arguments[4].as.r[0];
  const real diffusion = arguments[5].as.r[0], viscosity = arguments[6].as.r[0];
  struct grid g = {.rows = n / columns, .columns = columns};
  real *density = result(results, 0, ARRAY_REAL, n)->as.r;
  real *us = result(results, 1, ARRAY_REAL, n)->as.r;
  real *vs = result(results, 2, ARRAY_REAL, n)->as.r;
  real *fields[4];
  for (int k = 0; k < 4; k++) clear(&g, fields[k] = scratch(k, bytes_of(&g)));
  g.spare = fields[0];
  real *u = fields[1], *v = fields[2], *other = fields[3];

  diffuse(&g, arguments[1].as.r, u, dt * viscosity);
  diffuse(&g, arguments[2].as.r, v, dt * viscosity);
  project(&g, u, v, other, density);
  clear(&g, us);
  clear(&g, vs);
  advect(&g, u, u, v, dt, us);
  advect(&g, v, u, v, dt, vs);
  project(&g, us, vs, other, density);
  diffuse(&g, arguments[0].as.r, other, dt * diffusion);
  clear(&g, density);
  advect(&g, other, us, vs, dt, density);
}
