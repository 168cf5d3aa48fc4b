/* decision-trees.c - a thread has an array of all features, in which it writes those of a row,
 * goes through the trees, and removes them. */
/* scalar: each step depends on the node of the one before */
#include "csr.h"

#include <math.h>

struct node {
  real bound;
  int32_t feature, left;
};

struct forest {
  struct node *nodes;
  const integer *roots;
  int64_t trees;
};

static struct forest packed(const struct array *arguments) {
  const int64_t n = arguments[0].length;
  const struct forest forest = {scratch(0, (size_t)n * sizeof *forest.nodes), arguments[3].as.i,
                                arguments[3].length};
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++)
    forest.nodes[i] = (struct node){arguments[1].as.r[i], (int32_t)arguments[0].as.i[i],
                                    (int32_t)arguments[2].as.i[i]};
  return forest;
}

static real said(struct forest forest, const real *values) {
  real sum = 0;
  for (int64_t t = 0; t < forest.trees; t++) {
    const struct node *node = &forest.nodes[forest.roots[t]];
    while (node->feature >= 0)
      node = &forest.nodes[node->left + (values[node->feature] >= node->bound)];
    sum += node->bound;
  }
  return sum;
}

void baseline(const struct array *arguments, struct array *results) {
  const struct forest forest = packed(arguments);
  const int64_t width = arguments[4].as.i[0], rows = arguments[5].length;
  const integer *const ids = arguments[6].as.i;
  const real *const xs = arguments[7].as.r;
  int64_t *const offsets = scratch(1, ((size_t)rows + 1) * sizeof *offsets);
  real *const sums = result(results, 0, ARRAY_REAL, rows)->as.r;
  offsets_of(arguments[5].as.i, rows, offsets);
#pragma omp parallel
  {
    real values[width];
    for (int64_t k = 0; k < width; k++) values[k] = (real)NAN;
#pragma omp for schedule(dynamic, 64)
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t k = offsets[r]; k < offsets[r + 1]; k++) values[ids[k]] = xs[k];
      sums[r] = said(forest, values);
      for (int64_t k = offsets[r]; k < offsets[r + 1]; k++) values[ids[k]] = (real)NAN;
    }
  }
}
