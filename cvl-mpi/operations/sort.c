/* sort.c - RANK and SORT of segments that lie on several ranks.
 *
 * Every rank sorts the part of each segment in its block. Splitters say how many of these
 * elements go to which rank, so that each rank has as many as before (splitters.h). Received
 * elements are in the order of their former ranks, so another sort, which is stable, gives the
 * result. For RANK the ranks of received elements are sent back to where these came from.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/operations/splitters.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

struct sorting {
  const struct cvl_call *call;
  uint64_t site;
  const struct view *view;
  struct mpi_range block;
  size_t bytes;
  uint64_t *out, *in; /* numbers of elements that go to each rank, and come from each */
};

/* ---- keys: words that have the order of the elements ---- */

static uint64_t key_of_int(int64_t x) {
  return (uint64_t)x ^ UINT64_C(1) << 63;
}

/* -0.0 has the key of 0.0. */
static uint64_t key_of_float(double x) {
  const double plain = x + 0.0;
  uint64_t bits;
  memcpy(&bits, &plain, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* NaN has the last key in both directions. */
static uint64_t key_of(enum cvl_elem elem, const void *data, uint64_t i, bool down) {
  uint64_t key;
  switch (elem) {
  case CVL_I32: key = key_of_int(((const int32_t *)data)[i]); break;
  case CVL_I64: key = key_of_int(((const int64_t *)data)[i]); break;
  case CVL_F32:
  case CVL_F64: {
    const double x =
        elem == CVL_F32 ? (double)((const float *)data)[i] : ((const double *)data)[i];
    if (isnan(x)) return UINT64_MAX;
    key = key_of_float(x);
    break;
  }
  default: key = ((const uint8_t *)data)[i];
  }
  return down ? ~key : key;
}

static uint64_t *keys_of(struct cvl_context *c, const struct sorting *s, const void *sorted) {
  const bool down = s->call->op == OP_RANK_DOWN || s->call->op == OP_SORT_DOWN;
  const enum cvl_elem elem = mpi_elem(&s->call->operand[0]);
  uint64_t *keys = sorted ? mpi_try_alloc(c, s->site, s->block.n * sizeof *keys) : NULL;
  for (uint64_t i = 0; keys && i < s->block.n; i++) keys[i] = key_of(elem, sorted, i, down);
  return keys;
}

/* ---- inner calls on the block ---- */

static struct cvl_value sort_perform(struct cvl_context *c, const struct sorting *s,
                                     enum call_kind kind, enum cvl_op op, struct cvl_value v) {
  struct cvl_call call = {.kind = kind, .op = op, .count = 2, .operand = {v, s->view->local}};
  struct cvl_value out[CALL_RESULTS];
  inner_call(c, &call, NULL, at_site(s->site), out);
  return out[0];
}

static struct cvl_value sorted_block(struct cvl_context *c, const struct sorting *s,
                                     struct cvl_value v) {
  const bool down = s->call->op == OP_RANK_DOWN || s->call->op == OP_SORT_DOWN;
  return sort_perform(c, s, CALL_SORT, down ? OP_SORT_DOWN : OP_SORT_UP, v);
}

static struct cvl_value owned(struct cvl_value v) {
  v.owned = v.form != CVL_NOTHING;
  return v;
}

/* ---- between ranks ---- */

static void sort_count(struct cvl_context *c, struct sorting *s, const uint64_t *cuts) {
  for (unsigned r = 0; r < c->ranks; r++) {
    s->out[r] = cuts[(r + 1) * c->ranks + c->rank] - cuts[r * c->ranks + c->rank];
    s->in[r] = cuts[(c->rank + 1) * c->ranks + r] - cuts[c->rank * c->ranks + r];
  }
}

/* Returns the elements that are in this rank's block when each segment is in order over all
 * ranks, sorted by the ranks they come from: an owned inner vector. */
static struct cvl_value sort_distribute(struct cvl_context *c, struct sorting *s,
                                        struct cvl_value sorted) {
  char *data = host_elements(c, s->site, sorted, s->block.n, s->bytes);
  uint64_t *keys = keys_of(c, s, data);
  uint64_t *cuts = splitters_find(c, s->view, keys);
  mpi_free(c, keys);
  sort_count(c, s, cuts);
  mpi_free(c, cuts);
  char *distributed = mpi_try_alloc(c, s->site, s->block.n * s->bytes);
  exchange_elements(c, s->bytes, data, s->out, distributed, s->in);
  const struct cvl_value v = device_elements(c, s->site, mpi_elem(&s->call->operand[0]),
                                             s->block.n, data ? distributed : NULL);
  mpi_free(c, data);
  mpi_free(c, distributed);
  return owned(v);
}

/* ---- RANK ---- */

static void add_to_first(const struct cvl_context *c, void *ranks, uint64_t n,
                         uint64_t before) {
  for (uint64_t i = 0; i < n; i++) {
    if (c->int_elem == CVL_I32) {
      ((int32_t *)ranks)[i] += (int32_t)before;
    } else {
      ((int64_t *)ranks)[i] += (int64_t)before;
    }
  }
}

/* Returns the ranks, in whole segments, of the elements distributed to this block; NULL:
 * poisoned. */
static void *sort_ranks_of(struct cvl_context *c, const struct sorting *s,
                           struct cvl_value distributed) {
  const struct cvl_value local = owned(sort_perform(c, s, CALL_RANK, s->call->op, distributed));
  void *ranks = host_elements(c, s->site, local, s->block.n, elem_info(c->int_elem)->bytes);
  if (ranks && view_comes_in(s->view, c->rank))
    add_to_first(c, ranks, view_within(s->view, s->view->segments.first, s->block),
                 s->block.first - s->view->borders[c->rank].begin);
  return ranks;
}

/* Sends ranks back to where the elements were, in the order there. Returns an owned inner
 * vector. */
static struct cvl_value send_back(struct cvl_context *c, const struct sorting *s, void *ranks) {
  const size_t bytes = elem_info(c->int_elem)->bytes;
  void *back = mpi_try_alloc(c, s->site, s->block.n * bytes);
  exchange_elements(c, bytes, ranks, s->in, back, s->out);
  const struct cvl_value v = device_elements(c, s->site, c->int_elem, s->block.n, back);
  mpi_free(c, back);
  return owned(v);
}

/* Returns the ranks in the order of the block: element i is the order[i]-th of its segment's
 * part. */
static struct cvl_value in_place(struct cvl_context *c, const struct sorting *s,
                                 struct cvl_value order, struct cvl_value ranks) {
  static const bool present[] = {true, true, false, false, true, true};
  struct cvl_call call = {
      .kind = CALL_PERMUTE,
      .op = OP_BPERMUTE,
      .count = 6,
      .operand = {ranks, order, nothing(), nothing(), s->view->local, s->view->local}};
  struct cvl_value out[CALL_RESULTS];
  inner_call(c, &call, present, at_site(s->site), out);
  return out[0];
}

static struct cvl_value ranked(struct cvl_context *c, struct sorting *s, struct cvl_value v) {
  struct cvl_value borrowed = v;
  borrowed.owned = 0;
  const struct cvl_value sorted = owned(sorted_block(c, s, borrowed));
  const struct cvl_value order = owned(sort_perform(c, s, CALL_RANK, s->call->op, v));
  void *ranks = sort_ranks_of(c, s, sort_distribute(c, s, sorted));
  const struct cvl_value back = send_back(c, s, ranks);
  mpi_free(c, ranks);
  return in_place(c, s, order, back);
}

/* ---- the calls ---- */

/* Checks that no segment has more elements than INTs can count. */
static bool sort_ranks_fit(struct cvl_context *c, const struct sorting *s) {
  const uint64_t most = c->int_elem == CVL_I32 ? INT32_MAX : INT64_MAX;
  const struct mpi_range segments = s->view->segments;
  bool fit = true;
  if (s->view->at->n <= most) return true;
  for (uint64_t k = segments.first; fit && k < segments.first + segments.n; k++) {
    const uint64_t n = view_offset(s->view, k + 1) - view_offset(s->view, k);
    fit = n <= most;
    if (fit) continue;
    fault_mine(c, (struct cvl_error){.kind = CVL_E_INT_RANGE,
                                     .site = s->site,
                                     .position = (int64_t)k,
                                     .value = (int64_t)n});
  }
  return all_true(c, fit);
}

bool sort_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  const bool ranks = call->kind == CALL_RANK;
  const enum cvl_elem elem = mpi_elem(&call->operand[0]);
  struct sorting s = {.call = call, .site = site, .view = view};
  struct cvl_value local = nothing();
  s.block = distribution_range(view->at, c->rank);
  s.bytes = elem_info(elem)->bytes;
  s.out = mpi_alloc(c, 2 * c->ranks * sizeof *s.out);
  s.in = s.out + c->ranks;
  if (sort_ranks_fit(c, &s)) {
    const struct cvl_value v = move_to(c, site, &call->operand[0], view->at, true);
    local = ranks ? ranked(c, &s, v)
                  : sorted_block(c, &s, sort_distribute(c, &s, owned(sorted_block(c, &s, v))));
  }
  *out = mpi_vector(c, ranks ? c->int_elem : elem, view->at->n, distribution_retain(view->at),
                    local);
  mpi_free(c, s.out);
  return true;
}
