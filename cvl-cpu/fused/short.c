/* short.c - see short.h. */
#include "cvl-cpu/fused/short.h"

#include "cvl-cpu/fused/bind.h"
#include "cvl-cpu/kernels/move.h"

/* Limits of a run, all of whose memory is on the stack. */
enum { MOST_VALUES = 64, MOST_SPREADS = 8, MOST_REDUCTIONS = 8 };

/* ---- the plan ---- */

static bool is_param(const struct superop *op, uint32_t v) {
  return v < op->param_count;
}

static struct short_item *short_add(struct fused_short *s, enum short_kind kind,
                                    uint32_t value) {
  struct short_item *item = &s->items[s->item_count++];
  *item = (struct short_item){.kind = (uint8_t)kind, .value = value};
  return item;
}

static void short_add_spread(struct fused_short *s, const struct superop_node *node) {
  struct short_item *item = short_add(s, SHORT_SPREAD, node->result);
  item->from = node->operands[0];
  item->under[0] = node->operands[1];
  s->spreads++;
}

static void add_index(struct fused_short *s, const struct superop_node *node) {
  struct short_item *item = short_add(s, SHORT_INDEX, node->result);
  item->from = node->operands[0];
  item->by = node->operands[1];
  item->under[0] = node->operands[2];
}

static void short_add_gather(struct fused_short *s, const struct superop_node *node) {
  struct short_item *item = short_add(s, SHORT_GATHER, node->result);
  item->from = node->operands[0];
  item->under[0] = node->operands[node->operand_count - 2];
  item->under[1] = node->operands[node->operand_count - 1];
}

/* Adds what a node of the stage, or a reduction, is or reads; false if the superoperator is no
 * short one. */
static bool add_node(struct fused_short *s, const struct cvl_kernel *k,
                     const struct fused_functions *f, uint32_t n) {
  const struct superop_node *node = &k->op->nodes[n];
  const bool in_stage = fused_schedule_executes(&f->schedule, 0, n);
  if (node->checked) s->checked[s->checked_count++] = n;
  if (k->op->cold[n] || node->role == ROLE_CONST) return true;
  if (fused_is_constant(k->op, node)) return !k->values[node->result].is_output;
  if (in_stage && node->role == ROLE_ASSERT) return true;
  if (node->role == ROLE_ASSERT) return !node->checked;
  if (in_stage && f->schedule.written[node->result]) {
    if (k->values[node->result].is_output)
      short_add(s, SHORT_WRITTEN, node->result);
    else if (!s->folds)
      return false;
  }
  if (in_stage && node->role == ROLE_INDEX) add_index(s, node);
  if (in_stage && node->role == ROLE_GATHER) short_add_gather(s, node);
  if (in_stage) return true;
  if (node->role == ROLE_SPREAD && !k->values[node->result].is_output) {
    short_add_spread(s, node);
    return true;
  }
  return node->role == ROLE_REDUCE && s->folds;
}

static bool short_add_nodes(struct fused_short *s, const struct cvl_kernel *k,
                            const struct fused_functions *f) {
  for (uint32_t v = 0; v < k->op->param_count; v++) {
    if (k->op->kinds[v] != SUPEROP_SEGDES && k->values[v].read_by_blocks)
      short_add(s, SHORT_VECTOR, v);
  }
  for (uint32_t n = 0; n < k->op->node_count; n++) {
    if (!add_node(s, k, f, n)) return false;
  }
  for (uint32_t i = 0; i < k->reduction_count; i++)
    short_add(s, SHORT_REDUCED, k->op->nodes[k->reductions[i].node].result);
  return true;
}

/* Whether there is one stage, and reductions at most besides, within the limits. */
static bool may_fit(const struct cvl_kernel *k, const struct fused_functions *f) {
  const struct superop *op = k->op;
  bool gathers = false;
  for (uint32_t n = 0; n < op->node_count; n++)
    gathers |= op->nodes[n].role == ROLE_GATHER && f->schedule.tasks[n] == TASK_INSIDE;
  return f->schedule.stage_count == 1 && (f->flat || !gathers) && !superop_has_loops(op) &&
         !superop_has_combinations(op) && op->value_count <= MOST_VALUES &&
         op->node_count <= MOST_VALUES && k->reduction_count <= MOST_REDUCTIONS &&
         k->scan_count + k->pack_count + k->scatter_count == 0;
}

void fused_short_plan(struct arena *arena, const struct cvl_kernel *k,
                      const struct fused_functions *f, struct fused_short *s) {
  const uint32_t count = k->op->node_count;
  *s = (struct fused_short){.folds = f->folds && k->reduction_count > 0};
  if (!may_fit(k, f)) return;
  s->items = arena_alloc(arena, (k->op->value_count + 2 * count + 1) * sizeof *s->items);
  s->checked = arena_alloc(arena, (count + 1) * sizeof *s->checked);
  s->fits = short_add_nodes(s, k, f) && s->spreads <= MOST_SPREADS;
}

/* ---- a run ---- */

struct short_run {
  struct cvl_kernel *k;
  const struct fused_short *plan;
  const struct cvl_value *operands;
  uint64_t strip; /* positions of a call */
  const char *in_at[MOST_VALUES];
  char *out_at[MOST_VALUES];
  const void *in[MOST_VALUES];
  void *out[MOST_VALUES];
  uint64_t fault[MOST_VALUES];
  union {
    struct fused_progression index;
    struct fused_gathered gather;
  } more[MOST_VALUES];
  char *totals[MOST_REDUCTIONS];
  void *lanes[MOST_REDUCTIONS];
  unsigned reductions, spreads;
  uint64_t lane_room[MOST_REDUCTIONS][CVL_REDUCE_LANES];
  _Alignas(64) char spread_room[MOST_SPREADS][FUSED_STRIP * sizeof(uint64_t)];
};

static const void *given(const struct short_run *r, uint32_t v) {
  const struct superop *op = r->k->op;
  return is_param(op, v) ? value_data(&r->operands[v])
                         : (const void *)&op->nodes[r->k->values[v].node].constant.as;
}

static bool is_one_segment(const struct short_run *r, uint32_t descriptor) {
  return value_segments(&r->operands[descriptor]).count == 1;
}

/* A strip of the element of the one segment. */
static bool open_spread(struct short_run *r, const struct short_item *item) {
  const size_t bytes = r->k->values[item->value].bytes;
  if (!is_one_segment(r, item->under[0])) return false;
  char *room = r->spread_room[r->spreads++];
  fused_repeat(room, given(r, item->from), bytes, r->strip);
  r->in[item->value] = room;
  return true;
}

static bool open_index(struct short_run *r, const struct short_item *item) {
  const size_t bytes = r->k->values[item->value].bytes;
  if (!is_one_segment(r, item->under[0])) return false;
  r->more[item->value].index =
      (struct fused_progression){(uint64_t)int_element(given(r, item->from), 0, bytes),
                                 (uint64_t)int_element(given(r, item->by), 0, bytes)};
  r->in[item->value] = &r->more[item->value].index;
  return true;
}

static bool open_gather(struct short_run *r, const struct short_item *item) {
  static const uint64_t zero = 0; /* the first of no elements */
  if (!is_one_segment(r, item->under[0]) || !is_one_segment(r, item->under[1])) return false;
  const uint64_t count = value_segments(&r->operands[item->under[0]]).total;
  r->more[item->value].gather = (struct fused_gathered){
      .values = count > 0 ? value_data(&r->operands[item->from]) : &zero, .count = count};
  r->in[item->value] = &r->more[item->value].gather;
  return true;
}

/* Finds what an item reads; false if it does not suit. */
static bool open_item(struct short_run *r, const struct short_item *item) {
  switch ((enum short_kind)item->kind) {
  case SHORT_VECTOR: r->in_at[item->value] = value_data(&r->operands[item->value]); return true;
  case SHORT_SPREAD: return open_spread(r, item);
  case SHORT_INDEX: return open_index(r, item);
  case SHORT_GATHER: return open_gather(r, item);
  default: return true;
  }
}

/* Makes the result of an item, if it has one. */
static bool make_item(struct short_run *r, const struct short_item *item) {
  struct cvl_kernel *k = r->k;
  struct fused_value *v = &k->values[item->value];
  if (item->kind < SHORT_WRITTEN) return true;
  const uint64_t n = item->kind == SHORT_REDUCED ? 1 : k->run.n;
  if (!result_new(k->c, k->run.site + v->node, (enum cvl_elem)v->elem, n, NULL, &v->run.whole))
    return false;
  if (item->kind == SHORT_WRITTEN) {
    r->out_at[item->value] = result_data(&v->run.whole);
  } else {
    r->lanes[r->reductions] = r->lane_room[r->reductions];
    r->totals[r->reductions++] = result_data(&v->run.whole);
  }
  return true;
}

/* Moves to a position. */
static void move_item(struct short_run *r, const struct short_item *item, uint64_t at) {
  const uint64_t bytes = r->k->values[item->value].bytes;
  switch ((enum short_kind)item->kind) {
  case SHORT_VECTOR: r->in[item->value] = r->in_at[item->value] + at * bytes; return;
  case SHORT_WRITTEN: r->out[item->value] = r->out_at[item->value] + at * bytes; return;
  case SHORT_INDEX:
    if (at > 0)
      r->more[item->value].index.start += r->strip * r->more[item->value].index.stride;
    return;
  default: return;
  }
}

static bool is_sound(const struct short_run *r) {
  for (uint32_t i = 0; i < r->plan->checked_count; i++) {
    if (r->fault[r->plan->checked[i]] != UINT64_MAX) return false;
  }
  return true;
}

/* False after a fault. */
static bool short_call(struct short_run *r) {
  const struct fused_short *s = r->plan;
  const uint64_t n = r->k->run.n;
  bool sound = true;
  for (uint64_t at = 0; at < n && sound; at += r->strip) {
    const uint64_t m = n - at < r->strip ? n - at : r->strip;
    for (uint32_t i = 0; i < s->item_count; i++) move_item(r, &s->items[i], at);
    if (s->folds)
      s->fold(m, r->in, r->out, r->fault, NULL, r->lanes, at == 0,
              at + m == n ? r->totals : NULL, 0, at);
    else
      s->block(m, r->in, r->out, r->fault, NULL);
    sound = is_sound(r);
  }
  return sound;
}

static enum short_outcome cpu_short_run(struct short_run *r) {
  const struct fused_short *s = r->plan;
  struct cvl_kernel *k = r->k;
  for (uint32_t i = 0; i < s->item_count; i++) {
    if (!open_item(r, &s->items[i])) return SHORT_UNFIT;
  }
  for (uint32_t i = 0; i < s->item_count; i++) {
    if (!make_item(r, &s->items[i])) return SHORT_FAILED;
  }
  if (short_call(r)) return SHORT_DONE;
  for (uint32_t i = 0; i < s->item_count; i++) {
    if (s->items[i].kind >= SHORT_WRITTEN)
      result_drop(k->c, &k->values[s->items[i].value].run.whole); /* another is made instead */
  }
  return SHORT_UNFIT;
}

/* Whether the run has few positions, which one thread takes at once, and reductions of one
 * block of one segment. */
static bool is_short(const struct cvl_kernel *k) {
  enum { LONE = 1 << 14 };
  const uint64_t most =
      pool_threads(k->c->pool) == 1 && k->serial_steps < LONE ? LONE : k->serial_steps;
  if (k->run.n == 0 || k->run.n > most) return false;
  return k->reduction_count == 0 ||
         (k->run.n <= CVL_REDUCE_BLOCK && k->run.segments.count == 1);
}

enum short_outcome fused_short_run(struct cvl_kernel *k, const struct fused_short *s,
                                   const struct cvl_value *operands) {
  if (!s->fits || !is_short(k)) return SHORT_UNFIT;
  struct short_run r; /* most of it stays unused, and is not cleared */
  r.k = k;
  r.plan = s;
  r.operands = operands;
  r.strip = s->spreads && k->run.n > FUSED_STRIP ? FUSED_STRIP : k->run.n;
  r.reductions = r.spreads = 0;
  return cpu_short_run(&r);
}
