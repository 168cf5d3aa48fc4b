/* hosts.c - values from and to the host's memory, which every rank has a copy of, and slices.
 */
#include "cvl-mpi/private.h"

#include <stdlib.h>
#include <string.h>

/* ---- in ---- */

/* Where n elements that the host has are to be. */
static struct distribution *where(struct cvl_context *c, uint64_t n) {
  return is_whole(c, n) ? NULL : distribution_canonical(c, n);
}

static struct range block_of(const struct cvl_context *c, const struct distribution *at,
                             uint64_t n) {
  return at ? distribution_range(at, c->rank) : (struct range){0, n};
}

bool mpi_from_host(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                   const void *data, struct cvl_value *out) {
  struct distribution *at = where(c, n);
  const struct range mine = block_of(c, at, n);
  const char *from =
      mine.first ? (const char *)data + mine.first * elem_info(elem)->bytes : data;
  struct cvl_value local;
  if (!absorb(c, c->b->from_host(c->inner, site, elem, mine.n, from, &local), at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

bool mpi_borrow(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                const void *data, struct cvl_notice done, struct cvl_value *out) {
  struct distribution *at = where(c, n);
  const struct range mine = block_of(c, at, n);
  const char *from =
      mine.first ? (const char *)data + mine.first * elem_info(elem)->bytes : data;
  struct cvl_value local;
  if (!absorb(c, c->b->borrow(c->inner, site, elem, mine.n, from, done, &local), at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

bool mpi_segdes_from_host(struct cvl_context *c, uint64_t site, uint64_t n,
                          const int64_t *lengths, struct cvl_value *out) {
  struct cvl_value whole;
  uint64_t total = 0;
  for (uint64_t k = 0; k < n; k++) total += (uint64_t)lengths[k];
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, n, lengths, &whole), at_site(site)))
    whole = nothing();
  *out = mpi_segdes(c, n, total, whole);
  return true;
}

/* ---- out: agreements ---- */

/* What has been lost is the result of a fault, which all know of by now. */
static bool read_inner(struct cvl_context *c, struct cvl_value inner, uint64_t first,
                       uint64_t n, void *dst) {
  const bool good = inner.form != CVL_NOTHING && c->b->to_host(c->inner, &inner, first, n, dst);
  inner_drop(c, &inner, 1);
  return good;
}

bool mpi_to_host(struct cvl_context *c, const struct cvl_value *v, uint64_t first, uint64_t n,
                 void *dst) {
  comm_at(c->comm, "to_host", 0);
  if (!agree(c)) return false;
  if (!mpi_at(v)) return read_inner(c, inner_of(v, false), first, n, dst);
  struct range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  for (unsigned r = 0; r < c->ranks; r++) ranges[r] = (struct range){first, n};
  const bool good = read_inner(c, move_ranges(c, 0, v, ranges), 0, n, dst);
  free(ranges);
  return all_true(c, good);
}

bool mpi_scalar(struct cvl_context *c, const struct cvl_value *v, struct cvl_value *out) {
  if (v->form == CVL_SCALAR) {
    *out = *v;
    out->owned = 0;
    return true;
  }
  *out = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)mpi_elem(v)};
  return mpi_to_host(c, v, 0, 1, &out->as);
}

/* ---- slices ---- */

static bool slice_segdes(struct cvl_context *c, uint64_t site, const struct cvl_value *d,
                         uint64_t first, uint64_t n, struct cvl_value *out) {
  const struct cvl_value whole = inner_of(d, false);
  struct cvl_value slice;
  uint64_t total = 0;
  if (d->form == CVL_ONE_SEGMENT) {
    total = n == 1 ? d->as.one_segment : 0;
  } else if (segdes_offsets(c, site, d->as.segdes)) {
    total = d->as.segdes->offset[first + n] - d->as.segdes->offset[first];
  }
  if (whole.form == CVL_NOTHING ||
      !absorb(c, c->b->slice(c->inner, site, &whole, first, n, &slice), at_site(site)))
    slice = nothing();
  *out = mpi_segdes(c, n, total, slice);
  return true;
}

static bool slice_vector(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                         uint64_t first, uint64_t n, struct cvl_value *out) {
  struct distribution *at = mpi_at(v) ? distribution_slice(c, mpi_at(v), first, n) : NULL;
  const struct cvl_value local = inner_of(v, false);
  struct cvl_value slice;
  uint64_t from = first;
  if (at) {
    const struct range mine = distribution_range(mpi_at(v), c->rank);
    from = first > mine.first ? first - mine.first : 0;
    if (from > mine.n) from = mine.n;
  }
  const uint64_t count = at ? distribution_range(at, c->rank).n : n;
  if (local.form == CVL_NOTHING ||
      !absorb(c, c->b->slice(c->inner, site, &local, from, count, &slice), at_site(site)))
    slice = nothing();
  *out = mpi_vector(c, mpi_elem(v), n, at, slice);
  return true;
}

bool mpi_slice(struct cvl_context *c, uint64_t site, const struct cvl_value *v, uint64_t first,
               uint64_t n, struct cvl_value *out) {
  const bool segdes = v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
  const bool good = segdes ? slice_segdes(c, site, v, first, n, out)
                           : slice_vector(c, site, v, first, n, out);
  mpi_drop(c, v);
  return good;
}

bool mpi_allocate(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                  struct cvl_value *out) {
  struct distribution *at = where(c, n);
  struct cvl_value local;
  if (!absorb(c, c->b->allocate(c->inner, site, elem, block_of(c, at, n).n, &local),
              at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

/* The block of a rank as elements of v, which go to `first` on. */
static struct range *blocks_within(struct cvl_context *c, const struct distribution *at,
                                   uint64_t first, uint64_t n) {
  struct range *ranges = mpi_alloc(c, c->ranks * sizeof *ranges);
  struct distribution *d = distribution_slice(c, at, first, n);
  for (unsigned r = 0; r < c->ranks; r++) ranges[r] = distribution_range(d, r);
  distribution_release(d);
  return ranges;
}

static void fill_local(struct cvl_context *c, uint64_t site, struct cvl_vector *target,
                       uint64_t first, struct cvl_value v) {
  if (v.form == CVL_NOTHING || target->local.form == CVL_NOTHING) {
    inner_drop(c, &v, 1);
    return;
  }
  absorb(c, c->b->fill(c->inner, site, &target->local, first, &v), at_site(site));
}

bool mpi_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
              uint64_t first, const struct cvl_value *v) {
  struct cvl_vector *to = target->as.vector;
  if (!to->at) {
    fill_local(c, site, to, first, move_whole(c, site, v));
  } else {
    const uint64_t begin = to->at->start[c->rank];
    struct range *ranges = blocks_within(c, to->at, first, mpi_length(v));
    const struct cvl_value block = move_ranges(c, site, v, ranges);
    if (ranges[c->rank].n > 0) {
      fill_local(c, site, to, first > begin ? first - begin : 0, block);
    } else {
      inner_drop(c, &block, 1);
    }
    free(ranges);
  }
  mpi_drop(c, v);
  return true;
}

bool mpi_concatenate(struct cvl_context *c, uint64_t site, uint64_t n,
                     const struct cvl_value *descriptors, struct cvl_value *out) {
  struct cvl_value *inner = mpi_alloc(c, n * sizeof *inner), whole = nothing();
  uint64_t count = 0, total = 0;
  bool lost = false;
  for (uint64_t k = 0; k < n; k++) {
    inner[k] = inner_of(&descriptors[k], false);
    lost = lost || inner[k].form == CVL_NOTHING;
    count += mpi_count(&descriptors[k]);
    total += mpi_length(&descriptors[k]);
  }
  if (!lost && !absorb(c, c->b->concatenate(c->inner, site, n, inner, &whole), at_site(site)))
    whole = nothing();
  *out = mpi_segdes(c, count, total, whole);
  free(inner);
  return true;
}
