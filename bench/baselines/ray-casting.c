/* ray-casting.c - a tree of boxes around triangles that are sorted by the cell of their middle,
 * a number whose bits are those of the coordinates in turns (radix.h). A ray goes through the
 * tree with a stack, into the nearer of two boxes first, and leaves out those behind what it
 * has hit.
 */
/* scalar: each step depends on the node of the one before */
#include "radix.h"

#include <math.h>

enum { LEAF = 4, MOST_LEVELS = 40 };

struct vector {
  real x, y, z;
};

struct box {
  struct vector low, high;
};

struct triangle {
  struct vector a, side, other;
  int64_t name;
};

struct tree {
  struct box *boxes; /* node i is above 2 i + 1 and 2 i + 2 */
  struct triangle *triangles;
  int64_t n, leaves;
};

struct ray {
  struct vector from, direction, reciprocal;
};

struct hit {
  real distance;
  int64_t name;
};

struct key {
  uint64_t cell;
  int64_t triangle;
};

static inline uint64_t key_cell(struct key k) {
  return k.cell;
}

RADIX_SORT(sort_keys, struct key, key_cell)

static inline real least(real a, real b) {
  return a < b ? a : b;
}
static inline real greatest(real a, real b) {
  return a > b ? a : b;
}
static inline struct vector minus(struct vector a, struct vector b) {
  return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline real dot(struct vector a, struct vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline struct vector cross(struct vector a, struct vector b) {
  return (struct vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static const struct box EMPTY = {{INFINITY, INFINITY, INFINITY},
                                 {-INFINITY, -INFINITY, -INFINITY}};

static inline struct vector lows(struct vector a, struct vector b) {
  return (struct vector){least(a.x, b.x), least(a.y, b.y), least(a.z, b.z)};
}
static inline struct vector highs(struct vector a, struct vector b) {
  return (struct vector){greatest(a.x, b.x), greatest(a.y, b.y), greatest(a.z, b.z)};
}
static inline struct box joined(struct box a, struct box b) {
  return (struct box){lows(a.low, b.low), highs(a.high, b.high)};
}
static inline struct box with(struct box b, struct vector v) {
  return (struct box){lows(b.low, v), highs(b.high, v)};
}
static inline struct box around(const struct vector *corners) {
  return with(with(with(EMPTY, corners[0]), corners[1]), corners[2]);
}

static uint64_t spread(uint64_t i) {
  i = (i | i << 16) & 0x30000ff;
  i = (i | i << 8) & 0x300f00f;
  i = (i | i << 4) & 0x30c30c3;
  return (i | i << 2) & 0x9249249;
}

static uint64_t cell(struct box b, struct box all) {
  const struct vector low = minus(b.low, all.low), high = minus(b.high, all.low);
  const struct vector size = minus(all.high, all.low);
  const real scale = (real)511.5 / (greatest(size.x, greatest(size.y, size.z)) + (real)1e-30);
  return spread((uint64_t)((low.x + high.x) * scale)) |
         spread((uint64_t)((low.y + high.y) * scale)) << 1 |
         spread((uint64_t)((low.z + high.z) * scale)) << 2;
}

static struct box around_all(const struct vector *corners, int64_t n) {
  enum { BLOCKS = 64 };
  struct box boxes[BLOCKS], all = EMPTY;
#pragma omp parallel for
  for (int b = 0; b < BLOCKS; b++) {
    struct box box = EMPTY;
    for (int64_t i = 3 * (n * b / BLOCKS); i < 3 * (n * (b + 1) / BLOCKS); i++)
      box = with(box, corners[i]);
    boxes[b] = box;
  }
  for (int b = 0; b < BLOCKS; b++) all = joined(all, boxes[b]);
  return all;
}

static void sort_triangles(struct tree *t, const struct vector *corners) {
  struct key *const keys = scratch(0, (size_t)t->n * sizeof *keys);
  struct key *const other = scratch(1, (size_t)t->n * sizeof *keys);
  const struct box all = around_all(corners, t->n);
#pragma omp parallel for
  for (int64_t i = 0; i < t->n; i++)
    keys[i] = (struct key){cell(around(corners + 3 * i), all), i};
  sort_keys(keys, other, t->n, 30, 0, radix_scratch(2));
#pragma omp parallel for
  for (int64_t i = 0; i < t->n; i++) {
    const struct vector *const c = corners + 3 * keys[i].triangle;
    t->triangles[i] =
        (struct triangle){c[0], minus(c[1], c[0]), minus(c[2], c[0]), keys[i].triangle};
  }
  struct box *const leaves = t->boxes + t->leaves - 1;
#pragma omp parallel for
  for (int64_t k = 0; k < t->leaves; k++) {
    leaves[k] = EMPTY;
    for (int64_t i = k * LEAF; i < (k + 1) * LEAF && i < t->n; i++)
      leaves[k] = joined(leaves[k], around(corners + 3 * keys[i].triangle));
  }
}

static void build(struct tree *t, const struct vector *corners) {
  sort_triangles(t, corners);
  for (int64_t nodes = t->leaves / 2; nodes > 0; nodes /= 2) {
#pragma omp parallel for if (nodes > 1000)
    for (int64_t i = nodes - 1; i < 2 * nodes - 1; i++)
      t->boxes[i] = joined(t->boxes[2 * i + 1], t->boxes[2 * i + 2]);
  }
}

/* Where the ray enters the box; infinity if it does not. */
static inline real entry(const struct ray *r, const struct box *b) {
  const struct vector low = minus(b->low, r->from), high = minus(b->high, r->from);
  const real x = low.x * r->reciprocal.x, x2 = high.x * r->reciprocal.x;
  const real y = low.y * r->reciprocal.y, y2 = high.y * r->reciprocal.y;
  const real z = low.z * r->reciprocal.z, z2 = high.z * r->reciprocal.z;
  const real first = greatest(greatest(least(x, x2), least(y, y2)), greatest(least(z, z2), 0));
  const real last = least(least(greatest(x, x2), greatest(y, y2)), greatest(z, z2));
  return last >= first ? first : (real)INFINITY;
}

/* Moeller and Trumbore, 1997. */
static inline void look_at(const struct ray *r, const struct triangle *t, struct hit *hit) {
  const struct vector p = cross(r->direction, t->other);
  const real volume = dot(t->side, p);
  if (volume == 0) return;
  const real reciprocal = 1 / volume;
  const struct vector s = minus(r->from, t->a), q = cross(s, t->side);
  const real u = dot(s, p) * reciprocal, v = dot(r->direction, q) * reciprocal;
  if (!(u >= 0 && v >= 0 && u + v <= 1)) return;
  const real distance = dot(t->other, q) * reciprocal;
  if (distance < 0 || distance > hit->distance || isinf(distance)) return;
  if (distance < hit->distance || t->name < hit->name) *hit = (struct hit){distance, t->name};
}

static struct hit cast(const struct tree *t, const struct ray *r) {
  struct {
    int64_t node;
    real entry;
  } stack[MOST_LEVELS];
  struct hit hit = {INFINITY, -1};
  int depth = 0;
  stack[depth].node = 0;
  stack[depth++].entry = entry(r, &t->boxes[0]);
  while (depth > 0) {
    const int64_t node = stack[--depth].node;
    if (isinf(stack[depth].entry) || stack[depth].entry > hit.distance) continue;
    if (node >= t->leaves - 1) {
      const int64_t first = (node - (t->leaves - 1)) * LEAF;
      for (int64_t i = first; i < first + LEAF && i < t->n; i++)
        look_at(r, &t->triangles[i], &hit);
      continue;
    }
    const real left = entry(r, &t->boxes[2 * node + 1]),
               right = entry(r, &t->boxes[2 * node + 2]);
    const int64_t far = left <= right ? 2 : 1;
    stack[depth].node = 2 * node + far;
    stack[depth++].entry = far == 2 ? right : left;
    stack[depth].node = 2 * node + 3 - far;
    stack[depth++].entry = far == 2 ? left : right;
  }
  return hit;
}

void baseline(const struct array *arguments, struct array *results) {
  struct tree t = {.n = arguments[0].length / 9, .leaves = 1};
  const int64_t rays = arguments[1].length / 6;
  while (t.leaves * LEAF < t.n) t.leaves *= 2;
  t.boxes = scratch(3, (size_t)(2 * t.leaves) * sizeof *t.boxes);
  t.triangles = scratch(4, (size_t)t.n * sizeof *t.triangles);
  real *const distances = result(results, 0, ARRAY_REAL, rays)->as.r;
  integer *const names = result(results, 1, ARRAY_INTEGER, rays)->as.i;
  build(&t, (const struct vector *)(const void *)arguments[0].as.r);
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t k = 0; k < rays; k++) {
    const real *const v = arguments[1].as.r + 6 * k;
    const struct ray r = {
        {v[0], v[1], v[2]}, {v[3], v[4], v[5]}, {1 / v[3], 1 / v[4], 1 / v[5]}};
    const struct hit hit = cast(&t, &r);
    distances[k] = hit.distance;
    names[k] = (integer)hit.name;
  }
}
