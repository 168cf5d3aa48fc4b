/* permute.c - gathers and scatters between ranks, through the host's memory.
 *
 * From its indices each rank computes the positions, in the whole vector, that its elements
 * come from or go to. It groups them by the ranks that have these positions. A gather sends
 * positions and gets elements. A scatter sends positions and elements; their new owner writes
 * them in the order of their old positions, so that the highest one wins.
 */
#include "cvl-mpi/operations/permute.h"

#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/descriptors.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

/* Returns this rank's elements of an operand, as if it lay as `at`. */
static void *permute_block_of(struct cvl_context *c, const struct permutation *p,
                              const struct cvl_value *v, struct distribution *at,
                              size_t bytes) {
  return host_elements(c, p->site, move_to(c, p->site, v, at, false),
                       distribution_range(at, c->rank).n, bytes);
}

/* ---- positions ---- */

struct reading reading_begin(struct cvl_context *c, const struct permutation *p) {
  const struct cvl_permute *a = p->a;
  const bool flagged = a->flags.form != CVL_NOTHING;
  struct reading r = {.narrow = c->int_elem == CVL_I32};
  r.read[0] = host_elements_of(c, p->site, move_to(c, p->site, &a->index, p->at, false),
                               p->block.n, elem_info(c->int_elem)->bytes);
  if (flagged)
    r.read[1] = host_elements_of(c, p->site, move_to(c, p->site, &a->flags, p->at, false),
                                 p->block.n, 1);
  r.index = r.read[0].data;
  r.flags = r.read[1].data;
  r.there = r.index && (r.flags || !flagged);
  return r;
}

void reading_end(struct cvl_context *c, struct reading *r) {
  host_elements_end(c, &r->read[0]);
  host_elements_end(c, &r->read[1]);
}

void fault_index(struct cvl_context *c, const struct permutation *p, uint64_t k, uint64_t i,
                 int64_t index) {
  fault_mine(c, (struct cvl_error){.kind = CVL_E_INDEX,
                                   .site = p->site,
                                   .position = (int64_t)(p->block.first + i),
                                   .value = index,
                                   .limit = (int64_t)(p->begin[k + 1] - p->begin[k]),
                                   .segment = (int64_t)(p->view->segments.first + k)});
}

static bool fill_positions(struct cvl_context *c, const struct permutation *p,
                           const struct reading *r) {
  const struct mpi_range s = p->view->segments;
  uint64_t i = 0;
  for (uint64_t k = 0; k < s.n; k++) {
    const uint64_t end = i + view_within(p->view, s.first + k, p->block);
    for (; i < end; i++) {
      p->positions[i] = NOT_SENT;
      if (r->flags && !r->flags[i]) continue;
      const int64_t index = index_at(r, i);
      if (!is_inside(p, k, index)) {
        fault_index(c, p, k, i, index);
        return false;
      }
      p->positions[i] = (int64_t)p->begin[k] + index;
    }
  }
  return true;
}

void find_positions(struct cvl_context *c, struct permutation *p, const struct reading *r) {
  p->positions = mpi_try_alloc(c, p->site, p->block.n * sizeof *p->positions);
  if (!r->there || !p->positions || !p->begin || !fill_positions(c, p, r)) {
    mpi_free(c, p->positions);
    p->positions = NULL;
  }
}

/* ---- owners ---- */

static uint64_t permute_sum(const struct cvl_context *c, const uint64_t *counts) {
  uint64_t total = 0;
  for (unsigned r = 0; r < c->ranks; r++) total += counts[r];
  return total;
}

/* Returns the owner of a position; `near` is a first guess. */
static unsigned owner_near(const struct distribution *at, uint64_t position, unsigned near) {
  if (position >= at->start[near] && position < at->start[near + 1]) return near;
  return distribution_owner(at, position);
}

static void count_out(struct cvl_context *c, struct permutation *p) {
  unsigned r = 0;
  for (uint64_t i = 0; p->positions && i < p->block.n; i++) {
    if (p->positions[i] < 0) continue;
    r = owner_near(p->far_at, (uint64_t)p->positions[i], r);
    p->out[r]++;
  }
  p->out_total = permute_sum(c, p->out);
}

/* Groups the elements of the block by the owners of their positions, in order. */
static void fill_groups(struct cvl_context *c, const struct permutation *p) {
  uint64_t *next = mpi_alloc(c, c->ranks * sizeof *next);
  unsigned r = 0;
  for (unsigned k = 1; k < c->ranks; k++) next[k] = next[k - 1] + p->out[k - 1];
  for (uint64_t i = 0; p->positions && i < p->block.n; i++) {
    if (p->positions[i] < 0) continue;
    const uint64_t position = (uint64_t)p->positions[i];
    r = owner_near(p->far_at, position, r);
    put_position(p, p->sent, next[r], position - p->far_at->start[r]);
    p->order[next[r]++] = i;
  }
  mpi_free(c, next);
}

void group_positions(struct cvl_context *c, struct permutation *p) {
  count_out(c, p);
  p->order = mpi_try_alloc(c, p->site, p->out_total * sizeof *p->order);
  p->sent = mpi_try_alloc(c, p->site, p->out_total * p->wide);
  if (p->order && p->sent) {
    fill_groups(c, p);
    return;
  }
  for (unsigned r = 0; r < c->ranks; r++) p->out[r] = 0;
  p->out_total = 0;
  mpi_free(c, p->positions);
  p->positions = NULL;
}

/* ---- scatters ---- */

/* Returns this rank's block before elements are written: the defaults, or zeros. */
static char *begun(struct cvl_context *c, const struct permutation *p, uint64_t n) {
  if (p->a->defaults.form != CVL_NOTHING)
    return permute_block_of(c, p, &p->a->defaults, p->far_at, p->bytes);
  char *block = mpi_try_alloc(c, p->site, n * p->bytes);
  if (block) memset(block, 0, n * p->bytes);
  return block;
}

/* Returns the elements of the block that are sent, by rank; NULL: poisoned. */
static char *sent_values(struct cvl_context *c, const struct permutation *p) {
  char *values = permute_block_of(c, p, &p->a->values, p->at, p->bytes);
  char *out = mpi_try_alloc(c, p->site, p->out_total * p->bytes);
  for (uint64_t k = 0; values && out && k < p->out_total; k++)
    copy_element(out, k, values, p->order[k], p->bytes);
  if (!values) {
    mpi_free(c, out);
    out = NULL;
  }
  mpi_free(c, values);
  return out;
}

/* Records the fault that position `to` of this rank's block is used again, by the element at
 * `where`. */
static void note_duplicate(struct cvl_context *c, const struct permutation *p,
                           const struct view *far, uint64_t to, int64_t where) {
  const uint64_t position = p->far_at->start[c->rank] + to;
  const uint64_t k = view_segment_at(far, position);
  fault_mine(c, (struct cvl_error){.kind = CVL_E_DUPLICATE,
                                   .site = p->site,
                                   .position = where,
                                   .value = (int64_t)(position - far->offset[k]),
                                   .segment = (int64_t)(far->segments.first + k)});
}

/* Tells whether PERMUTE uses each position at most once. If `where`, the elements' own
 * positions, and the view `far` are given, an element that comes to a used position is
 * recorded as a fault. */
static bool check_once(struct cvl_context *c, const struct permutation *p, const void *received,
                       uint64_t n, const struct view *far, const int64_t *where) {
  bool once = true;
  uint8_t *used = mpi_try_alloc(c, p->site, n);
  if (!used) return true;
  memset(used, 0, n);
  for (uint64_t i = 0; received && i < p->in_total; i++) {
    const uint64_t to = position_at(p, received, i);
    once = once && !used[to];
    if (used[to] && where) note_duplicate(c, p, far, to, where[i]);
    used[to] = 1;
  }
  mpi_free(c, used);
  return once;
}

/* Checks that PERMUTE uses no position twice. Only if one is used twice do ranks exchange
 * where elements come from. */
static void check_permutation(struct cvl_context *c, const struct permutation *p,
                              const void *received, uint64_t n) {
  if (all_true(c, check_once(c, p, received, n, NULL, NULL))) return;
  const struct view *far = segdes_view(c, p->site, p->far, p->far_at);
  int64_t *mine = mpi_try_alloc(c, p->site, p->out_total * sizeof *mine);
  int64_t *where = mpi_try_alloc(c, p->site, p->in_total * sizeof *where);
  for (uint64_t k = 0; mine && k < p->out_total; k++)
    mine[k] = (int64_t)(p->block.first + p->order[k]);
  exchange_elements(c, sizeof *mine, mine, p->out, where, p->in);
  if (where && far) check_once(c, p, received, n, far, where);
  mpi_free(c, mine);
  mpi_free(c, where);
}

/* Sends each rank the positions of its elements that are meant. Returns the positions that
 * this rank receives, or NULL if memory runs out. */
static void *send_positions(struct cvl_context *c, struct permutation *p) {
  struct reading r = reading_begin(c, p);
  find_positions(c, p, &r);
  reading_end(c, &r);
  group_positions(c, p);
  comm_transpose(c->comm, p->out, p->in);
  p->in_total = permute_sum(c, p->in);
  void *received = mpi_try_alloc(c, p->site, p->in_total * p->wide);
  exchange_elements(c, p->wide, p->sent, p->out, received, p->in);
  return received;
}

static struct cvl_value permute_scatter(struct cvl_context *c, struct permutation *p) {
  void *received = send_positions(c, p);
  const uint64_t n = distribution_range(p->far_at, c->rank).n;
  char *block = begun(c, p, n), *out = sent_values(c, p);
  char *in = mpi_try_alloc(c, p->site, p->in_total * p->bytes);
  exchange_elements(c, p->bytes, out, p->out, in, p->in);
  if (p->op == OP_PERMUTE) check_permutation(c, p, received, n);
  for (uint64_t i = 0; block && in && received && i < p->in_total; i++)
    copy_element(block, position_at(p, received, i), in, i, p->bytes);
  const struct cvl_value v =
      device_elements(c, p->site, mpi_elem(&p->a->values), n, in && received ? block : NULL);
  mpi_free(c, received);
  mpi_free(c, block);
  mpi_free(c, out);
  mpi_free(c, in);
  return v;
}

/* ---- gathers where every rank can get all elements that it may want ---- */

/* Returns the elements of each rank's segments; NULL if they are too many. */
static struct mpi_range *near_elements(struct cvl_context *c, const struct permutation *p,
                                       const struct mpi_range *segments) {
  struct mpi_range *elements = mpi_alloc(c, c->ranks * sizeof *elements);
  memcpy(elements, segments, c->ranks * sizeof *elements);
  segdes_ranges(c, p->far, elements);
  if (within_share(c, elements, p->near->total)) return elements;
  mpi_free(c, elements);
  return NULL;
}

static struct cvl_value flags_of_block(struct cvl_context *c, const struct permutation *p) {
  if (p->a->flags.form == CVL_NOTHING) return nothing();
  return move_to(c, p->site, &p->a->flags, p->at, false);
}

/* Gathers on each rank from those elements. */
static struct cvl_value gather_near(struct cvl_context *c, const struct permutation *p,
                                    const struct mpi_range *segments,
                                    const struct mpi_range *elements) {
  const bool one = p->near->count == 1, flagged = p->a->flags.form != CVL_NOTHING;
  const bool present[CALL_OPERANDS] = {true, true, flagged, false, true, true};
  const struct mpi_range block = distribution_range(p->at, c->rank);
  struct cvl_value out[CALL_RESULTS];
  const struct cvl_call inner = {.kind = CALL_PERMUTE,
                                 .op = p->op,
                                 .count = CALL_OPERANDS,
                                 .operand = {move_kept(c, p->site, &p->a->values, elements),
                                             move_to(c, p->site, &p->a->index, p->at, false),
                                             flags_of_block(c, p), nothing(),
                                             segdes_segments(c, p->site, &p->a->s, segments),
                                             one ? cvl_one_segment(block.n) : p->view->local}};
  inner_call(c, &inner, present,
             (struct shift){p->site, 1, block.first, one ? 0 : p->view->segments.first}, out);
  return settled(c, p->site, mpi_elem(&p->a->values), distribution_retain(p->at), out[0]);
}

/* Returns false if sources are far. */
static bool permute_try_near(struct cvl_context *c, const struct permutation *p,
                             struct cvl_value *out) {
  struct mpi_range *segments =
      p->near->count == 1 ? ranges_same(c, 0, 1) : view_ranges(c, p->view);
  struct mpi_range *elements = near_elements(c, p, segments);
  if (elements) *out = gather_near(c, p, segments, elements);
  mpi_free(c, segments);
  mpi_free(c, elements);
  return elements != NULL;
}

/* ---- the operation ---- */

/* Returns the distribution of a value, or the canonical one if the value is on all ranks. */
static struct distribution *lies(struct cvl_context *c, const struct cvl_value *v, uint64_t n) {
  struct distribution *at = v->form == CVL_NOTHING ? NULL : mpi_at(v);
  return at ? distribution_retain(at) : distribution_canonical(c, n);
}

static bool on_all_ranks(const struct cvl_context *c, const struct cvl_permute *a) {
  return !mpi_at(&a->values) && !mpi_at(&a->index) && is_whole(c, mpi_length(&a->d));
}

/* Returns where the segments of this rank's block begin in `far`. */
static uint64_t *find_begin(struct cvl_context *c, const struct permutation *p) {
  struct mpi_range *ranges = view_ranges(c, p->view);
  uint64_t *begin = segdes_offsets(c, p->site, p->far, ranges);
  mpi_free(c, ranges);
  return begin;
}

/* Returns whether 32 bits suffice for positions within blocks. */
static bool narrow_blocks(const struct cvl_context *c, const struct distribution *at) {
  for (unsigned r = 0; r < c->ranks; r++) {
    if (distribution_range(at, r).n > UINT32_MAX) return false;
  }
  return true;
}

static void permute_run(struct cvl_context *c, struct permutation *p, struct cvl_value *out) {
  const struct cvl_value *far = p->gathers ? &p->a->values : &p->a->defaults;
  p->far_at = lies(c, far, p->far->total);
  p->begin = find_begin(c, p);
  p->block = distribution_range(p->at, c->rank);
  p->bytes = elem_info(mpi_elem(&p->a->values))->bytes;
  p->out = mpi_alloc(c, 2 * c->ranks * sizeof *p->out);
  p->in = p->out + c->ranks;
  p->wide = narrow_blocks(c, p->far_at) ? sizeof(uint32_t) : sizeof(uint64_t);
  struct distribution *to = p->gathers ? p->at : p->far_at;
  const struct cvl_value local = p->gathers ? gather(c, p) : permute_scatter(c, p);
  *out = settled(c, p->site, mpi_elem(&p->a->values), distribution_retain(to), local);
  distribution_release(p->far_at);
  mpi_free(c, p->begin);
  mpi_free(c, p->positions);
  mpi_free(c, p->out);
  mpi_free(c, p->order);
  mpi_free(c, p->sent);
}

bool permute_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                  struct cvl_value *out) {
  struct one_segment ones[2];
  const struct cvl_permute *a = &call->permute;
  struct permutation p = {.op = call->op, .a = a, .site = site};
  p.gathers = p.op == OP_BPERMUTE || p.op == OP_BFPERMUTE;
  struct cvl_segdes *s = segdes_of(&a->s, &ones[0]), *d = segdes_of(&a->d, &ones[1]);
  if (on_all_ranks(c, a) || !segdes_is_known(c, site, s) || !segdes_is_known(c, site, d))
    return false;
  p.near = p.gathers ? d : s;
  p.far = p.gathers ? s : d;
  p.at = lies(c, &a->index, p.near->total);
  p.view = segdes_view(c, site, p.near, p.at);
  if (p.view && !(p.gathers && permute_try_near(c, &p, out))) permute_run(c, &p, out);
  distribution_release(p.at);
  for (unsigned k = 0; k < 2; k++) {
    if (s == &ones[k].d || d == &ones[k].d) segdes_drop_views(c, &ones[k].d);
  }
  return p.view != NULL;
}

/* ---- elements of segments that are too long for one rank ---- */

/* Returns a descriptor with one element for each segment of d. */
static struct cvl_value one_each(struct cvl_context *c, uint64_t site,
                                 const struct cvl_segdes *d) {
  if (d->count == 1) return cvl_one_segment(1);
  struct distribution *at = distribution_canonical(c, d->count);
  const uint64_t n = distribution_range(at, c->rank).n;
  int64_t *ones = mpi_try_alloc(c, site, (n + 1) * sizeof *ones);
  for (uint64_t k = 0; ones && k < n; k++) ones[k] = 1;
  return segdes_of_lengths(c, site, at, ones, NULL);
}

/* Executes EXTRACT as a gather, and REPLACE as a scatter over v, of one element for each
 * segment. */
bool element_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                  struct cvl_segdes *d, struct cvl_value *out) {
  const bool gathers = call->kind == CALL_EXTRACT;
  const struct cvl_value *o = call->operand, all = o[call->count - 1],
                         each = one_each(c, site, d);
  const struct cvl_value values = o[gathers ? 0 : 2], defaults = gathers ? nothing() : o[0];
  const struct cvl_call move =
      CVL_CALL(CALL_PERMUTE, gathers ? OP_BPERMUTE : OP_DPERMUTE, values, o[1], nothing(),
               defaults, gathers ? all : each, gathers ? each : all);
  const bool done = permute_call(c, site, &move, out);
  mpi_release(c, &each);
  return done;
}
