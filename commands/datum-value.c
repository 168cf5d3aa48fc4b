/* datum-value.c - lays out random values in columns, and writes them as text. */
#include "base/number.h"
#include "commands/datum.h"

#include <ctype.h>

/* ---- columns ---- */

/* The columns of a value while they grow. */
struct growing {
  struct arena *arena;
  ARRAY(int64_t) * ints; /* one for each column: of INT and SEGDES */
  ARRAY(double) * floats;
  ARRAY(uint8_t) * bools;
};

/* Appends the value to the columns from `column` on. */
static void append_datum(struct growing *g, struct type *type, const struct random_datum *d,
                         uint32_t column) {
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_FLOAT: *array_push(g->arena, &g->floats[column]) = d->as.real; break;
  case TYPE_BOOL: *array_push(g->arena, &g->bools[column]) = (uint8_t)d->as.integer; break;
  case TYPE_INT:
  case TYPE_CHAR: *array_push(g->arena, &g->ints[column]) = d->as.integer; break;
  case TYPE_SEQUENCE:
    *array_push(g->arena, &g->ints[column]) = d->count;
    for (uint32_t i = 0; i < d->count; i++)
      append_datum(g, type->part[0], &d->items[i], column + 1);
    break;
  case TYPE_PAIR:
    append_datum(g, type->part[0], &d->items[0], column);
    append_datum(g, type->part[1], &d->items[1], column + value_column_count(type->part[0]));
    break;
  case TYPE_DATA: append_datum(g, type_contents(g->arena, type), &d->items[0], column); break;
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
}

static struct column grown_column(const struct growing *g, uint8_t kind, uint32_t i) {
  struct column column = {.kind = kind};
  if (kind == COLUMN_FLOAT) {
    column.length = g->floats[i].count;
    column.as.floats = g->floats[i].items;
  } else if (kind == COLUMN_BOOL) {
    column.length = g->bools[i].count;
    column.as.bools = g->bools[i].items;
  } else {
    column.length = g->ints[i].count;
    column.as.ints = g->ints[i].items;
  }
  return column;
}

struct nesl_value datum_columns(struct arena *arena, struct type *sequence,
                                const struct random_datum *d, size_t count) {
  struct column_kinds kinds = {.arena = arena};
  value_columns(sequence, &kinds);
  const size_t n = kinds.list.count;
  struct growing g = {.arena = arena};
  g.ints = arena_alloc(arena, n * sizeof *g.ints);
  g.floats = arena_alloc(arena, n * sizeof *g.floats);
  g.bools = arena_alloc(arena, n * sizeof *g.bools);
  const struct random_datum all = {.count = (uint32_t)count, .items = d};
  append_datum(&g, sequence, &all, 0);
  struct nesl_value value = {.type = sequence, .count = (uint32_t)n};
  value.columns = arena_alloc(arena, n * sizeof *value.columns);
  for (uint32_t i = 0; i < n; i++) value.columns[i] = grown_column(&g, kinds.list.items[i], i);
  return value;
}

/* ---- text ---- */

static void show_int(int64_t x, FILE *out) {
  char text[NUMBER_TEXT_MAX];
  format_int(text, x);
  fputs(text, out);
}

static void show_float(double x, const struct widths *widths, FILE *out) {
  char text[NUMBER_TEXT_MAX];
  nesl_format_float(text, x, (struct float_layout){0, widths->float_elem == CVL_F32});
  fputs(text, out);
}

static bool is_plain_char(int64_t c) {
  return c >= ' ' && c <= '~';
}

static void show_char(int64_t c, FILE *out) {
  if (is_plain_char(c)) {
    fprintf(out, "`%c", (int)c);
  } else {
    fprintf(out, "code_char(%d)", (int)c);
  }
}

static void show_string_char(int64_t c, bool escapes, FILE *out) {
  if (!is_plain_char(c)) {
    fprintf(out, "\\x%02x", (unsigned)c);
  } else {
    fprintf(out, "%s%c", (escapes || c == '"') && (c == '"' || c == '\\') ? "\\" : "", (int)c);
  }
}

/* "..." where that is possible: escapes are what e"..." has. */
static void datum_show_string(const struct random_datum *d, FILE *out) {
  bool escapes = false;
  for (uint32_t i = 0; i < d->count; i++) {
    escapes |= !is_plain_char(d->items[i].as.integer) || d->items[i].as.integer == '\\';
  }
  fputs(escapes ? "e\"" : "\"", out);
  for (uint32_t i = 0; i < d->count; i++) {
    show_string_char(d->items[i].as.integer, escapes, out);
  }
  fputc('"', out);
}

static void show_empty(struct arena *arena, struct type *element, FILE *out) {
  const bool tuple = type_of(element)->tag == TYPE_PAIR;
  fputs(tuple ? "[] (" : "[] ", out);
  fputs(type_text_whole(arena, element), out);
  if (tuple) fputc(')', out);
}

static void datum_show_sequence(struct arena *arena, struct type *element,
                                const struct random_datum *d, const struct widths *widths,
                                FILE *out) {
  if (type_of(element)->tag == TYPE_CHAR) {
    datum_show_string(d, out);
  } else if (d->count == 0) {
    show_empty(arena, element, out);
  } else {
    for (uint32_t i = 0; i < d->count; i++) {
      fputs(i > 0 ? ", " : "[", out);
      datum_show(arena, element, &d->items[i], widths, out);
    }
    fputc(']', out);
  }
}

/* Writes a tuple without its parentheses. */
static void datum_show_components(struct arena *arena, struct type *type,
                                  const struct random_datum *d, const struct widths *widths,
                                  FILE *out) {
  for (type = type_of(type); type->tag == TYPE_PAIR; type = type_of(type->part[1])) {
    datum_show(arena, type->part[0], &d->items[0], widths, out);
    fputs(", ", out);
    d = &d->items[1];
  }
  datum_show(arena, type, d, widths, out);
}

static void datum_show_data(struct arena *arena, struct type *type,
                            const struct random_datum *d, const struct widths *widths,
                            FILE *out) {
  fprintf(out, "%s(", type->data->name->text);
  datum_show_components(arena, type_contents(arena, type), &d->items[0], widths, out);
  fputc(')', out);
}

void datum_show(struct arena *arena, struct type *type, const struct random_datum *d,
                const struct widths *widths, FILE *out) {
  type = type_of(type);
  switch ((enum type_tag)type->tag) {
  case TYPE_INT: show_int(d->as.integer, out); break;
  case TYPE_FLOAT: show_float(d->as.real, widths, out); break;
  case TYPE_BOOL: fputs(d->as.integer ? "t" : "f", out); break;
  case TYPE_CHAR: show_char(d->as.integer, out); break;
  case TYPE_SEQUENCE: datum_show_sequence(arena, type->part[0], d, widths, out); break;
  case TYPE_PAIR:
    fputc('(', out);
    datum_show_components(arena, type, d, widths, out);
    fputc(')', out);
    break;
  case TYPE_DATA: datum_show_data(arena, type, d, widths, out); break;
  case TYPE_STREAM:
  case TYPE_FUNCTION:
  case TYPE_IDENTITY:
  case TYPE_VARIABLE: break;
  }
}
