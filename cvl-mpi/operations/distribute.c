/* distribute.c - batch calls whose instances are distributed to ranks. Each rank executes some
 * instances on its inner back end, without any exchange; then the results are put together.
 *
 * The instances of a rank are consecutive. Their numbers give equal shares of the bytes of the
 * operands, so most elements are already on the right rank. All ranks get the operands that
 * instances share.
 */
#include "cvl-mpi/operations/distribute.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- sizes ---- */

static bool distribute_is_segdes(const struct cvl_value *v) {
  return v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
}

/* Some instances, and the positions where their elements and segments begin. */
struct positions {
  const struct cvl_distributed_call *d;
  struct cvl_segdes *const *segdes;
  uint64_t n, *instances;
  uint64_t **inside; /* for operand p, a descriptor: where the segments of the instances begin;
                        NULL: not wanted yet */
};

static struct positions positions_new(struct cvl_context *c,
                                      const struct cvl_distributed_call *d,
                                      struct cvl_segdes *const *segdes, uint64_t n) {
  struct positions x = {.d = d, .segdes = segdes, .n = n};
  x.instances = mpi_alloc(c, (n + 1) * sizeof *x.instances);
  x.inside = mpi_alloc(c, d->count * sizeof(uint64_t *));
  return x;
}

static void positions_free(struct cvl_context *c, struct positions *x) {
  for (uint32_t p = 0; p < x->d->count; p++) mpi_free(c, x->inside[p]);
  mpi_free(c, x->inside);
  mpi_free(c, x->instances);
}

/* Returns the positions of the instances' elements, or segments, of operand p. Collective. */
static const uint64_t *positions_of(struct cvl_context *c, struct positions *x, uint32_t p) {
  const uint32_t of = x->d->sizes[p];
  if (of == CVL_EACH) return x->instances;
  if (!x->inside[of]) {
    const uint64_t *segments = positions_of(c, x, of);
    x->inside[of] = mpi_alloc(c, (x->n + 1) * sizeof(uint64_t));
    memcpy(x->inside[of], segments, x->n * sizeof *segments);
    segdes_look_up(c, x->segdes[of], x->n, x->inside[of]);
  }
  return x->inside[of];
}

static double distribute_bytes_of(const struct cvl_value *v) {
  return distribute_is_segdes(v) ? (double)sizeof(int64_t)
                                 : (double)elem_info(mpi_elem(v))->bytes;
}

/* Returns the bytes of all instances before each of these. The caller frees them. */
static double *weights_of(struct cvl_context *c, struct positions *x) {
  double *weight = mpi_alloc(c, (x->n + 1) * sizeof *weight);
  for (uint64_t i = 0; i < x->n; i++) weight[i] = (double)x->instances[i] * sizeof(int64_t);
  for (uint32_t p = 1; p < x->d->count; p++) {
    if (x->d->sizes[p] == CVL_SHARED) continue;
    const uint64_t *position = positions_of(c, x, p);
    for (uint64_t i = 0; i < x->n; i++)
      weight[i] += distribute_bytes_of(&x->d->operands[p]) * (double)position[i];
  }
  return weight;
}

static double weight_of_all(struct cvl_context *c, const struct cvl_distributed_call *d,
                            struct cvl_segdes *const *segdes) {
  struct positions x = positions_new(c, d, segdes, 1);
  x.instances[0] = d->instances;
  double *weight = weights_of(c, &x), all = weight[0];
  mpi_free(c, weight);
  positions_free(c, &x);
  return all;
}

/* The instances between which the share of a rank ends. */
struct interval {
  uint64_t low, high;
};

enum { PROBES = 7 }; /* in each interval, per round */

static uint64_t probe(struct interval i, unsigned k) {
  const uint64_t n = i.high - i.low;
  return i.low + n / (PROBES + 1) * (k + 1) + n % (PROBES + 1) * (k + 1) / (PROBES + 1);
}

/* Executes one round of the search for all ends at once. Returns false if they are found. */
static bool distribute_narrow(struct cvl_context *c, const struct cvl_distributed_call *d,
                              struct cvl_segdes *const *segdes, double all,
                              struct interval *ends) {
  struct positions x = positions_new(c, d, segdes, (uint64_t)(c->ranks - 1) * PROBES);
  bool open = false;
  for (uint64_t i = 0; i < x.n; i++) {
    const struct interval *end = &ends[i / PROBES];
    open = open || end->low < end->high;
    x.instances[i] = probe(*end, (unsigned)(i % PROBES));
  }
  double *weight = open ? weights_of(c, &x) : NULL;
  for (uint64_t i = 0; open && i < x.n; i++) {
    struct interval *end = &ends[i / PROBES];
    const uint64_t at = x.instances[i];
    if (end->low >= end->high || at < end->low || at >= end->high) continue;
    if (weight[i] < all / c->ranks * (double)(i / PROBES + 1)) {
      end->low = at + 1;
    } else {
      end->high = at;
    }
  }
  mpi_free(c, weight);
  positions_free(c, &x);
  return open;
}

/* Returns the distribution of instances. Each rank's share ends with the first instance before
 * which there are at least as many bytes as the shares up to it. */
static struct distribution *shares(struct cvl_context *c, const struct cvl_distributed_call *d,
                                   struct cvl_segdes *const *segdes, double all) {
  struct interval *ends = mpi_alloc(c, c->ranks * sizeof *ends);
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts), before = 0;
  for (unsigned r = 0; r < c->ranks; r++) ends[r].high = d->instances;
  while (distribute_narrow(c, d, segdes, all, ends)) continue;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t end = r + 1 == c->ranks ? d->instances : ends[r].low;
    counts[r] = end - before;
    before = end;
  }
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  mpi_free(c, ends);
  return made;
}

/* Returns whether distribution pays. It does not if the operands are so small that ranks keep
 * whole vectors of that size. */
static bool distribute_is_worth_it(const struct cvl_context *c,
                                   const struct cvl_distributed_call *d, double all) {
  return c->ranks > 1 && d->instances >= c->ranks && all > (double)c->whole * sizeof(int64_t);
}

/* ---- operands ---- */

/* Returns the value with a reference for the caller. */
static struct cvl_value retained(struct cvl_context *c, struct cvl_value v) {
  if (v.form == CVL_NOTHING) return v;
  if (!v.owned) c->b->retain(c->inner, &v);
  v.owned = 0;
  return v;
}

static struct cvl_value own_operand(struct cvl_context *c, uint64_t site, struct positions *x,
                                    uint32_t p) {
  const struct cvl_value *v = &x->d->operands[p];
  if (x->d->sizes[p] == CVL_SHARED) return retained(c, move_whole(c, site, v));
  const uint64_t *position = positions_of(c, x, p);
  struct mpi_range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++)
    ranges[r] = (struct mpi_range){position[r], position[r + 1] - position[r]};
  const struct cvl_value own = distribute_is_segdes(v) ? segdes_segments(c, site, v, ranges)
                                                       : move_ranges(c, site, v, ranges);
  mpi_free(c, ranges);
  return retained(c, own);
}

/* Finds this rank's part of all operands. Returns false if some are poisoned. */
static bool bring_operands(struct cvl_context *c, uint64_t site, struct cvl_distributed_call *d,
                           struct cvl_segdes *const *segdes, const struct distribution *at) {
  struct positions x = positions_new(c, d, segdes, c->ranks + 1);
  bool have = true;
  memcpy(x.instances, at->start, x.n * sizeof *x.instances);
  d->own[0] = cvl_one_segment(d->n);
  for (uint32_t p = 1; p < d->count; p++) {
    d->own[p] = own_operand(c, site, &x, p);
    have = have && d->own[p].form != CVL_NOTHING;
  }
  positions_free(c, &x);
  return have;
}

static void release_own(struct cvl_context *c, struct cvl_value *own, uint32_t count) {
  for (uint32_t p = 0; p < count; p++) {
    if (own[p].form != CVL_NOTHING) c->b->release(c->inner, &own[p]);
    own[p] = nothing();
  }
}

/* ---- distribution ---- */

/* Drops faults that only show that the call cannot be distributed, so that nobody reports
 * them. */
static void distribute_forget_faults(struct cvl_context *c) {
  struct cvl_error e;
  while (c->b->check(c->inner, true, &e) && e.kind != CVL_E_DEVICE) continue;
  c->mine.error.kind = CVL_E_NONE;
}

static bool distribute_call(struct cvl_context *c, uint64_t site,
                            struct cvl_distributed_call *d, struct cvl_segdes *const *segdes,
                            double all) {
  struct distribution *at = shares(c, d, segdes, all);
  d->first = at->start[c->rank];
  d->n = at->start[c->rank + 1] - d->first;
  if (all_true(c, bring_operands(c, site, d, segdes, at))) {
    d->processes = c->ranks;
    d->backend = c->b;
    d->context = c->inner;
    d->kept = at;
    return true;
  }
  release_own(c, d->own, d->count);
  distribute_forget_faults(c);
  distribution_release(at);
  return false;
}

/* Finds the descriptors among the operands. Returns false if the lengths of one are not
 * available. */
static bool distribute_find_segdes(struct cvl_context *c, uint64_t site,
                                   const struct cvl_distributed_call *d,
                                   struct one_segment *ones, struct cvl_segdes **segdes) {
  for (uint32_t p = 1; p < d->count; p++) {
    if (d->sizes[p] == CVL_SHARED || !distribute_is_segdes(&d->operands[p])) continue;
    segdes[p] = segdes_of(&d->operands[p], &ones[p]);
    if (!segdes_is_known(c, site, segdes[p])) return false;
  }
  return true;
}

bool mpi_distribute(struct cvl_context *c, uint64_t site, struct cvl_distributed_call *d) {
  mpi_enter(c, "distribute", site);
  want(c, d->operands, d->count);
  struct one_segment *ones = mpi_alloc(c, d->count * sizeof *ones);
  struct cvl_segdes **segdes = mpi_alloc(c, d->count * sizeof(struct cvl_segdes *));
  bool distributed = distribute_find_segdes(c, site, d, ones, segdes);
  const double all = distributed ? weight_of_all(c, d, segdes) : 0;
  distributed = distributed && distribute_is_worth_it(c, d, all) &&
                distribute_call(c, site, d, segdes, all);
  mpi_free(c, ones);
  mpi_free(c, segdes);
  return distributed;
}

/* ---- results ---- */

static uint64_t own_length(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->length(c->inner, v));
}

static uint64_t own_count(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->count(c->inner, v));
}

/* Returns the descriptor of all segments, from each rank's own. */
static struct cvl_value whole_segdes(struct cvl_context *c, uint64_t site,
                                     const struct cvl_value *own) {
  const uint64_t n = own_count(c, own);
  int64_t *lengths = mpi_try_alloc(c, site, (n + 1) * sizeof *lengths);
  if (lengths && n > 0 &&
      !absorb(c, c->b->to_host(c->inner, own, 0, n, lengths), at_site(site))) {
    mpi_free(c, lengths);
    lengths = NULL;
  }
  return segdes_of_lengths(c, site, kept_by_ranks(c, n), lengths, NULL);
}

static struct cvl_value whole_vector(struct cvl_context *c, uint64_t site,
                                     struct cvl_value own) {
  const enum cvl_elem elem = (enum cvl_elem)own.elem;
  return settled(c, site, elem, kept_by_ranks(c, own_length(c, &own)), own);
}

static void distribute_collect_results(struct cvl_context *c, uint64_t site, uint32_t count,
                                       struct cvl_value *own, struct cvl_value *out) {
  for (uint32_t k = 0; k < count; k++) {
    if (distribute_is_segdes(&own[k])) {
      out[k] = whole_segdes(c, site, &own[k]);
      c->b->release(c->inner, &own[k]);
    } else {
      out[k] = whole_vector(c, site, own[k]);
    }
    own[k] = nothing();
  }
}

void mpi_collect(struct cvl_context *c, uint64_t site, struct cvl_distributed_call *d,
                 bool good, uint32_t count, struct cvl_value *own, struct cvl_value *out) {
  mpi_enter(c, "collect", site);
  distribution_release(d->kept);
  if (good) distribute_collect_results(c, site, count, own, out);
}
