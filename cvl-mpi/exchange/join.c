/* join.c - reductions of one segment that is on several ranks, from the partial results of
 * each rank. These are values of one level of the tree of trees.h. Ranks compute further
 * levels until few values are left. When somebody wants the result, all ranks send these to
 * all, and each combines them on the host.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl/scalar.h"

/* ---- combining on the host ---- */

static void join_combine(const struct cvl_context *c, enum cvl_op op, struct cvl_value *a,
                         const struct cvl_value *b) {
  cvl_scalar_combine(c->int_elem, c->float_elem, op, a, b);
}

/* Reduces a block of the tree to its first element. Padding is left out. */
static void reduce_block(const struct cvl_context *c, enum cvl_op op, struct cvl_value *x,
                         uint64_t n) {
  const uint64_t lanes = least_of(n, CVL_REDUCE_LANES);
  for (uint64_t j = lanes; j < n; j++) join_combine(c, op, &x[j % CVL_REDUCE_LANES], &x[j]);
  for (uint64_t w = CVL_REDUCE_LANES / 2; w > 0; w /= 2) {
    for (uint64_t j = 0; j < w && j + w < lanes; j++) join_combine(c, op, &x[j], &x[j + w]);
  }
}

/* Reduces all levels of the tree. */
static void reduce_values(const struct cvl_context *c, enum cvl_op op, struct cvl_value *x,
                          uint64_t n) {
  for (; n > 1; n = tree_blocks(n)) {
    for (uint64_t k = 0; k < tree_blocks(n); k++) {
      struct cvl_value *block = &x[k * CVL_REDUCE_BLOCK];
      reduce_block(c, op, block, least_of(n - k * CVL_REDUCE_BLOCK, CVL_REDUCE_BLOCK));
      x[k] = *block;
    }
  }
}

/* ---- the deferred result ---- */

struct join {
  struct deferred p;
  enum cvl_op op;
  enum cvl_elem elem;
  uint64_t *counts; /* the number of values of each rank */
  struct cvl_value local;
};

static void say_values(struct cvl_context *c, struct deferred *p, void *to) {
  const struct join *j = (const struct join *)p;
  inner_read(c, p->site, &j->local, 0, j->counts[c->rank], to);
}

/* Returns the values of all ranks as scalars; the caller frees them. */
static struct cvl_value *join_values_of(struct cvl_context *c, const struct join *j,
                                        const char *all, size_t stride, uint64_t *n) {
  const size_t bytes = elem_info(j->elem)->bytes;
  struct cvl_value *x = mpi_alloc(c, (c->ranks * (j->p.bytes / bytes) + 1) * sizeof *x);
  *n = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    for (uint64_t k = 0; k < j->counts[r]; k++) {
      x[*n] = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)j->elem};
      memcpy(&x[(*n)++].as, all + r * stride + k * bytes, bytes);
    }
  }
  return x;
}

static void join_arrive(struct cvl_context *c, struct deferred *p, const char *all,
                        size_t stride) {
  const struct join *j = (const struct join *)p;
  uint64_t n;
  struct cvl_value *x = join_values_of(c, j, all, stride, &n);
  reduce_values(c, j->op, x, n);
  p->vector->local = x[0];
  p->vector->certain = true;
  mpi_free(c, x);
}

static void join_drop(struct cvl_context *c, struct deferred *p) {
  struct join *j = (struct join *)p;
  release_inner(c, &j->local);
  mpi_free(c, j->counts);
}

static const struct deferred_kind join_kind = {false, say_values, join_arrive, join_drop};

/* ---- levels ---- */

static uint64_t join_longest(const struct cvl_context *c, const uint64_t *counts) {
  uint64_t most = 0;
  for (unsigned r = 0; r < c->ranks; r++) most = counts[r] > most ? counts[r] : most;
  return most;
}

static uint64_t join_sum(const struct cvl_context *c, const uint64_t *counts) {
  uint64_t n = 0;
  for (unsigned r = 0; r < c->ranks; r++) n += counts[r];
  return n;
}

/* Reduces v by the descriptor d; takes both. */
static struct cvl_value inner_reduce(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                     struct cvl_value v, struct cvl_value d) {
  const struct cvl_call call = {.kind = CALL_REDUCE, .op = op, .count = 2, .operand = {v, d}};
  struct cvl_value out[CALL_RESULTS];
  inner_call(c, &call, NULL, at_site(site), out);
  return out[0];
}

/* Reduces each rank's values to at most one, where the order does not matter. */
static void reduce_own(struct cvl_context *c, struct join *j) {
  const uint64_t n = j->counts[c->rank];
  j->local.owned = j->local.form != CVL_NOTHING;
  if (n > 1) j->local = inner_reduce(c, j->p.site, j->op, j->local, cvl_one_segment(n));
  for (unsigned r = 0; r < c->ranks; r++) j->counts[r] = j->counts[r] > 0;
}

/* Returns an inner descriptor of the tree's blocks of n values. */
static struct cvl_value blocks_descriptor(struct cvl_context *c, uint64_t site, uint64_t n) {
  const uint64_t count = tree_blocks(n);
  int64_t *lengths = mpi_alloc(c, (count + 1) * sizeof *lengths);
  struct cvl_value d = nothing();
  for (uint64_t k = 0; k < count; k++)
    lengths[k] = (int64_t)least_of(n - k * CVL_REDUCE_BLOCK, CVL_REDUCE_BLOCK);
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, count, lengths, &d), at_site(site)))
    d = nothing();
  mpi_free(c, lengths);
  d.owned = d.form != CVL_NOTHING;
  return d;
}

/* Returns a distribution like `at` in which ranks have whole blocks of the tree. */
static struct distribution *by_blocks(struct cvl_context *c, const struct distribution *at) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts), before = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t end = least_of(tree_blocks(at->start[r + 1]) * CVL_REDUCE_BLOCK, at->n);
    counts[r] = end - before;
    before = end;
  }
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  return made;
}

/* Computes the next level of the tree. Less than 1,024 values cross the end of a block. */
static void reduce_level(struct cvl_context *c, struct join *j) {
  const uint64_t site = j->p.site;
  struct distribution *at = distribution_of_counts(c, j->counts), *to = by_blocks(c, at);
  struct cvl_value v = mpi_vector(c, j->elem, at->n, at, j->local);
  v.owned = 1;
  const struct cvl_value own = move_to(c, site, &v, to, true);
  const uint64_t n = distribution_range(to, c->rank).n;
  j->local = inner_reduce(c, site, j->op, own, blocks_descriptor(c, site, n));
  for (unsigned r = 0; r < c->ranks; r++)
    j->counts[r] = tree_blocks(distribution_range(to, r).n);
  mpi_release(c, &v);
  distribution_release(to);
}

bool is_exact(enum cvl_op op, enum cvl_elem elem) {
  return elem_info(elem)->klass != CLASS_FLOAT || op == OP_MAX || op == OP_MIN;
}

struct cvl_value one_reduced(struct cvl_context *c, uint64_t site, enum cvl_op op,
                             enum cvl_elem elem, uint64_t *counts, struct cvl_value local) {
  struct join *j = mpi_alloc(c, sizeof *j);
  *j = (struct join){.op = op, .elem = elem, .counts = counts, .local = local};
  j->p.kind = &join_kind;
  j->p.site = site;
  if (is_exact(op, elem)) reduce_own(c, j);
  while (join_sum(c, counts) > c->ranks && join_longest(c, counts) * c->ranks > MOST_SAID)
    reduce_level(c, j);
  j->p.bytes = join_longest(c, counts) * elem_info(elem)->bytes;
  const struct cvl_value v = mpi_vector_object(c, elem, 1, NULL, nothing());
  deferred_add(c, &j->p, true, &v, NULL);
  return v;
}
