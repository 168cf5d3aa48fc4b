/* canny.c - Canny's edges. The first six phases in one sweep: a thread goes down its rows and
 * keeps what the next phase needs of the last rows, which stays in the cache; only the picture
 * is read and only the grades are written. The seventh follows edges with a stack. */
#include "baseline.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#if FLOAT_BITS == 32
#define ABS __builtin_fabsf
#else
#define ABS __builtin_fabs
#endif

enum { NONE, WEAK, STRONG };
enum { REACH = 4, RING = 8 }; /* rows that are kept: a power of two, at least 5 */

/* A thread's last rows: grey, then blurred along the row; blurred both ways; slopes; steepness.
 */
struct rows {
  int64_t width;
  real *grey, *across[RING], *smooth[RING], *gx[RING], *gy[RING], *steep[RING];
};

static size_t row_reals(int64_t width) {
  return ((size_t)width + 15) / 16 * 16 + 16;
}

static struct rows rows_in(real *memory, int64_t width) {
  struct rows r = {.width = width, .grey = memory};
  const size_t step = row_reals(width);
  for (int k = 0; k < RING; k++) {
    r.across[k] = memory += step;
    r.smooth[k] = memory += step;
    r.gx[k] = memory += step;
    r.gy[k] = memory += step;
    r.steep[k] = memory += step;
  }
  return r;
}

static void blur_across(const struct rows *r, const integer *restrict pixels,
                        real *restrict to) {
  real *restrict grey = r->grey;
  /* vector: real */
#pragma omp simd
  for (int64_t j = 0; j < r->width; j++) {
    const int32_t p = (int32_t)pixels[j];
    grey[j] = (real)(77 * (p >> 16 & 255) + 150 * (p >> 8 & 255) + 29 * (p & 255)) / 256;
  }
  /* vector: real */
#pragma omp simd
  for (int64_t j = 2; j < r->width - 2; j++)
    to[j] = (grey[j - 2] + grey[j + 2] + 4 * (grey[j - 1] + grey[j + 1]) + 6 * grey[j]) / 16;
}

static void blur_down(const struct rows *r, int64_t i) {
  const real *a = r->across[(i - 2) & (RING - 1)], *b = r->across[(i - 1) & (RING - 1)];
  const real *c = r->across[i & (RING - 1)], *d = r->across[(i + 1) & (RING - 1)];
  const real *e = r->across[(i + 2) & (RING - 1)];
  real *restrict to = r->smooth[i & (RING - 1)];
  /* vector: real */
#pragma omp simd
  for (int64_t j = 2; j < r->width - 2; j++)
    to[j] = (a[j] + e[j] + 4 * (b[j] + d[j]) + 6 * c[j]) / 16;
}

static void slopes(const struct rows *r, int64_t i) {
  const real *a = r->smooth[(i - 1) & (RING - 1)], *b = r->smooth[i & (RING - 1)];
  const real *c = r->smooth[(i + 1) & (RING - 1)];
  real *restrict gx = r->gx[i & (RING - 1)], *restrict gy = r->gy[i & (RING - 1)];
  real *restrict steep = r->steep[i & (RING - 1)];
  /* vector: real */
#pragma omp simd
  for (int64_t j = 3; j < r->width - 3; j++) {
    const real x = (a[j + 1] + 2 * b[j + 1] + c[j + 1]) - (a[j - 1] + 2 * b[j - 1] + c[j - 1]);
    const real y = (c[j - 1] + 2 * c[j] + c[j + 1]) - (a[j - 1] + 2 * a[j] + a[j + 1]);
    gx[j] = x;
    gy[j] = y;
    steep[j] = ABS(x) + ABS(y);
  }
}

static void grade(const struct rows *r, int64_t i, real low, real high, uint8_t *restrict to) {
  const real *restrict gx = r->gx[i & (RING - 1)], *restrict gy = r->gy[i & (RING - 1)];
  const real *a = r->steep[(i - 1) & (RING - 1)], *b = r->steep[i & (RING - 1)];
  const real *c = r->steep[(i + 1) & (RING - 1)];
  /* vector: real */
#pragma omp simd
  for (int64_t j = REACH; j < r->width - REACH; j++) {
    /* All neighbours are read, whichever are wanted: then the loop has no branch. */
    const real x = gx[j], y = gy[j], m = b[j];
    const real up = a[j], down = c[j], left = b[j - 1], right = b[j + 1];
    const real nw = a[j - 1], ne = a[j + 1], sw = c[j - 1], se = c[j + 1];
    const bool level = ABS(y) < (real)0.41421356 * ABS(x);
    const bool upright = ABS(y) > (real)2.41421356 * ABS(x), falling = x * y > 0;
    const real before = level ? left : upright ? up : falling ? nw : ne;
    const real behind = level ? right : upright ? down : falling ? se : sw;
    const bool ridge = (m > before) & (m >= behind);
    to[j] = (uint8_t)((ridge & (m >= low)) + (ridge & (m >= low) & (m >= high)));
  }
}

/* The grades of rows first .. end-1. */
static void sweep(struct rows r, const integer *pixels, int64_t first, int64_t end, real low,
                  real high, uint8_t *grades) {
  for (int64_t i = first - REACH; i < end + REACH; i++) {
    const int64_t ready = i - first + REACH; /* rows that came before */
    blur_across(&r, pixels + i * r.width, r.across[i & (RING - 1)]);
    if (ready >= 4) blur_down(&r, i - 2);
    if (ready >= 6) slopes(&r, i - 3);
    if (ready >= 8) grade(&r, i - 4, low, high, grades + (i - 4) * r.width);
  }
}

/* Weak pixels that are connected to strong ones become strong. */
static void connect(uint8_t *grades, int64_t n, int64_t width, int64_t *stack) {
  const int64_t around[8] = {-width - 1, -width,    -width + 1, -1,
                             1,          width - 1, width,      width + 1};
  for (int64_t i = 0; i < n; i++) {
    if (grades[i] != STRONG) continue;
    int64_t depth = 0;
    stack[depth++] = i;
    while (depth) {
      const int64_t p = stack[--depth];
      for (int k = 0; k < 8; k++) {
        const int64_t q = p + around[k];
        if (grades[q] != WEAK) continue;
        grades[q] = STRONG;
        stack[depth++] = q;
      }
    }
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, width = arguments[1].as.i[0];
  const int64_t rows = width > 0 ? n / width : 0;
  const integer *pixels = arguments[0].as.i;
  const real low = arguments[2].as.r[0], high = arguments[3].as.r[0];
  uint8_t *grades = result(results, 0, ARRAY_BOOL, n)->as.b;
  if (width <= 2 * REACH || rows <= 2 * REACH) {
    memset(grades, 0, (size_t)n);
    return;
  }
  const int64_t edge = REACH * width;
  memset(grades, 0, (size_t)edge);
  memset(grades + n - edge, 0, (size_t)edge);
#pragma omp parallel
  {
    int64_t me = 0, threads = 1;
#ifdef _OPENMP
    me = omp_get_thread_num();
    threads = omp_get_num_threads();
#endif
    const int64_t inner = rows - 2 * REACH;
    const int64_t first = REACH + inner * me / threads,
                  end = REACH + inner * (me + 1) / threads;
    for (int64_t i = first; i < end; i++) {
      memset(grades + i * width, 0, REACH);
      memset(grades + (i + 1) * width - REACH, 0, REACH);
    }
    real *memory;
    const size_t bytes = row_reals(width) * (5 * RING + 1) * sizeof *memory;
#pragma omp critical
    memory = scratch(1 + (int)me % (MOST_SCRATCH - 1), bytes);
    sweep(rows_in(memory, width), pixels, first, end, low, high, grades);
  }
  connect(grades, n, width, scratch(0, (size_t)n * sizeof(int64_t)));
#pragma omp parallel for simd
  for (int64_t i = 0; i < n; i++) grades[i] = grades[i] == STRONG;
}
