/* value.c - NESL values on the host: the columns of a type, and printing.
 * (NESL specification, sections 10 and 11.1.)
 *
 * A type is walked together with the columns. Datatypes and lambdas mention generic variables
 * of their own, which are bound to the arguments of the enclosing type by an environment on the
 * C stack, so that no type is copied.
 */
#include "neslc/value.h"

#include "base/number.h"
#include "base/output.h"
#include "neslc/types/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---- */

size_t column_bytes(const struct column *column) {
  switch ((enum column_kind)column->kind) {
  case COLUMN_INT:
  case COLUMN_SEGDES: return column->length * sizeof *column->as.ints;
  case COLUMN_FLOAT: return column->length * sizeof *column->as.floats;
  case COLUMN_BOOL: return column->length * sizeof *column->as.bools;
  }
  return 0;
}

struct column column_copy(struct arena *arena, const struct column *column) {
  struct column copy = *column;
  const size_t bytes = column_bytes(column);
  void *data = arena_alloc(arena, bytes ? bytes : 1);
  if (bytes) memcpy(data, column->as.ints, bytes);
  copy.as.ints = data;
  return copy;
}

/* ---- types in environments ---- */

/* An environment: the types of the generic variables in a datatype's contents or a lambda's
 * captured variables, over the variables of `outer`. */
struct scope {
  const struct scope *outer;
  const struct core_lambda *lambda; /* variable lambda->variables[i] is arguments[i]; NULL:
                                       variable number i is */
  uint32_t count;
  struct type **arguments;
};

/* A type and the scope of its variables. */
struct scoped {
  struct type *type;
  const struct scope *scope;
};

static struct type *argument_for(const struct scope *scope, uint32_t number) {
  if (!scope->lambda) return number < scope->count ? scope->arguments[number] : NULL;
  for (uint32_t i = 0; i < scope->count && i < scope->lambda->variable_count; i++) {
    if (type_of(scope->lambda->variables[i])->number == number) return scope->arguments[i];
  }
  return NULL;
}

/* Follows links and variables to what a type is; an undetermined one stays a variable. */
static struct scoped resolve_in_scope(struct type *type, const struct scope *scope) {
  type = type_of(type);
  while (type->tag == TYPE_VARIABLE && type->generic && scope) {
    struct type *argument = argument_for(scope, type->number);
    if (!argument) break;
    type = type_of(argument);
    scope = scope->outer;
  }
  return (struct scoped){type, scope};
}

static struct scope scope_of_data(struct scoped data) {
  return (struct scope){.outer = data.scope,
                        .count = data.type->argument_count,
                        .arguments = data.type->arguments};
}

/* The scope of a lambda's captured variables, of a function type whose identity is known. */
static struct scope scope_of_lambda(struct scoped identity) {
  return (struct scope){.outer = identity.scope,
                        .lambda = identity.type->lambda,
                        .count = identity.type->argument_count,
                        .arguments = identity.type->arguments};
}

/* The lambda that a function type identifies; NULL: its values have no columns. */
static const struct core_lambda *lambda_of(struct scoped function, struct scoped *identity) {
  if (!function.type->part[2]) return NULL;
  *identity = resolve_in_scope(function.type->part[2], function.scope);
  return identity->type->tag == TYPE_IDENTITY ? identity->type->lambda : NULL;
}

/* ---- columns ---- */

/* A walk over the columns of a type. */
struct column_walk {
  struct column_kinds *kinds; /* NULL: they are counted only */
  uint32_t columns;
  uint32_t count; /* columns, and functions without columns; the walk ends above the limit */
  uint32_t depth; /* of enclosing types, contents of datatypes included */
};

static void add_walked_column(struct column_walk *w, enum column_kind kind) {
  w->columns++;
  w->count++;
  if (w->kinds) *array_push(w->kinds->arena, &w->kinds->list) = (uint8_t)kind;
}

static void add_type_columns(struct column_walk *, struct type *, const struct scope *);

static void add_captured(struct column_walk *w, struct scoped function) {
  struct scoped identity;
  const struct core_lambda *lambda = lambda_of(function, &identity);
  if (!lambda || lambda->captured_count == 0) {
    w->count++;
    return;
  }
  const struct scope inner = scope_of_lambda(identity);
  for (uint32_t i = 0; i < lambda->captured_count; i++) {
    add_type_columns(w, lambda->captured[i]->type, &inner);
  }
}

static void add_type_columns(struct column_walk *w, struct type *type,
                             const struct scope *scope) {
  if (w->count > VALUE_MOST_COLUMNS) return;
  if (w->depth == TYPE_MOST_DEPTH) {
    w->count = VALUE_MOST_COLUMNS + 1;
    return;
  }
  w->depth++;
  struct scoped t = resolve_in_scope(type, scope);
  struct scope inner;
  switch ((enum type_tag)t.type->tag) {
  case TYPE_INT:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE: add_walked_column(w, COLUMN_INT); break; /* nothing determined it: int */
  case TYPE_FLOAT: add_walked_column(w, COLUMN_FLOAT); break;
  case TYPE_BOOL: add_walked_column(w, COLUMN_BOOL); break;
  case TYPE_SEQUENCE:
    add_walked_column(w, COLUMN_SEGDES);
    add_type_columns(w, t.type->part[0], t.scope);
    break;
  case TYPE_PAIR:
    add_type_columns(w, t.type->part[0], t.scope);
    add_type_columns(w, t.type->part[1], t.scope);
    break;
  case TYPE_DATA:
    inner = scope_of_data(t);
    add_type_columns(w, t.type->data->contents, &inner);
    break;
  case TYPE_FUNCTION: add_captured(w, t); break;
  case TYPE_IDENTITY: break;
  }
  w->depth--;
}

void value_columns(struct type *ground, struct column_kinds *kinds) {
  struct column_walk w = {.kinds = kinds};
  add_type_columns(&w, ground, NULL);
}

uint32_t value_column_count(struct type *type) {
  struct column_walk w = {.kinds = NULL};
  add_type_columns(&w, type, NULL);
  return w.count > VALUE_MOST_COLUMNS ? VALUE_MOST_COLUMNS + 1 : w.columns;
}

/* ---- consistency ---- */

/* Columns are compared with the lengths before them, from front to back. */
struct fit {
  const struct column *next;
  uint64_t wanted, found; /* of the column that does not fit */
};

/* Whether the next column has n elements, of which the lengths of segments add up to *total. */
static bool column_fits(struct fit *f, uint64_t n, uint64_t *total) {
  const struct column *column = f->next++;
  f->wanted = n;
  f->found = column->length;
  if (column->length != n) return false;
  *total = 0;
  if (column->kind != COLUMN_SEGDES) return true;
  if (column->equal) *total = n * (uint64_t)column->as.ints[0];
  for (uint64_t i = 0; i < n && !column->equal; i++) *total += (uint64_t)column->as.ints[i];
  return true; /* lengths are non-negative, and their sum fits INT64_MAX */
}

/* Whether the next columns hold n values of the type. */
static bool type_fits(struct fit *f, struct type *type, const struct scope *scope, uint64_t n) {
  struct scoped t = resolve_in_scope(type, scope), identity;
  struct scope inner;
  uint64_t total;
  const struct core_lambda *lambda;
  switch ((enum type_tag)t.type->tag) {
  case TYPE_SEQUENCE:
    return column_fits(f, n, &total) && type_fits(f, t.type->part[0], t.scope, total);
  case TYPE_PAIR:
    return type_fits(f, t.type->part[0], t.scope, n) &&
           type_fits(f, t.type->part[1], t.scope, n);
  case TYPE_DATA:
    inner = scope_of_data(t);
    return type_fits(f, t.type->data->contents, &inner, n);
  case TYPE_FUNCTION:
    lambda = lambda_of(t, &identity);
    if (!lambda) return true;
    inner = scope_of_lambda(identity);
    for (uint32_t i = 0; i < lambda->captured_count; i++) {
      if (!type_fits(f, lambda->captured[i]->type, &inner, n)) return false;
    }
    return true;
  case TYPE_IDENTITY: return true;
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE: break;
  }
  return column_fits(f, n, &total);
}

bool value_fits(const struct nesl_value *value, uint64_t *wanted, uint64_t *found) {
  struct fit f = {.next = value->columns};
  const bool fine = type_fits(&f, value->type, NULL, 1);
  *wanted = f.wanted;
  *found = f.found;
  return fine;
}

/* ---- signatures ---- */

struct signature {
  ARRAY(char) text;
};

static void show_signature(struct type *type, const struct scope *scope, struct arena *arena,
                           struct signature *s) {
  if (s->text.count > VALUE_MOST_COLUMNS) return; /* no file has it, nor any value */
  struct scoped t = resolve_in_scope(type, scope);
  struct scope inner;
  char letter = '?';
  switch ((enum type_tag)t.type->tag) {
  case TYPE_INT:
  case TYPE_VARIABLE: letter = 'i'; break;
  case TYPE_FLOAT: letter = 'f'; break;
  case TYPE_BOOL: letter = 'b'; break;
  case TYPE_CHAR: letter = 'c'; break;
  case TYPE_SEQUENCE: letter = '['; break;
  case TYPE_PAIR: letter = '('; break;
  case TYPE_DATA:
    inner = scope_of_data(t);
    show_signature(t.type->data->contents, &inner, arena, s);
    return;
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY: break;
  }
  *array_push(arena, &s->text) = letter;
  if (letter == '[' || letter == '(') show_signature(t.type->part[0], t.scope, arena, s);
  if (letter == '(') show_signature(t.type->part[1], t.scope, arena, s);
}

static void add_setting(struct arena *arena, struct signature *s, const char *name) {
  const char *setting = arena_printf(arena, "field=%s", name);
  const char *text = arena_printf(arena, "?%zu.%s", strlen(setting), setting);
  while (*text) *array_push(arena, &s->text) = *text++;
}

static void name_components(struct type *, const struct scope *, struct arena *,
                            const char *name, struct signature *);

/* The fields of a record, with what stands before their names. */
static void name_record_fields(struct scoped record, struct arena *arena, const char *before,
                               struct signature *s) {
  const struct datatype *data = record.type->data;
  const struct scope inner = scope_of_data(record);
  struct scoped rest = resolve_in_scope(data->contents, &inner);
  for (uint32_t i = 0; i < data->field_count; i++) {
    const bool last = i + 1 == data->field_count;
    name_components(last ? rest.type : rest.type->part[0], rest.scope, arena,
                    arena_printf(arena, "%s%s", before, data->fields[i]->text), s);
    if (!last) rest = resolve_in_scope(rest.type->part[1], rest.scope);
  }
}

/* The components of a tuple, by number. */
static void name_tuple(struct scoped tuple, struct arena *arena, const char *name,
                       struct signature *s) {
  unsigned i = 0;
  for (; tuple.type->tag == TYPE_PAIR;
       tuple = resolve_in_scope(tuple.type->part[1], tuple.scope)) {
    name_components(tuple.type->part[0], tuple.scope, arena,
                    arena_printf(arena, "%s_%u", name, i++), s);
  }
  name_components(tuple.type, tuple.scope, arena, arena_printf(arena, "%s_%u", name, i), s);
}

static void name_components(struct type *type, const struct scope *scope, struct arena *arena,
                            const char *name, struct signature *s) {
  if (s->text.count > VALUE_MOST_COLUMNS) return;
  struct scoped t = resolve_in_scope(type, scope);
  if (t.type->tag == TYPE_PAIR) {
    name_tuple(t, arena, name, s);
  } else if (t.type->tag == TYPE_DATA && t.type->data->field_count) {
    name_record_fields(t, arena, arena_printf(arena, "%s_", name), s);
  } else if (t.type->tag == TYPE_DATA) {
    const struct scope inner = scope_of_data(t);
    name_components(t.type->data->contents, &inner, arena, name, s);
  } else {
    add_setting(arena, s, name);
  }
}

const char *value_signature(struct arena *arena, struct type *ground) {
  struct signature s = {.text = {0}};
  show_signature(ground, NULL, arena, &s);
  struct scoped element = resolve_in_scope(ground, NULL);
  while (element.type->tag == TYPE_SEQUENCE)
    element = resolve_in_scope(element.type->part[0], element.scope);
  const bool record = element.type->tag == TYPE_DATA && element.type->data->field_count > 0;
  if (record) name_record_fields(element, arena, "", &s);
  *array_push(arena, &s.text) = '\0';
  return s.text.items;
}

bool value_nonfinite(const struct nesl_value *value) {
  for (uint32_t c = 0; c < value->count; c++) {
    const struct column *column = &value->columns[c];
    if (column->kind != COLUMN_FLOAT) continue;
    for (uint64_t i = 0; i < column->length; i++) {
      if (!isfinite(column->as.floats[i])) return true;
    }
  }
  return false;
}

/* ---- printing ---- */

/* Every column is traversed once, from front to back: each element is printed or skipped, so
 * one position for each column suffices. */
struct printer {
  const struct column *columns;
  uint64_t *positions;         /* of the next element, or segment, of each column */
  uint64_t print_length, left; /* elements that may still be printed */
  struct float_layout floats;
  struct output out;
  const struct stop *stop;
  uint64_t looks; /* calls of is_printer_stopped */
  bool ended;
};

/* Skips n values of a type whose first column is `column`; returns the column after its last.
 */
static uint32_t skip_columns(struct printer *p, struct type *type, const struct scope *scope,
                             uint32_t column, uint64_t n) {
  struct scoped t = resolve_in_scope(type, scope), identity;
  struct scope inner;
  uint64_t total = 0;
  const struct core_lambda *lambda;
  switch ((enum type_tag)t.type->tag) {
  case TYPE_SEQUENCE:
    for (uint64_t i = 0; i < n; i++) {
      total += (uint64_t)p->columns[column].as.ints[p->positions[column]++];
    }
    return skip_columns(p, t.type->part[0], t.scope, column + 1, total);
  case TYPE_PAIR:
    column = skip_columns(p, t.type->part[0], t.scope, column, n);
    return skip_columns(p, t.type->part[1], t.scope, column, n);
  case TYPE_DATA:
    inner = scope_of_data(t);
    return skip_columns(p, t.type->data->contents, &inner, column, n);
  case TYPE_FUNCTION:
    lambda = lambda_of(t, &identity);
    if (!lambda) return column;
    inner = scope_of_lambda(identity);
    for (uint32_t i = 0; i < lambda->captured_count; i++) {
      column = skip_columns(p, lambda->captured[i]->type, &inner, column, n);
    }
    return column;
  case TYPE_IDENTITY: return column;
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE: break;
  }
  p->positions[column] += n;
  return column + 1;
}

/* Whether printing was asked to end. */
static bool is_printer_stopped(struct printer *p) {
  enum { UNASKED = 4096 };
  if (++p->looks % UNASKED == 0) p->ended |= stop_asks(p->stop) != STOP_NOT;
  return p->ended;
}

/* The string whose `length` characters come next in the column. */
static void show_string_value(struct printer *p, uint32_t column, uint64_t length) {
  const int64_t *chars = p->columns[column].as.ints + p->positions[column];
  output_char(&p->out, '"');
  for (uint64_t i = 0; i < length && !is_printer_stopped(p); i++) {
    if (chars[i] == '"' || chars[i] == '\\') output_char(&p->out, '\\');
    output_char(&p->out, (char)chars[i]);
  }
  output_char(&p->out, '"');
  p->positions[column] += length;
}

static uint32_t show_value_part(struct printer *, struct type *, const struct scope *,
                                uint32_t column);

/* Where no more elements may be printed: "... 1,234 more". */
static void show_rest(struct printer *p, bool behind_others, uint64_t count) {
  char text[NUMBER_TEXT_MAX];
  const size_t length = format_int(text, (int64_t)count);
  output_text(&p->out, behind_others ? ", ... " : "... ");
  for (size_t i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0) output_char(&p->out, ',');
    output_char(&p->out, text[i]);
  }
  output_text(&p->out, " more");
}

static uint32_t show_sequence(struct printer *p, struct scoped t, uint32_t column) {
  uint64_t length = (uint64_t)p->columns[column].as.ints[p->positions[column]++];
  struct scoped element = resolve_in_scope(t.type->part[0], t.scope);
  if (element.type->tag == TYPE_CHAR) {
    show_string_value(p, column + 1, length);
    return column + 2;
  }
  uint64_t shown = length < p->print_length ? length : p->print_length;
  output_char(&p->out, '[');
  uint64_t i = 0;
  for (; i < shown && p->left > 0 && !is_printer_stopped(p); i++) {
    p->left--;
    if (i > 0) output_text(&p->out, ", ");
    show_value_part(p, element.type, element.scope, column + 1);
  }
  if (i < shown) {
    show_rest(p, i > 0, length - i);
  } else if (shown < length) {
    output_text(&p->out, shown > 0 ? ",..." : "...");
  }
  output_char(&p->out, ']');
  return skip_columns(p, element.type, element.scope, column + 1, length - i);
}

/* The components of a right-nested tuple, without parentheses. */
static uint32_t show_tuple_value(struct printer *p, struct type *type,
                                 const struct scope *scope, uint32_t column) {
  struct scoped t = resolve_in_scope(type, scope);
  while (t.type->tag == TYPE_PAIR) {
    column = show_value_part(p, t.type->part[0], t.scope, column);
    output_text(&p->out, ", ");
    t = resolve_in_scope(t.type->part[1], t.scope);
  }
  return show_value_part(p, t.type, t.scope, column);
}

/* The fields of a record, name := value. */
static uint32_t show_fields_value(struct printer *p, const struct datatype *data,
                                  const struct scope *scope, uint32_t column) {
  struct scoped rest = resolve_in_scope(data->contents, scope);
  for (uint32_t i = 0; i < data->field_count; i++) {
    const bool last = i + 1 == data->field_count;
    if (i > 0) output_text(&p->out, ", ");
    output_text(&p->out, data->fields[i]->text);
    output_text(&p->out, " := ");
    column = show_value_part(p, last ? rest.type : rest.type->part[0], rest.scope, column);
    if (!last) rest = resolve_in_scope(rest.type->part[1], rest.scope);
  }
  return column;
}

static void show_scalar(struct printer *p, enum type_tag tag, uint32_t column) {
  const struct column *c = &p->columns[column];
  uint64_t i = p->positions[column]++;
  if (tag == TYPE_BOOL) {
    output_char(&p->out, c->as.bools[i] ? 'T' : 'F');
  } else if (tag == TYPE_CHAR) {
    output_char(&p->out, '`');
    output_char(&p->out, (char)c->as.ints[i]);
  } else {
    char *text = output_room(&p->out, NUMBER_TEXT_MAX);
    p->out.used += tag == TYPE_FLOAT ? nesl_format_float(text, c->as.floats[i], p->floats)
                                     : format_int(text, c->as.ints[i]);
  }
}

/* Prints the next value of a type whose first column is `column`; the column behind its last.
 */
static uint32_t show_value_part(struct printer *p, struct type *type, const struct scope *scope,
                                uint32_t column) {
  struct scoped t = resolve_in_scope(type, scope);
  struct scope inner;
  switch ((enum type_tag)t.type->tag) {
  case TYPE_SEQUENCE: return show_sequence(p, t, column);
  case TYPE_PAIR:
    output_char(&p->out, '(');
    column = show_tuple_value(p, t.type, t.scope, column);
    output_char(&p->out, ')');
    return column;
  case TYPE_DATA:
    inner = scope_of_data(t);
    output_text(&p->out, t.type->data->name->text);
    output_char(&p->out, '(');
    column = t.type->data->field_count
                 ? show_fields_value(p, t.type->data, &inner, column)
                 : show_tuple_value(p, t.type->data->contents, &inner, column);
    output_char(&p->out, ')');
    return column;
  case TYPE_FUNCTION:
    output_text(&p->out, "fn");
    return skip_columns(p, t.type, t.scope, column, 1);
  case TYPE_IDENTITY: return column;
  case TYPE_INT:
  case TYPE_FLOAT:
  case TYPE_BOOL:
  case TYPE_CHAR:
  case TYPE_STREAM:
  case TYPE_VARIABLE: break;
  }
  show_scalar(p, (enum type_tag)t.type->tag, column);
  return column + 1;
}

void value_show(const struct nesl_value *value, const struct value_layout *layout, FILE *out) {
  uint64_t *positions = calloc(value->count ? value->count : 1, sizeof *positions);
  if (!positions) memory_failed();
  struct printer p = {.columns = value->columns,
                      .positions = positions,
                      .print_length = layout->print_length,
                      .left = layout->most_elements ? layout->most_elements : UINT64_MAX,
                      .floats = layout->floats,
                      .out.file = out,
                      .stop = layout->stop};
  show_value_part(&p, value->type, NULL, 0);
  output_flush(&p.out);
  free(positions);
}
