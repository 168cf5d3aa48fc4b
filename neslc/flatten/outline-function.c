/* outline-function.c - the function of an outline: its parameters, a copy of the code
 * with variables of its own, and its mark. Scalar constants of the code around become constants
 * of the function.
 */
#include <string.h>

#include "base/map.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/outline.h"

/* Gives the variables of the function their numbers. */
struct renaming {
  struct outline *o;
  struct map numbers; /* from 1: of variables; while they are collected: 1 */
  ARRAY(ir_var) shared, constants;
  ARRAY(const struct ir_kind *) kinds;
  uint32_t *params; /* of the mark */
  uint32_t param_count;
};

static void rename_use(struct renaming *r, ir_var v) {
  struct outline *o = r->o;
  const enum body_origin origin = outline_from(o, v);
  if (origin == FROM_BODY || origin == FROM_COUNT) return;
  uint32_t *number = map_at(&r->numbers, v);
  if (*number) return;
  *number = 1;
  if (origin == FROM_INPUT) return;
  const struct vcode_constant *k = constant_of(o->f, v);
  if (k && k->length <= 1) {
    *array_push(o->f->arena, &r->constants) = v;
  } else {
    *array_push(o->f->arena, &r->shared) = v;
  }
}

static void use_block(struct renaming *r, const struct ir_block *b) {
  for (struct ir_walk w = ir_walk(r->o->f->arena, b); ir_next_uses(&w);) {
    for (uint32_t k = 0; k < w.use_count; k++) rename_use(r, w.uses[k]);
  }
}

/* Notes all uses, of the procedure as well: both take the same. Elements of segments use the
 * descriptor, too. */
static void use_all(struct renaming *r) {
  struct outline *o = r->o;
  rename_use(r, o->inside.one);
  use_block(r, &o->body);
  for (size_t i = 0; i < o->outputs.count; i++) rename_use(r, o->outputs.items[i].inner);
  if (o->has_procedure) use_block(r, &o->one);
  for (size_t i = o->inputs.count; i-- > 1;) {
    const struct body_input *x = &o->inputs.items[i];
    if (x->of != IR_EACH && map_get(&r->numbers, x->inner))
      rename_use(r, o->inputs.items[x->of].inner);
  }
}

static ir_var renamed_var(struct renaming *r, ir_var v) {
  *array_push(r->o->f->arena, &r->kinds) = r->o->f->kinds.items[v];
  *map_at(&r->numbers, v) = (uint32_t)r->kinds.count;
  return (ir_var)r->kinds.count - 1;
}

static ir_var renamed(const struct renaming *r, ir_var v) {
  return map_get(&r->numbers, v) - 1;
}

static void number_params(struct renaming *r) {
  struct outline *o = r->o;
  r->params =
      arena_alloc(o->f->arena, (o->inputs.count + r->shared.count + 1) * sizeof *r->params);
  for (size_t i = 0; i < o->inputs.count; i++) {
    const struct body_input *x = &o->inputs.items[i];
    if (!map_get(&r->numbers, x->inner)) continue;
    const bool within = x->of != IR_EACH && x->of != IR_SHARED;
    r->params[renamed_var(r, x->inner)] =
        within ? renamed(r, o->inputs.items[x->of].inner) : x->of;
    *array_push(o->f->arena, &o->operands) = x->outer;
  }
  for (size_t i = 0; i < r->shared.count; i++) {
    r->params[renamed_var(r, r->shared.items[i])] = IR_SHARED;
    *array_push(o->f->arena, &o->operands) = r->shared.items[i];
  }
  r->param_count = (uint32_t)r->kinds.count;
}

static struct ir_block *copy_block(struct renaming *r, const struct ir_block *b,
                                   size_t constants);

static struct ir_binding copy_binding(struct renaming *r, const struct ir_binding *x) {
  struct ir_binding y = *x;
  const size_t count = (size_t)x->operand_count + x->result_count;
  y.operands = arena_alloc(r->o->f->arena, count * (sizeof(ir_var) + sizeof(bool)) + 1);
  y.results = y.operands + x->operand_count;
  y.last = (bool *)(y.results + x->result_count);
  y.unused = y.last + x->operand_count;
  for (uint32_t i = 0; i < x->operand_count; i++) y.operands[i] = renamed(r, x->operands[i]);
  if (x->form == IR_IF) {
    y.as.arms.then = copy_block(r, x->as.arms.then, 0);
    y.as.arms.otherwise = copy_block(r, x->as.arms.otherwise, 0);
  }
  for (uint32_t i = 0; i < x->result_count; i++) y.results[i] = renamed_var(r, x->results[i]);
  return y;
}

/* A copy with the function's variables, behind its first constants. */
static struct ir_block *copy_block(struct renaming *r, const struct ir_block *b,
                                   size_t constants) {
  struct arena *arena = r->o->f->arena;
  struct ir_block *copy = arena_alloc(arena, sizeof *copy);
  *copy = *b;
  copy->count = 0;
  copy->bindings = arena_alloc(arena, (constants + b->count + 1) * sizeof *copy->bindings);
  for (size_t i = 0; i < constants; i++) {
    const struct ir_binding *x = r->o->f->definitions.items[r->constants.items[i]];
    copy->bindings[copy->count++] = copy_binding(r, x);
  }
  for (uint32_t i = 0; i < b->count; i++) {
    copy->bindings[copy->count++] = copy_binding(r, &b->bindings[i]);
  }
  copy->results = arena_alloc(arena, b->result_count * (sizeof(ir_var) + sizeof(bool)) + 1);
  copy->last = (bool *)(copy->results + b->result_count);
  for (uint32_t i = 0; i < b->result_count; i++) copy->results[i] = renamed(r, b->results[i]);
  return copy;
}

static const struct ir_instances *outlined_mark(const struct renaming *r) {
  const struct outline *o = r->o;
  struct ir_instances *made = arena_alloc(o->f->arena, sizeof *made);
  uint32_t *results = arena_alloc(o->f->arena, (o->outputs.count + 1) * sizeof *results);
  for (size_t i = 0; i < o->outputs.count; i++) results[i] = o->outputs.items[i].of;
  *made = (struct ir_instances){r->params, results};
  return made;
}

static const struct name *each_name(struct flattener *f, uint32_t function, bool lifted) {
  char text[32];
  snprintf(text, sizeof text, "EACH_%u%s", function, lifted ? "L" : "");
  return intern_name(&f->session->names, text, strlen(text));
}

/* Checks of the function, which were those of the code around it. */
static struct vars take_wanted(struct renaming *r, size_t wanted) {
  struct flattener *f = r->o->f;
  struct vars taken = {.arena = f->arena};
  size_t kept = wanted;
  for (size_t i = wanted; i < f->wanted.count; i++) {
    const ir_var v = f->wanted.items[i];
    if (outline_from(r->o, v) == FROM_AROUND) {
      f->wanted.items[kept++] = v;
    } else {
      *array_push(f->arena, &taken.list) = renamed(r, v);
    }
  }
  f->wanted.count = kept;
  return taken;
}

static bool block_has_effect(const struct flattener *f, const struct ir_block *b) {
  for (struct ir_walk w = ir_walk(f->arena, b); ir_next_uses(&w);) {
    if (w.x ? binding_has_effect(f, w.x) : w.block->end != IR_YIELD) return true;
  }
  return false;
}

/* Numbers the parameters of the procedure in the order of those of the function. */
static void number_procedure(const struct renaming *r, struct renaming *q) {
  struct outline *o = r->o;
  *q = (struct renaming){.o = o};
  map_init(&q->numbers, o->f->arena);
  for (size_t i = 1; i < o->inputs.count; i++) {
    if (map_get(&r->numbers, o->inputs.items[i].inner))
      renamed_var(q, o->inputs.items[i].inner);
  }
  for (size_t i = 0; i < r->shared.count; i++) renamed_var(q, r->shared.items[i]);
  q->param_count = (uint32_t)q->kinds.count;
  for (size_t i = 0; i < r->constants.count; i++)
    *array_push(o->f->arena, &q->constants) = r->constants.items[i];
}

/* Makes the procedure; `r` has the numbers of the function's variables. Returns its number. */
static uint32_t outlined_procedure(const struct renaming *r) {
  struct outline *o = r->o;
  struct flattener *f = o->f;
  struct renaming q;
  if (!o->has_procedure) return IR_NO_PROCEDURE;
  number_procedure(r, &q);
  struct ir_block *body = copy_block(&q, &o->one, q.constants.count);
  struct vars checked = {.arena = f->arena};
  for (size_t i = 0; i < o->one_checked.list.count; i++) {
    const ir_var v = o->one_checked.list.items[i];
    /* what is closed is computed around, and checked there */
    if (map_get(&q.numbers, v)) *array_push(f->arena, &checked.list) = renamed(&q, v);
  }
  const uint32_t function = (uint32_t)f->functions.count;
  *array_push(f->arena, &f->functions) = (struct ir_function){0};
  flat_function(f, function, each_name(f, function, false), q.param_count, q.kinds.items,
                (uint32_t)q.kinds.count, body, checked);
  f->made_functions.items[function].removable =
      checked.list.count == 0 && !block_has_effect(f, body);
  return function;
}

uint32_t outline_function(struct outline *o, size_t wanted) {
  struct flattener *f = o->f;
  struct renaming r = {.o = o};
  map_init(&r.numbers, f->arena);
  o->body.result_count = (uint32_t)o->outputs.count;
  o->body.results = arena_alloc(f->arena, (o->outputs.count + 1) * sizeof *o->body.results);
  for (size_t i = 0; i < o->outputs.count; i++) o->body.results[i] = o->outputs.items[i].inner;
  use_all(&r);
  number_params(&r);
  const uint32_t procedure = outlined_procedure(&r);
  struct ir_block *body = copy_block(&r, &o->body, r.constants.count);
  const uint32_t function = (uint32_t)f->functions.count;
  *array_push(f->arena, &f->functions) = (struct ir_function){0};
  flat_function(f, function, each_name(f, function, true), r.param_count, r.kinds.items,
                (uint32_t)r.kinds.count, body, take_wanted(&r, wanted));
  f->functions.items[function].instances = outlined_mark(&r);
  f->functions.items[function].procedure = procedure;
  struct made_function *made = &f->made_functions.items[function];
  made->effect = o->effect;
  made->removable = made->wanted.list.count == 0 && !block_has_effect(f, body);
  return function;
}
