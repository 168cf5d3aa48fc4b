/* source.c - positions in source text, and errors that quote it.
 *
 * An error quotes the source line, with marks below:
 *
 *     prog.nesl:3:6: error: expected `then` after the condition of the `if`, read `=`
 *         3 | if a = 3 then 4 else 5;
 *           |      ^
 *
 * The line is shown as on a terminal: tabs are expanded, long lines are cut around the marks,
 * and control characters are replaced.
 */
#include "neslc/front/source.h"

#include <stdarg.h>
#include <string.h>

/* ---- characters ---- */

/* The code point at text[0..length), and its bytes; -1 and 1 byte for what is not UTF-8. */
static int32_t decode(const char *text, size_t length, size_t *bytes) {
  unsigned char first = (unsigned char)text[0];
  *bytes = 1;
  if (first < 0x80) return first;
  size_t count = first >= 0xf0 && first < 0xf5 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || count > length) return -1;
  int32_t code = first & (0xff >> (count + 1));
  for (size_t i = 1; i < count; i++) {
    unsigned char next = (unsigned char)text[i];
    if ((next & 0xc0) != 0x80) return -1;
    code = code << 6 | (next & 0x3f);
  }
  bool overlong = (count == 3 && code < 0x800) || (count == 4 && code < 0x10000);
  bool surrogate = code >= 0xd800 && code < 0xe000;
  if (overlong || surrogate || code > 0x10ffff) return -1;
  *bytes = count;
  return code;
}

size_t source_character(const struct source *source, uint32_t offset) {
  size_t bytes;
  decode(source->text + offset, source->length - offset, &bytes);
  return bytes;
}

/* Terminal columns of a code point: the blocks of combining and of East Asian wide characters
 * (Unicode Standard Annex 11), roughly. */
static unsigned width_of_code(int32_t code) {
  static const struct {
    int32_t first, last;
    unsigned width;
  } ranges[] = {{0x0300, 0x036f, 0},  {0x200b, 0x200f, 0}, {0x20d0, 0x20ff, 0},
                {0xfe00, 0xfe0f, 0},  {0x1100, 0x115f, 2}, {0x2e80, 0xa4cf, 2},
                {0xac00, 0xd7a3, 2},  {0xf900, 0xfaff, 2}, {0xfe30, 0xfe6f, 2},
                {0xff00, 0xff60, 2},  {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2},
                {0x20000, 0x3fffd, 2}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    if (code >= ranges[i].first && code <= ranges[i].last) return ranges[i].width;
  }
  return 1;
}

/* ---- lines ---- */

/* The beginning of the line that the byte is in. */
static size_t line_start(const struct source *source, size_t offset) {
  const char *newline = memrchr(source->text, '\n', offset);
  return newline == NULL ? 0 : (size_t)(newline - source->text) + 1;
}

static size_t source_line_end(const struct source *source, size_t offset) {
  const char *newline = memchr(source->text + offset, '\n', source->length - offset);
  size_t end = newline == NULL ? source->length : (size_t)(newline - source->text);
  if (end > offset && source->text[end - 1] == '\r') end--;
  return end;
}

/* The position of a byte: one at the beginning of each line, and more in long lines. */
struct source_mark {
  uint32_t offset, line, column;
};

enum { MARK_DISTANCE = 4096 }; /* bytes of a line at most from one to the next */

/* Columns of text[start..end): all bytes but those that continue a character. */
static uint32_t columns_in(const struct source *source, size_t start, size_t end) {
  uint32_t columns = 0;
  for (size_t i = start; i < end; i++) columns += (source->text[i] & 0xc0) != 0x80;
  return columns;
}

void source_index(struct arena *arena, struct source *source) {
  ARRAY(struct source_mark) marks = {0};
  struct source_mark mark = {0, source->first_line, 1};
  *array_push(arena, &marks) = mark;
  for (uint32_t i = 0; i < source->length; i++) {
    mark.column += (source->text[i] & 0xc0) != 0x80;
    if (source->text[i] == '\n') {
      mark.line++;
      mark.column = 1;
    } else if (i + 1 - mark.offset < MARK_DISTANCE) {
      continue;
    }
    mark.offset = i + 1;
    *array_push(arena, &marks) = mark;
  }
  source->marks = marks.items;
  source->mark_count = (uint32_t)marks.count;
}

/* The last mark that is not behind a byte; or, if `line` is not 0, at the beginning of this
 * line or one before. */
static const struct source_mark *mark_before(const struct source *source, size_t offset,
                                             uint32_t line) {
  uint32_t low = 0, high = source->mark_count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    const struct source_mark *m = &source->marks[middle];
    const bool behind =
        line ? m->line > line || (m->line == line && m->column > 1) : m->offset > offset;
    if (behind) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return &source->marks[low];
}

bool source_line(const struct source *source, uint32_t line, uint32_t *offset) {
  if (line < source->first_line) return false;
  struct source_mark from = {0, source->first_line, 1};
  if (source->marks) from = *mark_before(source, 0, line);
  const char *p = source->text + from.offset, *end = source->text + source->length;
  for (; from.line < line; from.line++) {
    p = memchr(p, '\n', (size_t)(end - p));
    if (!p++) return false;
  }
  *offset = (uint32_t)(p - source->text);
  return true;
}

struct source_pos source_position(const struct source *source, uint32_t offset) {
  const size_t at = offset < source->length ? offset : source->length;
  if (source->marks) {
    const struct source_mark *m = mark_before(source, at, 0);
    return (struct source_pos){m->line, m->column + columns_in(source, m->offset, at)};
  }
  const size_t start = line_start(source, at);
  struct source_pos pos = {source->first_line, 1 + columns_in(source, start, at)};
  for (const char *p = source->text, *end = source->text + start; p < end; p++, pos.line++) {
    p = memchr(p, '\n', (size_t)(end - p)); /* there is one: start is behind it */
  }
  return pos;
}

/* ---- quoting ---- */

enum {
  TAB = 8,
  SHOWN_WIDTH = 96, /* columns of a line that are shown */
  MARGIN = 24,      /* of them before the marks, where a long line is cut */
  LOOKED_AT = 1024  /* bytes of a line before and after the span: no more can be shown */
};

struct text {
  struct arena *arena;
  ARRAY(char) list;
};

static void source_put_bytes(struct text *text, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) *array_push(text->arena, &text->list) = bytes[i];
}

static void put_times(struct text *text, char c, unsigned count) {
  for (unsigned i = 0; i < count; i++) *array_push(text->arena, &text->list) = c;
}

/* One character as it is shown: its bytes and its columns at this column of the line. */
static unsigned show_character(const char *from, size_t length, unsigned column,
                               const char **bytes, size_t *read, size_t *count) {
  static const char spaces[] = "        ", replacement[] = "\xef\xbf\xbd";
  int32_t code = decode(from, length, read);
  if (code == '\t') {
    *bytes = spaces;
    *count = TAB - column % TAB;
    return (unsigned)*count;
  }
  bool control = code < ' ' || (code >= 0x7f && code < 0xa0) ||
                 (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
                 (code >= 0x2066 && code <= 0x2069); /* and direction marks */
  *bytes = control ? replacement : from;
  *count = control ? sizeof replacement - 1 : *read;
  return control ? 1 : width_of_code(code);
}

/* The columns of a line's first `bytes` bytes. */
static unsigned columns(const char *line, size_t bytes) {
  unsigned column = 0;
  size_t read, count;
  const char *shown;
  for (size_t i = 0; i < bytes; i += read) {
    column += show_character(line + i, bytes - i, column, &shown, &read, &count);
  }
  return column;
}

/* The characters of the line in columns first <= c < last; at least those in full. */
static void put_line_columns(struct text *text, const char *line, size_t length, unsigned first,
                             unsigned last) {
  unsigned column = 0;
  size_t read, count;
  const char *shown;
  for (size_t i = 0; i < length; i += read) {
    unsigned width = show_character(line + i, length - i, column, &shown, &read, &count);
    if (column >= first && column + width <= last) {
      source_put_bytes(text, shown, count);
    } else if (column < first && column + width > first) {
      put_times(text, ' ', column + width - first); /* half of a wide one, a part of a tab */
    }
    column += width;
  }
}

/* "\n   12 | line\n      |   ^^^^" */
static void put_quotation(struct text *text, const struct source *source, struct span span) {
  size_t at = span.start < source->length ? span.start : source->length;
  size_t start = line_start(source, at), end = source_line_end(source, at);
  if (at > end) at = end;
  bool from_middle = at - start > LOOKED_AT, to_middle = end - at > LOOKED_AT;
  if (from_middle) start = at - LOOKED_AT;
  if (to_middle) end = at + LOOKED_AT;
  size_t stop = span.end < end ? span.end : end;
  const char *line = source->text + start;
  unsigned width = columns(line, end - start), from = columns(line, at - start);
  unsigned to = stop > at ? columns(line, stop - start) : from + 1;
  unsigned first = 0, last = width;
  if (width > SHOWN_WIDTH) {
    if (from > SHOWN_WIDTH - MARGIN) first = from - MARGIN;
    if (last > first + SHOWN_WIDTH) last = first + SHOWN_WIDTH;
  }
  if (to > last + 1) to = last + 1;
  if (to <= from) to = from + 1;
  const char *cut = first > 0 || from_middle ? "..." : "";
  const char *more = last < width || to_middle ? "..." : "";
  char number[16];
  int digits =
      snprintf(number, sizeof number, "%5u", source_position(source, (uint32_t)at).line);
  source_put_bytes(text, "\n", 1);
  source_put_bytes(text, number, (size_t)digits);
  source_put_bytes(text, " | ", 3);
  source_put_bytes(text, cut, strlen(cut));
  put_line_columns(text, line, end - start, first, last);
  source_put_bytes(text, more, strlen(more));
  source_put_bytes(text, "\n", 1);
  put_times(text, ' ', (unsigned)digits);
  source_put_bytes(text, " | ", 3);
  put_times(text, ' ', (unsigned)strlen(cut) + from - first);
  put_times(text, '^', to - from);
}

static void add_complaint(struct complaints *complaints, enum severity severity,
                          const struct source *source, struct span span, const char *format,
                          va_list args) {
  struct source_pos pos = source_position(source, span.start);
  struct text text = {.arena = complaints->diags->arena};
  char where[64] = "";
  if (severity == SEVERITY_NOTE) { /* diag.h prints no location of a note */
    source_put_bytes(&text, source->name, strlen(source->name));
    source_put_bytes(
        &text, where,
        (size_t)snprintf(where, sizeof where, ":%u:%u: note: ", pos.line, pos.column));
  }
  const char *message = arena_vprintf(text.arena, format, args);
  source_put_bytes(&text, message, strlen(message));
  put_quotation(&text, source, span);
  diag_add(complaints->diags, severity, source->name, pos, NULL, "%.*s", (int)text.list.count,
           text.list.items);
}

/* ---- errors ---- */

const char *nesl_error_name(enum nesl_error error) {
  switch (error) {
  case NESL_OK: return "ok";
  case NESL_PARSE: return "parse";
  case NESL_TYPE: return "type";
  case NESL_UNBOUND: return "unbound";
  case NESL_PATTERN: return "pattern";
  case NESL_DUPLICATE: return "duplicate";
  case NESL_BUILTIN: return "builtin";
  case NESL_UNKNOWN_TYPE: return "unknown-type";
  case NESL_NO_BODY: return "no-body";
  case NESL_SERIAL_ONLY: return "serial-only";
  case NESL_OPTIONAL_ARGUMENT: return "optional-argument";
  case NESL_FIELD: return "field";
  case NESL_NONFINITE: return "nonfinite";
  case NESL_RUNTIME: return "runtime";
  case NESL_USER: return "user";
  case NESL_LIMIT: return "limit";
  }
  return "";
}

void complain(struct complaints *complaints, enum nesl_error error, const struct source *source,
              struct span span, const char *format, ...) {
  if (complaints->first == NESL_OK) complaints->first = error;
  complaints->count++;
  va_list args;
  va_start(args, format);
  add_complaint(complaints, SEVERITY_ERROR, source, span, format, args);
  va_end(args);
}

void warn(struct complaints *complaints, const struct source *source, struct span span,
          const char *format, ...) {
  complaints->warnings++;
  va_list args;
  va_start(args, format);
  add_complaint(complaints, SEVERITY_WARNING, source, span, format, args);
  va_end(args);
}

void remark(struct complaints *complaints, const struct source *source, struct span span,
            const char *format, ...) {
  va_list args;
  va_start(args, format);
  add_complaint(complaints, SEVERITY_NOTE, source, span, format, args);
  va_end(args);
}
