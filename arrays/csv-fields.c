/* csv-fields.c - rows and their fields: separated by commas or another character, quoted where
 * they hold separators, quotes or line breaks (RFC 4180).
 *
 * Lines end with a line feed, or with carriage return and line feed; with a carriage return
 * alone in a file that has no line feed. Comments and most empty lines are skipped. The names
 * of the columns are in the last row before the data.
 */
#include "arrays/csv.h"

#include <string.h>

/* ---- fields ---- */

/* Takes the end of a line; false if there is none here. */
static bool take_line_end(struct csv_reading *r) {
  const char *p = r->next;
  if (p < r->end && *p == '\r') p++;
  const bool feeds = p < r->end && *p == '\n';
  if (!feeds && !(r->carriage_returns && p > r->next)) return false;
  r->next = p + feeds;
  r->lines_ended++;
  return true;
}

/* Takes the end of a field; false if something else follows a quoted one. */
static bool take_end(struct csv_reading *r) {
  r->ends_row = true;
  if (r->next == r->end) return true;
  if (*r->next == r->style->separator) {
    r->next++;
    r->ends_row = false;
    return true;
  }
  return take_line_end(r);
}

/* Makes room for a field of so many bytes. */
static void csv_make_room(struct csv_reading *r, size_t length) {
  if (length <= r->room) return;
  while (r->room < length) r->room = 2 * r->room + 1;
  r->field = arena_alloc(r->arena, r->room + 1);
}

/* The quote that closes the field whose contents begin here, or NULL. */
static const char *csv_closing_quote(const struct csv_reading *r) {
  const char *p = r->next;
  while ((p = memchr(p, '"', (size_t)(r->end - p)))) {
    if (p + 1 == r->end || p[1] != '"') return p;
    p += 2;
  }
  return NULL;
}

static bool take_quoted(struct csv_reading *r) {
  r->next++;
  const char *close = csv_closing_quote(r);
  if (!close) {
    return array_fail(r->arena, r->problem,
                      "line %" PRIu64 ": the quote of a field is not closed", r->line);
  }
  csv_make_room(r, (size_t)(close - r->next));
  for (r->length = 0; r->next < close; r->next++) {
    if (*r->next == '"') r->next++; /* the second of two quotes */
    if (*r->next == '\n') r->lines_ended++;
    r->field[r->length++] = *r->next;
  }
  r->next++;
  return take_end(r) ||
         array_fail(r->arena, r->problem,
                    "line %" PRIu64 ": something follows the closing quote of a field",
                    r->line);
}

static bool take_bare(struct csv_reading *r) {
  const char separator = r->style->separator;
  const char *const start = r->next, *const end = r->end, *p = start;
  while (p < end && *p != separator && *p != '\n' && *p != '\r') p++;
  r->next = p;
  r->length = (size_t)(p - start);
  csv_make_room(r, r->length);
  memcpy(r->field, start, r->length);
  return take_end(r) ||
         array_fail(r->arena, r->problem,
                    "line %" PRIu64
                    ": a carriage return within a field, which ends no line: a field that has "
                    "one stands in quotes",
                    r->line);
}

bool csv_take_field(struct csv_reading *r) {
  arena_poll(r->arena);
  r->quoted = r->next < r->end && *r->next == '"';
  if (!(r->quoted ? take_quoted(r) : take_bare(r))) return false;
  r->field[r->length] = '\0';
  return true;
}

/* ---- rows ---- */

static bool begins_comment(const struct csv_reading *r) {
  const struct csv_word *mark = &r->style->comment;
  return mark->length > 0 && (size_t)(r->end - r->next) >= mark->length &&
         memcmp(r->next, mark->text, mark->length) == 0;
}

static void csv_skip_comment(struct csv_reading *r) {
  const char last = r->carriage_returns ? '\r' : '\n';
  const char *end = memchr(r->next, last, (size_t)(r->end - r->next));
  r->next = end ? end : r->end;
  (void)take_line_end(r);
}

/* Returns whether an empty line is a row: one without fields, or one whose only field is empty.
 */
static bool empty_is_row(const struct csv_reading *r) {
  if (!r->begun) return false;
  if (r->type->depth >= 2) return true;
  return r->wanted ? r->field_count == 1 : r->type->leaf_count == 1;
}

/* Skips lines without a row. Returns false at the end of the file. */
static bool skip_lines(struct csv_reading *r, bool *empty) {
  for (*empty = false; r->next < r->end;) {
    if (begins_comment(r)) {
      csv_skip_comment(r);
    } else if (take_line_end(r)) {
      *empty = true;
    } else {
      return true;
    }
  }
  return false;
}

bool csv_another_row(struct csv_reading *r) {
  if (r->next >= r->ahead) {
    const char *start = r->next;
    const uint64_t ended = r->lines_ended;
    bool empty;
    if (!skip_lines(r, &empty)) return false;
    r->ahead = r->next;
    if (empty && empty_is_row(r)) {
      r->next = start;
      r->lines_ended = ended;
    }
  }
  while (begins_comment(r)) csv_skip_comment(r);
  r->line = r->lines_ended + 1;
  r->begun = true;
  return true;
}

bool csv_take_empty_row(struct csv_reading *r) {
  return r->type->depth >= 2 && take_line_end(r);
}

bool csv_skip_row(struct csv_reading *r) {
  while (!r->ends_row) {
    if (!csv_take_field(r)) return false;
  }
  return true;
}

/* ---- names of columns ---- */

bool csv_look(struct csv_reading *r, struct csv_look *look) {
  *look = (struct csv_look){0};
  do {
    if (!csv_take_field(r)) return false;
    const bool data = csv_is_data(r);
    look->data |= data;
    look->names |= !data && csv_name(r).length > 0;
  } while (!r->ends_row);
  return true;
}

/* Counts the field just read if it has the name of column `wanted`. Returns false, with the
 * problem, if another field had it, too. */
static bool csv_match_name(struct csv_reading *r, uint32_t wanted, uint32_t *found) {
  const struct csv_word *name = &r->style->columns.items[wanted], here = csv_name(r);
  const bool same = r->style->by_fields ? array_name_fits(here.text, here.length, name->text)
                                        : here.length == name->length &&
                                              memcmp(here.text, name->text, name->length) == 0;
  if (!same) return true;
  if (found[wanted]++ == 0) return true;
  return array_fail(r->arena, r->problem, "line %" PRIu64 ": two columns have the name '%.40s'",
                    r->line, name->text);
}

/* Returns the names of the row for messages: as many as a line has room for. */
static const char *csv_names_text(struct csv_reading *r) {
  enum { MOST = 12 };
  const char *text = "";
  unsigned count = 0;
  r->next = r->header;
  do {
    if (!csv_take_field(r)) break;
    text = arena_printf(r->arena, "%s%s'%.40s'", text, count ? ", " : "", r->field);
  } while (!r->ends_row && ++count < MOST);
  return r->ends_row ? text : arena_printf(r->arena, "%s ...", text);
}

static bool not_found(struct csv_reading *r, const char *name) {
  const char *names = csv_names_text(r);
  if (r->style->by_fields)
    return array_fail(r->arena, r->problem,
                      "line %" PRIu64
                      ": no column has the name of the field '%.40s': there are "
                      "%s; with header 0 the columns are the fields in their order",
                      r->line, name, names);
  return array_fail(r->arena, r->problem,
                    "line %" PRIu64 ": no column has the name '%.40s': there are %s", r->line,
                    name, names);
}

static bool all_found(struct csv_reading *r, const uint32_t *found) {
  for (size_t i = 0; i < r->style->columns.count; i++)
    if (found[i] == 0) return not_found(r, r->style->columns.items[i].text);
  return true;
}

/* Finds which component the field just read is. */
static bool find_column(struct csv_reading *r, uint32_t *found, uint32_t *component) {
  *component = CSV_UNWANTED;
  for (uint32_t i = 0; i < r->style->columns.count; i++) {
    const uint32_t before = found[i];
    if (!csv_match_name(r, i, found)) return false;
    if (found[i] == before) continue;
    if (*component != CSV_UNWANTED)
      return array_fail(r->arena, r->problem,
                        "line %" PRIu64 ": column '%.40s' is wanted twice", r->line,
                        r->style->columns.items[i].text);
    *component = i;
  }
  return true;
}

/* Takes the row of names, and finds for each field which component it is. */
static bool csv_find_columns(struct csv_reading *r) {
  const size_t count = r->style->columns.count;
  uint32_t *found = arena_alloc(r->arena, count * sizeof *found);
  ARRAY(uint32_t) wanted = {0};
  do {
    if (!csv_take_field(r)) return false;
    if (!find_column(r, found, array_push(r->arena, &wanted))) return false;
  } while (!r->ends_row);
  r->wanted = wanted.items;
  r->field_count = (uint32_t)wanted.count;
  return all_found(r, found);
}

static bool no_header(struct csv_reading *r, int64_t rows) {
  return array_fail(r->arena, r->problem,
                    "the file ends before its header: it has %" PRId64
                    " row%s, the names of the columns are to be in row %" PRId64,
                    rows, rows == 1 ? "" : "s", r->style->header);
}

bool csv_take_header(struct csv_reading *r) {
  for (int64_t row = 0; row < r->style->header; row++) {
    if (!csv_another_row(r)) return no_header(r, row);
    r->begun = false;
    r->header = r->next;
    r->ends_row = false;
    const bool last = row + 1 == r->style->header;
    if (!(last && r->style->columns.count > 0 ? csv_find_columns(r) : csv_skip_row(r)))
      return false;
  }
  r->begun = false;
  return true;
}

/* ---- a whole file ---- */

bool csv_read_with(struct csv_reading *r, const char *bytes, size_t length,
                   bool (*read)(struct csv_reading *, void *result), void *result) {
  static const char mark[] = CSV_BYTE_ORDER;
  r->next = bytes;
  r->end = bytes + length;
  r->style = csv_style_of(r->type);
  if (length >= 3 && memcmp(r->next, mark, 3) == 0) r->next += 3;
  r->carriage_returns = length > 0 && !memchr(bytes, '\n', length);
  r->room = 0;
  r->field = arena_alloc(r->arena, 1);
  return read(r, result);
}
