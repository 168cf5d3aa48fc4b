/* tuning.c - see tuning.h. */
#include "cvl/tuning.h"

#include "base/diag.h"
#include "base/number.h"

#include <inttypes.h>
#include <string.h>

/* ---- the table ---- */

enum { ANY, POWER, CHOICE };

static const struct tuning_row rows[TUNING_COUNT] = {
#define TUNED(id, name, value, least, most, form, doc)                                         \
  {name, least, most, form == POWER, form == CHOICE, doc},
#include "tables/tuning.def"
};

static const uint64_t defaults[TUNING_COUNT] = {
#define TUNED(id, name, value, least, most, form, doc) value,
#include "tables/tuning.def"
};

const struct tuning_row *tuning_info(enum tuning_id id) {
  return &rows[id];
}

uint64_t tuning_default(enum tuning_id id) {
  return defaults[id];
}

bool tuning_is_legal(enum tuning_id id, uint64_t value) {
  const struct tuning_row *row = &rows[id];
  if (value < row->least || value > row->most) return false;
  return !row->power || (value & (value - 1)) == 0;
}

struct tuning tuning_complete(const struct tuning *asked) {
  struct tuning all;
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    const uint64_t value = asked ? asked->value[id] : 0;
    all.value[id] = value ? value : defaults[id];
  }
  return all;
}

bool tuning_concerns(enum tuning_id id, const char *backend) {
  const bool device = strncmp(backend, "cuda", 4) == 0;
  /* The device of a tuning run is open from the beginning, and this back end has one kernel. */
  if (id == TUNE_CUDA_OPEN_ELEMENTS) return false;
  if (id == TUNE_CUDA_REDUCE_KERNEL && strcmp(backend, "cuda") == 0) return false;
  return (strncmp(rows[id].name, "cuda.", 5) == 0) == device;
}

/* ---- from text ---- */

struct reading {
  const char *file;
  uint32_t line;
  struct tuning *to;
  struct diag_list *diags;
};

#define COMPLAIN(r, column, ...)                                                               \
  diag_add((r)->diags, SEVERITY_ERROR, (r)->file, (struct source_pos){(r)->line, (column)},    \
           NULL, __VA_ARGS__)

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

/* Finds the next word of a line from *at on. Returns its length, 0 at the end or at a
 * comment. */
static size_t next_word(const char *line, size_t length, size_t *at) {
  while (*at < length && is_blank(line[*at])) ++*at;
  size_t end = *at;
  while (end < length && !is_blank(line[end]) && line[end] != '#') end++;
  return end - *at;
}

static bool tuning_is_word(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

static unsigned tuning_find_row(const char *name, size_t length) {
  unsigned id = 0;
  while (id < TUNING_COUNT && !tuning_is_word(name, length, rows[id].name)) id++;
  return id;
}

static bool is_compiled(const char *name, size_t length) {
#define COMPILED(id, its_name, value, doc)                                                     \
  if (tuning_is_word(name, length, its_name)) return true;
#include "tables/tuning.def"
  return false;
}

/* Reads digits, and perhaps K, M or G. */
static bool tuning_read_number(const char *text, size_t length, uint64_t *value) {
  int64_t digits;
  const char *units = "KMG";
  const char *unit = length > 0 ? memchr(units, text[length - 1], 3) : NULL;
  const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
  if (!parse_int(text, unit ? length - 1 : length, 0, INT64_MAX >> shift, &digits))
    return false;
  *value = (uint64_t)digits << shift;
  return true;
}

/* Describes the legal values, for messages. */
static void say_legal(const struct tuning_row *row, char *text, size_t size) {
  char least[TUNING_TEXT], most[TUNING_TEXT];
  tuning_text(least, row->least);
  tuning_text(most, row->most);
  snprintf(text, size, "%s from %s to %s", row->power ? "a power of two" : "an integer", least,
           most);
}

static void refuse_value(const struct reading *r, size_t at, const char *word, size_t length,
                         const struct tuning_row *row) {
  char legal[128];
  const int shown = length < 40 ? (int)length : 40;
  say_legal(row, legal, sizeof legal);
  if (length == 0) {
    COMPLAIN(r, (uint32_t)at + 1, "%s has no value: it is %s", row->name, legal);
  } else {
    COMPLAIN(r, (uint32_t)at + 1, "%s is %s, not '%.*s'", row->name, legal, shown, word);
  }
}

static void refuse_name(const struct reading *r, size_t at, const char *word, size_t length) {
  const int shown = length < 40 ? (int)length : 40;
  if (is_compiled(word, length)) {
    COMPLAIN(r, (uint32_t)at + 1, "'%.*s' is compiled in and cannot be set", shown, word);
  } else {
    COMPLAIN(r, (uint32_t)at + 1,
             "there is no tuning value '%.*s'; vinterp --tuning=list lists them", shown, word);
  }
}

static void read_line(const struct reading *r, const char *line, size_t length) {
  size_t at = 0;
  uint64_t value;
  const size_t name = next_word(line, length, &at);
  if (name == 0) return;
  const unsigned id = tuning_find_row(line + at, name);
  if (id == TUNING_COUNT) {
    refuse_name(r, at, line + at, name);
    return;
  }
  at += name;
  const size_t word = next_word(line, length, &at);
  if (!tuning_read_number(line + at, word, &value) ||
      !tuning_is_legal((enum tuning_id)id, value)) {
    refuse_value(r, at, line + at, word, &rows[id]);
    return;
  }
  r->to->value[id] = value;
  at += word;
  if (next_word(line, length, &at) > 0)
    COMPLAIN(r, (uint32_t)at + 1, "a line has one name and one value: what is this?");
}

bool tuning_parse(const char *file, const char *text, size_t length, struct tuning *to,
                  struct diag_list *diags) {
  struct reading r = {file, 1, to, diags};
  const size_t before = diags->errors;
  for (size_t at = 0; at < length; r.line++) {
    const char *end = memchr(text + at, '\n', length - at);
    if (!end) {
      COMPLAIN(&r, 0, "the file ends in the middle of a line");
      return false;
    }
    read_line(&r, text + at, (size_t)(end - (text + at)));
    at = (size_t)(end - text) + 1;
  }
  return diags->errors == before;
}

/* ---- to text ---- */

void tuning_text(char text[TUNING_TEXT], uint64_t value) {
  unsigned unit = 0;
  while (unit < 3 && value >= 1024 && value % 1024 == 0) {
    value /= 1024;
    unit++;
  }
  snprintf(text, TUNING_TEXT, "%" PRIu64 "%.*s", value, unit > 0, &"\0KMG"[unit]);
}

static void list_row(enum tuning_id id, uint64_t value, uint64_t standard, FILE *out) {
  char text[TUNING_TEXT], legal[128];
  tuning_text(text, value);
  say_legal(&rows[id], legal, sizeof legal);
  fprintf(out, "%s%s %s  # %s; %s\n", value == standard ? "# " : "", rows[id].name, text,
          rows[id].doc, legal);
}

void tuning_list(const struct tuning *asked, FILE *out) {
  const struct tuning all = tuning_complete(asked);
  for (unsigned id = 0; id < TUNING_COUNT; id++) {
    list_row((enum tuning_id)id, all.value[id], defaults[id], out);
  }
#define COMPILED(id, name, value, doc)                                                         \
  fprintf(out, "# %s %d  # %s; compiled in\n", name, value, doc);
#include "tables/tuning.def"
}
