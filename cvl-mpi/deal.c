/* deal.c - calls by instances dealt out to ranks, whole: each executes some instances on its
 * inner back end, without any exchange, and then results are put together.
 *
 * Ranks get instances one behind the other, as many as take equal shares of the bytes of the
 * operands: so their elements are mostly on the right rank already. What all instances share
 * goes to all ranks.
 */
#include "cvl-mpi/deal.h"

#include <stdlib.h>
#include <string.h>

/* ---- sizes ---- */

static bool is_segdes(const struct cvl_value *v) {
  return v->form == CVL_SEGDES || v->form == CVL_ONE_SEGMENT;
}

/* Where the elements, or segments, of operand p are that belong to instances from `instance`
 * on. */
static uint64_t position_of(const struct cvl_deal *d, struct cvl_segdes *const *segdes,
                            uint32_t p, uint64_t instance) {
  if (d->sizes[p] == CVL_EACH) return instance;
  const uint32_t of = d->sizes[p];
  return segdes[of]->offset[position_of(d, segdes, of, instance)];
}

static double bytes_of(const struct cvl_value *v) {
  return is_segdes(v) ? (double)sizeof(int64_t) : (double)elem_info(mpi_elem(v))->bytes;
}

/* What the instances before this one take. */
static double weight_before(const struct cvl_deal *d, struct cvl_segdes *const *segdes,
                            uint64_t instance) {
  double weight = (double)instance * sizeof(int64_t);
  for (uint32_t p = 1; p < d->count; p++) {
    if (d->sizes[p] != CVL_SHARED)
      weight += bytes_of(&d->operands[p]) * (double)position_of(d, segdes, p, instance);
  }
  return weight;
}

/* The first instance before which there is at least so much. */
static uint64_t instance_at(const struct cvl_deal *d, struct cvl_segdes *const *segdes,
                            double weight) {
  uint64_t low = 0, high = d->instances;
  while (low < high) {
    const uint64_t i = low + (high - low) / 2;
    if (weight_before(d, segdes, i) < weight) {
      low = i + 1;
    } else {
      high = i;
    }
  }
  return low;
}

static struct distribution *shares(struct cvl_context *c, const struct cvl_deal *d,
                                   struct cvl_segdes *const *segdes) {
  const double all = weight_before(d, segdes, d->instances);
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts), before = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t end =
        r + 1 == c->ranks ? d->instances : instance_at(d, segdes, all / c->ranks * (r + 1));
    counts[r] = end - before;
    before = end;
  }
  struct distribution *made = distribution_of_counts(c, counts);
  free(counts);
  return made;
}

/* Calls on less than ranks keep whole vectors of are not worth it. */
static bool is_worth_it(const struct cvl_context *c, const struct cvl_deal *d,
                        struct cvl_segdes *const *segdes) {
  const double least = (double)c->whole * sizeof(int64_t);
  return c->ranks > 1 && d->instances >= c->ranks &&
         weight_before(d, segdes, d->instances) > least;
}

/* ---- operands ---- */

/* The same reference for the caller. */
static struct cvl_value retained(struct cvl_context *c, struct cvl_value v) {
  if (v.form == CVL_NOTHING) return v;
  if (!v.owned) c->b->retain(c->inner, &v);
  v.owned = 0;
  return v;
}

/* Segments first .. first + n of a descriptor, all of which this rank has. */
static struct cvl_value own_segments(struct cvl_context *c, uint64_t site,
                                     const struct cvl_value *v, uint64_t first, uint64_t n) {
  const struct cvl_value whole = inner_of(v, false);
  return retained(c, inner_slice(c, site, whole, first, n));
}

static struct cvl_value own_operand(struct cvl_context *c, uint64_t site,
                                    const struct cvl_deal *d, struct cvl_segdes *const *segdes,
                                    const struct distribution *at, uint32_t p) {
  const struct cvl_value *v = &d->operands[p];
  if (d->sizes[p] == CVL_SHARED) return retained(c, move_whole(c, site, v));
  struct range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t first = position_of(d, segdes, p, at->start[r]);
    ranges[r] = (struct range){first, position_of(d, segdes, p, at->start[r + 1]) - first};
  }
  const struct range mine = ranges[c->rank];
  const struct cvl_value own = is_segdes(v) ? own_segments(c, site, v, mine.first, mine.n)
                                            : retained(c, move_ranges(c, site, v, ranges));
  free(ranges);
  return own;
}

/* All of this rank; false if some are lost. */
static bool bring_operands(struct cvl_context *c, uint64_t site, struct cvl_deal *d,
                           struct cvl_segdes *const *segdes, const struct distribution *at) {
  bool have = true;
  d->own[0] = cvl_one_segment(d->n);
  for (uint32_t p = 1; p < d->count; p++) {
    d->own[p] = own_operand(c, site, d, segdes, at, p);
    have = have && d->own[p].form != CVL_NOTHING;
  }
  return have;
}

static void release_own(struct cvl_context *c, struct cvl_value *own, uint32_t count) {
  for (uint32_t p = 0; p < count; p++) {
    if (own[p].form != CVL_NOTHING) c->b->release(c->inner, &own[p]);
    own[p] = nothing();
  }
}

/* ---- dealing ---- */

/* Faults that say no more than that this cannot be: nobody hears of them. */
static void forget_faults(struct cvl_context *c) {
  struct cvl_error e;
  while (c->b->check(c->inner, true, &e) && e.kind != CVL_E_DEVICE) continue;
  c->mine.kind = CVL_E_NONE;
}

static bool deal_out(struct cvl_context *c, uint64_t site, struct cvl_deal *d,
                     struct cvl_segdes *const *segdes) {
  struct distribution *at = shares(c, d, segdes);
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
  forget_faults(c);
  distribution_release(at);
  return false;
}

/* The descriptors among operands, with offsets. */
static bool find_segdes(struct cvl_context *c, uint64_t site, const struct cvl_deal *d,
                        struct one_segment *ones, struct cvl_segdes **segdes) {
  for (uint32_t p = 1; p < d->count; p++) {
    if (d->sizes[p] == CVL_SHARED || !is_segdes(&d->operands[p])) continue;
    segdes[p] = segdes_of(&d->operands[p], &ones[p]);
    if (!segdes_offsets(c, site, segdes[p])) return false;
  }
  return true;
}

bool mpi_deal(struct cvl_context *c, uint64_t site, struct cvl_deal *d) {
  comm_at(c->comm, "deal", site);
  struct one_segment *ones = mpi_alloc(c, d->count * sizeof *ones);
  struct cvl_segdes **segdes = mpi_alloc(c, d->count * sizeof(struct cvl_segdes *));
  const bool dealt = find_segdes(c, site, d, ones, segdes) && is_worth_it(c, d, segdes) &&
                     deal_out(c, site, d, segdes);
  free(ones);
  free(segdes);
  return dealt;
}

/* ---- results ---- */

static uint64_t own_length(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->length(c->inner, v));
}

static uint64_t own_count(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->count(c->inner, v));
}

/* The lengths of the segments of all ranks, one rank's behind the other's; NULL without memory.
 */
static int64_t *all_lengths(struct cvl_context *c, uint64_t site, const struct cvl_value *own,
                            const struct distribution *at) {
  const uint64_t n = distribution_range(at, c->rank).n;
  int64_t *mine = mpi_try_alloc(c, site, n * sizeof *mine);
  int64_t *all = mpi_try_alloc(c, site, at->n * sizeof *all);
  const bool have =
      mine && (n == 0 || absorb(c, c->b->to_host(c->inner, own, 0, n, mine), at_site(site)));
  struct comm_block *send = mpi_alloc(c, 2 * c->ranks * sizeof *send),
                    *receive = send + c->ranks;
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct range other = distribution_range(at, r);
    send[r] = (struct comm_block){have ? mine : NULL, n * sizeof *mine};
    receive[r] = (struct comm_block){all ? all + other.first : NULL, other.n * sizeof *all};
  }
  comm_exchange(c->comm, send, receive);
  free(send);
  free(mine);
  return all;
}

/* The descriptor of all segments, of which each rank has its own. */
static struct cvl_value whole_segdes(struct cvl_context *c, uint64_t site,
                                     const struct cvl_value *own) {
  struct distribution *at = kept_by_ranks(c, own_count(c, own));
  struct cvl_value whole = nothing();
  const uint64_t count = at->n;
  int64_t *lengths = all_lengths(c, site, own, at);
  uint64_t total = own_length(c, own), *totals = mpi_alloc(c, c->ranks * sizeof *totals);
  comm_gather(c->comm, &total, sizeof total, totals);
  total = 0;
  for (unsigned r = 0; r < c->ranks; r++) total += totals[r];
  if (lengths &&
      !absorb(c, c->b->segdes_from_host(c->inner, site, count, lengths, &whole), at_site(site)))
    whole = nothing();
  free(totals);
  free(lengths);
  distribution_release(at);
  return mpi_segdes(c, count, total, whole);
}

static struct cvl_value whole_vector(struct cvl_context *c, uint64_t site,
                                     struct cvl_value own) {
  const enum cvl_elem elem = (enum cvl_elem)own.elem;
  return settled(c, site, elem, kept_by_ranks(c, own_length(c, &own)), own);
}

static void collect_results(struct cvl_context *c, uint64_t site, uint32_t count,
                            struct cvl_value *own, struct cvl_value *out) {
  for (uint32_t k = 0; k < count; k++) {
    if (is_segdes(&own[k])) {
      out[k] = whole_segdes(c, site, &own[k]);
      c->b->release(c->inner, &own[k]);
    } else {
      out[k] = whole_vector(c, site, own[k]);
    }
    own[k] = nothing();
  }
}

bool mpi_collect(struct cvl_context *c, uint64_t site, struct cvl_deal *d, bool good,
                 uint32_t count, struct cvl_value *own, struct cvl_value *out) {
  comm_at(c->comm, "collect", site);
  distribution_release(d->kept);
  if (all_true(c, good)) {
    collect_results(c, site, count, own, out);
    return true;
  }
  release_own(c, own, good ? count : 0);
  return false;
}
