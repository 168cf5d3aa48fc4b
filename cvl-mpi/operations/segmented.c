/* segmented.c - operations on segments that lie on several ranks.
 *
 * Elements are moved first so that every segment is whole on the rank on which it begins: at
 * most one segment moves at each border. Then each rank executes the call on its own operands.
 * If a segment is too long for that, reductions follow the tree of trees.h: its blocks of
 * 1,024 elements are whole on a rank, and the rank on which the segment begins combines their
 * results. Scans, ranks and sorting have their own methods (scan.c, tree.c, sort.c). All ranks
 * execute other operations on such segments whole (together.c).
 */
#include <stdlib.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* ---- ends of blocks ---- */

/* Returns the first position, from border b on, at which a block may end: a position between
 * segments, or a multiple of `unit` elements from the beginning of a segment, unless `unit` is
 * 0. */
static uint64_t next_end(const struct view *v, unsigned b, uint64_t unit) {
  const uint64_t p = v->at->start[b], end = v->borders[b].end;
  if (end <= p || unit == 0) return end > p ? end : p;
  const uint64_t over = (p - v->borders[b].begin) % unit;
  const uint64_t next = over == 0 ? p : p + (unit - over);
  return next < end ? next : end;
}

/* Returns a distribution like the view's whose blocks end where they may. The caller owns it.
 */
static struct distribution *cut_between(struct cvl_context *c, const struct view *v,
                                        uint64_t unit) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  uint64_t before = 0;
  for (unsigned r = 0; r < c->ranks; r++) {
    const uint64_t end = r + 1 == c->ranks ? v->at->n : next_end(v, r + 1, unit);
    counts[r] = end - before;
    before = end;
  }
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  return made;
}

/* Returns whether an end of a block is moved by more than an eighth of a rank's share. */
static bool moves_much(const struct cvl_context *c, const struct distribution *from,
                       const struct distribution *to) {
  enum { FRACTION = 8 };
  const uint64_t most = from->n / c->ranks / FRACTION + c->grain;
  for (unsigned r = 0; r < c->ranks; r++) {
    if (to->start[r] - from->start[r] > most) return true;
  }
  return false;
}

/* Returns a view where segments are whole; NULL if some are too long for that. */
const struct view *whole_segments(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                                  const struct view *v) {
  struct distribution *made = cut_between(c, v, 0);
  if (!moves_much(c, v->at, made)) return segdes_view_near(c, site, d, v, made);
  distribution_release(made);
  return NULL;
}

const struct view *cut_segments(struct cvl_context *c, uint64_t site, struct cvl_segdes *d,
                                const struct view *v, uint64_t unit) {
  return segdes_view_near(c, site, d, v, cut_between(c, v, unit));
}

bool ends_at(const struct view *v, uint64_t unit) {
  for (unsigned b = 1; b < v->at->ranks; b++) {
    if (next_end(v, b, unit) != v->at->start[b]) return false;
  }
  return true;
}

/* Makes the distribution of one element for each segment, on the rank where the segment
 * begins. */
struct distribution *by_segments(struct cvl_context *c, const struct view *v) {
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  for (unsigned r = 0; r < c->ranks; r++) counts[r] = view_owned(v, r).n;
  struct distribution *made = distribution_of_counts(c, counts);
  mpi_free(c, counts);
  return made;
}

/* ---- results ---- */

static enum cvl_elem segmented_result_elem(const struct cvl_context *c,
                                           const struct cvl_call *call) {
  return call_result_elem(call->kind, call->op, mpi_elem(&call->operand[0]), c->int_elem,
                          c->float_elem);
}

/* ---- calls with every segment whole on a rank ---- */

/* Returns whether operand i has one element for each segment. */
static bool segmented_is_by_segment(enum call_kind kind, unsigned i) {
  switch (kind) {
  case CALL_EXTRACT: return i == 1;
  case CALL_REPLACE: return i == 1 || i == 2;
  case CALL_DIST: return i == 0;
  case CALL_INDEX: return i < 2;
  default: return false;
  }
}

static bool gives_by_segment(enum call_kind kind) {
  return kind == CALL_EXTRACT || call_gives_one_per_segment(kind);
}

struct whole_call {
  const struct cvl_call *call;
  const struct view *view;
  struct distribution *segments;
  struct cvl_call inner;
};

static void move_operands(struct cvl_context *c, uint64_t site, struct whole_call *w) {
  const unsigned last = w->call->count - 1;
  w->inner = *w->call;
  for (unsigned i = 0; i < last; i++)
    w->inner.operand[i] =
        move_to(c, site, &w->call->operand[i],
                segmented_is_by_segment(w->call->kind, i) ? w->segments : w->view->at, true);
  w->inner.operand[last] = w->view->local;
}

/* Positions of faults count elements, or segments where indices are by segment. */
static struct shift shift_of(const struct cvl_context *c, uint64_t site,
                             const struct whole_call *w) {
  const uint64_t element = w->view->at->start[c->rank], segment = w->segments->start[c->rank];
  const bool by_segment = segmented_is_by_segment(w->call->kind, 1);
  return (struct shift){site, 1, by_segment ? segment : element, segment};
}

static bool segmented_run_whole(struct cvl_context *c, uint64_t site,
                                const struct cvl_call *call, const struct view *v,
                                struct cvl_value *out) {
  struct whole_call w = {call, v, by_segments(c, v), {0}};
  struct cvl_value local[CALL_RESULTS];
  move_operands(c, site, &w);
  inner_call(c, &w.inner, NULL, shift_of(c, site, &w), local);
  struct distribution *to = gives_by_segment(call->kind) ? w.segments : v->at;
  *out = settled(c, site, segmented_result_elem(c, call), distribution_retain(to), local[0]);
  distribution_release(w.segments);
  return true;
}

/* ---- the calls ---- */

/* Returns the distribution of the call's elements: that of operand 0, or equal blocks if the
 * call makes them. NULL: they are on all ranks. */
static struct distribution *segmented_elements_of(struct cvl_context *c,
                                                  const struct cvl_call *call) {
  const uint64_t n = mpi_length(&call->operand[call->count - 1]);
  if (segmented_is_by_segment(call->kind, 0))
    return is_whole(c, n) ? NULL : distribution_canonical(c, n);
  return distribution_retain(mpi_at(&call->operand[0]));
}

static bool is_exact_call(const struct cvl_call *call) {
  return is_exact(call->op, mpi_elem(&call->operand[0]));
}

/* Executes a reduction of one segment whose order does not matter: every rank reduces its
 * block. */
static bool any_order_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                           const struct view *v, struct cvl_value *out) {
  struct cvl_call inner = *call;
  struct cvl_value local[CALL_RESULTS];
  uint64_t *counts = mpi_alloc(c, c->ranks * sizeof *counts);
  for (unsigned r = 0; r < c->ranks; r++) counts[r] = distribution_range(v->at, r).n > 0;
  inner.operand[0] = move_to(c, site, &call->operand[0], v->at, true);
  inner.operand[1] = cvl_one_segment(distribution_range(v->at, c->rank).n);
  inner_call(c, &inner, NULL, at_site(site), local);
  *out = one_reduced(c, site, call->op, mpi_elem(&call->operand[0]), counts, local[0]);
  return true;
}

/* Executes a call in the order of the tree, with blocks that end where the tree's blocks do. */
static bool cut_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                     struct cvl_segdes *d, const struct view *v, struct cvl_value *out) {
  const bool scan = call->kind == CALL_SCAN;
  const struct view *cut = cut_segments(c, site, d, v, scan ? CVL_SCAN_TILE : CVL_REDUCE_BLOCK);
  return scan ? tree_call(c, site, call, cut, out) : blocks_call(c, site, call, cut, out);
}

/* Executes a call on segments that are too long for one rank. */
static bool run_long(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                     struct cvl_segdes *d, const struct view *v, struct cvl_value *out) {
  if (segmented_is_by_segment(call->kind, 0)) return spread_call(c, site, call, v, out);
  if (call->kind == CALL_SCAN && is_exact_call(call)) return scan_call(c, site, call, v, out);
  if (call->kind == CALL_SCAN) return c->b->tiles && cut_call(c, site, call, d, v, out);
  if (call->kind == CALL_RANK || call->kind == CALL_SORT)
    return sort_call(c, site, call, v, out);
  if (call->kind == CALL_EXTRACT || call->kind == CALL_REPLACE)
    return element_call(c, site, call, d, out);
  if (call->kind != CALL_REDUCE) return false;
  return is_exact_call(call) && d->count == 1 ? any_order_call(c, site, call, v, out)
                                              : cut_call(c, site, call, d, v, out);
}

static bool segmented_run(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                          struct cvl_segdes *d, struct distribution *at,
                          struct cvl_value *out) {
  const struct view *v = segdes_view(c, site, d, at);
  if (!v) return false;
  if (call->kind == CALL_PACK) return pack_call(c, site, call, v, out);
  const struct view *whole = whole_segments(c, site, d, v);
  return whole ? segmented_run_whole(c, site, call, whole, out)
               : run_long(c, site, call, d, v, out);
}

bool segmented_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                    struct cvl_value *out) {
  want(c, call->operand, call->count);
  if (!sizes_fit(call)) return poisoned_call(c, call, out);
  struct one_segment one;
  struct cvl_segdes *d = segdes_of(&call->operand[call->count - 1], &one);
  struct distribution *at = segmented_elements_of(c, call);
  const bool done = at && segmented_run(c, site, call, d, at, out);
  distribution_release(at);
  if (d == &one.d) segdes_drop_views(c, d);
  if (!done) return together(c, site, call, out);
  call_drop(c, call);
  return true;
}
