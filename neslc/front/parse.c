/* parse.c - the core of the parser: look-ahead, complaints, and operators by strength.
 *
 * A precedence parser after Pratt (Top down operator precedence, POPL 1973), as section 3.3 of
 * the NESL specification describes it: parse_expression(r, n) reads an operand and then lets
 * the tokens behind it extend it for as long as they are stronger than n. What can begin an
 * operand is a token of strength 30 there: the argument of an application.
 */
#include "neslc/front/habits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- complaints ---- */

/* Remembers an argument that begins a line, directly below its function: most often it is the
 * beginning of another form. */
static void remember_suspect(struct reader *r) {
  uint32_t start = r->token.at.start;
  bool line_start = start > 0 && r->source->text[start - 1] == '\n';
  bool inside = r->before.kind != TOKEN_END; /* not the first of the form */
  if (line_start && inside && r->suspect.end == 0 && r->token.kind != TOKEN_END &&
      lexeme_facts[r->token.lexeme].left == STRENGTH_ARGUMENT) {
    r->suspect = r->before.at;
  }
}

void parse_begin(struct reader *r, uint32_t start) {
  if (start < r->counted || r->line == 0) { /* the first, or the caller went back */
    r->line_start = r->counted = 0;
    r->line = r->source->first_line;
  }
  const char *text = r->source->text, *newline;
  while ((newline = memchr(text + r->counted, '\n', start - r->counted)) != NULL) {
    r->line_start = r->counted = (uint32_t)(newline - text) + 1;
    r->line++;
  }
  r->counted = start;
}

/* The source from the form's first line on, so that errors in many forms are located quickly;
 * the span becomes one within that text. */
static struct source view_span(const struct reader *r, struct span *at) {
  struct source rest = *r->source;
  rest.text += r->line_start;
  rest.length -= r->line_start;
  rest.first_line = r->line;
  rest.marks = NULL;
  at->start -= r->line_start;
  at->end -= r->line_start;
  return rest;
}

uint32_t parse_line(const struct reader *r, uint32_t offset) {
  struct span at = {offset, offset};
  struct source rest = view_span(r, &at);
  return source_position(&rest, at.start).line;
}

void parse_remark(struct reader *r, struct span at, const char *message) {
  struct source rest = view_span(r, &at);
  remark(r->complaints, &rest, at, "%s", message);
}

/* Whether the token is a word of other languages; then a remark says what is written instead.
 */
static bool remark_on_word(struct reader *r, const struct nesl_token *token, bool begins) {
  if (!token_is_name(token)) return false;
  const char *word = token->name->text, *habit = habit_of_word(word, begins);
  if (!habit || (r->defines && r->defines(r->context, token->name))) return false;
  parse_remark(r, token->at,
               arena_printf(r->arena, "`%s` has no meaning here; %s", word, habit));
  return true;
}

/* The first such word of the form, up to this token: those before it have been read without an
 * error. None at the error itself. */
static void remark_on_words(struct reader *r, const struct nesl_token *last, uint32_t error) {
  struct reader again = *r;
  const uint32_t end = r->before.at.end;
  again.failed = false;
  again.token = (struct nesl_token){.kind = TOKEN_END, .at = {r->at, r->at}};
  while (again.token.at.end < end && !again.failed) {
    read_token(&again);
    if (again.token.at.start == error) return;
    if (remark_on_word(r, &again.token, again.before.kind == TOKEN_END)) return;
  }
  if (last->at.start != error) (void)remark_on_word(r, last, r->before.kind == TOKEN_END);
}

/* A warning about a form that may be meant otherwise. */
static void __attribute__((format(printf, 3, 4)))
parse_warn(struct reader *r, struct span at, const char *format, ...) {
  va_list args;
  char message[256];
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  struct source rest = view_span(r, &at);
  warn(r->complaints, &rest, at, "%s", message);
}

static void fail_at(struct reader *r, enum nesl_error kind, struct span at, const char *format,
                    va_list args) {
  if (r->failed) return;
  r->failed = true;
  const uint32_t error = at.start;
  char message[1024]; /* long enough: names in messages are cut to 32 bytes */
  vsnprintf(message, sizeof message, format, args);
  struct source rest = view_span(r, &at);
  complain(r->complaints, kind, &rest, at, "%s", message);
  if (r->suspect.end != 0) parse_remark(r, r->suspect, "is a `;` missing behind this?");
  remark_on_words(r, &r->token, error);
  r->token.kind = TOKEN_INVALID;
  r->token.lexeme = LEX_NONE;
}

void parse_failed(struct reader *r, struct span at, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail_at(r, NESL_PARSE, at, format, args);
  va_end(args);
}

void parse_failed_as(struct reader *r, enum nesl_error kind, struct span at, const char *format,
                     ...) {
  va_list args;
  va_start(args, format);
  fail_at(r, kind, at, format, args);
  va_end(args);
}

/* A probable cause of an unexpected token; "" or "; ...". */
static const char *hint(const struct reader *r) {
  const struct nesl_token *token = &r->token, *before = &r->before;
  bool joined = token->at.start == before->at.end;
  const struct lexeme_facts *facts = &lexeme_facts[token->lexeme];
  const char *habit = habit_of_tokens(before->lexeme, token->lexeme);
  const bool spaced = before->lexeme == LEX_COMMA || token->lexeme == LEX_END;
  if (habit && (joined || spaced)) return arena_printf(r->arena, "; %s", habit);
  switch (token->lexeme) {
  case LEX_EQUALS:
    return r->options == OPTIONS_HERE ? "; `==` compares, `:=` gives an optional argument"
                                      : "; `==` compares, `=` gives a name to a value";
  case LEX_IN: return "; `in` stands in `let` and in generators: " NESL_LOOPS;
  case LEX_OPTION:
    return "; `:=` stands only in parameters and arguments of functions, and for fields of "
           "records";
  case LEX_BAR:
    return "; a sieve stands at the end of { ... | condition }, and the disjunction is `or`";
  case LEX_SUCH_THAT: return "; `::` stands behind the type of a definition";
  default: break;
  }
  bool as_value = before->lexeme == LEX_OPEN || before->lexeme == LEX_COMMA ||
                  before->lexeme == LEX_EQUALS || before->kind == TOKEN_END;
  if (facts->right > STRENGTH_ELEMENT + 1 && as_value) {
    return arena_printf(r->arena, "; an operator is no value: write (x, y) => x %s y",
                        facts->text);
  }
  return "";
}

static void complain_unexpected(struct reader *r, const char *expected, const char *also) {
  if (r->token.kind == TOKEN_END) r->more = true;
  remember_suspect(r);
  parse_failed(r, r->token.at, "expected %s, read %s%s", expected, token_text(r, &r->token),
               also);
}

void parse_unexpected(struct reader *r, const char *expected) {
  if (!r->failed) complain_unexpected(r, expected, "");
}

void parse_puzzled(struct reader *r, const char *expected) {
  if (r->failed) return;
  const char *meant = lexeme_facts[r->token.lexeme].hint;
  if (meant == NULL) {
    complain_unexpected(r, expected, hint(r));
  } else {
    remember_suspect(r);
    parse_failed(r, r->token.at, "%s has no meaning in an expression; %s",
                 token_text(r, &r->token), meant);
  }
}

bool take(struct reader *r, enum lexeme lexeme) {
  if (r->token.lexeme != lexeme) return false;
  read_token(r);
  return true;
}

bool expect(struct reader *r, enum lexeme lexeme, const char *why, struct span opener) {
  if (take(r, lexeme)) return true;
  if (r->failed) return false;
  uint32_t line = parse_line(r, opener.start);
  bool near = line == parse_line(r, r->token.at.start);
  char where[32] = "";
  if (!near) snprintf(where, sizeof where, " at line %u", line);
  parse_puzzled(r, arena_printf(r->arena, "`%s` %s%s", lexeme_facts[lexeme].text, why, where));
  return false;
}

struct span since(const struct reader *r, struct span start) {
  return span_over(start, r->before.at);
}

bool nest(struct reader *r) {
  if (r->depth++ < NESL_MOST_NESTING) return true;
  parse_failed(r, r->token.at, "this is nested more than %d deep", NESL_MOST_NESTING);
  return false;
}

void unnest(struct reader *r) {
  r->depth--;
}

/* ---- operators ---- */

static int left_strength(const struct reader *r) {
  const struct nesl_token *token = &r->token;
  if (token->kind == TOKEN_INVALID || token->kind == TOKEN_END) return -1;
  if (at_stop(r)) return 0;
  return lexeme_facts[token->lexeme].left;
}

/* Whether `not x < y` begins, whose `not` is applied first: parentheses say what is meant. */
static bool is_doubtful(const struct syntax *left, const struct lexeme_facts *facts) {
  return facts->left == lexeme_facts[LEX_LESS].left && is_negation(left) &&
         !left->parenthesised && !left->as.part.right->parenthesised;
}

/* left OP right. */
static struct syntax *extend_infix(struct reader *r, struct syntax *left) {
  const struct lexeme_facts *facts = &lexeme_facts[r->token.lexeme];
  struct span mark = r->token.at;
  read_token(r);
  struct syntax *right = parse_expression(r, facts->right);
  if (!r->failed && is_doubtful(left, facts)) {
    parse_warn(r, span_over(left->at, syntax_whole(right)),
               "`not` is applied before `%s`: write not (x %s y) to negate the comparison, and "
               "(not x) %s y where this is meant",
               facts->text, facts->text, facts->text);
  }
  struct syntax *function = make_builtin(r, facts->text, facts->text, mark);
  struct syntax *e = make_apply(r, function, make_pair(r, left, right));
  e->at = span_over(syntax_whole(left), syntax_whole(right));
  e->mark = mark;
  return e;
}

static struct syntax *extend_tuple(struct reader *r, struct syntax *left) {
  read_token(r);
  return make_pair(r, left, parse_expression(r, lexeme_facts[LEX_COMMA].right));
}

/* Lambdas and optional arguments. */
static struct syntax *extend_binding(struct reader *r, struct syntax *left) {
  bool lambda = r->token.lexeme == LEX_LAMBDA;
  uint8_t options = r->options;
  struct span mark = r->token.at;
  if (!lambda && options != OPTIONS_HERE) {
    parse_puzzled(r, "the end of the expression");
  } else if (!lambda && (left->kind != SYNTAX_NAME || left->parenthesised)) {
    parse_failed(r, left->at, "expected the name of an optional argument before `:=`");
  }
  r->options = OPTIONS_NONE;
  read_token(r);
  struct syntax *e = make_syntax(r, lambda ? SYNTAX_LAMBDA : SYNTAX_OPTION, left->at);
  e->as.part.left = left;
  e->as.part.right = parse_expression(r, lexeme_facts[lambda ? LEX_LAMBDA : LEX_OPTION].right);
  r->options = options;
  raise_above(r, e, left);
  raise_above(r, e, e->as.part.right);
  e->at = span_over(syntax_whole(left), syntax_whole(e->as.part.right));
  e->mark = mark;
  return e;
}

/* Whether an end or a stride follows. */
static bool begins_bound(const struct reader *r) {
  return r->token.lexeme == LEX_COLON || r->token.lexeme == LEX_SUCH_THAT;
}

/* left[start:end:stride], behind the start, which is NULL if it was left out: then 0; the end
 * is the length. */
static struct syntax *parse_slice(struct reader *r, struct syntax *left, struct syntax *start,
                                  struct span opener) {
  static const char *const functions[2][2] = {{"_slice_from", "_slice_from_by"},
                                              {"_slice", "_slice_by"}};
  if (start == NULL) start = make_syntax(r, SYNTAX_INT, r->token.at);
  bool strided = take(r, LEX_SUCH_THAT); /* two colons */
  if (!strided) read_token(r);
  struct syntax *end = NULL, *stride = NULL;
  if (!strided && r->token.lexeme != LEX_COLON && r->token.lexeme != LEX_CLOSE_LIST)
    end = parse_expression(r, STRENGTH_ELEMENT);
  if (strided || take(r, LEX_COLON)) stride = parse_expression(r, STRENGTH_ELEMENT);
  expect(r, LEX_CLOSE_LIST, "to close the slice that began with `[`", opener);
  struct syntax *rest = end;
  if (stride != NULL) rest = end != NULL ? make_pair(r, stride, end) : stride;
  struct syntax *bounds = rest != NULL ? make_pair(r, start, rest) : start;
  struct syntax *function =
      make_builtin(r, functions[end != NULL][stride != NULL], "[::]", since(r, opener));
  return make_apply(r, function, make_pair(r, left, bounds));
}

/* left[index], or a slice. */
static struct syntax *extend_index(struct reader *r, struct syntax *left) {
  const struct surroundings around = enter_brackets(r);
  struct span opener = r->token.at;
  read_token(r);
  if (r->token.lexeme == LEX_CLOSE_LIST) {
    parse_failed(r, span_over(opener, r->token.at),
                 "an index is missing: `[` directly behind an expression is indexing");
  }
  struct syntax *index = begins_bound(r) ? NULL : parse_expression(r, STRENGTH_WHOLE);
  struct syntax *e;
  if (begins_bound(r)) {
    e = parse_slice(r, left, index, opener);
  } else {
    expect(r, LEX_CLOSE_LIST, "to close the `[`", opener);
    struct syntax *function = make_builtin(r, "elt", "[]", since(r, opener));
    e = make_apply(r, function, make_pair(r, left, index));
  }
  leave_brackets(r, around);
  struct span bracket = since(r, opener);
  e->at = span_over(syntax_whole(left), bracket);
  e->mark = bracket;
  return e;
}

/* left.name */
static struct syntax *extend_field(struct reader *r, struct syntax *left) {
  read_token(r);
  if (!token_is_name(&r->token)) parse_unexpected(r, "the name of a field behind `.`");
  struct syntax *e = make_syntax(r, SYNTAX_FIELD, r->token.at);
  e->as.field.record = left;
  e->as.field.name = r->token.name;
  e->at = span_over(syntax_whole(left), r->token.at);
  raise_above(r, e, left);
  read_token(r);
  return e;
}

/* arguments(), which has none: a function always takes one. Goes back if it is not that. */
static struct syntax *parse_arguments(struct reader *r, struct syntax *left) {
  const struct nesl_token open = r->token, before = r->before;
  const bool named = left->kind == SYNTAX_NAME && !left->builtin && !left->parenthesised &&
                     strcmp(left->as.name.name->text, "arguments") == 0;
  if (!named || open.lexeme != LEX_OPEN) return NULL;
  read_token(r);
  if (r->token.lexeme == LEX_CLOSE) {
    struct syntax *none = make_builtin(r, "t", "", open.at);
    read_token(r);
    none->at = since(r, open.at);
    return make_apply(r, left, none);
  }
  if (!r->failed) {
    r->token = open;
    r->before = before;
  }
  return NULL;
}

/* f(x), f x: any operand directly behind a complete one. */
static struct syntax *extend_application(struct reader *r, struct syntax *left) {
  struct syntax *arguments = parse_arguments(r, left);
  if (arguments) return arguments;
  remember_suspect(r);
  uint8_t options = r->options;
  r->options = r->token.lexeme == LEX_OPEN ? OPTIONS_IN_PARENTHESES : OPTIONS_NONE;
  struct syntax *argument = parse_expression(r, STRENGTH_ARGUMENT);
  r->options = options;
  return make_apply(r, left, argument);
}

static struct syntax *extend(struct reader *r, struct syntax *left) {
  switch (r->token.lexeme) {
  case LEX_COMMA: return extend_tuple(r, left);
  case LEX_LAMBDA:
  case LEX_OPTION: return extend_binding(r, left);
  case LEX_OPEN_LIST: return extend_index(r, left);
  case LEX_DOT: return extend_field(r, left);
  default:
    if (lexeme_facts[r->token.lexeme].right != 0) return extend_infix(r, left);
    return extend_application(r, left);
  }
}

struct syntax *parse_expression(struct reader *r, int strength) {
  nest(r);
  struct syntax *e = parse_operand(r);
  while (left_strength(r) > strength) e = extend(r, e);
  unnest(r);
  return e;
}

struct syntax *parse_parameters(struct reader *r) {
  r->options = r->token.lexeme == LEX_OPEN ? OPTIONS_IN_PARENTHESES : OPTIONS_NONE;
  struct syntax *parameters = parse_expression(r, STRENGTH_ARGUMENT);
  r->options = OPTIONS_NONE;
  return parameters;
}
