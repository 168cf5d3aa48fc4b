/* call.c - applications: the callee is expanded at the call, or called as a function.
 */
#include "neslc/flatten/call.h"

#include <string.h>

#include "neslc/flatten/closed.h"
#include "neslc/flatten/combine.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/instances.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/primitive.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

enum {
  MOST_SPECIALISATIONS = 10000, /* functions of one program */
  MOST_DEPTH = 150,             /* of an argument's type */
  EXPAND_NODES = 60,    /* a body of at most so many nodes is expanded at its call ... */
  EXPAND_PULLED = 1000, /* ... or so many, if it is passed a pulled sequence ... */
  EXPAND_DEPTH = 10,    /* ... within at most so many enclosing expansions ... */
  EXPAND_TOTAL = 4000 /* ... and at most so many nodes in one function: the code stays linear */
};

static const struct core *body_of_call(const struct call *k) {
  if (k->loop) return k->loop->core;
  return k->lambda ? k->lambda->body : k->derived ? k->derived->body : k->global->body;
}
static const struct core_pattern *parameter_of(const struct call *k) {
  return k->lambda    ? k->lambda->parameter
         : k->derived ? k->derived->parameter
                      : k->global->parameter;
}

/* ---- expansion ---- */

const struct rep *call_expanded(struct flattener *f, struct context *c, const struct call *k) {
  struct flat_frame *caller = f->frame;
  struct flat_frame frame = {.count = k->count,
                             .arguments = k->arguments,
                             .global = k->global ? k->global : caller->global,
                             .depth = caller->depth + 1,
                             .inlined_at = present_origin(f)};
  f->frame = &frame;
  if (k->lambda) {
    bind_captured(f, c, k->lambda->captured_count, k->lambda->captured, k->captured);
  }
  bind_pattern(f, c, parameter_of(k), k->argument);
  const struct rep *r = flatten(f, c, body_of_call(k));
  f->frame = caller;
  return r;
}

/* ---- as a function ---- */

static uint64_t call_hash(struct flattener *f, const struct call *k, const char *signature,
                          unsigned way) {
  uint64_t h = (uint64_t)(uintptr_t)body_of_call(k) * UINT64_C(0x9E3779B97F4A7C15) + way;
  for (const char *s = signature; *s; s++) h = (h ^ (uint8_t)*s) * UINT64_C(0x100000001B3);
  for (uint32_t i = 0; i < k->count; i++) {
    if (k->arguments[i]) h = h * 31 + type_hash(f->arena, k->arguments[i]);
  }
  return h * 31 + type_hash(f->arena, k->argument_type);
}

static bool same_loop(const struct loop *a, const struct loop *b) {
  if (!a || !b) return a == b;
  return a->core == b->core && a->function == b->function;
}

static bool is_same_specialisation(struct flattener *f, const struct specialisation *v,
                                   const struct call *k, uint64_t hash, const char *signature,
                                   bool lifted, bool apart) {
  if (v->hash != hash || v->lifted != lifted || v->apart != apart || v->global != k->global ||
      v->lambda != k->lambda || v->derived != k->derived || v->count != k->count ||
      !same_loop(v->loop, k->loop) || strcmp(v->signature, signature) != 0 ||
      !type_same(f->arena, v->argument, k->argument_type)) {
    return false;
  }
  for (uint32_t i = 0; i < k->count; i++) {
    if ((v->arguments[i] == NULL) != (k->arguments[i] == NULL)) return false;
    if (v->arguments[i] && !type_same(f->arena, v->arguments[i], k->arguments[i])) return false;
  }
  return true;
}

/* Depth of a type's sequences and tuples. */
static unsigned type_depth(struct type *type) {
  struct type *t = type_of(type);
  unsigned deepest = 0;
  for (unsigned i = 0; i < 2; i++) {
    if (t->tag != TYPE_SEQUENCE && t->tag != TYPE_PAIR) break;
    if (i == 1 && t->tag == TYPE_SEQUENCE) break;
    const unsigned depth = type_depth(t->part[i]);
    if (depth > deepest) deepest = depth;
  }
  return deepest + 1;
}

/* The number of components of a tuple. */
static unsigned tuple_components(struct type *type) {
  unsigned components = 1;
  for (struct type *t = type_of(type); t->tag == TYPE_PAIR; t = type_of(t->part[1]))
    components++;
  return components;
}

/* The causes are long tuples, and functions that call each other at ever larger types, which
 * forward declarations make possible. */
static void too_many(struct flattener *f, const struct call *k) {
  const struct form *form = k->global ? k->global->form : NULL;
  if (!form || f->complaints->count > 0) return;
  const unsigned components = tuple_components(k->argument_type);
  if (components > MOST_DEPTH / 2) { /* each but the last takes one level */
    complain(
        f->complaints, NESL_LIMIT, form->source, form->name_at,
        "`%s` is called with %u values, and %d are the most that can be compiled (fewer if "
        "the last are sequences): put some into tuples of their own",
        form->name->text, components, MOST_DEPTH);
    return;
  }
  complain(f->complaints, NESL_LIMIT, form->source, form->name_at,
           "`%s` is needed at too many types: does it call itself at ever larger ones?",
           form->name->text);
}

uint32_t function_of_call(struct flattener *f, const struct call *k, const struct rep *captured,
                          const struct rep *argument, bool lifted, bool apart) {
  const struct rep *both = captured ? rep_pair(f, captured, argument) : argument;
  const char *signature = rep_signature(f, both);
  const uint64_t hash = call_hash(f, k, signature, lifted + 2U * apart);
  for (size_t i = 0; i < f->specialisations.count; i++) {
    const struct specialisation *v = &f->specialisations.items[i];
    if (is_same_specialisation(f, v, k, hash, signature, lifted, apart)) return v->function;
  }
  if (f->specialisations.count == MOST_SPECIALISATIONS ||
      type_depth(k->argument_type) > MOST_DEPTH) {
    too_many(f, k);
  }
  const uint32_t function = (uint32_t)f->functions.count;
  *array_push(f->arena, &f->functions) = (struct ir_function){0};
  *array_push(f->arena, &f->specialisations) =
      (struct specialisation){.hash = hash,
                              .function = function,
                              .global = k->global,
                              .lambda = k->lambda,
                              .derived = k->derived,
                              .loop = k->loop,
                              .lifted = lifted,
                              .apart = apart,
                              .argument = k->argument_type,
                              .result = k->result_type,
                              .count = k->count,
                              .arguments = k->arguments,
                              .signature = signature,
                              .shape = argument,
                              .captured = captured};
  return function;
}

bool room_for_functions(const struct flattener *f) {
  return f->specialisations.count < MOST_SPECIALISATIONS / 2;
}

const struct rep *call_specialisation(struct flattener *f, struct context *c,
                                      const struct call *k, bool guarded) {
  const bool lifted = !context_serial(c);
  const struct rep *captured = k->captured ? rep_argument(f, c, k->captured) : NULL;
  const struct rep *argument = rep_argument(f, c, k->argument);
  const uint32_t function =
      function_of_call(f, k, captured, argument, lifted, f->apart && !lifted);
  struct vars operands = {.arena = f->arena};
  if (lifted) *array_push(f->arena, &operands.list) = c->one;
  if (captured) rep_argument_columns(captured, &operands);
  rep_argument_columns(argument, &operands);
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, k->result_type, &kinds, &count);
  ir_var *results = arena_alloc(f->arena, (count + 1) * sizeof *results);
  ir_var any = 0;
  struct flat_block *b = NULL;
  if (guarded) { /* recursion ends where there are no instances */
    any = EMIT(f, GT, INT, EMIT(f, LENGTHS, NONE, c->one), emit_int(f, 0));
    bool some;
    if (known_bool(f, any, &some)) {
      if (!some) return rep_empty(f, k->result_type);
      guarded = false;
    } else {
      b = block_begin(f);
    }
  }
  emit_call(f, function, (uint32_t)operands.list.count, operands.list.items, count, kinds,
            results);
  if (guarded) {
    struct ir_block *then = block_end(f, b, count, results);
    b = block_begin(f);
    struct vars none = {.arena = f->arena};
    rep_columns(rep_empty(f, k->result_type), &none);
    struct ir_block *otherwise = block_end(f, b, count, none.list.items);
    flat_if(f, any, then, otherwise, count, results);
  }
  const ir_var *next = results;
  return rep_from_columns(f, k->result_type, c->one, !lifted, &next);
}

/* ---- choosing ---- */

struct once {
  const struct call *call;
};
static const struct rep *call_once_body(struct flattener *f, void *closure) {
  return call_specialisation(f, &f->serial, ((struct once *)closure)->call, false);
}

/* Indices of a pulled sequence, and its length, are often known: in the function that makes it,
 * not in one of its own. */
static bool has_pulled(const struct rep *r) {
  if (r->kind == REP_PAIR) return has_pulled(r->left) || has_pulled(r->right);
  return r->kind == REP_PULLED;
}

static bool is_small_call(const struct flattener *f, const struct call *k, uint32_t size) {
  return size <= (has_pulled(k->argument) ? EXPAND_PULLED : EXPAND_NODES) &&
         f->frame->depth < EXPAND_DEPTH && f->expanded + size <= EXPAND_TOTAL;
}

static const struct rep *nesl_call(struct flattener *f, struct context *c,
                                   const struct call *k) {
  const struct core *body = body_of_call(k);
  if (!body) {
    unsupported(f, "a function without a body");
    return rep_empty(f, k->result_type);
  }
  struct traits t = {0};
  if (k->global && !k->lambda && !k->derived) {
    t = *global_traits(f, k->global);
  } else {
    t.size = core_size(f, body);
    t.effects = has_effects(f, body);
    t.recursive = k->derived && !k->derived->shallow; /* as deep as the type, which ends */
  }
  if (f->combining) return combining_call(f, c, k, &t);
  if (f->mask != NO_VAR) return call_expanded(f, c, k); /* a simple one */
  const struct rep *combined = flatten_combination(f, c, k);
  if (combined) return combined;
  if (is_small_call(f, k, t.size) && !t.recursive) {
    f->expanded += t.size;
    return call_expanded(f, c, k);
  }
  if (!context_serial(c) && !t.effects && rep_all_shared(k->argument) &&
      (!k->captured || rep_all_shared(k->captured))) {
    struct once once = {k};
    const struct rep *value = flatten_if_any(f, c, k->result_type, call_once_body, &once);
    closed_note_call(f, k, body, value);
    return value;
  }
  const struct rep *known = context_serial(c) ? closed_find_call(f, k, body) : NULL;
  if (known) return known;
  return call_specialisation(f, c, k, !context_serial(c) && t.recursive);
}

/* ---- applications ---- */

/* Finds the callee from the type of a function value. */
bool unfold_identity(struct flattener *f, struct type *function, const struct rep *value,
                     struct call *k) {
  struct type *identity = type_of(type_of(function)->part[2]);
  if (identity->lambda) {
    const struct core_lambda *l = identity->lambda;
    k->lambda = l;
    k->captured = l->captured_count > 0 ? value : NULL; /* all of it may be REP_NOTHING */
    k->count = l->scheme_count;
    k->arguments = arena_alloc(f->arena, (k->count + 1) * sizeof *k->arguments);
    for (uint32_t i = 0; i < l->variable_count; i++) {
      k->arguments[type_of(l->variables[i])->number] = type_of(identity->arguments[i]);
    }
    return true;
  }
  if (!identity->global) return false;
  k->global = (struct global *)(uintptr_t)identity->global;
  k->count = identity->argument_count;
  k->arguments = identity->arguments;
  return true;
}

struct each_closed {
  const struct core *e;
};
static const struct rep *closed_body(struct flattener *f, void *closure) {
  return flatten(f, &f->serial, ((struct each_closed *)closure)->e);
}

const struct rep *flatten_closed(struct flattener *f, struct context *c, const struct core *e) {
  struct each_closed closed = {e};
  const struct rep *value = flatten_if_any(f, c, ground(f, e->type), closed_body, &closed);
  closed_note(f, e, value);
  return value;
}

/* _check(condition, "sentence", "detail", v, w) */
static const struct rep *flatten_check(struct flattener *f, struct context *c,
                                       const struct core *e) {
  const struct core *x = e->as.part.right, *texts = x->as.part.right;
  const struct core *sentence = texts->as.part.left, *rest = texts->as.part.right;
  const struct core *detail = rest->as.part.left, *numbers = rest->as.part.right;
  const struct rep *condition = flatten(f, c, x->as.part.left);
  const struct rep *v = flatten(f, c, numbers->as.part.left);
  const struct rep *w = flatten(f, c, numbers->as.part.right);
  emit_assert(f, rep_each_scalar(f, c, condition), rep_each_scalar(f, c, v),
              rep_each_scalar(f, c, w),
              check_worded(f->arena, sentence->as.string.text, detail->as.string.text));
  return rep_scalar(f, TW_BOOL, emit_bool(f, true), true);
}

/* The callee and types of a call of a named function. */
static struct call named_call(struct flattener *f, const struct core *e) {
  const struct core *use = e->as.part.left;
  struct call k = {.argument_type = ground(f, e->as.part.right->type),
                   .result_type = ground(f, e->type),
                   .global = use->as.use.global,
                   .count = use->as.use.count};
  k.arguments = arena_alloc(f->arena, (k.count + 1) * sizeof *k.arguments);
  for (uint32_t i = 0; i < k.count; i++) k.arguments[i] = ground(f, use->as.use.arguments[i]);
  return k;
}

const struct rep *flatten_call(struct flattener *f, struct context *c, const struct core *e,
                               const struct rep *argument) {
  struct call k = named_call(f, e);
  k.argument = argument;
  return nesl_call(f, c, &k);
}

static const struct rep *apply_primitive(struct flattener *f, struct context *c,
                                         struct call *k) {
  const enum primitive p = (enum primitive)k->global->primitive;
  if (is_derived(p)) {
    k->derived = derive(f->session, &f->derived, p, k->argument_type);
    k->count = 0;
    k->arguments = NULL;
    if (k->derived->body) return nesl_call(f, c, k);
  }
  return flatten_primitive(f, c, p, k->argument, k->argument_type, k->result_type);
}

const struct rep *apply_callee(struct flattener *f, struct context *c, struct call *k) {
  if (k->lambda) return nesl_call(f, c, k);
  if (k->global->name == f->pulled_name && k->global->library) {
    const struct rep *r = pulled_sequence(f, k->argument, k->argument_type);
    if (r) return r;
  }
  if (k->global->name == f->simple_name && k->global->library) {
    const bool simple = is_simple_function(f, k->argument_type, k->argument);
    return rep_scalar(f, TW_BOOL, emit_bool(f, simple), true);
  }
  if (k->global->kind == GLOBAL_CONSTRUCTOR) return k->argument;
  if (k->global->kind == GLOBAL_FUNCTION && k->global->primitive >= 0) {
    return apply_primitive(f, c, k);
  }
  return nesl_call(f, c, k);
}

static bool is_append(const struct core *e) {
  const struct global *g = core_callee(e);
  return g && g->kind == GLOBAL_FUNCTION && g->primitive == PRIM_APPEND &&
         e->as.part.right->kind == CORE_PAIR;
}

/* The argument of an append: an operand that is itself an append becomes the pair of its
 * operands, so that one concatenation copies all of them. */
static const struct rep *flatten_appended(struct flattener *f, struct context *c,
                                          const struct core *e) {
  const struct core *const sides[2] = {e->as.part.right->as.part.left,
                                       e->as.part.right->as.part.right};
  const struct rep *values[2];
  for (int k = 0; k < 2; k++) {
    const bool inside = is_append(sides[k]) && (context_serial(c) || !is_closed(f, sides[k]));
    values[k] = inside ? flatten_appended(f, c, sides[k]) : flatten(f, c, sides[k]);
  }
  return rep_pair(f, values[0], values[1]);
}

const struct rep *flatten_apply(struct flattener *f, struct context *c, const struct core *e) {
  struct global *g = core_callee(e);
  const struct present at = f->at;
  struct call k;
  if (g) {
    if (g->kind == GLOBAL_FUNCTION && g->primitive == PRIM_CHECK) return flatten_check(f, c, e);
    k = named_call(f, e);
  } else {
    k = (struct call){.argument_type = ground(f, e->as.part.right->type),
                      .result_type = ground(f, e->type)};
    const struct rep *function = flatten(f, c, e->as.part.left);
    if (!unfold_identity(f, ground(f, e->as.part.left->type), function, &k)) {
      /* The type does not determine the function, since there is none, as in {g(3) : g in []
       * (int -> int)}. */
      flatten(f, c, e->as.part.right);
      return context_serial(c) ? rep_placeholder(f, k.result_type)
                               : rep_empty(f, k.result_type);
    }
  }
  k.argument = is_append(e) ? flatten_appended(f, c, e) : flatten(f, c, e->as.part.right);
  f->at = at;
  return apply_callee(f, c, &k);
}
