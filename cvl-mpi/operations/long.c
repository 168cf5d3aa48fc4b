/* long.c - operations on segments that cross ranks: spreads, and reductions. */
#include <stdlib.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* ---- DIST and INDEX ---- */

/* Returns an operand's elements for the segments that each rank's block touches. */
static struct cvl_value touched(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                                const struct view *view) {
  struct mpi_range *ranges = view_ranges(c, view);
  const struct cvl_value moved = move_ranges(c, site, v, ranges);
  mpi_free(c, ranges);
  return moved;
}

static bool first_int(struct cvl_context *c, uint64_t site, const struct cvl_value *v,
                      int64_t *x) {
  struct cvl_value first = {.form = CVL_SCALAR, .elem = (uint8_t)c->int_elem};
  if (!absorb(c, c->b->to_host(c->inner, v, 0, 1, &first.as), at_site(site))) return false;
  *x = cvl_int_of(&first);
  return true;
}

/* Returns `start` with its first element increased by `over` strides; takes start. */
static struct cvl_value begun_before(struct cvl_context *c, uint64_t site,
                                     struct cvl_value start, const struct cvl_value *stride,
                                     uint64_t n, uint64_t over) {
  int64_t x, by;
  struct cvl_value out = nothing();
  if (first_int(c, site, &start, &x) && first_int(c, site, stride, &by)) {
    const int64_t from = (int64_t)((uint64_t)x + over * (uint64_t)by);
    const struct cvl_value zero = cvl_scalar_int(c->int_elem, 0),
                           first = cvl_scalar_int(c->int_elem, from), d = cvl_one_segment(n);
    const bool good = c->b->apply(
        c->inner, site, &CVL_CALL(CALL_REPLACE, OP_REPLACE, start, zero, first, d), &out);
    if (!absorb(c, good, at_site(site))) return nothing();
    out.owned = 1;
    return out;
  }
  inner_drop(c, &start, 1);
  return out;
}

struct cvl_value repeated(struct cvl_context *c, uint64_t site, struct cvl_value x,
                          uint64_t n) {
  const struct cvl_value d = cvl_one_segment(n);
  struct cvl_value out;
  if (n == 1) return x;
  if (!absorb(c, c->b->apply(c->inner, site, &CVL_CALL(CALL_DIST, OP_DIST, x, d), &out),
              at_site(site)))
    return nothing();
  out.owned = 1;
  return out;
}

struct cvl_value start_of_block(struct cvl_context *c, uint64_t site, struct index_start s) {
  if (s.constant) s.start = repeated(c, site, s.start, s.segments);
  const bool poisoned = s.start.form == CVL_NOTHING || s.stride.form == CVL_NOTHING;
  if (poisoned || s.skipped == 0) {
    inner_drop(c, &s.stride, 1);
    if (poisoned) inner_drop(c, &s.start, 1);
    return poisoned ? nothing() : s.start;
  }
  const struct cvl_value out = begun_before(c, site, s.start, &s.stride, s.segments, s.skipped);
  inner_drop(c, &s.stride, 1);
  return out;
}

bool spread_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                 const struct view *view, struct cvl_value *out) {
  struct distribution *at = view->at;
  struct cvl_call inner = *call;
  struct cvl_value local[CALL_RESULTS];
  for (unsigned i = 0; i + 1 < call->count; i++)
    inner.operand[i] = touched(c, site, &call->operand[i], view);
  inner.operand[call->count - 1] = view->local;
  const bool any = inner.operand[0].form != CVL_NOTHING && inner.operand[1].form != CVL_NOTHING;
  if (call->kind == CALL_INDEX && view_comes_in(view, c->rank) && any)
    inner.operand[0] =
        begun_before(c, site, inner.operand[0], &inner.operand[1], view->segments.n,
                     at->start[c->rank] - view->borders[c->rank].begin);
  inner_call(c, &inner, NULL, at_site(site), local);
  const enum cvl_elem elem = call_result_elem(call->kind, call->op, mpi_elem(&call->operand[0]),
                                              c->int_elem, c->float_elem);
  *out = mpi_vector(c, elem, at->n, distribution_retain(at), local[0]);
  return true;
}

/* ---- REDUCE ---- */

struct pieces pieces_of(const struct view *v, unsigned rank) {
  struct pieces p = {distribution_range(v->at, rank), view_segments(v, rank), 0, 0};
  const struct border *b = &v->borders[rank];
  const uint64_t end = p.block.first + p.block.n;
  const bool comes_in = view_comes_in(v, rank);
  if (comes_in) p.head = tree_blocks(least_of(b[0].end, end) - p.block.first);
  if (view_goes_on(v, rank) && !(comes_in && p.segments.n == 1))
    p.tail = tree_blocks(end - b[1].begin);
  return p;
}

/* Returns the lengths of the pieces of this rank: blocks of the tree, and whole segments. */
static uint64_t *lengths_of(struct cvl_context *c, uint64_t site, const struct view *v,
                            const struct pieces *p, uint64_t *n) {
  const uint64_t most = p->head + p->tail + p->segments.n;
  uint64_t *lengths = mpi_try_alloc(c, site, most * sizeof *lengths);
  const uint64_t end = p->block.first + p->block.n;
  *n = 0;
  for (uint64_t k = 0; lengths && k < p->segments.n; k++) {
    const uint64_t *o = &v->offset[k];
    const uint64_t from = o[0] > p->block.first ? o[0] : p->block.first,
                   to = least_of(o[1], end);
    const bool cut = o[0] < p->block.first || o[1] > end;
    if (!cut) lengths[(*n)++] = to - from;
    for (uint64_t x = from; cut && x < to; x += CVL_REDUCE_BLOCK)
      lengths[(*n)++] = least_of(CVL_REDUCE_BLOCK, to - x);
  }
  return lengths;
}

struct cvl_value pieces_descriptor(struct cvl_context *c, uint64_t site, const struct view *v) {
  const struct pieces p = pieces_of(v, c->rank);
  struct cvl_value made = nothing();
  uint64_t n, *lengths = lengths_of(c, site, v, &p, &n);
  if (lengths &&
      !absorb(c, c->b->segdes_from_host(c->inner, site, n, (int64_t *)lengths, &made),
              at_site(site)))
    made = nothing();
  mpi_free(c, lengths);
  made.owned = made.form != CVL_NOTHING;
  return made;
}

/* Returns the reductions of all pieces: the head, whole segments, the tail. */
static struct cvl_value long_reduced(struct cvl_context *c, uint64_t site,
                                     const struct cvl_call *call, const struct view *v) {
  struct cvl_call inner = *call;
  struct cvl_value out[CALL_RESULTS];
  inner.operand[0] = move_to(c, site, &call->operand[0], v->at, true);
  inner.operand[1] = pieces_descriptor(c, site, v);
  inner_call(c, &inner, NULL, at_site(site), out);
  return out[0];
}

struct heads {
  struct comm_block *send, *receive;
  char *mine, *all; /* `mine`: reductions of this rank's head. `all`: those of its tail and of
                       the heads behind it */
  uint64_t count;   /* number of reductions in `all` */
};

static void plan_heads(struct cvl_context *c, const struct view *v, const struct pieces *p,
                       size_t bytes, struct heads *h) {
  h->send = mpi_alloc(c, 2 * c->ranks * sizeof *h->send);
  h->receive = h->send + c->ranks;
  h->count = p->tail;
  if (p->head > 0) h->send[view_beginner(v, c->rank)].bytes = p->head * bytes;
  for (unsigned r = c->rank + 1; p->tail > 0 && r < c->ranks; r++) {
    const struct pieces q = pieces_of(v, r);
    if (q.head == 0 || view_beginner(v, r) != c->rank) continue;
    h->receive[r].bytes = q.head * bytes;
    h->count += q.head;
  }
}

/* Brings the reductions of heads to the ranks where their segments begin. */
static bool bring_heads(struct cvl_context *c, uint64_t site, const struct pieces *p,
                        const struct cvl_value *local, uint64_t middle, size_t bytes,
                        struct heads *h) {
  h->mine = mpi_try_alloc(c, site, p->head * bytes);
  h->all = mpi_try_alloc(c, site, h->count * bytes);
  const bool sends = h->mine && inner_read(c, site, local, 0, p->head, h->mine);
  const bool own = h->all && inner_read(c, site, local, p->head + middle, p->tail, h->all);
  char *to = h->all ? h->all + p->tail * bytes : NULL;
  for (unsigned r = 0; r < c->ranks; r++) {
    h->send[r].data = sends ? h->mine : NULL;
    h->receive[r].data = to;
    if (to) to += h->receive[r].bytes;
  }
  comm_exchange(c->comm, h->send, h->receive);
  return own;
}

/* Returns the reduction of the segment that begins here and goes on. */
static struct cvl_value long_combined(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                      enum cvl_elem elem, const struct heads *h) {
  struct cvl_call inner = {.kind = CALL_REDUCE, .op = op, .count = 2};
  struct cvl_value out[CALL_RESULTS];
  inner.operand[1] = cvl_one_segment(h->count);
  if (!absorb(c, c->b->from_host(c->inner, site, elem, h->count, h->all, &inner.operand[0]),
              at_site(site)))
    inner.operand[0] = nothing();
  inner.operand[0].owned = 1;
  inner_call(c, &inner, NULL, at_site(site), out);
  out[0].owned = 1;
  return out[0];
}

struct cvl_value beginning_here(struct cvl_context *c, uint64_t site,
                                const struct cvl_value *local, uint64_t first, uint64_t n,
                                const struct cvl_value *last) {
  struct cvl_value out, slice = nothing();
  const bool poisoned = local->form == CVL_NOTHING || (last && last->form == CVL_NOTHING);
  const enum cvl_elem elem = (enum cvl_elem)local->elem;
  if (poisoned ||
      !absorb(c, c->b->slices->allocate(c->inner, site, elem, n + (last != NULL), &out),
              at_site(site))) {
    if (last) inner_drop(c, last, 1);
    return nothing();
  }
  bool good =
      absorb(c, c->b->slices->slice(c->inner, site, local, first, n, &slice), at_site(site));
  slice.owned = 1;
  good = good && inner_fill(c, site, &out, 0, slice);
  if (last) good = inner_fill(c, site, &out, n, *last) && good;
  if (good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

/* Returns the reduction of the only segment. */
static struct cvl_value one_joined(struct cvl_context *c, uint64_t site, enum cvl_op op,
                                   enum cvl_elem elem, const struct view *v,
                                   struct cvl_value local) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  for (unsigned r = 0; r < c->ranks; r++) {
    const struct pieces p = pieces_of(v, r);
    counts[r] = p.head + p.tail + view_owned(v, r).n - (p.tail > 0);
  }
  return one_reduced(c, site, op, elem, counts, local);
}

struct cvl_value pieces_joined(struct cvl_context *c, uint64_t site, enum cvl_op op,
                               enum cvl_elem elem, const struct view *v,
                               struct cvl_value local) {
  if (v->borders[c->ranks].first == 1) return one_joined(c, site, op, elem, v, local);
  const struct pieces p = pieces_of(v, c->rank);
  const uint64_t middle = view_owned(v, c->rank).n - (p.tail > 0);
  const size_t bytes = elem_info(elem)->bytes;
  struct cvl_value last = nothing();
  struct heads h = {0};
  plan_heads(c, v, &p, bytes, &h);
  if (bring_heads(c, site, &p, &local, middle, bytes, &h) && p.tail > 0)
    last = long_combined(c, site, op, elem, &h);
  const struct cvl_value block =
      beginning_here(c, site, &local, p.head, middle, p.tail > 0 ? &last : NULL);
  release_inner(c, &local);
  mpi_free(c, h.send);
  mpi_free(c, h.mine);
  mpi_free(c, h.all);
  return settled(c, site, elem, by_segments(c, v), block);
}

bool blocks_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                 const struct view *v, struct cvl_value *out) {
  const enum cvl_elem elem = mpi_elem(&call->operand[0]);
  *out = pieces_joined(c, site, call->op, elem, v, long_reduced(c, site, call, v));
  return true;
}
