/* flatten.c - expressions, and the program around them. */
#include <string.h>

#include "neslc/flatten/closed.h"
#include "neslc/flatten/emit.h"
#include "neslc/flatten/explain.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/instances.h"
#include "neslc/flatten/loop.h"
#include "neslc/flatten/procedure.h"
#include "neslc/flatten/rep.h"
#include "neslc/flatten/traits.h"

void unsupported(struct flattener *f, const char *what) {
  static const struct source nowhere = {.name = "neslc", .text = "", .first_line = 1};
  if (f->complaints->count == 0) {
    complain(f->complaints, NESL_LIMIT, &nowhere, (struct span){0, 0},
             "internal error: the compiler does not support %s", what);
  }
}

void refuse_columns(struct flattener *f) {
  static const struct source nowhere = {.name = "neslc", .text = "", .first_line = 1};
  complain(f->complaints, NESL_LIMIT, f->at.source ? f->at.source : &nowhere,
           (struct span){f->at.offset, f->at.offset}, VALUE_TOO_MANY_COLUMNS);
  longjmp(f->refused, 1);
}

struct type *ground(struct flattener *f, struct type *t) {
  return type_ground(f->arena, t, f->frame->count, f->frame->arguments);
}

/* ---- patterns and variables ---- */

static struct bound_rep *bound_rep_of(struct flattener *f, const struct local *local) {
  struct flat_frame *frame = f->frame;
  while (frame->locals.count <= local->number) {
    *array_push(f->arena, &frame->locals) = (struct bound_rep){0};
  }
  return &frame->locals.items[local->number];
}

void bind_local(struct flattener *f, struct context *c, const struct local *local,
                const struct rep *r) {
  *bound_rep_of(f, local) = (struct bound_rep){r, c};
}

void bind_pattern(struct flattener *f, struct context *c, const struct core_pattern *p,
                  const struct rep *r) {
  switch ((enum core_pattern_kind)p->kind) {
  case PATTERN_LOCAL: bind_local(f, c, p->local, r); return;
  case PATTERN_PAIR:
    bind_pattern(f, c, p->left, r->left);
    bind_pattern(f, c, p->right, r->right);
    return;
  case PATTERN_CONTENTS: bind_pattern(f, c, p->left, r); return;
  }
}

static const struct rep *flatten_variable(struct flattener *f, struct context *c,
                                          const struct local *local) {
  const struct bound_rep *p = bound_rep_of(f, local);
  if (!p->rep) {
    unsupported(f, "a variable without a value");
    return rep_empty(f, ground(f, local->type));
  }
  return context_lift(f, p->rep, p->context, c);
}

/* ---- functions as values ---- */

const struct rep *captured_values(struct flattener *f, struct context *c, uint32_t count,
                                  struct local *const *captured) {
  const struct rep *r = NULL;
  for (uint32_t i = count; i-- > 0;) {
    const struct rep *one = flatten_variable(f, c, captured[i]);
    r = r ? rep_pair(f, one, r) : one;
  }
  return r ? r : rep_nothing(f);
}

void bind_captured(struct flattener *f, struct context *c, uint32_t count,
                   struct local *const *captured, const struct rep *values) {
  for (uint32_t i = 0; i < count; i++) {
    const bool last = i + 1 == count;
    bind_local(f, c, captured[i], last ? values : values->left);
    if (!last) values = values->right;
  }
}

/* The columns of a variable that is a parameter of this program; NULL if it is none. */
static const ir_var *parameter_columns(const struct flattener *f, const struct global *g) {
  const ir_var *columns = f->parameters;
  for (uint32_t i = 0; columns && i < f->options->parameter_count; i++) {
    if (f->options->parameters[i] == g) return columns;
    columns += f->options->parameters[i]->value.count;
  }
  return NULL;
}

static const struct rep *global_value(struct flattener *f, const struct core *e) {
  const struct global *g = e->as.use.global;
  const ir_var *columns = parameter_columns(f, g);
  if (columns) {
    return rep_from_columns(f, ground(f, e->type), emit_one_segment(f, 1), true, &columns);
  }
  if (g->kind == GLOBAL_VARIABLE) {
    /* The columns are those of its own type; the type of this use may be more specific. */
    struct nesl_value value = g->value;
    value.type = ground(f, e->type);
    return rep_constant(f, &value);
  }
  return rep_nothing(f);
}

/* ---- expressions ---- */

static const struct rep *time_value(struct flattener *f, struct context *c,
                                    const struct core *e) {
  emit_results(f, OPC_START_TIMER, TW_NONE, 0, NULL, 0, NULL);
  const struct rep *value = rep_physical(f, c, flatten(f, c, e->as.part.left));
  const ir_var seconds = emit(f, OPC_STOP_TIMER, TW_NONE, 0, NULL);
  return rep_pair(f, value, rep_scalar(f, TW_FLOAT, seconds, true));
}

static const struct rep *flatten_expression_node(struct flattener *f, struct context *c,
                                                 const struct core *e) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_CHAR: return rep_scalar(f, TW_INT, emit_int(f, e->as.integer), true);
  case CORE_FLOAT: return rep_scalar(f, TW_FLOAT, emit_float(f, e->as.real), true);
  case CORE_BOOL: return rep_scalar(f, TW_BOOL, emit_bool(f, e->as.integer != 0), true);
  case CORE_STRING:
  case CORE_EMPTY: {
    struct nesl_value value;
    literal_value(f, e, &value);
    return rep_constant(f, &value);
  }
  case CORE_LOCAL: return flatten_variable(f, c, e->as.local);
  case CORE_GLOBAL: return global_value(f, e);
  case CORE_PAIR: {
    const struct rep *left = flatten(f, c, e->as.part.left);
    return rep_pair(f, left, flatten(f, c, e->as.part.right));
  }
  case CORE_APPLY: return flatten_apply(f, c, e);
  case CORE_LAMBDA:
    return captured_values(f, c, e->as.lambda->captured_count, e->as.lambda->captured);
  case CORE_IF: return flatten_if(f, c, e);
  case CORE_LET:
    bind_pattern(f, c, e->as.part.pattern, flatten(f, c, e->as.part.left));
    return flatten(f, c, e->as.part.right);
  case CORE_LOOP: return flatten_loop(f, c, e);
  case CORE_LIST: return flatten_list(f, c, e);
  case CORE_EACH:
    if (!context_serial(c) && is_closed(f, e)) return flatten_closed(f, c, e);
    return flatten_each(f, c, e);
  case CORE_TIME: return time_value(f, c, e);
  }
  return NULL;
}

const struct rep *flatten(struct flattener *f, struct context *c, const struct core *e) {
  const struct present before = f->at;
  const struct rep *known = closed_find(f, c, e);
  if (known) return known;
  set_present(f, e);
  const struct rep *r = flatten_expression_node(f, c, e);
  f->at = before;
  return r;
}

/* ---- programs ---- */

static void begin_flat_function(struct flattener *f) {
  f->kinds.items = NULL;
  f->kinds.count = f->kinds.capacity = 0;
  f->definitions.items = NULL;
  f->definitions.count = f->definitions.capacity = 0;
  f->assumed.items = NULL;
  f->assumed.count = f->assumed.capacity = 0;
  ir_numbering_clear(&f->known);
  f->wanted.items = NULL;
  f->wanted.count = f->wanted.capacity = 0;
  f->block = NULL;
  f->closed = NULL;
  f->expanded = 0;
  f->parameters = NULL;
  f->at = (struct present){0};
  f->mask = NO_VAR;
}

/* Returns the facts about a function of the program; at first there are none. */
static struct made_function *made_at(struct flattener *f, uint32_t index) {
  while (f->made_functions.count <= index) {
    *array_push(f->arena, &f->made_functions) = (struct made_function){0};
  }
  return &f->made_functions.items[index];
}

void flat_function(struct flattener *f, uint32_t index, const struct name *name,
                   uint32_t params, const struct ir_kind **kinds, uint32_t var_count,
                   struct ir_block *body, struct vars kept) {
  *made_at(f, index) = (struct made_function){.wanted = kept};
  struct ir_function *out = &f->functions.items[index];
  *out = (struct ir_function){.name = name,
                              .typed = true,
                              .returns = true,
                              .procedure = IR_NO_PROCEDURE,
                              .param_count = params,
                              .result_count = body->result_count,
                              .var_count = var_count,
                              .vars = kinds,
                              .body = body};
  out->params = arena_alloc(f->arena, params * (sizeof(ir_var) + sizeof(bool)) + 1);
  out->unused = (bool *)(out->params + params);
  for (uint32_t i = 0; i < params; i++) out->params[i] = i;
  out->result_kinds =
      arena_alloc(f->arena, (body->result_count + 1) * sizeof *out->result_kinds);
  for (uint32_t i = 0; i < body->result_count; i++) {
    out->result_kinds[i] = kinds[body->results[i]];
  }
}

static void finish_with(struct flattener *f, uint32_t index, const struct name *name,
                        uint32_t params, struct flat_block *body, const struct vars *results) {
  struct ir_block *b = block_end(f, body, (uint32_t)results->list.count, results->list.items);
  struct vars kept = {.arena = f->arena};
  kept.list.items = f->wanted.items;
  kept.list.count = f->wanted.count;
  flat_function(f, index, name, params, f->kinds.items, (uint32_t)f->kinds.count, b, kept);
}

static void finish_function(struct flattener *f, uint32_t index, const struct name *name,
                            uint32_t params, struct flat_block *body,
                            const struct rep *physical) {
  struct vars results = {.arena = f->arena};
  rep_columns(physical, &results);
  finish_with(f, index, name, params, body, &results);
}

/* The name of a specialisation: that of its function, with a number. */
static const struct name *specialisation_name(struct flattener *f,
                                              const struct specialisation *v) {
  const char *base = v->loop     ? "loop"
                     : v->lambda ? "LAMBDA"
                     : v->global ? v->global->name->text
                                 : "F";
  char text[80];
  size_t n = 0;
  for (; base[n] && n < 40; n++) {
    const char x = base[n];
    const bool word = (x >= 'a' && x <= 'z') || (x >= '0' && x <= '9') || x == '_';
    text[n] = word ? (char)(x >= 'a' && x <= 'z' ? x - 'a' + 'A' : x) : '_';
    if (n == 0 && x >= '0' && x <= '9') text[n] = '_';
  }
  snprintf(text + n, sizeof text - n, "_%u%s", v->function, v->lifted ? "L" : "");
  return intern_name(&f->session->names, text, strlen(text));
}

static struct flat_block *begin_flat_loop(struct flattener *f, const struct specialisation *v,
                                          struct loop_parameters *parameters) {
  begin_flat_function(f);
  struct flat_block *body = block_begin(f);
  *parameters = (struct loop_parameters){0};
  loop_begin(f, v, parameters);
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  return body;
}

/* The procedure of a loop with views among what it captured. */
static void loop_procedure_body(struct flattener *f, const struct specialisation *v,
                                const struct loop_parameters *p, struct vars *results) {
  const struct rep *argument = rep_pair(f, p->captured, p->state);
  rep_columns(rep_physical(f, &f->serial, procedure_viewed(f, v, argument)), results);
}

static void make_loop(struct flattener *f, const struct specialisation *v) {
  struct flat_frame frame = {.count = v->count, .arguments = v->arguments, .global = v->global};
  struct loop_parameters parameters;
  struct vars results = {.arena = f->arena};
  f->frame = &frame;
  struct flat_block *body = begin_flat_loop(f, v, &parameters);
  if (v->loop->function != LOOP_MANY || !loop_elementwise(f, v, &parameters, &results)) {
    if (v->loop->function == LOOP_MANY) body = begin_flat_loop(f, v, &parameters);
    if (procedure_takes_views(v))
      loop_procedure_body(f, v, &parameters, &results);
    else
      loop_body(f, v, &parameters, &results);
  }
  finish_with(f, v->function, specialisation_name(f, v), parameters.count, body, &results);
  f->functions.items[v->function].rounds =
      (uint8_t)loop_rounds((enum loop_function)v->loop->function);
  if (v->loop->function != LOOP_MANY) return; /* the others return fewer instances */
  mark_specialisation(f, v, rep_pair(f, v->captured, v->shape), v->shape);
}

static void make_specialisation(struct flattener *f, size_t number) {
  const struct specialisation v = f->specialisations.items[number];
  f->apart = v.apart;
  f->making = v.function;
  if (v.loop) {
    make_loop(f, &v);
    return;
  }
  begin_flat_function(f);
  struct flat_frame frame = {.count = v.count, .arguments = v.arguments, .global = v.global};
  f->frame = &frame;
  /* Parameters are the first variables. */
  const ir_var one = v.lifted ? flat_var(f, &flat_kinds[IR_SEGDES]) : 0;
  struct flat_block *body = block_begin(f);
  const struct rep *both = v.captured ? rep_pair(f, v.captured, v.shape) : v.shape;
  /* rep_parameters makes all variables before it emits anything. */
  const struct rep *argument = rep_parameters(f, both, one);
  struct vars params = {.arena = f->arena};
  rep_argument_columns(argument, &params);
  const uint32_t param_count = (uint32_t)params.list.count + v.lifted;
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  struct context lifted = {.kind = CONTEXT_LIFTED, .one = one};
  struct context *c = v.lifted ? &lifted : &f->serial;
  const struct rep *result;
  if (procedure_takes_views(&v)) {
    result = procedure_viewed(f, &v, argument);
  } else if (v.lambda) {
    bind_captured(f, c, v.lambda->captured_count, v.lambda->captured, argument->left);
    bind_pattern(f, c, v.lambda->parameter, v.captured ? argument->right : argument);
    result = flatten(f, c, v.lambda->body);
  } else if (v.derived) {
    bind_pattern(f, c, v.derived->parameter, argument);
    result = flatten(f, c, v.derived->body);
  } else {
    bind_pattern(f, c, v.global->parameter, argument);
    result = flatten(f, c, v.global->body);
  }
  result = rep_physical(f, c, result);
  finish_function(f, v.function, specialisation_name(f, &v), param_count, body, result);
  mark_specialisation(f, &v, both, result);
}

static struct ir_program *finish_program(struct flattener *f) {
  while (f->made < f->specialisations.count && f->complaints->count == 0)
    make_specialisation(f, f->made++);
  if (f->complaints->count > 0) return NULL;
  struct ir_program *p = arena_alloc(f->arena, sizeof *p);
  *p = (struct ir_program){.file = "nesl",
                           .widths = f->options->widths,
                           .functions = f->functions.items,
                           .function_count = (uint32_t)f->functions.count,
                           .origins = f->origins,
                           .superops = f->superops.items,
                           .superop_count = (uint32_t)f->superops.count,
                           .entry_layout = f->layout.list.items,
                           .exact_floats = f->exact_floats,
                           .guarded = !f->options->unchecked};
  flat_dead(f, p);
  check_marks(f, p);
  const uint32_t *order = procedures_last(f);
  write_explanations(f);
  procedures_move(f, p, order);
  ir_liveness(f->arena, p);
#ifdef RAVEL_DEBUG
  if (!ir_verify(f->arena, p, f->complaints->diags)) {
    unsupported(f, "what its own output shows");
    return NULL;
  }
#endif
  return p;
}

static struct flattener *new_flattener(struct session *s, const struct flatten_options *options,
                                       struct complaints *complaints) {
  struct arena *arena = options->arena ? options->arena : s->arena;
  struct flattener *f = arena_alloc(arena, sizeof *f);
  f->arena = arena;
  f->session = s;
  f->options = options;
  f->complaints = complaints;
  f->layout.arena = f->arena;
  table_begin(&f->traits, f->arena);
  table_begin(&f->derived, f->arena);
  table_begin(&f->inlined, f->arena);
  ir_numbering_init(&f->known, f->arena);
  f->pulled_name = intern_name(&s->names, "_pulled", strlen("_pulled"));
  f->repeated = 1;
  f->simple_name = intern_name(&s->names, "_is_simple", strlen("_is_simple"));
  origin_table_init(&f->origins, f->arena, NULL);
  *array_push(f->arena, &f->functions) = (struct ir_function){0};
  return f;
}

/* Makes the parameters of an expression's program; returns their number of columns. */
static uint32_t make_parameters(struct flattener *f) {
  uint32_t count = 0, next = 0;
  for (uint32_t i = 0; i < f->options->parameter_count; i++) {
    count += f->options->parameters[i]->value.count;
  }
  ir_var *columns = arena_alloc(f->arena, (count + 1) * sizeof *columns);
  for (uint32_t i = 0; i < f->options->parameter_count; i++) {
    const struct ir_kind **kinds;
    uint32_t n;
    type_kinds(f, f->options->parameters[i]->value.type, &kinds, &n);
    for (uint32_t k = 0; k < n; k++) columns[next++] = flat_var(f, kinds[k]);
    type_layout(f, f->options->parameters[i]->value.type, &f->layout);
  }
  f->parameters = columns;
  return count;
}

struct ir_program *flatten_expression(struct session *s, struct core *expression_,
                                      const struct flatten_options *options,
                                      struct complaints *complaints) {
  struct flattener *f = new_flattener(s, options, complaints);
  if (setjmp(f->refused)) return NULL;
  begin_flat_function(f);
  struct flat_frame frame = {0};
  f->frame = &frame;
  const uint32_t columns = make_parameters(f);
  struct flat_block *body = block_begin(f);
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  const struct rep *result = rep_physical(f, &f->serial, flatten(f, &f->serial, expression_));
  finish_function(f, 0, intern_name(&s->names, "MAIN", 4), columns, body, result);
  return finish_program(f);
}

struct ir_program *flatten_function(struct session *s, struct global *g, struct type *argument,
                                    const struct flatten_options *options,
                                    struct complaints *complaints) {
  struct flattener *f = new_flattener(s, options, complaints);
  if (setjmp(f->refused)) return NULL;
  begin_flat_function(f);
  struct type **arguments = arena_alloc(f->arena, (g->scheme.count + 1) * sizeof *arguments);
  struct type *t = type_instantiate(f->arena, &g->scheme, arguments);
  struct type *a, *b;
  if (type_unify(f->arena, type_of(t)->part[0], argument, &a, &b) != UNIFY_OK) {
    unsupported(f, "an argument of another type");
    return NULL;
  }
  for (uint32_t i = 0; i < g->scheme.count; i++) {
    arguments[i] = type_ground(f->arena, arguments[i], 0, NULL);
  }
  struct flat_frame frame = {.count = g->scheme.count, .arguments = arguments, .global = g};
  f->frame = &frame;
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, argument, &kinds, &count);
  type_layout(f, argument, &f->layout);
  ir_var *params = arena_alloc(f->arena, (count + 1) * sizeof *params);
  for (uint32_t i = 0; i < count; i++) params[i] = flat_var(f, kinds[i]);
  struct flat_block *body = block_begin(f);
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  const ir_var *next = params;
  const struct rep *r = rep_from_columns(f, argument, f->serial.one, true, &next);
  bind_pattern(f, &f->serial, g->parameter, r);
  const struct rep *result = rep_physical(f, &f->serial, flatten(f, &f->serial, g->body));
  finish_function(f, 0, intern_name(&s->names, "MAIN", 4), count, body, result);
  return finish_program(f);
}
