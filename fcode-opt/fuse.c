/* fuse.c - the pass: plans each block, innermost first, and rewrites it. fuse.h explains it.
 */
#include "fcode-opt/fuse.h"

#include "fcode-opt/explain.h"

#include <stdlib.h>
#include <string.h>

/* ---- items: the connected members of a group ---- */

static int by_unit(const void *a, const void *b) {
  uint32_t x = ((const struct fuse_member *)a)->unit + 1,
           y = ((const struct fuse_member *)b)->unit + 1; /* NO_UNIT first */
  return (x > y) - (x < y);
}

static uint32_t root_of(uint32_t *parents, uint32_t k) {
  while (parents[k] != k) k = parents[k] = parents[parents[k]];
  return k;
}

/* Connects members that have an elementwise operand or result in common, and all ordered
 * members: these stay in one superoperator, which keeps their order. Returns a union-find
 * forest. */
static uint32_t *connect_members(struct fuse_block *b, const struct fuse_group *g) {
  struct fuse *fuse = b->fuse;
  uint32_t *parents = arena_alloc(fuse->o->scratch, g->members.count * sizeof *parents);
  uint32_t ordered = NO_UNIT;
  fuse->stamp++;
  for (uint32_t k = 0; k < g->members.count; k++) {
    const struct fuse_member *m = &g->members.items[k];
    enum superop_role role;
    const char *access = fuse_form(fuse->o->scratch, fuse->o->program, m->x, &role);
    parents[k] = k;
    for (uint32_t i = 0; i < m->x->operand_count; i++) {
      ir_var v = m->x->operands[i];
      if (access[i] != 'd') continue;
      if (fuse->seen[v] == fuse->stamp) {
        parents[root_of(parents, k)] = root_of(parents, fuse->numbers[v]);
      } else {
        fuse->seen[v] = fuse->stamp;
        fuse->numbers[v] = k;
      }
    }
    for (uint32_t i = 0; i < m->x->result_count; i++) {
      fuse->seen[m->x->results[i]] = fuse->stamp;
      fuse->numbers[m->x->results[i]] = k;
    }
    if (m->unit == NO_UNIT || !b->list[m->unit].ordered) continue;
    if (ordered != NO_UNIT) parents[root_of(parents, k)] = root_of(parents, ordered);
    ordered = k;
  }
  return parents;
}

/* An operation that is not fused needs its constants as variables. */
static void want_constants(struct fuse_block *b, const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->operand_count; i++) {
    if (!fuse_constant(b->fuse, x->operands[i])) continue;
    b->wanted[x->operands[i]] = true;
    struct fuse_unit *def = fuse_definition(b, x->operands[i]);
    if (def) def->stays = true;
  }
}

static void fuse_add_item(struct fuse_block *b, uint32_t group, uint32_t first,
                          uint32_t count) {
  uint32_t item = (uint32_t)b->items.count;
  struct fuse_item *it = array_push(b->fuse->o->scratch, &b->items);
  *it = (struct fuse_item){.unit = NO_UNIT, .first = first, .count = count};
  for (uint32_t k = first; k < first + count; k++) {
    uint32_t unit = b->members.items[k].unit;
    if (unit == NO_UNIT || b->list[unit].group != group) continue;
    b->list[unit].item = item;
    it->position = unit;
    if (count == 1) {
      it->unit = unit;
      want_constants(b, b->list[unit].x);
    }
  }
}

static void group_items(struct fuse_block *b, uint32_t group) {
  struct fuse_group *g = &b->groups.items[group];
  struct arena *scratch = b->fuse->o->scratch;
  if (g->members.count == 0) return;
  qsort(g->members.items, g->members.count, sizeof *g->members.items, by_unit);
  uint32_t *parents = connect_members(b, g);
  /* Lists of the components, each in order: next[k] follows k, plus 1; 0: none. */
  uint32_t *next = arena_alloc(scratch, g->members.count * sizeof *next);
  uint32_t *last = arena_alloc(scratch, g->members.count * sizeof *last);
  for (uint32_t k = 0; k < g->members.count; k++) {
    uint32_t root = root_of(parents, k);
    if (last[root]) next[last[root] - 1] = k + 1;
    last[root] = k + 1;
  }
  bool *done = arena_alloc(scratch, g->members.count);
  for (uint32_t k = 0; k < g->members.count; k++) {
    if (done[root_of(parents, k)]) continue;
    done[root_of(parents, k)] = true;
    uint32_t first = (uint32_t)b->members.count;
    for (uint32_t i = k + 1; i; i = next[i - 1])
      *array_push(scratch, &b->members) = g->members.items[i - 1];
    fuse_add_item(b, group, first, (uint32_t)b->members.count - first);
  }
}

static void make_items(struct fuse_block *b) {
  for (uint32_t i = 0; i < b->count; i++) b->list[i].item = NO_UNIT;
  for (uint32_t i = 0; i < b->groups.count; i++) group_items(b, i);
  for (uint32_t i = 0; i < b->count; i++) {
    if (b->list[i].access || !b->list[i].stays) continue;
    b->list[i].item = (uint32_t)b->items.count;
    *array_push(b->fuse->o->scratch, &b->items) = (struct fuse_item){.unit = i, .position = i};
  }
}

/* ---- emission ---- */

struct emitter {
  struct fuse_block *b;
  struct rewrite_block out;
  ARRAY(uint32_t) stack;
};

static void depend(struct emitter *e, uint32_t item, const struct fuse_unit *on) {
  if (!on || on->item == NO_UNIT || on->item == item) return;
  struct fuse_item *it = &e->b->items.items[on->item];
  if (it->done) return;
  pass_require(e->b->fuse->o, !it->open);
  *array_push(e->b->fuse->o->scratch, &e->stack) = on->item;
}

/* Pushes the items that must precede a unit. */
static void depend_for(struct emitter *e, uint32_t item, const struct fuse_unit *u) {
  struct fuse_block *b = e->b;
  for (uint32_t i = 0; i < u->x->operand_count; i++)
    depend(e, item, fuse_definition(b, u->x->operands[i]));
  for (uint32_t i = 0; i < u->free_count; i++) depend(e, item, fuse_definition(b, u->free[i]));
  if (u->ordered_before != NO_UNIT) depend(e, item, &b->list[u->ordered_before]);
}

static void depend_for_item(struct emitter *e, uint32_t item) {
  const struct fuse_block *b = e->b;
  const struct fuse_item *it = &b->items.items[item];
  if (it->unit != NO_UNIT) {
    depend_for(e, item, &b->list[it->unit]);
    return;
  }
  for (uint32_t k = it->first; k < it->first + it->count; k++) {
    if (b->members.items[k].unit != NO_UNIT)
      depend_for(e, item, &b->list[b->members.items[k].unit]);
  }
}

static void emit_item(struct emitter *e, uint32_t item) {
  struct fuse_block *b = e->b;
  struct fuse_item *it = &b->items.items[item];
  if (it->unit != NO_UNIT) {
    rewrite_append(b->fuse->o, &e->out, b->list[it->unit].x);
    return;
  }
  b->item = item;
  struct ir_binding x = fuse_build(b, &b->members.items[it->first], it->count);
  rewrite_append(b->fuse->o, &e->out, &x);
  it->superop = x.as.superop;
  for (uint32_t k = it->first; k < it->first + it->count; k++) {
    uint32_t unit = b->members.items[k].unit;
    if (unit != NO_UNIT && b->list[unit].item == item) b->fuse->o->stats->fused_instructions++;
  }
}

struct ranked {
  uint32_t position, item;
};

static int items_by_position(const void *a, const void *b) {
  uint32_t x = ((const struct ranked *)a)->position, y = ((const struct ranked *)b)->position;
  return (x > y) - (x < y);
}

/* Emits items in the order of their last units, each after the items it depends on. */
static void emit_all(struct fuse_block *b) {
  struct emitter e = {.b = b};
  struct arena *scratch = b->fuse->o->scratch;
  size_t n = b->items.count;
  struct ranked *order = arena_alloc(scratch, (n + 1) * sizeof *order);
  for (uint32_t i = 0; i < n; i++) order[i] = (struct ranked){b->items.items[i].position, i};
  qsort(order, n, sizeof *order, items_by_position);
  for (uint32_t i = 0; i < n; i++) {
    *array_push(scratch, &e.stack) = order[i].item;
    while (e.stack.count > 0) {
      uint32_t item = e.stack.items[e.stack.count - 1];
      struct fuse_item *it = &b->items.items[item];
      if (!it->open) {
        it->open = true;
        depend_for_item(&e, item);
        continue;
      }
      e.stack.count--;
      if (it->done) continue; /* it was pushed twice */
      it->done = true;
      emit_item(&e, item);
    }
  }
  rewrite_finish(b->block, &e.out);
}

/* ---- blocks ---- */

/* The facts about a fused block that the block around it needs. */
struct outside {
  uint8_t effects;
  const ir_var *free; /* variables of outer blocks that it uses */
  uint32_t free_count;
};

struct free_list {
  ARRAY(ir_var) list;
};

static void note_free(struct fuse_block *b, struct free_list *l, ir_var v) {
  struct fuse *fuse = b->fuse;
  if (fuse->seen[v] == fuse->stamp || fuse->blocks[v] == b->number) return;
  fuse->seen[v] = fuse->stamp;
  *array_push(fuse->o->scratch, &l->list) = v;
}

static void find_free_vars(struct fuse_block *b, struct outside *out) {
  struct free_list l = {0};
  b->fuse->stamp++;
  for (uint32_t i = 0; i < b->block->count; i++) {
    const struct ir_binding *x = &b->block->bindings[i];
    for (uint32_t k = 0; k < x->operand_count; k++) note_free(b, &l, x->operands[k]);
  }
  for (uint32_t i = 0; i < b->count; i++) {
    for (uint32_t k = 0; k < b->list[i].free_count; k++) note_free(b, &l, b->list[i].free[k]);
  }
  for (uint32_t k = 0; k < b->block->result_count; k++) note_free(b, &l, b->block->results[k]);
  out->free = l.list.items;
  out->free_count = (uint32_t)l.list.count;
}

static struct outside fuse_one(struct fuse *fuse, struct ir_block *block);

/* Fuses the arms of an IF, and notes their effects and free variables. */
static void fuse_arms(struct fuse *fuse, struct fuse_unit *u) {
  struct outside then = fuse_one(fuse, u->x->as.arms.then);
  struct outside otherwise = fuse_one(fuse, u->x->as.arms.otherwise);
  u->effects = then.effects | otherwise.effects;
  if (!sizes_agree(fuse->sizes, fuse->function, u->x)) u->effects |= EFFECT_ENDS;
  u->free_count = then.free_count + otherwise.free_count;
  ir_var *free_vars = arena_alloc(fuse->o->scratch, u->free_count * sizeof *free_vars);
  if (then.free_count > 0) memcpy(free_vars, then.free, then.free_count * sizeof *free_vars);
  if (otherwise.free_count > 0)
    memcpy(free_vars + then.free_count, otherwise.free,
           otherwise.free_count * sizeof *free_vars);
  u->free = free_vars;
}

static struct outside fuse_one(struct fuse *fuse, struct ir_block *block) {
  struct arena *scratch = fuse->o->scratch;
  struct fuse_block b = {.fuse = fuse, .block = block, .count = block->count};
  map_init(&b.group_at, fuse->o->scratch);
  map_init(&b.inside, fuse->o->scratch);
  struct outside out = {.effects = block->end == IR_YIELD ? 0 : EFFECT_ENDS};
  b.number = ++fuse->block_count;
  b.list = arena_alloc(scratch, b.count * sizeof *b.list);
  for (uint32_t i = 0; i < b.count; i++) {
    struct ir_binding *x = &block->bindings[i];
    b.list[i].x = x;
    for (uint32_t k = 0; k < x->result_count; k++) {
      fuse->definitions[x->results[k]] = x;
      fuse->blocks[x->results[k]] = b.number;
      fuse->units[x->results[k]] = i;
    }
    if (x->form == IR_IF) fuse_arms(fuse, &b.list[i]);
  }
  b.wanted = fuse->wanted;
  fuse_plan(&b);
  for (uint32_t i = 0; i < b.count; i++) out.effects |= b.list[i].effects;
  make_items(&b);
  emit_all(&b);
  if (fuse->explain) explain_block(fuse->explain, &b);
  find_free_vars(&b, &out);
  return out;
}

/* ---- functions ---- */

static bool has_timers(const struct fuse *fuse, const struct ir_block *block) {
  for (uint32_t i = 0; i < block->count; i++) {
    if (binding_effects(&fuse->calls, &block->bindings[i]) & EFFECT_TIMER) return true;
  }
  return false;
}

static void fuse_function(struct fuse *fuse, uint32_t function) {
  struct ir_function *f = &fuse->o->program->functions[function];
  struct arena *scratch = fuse->o->scratch;
  size_t n = f->var_count;
  fuse->function = function;
  fuse->f = f;
  fuse->definitions = arena_alloc(scratch, n * sizeof *fuse->definitions);
  fuse->blocks = arena_alloc(scratch, n * sizeof *fuse->blocks);
  fuse->units = arena_alloc(scratch, n * sizeof *fuse->units);
  fuse->seen = arena_alloc(scratch, n * sizeof *fuse->seen);
  fuse->numbers = arena_alloc(scratch, n * sizeof *fuse->numbers);
  fuse->wanted = arena_alloc(scratch, n * sizeof *fuse->wanted);
  fuse->stamp = 0;
  fuse->block_count = 0;
  fuse->timers = has_timers(fuse, f->body);
  if (fuse->explain) explain_begin(fuse->explain, fuse);
  if (!fuse->timers) fuse_sink(fuse);
  uint8_t effects = fuse_one(fuse, f->body).effects;
  if (!fuse->calls.recursive[function]) fuse->calls.effects[function] = effects;
  if (fuse->explain) explain_end(fuse->explain, fuse);
}

static bool copy_into_arms(struct fuse *fuse) {
  const struct ir_program *program = fuse->o->program;
  bool changed = false;
  for (uint32_t i = 0; i < program->function_count; i++) {
    fuse->function = i;
    fuse->f = &program->functions[i];
    if (!fuse->f->typed || !fuse->calls.reachable[i] || has_timers(fuse, fuse->f->body))
      continue;
    if (fuse_copy(fuse)) changed = true;
  }
  return changed;
}

/* Fuses the functions that calls lead to, or those that only links to procedures lead to,
 * callees first. */
static void fuse_functions(struct fuse *fuse, bool called, struct explain *explain) {
  const struct calls *calls = &fuse->calls;
  fuse->explain = explain;
  for (uint32_t i = 0; i < calls->count; i++) {
    const uint32_t function = calls->order[i];
    if (fuse->o->program->functions[function].typed && calls->reachable[function] &&
        calls->called[function] == called)
      fuse_function(fuse, function);
  }
}

bool pass_fuse(struct opt *o) {
  struct ir_program *program = o->program;
  struct fuse *fuse = arena_alloc(o->scratch, sizeof *fuse);
  scoped_map_init(&fuse->by_hash, o->scratch);
  fuse->o = o;
  fuse->sizes = sizes_compute(o);
  if (fuse_lengths(o, fuse->sizes)) fuse->sizes = sizes_compute(o);
  fuse->calls = calls_make(o);
  if (copy_into_arms(fuse)) fuse->sizes = sizes_compute(o);
  struct explain *const explain = o->explain ? explain_make(o) : NULL;
  for (uint32_t i = 0; i < program->superop_count; i++)
    *array_push(o->arena, &fuse->superops) = program->superops[i];
  fuse_functions(fuse, true, explain);
  fuse_functions(fuse, false, NULL);
  bool changed = fuse->superops.count > program->superop_count;
  program->superops = fuse->superops.items;
  program->superop_count = (uint32_t)fuse->superops.count;
  if (explain) explain_total(explain);
  return changed;
}
