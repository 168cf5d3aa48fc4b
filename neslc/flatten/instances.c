/* instances.c - which bodies of apply-to-each become lifted functions (ir/ir.h).
 *
 * The rule: a body is a function if it *holds* elements, that is, if it computes a sequence
 * for each instance of which an operation of the body needs the elements. They need not be
 * there for all instances at once. So `{sum({x * y : y in v}) : x in u}` is one.
 *
 * The body stays in the code around it
 *   - if it computes scalars only, or sequences that are only its value;
 *   - if the sequences that it needs are those of the callee of a batch call: that is
 *     cut by itself;
 *   - if some of its value would have to be copied: a view of sequences that it made, or what
 *     is the same for all instances and not known before the call;
 *   - if it has an effect other than random numbers, or draws them conditionally: an arm, a
 *     loop or a recursive function does;
 *   - within the function of a combination (combine.c).
 *
 * That is seen from the code of the body, which is generated into a block of its own. If it is
 * no function, nothing of the attempt is left, the body is generated again where it stands, and
 * the answer is kept for this expression, its types and the forms of what it uses: so nested
 * bodies are not tried again and again.
 */
#include "neslc/flatten/instances.h"

#include <string.h>

#include "neslc/flatten/call.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/explain.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/outline.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

/* The variables that hold elements of sequences for each instance, made in the attempt. */
struct trial {
  struct trial *outer;
  ARRAY(ir_var) held;
};

void trial_holds(struct flattener *f, const struct rep *r) {
  if (r->kind == REP_PAIR) {
    trial_holds(f, r->left);
    trial_holds(f, r->right);
  } else if (r->kind == REP_SCALAR && !r->shared) {
    *array_push(f->arena, &f->trial->held) = r->v;
  }
}

/* ---- what an attempt changes ---- */

struct snapshot {
  size_t kinds, functions, specialisations, pulled, superops, wanted, expanded, explanations;
  size_t held; /* by the attempt around */
  struct present explained;
  bool exact_floats;
};

static struct snapshot snapshot_of(const struct flattener *f) {
  return (struct snapshot){.kinds = f->kinds.count,
                           .functions = f->functions.count,
                           .specialisations = f->specialisations.count,
                           .pulled = f->pulled.count,
                           .superops = f->superops.count,
                           .wanted = f->wanted.count,
                           .expanded = f->expanded,
                           .explanations = f->explanations.count,
                           .explained = f->explained,
                           .held = f->trial ? f->trial->held.count : 0,
                           .exact_floats = f->exact_floats};
}

static void go_back(struct flattener *f, const struct snapshot *s) {
  f->kinds.count = f->definitions.count = s->kinds;
  f->functions.count = s->functions;
  if (f->made_functions.count > s->functions) f->made_functions.count = s->functions;
  f->specialisations.count = s->specialisations;
  f->pulled.count = s->pulled;
  f->superops.count = s->superops;
  f->wanted.count = s->wanted;
  f->expanded = s->expanded;
  f->explanations.count = s->explanations;
  f->explained = s->explained;
  if (f->trial) f->trial->held.count = s->held;
  f->exact_floats = s->exact_floats;
}

/* ---- answers that are known ---- */

/* A body that is no function, for these types and forms. */
struct inlined_body {
  const struct inlined_body *next;
  uint32_t count;
  struct type **arguments;
  const char *signature;
  const char *why; /* it "..."; NULL: there is nothing to say */
};

static bool has_same_types(struct flattener *f, const struct inlined_body *x) {
  if (x->count != f->frame->count) return false;
  for (uint32_t i = 0; i < x->count; i++) {
    struct type *a = x->arguments[i], *b = f->frame->arguments[i];
    if (!a != !b || (a && a != b && !type_same(f->arena, a, b))) return false;
  }
  return true;
}

static const struct inlined_body *find_inlined(struct flattener *f, const struct core *body,
                                               const char *signature) {
  for (const struct inlined_body *x = table_get(&f->inlined, body); x; x = x->next) {
    if (strcmp(x->signature, signature) == 0 && has_same_types(f, x)) return x;
  }
  return NULL;
}

static void remember_inlined(struct flattener *f, const struct core *body,
                             const char *signature, const char *why) {
  struct inlined_body *x = arena_alloc(f->arena, sizeof *x);
  *x = (struct inlined_body){.next = table_get(&f->inlined, body),
                             .count = f->frame->count,
                             .arguments = f->frame->arguments,
                             .signature = signature,
                             .why = why};
  table_set(&f->inlined, body, x);
}

/* ---- the attempt ---- */

struct attempt {
  struct flattener *f;
  struct context *around;
  const struct core *each, *body;
  struct loop captured;     /* the variables it mentions ... */
  struct bound_rep *values; /* ... and what they are bound to around it */
  const char *signature;
  struct snapshot before;
  struct flat_block *lifted; /* the code that makes their values for each instance */
  const struct rep *inputs;  /* these values in the function */
  struct outline outline;
  struct closed_values closed;
};

static void find_attempt_values(struct attempt *t) {
  struct flattener *f = t->f;
  struct core *const body = (struct core *)(uintptr_t)t->body;
  find_captured(f, body, &body, 1, &t->captured);
  const uint32_t count = t->captured.captured_count;
  t->values = arena_alloc(f->arena, (count + 1) * sizeof *t->values);
  for (uint32_t i = 0; i < count; i++) {
    t->values[i] = f->frame->locals.items[t->captured.captured[i]->number];
  }
}

static void restore_values(struct attempt *t) {
  for (uint32_t i = 0; i < t->captured.captured_count; i++) {
    bind_local(t->f, t->values[i].context, t->captured.captured[i], t->values[i].rep);
  }
}

/* A view of all of its sequences that have elements is made plain: they are not moved. */
static const struct rep *without_whole(struct flattener *f, const struct context *c,
                                       const struct rep *r) {
  if (r->kind == REP_PAIR) {
    const struct rep *left = without_whole(f, c, r->left);
    return rep_pair(f, left, without_whole(f, c, r->right));
  }
  return r->kind == REP_SEQUENCE && r->base && r->whole ? rep_no_view(f, c, r) : r;
}

/* The values for each instance; they are not yet inputs. */
static const struct rep *lift_values(struct attempt *t) {
  struct flattener *f = t->f;
  t->before = snapshot_of(f);
  t->lifted = block_begin(f);
  const struct rep *values =
      captured_values(f, t->around, t->captured.captured_count, t->captured.captured);
  values = without_whole(f, t->around, values);
  t->signature = rep_signature(f, values);
  return values;
}

static const struct rep *generate_attempt(struct attempt *t, const struct rep *values,
                                          struct trial *trial) {
  struct flattener *f = t->f;
  struct outline *o = &t->outline;
  outline_begin(o, f, t->around);
  t->inputs = outline_input(o, values);
  bind_captured(f, &o->inside, t->captured.captured_count, t->captured.captured, t->inputs);
  struct closed_values *const closed = f->closed;
  *trial = (struct trial){.outer = f->trial};
  f->trial = trial;
  f->closed = &t->closed;
  t->closed.block = f->block;
  const struct rep *value = flatten(f, &o->inside, t->body);
  f->trial = trial->outer;
  f->closed = closed;
  return value;
}

/* Whether an operation needs elements that are held. */
static bool holds_elements(const struct attempt *t, const struct trial *trial) {
  struct flattener *f = t->f;
  const struct outline *o = &t->outline;
  outline_need_nothing(f);
  for (size_t i = 0; i < trial->held.count; i++) {
    const ir_var v = trial->held.items[i];
    f->needed.items[v] = outline_from(o, v) == FROM_BODY;
  }
  for (struct ir_walk w = ir_walk(f->arena, &o->body); ir_next_binding(&w);) {
    for (uint32_t k = 0; k < w.use_count; k++) {
      if (f->needed.items[w.uses[k]]) return true;
    }
  }
  return false;
}

static bool has_effects_of(struct flattener *f, const struct specialisation *v) {
  if (v->loop) return has_effects(f, v->loop->core);
  if (v->lambda) return has_effects(f, v->lambda->body);
  if (v->derived) return has_effects(f, v->derived->body);
  return global_traits(f, v->global)->effects;
}

/* Whether it draws random numbers, perhaps the same number of times in every execution: what is
 * known of its code, when that is there, decides (check_marks). Rounds and calls of itself do
 * not. */
static bool may_draw_always(struct flattener *f, const struct specialisation *v) {
  if (v->loop) return false;
  if (v->lambda) return only_draws(f, v->lambda->body);
  if (v->derived) return only_draws(f, v->derived->body);
  const struct traits *t = global_traits(f, v->global);
  return !t->others && !t->recursive;
}

/* Returns the effect of a function whose code may not have been generated. */
static enum code_effect effect_of(const void *flattener, uint32_t function) {
  struct flattener *f = (struct flattener *)(uintptr_t)flattener;
  for (size_t i = 0; i < f->specialisations.count; i++) {
    const struct specialisation *v = &f->specialisations.items[i];
    if (v->function != function) continue;
    if (!has_effects_of(f, v)) return EFFECT_NONE;
    return may_draw_always(f, v) ? EFFECT_DRAWS : EFFECT_CALLS;
  }
  return f->made_functions.items[function].effect; /* it is a body */
}

/* Why the effects of the body do not permit a function; or NULL. */
static const char *forbidding_effect(struct attempt *t) {
  struct outline *o = &t->outline;
  if (o->effects) o->effect = block_effect(&o->body, effect_of, t->f);
  switch (o->effect) {
  case EFFECT_NONE:
  case EFFECT_DRAWS: break;
  case EFFECT_DRAWS_SOME: return "draws random numbers conditionally";
  case EFFECT_CALLS:
    return "calls what prints or has another effect, or draws random numbers a number of times "
           "that depends on the instances";
  case EFFECT_OTHER: return "prints, reads, takes the time or ends the program";
  }
  return NULL;
}

static bool has_call(struct arena *arena, const struct ir_block *b) {
  for (struct ir_walk w = ir_walk(arena, b); ir_next_binding(&w);) {
    if (w.x->form == IR_CALL) return true;
  }
  return false;
}

/* Whether the generated body is to be a function; by the rule above. If not, *why says what
 * keeps a body with sequences from that. */
static bool is_function(struct attempt *t, const struct rep *value, const struct trial *trial,
                        const char **why) {
  struct outline *o = &t->outline;
  o->effects = has_effects_here(t->f, t->body);
  outline_separate(o);
  const bool results = trial->held.count > 0 && outline_outputs(o, value);
  if (results) outline_clean(o, t->before.wanted);
  *why = has_call(o->f->arena, &o->body) ? "computes sequences in calls only"
         : trial->held.count > 0         ? "needs no elements of the sequences that it computes"
                                         : NULL;
  if (trial->held.count == 0 || !holds_elements(t, trial)) return false;
  *why = results ? forbidding_effect(t) : o->copied;
  if (*why) return false;
  *why = "has only checks left to do"; /* else it has results */
  return o->outputs.count > 0;
}

/* The code that was generated for a block becomes that of the block around it. */
static void join_block(struct flattener *f, const struct flat_block *b) {
  for (size_t i = 0; i < b->bindings.count; i++) {
    *array_push(f->arena, &b->outer->bindings) = b->bindings.items[i];
  }
  f->block = b->outer;
}

static void explain_inlined(const struct attempt *t, const char *why) {
  if (!why) return;
  explain(t->f, t->each->source, t->each->at.start, "apply-to-each is not lifted: it", why);
}

/* Generates the body once more, for one instance. */
static const struct rep *generate_one(struct attempt *t) {
  struct flattener *f = t->f;
  struct trial *const trial = f->trial;
  struct closed_values *const closed = f->closed;
  const bool apart = f->apart;
  f->trial = NULL;
  f->apart = true;
  f->closed = &t->closed;
  t->closed.outline = &t->outline;
  const struct rep *inputs = outline_one_input(&t->outline, t->inputs);
  bind_captured(f, &f->serial, t->captured.captured_count, t->captured.captured, inputs);
  const struct rep *one = flatten(f, &f->serial, t->body);
  f->trial = trial;
  f->apart = apart;
  f->closed = closed;
  restore_values(t);
  return one;
}

/* Makes the procedure of the function. Nothing else changes for the code around. */
static void attempt_procedure(struct attempt *t, const struct rep *value) {
  struct flattener *f = t->f;
  if (!f->options->procedures || t->outline.effect != EFFECT_NONE || !room_for_functions(f))
    return;
  const struct snapshot before = snapshot_of(f);
  struct flat_block *code = block_begin(f);
  const struct rep *one = generate_one(t);
  const bool made = outline_procedure(&t->outline, value, one, code, before.wanted);
  block_abandon(f, code);
  if (!made) go_back(f, &before);
  f->expanded = before.expanded;
  f->explanations.count = before.explanations;
  f->explained = before.explained;
}

/* The value of the body by a call; NULL if it is no function. */
static const struct rep *attempt(struct attempt *t) {
  struct flattener *f = t->f;
  struct trial trial;
  const struct rep *values = lift_values(t);
  const struct inlined_body *known = find_inlined(f, t->body, t->signature);
  if (known) {
    block_abandon(f, t->lifted);
    go_back(f, &t->before);
    explain_inlined(t, known->why);
    return NULL;
  }
  const char *why;
  const struct rep *value = generate_attempt(t, values, &trial);
  restore_values(t);
  if (is_function(t, value, &trial, &why)) {
    outline_leave(&t->outline);
    attempt_procedure(t, value);
    value = outline_call(&t->outline, value, t->before.wanted);
    explain_by_instances(f, t->each->source, t->each->at.start, "apply-to-each",
                         (uint32_t)f->functions.count - 1);
    join_block(f, t->lifted);
    return value;
  }
  block_abandon(f, t->outline.code);
  block_abandon(f, t->lifted);
  go_back(f, &t->before);
  remember_inlined(f, t->body, t->signature, why);
  explain_inlined(t, why);
  return NULL;
}

const struct rep *flatten_body(struct flattener *f, struct context *c,
                               const struct core *each) {
  const struct core *body = each->as.each.body;
  unsigned budget = SIMPLE_NODES;
  if (f->combining || is_simple(f, body, &budget)) return flatten(f, c, body);
  struct attempt t = {.f = f, .around = c, .each = each, .body = body};
  find_attempt_values(&t);
  const struct rep *value = attempt(&t);
  return value ? value : flatten(f, c, body);
}
