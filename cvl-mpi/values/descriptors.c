/* descriptors.c - the lengths of segments. All ranks have all of them if there are few; else
 * each rank has those of some segments, as offsets in the host's memory.
 */
#include "cvl-mpi/values/descriptors.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"

/* ---- making ---- */

struct cvl_value segdes_of_whole(struct cvl_context *c, uint64_t count, uint64_t total,
                                 struct cvl_value whole) {
  if (count != 1)
    return mpi_segdes(c, (struct cvl_segdes){.count = count, .total = total, .whole = whole});
  release_inner(c, &whole);
  return cvl_one_segment(total);
}

/* Returns the sum, which is at most INT64_MAX + 1. */
static uint64_t add_lengths(uint64_t a, uint64_t b) {
  const uint64_t most = (uint64_t)INT64_MAX + 1;
  return a > most - b ? most : a + b;
}

static void fault_length(struct cvl_context *c, uint64_t site, enum cvl_error_kind kind,
                         uint64_t position, int64_t length) {
  fault_mine(c,
             (struct cvl_error){
                 .kind = kind, .site = site, .position = (int64_t)position, .value = length});
}

/* The sum of lengths that are poisoned or negative. */
static const uint64_t BAD = UINT64_MAX;

static uint64_t sum_block(struct mpi_range block, const int64_t *lengths) {
  uint64_t sum = 0;
  for (uint64_t k = 0; lengths && k < block.n; k++) {
    if (lengths[k] < 0) return BAD;
    sum = add_lengths(sum, (uint64_t)lengths[k]);
  }
  return lengths ? sum : BAD;
}

/* Records the fault of the first length of a block that is negative, or makes the sum of all
 * too large. */
static void find_fault(struct cvl_context *c, uint64_t site, struct mpi_range block,
                       const int64_t *lengths, uint64_t before) {
  for (uint64_t k = 0; k < block.n; k++) {
    const bool negative = lengths[k] < 0;
    if (!negative) before = add_lengths(before, (uint64_t)lengths[k]);
    if (!negative && before <= INT64_MAX) continue;
    fault_length(c, site, negative ? CVL_E_NEGATIVE_LENGTH : CVL_E_TOTAL, block.first + k,
                 lengths[k]);
    return;
  }
}

/* Finds where the blocks of all ranks begin, and the end. Returns false, on all ranks, if
 * lengths are poisoned or wrong; then the end is 0. */
static bool find_base(struct cvl_context *c, uint64_t site, struct mpi_range block,
                      const int64_t *lengths, const uint64_t *sums, uint64_t *base) {
  uint64_t mine = sums ? 0 : sum_block(block, lengths);
  uint64_t *all = mpi_alloc(c, c->ranks * sizeof *all);
  bool good = true;
  if (!sums) comm_gather(c->comm, &mine, sizeof mine, all);
  if (sums) memcpy(all, sums, c->ranks * sizeof *all);
  base[0] = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    base[r + 1] = all[r] == BAD ? base[r] : add_lengths(base[r], all[r]);
    const bool fine = all[r] != BAD && base[r + 1] <= INT64_MAX;
    if (good && !fine && lengths && r == c->rank) find_fault(c, site, block, lengths, base[r]);
    good = good && fine;
  }
  mpi_free(c, all);
  if (!good) base[c->ranks] = 0;
  return good;
}

/* Turns n lengths into n + 1 offsets. */
static uint64_t *offsets_in_place(int64_t *lengths, uint64_t n, uint64_t base) {
  uint64_t *offset = (uint64_t *)lengths;
  for (uint64_t k = 0; k < n; k++) {
    const uint64_t length = offset[k];
    offset[k] = base;
    base += length;
  }
  offset[n] = base;
  return offset;
}

static struct cvl_value descriptors_poisoned(struct cvl_context *c, uint64_t count,
                                             uint64_t total) {
  if (count == 1) return cvl_one_segment(total);
  return mpi_segdes(c, (struct cvl_segdes){.count = count, .total = total, .poisoned = true});
}

/* Sets which segments this rank holds; frees the fields that it replaces. */
static void descriptors_hold(struct cvl_context *c, struct cvl_segdes *d,
                             struct distribution *held, uint64_t *base, uint64_t *offset) {
  distribution_release(d->held);
  mpi_free(c, d->base);
  mpi_free(c, d->offset);
  d->held = held;
  d->base = base;
  d->offset = offset;
}

/* Moves the offsets of a held descriptor to where `held` has them. Returns false if memory
 * runs out on any rank. */
static bool hold_elsewhere(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                           struct distribution *held) {
  struct mpi_range *ranges = ranges_of_blocks(c, held);
  uint64_t *offset = segdes_offsets(c, site, d, ranges);
  uint64_t *base = mpi_alloc(c, (c->ranks + 1) * sizeof *base);
  mpi_free(c, ranges);
  if (!all_true(c, offset != NULL)) {
    distribution_release(held);
    mpi_free(c, base);
    mpi_free(c, offset);
    return false;
  }
  comm_gather(c->comm, offset, sizeof *offset, base);
  base[c->ranks] = d->total;
  descriptors_hold(c, d, held, base, offset);
  return true;
}

/* Returns an inner descriptor from offsets, owned. */
static struct cvl_value inner_descriptor(struct cvl_context *c, uint64_t site, uint64_t n,
                                         const uint64_t *offset) {
  int64_t *lengths = offset ? mpi_try_alloc(c, site, n * sizeof *lengths) : NULL;
  struct cvl_value made = nothing();
  for (uint64_t k = 0; lengths && k < n; k++) lengths[k] = (int64_t)(offset[k + 1] - offset[k]);
  if (lengths &&
      !absorb(c, c->b->segdes_from_host(c->inner, site, n, lengths, &made), at_site(site)))
    made = nothing();
  mpi_free(c, lengths);
  made.owned = made.form != CVL_NOTHING;
  return made;
}

/* Gives all offsets of a descriptor of few segments to every rank. */
static void hold_whole(struct cvl_context *c, uint64_t site, struct cvl_segdes *d) {
  struct mpi_range *ranges = ranges_same(c, 0, d->count);
  uint64_t *offset = segdes_offsets(c, site, d, ranges);
  d->whole = inner_descriptor(c, site, d->count, offset);
  have_all(c, d->whole.form != CVL_NOTHING);
  descriptors_hold(c, d, NULL, NULL, NULL);
  mpi_free(c, offset);
  mpi_free(c, ranges);
}

struct cvl_value segdes_of_lengths(struct cvl_context *c, uint64_t site,
                                   struct distribution *held, int64_t *lengths,
                                   const uint64_t *sums) {
  struct cvl_segdes d = {.count = held->n, .held = held};
  const struct mpi_range block = distribution_range(held, c->rank);
  d.base = mpi_alloc(c, (c->ranks + 1) * sizeof *d.base);
  bool good = find_base(c, site, block, lengths, sums, d.base);
  d.total = d.base[c->ranks];
  if (good && d.count != 1) {
    d.offset = offsets_in_place(lengths, block.n, d.base[c->rank]);
    if (is_whole(c, d.count)) {
      hold_whole(c, site, &d);
    } else if (distribution_is_skewed(c, held)) {
      good = hold_elsewhere(c, site, &d, distribution_canonical(c, d.count));
    }
    if (good) return mpi_segdes(c, d);
    lengths = (int64_t *)d.offset;
  }
  distribution_release(held);
  mpi_free(c, d.base);
  mpi_free(c, lengths);
  return descriptors_poisoned(c, d.count, d.total);
}

void segdes_become(struct cvl_context *c, struct cvl_segdes *d, struct cvl_value made) {
  struct cvl_segdes *from = made.as.segdes;
  release_inner(c, &d->whole);
  descriptors_hold(c, d, from->held, from->base, from->offset);
  d->whole = from->whole;
  d->poisoned = from->poisoned;
  from->held = NULL;
  from->base = from->offset = NULL;
  from->whole = nothing();
  mpi_release(c, &made);
}

void segdes_is_one(struct cvl_context *c, struct cvl_segdes *d) {
  release_inner(c, &d->whole);
  d->whole = cvl_one_segment(d->total);
  mpi_free(c, d->offset);
  d->offset = mpi_alloc(c, 2 * sizeof *d->offset);
  d->offset[1] = d->total;
}

/* Returns the lengths of the segments `wanted` of an inner descriptor, with room for one more;
 * NULL: poisoned. */
static int64_t *descriptors_read_lengths(struct cvl_context *c, uint64_t site,
                                         const struct cvl_value *d, struct mpi_range wanted) {
  if (d->form == CVL_NOTHING) return NULL;
  int64_t *lengths = mpi_try_alloc(c, site, (wanted.n + 1) * sizeof *lengths);
  if (!lengths || wanted.n == 0) return lengths;
  if (absorb(c, c->b->to_host(c->inner, d, wanted.first, wanted.n, lengths), at_site(site)))
    return lengths;
  mpi_free(c, lengths);
  return NULL;
}

struct cvl_value segdes_from_whole(struct cvl_context *c, uint64_t site, uint64_t count,
                                   uint64_t total, struct cvl_value whole) {
  if (is_whole(c, count) || count == 1) return segdes_of_whole(c, count, total, whole);
  struct distribution *at = distribution_canonical(c, count);
  int64_t *lengths = descriptors_read_lengths(c, site, &whole, distribution_range(at, c->rank));
  release_inner(c, &whole);
  return segdes_of_lengths(c, site, at, lengths, NULL);
}

/* ---- lengths of a descriptor that all ranks have ---- */

struct cvl_segdes *segdes_of(const struct cvl_value *d, struct one_segment *one) {
  if (d->form == CVL_SEGDES) return d->as.segdes;
  one->offsets[0] = 0;
  one->offsets[1] = d->as.one_segment;
  one->d = (struct cvl_segdes){
      .references = 1, .count = 1, .total = one->offsets[1], .offset = one->offsets};
  return &one->d;
}

/* Exchanges follow from the lengths, so all ranks have them, or all act as if none had. */
bool segdes_is_known(struct cvl_context *c, uint64_t site, struct cvl_segdes *d) {
  if (d->offset || d->poisoned) return !d->poisoned;
  int64_t *lengths =
      descriptors_read_lengths(c, site, &d->whole, (struct mpi_range){0, d->count});
  const bool have = have_all(c, lengths != NULL);
  if (c->armed ? all_true(c, have) : have) {
    d->offset = offsets_in_place(lengths, d->count, 0);
  } else {
    mpi_free(c, lengths);
    d->poisoned = true;
  }
  return !d->poisoned;
}

/* ---- offsets on other ranks ---- */

static struct mpi_range common(struct mpi_range a, uint64_t first, uint64_t end) {
  const uint64_t from = a.first > first ? a.first : first;
  const uint64_t to = a.first + a.n < end ? a.first + a.n : end;
  return (struct mpi_range){from, from < to ? to - from : 0};
}

/* Returns which offsets a rank that has `held` sends for the segments `wanted`, which does not
 * include the total. */
static struct mpi_range descriptors_sent(struct mpi_range held, struct mpi_range wanted) {
  return common(held, wanted.first, wanted.first + wanted.n + 1);
}

/* Returns the part `within` of the words `of`, which begin at data. NULL stays NULL. */
static struct comm_block words(uint64_t *data, struct mpi_range of, struct mpi_range within) {
  uint64_t *first = data && within.n > 0 ? data + (within.first - of.first) : data;
  return (struct comm_block){first, within.n * sizeof *data};
}

static void exchange_offsets(struct cvl_context *c, const struct cvl_segdes *d,
                             const struct mpi_range *ranges, uint64_t *out) {
  struct comm_block *send = mpi_alloc(c, 2 * c->ranks * sizeof *send),
                    *receive = send + c->ranks;
  const struct mpi_range own = distribution_range(d->held, c->rank);
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct mpi_range there = descriptors_sent(own, ranges[r]),
                           here = descriptors_sent(distribution_range(d->held, r),
                                                   ranges[c->rank]);
    send[r] = words(d->offset, own, there);
    receive[r] = words(out, ranges[c->rank], here);
  }
  comm_exchange(c->comm, send, receive);
  mpi_free(c, send);
}

uint64_t *segdes_offsets(struct cvl_context *c, uint64_t site, const struct cvl_segdes *d,
                         const struct mpi_range *ranges) {
  const struct mpi_range mine = ranges[c->rank];
  uint64_t *out = mpi_try_alloc(c, site, (mine.n + 1) * sizeof *out);
  if (d->held) {
    exchange_offsets(c, d, ranges, out);
    if (out && mine.first + mine.n == d->count) out[mine.n] = d->total;
  } else if (out) {
    memcpy(out, d->offset + mine.first, (mine.n + 1) * sizeof *out);
  }
  return out;
}

/* Replaces numbers of segments by their offsets, which the ranks that hold them send. */
static void ask_holders(struct cvl_context *c, const struct cvl_segdes *d, uint64_t n,
                        uint64_t *segments) {
  unsigned *holder = mpi_alloc(c, (n + 1) * sizeof *holder);
  for (uint64_t i = 0; i < n; i++) {
    const bool end = segments[i] == d->count;
    holder[i] = end ? 0 : distribution_owner(d->held, segments[i]);
    if (holder[i] == c->rank)
      segments[i] = end ? d->total : d->offset[segments[i] - d->held->start[c->rank]];
  }
  gather_answers(c, n, holder, sizeof *segments, segments);
  mpi_free(c, holder);
}

void segdes_look_up(struct cvl_context *c, const struct cvl_segdes *d, uint64_t n,
                    uint64_t *segments) {
  if (d->held) {
    ask_holders(c, d, n, segments);
    return;
  }
  for (uint64_t i = 0; i < n; i++) segments[i] = d->offset[segments[i]];
}

void segdes_ranges(struct cvl_context *c, const struct cvl_segdes *d,
                   struct mpi_range *ranges) {
  uint64_t *ends = mpi_alloc(c, 2 * c->ranks * sizeof *ends);
  for (unsigned r = 0; r < c->ranks; r++) {
    ends[2 * r] = ranges[r].first;
    ends[2 * r + 1] = ranges[r].first + ranges[r].n;
  }
  segdes_look_up(c, d, 2 * c->ranks, ends);
  for (unsigned r = 0; r < c->ranks; r++)
    ranges[r] = (struct mpi_range){ends[2 * r], ends[2 * r + 1] - ends[2 * r]};
  mpi_free(c, ends);
}

bool segdes_is_held(const struct cvl_value *v) {
  return v->form == CVL_SEGDES && v->as.segdes->held;
}

struct cvl_value segdes_segments(struct cvl_context *c, uint64_t site,
                                 const struct cvl_value *v, const struct mpi_range *ranges) {
  const struct mpi_range mine = ranges[c->rank];
  if (!segdes_is_held(v)) return inner_slice(c, site, inner_of(v, false), mine.first, mine.n);
  uint64_t *offset = segdes_offsets(c, site, v->as.segdes, ranges);
  const struct cvl_value made = inner_descriptor(c, site, mine.n, offset);
  mpi_free(c, offset);
  return made;
}

struct cvl_value segdes_everywhere(struct cvl_context *c, uint64_t site,
                                   const struct cvl_value *v) {
  if (!segdes_is_held(v)) return inner_of(v, false);
  struct mpi_range *ranges = ranges_same(c, 0, mpi_count(v));
  const struct cvl_value made = segdes_segments(c, site, v, ranges);
  mpi_free(c, ranges);
  return made;
}

/* ---- MAKE_SEGDES, LENGTHS ---- */

/* Returns the INTs of this rank as 64 bits, with room for one more; takes data. */
static int64_t *widened(struct cvl_context *c, uint64_t site, void *data, uint64_t n) {
  int64_t *out = data ? mpi_try_alloc(c, site, (n + 1) * sizeof *out) : NULL;
  for (uint64_t i = 0; out && i < n; i++)
    out[i] = c->int_elem == CVL_I32 ? ((int32_t *)data)[i] : ((int64_t *)data)[i];
  mpi_free(c, data);
  return out;
}

bool make_segdes_call(struct cvl_context *c, uint64_t site, const struct cvl_value *lengths,
                      struct cvl_value *out) {
  struct distribution *at = mpi_at(lengths);
  const uint64_t n = distribution_range(at, c->rank).n;
  void *data =
      host_elements(c, site, inner_of(lengths, false), n, elem_info(c->int_elem)->bytes);
  *out = segdes_of_lengths(c, site, distribution_retain(at), widened(c, site, data, n), NULL);
  mpi_drop(c, lengths);
  return true;
}

/* Converts the lengths of this rank to INTs, in place. Returns false after a fault. */
static bool narrowed(struct cvl_context *c, uint64_t site, uint64_t first, uint64_t n,
                     int64_t *lengths) {
  for (uint64_t k = 0; c->int_elem == CVL_I32 && k < n; k++) {
    if (lengths[k] > INT32_MAX) {
      fault_length(c, site, CVL_E_INT_RANGE, first + k, lengths[k]);
      return false;
    }
    const int32_t x = (int32_t)lengths[k];
    memcpy((char *)lengths + k * sizeof x, &x, sizeof x);
  }
  return true;
}

bool lengths_call(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                  struct cvl_value *out) {
  const struct cvl_segdes *d = v->as.segdes;
  const struct mpi_range own = distribution_range(d->held, c->rank);
  int64_t *lengths = mpi_try_alloc(c, site, own.n * sizeof *lengths);
  struct cvl_value local = nothing();
  for (uint64_t k = 0; lengths && k < own.n; k++)
    lengths[k] = (int64_t)(d->offset[k + 1] - d->offset[k]);
  if (lengths && narrowed(c, site, own.first, own.n, lengths))
    local = device_elements(c, site, c->int_elem, own.n, lengths);
  mpi_free(c, lengths);
  *out = mpi_vector(c, c->int_elem, d->count, distribution_retain(d->held), local);
  mpi_drop(c, v);
  return true;
}
