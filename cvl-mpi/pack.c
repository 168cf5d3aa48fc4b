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
  mpi_free(c, counts);
  return made;
}

/* What a rank says: how many elements it keeps, WITHOUT_COUNTS if it does not know of which
 * segments; and how many of them belong to a segment that has begun before. */
struct keeps {
  uint64_t n;
  int64_t head;
};

static const uint64_t WITHOUT_COUNTS = UINT64_MAX;

/* Of the segments that begin on each rank how much all ranks keep. */
static uint64_t *sums_of(struct cvl_context *c, const struct view *v, const struct keeps *all) {
  uint64_t *sums = mpi_alloc(c, c->ranks * sizeof *sums);
  unsigned beginner = 0; /* of the segment that comes in */
  for (unsigned r = 0; r < c->ranks; r++) {
    sums[r] += all[r].n - (uint64_t)all[r].head;
    sums[beginner] += (uint64_t)all[r].head;
    if (view_owned(v, r).n > 0) beginner = r;
  }
  return sums;
}

/* Adds to the last segment that begins on this rank what others keep of it. */
static void add_behind(const struct cvl_context *c, const struct view *v,
                       const struct keeps *all, int64_t *last) {
  const uint64_t next = v->borders[c->rank + 1].first;
  for (unsigned r = c->rank + 1; r < c->ranks && v->borders[r].first == next; r++)
    *last += all[r].head;
}

static struct distribution *by_keeps(struct cvl_context *c, struct keeps *all, bool *good) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  *good = true;
  for (unsigned r = 0; r < c->ranks; r++) {
    *good = *good && all[r].n != WITHOUT_COUNTS;
    if (all[r].n != WITHOUT_COUNTS) counts[r] = all[r].n;
  }
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  return made;
}

/* Each segment's count is on the rank on which it begins. */
static struct cvl_value descriptor(struct cvl_context *c, uint64_t site, const struct view *v,
                                   int64_t *mine, const struct keeps *all, bool good) {
  const struct range owned = view_owned(v, c->rank);
  const uint64_t before = v->segments.n - owned.n;
  uint64_t *sums = good ? sums_of(c, v, all) : NULL;
  if (mine && owned.n > 0) {
    memmove(mine, mine + before, owned.n * sizeof *mine);
    add_behind(c, v, all, &mine[owned.n - 1]);
  }
  const struct cvl_value made = segdes_of_lengths(c, site, by_segments(c, v), mine, sums);
  mpi_free(c, sums);
  return made;
}

/* Of one segment the sum is known. */
struct cvl_value packed_descriptor(struct cvl_context *c, uint64_t site, const struct view *v,
                                   int64_t *mine, uint64_t n, struct distribution **to) {
  if (v->borders[c->ranks].first == 1) {
    mpi_free(c, mine);
    *to = kept_by_ranks(c, n);
    return cvl_one_segment((*to)->n);
  }
  const bool comes_in = mine && view_comes_in(v, c->rank);
  const struct keeps own = {mine ? n : WITHOUT_COUNTS, comes_in ? mine[0] : 0};
  struct keeps *all = mpi_alloc(c, c->ranks * sizeof *all);
  bool good;
  comm_gather(c->comm, &own, sizeof own, all);
  *to = by_keeps(c, all, &good);
  const struct cvl_value made = descriptor(c, site, v, mine, all, good);
  mpi_free(c, all);
  return made;
}

bool pack_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct kept k = keep(c, site, call, view);
  struct distribution *to;
  out[1] = packed_descriptor(c, site, view, k.counts, k.n, &to);
  out[0] = settled(c, site, mpi_elem(&call->operand[0]), to, k.vector);
  return true;
}
