/* scan.c - scans, by exact operations, of segments that cross ranks. Each rank combines its
 * scan with the total of the ranks before. Sums of FLOATs are in tree.c, since they must
 * follow the tree of trees.h.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* Returns the reduction of n inner elements as a scalar; takes v. */
static struct cvl_value scan_total_of(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                      struct cvl_value v, uint64_t n) {
  const struct cvl_value d = cvl_one_segment(n);
  struct cvl_value out, scalar;
  if (v.form == CVL_NOTHING) return v;
  if (!absorb(c, c->b->apply(c->inner, site, &CVL_CALL(CALL_REDUCE, op, v, d), &out),
              at_site(site)))
    return nothing();
  const bool good = absorb(c, c->b->scalar(c->inner, &out, &scalar), at_site(site));
  c->b->release(c->inner, &out);
  return good ? scalar : nothing();
}

/* Returns the total of this rank's part of the last segment of its block. */
static struct cvl_value last_total(struct cvl_context *c, uint64_t site,
                                   const struct cvl_call *call, const struct view *view,
                                   const struct cvl_value *v) {
  const struct mpi_range block = distribution_range(view->at, c->rank), s = view->segments;
  if (s.n == 0 || block.n == 0) return nothing();
  const uint64_t begin = larger(view_offset(view, s.first + s.n - 1), block.first);
  const uint64_t n = block.first + block.n - begin;
  struct cvl_value borrowed = *v;
  borrowed.owned = 0;
  return scan_total_of(c, site, call->op,
                       inner_slice(c, site, borrowed, begin - block.first, n), n);
}

/* ---- totals before ---- */

/* Returns the combined total of the ranks before that have elements of the segment that
 * crosses into this block. */
static struct cvl_value scan_before(struct cvl_context *c, uint64_t site,
                                    const struct cvl_call *call, const struct view *view,
                                    const char *totals) {
  const struct border *in = &view->borders[c->rank];
  const enum cvl_elem elem = mpi_elem(&call->operand[0]);
  const size_t bytes = elem_info(elem)->bytes;
  char *values = mpi_alloc(c, c->ranks * bytes);
  struct cvl_value v = nothing();
  uint64_t n = 0;
  for (unsigned r = 0; r < c->rank; r++) {
    if (within_block(in->begin, in->end, distribution_range(view->at, r)) > 0)
      memcpy(values + n++ * bytes, totals + r * sizeof(int64_t), bytes);
  }
  if (!absorb(c, c->b->from_host(c->inner, site, elem, n, values, &v), at_site(site)))
    v = nothing();
  v.owned = 1;
  mpi_free(c, values);
  return scan_total_of(c, site, call->op, v, n);
}

/* ---- the scan ---- */

/* Returns `carry`, followed by the n elements of v; takes v. */
static struct cvl_value scan_behind(struct cvl_context *c, uint64_t site,
                                    struct cvl_value carry, struct cvl_value v, uint64_t n) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING) return v;
  if (!absorb(c, c->b->slices->allocate(c->inner, site, (enum cvl_elem)v.elem, n + 1, &out),
              at_site(site))) {
    inner_drop(c, &v, 1);
    return nothing();
  }
  const bool good = inner_fill(c, site, &out, 0, carry);
  if (inner_fill(c, site, &out, 1, v) && good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

/* Returns the descriptor of the block's segments, with the first one element longer. */
static struct cvl_value longer(struct cvl_context *c, uint64_t site, const struct view *view) {
  const struct mpi_range block = distribution_range(view->at, c->rank), s = view->segments;
  int64_t *lengths = mpi_try_alloc(c, site, s.n * sizeof *lengths);
  struct cvl_value out = nothing();
  if (!lengths) return out;
  for (uint64_t k = 0; k < s.n; k++)
    lengths[k] = (int64_t)view_within(view, s.first + k, block) + (k == 0);
  if (!absorb(c, c->b->segdes_from_host(c->inner, site, s.n, lengths, &out), at_site(site)))
    out = nothing();
  mpi_free(c, lengths);
  return out;
}

/* Returns the scan of v, which it takes. Poisoned operands give a poisoned result. */
static struct cvl_value mpi_scanned(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                    struct cvl_value v, const struct cvl_value *d) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING || d->form == CVL_NOTHING) {
    inner_drop(c, &v, 1);
    return nothing();
  }
  if (absorb(c, c->b->apply(c->inner, site, &CVL_CALL(CALL_SCAN, op, v, *d), &out),
             at_site(site)))
    return out;
  return nothing();
}

/* Returns the scan of a block whose first segment began before. It scans the total before it,
 * as one element, followed by the block, and drops the first result. Takes v. */
static struct cvl_value scan_on(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                const struct view *view, struct cvl_value carry,
                                struct cvl_value v) {
  const uint64_t n = distribution_range(view->at, c->rank).n;
  struct cvl_value longer_d = longer(c, site, view);
  struct cvl_value all = scan_behind(c, site, carry, v, n);
  all.owned = 1;
  struct cvl_value scan = mpi_scanned(c, site, op, all, &longer_d);
  if (longer_d.form != CVL_NOTHING) c->b->release(c->inner, &longer_d);
  scan.owned = 1;
  struct cvl_value out = inner_slice(c, site, scan, 1, n);
  out.owned = 0;
  return out;
}

/* ---- blocks of one segment: tiles are scanned, so that elements are read twice and written
 * once ---- */

struct tiled {
  struct cvl_value v, totals; /* inner values: the block, and the totals of full tiles */
  uint64_t n, full, tiles;
};

/* Returns whether a block has elements of one segment only, and enough of them. */
static bool is_tiled(const struct cvl_context *c, const struct view *view) {
  const uint64_t n = distribution_range(view->at, c->rank).n;
  return c->b->tiles && view->segments.n == 1 && n >= 2 * CVL_SCAN_TILE;
}

/* Takes v. */
static struct tiled tiled_new(struct cvl_context *c, uint64_t site, enum cvl_op op,
                              struct cvl_value v, uint64_t n) {
  struct tiled t = {.v = v, .n = n, .full = n / CVL_SCAN_TILE};
  t.tiles = t.full + (n % CVL_SCAN_TILE > 0);
  if (v.form == CVL_NOTHING ||
      !absorb(c, c->b->tiles->scan_totals(c->inner, site, op, &v, &t.totals), at_site(site)))
    t.totals = nothing();
  return t;
}

static void tiled_free(struct cvl_context *c, struct tiled *t) {
  inner_drop(c, &t->v, 1);
  release_inner(c, &t->totals);
}

/* Returns a vector of n elements: the totals of full tiles from position `at` on, and `other`
 * elsewhere. */
static struct cvl_value totals_in(struct cvl_context *c, uint64_t site, const struct tiled *t,
                                  uint64_t at, uint64_t n, struct cvl_value other) {
  struct cvl_value out, totals = t->totals;
  totals.owned = other.owned = 0;
  if (totals.form == CVL_NOTHING || other.form == CVL_NOTHING ||
      !absorb(c, c->b->slices->allocate(c->inner, site, (enum cvl_elem)totals.elem, n, &out),
              at_site(site)))
    return nothing();
  out.owned = 1;
  bool good = inner_fill(c, site, &out, at, totals);
  if (at > 0) good = good && inner_fill(c, site, &out, 0, other);
  if (at + t->full < n) good = good && inner_fill(c, site, &out, n - 1, other);
  if (good) return out;
  inner_drop(c, &out, 1);
  return nothing();
}

/* Returns the total of all elements. */
static struct cvl_value tiled_total(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                    const struct tiled *t) {
  const uint64_t rest = t->n - t->full * CVL_SCAN_TILE;
  struct cvl_value v = t->v, tail = cvl_scalar_bool(false);
  v.owned = 0;
  if (rest > 0)
    tail = scan_total_of(c, site, op, inner_slice(c, site, v, t->full * CVL_SCAN_TILE, rest),
                         rest);
  return scan_total_of(c, site, op, totals_in(c, site, t, 0, t->tiles, tail), t->tiles);
}

/* Returns the value before each tile: `carry` combined with the tiles before it. */
static struct cvl_value scan_before_tiles(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                          const struct tiled *t, struct cvl_value carry) {
  const struct cvl_value d = cvl_one_segment(t->tiles + 1);
  struct cvl_value scan =
      mpi_scanned(c, site, op, totals_in(c, site, t, 1, t->tiles + 1, carry), &d);
  scan.owned = 1;
  return inner_slice(c, site, scan, 1, t->tiles);
}

/* Returns a value to put before a segment that changes nothing. That is the identity, except
 * for MAX and MIN of FLOATs: some FLOATs are beyond their identity, so the first element is
 * taken. */
static struct cvl_value neutral(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                const struct tiled *t) {
  const uint64_t n =
      t->v.form != CVL_NOTHING && elem_info((enum cvl_elem)t->v.elem)->klass == CLASS_FLOAT;
  struct cvl_value v = t->v;
  v.owned = 0;
  return scan_total_of(c, site, op, inner_slice(c, site, v, 0, n), n);
}

static struct cvl_value tiled_scan(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                   const struct tiled *t, bool begins, struct cvl_value carry) {
  if (begins) carry = neutral(c, site, op, t);
  const struct cvl_value before = scan_before_tiles(c, site, op, t, carry);
  struct cvl_value out = nothing();
  if (before.form == CVL_NOTHING ||
      !absorb(c, c->b->tiles->scan_tiles(c->inner, site, op, begins, &t->v, &before, &out),
              at_site(site)))
    out = nothing();
  inner_drop(c, &before, 1);
  return out;
}

/* ---- the call ---- */

/* The part of a scan that a rank computes before it knows the total before its block. */
struct scanning {
  bool tiled;
  struct tiled t;
  struct cvl_value v; /* the block, if not tiled */
  struct cvl_value total;
};

static struct scanning scanning_new(struct cvl_context *c, uint64_t site,
                                    const struct cvl_call *call, const struct view *view) {
  struct scanning s = {.tiled = is_tiled(c, view)};
  s.v = move_to(c, site, &call->operand[0], view->at, false);
  if (s.tiled) {
    s.t = tiled_new(c, site, call->op, s.v, distribution_range(view->at, c->rank).n);
    s.total = s.v.form == CVL_NOTHING ? nothing() : tiled_total(c, site, call->op, &s.t);
  } else {
    s.total = last_total(c, site, call, view, &s.v);
  }
  return s;
}

/* Completes a scan; takes the values of `s`. */
static struct cvl_value mpi_scan_of(struct cvl_context *c, uint64_t site,
                                    const struct cvl_call *call, const struct view *view,
                                    struct scanning *s, const char *totals) {
  const bool comes_in = view_comes_in(view, c->rank);
  const struct cvl_value carry =
      comes_in ? scan_before(c, site, call, view, totals) : nothing();
  if (!s->tiled)
    return comes_in ? scan_on(c, site, call->op, view, carry, s->v)
                    : mpi_scanned(c, site, call->op, s->v, &view->local);
  const struct cvl_value scan = tiled_scan(c, site, call->op, &s->t, !comes_in, carry);
  tiled_free(c, &s->t);
  return scan;
}

bool scan_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct distribution *at = view->at;
  struct scanning s = scanning_new(c, site, call, view);
  char *totals = mpi_alloc(c, c->ranks * sizeof s.total.as);
  comm_gather(c->comm, &s.total.as, sizeof s.total.as, totals);
  const struct cvl_value scan = mpi_scan_of(c, site, call, view, &s, totals);
  *out = mpi_vector(c, mpi_elem(&call->operand[0]), at->n, distribution_retain(at), scan);
  mpi_free(c, totals);
  return true;
}
