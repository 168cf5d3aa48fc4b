/* tile.c - tiles by the compiled function (fused-kernels/tile.h): what it is given, and
 * what it asks for.
 */
#include "cvl-cpu/fused/tile.h"

#include <string.h>

#include "cvl-cpu/fused/compiled.h"
#include "cvl-cpu/fused/strip.h"
#include "cvl-cpu/fused/worker.h"
#include "cvl-cpu/kernels/kernels.h"

/* Positions that are read ahead: a strip. */
enum { AHEAD = FUSED_STRIP };

/* ---- memory ---- */

enum { LINE = 64 };

/* Lays out arrays one behind the other: where this one begins, after what `at` counts. */
static size_t tile_next_array(size_t *at, size_t bytes) {
  const size_t start = *at;
  *at += (bytes + LINE - 1) / LINE * LINE;
  return start;
}

struct layout {
  size_t in, out, data, step, nodes, packs, bounds, moving, bytes;
};

static size_t bounds_bytes(const struct cvl_kernel *k) {
  return (k->run.strip * sizeof(uint64_t) + SPREAD_SLACK + LINE - 1) / LINE * LINE;
}

static struct layout tile_lay_out(const struct cvl_kernel *k) {
  const struct superop *op = k->op;
  const struct fused_functions *f = fused_compiled_functions(k->compiled);
  struct layout l = {0};
  l.in = tile_next_array(&l.bytes, op->value_count * sizeof(void *));
  l.out = tile_next_array(&l.bytes, op->value_count * sizeof(void *));
  l.data = tile_next_array(&l.bytes, op->value_count * sizeof(char *));
  l.step = tile_next_array(&l.bytes, op->value_count * sizeof(uint64_t));
  l.nodes = tile_next_array(&l.bytes, op->node_count * sizeof(struct tile_node));
  l.packs = tile_next_array(&l.bytes, k->pack_count * sizeof(struct tile_pack));
  l.bounds = tile_next_array(&l.bytes, 2 * f->bounds_count * bounds_bytes(k));
  l.moving = tile_next_array(&l.bytes, op->value_count * sizeof(uint32_t));
  return l;
}

size_t fused_tile_bytes(const struct cvl_kernel *k) {
  return k->run.runs_compiled ? tile_lay_out(k).bytes : 0;
}

/* ---- nodes ---- */

static struct tile_walk walk_over(const struct segments *s) {
  return (struct tile_walk){.offsets = s->offsets, .equal = s->equal};
}

static uint8_t act_of(const struct cvl_kernel *k, uint32_t number) {
  switch ((enum fused_action)k->nodes[number].run.action) {
  case ACT_DIST:
  case ACT_INDEX: return TILE_FILL;
  case ACT_GATHER_RUNS: return TILE_RUNS;
  case ACT_PICK: return TILE_FILL;
  case ACT_GATHER: return TILE_FILL;
  default: return TILE_NOTHING;
  }
}

/* Says of every node whether these steps execute it. */
static void set_acts(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  const struct fused_steps steps = fused_steps_here(w);
  uint32_t count;
  const uint32_t *walking = fused_compiled_walking(k->compiled, &count);
  for (uint32_t i = 0; i < count; i++) w->tile.nodes[walking[i]].act = TILE_NOTHING;
  for (uint32_t i = steps.first; i < steps.end; i++) {
    w->tile.nodes[steps.numbers[i]].act = act_of(k, steps.numbers[i]);
  }
}

static void set_up_node(const struct cvl_kernel *k, uint32_t number, struct tile_node *to) {
  const struct superop_node *node = &k->op->nodes[number];
  const struct fused_node *p = &k->nodes[number];
  static const uint64_t zero = 0; /* the first of no elements */
  *to = (struct tile_node){.near = walk_over(&p->run.near),
                           .far_offsets = p->run.far.offsets,
                           .far_equal = p->run.far.equal,
                           .values = p->run.values,
                           .strides = p->run.strides};
  if (node->role == ROLE_GATHER || node->role == ROLE_PICK) {
    to->gathered.values = p->run.far.total > 0 ? p->run.values : &zero;
    to->gathered.count = p->run.far.total;
  }
  if (p->run.action == ACT_GATHER_RUNS) {
    const struct fused_node *index = &k->nodes[k->values[node->operands[1]].node];
    to->index = walk_over(&index->run.near);
    to->starts = index->run.values;
    to->runs = index->run.near.count;
  }
  if (node->role == ROLE_INDEX && p->run.near.count == 1) {
    const struct fused_value *v = &k->values[node->result];
    to->index_of = (struct fused_progression){v->run.start, v->run.stride};
  }
}

static void set_up_nodes(struct fused_worker *w, char *bounds) {
  const struct cvl_kernel *k = w->k;
  const struct fused_functions *f = fused_compiled_functions(k->compiled);
  uint32_t count;
  const uint32_t *walking = fused_compiled_walking(k->compiled, &count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t n = walking[i];
    struct tile_node *node = &w->tile.nodes[n];
    if (k->op->nodes[n].role != ROLE_CARRY) set_up_node(k, n, node);
    if (f->bounds[n] == SUPEROP_NONE) continue;
    char *base = bounds + 2 * f->bounds[n] * bounds_bytes(k);
    node->gathered.base = (uint64_t *)(void *)base;
    node->gathered.limit = (uint64_t *)(void *)(base + bounds_bytes(k));
  }
  set_acts(w);
}

/* ---- the start of a chunk, and of a tile ---- */

static bool tile_moves(const struct fused_value *v) {
  return v->run.storage == IN_MEMORY || v->run.storage == IN_TILE || v->run.storage == IN_CHUNK;
}

/* Finds the values whose elements are elsewhere for each strip; those of others stay. */
static void find_moving(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  uint32_t count;
  const uint32_t *touched = fused_compiled_touched(k->compiled, &count);
  w->moving_count = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct fused_value *v = &k->values[touched[i]];
    w->step[touched[i]] = tile_moves(v) ? v->bytes : 0;
    if (tile_moves(v)) {
      w->moving[w->moving_count++] = touched[i];
    } else {
      w->data[touched[i]] = fused_at(w, v, w->origin[v->run.storage]);
    }
  }
}

/* Where the elements of values are for a tile. */
static void find_data(struct fused_worker *w, uint64_t first) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < w->moving_count; i++)
    w->data[w->moving[i]] = fused_at(w, &k->values[w->moving[i]], first);
}

static void start_walk(struct tile_walk *w, const struct segments *s, uint64_t position) {
  w->filled = NULL;
  w->segment = position < s->total ? segment_at(s, position) : 0;
}

void fused_tile_begin(struct fused_worker *w, uint64_t position) {
  const struct cvl_kernel *k = w->k;
  find_moving(w);
  uint32_t count;
  const uint32_t *walking = fused_compiled_walking(k->compiled, &count);
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t n = walking[i];
    struct tile_node *node = &w->tile.nodes[n];
    const struct fused_node *p = &k->nodes[n];
    const bool gathers =
        k->op->nodes[n].role == ROLE_GATHER && fused_compiled_does(k->compiled, n);
    const bool walks = p->run.action == ACT_DIST || p->run.action == ACT_INDEX ||
                       p->run.action == ACT_GATHER_RUNS || p->run.action == ACT_GATHER ||
                       gathers;
    if (walks) start_walk(&node->near, &p->run.near, position);
    if (p->run.action != ACT_GATHER_RUNS) continue;
    const uint32_t index = k->values[k->op->nodes[n].operands[1]].node;
    start_walk(&node->index, &k->nodes[index].run.near, position);
  }
}

/* ---- what the function asks for ---- */

static void tile_fails(void *with, uint32_t number, uint64_t position) {
  fused_remember(with, number, position, position);
}

static void tile_done(void *with, uint64_t first, uint64_t n) {
  struct fused_worker *w = with;
  w->origin[IN_STRIP] = first;
  fused_deliver(w, first, n, atomic_load_explicit(&w->k->run.failed, memory_order_relaxed));
}

/* ---- running ---- */

void fused_tile_set_up(struct fused_worker *w, char *memory) {
  struct cvl_kernel *k = w->k;
  const struct layout at = tile_lay_out(k);
  w->in = (const void **)(void *)(memory + at.in);
  w->out = (void **)(void *)(memory + at.out);
  w->data = (char **)(void *)(memory + at.data);
  w->step = (uint64_t *)(void *)(memory + at.step);
  w->moving = (uint32_t *)(void *)(memory + at.moving);
  w->tile = (struct tile){
      .data = w->data,
      .step = w->step,
      .nodes = (struct tile_node *)(void *)(memory + at.nodes),
      .packs = (struct tile_pack *)(void *)(memory + at.packs),
      .streams = w->streams,
      .strip = k->run.strip,
      .ahead = k->run.chunks > 1 || k->run.n > tuned(k->c, CHUNK_BYTES) ? AHEAD : 0,
      .with = w,
      .fails = tile_fails,
      .done = k->run.copy_count > 0 ? tile_done : NULL};
  set_up_nodes(w, memory + at.bounds);
}

/* The packs append to what this chunk keeps. */
static void open_packs(struct fused_worker *w) {
  const struct cvl_kernel *k = w->k;
  for (uint32_t i = 0; i < k->pack_count; i++) {
    const struct fused_pack *p = &k->packs[i];
    w->tile.packs[i] = (struct tile_pack){.out = p->wants_result ? w->packed[i] : NULL,
                                          .kept = w->kept[i],
                                          .offsets = p->offsets,
                                          .near = walk_over(&k->run.segments),
                                          .count = k->run.segments.count};
    w->tile.packs[i].near.segment = w->ranks[i].segment;
  }
}

static void close_packs(struct fused_worker *w) {
  for (uint32_t i = 0; i < w->k->pack_count; i++) {
    w->kept[i] = w->tile.packs[i].kept;
    w->ranks[i].segment = w->tile.packs[i].near.segment;
  }
}

bool fused_tile(struct fused_worker *w, uint64_t first, uint64_t n) {
  w->origin[IN_STRIP] = first;
  find_data(w, first);
  w->tile.stream_count = w->stream_count;
  if (w->k->pack_count > 0) open_packs(w);
  fused_compiled_tile(w->k->compiled)(&w->tile, first, n);
  if (w->k->pack_count > 0) close_packs(w);
  return atomic_load_explicit(&w->k->run.failed, memory_order_relaxed) == FUSED_NONE;
}
