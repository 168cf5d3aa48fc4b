/* parse-forms.c - the forms of the top level, one after another. (NESL specification, 3.1, 4.)
 */
#include "neslc/front/parse.h"

#include <string.h>

static bool at_terminator(const struct reader *r) {
  return r->token.lexeme == LEX_END || r->token.lexeme == LEX_END_ALSO;
}

/* ---- definitions ---- */

/* The name a definition gives. Operators have their definitions in the library. */
static void parse_form_name(struct reader *r, struct form *form, const char *what) {
  const struct nesl_token *token = &r->token;
  bool operator= form->kind == FORM_FUNCTION && lexeme_facts[token->lexeme].right != 0 &&
      token->lexeme != LEX_COMMA && token->lexeme != LEX_LAMBDA && token->lexeme != LEX_OPTION;
  bool literal = token->kind >= TOKEN_INT && token->kind <= TOKEN_STRING;
  if (literal && !r->failed) { /* where a variable stands */
    parse_failed_as(r, NESL_PATTERN, token->at, "expected the name of the %s, read %s", what,
                    token_text(r, token));
  } else if (!token_is_name(token) && !operator) {
    parse_unexpected(r, arena_printf(r->arena, "the name of the %s", what));
  }
  form->name = token->name;
  form->name_at = token->at;
  read_token(r);
}

static struct syntax_annotation *parse_annotation(struct reader *r) {
  struct syntax_annotation *annotation = arena_alloc(r->arena, sizeof *annotation);
  annotation->type = parse_type(r);
  parse_context(r, annotation);
  return annotation;
}

/* Documentation: a string directly behind the parameters or a context in parentheses. (Behind
 * a bare type the language has none.) */
static void parse_documentation(struct reader *r, struct form *form) {
  if (r->token.kind != TOKEN_STRING) return;
  if (form->documentation != NULL) {
    parse_failed(r, r->token.at,
                 "a function has one text of documentation, this is the second");
  } else if (form->annotation != NULL && r->before.lexeme != LEX_CLOSE) {
    parse_unexpected(r, "`=` or `;` behind the type; documentation stands before the `:` or "
                        "behind a context in parentheses");
  }
  if (r->token.wrong.end != 0) parse_failed(r, r->token.wrong, "this is no escape of e\"...\"");
  form->documentation = r->token.text;
  read_token(r);
}

/* Sets the reader back to a token that it has read already. */
static void set_back(struct reader *r, const struct nesl_token *before) {
  r->token = *before;
  read_token(r);
}

static void parse_function(struct reader *r, struct form *form) {
  form->kind = FORM_FUNCTION;
  read_token(r);
  parse_form_name(r, form, "function");
  if (r->token.lexeme == LEX_COLON || r->token.lexeme == LEX_EQUALS) {
    parse_unexpected(r, "the parameters of the function: it takes exactly one argument, "
                        "which may be a tuple");
  }
  form->pattern = parse_parameters(r);
  parse_documentation(r, form);
  if (take(r, LEX_COLON)) {
    form->annotation = parse_annotation(r);
    parse_documentation(r, form);
  }
  if (take(r, LEX_EQUALS)) {
    form->value = parse_expression(r, STRENGTH_WHOLE);
  } else if (form->annotation == NULL) {
    parse_unexpected(r, "`:` and a type, or `=` and a body, behind the parameters");
  } else if (!at_terminator(r)) {
    parse_unexpected(r, "`=` and the body of the function, or `;`");
  }
}

/* Whether a colon stands in the parentheses that begin here, outside of inner ones: then they
 * hold fields with names. */
static bool has_fields(struct reader *r) {
  const struct nesl_token before = r->before;
  unsigned depth = 0;
  bool found = false;
  do {
    if (r->token.lexeme == LEX_OPEN) depth++;
    if (r->token.lexeme == LEX_CLOSE) depth--;
    found |= depth == 1 && r->token.lexeme == LEX_COLON;
    read_token(r);
  } while (depth > 0 && !found && !at_terminator(r) && r->token.kind != TOKEN_END &&
           !r->failed);
  if (!r->failed) set_back(r, &before);
  return found;
}

/* name : type */
static struct syntax_field parse_field(struct reader *r) {
  const struct syntax_field field = {r->token.name, r->token.at};
  static const char *const rule =
      "the name of a field and `:`; the components of a datatype have names all or none";
  if (!token_is_name(&r->token)) parse_unexpected(r, rule);
  read_token(r);
  if (take(r, LEX_COLON)) return field;
  if (r->token.kind == TOKEN_END) parse_unexpected(r, "`:` behind the name of a field");
  parse_failed(r, field.at, "expected %s, read %s", rule, token_text(r, &r->before));
  return field;
}

/* (mass : float, position : (float, float)): the names, and the types as a tuple. */
static struct syntax_type *parse_fields(struct reader *r, struct form *form) {
  const struct span opener = r->token.at;
  ARRAY(struct syntax_field) fields = {0};
  ARRAY(struct syntax_type *) types = {0};
  do {
    read_token(r); /* `(` or `,` */
    *array_push(r->arena, &fields) = parse_field(r);
    *array_push(r->arena, &types) = parse_function_type(r);
  } while (r->token.lexeme == LEX_COMMA);
  expect(r, LEX_CLOSE, "to close the `(`", opener);
  form->fields = fields.items;
  form->field_count = fields.count;
  return join_all_types(r, types.items, types.count);
}

static void parse_datatype(struct reader *r, struct form *form) {
  form->kind = FORM_DATATYPE;
  read_token(r);
  parse_form_name(r, form, "datatype");
  if (r->token.lexeme != LEX_OPEN || !has_fields(r)) {
    form->annotation = parse_annotation(r);
    return;
  }
  form->annotation = arena_alloc(r->arena, sizeof *form->annotation);
  form->annotation->type = parse_fields(r, form);
  parse_context(r, form->annotation);
}

/* ---- expressions and assignments ---- */

/* Checks that a terminator follows; reports what follows instead. */
static void expect_terminator(struct reader *r) {
  if (at_terminator(r)) return;
  switch (r->token.lexeme) {
  case LEX_CLOSE:
  case LEX_CLOSE_LIST:
  case LEX_CLOSE_EACH:
    parse_failed(r, r->token.at, "nothing is open here that %s closes",
                 token_text(r, &r->token));
    return;
  case LEX_EQUALS: parse_puzzled(r, "`;` at the end of the form"); return;
  case LEX_THEN:
  case LEX_ELSE:
    parse_failed(r, r->token.at, "%s without an `if` that is open", token_text(r, &r->token));
    return;
  default: break;
  }
  parse_puzzled(r, r->token.kind == TOKEN_END ? "`;` at the end of the form"
                                              : "`;` or an operator behind the expression");
}

static void parse_value(struct reader *r, struct form *form) {
  form->value = parse_typed(r, parse_expression(r, STRENGTH_ASSIGNED));
  if (!take(r, LEX_EQUALS)) return;
  form->kind = FORM_ASSIGN;
  form->pattern = form->value;
  form->value = parse_expression(r, STRENGTH_ASSIGNED);
}

/* ---- commands ---- */

/* How many words of a command stand before its expression; -1: it has none. */
static int words_before_argument(const struct name *command) {
  static const struct {
    const char *word;
    int before;
  } arguments[] = {{"load", 0}, {"edit", 0},    {"shell", 0}, {"dump", 2},
                   {"cost", 0}, {"profile", 0}, {"time", 0},  {"trace", 0}};
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    if (strcmp(arguments[i].word, command->text) == 0) return arguments[i].before;
  }
  return -1;
}

bool is_command_word(const char *word) {
  static const char *const commands[] = {"help",    "exit", "lisp", "describe",
                                         "apropos", "get",  "set",  "show",
                                         "shell",   "dump", "edit", "load"};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    if (strcmp(commands[i], word) == 0) return true;
  }
  return false;
}

bool begins_expression(const struct nesl_token *token) {
  switch (token->kind) {
  case TOKEN_INT:
  case TOKEN_FLOAT:
  case TOKEN_CHAR:
  case TOKEN_STRING: return true;
  case TOKEN_WORD:
    return token->lexeme == LEX_NONE || token->lexeme == LEX_IF || token->lexeme == LEX_LET;
  default: break;
  }
  return token->lexeme == LEX_OPEN || token->lexeme == LEX_OPEN_LIST ||
         token->lexeme == LEX_OPEN_EACH || token->lexeme == LEX_LENGTH ||
         token->lexeme == LEX_AS_STRING;
}

/* Whether the form is a command that exists at a prompt only: time(E) is an expression. */
static bool is_prompt_command(struct reader *r) {
  static const char *const commands[] = {"cost", "profile", "trace", "time", "quit"};
  const struct nesl_token word = r->token, before = r->before;
  size_t i = 0;
  const size_t count =
      r->defines && token_is_name(&word) ? sizeof commands / sizeof *commands : 0;
  while (i < count && strcmp(commands[i], word.name->text) != 0) i++;
  if (i == count || r->defines(r->context, word.name)) return false;
  read_token(r);
  const bool parenthesised = r->token.lexeme == LEX_OPEN;
  const bool is_command = strcmp(word.name->text, "quit") == 0
                              ? at_terminator(r)
                              : begins_expression(&r->token) &&
                                    !(parenthesised && strcmp(word.name->text, "time") == 0);
  if (!r->failed) {
    r->token = word;
    r->before = before;
  }
  return is_command;
}

/* Whether what follows the word of a command can only be the command's, given that the user has
 * defined the word: f "x" would be an application, but is hardly written so. */
static bool follows_command(const struct nesl_token *next) {
  switch (next->kind) {
  case TOKEN_INT:
  case TOKEN_FLOAT:
  case TOKEN_CHAR:
  case TOKEN_STRING: return true;
  default: return token_is_name(next);
  }
}

/* Whether a form is a command because of the word that it begins with. set = 3 is none. */
static bool is_command(struct reader *r) {
  const struct nesl_token word = r->token, before = r->before;
  if (word.lexeme == LEX_HELP) return true;
  if (word.kind != TOKEN_WORD) return false;
  const bool imports = strcmp(word.name->text, "import") == 0;
  if (!imports && !is_command_word(word.name->text)) return is_prompt_command(r);
  const bool own = r->redefines && r->redefines(r->context, word.name);
  read_token(r);
  const struct nesl_token next = r->token;
  const bool assigned =
      next.lexeme == LEX_EQUALS || next.lexeme == LEX_COMMA || next.lexeme == LEX_COLON;
  if (!r->failed) {
    r->token = word;
    r->before = before;
  }
  if (imports) return !own && next.kind == TOKEN_STRING;
  return !assigned && (!own || follows_command(&next));
}

static void parse_command(struct reader *r, struct form *form) {
  struct nesl_token word = r->token;
  ARRAY(struct nesl_token) words = {0};
  form->kind = FORM_COMMAND;
  form->name = word.name;
  form->name_at = word.at;
  read_token(r);
  if (word.lexeme == LEX_HELP) return; /* needs no terminator */
  int before = words_before_argument(form->name);
  for (int i = 0; i < before && !at_terminator(r) && r->token.kind != TOKEN_END; i++) {
    read_token(r);
  }
  if (before >= 0 && !at_terminator(r)) {
    form->argument = parse_expression(r, STRENGTH_ASSIGNED);
    expect_terminator(r);
  }
  uint32_t end = r->before.at.end; /* of the argument, which may contain `;` */
  set_back(r, &word);
  while (!r->failed && r->token.kind != TOKEN_END &&
         (!at_terminator(r) || r->token.at.start < end)) {
    *array_push(r->arena, &words) = r->token;
    read_token(r);
  }
  form->words = words.items;
  form->word_count = words.count;
  if (r->token.kind == TOKEN_END) parse_unexpected(r, "`;` at the end of the command");
}

/* ---- reading ---- */

static void parse_form(struct reader *r, struct form *form) {
  const bool command = is_command(r);
  if (at_terminator(r)) {
    parse_failed(r, r->token.at, "expected a form before %s", token_text(r, &r->token));
  } else if (r->token.lexeme == LEX_FUNCTION) {
    parse_function(r, form);
  } else if (r->token.lexeme == LEX_DATATYPE) {
    parse_datatype(r, form);
  } else if (command) {
    parse_command(r, form);
  } else {
    parse_value(r, form);
  }
  form->at = since(r, form->at);
  if (form->name != NULL && form->name == r->spellings[LEX_HELP]) {
    r->at = at_terminator(r) ? r->token.at.end : form->at.end;
    return;
  }
  expect_terminator(r);
  r->at = r->token.at.end;
}

enum reading read_form(struct reader *r, struct complaints *complaints, struct form *form) {
  if (r->source->length >= UINT32_MAX) {
    complain(complaints, NESL_LIMIT, r->source, (struct span){0, 0}, "this text is too long");
    r->at = UINT32_MAX;
    return READ_BROKEN;
  }
  r->complaints = complaints;
  r->failed = r->more = false;
  r->options = OPTIONS_NONE;
  r->stop = NULL;
  r->depth = 0;
  r->suspect = (struct span){0, 0};
  r->token = (struct nesl_token){.kind = TOKEN_END, .at = {r->at, r->at}};
  uint32_t start = r->at;
  parse_begin(r, start);
  read_token(r);
  if (!r->failed) {
    start = r->token.at.start;
    if (r->token.kind == TOKEN_END) return READ_END;
    *form = (struct form){.kind = FORM_EXPRESSION, .source = r->source, .at = r->token.at};
    parse_form(r, form);
  }
  if (!r->failed) return READ_FORM;
  r->at = recovery_point(r->source, start);
  return r->more ? READ_MORE : READ_BROKEN;
}
