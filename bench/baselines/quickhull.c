/* quickhull.c - the convex hull of points in the plane.
 *
 * One pass over the points of a side sorts out those that lie in the triangle, puts the others
 * to its two new sides, and finds the farthest of each: the passes of a level are one. Stores
 * are made always and counted if they were right, for no branch predicts where a point lies.
 * Large passes are cut into chunks for the threads, small sides are tasks of one thread. */
#include "baseline.h"

#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

struct point {
  real x, y;
};

/* Points to the left of the line from a to b, and the one that is farthest from it. */
struct side {
  struct point a, b, far;
  real height;
  int64_t count;
};

enum { ALONE = 4096, CHUNKED = 1 << 17, MOST_CHUNKS = 64 };

/* Twice the area of the triangle a b p. The products must be rounded before they are
 * subtracted, else a point of the line itself need not have area 0: never contracted. */
/* flags: -ffp-contract=off */
static inline real area(struct point a, struct point b, struct point p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

/* Puts those of n points that are left of one of two lines to the beginning of `to`, those left
 * of the other to its end, in reverse, and fills in the rest of both sides. */
static inline __attribute__((always_inline)) void
divide(const real *x, const real *y, int64_t stride, int64_t n, struct point *restrict to,
       struct side *left, struct side *right) {
  const struct point la = left->a, lb = left->b, ra = right->a, rb = right->b;
  struct point left_far = la, right_far = ra;
  real left_height = 0, right_height = 0;
  int64_t low = 0, high = n;
  for (int64_t i = 0; i < n; i++) {
    const struct point p = {x[i * stride], y[i * stride]};
    const real l = area(la, lb, p), r = area(ra, rb, p);
    if (l > left_height) left_height = l, left_far = p;
    if (r > right_height) right_height = r, right_far = p;
    to[low] = p;
    low += l > 0;
    to[high - 1] = p;
    high -= (r > 0) & !(l > 0); /* of both lines a point is left only by rounding */
  }
  left->far = left_far, left->height = left_height, left->count = low;
  right->far = right_far, right->height = right_height, right->count = n - high;
}

static void divide_arrays(const real *x, const real *y, int64_t n, struct point *to,
                          struct side *left, struct side *right) {
  divide(x, y, 1, n, to, left, right);
}

static void divide_points(const struct point *from, int64_t n, struct point *to,
                          struct side *left, struct side *right) {
  divide(&from->x, &from->y, 2, n, to, left, right);
}

#ifdef _OPENMP
static void add_far(struct side *whole, const struct side *part) {
  if (part->height > whole->height) whole->height = part->height, whole->far = part->far;
  whole->count += part->count;
}

/* The same by all threads: a chunk each into `from`'s counterpart `between`, then together to
 * `to`, which may be the memory that `from` is in. */
static void divide_chunks(const real *x, const real *y, int64_t stride, int64_t n,
                          struct point *between, struct point *to, struct side *left,
                          struct side *right) {
  struct side lefts[MOST_CHUNKS], rights[MOST_CHUNKS];
  const int wanted = omp_get_num_threads(),
            chunks = wanted < MOST_CHUNKS ? wanted : MOST_CHUNKS;
  for (int k = 0; k < chunks; k++) {
#pragma omp task shared(lefts, rights) firstprivate(k)
    {
      const int64_t first = n * k / chunks, end = n * (k + 1) / chunks;
      lefts[k] = *left, rights[k] = *right;
      if (stride == 1)
        divide_arrays(x + first, y + first, end - first, between + first, &lefts[k],
                      &rights[k]);
      else
        divide_points((const struct point *)(const void *)x + first, end - first,
                      between + first, &lefts[k], &rights[k]);
    }
  }
#pragma omp taskwait
  left->count = right->count = 0;
  left->height = right->height = 0;
  for (int k = 0; k < chunks; k++) {
    const int64_t low = left->count, high = n - right->count;
#pragma omp task shared(lefts, rights) firstprivate(k, low, high)
    {
      const int64_t first = n * k / chunks, end = n * (k + 1) / chunks;
      const int64_t l = lefts[k].count, r = rights[k].count;
      memcpy(to + low, between + first, (size_t)l * sizeof *to);
      memcpy(to + high - r, between + end - r, (size_t)r * sizeof *to);
    }
    add_far(left, &lefts[k]);
    add_far(right, &rights[k]);
  }
#pragma omp taskwait
}
#endif

/* Writes the hull's points between a and b of a side, in order, to `hull`, where there is room
 * for all n points of the side; gives their number. `spare` is as large as `points`. */
static int64_t hull_of_side(struct point *points, struct point *spare, struct point *hull,
                            struct side side) {
  const int64_t n = side.count;
  if (n == 0) return 0;
  struct side left = {.a = side.a, .b = side.far}, right = {.a = side.far, .b = side.b};
  struct point *to = spare, *rest = points;
#ifdef _OPENMP
  if (n >= CHUNKED && omp_get_num_threads() > 1) {
    divide_chunks(&points->x, &points->y, 2, n, spare, points, &left, &right);
    to = points, rest = spare;
  } else
#endif
  {
    divide_points(points, n, spare, &left, &right);
  }
  const int64_t behind = n - right.count;
  int64_t between_left, between_right;
#pragma omp task shared(between_left) if (left.count >= ALONE)
  between_left = hull_of_side(to, rest, hull, left);
  between_right = hull_of_side(to + behind, rest + behind, hull + left.count + 1, right);
#pragma omp taskwait
  hull[between_left] = side.far;
  if (between_left < left.count)
    memmove(hull + between_left + 1, hull + left.count + 1,
            (size_t)between_right * sizeof *hull);
  return between_left + 1 + between_right;
}

static struct point leftmost(const real *x, const real *y, int64_t n, real sign) {
  real least = sign * x[0];
  /* vector: real */
#pragma omp parallel for simd reduction(min : least)
  for (int64_t i = 0; i < n; i++) least = sign * x[i] < least ? sign * x[i] : least;
  int64_t at = 0;
  while (sign * x[at] > least) at++;
  return (struct point){x[at], y[at]};
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const real *x = arguments[0].as.r, *y = arguments[1].as.r;
  if (n == 0) {
    result(results, 0, ARRAY_REAL, 0);
    result(results, 1, ARRAY_REAL, 0);
    return;
  }
  const size_t bytes = (size_t)(n + 2) * sizeof(struct point);
  struct point *points = scratch(0, bytes), *spare = scratch(1, bytes),
               *hull = scratch(2, bytes);
  const struct point a = leftmost(x, y, n, 1), b = leftmost(x, y, n, -1);
  struct side upper = {.a = a, .b = b}, lower = {.a = b, .b = a};
  int64_t above = 0, below = 0, behind = 0;
#pragma omp parallel
#pragma omp single
  {
    struct point *to = points, *rest = spare;
#ifdef _OPENMP
    if (n >= CHUNKED && omp_get_num_threads() > 1)
      divide_chunks(x, y, 1, n, spare, points, &upper, &lower);
    else
#endif
      divide_arrays(x, y, n, points, &upper, &lower);
    behind = n - lower.count;
#pragma omp task shared(above) if (upper.count >= ALONE)
    above = hull_of_side(to, rest, hull + 1, upper);
    below = hull_of_side(to + behind, rest + behind, hull + upper.count + 2, lower);
#pragma omp taskwait
  }
  hull[0] = a;
  hull[above + 1] = b;
  memmove(hull + above + 2, hull + upper.count + 2, (size_t)below * sizeof *hull);
  /* Of one point, both ends are that. */
  const int64_t count = a.x == b.x && a.y == b.y ? 1 : above + 2 + below;
  real *hx = result(results, 0, ARRAY_REAL, count)->as.r;
  real *hy = result(results, 1, ARRAY_REAL, count)->as.r;
#pragma omp parallel for simd
  for (int64_t i = 0; i < count; i++) {
    hx[i] = hull[i].x;
    hy[i] = hull[i].y;
  }
}
