/* scan.c - a definition's text into tokens. Words and numbers are those of VCODE. */
#include "fused-kernels/scan.h"

#include "vcode/lexer.h"
#include <string.h>

void scan_init(struct scan *s, const struct vcode_fused *fused) {
  memset(s, 0, sizeof *s);
  s->next = fused->text;
  s->end = fused->text + fused->length;
  s->pos = fused->pos;
}

static void scan_advance(struct scan *s) {
  if (*s->next++ == '\n') {
    s->pos.line++;
    s->pos.column = 1;
  } else {
    s->pos.column++;
  }
}

/* Past a comment; false if it is not closed. */
static bool comment(struct scan *s) {
  const char *inside = s->next + 1;
  while (s->next < s->end && *s->next != '}') scan_advance(s);
  if (s->next == s->end) return false;
  if (*inside == '@') {
    s->origin = inside + 1;
    s->origin_length = (size_t)(s->next - s->origin);
  }
  scan_advance(s);
  return true;
}

static bool digit(char c) {
  return c >= '0' && c <= '9';
}

static struct scan_token word(struct scan *s) {
  struct scan_token t = {SCAN_WORD, s->pos, s->next, 0};
  while (s->next < s->end && lexer_word_byte((unsigned char)*s->next)) scan_advance(s);
  t.length = (size_t)(s->next - t.text);
  enum token_kind kind = lexer_classify(t.text, t.length);
  if (kind == TOKEN_INTEGER) t.kind = SCAN_INTEGER;
  if (kind == TOKEN_REAL) t.kind = SCAN_REAL;
  return t;
}

static struct scan_token scan_value(struct scan *s) {
  struct scan_token t = {SCAN_VALUE, s->pos, s->next + 1, 0};
  scan_advance(s);
  while (s->next < s->end && digit(*s->next)) scan_advance(s);
  t.length = (size_t)(s->next - t.text);
  if (t.length == 0) t.kind = SCAN_BAD;
  return t;
}

static struct scan_token string(struct scan *s) {
  struct scan_token t = {SCAN_STRING, s->pos, s->next + 1, 0};
  do scan_advance(s);
  while (s->next < s->end && *s->next != '"');
  t.length = (size_t)(s->next - t.text);
  if (s->next == s->end) return (struct scan_token){SCAN_BAD, t.pos, t.text - 1, 1};
  scan_advance(s);
  return t;
}

struct scan_token scan_next(struct scan *s) {
  while (s->next < s->end) {
    char c = *s->next;
    struct scan_token one = {SCAN_MARK, s->pos, s->next, 1};
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      scan_advance(s);
    } else if (c == '{') {
      if (!comment(s)) return (struct scan_token){SCAN_BAD, one.pos, one.text, 1};
    } else if (c == '$') {
      return scan_value(s);
    } else if (c == '"') {
      return string(s);
    } else if (lexer_word_byte((unsigned char)c)) {
      return word(s);
    } else {
      if (c == '\0' || strchr("()@:,#", c) == NULL) one.kind = SCAN_BAD;
      scan_advance(s);
      return one;
    }
  }
  return (struct scan_token){SCAN_END, s->pos, s->end, 0};
}
