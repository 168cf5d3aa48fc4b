/* lex.c - tokens of NESL. (NESL specification, section 2.) */
#include "neslc/front/habits.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

const struct lexeme_facts lexeme_facts[LEXEMES] = {
#define WORD(id, text, left, right, prefix, hint) {text, left, right, prefix, hint},
#define PAIR_MARK                                 WORD
#define MARK                                      WORD
    {"", STRENGTH_ARGUMENT, 0, NULL, NULL},
#include "neslc/front/lexemes.def"
};

/* The symbols by their characters. */
static const struct {
  char first, second;
  uint8_t lexeme;
} pairs[] = {
#define PAIR_MARK(id, text, left, right, prefix, hint) {text[0], text[1], LEX_##id},
#include "neslc/front/lexemes.def"
};

static const struct {
  char text[2];
  uint8_t lexeme;
} marks[] = {
#define MARK(id, text, left, right, prefix, hint) {text, LEX_##id},
#include "neslc/front/lexemes.def"
};

void reader_init(struct reader *r, struct arena *arena, struct intern *names,
                 const struct source *source) {
  memset(r, 0, sizeof *r);
  r->arena = arena;
  r->names = names;
  r->source = source;
  r->widths = (struct widths){CVL_I64, CVL_F64};
  r->spellings = arena_alloc(arena, LEXEMES * sizeof(const struct name *));
  for (int i = LEX_NONE + 1; i < LEXEMES; i++) {
    r->spellings[i] = intern_name(names, lexeme_facts[i].text, strlen(lexeme_facts[i].text));
  }
  r->loop_word = intern_name(names, "loop", strlen("loop"));
  r->while_word = intern_name(names, "while", strlen("while"));
  r->do_word = intern_name(names, "do", strlen("do"));
  r->not_word = intern_name(names, "not", strlen("not"));
}

bool token_is_name(const struct nesl_token *token) {
  return token->kind == TOKEN_WORD && token->lexeme == LEX_NONE;
}

const char *token_text(struct reader *r, const struct nesl_token *token) {
  enum { SHOWN = 32 };
  unsigned length = token->at.end - token->at.start;
  const char *dots = length > SHOWN ? "..." : "", *text = r->source->text + token->at.start;
  int shown = length > SHOWN ? SHOWN : (int)length;
  switch ((enum nesl_token_kind)token->kind) {
  case TOKEN_END: return "the end of the text";
  case TOKEN_INT:
  case TOKEN_FLOAT: return arena_printf(r->arena, "the number %.*s%s", shown, text, dots);
  case TOKEN_CHAR: return "a character";
  case TOKEN_STRING: return "a string";
  case TOKEN_WORD:
    if (token->lexeme == LEX_NONE) {
      return arena_printf(r->arena, "the name `%.*s%s`", shown, text, dots);
    }
    break;
  case TOKEN_SYMBOL:
  case TOKEN_INVALID: break;
  }
  return arena_printf(r->arena, "`%.*s%s`", shown, text, dots);
}

/* ---- white space ---- */

static bool is_space_char(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Like parse_failed, where the text ends within a token: another line may mend that. */
static void open_end(struct reader *r, uint32_t start, uint32_t end, const char *what) {
  if (!r->failed) r->more = true;
  parse_failed(r, (struct span){start, end}, "the %s that begins here is never closed%s", what,
               strcmp(what, "comment") != 0 ? "" : "; a remainder is rem(a, b) or mod(a, b)");
}

#define NO_END UINT32_MAX

/* Behind a comment `% ... %`, or `// ...` up to the end of the line, that begins here; `at` if
 * none does, NO_END if it never ends. */
static uint32_t skip_comment(const struct source *source, uint32_t at) {
  const char *text = source->text + at;
  const size_t left = source->length - at;
  if (left >= 2 && memcmp(text, "//", 2) == 0) {
    const char *newline = memchr(text, '\n', left);
    return newline ? (uint32_t)(newline - source->text) : (uint32_t)source->length;
  }
  if (left == 0 || *text != '%') return at;
  const char *close = memchr(text + 1, '%', left - 1);
  return close ? (uint32_t)(close - source->text) + 1 : NO_END;
}

/* The first byte at or after `at` that is neither white space nor comment. */
static uint32_t skip_space(struct reader *r, uint32_t at) {
  const char *text = r->source->text;
  uint32_t end = (uint32_t)r->source->length;
  if (at == 0 && end >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) at = 3; /* byte order mark */
  if (at == 0 && end >= 2 && memcmp(text, "#!", 2) == 0) {
    while (at < end && text[at] != '\n') at++;
  }
  for (;;) {
    while (at < end && is_space_char(text[at])) at++;
    const uint32_t behind = skip_comment(r->source, at);
    if (behind == at) return at;
    if (behind == NO_END) {
      open_end(r, at, at + 1, "comment");
      return end;
    }
    at = behind;
  }
}

/* ---- tokens: each begins at r->token.at.start and sets at.end ---- */

static void read_word(struct reader *r, uint32_t at) {
  enum { SHORT = 128 };
  struct nesl_token *token = &r->token;
  const char *text = r->source->text;
  uint32_t start = at, end = (uint32_t)r->source->length;
  while (at < end && (is_letter(text[at]) || is_digit_byte(text[at]))) at++;
  char buffer[SHORT],
      *folded = at - start <= SHORT ? buffer : arena_alloc(r->arena, at - start);
  for (uint32_t i = start; i < at; i++) {
    folded[i - start] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
  }
  token->kind = TOKEN_WORD;
  token->at.end = at;
  token->name = intern_name(r->names, folded, at - start);
#define WORD(id, text, left, right, prefix, hint)                                              \
  if (token->name == r->spellings[LEX_##id]) token->lexeme = LEX_##id;
#include "neslc/front/lexemes.def"
}

static bool is_hex(int c) {
  return is_digit_byte(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Digits, between which single `_` may stand. */
static uint32_t skip_digits(const struct source *source, uint32_t at, bool (*digit)(int)) {
  const char *text = source->text;
  const uint32_t start = at;
  while (at < source->length &&
         (digit(text[at]) || (text[at] == '_' && at > start && digit(text[at + 1]))))
    at++;
  return at;
}

/* The text of the number without `_`. */
static const char *plain_digits(struct reader *r, size_t *length) {
  const struct span at = r->token.at;
  char *text = arena_copy(r->arena, r->source->text + at.start, at.end - at.start);
  *length = 0;
  for (uint32_t i = 0; i < at.end - at.start; i++) {
    if (text[i] != '_') text[(*length)++] = text[i];
  }
  return text;
}

/* A whole number 0x..., of `length` bytes with it. */
static bool parse_hex(const char *text, size_t length, int64_t *value) {
  uint64_t x = 0;
  for (size_t i = 2; i < length; i++) {
    if (x >> 59 != 0) return false;
    const char c = text[i];
    x = 16 * x + (uint64_t)(is_digit_byte(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  *value = (int64_t)x;
  return true;
}

static bool is_hexadecimal(const char *text, size_t length) {
  return length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

void lex_too_large(struct reader *r, struct span at) {
  const bool narrow = r->widths.int_elem == CVL_I32;
  parse_failed(r, at, "this number is too large for an int of %d bits: the greatest is %lld",
               narrow ? 32 : 64, narrow ? (long long)INT32_MAX : (long long)INT64_MAX);
}

/* Whether the digits are those of the least int, which `-` is to precede. */
static bool is_least(const char *text, size_t length, bool narrow) {
  const char *digits = narrow ? "2147483648" : "9223372036854775808";
  while (length > 0 && *text == '0') text++, length--;
  return length == strlen(digits) && memcmp(text, digits, length) == 0;
}

static void set_int_value(struct reader *r) {
  struct nesl_token *token = &r->token;
  size_t length;
  const char *text = plain_digits(r, &length);
  const bool narrow = r->widths.int_elem == CVL_I32;
  bool fits = true;
  if (is_hexadecimal(text, length)) {
    fits = parse_hex(text, length, &token->integer);
  } else if (is_least(text, length, narrow)) {
    token->least = true;
    token->integer = narrow ? INT32_MIN : INT64_MIN;
  } else {
    fits = parse_int(text, length, 0, narrow ? INT32_MAX : INT64_MAX, &token->integer);
  }
  if (!fits) lex_too_large(r, token->at);
}

static void float_value(struct reader *r) {
  struct nesl_token *token = &r->token;
  size_t length;
  const char *text = plain_digits(r, &length);
  token->real = parse_real(text, length);
  const bool narrow = r->widths.float_elem == CVL_F32;
  if (isinf(narrow ? (float)token->real : token->real)) {
    parse_failed(r, token->at,
                 "this number is too large for a float of %d bits: the greatest is %s",
                 narrow ? 32 : 64, narrow ? "3.403E38" : "1.797E308");
  }
}

/* The end of a number in decimal digits, and its kind. */
static uint32_t skip_decimal(struct reader *r, uint32_t at) {
  const struct source *source = r->source;
  const char *text = source->text;
  struct nesl_token *token = &r->token;
  at = skip_digits(source, at, is_digit_byte);
  const bool range = at + 1 < source->length && text[at + 1] == '.'; /* as others write it */
  if (at < source->length && text[at] == '.' && !range) {
    token->kind = TOKEN_FLOAT;
    at = skip_digits(source, at + 1, is_digit_byte);
  }
  if (at < source->length && (text[at] == 'e' || text[at] == 'E')) {
    uint32_t digits = at + 1;
    if (digits < source->length && (text[digits] == '+' || text[digits] == '-')) digits++;
    if (digits < source->length && is_digit_byte(text[digits])) {
      token->kind = TOKEN_FLOAT;
      at = skip_digits(source, digits, is_digit_byte);
    } else if (digits > at + 1 || digits >= source->length || !is_letter(text[digits])) {
      token->at.end = digits;
      parse_failed(r, token->at, "the exponent of this number has no digits");
    }
  }
  return at;
}

static void lex_number(struct reader *r, uint32_t at) {
  const struct source *source = r->source;
  const char *text = source->text;
  struct nesl_token *token = &r->token;
  token->kind = TOKEN_INT;
  const bool hexadecimal =
      is_hexadecimal(text + at, source->length - at) && is_hex(text[at + 2]);
  at = hexadecimal ? skip_digits(source, at + 2, is_hex) : skip_decimal(r, at);
  if (r->failed) return;
  token->at.end = at;
  if (at < source->length && is_letter(text[at])) {
    uint32_t end = at;
    while (end < source->length && (is_letter(text[end]) || is_digit_byte(text[end]))) end++;
    parse_failed(r, (struct span){token->at.start, end},
                 "letters directly after a number: put a space between `%.*s` and `%.*s`, or "
                 "begin the name with a letter",
                 (int)(at - token->at.start), text + token->at.start, (int)(end - at),
                 text + at);
  } else if (token->kind == TOKEN_INT) {
    set_int_value(r);
  } else {
    float_value(r);
  }
}

/* At the quote; of e"..." the token begins before it. */
static void lex_string(struct reader *r, uint32_t at) {
  const struct source *source = r->source;
  struct nesl_token *token = &r->token;
  uint32_t start = at + 1, end = (uint32_t)source->length;
  for (at = start; at < end && source->text[at] != '"'; at++) {
    if (source->text[at] == '\\') at++;
  }
  if (at >= end) {
    open_end(r, token->at.start, start, "string");
    return;
  }
  token->kind = TOKEN_STRING;
  token->at.end = at + 1;
  char *text = arena_copy(r->arena, source->text + start, at - start);
  token->escaped = token->at.start + 1 < start;
  token->length = token->escaped ? string_escaped(text, at - start, &token->wrong)
                                 : string_plain(text, at - start);
  token->wrong.start += token->wrong.end ? start : 0;
  token->wrong.end += token->wrong.end ? start : 0;
  text[token->length] = '\0';
  token->text = text;
}

static void read_character(struct reader *r, uint32_t at) {
  const struct source *source = r->source;
  struct nesl_token *token = &r->token;
  if (at + 1 >= source->length) {
    open_end(r, at, at + 1, "character");
    return;
  }
  size_t bytes = source_character(source, at + 1);
  token->at.end = at + 1 + (uint32_t)bytes;
  if (bytes != 1) {
    parse_failed(r, token->at,
                 "a character is one byte, this one has %zu in UTF-8: write it in a string",
                 bytes);
    return;
  }
  token->kind = TOKEN_CHAR;
  token->text = source->text + at + 1;
  token->length = 1;
}

static void unknown_character(struct reader *r, uint32_t at) {
  const struct source *source = r->source;
  size_t bytes = source_character(source, at);
  struct span span = {at, at + (uint32_t)bytes};
  r->token.at = span;
  const char *character = arena_copy(r->arena, source->text + at, bytes);
  const char *own = habit_lookalike(character), *space = habit_space(character);
  unsigned char byte = (unsigned char)character[0];
  if (space != NULL) {
    parse_failed(r, span,
                 "this is %s, as word processors and web pages have them: write an ordinary "
                 "space or nothing",
                 space);
  } else if (own != NULL) {
    parse_failed(r, span, "the character `%s` is not NESL's `%s`", character, own);
  } else if (bytes == 1 && (byte < ' ' || byte > '~')) {
    parse_failed(r, span, "the byte %u means nothing outside of strings and comments", byte);
  } else {
    parse_failed(r, span,
                 "the character `%s` means nothing outside of strings and comments; names "
                 "consist of letters, digits and `_`",
                 character);
  }
}

static enum lexeme symbol_at(const struct source *source, uint32_t at) {
  char first = source->text[at], second = source->text[at + 1]; /* at worst the final NUL */
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (pairs[i].first == first && pairs[i].second == second) return pairs[i].lexeme;
  }
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
    if (marks[i].text[0] == first) return marks[i].lexeme;
  }
  return LEX_NONE;
}

static void read_symbol(struct reader *r, uint32_t at) {
  enum lexeme lexeme = symbol_at(r->source, at);
  if (lexeme == LEX_NONE) {
    unknown_character(r, at);
    return;
  }
  r->token.kind = TOKEN_SYMBOL;
  r->token.lexeme = (uint8_t)lexeme;
  r->token.name = r->spellings[lexeme];
  r->token.at.end = at + r->token.name->length;
}

void read_token(struct reader *r) {
  if (r->failed) return;
  r->before = r->token;
  uint32_t at = skip_space(r, r->token.at.end);
  if (r->failed) return;
  r->token = (struct nesl_token){.kind = TOKEN_END, .at = {at, at}};
  if (at >= r->source->length) return;
  char c = r->source->text[at];
  bool fraction = c == '.' && is_digit_byte(r->source->text[at + 1]);
  bool escaped = (c == 'e' || c == 'E') && r->source->text[at + 1] == '"';
  if (escaped) {
    lex_string(r, at + 1);
  } else if (is_letter(c)) {
    read_word(r, at);
  } else if (is_digit_byte(c) || fraction) {
    lex_number(r, at);
  } else if (c == '"') {
    lex_string(r, at);
  } else if (c == '`') {
    read_character(r, at);
  } else {
    read_symbol(r, at);
  }
}
