/* origin-text.c - reads and writes origins as comments of VCODE and FCODE. */
#include "base/number.h"
#include "vcode/vcode.h"

#include <string.h>

/* ---- reading ---- */

/* Takes ":NUMBER" from the end of text[0..*length); false if there is none. */
static bool take_origin_number(const char *text, size_t *length, uint32_t *number) {
  size_t at = *length;
  int64_t value;
  while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') at--;
  if (at == 0 || text[at - 1] != ':') return false;
  if (!parse_int(text + at, *length - at, 0, UINT32_MAX, &value)) return false;
  *number = (uint32_t)value;
  *length = at - 1;
  return true;
}

/* Reads FILE:LINE:COLUMN. */
static bool read_location(struct arena *arena, const char *text, size_t length,
                          struct origin *o) {
  if (!take_origin_number(text, &length, &o->pos.column)) return false;
  if (!take_origin_number(text, &length, &o->pos.line) || length == 0) return false;
  o->file = arena_copy(arena, text, length);
  return true;
}

/* Reads the calls in text[0..length), each behind a bar. The outermost stands last and is added
 * first. */
static bool read_calls(struct origin_table *t, const char *text, size_t length,
                       uint32_t *inlined_at) {
  while (length > 0) {
    size_t at = length;
    struct origin call = {.function = "", .inlined_at = *inlined_at};
    while (text[at - 1] != '|') at--;
    if (!read_location(t->arena, text + at, length - at, &call)) return false;
    *inlined_at = origin_number(t, call);
    length = at - 1;
  }
  return true;
}

/* The end of the word at `text`. */
static const char *word_end(const char *text, const char *end) {
  while (text < end && !is_space_byte(*text)) text++;
  return text;
}

static const char *skip_blanks(const char *text, const char *end) {
  while (text < end && is_space_byte(*text)) text++;
  return text;
}

uint32_t vcode_read_origin(struct origin_table *t, const char *text, size_t length) {
  const char *end = text + length, *file = skip_blanks(text, end);
  const char *file_end = word_end(file, end), *name = skip_blanks(file_end, end);
  const char *name_end = word_end(name, end);
  struct origin o = {0};
  if (skip_blanks(name_end, end) != end || memchr(text, 0, length)) return 0;
  if (!read_location(t->arena, file, (size_t)(file_end - file), &o)) return 0;
  const char *calls = memchr(name, '|', (size_t)(name_end - name));
  if (!calls) calls = name_end;
  o.function = arena_copy(t->arena, name, (size_t)(calls - name));
  if (!read_calls(t, calls, (size_t)(name_end - calls), &o.inlined_at)) return 0;
  return origin_number(t, o);
}

/* ---- writing ---- */

static unsigned put_origin_char(char c, FILE *out) {
  putc(c, out);
  return 1;
}

/* Writes a name in which `_` stands for blanks and the characters of `ends`. */
static unsigned put_origin_name(const char *name, const char *ends, FILE *out) {
  unsigned length = 0;
  for (; *name; name++, length++)
    putc(is_space_byte(*name) || strchr(ends, *name) ? '_' : *name, out);
  return length;
}

static unsigned put_location(const struct origin *o, const char *ends, FILE *out) {
  const unsigned length = put_origin_name(o->file, ends, out);
  return length + (unsigned)fprintf(out, ":%u:%u", o->pos.line, o->pos.column);
}

unsigned vcode_print_origin(const struct origin_table *t, uint32_t number, FILE *out) {
  const struct origin *o = origin_at(t, number);
  fputs("{@ ", out);
  unsigned length = 5 + put_location(o, "}", out);
  if (*o->function || o->inlined_at) length += put_origin_char(' ', out);
  length += put_origin_name(o->function, "|}", out);
  for (uint32_t call = o->inlined_at; call; call = origin_at(t, call)->inlined_at) {
    length += put_origin_char('|', out);
    length += put_location(origin_at(t, call), "|}", out);
  }
  fputs(" }", out);
  return length;
}
