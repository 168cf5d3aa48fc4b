/* halves.h - points in the plane, cut in halves by one coordinate (quickselect): the levels of
 * a k-d tree. */
#ifndef RAVEL_BENCH_HALVES_H
#define RAVEL_BENCH_HALVES_H
#include "baseline.h"

struct point {
  real at[2];
  int64_t name;
};

static inline bool before(const struct point *a, const struct point *b, int axis) {
  return a->at[axis] < b->at[axis];
}

static inline void swap(struct point *a, struct point *b) {
  const struct point c = *a;
  *a = *b;
  *b = c;
}

/* The point in the middle gets the coordinate that it would have if all were sorted; none
 * behind it has a lesser one, none before it a greater one. */
static void halve(struct point *points, int64_t n, int64_t middle, int axis) {
  int64_t low = 0, high = n - 1;
  while (low < high) {
    struct point *const centre = &points[low + (high - low) / 2];
    if (before(centre, &points[low], axis)) swap(centre, &points[low]);
    if (before(&points[high], centre, axis)) swap(centre, &points[high]);
    if (before(centre, &points[low], axis)) swap(centre, &points[low]);
    const struct point pivot = *centre;
    int64_t i = low, j = high;
    while (i <= j) {
      while (before(&points[i], &pivot, axis)) i++;
      while (before(&pivot, &points[j], axis)) j--;
      if (i <= j) swap(&points[i++], &points[j--]);
    }
    if (middle <= j)
      high = j;
    else if (middle >= i)
      low = i;
    else
      return;
  }
}

#endif
