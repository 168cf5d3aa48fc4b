/* pack.c - PACK: every rank its block; then ranks tell each other how many elements they keep.
 */
#include "cvl-mpi/private.h"

#include <stdlib.h>

/* What a rank keeps of its block: elements, and how many of each segment that it touches. */
struct kept {
  struct cvl_value vector; /* inner; CVL_NOTHING if lost, and then none are kept */
  uint64_t n;
  int64_t *counts; /* of view->segments; NULL without memory */
};

static void release(struct cvl_context *c, struct cvl_value *v) {
  if (v->form != CVL_NOTHING) c->b->release(c->inner, v);
  v->form = CVL_NOTHING;
}

static bool read_counts(struct cvl_context *c, uint64_t site, const struct cvl_value *d,
                        uint64_t n, int64_t *counts) {
  if (n == 0) return true;
  return absorb(c, c->b->to_host(c->inner, d, 0, n, counts), at_site(site));
}

static struct kept keep(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                        const struct view *view, struct distribution *at) {
  static const bool present[] = {true, true, true};
  const uint64_t segments = view->segments.n;
  struct cvl_value in[] = {move_to(c, site, &call->operand[0], at, true),
                           move_to(c, site, &call->operand[1], at, true), view->local};
  struct kept k = {.counts = mpi_try_alloc(c, site, (segments + 1) * sizeof *k.counts)};
  struct cvl_value d = {.form = CVL_NOTHING};
  for (uint64_t i = 0; k.counts && i < segments; i++) k.counts[i] = 0;
  if (any_lost(in, present, 3) || !k.counts) {
    inner_drop(c, in, 3);
    return k;
  }
  if (!absorb(c, c->b->pack(c->inner, site, &in[0], &in[1], &in[2], &k.vector, &d),
              at_site(site))) {
    k.vector.form = CVL_NOTHING;
    return k;
  }
  if (!read_counts(c, site, &d, segments, k.counts)) release(c, &k.vector);
  if (k.vector.form != CVL_NOTHING) k.n = inner_size(c, c->b->length(c->inner, &k.vector));
  release(c, &d);
  return k;
}

struct distribution *kept_by_ranks(struct cvl_context *c, uint64_t n) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  comm_gather(c->comm, &n, sizeof n, counts);
  struct distribution *made = distribution_of_counts(c, counts);
  free(counts);
  return made;
}

/* The counts of all ranks, one rank behind the other; NULL without memory. */
static int64_t *gather_counts(struct cvl_context *c, uint64_t site, const struct cvl_segdes *d,
                              const struct distribution *at, const int64_t *mine) {
  struct comm_block *send = mpi_alloc(c, 2 * c->ranks * sizeof *send),
                    *receive = send + c->ranks;
  const uint64_t own = segdes_segments(d, at, c->rank).n * sizeof *mine;
  uint64_t total = 0;
  for (unsigned r = 0; r < c->ranks; r++) total += segdes_segments(d, at, r).n;
  int64_t *all = mpi_try_alloc(c, site, (total + 1) * sizeof *all), *to = all;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t n = segdes_segments(d, at, r).n;
    send[r] = (struct comm_block){(void *)(uintptr_t)mine, own};
    receive[r] = (struct comm_block){to, n * sizeof *all};
    if (to) to += n;
  }
  comm_exchange(c->comm, send, receive);
  free(send);
  return all;
}

/* How many of each segment all ranks keep. */
static struct cvl_value descriptor(struct cvl_context *c, uint64_t site,
                                   const struct cvl_segdes *d, const struct distribution *at,
                                   const int64_t *all, uint64_t total) {
  int64_t *lengths = all ? mpi_try_alloc(c, site, d->count * sizeof *lengths) : NULL;
  struct cvl_value whole = {.form = CVL_NOTHING};
  for (uint64_t k = 0; lengths && k < d->count; k++) lengths[k] = 0;
  for (unsigned r = 0; lengths && r < c->ranks; r++) {
    const struct range s = segdes_segments(d, at, r);
    for (uint64_t k = 0; k < s.n; k++) lengths[s.first + k] += *all++;
  }
  if (lengths && !absorb(c, c->b->segdes_from_host(c->inner, site, d->count, lengths, &whole),
                         at_site(site)))
    whole.form = CVL_NOTHING;
  free(lengths);
  return mpi_segdes(c, d->count, total, whole);
}

/* Of one segment the sum is known. */
struct cvl_value packed_descriptor(struct cvl_context *c, uint64_t site,
                                   const struct cvl_segdes *d, const struct distribution *at,
                                   const int64_t *mine, uint64_t total) {
  if (d->count == 1) return cvl_one_segment(total);
  int64_t *all = gather_counts(c, site, d, at, mine);
  const struct cvl_value made = descriptor(c, site, d, at, all, total);
  free(all);
  return made;
}

bool pack_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               struct cvl_segdes *d, struct distribution *at, struct cvl_value *out) {
  const struct view *view = segdes_view(c, site, d, at);
  if (!view) return false;
  struct kept k = keep(c, site, call, view, at);
  struct distribution *to = kept_by_ranks(c, k.n);
  const uint64_t total = to->n;
  out[1] = packed_descriptor(c, site, d, at, k.counts, total);
  out[0] = settled(c, site, mpi_elem(&call->operand[0]), to, k.vector);
  free(k.counts);
  return true;
}
