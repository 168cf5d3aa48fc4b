/* show.c - prints forms in a canonical layout, whose parse gives an equal tree.
 *
 * Parentheses are written where the text would parse differently without them, around arguments
 * and parameters, and around tuples within other expressions. That depends on both neighbours:
 * an expression that is parsed with parse_expression(r, least) must bind tighter than `least`,
 * and its last operand must not extend over the following token, of strength `next`.
 */
#include "neslc/front/layout.h"
#include "neslc/front/parse.h"

#include "base/number.h"

#include <string.h>

enum { WIDTH = 80, INDENT = 2 };

static void show_syntax(struct layout *, const struct syntax *, int least, int next);

/* ---- binding strengths ---- */

/* How an application of a library function is written: as an infix or prefix operator, as
 * indexing, a range; or as any application. */
enum notation {
  NOTATION_CALL,
  NOTATION_INFIX,
  NOTATION_PREFIX,
  NOTATION_INDEX,
  NOTATION_SLICE,
  NOTATION_RANGE
};

static enum notation notation(const struct syntax *e, const struct lexeme_facts **facts) {
  *facts = &lexeme_facts[LEX_OPEN];
  if (e->kind != SYNTAX_APPLY || !e->as.part.left->builtin) return NOTATION_CALL;
  const struct syntax *argument = e->as.part.right;
  const char *written = e->as.part.left->as.name.written;
  if (strcmp(written, "[]") == 0) return NOTATION_INDEX;
  if (strcmp(written, "[:]") == 0) return NOTATION_RANGE;
  if (strcmp(written, "[::]") == 0) return NOTATION_SLICE;
  for (int i = LEX_NONE + 1; i < LEXEMES; i++) {
    if (strcmp(lexeme_facts[i].text, written) != 0) continue;
    *facts = &lexeme_facts[i];
    const char *prefix = lexeme_facts[i].prefix;
    bool is_prefix = prefix != NULL && strcmp(e->as.part.left->as.name.name->text, prefix) == 0;
    if (is_prefix) return NOTATION_PREFIX;
    if (lexeme_facts[i].right != 0 && argument->kind == SYNTAX_PAIR) return NOTATION_INFIX;
  }
  return NOTATION_CALL;
}

enum { BINDS_TIGHTEST = 100 }; /* brackets, names, literals */

/* How tightly the expression binds, and with which strength its last operand is read. */
static void binding_strength(const struct syntax *e, int *left, int *right) {
  const struct lexeme_facts *facts = NULL;
  *left = *right = BINDS_TIGHTEST;
  switch ((enum syntax_kind)e->kind) {
  case SYNTAX_PAIR: facts = &lexeme_facts[LEX_COMMA]; break;
  case SYNTAX_LAMBDA: facts = &lexeme_facts[LEX_LAMBDA]; break;
  case SYNTAX_OPTION: facts = &lexeme_facts[LEX_OPTION]; break;
  case SYNTAX_IF:
  case SYNTAX_LET:
  case SYNTAX_LOOP: *right = STRENGTH_WHOLE; return;
  case SYNTAX_EMPTY: *right = STRENGTH_ARGUMENT - 1; return; /* ( would belong to the type */
  case SYNTAX_APPLY:
    switch (notation(e, &facts)) {
    case NOTATION_RANGE: return;
    case NOTATION_PREFIX: *right = STRENGTH_PREFIX; return;
    case NOTATION_INFIX: break;
    case NOTATION_CALL:
      if (is_negation(e)) {
        *right = STRENGTH_PREFIX;
        return;
      } /* fall through */
    case NOTATION_SLICE:
    case NOTATION_INDEX: *left = STRENGTH_ARGUMENT; return;
    }
    break;
  case SYNTAX_FIELD: *left = STRENGTH_ARGUMENT; return;
  case SYNTAX_INT:
  case SYNTAX_FLOAT:
  case SYNTAX_CHAR:
  case SYNTAX_STRING:
  case SYNTAX_LIST:
  case SYNTAX_TYPED:
  case SYNTAX_EACH: return;
  case SYNTAX_NAME: /* an operand would become that of `not` */
    if (is_not(e)) *right = lexeme_facts[LEX_MINUS].left - 1;
    return;
  }
  *left = facts->left;
  *right = facts->right;
}

/* ---- literals ---- */

static void show_number(struct layout *l, const struct syntax *e) {
  char text[NUMBER_TEXT_MAX + 2];
  size_t length;
  if (e->kind == SYNTAX_INT) {
    length = format_int(text, e->as.integer);
  } else {
    length = format_float_exact(text, e->as.real);
    if (strpbrk(text, ".e") == NULL) { /* reads as an int otherwise */
      memcpy(text + length, ".0", 3);
      length += 2;
    }
  }
  layout_bytes(l, arena_copy(l->arena, text, length), length);
}

static void show_string_literal(struct layout *l, const char *text, size_t length) {
  char *quoted = arena_alloc(l->arena, 2 * length + 2);
  size_t n = 0;
  quoted[n++] = '"';
  for (size_t i = 0; i < length; i++) {
    if (text[i] == '"' || text[i] == '\\') quoted[n++] = '\\';
    quoted[n++] = text[i];
  }
  quoted[n++] = '"';
  layout_bytes(l, quoted, n);
}

static size_t put_escaped(char *to, char c) {
  const bool special = c == '\n' || c == '\t' || c == '\\' || c == '"';
  if (!special && ((unsigned char)c < ' ' || c == '\x7f'))
    return (size_t)snprintf(to, 5, "\\x%02x", (unsigned char)c);
  if (special) *to++ = '\\';
  *to = c == '\n' ? 'n' : c == '\t' ? 't' : c;
  return special ? 2 : 1;
}

/* e"..." */
static void show_escaped(struct layout *l, const char *text, size_t length) {
  char *quoted = arena_alloc(l->arena, 4 * length + 4);
  size_t n = 0;
  quoted[n++] = 'e';
  quoted[n++] = '"';
  for (size_t i = 0; i < length; i++) n += put_escaped(quoted + n, text[i]);
  quoted[n++] = '"';
  layout_bytes(l, quoted, n);
}

static void show_name(struct layout *l, const struct name *name) {
  layout_bytes(l, name->text, name->length);
}

/* ---- types ---- */

enum type_context { TYPE_ANYWHERE, TYPE_OF_FUNCTION, TYPE_ALONE }; /* a, b; a -> b; a */

static void show_type(struct layout *l, const struct syntax_type *type,
                      enum type_context context) {
  bool pair = type->kind == SYNTAX_TYPE_PAIR, function = type->kind == SYNTAX_TYPE_FUNCTION;
  bool closed = (pair && context != TYPE_ANYWHERE) || (function && context == TYPE_ALONE);
  if (closed) layout_text(l, "(");
  switch ((enum syntax_type_kind)type->kind) {
  case SYNTAX_TYPE_NAME:
    if (type->module != NULL) {
      show_name(l, type->module);
      layout_text(l, ".");
    }
    show_name(l, type->name);
    if (type->left == NULL) break;
    layout_text(l, "(");
    show_type(l, type->left, TYPE_ANYWHERE);
    layout_text(l, ")");
    break;
  case SYNTAX_TYPE_SEQUENCE:
    layout_text(l, "[");
    show_type(l, type->left, TYPE_OF_FUNCTION);
    layout_text(l, "]");
    break;
  case SYNTAX_TYPE_PAIR:
    show_type(l, type->left, TYPE_OF_FUNCTION);
    layout_text(l, ", ");
    show_type(l, type->right, TYPE_ANYWHERE);
    break;
  case SYNTAX_TYPE_FUNCTION:
    show_type(l, type->left, TYPE_ALONE);
    layout_text(l, " -> ");
    show_type(l, type->right, TYPE_OF_FUNCTION);
    break;
  }
  if (closed) layout_text(l, ")");
}

static void show_annotation_context(struct layout *l,
                                    const struct syntax_annotation *annotation) {
  for (size_t i = 0; i < annotation->count; i++) {
    layout_text(l, i == 0 ? " :: (" : "; ");
    show_name(l, annotation->constraints[i].variable);
    layout_text(l, " in ");
    show_name(l, annotation->constraints[i].class_name);
  }
  if (annotation->count > 0) layout_text(l, ")");
}

/* ---- expressions ---- */

static void show_infix(struct layout *l, const struct syntax *left, const char *operator,
                       const struct syntax * right, const struct lexeme_facts *facts, int least,
                       int next) {
  layout_open(l, 0);
  show_syntax(l, left, least, facts->left);
  layout_text(l, operator);
  layout_break(l);
  show_syntax(l, right, facts->right, next);
  layout_close(l);
}

/* a, b, c: nested pairs on the right in one group. */
static void show_tuple_syntax(struct layout *l, const struct syntax *e, int least, int next) {
  const struct lexeme_facts *facts = &lexeme_facts[LEX_COMMA];
  layout_open(l, 0);
  for (; e->kind == SYNTAX_PAIR; e = e->as.part.right, least = facts->right) {
    show_syntax(l, e->as.part.left, least, facts->left);
    layout_text(l, facts->text);
    layout_break(l);
  }
  show_syntax(l, e, facts->right, next);
  layout_close(l);
}

/* v[s:e], v[s:], v[s:e:d], v[s::d]: of (v, s, e), (v, s), (v, s, d, e) and (v, s, d). */
static void show_slice(struct layout *l, const struct syntax *function,
                       const struct syntax *argument, int least) {
  const char *name = function->as.name.name->text;
  const bool by = strstr(name, "_by") != NULL, from = strstr(name, "_from") != NULL;
  const struct syntax *bounds = argument->as.part.right;
  const bool alone = from && !by;
  const struct syntax *start = alone ? bounds : bounds->as.part.left;
  const struct syntax *rest = alone ? NULL : bounds->as.part.right;
  const struct syntax *stride = !by ? NULL : from ? rest : rest->as.part.left;
  const struct syntax *end = from ? NULL : by ? rest->as.part.right : rest;
  show_syntax(l, argument->as.part.left, least, STRENGTH_ARGUMENT);
  layout_text(l, "[");
  show_syntax(l, start, STRENGTH_ELEMENT, 0);
  layout_text(l, ":");
  if (end) show_syntax(l, end, STRENGTH_ELEMENT, 0);
  if (stride) layout_text(l, ":");
  if (stride) show_syntax(l, stride, STRENGTH_ELEMENT, 0);
  layout_text(l, "]");
}

/* The argument that stands for none: arguments(). */
static bool is_nothing(const struct syntax *argument) {
  return argument->kind == SYNTAX_NAME && argument->builtin &&
         *argument->as.name.written == '\0';
}

static void show_application(struct layout *l, const struct syntax *e, int least, int next) {
  const struct lexeme_facts *facts;
  const struct syntax *left = e->as.part.left, *right = e->as.part.right;
  switch (notation(e, &facts)) {
  case NOTATION_INFIX:
    show_infix(l, right->as.part.left, arena_printf(l->arena, " %s", facts->text),
               right->as.part.right, facts, least, next);
    return;
  case NOTATION_PREFIX:
    layout_text(l, facts->text);
    show_syntax(l, right, STRENGTH_PREFIX, next);
    return;
  case NOTATION_INDEX:
    show_syntax(l, right->as.part.left, least, STRENGTH_ARGUMENT);
    layout_text(l, "[");
    show_syntax(l, right->as.part.right, STRENGTH_WHOLE, 0);
    layout_text(l, "]");
    return;
  case NOTATION_SLICE: show_slice(l, left, right, least); return;
  case NOTATION_RANGE: {
    const struct syntax *rest = right->as.part.right, *stride = rest->as.part.left;
    layout_text(l, "[");
    show_syntax(l, right->as.part.left, STRENGTH_ELEMENT, 0);
    layout_text(l, ":");
    show_syntax(l, rest->as.part.right, STRENGTH_WHOLE, 0);
    if (stride->kind != SYNTAX_INT || stride->as.integer != 1) {
      layout_text(l, ":");
      show_syntax(l, stride, STRENGTH_WHOLE, 0);
    }
    layout_text(l, "]");
    return;
  }
  case NOTATION_CALL:
    if (is_negation(e)) {
      show_name(l, left->as.name.name);
    } else {
      show_syntax(l, left, least, STRENGTH_ARGUMENT);
    }
    layout_text(l, "(");
    layout_open_here(l);
    if (!is_nothing(right)) show_syntax(l, right, STRENGTH_WHOLE, 0);
    layout_close(l);
    layout_text(l, ")");
    return;
  }
}

/* An operand that may be broken into lines, which are aligned with its first. Tuples get
 * parentheses there, for readability. */
static void show_operand(struct layout *l, const char *before, const struct syntax *e,
                         int next) {
  layout_text(l, before);
  layout_open_here(l);
  show_syntax(l, e, STRENGTH_ELEMENT, next);
  layout_close(l);
}

/* A sequence of else if is one group. */
static void show_if(struct layout *l, const struct syntax *e, int next) {
  layout_open(l, 0);
  for (;; e = e->as.part.right) {
    show_operand(l, "if ", e->as.part.third, 0);
    layout_break(l);
    show_operand(l, "then ", e->as.part.left, 0);
    layout_break(l);
    if (e->as.part.right->kind != SYNTAX_IF) break;
    layout_text(l, "else ");
  }
  show_operand(l, "else ", e->as.part.right, next);
  layout_close(l);
}

/* Nested lets are the bindings of one. */
static void show_let(struct layout *l, const struct syntax *e, int next) {
  layout_open(l, 0);
  layout_text(l, "let ");
  layout_open_here(l);
  for (;; e = e->as.part.third) {
    layout_open(l, INDENT);
    show_syntax(l, e->as.part.left, STRENGTH_ELEMENT, lexeme_facts[LEX_EQUALS].left);
    layout_text(l, " =");
    layout_break(l);
    show_syntax(l, e->as.part.right, STRENGTH_ELEMENT, 0);
    layout_close(l);
    if (e->as.part.third->kind != SYNTAX_LET) break;
    layout_text(l, ";");
    layout_break(l);
  }
  layout_close(l);
  layout_break(l);
  show_operand(l, "in ", e->as.part.third, next);
  layout_close(l);
}

static void show_loop(struct layout *l, const struct syntax *e, int next) {
  layout_open(l, INDENT);
  layout_text(l, "loop ");
  show_syntax(l, e->as.part.left, STRENGTH_ELEMENT, lexeme_facts[LEX_EQUALS].left);
  show_operand(l, " = ", e->as.part.right, 0);
  layout_break(l);
  show_operand(l, "while ", e->as.part.third, 0);
  layout_break(l);
  show_operand(l, "do ", e->as.part.fourth, next);
  layout_close(l);
}

static void show_list_syntax(struct layout *l, const struct syntax *e) {
  layout_text(l, "[");
  layout_open_here(l);
  for (size_t i = 0; i < e->as.list.count; i++) {
    if (i > 0) {
      layout_text(l, ",");
      layout_break(l);
    }
    bool last = i + 1 == e->as.list.count;
    show_syntax(l, e->as.list.items[i], STRENGTH_ELEMENT,
                last ? 0 : lexeme_facts[LEX_COMMA].left);
  }
  layout_close(l);
  layout_text(l, "]");
}

static void show_each_syntax(struct layout *l, const struct syntax *e) {
  const struct syntax_generator *generators = e->as.each.generators;
  layout_text(l, e->serial ? "{* " : "{");
  layout_open_here(l);
  if (e->as.each.body != generators[0].pattern) {
    show_syntax(l, e->as.each.body, STRENGTH_ELEMENT, 0);
    layout_break(l);
    layout_text(l, ": ");
  }
  for (size_t i = 0; i < e->as.each.count; i++) {
    if (i > 0) {
      layout_text(l, ";");
      layout_break(l);
    }
    show_syntax(l, generators[i].pattern, STRENGTH_ELEMENT, 0);
    if (generators[i].source == generators[i].pattern) continue;
    layout_text(l, " in ");
    show_syntax(l, generators[i].source, STRENGTH_ELEMENT, 0);
  }
  if (e->as.each.sieve != NULL) {
    layout_break(l);
    layout_text(l, "| ");
    show_syntax(l, e->as.each.sieve, STRENGTH_ELEMENT, 0);
  }
  layout_close(l);
  layout_text(l, "}");
}

/* A point directly behind a number belongs to it. */
static void show_field(struct layout *l, const struct syntax *e, int least) {
  const struct syntax *record = e->as.field.record;
  const bool number = record->kind == SYNTAX_INT || record->kind == SYNTAX_FLOAT;
  show_syntax(l, record, number ? BINDS_TIGHTEST : least, STRENGTH_ARGUMENT);
  layout_text(l, ".");
  show_name(l, e->as.field.name);
}

static void show_bare(struct layout *l, const struct syntax *e, int least, int next) {
  switch ((enum syntax_kind)e->kind) {
  case SYNTAX_INT:
  case SYNTAX_FLOAT: show_number(l, e); return;
  case SYNTAX_CHAR:
    layout_text(l, "`");
    layout_bytes(l, (const char *)&e->as.character, 1);
    return;
  case SYNTAX_STRING:
    (e->escaped ? show_escaped : show_string_literal)(l, e->as.string.text,
                                                      e->as.string.length);
    return;
  case SYNTAX_NAME: show_name(l, e->as.name.name); return;
  case SYNTAX_PAIR: show_tuple_syntax(l, e, least, next); return;
  case SYNTAX_APPLY: show_application(l, e, least, next); return;
  case SYNTAX_LAMBDA:
    show_infix(l, e->as.part.left, " =>", e->as.part.right, &lexeme_facts[LEX_LAMBDA], least,
               next);
    return;
  case SYNTAX_OPTION:
    show_infix(l, e->as.part.left, " :=", e->as.part.right, &lexeme_facts[LEX_OPTION], least,
               next);
    return;
  case SYNTAX_IF: show_if(l, e, next); return;
  case SYNTAX_LET: show_let(l, e, next); return;
  case SYNTAX_LOOP: show_loop(l, e, next); return;
  case SYNTAX_LIST: show_list_syntax(l, e); return;
  case SYNTAX_TYPED:
    layout_text(l, "(");
    show_syntax(l, e->as.typed.inner, STRENGTH_ELEMENT, 0);
    layout_text(l, " : ");
    show_type(l, e->as.typed.type, TYPE_OF_FUNCTION);
    layout_text(l, ")");
    return;
  case SYNTAX_EMPTY:
    layout_text(l, "[] ");
    show_type(l, e->as.type, TYPE_ALONE);
    return;
  case SYNTAX_FIELD: show_field(l, e, least); return;
  case SYNTAX_EACH: show_each_syntax(l, e); return;
  }
}

static void show_syntax(struct layout *l, const struct syntax *e, int least, int next) {
  int left, right;
  binding_strength(e, &left, &right);
  if (left > least && next <= right) {
    show_bare(l, e, least, next);
    return;
  }
  layout_text(l, "(");
  layout_open_here(l);
  show_bare(l, e, STRENGTH_WHOLE, 0);
  layout_close(l);
  layout_text(l, ")");
}

/* ---- forms ---- */

/* The side of an `=` or the whole of a form, whose first word must not become a command. */
static void show_side(struct layout *l, const struct syntax *e) {
  int least = STRENGTH_ASSIGNED;
  const struct syntax *first = e;
  const struct lexeme_facts *facts;
  for (bool descend = true; descend;) {
    switch (first->kind) {
    case SYNTAX_APPLY:
      if (notation(first, &facts) == NOTATION_INFIX ||
          notation(first, &facts) == NOTATION_INDEX ||
          notation(first, &facts) == NOTATION_SLICE) {
        first = first->as.part.right->as.part.left;
      } else if (notation(first, &facts) == NOTATION_CALL) {
        first = first->as.part.left;
      } else {
        descend = false;
      }
      break;
    case SYNTAX_PAIR:
    case SYNTAX_LAMBDA: first = first->as.part.left; break;
    case SYNTAX_FIELD: first = first->as.field.record; break;
    default: descend = false;
    }
  }
  if (first->kind == SYNTAX_NAME && !first->builtin &&
      is_command_word(first->as.name.name->text)) {
    least = BINDS_TIGHTEST; /* in parentheses, whatever it is */
  }
  show_syntax(l, e, least, least == BINDS_TIGHTEST ? 0 : lexeme_facts[LEX_EQUALS].left);
}

static void show_function_form(struct layout *l, const struct form *form) {
  const struct syntax_annotation *annotation = form->annotation;
  bool last = annotation != NULL && annotation->count > 0; /* documentation follows the type */
  layout_open(l, INDENT);
  layout_text(l, "function ");
  show_name(l, form->name);
  layout_text(l, "(");
  show_syntax(l, form->pattern, STRENGTH_WHOLE, 0);
  layout_text(l, ")");
  for (int position = 0; position < 2; position++) {
    if (form->documentation != NULL && last == (position == 1)) {
      layout_break(l);
      show_string_literal(l, form->documentation, strlen(form->documentation));
    }
    if (position == 0 && annotation != NULL) {
      layout_text(l, " : ");
      show_type(l, annotation->type, TYPE_ANYWHERE);
      show_annotation_context(l, annotation);
    }
  }
  if (form->value != NULL) {
    layout_text(l, " =");
    layout_break(l);
    show_syntax(l, form->value, STRENGTH_ELEMENT, 0);
  }
  layout_close(l);
}

/* (mass : float, position : (float, float)) */
static void show_fields_form(struct layout *l, const struct form *form) {
  const struct syntax_type *type = form->annotation->type;
  for (size_t i = 0; i < form->field_count; i++) {
    const bool last = i + 1 == form->field_count;
    layout_text(l, i ? ", " : "");
    show_name(l, form->fields[i].name);
    layout_text(l, " : ");
    show_type(l, last ? type : type->left, TYPE_OF_FUNCTION);
    type = type->right;
  }
}

static void show_contents(struct layout *l, const struct form *form) {
  switch ((enum form_kind)form->kind) {
  case FORM_EXPRESSION: show_side(l, form->value); break;
  case FORM_ASSIGN:
    layout_open(l, INDENT);
    show_side(l, form->pattern);
    layout_text(l, " =");
    layout_break(l);
    show_syntax(l, form->value, STRENGTH_ASSIGNED, 0);
    layout_close(l);
    break;
  case FORM_FUNCTION: show_function_form(l, form); break;
  case FORM_DATATYPE:
    layout_text(l, "datatype ");
    show_name(l, form->name);
    layout_text(l, "(");
    show_fields_form(l, form);
    if (form->field_count == 0) show_type(l, form->annotation->type, TYPE_ANYWHERE);
    layout_text(l, ")");
    show_annotation_context(l, form->annotation);
    break;
  case FORM_COMMAND:
    layout_bytes(l, form->source->text + form->at.start, form->at.end - form->at.start);
    break;
  }
  layout_text(l, ";");
}

/* ---- the way in ---- */

struct showing {
  const struct form *form;
  FILE *file;
};

static void show_laid_out(struct arena *arena, void *context) {
  const struct showing *s = context;
  struct layout layout = {.arena = arena};
  show_contents(&layout, s->form);
  layout_print(&layout, WIDTH, s->file);
}

void show_form(const struct form *form, FILE *file) {
  arena_apart(show_laid_out, &(struct showing){form, file});
  fputc('\n', file);
}
