/* scan.c - scans of segments that go on on the next rank, of operations that are exact: the sum
 * of what is on the ranks before is added. Sums of FLOATs have the tree of cvl.h, which this
 * would not give (tree.c).
 */
#include "cvl-mpi/private.h"

#include <stdlib.h>
#include <string.h>

static uint64_t larger(uint64_t a, uint64_t b) {
  return a > b ? a : b;
}

/* Reduction of inner elements, one segment, as a scalar; takes v. */
static struct cvl_value total_of(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                 struct cvl_value v, uint64_t n) {
  const struct cvl_value d = cvl_one_segment(n);
  struct cvl_value out, scalar;
  if (v.form == CVL_NOTHING) return v;
  if (!absorb(c, c->b->reduce(c->inner, site, op, &v, &d, &out), at_site(site)))
    return nothing();
  const bool good = absorb(c, c->b->scalar(c->inner, &out, &scalar), at_site(site));
  c->b->release(c->inner, &out);
  return good ? scalar : nothing();
}

/* What this rank has of the last segment of its block. */
static struct cvl_value last_total(struct cvl_context *c, uint64_t site,
                                   const struct cvl_call *call, const struct view *view,
                                   const struct cvl_value *v) {
  const struct range block = distribution_range(view->at, c->rank), s = view->segments;
  if (s.n == 0 || block.n == 0) return nothing();
  const uint64_t begin = larger(view_offset(view, s.first + s.n - 1), block.first);
  const uint64_t n = block.first + block.n - begin;
  struct cvl_value borrowed = *v;
  borrowed.owned = 0;
  return total_of(c, site, call->op, inner_slice(c, site, borrowed, begin - block.first, n), n);
}

/* ---- what is before ---- */

/* The totals, of all ranks before that have elements of the segment that comes in, as one. */
static struct cvl_value before(struct cvl_context *c, uint64_t site,
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
  return total_of(c, site, call->op, v, n);
}

/* ---- the scan ---- */

/* `carry` and then the n elements of v; takes v. */
static struct cvl_value behind(struct cvl_context *c, uint64_t site, struct cvl_value carry,
                               struct cvl_value v, uint64_t n) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING) return v;
  if (!absorb(c, c->b->allocate(c->inner, site, (enum cvl_elem)v.elem, n + 1, &out),
              at_site(site))) {
    inner_drop(c, &v, 1);
    return nothing();
  }
  const bool good = inner_fill(c, site, &out, 0, carry);
  if (inner_fill(c, site, &out, 1, v) && good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

/* The segments of a block, the first one element longer. */
static struct cvl_value longer(struct cvl_context *c, uint64_t site, const struct view *view) {
  const struct range block = distribution_range(view->at, c->rank), s = view->segments;
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

/* The scan of v, takes it; lost operands give a lost result. */
static struct cvl_value scanned(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                struct cvl_value v, const struct cvl_value *d) {
  struct cvl_value out;
  if (v.form == CVL_NOTHING || d->form == CVL_NOTHING) {
    inner_drop(c, &v, 1);
    return nothing();
  }
  if (absorb(c, c->b->scan(c->inner, site, op, &v, d, &out), at_site(site))) return out;
  return nothing();
}

/* A block whose first segment has begun before: the scan of what is before it, as one element,
 * and the block, but for the first of that. Takes v. */
static struct cvl_value scan_on(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                const struct view *view, struct cvl_value carry,
                                struct cvl_value v) {
  const uint64_t n = distribution_range(view->at, c->rank).n;
  struct cvl_value longer_d = longer(c, site, view);
  struct cvl_value all = behind(c, site, carry, v, n);
  all.owned = 1;
  struct cvl_value scan = scanned(c, site, op, all, &longer_d);
  if (longer_d.form != CVL_NOTHING) c->b->release(c->inner, &longer_d);
  scan.owned = 1;
  struct cvl_value out = inner_slice(c, site, scan, 1, n);
  out.owned = 0;
  return out;
}

bool scan_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct distribution *at = view->at;
  struct cvl_value v = move_to(c, site, &call->operand[0], at, false), scan;
  const struct cvl_value mine = last_total(c, site, call, view, &v);
  char *totals = mpi_alloc(c, c->ranks * sizeof mine.as);
  comm_gather(c->comm, &mine.as, sizeof mine.as, totals);
  if (view_comes_in(view, c->rank)) {
    const struct cvl_value carry = before(c, site, call, view, totals);
    scan = scan_on(c, site, call->op, view, carry, v);
  } else {
    scan = scanned(c, site, call->op, v, &view->local);
  }
  *out = mpi_vector(c, mpi_elem(&call->operand[0]), at->n, distribution_retain(at), scan);
  mpi_free(c, totals);
  return true;
}
