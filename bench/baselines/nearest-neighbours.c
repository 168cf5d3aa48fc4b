/* nearest-neighbours.c - a k-d tree: points are cut in halves in turns by x and by y
 * (quickselect), the nodes of a level shared among threads. Each point goes down to its leaf,
 * and on its way back into the nodes that are nearer than the farthest of the k nearest ones so
 * far (Arya and Mount, 1993). Neighbours in the tree are searched for one after the other, and
 * find their nodes in the cache. */
/* scalar: each step depends on the node of the one before, and on what was found */
#include "halves.h"

enum { LEAF = 8 };

struct tree {
  struct point *points;
  real *cuts; /* node i is above 2 i + 1 and 2 i + 2 */
  int64_t n;
  int levels;
};

struct found { /* the nearest ones so far, ascending */
  real *squares;
  integer *names;
  int64_t k, count;
};

/* The first point of node number k of a level. */
static int64_t first_of(const struct tree *t, int level, int64_t k) {
  int64_t first = 0, size = t->n;
  for (int bit = level - 1; bit >= 0; bit--) {
    const int64_t half = size / 2;
    if (k >> bit & 1) first += half;
    size = k >> bit & 1 ? size - half : half;
  }
  return first;
}

static void build(struct tree *t) {
  for (int level = 0; level < t->levels; level++) {
    const int64_t nodes = (int64_t)1 << level;
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < nodes; k++) {
      const int64_t first = first_of(t, level, k);
      const int64_t n = (k + 1 < nodes ? first_of(t, level, k + 1) : t->n) - first;
      halve(t->points + first, n, n / 2, level % 2);
      t->cuts[nodes - 1 + k] = t->points[first + n / 2].at[level % 2];
    }
  }
}

static void consider(struct found *f, real square, int64_t name) {
  if (f->count == f->k && square >= f->squares[f->k - 1]) return;
  int64_t i = f->count < f->k ? f->count++ : f->k - 1;
  for (; i > 0 && f->squares[i - 1] > square; i--) {
    f->squares[i] = f->squares[i - 1];
    f->names[i] = f->names[i - 1];
  }
  f->squares[i] = square;
  f->names[i] = (integer)name;
}

static void look_into(const struct tree *t, int64_t leaf, const struct point *from,
                      struct found *f) {
  const int64_t end =
      leaf + 1 < (int64_t)1 << t->levels ? first_of(t, t->levels, leaf + 1) : t->n;
  for (int64_t i = first_of(t, t->levels, leaf); i < end; i++) {
    const struct point *const p = &t->points[i];
    const real dx = p->at[0] - from->at[0], dy = p->at[1] - from->at[1];
    if (p != from) consider(f, dx * dx + dy * dy, p->name);
  }
}

/* `away` is how far the node is by each coordinate. */
static void search(const struct tree *t, int level, int64_t k, const struct point *from,
                   const real away[2], struct found *f) {
  if (level == t->levels) {
    look_into(t, k, from, f);
    return;
  }
  const real gap = from->at[level % 2] - t->cuts[((int64_t)1 << level) - 1 + k];
  const int64_t near = 2 * k + (gap >= 0);
  search(t, level + 1, near, from, away, f);
  const real other = away[1 - level % 2];
  if (f->count == f->k && gap * gap + other * other > f->squares[f->k - 1]) return;
  const real farther[2] = {level % 2 ? other : gap, level % 2 ? gap : other};
  search(t, level + 1, near ^ 1, from, farther, f);
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length, wanted = arguments[2].as.i[0];
  const int64_t k = wanted < n - 1 ? wanted : n > 0 ? n - 1 : 0;
  struct tree t = {.points = scratch(0, (size_t)n * sizeof *t.points), .n = n};
  while (n >> t.levels > LEAF) t.levels++;
  t.cuts = scratch(1, ((size_t)1 << t.levels) * sizeof *t.cuts);
  real *const squares = result(results, 0, ARRAY_REAL, n * k)->as.r;
  integer *const names = result(results, 1, ARRAY_INTEGER, n * k)->as.i;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    t.points[i] = (struct point){{arguments[0].as.r[i], arguments[1].as.r[i]}, i};
  build(&t);
#pragma omp parallel for schedule(dynamic, 64)
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = t.points[i].name * k;
    struct found f = {squares + at, names + at, k, 0};
    if (k > 0) search(&t, 0, 0, &t.points[i], (const real[2]){0, 0}, &f);
  }
}
