/* csv-write.c - writes columns as rows of a CSV file. Fields with separators, quotes or line
 * breaks are quoted; bools are True and False.
 */
#include "arrays/csv.h"
#include "base/number.h"
#include "base/output.h"

struct writing {
  const struct array_type *type;
  const struct csv_style *style;
  const struct array_columns *columns;
  uint64_t *at; /* characters written of each text component */
  struct output out;
};

static bool is_blank_char(int64_t c) {
  return c == ' ' || c == '\t';
}

static bool text_begins(const int64_t *chars, uint64_t n, const struct csv_word *mark) {
  bool same = n >= mark->length && mark->length > 0;
  for (size_t i = 0; i < mark->length && same; i++) same = (char)chars[i] == mark->text[i];
  return same;
}

/* Returns whether a text would be read as something else without quotes: as a missing value, as
 * a comment, or as a byte order mark. */
static bool wants_quotes(const struct writing *w, const int64_t *chars, uint64_t n) {
  static const struct csv_word order = {CSV_BYTE_ORDER, sizeof CSV_BYTE_ORDER - 1};
  const struct csv_style *style = w->style;
  if (text_begins(chars, n, &style->comment) || text_begins(chars, n, &style->missing) ||
      text_begins(chars, n, &order))
    return true;
  for (uint64_t i = 0; i < n; i++) {
    const char c = (char)chars[i];
    if (c == style->separator || c == '"' || c == '\n' || c == '\r') return true;
  }
  return n == 0 || is_blank_char(chars[0]) || is_blank_char(chars[n - 1]);
}

static void csv_write_text(struct writing *w, const int64_t *chars, uint64_t n) {
  const bool quotes = wants_quotes(w, chars, n);
  if (quotes) output_char(&w->out, '"');
  for (uint64_t i = 0; i < n; i++) {
    if (chars[i] == '"') output_char(&w->out, '"');
    output_char(&w->out, (char)chars[i]);
  }
  if (quotes) output_char(&w->out, '"');
}

static void write_cell(struct writing *w, uint32_t leaf, uint64_t i) {
  const struct array_column *c = &w->columns->items[array_leaf_column(w->type, leaf)];
  char *number = output_room(&w->out, NUMBER_TEXT_MAX);
  switch ((enum array_leaf)w->type->leaves[leaf]) {
  case ARRAY_INT: w->out.used += format_int(number, c->as.ints[i]); break;
  case ARRAY_FLOAT: w->out.used += format_float_exact(number, c->as.floats[i]); break;
  case ARRAY_BOOL: output_text(&w->out, array_bool(c, i) ? "True" : "False"); break;
  case ARRAY_CHAR: csv_write_text(w, &c->as.ints[i], 1); break;
  case ARRAY_TEXT:
    csv_write_text(w, c[1].as.ints + w->at[leaf], (uint64_t)c->as.ints[i]);
    w->at[leaf] += (uint64_t)c->as.ints[i];
    break;
  }
}

/* Writes the row of names, if there are any. */
static void write_names(struct arena *arena, struct writing *w) {
  const struct csv_style *style = w->style;
  for (size_t i = 0; i < style->names.count; i++) {
    const struct csv_word *name = &style->names.items[i];
    int64_t *chars = arena_alloc(arena, name->length * sizeof *chars);
    for (size_t k = 0; k < name->length; k++) chars[k] = (unsigned char)name->text[k];
    if (i > 0) output_char(&w->out, style->separator);
    csv_write_text(w, chars, name->length);
  }
  if (style->names.count > 0) output_char(&w->out, '\n');
}

/* Returns whether a file can be written: there must be as many names as columns, where their
 * number is known. */
bool csv_write_check(struct arena *arena, const struct array_type *type, const char **problem) {
  const size_t names = csv_style_of(type)->names.count;
  if (!csv_check(arena, type, problem)) return false;
  if (names == 0 || type->depth == 2 || names == type->leaf_count) return true;
  return array_fail(arena, problem, "%zu name%s for rows of %u field%s", names,
                    names == 1 ? "" : "s", type->leaf_count, type->leaf_count == 1 ? "" : "s");
}

bool csv_write(struct arena *arena, const struct array_type *type,
               const struct array_columns *columns, FILE *out, const char **problem) {
  (void)problem;
  struct writing w = {
      .type = type, .style = csv_style_of(type), .columns = columns, .out.file = out};
  const uint64_t rows = (uint64_t)columns->items[0].as.ints[0];
  w.at = arena_alloc(arena, type->leaf_count * sizeof *w.at);
  write_names(arena, &w);
  for (uint64_t row = 0, cell = 0; row < rows && !w.out.failed; row++) {
    const bool tuples = type->depth == 1;
    const uint64_t fields =
        tuples ? type->leaf_count : (uint64_t)columns->items[1].as.ints[row];
    for (uint64_t k = 0; k < fields; k++) {
      if (k > 0) output_char(&w.out, w.style->separator);
      write_cell(&w, tuples ? (uint32_t)k : 0, tuples ? row : cell++);
    }
    output_char(&w.out, '\n');
    array_passed(type->spills, (fields + 1) * sizeof(int64_t));
  }
  output_flush(&w.out);
  return true;
}
