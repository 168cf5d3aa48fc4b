/* views.c - the part of a descriptor that ranks know for vectors of one distribution: where
 * the ends of blocks cut segments, and the segments of this rank's block.
 */
#include "cvl-mpi/values/views.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- queries ---- */

struct mpi_range view_owned(const struct view *v, unsigned rank) {
  const uint64_t first = v->borders[rank].first;
  return (struct mpi_range){first, v->borders[rank + 1].first - first};
}

static bool views_is_within(const struct view *v, unsigned rank, unsigned border) {
  const bool any = v->at->start[rank + 1] > v->at->start[rank];
  return any && v->borders[border].end > v->at->start[border];
}

bool view_comes_in(const struct view *v, unsigned rank) {
  return views_is_within(v, rank, rank);
}

bool view_goes_on(const struct view *v, unsigned rank) {
  return views_is_within(v, rank, rank + 1);
}

struct mpi_range view_segments(const struct view *v, unsigned rank) {
  struct mpi_range s = view_owned(v, rank);
  if (!view_comes_in(v, rank)) return s;
  return (struct mpi_range){s.first - 1, s.n + 1};
}

unsigned view_beginner(const struct view *v, unsigned rank) {
  const uint64_t k = view_segments(v, rank).first;
  while (rank-- > 0) {
    const struct mpi_range owned = view_owned(v, rank);
    if (k >= owned.first && k - owned.first < owned.n) return rank;
  }
  return 0;
}

struct mpi_range *view_ranges(struct cvl_context *c, const struct view *v) {
  struct mpi_range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++) ranges[r] = view_segments(v, r);
  return ranges;
}

uint64_t view_offset(const struct view *v, uint64_t k) {
  return v->offset[k - v->segments.first];
}

uint64_t view_segment_at(const struct view *v, uint64_t position) {
  uint64_t low = 0, high = v->segments.n;
  while (high - low > 1) {
    const uint64_t k = low + (high - low) / 2;
    if (v->offset[k] <= position) {
      low = k;
    } else {
      high = k;
    }
  }
  return low;
}

uint64_t within_block(uint64_t begin, uint64_t end, struct mpi_range block) {
  const uint64_t last = block.first + block.n;
  const uint64_t from = begin > block.first ? begin : block.first, to = end < last ? end : last;
  return from < to ? to - from : 0;
}

uint64_t view_within(const struct view *v, uint64_t k, struct mpi_range block) {
  return within_block(view_offset(v, k), view_offset(v, k + 1), block);
}

/* ---- borders ---- */

/* Returns the index of the first of n offsets that is not less than a position; n if there is
 * none. */
static uint64_t first_at(const uint64_t *offset, uint64_t n, uint64_t position) {
  uint64_t low = 0, high = n;
  while (low < high) {
    const uint64_t k = low + (high - low) / 2;
    if (offset[k] < position) {
      low = k + 1;
    } else {
      high = k;
    }
  }
  return low;
}

/* Returns the border at a position, on the rank that has the last segment that begins before
 * it. `offset` are the offsets of that rank's n segments, from segment `first` on. */
static struct border border_of(const uint64_t *offset, uint64_t first, uint64_t n,
                               uint64_t position) {
  const uint64_t k = first_at(offset, n, position);
  if (k == 0) return (struct border){.first = first};
  return (struct border){first + k, offset[k - 1], offset[k]};
}

/* Returns the rank that has the last segment that begins before a position; 0 if there is
 * none. */
static unsigned holder_of(const struct cvl_segdes *d, uint64_t position) {
  unsigned r = d->held->ranks;
  while (--r > 0) {
    if (distribution_range(d->held, r).n > 0 && d->base[r] < position) break;
  }
  return r;
}

static void gather_borders(struct cvl_context *c, const struct cvl_segdes *d,
                           const struct distribution *at, struct border *borders) {
  unsigned *holder = mpi_alloc(c, c->ranks * sizeof *holder);
  const struct mpi_range own = distribution_range(d->held, c->rank);
  for (unsigned b = 1; b < c->ranks; b++) {
    holder[b] = holder_of(d, at->start[b]);
    if (holder[b] == c->rank) borders[b] = border_of(d->offset, own.first, own.n, at->start[b]);
  }
  gather_answers(c, c->ranks - 1, holder + 1, sizeof *borders, borders + 1);
  mpi_free(c, holder);
}

static void find_borders(struct cvl_context *c, const struct cvl_segdes *d,
                         const struct distribution *at, struct border *borders) {
  borders[0] = (struct border){0};
  borders[c->ranks] = (struct border){.first = d->count, .end = d->total};
  if (d->held) {
    gather_borders(c, d, at, borders);
    return;
  }
  for (unsigned b = 1; b < c->ranks; b++)
    borders[b] = border_of(d->offset, 0, d->count, at->start[b]);
}

/* ---- views ---- */

static void view_free(struct cvl_context *c, struct view *v) {
  if (!v->at) return;
  release_inner(c, &v->local);
  distribution_release(v->at);
  mpi_free(c, v->borders);
  if (v->own && --v->own->users == 0) {
    mpi_free(c, v->own->word);
    mpi_free(c, v->own);
  }
  v->at = NULL;
}

void segdes_drop_views(struct cvl_context *c, struct cvl_segdes *d) {
  for (unsigned k = 0; k < VIEWS; k++) view_free(c, &d->views[k]);
}

static struct view *find_view(struct cvl_segdes *d, const struct distribution *at) {
  for (unsigned k = 0; k < VIEWS; k++) {
    struct view *v = &d->views[k];
    if (!v->at || !distribution_same(v->at, at)) continue;
    v->used = ++d->uses;
    return v;
  }
  return NULL;
}

/* Returns a free entry, or the one that was used least recently. */
static struct view *entry_for(struct cvl_segdes *d) {
  struct view *oldest = &d->views[0];
  for (unsigned k = 0; k < VIEWS; k++) {
    struct view *v = &d->views[k];
    if (!v->at) return v;
    if (v->used < oldest->used) oldest = v;
  }
  return oldest;
}

static struct view *new_view(struct cvl_context *c, struct cvl_segdes *d,
                             struct distribution *at) {
  struct view *v = entry_for(d);
  view_free(c, v);
  *v = (struct view){.at = at, .local = nothing(), .used = ++d->uses};
  v->borders = mpi_alloc(c, (c->ranks + 1) * sizeof *v->borders);
  return v;
}

static struct cvl_value local_descriptor(struct cvl_context *c, uint64_t site,
                                         const struct view *v) {
  const struct mpi_range s = v->segments, block = distribution_range(v->at, c->rank);
  int64_t *lengths = mpi_try_alloc(c, site, s.n * sizeof *lengths);
  struct cvl_value local = nothing();
  if (!lengths) return local;
  for (uint64_t k = 0; k < s.n; k++) lengths[k] = (int64_t)view_within(v, s.first + k, block);
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, s.n, lengths, &local), at_site(site)))
    local = nothing();
  mpi_free(c, lengths);
  local.owned = 0;
  return local;
}

/* Brings the offsets of the segments of each rank's block. Returns false if some rank has no
 * memory. */
static bool bring_offsets(struct cvl_context *c, uint64_t site, const struct cvl_segdes *d,
                          struct view *v) {
  if (!d->held) {
    v->offset = d->offset + v->segments.first;
    return true;
  }
  struct mpi_range *ranges = view_ranges(c, v);
  v->own = mpi_alloc(c, sizeof *v->own);
  *v->own = (struct shared_offsets){1, segdes_offsets(c, site, d, ranges)};
  v->offset = v->own->word;
  mpi_free(c, ranges);
  return all_true(c, v->offset != NULL);
}

const struct view *segdes_view(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                               struct distribution *at) {
  struct view *v = find_view(d, at);
  if (v || !segdes_is_known(c, site, d)) return v;
  v = new_view(c, d, distribution_retain(at));
  find_borders(c, d, at, v->borders);
  v->segments = view_segments(v, c->rank);
  if (!bring_offsets(c, site, d, v)) {
    view_free(c, v);
    return NULL;
  }
  v->local = local_descriptor(c, site, v);
  return v;
}

/* The segments of the new block begin in it, or are among those that the block of `near`
 * touches. */
const struct view *segdes_view_near(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                                    const struct view *near, struct distribution *at) {
  struct view *v = find_view(d, at);
  if (v) {
    distribution_release(at);
    return v;
  }
  v = new_view(c, d, at);
  memcpy(v->borders, near->borders, (c->ranks + 1) * sizeof *v->borders);
  v->segments = view_segments(v, c->rank);
  v->offset = near->offset + (v->segments.first - near->segments.first);
  v->own = near->own;
  if (v->own) v->own->users++;
  v->local = local_descriptor(c, site, v);
  return v;
}
