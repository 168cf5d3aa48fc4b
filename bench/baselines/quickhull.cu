// quickhull.cu - the convex hull of points in the plane, all sides of a level at once.
//
// The hull is an array of corners in order; edge e goes from corner e to the next. A point that
// is still outside knows its edge. In a level each edge gets its farthest point as a new
// corner, and one pass over the points drops those in the triangles, gives others their new
// edge, and finds how far the farthest of each new edge is. The host waits once a level, for
// the number of points.
extern "C" {
#include "baseline.h"
#include "serve-gpu.h"
}

#include "append.h"

#include <algorithm>
#include <cub/device/device_scan.cuh>
#include <utility>

/* As in quickhull.c no product is contracted: a point of an edge must have height 0. */
/* flags: -fmad=false */

enum { THREADS = 256, WARPS = THREADS / 32, EACH = 4, SHARED_EDGES = 512, MOST_BLOCKS = 512 };

/* The bits of a height, which are in the order of heights since none is negative. */
typedef unsigned long long height;

struct corner {
  real x, y;
};

/* The corners farthest to the left and to the right. */
struct extremes {
  corner first, last;
};

/* Points outside, and of each its edge. */
struct outside {
  corner *points;
  int *edges;
};

/* The hull of a level: best[e] is the greatest height over edge e, far[e] the point that has
 * it; divided[e] says whether there is one, and before[e] counts the divided edges before e. */
struct polygon {
  corner *corners;
  height *best;
  int *far, *divided, *before;
};

static __device__ bool less(corner a, corner b) {
  return a.x < b.x || (a.x == b.x && a.y < b.y);
}

/* Twice the area of the triangle a b p: positive if p lies to the left of the line from a to b.
 */
static __device__ real area(corner a, corner b, corner p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static __device__ height height_of(real area) {
  return height(__double_as_longlong(double(area)));
}

/* ---- where points come from ---- */

struct of_arrays {
  const real *x, *y;
  __device__ corner point(int i) const { return {x[i], y[i]}; }
  __device__ int edge(int) const { return 0; }
  __device__ extremes ends(int i) const { return {point(i), point(i)}; }
};

struct of_outside {
  outside from;
  __device__ corner point(int i) const { return from.points[i]; }
  __device__ int edge(int i) const { return from.edges[i]; }
};

struct of_parts {
  const extremes *parts;
  __device__ extremes ends(int i) const { return parts[i]; }
};

/* ---- kernels ---- */

static __device__ extremes both(extremes a, extremes b) {
  return {less(b.first, a.first) ? b.first : a.first, less(a.last, b.last) ? b.last : a.last};
}

/* Of n, which are not fewer than the blocks, a part of each block. */
template <class From> static __global__ void find_extremes(From from, int n, extremes *parts) {
  __shared__ extremes found[THREADS];
  const int me = int(threadIdx.x), stride = int(gridDim.x) * THREADS;
  extremes mine = from.ends(int(blockIdx.x));
  for (int i = int(blockIdx.x) * THREADS + me; i < n; i += stride)
    mine = both(mine, from.ends(i));
  found[me] = mine;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) found[me] = both(found[me], found[me + half]);
  }
  if (me == 0) parts[blockIdx.x] = found[0];
}

/* The hull of the first level has one corner and one edge, around which all points are, and of
 * them the last corner is farthest. */
static __global__ void begin(const extremes *all, polygon hull, corner *farthest) {
  hull.corners[0] = all->first;
  *farthest = all->last;
  hull.far[0] = 0;
  hull.divided[0] = 1;
  hull.divided[1] = 0;
}

/* Of points with the greatest height over an edge that farthest to the right is chosen: it is a
 * corner even if others lie on a line with it. */
static __global__ void choose_farthest(int n, outside from, int edges, polygon hull) {
  const int i = int(blockIdx.x) * THREADS + int(threadIdx.x);
  if (i >= n) return;
  const int e = from.edges[i];
  const corner p = from.points[i];
  const corner a = hull.corners[e], b = hull.corners[e + 1 < edges ? e + 1 : 0];
  if (height_of(area(a, b, p)) != hull.best[e]) return;
  int other = atomicCAS(&hull.far[e], -1, i);
  if (other < 0) hull.divided[e] = 1;
  while (other >= 0 && less(from.points[other], p)) {
    const int seen = atomicCAS(&hull.far[e], other, i);
    if (seen == other) return;
    other = seen;
  }
}

static __global__ void insert_corners(int edges, polygon hull, const corner *points,
                                      polygon next) {
  const int e = int(blockIdx.x) * THREADS + int(threadIdx.x);
  if (e >= edges) return;
  const int to = e + hull.before[e];
  next.corners[to] = hull.corners[e];
  if (hull.divided[e]) next.corners[to + 1] = points[hull.far[e]];
}

/* The greatest heights over the edges of a level: in shared memory as long as edges are few,
 * and many points meet at each. */
struct heights {
  height *best, *shared;
  int edges;

  __device__ void add(int edge, real area) const {
    height *at = edges <= SHARED_EDGES ? &shared[edge] : &best[edge];
    const height h = height_of(area);
    if (*(volatile height *)at < h) atomicMax(at, h);
  }
  __device__ void clear() const {
    for (int e = int(threadIdx.x); e < SHARED_EDGES; e += THREADS) shared[e] = 0;
    __syncthreads();
  }
  __device__ void give() const {
    __syncthreads();
    if (edges > SHARED_EDGES) return;
    for (int e = int(threadIdx.x); e < edges; e += THREADS)
      if (shared[e] > 0) atomicMax(&best[e], shared[e]);
  }
};

/* The edge of the next level that a point is outside of, or -1; puts its height to the others.
 */
static __device__ int new_edge(corner p, int edge, int edges, polygon hull, polygon next,
                               const heights &found) {
  const int left = edge + hull.before[edge];
  if (!hull.divided[edge]) return -1;
  const corner a = next.corners[left], f = next.corners[left + 1];
  const corner b = next.corners[left + 2 < found.edges ? left + 2 : 0];
  const real l = area(a, f, p), r = area(f, b, p);
  if (!(l > 0) && !(r > 0)) return -1;
  const int to = l > 0 ? left : left + 1;
  found.add(to, l > 0 ? l : r);
  return to;
}

template <class From>
static __global__ void divide(From from, int n, int edges, polygon hull, polygon next,
                              outside to, int *count) {
  __shared__ height shared[SHARED_EDGES];
  const heights found = {next.best, shared, edges + hull.before[edges]};
  found.clear();
  const int first = int(blockIdx.x) * THREADS * EACH + int(threadIdx.x);
  corner points[EACH];
  int at[EACH], kept = 0;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const int i = first + k * THREADS;
    at[k] = -1;
    if (i < n) {
      points[k] = from.point(i);
      at[k] = new_edge(points[k], from.edge(i), edges, hull, next, found);
    }
    kept += __popc(__ballot_sync(~0u, at[k] >= 0));
  }
  int begin = appended<WARPS>(kept, count);
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    const unsigned those = __ballot_sync(~0u, at[k] >= 0);
    if (at[k] >= 0) {
      to.points[begin + lanes_before(those)] = points[k];
      to.edges[begin + lanes_before(those)] = at[k];
    }
    begin += __popc(those);
  }
  found.give();
}

static __global__ void take_apart(int count, const corner *corners, real *x, real *y) {
  const int k = int(blockIdx.x) * THREADS + int(threadIdx.x);
  if (k >= count) return;
  x[k] = corners[k].x;
  y[k] = corners[k].y;
}

/* ---- the host ---- */

static unsigned blocks(int n, int each = 1) {
  return unsigned((n + THREADS * each - 1) / (THREADS * each));
}

/* Of a hull of any of n points, which is one of two. */
static polygon polygon_of(int k, int64_t n) {
  const size_t most = size_t(n) + 3;
  return {static_cast<corner *>(scratch(5 * k, most * sizeof(corner))),
          static_cast<height *>(scratch(5 * k + 1, most * sizeof(height))),
          static_cast<int *>(scratch(5 * k + 2, most * sizeof(int))),
          static_cast<int *>(scratch(5 * k + 3, most * sizeof(int))),
          static_cast<int *>(scratch(5 * k + 4, most * sizeof(int)))};
}

static outside outside_of(int k, int64_t n) {
  return {static_cast<corner *>(scratch(10 + 2 * k, size_t(n) * sizeof(corner))),
          static_cast<int *>(scratch(11 + 2 * k, size_t(n) * sizeof(int)))};
}

/* No edge is divided, and no point is over any. */
static void clear(polygon hull, int edges) {
  cudaMemsetAsync(hull.best, 0, size_t(edges) * sizeof(height));
  cudaMemsetAsync(hull.far, -1, size_t(edges) * sizeof(int));
  cudaMemsetAsync(hull.divided, 0, size_t(edges + 1) * sizeof(int));
}

/* The divided edges before each, and behind the last one their number. */
static void count_divided(polygon hull, int edges) {
  size_t bytes = 0;
  device_check(
      cub::DeviceScan::ExclusiveSum(nullptr, bytes, hull.divided, hull.before, edges + 1));
  device_check(cub::DeviceScan::ExclusiveSum(scratch(14, bytes), bytes, hull.divided,
                                             hull.before, edges + 1));
}

/* A level: the new corners, and the points outside of the new edges; gives their number. */
template <class From>
static int level(From from, int n, const corner *points, int *edges, polygon hull, polygon next,
                 outside to) {
  int *count = static_cast<int *>(scratch(15, sizeof(int))), outside = 0, added = 0;
  count_divided(hull, *edges);
  clear(next, std::min(2 * *edges, *edges + n)); /* no more than there are corners */
  cudaMemsetAsync(count, 0, sizeof(int));
  insert_corners<<<blocks(*edges), THREADS>>>(*edges, hull, points, next);
  divide<<<blocks(n, EACH), THREADS>>>(from, n, *edges, hull, next, to, count);
  device_copy_out(&outside, count, sizeof outside);
  device_copy_out(&added, hull.before + *edges, sizeof added);
  *edges += added;
  return outside;
}

static const extremes *extremes_of(of_arrays points, int n) {
  extremes *parts = static_cast<extremes *>(scratch(16, (MOST_BLOCKS + 1) * sizeof(extremes)));
  const unsigned used = std::min(blocks(n), unsigned(MOST_BLOCKS));
  find_extremes<<<used, THREADS>>>(points, n, parts);
  find_extremes<<<1, THREADS>>>(of_parts{parts}, int(used), parts + MOST_BLOCKS);
  return parts + MOST_BLOCKS;
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int n = int(arguments[0].length);
  const of_arrays points = {arguments[0].as.r, arguments[1].as.r};
  polygon hull = polygon_of(0, n), next = polygon_of(1, n);
  outside here = outside_of(0, n), there = outside_of(1, n);
  int edges = 1;
  if (n > 0) {
    begin<<<1, 1>>>(extremes_of(points, n), hull, there.points);
    int left = level(points, n, there.points, &edges, hull, next, here);
    std::swap(hull, next);
    while (left > 0) {
      choose_farthest<<<blocks(left), THREADS>>>(left, here, edges, hull);
      left = level(of_outside{here}, left, here.points, &edges, hull, next, there);
      std::swap(hull, next);
      std::swap(here, there);
    }
  }
  /* Of one point both corners are that. */
  extremes ends = {};
  if (n > 0) device_copy_out(&ends, hull.corners, sizeof ends);
  const bool one = edges == 2 && ends.first.x == ends.last.x && ends.first.y == ends.last.y;
  const int count = n == 0 || one ? std::min(n, 1) : edges;
  real *x = result(results, 0, ARRAY_REAL, count)->as.r;
  real *y = result(results, 1, ARRAY_REAL, count)->as.r;
  if (count > 0) take_apart<<<blocks(count), THREADS>>>(count, hull.corners, x, y);
}
