/* escape.c - the text of strings: plain ones, in which a backslash makes the next character
 * literal, and e"..." with escapes. */
#include "neslc/front/syntax.h"

size_t string_plain(char *text, size_t length) {
  size_t n = 0;
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '\\' && i + 1 < length) i++;
    text[n++] = text[i];
  }
  return n;
}

/* ---- e"..." ---- */

/* The text that is read, and the position where the result goes, which is never longer. */
struct escapes {
  const char *from, *end;
  char *to;
};

static int value_of_hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = (char)(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Up to `most` hexadecimal digits; -1: there are fewer than `least`. */
static int32_t take_hex(struct escapes *e, int least, int most) {
  int32_t value = 0;
  int n = 0;
  for (; n < most && e->from < e->end && value_of_hex_digit(*e->from) >= 0; n++)
    value = 16 * value + value_of_hex_digit(*e->from++);
  return n < least ? -1 : value;
}

static void put_utf8(struct escapes *e, int32_t code) {
  static const uint8_t leading[] = {0, 0, 0xc0, 0xe0, 0xf0};
  if (code < 0x80) {
    *e->to++ = (char)code;
    return;
  }
  const int bytes = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int k = bytes - 1; k >= 0; k--) {
    const int32_t bits = code >> 6 * k;
    *e->to++ = (char)(k == bytes - 1 ? leading[bytes] | bits : 0x80 | (bits & 0x3f));
  }
}

/* \u{...}: a character of Unicode, which is no half of a pair. */
static bool take_unicode(struct escapes *e) {
  enum { MOST_DIGITS = 6, SURROGATES = 0xd800, BEHIND_SURROGATES = 0xe000, LAST = 0x10ffff };
  if (e->from >= e->end || *e->from++ != '{') return false;
  const int32_t code = take_hex(e, 1, MOST_DIGITS);
  if (code < 0 || code > LAST || (code >= SURROGATES && code < BEHIND_SURROGATES)) return false;
  if (e->from >= e->end || *e->from++ != '}') return false;
  put_utf8(e, code);
  return true;
}

/* Takes the characters that follow a backslash. */
static bool take_escape(struct escapes *e) {
  const char c = e->from < e->end ? *e->from++ : '\0';
  switch (c) {
  case 'n': *e->to++ = '\n'; return true;
  case 't': *e->to++ = '\t'; return true;
  case '\\':
  case '"': *e->to++ = c; return true;
  case 'u': return take_unicode(e);
  case 'x': {
    const int32_t byte = take_hex(e, 2, 2);
    *e->to++ = (char)byte;
    return byte >= 0;
  }
  default: return false;
  }
}

size_t string_escaped(char *text, size_t length, struct span *wrong) {
  struct escapes e = {text, text + length, text};
  *wrong = (struct span){0, 0};
  while (e.from < e.end) {
    const char *start = e.from;
    if (*e.from != '\\') {
      *e.to++ = *e.from++;
      continue;
    }
    e.from++;
    if (take_escape(&e)) continue;
    if (e.from < start + 2 && start + 2 <= e.end) e.from = start + 2;
    *wrong = (struct span){(uint32_t)(start - text), (uint32_t)(e.from - text)};
    break;
  }
  return (size_t)(e.to - text);
}
