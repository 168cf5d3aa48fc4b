/* range-queries.c - points in slabs of equally many, each sorted by x: by radix (radix.h). A
 * query looks into the slabs that it meets, by binary search; first how many points it finds,
 * then, when their places are known, which. */
/* scalar: a query ends where the points do, and few points are in a slab */
#include "csr.h"
#include "radix.h"

struct point {
  real x, y;
  int64_t name;
};

struct slabs {
  struct point *points;
  real *floors; /* the least y of each */
  int64_t n, size, count;
};

struct rectangle {
  real left, right, bottom, top;
};

static inline uint64_t key_x(struct point p) {
  return radix_real_key(p.x);
}
static inline uint64_t key_y(struct point p) {
  return radix_real_key(p.y);
}

RADIX_SORT(sort_x, struct point, key_x)
RADIX_SORT(sort_y, struct point, key_y)
RADIX_SORT(sort_names, integer, radix_key)

struct keys { /* of reals, from the least one, in so many bits */
  uint64_t least;
  int bits;
};

static struct keys keys_of(const real *xs, int64_t n) {
  uint64_t least = UINT64_MAX, most = 0;
#pragma omp parallel for reduction(min : least) reduction(max : most)
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = radix_real_key(xs[i]);
    least = key < least ? key : least;
    most = key > most ? key : most;
  }
  return (struct keys){least, n > 0 ? radix_bits(most - least) : 0};
}

static struct slabs slabs_of(const real *xs, const real *ys, int64_t n) {
  struct slabs s = {scratch(0, (size_t)n * sizeof *s.points), NULL, n, 1, 0};
  struct point *const other = scratch(1, (size_t)n * sizeof *other);
  while (s.size * s.size < n) s.size++;
  s.count = (n + s.size - 1) / s.size;
  s.floors = scratch(2, (size_t)s.count * sizeof *s.floors);
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) s.points[i] = (struct point){xs[i], ys[i], i};
  const struct keys by_y = keys_of(ys, n), by_x = keys_of(xs, n);
  sort_y(s.points, other, n, by_y.bits, by_y.least, radix_scratch(3));
#pragma omp parallel for schedule(dynamic)
  for (int64_t k = 0; k < s.count; k++) {
    const int64_t first = k * s.size, end = first + s.size < n ? first + s.size : n;
    s.floors[k] = s.points[first].y;
    sort_x_bucket(s.points + first, other + first, end - first, by_x.bits, by_x.least, false);
  }
  return s;
}

/* The first point of a slab that is not left of x. */
static int64_t first_from(const struct slabs *s, int64_t slab, real x) {
  int64_t low = slab * s->size, high = low + s->size < s->n ? low + s->size : s->n;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (s->points[middle].x < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* How many points are in a rectangle, in no order; their names go to `names`, unless it is
 * NULL.
 */
static int64_t query(const struct slabs *s, struct rectangle r, integer *names) {
  int64_t found = 0, low = 0, high = s->count;
  while (low < high) { /* the first floor that is not below the bottom */
    const int64_t middle = (low + high) / 2;
    if (s->floors[middle] < r.bottom)
      low = middle + 1;
    else
      high = middle;
  }
  for (int64_t k = low > 0 ? low - 1 : 0; k < s->count && s->floors[k] <= r.top; k++) {
    const int64_t end = (k + 1) * s->size < s->n ? (k + 1) * s->size : s->n;
    for (int64_t i = first_from(s, k, r.left); i < end && s->points[i].x <= r.right; i++) {
      if (s->points[i].y < r.bottom || s->points[i].y > r.top) continue;
      if (names) names[found] = (integer)s->points[i].name;
      found++;
    }
  }
  return found;
}

void baseline(const struct array *arguments, struct array *results) {
  const struct slabs s = slabs_of(arguments[0].as.r, arguments[1].as.r, arguments[0].length);
  const int64_t m = arguments[2].length;
  integer *const counts = result(results, 1, ARRAY_INTEGER, m)->as.i;
  int64_t *const offsets = scratch(4, ((size_t)m + 1) * sizeof *offsets);
  for (int pass = 0; pass < 2; pass++) {
    integer *const names = pass ? result(results, 0, ARRAY_INTEGER, offsets[m])->as.i : NULL;
    integer *const other = pass ? scratch(5, (size_t)offsets[m] * sizeof *other) : NULL;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t q = 0; q < m; q++) {
      const struct rectangle r = {arguments[2].as.r[q], arguments[3].as.r[q],
                                  arguments[4].as.r[q], arguments[5].as.r[q]};
      if (pass == 0) {
        counts[q] = (integer)query(&s, r, NULL);
      } else if (query(&s, r, names + offsets[q]) > 1) {
        sort_names_bucket(names + offsets[q], other + offsets[q], counts[q],
                          radix_bits((uint64_t)s.n - 1), radix_key(0), false);
      }
    }
    if (pass == 0) offsets_of(counts, m, offsets);
  }
}
