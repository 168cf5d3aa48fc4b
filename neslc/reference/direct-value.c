/* direct-value.c - trees of the direct interpreter to and from the flat columns of value.h.
 *
 * Both walk over the type one level at a time: all k values of one context are read from, or
 * written to, its columns together.
 */
#include "neslc/reference/direct-private.h"

/* ---- types of captured variables ---- */

/* The function that a function type identifies; NULL if undetermined: then the type has no
 * values.
 */
static const struct direct_specialisation *specialisation_of_type(struct direct *d,
                                                                  struct type *function) {
  struct type *identity = function->part[2] ? type_of(function->part[2]) : NULL;
  if (!identity || identity->tag != TYPE_IDENTITY) return NULL;
  const struct core_lambda *lambda = identity->lambda;
  if (!lambda) {
    if (!identity->global) return NULL;
    return find_specialisation(d, identity->global, NULL, identity->argument_count,
                               identity->arguments);
  }
  struct type **types = arena_alloc(d->arena, lambda->scheme_count * sizeof *types);
  for (uint32_t i = 0; i < lambda->scheme_count; i++) types[i] = type_base(d->arena, TYPE_INT);
  for (uint32_t i = 0; i < lambda->variable_count && i < identity->argument_count; i++) {
    const uint32_t number = type_of(lambda->variables[i])->number;
    if (number < lambda->scheme_count) types[number] = identity->arguments[i];
  }
  return find_specialisation(d, NULL, lambda, lambda->scheme_count, types);
}

static struct type *captured_type(struct direct *d, const struct direct_specialisation *s,
                                  uint32_t i) {
  return type_of(ground_type(d, s, s->lambda->captured[i]->type));
}

/* ---- from columns ---- */

struct reading_columns {
  struct direct *d;
  const struct column *next;
};

static struct datum *read_column_values(struct reading_columns *r, struct type *type,
                                        uint64_t k);

static struct datum *read_pairs(struct reading_columns *r, struct type *type, uint64_t k) {
  const struct datum *lefts = read_column_values(r, type->part[0], k);
  struct datum *rights = read_column_values(r, type->part[1], k);
  for (uint64_t i = 0; i < k; i++) rights[i] = datum_pair(r->d, lefts[i], rights[i]);
  return rights;
}

static struct datum *read_sequences(struct reading_columns *r, struct type *type, uint64_t k) {
  const struct column *lengths = r->next++;
  uint64_t total = 0;
  for (uint64_t i = 0; i < k; i++) total += (uint64_t)lengths->as.ints[i];
  const struct datum *items = read_column_values(r, type->part[0], total);
  struct datum *out = direct_items(r->d, k);
  for (uint64_t i = 0; i < k; i++) {
    const uint64_t n = (uint64_t)lengths->as.ints[i];
    out[i] = datum_sequence(r->d, items, n);
    items += n;
  }
  return out;
}

static struct datum *read_functions(struct reading_columns *r, struct type *type, uint64_t k) {
  const struct direct_specialisation *specialisation = specialisation_of_type(r->d, type);
  const struct core_lambda *lambda = specialisation ? specialisation->lambda : NULL;
  const uint32_t count = lambda ? lambda->captured_count : 0;
  struct datum *captured = direct_items(r->d, k * count);
  for (uint32_t c = 0; c < count; c++) {
    const struct datum *values =
        read_column_values(r, captured_type(r->d, specialisation, c), k);
    for (uint64_t i = 0; i < k; i++) captured[i * count + c] = values[i];
  }
  struct datum *out = direct_items(r->d, k);
  for (uint64_t i = 0; i < k; i++) {
    struct datum_function *f = arena_alloc(r->d->arena, sizeof *f);
    *f = (struct datum_function){specialisation, captured + i * count, 1};
    for (uint32_t c = 0; c < count; c++) f->size += datum_size(f->captured[c]);
    out[i] = (struct datum){.kind = DATUM_FUNCTION, .as.function = f};
  }
  return out;
}

static struct datum *read_column_values(struct reading_columns *r, struct type *type,
                                        uint64_t k) {
  struct datum *out;
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_PAIR: return read_pairs(r, type, k);
  case TYPE_SEQUENCE: return read_sequences(r, type, k);
  case TYPE_DATA: return read_column_values(r, type_contents(r->d->arena, type), k);
  case TYPE_FUNCTION: return read_functions(r, type, k);
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE:
  case TYPE_IDENTITY: break;
  }
  const struct column *column = r->next++;
  out = direct_items(r->d, k);
  for (uint64_t i = 0; i < k; i++) {
    out[i] = type->tag == TYPE_FLOAT  ? datum_float(column->as.floats[i])
             : type->tag == TYPE_BOOL ? datum_bool(column->as.bools[i])
                                      : datum_int(column->as.ints[i]);
  }
  return out;
}

struct datum direct_from_columns(struct direct *d, struct type *ground,
                                 const struct nesl_value *value) {
  struct reading_columns r = {d, value->columns};
  return read_column_values(&r, ground, 1)[0];
}

/* ---- to columns ---- */

struct writing_columns {
  struct direct *d;
  struct arena *arena; /* of the columns */
  ARRAY(struct column) columns;
};

static void write_values(struct writing_columns *w, struct type *type, const struct datum *x,
                         uint64_t k);

static void write_pair_columns(struct writing_columns *w, struct type *type,
                               const struct datum *x, uint64_t k) {
  struct datum *part = direct_items(w->d, k);
  for (uint64_t i = 0; i < k; i++) part[i] = x[i].as.pair->left;
  write_values(w, type->part[0], part, k);
  for (uint64_t i = 0; i < k; i++) part[i] = x[i].as.pair->right;
  write_values(w, type->part[1], part, k);
}

static void write_sequences(struct writing_columns *w, struct type *type, const struct datum *x,
                            uint64_t k) {
  int64_t *lengths = arena_alloc(w->arena, (size_t)k * sizeof *lengths);
  uint64_t total = 0;
  for (uint64_t i = 0; i < k; i++) {
    lengths[i] = (int64_t)x[i].as.sequence->count;
    total += x[i].as.sequence->count;
  }
  *array_push(w->arena, &w->columns) =
      (struct column){.kind = COLUMN_SEGDES, .length = k, .as.ints = lengths};
  struct datum *items = direct_items(w->d, total), *next = items;
  for (uint64_t i = 0; i < k; i++) {
    const struct datum_sequence *s = x[i].as.sequence;
    for (uint64_t j = 0; j < s->count; j++) *next++ = s->items[j];
  }
  write_values(w, type->part[0], items, total);
}

static void write_functions(struct writing_columns *w, struct type *type, const struct datum *x,
                            uint64_t k) {
  const struct direct_specialisation *specialisation = specialisation_of_type(w->d, type);
  if (!specialisation || !specialisation->lambda) return;
  struct datum *values = direct_items(w->d, k);
  for (uint32_t c = 0; c < specialisation->lambda->captured_count; c++) {
    for (uint64_t i = 0; i < k; i++) values[i] = x[i].as.function->captured[c];
    write_values(w, captured_type(w->d, specialisation, c), values, k);
  }
}

static void write_scalars(struct writing_columns *w, enum type_tag tag, const struct datum *x,
                          uint64_t k) {
  struct column column = {.kind = COLUMN_INT, .length = k};
  if (tag == TYPE_FLOAT) {
    double *floats = arena_alloc(w->arena, (size_t)k * sizeof *floats);
    for (uint64_t i = 0; i < k; i++) floats[i] = x[i].as.real;
    column.kind = COLUMN_FLOAT;
    column.as.floats = floats;
  } else if (tag == TYPE_BOOL) {
    uint8_t *bools = arena_alloc(w->arena, (size_t)k);
    for (uint64_t i = 0; i < k; i++) bools[i] = (uint8_t)x[i].as.integer;
    column.kind = COLUMN_BOOL;
    column.as.bools = bools;
  } else {
    int64_t *ints = arena_alloc(w->arena, (size_t)k * sizeof *ints);
    for (uint64_t i = 0; i < k; i++) ints[i] = x[i].as.integer;
    column.as.ints = ints;
  }
  *array_push(w->arena, &w->columns) = column;
}

static void write_values(struct writing_columns *w, struct type *type, const struct datum *x,
                         uint64_t k) {
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_PAIR: write_pair_columns(w, type, x, k); return;
  case TYPE_SEQUENCE: write_sequences(w, type, x, k); return;
  case TYPE_DATA: write_values(w, type_contents(w->d->arena, type), x, k); return;
  case TYPE_FUNCTION: write_functions(w, type, x, k); return;
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE:
  case TYPE_IDENTITY: write_scalars(w, (enum type_tag)type->tag, x, k); return;
  }
}

struct nesl_value direct_to_columns(struct direct *d, struct arena *arena, struct type *ground,
                                    struct datum x) {
  struct writing_columns w = {.d = d, .arena = arena};
  write_values(&w, ground, &x, 1);
  return (struct nesl_value){
      .type = ground, .count = (uint32_t)w.columns.count, .columns = w.columns.items};
}
