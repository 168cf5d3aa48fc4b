/* parser.h - declarations common to the files of the parser. Private to this room.
 *
 * parser.c reads functions and links the program, parse-instruction.c one instruction at a
 * time, parse-constant.c numbers and constants, parse-instances.c marks of lifted functions,
 * definitions.c definitions of superoperators and recorded widths; messages and tokens are in
 * parse-token.c.
 */
#ifndef RAVEL_PARSER_H
#define RAVEL_PARSER_H

#include "vcode/lexer.h"
#include "vcode/vcode.h"

enum { MOST_ERRORS = 20, NEAR_ENOUGH = 2, SHOWN = 40 }; /* errors, edits, bytes of a word */

/* These reserved words are no opcodes. They are numbered after the opcodes in the table of
 * names. */
enum reserved {
  R_INT = OPC_COUNT,
  R_FLOAT,
  R_BOOL,
  R_SEGDES,
  R_CHAR, /* in the order of enum type_word */
  R_T,
  R_F,
  R_STDIN,
  R_STDOUT,
  R_STDERR,
  R_NULL_STREAM,
  R_I,
  R_O,
  R_END
};

/* The elements of the constant being read; the lists are used again for the next. */
struct elements {
  ARRAY(int64_t) ints;
  ARRAY(double) floats;
  ARRAY(uint8_t) bools;
  int64_t total;
};

struct parser {
  struct arena *arena;
  struct intern names;
  struct lexer lexer;
  struct token token;      /* the next one */
  const struct name *word; /* its name if it is a word */
  struct diag_list *diags;
  const char *file;
  struct widths widths;
  bool has_widths;     /* the file declares them */
  int64_t least, most; /* INT literals */
  ARRAY(struct vcode_fused) fused;
  ARRAY(struct vcode_function) functions;
  ARRAY(struct vcode_instruction) code; /* of the function being read */
  ARRAY(uint32_t) open;                 /* its open IFs and ELSEs */
  struct elements elements;
  ARRAY(uint32_t) defined; /* by number of name: function index + 1, or 0 */
  struct origin_table origins;
  const char *origin_seen; /* the latest comment examined for one */
  uint32_t origin;         /* the number of the current one, or 0 */
  const char *begun;       /* where the latest statement begins */
  size_t errors_before;    /* in the list of diagnostics before the parse */
};

/* ---- parse-token.c ---- */

/* Reports an error at pos. */
void parser_report(struct parser *, struct source_pos pos, const char *message);
/* Reads the next token. */
void parser_next(struct parser *);
/* Describes the next token in words. */
const char *parser_found(struct parser *);
/* Reports "WHAT, found FOUND" at the next token, unless reported already; returns false. */
bool parser_expected(struct parser *, const char *what);
/* Reports as parser_expected does where a type word is expected: a near miss gets a suggestion.
 */
bool parser_expected_type(struct parser *, const char *what);
/* Returns whether the next token may name a function. */
bool parser_at_name(struct parser *);

/* ---- parse-constant.c: each parses at the next token, or reports an error and returns false
 * ----
 */

/* Parses a non-negative integer. */
bool parser_count(struct parser *, const char *subject, const char *what, int64_t *out);
/* Parses the type and the elements that follow CONST. */
bool parser_constant(struct parser *, struct vcode_instruction *out);

/* ---- definitions.c ---- */

/* Returns whether the next token is the word `fused`, which begins a definition. */
bool parser_at_definition(const struct parser *);
/* Adds the definition that begins at the next token to the program. */
void parser_definition(struct parser *);
/* At the first function or definition it takes the widths that the file declares, which must be
 * those of the parse. */
void parser_take_widths(struct parser *);

/* ---- parse-instances.c ---- */

/* Parses the mark of a lifted function, from the comment that the lexer has met behind
 * its name. Returns NULL without one, or after an error. */
const struct vcode_instances *parser_instances(struct parser *);

/* ---- parse-instruction.c ---- */

/* Parses one instruction with its arguments, and adds it to the function being read. */
bool parser_statement(struct parser *);
/* Makes the comment before the next token the current origin, if it is one. */
void parser_take_origin(struct parser *);
/* After an error: skips the faulty word, up to the next that can begin a statement. */
void parser_recover(struct parser *);

#endif
