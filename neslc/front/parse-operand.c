/* parse-operand.c - operands: literals, names, brackets, if, let, apply-to-each; and the
 * construction of trees. (NESL specification, 3.1, 3.3.) */
#include "neslc/front/parse.h"

#include <string.h>

/* ---- trees ---- */

struct syntax *make_syntax(struct reader *r, enum syntax_kind kind, struct span at) {
  struct syntax *e = arena_alloc(r->arena, sizeof *e);
  e->kind = (uint8_t)kind;
  e->at = e->mark = at;
  e->height = 1;
  return e;
}

void raise_above(struct reader *r, struct syntax *e, const struct syntax *child) {
  if (e->height > child->height) return;
  e->height = child->height;
  if (e->height < NESL_MOST_NESTING) {
    e->height++;
  } else {
    parse_failed(r, r->before.at, "this expression is nested more than %d deep",
                 NESL_MOST_NESTING);
  }
}

static struct syntax *parse_operand_make_node(struct reader *r, enum syntax_kind kind,
                                              struct syntax *left, struct syntax *right) {
  struct syntax *e = make_syntax(r, kind, span_over(syntax_whole(left), syntax_whole(right)));
  e->as.part.left = left;
  e->as.part.right = right;
  raise_above(r, e, left);
  raise_above(r, e, right);
  return e;
}

struct syntax *make_pair(struct reader *r, struct syntax *left, struct syntax *right) {
  return parse_operand_make_node(r, SYNTAX_PAIR, left, right);
}

struct syntax *make_apply(struct reader *r, struct syntax *function, struct syntax *argument) {
  return parse_operand_make_node(r, SYNTAX_APPLY, function, argument);
}

struct syntax *make_builtin(struct reader *r, const char *name, const char *written,
                            struct span at) {
  struct syntax *e = make_syntax(r, SYNTAX_NAME, at);
  e->builtin = true;
  e->as.name.name = intern_name(r->names, name, strlen(name));
  e->as.name.written = written;
  return e;
}

/* ---- literals and names ---- */

static struct syntax *parse_atom(struct reader *r, enum syntax_kind kind) {
  struct syntax *e = make_syntax(r, kind, r->token.at);
  const struct nesl_token *token = &r->token;
  if (kind == SYNTAX_INT) e->as.integer = token->integer;
  if (token->least) lex_too_large(r, token->at);
  if (kind == SYNTAX_FLOAT) e->as.real = token->real;
  if (kind == SYNTAX_CHAR) e->as.character = (uint8_t)token->text[0];
  if (kind == SYNTAX_STRING) {
    e->as.string.text = token->text;
    e->as.string.length = token->length;
    e->as.string.wrong = token->wrong;
    e->escaped = token->escaped;
  }
  if (kind == SYNTAX_NAME) {
    e->as.name.name = token->name;
    e->as.name.written = token->name->text;
  }
  read_token(r);
  return e;
}

/* The least int, behind `-`: a literal, since without the sign it is too large. */
static struct syntax *parse_least(struct reader *r, struct span mark) {
  const struct span digits = r->token.at;
  r->token.least = false;
  struct syntax *e = parse_expression(r, STRENGTH_PREFIX);
  if (e->kind != SYNTAX_INT) lex_too_large(r, digits);
  e->at = span_over(mark, e->at);
  return e;
}

/* #e, @e, -e. */
static struct syntax *parse_prefix(struct reader *r) {
  const struct lexeme_facts *facts = &lexeme_facts[r->token.lexeme];
  const bool minus = r->token.lexeme == LEX_MINUS;
  struct span mark = r->token.at;
  read_token(r);
  if (minus && r->token.least) return parse_least(r, mark);
  struct syntax *operand = parse_expression(r, STRENGTH_PREFIX);
  struct syntax *e = make_apply(r, make_builtin(r, facts->prefix, facts->text, mark), operand);
  e->mark = mark;
  return e;
}

/* ---- not ---- */

bool is_not(const struct syntax *e) {
  return e->kind == SYNTAX_NAME && !e->builtin && strcmp(e->as.name.name->text, "not") == 0;
}

bool is_negation(const struct syntax *e) {
  return e->kind == SYNTAX_APPLY && is_not(e->as.part.left) && !e->as.part.left->parenthesised;
}

/* not e, read as -e is; `not` alone is the function. */
static struct syntax *parse_not(struct reader *r) {
  struct syntax *function = parse_atom(r, SYNTAX_NAME);
  if (at_stop(r) || !(begins_expression(&r->token) || r->token.lexeme == LEX_MINUS))
    return function;
  const uint8_t options = r->options;
  r->options = r->token.lexeme == LEX_OPEN ? OPTIONS_IN_PARENTHESES : OPTIONS_NONE;
  struct syntax *operand = parse_expression(r, STRENGTH_PREFIX);
  r->options = options;
  return make_apply(r, function, operand);
}

/* ---- brackets ---- */

/* name := value : type, whose type is the value's. */
static struct syntax *parse_typed_option(struct reader *r, struct syntax *option) {
  option->as.part.right = parse_typed(r, option->as.part.right);
  raise_above(r, option, option->as.part.right);
  option->at = since(r, option->at);
  return option;
}

struct syntax *parse_typed(struct reader *r, struct syntax *inner) {
  if (inner->kind == SYNTAX_OPTION && !inner->parenthesised)
    return parse_typed_option(r, inner);
  const bool tuple = inner->kind == SYNTAX_PAIR && !inner->parenthesised;
  const struct span colon = r->token.at;
  if (tuple || !take(r, LEX_COLON)) return inner;
  struct syntax *e = make_syntax(r, SYNTAX_TYPED, syntax_whole(inner));
  e->as.typed.inner = inner;
  e->as.typed.type = parse_function_type(r);
  raise_above(r, e, inner);
  e->at = since(r, e->at);
  e->mark = colon;
  return e;
}

/* Parses the contents of parentheses: an expression, or a tuple, whose components may have
 * types. */
static struct syntax *parse_contents(struct reader *r) {
  ARRAY(struct syntax *) items = {0};
  do {
    *array_push(r->arena, &items) = parse_typed(r, parse_expression(r, STRENGTH_ELEMENT));
  } while (take(r, LEX_COMMA));
  struct syntax *e = items.items[items.count - 1];
  for (size_t i = items.count - 1; i-- > 0;) e = make_pair(r, items.items[i], e);
  return e;
}

static struct syntax *parse_parenthesised(struct reader *r) {
  struct span opener = r->token.at;
  const struct surroundings around = enter_brackets(r);
  if (around.options == OPTIONS_IN_PARENTHESES) r->options = OPTIONS_HERE;
  read_token(r);
  if (r->token.lexeme == LEX_CLOSE) {
    parse_failed(
        r, span_over(opener, r->token.at),
        "expected an expression within `()`: every function takes exactly one argument");
  }
  struct syntax *e = parse_contents(r);
  expect(r, LEX_CLOSE, "to close the `(`", opener);
  leave_brackets(r, around);
  e->parenthesised = true;
  e->around = since(r, opener);
  return e;
}

/* [] type */
static struct syntax *parse_empty(struct reader *r, struct span opener) {
  read_token(r);
  struct syntax *e = make_syntax(r, SYNTAX_EMPTY, opener);
  bool type = token_is_name(&r->token) || r->token.lexeme == LEX_OPEN ||
              r->token.lexeme == LEX_OPEN_LIST;
  if (!type) parse_unexpected(r, "the type of the elements behind `[]`, as in [] int");
  e->as.type = parse_element_type(r);
  e->at = since(r, opener);
  return e;
}

/* [start : end : stride], read up to the first colon. */
static struct syntax *parse_range(struct reader *r, struct span opener, struct syntax *start) {
  struct span colon = r->token.at;
  read_token(r);
  struct syntax *end = parse_expression(r, STRENGTH_WHOLE), *stride;
  if (take(r, LEX_COLON)) {
    stride = parse_expression(r, STRENGTH_WHOLE);
  } else {
    stride = make_syntax(r, SYNTAX_INT, colon);
    stride->as.integer = 1;
  }
  expect(r, LEX_CLOSE_LIST, "to close the range that began with `[`", opener);
  struct syntax *e = make_apply(r, make_builtin(r, "iseq", "[:]", since(r, opener)),
                                make_pair(r, start, make_pair(r, stride, end)));
  e->at = e->mark = since(r, opener);
  return e;
}

static struct syntax *parse_list_operand(struct reader *r) {
  struct span opener = r->token.at;
  read_token(r);
  if (r->token.lexeme == LEX_CLOSE_LIST) return parse_empty(r, opener);
  struct syntax *e = make_syntax(r, SYNTAX_LIST, opener);
  ARRAY(struct syntax *) items = {0};
  do {
    struct syntax *item = parse_expression(r, STRENGTH_ELEMENT);
    if (items.count == 0 && r->token.lexeme == LEX_COLON) return parse_range(r, opener, item);
    *array_push(r->arena, &items) = item;
    raise_above(r, e, item);
  } while (take(r, LEX_COMMA));
  expect(r, LEX_CLOSE_LIST, "to close the `[`", opener);
  e->as.list.items = items.items;
  e->as.list.count = items.count;
  e->at = e->mark = since(r, opener);
  return e;
}

/* ---- if and let ---- */

static struct syntax *parse_if(struct reader *r) {
  struct span opener = r->token.at;
  struct syntax *e = make_syntax(r, SYNTAX_IF, opener);
  read_token(r);
  e->as.part.third = parse_expression(r, STRENGTH_WHOLE);
  const bool other = r->token.lexeme == LEX_ELSE; /* a if c else b */
  expect(r, LEX_THEN, "after the condition of the `if`", opener);
  if (other) parse_remark(r, opener, "a choice is written if c then a else b");
  e->as.part.left = parse_expression(r, STRENGTH_WHOLE);
  expect(r, LEX_ELSE, "after the first branch of the `if`", opener);
  e->as.part.right = parse_expression(r, STRENGTH_WHOLE);
  raise_above(r, e, e->as.part.third);
  raise_above(r, e, e->as.part.left);
  raise_above(r, e, e->as.part.right);
  e->at = since(r, opener);
  return e;
}

static struct syntax *parse_let(struct reader *r) {
  struct span opener = r->token.at;
  ARRAY(struct syntax *) bindings = {0};
  read_token(r);
  do {
    if (bindings.count > 0 && r->token.lexeme == LEX_IN) break;
    if (bindings.count > 0 && r->token.kind == TOKEN_END)
      parse_unexpected(
          r, "another binding, or `in` and an expression, behind this `;` of a `let`");
    struct syntax *binding = make_syntax(r, SYNTAX_LET, r->token.at);
    binding->as.part.left = parse_typed(r, parse_expression(r, STRENGTH_WHOLE));
    binding->mark = r->token.at;
    expect(r, LEX_EQUALS, "behind what the `let` binds", opener);
    binding->as.part.right = parse_expression(r, STRENGTH_WHOLE);
    *array_push(r->arena, &bindings) = binding;
  } while (take(r, LEX_END));
  if (r->token.lexeme == LEX_EQUALS && !r->failed) {
    parse_failed(r, r->token.at,
                 "expected `;` or `in` after the binding, read `=`; bindings are separated by "
                 "`;`, and `==` compares");
  }
  expect(r, LEX_IN, "after the bindings of the `let`", opener);
  struct syntax *e = parse_expression(r, STRENGTH_WHOLE);
  for (size_t i = bindings.count; i-- > 0;) {
    struct syntax *let = bindings.items[i];
    let->as.part.third = e;
    let->at = since(r, i == 0 ? opener : let->at);
    raise_above(r, let, let->as.part.left);
    raise_above(r, let, let->as.part.right);
    raise_above(r, let, e);
    e = let;
  }
  return e;
}

/* ---- apply-to-each ---- */

/* pattern in source, or a lone variable. `first`: read already, or NULL. */
static struct syntax_generator parse_generator(struct reader *r, struct syntax *first,
                                               struct span opener) {
  struct syntax *pattern = first != NULL ? first : parse_expression(r, STRENGTH_WHOLE);
  if (take(r, LEX_IN)) {
    return (struct syntax_generator){pattern, parse_expression(r, STRENGTH_WHOLE)};
  }
  if (first != NULL && pattern->kind != SYNTAX_NAME && pattern->kind != SYNTAX_PAIR) {
    parse_unexpected(r, "`:` and a generator behind the body, as in {x + 1 : x in v}");
  }
  if (pattern->kind != SYNTAX_NAME && !r->failed) {
    bool near = parse_line(r, opener.start) == parse_line(r, r->token.at.start);
    parse_unexpected(r, "`in` behind the pattern of this generator");
    if (!near) parse_remark(r, opener, "this `{` is still open");
    if (first != NULL && pattern->kind == SYNTAX_PAIR)
      parse_remark(r, opener, "a list is written [a, b, c]");
  }
  return (struct syntax_generator){pattern, pattern};
}

static struct syntax *parse_each(struct reader *r) {
  struct span opener = r->token.at;
  struct syntax *e = make_syntax(r, SYNTAX_EACH, opener);
  read_token(r);
  e->serial = take(r, LEX_TIMES);
  if (r->token.lexeme == LEX_CLOSE_EACH) {
    parse_failed(r, span_over(opener, r->token.at),
                 "expected a body and generators within `{}`, "
                 "as in {x + 1 : x in v}");
  }
  struct syntax *first = parse_expression(r, STRENGTH_WHOLE);
  bool has_body = take(r, LEX_COLON);
  ARRAY(struct syntax_generator) generators = {0};
  do {
    bool shared = generators.count == 0 && !has_body;
    struct syntax_generator generator = parse_generator(r, shared ? first : NULL, opener);
    raise_above(r, e, generator.pattern);
    raise_above(r, e, generator.source);
    *array_push(r->arena, &generators) = generator;
  } while (take(r, LEX_END));
  e->as.each.body = first;
  e->as.each.generators = generators.items;
  e->as.each.count = generators.count;
  raise_above(r, e, first);
  if (take(r, LEX_BAR)) {
    e->as.each.sieve = parse_expression(r, STRENGTH_WHOLE);
    raise_above(r, e, e->as.each.sieve);
  }
  if (r->token.lexeme == LEX_IN && !r->failed) {
    parse_failed(r, r->token.at,
                 "expected `}` to close the `{`, read `in`; generators are separated by `;`");
  }
  expect(r, LEX_CLOSE_EACH, "to close the `{`", opener);
  e->at = since(r, opener);
  return e;
}

/* ---- dispatch ---- */

/* The token cannot begin an operand. */
static struct syntax *no_operand(struct reader *r) {
  struct syntax *nothing = make_syntax(r, SYNTAX_INT, r->token.at);
  if (r->failed) return nothing;
  const struct nesl_token *before = &r->before;
  bool behind = before->lexeme != LEX_NONE;
  parse_puzzled(
      r, behind ? arena_printf(r->arena, "an expression behind %s", token_text(r, before))
                : "an expression");
  return nothing;
}

static struct syntax *parse_brackets(struct reader *r,
                                     struct syntax *(*parse)(struct reader *)) {
  const struct surroundings around = enter_brackets(r);
  struct syntax *e = parse(r);
  leave_brackets(r, around);
  return e;
}

/* Within words of its own an expression has no optional arguments. */
static struct syntax *parse_closed(struct reader *r, struct syntax *(*parse)(struct reader *)) {
  uint8_t options = r->options;
  r->options = OPTIONS_NONE;
  struct syntax *e = parse(r);
  r->options = options;
  return e;
}

struct syntax *parse_operand(struct reader *r) {
  switch ((enum nesl_token_kind)r->token.kind) {
  case TOKEN_INT: return parse_atom(r, SYNTAX_INT);
  case TOKEN_FLOAT: return parse_atom(r, SYNTAX_FLOAT);
  case TOKEN_CHAR: return parse_atom(r, SYNTAX_CHAR);
  case TOKEN_STRING: return parse_atom(r, SYNTAX_STRING);
  case TOKEN_WORD:
    if (at_stop(r)) return no_operand(r);
    if (begins_loop(r)) return parse_closed(r, parse_loop);
    if (r->token.name == r->not_word) return parse_not(r);
    if (refuse_foreign_loop(r)) return no_operand(r);
    if (r->token.lexeme == LEX_NONE) return parse_atom(r, SYNTAX_NAME);
    break;
  case TOKEN_SYMBOL: break;
  case TOKEN_END:
  case TOKEN_INVALID: return no_operand(r);
  }
  switch (r->token.lexeme) {
  case LEX_OPEN: return parse_parenthesised(r);
  case LEX_OPEN_LIST: return parse_brackets(r, parse_list_operand);
  case LEX_OPEN_EACH: return parse_brackets(r, parse_each);
  case LEX_IF: return parse_closed(r, parse_if);
  case LEX_LET: return parse_closed(r, parse_let);
  default:
    return lexeme_facts[r->token.lexeme].prefix != NULL ? parse_prefix(r) : no_operand(r);
  }
}
