/* csv-cells.c - converts a field of a CSV file to a value of a type, also where it is missing.
 */
#include "arrays/csv.h"
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- values ---- */

static struct csv_word csv_trim(struct csv_word w) {
  while (w.length > 0 && (*w.text == ' ' || *w.text == '\t')) {
    w.text++;
    w.length--;
  }
  while (w.length > 0 && (w.text[w.length - 1] == ' ' || w.text[w.length - 1] == '\t')) {
    w.length--;
  }
  return w;
}

/* Returns the field just read without spaces around it. */
static struct csv_word csv_trimmed(const struct csv_reading *r) {
  return csv_trim((struct csv_word){r->field, r->length});
}

struct csv_word csv_name(const struct csv_reading *r) {
  return r->quoted ? (struct csv_word){r->field, r->length} : csv_trimmed(r);
}

static bool read_bool(const struct csv_word *w, int64_t *x) {
  static const char *const words[] = {"false", "true", "f", "t", "0", "1", "no", "yes"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) != w->length || strncasecmp(w->text, words[i], w->length) != 0)
      continue;
    *x = (int64_t)(i % 2);
    return true;
  }
  return false;
}

static bool csv_read_word(struct csv_word whole, enum array_leaf leaf, struct csv_cell *cell) {
  const struct csv_word w = csv_trim(whole);
  const char *end;
  switch (leaf) {
  case ARRAY_INT: return parse_int(w.text, w.length, INT64_MIN, INT64_MAX, &cell->integer);
  case ARRAY_FLOAT: /* in decimal digits, as ints */
    cell->real = read_real(w.text, &end);
    return w.length > 0 && end == w.text + w.length && !strpbrk(w.text, "xX");
  case ARRAY_BOOL: return read_bool(&w, &cell->integer);
  case ARRAY_CHAR: cell->integer = (unsigned char)whole.text[0]; return whole.length == 1;
  case ARRAY_TEXT: break;
  }
  cell->text = whole.text;
  cell->integer = (int64_t)whole.length;
  return true;
}

/* ---- missing values ---- */

/* Returns whether the field just read counts as missing. */
static bool csv_is_missing(const struct csv_reading *r) {
  const struct csv_style *s = r->style;
  if (r->quoted || (!s->has_missing && !s->has_replacement)) return false;
  const struct csv_word w = csv_trimmed(r);
  return w.length == 0 ||
         (w.length == s->missing.length && memcmp(w.text, s->missing.text, w.length) == 0);
}

/* Reads the replacement of a missing value: the user's, or NaN for floats and an empty text. */
static bool read_missing(const struct csv_reading *r, enum array_leaf leaf,
                         struct csv_cell *cell) {
  if (r->style->has_replacement) return csv_read_word(r->style->replacement, leaf, cell);
  *cell = (struct csv_cell){.real = (double)NAN, .text = ""};
  return leaf == ARRAY_FLOAT || leaf == ARRAY_TEXT;
}

bool csv_is_data(const struct csv_reading *r) {
  static const char *const words[] = {"nan", "inf", "infinity", "true", "false"};
  struct csv_word w = csv_trimmed(r);
  if (w.length > 0 && csv_is_missing(r)) return true;
  if (w.length > 0 && (*w.text == '-' || *w.text == '+')) w.text++, w.length--;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) == w.length && strncasecmp(w.text, words[i], w.length) == 0)
      return true;
  }
  if (w.length > 0 && *w.text == '.') w.text++, w.length--;
  return w.length > 0 && *w.text >= '0' && *w.text <= '9';
}

bool csv_read_cell(const struct csv_reading *r, enum array_leaf leaf, struct csv_cell *cell) {
  if (csv_is_missing(r)) return read_missing(r, leaf, cell);
  return csv_read_word((struct csv_word){r->field, r->length}, leaf, cell);
}

/* ---- messages ---- */

/* Shows the field just read in a message: its beginning, without bytes that print nothing. */
static const char *shown_field(const struct csv_reading *r) {
  enum { MOST = 40 };
  const size_t length = r->length < MOST ? r->length : MOST;
  char *text = arena_copy(r->arena, r->field, length);
  for (size_t i = 0; i < length; i++) {
    if ((unsigned char)text[i] < ' ') text[i] = '?';
  }
  return arena_printf(r->arena, "'%s'%s", text, length < r->length ? "..." : "");
}

/* Returns " ('weight')", or nothing. The reading stays as it is except for the field. */
static const char *column_name(struct csv_reading *r, uint32_t index) {
  if (!r->header) return "";
  struct csv_reading names = *r;
  names.next = r->header;
  do {
    if (!csv_take_field(&names)) return "";
    if (index-- == 0) return arena_printf(r->arena, " (%s)", shown_field(&names));
  } while (!names.ends_row);
  return "";
}

const char *csv_wrong_cell(struct csv_reading *r, uint32_t index, enum array_leaf leaf) {
  const char *text = shown_field(r), *replacement = r->style->replacement.text;
  const bool missing = csv_is_missing(r);
  const char *name = column_name(r, index);
  if (!missing) {
    return arena_printf(r->arena, "field %u%s is no %s: %s", index + 1, name,
                        array_leaf_name(leaf), text);
  }
  if (!r->style->has_replacement) {
    return arena_printf(r->arena,
                        "field %u%s is missing, %s, and to be %s: give a replacement, or read "
                        "the column as float, which has NaN",
                        index + 1, name, text, array_leaf_name(leaf));
  }
  return arena_printf(r->arena,
                      "field %u%s is missing, %s, and its replacement '%.40s' is no %s",
                      index + 1, name, text, replacement, array_leaf_name(leaf));
}
