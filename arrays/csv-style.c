/* csv-style.c - settings of CSV files: how they look, and what is wanted of them.
 *
 * In a signature a setting is `?`, the number of its bytes, a point, and KEY=VALUE, so that
 * values may hold any bytes. Settings that are given twice count as given last, but column,
 * name and field, which are lists. The last, the names of a record's components, also concern
 * files of other formats; columns and names that are given win over them.
 */
#include "arrays/csv.h"
#include "base/number.h"

#include <string.h>

static const struct csv_style usual = {.separator = ',', .header = CSV_HEADER_UNKNOWN};

const struct csv_style *csv_style_of(const struct array_type *type) {
  return type->csv ? type->csv : &usual;
}

/* ---- one setting ---- */

static const char *const keys[] = {"separator",   "header",     "comment", "missing", "column",
                                   "replacement", "names-only", "name",    "field"};
enum key {
  SEPARATOR,
  HEADER,
  COMMENT,
  MISSING,
  COLUMN,
  REPLACEMENT,
  NAMES_ONLY,
  NAME,
  FIELD,
  KEY_COUNT
};

struct setting {
  enum key key; /* KEY_COUNT: none */
  const char *value;
  size_t length;
};

static struct setting setting_of(const char *text, size_t length) {
  struct setting s = {.key = KEY_COUNT};
  const char *equals = memchr(text, '=', length);
  if (!equals) return s;
  const size_t name = (size_t)(equals - text);
  for (unsigned key = 0; key < KEY_COUNT; key++) {
    if (strlen(keys[key]) == name && memcmp(keys[key], text, name) == 0) s.key = (enum key)key;
  }
  s.value = equals + 1;
  s.length = length - name - 1;
  return s;
}

/* Between two fields may stand any character that does not end a row or begin quotes. */
static bool separates(char c) {
  return c != '"' && c != '\n' && c != '\r';
}

static bool is_key_value(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return length > 0;
}

/* Returns a text that says what the value should be, or NULL if it is right. */
static const char *wrong_value(const struct setting *s) {
  enum { MOST_ROWS = 1000000 };
  int64_t rows;
  switch (s->key) {
  case SEPARATOR:
    if (s->length == 1 && separates(*s->value)) return NULL;
    return "one character of one byte, no quote and no line break";
  case HEADER:
    if (parse_int(s->value, s->length, CSV_HEADER_UNKNOWN, MOST_ROWS, &rows)) return NULL;
    return "the number of rows before the data, from 0 to 1000000";
  case FIELD: return is_key_value(s->value, s->length) ? NULL : "letters, digits and _";
  case COMMENT:
  case MISSING:
  case COLUMN:
  case REPLACEMENT:
  case NAMES_ONLY:
  case NAME: return NULL;
  case KEY_COUNT: break;
  }
  return "";
}

bool array_setting_check(const char *text, char problem[ARRAY_PROBLEM_MAX]) {
  const struct setting s = setting_of(text, strlen(text));
  if (s.key == KEY_COUNT) {
    snprintf(problem, ARRAY_PROBLEM_MAX,
             "'%.40s' is no setting of CSV files: separator=C, header=N, comment=TEXT, "
             "missing=TEXT, replacement=TEXT, column=NAME, name=NAME",
             text);
    return false;
  }
  const char *wanted = wrong_value(&s);
  if (!wanted) return true;
  snprintf(problem, ARRAY_PROBLEM_MAX, "%s is '%.40s', and must be %s", keys[s.key], s.value,
           wanted);
  return false;
}

const char *array_setting(struct arena *arena, const char *text) {
  return arena_printf(arena, "?%zu.%s", strlen(text), text);
}

static void apply_setting(struct arena *arena, const struct setting *s,
                          struct csv_style *style) {
  const struct csv_word word = {arena_copy(arena, s->value, s->length), s->length};
  switch (s->key) {
  case SEPARATOR: style->separator = *word.text; break;
  case HEADER:
    (void)parse_int(word.text, word.length, INT64_MIN, INT64_MAX, &style->header);
    break;
  case COMMENT: style->comment = word; break;
  case MISSING:
    style->missing = word;
    style->has_missing = true;
    break;
  case COLUMN: *array_push(arena, &style->columns) = word; break;
  case REPLACEMENT:
    style->replacement = word;
    style->has_replacement = true;
    break;
  case NAMES_ONLY: style->names_only = true; break;
  case NAME: *array_push(arena, &style->names) = word; break;
  case FIELD: *array_push(arena, &style->fields) = word; break;
  case KEY_COUNT: break;
  }
}

/* ---- all of them ---- */

/* Takes a setting from the beginning of a text. */
static bool csv_take_setting(const char **next, const char *end, const char **text,
                             size_t *length) {
  const char *p = *next + 1;
  for (*length = 0; p < end && *p >= '0' && *p <= '9'; p++) {
    *length = *length * 10 + (size_t)(*p - '0');
    if (*length > (size_t)(end - p)) return false;
  }
  if (p == end || *p != '.' || (size_t)(end - p - 1) < *length) return false;
  *text = p + 1;
  *next = *text + *length;
  return true;
}

size_t array_signature_length(const char *text, size_t length) {
  const char *next = text, *end = text + length, *setting;
  size_t setting_length;
  while (next < end && *next != ':') {
    if (*next != '?')
      next++;
    else if (!csv_take_setting(&next, end, &setting, &setting_length))
      return length;
  }
  return (size_t)(next - text);
}

/* Takes the names of fields for those of columns where none are given and rows are tuples. */
static void use_fields(struct csv_style *style, const struct array_type *type) {
  if (type->depth != 1) return;
  if (style->names.count == 0) style->names = style->fields;
  const bool given = style->columns.count > 0 || style->names_only || style->header == 0;
  style->by_fields = !given && style->fields.count > 0;
  if (style->by_fields) style->columns = style->fields;
}

/* Checks the conditions that hold between settings. */
static bool settle_style(struct arena *arena, struct csv_style *style, const char **problem) {
  const bool named = style->columns.count > 0 || style->names_only;
  if (named && style->header == CSV_HEADER_UNKNOWN) style->header = 1;
  if (!named || style->header > 0) return true;
  return array_fail(arena, problem,
                    "with header 0 the file has no names of columns to look for");
}

bool csv_style_parse(struct arena *arena, const char *text, const char *end,
                     struct array_type *type, const char **problem) {
  struct csv_style *style = arena_alloc(arena, sizeof *style);
  *style = usual;
  while (text < end) {
    const char *start;
    size_t length;
    if (*text != '?' || !csv_take_setting(&text, end, &start, &length))
      return array_fail(arena, problem, "not a signature");
    char wrong[ARRAY_PROBLEM_MAX];
    if (!array_setting_check(arena_copy(arena, start, length), wrong))
      return array_fail(arena, problem, "%s", wrong);
    const struct setting setting = setting_of(start, length);
    apply_setting(arena, &setting, style);
  }
  type->csv = style;
  use_fields(style, type);
  return settle_style(arena, style, problem);
}

/* ---- names of fields ---- */

uint32_t array_field_count(const struct array_type *type) {
  return (uint32_t)csv_style_of(type)->fields.count;
}

const char *array_field(const struct array_type *type, uint32_t i) {
  return csv_style_of(type)->fields.items[i].text;
}

/* Returns the character that stands for the byte in the name of a field. */
static char in_field(char c) {
  if (c >= 'A' && c <= 'Z') return (char)(c | 0x20);
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
}

bool array_name_fits(const char *name, size_t length, const char *field) {
  bool fits = strlen(field) == length;
  for (size_t i = 0; i < length && fits; i++) fits = in_field(name[i]) == in_field(field[i]);
  return fits;
}

bool array_settings_parse(struct arena *arena, const char *settings, struct array_type *type,
                          const char **problem) {
  return csv_style_parse(arena, settings, settings + strlen(settings), type, problem);
}
