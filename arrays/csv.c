/* csv.c - rows of fields, separated by commas, quoted where they hold commas, quotes or line
 * breaks (RFC 4180).
 *
 * A first row that does not fit the type is taken for the names of the columns. Empty lines are
 * skipped. Bools are written True and False, and read in any of the usual ways.
 */
#include "arrays/arrays-private.h"
#include "base/number.h"

#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- fields ---- */

struct reading {
  struct arena *arena;
  const struct array_type *type;
  const char *next, *end;
  uint64_t line;        /* of the row being read */
  uint64_t lines_ended; /* so far */
  bool ends_row;        /* the field just read was the last of its row */
  char *field;          /* the field just read, NUL-terminated */
  size_t length;
  locale_t plain; /* the "C" locale, for strtod_l */
  const char **problem;
};

/* Takes the end of a field; false if something else follows a quoted one. */
static bool take_end(struct reading *r) {
  r->ends_row = true;
  if (r->next == r->end) return true;
  if (*r->next == ',') {
    r->next++;
    r->ends_row = false;
    return true;
  }
  if (*r->next == '\r') r->next++;
  if (r->next < r->end && *r->next == '\n') {
    r->next++;
    r->lines_ended++;
    return true;
  }
  return false;
}

static bool take_quoted(struct reading *r) {
  r->next++;
  for (r->length = 0; r->next < r->end; r->next++) {
    if (*r->next == '"') {
      r->next++;
      if (r->next == r->end || *r->next != '"') {
        if (take_end(r)) return true;
        return array_fail(r->arena, r->problem,
                          "line %" PRIu64 ": something follows the closing quote of a field",
                          r->line);
      }
    }
    if (*r->next == '\n') r->lines_ended++;
    r->field[r->length++] = *r->next;
  }
  return array_fail(r->arena, r->problem,
                    "line %" PRIu64 ": the quote of a field is not closed", r->line);
}

/* Takes the next field into r->field, which has room for the whole file. */
static bool take_field(struct reading *r) {
  arena_poll(r->arena);
  if (r->next < r->end && *r->next == '"') {
    if (!take_quoted(r)) return false;
  } else {
    const char *start = r->next;
    while (r->next < r->end && *r->next != ',' && *r->next != '\n') r->next++;
    r->length = (size_t)(r->next - start);
    memcpy(r->field, start, r->length);
    if (r->next < r->end && *r->next == '\n' && r->length > 0 && r->next[-1] == '\r') {
      r->length--;
    }
    (void)take_end(r);
  }
  r->field[r->length] = '\0';
  return true;
}

/* Whether there is another row; empty lines are skipped. */
static bool another_row(struct reading *r) {
  while (r->next < r->end && (*r->next == '\n' || *r->next == '\r')) {
    if (*r->next++ == '\n') r->lines_ended++;
  }
  r->line = r->lines_ended + 1;
  return r->next < r->end;
}

/* ---- values ---- */

static void trim(const struct reading *r, const char **text, size_t *length) {
  *text = r->field;
  *length = r->length;
  while (*length > 0 && strchr(" \t", **text)) {
    ++*text;
    --*length;
  }
  while (*length > 0 && strchr(" \t", (*text)[*length - 1])) --*length;
}

static bool read_bool(const char *text, size_t length, int64_t *x) {
  static const char *const words[] = {"false", "true", "f", "t", "0", "1", "no", "yes"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) != length || strncasecmp(text, words[i], length) != 0) continue;
    *x = (int64_t)(i % 2);
    return true;
  }
  return false;
}

/* The outcome of a field. */
struct csv_cell {
  int64_t integer;
  double real;
};

static bool read_cell(const struct reading *r, enum array_leaf leaf, struct csv_cell *cell) {
  const char *text;
  char *end;
  size_t length;
  trim(r, &text, &length);
  switch (leaf) {
  case ARRAY_INT: return parse_int(text, length, INT64_MIN, INT64_MAX, &cell->integer);
  case ARRAY_FLOAT:
    cell->real = strtod_l(text, &end, r->plain);
    return length > 0 && end == text + length;
  case ARRAY_BOOL: return read_bool(text, length, &cell->integer);
  case ARRAY_CHAR: cell->integer = (unsigned char)r->field[0]; return r->length == 1;
  case ARRAY_TEXT: break;
  }
  cell->integer = (int64_t)r->length;
  return true;
}

/* ---- rows ---- */

struct rows {
  ARRAY(int64_t) lengths; /* of rows that are sequences */
  ARRAY(int64_t) * ints;  /* for each component */
  ARRAY(double) * floats;
  struct array_text *texts;
};

static void keep(struct reading *r, struct rows *rows, uint32_t leaf,
                 const struct csv_cell *cell) {
  const enum array_leaf kind = (enum array_leaf)r->type->leaves[leaf];
  if (kind == ARRAY_FLOAT) {
    *array_push(r->arena, &rows->floats[leaf]) = cell->real;
    return;
  }
  *array_push(r->arena, &rows->ints[leaf]) = cell->integer;
  for (size_t i = 0; kind == ARRAY_TEXT && i < r->length; i++) {
    *array_push(r->arena, &rows->texts[leaf].chars) = (unsigned char)r->field[i];
  }
}

/* Reports a row that does not fit the type. */
static bool odd_row(struct reading *r, const char *what, bool *names) {
  if (*names) {
    *names = false;
    return true;
  }
  return array_fail(r->arena, r->problem, "line %" PRIu64 ": %s", r->line, what);
}

static bool skip_row(struct reading *r) {
  while (!r->ends_row) {
    if (!take_field(r)) return false;
  }
  return true;
}

/* Reads a row. `*names`: it may be the names of the columns; false then if it was. */
static bool read_row(struct reading *r, struct rows *rows, bool *names) {
  const bool tuples = r->type->depth < 2;
  const bool maybe_names = *names;
  const char *start = r->next;
  uint64_t ended = r->lines_ended;
  uint32_t count = 0;
  /* The first row is examined before any of it is stored. */
  for (unsigned pass = maybe_names ? 0 : 1; pass < 2; pass++) {
    r->next = start;
    r->lines_ended = ended;
    count = 0;
    do {
      struct csv_cell cell = {0};
      const uint32_t leaf = tuples ? count : 0;
      if (!take_field(r)) return false;
      bool fits = leaf < r->type->leaf_count;
      const char *wrong =
          fits ? "" : arena_printf(r->arena, "more than %u fields", r->type->leaf_count);
      if (fits && !read_cell(r, (enum array_leaf)r->type->leaves[leaf], &cell)) {
        fits = false;
        wrong = arena_printf(r->arena, "field %u is no %s: '%.40s'", count + 1,
                             array_leaf_name((enum array_leaf)r->type->leaves[leaf]), r->field);
      }
      if (!fits) return odd_row(r, wrong, names) && skip_row(r);
      if (pass == 1) keep(r, rows, leaf, &cell);
      count++;
    } while (!r->ends_row);
    if (tuples && count < r->type->leaf_count) {
      return odd_row(r,
                     arena_printf(r->arena, "%u fields where the program's rows have %u", count,
                                  r->type->leaf_count),
                     names);
    }
  }
  *array_push(r->arena, &rows->lengths) = count;
  *names = true;
  return true;
}

bool csv_check(struct arena *arena, const struct array_type *type, const char **problem) {
  if (type->depth == 1 || (type->depth == 2 && type->leaf_count == 1)) return true;
  return array_fail(arena, problem,
                    "a CSV file is a sequence of tuples or of sequences of scalars");
}

static struct array_column ints_of(const int64_t *items, size_t count) {
  struct array_column column = {.length = count};
  column.as.ints = (int64_t *)(uintptr_t)items;
  return column;
}

static void make_columns(struct reading *r, const struct rows *rows,
                         struct array_columns *out) {
  const struct array_type *t = r->type;
  out->count = array_column_count(t);
  out->items = arena_alloc(r->arena, out->count * sizeof *out->items);
  out->items[0] = array_ints(r->arena, 1);
  out->items[0].as.ints[0] = (int64_t)rows->lengths.count;
  if (t->depth == 2) out->items[1] = ints_of(rows->lengths.items, rows->lengths.count);
  for (uint32_t i = 0; i < t->leaf_count; i++) {
    struct array_column *column = &out->items[array_leaf_column(t, i)];
    if (t->leaves[i] == ARRAY_FLOAT) {
      *column = (struct array_column){.is_float = true, .length = rows->floats[i].count};
      column->as.floats = rows->floats[i].items;
      continue;
    }
    *column = ints_of(rows->ints[i].items, rows->ints[i].count);
    if (t->leaves[i] == ARRAY_TEXT) column[1] = array_chars(&rows->texts[i]);
  }
}

static bool read_rows(struct reading *r, void *out) {
  struct rows rows = {.lengths = {0}};
  bool first = true;
  rows.ints = arena_alloc(r->arena, r->type->leaf_count * sizeof *rows.ints);
  rows.floats = arena_alloc(r->arena, r->type->leaf_count * sizeof *rows.floats);
  rows.texts = arena_alloc(r->arena, r->type->leaf_count * sizeof *rows.texts);
  while (another_row(r)) {
    bool names = first;
    first = false;
    if (!read_row(r, &rows, &names)) return false;
  }
  make_columns(r, &rows, out);
  return true;
}

/* Begins reading, reads in one of two ways, ends. */
static bool read_with(struct reading *r, size_t length,
                      bool (*read)(struct reading *, void *result), void *result) {
  static const char mark[] = "\xEF\xBB\xBF"; /* a byte order mark, which some programs write */
  if (length >= 3 && memcmp(r->next, mark, 3) == 0) r->next += 3;
  r->field = arena_alloc(r->arena, length + 1);
  r->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (!r->plain) return array_fail(r->arena, r->problem, "out of memory");
  struct memory_guard guard; /* the locale is freed separately */
  memory_guard_begin(&guard);
  if (setjmp(guard.jump)) {
    freelocale(r->plain);
    memory_failed();
  }
  const bool fine = read(r, result);
  memory_guard_end(&guard);
  freelocale(r->plain);
  return fine;
}

bool csv_read(struct arena *arena, const struct array_type *type, const char *bytes,
              size_t length, struct array_columns *out, const char **problem) {
  if (!csv_check(arena, type, problem)) return false;
  struct reading r = {
      .arena = arena, .type = type, .next = bytes, .end = bytes + length, .problem = problem};
  return read_with(&r, length, read_rows, out);
}

/* ---- guessing ---- */

/* The least of the types, in this order, that every field of a column has. */
static enum array_leaf wider(enum array_leaf leaf, bool may_be_bool) {
  if (leaf == ARRAY_INT) return ARRAY_FLOAT;
  return leaf == ARRAY_FLOAT && may_be_bool ? ARRAY_BOOL : ARRAY_TEXT;
}

/* `fresh`: the columns have no types yet. A column of bools holds only bools; one of 2.5 and
 * True holds texts. */
static bool guess_row(struct reading *r, struct array_type *type, bool is_first, bool fresh) {
  uint32_t i = 0;
  do {
    struct csv_cell cell;
    if (!take_field(r)) return false;
    if (is_first) type->leaf_count = i + 1;
    if (i == type->leaf_count) {
      return array_fail(r->arena, r->problem, "line %" PRIu64 ": more than %u fields", r->line,
                        type->leaf_count);
    }
    enum array_leaf leaf = (enum array_leaf)type->leaves[i];
    while (!read_cell(r, leaf, &cell)) leaf = wider(leaf, fresh);
    type->leaves[i++] = (uint8_t)leaf;
  } while (!r->ends_row);
  return true;
}

/* The first row counts only if there is no other: it may hold names. */
static bool guess_rows(struct reading *r, void *result) {
  struct array_type *type = result;
  type->depth = 1;
  type->leaves = arena_alloc(r->arena, (size_t)(r->end - r->next) + 1);
  if (!another_row(r)) return array_fail(r->arena, r->problem, "the file is empty");
  if (!guess_row(r, type, true, true)) return false;
  for (bool second = true; another_row(r); second = false) {
    if (second) memset(type->leaves, ARRAY_INT, type->leaf_count);
    if (!guess_row(r, type, false, second)) return false;
  }
  return true;
}

bool csv_guess(struct arena *arena, const char *bytes, size_t length, struct array_type *type,
               const char **problem) {
  *type = (struct array_type){.depth = 1};
  struct reading r = {
      .arena = arena, .type = type, .next = bytes, .end = bytes + length, .problem = problem};
  return read_with(&r, length, guess_rows, type);
}

/* ---- writing ---- */

static bool wants_quotes(const int64_t *chars, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    if (chars[i] == ',' || chars[i] == '"' || chars[i] == '\n' || chars[i] == '\r') return true;
  }
  return n == 0 || chars[0] == ' ' || chars[n - 1] == ' ';
}

static void write_text(const int64_t *chars, uint64_t n, FILE *out) {
  const bool quotes = wants_quotes(chars, n);
  if (quotes) putc('"', out);
  for (uint64_t i = 0; i < n; i++) {
    if (chars[i] == '"') putc('"', out);
    putc((int)(chars[i] & 255), out);
  }
  if (quotes) putc('"', out);
}

struct writing {
  const struct array_type *type;
  const struct array_columns *columns;
  uint64_t *at; /* characters written of each text component */
  FILE *out;
};

static void write_cell(struct writing *w, uint32_t leaf, uint64_t i) {
  const struct array_column *c = &w->columns->items[array_leaf_column(w->type, leaf)];
  char number[NUMBER_TEXT_MAX];
  switch ((enum array_leaf)w->type->leaves[leaf]) {
  case ARRAY_INT: fwrite(number, 1, format_int(number, c->as.ints[i]), w->out); break;
  case ARRAY_FLOAT:
    fwrite(number, 1, format_float_exact(number, c->as.floats[i]), w->out);
    break;
  case ARRAY_BOOL: fputs(c->as.ints[i] ? "True" : "False", w->out); break;
  case ARRAY_CHAR: write_text(&c->as.ints[i], 1, w->out); break;
  case ARRAY_TEXT:
    write_text(c[1].as.ints + w->at[leaf], (uint64_t)c->as.ints[i], w->out);
    w->at[leaf] += (uint64_t)c->as.ints[i];
    break;
  }
}

bool csv_write(struct arena *arena, const struct array_type *type,
               const struct array_columns *columns, FILE *out, const char **problem) {
  (void)problem;
  struct writing w = {.type = type, .columns = columns, .out = out};
  const uint64_t rows = (uint64_t)columns->items[0].as.ints[0];
  w.at = arena_alloc(arena, type->leaf_count * sizeof *w.at);
  for (uint64_t row = 0, cell = 0; row < rows && !ferror(out); row++) {
    const bool tuples = type->depth == 1;
    const uint64_t fields =
        tuples ? type->leaf_count : (uint64_t)columns->items[1].as.ints[row];
    for (uint64_t k = 0; k < fields; k++) {
      if (k > 0) putc(',', out);
      write_cell(&w, tuples ? (uint32_t)k : 0, tuples ? row : cell++);
    }
    putc('\n', out);
  }
  return true;
}
