/* values.c - vectors and descriptors: their life, and what of them is on this rank. */
#include "cvl-mpi/private.h"

#include <stdlib.h>

/* ---- making ---- */

static void release_inner(struct cvl_context *c, struct cvl_value *v) {
  if (v->form != CVL_NOTHING) c->b->release(c->inner, v);
  v->form = CVL_NOTHING;
}

static void link_vector(struct cvl_context *c, struct cvl_vector *v) {
  v->next = c->vectors;
  v->previous = &c->vectors;
  if (v->next) v->next->previous = &v->next;
  c->vectors = v;
}

static void link_segdes(struct cvl_context *c, struct cvl_segdes *d) {
  d->next = c->descriptors;
  d->previous = &c->descriptors;
  if (d->next) d->next->previous = &d->next;
  c->descriptors = d;
}

struct cvl_value mpi_vector(struct cvl_context *c, enum cvl_elem elem, uint64_t n,
                            struct distribution *at, struct cvl_value local) {
  if (!at && local.form == CVL_SCALAR) return local;
  struct cvl_vector *v = mpi_alloc(c, sizeof *v);
  local.owned = 0;
  *v = (struct cvl_vector){.references = 1, .elem = (uint8_t)elem, .n = n, .at = at};
  v->local = local;
  link_vector(c, v);
  return (struct cvl_value){.form = CVL_VECTOR, .elem = (uint8_t)elem, .as.vector = v};
}

struct cvl_value mpi_segdes(struct cvl_context *c, uint64_t count, uint64_t total,
                            struct cvl_value whole) {
  if (count == 1) {
    release_inner(c, &whole);
    return cvl_one_segment(total);
  }
  struct cvl_segdes *d = mpi_alloc(c, sizeof *d);
  whole.owned = 0;
  *d = (struct cvl_segdes){.references = 1, .count = count, .total = total, .whole = whole};
  link_segdes(c, d);
  return (struct cvl_value){.form = CVL_SEGDES, .as.segdes = d};
}

/* ---- sizes ---- */

uint64_t mpi_length(const struct cvl_value *v) {
  switch ((enum cvl_form)v->form) {
  case CVL_VECTOR: return v->as.vector->n;
  case CVL_SEGDES: return v->as.segdes->total;
  case CVL_ONE_SEGMENT: return v->as.one_segment;
  case CVL_SCALAR: return 1;
  case CVL_NOTHING: break;
  }
  return 0;
}

uint64_t mpi_count(const struct cvl_value *v) {
  return v->form == CVL_SEGDES ? v->as.segdes->count : 1;
}

enum cvl_elem mpi_elem(const struct cvl_value *v) {
  return (enum cvl_elem)(v->form == CVL_VECTOR ? v->as.vector->elem : v->elem);
}

struct distribution *mpi_at(const struct cvl_value *v) {
  return v->form == CVL_VECTOR ? v->as.vector->at : NULL;
}

/* ---- life ---- */

void mpi_retain(struct cvl_context *c, const struct cvl_value *v) {
  (void)c;
  if (v->form == CVL_VECTOR) v->as.vector->references++;
  if (v->form == CVL_SEGDES) v->as.segdes->references++;
}

static void vector_free(struct cvl_context *c, struct cvl_vector *v) {
  release_inner(c, &v->local);
  distribution_release(v->at);
  *v->previous = v->next;
  if (v->next) v->next->previous = v->previous;
  free(v);
}

static void view_free(struct cvl_context *c, struct view *v) {
  if (!v->at) return;
  release_inner(c, &v->local);
  distribution_release(v->at);
  v->at = NULL;
}

void segdes_drop_views(struct cvl_context *c, struct cvl_segdes *d) {
  view_free(c, &d->views[0]);
  view_free(c, &d->views[1]);
}

static void segdes_free(struct cvl_context *c, struct cvl_segdes *d) {
  release_inner(c, &d->whole);
  segdes_drop_views(c, d);
  *d->previous = d->next;
  if (d->next) d->next->previous = d->previous;
  free(d->offset);
  free(d);
}

void mpi_release(struct cvl_context *c, const struct cvl_value *v) {
  if (v->form == CVL_VECTOR && --v->as.vector->references == 0) vector_free(c, v->as.vector);
  if (v->form == CVL_SEGDES && --v->as.segdes->references == 0) segdes_free(c, v->as.segdes);
}

void mpi_drop(struct cvl_context *c, const struct cvl_value *v) {
  if (v->owned) mpi_release(c, v);
}

void mpi_values_free(struct cvl_context *c) {
  while (c->vectors) vector_free(c, c->vectors);
  while (c->descriptors) segdes_free(c, c->descriptors);
}

/* ---- operands of the inner back end ---- */

bool any_lost(const struct cvl_value *inner, const bool *present, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (present[i] && inner[i].form == CVL_NOTHING) return true;
  }
  return false;
}

void inner_drop(struct cvl_context *c, const struct cvl_value *inner, unsigned n) {
  for (unsigned i = 0; i < n; i++) {
    if (inner[i].form != CVL_NOTHING && inner[i].owned) c->b->release(c->inner, &inner[i]);
  }
}

struct cvl_value inner_of(const struct cvl_value *v, bool may_take) {
  struct cvl_value inner = *v;
  if (v->form == CVL_VECTOR) {
    inner = v->as.vector->local;
    if (may_take && v->owned && v->as.vector->references == 1) {
      v->as.vector->local.form = CVL_NOTHING;
      inner.owned = 1;
      return inner;
    }
  }
  if (v->form == CVL_SEGDES) inner = v->as.segdes->whole;
  inner.owned = 0;
  return inner;
}

void inner_call(struct cvl_context *c, const struct cvl_call *call, const bool *present,
                struct shift shift, struct cvl_value out[CALL_RESULTS]) {
  static const bool all[CALL_OPERANDS] = {true, true, true, true, true, true};
  for (unsigned i = 0; i < CALL_RESULTS; i++) out[i] = nothing();
  if (any_lost(call->operand, present ? present : all, call->count)) {
    inner_drop(c, call->operand, call->count);
  } else if (!absorb(c, call_perform(c->b, c->inner, shift.site, call, out), shift)) {
    for (unsigned i = 0; i < CALL_RESULTS; i++) out[i] = nothing();
  }
}

struct cvl_value inner_slice(struct cvl_context *c, uint64_t site, struct cvl_value v,
                             uint64_t first, uint64_t n) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING ||
      !absorb(c, c->b->slice(c->inner, site, &v, first, n, &out), at_site(site)))
    return nothing();
  out.owned = 1;
  return out;
}

bool inner_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
                uint64_t first, struct cvl_value v) {
  return v.form != CVL_NOTHING &&
         absorb(c, c->b->fill(c->inner, site, target, first, &v), at_site(site));
}

uint64_t inner_size(struct cvl_context *c, struct cvl_size size) {
  if (size.symbol) c->b->resolve(c->inner, &size);
  return size.bound;
}

/* ---- a descriptor seen from this rank ---- */

struct cvl_segdes *segdes_of(const struct cvl_value *d, struct one_segment *one) {
  if (d->form == CVL_SEGDES) return d->as.segdes;
  one->offsets[0] = 0;
  one->offsets[1] = d->as.one_segment;
  one->d = (struct cvl_segdes){
      .references = 1, .count = 1, .total = one->offsets[1], .offset = one->offsets};
  return &one->d;
}

static uint64_t *offsets_of(struct cvl_context *c, uint64_t site, struct cvl_segdes *d) {
  if (d->whole.form == CVL_NOTHING) return NULL;
  uint64_t *offset = mpi_try_alloc(c, site, (d->count + 1) * sizeof *offset);
  if (!offset) return NULL;
  offset[0] = 0;
  if (!c->b->to_host(c->inner, &d->whole, 0, d->count, offset + 1)) {
    free(offset);
    absorb(c, false, (struct shift){.site = site});
    return NULL;
  }
  for (uint64_t k = 0; k < d->count; k++) offset[k + 1] += offset[k];
  return offset;
}

/* What goes to which rank follows from them: so all have them, or it is as if none had. */
bool segdes_offsets(struct cvl_context *c, uint64_t site, struct cvl_segdes *d) {
  if (d->offset || d->no_offsets) return !d->no_offsets;
  uint64_t *offset = offsets_of(c, site, d);
  if (all_true(c, offset != NULL)) {
    d->offset = offset;
  } else {
    free(offset);
    d->no_offsets = true;
  }
  return !d->no_offsets;
}

/* The first segment that begins at or behind a position. */
uint64_t segdes_first_at(const struct cvl_segdes *d, uint64_t position) {
  uint64_t low = 0, high = d->count;
  while (low < high) {
    const uint64_t k = low + (high - low) / 2;
    if (d->offset[k] < position) {
      low = k + 1;
    } else {
      high = k;
    }
  }
  return low;
}

/* The segments that begin on a rank. */
struct range segdes_owned(const struct cvl_segdes *d, const struct distribution *at,
                          unsigned rank) {
  const uint64_t first = segdes_first_at(d, at->start[rank]);
  const uint64_t end =
      rank + 1 == at->ranks ? d->count : segdes_first_at(d, at->start[rank + 1]);
  return (struct range){first, end - first};
}

/* Of segment k the elements in a block. */
uint64_t segdes_within(const struct cvl_segdes *d, uint64_t k, struct range block) {
  const uint64_t end = block.first + block.n;
  const uint64_t from = d->offset[k] > block.first ? d->offset[k] : block.first;
  const uint64_t to = d->offset[k + 1] < end ? d->offset[k + 1] : end;
  return from < to ? to - from : 0;
}

static struct cvl_value local_descriptor(struct cvl_context *c, uint64_t site,
                                         const struct cvl_segdes *d, struct range segments,
                                         struct range block) {
  struct cvl_value local = {.form = CVL_NOTHING};
  int64_t *lengths = mpi_try_alloc(c, site, segments.n * sizeof *lengths);
  if (!lengths) return local;
  for (uint64_t k = 0; k < segments.n; k++)
    lengths[k] = (int64_t)segdes_within(d, segments.first + k, block);
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, segments.n, lengths, &local),
              (struct shift){.site = site}))
    local.form = CVL_NOTHING;
  free(lengths);
  local.owned = 0;
  return local;
}

struct range segdes_segments(const struct cvl_segdes *d, const struct distribution *at,
                             unsigned rank) {
  struct range s = segdes_owned(d, at, rank);
  const struct range block = distribution_range(at, rank);
  const bool goes_on = block.n > 0 && s.first > 0 && d->offset[s.first] > block.first;
  const bool only = block.n > 0 && s.first == d->count;
  if (goes_on || (only && s.first > 0)) {
    s.first--;
    s.n++;
  }
  return s;
}

/* A free entry, or the older one. */
static struct view *entry_for(struct cvl_context *c, struct cvl_segdes *d) {
  if (!d->views[0].at) return &d->views[0];
  view_free(c, &d->views[1]);
  d->views[1] = d->views[0];
  return &d->views[0];
}

static struct view *find_view(struct cvl_segdes *d, const struct distribution *at) {
  for (unsigned k = 0; k < 2; k++) {
    if (d->views[k].at && distribution_same(d->views[k].at, at)) return &d->views[k];
  }
  return NULL;
}

const struct view *segdes_view(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                               struct distribution *at) {
  struct view *v = find_view(d, at);
  if (v) return v;
  if (!segdes_offsets(c, site, d)) return NULL;
  v = entry_for(c, d);
  *v = (struct view){.at = distribution_retain(at)};
  v->segments = segdes_segments(d, at, c->rank);
  v->local = local_descriptor(c, site, d, v->segments, distribution_range(at, c->rank));
  return v;
}
