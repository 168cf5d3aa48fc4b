/* scan.c - see scan.h. A word is a run of the characters of VCODE words, and `let-form`'s own
 * small letters are among them; every other visible character is a mark by itself. */
#include "ir/tests/scan.h"
#include "base/number.h"

#include <stdarg.h>
#include <string.h>

void scanner_fail(struct scanner *s, const char *format, ...) {
  char text[300];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  diag_add(s->diags, SEVERITY_ERROR, s->file, s->token.pos, NULL, "%s", text);
  longjmp(s->failed, 1);
}

void scanner_expected(struct scanner *s, const char *what) {
  enum { SHOWN = 40 };
  int length = s->token.length < SHOWN ? (int)s->token.length : SHOWN;
  if (s->token.kind == TOKEN_END)
    scanner_fail(s, "expected %s, found the end of the text", what);
  scanner_fail(s, "expected %s, found %.*s", what, length, s->token.text);
}

static bool is_word_char(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         (c != '\0' && strchr("+-*/%<>=!._", c) != NULL);
}

static void scan_step(struct scanner *s) {
  if (*s->at++ == '\n') {
    s->line++;
    s->line_start = s->at;
  }
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/* The string that begins at s->at, with \" \\ and \xHH decoded. */
static void scan_string(struct scanner *s) {
  const char *close = s->at + 1;
  while (close < s->end && *close != '"') close += *close == '\\' && close + 1 < s->end ? 2 : 1;
  if (close >= s->end) scanner_fail(s, "a string that is never closed");
  char *text = arena_alloc(s->arena, (size_t)(close - s->at)), *to = text;
  for (scan_step(s); s->at < close; scan_step(s)) {
    if (*s->at != '\\') {
      *to++ = *s->at;
    } else if (s->at[1] == 'x' && close - s->at >= 4 && hex_digit(s->at[2]) >= 0 &&
               hex_digit(s->at[3]) >= 0) {
      *to++ = (char)(hex_digit(s->at[2]) * 16 + hex_digit(s->at[3]));
      s->at += 3;
    } else if (s->at[1] == '"' || s->at[1] == '\\') {
      *to++ = *++s->at;
    } else {
      scanner_fail(s, "a \\ in a string must be followed by \", \\ or x and two digits");
    }
  }
  scan_step(s);
  s->token.kind = TOKEN_STRING;
  s->token.text = text;
  s->token.length = (size_t)(to - text);
}

void scanner_next(struct scanner *s) {
  while (s->at < s->end && is_space_byte(*s->at)) scan_step(s);
  s->token = (struct token){.kind = TOKEN_END,
                            .text = s->at,
                            .pos = {s->line, (uint32_t)(s->at - s->line_start) + 1}};
  if (s->at == s->end) return;
  if (*s->at == '"') {
    scan_string(s);
    return;
  }
  s->token.kind = is_word_char(*s->at) ? TOKEN_WORD : TOKEN_MARK;
  do {
    s->at++;
  } while (s->token.kind == TOKEN_WORD && s->at < s->end && is_word_char(*s->at));
  s->token.length = (size_t)(s->at - s->token.text);
}

void scanner_begin(struct scanner *s, struct arena *arena, const char *file, const char *text,
                   size_t length, struct diag_list *diags) {
  s->arena = arena;
  s->diags = diags;
  s->file = file;
  s->at = s->line_start = text;
  s->end = text + length;
  s->line = 1;
}

bool scanner_is(const struct scanner *s, const char *text) {
  return (s->token.kind == TOKEN_WORD || s->token.kind == TOKEN_MARK) &&
         strlen(text) == s->token.length && memcmp(text, s->token.text, s->token.length) == 0;
}

bool scanner_take(struct scanner *s, const char *text) {
  if (!scanner_is(s, text)) return false;
  scanner_next(s);
  return true;
}

void scanner_expect(struct scanner *s, const char *text) {
  if (!scanner_take(s, text)) scanner_expected(s, text);
}

/* text[0..length) as a number, UINT64_MAX if it is none. */
static uint64_t scan_number_of(const char *text, size_t length) {
  uint64_t number = 0;
  if (length == 0 || length > 10) return UINT64_MAX;
  for (size_t i = 0; i < length; i++) {
    if (text[i] < '0' || text[i] > '9') return UINT64_MAX;
    number = 10 * number + (uint64_t)(text[i] - '0');
  }
  return number;
}

uint32_t scanner_number(struct scanner *s, const char *what, uint32_t most) {
  uint64_t number =
      s->token.kind == TOKEN_WORD ? scan_number_of(s->token.text, s->token.length) : UINT64_MAX;
  if (number > most) scanner_expected(s, what);
  scanner_next(s);
  return (uint32_t)number;
}

bool scanner_is_variable(const struct scanner *s) {
  return s->token.kind == TOKEN_WORD && s->token.text[0] == 'v' &&
         scan_number_of(s->token.text + 1, s->token.length - 1) != UINT64_MAX;
}

static bool begins_item(const char *word, size_t length) {
  static const char *const items[] = {"fused", "fun", "stack"};
  for (int i = 0; i < 3; i++) {
    if (strlen(items[i]) == length && memcmp(word, items[i], length) == 0) return true;
  }
  return false;
}

struct token scanner_definition(struct scanner *s) {
  struct token definition = s->token;
  while (s->at < s->end) {
    const char *word = s->at, close = *word == '{' ? '}' : *word == '"' ? '"' : '\0';
    if (close) {
      do scan_step(s);
      while (s->at < s->end && *s->at != close);
    } else if (is_word_char(*word)) {
      while (s->at < s->end && is_word_char(*s->at)) s->at++;
      if (!begins_item(word, (size_t)(s->at - word))) continue;
      s->at = word;
      break;
    }
    if (s->at < s->end) scan_step(s);
  }
  definition.length = (size_t)(s->at - definition.text);
  scanner_next(s);
  return definition;
}

struct token scanner_stack_code(struct scanner *s) {
  struct token code = s->token;
  s->at = code.text; /* the present token may have been read by other rules than VCODE's */
  s->line = code.pos.line;
  s->line_start = code.text - (code.pos.column - 1);
  while (s->at < s->end) {
    char close = *s->at == '{' ? '}' : *s->at == '"' ? '"' : '\0';
    const char *word = s->at;
    if (close) {
      do scan_step(s);
      while (s->at < s->end && *s->at != close);
    }
    if (s->at == s->end) break;
    if (!is_word_char(*word)) {
      scan_step(s);
      continue;
    }
    while (s->at < s->end && is_word_char(*s->at)) s->at++;
    if (s->at - word == 3 && memcmp(word, "RET", 3) == 0) {
      code.length = (size_t)(s->at - code.text);
      scanner_next(s);
      return code;
    }
  }
  scanner_fail(s, "stack code without RET");
}
