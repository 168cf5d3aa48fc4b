// barnes-hut.cu - Barnes-Hut in the plane by the six kernels of Burtscher and Pingali (2011):
// the square around the bodies, the tree, centres of mass, the order of bodies by their
// squares, forces, the step of time. The host waits for none of them.
//
// Bodies are the nodes 0 to n - 1, cells those from n on, the root first, each behind its
// parent. A cell has a child for each quarter of its square: a node, none, or LOCKED while a
// thread changes it. Squares of the smallest size are not cut: their bodies are a list by
// `next`.
extern "C" {
#include "baseline.h"
}

#include <cuda/atomic>

enum {
  LEVELS = 15, /* of squares, as in barnes-hut.c */
  NONE = -1,
  LOCKED = -2,
  THREADS = 256,
  WARPS = THREADS / 32,
  MOST_BLOCKS = 256,
  STACK = 3 * LEVELS +
          4 /* nodes that wait: a cell's four children take the position of their parent */
};

struct bodies {
  int n;
  const real *x, *y, *mass;
};

struct box {
  real left, bottom, right, top;
};

struct square {
  real left, bottom, width;
};

/* A node's position, or centre of mass, and its mass. */
struct weight {
  real x, y, mass;
};

/* What kernels know of all: blocks that found their box, cells there are, those that were given
 * to blocks to be weighed, and to be put in order. */
struct progress {
  square whole;
  int boxes, cells, weighed, ordered;
};

struct tree {
  int n;
  progress *state;
  int *children;   /* four of each cell */
  int *count;      /* bodies of each cell; NONE as long as it is not known */
  int *begin;      /* where they begin in the order, likewise */
  int *next;       /* of bodies */
  int *order;      /* bodies */
  weight *weights; /* of nodes */
  box *boxes;      /* of blocks */
};

/* ---- what threads publish ---- */

typedef cuda::atomic_ref<int, cuda::thread_scope_device> shared_int;

/* What was written before `publish` is seen after `look`. */
static __device__ int look(int *at) {
  return shared_int(*at).load(cuda::memory_order_acquire);
}

static __device__ void publish(int *at, int value) {
  shared_int(*at).store(value, cuda::memory_order_release);
}

/* ---- 1: the square around all bodies ---- */

static __device__ box around(box a, box b) {
  return {min(a.left, b.left), min(a.bottom, b.bottom), max(a.right, b.right),
          max(a.top, b.top)};
}

/* All threads of a block; the result is that of thread 0. */
static __device__ box box_of_block(box mine) {
  __shared__ box found[THREADS];
  const int me = int(threadIdx.x);
  found[me] = mine;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (me < half) found[me] = around(found[me], found[me + half]);
  }
  return me == 0 ? found[0] : mine;
}

static __device__ void empty_cell(tree t, int cell) {
  for (int q = 0; q < 4; q++) t.children[4 * (cell - t.n) + q] = NONE;
  t.count[cell - t.n] = t.begin[cell - t.n] = NONE;
}

static __device__ void plant(tree t, box all) {
  const real width = max(all.right - all.left, all.top - all.bottom);
  t.state->whole = {all.left, all.bottom, real(1.000001) * width + real(1e-9)};
  t.state->cells = 1;
  empty_cell(t, t.n);
  t.begin[0] = 0;
}

/* The last block puts the boxes of all together. */
static __global__ void find_square(bodies of, tree t) {
  __shared__ bool last;
  const int me = int(threadIdx.x), stride = int(gridDim.x) * THREADS;
  const int first = int(blockIdx.x);
  box mine = {of.x[first], of.y[first], of.x[first], of.y[first]};
  for (int i = first * THREADS + me; i < of.n; i += stride)
    mine = around(mine, {of.x[i], of.y[i], of.x[i], of.y[i]});
  const box block = box_of_block(mine);
  if (me == 0) {
    t.boxes[first] = block;
    last = shared_int(t.state->boxes).fetch_add(1, cuda::memory_order_acq_rel) ==
           int(gridDim.x) - 1;
  }
  __syncthreads();
  if (!last) return;
  const box all = box_of_block(t.boxes[min(me, int(gridDim.x) - 1)]);
  if (me == 0) plant(t, all);
}

/* ---- 2: the tree ---- */

/* The quarter of a square in which a body is, 0 to 3; the square becomes that quarter. */
static __device__ int quarter(square *s, bodies of, int body) {
  s->width /= 2;
  const bool right = of.x[body] >= s->left + s->width;
  const bool upper = of.y[body] >= s->bottom + s->width;
  if (right) s->left += s->width;
  if (upper) s->bottom += s->width;
  return right + 2 * upper;
}

static __device__ int new_cell(tree t) {
  const int cell = t.n + atomicAdd(&t.state->cells, 1);
  empty_cell(t, cell);
  return cell;
}

/* A cell for two bodies in a square that is cut, with the cells below it until the bodies are
 * in different ones. Nobody else knows of these yet. `level` is the square's. */
static __device__ int cell_of_two(tree t, bodies of, square s, int level, int a, int b) {
  const int top = new_cell(t);
  for (int cell = top;; level++) {
    square of_a = s;
    const int qa = quarter(&of_a, of, a), qb = quarter(&s, of, b);
    int *child = t.children + 4 * (cell - t.n);
    if (qa != qb) {
      child[qa] = a;
      child[qb] = b;
      return top;
    }
    if (level + 1 == LEVELS) {
      t.next[b] = a;
      child[qa] = b;
      return top;
    }
    cell = child[qa] = new_cell(t);
  }
}

/* Puts a body where `child`, a node or NONE, was found; false if another thread was there
 * before. The square is the child's. */
static __device__ bool put(tree t, bodies of, int *at, int child, square s, int level,
                           int body) {
  if (child == LOCKED) return false;
  if (child == NONE)
    return shared_int(*at).compare_exchange_strong(child, body, cuda::memory_order_release,
                                                   cuda::memory_order_relaxed);
  if (atomicCAS(at, child, LOCKED) != child) return false;
  if (level == LEVELS) {
    t.next[body] = child;
    publish(at, body);
  } else {
    publish(at, cell_of_two(t, of, s, level, child, body));
  }
  return true;
}

static __device__ void insert(tree t, bodies of, int body) {
  square s = t.state->whole;
  int cell = t.n, level = 1, q = quarter(&s, of, body);
  for (;;) {
    int *at = t.children + 4 * (cell - t.n) + q;
    const int child = look(at);
    if (child < t.n) {
      if (put(t, of, at, child, s, level, body)) return;
      continue;
    }
    cell = child;
    q = quarter(&s, of, body);
    level++;
  }
}

static __global__ void grow(bodies of, tree t) {
  const int i = int(blockIdx.x) * THREADS + int(threadIdx.x);
  if (i >= of.n) return;
  t.next[i] = NONE;
  t.weights[i] = {of.x[i], of.y[i], of.mass[i]};
  insert(t, of, i);
}

/* ---- 3: centres of mass, from the last cells to the root ---- */

static __device__ void add(weight *sum, weight w) {
  sum->x += w.mass * w.x;
  sum->y += w.mass * w.y;
  sum->mass += w.mass;
}

/* False if a child is not known yet. */
static __device__ bool weigh(tree t, int cell) {
  const int *child = t.children + 4 * (cell - t.n);
  weight sum = {0, 0, 0};
  int count = 0;
  for (int q = 0; q < 4; q++) {
    if (child[q] >= t.n) {
      const int below = look(&t.count[child[q] - t.n]);
      if (below == NONE) return false;
      add(&sum, t.weights[child[q]]);
      count += below;
    } else {
      for (int b = child[q]; b != NONE; b = t.next[b], count++) add(&sum, t.weights[b]);
    }
  }
  t.weights[cell] = {sum.x / sum.mass, sum.y / sum.mass, sum.mass};
  publish(&t.count[cell - t.n], count);
  return true;
}

/* The number of this thread among all to whom `given` numbers were given. Blocks take the next
 * ones when they are done, so that those before are done or at work: whoever waits for them is
 * not in vain, even if not all blocks are on the device. */
static __device__ int next_number(int *given) {
  __shared__ int first;
  __syncthreads();
  if (threadIdx.x == 0) first = atomicAdd(given, THREADS);
  __syncthreads();
  return first + int(threadIdx.x);
}

static __global__ void weigh_cells(tree t) {
  const int cells = t.state->cells;
  for (;;) {
    const int k = next_number(&t.state->weighed);
    if (k - int(threadIdx.x) >= cells) return;
    bool done = k >= cells;
    while (!__syncthreads_and(done))
      if (!done) done = weigh(t, t.n + cells - 1 - k);
  }
}

/* ---- 4: the order of bodies, from the root to the last cells ---- */

/* False if it is not known yet where the cell's bodies begin. */
static __device__ bool put_in_order(tree t, int cell) {
  const int *child = t.children + 4 * (cell - t.n);
  int at = look(&t.begin[cell - t.n]);
  if (at == NONE) return false;
  for (int q = 0; q < 4; q++) {
    if (child[q] >= t.n) {
      publish(&t.begin[child[q] - t.n], at);
      at += t.count[child[q] - t.n];
    } else {
      for (int b = child[q]; b != NONE; b = t.next[b]) t.order[at++] = b;
    }
  }
  return true;
}

static __global__ void order_bodies(tree t) {
  const int cells = t.state->cells;
  for (;;) {
    const int k = next_number(&t.state->ordered);
    if (k - int(threadIdx.x) >= cells) return;
    bool done = k >= cells;
    while (!__syncthreads_and(done))
      if (!done) done = put_in_order(t, t.n + k);
  }
}

/* ---- 5: forces ---- */

/* Towards a body or a centre of mass; near ones pull a little less than they should. */
static __device__ void pull(weight by, real dx, real dy, real distance2, real *fx, real *fy) {
  const real r2 = distance2 + real(1e-6);
  const real k = by.mass / (r2 * sqrt(r2));
  *fx += k * dx;
  *fy += k * dy;
}

/* Nodes that are still to be looked at, with their levels. */
struct stack {
  int nodes[STACK], levels[STACK];
};

/* The lanes of a warp, whose bodies are neighbours, take one way through the tree: a cell is
 * opened if it is near to any of them. */
static __device__ void pull_all(tree t, stack *s, real opening, real x, real y, real *fx,
                                real *fy) {
  const int lane = int(threadIdx.x) % 32;
  const real width = t.state->whole.width / opening;
  int depth = 1;
  if (lane == 0) s->nodes[0] = t.n, s->levels[0] = 0;
  while (depth > 0) {
    __syncwarp();
    const int node = s->nodes[--depth], level = s->levels[depth];
    const weight w = t.weights[node];
    const real dx = w.x - x, dy = w.y - y, distance2 = dx * dx + dy * dy;
    const real near = width / real(1 << level);
    if (node < t.n) {
      pull(w, dx, dy, distance2, fx, fy);
      for (int b = t.next[node]; b != NONE; b = t.next[b]) {
        const weight v = t.weights[b];
        const real ex = v.x - x, ey = v.y - y;
        pull(v, ex, ey, ex * ex + ey * ey, fx, fy);
      }
    } else if (__all_sync(~0u, distance2 > near * near)) {
      pull(w, dx, dy, distance2, fx, fy);
    } else {
      const int child = lane < 4 ? t.children[4 * (node - t.n) + lane] : NONE;
      const unsigned those = __ballot_sync(~0u, child != NONE);
      const int to = depth + __popc(those & ((1u << lane) - 1));
      __syncwarp(); /* all have read what is overwritten */
      if (child != NONE) s->nodes[to] = child, s->levels[to] = level + 1;
      depth += __popc(those);
    }
  }
}

static __global__ void find_forces(bodies of, tree t, real opening, real *fx, real *fy) {
  __shared__ stack stacks[WARPS];
  const int k = int(blockIdx.x) * THREADS + int(threadIdx.x);
  const int body = t.order[min(k, of.n - 1)]; /* all lanes have one */
  real x = 0, y = 0;
  pull_all(t, &stacks[threadIdx.x / 32], opening, of.x[body], of.y[body], &x, &y);
  if (k >= of.n) return;
  fx[body] = x;
  fy[body] = y;
}

/* ---- 6: the step of time ---- */

struct motion {
  real *x, *y, *vx, *vy;
};

static __global__ void move(bodies of, const real *vx, const real *vy, const real *fx,
                            const real *fy, real dt, motion to) {
  const int i = int(blockIdx.x) * THREADS + int(threadIdx.x);
  if (i >= of.n) return;
  to.vx[i] = vx[i] + dt * fx[i];
  to.vy[i] = vy[i] + dt * fy[i];
  to.x[i] = of.x[i] + dt * to.vx[i];
  to.y[i] = of.y[i] + dt * to.vy[i];
}

/* ---- the host ---- */

/* A level has at most a cell for every two bodies. */
static tree tree_of(int n) {
  const size_t bodies = size_t(n), cells = bodies * LEVELS / 2 + 2;
  return {n,
          static_cast<progress *>(scratch(0, sizeof(progress))),
          static_cast<int *>(scratch(1, 4 * cells * sizeof(int))),
          static_cast<int *>(scratch(2, cells * sizeof(int))),
          static_cast<int *>(scratch(3, cells * sizeof(int))),
          static_cast<int *>(scratch(4, bodies * sizeof(int))),
          static_cast<int *>(scratch(5, bodies * sizeof(int))),
          static_cast<weight *>(scratch(6, (bodies + cells) * sizeof(weight))),
          static_cast<box *>(scratch(7, MOST_BLOCKS * sizeof(box)))};
}

extern "C" void baseline(const struct array *arguments, struct array *results) {
  const int n = int(arguments[0].length);
  const bodies of = {n, arguments[0].as.r, arguments[1].as.r, arguments[2].as.r};
  motion to;
  real **const parts[] = {&to.x, &to.y, &to.vx, &to.vy};
  for (int k = 0; k < 4; k++) *parts[k] = result(results, k, ARRAY_REAL, n)->as.r;
  if (n == 0) return;
  const tree t = tree_of(n);
  real *fx = static_cast<real *>(scratch(8, size_t(n) * sizeof(real)));
  real *fy = static_cast<real *>(scratch(9, size_t(n) * sizeof(real)));
  const unsigned blocks = unsigned((n + THREADS - 1) / THREADS);
  const unsigned few = blocks < MOST_BLOCKS ? blocks : unsigned(MOST_BLOCKS);
  cudaMemsetAsync(t.state, 0, sizeof(progress));
  find_square<<<few, THREADS>>>(of, t);
  grow<<<blocks, THREADS>>>(of, t);
  weigh_cells<<<few, THREADS>>>(t);
  order_bodies<<<few, THREADS>>>(t);
  find_forces<<<blocks, THREADS>>>(of, t, arguments[5].as.r[0], fx, fy);
  move<<<blocks, THREADS>>>(of, arguments[3].as.r, arguments[4].as.r, fx, fy,
                            arguments[6].as.r[0], to);
}
