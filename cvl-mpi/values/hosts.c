/* hosts.c - values from and to the host's memory, of which every rank has a copy, and slices.
 */
#include "cvl-mpi/values/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- from the host ---- */

/* Returns the distribution for n elements of the host; NULL: all ranks get all. */
static struct distribution *where(struct cvl_context *c, uint64_t n) {
  return is_whole(c, n) ? NULL : distribution_canonical(c, n);
}

static struct mpi_range hosts_block_of(const struct cvl_context *c,
                                       const struct distribution *at, uint64_t n) {
  return at ? distribution_range(at, c->rank) : (struct mpi_range){0, n};
}

bool mpi_from_host(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                   const void *data, struct cvl_value *out) {
  if (n == 1) {
    *out = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)elem};
    memcpy(&out->as, data, elem_info(elem)->bytes);
    return true;
  }
  struct distribution *at = where(c, n);
  const struct mpi_range mine = hosts_block_of(c, at, n);
  const char *from =
      mine.first ? (const char *)data + mine.first * elem_info(elem)->bytes : data;
  struct cvl_value local;
  if (!absorb(c, c->b->from_host(c->inner, site, elem, mine.n, from, &local), at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

bool mpi_import(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                const void *data, struct cvl_notice done, struct cvl_value *out) {
  struct distribution *at = where(c, n);
  const struct mpi_range mine = hosts_block_of(c, at, n);
  const char *from =
      mine.first ? (const char *)data + mine.first * elem_info(elem)->bytes : data;
  struct cvl_value local;
  if (!absorb(c, c->b->sharing->import_vector(c->inner, site, elem, mine.n, from, done, &local),
              at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

/* Makes a descriptor of few segments, which all ranks keep. */
static struct cvl_value few_segments(struct cvl_context *c, uint64_t site, uint64_t n,
                                     const int64_t *lengths) {
  struct cvl_value whole;
  uint64_t total = 0;
  for (uint64_t k = 0; k < n; k++) total += (uint64_t)lengths[k];
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, n, lengths, &whole), at_site(site)))
    whole = nothing();
  return segdes_of_whole(c, n, total, whole);
}

bool mpi_segdes_from_host(struct cvl_context *c, uint64_t site, uint64_t n,
                          const int64_t *lengths, struct cvl_value *out) {
  struct distribution *at = where(c, n);
  if (!at || n == 1) {
    distribution_release(at);
    *out = few_segments(c, site, n, lengths);
    return true;
  }
  const struct mpi_range mine = distribution_range(at, c->rank);
  int64_t *own = mpi_try_alloc(c, site, (mine.n + 1) * sizeof *own);
  if (own && mine.n > 0) memcpy(own, lengths + mine.first, mine.n * sizeof *own);
  *out = segdes_of_lengths(c, site, at, own, NULL);
  return true;
}

/* ---- to the host: agreements ---- */

/* Reads an inner value. A poisoned one is the result of a fault, of which all ranks know by
 * now. */
static bool read_inner(struct cvl_context *c, struct cvl_value inner, uint64_t first,
                       uint64_t n, void *dst) {
  const bool good = inner.form != CVL_NOTHING && c->b->to_host(c->inner, &inner, first, n, dst);
  inner_drop(c, &inner, 1);
  return good;
}

bool agree_on(struct cvl_context *c, const struct cvl_value *v) {
  bool good;
  do {
    if (waits_for(v) && waits_for(v)->kind->heavy) want(c, v, 1);
    good = agree(c);
  } while (good && waits_for(v));
  return good;
}

bool mpi_to_host(struct cvl_context *c, const struct cvl_value *v, uint64_t first, uint64_t n,
                 void *dst) {
  comm_at(c->comm, "to_host", 0);
  if (!agree_on(c, v)) return false;
  if (!mpi_at(v) && !segdes_is_held(v)) return read_inner(c, inner_of(v, false), first, n, dst);
  struct mpi_range *ranges = ranges_same(c, first, n);
  const struct cvl_value there =
      mpi_at(v) ? move_ranges(c, c->site, v, ranges) : segdes_segments(c, c->site, v, ranges);
  const bool good = read_inner(c, there, 0, n, dst);
  mpi_free(c, ranges);
  return all_true(c, good);
}

bool mpi_scalar(struct cvl_context *c, const struct cvl_value *v, struct cvl_value *out) {
  const struct cvl_value *known = mpi_certain(v);
  *out = (struct cvl_value){.form = CVL_SCALAR, .elem = (uint8_t)mpi_elem(v)};
  if (known) {
    comm_at(c->comm, "scalar", 0);
    out->as = known->as;
    return c->unsure ? agree(c) : c->slot.error.kind == CVL_E_NONE;
  }
  return mpi_to_host(c, v, 0, 1, &out->as);
}

/* ---- slices ---- */

/* Slices a held descriptor; each rank keeps its segments. */
static struct cvl_value slice_held(struct cvl_context *c, uint64_t site,
                                   const struct cvl_segdes *d, uint64_t first, uint64_t n) {
  struct distribution *held = distribution_slice(c, d->held, first, n);
  const struct mpi_range mine = distribution_range(held, c->rank);
  int64_t *lengths = mpi_try_alloc(c, site, (mine.n + 1) * sizeof *lengths);
  const uint64_t *from = d->offset;
  if (mine.n > 0) from += first + mine.first - d->held->start[c->rank];
  for (uint64_t k = 0; lengths && k < mine.n; k++)
    lengths[k] = (int64_t)(from[k + 1] - from[k]);
  return segdes_of_lengths(c, site, held, lengths, NULL);
}

static bool hosts_slice_segdes(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                               uint64_t first, uint64_t n, struct cvl_value *out) {
  struct one_segment one;
  struct cvl_segdes *d = segdes_of(v, &one);
  uint64_t total = 0;
  if (d->held) {
    *out = slice_held(c, site, d, first, n);
    return true;
  }
  if (segdes_is_known(c, site, d)) total = d->offset[first + n] - d->offset[first];
  struct cvl_value slice = inner_slice(c, site, inner_of(v, false), first, n);
  *out = segdes_of_whole(c, n, total, slice);
  return true;
}

static bool hosts_slice_vector(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                               uint64_t first, uint64_t n, struct cvl_value *out) {
  struct distribution *at = mpi_at(v) ? distribution_slice(c, mpi_at(v), first, n) : NULL;
  const struct cvl_value local = inner_of(v, false);
  struct cvl_value slice;
  uint64_t from = first;
  if (at) {
    const struct mpi_range mine = distribution_range(mpi_at(v), c->rank);
    from = first > mine.first ? first - mine.first : 0;
    if (from > mine.n) from = mine.n;
  }
  const uint64_t count = at ? distribution_range(at, c->rank).n : n;
  if (local.form == CVL_NOTHING ||
      !absorb(c, c->b->slices->slice(c->inner, site, &local, from, count, &slice),
              at_site(site)))
    slice = nothing();
  *out = mpi_vector(c, mpi_elem(v), n, at, slice);
  return true;
}

bool mpi_slice(struct cvl_context *c, uint64_t site, const struct cvl_value *v, uint64_t first,
               uint64_t n, struct cvl_value *out) {
  const bool segdes = v->form == CVL_ONE_SEGMENT || v->form == CVL_SEGDES;
  want(c, v, 1);
  const bool good = segdes ? hosts_slice_segdes(c, site, v, first, n, out)
                           : hosts_slice_vector(c, site, v, first, n, out);
  mpi_drop(c, v);
  return good;
}

bool mpi_allocate(struct cvl_context *c, uint64_t site, enum cvl_elem elem, uint64_t n,
                  struct cvl_value *out) {
  struct distribution *at = where(c, n);
  struct cvl_value local;
  if (!absorb(c,
              c->b->slices->allocate(c->inner, site, elem, hosts_block_of(c, at, n).n, &local),
              at_site(site)))
    local = nothing();
  *out = mpi_vector(c, elem, n, at, local);
  return true;
}

/* Returns each rank's block as a range of elements of v, when v is written from `first` on. */
static struct mpi_range *blocks_within(struct cvl_context *c, const struct distribution *at,
                                       uint64_t first, uint64_t n) {
  struct distribution *d = distribution_slice(c, at, first, n);
  struct mpi_range *ranges = ranges_of_blocks(c, d);
  distribution_release(d);
  return ranges;
}

static void fill_local(struct cvl_context *c, uint64_t site, struct cvl_vector *target,
                       uint64_t first, struct cvl_value v) {
  if (v.form == CVL_NOTHING || target->local.form == CVL_NOTHING) {
    inner_drop(c, &v, 1);
    return;
  }
  absorb(c, c->b->slices->fill(c->inner, site, &target->local, first, &v), at_site(site));
}

bool mpi_fill(struct cvl_context *c, uint64_t site, const struct cvl_value *target,
              uint64_t first, const struct cvl_value *v) {
  struct cvl_vector *to = target->as.vector;
  want(c, v, 1);
  if (!to->at) {
    fill_local(c, site, to, first, move_whole(c, site, v));
  } else {
    const uint64_t begin = to->at->start[c->rank];
    struct mpi_range *ranges = blocks_within(c, to->at, first, mpi_length(v));
    const struct cvl_value block = move_ranges(c, site, v, ranges);
    if (ranges[c->rank].n > 0) {
      fill_local(c, site, to, first > begin ? first - begin : 0, block);
    } else {
      inner_drop(c, &block, 1);
    }
    mpi_free(c, ranges);
  }
  mpi_drop(c, v);
  return true;
}

/* ---- concatenation of descriptors ---- */

/* Concatenates descriptors that all ranks have. */
static struct cvl_value concatenate_whole(struct cvl_context *c, uint64_t site, uint64_t n,
                                          const struct cvl_value *descriptors, uint64_t count,
                                          uint64_t total) {
  struct cvl_value *inner = mpi_alloc(c, n * sizeof *inner), whole = nothing();
  bool poisoned = false;
  for (uint64_t k = 0; k < n; k++) {
    inner[k] = inner_of(&descriptors[k], false);
    poisoned = poisoned || inner[k].form == CVL_NOTHING;
  }
  if (!poisoned &&
      !absorb(c, c->b->slices->concatenate(c->inner, site, n, inner, &whole), at_site(site)))
    whole = nothing();
  mpi_free(c, inner);
  return segdes_of_whole(c, count, total, whole);
}

/* Copies the lengths of a descriptor to this rank's block of the result, which lies as `at`;
 * they begin at segment `first` of it. Returns false if they are poisoned, on this rank or on
 * all. */
static bool copy_lengths(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                         const struct distribution *at, uint64_t first, int64_t *lengths) {
  struct one_segment one;
  struct cvl_segdes *d = segdes_of(v, &one);
  if (!segdes_is_known(c, site, d)) return false;
  struct mpi_range *ranges = blocks_within(c, at, first, d->count);
  const uint64_t n = ranges[c->rank].n;
  uint64_t *offset = segdes_offsets(c, site, d, ranges), begin = at->start[c->rank];
  int64_t *to = lengths && n > 0 ? lengths + (first > begin ? first - begin : 0) : lengths;
  for (uint64_t k = 0; offset && to && k < n; k++) to[k] = (int64_t)(offset[k + 1] - offset[k]);
  mpi_free(c, ranges);
  mpi_free(c, offset);
  return offset && to;
}

/* Concatenates to many segments: every rank gets its block. */
static struct cvl_value concatenate_blocks(struct cvl_context *c, uint64_t site, uint64_t n,
                                           const struct cvl_value *descriptors,
                                           uint64_t count) {
  struct distribution *at = distribution_canonical(c, count);
  int64_t *lengths =
      mpi_try_alloc(c, site, (distribution_range(at, c->rank).n + 1) * sizeof *lengths);
  bool good = true;
  uint64_t first = 0;
  for (uint64_t k = 0; k < n; k++) {
    good = copy_lengths(c, site, &descriptors[k], at, first, lengths) && good;
    first += mpi_count(&descriptors[k]);
  }
  if (!good) {
    mpi_free(c, lengths);
    lengths = NULL;
  }
  return segdes_of_lengths(c, site, at, lengths, NULL);
}

bool mpi_concatenate(struct cvl_context *c, uint64_t site, uint64_t n,
                     const struct cvl_value *descriptors, struct cvl_value *out) {
  uint64_t count = 0, total = 0;
  want(c, descriptors, (unsigned)n);
  for (uint64_t k = 0; k < n; k++) {
    count += mpi_count(&descriptors[k]);
    total += mpi_length(&descriptors[k]);
  }
  const bool whole = is_whole(c, count) || count == 1;
  *out = whole ? concatenate_whole(c, site, n, descriptors, count, total)
               : concatenate_blocks(c, site, n, descriptors, count);
  return true;
}
