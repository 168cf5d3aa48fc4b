/* tree.c - scans of FLOATs in segments that cross ranks, in the order of the tree of trees.h.
 *
 * Blocks end between tiles of CVL_SCAN_TILE elements (or segments). The inner back end
 * computes the totals of tiles. Every level above has windows of CVL_SCAN_WINDOW totals, each
 * of which gives one total to the next level. Every rank sends the totals of the largest
 * windows that lie within its tiles, a few dozen a level. From those of the ranks before, in
 * order, a rank computes the value before its first tile. Then the inner back end scans its
 * tiles.
 */
#include <stdlib.h>
#include <string.h>

#include "cvl-mpi/exchange/deferred.h"
#include "cvl-mpi/exchange/faults.h"
#include "cvl-mpi/exchange/moves.h"
#include "cvl-mpi/operations/operations.h"
#include "cvl-mpi/values/distribution.h"
#include "cvl-mpi/values/memory.h"
#include "cvl-mpi/values/values.h"
#include "cvl-mpi/values/views.h"

enum {
  WIDTH = CVL_SCAN_WINDOW,
  STEPS = 5,  /* steps of Kogge and Stone in a window */
  LEVELS = 12 /* above tiles; more than 256 * 32^12 elements cannot exist */
};

/* ---- the levels above tiles ---- */

/* How two elements are combined; FLOATs of 32 bits are rounded. */
struct combining {
  bool adds, narrow;
};

static double tree_combine(struct combining f, double x, double y) {
  const double z = f.adds ? x + y : x * y;
  return f.narrow ? (double)(float)z : z;
}

static double pad_of(struct combining f) {
  return f.adds ? -0.0 : 1.0;
}

/* The state after some totals from the beginning of a segment. */
struct levels {
  struct combining f;
  unsigned seen[LEVELS]; /* of each level: the totals in the current window */
  double before[LEVELS]; /* of each level: the prefix before the current window */
  double current;        /* the prefix of all totals so far */
  double partial[LEVELS][STEPS][WIDTH]; /* the current window of each level after each step */
};

static void levels_begin(struct levels *s, struct combining f) {
  *s = (struct levels){.f = f, .current = pad_of(f)};
  for (int l = 0; l < LEVELS; l++) s->before[l] = pad_of(f);
}

/* Adds total t to the current window of level l. Returns its inclusive prefix in that window.
 */
static double window_take(struct levels *s, int l, double t) {
  const unsigned i = s->seen[l];
  for (unsigned step = 0; step < STEPS; step++) {
    s->partial[l][step][i] = t;
    if (i >> step) t = tree_combine(s->f, s->partial[l][step][i - (1U << step)], t);
  }
  s->seen[l] = (i + 1) % WIDTH;
  return t;
}

/* Takes the total of a window of level l (0: of a tile). No lower level may be within a
 * window. */
static void levels_take(struct levels *s, int l, double t) {
  t = window_take(s, l, t);
  while (s->seen[l] == 0) t = window_take(s, ++l, t);
  s->current = tree_combine(s->f, s->before[l], t);
  while (l-- > 0) s->before[l] = s->current;
}

/* ---- the largest windows of a range of tiles ---- */

/* Their totals, in order, with their levels. */
struct windows {
  uint64_t n;
  uint8_t *level;
  double *total;
};

/* Returns the most windows that so many tiles have. */
static uint64_t windows_most(uint64_t tiles) {
  uint64_t most = 0;
  for (; tiles > 0; tiles /= WIDTH) most += 2 * (WIDTH - 1);
  return most + WIDTH;
}

static void put_windows(struct windows *w, unsigned level, const double *totals, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    w->level[w->n] = (uint8_t)level;
    w->total[w->n++] = totals ? totals[i] : 0;
  }
}

static double window_total(struct combining f, const double *x) {
  double t[WIDTH];
  memcpy(t, x, sizeof t);
  for (unsigned n = WIDTH; n > 1; n /= 2) {
    for (unsigned i = 0; i < n / 2; i++) t[i] = tree_combine(f, t[2 * i], t[2 * i + 1]);
  }
  return t[0];
}

/* Finds the largest windows among n windows of a level, the first of which is number `first`
 * of its segment. It overwrites totals; NULL: only levels are wanted. */
static void find_windows(struct combining f, unsigned level, uint64_t first, uint64_t n,
                         double *totals, struct windows *w) {
  const uint64_t to_full = (WIDTH - first % WIDTH) % WIDTH;
  const uint64_t lead = n < to_full ? n : to_full, full = (n - lead) / WIDTH;
  const uint64_t rest = n - lead - full * WIDTH;
  double *from = totals ? totals + lead : NULL;
  put_windows(w, level, totals, lead);
  for (uint64_t k = 0; from && k < full; k++) from[k] = window_total(f, from + k * WIDTH);
  if (full > 0) find_windows(f, level + 1, (first + lead) / WIDTH, full, from, w);
  put_windows(w, level, from ? from + full * WIDTH : NULL, rest);
}

/* ---- one scan ---- */

struct scanning {
  const struct cvl_call *call;
  uint64_t site;
  const struct view *view;
  struct combining f;
  enum cvl_elem elem;
  struct mpi_range block,
      segments;        /* this rank's; `segments` are those that its block touches */
  uint64_t head, tail; /* elements of a first segment that began before the block, and of
                          another last one that goes on behind it */
  struct cvl_value v;  /* inner elements of the block */
  uint64_t longest;    /* the most windows that one rank sends */
  double *others;      /* the totals that all ranks have sent, `longest` each */
};

/* Finds the segment that goes on behind the block of a rank, and its tiles there. Returns
 * false if there are none. */
static bool goes_on(const struct scanning *s, unsigned rank, uint64_t *segment, uint64_t *first,
                    uint64_t *tiles) {
  const struct mpi_range block = distribution_range(s->view->at, rank);
  const struct border *behind = &s->view->borders[rank + 1];
  if (!view_goes_on(s->view, rank)) return false;
  *segment = behind->first - 1;
  const uint64_t end = block.first + block.n, begin = behind->begin,
                 from = begin > block.first ? begin : block.first;
  *first = (from - begin) / CVL_SCAN_TILE;
  *tiles = (end - from) / CVL_SCAN_TILE;
  return *tiles > 0;
}

/* Returns the windows that a rank sends. If totals is NULL, only their number and levels are
 * set. windows_free frees them. */
static struct windows windows_of(struct cvl_context *c, const struct scanning *s, unsigned rank,
                                 double *totals) {
  uint64_t segment, first, tiles;
  struct windows w = {0};
  if (!goes_on(s, rank, &segment, &first, &tiles)) return w;
  const uint64_t most = windows_most(tiles);
  w.level = mpi_alloc(c, most);
  w.total = mpi_alloc(c, most * sizeof *w.total);
  find_windows(s->f, 0, first, tiles, totals, &w);
  return w;
}

static void windows_free(struct cvl_context *c, struct windows *w) {
  mpi_free(c, w->level);
  mpi_free(c, w->total);
}

/* ---- tiles of this rank ---- */

/* Returns n elements of the block from `first` on, owned. */
static struct cvl_value tree_slice_of(struct cvl_context *c, const struct scanning *s,
                                      uint64_t first, uint64_t n) {
  struct cvl_value borrowed = s->v;
  borrowed.owned = 0;
  return inner_slice(c, s->site, borrowed, first, n);
}

static double *doubles(struct cvl_context *c, const struct scanning *s, void *data,
                       uint64_t n) {
  if (!data || !s->f.narrow) return data;
  double *wide = mpi_try_alloc(c, s->site, (n + 1) * sizeof *wide);
  for (uint64_t i = 0; wide && i < n; i++) wide[i] = (double)((float *)data)[i];
  mpi_free(c, data);
  return wide;
}

/* Returns the totals of full tiles from element `first` of the block on; NULL: poisoned. */
static double *tree_totals_of(struct cvl_context *c, const struct scanning *s, uint64_t first,
                              uint64_t tiles) {
  const struct cvl_value slice = tree_slice_of(c, s, first, tiles * CVL_SCAN_TILE);
  struct cvl_value totals;
  if (slice.form == CVL_NOTHING) return NULL;
  const bool good =
      absorb(c, c->b->tiles->scan_totals(c->inner, s->site, s->call->op, &slice, &totals),
             at_site(s->site));
  inner_drop(c, &slice, 1);
  if (!good) return NULL;
  totals.owned = 1;
  return doubles(c, s, host_elements(c, s->site, totals, tiles, elem_info(s->elem)->bytes),
                 tiles);
}

/* Returns the value before each of n tiles, as an owned inner vector. Takes totals. */
static struct cvl_value tree_before_tiles(struct cvl_context *c, const struct scanning *s,
                                          struct levels *above, double *totals, uint64_t full,
                                          uint64_t n) {
  double *before = totals ? mpi_try_alloc(c, s->site, (n + 1) * sizeof *before) : NULL;
  for (uint64_t k = 0; before && k < n; k++) {
    before[k] = above->current;
    if (k < full) levels_take(above, 0, totals[k]);
  }
  for (uint64_t k = 0; before && s->f.narrow && k < n; k++) {
    const float x = (float)before[k];
    memcpy((float *)(void *)before + k, &x, sizeof x);
  }
  struct cvl_value v = device_elements(c, s->site, s->elem, n, before);
  v.owned = v.form != CVL_NOTHING;
  mpi_free(c, before);
  mpi_free(c, totals);
  return v;
}

/* Returns the scan of n elements of one segment, from `first` on, that follow `above`; owned.
 */
static struct cvl_value scan_piece(struct cvl_context *c, const struct scanning *s,
                                   struct levels *above, bool begins, uint64_t first,
                                   uint64_t n) {
  const uint64_t full = n / CVL_SCAN_TILE, tiles = full + (n % CVL_SCAN_TILE > 0);
  const struct cvl_value in[] = {
      tree_slice_of(c, s, first, n),
      tree_before_tiles(c, s, above, tree_totals_of(c, s, first, full), full, tiles)};
  struct cvl_value out = nothing();
  const bool here = in[0].form != CVL_NOTHING && in[1].form != CVL_NOTHING;
  if (here && !absorb(c,
                      c->b->tiles->scan_tiles(c->inner, s->site, s->call->op, begins, &in[0],
                                              &in[1], &out),
                      at_site(s->site)))
    out = nothing();
  inner_drop(c, in, 2);
  out.owned = out.form != CVL_NOTHING;
  return out;
}

/* ---- between ranks ---- */

static void send_windows(struct cvl_context *c, struct scanning *s) {
  for (unsigned r = 0; r < c->ranks; r++) {
    struct windows w = windows_of(c, s, r, NULL);
    if (w.n > s->longest) s->longest = w.n;
    windows_free(c, &w);
  }
  uint64_t segment, first, tiles;
  double *totals = NULL, *mine = mpi_alloc(c, (s->longest + 1) * sizeof *mine);
  if (goes_on(s, c->rank, &segment, &first, &tiles))
    totals = tree_totals_of(c, s, s->block.n - tiles * CVL_SCAN_TILE, tiles);
  struct windows w = windows_of(c, s, c->rank, totals);
  memcpy(mine, w.total ? w.total : mine, w.n * sizeof *mine);
  s->others = mpi_alloc(c, c->ranks * (s->longest + 1) * sizeof *s->others);
  comm_gather(c->comm, mine, s->longest * sizeof *mine, s->others);
  windows_free(c, &w);
  mpi_free(c, totals);
  mpi_free(c, mine);
}

/* Computes the state before this rank's block, in the segment that crosses into it. */
static void levels_before(struct cvl_context *c, const struct scanning *s,
                          struct levels *above) {
  levels_begin(above, s->f);
  for (unsigned r = 0; r < c->rank; r++) {
    uint64_t segment, first, tiles;
    if (!goes_on(s, r, &segment, &first, &tiles) || segment != s->segments.first) continue;
    struct windows w = windows_of(c, s, r, NULL);
    for (uint64_t i = 0; i < w.n; i++)
      levels_take(above, w.level[i], s->others[r * s->longest + i]);
    windows_free(c, &w);
  }
}

/* ---- the block ---- */

static void tree_measure(const struct cvl_context *c, struct scanning *s) {
  const struct mpi_range all = s->segments;
  if (view_comes_in(s->view, c->rank)) s->head = view_within(s->view, all.first, s->block);
  const bool apart = all.n > 1 || s->head == 0;
  if (view_goes_on(s->view, c->rank) && apart)
    s->tail = view_within(s->view, all.first + all.n - 1, s->block);
}

/* Returns the scans of the whole segments between head and tail; owned. */
static struct cvl_value scan_middle(struct cvl_context *c, const struct scanning *s) {
  const uint64_t from = s->segments.first + (s->head > 0),
                 n = s->segments.n - (s->head > 0) - (s->tail > 0);
  int64_t *lengths = mpi_try_alloc(c, s->site, n * sizeof *lengths);
  struct cvl_call call = {.kind = CALL_SCAN, .op = s->call->op, .count = 2};
  struct cvl_value out[CALL_RESULTS];
  for (uint64_t k = 0; lengths && k < n; k++)
    lengths[k] = (int64_t)view_within(s->view, from + k, s->block);
  call.operand[0] = tree_slice_of(c, s, s->head, s->block.n - s->head - s->tail);
  if (lengths &&
      absorb(c, c->b->segdes_from_host(c->inner, s->site, n, lengths, &call.operand[1]),
             at_site(s->site)))
    call.operand[1].owned = 1;
  mpi_free(c, lengths);
  inner_call(c, &call, NULL, at_site(s->site), out);
  out[0].owned = out[0].form != CVL_NOTHING;
  return out[0];
}

/* Writes a piece to `target` from `first` on; takes it. */
static bool tree_put(struct cvl_context *c, const struct scanning *s,
                     const struct cvl_value *target, uint64_t first, uint64_t n,
                     struct cvl_value piece) {
  if (n > 0) return inner_fill(c, s->site, target, first, piece);
  inner_drop(c, &piece, 1);
  return true;
}

static struct cvl_value tree_scan_block(struct cvl_context *c, const struct scanning *s) {
  struct cvl_value out;
  if (!absorb(c, c->b->slices->allocate(c->inner, s->site, s->elem, s->block.n, &out),
              at_site(s->site)))
    return nothing();
  struct levels *above = mpi_alloc(c, sizeof *above);
  const uint64_t tail = s->block.n - s->tail;
  bool good = true;
  if (s->head > 0) {
    levels_before(c, s, above);
    good = tree_put(c, s, &out, 0, s->head, scan_piece(c, s, above, false, 0, s->head));
  }
  if (s->head < tail)
    good = tree_put(c, s, &out, s->head, tail - s->head, scan_middle(c, s)) && good;
  if (s->tail > 0) {
    levels_begin(above, s->f);
    good = tree_put(c, s, &out, tail, s->tail, scan_piece(c, s, above, true, tail, s->tail)) &&
           good;
  }
  mpi_free(c, above);
  if (good) return out;
  c->b->release(c->inner, &out);
  return nothing();
}

bool tree_call(struct cvl_context *c, uint64_t site, const struct cvl_call *call,
               const struct view *view, struct cvl_value *out) {
  struct scanning s = {.call = call, .site = site, .view = view, .segments = view->segments};
  s.elem = mpi_elem(&call->operand[0]);
  s.f = (struct combining){call->op == OP_ADD, s.elem == CVL_F32};
  s.block = distribution_range(view->at, c->rank);
  s.v = move_to(c, site, &call->operand[0], view->at, false);
  tree_measure(c, &s);
  send_windows(c, &s);
  const struct cvl_value block = tree_scan_block(c, &s);
  inner_drop(c, &s.v, 1);
  mpi_free(c, s.others);
  *out = settled(c, site, s.elem, distribution_retain(view->at), block);
  return true;
}
