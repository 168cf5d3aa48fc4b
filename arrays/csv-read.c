/* csv-read.c - the rows of a CSV file as columns.
 *
 * Where nothing is said of a header, a first row that does not fit the type is taken for the
 * names of the columns, unless a field of it begins as a number does: then it is wrong data.
 * Bools are read in any of the usual ways.
 */
#include "arrays/csv.h"

#include <string.h>

struct rows {
  struct array_growing lengths; /* of rows that are sequences */
  struct array_growing *cells;  /* for each component; of texts their lengths */
  struct array_growing *texts;  /* their characters */
  uint64_t count;
};

/* Every column has a file of its own while it is read, and a process only so many. */
enum { SPILLED_MOST = 256 };

static struct array_spills *csv_spills(const struct csv_reading *r) {
  const bool large = (size_t)(r->end - r->next) >= ARRAY_SPILLED_LEAST;
  return large && array_column_count(r->type) <= SPILLED_MOST ? r->type->spills : NULL;
}

static bool begin_rows(struct csv_reading *r, struct rows *rows) {
  const uint32_t n = r->type->leaf_count;
  struct array_spills *spills = csv_spills(r);
  *rows = (struct rows){.cells = arena_alloc(r->arena, n * sizeof *rows->cells),
                        .texts = arena_alloc(r->arena, n * sizeof *rows->texts)};
  bool fine = r->type->depth < 2 ||
              array_grow_begin(&rows->lengths, r->arena, ARRAY_INT, spills, r->problem);
  for (uint32_t i = 0; i < n && fine; i++) {
    const enum array_leaf leaf = (enum array_leaf)r->type->leaves[i];
    fine = array_grow_begin(&rows->cells[i], r->arena, leaf, spills, r->problem) &&
           (leaf != ARRAY_TEXT ||
            array_grow_begin(&rows->texts[i], r->arena, ARRAY_CHAR, spills, r->problem));
  }
  return fine;
}

static bool keep_cell(struct csv_reading *r, struct rows *rows, uint32_t leaf,
                      const struct csv_cell *cell) {
  const enum array_leaf kind = (enum array_leaf)r->type->leaves[leaf];
  if (kind == ARRAY_FLOAT) return array_grow_float(&rows->cells[leaf], cell->real, r->problem);
  if (!array_grow_int(&rows->cells[leaf], cell->integer, r->problem)) return false;
  for (int64_t i = 0; kind == ARRAY_TEXT && i < cell->integer; i++) {
    if (!array_grow_int(&rows->texts[leaf], (unsigned char)cell->text[i], r->problem))
      return false;
  }
  return true;
}

static bool end_row(struct csv_reading *r, struct rows *rows, uint32_t fields) {
  rows->count++;
  return r->type->depth < 2 || array_grow_int(&rows->lengths, fields, r->problem);
}

/* Reports a row that does not fit the type, unless it may be one of names. */
static bool odd_row(struct csv_reading *r, const char *what, bool *names) {
  if (*names) {
    *names = false;
    return csv_skip_row(r);
  }
  return array_fail(r->arena, r->problem, "line %" PRIu64 ": %s", r->line, what);
}

/* Returns the component that a field is; CSV_UNWANTED if none. */
static uint32_t component_of_field(const struct csv_reading *r, uint32_t field) {
  if (r->type->depth >= 2) return 0;
  return r->wanted ? r->wanted[field] : field;
}

/* The number of fields that a row of tuples has. */
static uint32_t fields_wanted(const struct csv_reading *r) {
  return r->wanted ? r->field_count : r->type->leaf_count;
}

/* Reads the field with this index, and keeps it if `rows` is not NULL. Returns false after
 * setting the problem. *wrong is what is wrong with the row, or NULL. */
static bool read_field(struct csv_reading *r, struct rows *rows, uint32_t index,
                       const char **wrong) {
  struct csv_cell cell = {0};
  *wrong = NULL;
  if (r->type->depth < 2 && index >= fields_wanted(r)) {
    *wrong = arena_printf(r->arena, "more than %u fields", fields_wanted(r));
    return true;
  }
  const uint32_t leaf = component_of_field(r, index);
  if (leaf == CSV_UNWANTED) return true;
  const enum array_leaf kind = (enum array_leaf)r->type->leaves[leaf];
  if (csv_read_cell(r, kind, &cell)) return !rows || keep_cell(r, rows, leaf, &cell);
  *wrong = csv_wrong_cell(r, index, kind);
  return true;
}

static const char *too_short(struct csv_reading *r, uint32_t count) {
  return arena_printf(r->arena, "%u fields where the %s %u", count,
                      r->wanted ? "header has" : "program's rows have", fields_wanted(r));
}

/* Reads a row into `rows`, or only looks at it if that is NULL. `*names` says whether it may be
 * the names of the columns; if it was, the function returns false. */
static bool read_fields(struct csv_reading *r, struct rows *rows, bool *names) {
  uint32_t count = 0;
  if (csv_take_empty_row(r)) return !rows || end_row(r, rows, 0);
  do {
    const char *wrong;
    if (!csv_take_field(r) || !read_field(r, rows, count, &wrong)) return false;
    if (wrong) return odd_row(r, wrong, names);
    count++;
  } while (!r->ends_row);
  if (r->type->depth < 2 && count < fields_wanted(r))
    return odd_row(r, too_short(r, count), names);
  *names = true;
  return !rows || end_row(r, rows, count);
}

/* Goes back to where a row began. */
static void back(struct csv_reading *r, const char *start, uint64_t ended) {
  r->next = start;
  r->lines_ended = ended;
}

/* Reads the first row where it may have the names: it is examined before any of it is stored.
 */
static bool read_first(struct csv_reading *r, struct rows *rows) {
  const char *start = r->next;
  const uint64_t ended = r->lines_ended;
  struct csv_look look = {0};
  bool fits = true, names = false;
  if (!read_fields(r, NULL, &fits)) return false;
  if (!fits) {
    back(r, start, ended);
    if (!csv_look(r, &look)) return false;
  }
  if (look.names && !look.data) {
    r->header = start;
    r->begun = false;
    return true;
  }
  back(r, start, ended);
  if (read_fields(r, rows, &names)) return true;
  return array_fail(
      r->arena, r->problem,
      "%s; a first row is taken for the names of the columns if it has some and no "
      "field begins as a number does: header 1 says that it has the names",
      *r->problem);
}

static bool make_columns(struct csv_reading *r, struct rows *rows, struct array_columns *out) {
  const struct array_type *t = r->type;
  out->count = array_column_count(t);
  out->items = arena_alloc(r->arena, out->count * sizeof *out->items);
  out->items[0] = array_ints(r->arena, 1);
  out->items[0].as.ints[0] = (int64_t)rows->count;
  bool fine = t->depth < 2 || array_grow_end(&rows->lengths, &out->items[1], r->problem);
  for (uint32_t i = 0; i < t->leaf_count && fine; i++) {
    struct array_column *column = &out->items[array_leaf_column(t, i)];
    fine =
        array_grow_end(&rows->cells[i], column, r->problem) &&
        (t->leaves[i] != ARRAY_TEXT || array_grow_end(&rows->texts[i], column + 1, r->problem));
  }
  return fine;
}

static bool read_rows(struct csv_reading *r, void *out) {
  struct rows rows;
  if (!csv_take_header(r) || !begin_rows(r, &rows)) return false;
  bool first = r->style->header == CSV_HEADER_UNKNOWN;
  for (; csv_another_row(r); first = false) {
    const char *start = r->next;
    bool names = false;
    if (!(first ? read_first(r, &rows) : read_fields(r, &rows, &names))) return false;
    array_passed(r->type->spills, (uint64_t)(r->next - start));
  }
  return make_columns(r, &rows, out);
}

bool csv_check(struct arena *arena, const struct array_type *type, const char **problem) {
  if (type->depth == 1 || (type->depth == 2 && type->leaf_count == 1)) return true;
  return array_fail(arena, problem,
                    "a CSV file is a sequence of tuples or of sequences of scalars");
}

/* Whether the columns that are wanted by name are as many as the type has components. */
static bool columns_fit(struct arena *arena, const struct array_type *type,
                        const char **problem) {
  const size_t wanted = csv_style_of(type)->columns.count;
  if (wanted == 0 || (type->depth == 1 && wanted == type->leaf_count)) return true;
  if (type->depth == 2) {
    return array_fail(arena, problem,
                      "columns are chosen where rows are tuples, not sequences");
  }
  return array_fail(arena, problem, "%zu column%s chosen for rows of %u component%s", wanted,
                    wanted == 1 ? " is" : "s are", type->leaf_count,
                    type->leaf_count == 1 ? "" : "s");
}

/* Reads the names of the columns as a sequence of texts. */
static bool read_names(struct csv_reading *r, void *out) {
  struct rows rows;
  if (!begin_rows(r, &rows) || !csv_take_header(r)) return false;
  r->next = r->header;
  do {
    if (!csv_take_field(r)) return false;
    const struct csv_word name = csv_name(r);
    const struct csv_cell cell = {.integer = (int64_t)name.length, .text = name.text};
    if (!keep_cell(r, &rows, 0, &cell)) return false;
    rows.count++;
  } while (!r->ends_row);
  return make_columns(r, &rows, out);
}

bool csv_read(struct arena *arena, const struct array_type *type, const char *bytes,
              size_t length, struct array_columns *out, const char **problem) {
  if (!csv_check(arena, type, problem) || !columns_fit(arena, type, problem)) return false;
  struct csv_reading r = {.arena = arena, .type = type, .problem = problem};
  return csv_read_with(&r, bytes, length,
                       csv_style_of(type)->names_only ? read_names : read_rows, out);
}
