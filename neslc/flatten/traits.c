/* traits.c - properties of functions and expressions, by inspection. */
#include "neslc/flatten/traits.h"

#include "neslc/flatten/call.h"
#include "neslc/flatten/expressions.h"
#include "neslc/flatten/rep.h"

/* ---- walking ---- */

struct walk {
  struct flattener *f;
  uint32_t size;
  bool others; /* an effect, or perhaps one, that is no random number */
  bool
      here; /* types are those of the body being generated: function values are known by them */
  ARRAY(struct global *) mentioned;
};

static void walk_traits(void *context, struct core *e, bool parallel);

/* The callee of an application that names no function. */
static void walk_callee(struct walk *w, const struct core *e) {
  struct type *function = w->here ? type_of(ground(w->f, e->type)) : NULL;
  const struct type *identity =
      function && function->tag == TYPE_FUNCTION ? type_of(function->part[2]) : NULL;
  if (identity && identity->lambda) {
    w->here = false; /* the lambda may be of another function */
    walk_traits(w, identity->lambda->body, false);
    w->here = true;
  } else if (identity && identity->global) {
    *array_push(w->f->arena, &w->mentioned) = (struct global *)(uintptr_t)identity->global;
  } else {
    w->others = true; /* the callee is unknown */
  }
}

static void walk_traits(void *context, struct core *e, bool parallel) {
  (void)parallel;
  struct walk *w = context;
  w->size++;
  if (e->kind == CORE_GLOBAL) *array_push(w->f->arena, &w->mentioned) = e->as.use.global;
  if (e->kind == CORE_APPLY && !core_callee(e)) walk_callee(w, e->as.part.left);
  if (e->kind == CORE_TIME) w->others = true;
  core_parts(e, walk_traits, w);
}

static struct walk walk_all(struct flattener *f, const struct core *e, bool here) {
  struct walk w = {.f = f, .here = here};
  walk_traits(&w, (struct core *)(uintptr_t)e, false);
  return w;
}

/* ---- functions ---- */

/* The functions that a function may call, directly or not. */
struct reach {
  struct flattener *f;
  struct table seen; /* globals */
  bool draws, others;
  ARRAY(struct global *) list;
};

static void add_primitive(struct reach *r, enum primitive primitive) {
  if (primitive_info(primitive)->effect == PRIMITIVE_FREE) return;
  if (primitive == PRIM_RAND)
    r->draws = true;
  else
    r->others = true;
}

static void add_reached(struct reach *r, struct global *g) {
  if (table_add(&r->seen, g)) *array_push(r->f->arena, &r->list) = g;
}

const struct traits *global_traits(struct flattener *f, struct global *g) {
  const struct traits *known = table_get(&f->traits, g);
  if (known) return known;
  struct traits *t = arena_alloc(f->arena, sizeof *t);
  struct reach r = {.f = f};
  table_begin(&r.seen, f->arena);
  *array_push(f->arena, &r.list) = g;
  for (size_t i = 0; i < r.list.count; i++) {
    const struct global *at = r.list.items[i];
    if (at->primitive >= 0) add_primitive(&r, (enum primitive)at->primitive);
    if (at->kind != GLOBAL_FUNCTION || !at->body) continue;
    const struct walk w = walk_all(f, at->body, false);
    if (i == 0) t->size = w.size;
    r.others |= w.others;
    for (size_t k = 0; k < w.mentioned.count; k++) add_reached(&r, w.mentioned.items[k]);
  }
  t->recursive = table_get(&r.seen, g) != NULL;
  t->effects = r.draws || r.others;
  t->others = r.others;
  table_set(&f->traits, g, t);
  return t;
}

static bool walk_finds_effects(struct flattener *f, const struct core *e, bool here) {
  const struct walk w = walk_all(f, e, here);
  bool effects = w.others;
  for (size_t i = 0; i < w.mentioned.count && !effects; i++) {
    struct global *g = w.mentioned.items[i];
    effects = g->kind == GLOBAL_FUNCTION && global_traits(f, g)->effects;
  }
  return effects;
}

bool has_effects(struct flattener *f, const struct core *e) {
  return walk_finds_effects(f, e, false);
}

bool has_effects_here(struct flattener *f, const struct core *e) {
  return walk_finds_effects(f, e, true);
}

bool only_draws(struct flattener *f, const struct core *e) {
  const struct walk w = walk_all(f, e, false);
  bool others = w.others;
  for (size_t i = 0; i < w.mentioned.count && !others; i++) {
    struct global *g = w.mentioned.items[i];
    others = g->kind == GLOBAL_FUNCTION && global_traits(f, g)->others;
  }
  return !others;
}

uint32_t core_size(struct flattener *f, const struct core *e) {
  return walk_all(f, e, false).size;
}

/* ---- simple expressions ---- */

/* A body whose generic variables are these ground types; NULL: a type that it does not mention.
 */
struct simplicity {
  struct flattener *f;
  uint32_t count;
  struct type **arguments;
  unsigned *budget;
  /* Of sequences that may be taken, and what may fail, too; NULL: neither. */
  unsigned *elements;
  bool called; /* the expression is of a body that is called: nothing is known of its variables
                */
};

static bool scalars_only(const struct simplicity *s, struct type *type) {
  struct type *t = type_of(type);
  switch ((enum type_tag)t->tag) {
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR: return true;
  case TYPE_PAIR: return scalars_only(s, t->part[0]) && scalars_only(s, t->part[1]);
  case TYPE_VARIABLE:
    if (t->klass != CLASS_ANY && t->klass != CLASS_ORDINAL && t->klass != CLASS_SORTABLE)
      return true;
    return t->generic && t->number < s->count && s->arguments[t->number] &&
           scalars_only(&(struct simplicity){0}, s->arguments[t->number]);
  default: return false;
  }
}

static bool simple(const struct simplicity *s, const struct core *e);

/* The body of a function at the types of this use. */
static bool simple_body(const struct simplicity *s, const struct core *use,
                        const struct global *g) {
  const uint32_t count = use->as.use.count;
  struct type **arguments = arena_alloc(s->f->arena, (count + 1) * sizeof *arguments);
  for (uint32_t i = 0; i < count; i++) {
    arguments[i] = type_ground(s->f->arena, use->as.use.arguments[i], s->count, s->arguments);
  }
  return simple(&(struct simplicity){s->f, count, arguments, s->budget, s->elements, true},
                g->body);
}

static bool is_pulled_anywhere(const struct rep *r) {
  switch ((enum rep_kind)r->kind) {
  case REP_NOTHING:
  case REP_SCALAR: return false;
  case REP_PULLED: return true;
  case REP_PAIR: return is_pulled_anywhere(r->left) || is_pulled_anywhere(r->right);
  case REP_SEQUENCE: return is_pulled_anywhere(r->base ? r->base : r->elements);
  }
  return true;
}

static bool simple_element(const struct simplicity *s, const struct core *e);

/* A variable, or an element of one. */
static bool simple_sequence(const struct simplicity *s, const struct core *e) {
  if (e->kind != CORE_LOCAL) return simple_element(s, e);
  const struct flat_frame *frame = s->f->frame;
  if (s->called || e->as.local->number >= frame->locals.count) return false;
  const struct rep *r = frame->locals.items[e->as.local->number].rep;
  return r && !is_pulled_anywhere(r);
}

static bool simple_element(const struct simplicity *s, const struct core *e) {
  const struct global *g = e->kind == CORE_APPLY ? core_callee(e) : NULL;
  const struct core *x = e->as.part.right;
  if (!g || g->kind != GLOBAL_FUNCTION || g->primitive != PRIM_ELT || x->kind != CORE_PAIR ||
      !s->elements || *s->elements == 0)
    return false;
  --*s->elements;
  return simple_sequence(s, x->as.part.left) && simple(s, x->as.part.right);
}

/* Takes from the budget what an elementary function costs, compared with other nodes. */
static bool affords_function(const struct simplicity *s, const struct primitive_info *p) {
  enum { FUNCTION_NODES = 30 };
  if (p->opcode < OPC_EXP || p->opcode > OPC_TANH) return true;
  if (*s->budget <= FUNCTION_NODES) return false;
  *s->budget -= FUNCTION_NODES;
  return true;
}

/* Where divisions are not checked, nothing says where they would be. */
static bool simple_primitive(const struct simplicity *s, const struct primitive_info *p) {
  const bool scalar = p->group == PRIMITIVE_SCALAR || p == primitive_info(PRIM_NEGATE);
  const bool fine = !p->may_fail || (s->elements && !s->f->options->unchecked);
  return scalar && fine && p->effect == PRIMITIVE_FREE &&
         (!s->elements || affords_function(s, p));
}

static bool simple_apply(const struct simplicity *s, const struct core *e) {
  struct global *g = core_callee(e);
  if (!g || g->kind != GLOBAL_FUNCTION) return false;
  /* The length of a named sequence is an existing column. */
  if (g->primitive == PRIM_LENGTH && e->as.part.right->kind == CORE_LOCAL) return true;
  if (g->primitive == PRIM_ELT) return scalars_only(s, e->type) && simple_element(s, e);
  if (!simple(s, e->as.part.right)) return false;
  if (g->primitive >= 0)
    return simple_primitive(s, primitive_info((enum primitive)g->primitive));
  return g->body && !global_traits(s->f, g)->recursive && simple_body(s, e->as.part.left, g);
}

static bool simple(const struct simplicity *s, const struct core *e) {
  if (*s->budget == 0) return false;
  --*s->budget;
  switch ((enum core_kind)e->kind) {
  case CORE_INT:
  case CORE_FLOAT:
  case CORE_BOOL:
  case CORE_CHAR: return true;
  case CORE_LOCAL: return scalars_only(s, e->type);
  case CORE_GLOBAL: /* a constant of the program */
    return e->as.use.global->kind == GLOBAL_VARIABLE && scalars_only(s, e->type);
  case CORE_PAIR: return simple(s, e->as.part.left) && simple(s, e->as.part.right);
  case CORE_IF:
    return simple(s, e->as.part.third) && simple(s, e->as.part.left) &&
           simple(s, e->as.part.right);
  case CORE_LET: return simple(s, e->as.part.left) && simple(s, e->as.part.right);
  case CORE_APPLY: return simple_apply(s, e);
  default: return false;
  }
}

bool is_simple(struct flattener *f, const struct core *e, unsigned *budget) {
  const struct flat_frame *frame = f->frame;
  return simple(&(struct simplicity){f, frame->count, frame->arguments, budget, NULL, false},
                e);
}

bool may_be_masked(struct flattener *f, const struct core *e) {
  const struct flat_frame *frame = f->frame;
  unsigned budget = MASKED_NODES, elements = MASKED_ELEMENTS;
  return simple(
      &(struct simplicity){f, frame->count, frame->arguments, &budget, &elements, false}, e);
}

bool is_simple_function(struct flattener *f, struct type *type, const struct rep *value) {
  struct call k = {0};
  if (!unfold_identity(f, type_of(type), value, &k)) return false;
  const struct core *body = k.lambda ? k.lambda->body : k.global->body;
  unsigned budget = SIMPLE_NODES;
  return body &&
         simple(&(struct simplicity){f, k.count, k.arguments, &budget, NULL, false}, body);
}

/* ---- closed expressions ---- */

struct free_walk {
  struct flattener *f;
  bool *bound; /* by number of local */
  size_t most;
  bool shared; /* all free variables so far are shared */
};

static void note_bound(void *context, struct local *local) {
  struct free_walk *w = context;
  if (local->number < w->most) w->bound[local->number] = true;
}

static void find_free(void *context, struct core *e, bool parallel) {
  (void)parallel;
  struct free_walk *w = context;
  if (e->kind == CORE_TIME) w->shared = false;
  if (e->kind == CORE_LOCAL) {
    const uint32_t n = e->as.local->number;
    if (n >= w->most || w->bound[n]) return;
    const struct bound_rep *p = &w->f->frame->locals.items[n];
    w->shared &= p->rep && (context_serial(p->context) || rep_all_shared(p->rep));
  }
  core_binds(e, note_bound, w);
  if (w->shared) core_parts(e, find_free, w);
}

bool is_closed(struct flattener *f, const struct core *e) {
  struct free_walk w = {.f = f, .most = f->frame->locals.count, .shared = true};
  w.bound = arena_alloc(f->arena, w.most + 1);
  find_free(&w, (struct core *)(uintptr_t)e, false);
  return w.shared && !has_effects(f, e);
}
