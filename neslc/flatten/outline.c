/* outline.c - see outline.h.
 *
 * What is the same for all instances is executed before the call, once and not for each chunk
 * of the instances: operations without faults always; others, and calls, unless something
 * that the function keeps, and that may fail, comes before them.
 */
#include "neslc/flatten/outline.h"

#include <string.h>

#include "ir/dead.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/rep.h"

/* ---- inputs ---- */

static uint32_t input(struct outline *o, ir_var outer, uint32_t of) {
  for (size_t i = 1; i < o->inputs.count; i++) {
    const struct body_input *known = &o->inputs.items[i];
    if (known->outer == outer && known->of == of) return (uint32_t)i;
  }
  const ir_var inner = flat_var(o->f, o->f->kinds.items[outer]);
  *array_push(o->f->arena, &o->inputs) = (struct body_input){outer, inner, of};
  return (uint32_t)o->inputs.count - 1;
}

static ir_var inner_var(const struct outline *o, uint32_t number) {
  return o->inputs.items[number].inner;
}

static const struct rep *inputs_of(struct outline *o, const struct rep *r, uint32_t of,
                                   ir_var outer);

static const struct rep *sequence_input(struct outline *o, const struct rep *r, uint32_t of,
                                        ir_var outer) {
  struct flattener *f = o->f;
  if (r->shared) return r;
  if (r->base) return rep_view(f, r->base, inner_var(o, input(o, r->owner, of)));
  const uint32_t number = input(o, r->segdes, of);
  const ir_var segdes = inner_var(o, number);
  const struct rep *empty = rep_sequence(f, segdes, outer, NULL, false);
  const ir_var one = seq_elements_one(f, empty);
  return rep_sequence(f, segdes, outer, inputs_of(o, r->elements, number, one), false);
}

static const struct rep *inputs_of(struct outline *o, const struct rep *r, uint32_t of,
                                   ir_var outer) {
  const struct rep *left;
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR:
    left = inputs_of(o, r->left, of, outer);
    return rep_pair(o->f, left, inputs_of(o, r->right, of, outer));
  case REP_PULLED:
    left = inputs_of(o, r->left, of, outer);
    return rep_pulled(o->f, r->function, left, inputs_of(o, r->right, of, outer));
  case REP_SCALAR:
    if (r->shared) return r;
    return rep_scalar(o->f, (enum type_word)r->word, inner_var(o, input(o, r->v, of)), false);
  case REP_SEQUENCE: break;
  }
  return sequence_input(o, r, of, outer);
}

void outline_begin(struct outline *o, struct flattener *f, struct context *around) {
  *o = (struct outline){.f = f, .around = around, .first = (ir_var)f->kinds.count};
  const ir_var one = flat_var(f, &flat_kinds[IR_SEGDES]);
  *array_push(f->arena, &o->inputs) = (struct body_input){around->one, one, IR_SHARED};
  o->inside = (struct context){.kind = CONTEXT_LIFTED, .one = one};
  o->code = block_begin(f);
}

const struct rep *outline_input(struct outline *o, const struct rep *r) {
  return inputs_of(o, r, IR_EACH, o->inside.one);
}

/* ---- what the function computes, and what the code around ---- */

enum body_origin outline_from(const struct outline *o, ir_var v) {
  if (v >= o->end) return v < o->apart ? FROM_AROUND : FROM_BODY;
  return v < o->first ? FROM_AROUND : (enum body_origin)o->froms[v - o->first];
}

static void set_from(struct outline *o, const struct ir_binding *x, enum body_origin origin) {
  for (uint32_t i = 0; i < x->result_count; i++) {
    o->froms[x->results[i] - o->first] = (uint8_t)origin;
  }
}

/* The number of instances, and whether there are any: flatten_if_any asks. */
static bool is_count(const struct outline *o, const struct ir_binding *x) {
  if (x->form != IR_OP) return false;
  if (x->op == OPC_LENGTHS) return x->operands[0] == o->inside.one;
  return x->op == OPC_GT && outline_from(o, x->operands[0]) == FROM_COUNT &&
         constant_of(o->f, x->operands[1]);
}

static bool operands_around(const struct outline *o, const struct ir_binding *x) {
  for (uint32_t i = 0; i < x->operand_count; i++) {
    const enum body_origin origin = outline_from(o, x->operands[i]);
    const bool asks = x->form == IR_IF && origin == FROM_COUNT;
    if (origin != FROM_AROUND && !asks) return false;
  }
  return true;
}

/* `clear`: nothing that may fail comes before it. */
static bool may_precede(const struct outline *o, const struct ir_binding *x, bool clear) {
  switch ((enum ir_form)x->form) {
  case IR_CONST: return true;
  case IR_FUSED:
  case IR_IF: return clear;
  case IR_CALL: return clear && !o->effects;
  case IR_OP: break;
  }
  if (x->op == OPC_ASSERT) return clear;
  if (!opcode_is_pure((enum opcode)x->op)) return false;
  return clear || opcode_fault((enum opcode)x->op, (enum type_word)x->type) == CVL_E_NONE;
}

static bool goes_before(struct outline *o, const struct ir_binding *x, bool clear);

static bool block_goes_before(struct outline *o, const struct ir_block *b) {
  for (uint32_t i = 0; i < b->count; i++) {
    if (!goes_before(o, &b->bindings[i], true)) return false;
  }
  for (uint32_t i = 0; i < b->result_count; i++) {
    if (outline_from(o, b->results[i]) != FROM_AROUND) return false;
  }
  return b->end == IR_YIELD;
}

static void block_stays(struct outline *o, const struct ir_block *b) {
  for (struct ir_walk w = ir_walk(o->f->arena, b); ir_next_binding(&w);)
    set_from(o, w.x, FROM_BODY);
}

/* Whether a binding is executed before the call; sets where its results come from. */
static bool goes_before(struct outline *o, const struct ir_binding *x, bool clear) {
  bool before = operands_around(o, x) && may_precede(o, x, clear);
  if (x->form == IR_IF) {
    before = before && block_goes_before(o, x->as.arms.then) &&
             block_goes_before(o, x->as.arms.otherwise);
    if (!before) {
      block_stays(o, x->as.arms.then);
      block_stays(o, x->as.arms.otherwise);
    }
  }
  set_from(o, x, before ? FROM_AROUND : is_count(o, x) ? FROM_COUNT : FROM_BODY);
  return before;
}

/* Whether its failure is a check, of f->wanted. */
static bool is_check(const struct flattener *f, const struct ir_binding *x) {
  if (x->form != IR_OP) return x->form != IR_CONST;
  if (!opcode_is_pure((enum opcode)x->op)) return true;
  for (size_t i = 0; i < f->wanted.count; i++) {
    if (f->wanted.items[i] == x->results[0]) return true;
  }
  return false;
}

void outline_separate(struct outline *o) {
  struct flattener *f = o->f;
  const size_t count = o->code->bindings.count;
  o->end = (ir_var)f->kinds.count;
  o->froms = arena_alloc(f->arena, f->kinds.count - o->first + 1);
  for (size_t i = 0; i < o->inputs.count; i++) {
    o->froms[o->inputs.items[i].inner - o->first] = FROM_INPUT;
  }
  o->body = (struct ir_block){.end = IR_YIELD};
  o->body.bindings = arena_alloc(f->arena, (count + 1) * sizeof *o->body.bindings);
  bool clear = true;
  for (size_t i = 0; i < count; i++) {
    const struct ir_binding *x = &o->code->bindings.items[i];
    if (goes_before(o, x, clear)) {
      *array_push(f->arena, &o->before) = x;
      continue;
    }
    clear = clear && !is_check(f, x);
    o->body.bindings[o->body.count++] = *x;
  }
}

/* ---- outputs ---- */

static uint32_t output(struct outline *o, ir_var inner, uint32_t of) {
  for (size_t i = 0; i < o->outputs.count; i++) {
    if (o->outputs.items[i].inner == inner) return (uint32_t)i;
  }
  *array_push(o->f->arena, &o->outputs) = (struct body_output){inner, of};
  return (uint32_t)o->outputs.count - 1;
}

bool outline_is_around(const struct outline *o, const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return true;
  case REP_PAIR:
  case REP_PULLED: return outline_is_around(o, r->left) && outline_is_around(o, r->right);
  case REP_SCALAR: return outline_from(o, r->v) == FROM_AROUND;
  case REP_SEQUENCE: break;
  }
  if (r->series &&
      (outline_from(o, r->start) != FROM_AROUND || outline_from(o, r->stride) != FROM_AROUND)) {
    return false;
  }
  if (r->base) return outline_from(o, r->owner) == FROM_AROUND && outline_is_around(o, r->base);
  return outline_from(o, r->segdes) == FROM_AROUND &&
         outline_from(o, r->outer) == FROM_AROUND && outline_is_around(o, r->elements);
}

static bool outputs_of(struct outline *o, const struct rep *r, uint32_t of);

/* Refuses an output that would have to be copied. */
static bool permitted(struct outline *o, bool good, const char *why) {
  if (!good) o->copied = why;
  return good;
}

static const char one_for_all[] =
    "has a value that is the same for all instances, and would be copied";

static bool around_output(struct outline *o, const struct rep *r) {
  return permitted(o, outline_is_around(o, r), one_for_all);
}

static bool one_output(struct outline *o, ir_var v, uint32_t of) {
  const enum body_origin origin = outline_from(o, v);
  if (origin == FROM_BODY) output(o, v, of);
  return permitted(o, origin == FROM_BODY || origin == FROM_INPUT, one_for_all);
}

static bool view_output(struct outline *o, const struct rep *r, uint32_t of) {
  return permitted(
             o, outline_is_around(o, r->base),
             "has a value that is a view of sequences that it made, and would be copied") &&
         one_output(o, r->owner, of);
}

/* A descriptor that is an input is a result as well where the sizes of others need it. */
static bool sequence_output(struct outline *o, const struct rep *r, uint32_t of) {
  const bool made = outline_from(o, r->segdes) == FROM_BODY;
  if (!permitted(o, made || outline_from(o, r->segdes) == FROM_INPUT, one_for_all))
    return false;
  const uint32_t number = output(o, r->segdes, of);
  if (!outputs_of(o, r->elements, number)) return false;
  if (!made && o->outputs.count == (size_t)number + 1) o->outputs.count--;
  return true;
}

static bool outputs_of(struct outline *o, const struct rep *r, uint32_t of) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return true;
  case REP_PAIR:
  case REP_PULLED: return outputs_of(o, r->left, of) && outputs_of(o, r->right, of);
  case REP_SCALAR: return r->shared ? around_output(o, r) : one_output(o, r->v, of);
  case REP_SEQUENCE: break;
  }
  if (r->shared) return around_output(o, r);
  if (r->base) return view_output(o, r, of);
  return sequence_output(o, r, of);
}

bool outline_outputs(struct outline *o, const struct rep *value) {
  return outputs_of(o, value, IR_EACH);
}

/* ---- dead code ---- */

static bool is_outlined_kept(void *flattener, const struct ir_binding *x) {
  return binding_has_effect(flattener, x);
}

void outline_need_nothing(struct flattener *f) {
  while (f->needed.count < f->kinds.count) *array_push(f->arena, &f->needed) = false;
  memset(f->needed.items, 0, f->needed.count);
}

void outline_clean(struct outline *o, size_t wanted) {
  struct flattener *f = o->f;
  outline_need_nothing(f);
  for (size_t i = 0; i < o->outputs.count; i++) {
    f->needed.items[o->outputs.items[i].inner] = true;
  }
  for (size_t i = wanted; i < f->wanted.count; i++) {
    f->needed.items[f->wanted.items[i]] = true;
  }
  struct ir_dead d = {
      .needed = f->needed.items, .stays = is_outlined_kept, .context = f, .remove = true};
  ir_dead_block(&d, &o->body);
}

/* ---- the call ---- */

/* A number or comparison of instances, around. */
static ir_var count_around(struct outline *o, ir_var v) {
  struct flattener *f = o->f;
  if (outline_from(o, v) != FROM_COUNT) return v;
  const struct ir_binding *x = f->definitions.items[v];
  if (x->op == OPC_LENGTHS) return EMIT(f, LENGTHS, NONE, o->around->one);
  const ir_var count = count_around(o, x->operands[0]);
  return EMIT(f, GT, INT, count, x->operands[1]);
}

/* Appends what is executed before the call; equal operations behind it are not emitted again.
 */
static void emit_before(struct outline *o) {
  struct flattener *f = o->f;
  for (size_t i = 0; i < o->before.count; i++) {
    struct ir_binding *x = arena_alloc(f->arena, sizeof *x);
    *x = *o->before.items[i];
    if (x->form == IR_IF) x->operands[0] = count_around(o, x->operands[0]);
    *array_push(f->arena, &f->block->bindings) = *x;
    const bool pure = x->form == IR_OP && opcode_is_pure((enum opcode)x->op);
    if (pure || x->form == IR_CONST) ir_numbering_add(&f->known, x);
  }
}

/* Emits the call of the body. It has no source location itself: failures within are reported
 * where the body is written. */
static const ir_var *emit_body_call(struct outline *o, uint32_t function) {
  struct flattener *f = o->f;
  const size_t count = o->outputs.count;
  const struct ir_kind **kinds = arena_alloc(f->arena, (count + 1) * sizeof *kinds);
  ir_var *results = arena_alloc(f->arena, (count + 1) * sizeof *results);
  for (size_t i = 0; i < count; i++) kinds[i] = f->kinds.items[o->outputs.items[i].inner];
  const struct present at = f->at;
  f->at = call_of_body(f);
  emit_call(f, function, (uint32_t)o->operands.count, o->operands.items, (uint32_t)count, kinds,
            results);
  f->at = at;
  return results;
}

static ir_var variable_around(const struct outline *o, ir_var v, const ir_var *results) {
  for (size_t i = 0; i < o->inputs.count; i++) {
    if (o->inputs.items[i].inner == v) return o->inputs.items[i].outer;
  }
  for (size_t i = 0; i < o->outputs.count; i++) {
    if (o->outputs.items[i].inner == v) return results[i];
  }
  return v;
}

static const struct rep *value_around(const struct outline *o, const struct rep *r,
                                      const ir_var *results, ir_var outer);

static const struct rep *sequence_around(const struct outline *o, const struct rep *r,
                                         const ir_var *results, ir_var outer) {
  struct flattener *f = o->f;
  if (r->base) return rep_view(f, r->base, variable_around(o, r->owner, results));
  const ir_var segdes = variable_around(o, r->segdes, results);
  const ir_var one = seq_elements_one(f, rep_sequence(f, segdes, outer, NULL, false));
  const struct rep *elements = value_around(o, r->elements, results, one);
  return rep_sequence(f, segdes, outer, elements, false);
}

/* A value of the function, around it. */
static const struct rep *value_around(const struct outline *o, const struct rep *r,
                                      const ir_var *results, ir_var outer) {
  const struct rep *left;
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR:
    left = value_around(o, r->left, results, outer);
    return rep_pair(o->f, left, value_around(o, r->right, results, outer));
  case REP_PULLED:
    left = value_around(o, r->left, results, outer);
    return rep_pulled(o->f, r->function, left, value_around(o, r->right, results, outer));
  case REP_SCALAR:
    if (r->shared) return r;
    return rep_scalar(o->f, (enum type_word)r->word, variable_around(o, r->v, results), false);
  case REP_SEQUENCE: break;
  }
  return r->shared ? r : sequence_around(o, r, results, outer);
}

void outline_leave(struct outline *o) {
  block_abandon(o->f, o->code);
  emit_before(o);
  o->apart = (ir_var)o->f->kinds.count;
}

const struct rep *outline_call(struct outline *o, const struct rep *value, size_t wanted) {
  const uint32_t function = outline_function(o, wanted);
  return value_around(o, value, emit_body_call(o, function), o->around->one);
}
