/* flatten.c - expressions, and the program around them. */
#include "neslc/flatten-private.h"

#include <string.h>

void unsupported(struct flattener *f, const char *what) {
  static const struct source nowhere = {.name = "neslc", .text = "", .first_line = 1};
  if (f->complaints->count == 0) {
    complain(f->complaints, NESL_LIMIT, &nowhere, (struct span){0, 0},
             "internal error: the compiler does not support %s", what);
  }
}

struct type *ground(struct flattener *f, struct type *t) {
  return type_ground(f->arena, t, f->frame->count, f->frame->arguments);
}

/* ---- patterns and variables ---- */

static struct place *place_of(struct flattener *f, const struct local *local) {
  struct frame *frame = f->frame;
  while (frame->locals.count <= local->number) {
    *array_push(f->arena, &frame->locals) = (struct place){0};
  }
  return &frame->locals.items[local->number];
}

void bind_local(struct flattener *f, struct context *c, const struct local *local,
                const struct rep *r) {
  *place_of(f, local) = (struct place){r, c};
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

static const struct rep *variable(struct flattener *f, struct context *c,
                                  const struct local *local) {
  const struct place *p = place_of(f, local);
  if (!p->rep) {
    unsupported(f, "a variable without a value");
    return rep_empty(f, ground(f, local->type));
  }
  return context_lift(f, p->rep, p->context, c);
}

/* ---- literals ---- */

static bool literal(struct flattener *f, const struct core *e) {
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_FLOAT:
  case CORE_BOOL:
  case CORE_CHAR:
  case CORE_STRING:
  case CORE_EMPTY: return true;
  case CORE_PAIR: return literal(f, e->as.part.left) && literal(f, e->as.part.right);
  case CORE_LIST:
    for (size_t i = 0; i < e->as.list.count; i++) {
      if (!literal(f, e->as.list.items[i])) return false;
    }
    return true;
  case CORE_APPLY: { /* - of a number */
    const struct global *g = core_callee(e);
    const struct core *x = e->as.part.right;
    return g && g->library && strcmp(g->name->text, "negate") == 0 &&
           (x->kind == CORE_INT || x->kind == CORE_FLOAT);
  }
  default: return false;
  }
}

/* Columns under construction. */
struct column_builder {
  uint8_t kind;
  ARRAY(int64_t) ints;
  ARRAY(double) floats;
  ARRAY(uint8_t) bools;
};

struct literal_builder {
  struct flattener *f;
  struct column_builder *columns;
};

static void add_kinds_of(struct flattener *f, struct type *type, struct column_kinds *kinds) {
  (void)f;
  value_columns(type, kinds);
}

/* How many columns a value of the type has. */
static uint32_t width(struct flattener *f, struct type *t) {
  struct column_kinds kinds = {.arena = f->arena};
  add_kinds_of(f, t, &kinds);
  return (uint32_t)kinds.list.count;
}

static void add_int(struct literal_builder *b, uint32_t at, int64_t x) {
  *array_push(b->f->arena, &b->columns[at].ints) = x;
}

static void fill(struct literal_builder *b, const struct core *e, uint32_t at) {
  struct arena *a = b->f->arena;
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_CHAR: add_int(b, at, e->as.integer); return;
  case CORE_BOOL: *array_push(a, &b->columns[at].bools) = e->as.integer != 0; return;
  case CORE_FLOAT: *array_push(a, &b->columns[at].floats) = e->as.real; return;
  case CORE_APPLY:
    if (e->as.part.right->kind == CORE_INT) {
      add_int(b, at, (int64_t)(0 - (uint64_t)e->as.part.right->as.integer));
    } else {
      *array_push(a, &b->columns[at].floats) = 0 - e->as.part.right->as.real;
    }
    return;
  case CORE_STRING:
    add_int(b, at, (int64_t)e->as.string.length);
    for (size_t i = 0; i < e->as.string.length; i++) {
      add_int(b, at + 1, (uint8_t)e->as.string.text[i]);
    }
    return;
  case CORE_EMPTY: add_int(b, at, 0); return;
  case CORE_PAIR:
    fill(b, e->as.part.left, at);
    fill(b, e->as.part.right, at + width(b->f, ground(b->f, e->as.part.left->type)));
    return;
  case CORE_LIST:
    add_int(b, at, (int64_t)e->as.list.count);
    for (size_t i = 0; i < e->as.list.count; i++) fill(b, e->as.list.items[i], at + 1);
    return;
  default: return;
  }
}

bool literal_value(struct flattener *f, const struct core *e, struct nesl_value *out) {
  if (!literal(f, e)) return false;
  struct type *t = ground(f, e->type);
  struct column_kinds kinds = {.arena = f->arena};
  add_kinds_of(f, t, &kinds);
  const uint32_t count = (uint32_t)kinds.list.count;
  struct literal_builder b = {f, arena_alloc(f->arena, count * sizeof *b.columns + 1)};
  fill(&b, e, 0);
  *out = (struct nesl_value){t, count, arena_alloc(f->arena, count * sizeof *out->columns + 1)};
  for (uint32_t i = 0; i < count; i++) {
    struct column *c = &out->columns[i];
    c->kind = kinds.list.items[i];
    switch ((enum column_kind)c->kind) {
    case COLUMN_FLOAT:
      c->length = b.columns[i].floats.count;
      c->as.floats = b.columns[i].floats.items;
      break;
    case COLUMN_BOOL:
      c->length = b.columns[i].bools.count;
      c->as.bools = b.columns[i].bools.items;
      break;
    case COLUMN_INT:
    case COLUMN_SEGDES:
      c->length = b.columns[i].ints.count;
      c->as.ints = b.columns[i].ints.items;
      break;
    }
  }
  return true;
}

/* A value of the serial context as that of the one element of a sequence. */
static const struct rep *as_element(struct flattener *f, const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING: return r;
  case REP_PAIR: {
    const struct rep *left = as_element(f, r->left);
    return rep_pair(f, left, as_element(f, r->right));
  }
  case REP_SCALAR: return rep_scalar(f, (enum type_word)r->word, r->v, false);
  case REP_SEQUENCE: return rep_sequence(f, r->segdes, r->outer, r->elements, false);
  }
  return r;
}

/* Scalars of sequences with n elements each (segments of `segdes`): the first of `items` is
 * spread, the others are scattered over it. */
static ir_var list_scalars(struct flattener *f, const struct context *c, enum type_word word,
                           const ir_var *items, size_t n, ir_var segdes, ir_var dest) {
  const ir_var length = emit_int(f, (int64_t)n);
  ir_var out = emit(f, OPC_DIST, word, 2, (ir_var[]){items[0], segdes});
  for (size_t i = 1; i < n; i++) {
    if (items[i] == items[0]) continue;
    const ir_var first = emit_int(f, (int64_t)i); /* instance k's is at k n + i */
    const ir_var at = context_serial(c) ? first : EMIT(f, INDEX, NONE, first, length, c->one);
    out = emit(f, OPC_DPERMUTE, word, 5, (ir_var[]){items[i], at, out, c->one, dest});
  }
  return out;
}

static const struct rep *list_elements(struct flattener *f, const struct context *c,
                                       struct type *type, const struct rep *const *items,
                                       size_t n, ir_var segdes, ir_var dest) {
  const struct rep *first = items[0];
  const struct rep **part = arena_alloc(f->arena, n * sizeof *part);
  switch ((enum rep_kind)first->kind) {
  case REP_NOTHING: return first;
  case REP_PAIR: {
    for (size_t i = 0; i < n; i++) part[i] = items[i]->left;
    const struct rep *left = list_elements(f, c, type, part, n, segdes, dest);
    for (size_t i = 0; i < n; i++) part[i] = items[i]->right;
    return rep_pair(f, left, list_elements(f, c, type, part, n, segdes, dest));
  }
  case REP_SCALAR: {
    ir_var *v = arena_alloc(f->arena, n * sizeof *v);
    for (size_t i = 0; i < n; i++) v[i] = items[i]->v;
    const enum type_word word = (enum type_word)first->word;
    return rep_scalar(f, word, list_scalars(f, c, word, v, n, segdes, dest), false);
  }
  case REP_SEQUENCE: break;
  }
  struct source_part *parts = arena_alloc(f->arena, n * sizeof *parts);
  const ir_var length = emit_int(f, (int64_t)n);
  for (size_t i = 0; i < n; i++) {
    const ir_var at = emit_int(f, (int64_t)i);
    parts[i].rep = items[i];
    parts[i].one = c->one;
    parts[i].index = context_serial(c) ? at : EMIT(f, INDEX, NONE, at, length, c->one);
  }
  return rep_merge(f, type, parts, (unsigned)n, dest);
}

const struct rep *flatten_list(struct flattener *f, struct context *c, const struct core *e) {
  struct nesl_value value;
  if (literal_value(f, e, &value)) return rep_constant(f, &value);
  const size_t n = e->as.list.count;
  const struct rep **items = arena_alloc(f->arena, n * sizeof *items);
  for (size_t i = 0; i < n; i++) items[i] = flatten(f, c, e->as.list.items[i]);
  for (size_t i = 0; i < n; i++) items[i] = rep_physical(f, c, items[i]);
  const ir_var length = emit_int(f, (int64_t)n);
  const ir_var segdes = context_serial(c)
                            ? emit_one_segment(f, (int64_t)n)
                            : EMIT(f, MAKE_SEGDES, NONE, EMIT(f, DIST, INT, length, c->one));
  const struct rep *r = rep_sequence(f, segdes, c->one, NULL, context_serial(c));
  const struct rep *elements;
  if (n == 1) { /* what is one for each instance is one for each element */
    elements = context_serial(c) ? as_element(f, items[0]) : items[0];
  } else {
    struct type *element = type_of(ground(f, e->type))->part[0];
    elements = list_elements(f, c, element, items, n, segdes, seq_elements_one(f, r));
  }
  return rep_sequence(f, segdes, c->one, elements, context_serial(c));
}

/* ---- functions as values ---- */

static const struct rep *lambda_value(struct flattener *f, struct context *c,
                                      const struct core_lambda *l) {
  const struct rep *r = NULL;
  for (uint32_t i = l->captured_count; i-- > 0;) {
    const struct rep *one = variable(f, c, l->captured[i]);
    r = r ? rep_pair(f, one, r) : one;
  }
  if (r) return r;
  struct rep *nothing = arena_alloc(f->arena, sizeof *nothing);
  nothing->kind = REP_NOTHING;
  return nothing;
}

static const struct rep *global_value(struct flattener *f, const struct core *e) {
  const struct global *g = e->as.use.global;
  if (g->kind == GLOBAL_VARIABLE) {
    /* The columns are those of its own type; the use may have made that more special. */
    struct nesl_value value = g->value;
    value.type = ground(f, e->type);
    return rep_constant(f, &value);
  }
  struct rep *nothing = arena_alloc(f->arena, sizeof *nothing);
  nothing->kind = REP_NOTHING;
  return nothing;
}

/* ---- expressions ---- */

static const struct rep *time_value(struct flattener *f, struct context *c,
                                    const struct core *e) {
  emit_results(f, OPC_START_TIMER, TW_NONE, 0, NULL, 0, NULL);
  const struct rep *value = rep_physical(f, c, flatten(f, c, e->as.part.left));
  const ir_var seconds = emit(f, OPC_STOP_TIMER, TW_NONE, 0, NULL);
  return rep_pair(f, value, rep_scalar(f, TW_FLOAT, seconds, true));
}

static const struct rep *expression(struct flattener *f, struct context *c,
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
  case CORE_LOCAL: return variable(f, c, e->as.local);
  case CORE_GLOBAL: return global_value(f, e);
  case CORE_PAIR: {
    const struct rep *left = flatten(f, c, e->as.part.left);
    return rep_pair(f, left, flatten(f, c, e->as.part.right));
  }
  case CORE_APPLY: return flatten_apply(f, c, e);
  case CORE_LAMBDA: return lambda_value(f, c, e->as.lambda);
  case CORE_IF: return flatten_if(f, c, e);
  case CORE_LET:
    bind_pattern(f, c, e->as.part.pattern, flatten(f, c, e->as.part.left));
    return flatten(f, c, e->as.part.right);
  case CORE_LIST: return flatten_list(f, c, e);
  case CORE_EACH:
    if (!context_serial(c) && is_closed(f, e)) return flatten_closed(f, c, e);
    return flatten_each(f, c, e);
  case CORE_TIME: return time_value(f, c, e);
  }
  return NULL;
}

const struct rep *flatten(struct flattener *f, struct context *c, const struct core *e) {
  const struct origin_at before = f->at;
  set_origin(f, e);
  const struct rep *r = expression(f, c, e);
  f->at = before;
  return r;
}

/* ---- programs ---- */

static void begin_function(struct flattener *f) {
  f->kinds.items = NULL;
  f->kinds.count = f->kinds.capacity = 0;
  f->definitions.items = NULL;
  f->definitions.count = f->definitions.capacity = 0;
  f->assumed.items = NULL;
  f->assumed.count = f->assumed.capacity = 0;
  known_reset(f);
  f->wanted.items = NULL;
  f->wanted.count = f->wanted.capacity = 0;
  f->block = NULL;
  f->expanded = 0;
  f->at = (struct origin_at){0};
}

static void finish_function(struct flattener *f, uint32_t index, const struct name *name,
                            uint32_t params, struct block *body, const struct rep *physical) {
  struct vars results = {.arena = f->arena};
  rep_columns(physical, &results);
  struct ir_block *b = block_end(f, body, (uint32_t)results.list.count, results.list.items);
  while (f->kept.count <= index) *array_push(f->arena, &f->kept) = (struct vars){0};
  f->kept.items[index].list.items = f->wanted.items;
  f->kept.items[index].list.count = f->wanted.count;
  struct ir_function *out = &f->functions.items[index];
  *out = (struct ir_function){.name = name,
                              .typed = true,
                              .returns = true,
                              .param_count = params,
                              .result_count = (uint32_t)results.list.count,
                              .var_count = (uint32_t)f->kinds.count,
                              .vars = f->kinds.items,
                              .body = b};
  out->params = arena_alloc(f->arena, params * (sizeof(ir_var) + sizeof(bool)) + 1);
  out->unused = (bool *)(out->params + params);
  for (uint32_t i = 0; i < params; i++) out->params[i] = i;
  out->result_kinds =
      arena_alloc(f->arena, (results.list.count + 1) * sizeof *out->result_kinds);
  for (size_t i = 0; i < results.list.count; i++) {
    out->result_kinds[i] = f->kinds.items[results.list.items[i]];
  }
}

/* The name of a version: that of its function, with its number where there are several. */
static const struct name *version_name(struct flattener *f, const struct version *v) {
  const char *base = v->lambda ? "LAMBDA" : v->global ? v->global->name->text : "F";
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

static void make_version(struct flattener *f, size_t number) {
  const struct version v = f->versions.items[number];
  begin_function(f);
  struct frame frame = {
      .count = v.count, .arguments = v.arguments, .global = v.global, .calls = ""};
  f->frame = &frame;
  /* Parameters are the first variables. */
  const ir_var one = v.lifted ? flat_var(f, &flat_kinds[IR_SEGDES]) : 0;
  struct block *body = block_begin(f);
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
  if (v.lambda) {
    const struct rep *captured = argument->left;
    for (uint32_t i = 0; i < v.lambda->captured_count; i++) {
      const bool last = i + 1 == v.lambda->captured_count;
      bind_local(f, c, v.lambda->captured[i], last ? captured : captured->left);
      if (!last) captured = captured->right;
    }
    bind_pattern(f, c, v.lambda->parameter, v.captured ? argument->right : argument);
    result = flatten(f, c, v.lambda->body);
  } else if (v.derived) {
    bind_pattern(f, c, v.derived->parameter, argument);
    result = flatten(f, c, v.derived->body);
  } else {
    bind_pattern(f, c, v.global->parameter, argument);
    result = flatten(f, c, v.global->body);
  }
  finish_function(f, v.function, version_name(f, &v), param_count, body,
                  rep_physical(f, c, result));
}

static struct ir_program *finish(struct flattener *f) {
  while (f->made < f->versions.count && f->complaints->count == 0) make_version(f, f->made++);
  if (f->complaints->count > 0) return NULL;
  struct ir_program *p = arena_alloc(f->arena, sizeof *p);
  *p = (struct ir_program){.file = "nesl",
                           .widths = f->options->widths,
                           .functions = f->functions.items,
                           .function_count = (uint32_t)f->functions.count,
                           .origins = f->origins.items,
                           .origin_count = (uint32_t)f->origins.count};
  flat_dead(f, p);
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
  *array_push(f->arena, &f->origins) = (struct vcode_origin){"", ""};
  *array_push(f->arena, &f->functions) = (struct ir_function){0};
  return f;
}

struct ir_program *flatten_expression(struct session *s, struct core *expression_,
                                      uint32_t local_count,
                                      const struct flatten_options *options,
                                      struct complaints *complaints) {
  (void)local_count;
  struct flattener *f = new_flattener(s, options, complaints);
  begin_function(f);
  struct frame frame = {.calls = ""};
  f->frame = &frame;
  struct block *body = block_begin(f);
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  const struct rep *result = rep_physical(f, &f->serial, flatten(f, &f->serial, expression_));
  finish_function(f, 0, intern_name(&s->names, "MAIN", 4), 0, body, result);
  return finish(f);
}

struct ir_program *flatten_function(struct session *s, struct global *g, struct type *argument,
                                    const struct flatten_options *options,
                                    struct complaints *complaints) {
  struct flattener *f = new_flattener(s, options, complaints);
  begin_function(f);
  struct type **arguments = arena_alloc(f->arena, (g->scheme.count + 1) * sizeof *arguments);
  struct type *t = type_instantiate(f->arena, &g->scheme, arguments);
  struct type *a, *b;
  if (type_unify(type_of(t)->part[0], argument, &a, &b) != UNIFY_OK) {
    unsupported(f, "an argument of another type");
    return NULL;
  }
  for (uint32_t i = 0; i < g->scheme.count; i++) {
    arguments[i] = type_ground(f->arena, arguments[i], 0, NULL);
  }
  struct frame frame = {
      .count = g->scheme.count, .arguments = arguments, .global = g, .calls = ""};
  f->frame = &frame;
  const struct ir_kind **kinds;
  uint32_t count;
  type_kinds(f, argument, &kinds, &count);
  ir_var *params = arena_alloc(f->arena, (count + 1) * sizeof *params);
  for (uint32_t i = 0; i < count; i++) params[i] = flat_var(f, kinds[i]);
  struct block *body = block_begin(f);
  f->serial = (struct context){.kind = CONTEXT_SERIAL};
  f->serial.one = emit_one_segment(f, 1);
  const ir_var *next = params;
  const struct rep *r = rep_from_columns(f, argument, f->serial.one, true, &next);
  bind_pattern(f, &f->serial, g->parameter, r);
  const struct rep *result = rep_physical(f, &f->serial, flatten(f, &f->serial, g->body));
  finish_function(f, 0, intern_name(&s->names, "MAIN", 4), count, body, result);
  return finish(f);
}
