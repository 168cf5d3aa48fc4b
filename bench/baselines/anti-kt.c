/* anti-kt.c - the algorithm of N^2 steps of FastJet (Cacciari and Salam, 2006): each particle
 * knows its nearest neighbour within the radius. Where two become one, the others are compared
 * with it, and only those that had one of the two for the nearest look at all particles. The
 * last particle moves to where one is gone. Threads share the events. */
#include "csr.h"

#include <math.h>
#include <stdlib.h>

static const real PI = (real)3.141592653589793;

struct particles { /* of an event; where the nearest is, or -1 */
  real *pt, *y, *phi, *weight, *square;
  int32_t *nearest;
  int64_t n;
};

struct jets { /* of a thread */
  real *values[3];
  int64_t count, room;
};

static inline real square_of(real y, real phi, real y2, real phi2) {
  const real a = phi < phi2 ? phi2 - phi : phi - phi2, b = 2 * PI - a;
  const real around = a < b ? a : b;
  return (y - y2) * (y - y2) + around * around;
}

static void look_at_all(const struct particles *p, int64_t k, real r2) {
  const real y = p->y[k], phi = p->phi[k];
  real best = r2;
  int32_t at = -1;
  for (int64_t i = 0; i < p->n; i++) {
    const real d = square_of(y, phi, p->y[i], p->phi[i]);
    if (d < best && i != k) {
      best = d;
      at = (int32_t)i;
    }
  }
  p->square[k] = best;
  p->nearest[k] = at;
}

static int64_t next_one(const struct particles *p) {
  real best = INFINITY;
  int64_t at = 0;
  for (int64_t i = 0; i < p->n; i++) {
    const int32_t m = p->nearest[i];
    const real other = m < 0 ? p->weight[i] : p->weight[m];
    const real d = p->square[i] * (p->weight[i] < other ? p->weight[i] : other);
    if (d < best) {
      best = d;
      at = i;
    }
  }
  return at;
}

/* Particle j becomes the one of i and j. */
static void merge(const struct particles *p, int64_t i, int64_t j) {
  const int64_t a = p->pt[i] >= p->pt[j] ? i : j, b = i + j - a;
  const real turn = p->phi[b] - p->phi[a] > PI   ? -2 * PI
                    : p->phi[a] - p->phi[b] > PI ? 2 * PI
                                                 : 0;
  const real sum = p->pt[a] + p->pt[b];
  const real at = (p->pt[a] * p->phi[a] + p->pt[b] * (p->phi[b] + turn)) / sum;
  p->y[j] = (p->pt[a] * p->y[a] + p->pt[b] * p->y[b]) / sum;
  p->phi[j] = at < 0 ? at + 2 * PI : at >= 2 * PI ? at - 2 * PI : at;
  p->pt[j] = sum;
  p->weight[j] = 1 / (sum * sum);
}

/* The last particle moves to position i. */
static void take_out(struct particles *p, int64_t i) {
  const int64_t last = --p->n;
  p->pt[i] = p->pt[last], p->y[i] = p->y[last], p->phi[i] = p->phi[last];
  p->weight[i] = p->weight[last], p->square[i] = p->square[last];
  p->nearest[i] = p->nearest[last];
}

/* Particle i is gone, and j (or -1) is new. */
static void update(struct particles *p, int64_t i, int64_t j, real r2) {
  enum { AGAIN = -2 };
  for (int64_t k = 0; k < p->n; k++) {
    if (p->nearest[k] == i || (j >= 0 && p->nearest[k] == j)) p->nearest[k] = AGAIN;
  }
  if (j >= 0) p->nearest[j] = AGAIN;
  take_out(p, i);
  const int32_t moved = (int32_t)p->n;
  const int64_t new = j == moved ? i : j;
  for (int64_t k = 0; k < p->n; k++) {
    if (p->nearest[k] == moved) p->nearest[k] = (int32_t)i;
    if (new < 0) continue;
    const real d = square_of(p->y[k], p->phi[k], p->y[new], p->phi[new]);
    if (d < p->square[k] && p->nearest[k] != AGAIN) {
      p->square[k] = d;
      p->nearest[k] = (int32_t) new;
    }
  }
  for (int64_t k = 0; k < p->n; k++) {
    if (p->nearest[k] == AGAIN) look_at_all(p, k, r2);
  }
}

static void add_jet(struct jets *jets, const struct particles *p, int64_t i) {
  if (jets->count == jets->room) {
    jets->room = 2 * jets->room + 1024;
    for (int k = 0; k < 3; k++) {
      jets->values[k] = realloc(jets->values[k], (size_t)jets->room * sizeof(real));
      if (!jets->values[k]) abort();
    }
  }
  jets->values[0][jets->count] = p->pt[i];
  jets->values[1][jets->count] = p->y[i];
  jets->values[2][jets->count++] = p->phi[i];
}

static void event(struct particles *p, real r2, struct jets *jets) {
  /* vector: real */
  for (int64_t k = 0; k < p->n; k++) p->weight[k] = 1 / (p->pt[k] * p->pt[k]);
  for (int64_t k = 0; k < p->n; k++) look_at_all(p, k, r2);
  while (p->n > 0) {
    const int64_t i = next_one(p), j = p->nearest[i];
    if (j < 0)
      add_jet(jets, p, i);
    else
      merge(p, i, j);
    update(p, i, j, r2);
  }
}

/* Memory of a thread for the particles of an event. */
static struct particles room_for(int64_t most) {
  real *const values = malloc((size_t)most * (5 * sizeof(real) + sizeof(int32_t)) + 1);
  if (!values) abort();
  return (struct particles){values,
                            values + most,
                            values + 2 * most,
                            values + 3 * most,
                            values + 4 * most,
                            (int32_t *)(void *)(values + 5 * most),
                            0};
}

static void fill(struct particles *p, const struct array *arguments, int64_t first,
                 int64_t end) {
  p->n = end - first;
  for (int64_t k = first; k < end; k++) {
    p->pt[k - first] = arguments[0].as.r[k];
    p->y[k - first] = arguments[1].as.r[k];
    p->phi[k - first] = arguments[2].as.r[k];
  }
}

enum { BLOCK = 64 };

static void write_jets(const struct jets *blocks, int64_t count, struct array *results) {
  int64_t *const before = scratch(1, ((size_t)count + 1) * sizeof *before);
  before[0] = 0;
  for (int64_t b = 0; b < count; b++) before[b + 1] = before[b] + blocks[b].count;
  for (int k = 0; k < 3; k++) {
    real *const to = result(results, k + 1, ARRAY_REAL, before[count])->as.r;
#pragma omp parallel for
    for (int64_t b = 0; b < count; b++) {
      for (int64_t i = 0; i < blocks[b].count; i++) to[before[b] + i] = blocks[b].values[k][i];
    }
  }
}

void baseline(const struct array *arguments, struct array *results) {
  const int64_t events = arguments[3].length, blocks = (events + BLOCK - 1) / BLOCK;
  const real r2 = arguments[4].as.r[0] * arguments[4].as.r[0];
  int64_t *const offsets = scratch(0, ((size_t)events + 1) * sizeof *offsets), most = 0;
  integer *const counts = result(results, 0, ARRAY_INTEGER, events)->as.i;
  struct jets *const jets = calloc((size_t)blocks + 1, sizeof *jets);
  if (!jets) abort();
  offsets_of(arguments[3].as.i, events, offsets);
  for (int64_t e = 0; e < events; e++)
    most = arguments[3].as.i[e] > most ? arguments[3].as.i[e] : most;
#pragma omp parallel
  {
    struct particles p = room_for(most);
#pragma omp for schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++) {
      for (int64_t e = b * BLOCK; e < events && e < (b + 1) * BLOCK; e++) {
        const int64_t before = jets[b].count;
        fill(&p, arguments, offsets[e], offsets[e + 1]);
        event(&p, r2, &jets[b]);
        counts[e] = (integer)(jets[b].count - before);
      }
    }
    free(p.pt);
  }
  write_jets(jets, blocks, results);
  for (int64_t b = 0; b < blocks; b++) {
    for (int k = 0; k < 3; k++) free(jets[b].values[k]);
  }
  free(jets);
}
