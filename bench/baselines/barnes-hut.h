/* barnes-hut.h - Barnes-Hut in the plane or in space: sort, build the tree, pull, move.
 *
 * A program defines DIMENSIONS, LEVELS, the most of the tree, and `spread`, which puts zeros
 * between the bits of a coordinate, and includes this.
 *
 * The bodies are sorted by the number of their square, the bits of whose coordinates alternate
 * (radix sort), so that the bodies of any square of any level stand side by side. The tree
 * grows level by level; the children of a node stand side by side too. Each body goes through
 * the tree by itself with a stack of nodes. Neighbours take nearly the same way, and find it in
 * the cache: that is what the order is for. */
#ifndef RAVEL_BENCH_BARNES_HUT_H
#define RAVEL_BENCH_BARNES_HUT_H
#include "baseline.h"

#include <string.h>

enum { LEAF = 8, RADIX_BITS = 10, BUCKETS = 1 << RADIX_BITS };

#if FLOAT_BITS == 32
#define SQRT __builtin_sqrtf
#else
#define SQRT __builtin_sqrt
#endif

struct body {
  real at[DIMENSIONS], mass;
};

struct node {
  struct body centre;
  real far; /* beyond the root of this, the bodies pull as one */
  int32_t child, children;
  int32_t first, size;
};

struct key {
  uint32_t cell;
  int32_t body;
};

static void sort(struct key *keys, struct key *other, int64_t n) {
  int32_t begins[BUCKETS];
  for (int shift = 0; shift < DIMENSIONS * LEVELS; shift += RADIX_BITS) {
    memset(begins, 0, sizeof begins);
    for (int64_t i = 0; i < n; i++) begins[keys[i].cell >> shift & (BUCKETS - 1)]++;
    int32_t before = 0;
    for (int k = 0; k < BUCKETS; k++) {
      const int32_t count = begins[k];
      begins[k] = before;
      before += count;
    }
    for (int64_t i = 0; i < n; i++)
      other[begins[keys[i].cell >> shift & (BUCKETS - 1)]++] = keys[i];
    struct key *const swapped = keys;
    keys = other;
    other = swapped;
  }
}

/* The first key from `from` whose square is not below `cell`. */
static int32_t lower_bound(const struct key *keys, int32_t from, int32_t end, uint32_t cell) {
  while (from < end) {
    const int32_t middle = from + (end - from) / 2;
    if (keys[middle].cell < cell)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

/* The nodes, the root first; gives their number. */
static int32_t grow(const struct key *keys, int32_t n, real width, real opening,
                    struct node *nodes) {
  int32_t count = 1, level_end = 1;
  int shift = DIMENSIONS * LEVELS;
  nodes[0] = (struct node){.size = n};
  for (int32_t k = 0; k < count; k++) {
    if (k == level_end) {
      level_end = count;
      shift -= DIMENSIONS;
      width /= 2;
    }
    struct node *node = &nodes[k];
    node->far = (width / opening) * (width / opening);
    node->child = count;
    if (node->size <= LEAF || shift == 0) continue;
    const int below = shift - DIMENSIONS;
    const int32_t end = node->first + node->size;
    for (int32_t first = node->first; first < end;) {
      const uint32_t next = ((keys[first].cell >> below) + 1) << below;
      const int32_t child_end = lower_bound(keys, first, end, next);
      nodes[count++] = (struct node){.first = first, .size = child_end - first};
      first = child_end;
    }
    node->children = count - node->child;
  }
  return count;
}

static void weigh(struct node *nodes, int32_t count, const struct body *bodies) {
  for (int32_t k = count - 1; k >= 0; k--) {
    struct node *node = &nodes[k];
    struct body sum = {0};
    const int32_t parts = node->children ? node->children : node->size;
    for (int32_t j = 0; j < parts; j++) {
      const struct body *part =
          node->children ? &nodes[node->child + j].centre : &bodies[node->first + j];
      sum.mass += part->mass;
      for (int d = 0; d < DIMENSIONS; d++) sum.at[d] += part->mass * part->at[d];
    }
    for (int d = 0; d < DIMENSIONS; d++) sum.at[d] /= sum.mass;
    node->centre = sum;
  }
}

static inline void pull(const struct body *by, const real difference[DIMENSIONS],
                        real distance2, real force[DIMENSIONS]) {
  const real r2 = distance2 + (real)1e-6;
  const real k = by->mass / (r2 * SQRT(r2));
  for (int d = 0; d < DIMENSIONS; d++) force[d] += k * difference[d];
}

static inline real look(const struct body *from, const struct body *to,
                        real difference[DIMENSIONS]) {
  real distance2 = 0;
  for (int d = 0; d < DIMENSIONS; d++) {
    difference[d] = to->at[d] - from->at[d];
    distance2 += difference[d] * difference[d];
  }
  return distance2;
}

static void force_on(const struct body *body, const struct node *nodes,
                     const struct body *bodies, real force[DIMENSIONS]) {
  int32_t stack[(LEVELS + 1) << DIMENSIONS], depth = 0;
  stack[depth++] = 0;
  while (depth) {
    const struct node *node = &nodes[stack[--depth]];
    real difference[DIMENSIONS];
    const real distance2 = look(body, &node->centre, difference);
    if (distance2 > node->far) {
      pull(&node->centre, difference, distance2, force);
    } else if (node->children) {
      for (int32_t j = 0; j < node->children; j++) stack[depth++] = node->child + j;
    } else {
      for (int32_t j = 0; j < node->size; j++) {
        const struct body *other = &bodies[node->first + j];
        const real d2 = look(body, other, difference);
        pull(other, difference, d2, force);
      }
    }
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t n = arguments[0].length;
  const real *at[DIMENSIONS], *velocity[DIMENSIONS];
  real *moved[DIMENSIONS], *faster[DIMENSIONS];
  for (int d = 0; d < DIMENSIONS; d++) {
    at[d] = arguments[d].as.r;
    velocity[d] = arguments[DIMENSIONS + 1 + d].as.r;
    moved[d] = result(results, d, ARRAY_REAL, n)->as.r;
    faster[d] = result(results, DIMENSIONS + d, ARRAY_REAL, n)->as.r;
  }
  const real *masses = arguments[DIMENSIONS].as.r;
  const real opening = arguments[2 * DIMENSIONS + 1].as.r[0];
  const real dt = arguments[2 * DIMENSIONS + 2].as.r[0];
  if (n == 0) return;

  real low[DIMENSIONS], width = 0;
  for (int d = 0; d < DIMENSIONS; d++) {
    const real *v = at[d];
    real least = v[0], most = v[0];
#pragma omp simd reduction(min : least) reduction(max : most)
    for (int64_t i = 0; i < n; i++) {
      least = v[i] < least ? v[i] : least;
      most = v[i] > most ? v[i] : most;
    }
    low[d] = least;
    width = most - least > width ? most - least : width;
  }
  width = (real)1.000001 * width + (real)1e-9;

  struct key *keys = scratch(0, (size_t)n * sizeof *keys);
  struct key *other = scratch(1, (size_t)n * sizeof *other);
  struct body *bodies = scratch(2, (size_t)n * sizeof *bodies);
  struct node *nodes = scratch(3, (size_t)(n * 4 + 16 * (LEVELS + 1)) * sizeof *nodes);
  const real cells = (real)(1 << LEVELS) / width;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    keys[i] = (struct key){.body = (int32_t)i};
    for (int d = 0; d < DIMENSIONS; d++)
      keys[i].cell |= spread((uint32_t)((at[d][i] - low[d]) * cells)) << d;
  }
  sort(keys, other, n);
  if (DIMENSIONS * LEVELS / RADIX_BITS % 2 == 1) keys = other;
#pragma omp parallel for
  for (int64_t i = 0; i < n; i++) {
    for (int d = 0; d < DIMENSIONS; d++) bodies[i].at[d] = at[d][keys[i].body];
    bodies[i].mass = masses[keys[i].body];
  }
  weigh(nodes, grow(keys, (int32_t)n, width, opening, nodes), bodies);

#pragma omp parallel for schedule(dynamic, 128)
  for (int64_t i = 0; i < n; i++) {
    real force[DIMENSIONS] = {0};
    force_on(&bodies[i], nodes, bodies, force);
    const int32_t to = keys[i].body;
    for (int d = 0; d < DIMENSIONS; d++) {
      faster[d][to] = velocity[d][to] + dt * force[d];
      moved[d][to] = at[d][to] + dt * faster[d][to];
    }
  }
}

#endif
