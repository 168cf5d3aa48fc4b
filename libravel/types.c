/* types.c - types of data: each exists once in a context. They are read from text and printed
 * as text. */
#include "libravel/private.h"

#include <string.h>

/* ---- each once ---- */

static uint64_t hash_of_type(const struct type *t) {
  uint64_t hash = map_mix(t->tag, (uintptr_t)t->data);
  for (unsigned i = 0; i < 2; i++) hash = map_mix(hash, (uintptr_t)t->part[i]);
  for (uint32_t i = 0; i < t->argument_count; i++) {
    hash = map_mix(hash, (uintptr_t)t->arguments[i]);
  }
  return hash;
}

/* Returns whether two types of the same kept types are the same. */
static bool are_same_kept(const struct type *a, const struct type *b) {
  if (a->tag != b->tag || a->data != b->data || a->argument_count != b->argument_count) {
    return false;
  }
  for (uint32_t i = 0; i < a->argument_count; i++) {
    if (a->arguments[i] != b->arguments[i]) return false;
  }
  return a->part[0] == b->part[0] && a->part[1] == b->part[1];
}

static const struct ravel_type *kept_part(const struct type *part) {
  return (const struct ravel_type *)part;
}

static uint32_t greater(uint32_t a, uint32_t b) {
  return a > b ? a : b;
}

/* Counts how deep a type nests, from its parts. A tuple at the end of a tuple is a part of it.
 */
static void count_levels(struct ravel_type *kept) {
  const struct type *t = &kept->type;
  for (unsigned i = 0; i < 2 && t->part[i]; i++) {
    const bool rest = t->tag == TYPE_PAIR && i == 1;
    kept->levels = greater(kept->levels, kept_part(t->part[i])->levels + !rest);
    kept->nesting = greater(kept->nesting, kept_part(t->part[i])->nesting + 1);
  }
  for (uint32_t i = 0; i < t->argument_count; i++) {
    kept->levels = greater(kept->levels, kept_part(t->arguments[i])->levels + 1);
    kept->nesting = greater(kept->nesting, kept_part(t->arguments[i])->nesting + 1);
  }
}

static struct type *add_kept_type(struct ravel_context *c, const struct type *t,
                                  uint64_t hash) {
  struct arena *arena = &c->type_region->arena;
  struct ravel_type *kept = arena_alloc(arena, sizeof *kept);
  kept->type = *t;
  kept->type.from_source = NULL;
  kept->text = type_text(arena, &kept->type, false);
  kept->columns = value_column_count(&kept->type);
  count_levels(kept);
  if (t->data) region_note_type(c->type_region, &kept->type);
  c->types.count = c->type_numbers.items.count; /* without what failed before its number */
  *array_push(arena, &c->types) = kept;
  scoped_map_add(&c->type_numbers, hash);
  return &kept->type;
}

/* Returns the kept type that consists of the same kept types. */
static struct type *find_kept_type(struct ravel_context *c, const struct type *t) {
  const uint64_t hash = hash_of_type(t);
  uint32_t next = scoped_map_first(&c->type_numbers, hash);
  for (; next; next = scoped_map_earlier(&c->type_numbers, next)) {
    struct type *kept = &c->types.items[next - 1]->type;
    if (are_same_kept(kept, t)) return kept;
  }
  return add_kept_type(c, t, hash);
}

static struct type *keep_type(struct ravel_context *, struct type *);

static struct type *keep_data(struct ravel_context *c, struct type *t) {
  struct type copy = {.tag = TYPE_DATA, .data = t->data, .argument_count = t->argument_count};
  copy.arguments =
      arena_alloc(&c->type_region->arena, (t->argument_count + 1) * sizeof *copy.arguments);
  for (uint32_t i = 0; i < t->argument_count; i++) {
    copy.arguments[i] = keep_type(c, t->arguments[i]);
    if (!copy.arguments[i]) return NULL;
  }
  return find_kept_type(c, &copy);
}

/* Returns NULL if functions or variables are within. */
static struct type *keep_type(struct ravel_context *c, struct type *t) {
  t = type_of(t);
  struct type copy = {.tag = t->tag};
  switch ((enum type_tag)t->tag) {
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR: return find_kept_type(c, &copy);
  case TYPE_SEQUENCE:
  case TYPE_PAIR:
    for (unsigned i = 0; i < 2 && t->part[i]; i++) {
      copy.part[i] = keep_type(c, t->part[i]);
      if (!copy.part[i]) return NULL;
    }
    return find_kept_type(c, &copy);
  case TYPE_DATA: return keep_data(c, t);
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
  return NULL;
}

void ravel_types_begin(struct ravel_context *c) {
  static const enum type_tag tags[] = {TYPE_INT, TYPE_FLOAT, TYPE_BOOL, TYPE_CHAR};
  c->type_region = region_new(c->session, REGION_OF_FORM);
  if (!c->type_region) memory_failed();
  scoped_map_init(&c->type_numbers, &c->type_region->arena);
  for (int i = 0; i < 4; i++) {
    c->base[tags[i]] = find_kept_type(c, &(struct type){.tag = (uint8_t)tags[i]});
  }
}

/* A text for each type at once would be too long: tuples of n have n - 1 tuples in them. */
const char *ravel_type_whole(struct ravel_context *c, struct type *type) {
  struct ravel_type *kept = (struct ravel_type *)type;
  if (strlen(kept->text) < TYPE_MOST_TEXT) return kept->text;
  struct memory_guard guard;
  if (kept->whole) return kept->whole;
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) return kept->text;
  kept->whole = type_text_whole(&c->type_region->arena, type);
  memory_guard_end(&guard);
  return kept->whole;
}

static bool has_few_levels(struct ravel_context *c, struct type *t) {
  if (value_column_count(t) <= VALUE_MOST_COLUMNS) return true;
  ravel_fail(c, RAVEL_TYPE, "%s", VALUE_TOO_MANY_COLUMNS);
  return false;
}

/* Bounds a type's levels, in the same way for everything that comes in or goes out: it can be
 * named as a type then. */
static struct type *shallow(struct ravel_context *c, struct type *kept) {
  enum { MOST_LEVELS = 250, MOST_COMPONENTS = 1900 };
  if (kept_part(kept)->levels > MOST_LEVELS) {
    ravel_fail(c, RAVEL_TYPE, "a value that nests deeper than %d levels", MOST_LEVELS);
  } else if (kept_part(kept)->nesting > MOST_COMPONENTS) {
    ravel_fail(c, RAVEL_TYPE, "a value with tuples of more than %d components",
               MOST_COMPONENTS);
  } else {
    return kept;
  }
  return NULL;
}

struct type *ravel_type_kept(struct ravel_context *c, struct type *t) {
  if (!has_few_levels(c, t)) return NULL;
  struct type *kept = keep_type(c, t);
  if (kept) return shallow(c, kept);
  ravel_fail(c, RAVEL_TYPE, "no data are of the type %s: it has functions or streams in it",
             type_text(c->diags->arena, t, false));
  return NULL;
}

/* ---- composed ---- */

struct composed {
  struct type type, *kept;
};

static enum ravel_code compose(struct ravel_context *c, void *data) {
  struct composed *composed = data;
  if (!has_few_levels(c, &composed->type)) return c->code;
  composed->kept = shallow(c, find_kept_type(c, &composed->type));
  return composed->kept ? RAVEL_OK : c->code;
}

static struct type *make_kept_type(struct ravel_context *c, const struct type *t) {
  struct composed composed = {.type = *t};
  return ravel_guarded(c, compose, &composed) == RAVEL_OK ? composed.kept : NULL;
}

struct type *ravel_type_sequence(struct ravel_context *c, struct type *element) {
  return make_kept_type(c, &(struct type){.tag = TYPE_SEQUENCE, .part = {element}});
}

struct type *ravel_type_pair(struct ravel_context *c, struct type *left, struct type *right) {
  return make_kept_type(c, &(struct type){.tag = TYPE_PAIR, .part = {left, right}});
}

/* ---- columns ---- */

struct layout {
  struct arena *arena, *scratch;
  ARRAY(uint32_t) within;
  ARRAY(uint8_t) tags;
};

/* Adds the columns of instances that are as many as the total of a column, or one. */
static void lay_out_columns(struct layout *l, struct type *t, uint32_t within) {
  t = type_of(t);
  if (t->tag == TYPE_PAIR) {
    lay_out_columns(l, t->part[0], within);
    lay_out_columns(l, t->part[1], within);
  } else if (t->tag == TYPE_DATA) {
    lay_out_columns(l, type_contents(l->scratch, t), within);
  } else {
    const uint32_t column = (uint32_t)l->within.count;
    *array_push(l->arena, &l->within) = within;
    *array_push(l->arena, &l->tags) = t->tag;
    if (t->tag == TYPE_SEQUENCE) lay_out_columns(l, t->part[0], column);
  }
}

const uint32_t *ravel_type_layout(struct ravel_context *c, struct arena *arena,
                                  struct type *kept, const uint8_t **tags) {
  struct layout l = {.arena = arena, .scratch = c->session->arena};
  lay_out_columns(&l, kept, IR_ONE);
  if (tags) *tags = l.tags.items;
  return l.within.items;
}

static enum ravel_code keep_layout(struct ravel_context *c, void *data) {
  struct ravel_type *kept = data;
  struct arena *arena = &c->type_region->arena;
  struct ravel_layout *layout = arena_alloc(arena, sizeof *layout);
  layout->within = ravel_type_layout(c, arena, &kept->type, &layout->tags);
  for (uint32_t i = 0; i < kept->columns; i++) {
    layout->count += ravel_is_column(layout, i);
  }
  kept->layout = layout;
  return RAVEL_OK;
}

const struct ravel_layout *ravel_layout_of(struct ravel_context *c, struct type *type) {
  struct ravel_type *kept = (struct ravel_type *)type;
  if (!kept->layout) (void)ravel_in_form(c, keep_layout, kept);
  return kept->layout;
}

/* ---- from text ---- */

struct type *ravel_type_read(struct ravel_context *c, const char *text) {
  struct complaints complaints = {.diags = c->diags};
  const char *ended = arena_printf(c->session->arena, "%s;", text);
  const struct source *source = ravel_source(c, "<types>", ended, strlen(ended), 1);
  struct type *type = session_read_type(c->session, source, &complaints);
  if (type) return ravel_type_kept(c, type);
  const enum ravel_code code = ravel_stopped(c);
  if (code == RAVEL_OK) ravel_failed(c, ravel_code_of(complaints.first));
  return NULL;
}
