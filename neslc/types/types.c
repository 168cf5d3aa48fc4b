/* types.c - construction, copies and comparison of types.
 *
 * A type is an acyclic graph with shared parts: (x, x) of a large x is small. As a tree it may
 * be exponentially larger, so every walk visits each part once, with a table of those seen.
 */
#include "neslc/types/types.h"

#include "neslc/table.h"
#include "neslc/types/core.h"

#include <string.h>

/* ---- construction ---- */

static struct type *make_type_node(struct arena *arena, enum type_tag tag) {
  struct type *t = arena_alloc(arena, sizeof *t);
  t->tag = (uint8_t)tag;
  return t;
}

struct type *type_base(struct arena *arena, enum type_tag tag) {
  /* Never modified: only variables change, and source locations are set in copies. */
  static const struct type shared[] = {
      [TYPE_INT] = {.tag = TYPE_INT},       [TYPE_FLOAT] = {.tag = TYPE_FLOAT},
      [TYPE_BOOL] = {.tag = TYPE_BOOL},     [TYPE_CHAR] = {.tag = TYPE_CHAR},
      [TYPE_STREAM] = {.tag = TYPE_STREAM},
  };
  if (tag <= TYPE_STREAM) return (struct type *)&shared[tag];
  return make_type_node(arena, tag);
}

struct type *type_sequence(struct arena *arena, struct type *element) {
  struct type *t = make_type_node(arena, TYPE_SEQUENCE);
  t->part[0] = element;
  return t;
}

struct type *type_pair(struct arena *arena, struct type *left, struct type *right) {
  struct type *t = make_type_node(arena, TYPE_PAIR);
  t->part[0] = left;
  t->part[1] = right;
  return t;
}

struct type *type_function(struct arena *arena, struct type *argument, struct type *result,
                           struct type *identity) {
  struct type *t = make_type_node(arena, TYPE_FUNCTION);
  t->part[0] = argument;
  t->part[1] = result;
  t->part[2] = identity;
  return t;
}

struct type *type_data(struct arena *arena, const struct datatype *data,
                       struct type **arguments) {
  struct type *t = make_type_node(arena, TYPE_DATA);
  t->data = data;
  t->argument_count = data->parameter_count;
  t->arguments = arguments;
  return t;
}

struct type *type_identity(struct arena *arena, const struct global *global,
                           const struct core_lambda *lambda, uint32_t count,
                           struct type **arguments) {
  struct type *t = make_type_node(arena, TYPE_IDENTITY);
  t->global = global;
  t->lambda = lambda;
  t->argument_count = count;
  t->arguments = arguments;
  return t;
}

struct type *type_variable(struct arena *arena, enum type_class klass) {
  struct type *t = make_type_node(arena, TYPE_VARIABLE);
  t->klass = (uint8_t)klass;
  return t;
}

const char *type_class_name(enum type_class klass) {
  switch (klass) {
  case CLASS_ANY: return "any";
  case CLASS_SCALAR: return "scalar";
  case CLASS_ORDINAL: return "ordinal";
  case CLASS_NUMBER: return "number";
  case CLASS_LOGICAL: return "logical";
  case CLASS_SORTABLE: return "sortable";
  case CLASS_EQUATED: return "ordinal";
  case CLASSES: break;
  }
  return "?";
}

/* How many entries of part[] a type uses. */
static unsigned part_count(const struct type *t) {
  switch ((enum type_tag)t->tag) {
  case TYPE_SEQUENCE: return 1;
  case TYPE_PAIR: return 2;
  case TYPE_FUNCTION: return 3;
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_DATA:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return 0;
}

bool type_has_parts(const struct type *t) {
  return part_count(t) > 0 || t->argument_count > 0;
}

/* ---- schemes ---- */

struct generaliser {
  struct arena *arena;
  struct table seen;
  ARRAY(struct type *) variables;
};

static void generalise(struct generaliser *g, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_VARIABLE && !t->generic) {
    t->generic = true;
    t->number = (uint32_t)g->variables.count;
    *array_push(g->arena, &g->variables) = t;
  }
  if (!type_has_parts(t) || !table_add(&g->seen, t)) return;
  for (unsigned i = 0; i < part_count(t); i++) generalise(g, t->part[i]);
  for (uint32_t i = 0; i < t->argument_count; i++) generalise(g, t->arguments[i]);
}

struct scheme type_generalise(struct arena *arena, struct type *type) {
  struct generaliser g = {.arena = arena};
  table_begin(&g.seen, arena);
  generalise(&g, type);
  return (struct scheme){(uint32_t)g.variables.count, g.variables.items, type};
}

/* ---- copies ---- */

struct substitution {
  struct arena *arena;
  struct table done; /* type with parts -> what it became: the copy shares what it shares */
  uint32_t count;    /* generic variable i becomes arguments[i] */
  struct type **arguments;
  bool ground;                 /* all other variables become int */
  const struct source *source; /* with `at`: the location of all copies; NULL: keep theirs */
  struct span at;
};

static struct type *substitute(struct substitution *, struct type *);

static struct type **substitute_all(struct substitution *s, struct type *t) {
  struct type **copies = NULL;
  for (uint32_t i = 0; i < t->argument_count; i++) {
    struct type *copy = substitute(s, t->arguments[i]);
    if (copy == t->arguments[i] && !copies) continue;
    if (!copies) {
      copies = arena_alloc(s->arena, t->argument_count * sizeof *copies);
      memcpy(copies, t->arguments, i * sizeof *copies);
    }
    copies[i] = copy;
  }
  return copies ? copies : t->arguments;
}

/* Returns the substitution of a type that is no variable: the type itself where nothing in it
 * changes. */
static struct type *rebuild(struct substitution *s, struct type *t) {
  struct type copy = *t;
  bool changed = s->source != NULL;
  for (unsigned i = 0; i < part_count(t); i++) {
    copy.part[i] = substitute(s, t->part[i]);
    changed |= copy.part[i] != t->part[i];
  }
  copy.arguments = substitute_all(s, t);
  changed |= copy.arguments != t->arguments;
  if (!changed) return t;
  if (s->source && !t->assumed) { /* what was assumed, and where, is worth knowing */
    copy.from = s->at;
    copy.from_source = s->source;
  }
  struct type *made = make_type_node(s->arena, (enum type_tag)t->tag);
  *made = copy;
  return made;
}

static struct type *substitute(struct substitution *s, struct type *t) {
  t = type_of(t);
  if (t->tag == TYPE_VARIABLE) {
    if (t->generic && t->number < s->count) return s->arguments[t->number];
    return s->ground ? type_base(s->arena, TYPE_INT) : t;
  }
  if (!type_has_parts(t)) return s->source ? rebuild(s, t) : t;
  struct type *made = table_get(&s->done, t);
  if (made) return made;
  made = rebuild(s, t);
  table_set(&s->done, t, made);
  return made;
}

struct type *type_instantiate_at(struct arena *arena, const struct scheme *scheme,
                                 struct type **arguments, const struct source *source,
                                 struct span at) {
  for (uint32_t i = 0; i < scheme->count; i++) {
    arguments[i] = type_variable(arena, (enum type_class)scheme->variables[i]->klass);
  }
  struct substitution s = {.arena = arena,
                           .count = scheme->count,
                           .arguments = arguments,
                           .source = source,
                           .at = at};
  table_begin(&s.done, arena);
  return substitute(&s, scheme->type);
}

struct type *type_instantiate(struct arena *arena, const struct scheme *scheme,
                              struct type **arguments) {
  return type_instantiate_at(arena, scheme, arguments, NULL, (struct span){0, 0});
}

struct type *type_ground(struct arena *arena, struct type *type, uint32_t count,
                         struct type **arguments) {
  struct substitution s = {
      .arena = arena, .count = count, .arguments = arguments, .ground = true};
  table_begin(&s.done, arena);
  return substitute(&s, type);
}

uint32_t datatype_field(const struct datatype *data, const struct name *name) {
  uint32_t i = 0;
  while (i < data->field_count && data->fields[i] != name) i++;
  return i;
}

struct type *type_contents(struct arena *arena, struct type *data) {
  data = type_of(data);
  struct substitution s = {
      .arena = arena, .count = data->argument_count, .arguments = data->arguments};
  table_begin(&s.done, arena);
  return substitute(&s, data->data->contents);
}

/* ---- independent copies ---- */

/* `done` maps types to their copies. */
static struct type *copy_of_type(struct arena *arena, struct table *done, struct type *type) {
  type = type_of(type);
  if (type->tag <= TYPE_STREAM) return type_base(arena, (enum type_tag)type->tag);
  struct type *copy = table_get(done, type);
  if (copy) return copy;
  copy = arena_alloc(arena, sizeof *copy);
  *copy = *type;
  copy->from_source = NULL;
  copy->assumed = NULL;
  table_set(done, type, copy);
  for (unsigned i = 0; i < part_count(type); i++) {
    copy->part[i] = copy_of_type(arena, done, type->part[i]);
  }
  if (type->argument_count == 0) return copy;
  copy->arguments = arena_alloc(arena, type->argument_count * sizeof *copy->arguments);
  for (uint32_t i = 0; i < type->argument_count; i++) {
    copy->arguments[i] = copy_of_type(arena, done, type->arguments[i]);
  }
  return copy;
}

struct type *type_copy(struct arena *arena, struct type *type) {
  struct table done;
  table_begin(&done, arena);
  return copy_of_type(arena, &done, type);
}

struct scheme scheme_copy(struct arena *arena, const struct scheme *scheme) {
  struct table done;
  table_begin(&done, arena);
  struct scheme copy = {.count = scheme->count};
  copy.type = copy_of_type(arena, &done, scheme->type);
  copy.variables = arena_alloc(arena, scheme->count * sizeof *copy.variables);
  for (uint32_t i = 0; i < scheme->count; i++) {
    copy.variables[i] = copy_of_type(arena, &done, scheme->variables[i]);
  }
  return copy;
}

/* ---- comparing ---- */

/* type_of() for constant types. */
static const struct type *resolve_link(const struct type *t) {
  while (t->link) t = t->link;
  return t;
}

struct comparison {
  struct table same; /* type -> one that it was found to be the same as, or is being compared
                        with */
};

static bool same_type_in(struct comparison *c, const struct type *a, const struct type *b) {
  a = resolve_link(a);
  b = resolve_link(b);
  if (a == b) return true;
  if (a->tag != b->tag || a->argument_count != b->argument_count) return false;
  if (a->tag == TYPE_VARIABLE) {
    return a->generic && b->generic && a->number == b->number && a->klass == b->klass;
  }
  if (a->data != b->data || a->global != b->global || a->lambda != b->lambda) return false;
  if (!type_has_parts(a)) return true;
  const void *first = table_root(&c->same, a), *second = table_root(&c->same, b);
  if (first == second) return true;
  table_set(&c->same, first, (void *)(uintptr_t)second);
  for (unsigned i = 0; i < part_count(a); i++) {
    if (!same_type_in(c, a->part[i], b->part[i])) return false;
  }
  for (uint32_t i = 0; i < a->argument_count; i++) {
    if (!same_type_in(c, a->arguments[i], b->arguments[i])) return false;
  }
  return true;
}

bool type_same(struct arena *scratch, const struct type *a, const struct type *b) {
  struct comparison c;
  table_begin(&c.same, scratch);
  return same_type_in(&c, a, b);
}

bool scheme_same(struct arena *scratch, const struct scheme *a, const struct scheme *b) {
  /* Variables are numbered in the order a type mentions them: equal numbers correspond. */
  return a->count == b->count && type_same(scratch, a->type, b->type);
}

/* ---- hashing ---- */

static uint64_t mix_type_hash(uint64_t hash, uint64_t x) {
  return (hash ^ x) * 0x100000001b3u + (hash >> 29); /* FNV's prime */
}

/* `done` maps a type with parts to its hash. */
static uint64_t hash_of_part(struct table *done, const struct type *t) {
  t = resolve_link(t);
  uint64_t hash = mix_type_hash(0xcbf29ce484222325u, t->tag);
  if (t->tag == TYPE_VARIABLE) return mix_type_hash(hash, t->number);
  hash = mix_type_hash(hash, (uintptr_t)t->data);
  hash = mix_type_hash(hash, (uintptr_t)t->global);
  hash = mix_type_hash(hash, (uintptr_t)t->lambda);
  if (!type_has_parts(t)) return hash;
  const uint64_t known = (uint64_t)(uintptr_t)table_get(done, t);
  if (known) return known;
  for (unsigned i = 0; i < part_count(t); i++)
    hash = mix_type_hash(hash, hash_of_part(done, t->part[i]));
  for (uint32_t i = 0; i < t->argument_count; i++) {
    hash = mix_type_hash(hash, hash_of_part(done, t->arguments[i]));
  }
  hash |= 1; /* never NULL */
  table_set(done, t, (void *)(uintptr_t)hash);
  return hash;
}

uint64_t type_hash(struct arena *scratch, const struct type *t) {
  struct table done;
  table_begin(&done, scratch);
  return hash_of_part(&done, t);
}

/* ---- depth ---- */

/* The depth of a type, counted up to `most` + 1; `done` maps types with parts to their depths.
 */
static uint32_t depth_of(struct table *done, struct type *t, uint32_t most) {
  t = type_of(t);
  if (!type_has_parts(t)) return 1;
  if (most == 0) return 1;
  const uint32_t known = (uint32_t)(uintptr_t)table_get(done, t);
  if (known) return known;
  uint32_t deepest = 0;
  const unsigned parts = part_count(t);
  for (uint32_t i = 0; i < parts + t->argument_count && deepest < most; i++) {
    struct type *part = i < parts ? t->part[i] : t->arguments[i - parts];
    const uint32_t depth = depth_of(done, part, most - 1);
    if (depth > deepest) deepest = depth;
  }
  table_set(done, t, (void *)(uintptr_t)(deepest + 1));
  return deepest + 1;
}

bool type_is_deep(struct arena *scratch, struct type *t) {
  struct table done;
  table_begin(&done, scratch);
  return depth_of(&done, t, TYPE_MOST_DEPTH) > TYPE_MOST_DEPTH;
}

/* ---- flat types ---- */

/* The types that generic variables stand for within the contents of a datatype or captured
 * variables. */
struct binding {
  const struct type *of; /* its arguments; of a lambda, in the order of lambda->variables */
  const struct binding *outer;
};

static const struct type *types_bound_type(const struct type *variable,
                                           const struct binding *binding) {
  const struct core_lambda *lambda = binding->of->lambda;
  for (uint32_t i = 0; i < binding->of->argument_count; i++) {
    uint32_t number = lambda ? type_of(lambda->variables[i])->number : i;
    if (number == variable->number) return binding->of->arguments[i];
  }
  return NULL;
}

static bool flat(const struct type *t, const struct binding *binding) {
  t = resolve_link(t);
  while (t->tag == TYPE_VARIABLE && t->generic && binding) {
    const struct type *argument = types_bound_type(t, binding);
    if (!argument) return true; /* nothing determined it: int */
    t = resolve_link(argument);
    binding = binding->outer;
  }
  switch ((enum type_tag)t->tag) {
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE: return true;
  case TYPE_SEQUENCE: return false;
  case TYPE_PAIR: return flat(t->part[0], binding) && flat(t->part[1], binding);
  case TYPE_DATA: return flat(t->data->contents, &(struct binding){t, binding});
  case TYPE_FUNCTION: return flat(t->part[2], binding);
  case TYPE_IDENTITY: break;
  }
  for (uint32_t i = 0; t->lambda && i < t->lambda->captured_count; i++) {
    if (!flat(t->lambda->captured[i]->type, &(struct binding){t, binding})) return false;
  }
  return true;
}

bool type_is_flat(struct type *t) {
  return flat(t, NULL);
}
