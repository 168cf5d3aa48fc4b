/* pack.c - PACK, by every rank on its block. Ranks exchange the numbers of elements that they
 * keep when somebody wants to know them (exchange/deferred.h).
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* ---- numbers of elements ---- */

struct distribution *kept_by_ranks(struct cvl_context *c, uint64_t n) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  comm_gather(c->comm, &n, sizeof n, counts);
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  return made;
}

/* The report of a rank: the number of elements that it keeps, or WITHOUT_COUNTS if it does not
 * know their segments; and how many of them belong to a segment that began before its block.
 */
struct keeps {
  uint64_t n;
  int64_t head;
};

static const uint64_t WITHOUT_COUNTS = UINT64_MAX;

/* Returns the distribution of the kept elements; NULL if a rank does not know their segments.
 */
static struct distribution *by_keeps(struct cvl_context *c, const struct keeps *all) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  bool good = true;
  for (unsigned r = 0; r < c->ranks; r++) {
    counts[r] = all[r].n;
    good = good && all[r].n != WITHOUT_COUNTS;
  }
  struct distribution *made = good ? distribution_of_counts(c, counts) : NULL;
  mpi_free(c, counts);
  return made;
}

/* ---- the descriptor ---- */

/* Where blocks and segments end, and the number of elements that each rank keeps. */
struct ends {
  struct view view; /* only its distribution and borders are set */
  int64_t *mine;    /* counts for the segments that this rank touches, with room for one more */
  struct keeps *all; /* what each rank reports */
};

static struct ends ends_of(struct cvl_context *c, const struct view *v) {
  const size_t bytes = (c->ranks + 1) * sizeof *v->borders;
  struct ends e = {.view.at = distribution_retain(v->at), .view.borders = mpi_alloc(c, bytes)};
  memcpy(e.view.borders, v->borders, bytes);
  e.all = mpi_alloc(c, c->ranks * sizeof *e.all);
  return e;
}

static void ends_free(struct cvl_context *c, struct ends *e) {
  distribution_release(e->view.at);
  mpi_free(c, e->view.borders);
  mpi_free(c, e->mine);
  mpi_free(c, e->all);
}

/* Returns, for each rank, the number of elements kept of all segments that begin on it. */
static uint64_t *sums_of(struct cvl_context *c, const struct ends *e) {
  uint64_t *sums = mpi_alloc(c, c->ranks * sizeof *sums);
  unsigned beginner = 0; /* the rank on which the segment that crosses into block r begins */
  for (unsigned r = 0; r < c->ranks; r++) {
    sums[r] += e->all[r].n - (uint64_t)e->all[r].head;
    sums[beginner] += (uint64_t)e->all[r].head;
    if (view_owned(&e->view, r).n > 0) beginner = r;
  }
  return sums;
}

/* Adds to the last segment that begins on this rank the elements of it that others keep. */
static void add_behind(const struct cvl_context *c, const struct ends *e, int64_t *last) {
  const struct border *borders = e->view.borders;
  const uint64_t next = borders[c->rank + 1].first;
  for (unsigned r = c->rank + 1; r < c->ranks && borders[r].first == next; r++)
    *last += e->all[r].head;
}

/* Returns the descriptor, with each segment's count on the rank where the segment begins. */
static struct cvl_value pack_descriptor(struct cvl_context *c, uint64_t site, struct ends *e) {
  const struct mpi_range owned = view_owned(&e->view, c->rank);
  const uint64_t before = view_segments(&e->view, c->rank).n - owned.n;
  uint64_t *sums = sums_of(c, e);
  if (e->mine && owned.n > 0) {
    memmove(e->mine, e->mine + before, owned.n * sizeof *e->mine);
    add_behind(c, e, &e->mine[owned.n - 1]);
  }
  const struct cvl_value made =
      segdes_of_lengths(c, site, by_segments(c, &e->view), e->mine, sums);
  e->mine = NULL;
  mpi_free(c, sums);
  return made;
}

/* ---- lengths that are deferred while their sum is known ---- */

struct lengths {
  struct deferred p;
  struct ends ends;
};

static void lengths_arrive(struct cvl_context *c, struct deferred *p, const char *all,
                           size_t stride) {
  (void)all;
  (void)stride;
  segdes_become(c, p->segdes, pack_descriptor(c, p->site, &((struct lengths *)p)->ends));
}

static void lengths_drop(struct cvl_context *c, struct deferred *p) {
  ends_free(c, &((struct lengths *)p)->ends);
}

static const struct deferred_kind lengths_kind = {true, NULL, lengths_arrive, lengths_drop};

static void lengths_later(struct cvl_context *c, uint64_t site, struct ends ends,
                          struct cvl_segdes *d) {
  struct lengths *l = mpi_alloc(c, sizeof *l);
  l->p.kind = &lengths_kind;
  l->p.site = site;
  l->ends = ends;
  deferred_add(c, &l->p, true, NULL, &(struct cvl_value){.form = CVL_SEGDES, .as.segdes = d});
}

/* ---- kept elements ---- */

struct kept {
  struct deferred p;
  struct ends ends;       /* set for a descriptor of several segments */
  struct cvl_value inner; /* the inner descriptor; CVL_NOTHING if poisoned, or not wanted */
};

static bool is_several(const struct kept *k) {
  return k->ends.all != NULL;
}

static uint64_t mpi_pack_elements(struct cvl_context *c, const struct cvl_value *v) {
  return v->form == CVL_NOTHING ? 0 : inner_size(c, c->b->length(c->inner, v));
}

static bool read_counts(struct cvl_context *c, struct kept *k) {
  const uint64_t n = view_segments(&k->ends.view, c->rank).n;
  k->ends.mine = mpi_try_alloc(c, k->p.site, (n + 1) * sizeof *k->ends.mine);
  if (k->ends.mine && inner_read(c, k->p.site, &k->inner, 0, n, k->ends.mine)) return true;
  mpi_free(c, k->ends.mine);
  k->ends.mine = NULL;
  return false;
}

static void say_kept(struct cvl_context *c, struct deferred *p, void *to) {
  struct kept *k = (struct kept *)p;
  struct keeps own = {0, 0};
  if (is_several(k) && !read_counts(c, k)) {
    own.n = WITHOUT_COUNTS;
  } else {
    own.n = mpi_pack_elements(c, p->vector ? &p->vector->local : &k->inner);
    if (is_several(k) && view_comes_in(&k->ends.view, c->rank)) own.head = k->ends.mine[0];
  }
  memcpy(to, &own, p->bytes);
}

/* Returns the distribution of the kept elements, from the reports of all ranks. Stores the
 * reports in ends.all if there are several segments. */
static struct distribution *heard(struct cvl_context *c, struct kept *k, const char *all,
                                  size_t stride) {
  struct keeps *keeps = mpi_alloc(c, c->ranks * sizeof *keeps);
  for (unsigned r = 0; r < c->ranks; r++) memcpy(&keeps[r], all + r * stride, k->p.bytes);
  struct distribution *at = by_keeps(c, keeps);
  if (is_several(k)) memcpy(k->ends.all, keeps, c->ranks * sizeof *keeps);
  mpi_free(c, keeps);
  return at;
}

/* Makes results without elements. */
static void all_poisoned(struct cvl_context *c, struct deferred *p) {
  if (p->vector) {
    release_inner(c, &p->vector->local);
    p->vector->n = 0;
  }
  if (p->segdes) {
    p->segdes->poisoned = true;
    p->segdes->total = 0;
  }
  deferred_size(c, p, 0);
}

static void vector_is(struct cvl_context *c, struct deferred *p, struct distribution *at) {
  p->vector->n = at->n;
  p->vector->at = distribution_retain(at);
  settle_blocks(
      c, p->site,
      &(struct cvl_value){.form = CVL_VECTOR, .elem = p->vector->elem, .as.vector = p->vector});
}

static void segdes_is(struct cvl_context *c, struct kept *k, uint64_t total) {
  struct cvl_segdes *d = k->p.segdes;
  d->total = total;
  if (is_several(k)) {
    lengths_later(c, k->p.site, k->ends, d);
    k->ends = (struct ends){0};
  } else {
    segdes_is_one(c, d);
  }
}

static void kept_arrive(struct cvl_context *c, struct deferred *p, const char *all,
                        size_t stride) {
  struct distribution *at = heard(c, (struct kept *)p, all, stride);
  if (!at) {
    all_poisoned(c, p);
    return;
  }
  deferred_size(c, p, at->n);
  if (p->vector) vector_is(c, p, at);
  if (p->segdes) segdes_is(c, (struct kept *)p, at->n);
  distribution_release(at);
}

static void kept_drop(struct cvl_context *c, struct deferred *p) {
  struct kept *k = (struct kept *)p;
  ends_free(c, &k->ends);
  release_inner(c, &k->inner);
}

static const struct deferred_kind kept_kind = {false, say_kept, kept_arrive, kept_drop};

void packed(struct cvl_context *c, uint64_t site, const struct view *v, enum cvl_elem elem,
            struct cvl_value *vector, struct cvl_value *segdes) {
  struct kept *k = mpi_alloc(c, sizeof *k);
  const uint64_t segments = v->borders[c->ranks].first;
  k->p.kind = &kept_kind;
  k->p.site = site;
  k->p.bytes = sizeof(uint64_t);
  if (vector) *vector = mpi_vector_object(c, elem, v->at->n, NULL, *vector);
  if (segdes) {
    k->inner = *segdes;
    if (segments != 1) k->ends = ends_of(c, v);
    if (segments != 1) k->p.bytes = sizeof(struct keeps);
    *segdes = mpi_segdes(c, (struct cvl_segdes){.count = segments, .total = v->at->n});
  }
  deferred_add(c, &k->p, false, vector, segdes);
}

/* ---- the call ---- */

bool pack_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct cvl_call inner = *call;
  inner.operand[0] = move_to(c, site, &call->operand[0], view->at, true);
  inner.operand[1] = move_to(c, site, &call->operand[1], view->at, true);
  inner.operand[2] = view->local;
  inner_call(c, &inner, NULL, at_site(site), out);
  packed(c, site, view, mpi_elem(&call->operand[0]), &out[0], &out[1]);
  return true;
}
