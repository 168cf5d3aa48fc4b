/* permute.c - gathers and scatters between ranks, through the host's memory.
 *
 * Each rank computes from its indices the positions in the whole vector that its elements come
 * from or go to, and groups them by the ranks that have these. A gather sends positions and
 * gets elements; a scatter sends positions and elements, which their new owner puts down in the
 * order of their old positions, so that the highest one wins.
 */
#include "cvl-mpi/hosts.h"
#include "cvl-mpi/private.h"

#include <stdlib.h>
#include <string.h>

enum { NOT_SENT = -1 };

/* ---- one operation ---- */

struct permutation {
  const struct cvl_permute_args *a;
  uint64_t site;
  bool gathers;
  struct cvl_segdes *near, *far;    /* of the elements with indices; of what these count in */
  const struct view *view;          /* of `near` */
  uint64_t *begin;                  /* of the segments of the block: where these are in `far` */
  struct distribution *at, *far_at; /* where these elements are */
  struct range block;               /* of `at`, on this rank */
  size_t bytes;                     /* of an element */
  int64_t *positions;               /* of each element of the block, or NOT_SENT; NULL: lost */
  uint64_t *out, *in;               /* how many go to each rank, come from each, */
  uint64_t out_total, in_total;
  uint64_t *order;          /* the elements of the block that are sent, by rank; */
  uint64_t *wanted;         /* or of a gather a bit for each position that is wanted, */
  uint64_t *before;         /* and how many are wanted before each word of these */
  int64_t *sent, *received; /* positions, by rank: within the block of the owner */
};

/* The elements of an operand on this rank, if it lay as `at`. */
static void *block_of(struct cvl_context *c, const struct permutation *p,
                      const struct cvl_value *v, struct distribution *at, size_t bytes) {
  return host_elements(c, p->site, move_to(c, p->site, v, at, false),
                       distribution_range(at, c->rank).n, bytes);
}

/* ---- positions ---- */

static int64_t index_at(const struct cvl_context *c, const void *index, uint64_t i) {
  return c->int_elem == CVL_I32 ? ((const int32_t *)index)[i] : ((const int64_t *)index)[i];
}

/* Of an element of segment k of the block. False after a fault. */
static bool position_of(struct cvl_context *c, const struct permutation *p, uint64_t k,
                        uint64_t i, int64_t index, int64_t *position) {
  const uint64_t length = p->begin[k + 1] - p->begin[k];
  *position = (int64_t)p->begin[k] + index;
  if (index >= 0 && (uint64_t)index < length) return true;
  fault_mine(c, (struct cvl_error){.kind = CVL_E_INDEX,
                                   .site = p->site,
                                   .position = (int64_t)(p->block.first + i),
                                   .value = index,
                                   .limit = (int64_t)length,
                                   .segment = (int64_t)(p->view->segments.first + k)});
  return false;
}

static bool fill_positions(struct cvl_context *c, const struct permutation *p,
                           const void *index, const uint8_t *flags) {
  const struct range s = p->view->segments;
  uint64_t i = 0;
  for (uint64_t k = 0; k < s.n; k++) {
    for (uint64_t n = view_within(p->view, s.first + k, p->block); n > 0; n--, i++) {
      p->positions[i] = NOT_SENT;
      if (flags && !flags[i]) continue;
      if (!position_of(c, p, k, i, index_at(c, index, i), &p->positions[i])) return false;
    }
  }
  return true;
}

/* Sets p->positions, to NULL if they cannot be had. */
static void find_positions(struct cvl_context *c, struct permutation *p) {
  const bool flagged = p->a->flags.form != CVL_NOTHING;
  void *index = block_of(c, p, &p->a->index, p->at, elem_info(c->int_elem)->bytes);
  uint8_t *flags = flagged ? block_of(c, p, &p->a->flags, p->at, 1) : NULL;
  p->positions = mpi_try_alloc(c, p->site, p->block.n * sizeof *p->positions);
  const bool have = index && (flags || !flagged) && p->positions && p->begin;
  if (!have || !fill_positions(c, p, index, flags)) {
    free(p->positions);
    p->positions = NULL;
  }
  free(index);
  free(flags);
}

/* ---- who has them ---- */

static uint64_t sum(const struct cvl_context *c, const uint64_t *counts) {
  uint64_t total = 0;
  for (unsigned r = 0; r < c->ranks; r++) total += counts[r];
  return total;
}

static void count_out(struct cvl_context *c, struct permutation *p) {
  for (uint64_t i = 0; p->positions && i < p->block.n; i++) {
    if (p->positions[i] >= 0)
      p->out[distribution_owner(p->far_at, (uint64_t)p->positions[i])]++;
  }
  p->out_total = sum(c, p->out);
}

/* Groups the elements of the block by their ranks, in order. */
static bool group(struct cvl_context *c, struct permutation *p) {
  uint64_t *next = mpi_alloc(c, c->ranks * sizeof *next);
  p->order = mpi_try_alloc(c, p->site, p->out_total * sizeof *p->order);
  p->sent = mpi_try_alloc(c, p->site, p->out_total * sizeof *p->sent);
  const bool have = p->order && p->sent;
  for (unsigned r = 1; r < c->ranks; r++) next[r] = next[r - 1] + p->out[r - 1];
  for (uint64_t i = 0; have && p->positions && i < p->block.n; i++) {
    if (p->positions[i] < 0) continue;
    const unsigned r = distribution_owner(p->far_at, (uint64_t)p->positions[i]);
    p->sent[next[r]] = p->positions[i] - (int64_t)p->far_at->start[r];
    p->order[next[r]++] = i;
  }
  free(next);
  return have;
}

/* ---- each position once ---- */

enum { BITS = 64, MANY = 32 };

static uint64_t words_of(const struct permutation *p) {
  return p->far->total / BITS + 1;
}

/* Which request a position is. */
static uint64_t request_of(const struct permutation *p, uint64_t position) {
  const uint64_t word = position / BITS, below = (UINT64_C(1) << position % BITS) - 1;
  return p->before[word] + (uint64_t)__builtin_popcountll(p->wanted[word] & below);
}

static void mark_wanted(struct permutation *p) {
  uint64_t count = 0;
  for (uint64_t i = 0; i < p->block.n; i++) {
    const uint64_t position = (uint64_t)p->positions[i];
    if (p->positions[i] >= 0) p->wanted[position / BITS] |= UINT64_C(1) << position % BITS;
  }
  for (uint64_t w = 0; w < words_of(p); w++) {
    p->before[w] = count;
    count += (uint64_t)__builtin_popcountll(p->wanted[w]);
  }
  p->out_total = count;
}

/* Positions in order, which is by ranks. */
static void list_wanted(struct permutation *p) {
  uint64_t k = 0;
  unsigned r = 0;
  for (uint64_t w = 0; w < words_of(p); w++) {
    for (uint64_t bits = p->wanted[w]; bits; bits &= bits - 1) {
      const uint64_t position = w * BITS + (uint64_t)__builtin_ctzll(bits);
      while (position >= p->far_at->start[r + 1]) r++;
      p->sent[k++] = (int64_t)(position - p->far_at->start[r]);
      p->out[r]++;
    }
  }
}

/* A gather asks for each position once, where the bits take no more than the elements. False if
 * it is to ask for each element: then nothing has been done. */
static bool ask_once(struct permutation *p) {
  if (!p->gathers || !p->positions || p->far->total / MANY > p->block.n) return false;
  p->wanted = calloc(2 * words_of(p), sizeof *p->wanted);
  if (!p->wanted) return false;
  p->before = p->wanted + words_of(p);
  mark_wanted(p);
  p->sent = malloc((p->out_total + 1) * sizeof *p->sent);
  if (p->sent) {
    list_wanted(p);
    return true;
  }
  free(p->wanted);
  p->wanted = NULL;
  p->out_total = 0;
  return false;
}

/* ---- exchanges ---- */

/* Tells each rank which of its elements are meant. A rank without memory sends nothing. */
static void send_positions(struct cvl_context *c, struct permutation *p) {
  const bool once = ask_once(p);
  if (!once) count_out(c, p);
  if (!once && !group(c, p)) {
    for (unsigned r = 0; r < c->ranks; r++) p->out[r] = 0;
    p->out_total = 0;
    free(p->positions);
    p->positions = NULL;
  }
  comm_transpose(c->comm, p->out, p->in);
  p->in_total = sum(c, p->in);
  p->received = mpi_try_alloc(c, p->site, p->in_total * sizeof *p->received);
  exchange_elements(c, sizeof *p->sent, p->sent, p->out, p->received, p->in);
}

static void copy_element(char *to, uint64_t i, const char *from, uint64_t k, size_t bytes) {
  switch (bytes) {
  case 1: to[i] = from[k]; return;
  case 4: memcpy(to + 4 * i, from + 4 * k, 4); return;
  default: memcpy(to + 8 * i, from + 8 * k, 8); return;
  }
}

static struct cvl_value uploaded(struct cvl_context *c, const struct permutation *p, uint64_t n,
                                 const char *data) {
  return device_elements(c, p->site, mpi_elem(&p->a->values), n, data);
}

/* ---- gathers ---- */

/* The elements that others have asked for; NULL: lost. */
static char *answer(struct cvl_context *c, const struct permutation *p) {
  char *values = block_of(c, p, &p->a->values, p->far_at, p->bytes);
  char *out = mpi_try_alloc(c, p->site, p->in_total * p->bytes);
  for (uint64_t i = 0; values && out && p->received && i < p->in_total; i++)
    copy_element(out, i, values, (uint64_t)p->received[i], p->bytes);
  const bool good = values && p->received;
  free(values);
  if (good || !out) return out;
  free(out);
  return NULL;
}

/* Puts what was asked for where it is wanted. */
static void take_answers(const struct permutation *p, char *block, const char *got) {
  for (uint64_t k = 0; !p->wanted && k < p->out_total; k++)
    copy_element(block, p->order[k], got, k, p->bytes);
  for (uint64_t i = 0; p->wanted && i < p->block.n; i++) {
    if (p->positions[i] < 0) continue;
    copy_element(block, i, got, request_of(p, (uint64_t)p->positions[i]), p->bytes);
  }
}

static struct cvl_value gather(struct cvl_context *c, struct permutation *p) {
  char *answers = answer(c, p), *got = mpi_try_alloc(c, p->site, p->out_total * p->bytes);
  char *block = p->positions ? mpi_try_alloc(c, p->site, p->block.n * p->bytes) : NULL;
  exchange_elements(c, p->bytes, answers, p->in, got, p->out);
  if (block) memset(block, 0, p->block.n * p->bytes);
  if (block && got) take_answers(p, block, got);
  const struct cvl_value v = uploaded(c, p, p->block.n, got ? block : NULL);
  free(answers);
  free(got);
  free(block);
  return v;
}

/* ---- scatters ---- */

/* What this rank's block is before anything is put there. */
static char *begun(struct cvl_context *c, const struct permutation *p, uint64_t n) {
  if (p->a->defaults.form != CVL_NOTHING)
    return block_of(c, p, &p->a->defaults, p->far_at, p->bytes);
  char *block = mpi_try_alloc(c, p->site, n * p->bytes);
  if (block) memset(block, 0, n * p->bytes);
  return block;
}

/* The elements of the block that are sent, by rank; NULL: lost. */
static char *sent_values(struct cvl_context *c, const struct permutation *p) {
  char *values = block_of(c, p, &p->a->values, p->at, p->bytes);
  char *out = mpi_try_alloc(c, p->site, p->out_total * p->bytes);
  for (uint64_t k = 0; values && out && k < p->out_total; k++)
    copy_element(out, k, values, p->order[k], p->bytes);
  if (!values) {
    free(out);
    out = NULL;
  }
  free(values);
  return out;
}

/* The segment of this rank's block that has a position. */
static uint64_t segment_at(const struct view *v, uint64_t position) {
  uint64_t low = 0, high = v->segments.n;
  while (high - low > 1) {
    const uint64_t k = low + (high - low) / 2;
    if (v->offset[k] <= position) {
      low = k;
    } else {
      high = k;
    }
  }
  return low;
}

/* Position `to` of this rank's block is used again, by the element at `where`. */
static void note_duplicate(struct cvl_context *c, const struct permutation *p,
                           const struct view *far, uint64_t to, int64_t where) {
  const uint64_t position = p->far_at->start[c->rank] + to;
  const uint64_t k = segment_at(far, position);
  fault_mine(c, (struct cvl_error){.kind = CVL_E_DUPLICATE,
                                   .site = p->site,
                                   .position = where,
                                   .value = (int64_t)(position - far->offset[k]),
                                   .segment = (int64_t)(far->segments.first + k)});
}

/* Of PERMUTE: each position may be used once. What has come to a position that was used before
 * is a fault, if `where`, the elements' own positions, are known, and a view of `far`; else it
 * is only found. */
static bool check_once(struct cvl_context *c, const struct permutation *p, uint64_t n,
                       const struct view *far, const int64_t *where) {
  bool once = true;
  uint8_t *used = mpi_try_alloc(c, p->site, n);
  if (!used) return true;
  memset(used, 0, n);
  for (uint64_t i = 0; p->received && i < p->in_total; i++) {
    const uint64_t to = (uint64_t)p->received[i];
    once = once && !used[to];
    if (used[to] && where) note_duplicate(c, p, far, to, where[i]);
    used[to] = 1;
  }
  free(used);
  return once;
}

/* Only where some position is used twice does anybody need to know where elements come from. */
static void check_permutation(struct cvl_context *c, const struct permutation *p, uint64_t n) {
  if (all_true(c, check_once(c, p, n, NULL, NULL))) return;
  const struct view *far = segdes_view(c, p->site, p->far, p->far_at);
  int64_t *mine = mpi_try_alloc(c, p->site, p->out_total * sizeof *mine);
  int64_t *where = mpi_try_alloc(c, p->site, p->in_total * sizeof *where);
  for (uint64_t k = 0; mine && k < p->out_total; k++)
    mine[k] = (int64_t)(p->block.first + p->order[k]);
  exchange_elements(c, sizeof *mine, mine, p->out, where, p->in);
  if (where && far) check_once(c, p, n, far, where);
  free(mine);
  free(where);
}

static struct cvl_value scatter(struct cvl_context *c, struct permutation *p) {
  const uint64_t n = distribution_range(p->far_at, c->rank).n;
  char *block = begun(c, p, n), *out = sent_values(c, p);
  char *in = mpi_try_alloc(c, p->site, p->in_total * p->bytes);
  exchange_elements(c, p->bytes, out, p->out, in, p->in);
  if (p->a->op == OP_PERMUTE) check_permutation(c, p, n);
  for (uint64_t i = 0; block && in && p->received && i < p->in_total; i++)
    copy_element(block, (uint64_t)p->received[i], in, i, p->bytes);
  const struct cvl_value v = uploaded(c, p, n, in && p->received ? block : NULL);
  free(block);
  free(out);
  free(in);
  return v;
}

/* ---- gathers from sources of which every rank can have what it may want ---- */

/* The elements of each rank's segments; NULL if they are too many. */
static struct range *near_elements(struct cvl_context *c, const struct permutation *p,
                                   const struct range *segments) {
  struct range *elements = mpi_alloc(c, c->ranks * sizeof *elements);
  memcpy(elements, segments, c->ranks * sizeof *elements);
  segdes_ranges(c, p->far, elements);
  if (within_share(c, elements, p->near->total)) return elements;
  free(elements);
  return NULL;
}

static struct cvl_value flags_of_block(struct cvl_context *c, const struct permutation *p) {
  if (p->a->flags.form == CVL_NOTHING) return nothing();
  return move_to(c, p->site, &p->a->flags, p->at, false);
}

/* Each rank by itself, from those elements. */
static struct cvl_value gather_near(struct cvl_context *c, const struct permutation *p,
                                    const struct range *segments,
                                    const struct range *elements) {
  const bool one = p->near->count == 1, flagged = p->a->flags.form != CVL_NOTHING;
  const bool present[CALL_OPERANDS] = {true, true, flagged, false, true, true};
  const struct range block = distribution_range(p->at, c->rank);
  struct cvl_value out[CALL_RESULTS];
  const struct cvl_call inner = {.kind = CALL_PERMUTE,
                                 .op = p->a->op,
                                 .count = CALL_OPERANDS,
                                 .operand = {move_ranges(c, p->site, &p->a->values, elements),
                                             move_to(c, p->site, &p->a->index, p->at, false),
                                             flags_of_block(c, p), nothing(),
                                             segdes_segments(c, p->site, &p->a->s, segments),
                                             one ? cvl_one_segment(block.n) : p->view->local}};
  inner_call(c, &inner, present,
             (struct shift){p->site, 1, block.first, one ? 0 : p->view->segments.first}, out);
  return settled(c, p->site, mpi_elem(&p->a->values), distribution_retain(p->at), out[0]);
}

/* False if sources are far. */
static bool try_near(struct cvl_context *c, const struct permutation *p,
                     struct cvl_value *out) {
  struct range *segments = p->near->count == 1 ? ranges_same(c, 0, 1) : view_ranges(c, p->view);
  struct range *elements = near_elements(c, p, segments);
  if (elements) *out = gather_near(c, p, segments, elements);
  free(segments);
  free(elements);
  return elements != NULL;
}

/* ---- the operation ---- */

/* Where elements are, or were if they did not fit on all ranks. */
static struct distribution *lies(struct cvl_context *c, const struct cvl_value *v, uint64_t n) {
  struct distribution *at = v->form == CVL_NOTHING ? NULL : mpi_at(v);
  return at ? distribution_retain(at) : distribution_canonical(c, n);
}

static bool on_all_ranks(const struct cvl_context *c, const struct cvl_permute_args *a) {
  return !mpi_at(&a->values) && !mpi_at(&a->index) && is_whole(c, mpi_length(&a->d));
}

/* Where the segments are that the block of each rank has elements of. */
static uint64_t *find_begin(struct cvl_context *c, const struct permutation *p) {
  struct range *ranges = view_ranges(c, p->view);
  uint64_t *begin = segdes_offsets(c, p->site, p->far, ranges);
  free(ranges);
  return begin;
}

static void run(struct cvl_context *c, struct permutation *p, struct cvl_value *out) {
  const struct cvl_value *far = p->gathers ? &p->a->values : &p->a->defaults;
  p->far_at = lies(c, far, p->far->total);
  p->begin = find_begin(c, p);
  p->block = distribution_range(p->at, c->rank);
  p->bytes = elem_info(mpi_elem(&p->a->values))->bytes;
  p->out = mpi_alloc(c, 2 * c->ranks * sizeof *p->out);
  p->in = p->out + c->ranks;
  find_positions(c, p);
  send_positions(c, p);
  struct distribution *to = p->gathers ? p->at : p->far_at;
  const struct cvl_value local = p->gathers ? gather(c, p) : scatter(c, p);
  *out = settled(c, p->site, mpi_elem(&p->a->values), distribution_retain(to), local);
  distribution_release(p->far_at);
  free(p->begin);
  free(p->positions);
  free(p->out);
  free(p->order);
  free(p->wanted);
  free(p->sent);
  free(p->received);
}

bool permute_call(struct cvl_context *c, uint64_t site, const struct cvl_permute_args *a,
                  struct cvl_value *out) {
  struct one_segment ones[2];
  struct permutation p = {.a = a, .site = site};
  p.gathers = a->op == OP_BPERMUTE || a->op == OP_BFPERMUTE;
  struct cvl_segdes *s = segdes_of(&a->s, &ones[0]), *d = segdes_of(&a->d, &ones[1]);
  if (on_all_ranks(c, a) || !segdes_is_known(c, site, s) || !segdes_is_known(c, site, d))
    return false;
  p.near = p.gathers ? d : s;
  p.far = p.gathers ? s : d;
  p.at = lies(c, &a->index, p.near->total);
  p.view = segdes_view(c, site, p.near, p.at);
  if (p.view && !(p.gathers && try_near(c, &p, out))) run(c, &p, out);
  distribution_release(p.at);
  for (unsigned k = 0; k < 2; k++) {
    if (s == &ones[k].d || d == &ones[k].d) segdes_drop_views(c, &ones[k].d);
  }
  return p.view != NULL;
}

/* ---- elements of segments that are too long for one rank ---- */

/* A descriptor of one element for each segment of d. */
static struct cvl_value one_each(struct cvl_context *c, uint64_t site,
                                 const struct cvl_segdes *d) {
  if (d->count == 1) return cvl_one_segment(1);
  struct distribution *at = distribution_canonical(c, d->count);
  const uint64_t n = distribution_range(at, c->rank).n;
  int64_t *ones = mpi_try_alloc(c, site, (n + 1) * sizeof *ones);
  for (uint64_t k = 0; ones && k < n; k++) ones[k] = 1;
  return segdes_of_lengths(c, site, at, ones, NULL);
}

/* EXTRACT is a gather, REPLACE a scatter over v, of one element for each segment. */
bool element_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
                  struct cvl_segdes *d, struct cvl_value *out) {
  const bool gathers = call->kind == CALL_EXTRACT;
  const struct cvl_value *o = call->operand, all = o[call->count - 1],
                         each = one_each(c, site, d);
  const struct cvl_permute_args a = {.op = gathers ? OP_BPERMUTE : OP_DPERMUTE,
                                     .values = o[gathers ? 0 : 2],
                                     .index = o[1],
                                     .defaults = gathers ? nothing() : o[0],
                                     .s = gathers ? all : each,
                                     .d = gathers ? each : all};
  const bool done = permute_call(c, site, &a, out);
  mpi_release(c, &each);
  return done;
}
