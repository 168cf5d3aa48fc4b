/* delaunay.c - the triangles around each point, one after the other: behind neighbour a comes
 * that b for which the circle through the point, a and b has no point inside. The points are
 * the leaves of a k-d tree. Those in a disk around the point are gathered first, for a leaf at
 * a time: where the circle is in the disk, b is one of them; where it is not, the tree is
 * searched. The circles through a point and a are a line of centres, so that b is a least
 * number.
 *
 * On one thread this takes about as long as Triangle (Shewchuk, 1996) by divide and conquer,
 * and a fraction of what insertion of one point after the other takes. Threads share the
 * leaves.
 */
#include "halves.h"

#include <math.h>

enum { LEAF = 8, MOST_NEAR = 160, ROOM = MOST_NEAR + 2 * LEAF };

static const real NONE = (real)1e30, REACH = (real)1.2;

struct box {
  real low[2], high[2];
};

struct tree {
  struct point *points;
  struct box *boxes; /* node i is above 2 i + 1 and 2 i + 2 */
  int64_t n;
  int levels;
};

/* The points in a disk around the box of a leaf, whose half diagonal is `half`. */
struct disk {
  real middle[2], radius, half;
  int64_t count, at[ROOM];
};

/* The points in a disk around a point, and how they are seen from there. */
struct near {
  real radius;
  int64_t count, at[ROOM];
  real x[ROOM], y[ROOM], square[ROOM];
};

/* Circles through a point: those with f(x) = |x|^2 - along x - t (across x) = 0, seen from it.
 * They go through `along`, too, to which `across` is perpendicular. */
struct circles {
  real along[2], across[2];
};

struct found { /* of circles, the least with a point on it */
  real t;
  int64_t at;
};

struct sums {
  uint64_t count, hash;
};

/* ---- the tree ---- */

/* The first point of node number k of a level; that of all nodes is the end. */
static int64_t first_of(const struct tree *t, int level, int64_t k) {
  int64_t first = 0, size = t->n;
  if (k == (int64_t)1 << level) return t->n;
  for (int bit = level - 1; bit >= 0; bit--) {
    const int64_t half = size / 2;
    if (k >> bit & 1) first += half;
    size = k >> bit & 1 ? size - half : half;
  }
  return first;
}

static struct box box_of(const struct point *points, int64_t n) {
  struct box b = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
  for (int64_t i = 0; i < n; i++) {
    for (int axis = 0; axis < 2; axis++) {
      const real at = points[i].at[axis];
      if (at < b.low[axis]) b.low[axis] = at;
      if (at > b.high[axis]) b.high[axis] = at;
    }
  }
  return b;
}

static void build(struct tree *t) {
  for (int level = 0; level <= t->levels; level++) {
    const int64_t nodes = (int64_t)1 << level;
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < nodes; k++) {
      const int64_t first = first_of(t, level, k), n = first_of(t, level, k + 1) - first;
      const struct box b = box_of(t->points + first, n);
      t->boxes[nodes - 1 + k] = b;
      if (level < t->levels)
        halve(t->points + first, n, n / 2, b.high[1] - b.low[1] > b.high[0] - b.low[0]);
    }
  }
}

/* ---- the near points of a leaf ---- */

static inline real square_of(real x, real y) {
  return x * x + y * y;
}

static inline real away(real x, real low, real high) {
  return x < low ? low - x : x > high ? x - high : 0;
}

static bool in_disk(const struct disk *d, const real at[2]) {
  return square_of(at[0] - d->middle[0], at[1] - d->middle[1]) <= d->radius * d->radius;
}

/* There are too many: the disk becomes less. */
static void shrink(const struct tree *t, struct disk *d) {
  d->radius *= (real)0.75;
  int64_t count = 0;
  for (int64_t i = 0; i < d->count; i++) {
    d->at[count] = d->at[i];
    count += in_disk(d, t->points[d->at[i]].at);
  }
  d->count = count;
}

static void gather(const struct tree *t, int level, int64_t k, struct disk *d) {
  const struct box *const b = &t->boxes[((int64_t)1 << level) - 1 + k];
  const real x = away(d->middle[0], b->low[0], b->high[0]),
             y = away(d->middle[1], b->low[1], b->high[1]);
  if (square_of(x, y) > d->radius * d->radius) return;
  if (level < t->levels) {
    gather(t, level + 1, 2 * k, d);
    gather(t, level + 1, 2 * k + 1, d);
    return;
  }
  for (int64_t i = first_of(t, level, k), end = first_of(t, level, k + 1); i < end; i++) {
    d->at[d->count] = i;
    d->count += in_disk(d, t->points[i].at);
  }
  while (d->count > MOST_NEAR) shrink(t, d);
}

static void around_leaf(const struct tree *t, int64_t leaf, struct disk *d) {
  const struct box *const b = &t->boxes[((int64_t)1 << t->levels) - 1 + leaf];
  for (int axis = 0; axis < 2; axis++) d->middle[axis] = (b->low[axis] + b->high[axis]) / 2;
  d->half = (real)sqrt(square_of(b->high[0] - b->low[0], b->high[1] - b->low[1])) / 2;
  d->radius = (1 + REACH) * d->half;
  d->count = 0;
  gather(t, 0, 0, d);
}

/* Those in a disk around p that lies in the leaf's. */
static void around_point(const struct tree *t, const struct disk *d, const real p[2],
                         struct near *near) {
  const real rest = d->radius - (real)sqrt(square_of(p[0] - d->middle[0], p[1] - d->middle[1]));
  near->radius = rest < REACH * d->half ? rest : REACH * d->half;
  const real square = near->radius < 0 ? -1 : near->radius * near->radius;
  int64_t count = 0;
  for (int64_t i = 0; i < d->count; i++) {
    near->x[count] = t->points[d->at[i]].at[0] - p[0];
    near->y[count] = t->points[d->at[i]].at[1] - p[1];
    near->square[count] = square_of(near->x[count], near->y[count]);
    near->at[count] = d->at[i];
    count += near->square[count] <= square;
  }
  near->count = count;
}

/* ---- the least circle ---- */

/* `across` of `along` is 0 only if products are rounded before they are subtracted: they are
 * never contracted. */
/* flags: -ffp-contract=off */

static inline real parameter(const struct circles *c, real x, real y, real square) {
  const real side = c->across[0] * x + c->across[1] * y;
  const real above = square - c->along[0] * x - c->along[1] * y;
  return side > 0 ? above / side : NONE;
}

static struct found least_near(const struct circles *c, const struct near *near) {
  real ts[ROOM], least = NONE;
  /* vector: real */
#pragma omp simd reduction(min : least)
  for (int64_t i = 0; i < near->count; i++) {
    ts[i] = parameter(c, near->x[i], near->y[i], near->square[i]);
    least = ts[i] < least ? ts[i] : least;
  }
  if (least == NONE) return (struct found){NONE, -1};
  int64_t i = 0;
  while (ts[i] != least) i++;
  return (struct found){least, near->at[i]};
}

/* Twice the centre of a circle. */
static inline real twice(const struct circles *c, real t, int axis) {
  return c->along[axis] + t * c->across[axis];
}

static bool circle_in_disk(const struct circles *c, real t, const struct near *near) {
  return near->radius >= 0 &&
         square_of(twice(c, t, 0), twice(c, t, 1)) <= near->radius * near->radius;
}

static inline real least_of(real x, real low, real high) {
  const real at = x / 2 < low ? low : x / 2 > high ? high : x / 2;
  return at * (at - x);
}

/* The least f(x) in a box. */
static real depth_in(const struct circles *c, real t, const real p[2], const struct box *b) {
  return least_of(twice(c, t, 0), b->low[0] - p[0], b->high[0] - p[0]) +
         least_of(twice(c, t, 1), b->low[1] - p[1], b->high[1] - p[1]);
}

static void look_into(const struct tree *t, int64_t leaf, const struct circles *c,
                      const real p[2], struct found *found) {
  for (int64_t i = first_of(t, t->levels, leaf), end = first_of(t, t->levels, leaf + 1);
       i < end; i++) {
    const real x = t->points[i].at[0] - p[0], y = t->points[i].at[1] - p[1];
    const real s = parameter(c, x, y, square_of(x, y));
    if (s < found->t) *found = (struct found){s, i};
  }
}

/* The half with the deeper box comes first. */
static void search(const struct tree *t, int level, int64_t k, const struct circles *c,
                   const real p[2], struct found *found) {
  if (level == t->levels) {
    look_into(t, k, c, p, found);
    return;
  }
  const struct box *const boxes = &t->boxes[((int64_t)2 << level) - 1 + 2 * k];
  const real depths[2] = {depth_in(c, found->t, p, &boxes[0]),
                          depth_in(c, found->t, p, &boxes[1])};
  const int first = depths[1] < depths[0];
  if (depths[first] < 0) search(t, level + 1, 2 * k + first, c, p, found);
  if (depth_in(c, found->t, p, &boxes[1 - first]) < 0)
    search(t, level + 1, 2 * k + 1 - first, c, p, found);
}

static struct found least(const struct tree *t, const struct circles *c, const real p[2],
                          const struct near *near) {
  struct found found = least_near(c, near);
  if (!circle_in_disk(c, found.t, near)) search(t, 0, 0, c, p, &found);
  return found;
}

/* ---- the triangles of a point ---- */

static uint64_t mix(int64_t a, int64_t b, int64_t c) {
  const uint64_t x = ((uint64_t)a * 1000003 + (uint64_t)b) * 1000003 + (uint64_t)c;
  return (x ^ x >> 29) * 0x1E3779B97F4A7C15;
}

static void add(const struct tree *t, int64_t p, int64_t a, int64_t b, struct sums *sums) {
  const int64_t i = t->points[p].name, j = t->points[a].name, k = t->points[b].name;
  if (i > j || i > k) return;
  sums->count++;
  sums->hash += j < k ? mix(i, j, k) : mix(i, k, j);
}

/* The triangles behind p a, on its left, or on its right; whether they come back to a. */
static bool go_round(const struct tree *t, int64_t p, int64_t a, int side,
                     const struct near *near, struct sums *sums) {
  const real *const at = t->points[p].at;
  int64_t from = a;
  for (int64_t k = 0; k < t->n; k++) {
    const real x = t->points[from].at[0] - at[0], y = t->points[from].at[1] - at[1];
    const struct circles c = {{x, y}, {-(real)side * y, (real)side * x}};
    const int64_t b = least(t, &c, at, near).at;
    if (b < 0) return false;
    add(t, p, from, b, sums);
    if (b == a) return true;
    from = b;
  }
  return true;
}

/* Of the circles that touch each other in p, with centres in the direction of `other`, the
 * least one has a neighbour of p on it. */
static void star(const struct tree *t, int64_t p, int64_t other, const struct disk *disk,
                 struct sums *sums) {
  const real *const at = t->points[p].at, *const to = t->points[other].at;
  const struct circles touching = {{0, 0}, {to[0] - at[0], to[1] - at[1]}};
  struct near near;
  around_point(t, disk, at, &near);
  const int64_t a = least(t, &touching, at, &near).at;
  if (a >= 0 && !go_round(t, p, a, 1, &near, sums)) go_round(t, p, a, -1, &near, sums);
}

static void stars(const struct tree *t, int64_t leaf, struct sums *sums) {
  struct disk disk;
  const int64_t first = first_of(t, t->levels, leaf), end = first_of(t, t->levels, leaf + 1);
  around_leaf(t, leaf, &disk);
  for (int64_t p = first; p < end; p++) star(t, p, p + 1 < end ? p + 1 : first, &disk, sums);
}

void baseline(const struct array *arguments, struct array *results) {
  struct tree t = {.n = arguments[0].length};
  t.points = scratch(0, (size_t)t.n * sizeof *t.points);
  while (t.n >> t.levels >= 2 * LEAF) t.levels++;
  t.boxes = scratch(1, ((size_t)2 << t.levels) * sizeof *t.boxes);
  uint64_t count = 0, hash = 0;
#pragma omp parallel for
  for (int64_t i = 0; i < t.n; i++)
    t.points[i] = (struct point){{arguments[0].as.r[i], arguments[1].as.r[i]}, i};
  build(&t);
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : count, hash)
  for (int64_t leaf = 0; leaf < (int64_t)1 << t.levels; leaf++) {
    struct sums sums = {0, 0};
    stars(&t, leaf, &sums);
    count += sums.count;
    hash += sums.hash;
  }
  result(results, 0, ARRAY_INTEGER, 1)->as.i[0] = (integer)count;
  result(results, 1, ARRAY_INTEGER, 1)->as.i[0] = (integer)hash;
}
