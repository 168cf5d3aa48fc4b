/* pack.c - PACK: every rank its block; then ranks tell each other how many elements they keep.
 */
#include "cvl-mpi/private.h"

#include <stdlib.h>
#include <string.h>

/* What a rank keeps of its block: elements, and how many of each segment that it touches. */
struct kept {
  struct cvl_value vector; /* inner; CVL_NOTHING if lost, and then none are kept */
  uint64_t n;
  int64_t *counts; /* of view->segments, with room for one more; NULL without memory */
};

static bool read_counts(struct cvl_context *c, uint64_t site, const struct cvl_value *d,
                        uint64_t n, int64_t *counts) {
  if (n == 0) return true;
  return absorb(c, c->b->to_host(c->inner, d, 0, n, counts), at_site(site));
}

static struct kept keep(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                        const struct view *view) {
  static const bool present[] = {true, true, true};
  const uint64_t segments = view->segments.n;
  struct cvl_value in[] = {move_to(c, site, &call->operand[0], view->at, true),
                           move_to(c, site, &call->operand[1], view->at, true), view->local};
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
  if (!read_counts(c, site, &d, segments, k.counts)) release_inner(c, &k.vector);
  if (k.vector.form != CVL_NOTHING) k.n = inner_size(c, c->b->length(c->inner, &k.vector));
  release_inner(c, &d);
  return k;
}

struct distribution *kept_by_ranks(struct cvl_context *c, uint64_t n) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  comm_gather(c->comm, &n, sizeof n, counts);
  struct distribution *made = distribution_of_counts(c, counts);
  free(counts);
  return made;
}

/* Adds to the last segment that begins on this rank what other ranks keep of it: they say so. */
static void add_behind(struct cvl_context *c, const struct view *v, int64_t head, int64_t *last) {
  int64_t *heads = mpi_alloc(c, c->ranks * sizeof *heads);
  const uint64_t next = v->borders[c->rank + 1].first;
  comm_gather(c->comm, &head, sizeof head, heads);
  for (unsigned r = c->rank + 1; last && r < c->ranks && v->borders[r].first == next; r++)
    *last += heads[r];
  free(heads);
}

/* Each segment's count is on the rank on which it begins. Of one segment the sum is known. */
struct cvl_value packed_descriptor(struct cvl_context *c, uint64_t site, const struct view *v,
                                   int64_t *mine, uint64_t total) {
  const struct range owned = view_owned(v, c->rank);
  const uint64_t before = v->segments.n - owned.n;
  if (v->borders[c->ranks].first == 1) {
    free(mine);
    return cvl_one_segment(total);
  }
  int64_t *last = mine && owned.n > 0 ? &mine[before + owned.n - 1] : NULL;
  add_behind(c, v, mine && before > 0 ? mine[0] : 0, last);
  if (mine) memmove(mine, mine + before, owned.n * sizeof *mine);
  return segdes_of_lengths(c, site, by_segments(c, v), mine);
}

bool pack_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct kept k = keep(c, site, call, view);
  struct distribution *to = kept_by_ranks(c, k.n);
  const uint64_t total = to->n;
  out[1] = packed_descriptor(c, site, view, k.counts, total);
  out[0] = settled(c, site, mpi_elem(&call->operand[0]), to, k.vector);
  return true;
}
