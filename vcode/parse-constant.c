/* parse-constant.c - parses numbers and constants (vcode.md, section 11) of any length. */
#include "base/number.h"
#include "vcode/parser.h"

#include <math.h>
#include <string.h>

/* Parses an integer. "SUBJECT WHAT" describes what is expected, and is formatted only for an
 * error: most programs have none, and millions of instructions. */
static bool parser_integer(struct parser *p, const char *subject, const char *what,
                           int64_t *out) {
  if (p->token.kind != TOKEN_INTEGER) {
    return parser_expected(p, arena_printf(p->arena, "%s %s", subject, what));
  }
  if (!parse_int(p->token.text, p->token.length, p->least, p->most, out)) {
    parser_report(p, p->token.pos,
                  arena_printf(p->arena, "the integer %s does not fit an INT of %d bits",
                               parser_found(p), p->most == INT32_MAX ? 32 : 64));
    return false;
  }
  parser_next(p);
  return true;
}

/* Parses a non-negative integer. */
bool parser_count(struct parser *p, const char *subject, const char *what, int64_t *out) {
  struct source_pos pos = p->token.pos;
  if (!parser_integer(p, subject, what, out)) return false;
  if (*out >= 0) return true;
  parser_report(p, pos,
                arena_printf(p->arena, "%s %s, found %lld", subject, what, (long long)*out));
  return false;
}

static bool segment_length(struct parser *p, struct elements *e) {
  struct source_pos pos = p->token.pos;
  int64_t n;
  if (!parser_integer(p, "a segment length", "must be an integer", &n)) return false;
  if (n < 0) {
    parser_report(p, pos,
                  arena_printf(p->arena, "a segment length may not be negative, found %lld",
                               (long long)n));
    return false;
  }
  if (n > INT64_MAX - e->total) {
    parser_report(p, pos, "the segment lengths add up to more than 2^63-1");
    return false;
  }
  e->total += n;
  *array_push(p->arena, &e->ints) = n;
  return true;
}

bool vcode_read_real(const char *text, size_t n, double *out) {
  static const char nan_word[] = "nan";
  if (n == strlen(nan_word) && memcmp(text, nan_word, n) == 0) {
    *out = (double)NAN;
    return true;
  }
  if (n == 0 || lexer_classify(text, n) != TOKEN_REAL) return false;
  *out = parse_real(text, n);
  return true;
}

static bool real(struct parser *p, struct elements *e) {
  const bool number = p->token.kind == TOKEN_REAL || p->token.kind == TOKEN_WORD;
  double x;
  if (!number || !vcode_read_real(p->token.text, p->token.length, &x)) {
    return parser_expected(p,
                           "an element of CONST FLOAT must be a real number like 1.0, or nan");
  }
  *array_push(p->arena, &e->floats) = x;
  parser_next(p);
  return true;
}

static bool parse_constant_element(struct parser *p, enum type_word type, struct elements *e) {
  int64_t n;
  switch (type) {
  case TW_INT:
    if (!parser_integer(p, "an element of CONST INT", "must be an integer", &n)) return false;
    *array_push(p->arena, &e->ints) = n;
    return true;
  case TW_SEGDES: return segment_length(p, e);
  case TW_FLOAT: return real(p, e);
  case TW_BOOL:
    if (p->word == NULL || (p->word->number != R_T && p->word->number != R_F)) {
      return parser_expected(p, "an element of CONST BOOL must be T or F");
    }
    *array_push(p->arena, &e->bools) = p->word->number == R_T;
    parser_next(p);
    return true;
  case TW_CHAR:
  case TW_NONE: break;
  }
  return parser_expected(p, "CONST CHAR must be followed by a string in double quotes");
}

/* Copies the items into exactly `size` bytes of the arena. */
static const void *exact_copy(struct parser *p, const void *items, size_t size) {
  void *copy = arena_alloc(p->arena, size);
  return size == 0 ? copy : memcpy(copy, items, size);
}

static void store_elements(struct parser *p, struct vcode_constant *c,
                           const struct elements *e) {
  switch (c->type) {
  case TW_FLOAT:
    c->length = e->floats.count;
    c->as.floats = exact_copy(p, e->floats.items, e->floats.count * sizeof *e->floats.items);
    break;
  case TW_BOOL:
    c->length = e->bools.count;
    c->as.bools = exact_copy(p, e->bools.items, e->bools.count);
    break;
  case TW_INT:
  case TW_SEGDES:
  case TW_CHAR:
  case TW_NONE:
    c->length = e->ints.count;
    c->as.ints = exact_copy(p, e->ints.items, e->ints.count * sizeof *e->ints.items);
    break;
  }
}

static bool vector_constant(struct parser *p, struct vcode_constant *c, struct elements *e) {
  struct source_pos pos = p->token.pos;
  c->vector = true;
  parser_next(p);
  while (p->token.kind != TOKEN_CLOSE) {
    if (p->token.kind == TOKEN_END) {
      parser_report(p, pos, "the constant that starts here is never closed: ) is missing");
      return false;
    }
    if (!parse_constant_element(p, c->type, e)) return false;
  }
  parser_next(p);
  return true;
}

bool parser_constant(struct parser *p, struct vcode_instruction *out) {
  if (p->word == NULL || p->word->number < R_INT || p->word->number > R_CHAR) {
    return parser_expected_type(p,
                                "CONST must be followed by INT, FLOAT, BOOL, SEGDES or CHAR");
  }
  struct vcode_constant *c = arena_alloc(p->arena, sizeof *c);
  struct elements *e = &p->elements;
  e->ints.count = e->floats.count = e->bools.count = 0;
  e->total = 0;
  c->type = (enum type_word)(p->word->number - R_INT);
  out->type = (uint8_t)c->type;
  out->as.constant = c;
  parser_next(p);
  if (c->type == TW_CHAR && p->token.kind == TOKEN_STRING) {
    c->as.chars = arena_copy(p->arena, p->token.text, p->token.length);
    c->length = p->token.length;
    parser_next(p);
    return true;
  }
  if (p->token.kind == TOKEN_STRING) {
    return parser_expected(p, "only CONST CHAR takes a string");
  }
  if (c->type == TW_INT && p->word != NULL && p->word->number >= R_STDIN &&
      p->word->number <= R_NULL_STREAM) {
    static const int64_t streams[] = {0, 1, 2, -1};
    *array_push(p->arena, &e->ints) = streams[p->word->number - R_STDIN];
    c->stream_name = true;
    parser_next(p);
  } else if (p->token.kind == TOKEN_OPEN && c->type != TW_CHAR) {
    if (!vector_constant(p, c, e)) return false;
  } else if (!parse_constant_element(p, c->type, e)) {
    return false;
  }
  store_elements(p, c, e);
  return true;
}
