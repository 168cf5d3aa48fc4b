/* parse.h - declarations common to the files of the parser: lexemes, look-ahead, errors,
 * construction of trees.
 *
 * After the first error in a form the reader has `failed`, and its token stays TOKEN_INVALID:
 * that parses as an operand without another error, and ends every loop. So parsing functions
 * always return a tree, never NULL, and need no checks; read_form discards it.
 */
#ifndef RAVEL_NESLC_PARSE_H
#define RAVEL_NESLC_PARSE_H

#include "neslc/front/syntax.h"

enum lexeme {
  LEX_NONE,
#define WORD(id, text, left, right, prefix, hint) LEX_##id,
#define PAIR_MARK                                 WORD
#define MARK                                      WORD
#include "neslc/front/lexemes.def"
  LEXEMES
};

struct lexeme_facts {
  const char *text;
  int left, right;
  const char *prefix, *hint;
};
extern const struct lexeme_facts lexeme_facts[LEXEMES];

/* Binding strengths: an operand contains what binds tighter. (Section 3.3) */
enum strength {
  STRENGTH_ASSIGNED = 2, /* the sides of a top-level `=` */
  STRENGTH_WHOLE = 3,    /* tuples too: within brackets, if and let */
  STRENGTH_ELEMENT = 4,  /* no tuples */
  STRENGTH_PREFIX = 25,
  STRENGTH_ARGUMENT = 30 /* an operand alone */
};

/* Where name := value is allowed: in the parentheses of an argument or of parameters. */
enum options { OPTIONS_NONE, OPTIONS_IN_PARENTHESES, OPTIONS_HERE };

/* ---- lex.c ---- */

/* Reads the next token, or TOKEN_INVALID after an error. */
void read_token(struct reader *);
bool token_is_name(const struct nesl_token *); /* a word that is no keyword */
/* Reports a number that is too large for an int. */
void lex_too_large(struct reader *, struct span);
/* "`then`", "the number 3", "the end of the text". */
const char *token_text(struct reader *, const struct nesl_token *);

/* ---- parse.c ---- */

/* Reports an error, unless this form has failed already. */
void parse_failed(struct reader *, struct span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports an error of another kind, unless this form has failed already. */
void parse_failed_as(struct reader *, enum nesl_error, struct span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports the current token: "expected %s, read `then`". At the end of the text the reader then
 * asks for more of it. */
void parse_unexpected(struct reader *, const char *expected);
/* Reports an unexpected token within an expression, with a hint about what was probably meant.
 */
void parse_puzzled(struct reader *, const char *expected);
/* A remark to the preceding error. */
void parse_remark(struct reader *, struct span, const char *message);
/* The line number of an offset within this form. */
uint32_t parse_line(const struct reader *, uint32_t offset);
/* Counts lines up to the form that begins here. */
void parse_begin(struct reader *, uint32_t start);
/* Takes the token if it is this one. */
bool take(struct reader *, enum lexeme);
/* Takes it, or reports "expected `)` to close the `(` at line 3, read ...": `why` is "to close
 * the `(`", `opener` the location of the `(`. */
bool expect(struct reader *, enum lexeme, const char *why, struct span opener);
/* From the beginning of `start` to the end of the token before. */
struct span since(const struct reader *, struct span start);
/* Enters and leaves one level of nesting; false (after an error) where it is too deep. */
bool nest(struct reader *);
void unnest(struct reader *);

/* Within brackets an expression has no optional arguments, and no word ends it. */
struct surroundings {
  const struct name *stop;
  uint8_t options;
};
static inline struct surroundings enter_brackets(struct reader *r) {
  const struct surroundings around = {r->stop, r->options};
  r->stop = NULL;
  r->options = OPTIONS_NONE;
  return around;
}
static inline void leave_brackets(struct reader *r, struct surroundings around) {
  r->stop = around.stop;
  r->options = around.options;
}
/* Whether the token is the word that ends the expression being read: `while` or `do`. */
static inline bool at_stop(const struct reader *r) {
  return r->stop != NULL && r->token.kind == TOKEN_WORD && r->token.name == r->stop;
}

struct syntax *parse_expression(struct reader *, int strength);
/* Function parameters: name := value is allowed. */
struct syntax *parse_parameters(struct reader *);

/* ---- parse-operand.c ---- */

struct syntax *parse_operand(struct reader *);
struct syntax *make_syntax(struct reader *, enum syntax_kind, struct span);
struct syntax *make_pair(struct reader *, struct syntax *left, struct syntax *right);
/* The expression or pattern with the type behind it, if a colon follows. */
struct syntax *parse_typed(struct reader *, struct syntax *);
/* A library function by name, however it was written. */
struct syntax *make_builtin(struct reader *, const char *name, const char *written,
                            struct span);
struct syntax *make_apply(struct reader *, struct syntax *function, struct syntax *argument);
/* Whether a tree is the name `not`; and whether it is not e, which binds as -e does. */
bool is_not(const struct syntax *);
bool is_negation(const struct syntax *);
/* Raises the height of a tree above that of this child. */
void raise_above(struct reader *, struct syntax *, const struct syntax *child);

/* ---- parse-loop.c ---- */

/* Whether the word `loop` begins a loop here: a pattern and `=` follow it. */
bool begins_loop(const struct reader *);
/* Reports loops as other languages have them, `while C do E`, `for (...) {...}`; false for what
 * is none. */
bool refuse_foreign_loop(struct reader *);
struct syntax *parse_loop(struct reader *);

/* ---- parse-types.c ---- */

struct syntax_type *parse_type(struct reader *);          /* a, b -> c */
struct syntax_type *parse_element_type(struct reader *);  /* one that needs no brackets */
struct syntax_type *parse_function_type(struct reader *); /* no tuple: a -> b */
/* The tuple of at least one type. */
struct syntax_type *join_all_types(struct reader *, struct syntax_type **, size_t count);
/* Parses `:: (a in any)` behind a type, or nothing. */
void parse_context(struct reader *, struct syntax_annotation *);

/* ---- parse-forms.c ---- */

/* Whether an expression begins that cannot go on another one: `-` may, too. */
bool begins_expression(const struct nesl_token *);
/* Whether a form that begins with this word is a command. */
bool is_command_word(const char *word);

/* ---- recover.c ---- */

/* The probable end of the form that begins at `start`: after its terminator. */
uint32_t recovery_point(const struct source *, uint32_t start);
/* Returns the text that closes the innermost part that is open at the end of a text, which
 * begins with a form: `in` of a `let`, a bracket, a quote; "" if none is open. */
const char *awaited_at_end(const struct source *);

#endif
