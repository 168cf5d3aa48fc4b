/* direct-call.c - calls in the direct interpreter: functions at ground types, closures,
 * constructors, the frames of their variables.
 *
 * A few primitives depend on types (the sum of an empty sequence is 0 or 0.0). So each frame
 * has a `specialisation`: its function, and the ground types of the function's generic
 * variables. There is one specialisation for each function and ground types, found by a hash
 * table, and memoised for each mention of a function.
 */
#include "neslc/reference/direct-private.h"

#include <string.h>

/* ---- tables ---- */

static uint64_t mix_hash(uint64_t h, uint64_t x) {
  h = (h ^ x) * UINT64_C(0x9E3779B97F4A7C15);
  return h ^ h >> 29;
}

static size_t memo_slot(const struct direct *d, const void *node, const void *context) {
  size_t i = (size_t)mix_hash(mix_hash(1, (uintptr_t)node), (uintptr_t)context);
  for (;; i++) {
    const struct memo *m = &d->memos[i & (d->memo_capacity - 1)];
    if (!m->node || (m->node == node && m->context == context)) break;
  }
  return i & (d->memo_capacity - 1);
}

static void grow_memos(struct direct *d) {
  const struct memo *old = d->memos;
  const size_t old_capacity = d->memo_capacity;
  d->memo_capacity = old_capacity ? old_capacity * 2 : 256;
  d->memos = arena_alloc(d->arena, d->memo_capacity * sizeof *d->memos);
  for (size_t i = 0; i < old_capacity; i++) {
    if (old[i].node) d->memos[memo_slot(d, old[i].node, old[i].context)] = old[i];
  }
}

void **direct_memo(struct direct *d, const void *node, const void *context, bool *found) {
  if (d->memo_count * 2 >= d->memo_capacity) grow_memos(d);
  struct memo *m = &d->memos[memo_slot(d, node, context)];
  *found = m->node != NULL;
  if (!*found) {
    *m = (struct memo){node, context, NULL};
    d->memo_count++;
  }
  return &m->value;
}

/* The number of components of a primitive's argument, by its declared type. */
static uint32_t arity_of(const struct global *g) {
  uint32_t arity = 1;
  struct type *t = type_of(type_of(g->scheme.type)->part[0]);
  for (; t->tag == TYPE_PAIR && arity < DIRECT_ARGUMENTS; t = type_of(t->part[1])) arity++;
  return arity;
}

static bool is_wanted_specialisation(struct direct *d, const struct direct_specialisation *s,
                                     const struct direct_specialisation *wanted) {
  if (s->hash != wanted->hash || s->global != wanted->global || s->lambda != wanted->lambda ||
      s->count != wanted->count) {
    return false;
  }
  for (uint32_t i = 0; i < s->count; i++) {
    if (!type_same(d->arena, s->types[i], wanted->types[i])) return false;
  }
  return true;
}

static void grow_specialisations(struct direct *d) {
  struct direct_specialisation **old = d->specialisations;
  const size_t old_capacity = d->specialisation_capacity;
  d->specialisation_capacity = old_capacity ? old_capacity * 2 : 64;
  d->specialisations =
      arena_alloc(d->arena, d->specialisation_capacity * sizeof *d->specialisations);
  for (size_t i = 0; i < old_capacity; i++) {
    for (struct direct_specialisation *s = old[i], *next; s; s = next) {
      struct direct_specialisation **bucket =
          &d->specialisations[s->hash & (d->specialisation_capacity - 1)];
      next = s->next;
      s->next = *bucket;
      *bucket = s;
    }
  }
}

const struct direct_specialisation *find_specialisation(struct direct *d,
                                                        const struct global *global,
                                                        const struct core_lambda *lambda,
                                                        uint32_t count, struct type **types) {
  struct direct_specialisation wanted = {
      .global = global, .lambda = lambda, .count = count, .types = types};
  wanted.hash = mix_hash(mix_hash(2, (uintptr_t)global), (uintptr_t)lambda);
  for (uint32_t i = 0; i < count; i++)
    wanted.hash = mix_hash(wanted.hash, type_hash(d->arena, types[i]));
  if (d->specialisation_count >= d->specialisation_capacity) grow_specialisations(d);
  struct direct_specialisation **bucket =
      &d->specialisations[wanted.hash & (d->specialisation_capacity - 1)];
  for (const struct direct_specialisation *s = *bucket; s; s = s->next) {
    if (is_wanted_specialisation(d, s, &wanted)) return s;
  }
  struct direct_specialisation *made = arena_alloc(d->arena, sizeof *made);
  *made = wanted;
  made->types = arena_alloc(d->arena, count * sizeof *types);
  for (uint32_t i = 0; i < count; i++) made->types[i] = types[i];
  if (global && global->kind == GLOBAL_FUNCTION && global->primitive >= 0) {
    made->arity = arity_of(global);
    made->argument = type_of(global->scheme.type)->part[0];
  }
  made->next = *bucket;
  *bucket = made;
  d->specialisation_count++;
  return made;
}

struct type *ground_type(struct direct *d, const struct direct_specialisation *s,
                         struct type *t) {
  return type_ground(d->arena, t, s->count, s->types);
}

struct type *ground_argument(struct direct *d, const struct direct_specialisation *s) {
  bool found;
  void **known = direct_memo(d, s, &s->argument, &found);
  if (!found) {
    struct type *ground = ground_type(d, s, s->argument);
    known = direct_memo(d, s, &s->argument, &found);
    *known = ground;
  }
  return *known;
}

/* ---- functions as values ---- */

/* The specialisation that a mention of a global refers to in this frame. */
static const struct direct_specialisation *
specialisation_of_use(struct direct *d, const struct direct_frame *frame,
                      const struct core *e) {
  const uint32_t count = e->as.use.count;
  bool found;
  void **known = direct_memo(d, e, count ? frame->specialisation : NULL, &found);
  if (found) return *known;
  struct type **types = arena_alloc(d->arena, count * sizeof *types);
  for (uint32_t i = 0; i < count; i++) {
    types[i] = ground_type(d, frame->specialisation, e->as.use.arguments[i]);
  }
  *known = (void *)(uintptr_t)find_specialisation(d, e->as.use.global, NULL, count, types);
  return *known;
}

static struct datum function_datum(struct direct *d,
                                   const struct direct_specialisation *specialisation,
                                   const struct datum *captured, double size) {
  struct datum_function *f = arena_alloc(d->arena, sizeof *f);
  *f = (struct datum_function){specialisation, captured, size};
  return (struct datum){.kind = DATUM_FUNCTION, .as.function = f};
}

/* The value of a global variable at the types of this mention. */
static struct datum variable_value(struct direct *d,
                                   const struct direct_specialisation *specialisation) {
  const struct global *g = specialisation->global;
  bool found;
  void **known = direct_memo(d, specialisation, g, &found);
  if (!found) {
    struct datum *made = arena_alloc(d->arena, sizeof *made);
    *known = made;
    *made = direct_from_columns(d, ground_type(d, specialisation, g->scheme.type), &g->value);
    return *made;
  }
  return *(const struct datum *)*known;
}

bool direct_global_value(struct direct *d, struct direct_frame *frame, const struct core *e,
                         struct datum *out) {
  const struct direct_specialisation *specialisation = specialisation_of_use(d, frame, e);
  if (specialisation->global->kind == GLOBAL_VARIABLE) {
    *out = variable_value(d, specialisation);
  } else {
    *out = function_datum(d, specialisation, NULL, 1);
  }
  return true;
}

struct datum direct_closure(struct direct *d, struct direct_frame *frame,
                            const struct core_lambda *lambda) {
  const struct direct_specialisation *around = frame->specialisation;
  const struct direct_specialisation *specialisation =
      find_specialisation(d, NULL, lambda, around->count, around->types);
  struct datum *captured = direct_items(d, lambda->captured_count);
  double size = 1;
  for (uint32_t i = 0; i < lambda->captured_count; i++) {
    captured[i] = frame->locals[lambda->captured[i]->number];
    size += datum_size(captured[i]);
  }
  return function_datum(d, specialisation, captured, size);
}

/* ---- frames ---- */

/* A list of free arrays of locals, of one size. */
struct slots {
  struct slots *next;
};

static unsigned slots_class(uint32_t count) {
  unsigned log = 2;
  while ((UINT32_C(1) << log) < count) log++;
  return log;
}

static void frame_open(struct direct *d, struct direct_frame *frame,
                       struct direct_frame *caller,
                       const struct direct_specialisation *specialisation,
                       const struct core *call, uint32_t local_count) {
  const unsigned k = slots_class(local_count);
  *frame =
      (struct direct_frame){.specialisation = specialisation, .call = call, .caller = caller};
  frame->count = UINT32_C(1) << k;
  if (d->free_slots[k]) {
    frame->locals = (void *)d->free_slots[k];
    d->free_slots[k] = d->free_slots[k]->next;
  } else {
    frame->locals = direct_items(d, frame->count);
  }
  d->calls++;
}

static void frame_close(struct direct *d, struct direct_frame *frame) {
  struct slots *slots = (void *)frame->locals;
  const unsigned k = slots_class(frame->count);
  slots->next = d->free_slots[k];
  d->free_slots[k] = slots;
  d->calls--;
}

static bool may_call(struct direct *d, struct direct_frame *frame, const struct core *apply) {
  const uint64_t most = d->options->most_depth;
  if (!most || d->calls < most) return true;
  return direct_fail(d, frame, apply, NESL_LIMIT,
                     "more than %" PRIu64 " calls are open: " FAILURE_CALLS, most);
}

/* ---- primitives ---- */

/* Evaluates the components of a primitive's argument; the pairs around them are not charged. */
static bool eval_arguments(struct direct *d, struct direct_frame *frame, const struct core *e,
                           uint32_t arity, struct datum *arguments) {
  if (arity == 1) return direct_eval(d, frame, e, arguments);
  if (e->kind == CORE_PAIR) {
    if (!direct_eval_part(d, frame, e->as.part.left, 0, arguments)) return false;
    direct_enter(d, 1);
    bool ok = eval_arguments(d, frame, e->as.part.right, arity - 1, arguments + 1);
    direct_leave(d);
    return ok;
  }
  if (!direct_eval(d, frame, e, arguments)) return false;
  for (; arity > 1; arity--, arguments++) {
    arguments[1] = arguments[0].as.pair->right;
    arguments[0] = arguments[0].as.pair->left;
  }
  return true;
}

/* A function that follows the structure of its argument's type: primitives/derive.h. */
static bool apply_derived(struct direct *d, const struct primitive_call *call,
                          const struct derived *derived, struct datum *out) {
  struct datum argument = call->argument[call->specialisation->arity - 1];
  for (uint32_t i = call->specialisation->arity - 1; i-- > 0;) {
    argument = datum_pair(d, call->argument[i], argument);
  }
  if (!may_call(d, call->frame, call->apply)) return false;
  struct direct_frame frame;
  frame_open(d, &frame, call->frame, find_specialisation(d, NULL, NULL, 0, NULL), call->apply,
             derived->local_count);
  direct_bind(d, &frame, derived->parameter, argument);
  bool ok = direct_eval_part(d, &frame, derived->body, 2, out);
  frame_close(d, &frame);
  return ok;
}

static bool apply_direct_primitive(struct direct *d, struct direct_frame *frame,
                                   const struct direct_specialisation *specialisation,
                                   const struct core *e, struct datum *out) {
  struct primitive_call call = {.primitive = (enum primitive)specialisation->global->primitive,
                                .specialisation = specialisation,
                                .frame = frame,
                                .apply = e};
  direct_enter(d, 1);
  bool ok = eval_arguments(d, frame, e->as.part.right, specialisation->arity, call.argument);
  direct_leave(d);
  if (!ok) return false;
  const struct derived *derived = direct_derived(d, &call);
  if (derived && derived->body) return apply_derived(d, &call, derived, out);
  direct_enter(d, 2);
  ok = direct_primitive(d, &call, out);
  direct_leave(d);
  return ok;
}

/* ---- calls ---- */

/* The body of a function or lambda. */
static const struct core *body_of_specialisation(const struct direct_specialisation *s) {
  return s->global ? s->global->body : s->lambda->body;
}

static void frame_begin(struct direct *d, struct direct_frame *frame,
                        struct direct_frame *caller,
                        const struct direct_specialisation *specialisation,
                        const struct datum *captured, const struct core *call) {
  const struct core_lambda *lambda = specialisation->lambda;
  const struct global *g = specialisation->global;
  frame_open(d, frame, caller, specialisation, call, g ? g->local_count : 0);
  for (uint32_t i = 0; lambda && i < lambda->captured_count; i++) {
    const struct core_pattern p = {.kind = PATTERN_LOCAL, .local = lambda->captured[i]};
    direct_bind(d, frame, &p, captured[i]);
  }
}

/* Evaluates the argument in one frame and binds the parameter in another. */
static bool pass_argument(struct direct *d, struct direct_frame *from, const struct core *apply,
                          struct direct_frame *to) {
  const struct direct_specialisation *s = to->specialisation;
  direct_enter(d, 1);
  const bool ok = direct_eval_bind(d, from, apply->as.part.right, to,
                                   s->global ? s->global->parameter : s->lambda->parameter);
  direct_leave(d);
  return ok;
}

static bool is_traced(const struct direct *d, const struct direct_specialisation *s) {
  return d->options->trace && s->global && !s->global->library;
}

/* The tail calls of a frame that this one replaces, and before them that which replaces it. */
static void note_tail(struct direct_frame *to, const struct direct_frame *from,
                      const struct core *apply) {
  size_t count = 0;
  to->tails[count++] = apply;
  for (size_t i = 0; i < FAILURE_MOST_CALLS && count < FAILURE_MOST_CALLS; i++) {
    if (from->tails[i] && from->tails[i] != apply) to->tails[count++] = from->tails[i];
  }
}

/* Replaces a frame by that of the call which ends its function. */
static bool frame_replace(struct direct *d, struct direct_frame *frame,
                          const struct direct_tail *tail) {
  struct direct_frame next;
  frame_begin(d, &next, frame->caller, tail->specialisation, tail->captured, frame->call);
  note_tail(&next, frame, tail->apply);
  const bool ok = pass_argument(d, frame, tail->apply, &next);
  frame_close(d, frame);
  *frame = next;
  return ok;
}

/* Evaluates the body of the frame's function, and of those whose calls end it in turn. */
static bool run_body(struct direct *d, struct direct_frame *frame, struct datum *out) {
  if (d->parallel > 0)
    return direct_eval_part(d, frame, body_of_specialisation(frame->specialisation), 2, out);
  for (;;) {
    struct direct_tail tail = {NULL, NULL, NULL};
    direct_enter(d, 2);
    const bool ok =
        direct_eval_body(d, frame, body_of_specialisation(frame->specialisation), &tail, out);
    direct_leave(d);
    if (!ok || !tail.apply) return ok;
    if (!frame_replace(d, frame, &tail)) return false;
  }
}

static bool has_body(struct direct *d, struct direct_frame *frame,
                     const struct direct_specialisation *s, const struct core *e) {
  if (body_of_specialisation(s)) return true;
  return direct_fail(d, frame, e, NESL_NO_BODY, "the function `%s` is declared but not defined",
                     s->global->name->text);
}

/* Calls a function or lambda; captured: values of the lambda's variables. */
static bool apply_body(struct direct *d, struct direct_frame *frame,
                       const struct direct_specialisation *specialisation,
                       const struct datum *captured, const struct core *e, struct datum *out) {
  if (!has_body(d, frame, specialisation, e) || !may_call(d, frame, e)) return false;
  struct direct_frame inner;
  frame_begin(d, &inner, frame, specialisation, captured, e);
  const bool ok = is_traced(d, specialisation)
                      ? direct_apply_traced(d, frame, &inner, e, out)
                      : pass_argument(d, frame, e, &inner) && run_body(d, &inner, out);
  frame_close(d, &inner);
  return ok;
}

bool direct_apply_last(struct direct *d, struct direct_frame *frame, const struct core *e,
                       struct direct_tail *tail, struct datum *out) {
  const struct direct_specialisation *specialisation;
  const struct datum *captured = NULL;
  if (core_callee(e)) {
    specialisation = specialisation_of_use(d, frame, e->as.part.left);
  } else {
    struct datum f;
    if (!direct_eval_part(d, frame, e->as.part.left, 0, &f)) return false;
    specialisation = f.as.function->specialisation;
    captured = f.as.function->captured;
  }
  const struct global *g = specialisation->global;
  if (g && g->kind == GLOBAL_CONSTRUCTOR) {
    return direct_eval_part(d, frame, e->as.part.right, 1, out);
  }
  if (g && g->primitive >= 0) return apply_direct_primitive(d, frame, specialisation, e, out);
  if (!tail || is_traced(d, specialisation)) {
    return apply_body(d, frame, specialisation, captured, e, out);
  }
  *tail = (struct direct_tail){e, specialisation, captured};
  return has_body(d, frame, specialisation, e);
}

bool direct_apply(struct direct *d, struct direct_frame *frame, const struct core *e,
                  struct datum *out) {
  return direct_apply_last(d, frame, e, NULL, out);
}
