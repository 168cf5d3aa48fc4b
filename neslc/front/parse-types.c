/* parse-types.c - types and their contexts. (NESL specification, 3.1, 3.3.)
 *
 * Here `->` makes function types and binds tighter than the comma; `[` makes sequence types.
 */
#include "neslc/front/parse.h"

#include <string.h>

static struct syntax_type *make_syntax_type(struct reader *r, enum syntax_type_kind kind,
                                            struct span at) {
  struct syntax_type *type = arena_alloc(r->arena, sizeof *type);
  type->kind = (uint8_t)kind;
  type->at = at;
  return type;
}

/* a name, with parameters: point, tagged(int, a) */
static struct syntax_type *parse_type_name(struct reader *r) {
  struct syntax_type *type = make_syntax_type(r, SYNTAX_TYPE_NAME, r->token.at);
  type->name = r->token.name;
  read_token(r);
  if (take(r, LEX_DOT)) {
    if (!token_is_name(&r->token)) parse_unexpected(r, "the name of a type behind `.`");
    type->module = type->name;
    type->name = r->token.name;
    read_token(r);
    type->at = since(r, type->at);
  }
  struct span opener = r->token.at;
  if (take(r, LEX_OPEN)) {
    type->left = parse_type(r);
    expect(r, LEX_CLOSE, "to close the `(`", opener);
    type->at = since(r, type->at);
  }
  return type;
}

struct syntax_type *parse_element_type(struct reader *r) {
  struct span opener = r->token.at;
  if (token_is_name(&r->token)) return parse_type_name(r);
  if (take(r, LEX_OPEN_LIST)) {
    struct syntax_type *type = make_syntax_type(r, SYNTAX_TYPE_SEQUENCE, opener);
    type->left = parse_type(r);
    expect(r, LEX_CLOSE_LIST, "to close the `[`", opener);
    type->at = since(r, opener);
    return type;
  }
  if (take(r, LEX_OPEN)) {
    struct syntax_type *type = parse_type(r);
    expect(r, LEX_CLOSE, "to close the `(`", opener);
    return type;
  }
  parse_unexpected(r, "a type");
  struct syntax_type *nothing = make_syntax_type(r, SYNTAX_TYPE_NAME, opener);
  nothing->name = r->spellings[LEX_END];
  return nothing;
}

static struct syntax_type *join_syntax_types(struct reader *r, enum syntax_type_kind kind,
                                             struct syntax_type *left,
                                             struct syntax_type *right) {
  struct syntax_type *type = make_syntax_type(r, kind, span_over(left->at, right->at));
  type->left = left;
  type->right = right;
  return type;
}

/* a -> b -> c: to the right */
struct syntax_type *parse_function_type(struct reader *r) {
  nest(r);
  struct syntax_type *type = parse_element_type(r);
  if (take(r, LEX_READ)) {
    type = join_syntax_types(r, SYNTAX_TYPE_FUNCTION, type, parse_function_type(r));
  }
  unnest(r);
  return type;
}

struct syntax_type *parse_type(struct reader *r) {
  nest(r);
  struct syntax_type *type = parse_function_type(r);
  if (take(r, LEX_COMMA)) type = join_syntax_types(r, SYNTAX_TYPE_PAIR, type, parse_type(r));
  unnest(r);
  return type;
}

struct syntax_type *join_all_types(struct reader *r, struct syntax_type **types, size_t count) {
  struct syntax_type *all = types[count - 1];
  for (size_t i = count - 1; i-- > 0;)
    all = join_syntax_types(r, SYNTAX_TYPE_PAIR, types[i], all);
  return all;
}

/* a in number */
static struct syntax_constraint parse_constraint(struct reader *r) {
  struct syntax_constraint constraint = {.at = r->token.at};
  if (!token_is_name(&r->token)) parse_unexpected(r, "a type variable of the context");
  constraint.variable = r->token.name;
  read_token(r);
  expect(r, LEX_IN, "behind the type variable", constraint.at);
  if (!token_is_name(&r->token)) parse_unexpected(r, "a class: any, scalar, ordinal ...");
  constraint.class_name = r->token.name;
  read_token(r);
  constraint.at = since(r, constraint.at);
  return constraint;
}

void parse_context(struct reader *r, struct syntax_annotation *annotation) {
  struct span start = r->token.at;
  if (!take(r, LEX_SUCH_THAT)) return;
  struct span opener = r->token.at;
  bool closed = take(r, LEX_OPEN);
  ARRAY(struct syntax_constraint) constraints = {0};
  struct span end;
  do {
    end = r->before.at;
    if (constraints.count > 0 && !closed && !token_is_name(&r->token)) {
      parse_failed(r, end, "without parentheses `;` continues the context: write :: (%.*s)",
                   (int)(end.start - opener.start), r->source->text + opener.start);
    }
    *array_push(r->arena, &constraints) = parse_constraint(r);
  } while (take(r, LEX_END));
  if (closed) expect(r, LEX_CLOSE, "to close the context", start);
  annotation->constraints = constraints.items;
  annotation->count = constraints.count;
}
