/* property.c - finds and reads properties (property.h). */
#include "neslc/front/property.h"
#include "neslc/front/parse.h"

#include <ctype.h>
#include <string.h>

/* ---- comments of a text ---- */

static const char word[] = "property";

/* Behind the string that begins here. */
static uint32_t behind_string(const struct source *source, uint32_t at) {
  for (at++; at < source->length && source->text[at] != '"'; at++) {
    if (source->text[at] == '\\') at++;
  }
  return at + 1;
}

/* Behind the next such character, or the end of the text. */
static uint32_t behind_char(const struct source *source, uint32_t at, char c) {
  const char *found =
      at < source->length ? memchr(source->text + at, c, source->length - at) : NULL;
  return found ? (uint32_t)(found - source->text) + 1 : (uint32_t)source->length;
}

/* Behind the token, comment or character that begins here. */
static uint32_t behind_one(const struct source *source, uint32_t at) {
  const char *text = source->text + at;
  if (*text == '"') return behind_string(source, at);
  if (*text == '`') return at + 2; /* a character, which may be a quote or `%` */
  if (*text == '%') return behind_char(source, at + 1, '%');
  if (*text == '/' && text[1] == '/') return behind_char(source, at, '\n');
  return at + 1;
}

/* Whether a comment that begins here is one of a property. */
static bool begins_property(const struct source *source, uint32_t at) {
  const size_t length = sizeof word - 1;
  const char *text = source->text + at;
  return *text == '%' && source->length - at > length + 1 &&
         memcmp(text + 1, word, length) == 0 && !isalnum((unsigned char)text[length + 1]) &&
         text[length + 1] != '_';
}

bool property_find(const struct source *source, uint32_t *at, struct span *comment) {
  while (*at < source->length) {
    const uint32_t start = *at;
    *at = behind_one(source, start);
    if (*at > source->length || source->text[*at - 1] != '%') continue; /* it never ends */
    if (!begins_property(source, start)) continue;
    *comment = (struct span){start + 1, *at - 1};
    return true;
  }
  return false;
}

/* ---- one property ---- */

/* Takes a word that is none of the language's own. */
static bool take_word(struct reader *r, const char *text) {
  if (!token_is_name(&r->token) || strcmp(r->token.name->text, text) != 0) return false;
  read_token(r);
  return true;
}

static const struct name *take_name(struct reader *r, const char *what, struct span *at) {
  if (!token_is_name(&r->token)) parse_unexpected(r, what);
  const struct name *name = r->token.name;
  *at = r->token.at;
  read_token(r);
  return name;
}

/* A number of the range, with a sign. False after an error. */
static bool take_bound(struct reader *r, int64_t *integer, double *real, bool *is_float) {
  const bool negative = take(r, LEX_MINUS);
  const struct nesl_token token = r->token;
  if (token.kind != TOKEN_INT && token.kind != TOKEN_FLOAT) {
    parse_unexpected(r, "a number: the values lie in [LEAST:BOUND], or are the characters of a "
                        "string");
    return false;
  }
  *is_float = token.kind == TOKEN_FLOAT;
  if (token.least && !negative) lex_too_large(r, token.at);
  *integer = negative && !token.least ? -token.integer : token.integer;
  *real = negative ? -token.real : token.real;
  read_token(r);
  return true;
}

/* [low:high], of which the opening bracket was taken. */
static void read_bounds(struct reader *r, struct span opener, struct property_range *range) {
  bool low_float = false, high_float = false;
  if (!take_bound(r, &range->low, &range->least, &low_float)) return;
  expect(r, LEX_COLON, "between the bounds of the values", opener);
  if (!take_bound(r, &range->high, &range->most, &high_float)) return;
  expect(r, LEX_CLOSE_LIST, "to close the `[`", opener);
  range->at = since(r, opener);
  range->kind = low_float ? RANGE_FLOATS : RANGE_INTS;
  const bool empty = low_float ? !(range->least < range->most) : range->low >= range->high;
  if (low_float != high_float) {
    parse_failed(r, range->at, "one bound is an int, the other a float");
  } else if (empty) {
    parse_failed(r, range->at, "there is nothing in this range, which ends before its bound");
  }
}

static void read_range(struct reader *r, struct property_range *range) {
  const struct nesl_token token = r->token;
  range->at = token.at;
  if (take(r, LEX_OPEN_LIST)) {
    read_bounds(r, token.at, range);
  } else if (token.kind == TOKEN_STRING && token.length > 0) {
    range->kind = RANGE_CHARS;
    range->chars = token.text;
    range->char_count = token.length;
    read_token(r);
  } else {
    parse_unexpected(r, "a range [LEAST:BOUND] or a string behind `in`");
  }
}

/* An expression; its span. */
static struct span take_expression(struct reader *r, int strength) {
  const struct span start = r->token.at;
  parse_expression(r, strength);
  return since(r, start);
}

static void read_parameter(struct reader *r, struct property *p) {
  struct span at;
  struct property_parameter parameter = {.name = take_name(r, "the name of a parameter", &at)};
  expect(r, LEX_COLON, "and a type behind the parameter", at);
  const struct span start = r->token.at;
  parse_function_type(r);
  parameter.type = since(r, start);
  if (take(r, LEX_IN)) read_range(r, &parameter.range);
  if (take_word(r, "from")) parameter.generator = take_expression(r, STRENGTH_ELEMENT);
  for (size_t i = 0; i < p->parameters.count; i++) {
    if (p->parameters.items[i].name != parameter.name || r->failed) continue;
    parse_failed(r, at, "the parameter %s stands here twice", parameter.name->text);
  }
  *array_push(r->arena, &p->parameters) = parameter;
}

/* := and a number of at least 1. */
static uint64_t read_count(struct reader *r, struct span at) {
  enum { MOST = 1000000 };
  expect(r, LEX_OPTION, "and a number behind the word", at);
  const struct nesl_token token = r->token;
  if (token.kind != TOKEN_INT || token.integer < 1 || token.integer > MOST) {
    parse_unexpected(r, "a number from 1 to 1000000");
  }
  read_token(r);
  return (uint64_t)token.integer;
}

static void read_clauses(struct reader *r, struct property *p) {
  while (!r->failed) {
    const struct span at = r->token.at;
    if (take_word(r, "cases")) {
      p->cases = read_count(r, at);
    } else if (take_word(r, "size")) {
      p->size = read_count(r, at);
    } else if (take_word(r, "where")) {
      p->condition = take_expression(r, STRENGTH_WHOLE);
    } else {
      return;
    }
  }
}

static void read_property(struct reader *r, struct property *p) {
  read_token(r); /* the word `property` */
  p->name = take_name(r, "the name of the property", &p->name_at);
  const struct span opener = r->token.at;
  expect(r, LEX_OPEN, "and parameters behind the name of the property", p->name_at);
  do read_parameter(r, p);
  while (take(r, LEX_COMMA) && !r->failed);
  expect(r, LEX_CLOSE, "to close the `(`", opener);
  read_clauses(r, p);
  expect(r, LEX_EQUALS, "and the law, an expression of type bool", p->name_at);
  p->law = take_expression(r, STRENGTH_WHOLE);
  if (r->token.kind != TOKEN_END) parse_unexpected(r, "the end of the property");
}

bool property_read(struct arena *arena, struct intern *names, const struct source *source,
                   struct complaints *complaints, struct property *p) {
  struct reader reader;
  *p = (struct property){.source = source};
  reader_init(&reader, arena, names, source);
  reader.complaints = complaints;
  parse_begin(&reader, 0);
  read_token(&reader);
  read_property(&reader, p);
  return !reader.failed;
}
