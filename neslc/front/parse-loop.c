/* parse-loop.c - loop PATTERN = EXPRESSION while CONDITION do STEP.
 *
 * `loop`, `while` and `do` are names of programs, too. So `loop` begins a loop only where it
 * cannot be such a name: tokens of a pattern follow, and `=`. The pattern of a datatype that is
 * called `loop` looks like that; but no `while` follows it.
 */
#include "neslc/front/parse.h"

#include <string.h>

/* ---- whether it is one ---- */

/* The tokens behind `loop`, looked at without an effect on the reader. */
struct ahead {
  struct reader reader;
  struct complaints ignored;
  struct diag_list diags;
};

static struct nesl_token next_ahead(struct ahead *a) {
  read_token(&a->reader);
  return a->reader.token;
}

static void look_ahead(struct ahead *a, const struct reader *r) {
  *a = (struct ahead){.reader = *r, .diags = {.arena = r->arena}};
  a->ignored.diags = &a->diags;
  a->reader.complaints = &a->ignored;
}

/* +1 for an opening bracket, -1 for a closing one. */
static int nesting(const struct nesl_token *t) {
  switch (t->lexeme) {
  case LEX_OPEN:
  case LEX_OPEN_LIST:
  case LEX_OPEN_EACH: return 1;
  case LEX_CLOSE:
  case LEX_CLOSE_LIST:
  case LEX_CLOSE_EACH: return -1;
  default: return 0;
  }
}

/* Names, tuples, fields of records by name, and types behind colons. */
static bool may_be_of_pattern(const struct nesl_token *t) {
  switch (t->lexeme) {
  case LEX_OPEN:
  case LEX_CLOSE:
  case LEX_OPEN_LIST:
  case LEX_CLOSE_LIST:
  case LEX_COMMA:
  case LEX_COLON:
  case LEX_OPTION:
  case LEX_READ: return true;
  default: return token_is_name(t);
  }
}

/* Whether `while` comes before the end of the expression that begins now; bindings of `let` end
 * with `;`, too. At the end of the text it may still come. */
static bool while_follows(struct ahead *a) {
  int depth = 0, lets = 0;
  for (struct nesl_token t = next_ahead(a);; t = next_ahead(a)) {
    if (t.kind == TOKEN_END) return true;
    if (t.kind == TOKEN_INVALID) return false;
    if (depth == 0 && t.kind == TOKEN_WORD && t.name == a->reader.while_word) return true;
    depth += nesting(&t);
    if (depth == 0) lets += (t.lexeme == LEX_LET) - (t.lexeme == LEX_IN);
    if (depth < 0 || lets < 0) return false;
    if (depth == 0 && lets == 0 && lexeme_facts[t.lexeme].left < 0) return false;
  }
}

bool begins_loop(const struct reader *r) {
  if (r->failed || r->token.name != r->loop_word) return false;
  struct ahead a;
  look_ahead(&a, r);
  struct nesl_token t = next_ahead(&a);
  const bool parenthesised = t.lexeme == LEX_OPEN;
  if (!parenthesised && !token_is_name(&t)) return false;
  int depth = 0;
  for (; may_be_of_pattern(&t); t = next_ahead(&a)) {
    depth += nesting(&t);
    if (depth < 0) return false;
  }
  if (t.lexeme != LEX_EQUALS || depth > 0) return false;
  return !parenthesised || while_follows(&a);
}

/* Whether an expression begins now, and the `do` of a loop comes before its end. */
static bool do_follows(struct ahead *a) {
  int depth = 0;
  struct nesl_token t = next_ahead(a);
  if (lexeme_facts[t.lexeme].left != STRENGTH_ARGUMENT) return false;
  for (;; t = next_ahead(a)) {
    if (t.kind == TOKEN_END || t.kind == TOKEN_INVALID) return false;
    if (depth == 0 && t.kind == TOKEN_WORD && t.name == a->reader.do_word) return true;
    depth += nesting(&t);
    if (depth < 0 || lexeme_facts[t.lexeme].left < 0) return false;
  }
}

/* Whether a parenthesis begins now as those behind `for` and `while` in C: it has a semicolon,
 * or a brace follows. */
static bool is_as_in_c(struct ahead *a) {
  if (next_ahead(a).lexeme != LEX_OPEN) return false;
  for (int depth = 1; depth > 0;) {
    const struct nesl_token t = next_ahead(a);
    if (t.kind == TOKEN_END || t.kind == TOKEN_INVALID) return false;
    if (t.lexeme == LEX_END) return true;
    depth += nesting(&t);
  }
  return next_ahead(a).lexeme == LEX_OPEN_EACH;
}

/* Whether a token ends an operand: what follows is its argument. */
static bool ends_operand(const struct nesl_token *t) {
  return (t->kind >= TOKEN_INT && t->kind <= TOKEN_STRING) || token_is_name(t) ||
         nesting(t) < 0;
}

bool refuse_foreign_loop(struct reader *r) {
  const char *word = r->token.name->text;
  if (strcmp(word, "while") != 0 && strcmp(word, "for") != 0) return false;
  if (r->failed || r->stop || ends_operand(&r->before)) return false;
  struct ahead a, again;
  look_ahead(&a, r);
  look_ahead(&again, r);
  if (!do_follows(&a) && !is_as_in_c(&again)) return false;
  parse_failed(r, r->token.at, "`%s` begins no loop: " NESL_LOOPS, word);
  return true;
}

/* ---- reading it ---- */

/* An expression that ends with a word. */
static struct syntax *parse_until(struct reader *r, const struct name *word, const char *why) {
  const struct name *outside = r->stop;
  r->stop = word;
  struct syntax *e = parse_expression(r, STRENGTH_WHOLE);
  if (at_stop(r)) {
    read_token(r);
  } else {
    parse_puzzled(r, arena_printf(r->arena, "`%s` %s", word->text, why));
  }
  r->stop = outside;
  return e;
}

struct syntax *parse_loop(struct reader *r) {
  const struct span opener = r->token.at;
  struct syntax *e = make_syntax(r, SYNTAX_LOOP, opener);
  read_token(r);
  e->as.part.left = parse_typed(r, parse_expression(r, STRENGTH_WHOLE));
  expect(r, LEX_EQUALS, "behind the pattern of the `loop`", opener);
  e->as.part.right = parse_until(r, r->while_word, "behind what the `loop` begins with");
  e->as.part.third = parse_until(r, r->do_word, "behind the condition of the `loop`");
  e->as.part.fourth = parse_expression(r, STRENGTH_WHOLE);
  raise_above(r, e, e->as.part.left);
  raise_above(r, e, e->as.part.right);
  raise_above(r, e, e->as.part.third);
  raise_above(r, e, e->as.part.fourth);
  e->at = since(r, opener);
  return e;
}
